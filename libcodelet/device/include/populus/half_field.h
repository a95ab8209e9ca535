// Fields of one half, in expressions: `*out = in * 2 + other`.
//
// A field converts to its element. For other types an expression needs nothing else. But for
// operands of a class, C++ considers the operators of int, float, double, … and a half converts to
// each of them equally well. So half needs operators of its own. Their results have the type that
// the same operands without fields give.
//
// Only <poplar/InOutTypes.hpp> includes this file.
#ifndef POPULUS_HALF_FIELD_H
#define POPULUS_HALF_FIELD_H

// X(op) for each operator that gives a value, and for each that changes its left operand.
#define POPULUS_FOR_VALUES(X)                                                                      \
  X(+)                                                                                             \
  X(-)                                                                                             \
  X(*)                                                                                             \
  X(/)                                                                                             \
  X(<)                                                                                             \
  X(<=)                                                                                            \
  X(>)                                                                                             \
  X(>=)                                                                                            \
  X(==)                                                                                            \
  X(!=)
#define POPULUS_FOR_ASSIGNMENTS(X)                                                                 \
  X(+=)                                                                                            \
  X(-=)                                                                                            \
  X(*=)                                                                                            \
  X(/=)

namespace poplar
{
namespace populus_detail
{

// The type of an operand, which may be a field.
template <typename T> struct Operand {
  using type = T;
  static constexpr bool is_half_field = false;
};
template <typename T, bool IS_HALF> struct FieldOperand {
  using type = T;
  static constexpr bool is_half_field = IS_HALF;
};
template <typename T> struct Operand<Input<T>> : FieldOperand<T, __is_same(T, _Float16)> {
};
template <typename T> struct Operand<Output<T>> : FieldOperand<T, __is_same(T, _Float16)> {
};
template <typename T> struct Operand<InOut<T>> : FieldOperand<T, __is_same(T, _Float16)> {
};
template <typename T> using OperandOf = typename Operand<T>::type;

template <bool> struct OnlyIf;
template <> struct OnlyIf<true> {
  using type = int;
};
template <bool CONDITION> using Only = typename OnlyIf<CONDITION>::type;

// E is _Float16 or const _Float16.
template <typename E> struct HalfField {
  E *pointer;

  E &operator*() const { return *pointer; }
  operator E &() const { return *pointer; }

  friend _Float16 operator-(const HalfField &a) { return -*a; }
  friend _Float16 operator+(const HalfField &a) { return *a; }
  friend E &operator++(const HalfField &a) { return ++*a; }
  friend E &operator--(const HalfField &a) { return --*a; }
  friend _Float16 operator++(const HalfField &a, int) { return (*a)++; }
  friend _Float16 operator--(const HalfField &a, int) { return (*a)--; }

  // Two fields; a field and any other operand, in both orders. (Two fields are apart, because C++20
  // also considers b == a for a == b.)
#define POPULUS_OPERATOR(op)                                                                       \
  template <typename F>                                                                            \
  friend auto operator op(const HalfField &a, const HalfField<F> &b)                               \
      ->decltype(_Float16() op _Float16())                                                         \
  {                                                                                                \
    return *a op * b;                                                                              \
  }                                                                                                \
  template <typename B, Only<!Operand<B>::is_half_field> = 0>                                      \
  friend auto operator op(const HalfField &a, const B &b)->decltype(_Float16() op OperandOf<B>())  \
  {                                                                                                \
    return *a op static_cast<OperandOf<B>>(b);                                                     \
  }                                                                                                \
  template <typename A, Only<!Operand<A>::is_half_field> = 0>                                      \
  friend auto operator op(const A &a, const HalfField &b)->decltype(OperandOf<A>() op _Float16())  \
  {                                                                                                \
    return static_cast<OperandOf<A>>(a) op * b;                                                    \
  }
  POPULUS_FOR_VALUES(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR

#define POPULUS_OPERATOR(op)                                                                       \
  template <typename B> friend E &operator op(const HalfField & a, const B & b)                    \
  {                                                                                                \
    return *a op static_cast<OperandOf<B>>(b);                                                     \
  }                                                                                                \
  template <typename A, Only<__is_arithmetic(A)> = 0>                                              \
  friend A &operator op(A & a, const HalfField & b)                                                \
  {                                                                                                \
    return a op * b;                                                                               \
  }
  POPULUS_FOR_ASSIGNMENTS(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR
};

// A field of another type and a half.
template <typename T> using OnlyHalf = Only<__is_same(__remove_cv(T), _Float16)>;
#define POPULUS_OPERATOR(op)                                                                       \
  template <typename E, typename B, OnlyHalf<B> = 0>                                               \
  auto operator op(const One<E, false> &a, const B &b)->decltype(E() op _Float16())                \
  {                                                                                                \
    return *a op b;                                                                                \
  }                                                                                                \
  template <typename A, typename E, OnlyHalf<A> = 0>                                               \
  auto operator op(const A &a, const One<E, false> &b)->decltype(_Float16() op E())                \
  {                                                                                                \
    return a op * b;                                                                               \
  }
POPULUS_FOR_VALUES(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR

#define POPULUS_OPERATOR(op)                                                                       \
  template <typename E, typename B, OnlyHalf<B> = 0>                                               \
  auto operator op(const One<E, false> &a, const B &b)->decltype(*a op b)                          \
  {                                                                                                \
    return *a op b;                                                                                \
  }                                                                                                \
  template <typename A, typename E, OnlyHalf<A> = 0>                                               \
  auto operator op(A &a, const One<E, false> &b)->decltype(a op * b)                               \
  {                                                                                                \
    return a op * b;                                                                               \
  }
POPULUS_FOR_ASSIGNMENTS(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR
#undef POPULUS_FOR_VALUES
#undef POPULUS_FOR_ASSIGNMENTS

// A partial specialization: sources without a field of a half do not pay for its operators.
template <typename E> struct One<E, true> : HalfField<E> {
};

} // namespace populus_detail
} // namespace poplar

#endif
