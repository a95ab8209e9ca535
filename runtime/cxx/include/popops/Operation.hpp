// What many elements become one by: populus/expression_ops.h.
#ifndef POPOPS_OPERATION_HPP
#define POPOPS_OPERATION_HPP

#include <populus/popops.h>

namespace popops
{

#define POPOPS_ENUMERATOR(name, ...) name,
enum class Operation { POP_REDUCE_OPS(POPOPS_ENUMERATOR) };
#undef POPOPS_ENUMERATOR

} // namespace popops

#endif
