/* std::numeric_limits<half>, which libc++ does not have. Our <limits> includes this
 * file at its end. */
#ifndef POPULUS_HALF_LIMITS_H
#define POPULUS_HALF_LIMITS_H

_LIBCPP_BEGIN_NAMESPACE_STD

template <> class numeric_limits<_Float16>
{
public:
  typedef _Float16 type;
  static constexpr bool is_specialized = true;
  static constexpr int digits = __FLT16_MANT_DIG__;
  static constexpr int digits10 = __FLT16_DIG__;
  static constexpr int max_digits10 = __FLT16_DECIMAL_DIG__;
  static constexpr int radix = 2;
  static constexpr int min_exponent = __FLT16_MIN_EXP__;
  static constexpr int min_exponent10 = __FLT16_MIN_10_EXP__;
  static constexpr int max_exponent = __FLT16_MAX_EXP__;
  static constexpr int max_exponent10 = __FLT16_MAX_10_EXP__;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;

  static constexpr type min() noexcept { return __FLT16_MIN__; }
  static constexpr type max() noexcept { return __FLT16_MAX__; }
  static constexpr type lowest() noexcept { return -__FLT16_MAX__; }
  static constexpr type epsilon() noexcept { return __FLT16_EPSILON__; }
  static constexpr type round_error() noexcept { return (type)0.5f; }
  static constexpr type infinity() noexcept { return (type)__builtin_inff(); }
  static constexpr type quiet_NaN() noexcept { return (type)__builtin_nanf(""); }
  static constexpr type signaling_NaN() noexcept { return __builtin_nansf16(""); }
  static constexpr type denorm_min() noexcept { return __FLT16_DENORM_MIN__; }
};

_LIBCPP_END_NAMESPACE_STD

#endif
