/* The assertions of Criterion that tests/support uses, for fuzz targets: a failure aborts. */
#ifndef FUZZ_CRITERION_H
#define FUZZ_CRITERION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 4, 5))) static inline void fuzz_fail(const char *file, int line,
                                                                   const char *what,
                                                                   const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: %s: ", file, line, what);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}

#define FUZZ_ASSERT(holds, what, ...)                                                              \
  do {                                                                                             \
    if (!(holds)) fuzz_fail(__FILE__, __LINE__, what, " " __VA_ARGS__);                            \
  } while (0)

#define cr_assert(holds, ...) FUZZ_ASSERT(holds, #holds, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) FUZZ_ASSERT((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_null(a, ...) FUZZ_ASSERT(!(a), #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) FUZZ_ASSERT(a, #a " is not NULL", __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) FUZZ_ASSERT(!strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)                                                          \
  FUZZ_ASSERT(!memcmp(a, b, size), #a " holds " #b, __VA_ARGS__)

#endif
