/* std::sqrt(half) and its like, which libc++ does not have. Our <cmath> includes this file at its
 * end. A half is computed as a float and rounded once. */
#ifndef POPULUS_HALF_MATH_H
#define POPULUS_HALF_MATH_H

_LIBCPP_BEGIN_NAMESPACE_STD

#define POPULUS_HALF_1(name)                                                                       \
  inline _LIBCPP_HIDE_FROM_ABI _Float16 name(_Float16 __x)                                         \
  {                                                                                                \
    return static_cast<_Float16>(__builtin_##name##f(static_cast<float>(__x)));                    \
  }
#define POPULUS_HALF_2(name)                                                                       \
  inline _LIBCPP_HIDE_FROM_ABI _Float16 name(_Float16 __x, _Float16 __y)                           \
  {                                                                                                \
    return static_cast<_Float16>(                                                                  \
        __builtin_##name##f(static_cast<float>(__x), static_cast<float>(__y)));                    \
  }
#define POPULUS_HALF_IS(name)                                                                      \
  inline _LIBCPP_HIDE_FROM_ABI bool name(_Float16 __x)                                             \
  {                                                                                                \
    return __builtin_##name(static_cast<float>(__x));                                              \
  }

POPULUS_HALF_1(fabs)
POPULUS_HALF_1(sqrt)
POPULUS_HALF_1(cbrt)
POPULUS_HALF_1(exp)
POPULUS_HALF_1(exp2)
POPULUS_HALF_1(expm1)
POPULUS_HALF_1(log)
POPULUS_HALF_1(log2)
POPULUS_HALF_1(log10)
POPULUS_HALF_1(log1p)
POPULUS_HALF_1(sin)
POPULUS_HALF_1(cos)
POPULUS_HALF_1(tan)
POPULUS_HALF_1(asin)
POPULUS_HALF_1(acos)
POPULUS_HALF_1(atan)
POPULUS_HALF_1(sinh)
POPULUS_HALF_1(cosh)
POPULUS_HALF_1(tanh)
POPULUS_HALF_1(asinh)
POPULUS_HALF_1(acosh)
POPULUS_HALF_1(atanh)
POPULUS_HALF_1(erf)
POPULUS_HALF_1(erfc)
POPULUS_HALF_1(floor)
POPULUS_HALF_1(ceil)
POPULUS_HALF_1(trunc)
POPULUS_HALF_1(round)
POPULUS_HALF_1(rint)
POPULUS_HALF_1(nearbyint)
POPULUS_HALF_2(fmax)
POPULUS_HALF_2(fmin)
POPULUS_HALF_2(fdim)
POPULUS_HALF_2(fmod)
POPULUS_HALF_2(remainder)
POPULUS_HALF_2(pow)
POPULUS_HALF_2(atan2)
POPULUS_HALF_2(hypot)
POPULUS_HALF_IS(isnan)
POPULUS_HALF_IS(isinf)
POPULUS_HALF_IS(isfinite)
inline _LIBCPP_HIDE_FROM_ABI bool isnormal(_Float16 __x)
{
  return isfinite(__x) && __builtin_fabsf(__x) >= __FLT16_MIN__;
}
inline _LIBCPP_HIDE_FROM_ABI bool signbit(_Float16 __x)
{
  return __builtin_bit_cast(unsigned short, __x) >> 15;
}
/* A host's compiler would round twice: see ipu_vector_math. */
inline _LIBCPP_HIDE_FROM_ABI _Float16 fma(_Float16 __x, _Float16 __y, _Float16 __z)
{
#ifdef __riscv
  return __builtin_fmaf16(__x, __y, __z);
#else
  return static_cast<_Float16>(static_cast<double>(__x) * __y + __z);
#endif
}
/* A conversion would lose the sign of a NaN. */
inline _LIBCPP_HIDE_FROM_ABI _Float16 copysign(_Float16 __x, _Float16 __y)
{
  return __builtin_copysignf16(__x, __y);
}
inline _LIBCPP_HIDE_FROM_ABI _Float16 abs(_Float16 __x)
{
  return fabs(__x);
}

#undef POPULUS_HALF_1
#undef POPULUS_HALF_2
#undef POPULUS_HALF_IS

_LIBCPP_END_NAMESPACE_STD

#endif
