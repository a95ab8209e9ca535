// Operations of reductions: populus/expression_ops.h.
#ifndef POPOPS_OPERATION_HPP
#define POPOPS_OPERATION_HPP

#include <poplar/detail/EnumText.hpp>
#include <populus/popops.h>

namespace popops
{

#define POPOPS_ENUMERATOR(name, ...) name,
enum class Operation { POP_REDUCE_OPS(POPOPS_ENUMERATOR) };
#undef POPOPS_ENUMERATOR

namespace detail
{
#define POPOPS_NAME(name, ...) #name,
static const char *const operationNames[] = {POP_REDUCE_OPS(POPOPS_NAME)};
#undef POPOPS_NAME
} // namespace detail

inline std::ostream &operator<<(std::ostream &os, const Operation &op)
{
  return poplar::detail::putEnum(os, op, detail::operationNames);
}
inline std::istream &operator>>(std::istream &is, Operation &op)
{
  return poplar::detail::getEnum(is, op, detail::operationNames, "popops::Operation");
}

} // namespace popops

#endif
