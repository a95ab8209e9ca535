// Names of the C library that codelets use without including its headers, in the global namespace
// and in std: uint16_t, size_t, memcpy and their like. <cstdint>, <cstddef> and <cstring> have
// them, too, but in thirty files, which take half of the time of all of <poplar/Vertex.hpp>. Types
// and limits are the compiler's, as there, so a codelet may include those headers as well.
#ifndef POPULUS_STD_NAMES_H
#define POPULUS_STD_NAMES_H

#define POPULUS_NAME(name, TYPE)                                                                   \
  typedef TYPE name;                                                                               \
  namespace std                                                                                    \
  {                                                                                                \
  using ::name;                                                                                    \
  }
#define POPULUS_WIDTH(bits)                                                                        \
  POPULUS_NAME(int##bits##_t, __INT##bits##_TYPE__)                                                \
  POPULUS_NAME(uint##bits##_t, __UINT##bits##_TYPE__)                                              \
  POPULUS_NAME(int_least##bits##_t, __INT_LEAST##bits##_TYPE__)                                    \
  POPULUS_NAME(uint_least##bits##_t, __UINT_LEAST##bits##_TYPE__)                                  \
  POPULUS_NAME(int_fast##bits##_t, __INT_FAST##bits##_TYPE__)                                      \
  POPULUS_NAME(uint_fast##bits##_t, __UINT_FAST##bits##_TYPE__)
POPULUS_WIDTH(8)
POPULUS_WIDTH(16)
POPULUS_WIDTH(32)
POPULUS_WIDTH(64)
POPULUS_NAME(intptr_t, __INTPTR_TYPE__)
POPULUS_NAME(uintptr_t, __UINTPTR_TYPE__)
POPULUS_NAME(intmax_t, __INTMAX_TYPE__)
POPULUS_NAME(uintmax_t, __UINTMAX_TYPE__)
POPULUS_NAME(size_t, __SIZE_TYPE__)
POPULUS_NAME(ptrdiff_t, __PTRDIFF_TYPE__)
POPULUS_NAME(nullptr_t, decltype(nullptr))
#undef POPULUS_WIDTH
#undef POPULUS_NAME

#define INT8_MIN (-__INT8_MAX__ - 1)
#define INT8_MAX (__INT8_MAX__)
#define UINT8_MAX (__UINT8_MAX__)
#define INT16_MIN (-__INT16_MAX__ - 1)
#define INT16_MAX (__INT16_MAX__)
#define UINT16_MAX (__UINT16_MAX__)
#define INT32_MIN (-__INT32_MAX__ - 1)
#define INT32_MAX (__INT32_MAX__)
#define UINT32_MAX (__UINT32_MAX__)
#define INT64_MIN (-__INT64_MAX__ - 1)
#define INT64_MAX (__INT64_MAX__)
#define UINT64_MAX (__UINT64_MAX__)
#define INT_LEAST8_MIN (-__INT_LEAST8_MAX__ - 1)
#define INT_LEAST8_MAX (__INT_LEAST8_MAX__)
#define UINT_LEAST8_MAX (__UINT_LEAST8_MAX__)
#define INT_LEAST16_MIN (-__INT_LEAST16_MAX__ - 1)
#define INT_LEAST16_MAX (__INT_LEAST16_MAX__)
#define UINT_LEAST16_MAX (__UINT_LEAST16_MAX__)
#define INT_LEAST32_MIN (-__INT_LEAST32_MAX__ - 1)
#define INT_LEAST32_MAX (__INT_LEAST32_MAX__)
#define UINT_LEAST32_MAX (__UINT_LEAST32_MAX__)
#define INT_LEAST64_MIN (-__INT_LEAST64_MAX__ - 1)
#define INT_LEAST64_MAX (__INT_LEAST64_MAX__)
#define UINT_LEAST64_MAX (__UINT_LEAST64_MAX__)
#define INT_FAST8_MIN (-__INT_FAST8_MAX__ - 1)
#define INT_FAST8_MAX (__INT_FAST8_MAX__)
#define UINT_FAST8_MAX (__UINT_FAST8_MAX__)
#define INT_FAST16_MIN (-__INT_FAST16_MAX__ - 1)
#define INT_FAST16_MAX (__INT_FAST16_MAX__)
#define UINT_FAST16_MAX (__UINT_FAST16_MAX__)
#define INT_FAST32_MIN (-__INT_FAST32_MAX__ - 1)
#define INT_FAST32_MAX (__INT_FAST32_MAX__)
#define UINT_FAST32_MAX (__UINT_FAST32_MAX__)
#define INT_FAST64_MIN (-__INT_FAST64_MAX__ - 1)
#define INT_FAST64_MAX (__INT_FAST64_MAX__)
#define UINT_FAST64_MAX (__UINT_FAST64_MAX__)
#define INTPTR_MIN (-__INTPTR_MAX__ - 1)
#define INTPTR_MAX (__INTPTR_MAX__)
#define UINTPTR_MAX (__UINTPTR_MAX__)
#define INTMAX_MIN (-INTMAX_MAX - 1)
#define INTMAX_MAX (__INTMAX_MAX__)
#define UINTMAX_MAX (__UINTMAX_MAX__)
#define SIZE_MAX (__SIZE_MAX__)
#define PTRDIFF_MAX (__PTRDIFF_MAX__)
#define PTRDIFF_MIN (-PTRDIFF_MAX - 1)
#define POPULUS_PASTE(x, suffix) x##suffix
#define POPULUS_SUFFIXED(x, suffix) POPULUS_PASTE(x, suffix)
#define INT8_C(x) x
#define UINT8_C(x) x
#define INT16_C(x) x
#define UINT16_C(x) x
#define INT32_C(x) POPULUS_SUFFIXED(x, __INT32_C_SUFFIX__)
#define UINT32_C(x) POPULUS_SUFFIXED(x, __UINT32_C_SUFFIX__)
#define INT64_C(x) POPULUS_SUFFIXED(x, __INT64_C_SUFFIX__)
#define UINT64_C(x) POPULUS_SUFFIXED(x, __UINT64_C_SUFFIX__)
#define INTMAX_C(x) POPULUS_SUFFIXED(x, __INTMAX_C_SUFFIX__)
#define UINTMAX_C(x) POPULUS_SUFFIXED(x, __UINTMAX_C_SUFFIX__)
#undef NULL
#define NULL __null
#undef offsetof
#define offsetof(t, d) __builtin_offsetof(t, d)

extern "C" {
int memcmp(const void *__a, const void *__b, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
size_t strlen(const char *text);
}

namespace std
{
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::strlen;
} // namespace std

#endif
