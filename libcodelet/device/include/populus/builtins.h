/* __builtin_ipu_…: the builtins of the IPU's compiler. popc includes this file before a
 * codelet that is compiled for the tile. Most builtins mean the same on the host and
 * are defined there, too.
 *
 * Each does what the chip's instruction of its name does, with the tile's ordinary instructions. An
 * overloaded name (__builtin_ipu_max) chooses by type. The names with a type
 * (__builtin_ipu_f32v2max) are those of the instructions. Comparisons return all bits set or clear,
 * in the type of the operands.
 *
 * The state of a context (accumulators, control registers, random numbers) is in libdevice
 * (lib/contexts.c) and exists on the tile only. Some builtins are missing, because only the chip's
 * own assembly defines them: the loads into the multiplier (ld64putcs, ld128putcs), packed
 * addresses (tapack), f16v2cmac and f16v4cmac, class, rmask, cms, roll8.
 *
 * This file is read for each codelet. So it includes nothing, and macros keep it short.
 */
#ifndef POPULUS_BUILTINS_H
#define POPULUS_BUILTINS_H

typedef _Float16 populus_half;
typedef _Float16 populus_half2 __attribute__((__vector_size__(4)));
typedef _Float16 populus_half4 __attribute__((__vector_size__(8)));
typedef float populus_float2 __attribute__((__vector_size__(8)));
typedef short populus_short2 __attribute__((__vector_size__(4)));
typedef short populus_short4 __attribute__((__vector_size__(8)));
typedef int populus_int2 __attribute__((__vector_size__(8)));

#define POPULUS_BUILTIN                                                                            \
  static __inline__ __attribute__((__overloadable__, __always_inline__, __unused__))

/* --- for each of float, float2, half2, half4 ------------------------------------------------- */

#define POPULUS_DEFINE(T, name, parameters, expression)                                            \
  POPULUS_BUILTIN T name parameters                                                                \
  {                                                                                                \
    return expression;                                                                             \
  }
#define POPULUS_BINARY(name, expression)                                                           \
  POPULUS_DEFINE(float, name, (float __a, float __b), expression)                                  \
  POPULUS_DEFINE(populus_float2, name, (populus_float2 __a, populus_float2 __b), expression)       \
  POPULUS_DEFINE(populus_half2, name, (populus_half2 __a, populus_half2 __b), expression)          \
  POPULUS_DEFINE(populus_half4, name, (populus_half4 __a, populus_half4 __b), expression)

POPULUS_BINARY(__builtin_ipu_max, __builtin_elementwise_max(__a, __b))
POPULUS_BINARY(__builtin_ipu_min, __builtin_elementwise_min(__a, __b))
POPULUS_BINARY(__builtin_ipu_absadd,
               __builtin_elementwise_abs(__a) + __builtin_elementwise_abs(__b))
POPULUS_BINARY(__builtin_ipu_absmax, __builtin_elementwise_max(__builtin_elementwise_abs(__a),
                                                               __builtin_elementwise_abs(__b)))

POPULUS_BUILTIN float populus_float_of(unsigned bits)
{
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
POPULUS_BUILTIN unsigned populus_bits_of(float value)
{
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

#define POPULUS_COMPARE(name, operator)                                                            \
  POPULUS_DEFINE(float, name, (float __a, float __b),                                              \
                 populus_float_of(0u - (unsigned)(__a operator __b)))                              \
  POPULUS_DEFINE(populus_float2, name, (populus_float2 __a, populus_float2 __b),                   \
                 (populus_float2)(__a operator __b))                                               \
  POPULUS_DEFINE(populus_half2, name, (populus_half2 __a, populus_half2 __b),                      \
                 (populus_half2)(__a operator __b))                                                \
  POPULUS_DEFINE(populus_half4, name, (populus_half4 __a, populus_half4 __b),                      \
                 (populus_half4)(__a operator __b))

POPULUS_COMPARE(__builtin_ipu_cmpeq, ==)
POPULUS_COMPARE(__builtin_ipu_cmpne, !=)
POPULUS_COMPARE(__builtin_ipu_cmpge, >=)
POPULUS_COMPARE(__builtin_ipu_cmpgt, >)
POPULUS_COMPARE(__builtin_ipu_cmple, <=)
POPULUS_COMPARE(__builtin_ipu_cmplt, <)

/* clamp(x, {lowest, highest}) */
#define POPULUS_CLAMP(T, Limits, low, high)                                                        \
  POPULUS_DEFINE(T, __builtin_ipu_clamp, (T __x, Limits limits),                                   \
                 __builtin_elementwise_min(__builtin_elementwise_max(__x, low), high))
POPULUS_CLAMP(float, populus_float2, limits[0], limits[1])
POPULUS_CLAMP(populus_float2, populus_float2, ((populus_float2){limits[0], limits[0]}),
              ((populus_float2){limits[1], limits[1]}))
POPULUS_CLAMP(populus_half2, populus_half2, ((populus_half2){limits[0], limits[0]}),
              ((populus_half2){limits[1], limits[1]}))
POPULUS_CLAMP(populus_half4, populus_half2,
              ((populus_half4){limits[0], limits[0], limits[0], limits[0]}),
              ((populus_half4){limits[1], limits[1], limits[1], limits[1]}))

/* Functions of float and half2. On the tile those of float are instructions (runtime/isa/isa.h),
 * also under their names in <math.h> and <cmath>. The address of expf is that of libdevice's, which
 * gives the same results. A source may define its own expf. Each use records in the object that it
 * needs the instructions. */
#ifdef __IPU__
#define POPULUS_FUNCTION(name, number, expression)                                                 \
  POPULUS_BUILTIN float name(float __x)                                                            \
  {                                                                                                \
    float result;                                                                                  \
    __asm__(".insn r 0x77, 3, " #number ", %0, %1, f0\n"                                           \
            ".pushsection .populus.needs,\"\",@progbits\n"                                         \
            ".asciz \"functions\"\n"                                                               \
            ".popsection"                                                                          \
            : "=f"(result)                                                                         \
            : "f"(__x));                                                                           \
    return result;                                                                                 \
  }
#else
#define POPULUS_FUNCTION(name, number, expression)                                                 \
  POPULUS_DEFINE(float, name, (float __x), expression)
#endif
POPULUS_FUNCTION(__builtin_ipu_exp, 0, __builtin_expf(__x))
POPULUS_FUNCTION(__builtin_ipu_exp2, 1, __builtin_exp2f(__x))
POPULUS_FUNCTION(__builtin_ipu_ln, 2, __builtin_logf(__x))
POPULUS_FUNCTION(__builtin_ipu_log2, 3, __builtin_log2f(__x))
POPULUS_FUNCTION(__builtin_ipu_tanh, 4, __builtin_tanhf(__x))
POPULUS_FUNCTION(__builtin_ipu_sigm, 5, 1.0f / (1.0f + __builtin_expf(-__x)))
POPULUS_FUNCTION(__builtin_ipu_f32oorx, 6, 1.0f / __builtin_sqrtf(__x))
#undef POPULUS_FUNCTION

#ifdef __IPU__
#ifdef __cplusplus
extern "C" {
#endif
#define POPULUS_LIBRARY(name, function)                                                            \
  extern __inline__ __attribute__((__gnu_inline__, __always_inline__)) float name(float __x)       \
  {                                                                                                \
    return function(__x);                                                                          \
  }
POPULUS_LIBRARY(expf, __builtin_ipu_exp)
POPULUS_LIBRARY(exp2f, __builtin_ipu_exp2)
POPULUS_LIBRARY(logf, __builtin_ipu_ln)
POPULUS_LIBRARY(log2f, __builtin_ipu_log2)
POPULUS_LIBRARY(tanhf, __builtin_ipu_tanh)
#undef POPULUS_LIBRARY
#ifdef __cplusplus
}
#endif
#define __builtin_expf __builtin_ipu_exp
#define __builtin_exp2f __builtin_ipu_exp2
#define __builtin_logf __builtin_ipu_ln
#define __builtin_log2f __builtin_ipu_log2
#define __builtin_tanhf __builtin_ipu_tanh
#endif

#define POPULUS_HALVES(name)                                                                       \
  POPULUS_BUILTIN populus_half2 name(populus_half2 __v)                                            \
  {                                                                                                \
    return (populus_half2){(_Float16)name((float)__v[0]), (_Float16)name((float)__v[1])};          \
  }
POPULUS_HALVES(__builtin_ipu_exp)
POPULUS_HALVES(__builtin_ipu_exp2)
POPULUS_HALVES(__builtin_ipu_ln)
POPULUS_HALVES(__builtin_ipu_log2)
POPULUS_HALVES(__builtin_ipu_tanh)
POPULUS_HALVES(__builtin_ipu_sigm)
#undef POPULUS_HALVES

POPULUS_BUILTIN float __builtin_ipu_f16tof32(populus_half __x)
{
  return (float)__x;
}
POPULUS_BUILTIN populus_half __builtin_ipu_f16v2maxc(populus_half2 __v)
{
  return __builtin_elementwise_max(__v[0], __v[1]);
}
POPULUS_BUILTIN float __builtin_ipu_f16v2sum(populus_half2 __v)
{
  return (float)__v[0] + (float)__v[1];
}
POPULUS_BUILTIN populus_float2 __builtin_ipu_f16v4sum(populus_half4 __v)
{
  return (populus_float2){(float)__v[0] + (float)__v[1], (float)__v[2] + (float)__v[3]};
}

/* --- classification -------------------------------------------------------------------------- */

/* Vectors by the bits of their elements, without the sign. Arithmetic would be an invalid operation
 * of an infinity or a signalling NaN, which is a fault when exceptions are on. */
#define POPULUS_CLASSIFY(name, scalar, is)                                                         \
  POPULUS_DEFINE(int, name, (float __x), scalar)                                                   \
  POPULUS_DEFINE(populus_short2, name, (populus_half2 __x),                                        \
                 ((populus_short2)__x & 0x7fff) is 0x7c00)                                         \
  POPULUS_DEFINE(populus_int2, name, (populus_float2 __x),                                         \
                 ((populus_int2)__x & 0x7fffffff) is 0x7f800000)                                   \
  POPULUS_DEFINE(populus_short4, name, (populus_half4 __x),                                        \
                 ((populus_short4)__x & 0x7fff) is 0x7c00)
POPULUS_CLASSIFY(__builtin_ipu_isfinite, __builtin_isfinite(__x), <)
POPULUS_CLASSIFY(__builtin_ipu_isinf, __builtin_isinf(__x), ==)
POPULUS_CLASSIFY(__builtin_ipu_isnan, __builtin_isnan(__x), >)

/* --- bits ------------------------------------------------------------------------------------ */

#define POPULUS_BITWISE(name, operator)                                                            \
  POPULUS_DEFINE(int, name, (int __a, int __b), __a operator __b)                                  \
  POPULUS_DEFINE(int, name, (unsigned __a, int __b), (int)__a operator __b)                        \
  POPULUS_DEFINE(float, name, (float __a, float __b),                                              \
                 populus_float_of(populus_bits_of(__a) operator populus_bits_of(__b)))             \
  POPULUS_DEFINE(populus_float2, name, (populus_float2 __a, populus_float2 __b),                   \
                 (populus_float2)((populus_int2)__a operator(populus_int2) __b))
POPULUS_BITWISE(__builtin_ipu_and, &)
POPULUS_BITWISE(__builtin_ipu_or, |)
POPULUS_BITWISE(__builtin_ipu_andc, &~)
POPULUS_DEFINE(float, __builtin_ipu_not, (float __a), populus_float_of(~populus_bits_of(__a)))
POPULUS_DEFINE(populus_float2, __builtin_ipu_not, (populus_float2 __a),
               (populus_float2)(~(populus_int2)__a))

/* Bytes of words, from the lowest on: shuf8x8lo(a, b) = {a0, b0, a1, b1}, … */
POPULUS_BUILTIN unsigned populus_bytes(unsigned b0, unsigned b1, unsigned b2, unsigned b3)
{
  return (b0 & 255) | (b1 & 255) << 8 | (b2 & 255) << 16 | b3 << 24;
}
POPULUS_BUILTIN unsigned __builtin_ipu_shuf8x8lo(unsigned __a, unsigned __b)
{
  return populus_bytes(__a, __b, __a >> 8, __b >> 8);
}
POPULUS_BUILTIN unsigned __builtin_ipu_shuf8x8hi(unsigned __a, unsigned __b)
{
  return populus_bytes(__a >> 16, __b >> 16, __a >> 24, __b >> 24);
}
POPULUS_BUILTIN unsigned __builtin_ipu_sort8x8lo(unsigned __a, unsigned __b)
{
  return populus_bytes(__a, __a >> 16, __b, __b >> 16);
}
POPULUS_BUILTIN unsigned __builtin_ipu_sort8x8hi(unsigned __a, unsigned __b)
{
  return populus_bytes(__a >> 8, __a >> 24, __b >> 8, __b >> 24);
}
POPULUS_BUILTIN unsigned __builtin_ipu_sort8(unsigned __a)
{
  return populus_bytes(__a, __a >> 16, __a >> 8, __a >> 24);
}
POPULUS_BUILTIN unsigned __builtin_ipu_swap8(unsigned __a)
{
  return populus_bytes(__a >> 8, __a, __a >> 24, __a >> 16);
}
POPULUS_BUILTIN unsigned __builtin_ipu_bitrev8(unsigned __a)
{
  return __builtin_bswap32(__builtin_bitreverse32(__a));
}
POPULUS_BUILTIN populus_float2 __builtin_ipu_sort4x32lo(populus_float2 __a, populus_float2 __b)
{
  return (populus_float2){__a[0], __b[0]};
}
POPULUS_BUILTIN populus_float2 __builtin_ipu_sort4x32hi(populus_float2 __a, populus_float2 __b)
{
  return (populus_float2){__a[1], __b[1]};
}
POPULUS_BUILTIN populus_float2 __builtin_ipu_roll32(populus_float2 __a, populus_float2 __b)
{
  return (populus_float2){__a[1], __b[0]};
}

/* --- instructions by their own names --------------------------------------------------------- */

#define __builtin_ipu_f32max __builtin_ipu_max
#define __builtin_ipu_f32v2max __builtin_ipu_max
#define __builtin_ipu_f16v2max __builtin_ipu_max
#define __builtin_ipu_f16v4max __builtin_ipu_max
#define __builtin_ipu_f32min __builtin_ipu_min
#define __builtin_ipu_f32v2min __builtin_ipu_min
#define __builtin_ipu_f16v2min __builtin_ipu_min
#define __builtin_ipu_f16v4min __builtin_ipu_min
#define __builtin_ipu_f32absadd __builtin_ipu_absadd
#define __builtin_ipu_f32v2absadd __builtin_ipu_absadd
#define __builtin_ipu_f16v2absadd __builtin_ipu_absadd
#define __builtin_ipu_f16v4absadd __builtin_ipu_absadd
#define __builtin_ipu_f32absmax __builtin_ipu_absmax
#define __builtin_ipu_f32v2absmax __builtin_ipu_absmax
#define __builtin_ipu_f16v2absmax __builtin_ipu_absmax
#define __builtin_ipu_f16v4absmax __builtin_ipu_absmax
#define __builtin_ipu_f32cmpeq __builtin_ipu_cmpeq
#define __builtin_ipu_f32v2cmpeq __builtin_ipu_cmpeq
#define __builtin_ipu_f16v2cmpeq __builtin_ipu_cmpeq
#define __builtin_ipu_f16v4cmpeq __builtin_ipu_cmpeq
#define __builtin_ipu_f32cmpne __builtin_ipu_cmpne
#define __builtin_ipu_f32v2cmpne __builtin_ipu_cmpne
#define __builtin_ipu_f16v2cmpne __builtin_ipu_cmpne
#define __builtin_ipu_f16v4cmpne __builtin_ipu_cmpne
#define __builtin_ipu_f32cmpge __builtin_ipu_cmpge
#define __builtin_ipu_f32v2cmpge __builtin_ipu_cmpge
#define __builtin_ipu_f16v2cmpge __builtin_ipu_cmpge
#define __builtin_ipu_f16v4cmpge __builtin_ipu_cmpge
#define __builtin_ipu_f32cmpgt __builtin_ipu_cmpgt
#define __builtin_ipu_f32v2cmpgt __builtin_ipu_cmpgt
#define __builtin_ipu_f16v2cmpgt __builtin_ipu_cmpgt
#define __builtin_ipu_f16v4cmpgt __builtin_ipu_cmpgt
#define __builtin_ipu_f32cmple __builtin_ipu_cmple
#define __builtin_ipu_f32v2cmple __builtin_ipu_cmple
#define __builtin_ipu_f16v2cmple __builtin_ipu_cmple
#define __builtin_ipu_f16v4cmple __builtin_ipu_cmple
#define __builtin_ipu_f32cmplt __builtin_ipu_cmplt
#define __builtin_ipu_f32v2cmplt __builtin_ipu_cmplt
#define __builtin_ipu_f16v2cmplt __builtin_ipu_cmplt
#define __builtin_ipu_f16v4cmplt __builtin_ipu_cmplt
#define __builtin_ipu_f32clamp __builtin_ipu_clamp
#define __builtin_ipu_f32v2clamp __builtin_ipu_clamp
#define __builtin_ipu_f16v2clamp __builtin_ipu_clamp
#define __builtin_ipu_f16v4clamp __builtin_ipu_clamp
#define __builtin_ipu_f16v2exp __builtin_ipu_exp
#define __builtin_ipu_f16v2exp2 __builtin_ipu_exp2
#define __builtin_ipu_f16v2ln __builtin_ipu_ln
#define __builtin_ipu_f16v2log2 __builtin_ipu_log2
#define __builtin_ipu_f16v2tanh __builtin_ipu_tanh
#define __builtin_ipu_f16v2sigm __builtin_ipu_sigm
#define __builtin_ipu_f32exp __builtin_ipu_exp
#define __builtin_ipu_f32exp2 __builtin_ipu_exp2
#define __builtin_ipu_f32ln __builtin_ipu_ln
#define __builtin_ipu_f32log2 __builtin_ipu_log2
#define __builtin_ipu_f32tanh __builtin_ipu_tanh
#define __builtin_ipu_f32sigm __builtin_ipu_sigm
#define __builtin_ipu_isfinite_f32 __builtin_ipu_isfinite
#define __builtin_ipu_isfinite_v2f16 __builtin_ipu_isfinite
#define __builtin_ipu_isfinite_v2f32 __builtin_ipu_isfinite
#define __builtin_ipu_isfinite_v4f16 __builtin_ipu_isfinite
#define __builtin_ipu_isinf_f32 __builtin_ipu_isinf
#define __builtin_ipu_isinf_v2f16 __builtin_ipu_isinf
#define __builtin_ipu_isinf_v2f32 __builtin_ipu_isinf
#define __builtin_ipu_isinf_v4f16 __builtin_ipu_isinf
#define __builtin_ipu_isnan_f32 __builtin_ipu_isnan
#define __builtin_ipu_isnan_v2f16 __builtin_ipu_isnan
#define __builtin_ipu_isnan_v2f32 __builtin_ipu_isnan
#define __builtin_ipu_isnan_v4f16 __builtin_ipu_isnan
#define __builtin_ipu_and_i32 __builtin_ipu_and
#define __builtin_ipu_and_f32 __builtin_ipu_and
#define __builtin_ipu_and_v2f32 __builtin_ipu_and
#define __builtin_ipu_or_i32 __builtin_ipu_or
#define __builtin_ipu_or_f32 __builtin_ipu_or
#define __builtin_ipu_or_v2f32 __builtin_ipu_or
#define __builtin_ipu_andc_i32 __builtin_ipu_andc
#define __builtin_ipu_andc_f32 __builtin_ipu_andc
#define __builtin_ipu_andc_v2f32 __builtin_ipu_andc
#define __builtin_ipu_not_f32 __builtin_ipu_not
#define __builtin_ipu_not_v2f32 __builtin_ipu_not

/* --- the tile and the context ---------------------------------------------------------------- */

#ifdef __IPU__

/* Tile instructions: runtime/isa/isa.h */
#define POPULUS_READ(type, name, instruction)                                                      \
  POPULUS_BUILTIN type name(void)                                                                  \
  {                                                                                                \
    unsigned value;                                                                                \
    __asm__ volatile(instruction : "=r"(value));                                                   \
    return (type)value;                                                                            \
  }
POPULUS_READ(unsigned, __builtin_ipu_get_tile_id, ".insn r 0x2b, 0, 8, %0, x0, x0")
POPULUS_READ(unsigned, populus_context_number, ".insn r 0x2b, 0, 5, %0, x0, x0")
POPULUS_READ(unsigned, __builtin_ipu_get_scount_l, "csrr %0, cycle")
POPULUS_READ(unsigned, __builtin_ipu_get_scount_u, "csrr %0, cycleh")
#undef POPULUS_READ

POPULUS_BUILTIN unsigned __builtin_ipu_get_worker_id(void)
{
  return populus_context_number();
}
POPULUS_BUILTIN int __builtin_ipu_is_worker_mode(void)
{
  return populus_context_number() != 6;
}

#ifdef __cplusplus
extern "C" {
#endif
/* lib/contexts.c */
unsigned populus_get_register(unsigned index);
void populus_put_register(unsigned value, unsigned index);
populus_float2 populus_axpy(populus_float2 __a, populus_float2 __b);
void populus_aop(populus_float2 __a, populus_float2 __b);
populus_float2 populus_gina(populus_float2 value);
unsigned long long populus_random(void);
populus_float2 populus_random_normal(void);
#ifdef __cplusplus
}
#endif

#define POPULUS_ONLY_IF(condition, sentence)                                                       \
  __attribute__((diagnose_if(!(condition), sentence, "error")))
#define POPULUS_KNOWN_REGISTER                                                                     \
  "this control register does nothing on the software tile: WSR, TILE_ID, FP_ICTL and the cycle "  \
  "counters are there"
#define POPULUS_KNOWN_FLOAT_REGISTER                                                               \
  "this control register does nothing on the software tile: FP_STS, FP_CLR, FP_CTL, PRNG_0_0 to "  \
  "PRNG_1_1 and TAS are there"

POPULUS_BUILTIN unsigned __builtin_ipu_get(unsigned index)
    POPULUS_ONLY_IF(index == 1 || index == 3 || index == 0x20 || index == 0x60 || index == 0x61,
                    POPULUS_KNOWN_REGISTER)
{
  return populus_get_register(index);
}
POPULUS_BUILTIN void __builtin_ipu_put(unsigned value, unsigned index)
    POPULUS_ONLY_IF(index == 0x20, POPULUS_KNOWN_REGISTER)
{
  populus_put_register(value, index);
}
POPULUS_BUILTIN unsigned __builtin_ipu_uget(unsigned index)
    POPULUS_ONLY_IF(index <= 6 || index == 8, POPULUS_KNOWN_FLOAT_REGISTER)
{
  return populus_get_register(0x100 + index);
}
POPULUS_BUILTIN float __builtin_ipu_ugetf(unsigned index)
    POPULUS_ONLY_IF(index <= 6 || index == 8, POPULUS_KNOWN_FLOAT_REGISTER)
{
  return populus_float_of(populus_get_register(0x100 + index));
}
#define POPULUS_UPUT(name, T, bits)                                                                \
  POPULUS_BUILTIN void name(T value, int index)                                                    \
      POPULUS_ONLY_IF((index >= 1 && index <= 6) || index == 8, POPULUS_KNOWN_FLOAT_REGISTER)      \
  {                                                                                                \
    populus_put_register(bits, 0x100u + (unsigned)index);                                          \
  }
POPULUS_UPUT(__builtin_ipu_uput, unsigned, value)
POPULUS_UPUT(__builtin_ipu_uput, int, (unsigned)value)
POPULUS_UPUT(__builtin_ipu_uput, float, populus_bits_of(value))
POPULUS_UPUT(__builtin_ipu_uputf, float, populus_bits_of(value))
#undef POPULUS_UPUT

POPULUS_BUILTIN populus_float2 __builtin_ipu_f32v2axpy(populus_float2 __a, populus_float2 __b)
{
  return populus_axpy(__a, __b);
}
POPULUS_BUILTIN void __builtin_ipu_f32v2aop(populus_float2 __a, populus_float2 __b, int zero)
    POPULUS_ONLY_IF(zero == 0, "the last argument of f32v2aop is not used and must be 0")
{
  populus_aop(__a, __b);
}
#define POPULUS_GINA(name)                                                                         \
  POPULUS_BUILTIN populus_float2 name(populus_float2 value, int flags)                             \
      POPULUS_ONLY_IF(flags == 0, "only flags 0, which read the accumulators and move them on, "   \
                                  "are there on the software tile")                                \
  {                                                                                                \
    return populus_gina(value);                                                                    \
  }
POPULUS_GINA(__builtin_ipu_f32v2gina)
POPULUS_GINA(__builtin_ipu_gina)
#undef POPULUS_GINA

POPULUS_BUILTIN unsigned __builtin_ipu_urand32(void)
{
  return (unsigned)populus_random();
}
POPULUS_BUILTIN unsigned long long __builtin_ipu_urand64(void)
{
  return populus_random();
}
/* Uniform in [-0.5, 0.5) */
POPULUS_BUILTIN float __builtin_ipu_urand_f32(void)
{
  return (float)((int)populus_random() >> 8) * 0x1p-24f;
}
POPULUS_BUILTIN populus_half __builtin_ipu_urand_f16(void)
{
  return (populus_half)((float)((int)populus_random() >> 21) * 0x1p-11f);
}
POPULUS_BUILTIN populus_float2 __builtin_ipu_f32v2grand(void)
{
  return populus_random_normal();
}
POPULUS_BUILTIN populus_half2 __builtin_ipu_f16v2grand(void)
{
  populus_float2 value = populus_random_normal();
  return (populus_half2){(_Float16)value[0], (_Float16)value[1]};
}

#undef POPULUS_ONLY_IF
#undef POPULUS_KNOWN_REGISTER
#undef POPULUS_KNOWN_FLOAT_REGISTER
#endif

#undef POPULUS_BUILTIN
#undef POPULUS_DEFINE
#undef POPULUS_BINARY
#undef POPULUS_COMPARE
#undef POPULUS_CLAMP
#undef POPULUS_CLASSIFY
#undef POPULUS_BITWISE

#endif
