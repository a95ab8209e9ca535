// Which elements of a convolution's input, kernel and result belong together, in one dimension
// of the field; and the convolutions that calculate its gradients. ~0U stands for no element,
// {0, 0} for an empty range.
#ifndef POPLIN_CONVUTIL_HPP
#define POPLIN_CONVUTIL_HPP

#include <algorithm>
#include <poplin/ConvParams.hpp>
#include <utility>
#include <vector>

namespace poplin
{

// The size with dilation - 1 places between elements.
inline unsigned getDilatedSize(unsigned size, unsigned dilation)
{
  return size ? (size - 1) * dilation + 1 : 0;
}

namespace detail
{

enum : unsigned { NO_ELEMENT = ~0U };
using Range = std::pair<unsigned, unsigned>; // [first, second)

// The position of an operand's element after its transform, and the inverse.
inline unsigned transformedIndex(const ConvParams::InputTransform &t, std::size_t size, unsigned d,
                                 unsigned index)
{
  if (index < t.truncationLower[d] || index + t.truncationUpper[d] >= size) return NO_ELEMENT;
  const unsigned at = (index - t.truncationLower[d]) * t.dilation[d] + t.paddingLower[d];
  return t.flip[d] ? static_cast<unsigned>(t.transformed(size, d)) - 1 - at : at;
}
inline unsigned originalIndex(const ConvParams::InputTransform &t, std::size_t size, unsigned d,
                              unsigned at)
{
  if (at >= t.transformed(size, d)) return NO_ELEMENT;
  if (t.flip[d]) at = static_cast<unsigned>(t.transformed(size, d)) - 1 - at;
  if (at < t.paddingLower[d] || (at - t.paddingLower[d]) % t.dilation[d]) return NO_ELEMENT;
  const unsigned index = (at - t.paddingLower[d]) / t.dilation[d] + t.truncationLower[d];
  return index + t.truncationUpper[d] < size ? index : NO_ELEMENT;
}
// Where in the transformed input the kernel lies for an element of the result; none for padding of
// the result.
inline unsigned kernelPlace(const ConvParams &p, unsigned d, unsigned output)
{
  const ConvParams::OutputTransform &o = p.outputTransform;
  if (output < o.paddingLower[d] || output + o.paddingUpper[d] >= p.getOutputSize(d))
    return NO_ELEMENT;
  return (output - o.paddingLower[d]) * o.stride[d] + o.truncationLower[d];
}
// How many positions of the result follow the last one that a stride reaches.
inline unsigned beyondLastStride(const ConvParams &p, unsigned d)
{
  const ConvParams::OutputTransform &o = p.outputTransform;
  return static_cast<unsigned>(
      (p.getUntransformedOutputSize(d) - o.truncationLower[d] - o.truncationUpper[d] - 1) %
      o.stride[d]);
}
// The part of `in` from the first to the last index for which `has` is true.
template <typename Has> Range hull(Range in, const Has &has)
{
  while (in.first < in.second && !has(in.first)) ++in.first;
  while (in.first < in.second && !has(in.second - 1)) --in.second;
  return in.first < in.second ? in : Range{0, 0};
}
inline bool isIn(unsigned index, Range range)
{
  return index != NO_ELEMENT && range.first <= index && index < range.second;
}
template <typename Has> bool any(Range in, const Has &has)
{
  for (unsigned i = in.first; i < in.second; ++i)
    if (has(i)) return true;
  return false;
}

} // namespace detail

// ---- one element ----

// The element of the input that this element of the kernel is multiplied by, for this element of
// the result.
inline unsigned getInputIndex(unsigned dim, unsigned outputIndex, unsigned kernelIndex,
                              const ConvParams &params)
{
  const unsigned place = detail::kernelPlace(params, dim, outputIndex),
                 k = detail::transformedIndex(params.kernelTransform, params.kernelShape[dim], dim,
                                              kernelIndex);
  if (place == detail::NO_ELEMENT || k == detail::NO_ELEMENT) return detail::NO_ELEMENT;
  return detail::originalIndex(params.inputTransform, params.inputFieldShape[dim], dim, place + k);
}
inline unsigned getKernelIndex(unsigned dim, unsigned outputIndex, unsigned inputIndex,
                               const ConvParams &params)
{
  const unsigned place = detail::kernelPlace(params, dim, outputIndex),
                 in = detail::transformedIndex(params.inputTransform, params.inputFieldShape[dim],
                                               dim, inputIndex);
  if (place == detail::NO_ELEMENT || in == detail::NO_ELEMENT || in < place)
    return detail::NO_ELEMENT;
  return detail::originalIndex(params.kernelTransform, params.kernelShape[dim], dim, in - place);
}

// ---- ranges [first, second): from the first to the last element that is combined with others ----

inline std::pair<unsigned, unsigned> getOutputRangeForKernelRange(
    unsigned dim, std::pair<unsigned, unsigned> outputRange,
    std::pair<unsigned, unsigned> kernelIndexRange, const ConvParams &params)
{
  return detail::hull(outputRange, [&](unsigned o) {
    return detail::any(kernelIndexRange, [&](unsigned k) {
      return getInputIndex(dim, o, k, params) != detail::NO_ELEMENT;
    });
  });
}
inline std::pair<unsigned, unsigned> getOutputRangeForInputRange(
    unsigned dim, std::pair<unsigned, unsigned> outputRange,
    std::pair<unsigned, unsigned> inputRange, const ConvParams &params)
{
  return detail::hull(outputRange, [&](unsigned o) {
    return detail::any(inputRange, [&](unsigned i) {
      return getKernelIndex(dim, o, i, params) != detail::NO_ELEMENT;
    });
  });
}
inline std::pair<unsigned, unsigned> getOutputRangeForKernelIndex(
    unsigned dim, std::pair<unsigned, unsigned> outputRange, unsigned kernelIndex,
    const ConvParams &params)
{
  return getOutputRangeForKernelRange(dim, outputRange, {kernelIndex, kernelIndex + 1}, params);
}
inline std::pair<unsigned, unsigned> getOutputRangeForInputIndex(
    unsigned dim, std::pair<unsigned, unsigned> outputRange, unsigned inputIndex,
    const ConvParams &params)
{
  return getOutputRangeForInputRange(dim, outputRange, {inputIndex, inputIndex + 1}, params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim,
                                                   std::pair<unsigned, unsigned> outputRange,
                                                   std::pair<unsigned, unsigned> kernelIndexRange,
                                                   const ConvParams &params)
{
  return detail::hull({0, static_cast<unsigned>(params.inputFieldShape[dim])}, [&](unsigned i) {
    return detail::any(outputRange, [&](unsigned o) {
      return detail::isIn(getKernelIndex(dim, o, i, params), kernelIndexRange);
    });
  });
}
inline std::pair<unsigned, unsigned> getKernelRange(unsigned dim,
                                                    std::pair<unsigned, unsigned> outputRange,
                                                    std::pair<unsigned, unsigned> inputRange,
                                                    const ConvParams &params)
{
  return detail::hull({0, static_cast<unsigned>(params.kernelShape[dim])}, [&](unsigned k) {
    return detail::any(outputRange, [&](unsigned o) {
      return detail::isIn(getInputIndex(dim, o, k, params), inputRange);
    });
  });
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim,
                                                   std::pair<unsigned, unsigned> outputRange,
                                                   unsigned kernelIndex, const ConvParams &params)
{
  return getInputRange(dim, outputRange, {kernelIndex, kernelIndex + 1}, params);
}
inline std::pair<unsigned, unsigned> getKernelRange(unsigned dim,
                                                    std::pair<unsigned, unsigned> outputRange,
                                                    unsigned inputIndex, const ConvParams &params)
{
  return getKernelRange(dim, outputRange, {inputIndex, inputIndex + 1}, params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim, unsigned outputIndex,
                                                   std::pair<unsigned, unsigned> kernelIndexRange,
                                                   const ConvParams &params)
{
  return getInputRange(dim, {outputIndex, outputIndex + 1}, kernelIndexRange, params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim,
                                                   std::pair<unsigned, unsigned> outputRange,
                                                   const ConvParams &params)
{
  return getInputRange(dim, outputRange, {0, static_cast<unsigned>(params.kernelShape[dim])},
                       params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim, unsigned outputIndex,
                                                   const ConvParams &params)
{
  return getInputRange(dim, {outputIndex, outputIndex + 1}, params);
}

// ---- gradients ----

// The convolution that calculates the input's gradient: of the result's gradient by the weights,
// with channels exchanged and kernels flipped. Transforms of input and result are inverted: padding
// of the input becomes truncation of the gradient, and so on. If the input was flipped, the
// convolution runs from the other end.
inline ConvParams getGradientParams(const ConvParams &params)
{
  params.validate();
  const std::size_t n = params.getNumFieldDims();
  const ConvParams::InputTransform &in = params.inputTransform;
  const ConvParams::OutputTransform &out = params.outputTransform;
  ConvParams::InputTransform deltas(n), kernel = params.kernelTransform;
  std::swap(kernel.truncationLower, kernel.truncationUpper);
  std::swap(kernel.paddingLower, kernel.paddingUpper);
  for (unsigned d = 0; d < n; ++d) {
    const unsigned around = params.getTransformedKernelSize(d) - 1;
    deltas.paddingLower[d] = out.truncationLower[d] + around;
    deltas.paddingUpper[d] = out.truncationUpper[d] + detail::beyondLastStride(params, d) + around;
    deltas.flip[d] = in.flip[d];
    if (in.flip[d]) kernel.flip[d] = !kernel.flip[d];
  }
  deltas.truncationLower = out.paddingLower;
  deltas.truncationUpper = out.paddingUpper;
  deltas.dilation = out.stride;
  return ConvParams(
      params.inputType, params.outputType, params.batchSize, params.getOutputFieldShape(),
      params.kernelShape, params.outputChannelsPerConvGroup, params.inputChannelsPerConvGroup,
      params.numConvGroups, deltas, kernel,
      {in.paddingLower, in.paddingUpper, in.dilation, in.truncationLower, in.truncationUpper});
}

// The convolution that calculates the gradient of the weights: of the input, with channels and
// batch exchanged, by the result's gradient as its kernel.
inline ConvParams getWeightUpdateParams(const ConvParams &fwdParams)
{
  fwdParams.validate();
  const std::size_t n = fwdParams.getNumFieldDims();
  const ConvParams::InputTransform &k = fwdParams.kernelTransform;
  const ConvParams::OutputTransform &out = fwdParams.outputTransform;
  ConvParams::InputTransform input = fwdParams.inputTransform, deltas(n);
  for (unsigned d = 0; d < n; ++d) {
    deltas.paddingUpper[d] = out.truncationUpper[d] + detail::beyondLastStride(fwdParams, d);
    deltas.flip[d] = k.flip[d];
    if (k.flip[d]) input.flip[d] = !input.flip[d];
  }
  deltas.truncationLower = out.paddingLower;
  deltas.truncationUpper = out.paddingUpper;
  deltas.dilation = out.stride;
  deltas.paddingLower = out.truncationLower;
  return ConvParams(
      fwdParams.inputType, fwdParams.outputType, fwdParams.inputChannelsPerConvGroup,
      fwdParams.inputFieldShape, fwdParams.getOutputFieldShape(), fwdParams.batchSize,
      fwdParams.outputChannelsPerConvGroup, fwdParams.numConvGroups, input, deltas,
      {k.paddingLower, k.paddingUpper, k.dilation, k.truncationLower, k.truncationUpper});
}

} // namespace poplin

#endif
