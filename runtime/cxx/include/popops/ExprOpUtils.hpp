// Prints element-wise operations: the names of their enumerators.
#ifndef POPOPS_EXPROPUTILS_HPP
#define POPOPS_EXPROPUTILS_HPP

#include <poplar/detail/EnumText.hpp>
#include <popops/ExprOp.hpp>

namespace popops
{
namespace expr
{

#define POPOPS_NAME(name, ...) #name,
inline std::ostream &operator<<(std::ostream &os, const UnaryOpType &op)
{
  static const char *const names[] = {POP_UNARY_OPS(POPOPS_NAME)};
  return poplar::detail::putEnum(os, op, names);
}
inline std::ostream &operator<<(std::ostream &os, const BinaryOpType &op)
{
  static const char *const names[] = {POP_BINARY_OPS(POPOPS_NAME)};
  return poplar::detail::putEnum(os, op, names);
}
inline std::ostream &operator<<(std::ostream &os, const TernaryOpType &op)
{
  static const char *const names[] = {POP_TERNARY_OPS(POPOPS_NAME)};
  return poplar::detail::putEnum(os, op, names);
}
#undef POPOPS_NAME

} // namespace expr
} // namespace popops

#endif
