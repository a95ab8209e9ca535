// Pooling over fields, and its gradient: populus/popnn_pooling.h. Tensors are [batch, channels,
// field...].
#ifndef POPNN_POOLING_HPP
#define POPNN_POOLING_HPP

#include <cstdint>
#include <ostream>
#include <poplar/detail/Library.hpp>
#include <popnn/PoolingDef.hpp>
#include <populus/popnn_pooling.h>
#include <utility>
#include <vector>

namespace popnn
{
namespace pooling
{

struct PoolParams {
  PoolingType poolingType;
  std::vector<std::size_t> inputFieldShape;
  std::vector<std::size_t> kernelShape;
  std::vector<unsigned> stride;
  // More than 0: so much padding; less than 0: so many elements are cut off.
  std::vector<int> inputTruncationOrPaddingLower;
  std::vector<int> inputTruncationOrPaddingUpper;
  std::size_t numChannels;
  std::size_t batchSize;
  poplar::Type dType;

  PoolParams(PoolingType type, std::vector<std::size_t> inputField, std::vector<std::size_t> kernel,
             std::vector<unsigned> strides, std::vector<int> lower, std::vector<int> upper,
             std::size_t channels, std::size_t batch, poplar::Type elementType)
      : poolingType(type), inputFieldShape(std::move(inputField)), kernelShape(std::move(kernel)),
        stride(std::move(strides)), inputTruncationOrPaddingLower(std::move(lower)),
        inputTruncationOrPaddingUpper(std::move(upper)), numChannels(channels), batchSize(batch),
        dType(elementType)
  {
  }

  std::size_t getNumFieldDims() const { return inputFieldShape.size(); }
  std::vector<std::size_t> getOutputFieldShape() const;
};

inline const char *asString(const PoolingType &type)
{
  return type == PoolingType::MAX ? "max" : type == PoolingType::AVG ? "avg" : "sum";
}

namespace detail
{

inline pop_pooling parameters(const PoolParams &p)
{
  const std::size_t n = p.getNumFieldDims();
  if (n < 1 || n > POP_POOLING_MAX_DIMS || p.kernelShape.size() != n || p.stride.size() != n ||
      p.inputTruncationOrPaddingLower.size() != n || p.inputTruncationOrPaddingUpper.size() != n)
    throw poplar::poplar_error("popnn::pooling: a field of " + std::to_string(n) +
                               " dimensions; 1 to 3 are possible, and as many numbers for kernel, "
                               "stride and padding");
  pop_pooling c = {};
  c.kind = p.poolingType == PoolingType::MAX   ? POP_POOLING_MAX
           : p.poolingType == PoolingType::AVG ? POP_POOLING_AVERAGE
                                               : POP_POOLING_SUM;
  c.num_dims = n;
  for (std::size_t d = 0; d < n; ++d)
    c.dims[d] =
        pop_pooling_dim{p.inputFieldShape[d], p.kernelShape[d], p.stride[d],
                        p.inputTruncationOrPaddingLower[d], p.inputTruncationOrPaddingUpper[d]};
  return c;
}

inline void check(const char *function, const PoolParams &p, const poplar::Tensor &t,
                  const poplar::OptionFlags &options)
{
  using poplar::detail::OptionValue;
  // These options choose among the vendor's implementations. Here there is one, whose sums are
  // in single precision.
  poplar::detail::checkOptions(function, options,
                               {{"poolUseIntrospectiveMapping", OptionValue::TRUTH},
                                {"optimizeForSpeed", OptionValue::TRUTH},
                                {"useFloatPartialsWhereBeneficial", OptionValue::TRUTH}});
  if (t.rank() < 2 || t.dim(0) != p.batchSize || t.dim(1) != p.numChannels)
    throw poplar::poplar_error(std::string(function) + ": a tensor of shape " + t.shapeToString() +
                               "; the parameters are for a batch of " +
                               std::to_string(p.batchSize) + " with " +
                               std::to_string(p.numChannels) + " channels");
}

// The number of elements in all windows of a plane, without padding.
inline std::uint64_t elementsOfWindows(const PoolParams &p)
{
  const pop_pooling c = parameters(p);
  std::uint64_t all = 1;
  for (std::size_t d = 0; d < c.num_dims; ++d) {
    const pop_pooling_dim &dim = c.dims[d];
    const auto size = static_cast<std::int64_t>(dim.input);
    std::uint64_t elements = 0;
    for (std::size_t window = 0; window < pop_pooling_output_size(&dim); ++window) {
      std::int64_t begin = static_cast<std::int64_t>(window * dim.stride) - dim.padding_lower;
      std::int64_t end = begin + static_cast<std::int64_t>(dim.kernel);
      begin = begin < 0 ? 0 : begin;
      end = end > size ? size : end;
      if (begin < end) elements += static_cast<std::uint64_t>(end - begin);
    }
    all *= elements;
  }
  return all;
}

} // namespace detail

inline std::vector<std::size_t> getOutputFieldShape(const PoolParams &params)
{
  const pop_pooling c = detail::parameters(params);
  std::vector<std::size_t> shape;
  for (std::size_t d = 0; d < c.num_dims; ++d) {
    shape.push_back(pop_pooling_output_size(&c.dims[d]));
    if (shape.back() == 0)
      throw poplar::poplar_error("popnn::pooling: no window of " +
                                 std::to_string(c.dims[d].kernel) + " places in dimension " +
                                 std::to_string(d));
  }
  return shape;
}
inline std::vector<std::size_t> PoolParams::getOutputFieldShape() const
{
  return pooling::getOutputFieldShape(*this);
}

inline std::ostream &operator<<(std::ostream &o, const PoolParams &params)
{
  const pop_pooling c = detail::parameters(params);
  o << asString(params.poolingType) << " of " << params.batchSize << " x " << params.numChannels;
  for (std::size_t d = 0; d < c.num_dims; ++d)
    o << (d ? "; " : ": ") << c.dims[d].input << " elements, windows of " << c.dims[d].kernel
      << ", " << c.dims[d].stride << " apart, padding " << c.dims[d].padding_lower << " and "
      << c.dims[d].padding_upper;
  return o;
}

// One operation for each element of a window, and a division for an average.
inline std::uint64_t getFwdFlops(const PoolParams &params)
{
  std::uint64_t windows = 1;
  for (std::size_t size : getOutputFieldShape(params)) windows *= size;
  const std::uint64_t more = params.poolingType == PoolingType::AVG ? windows : 0;
  return params.batchSize * params.numChannels * (detail::elementsOfWindows(params) + more);
}
inline std::uint64_t getBwdFlops(const PoolParams &params)
{
  return getFwdFlops(params);
}
// Assumes that all tiles do as many operations at once as their data path has elements. The
// backward pass counts twice.
inline double getFwdPerfectCycleCount(const poplar::Graph &graph, const PoolParams &params)
{
  const poplar::Target &target = graph.getTarget();
  const double atOnce = static_cast<double>(target.getDataPathWidth()) /
                        static_cast<double>(8 * target.getTypeSize(params.dType));
  return static_cast<double>(getFwdFlops(params)) / (atOnce * target.getNumTiles());
}
inline double getBwdPerfectCycleCount(const poplar::Graph &graph, const PoolParams &params)
{
  return 2 * getFwdPerfectCycleCount(graph, params);
}

inline poplar::Tensor pool(poplar::Graph &graph, const PoolParams &params, const poplar::Tensor &in,
                           poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {},
                           const poplar::OptionFlags &options = {})
{
  detail::check("popnn::pooling::pool", params, in, options);
  const pop_pooling c = detail::parameters(params);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_pool(graph.c(), &c, in.c(), call.program(), call.c()));
}

// For maxima, useScaledGradient shares a gradient equally among the elements that are the maximum.
// Otherwise each of them gets all of it.
inline poplar::Tensor poolInputGradient(poplar::Graph &graph, const PoolParams &params,
                                        const poplar::Tensor &in, const poplar::Tensor &pooled,
                                        const poplar::Tensor &pooledGradient,
                                        bool useScaledGradient, poplar::program::Sequence &prog,
                                        const poplar::DebugContext &debugContext = {},
                                        const poplar::OptionFlags &options = {})
{
  detail::check("popnn::pooling::poolInputGradient", params, pooledGradient, options);
  const pop_pooling c = detail::parameters(params);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_popnn_pool_gradient(graph.c(), &c, in.c(), pooled.c(), pooledGradient.c(),
                                             useScaledGradient, call.program(), call.c()));
}
// For averages and sums; throws poplar_error for maxima. Channels have any layout, so the grouping
// of the forward pass does not matter.
inline poplar::Tensor poolInputGradient(poplar::Graph &graph, const PoolParams &params,
                                        unsigned /*fwdChansPerGroup*/,
                                        const poplar::Tensor &pooledGradient,
                                        poplar::program::Sequence &prog,
                                        const poplar::DebugContext &debugContext = {},
                                        const poplar::OptionFlags &options = {})
{
  if (params.poolingType == PoolingType::MAX)
    throw poplar::poplar_error("popnn::pooling::poolInputGradient: a maximum's gradient needs its "
                               "input and what was pooled");
  return poolInputGradient(graph, params, poplar::Tensor(), poplar::Tensor(), pooledGradient, false,
                           prog, debugContext, options);
}

} // namespace pooling
} // namespace popnn

#endif
