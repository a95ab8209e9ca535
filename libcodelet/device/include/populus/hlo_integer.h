/* Operations on one integer or i1 (hlo.h). */
#ifndef POPULUS_HLO_INTEGER_H
#define POPULUS_HLO_INTEGER_H

#include <populus/hlo_values.h>

#define HLO_INTEGER_FUNCTIONS(T, C, U, B)                                                          \
  HLO C hlo_add_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(U)((U)a + (U)b);                                                                    \
  }                                                                                                \
  HLO C hlo_subtract_##T(C a, C b)                                                                 \
  {                                                                                                \
    return (C)(U)((U)a - (U)b);                                                                    \
  }                                                                                                \
  HLO C hlo_multiply_##T(C a, C b)                                                                 \
  {                                                                                                \
    return (C)(U)((unsigned long long)(U)a * (unsigned long long)(U)b);                            \
  }                                                                                                \
  HLO C hlo_negate_##T(C a)                                                                        \
  {                                                                                                \
    return (C)(U)(0 - (U)a);                                                                       \
  }                                                                                                \
  HLO C hlo_maximum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a > b ? a : b;                                                                          \
  }                                                                                                \
  HLO C hlo_minimum_##T(C a, C b)                                                                  \
  {                                                                                                \
    return a < b ? a : b;                                                                          \
  }                                                                                                \
  HLO C hlo_and_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(a & b);                                                                             \
  }                                                                                                \
  HLO C hlo_or_##T(C a, C b)                                                                       \
  {                                                                                                \
    return (C)(a | b);                                                                             \
  }                                                                                                \
  HLO C hlo_xor_##T(C a, C b)                                                                      \
  {                                                                                                \
    return (C)(a ^ b);                                                                             \
  }                                                                                                \
  HLO C hlo_not_##T(C a)                                                                           \
  {                                                                                                \
    return (C)~a;                                                                                  \
  }                                                                                                \
  HLO C hlo_square_##T(C a)                                                                        \
  {                                                                                                \
    return hlo_multiply_##T(a, a);                                                                 \
  }                                                                                                \
  HLO C hlo_popcnt_##T(C a)                                                                        \
  {                                                                                                \
    return (C)__builtin_popcountll((U)a);                                                          \
  }                                                                                                \
  HLO C hlo_count_leading_zeros_##T(C a)                                                           \
  {                                                                                                \
    return (C)(a ? __builtin_clzll((U)a) - (64 - B) : B);                                          \
  }                                                                                                \
  HLO C hlo_shift_left_##T(C a, C b)                                                               \
  {                                                                                                \
    return (U)b < B ? (C)(U)((U)a << (U)b) : 0;                                                    \
  }                                                                                                \
  HLO C hlo_shift_right_logical_##T(C a, C b)                                                      \
  {                                                                                                \
    return (U)b < B ? (C)(U)((U)a >> (U)b) : 0;                                                    \
  }                                                                                                \
  HLO C hlo_power_##T(C a, C b)                                                                    \
  {                                                                                                \
    if (b < 0) return a == 1 ? 1 : a == (C) - 1 ? (b & 1 ? (C) - 1 : 1) : 0;                       \
    C result = 1;                                                                                  \
    for (U n = (U)b; n; n = (U)(n >> 1)) {                                                         \
      if (n & 1) result = hlo_multiply_##T(result, a);                                             \
      a = hlo_multiply_##T(a, a);                                                                  \
    }                                                                                              \
    return result;                                                                                 \
  }                                                                                                \
  HLO bool hlo_eq_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a == b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_ne_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a != b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_lt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a < b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_le_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a <= b;                                                                                 \
  }                                                                                                \
  HLO bool hlo_gt_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a > b;                                                                                  \
  }                                                                                                \
  HLO bool hlo_ge_##T(C a, C b)                                                                    \
  {                                                                                                \
    return a >= b;                                                                                 \
  }
HLO_SIGNED(HLO_INTEGER_FUNCTIONS)
HLO_UNSIGNED(HLO_INTEGER_FUNCTIONS)

#define HLO_SIGNED_FUNCTIONS(T, C, U, B)                                                           \
  HLO C hlo_abs_##T(C a)                                                                           \
  {                                                                                                \
    return a < 0 ? (C)(U)(0 - (U)a) : a;                                                           \
  }                                                                                                \
  HLO C hlo_sign_##T(C a)                                                                          \
  {                                                                                                \
    return (C)((a > 0) - (a < 0));                                                                 \
  }                                                                                                \
  HLO C hlo_divide_##T(C a, C b)                                                                   \
  {                                                                                                \
    return b == 0 ? (C) - 1 : b == -1 ? hlo_negate_##T(a) : (C)(a / b);                            \
  }                                                                                                \
  HLO C hlo_remainder_##T(C a, C b)                                                                \
  {                                                                                                \
    return b == 0 ? a : b == -1 ? 0 : (C)(a % b);                                                  \
  }                                                                                                \
  HLO C hlo_shift_right_arithmetic_##T(C a, C b)                                                   \
  {                                                                                                \
    return (C)(a >> ((U)b < B ? (U)b : B - 1));                                                    \
  }
HLO_SIGNED(HLO_SIGNED_FUNCTIONS)

#define HLO_UNSIGNED_FUNCTIONS(T, C, U, B)                                                         \
  HLO C hlo_abs_##T(C a)                                                                           \
  {                                                                                                \
    return a;                                                                                      \
  }                                                                                                \
  HLO C hlo_sign_##T(C a)                                                                          \
  {                                                                                                \
    return a != 0;                                                                                 \
  }                                                                                                \
  HLO C hlo_divide_##T(C a, C b)                                                                   \
  {                                                                                                \
    return b == 0 ? (C) - 1 : (C)(a / b);                                                          \
  }                                                                                                \
  HLO C hlo_remainder_##T(C a, C b)                                                                \
  {                                                                                                \
    return b == 0 ? a : (C)(a % b);                                                                \
  }                                                                                                \
  /* The bits of the signed type. */                                                               \
  HLO C hlo_shift_right_arithmetic_##T(C a, C b)                                                   \
  {                                                                                                \
    C ones = a >> (B - 1) ? (C) - 1 : 0;                                                           \
    if (b >= B) return ones;                                                                       \
    return (C)(a >> b | (C) ~(C)((C) - 1 >> b) * (ones & 1));                                      \
  }
HLO_UNSIGNED(HLO_UNSIGNED_FUNCTIONS)

/* ---- i1 ---- */

HLO bool hlo_add_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_multiply_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_maximum_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_minimum_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_and_i1(bool a, bool b)
{
  return a & b;
}
HLO bool hlo_or_i1(bool a, bool b)
{
  return a | b;
}
HLO bool hlo_xor_i1(bool a, bool b)
{
  return a ^ b;
}
HLO bool hlo_not_i1(bool a)
{
  return !a;
}
HLO bool hlo_eq_i1(bool a, bool b)
{
  return a == b;
}
HLO bool hlo_ne_i1(bool a, bool b)
{
  return a != b;
}
HLO bool hlo_lt_i1(bool a, bool b)
{
  return a < b;
}
HLO bool hlo_le_i1(bool a, bool b)
{
  return a <= b;
}
HLO bool hlo_gt_i1(bool a, bool b)
{
  return a > b;
}
HLO bool hlo_ge_i1(bool a, bool b)
{
  return a >= b;
}

#endif
