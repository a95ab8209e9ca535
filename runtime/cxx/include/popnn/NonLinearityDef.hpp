// Kinds of non-linearities between layers.
#ifndef POPNN_NONLINEARITYDEF_HPP
#define POPNN_NONLINEARITYDEF_HPP

namespace popnn
{

enum class NonLinearityType {
  SIGMOID,      // 1 / (1 + e^-x)
  HARD_SIGMOID, // 0.2 x + 0.5, in 0 to 1
  RELU,         // x where it is positive, otherwise 0
  TANH,
  GELU,           // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  GELU_ERF,       // x (1 + erf(x / sqrt(2))) / 2
  SWISH,          // x / (1 + e^-x)
  SOFTMAX,        // of the last dimension; the largest element is always subtracted first
  SOFTMAX_STABLE, // the same
  SOFTMAX_SCALED  // the same times SOFTMAX_SCALING, for halves
};

} // namespace popnn

#endif
