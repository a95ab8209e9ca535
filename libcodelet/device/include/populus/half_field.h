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
template <typename __T> struct Operand {
  using type = __T;
  static constexpr bool is_half_field = false;
};
template <typename __T, bool __IS_HALF> struct FieldOperand {
  using type = __T;
  static constexpr bool is_half_field = __IS_HALF;
};
template <typename __T> struct Operand<Input<__T>> : FieldOperand<__T, __is_same(__T, _Float16)> {
};
template <typename __T> struct Operand<Output<__T>> : FieldOperand<__T, __is_same(__T, _Float16)> {
};
template <typename __T> struct Operand<InOut<__T>> : FieldOperand<__T, __is_same(__T, _Float16)> {
};
template <typename __T> using OperandOf = typename Operand<__T>::type;

template <bool> struct OnlyIf;
template <> struct OnlyIf<true> {
  using type = int;
};
template <bool __CONDITION> using Only = typename OnlyIf<__CONDITION>::type;

// __E is _Float16 or const _Float16.
template <typename __E> struct HalfField {
  __E *pointer;

  __E &operator*() const { return *pointer; }
  operator __E &() const { return *pointer; }

  friend _Float16 operator-(const HalfField &__a) { return -*__a; }
  friend _Float16 operator+(const HalfField &__a) { return *__a; }
  friend __E &operator++(const HalfField &__a) { return ++*__a; }
  friend __E &operator--(const HalfField &__a) { return --*__a; }
  friend _Float16 operator++(const HalfField &__a, int) { return (*__a)++; }
  friend _Float16 operator--(const HalfField &__a, int) { return (*__a)--; }

  // Two fields; a field and any other operand, in both orders. (Two fields are apart, because C++20
  // also considers b == a for a == b.)
#define POPULUS_OPERATOR(op)                                                                       \
  template <typename __F>                                                                          \
  friend auto operator op(const HalfField &__a, const HalfField<__F> &__b)                         \
      ->decltype(_Float16() op _Float16())                                                         \
  {                                                                                                \
    return *__a op * __b;                                                                          \
  }                                                                                                \
  template <typename __B, Only<!Operand<__B>::is_half_field> = 0>                                  \
  friend auto operator op(const HalfField &__a, const __B &__b)                                    \
      ->decltype(_Float16() op OperandOf<__B>())                                                   \
  {                                                                                                \
    return *__a op static_cast<OperandOf<__B>>(__b);                                               \
  }                                                                                                \
  template <typename __A, Only<!Operand<__A>::is_half_field> = 0>                                  \
  friend auto operator op(const __A &__a, const HalfField &__b)                                    \
      ->decltype(OperandOf<__A>() op _Float16())                                                   \
  {                                                                                                \
    return static_cast<OperandOf<__A>>(__a) op * __b;                                              \
  }
  POPULUS_FOR_VALUES(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR

#define POPULUS_OPERATOR(op)                                                                       \
  template <typename __B> friend __E &operator op(const HalfField & __a, const __B & __b)          \
  {                                                                                                \
    return *__a op static_cast<OperandOf<__B>>(__b);                                               \
  }                                                                                                \
  template <typename __A, Only<__is_arithmetic(__A)> = 0>                                          \
  friend __A &operator op(__A & __a, const HalfField & __b)                                        \
  {                                                                                                \
    return __a op * __b;                                                                           \
  }
  POPULUS_FOR_ASSIGNMENTS(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR
};

// A field of another type and a half.
template <typename __T> using OnlyHalf = Only<__is_same(__remove_cv(__T), _Float16)>;
#define POPULUS_OPERATOR(op)                                                                       \
  template <typename __E, typename __B, OnlyHalf<__B> = 0>                                         \
  auto operator op(const One<__E, false> &__a, const __B &__b)->decltype(__E() op _Float16())      \
  {                                                                                                \
    return *__a op __b;                                                                            \
  }                                                                                                \
  template <typename __A, typename __E, OnlyHalf<__A> = 0>                                         \
  auto operator op(const __A &__a, const One<__E, false> &__b)->decltype(_Float16() op __E())      \
  {                                                                                                \
    return __a op * __b;                                                                           \
  }
POPULUS_FOR_VALUES(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR

#define POPULUS_OPERATOR(op)                                                                       \
  template <typename __E, typename __B, OnlyHalf<__B> = 0>                                         \
  auto operator op(const One<__E, false> &__a, const __B &__b)->decltype(*__a op __b)              \
  {                                                                                                \
    return *__a op __b;                                                                            \
  }                                                                                                \
  template <typename __A, typename __E, OnlyHalf<__A> = 0>                                         \
  auto operator op(__A &__a, const One<__E, false> &__b)->decltype(__a op * __b)                   \
  {                                                                                                \
    return __a op * __b;                                                                           \
  }
POPULUS_FOR_ASSIGNMENTS(POPULUS_OPERATOR)
#undef POPULUS_OPERATOR
#undef POPULUS_FOR_VALUES
#undef POPULUS_FOR_ASSIGNMENTS

// A partial specialization: sources without a field of a half do not pay for its operators.
template <typename __E> struct One<__E, true> : HalfField<__E> {
};

} // namespace populus_detail
} // namespace poplar

#endif
