/* Text with numbers that must not depend on the locale of the program: a module that is read, code
 * that is generated. In a language with a decimal comma strtod would read "0.5" as 0. */
#ifndef BASE_C_LOCALE_H
#define BASE_C_LOCALE_H

#include <locale.h>

static inline locale_t c_locale_begin(void)
{
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of the C library */
}

static inline void c_locale_end(const locale_t *before)
{
  uselocale(*before);
}

/* At the beginning of a function: until it returns, this thread is in the C locale. */
#define C_LOCALE                                                                                   \
  __attribute__((cleanup(c_locale_end), unused)) const locale_t own_locale = c_locale_begin()

#endif
