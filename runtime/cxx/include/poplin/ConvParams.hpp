// Parameters of convolutions: sizes, and the transforms of input, kernel and result in each
// dimension of the field.
#ifndef POPLIN_CONVPARAMS_HPP
#define POPLIN_CONVPARAMS_HPP

#include <cstddef>
#include <ostream>
#include <poplar/Type.hpp>
#include <poplar/exceptions.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace poplin
{

struct ConvParams {
  // The order of transforms: truncation, dilation with zeros, padding with zeros, then flips
  // where `flip` is set.
  struct InputTransform {
    std::vector<unsigned> truncationLower, truncationUpper, dilation, paddingLower, paddingUpper;
    std::vector<bool> flip;

    InputTransform() = default;
    InputTransform(std::size_t dims)
        : truncationLower(dims), truncationUpper(dims), dilation(dims, 1), paddingLower(dims),
          paddingUpper(dims), flip(dims)
    {
    }
    InputTransform(std::vector<unsigned> truncateLower, std::vector<unsigned> truncateUpper,
                   std::vector<unsigned> dilate, std::vector<unsigned> padLower,
                   std::vector<unsigned> padUpper, std::vector<bool> flips)
        : truncationLower(std::move(truncateLower)), truncationUpper(std::move(truncateUpper)),
          dilation(std::move(dilate)), paddingLower(std::move(padLower)),
          paddingUpper(std::move(padUpper)), flip(std::move(flips))
    {
    }
    // The size of dimension `d` after these transforms. If more is truncated than there is, the
    // excess is subtracted from the padding, and the size may be negative.
    long transformed(std::size_t size, std::size_t d) const
    {
      long rest = static_cast<long>(size) - truncationLower[d] - truncationUpper[d];
      long dilated = rest > 0 ? (rest - 1) * static_cast<long>(dilation[d]) + 1 : rest;
      return dilated + paddingLower[d] + paddingUpper[d];
    }

  private:
    std::tuple<const std::vector<unsigned> &, const std::vector<unsigned> &,
               const std::vector<unsigned> &, const std::vector<unsigned> &,
               const std::vector<unsigned> &, const std::vector<bool> &>
    all() const
    {
      return std::tie(truncationLower, truncationUpper, dilation, paddingLower, paddingUpper, flip);
    }
    friend bool operator<(const InputTransform &a, const InputTransform &b)
    {
      return a.all() < b.all();
    }
    friend bool operator==(const InputTransform &a, const InputTransform &b)
    {
      return a.all() == b.all();
    }
    friend bool operator!=(const InputTransform &a, const InputTransform &b) { return !(a == b); }
  };
  // Transforms of the result: truncation at both ends, every `stride`-th element, then padding
  // with zeros.
  struct OutputTransform {
    std::vector<unsigned> truncationLower, truncationUpper, stride, paddingLower, paddingUpper;

    OutputTransform() = default;
    OutputTransform(std::size_t dims)
        : truncationLower(dims), truncationUpper(dims), stride(dims, 1), paddingLower(dims),
          paddingUpper(dims)
    {
    }
    OutputTransform(std::vector<unsigned> truncateLower, std::vector<unsigned> truncateUpper,
                    std::vector<unsigned> striding, std::vector<unsigned> padLower,
                    std::vector<unsigned> padUpper)
        : truncationLower(std::move(truncateLower)), truncationUpper(std::move(truncateUpper)),
          stride(std::move(striding)), paddingLower(std::move(padLower)),
          paddingUpper(std::move(padUpper))
    {
    }

  private:
    std::tuple<const std::vector<unsigned> &, const std::vector<unsigned> &,
               const std::vector<unsigned> &, const std::vector<unsigned> &,
               const std::vector<unsigned> &>
    all() const
    {
      return std::tie(truncationLower, truncationUpper, stride, paddingLower, paddingUpper);
    }
    friend bool operator<(const OutputTransform &a, const OutputTransform &b)
    {
      return a.all() < b.all();
    }
    friend bool operator==(const OutputTransform &a, const OutputTransform &b)
    {
      return a.all() == b.all();
    }
    friend bool operator!=(const OutputTransform &a, const OutputTransform &b) { return !(a == b); }
  };

  poplar::Type inputType, outputType;
  std::size_t batchSize = 0;
  std::vector<std::size_t> inputFieldShape, kernelShape;
  std::size_t inputChannelsPerConvGroup = 0, outputChannelsPerConvGroup = 0, numConvGroups = 1;
  InputTransform inputTransform, kernelTransform;
  OutputTransform outputTransform;

  ConvParams() = default;
  ConvParams(poplar::Type dataType, std::size_t batch, std::vector<std::size_t> field,
             std::vector<std::size_t> kernel, std::size_t inputChannels, std::size_t outputChannels,
             std::size_t groups)
      : ConvParams(dataType, dataType, batch, std::move(field), std::move(kernel), inputChannels,
                   outputChannels, groups)
  {
  }
  ConvParams(poplar::Type ofInput, poplar::Type ofOutput, std::size_t batch,
             std::vector<std::size_t> field, std::vector<std::size_t> kernel,
             std::size_t inputChannels, std::size_t outputChannels, std::size_t groups)
      : ConvParams(ofInput, ofOutput, batch, field, std::move(kernel), inputChannels,
                   outputChannels, groups, InputTransform(field.size()),
                   InputTransform(field.size()), OutputTransform(field.size()))
  {
  }
  ConvParams(poplar::Type ofInput, poplar::Type ofOutput, std::size_t batch,
             std::vector<std::size_t> field, std::vector<std::size_t> kernel,
             std::size_t inputChannels, std::size_t outputChannels, std::size_t groups,
             InputTransform input, InputTransform ofKernel, OutputTransform output)
      : inputType(ofInput), outputType(ofOutput), batchSize(batch),
        inputFieldShape(std::move(field)), kernelShape(std::move(kernel)),
        inputChannelsPerConvGroup(inputChannels), outputChannelsPerConvGroup(outputChannels),
        numConvGroups(groups), inputTransform(std::move(input)),
        kernelTransform(std::move(ofKernel)), outputTransform(std::move(output))
  {
    validate();
  }

  std::size_t getNumFieldDims() const { return inputFieldShape.size(); }
  std::size_t getBatchSize() const { return batchSize; }
  std::vector<std::size_t> getInputFieldShape() const { return inputFieldShape; }
  std::vector<std::size_t> getKernelShape() const { return kernelShape; }
  std::size_t getInputSize(unsigned dim) const { return inputFieldShape[dim]; }
  std::size_t getNumConvGroups() const { return numConvGroups; }
  std::size_t getNumInputChansPerConvGroup() const { return inputChannelsPerConvGroup; }
  std::size_t getNumOutputChansPerConvGroup() const { return outputChannelsPerConvGroup; }
  std::size_t getNumInputChans() const { return inputChannelsPerConvGroup * numConvGroups; }
  std::size_t getNumOutputChans() const { return outputChannelsPerConvGroup * numConvGroups; }
  unsigned getTransformedInputSize(unsigned dim) const
  {
    return static_cast<unsigned>(inputTransform.transformed(inputFieldShape[dim], dim));
  }
  unsigned getTransformedKernelSize(unsigned dim) const
  {
    return static_cast<unsigned>(kernelTransform.transformed(kernelShape[dim], dim));
  }
  // The size of the result before its truncation, stride and padding.
  std::size_t getUntransformedOutputSize(unsigned dim) const
  {
    return getTransformedInputSize(dim) - getTransformedKernelSize(dim) + 1;
  }
  std::size_t getOutputSize(unsigned dim) const
  {
    const OutputTransform &o = outputTransform;
    std::size_t rest =
        getUntransformedOutputSize(dim) - o.truncationLower[dim] - o.truncationUpper[dim];
    return (rest + o.stride[dim] - 1) / o.stride[dim] + o.paddingLower[dim] + o.paddingUpper[dim];
  }
  std::vector<std::size_t> getOutputFieldShape() const
  {
    std::vector<std::size_t> shape;
    for (unsigned d = 0; d < getNumFieldDims(); ++d) shape.push_back(getOutputSize(d));
    return shape;
  }
  // Throws poplar_error if these are not parameters of a convolution.
  void validate() const
  {
    const std::size_t n = getNumFieldDims();
    require(kernelShape.size() == n, "the kernel and the field have as many dimensions");
    for (const InputTransform *t : {&inputTransform, &kernelTransform})
      require(t->truncationLower.size() == n && t->truncationUpper.size() == n &&
                  t->dilation.size() == n && t->paddingLower.size() == n &&
                  t->paddingUpper.size() == n && t->flip.size() == n,
              "a transform has a value for each dimension of the field");
    const OutputTransform &o = outputTransform;
    require(o.truncationLower.size() == n && o.truncationUpper.size() == n &&
                o.stride.size() == n && o.paddingLower.size() == n && o.paddingUpper.size() == n,
            "the output's transform has a value for each dimension of the field");
    for (unsigned d = 0; d < n; ++d) {
      require(inputTransform.dilation[d] && kernelTransform.dilation[d] && o.stride[d],
              "dilations and strides are at least 1");
      long input = inputTransform.transformed(inputFieldShape[d], d),
           kernel = kernelTransform.transformed(kernelShape[d], d);
      require(kernel > 0 && input >= kernel, "the kernel is not larger than the input");
      require(input - kernel + 1 >
                  static_cast<long>(o.truncationLower[d]) + static_cast<long>(o.truncationUpper[d]),
              "not all of the result is cut off");
    }
  }

private:
  static void require(bool good, const char *what)
  {
    if (!good) throw poplar::poplar_error(std::string("poplin::ConvParams: ") + what);
  }
  std::tuple<const std::vector<std::size_t> &, const std::vector<std::size_t> &,
             const InputTransform &, const InputTransform &, const OutputTransform &>
  all() const
  {
    return std::tie(inputFieldShape, kernelShape, inputTransform, kernelTransform, outputTransform);
  }
  std::tuple<std::size_t, std::size_t, std::size_t, std::size_t> counts() const
  {
    return std::make_tuple(batchSize, inputChannelsPerConvGroup, outputChannelsPerConvGroup,
                           numConvGroups);
  }
  friend bool operator==(const ConvParams &a, const ConvParams &b)
  {
    return a.inputType == b.inputType && a.outputType == b.outputType && a.counts() == b.counts() &&
           a.all() == b.all();
  }
  friend bool operator!=(const ConvParams &a, const ConvParams &b) { return !(a == b); }
  friend bool operator<(const ConvParams &a, const ConvParams &b)
  {
    return std::make_tuple(a.inputType, a.outputType, a.counts(), a.all()) <
           std::make_tuple(b.inputType, b.outputType, b.counts(), b.all());
  }
  template <typename T> static std::string list(const std::vector<T> &values)
  {
    std::string text;
    for (T value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
    return "{" + text + "}";
  }
  static void put(std::ostream &os, const std::string &name, const InputTransform &t)
  {
    os << name << "TruncationLower: " << list(t.truncationLower) << '\n'
       << name << "TruncationUpper: " << list(t.truncationUpper) << '\n'
       << name << "Dilation: " << list(t.dilation) << '\n'
       << name << "PaddingLower: " << list(t.paddingLower) << '\n'
       << name << "PaddingUpper: " << list(t.paddingUpper) << '\n'
       << name << "Flip: " << list(t.flip) << '\n';
  }
  // A line for each parameter.

  friend std::ostream &operator<<(std::ostream &os, const ConvParams &p)
  {
    const OutputTransform &o = p.outputTransform;
    os << "inputType: " << p.inputType << "\noutputType: " << p.outputType
       << "\nbatchSize: " << p.batchSize << "\nnumConvGroups: " << p.numConvGroups
       << "\ninputChannelsPerConvGroup: " << p.inputChannelsPerConvGroup
       << "\noutputChannelsPerConvGroup: " << p.outputChannelsPerConvGroup
       << "\ninputFieldShape: " << list(p.inputFieldShape)
       << "\nkernelShape: " << list(p.kernelShape) << '\n';
    put(os, "input", p.inputTransform);
    put(os, "kernel", p.kernelTransform);
    return os << "outputTruncationLower: " << list(o.truncationLower)
              << "\noutputTruncationUpper: " << list(o.truncationUpper)
              << "\nstride: " << list(o.stride) << "\noutputPaddingLower: " << list(o.paddingLower)
              << "\noutputPaddingUpper: " << list(o.paddingUpper)
              << "\noutputFieldShape: " << list(p.getOutputFieldShape()) << '\n';
  }
};

} // namespace poplin

#endif
