// Expressions for popops::map: placeholders for tensors, constants, and operations.
#ifndef POPOPS_EXPR_HPP
#define POPOPS_EXPR_HPP

#include <algorithm>
#include <memory>
#include <poplar/Type.hpp>
#include <poplar/exceptions.hpp>
#include <popops/ExprOp.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace popops
{
namespace expr
{

// An expression: its nodes in postfix order, as pop_popops_map takes them.
class Expr
{
protected:
  std::vector<pop_expr_node> nodes;

  Expr() = default;
  void append(const Expr &other)
  {
    nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
  }
  void append(pop_expr_kind kind, unsigned op)
  {
    nodes.push_back({kind, op, 0, 0, POP_TYPE_COUNT});
  }

public:
  virtual ~Expr() = default;
  const std::vector<pop_expr_node> &getNodes() const { return nodes; }
  // The same operations on the same tensors and constants, in the same order?
  bool deepEquals(const Expr &other) const
  {
    auto same = [](const pop_expr_node &a, const pop_expr_node &b) {
      return a.kind == b.kind && a.op == b.op && a.tensor == b.tensor && a.value == b.value &&
             a.type == b.type;
    };
    return nodes.size() == other.nodes.size() &&
           std::equal(nodes.begin(), nodes.end(), other.nodes.begin(), same);
  }
  std::unique_ptr<Expr> clone() const { return std::unique_ptr<Expr>(new Expr(*this)); }

protected:
  Expr(const Expr &) = default;
  Expr &operator=(const Expr &) = default;
};

inline bool deepEquals(const Expr &a, const Expr &b)
{
  return a.deepEquals(b);
}

// Any expression, by value.
class Any : public Expr
{
public:
  Any(const Expr &expression) : Expr(expression) {}
};

// Tensor number `index`, from 1 on.
class PlaceHolder : public Expr
{
public:
  explicit PlaceHolder(unsigned index)
  {
    if (index == 0)
      throw poplar::poplar_error("popops::expr::PlaceHolder: the first tensor is number 1");
    nodes.push_back({POP_EXPR_TENSOR, 0, index - 1, 0, POP_TYPE_COUNT});
  }
};

class Const : public Expr
{
public:
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  explicit Const(T value)
  {
    pop_type type = std::is_same<T, bool>::value       ? POP_BOOL
                    : std::is_floating_point<T>::value ? POP_FLOAT
                    : std::is_unsigned<T>::value       ? POP_UNSIGNED_INT
                                                       : POP_INT;
    double number = static_cast<double>(value);
    if (std::is_integral<T>::value &&
        static_cast<long double>(number) != static_cast<long double>(value))
      throw poplar::poplar_error("popops::expr::Const: " + std::to_string(value) +
                                 " has more bits than are kept of a constant, 53");
    nodes.push_back({POP_EXPR_CONSTANT, 0, 0, number, type});
  }
};
class ConstHalf : public Expr
{
public:
  explicit ConstHalf(float value) { nodes.push_back({POP_EXPR_CONSTANT, 0, 0, value, POP_HALF}); }
};
// 1.5_half
inline ConstHalf operator""_half(long double value)
{
  return ConstHalf(static_cast<float>(value));
}

class Cast : public Expr
{
public:
  Cast(const Expr &a, const poplar::Type &type)
  {
    append(a);
    nodes.push_back({POP_EXPR_CAST, 0, 0, 0, type.c()});
  }
};

class UnaryOp : public Expr
{
public:
  UnaryOp(UnaryOpType op, const Expr &a)
  {
    append(a);
    append(POP_EXPR_UNARY, static_cast<unsigned>(op));
  }
};

class BinaryOp : public Expr
{
public:
  BinaryOp(BinaryOpType op, const Expr &a, const Expr &b)
  {
    append(a);
    append(b);
    append(POP_EXPR_BINARY, static_cast<unsigned>(op));
  }
};

class TernaryOp : public Expr
{
public:
  TernaryOp(TernaryOpType op, const Expr &a, const Expr &b, const Expr &c)
  {
    append(a);
    append(b);
    append(c);
    append(POP_EXPR_TERNARY, static_cast<unsigned>(op));
  }
};

#define POPOPS_UNARY(name, op)                                                                     \
  class name : public UnaryOp                                                                      \
  {                                                                                                \
  public:                                                                                          \
    explicit name(const Expr &a) : UnaryOp(UnaryOpType::op, a) {}                                  \
  };
#define POPOPS_BINARY(name, op)                                                                    \
  class name : public BinaryOp                                                                     \
  {                                                                                                \
  public:                                                                                          \
    name(const Expr &a, const Expr &b) : BinaryOp(BinaryOpType::op, a, b) {}                       \
  };
#define POPOPS_TERNARY(name, op)                                                                   \
  class name : public TernaryOp                                                                    \
  {                                                                                                \
  public:                                                                                          \
    name(const Expr &a, const Expr &b, const Expr &c) : TernaryOp(TernaryOpType::op, a, b, c) {}   \
  };
POPOPS_UNARY(Abs, ABSOLUTE)
POPOPS_UNARY(Asin, ASIN)
POPOPS_UNARY(BitwiseNot, BITWISE_NOT)
POPOPS_UNARY(Cbrt, CBRT)
POPOPS_UNARY(Ceil, CEIL)
POPOPS_UNARY(Cos, COS)
POPOPS_UNARY(Erf, ERF)
POPOPS_UNARY(Exp, EXPONENT)
POPOPS_UNARY(Exp2, EXPONENT2)
POPOPS_UNARY(Expm1, EXPONENT_MINUS_ONE)
POPOPS_UNARY(Floor, FLOOR)
POPOPS_UNARY(GeluErf, GELU_ERF)
POPOPS_UNARY(Inv, INVERSE)
POPOPS_UNARY(IsFinite, IS_FINITE)
POPOPS_UNARY(IsInf, IS_INF)
POPOPS_UNARY(IsNaN, IS_NAN)
POPOPS_UNARY(Log, LOGARITHM)
POPOPS_UNARY(Log1p, LOGARITHM_ONE_PLUS)
POPOPS_UNARY(NearbyInt, NEARBY_INT)
POPOPS_UNARY(Neg, NEGATE)
POPOPS_UNARY(Not, LOGICAL_NOT)
POPOPS_UNARY(Relu, RELU)
POPOPS_UNARY(Round, ROUND)
POPOPS_UNARY(Rsqrt, RSQRT)
POPOPS_UNARY(Sigmoid, SIGMOID)
POPOPS_UNARY(Signum, SIGNUM)
POPOPS_UNARY(Sin, SIN)
POPOPS_UNARY(Sqrt, SQRT)
POPOPS_UNARY(Square, SQUARE)
POPOPS_UNARY(Tan, TAN)
POPOPS_UNARY(Tanh, TANH)
POPOPS_UNARY(Trunc, TRUNC)
POPOPS_BINARY(Add, ADD)
POPOPS_BINARY(And, LOGICAL_AND)
POPOPS_BINARY(Atan2, ATAN2)
POPOPS_BINARY(BitwiseAnd, BITWISE_AND)
POPOPS_BINARY(BitwiseOr, BITWISE_OR)
POPOPS_BINARY(BitwiseXor, BITWISE_XOR)
POPOPS_BINARY(BitwiseXnor, BITWISE_XNOR)
POPOPS_BINARY(Divide, DIVIDE)
POPOPS_BINARY(Equal, EQUAL)
POPOPS_BINARY(Gt, GREATER_THAN)
POPOPS_BINARY(Gte, GREATER_THAN_EQUAL)
POPOPS_BINARY(Lt, LESS_THAN)
POPOPS_BINARY(Lte, LESS_THAN_EQUAL)
POPOPS_BINARY(Max, MAXIMUM)
POPOPS_BINARY(Min, MINIMUM)
POPOPS_BINARY(Mul, MULTIPLY)
POPOPS_BINARY(NotEqual, NOT_EQUAL)
POPOPS_BINARY(Or, LOGICAL_OR)
POPOPS_BINARY(Pow, POWER)
POPOPS_BINARY(Rem, REMAINDER)
POPOPS_BINARY(Shl, SHIFT_LEFT)
POPOPS_BINARY(Shr, SHIFT_RIGHT)
POPOPS_BINARY(ShrSE, SHIFT_RIGHT_SIGN_EXTEND)
POPOPS_BINARY(Sub, SUBTRACT)
POPOPS_TERNARY(Clamp, CLAMP)
POPOPS_TERNARY(Select, SELECT)
#undef POPOPS_UNARY
#undef POPOPS_BINARY
#undef POPOPS_TERNARY

#define POPOPS_OPERATOR(symbol, name)                                                              \
  inline name operator symbol(const Expr &a, const Expr &b)                                        \
  {                                                                                                \
    return name(a, b);                                                                             \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  name operator symbol(T a, const Expr &b)                                                         \
  {                                                                                                \
    return name(Const(a), b);                                                                      \
  }                                                                                                \
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>    \
  name operator symbol(const Expr &a, T b)                                                         \
  {                                                                                                \
    return name(a, Const(b));                                                                      \
  }
POPOPS_OPERATOR(+, Add)
POPOPS_OPERATOR(-, Sub)
POPOPS_OPERATOR(*, Mul)
POPOPS_OPERATOR(/, Divide)
POPOPS_OPERATOR(%, Rem)
POPOPS_OPERATOR(==, Equal)
POPOPS_OPERATOR(!=, NotEqual)
POPOPS_OPERATOR(<, Lt)
POPOPS_OPERATOR(<=, Lte)
POPOPS_OPERATOR(>, Gt)
POPOPS_OPERATOR(>=, Gte)
POPOPS_OPERATOR(&&, And)
POPOPS_OPERATOR(||, Or)
POPOPS_OPERATOR(&, BitwiseAnd)
POPOPS_OPERATOR(|, BitwiseOr)
POPOPS_OPERATOR(^, BitwiseXor)
POPOPS_OPERATOR(<<, Shl)
POPOPS_OPERATOR(>>, Shr)
#undef POPOPS_OPERATOR
inline Neg operator-(const Expr &a)
{
  return Neg(a);
}
inline Not operator!(const Expr &a)
{
  return Not(a);
}
inline BitwiseNot operator~(const Expr &a)
{
  return BitwiseNot(a);
}

static const PlaceHolder _1(1), _2(2), _3(3), _4(4), _5(5), _6(6), _7(7), _8(8), _9(9), _10(10),
    _11(11), _12(12), _13(13), _14(14), _15(15), _16(16), _17(17), _18(18), _19(19), _20(20);

} // namespace expr
} // namespace popops

#endif
