// Convolutions and their gradients: populus/poplin.h. Inputs are [batch, groups * channels,
// field…], weights [groups, channels of the result, channels, kernel…].
#ifndef POPLIN_CONVOLUTION_HPP
#define POPLIN_CONVOLUTION_HPP

#include <poplin/ConvUtil.hpp>
#include <poplin/MatMul.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Pad.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>

namespace poplin
{

namespace detail
{

// Options, as those of products, by which convolutions are made.
inline pop_mat_mul_options convOptions(const char *function, const poplar::OptionFlags &options,
                                       const poplar::Type &outputType)
{
  using poplar::detail::OptionValue;
  poplar::detail::checkOptions(function, options,
                               {{"availableMemoryProportion", OptionValue::PROPORTION},
                                {"partialsType", OptionValue::HALF_OR_FLOAT},
                                {"pass", OptionValue::PASS},
                                {"use128BitConvUnitLoad", OptionValue::TRUTH},
                                {"enableMultiStageReduce", OptionValue::TRUTH},
                                {"enableFastReduce", OptionValue::TRUTH},
                                {"remapOutputTensor", OptionValue::TRUTH}});
  pop_mat_mul_options c = pop_mat_mul_default_options(outputType.c());
  c.memory_proportion = poplar::detail::optionOr(options, "availableMemoryProportion", .6);
  if (poplar::detail::optionOr(options, "partialsType", "float") == "half") c.partials = POP_HALF;
  return c;
}

// Parameters for the C interface. truncated() truncates the tensors, and flips the input; flips of
// the kernel are parameters. Padding of the kernel becomes less padding of the input, and so does
// truncation of the result. Padding of the result is added afterwards.
inline pop_conv_params convParams(const char *function, const ConvParams &p)
{
  p.validate();
  const std::size_t n = p.getNumFieldDims();
  if (n > POP_CONV_MAX_DIMS)
    throw poplar::poplar_error(std::string(function) + ": a field of " + std::to_string(n) +
                               " dimensions; at most 6 are possible");
  pop_conv_params c = pop_conv_default_params(n);
  c.groups = p.numConvGroups;
  for (std::size_t d = 0; d < n; ++d) {
    const ConvParams::InputTransform &in = p.inputTransform, &k = p.kernelTransform;
    const ConvParams::OutputTransform &out = p.outputTransform;
    const auto wide = [](unsigned x) { return static_cast<std::int64_t>(x); };
    c.field[d] = pop_conv_dim{
        out.stride[d],
        in.dilation[d],
        k.dilation[d],
        wide(in.flip[d] ? in.paddingUpper[d] : in.paddingLower[d]) -
            wide(k.flip[d] ? k.paddingUpper[d] : k.paddingLower[d]) - wide(out.truncationLower[d]),
        wide(in.flip[d] ? in.paddingLower[d] : in.paddingUpper[d]) -
            wide(k.flip[d] ? k.paddingLower[d] : k.paddingUpper[d]) - wide(out.truncationUpper[d]),
        k.flip[d]};
  }
  return c;
}

// Does the transform leave elements in all dimensions? Otherwise there are only zeros of its
// padding.
inline bool leavesElements(const std::vector<std::size_t> &sizes,
                           const ConvParams::InputTransform &transform)
{
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] <= std::size_t(transform.truncationLower[d]) + transform.truncationUpper[d])
      return false;
  return true;
}

// The tensor without what the transform cuts off, in the dimensions from `first` on; with `flips`
// also flipped.
inline poplar::Tensor truncated(poplar::Tensor t, const ConvParams::InputTransform &transform,
                                unsigned first, bool flips)
{
  for (unsigned d = 0; d < transform.flip.size(); ++d) {
    const std::size_t size = t.dim(first + d);
    t = t.slice(transform.truncationLower[d], size - transform.truncationUpper[d], first + d);
    if (flips && transform.flip[d]) t = t.reverse(first + d);
  }
  return t;
}

inline void checkShape(const char *function, const char *what, const poplar::Tensor &t,
                       std::vector<std::size_t> shape, const std::vector<std::size_t> &field)
{
  shape.insert(shape.end(), field.begin(), field.end());
  if (t.shape() != shape)
    throw poplar::tensor_creation_error(std::string(function) + ": the " + what +
                                        " has another shape than the parameters say");
}

// The result of a convolution of zeros.
inline poplar::Tensor zeros(poplar::Graph &graph, const ConvParams &params,
                            poplar::program::Sequence &prog,
                            const poplar::DebugContext &debugContext)
{
  std::vector<std::size_t> shape = {params.batchSize, params.getNumOutputChans()};
  for (std::size_t size : params.getOutputFieldShape()) shape.push_back(size);
  poplar::Tensor t = graph.addVariable(params.outputType, shape,
                                       poplar::VariableMappingMethod::LINEAR, debugContext);
  popops::zero(graph, t, prog, debugContext);
  return t;
}

inline void checkGradient(const char *function, const ConvParams &p)
{
  const ConvParams::InputTransform none(p.getNumFieldDims());
  ConvParams::InputTransform kernel = p.kernelTransform, in = p.inputTransform;
  ConvParams::OutputTransform out = p.outputTransform;
  kernel.dilation = in.dilation = none.dilation;
  kernel.flip = none.flip;
  in.paddingLower = in.paddingUpper = none.paddingLower;
  out.stride = none.dilation;
  if (kernel != none || in != none || out != ConvParams::OutputTransform(p.getNumFieldDims()))
    throw poplar::poplar_error(
        std::string(function) +
        ": gradients are there for convolutions with strides, dilations, padding "
        "of the input and flipped kernels only");
}

// [G, O, I, kernel…] as [G, I, O, kernel…], with kernels reversed.
inline poplar::Tensor transposedAndFlipped(const poplar::Tensor &weights)
{
  poplar::Tensor t = weights.dimRoll(1, 2);
  for (unsigned d = 3; d < t.rank(); ++d) t = t.reverse(d);
  return t;
}

} // namespace detail

// ---- variables for convolutions, mapped linearly ----

inline poplar::Tensor createInput(poplar::Graph &graph, const ConvParams &params,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {},
                                  PlanningCache * = nullptr)
{
  detail::convOptions("poplin::createInput", options, params.outputType);
  std::vector<std::size_t> shape = {params.batchSize};
  shape.insert(shape.end(), params.inputFieldShape.begin(), params.inputFieldShape.end());
  shape.push_back(params.getNumInputChans());
  poplar::Tensor t = graph.addVariable(params.inputType, shape,
                                       poplar::VariableMappingMethod::LINEAR, debugContext);
  return t.dimRoll(static_cast<unsigned>(shape.size() - 1), 1);
}
inline poplar::Tensor createWeights(poplar::Graph &graph, const ConvParams &params,
                                    const poplar::DebugContext &debugContext = {},
                                    const poplar::OptionFlags &options = {},
                                    PlanningCache * = nullptr)
{
  detail::convOptions("poplin::createWeights", options, params.outputType);
  std::vector<std::size_t> shape = {params.numConvGroups};
  shape.insert(shape.end(), params.kernelShape.begin(), params.kernelShape.end());
  shape.push_back(params.inputChannelsPerConvGroup);
  shape.push_back(params.outputChannelsPerConvGroup);
  poplar::Tensor t = graph.addVariable(params.inputType, shape,
                                       poplar::VariableMappingMethod::LINEAR, debugContext);
  const unsigned last = static_cast<unsigned>(shape.size() - 1);
  return t.dimRoll(last, 1).dimRoll(last, 2);
}
// [channels]
inline poplar::Tensor createBiases(poplar::Graph &graph, const poplar::Tensor &activations,
                                   const poplar::DebugContext &debugContext = {},
                                   const poplar::OptionFlags &options = {},
                                   PlanningCache * = nullptr)
{
  detail::convOptions("poplin::createBiases", options, activations.elementType());
  return graph.addVariable(activations.elementType(), {activations.dim(1)},
                           poplar::VariableMappingMethod::LINEAR, debugContext);
}
inline poplar::Tensor createBiases(poplar::Graph &graph, const poplar::Tensor &activations,
                                   const ConvParams &,
                                   const poplar::DebugContext &debugContext = {},
                                   const poplar::OptionFlags &options = {},
                                   PlanningCache *cache = nullptr)
{
  return createBiases(graph, activations, debugContext, options, cache);
}

// ---- convolutions ----

// transposeAndFlipWeights: the weights are those of the forward convolution, whose gradient this
// is.
inline poplar::Tensor convolution(poplar::Graph &graph, const poplar::Tensor &in,
                                  const poplar::Tensor &weights, const ConvParams &params,
                                  bool transposeAndFlipWeights, poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {},
                                  PlanningCache * = nullptr)
{
  static const char function[] = "poplin::convolution";
  const pop_mat_mul_options o = detail::convOptions(function, options, params.outputType);
  const pop_conv_params p = detail::convParams(function, params);
  poplar::Tensor w = transposeAndFlipWeights ? detail::transposedAndFlipped(weights) : weights;
  detail::checkShape(function, "input", in, {params.batchSize, params.getNumInputChans()},
                     params.inputFieldShape);
  detail::checkShape(
      function, "weights", w,
      {params.numConvGroups, params.outputChannelsPerConvGroup, params.inputChannelsPerConvGroup},
      params.kernelShape);
  if (!detail::leavesElements(params.inputFieldShape, params.inputTransform) ||
      !detail::leavesElements(params.kernelShape, params.kernelTransform))
    return detail::zeros(graph, params, prog, debugContext);
  const poplar::Tensor x = detail::truncated(in, params.inputTransform, 2, true);
  w = detail::truncated(w, params.kernelTransform, 3, false);
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  poplar::Tensor result = call.finish(
      pop_poplin_convolution(graph.c(), poplar::detail::check(x.c()), poplar::detail::check(w.c()),
                             &p, &o, call.program(), call.c()));
  const auto &lower = params.outputTransform.paddingLower,
             &upper = params.outputTransform.paddingUpper;
  for (unsigned d = 0; d < lower.size(); ++d)
    if (lower[d] || upper[d])
      result = popops::pad(graph, result, static_cast<std::ptrdiff_t>(lower[d]),
                           static_cast<std::ptrdiff_t>(upper[d]), d + 2);
  return result;
}
inline void convolutionWithOutput(poplar::Graph &graph, const poplar::Tensor &in,
                                  const poplar::Tensor &weights, const poplar::Tensor &out,
                                  const ConvParams &params, bool transposeAndFlipWeights,
                                  poplar::program::Sequence &prog,
                                  const poplar::DebugContext &debugContext = {},
                                  const poplar::OptionFlags &options = {},
                                  PlanningCache *cache = nullptr)
{
  prog.add(poplar::program::Copy(convolution(graph, in, weights, params, transposeAndFlipWeights,
                                             prog, debugContext, options, cache),
                                 out, false, debugContext));
}
// Exchanges channels and reverses kernels.
inline void weightsTransposeChansFlipXY(poplar::Graph &, const poplar::Tensor &weightsIn,
                                        const poplar::Tensor &weightsOut,
                                        poplar::program::Sequence &prog,
                                        const poplar::DebugContext &debugContext = {},
                                        const poplar::OptionFlags &options = {})
{
  detail::convOptions("poplin::weightsTransposeChansFlipXY", options, weightsIn.elementType());
  prog.add(poplar::program::Copy(detail::transposedAndFlipped(weightsIn), weightsOut, false,
                                 debugContext));
}

// ---- gradients ----

// The gradient of the weights, from that of the result. `params` are those of the forward
// convolution. Throws poplar_error if they have other transforms than strides, dilations, padding
// of the input and flips of the kernel.
inline poplar::Tensor calculateWeightDeltas(poplar::Graph &graph, const poplar::Tensor &zDeltas,
                                            const poplar::Tensor &activations,
                                            const ConvParams &params,
                                            poplar::program::Sequence &prog,
                                            const poplar::DebugContext &debugContext = {},
                                            const poplar::OptionFlags &options = {},
                                            PlanningCache * = nullptr)
{
  static const char function[] = "poplin::calculateWeightDeltas";
  const pop_mat_mul_options o = detail::convOptions(function, options, params.outputType);
  const pop_conv_params p = detail::convParams(function, params);
  detail::checkGradient(function, params);
  detail::checkShape(function, "input", activations, {params.batchSize, params.getNumInputChans()},
                     params.inputFieldShape);
  detail::checkShape(function, "result's gradient", zDeltas,
                     {params.batchSize, params.getNumOutputChans()}, params.getOutputFieldShape());
  poplar::detail::LibraryCall call(graph, prog, debugContext);
  return call.finish(pop_poplin_convolution_weight_deltas(
      graph.c(), poplar::detail::check(zDeltas.c()), poplar::detail::check(activations.c()),
      params.kernelShape.data(), &p, &o, call.program(), call.c()));
}
// weights += scale * gradient
template <typename Scale>
void convolutionWeightUpdate(poplar::Graph &graph, const poplar::Tensor &zDeltas,
                             const poplar::Tensor &weights, const poplar::Tensor &activations,
                             const ConvParams &params, const Scale &scale,
                             poplar::program::Sequence &prog,
                             const poplar::DebugContext &debugContext = {},
                             const poplar::OptionFlags &options = {},
                             PlanningCache *cache = nullptr)
{
  detail::checkShape(
      "poplin::convolutionWeightUpdate", "weights", weights,
      {params.numConvGroups, params.outputChannelsPerConvGroup, params.inputChannelsPerConvGroup},
      params.kernelShape);
  popops::scaledAddTo(graph, weights,
                      calculateWeightDeltas(graph, zDeltas, activations, params, prog, debugContext,
                                            options, cache),
                      scale, prog, debugContext);
}
namespace detail
{

// One bias for each channel: others would be repeated, or added by position.
inline void checkBiases(const char *function, const poplar::Tensor &biases,
                        const poplar::Tensor &ofChannels)
{
  if (ofChannels.rank() < 2 || biases.rank() != 1 || biases.dim(0) != ofChannels.dim(1))
    throw poplar::tensor_creation_error(std::string(function) + ": biases of shape " +
                                        biases.shapeToString() + " for a tensor of shape " +
                                        ofChannels.shapeToString() +
                                        "; one for each channel, which is dimension 1, is needed");
}

} // namespace detail

// in += bias of the channel. Throws tensor_creation_error if there is not one for each channel.
inline void addBias(poplar::Graph &graph, const poplar::Tensor &in, const poplar::Tensor &biases,
                    poplar::program::Sequence &prog, const poplar::DebugContext &debugContext = {},
                    const poplar::OptionFlags &options = {})
{
  poplar::detail::refuseOptions("poplin::addBias", options);
  detail::checkBiases("poplin::addBias", biases, in);
  popops::addInPlace(graph, in.dimRoll(1, static_cast<unsigned>(in.rank() - 1)), biases, prog,
                     debugContext);
}

// biases += scale * (the result's gradient summed over all but the channels)
template <typename Scale>
void convolutionBiasUpdate(poplar::Graph &graph, const poplar::Tensor &zDeltas,
                           const poplar::Tensor &biases, const Scale &scale,
                           const poplar::OptionFlags &options, poplar::program::Sequence &prog,
                           const poplar::DebugContext &debugContext = {})
{
  detail::convOptions("poplin::convolutionBiasUpdate", options, biases.elementType());
  detail::checkBiases("poplin::convolutionBiasUpdate", biases, zDeltas);
  std::vector<std::size_t> dims = {0};
  for (std::size_t d = 2; d < zDeltas.rank(); ++d) dims.push_back(d);
  const poplar::Tensor sums = popops::reduce(graph, zDeltas, biases.elementType(), dims,
                                             {popops::Operation::ADD}, prog, debugContext);
  popops::scaledAddTo(graph, biases, sums, scale, prog, debugContext);
}

inline void convolutionValidateOptions(const poplar::OptionFlags &options)
{
  detail::convOptions("poplin::convolutionValidateOptions", options, poplar::FLOAT);
}

// ---- plans in advance: options are checked, and plans are made when they are needed ----

using ConvPlanParams =
    std::tuple<const poplar::Target *, const ConvParams, const poplar::OptionFlags *>;
inline void preplanConvolutions(const std::set<ConvPlanParams> &convs, PlanningCache &)
{
  for (const ConvPlanParams &each : convs)
    detail::convOptions("poplin::preplanConvolutions", *std::get<2>(each),
                        std::get<1>(each).outputType);
}
inline void preplanConvolutions(poplar::Graph &, const std::set<ConvPlanParams> &convs,
                                PlanningCache &cache)
{
  preplanConvolutions(convs, cache);
}

// ---- floating-point operations: two for each product; zeros of padding are not counted ----

inline std::uint64_t getFwdFlops(const ConvParams &params)
{
  std::uint64_t products = params.batchSize * params.numConvGroups *
                           params.inputChannelsPerConvGroup * params.outputChannelsPerConvGroup;
  for (unsigned d = 0; d < params.getNumFieldDims(); ++d) {
    std::uint64_t pairs = 0;
    for (unsigned out = 0; out < params.getOutputSize(d); ++out)
      for (unsigned k = 0; k < params.kernelShape[d]; ++k)
        pairs += getInputIndex(d, out, k, params) != ~0U;
    products *= pairs;
  }
  return 2 * products;
}
inline std::uint64_t getBwdFlops(const ConvParams &params)
{
  return getFwdFlops(params);
}
inline std::uint64_t getWuFlops(const ConvParams &params)
{
  return getFwdFlops(params);
}

// Assumes that all tiles of the target make as many products at once as its units can.
inline double getFwdPerfectCycleCount(const poplar::Graph &graph, const ConvParams &params)
{
  const poplar::Target &target = graph.getTarget();
  const unsigned units = std::max({target.getFp16InFp16OutConvUnitsPerTile(),
                                   target.getFp16InFp32OutConvUnitsPerTile(),
                                   target.getFp32InFp32OutConvUnitsPerTile()});
  const double atOnce = double(target.getVectorWidth(params.inputType)) *
                        (params.inputType == poplar::FLOAT ? 1 : units);
  return static_cast<double>(getFwdFlops(params)) / 2 / (atOnce * target.getNumTiles());
}
inline double getBwdPerfectCycleCount(const poplar::Graph &graph, const ConvParams &params)
{
  return getFwdPerfectCycleCount(graph, params);
}
inline double getWuPerfectCycleCount(const poplar::Graph &graph, const ConvParams &params)
{
  return getFwdPerfectCycleCount(graph, params);
}

} // namespace poplin

#endif
