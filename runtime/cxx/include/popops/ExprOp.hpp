// Element-wise operations: populus/expression_ops.h.
#ifndef POPOPS_EXPROP_HPP
#define POPOPS_EXPROP_HPP

#include <populus/popops.h>

namespace popops
{
namespace expr
{

#define POPOPS_ENUMERATOR(name, ...) name,
enum class UnaryOpType { POP_UNARY_OPS(POPOPS_ENUMERATOR) };
enum class BinaryOpType { POP_BINARY_OPS(POPOPS_ENUMERATOR) };
enum class TernaryOpType { POP_TERNARY_OPS(POPOPS_ENUMERATOR) };
#undef POPOPS_ENUMERATOR

} // namespace expr
} // namespace popops

#endif
