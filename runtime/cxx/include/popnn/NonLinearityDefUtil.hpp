// Kinds of non-linearities between layers, as text.
#ifndef POPNN_NONLINEARITYDEFUTIL_HPP
#define POPNN_NONLINEARITYDEFUTIL_HPP

#include <poplar/detail/EnumText.hpp>
#include <popnn/NonLinearityDef.hpp>

namespace popnn
{

inline const char *asString(const NonLinearityType &type)
{
  static const char *const names[] = {"sigmoid",
                                      "hard sigmoid",
                                      "relu",
                                      "tanh",
                                      "gelu",
                                      "gelu_erf",
                                      "swish",
                                      "softmax",
                                      "softmax (stable)",
                                      "softmax (scaled, stable)"};
  return names[static_cast<std::size_t>(type)];
}
inline std::ostream &operator<<(std::ostream &os, const NonLinearityType &type)
{
  return os << asString(type);
}
// Reads a name of one word, which differs from asString's: hard_sigmoid, softmax_stable,
// softmax_scaled.
inline std::istream &operator>>(std::istream &is, NonLinearityType &type)
{
  static const char *const names[] = {"sigmoid",        "hard_sigmoid",  "relu",  "tanh",
                                      "gelu",           "gelu_erf",      "swish", "softmax",
                                      "softmax_stable", "softmax_scaled"};
  return poplar::detail::getEnum(is, type, names, "popnn::NonLinearityType");
}

} // namespace popnn

#endif
