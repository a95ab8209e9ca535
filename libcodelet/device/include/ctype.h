/* Kinds of characters. This file replaces picolibc's of the same name, whose macros look kinds up in
 * a table of the library. For signed characters, which codelets have, that is a table that Debian's
 * build of picolibc does not hold. Here they are the functions that picolibc, and a host's C
 * library, have for them. */
#ifndef _CTYPE_H_
#define _CTYPE_H_

#include <sys/cdefs.h>

#if __POSIX_VISIBLE >= 200809
#include <sys/_locale.h>
#define POPULUS_CHARACTER(name)                                                                    \
  int name(int);                                                                                   \
  int name##_l(int, locale_t);
#else
#define POPULUS_CHARACTER(name) int name(int);
#endif

#ifdef __cplusplus
extern "C" {
#endif

POPULUS_CHARACTER(isalnum)
POPULUS_CHARACTER(isalpha)
POPULUS_CHARACTER(iscntrl)
POPULUS_CHARACTER(isdigit)
POPULUS_CHARACTER(isgraph)
POPULUS_CHARACTER(islower)
POPULUS_CHARACTER(isprint)
POPULUS_CHARACTER(ispunct)
POPULUS_CHARACTER(isspace)
POPULUS_CHARACTER(isupper)
POPULUS_CHARACTER(isxdigit)
POPULUS_CHARACTER(tolower)
POPULUS_CHARACTER(toupper)
#if __ISO_C_VISIBLE >= 1999
POPULUS_CHARACTER(isblank)
#endif
#if __MISC_VISIBLE || __XSI_VISIBLE
POPULUS_CHARACTER(isascii)
POPULUS_CHARACTER(toascii)
#define _tolower(c) ((unsigned char)(c) - 'A' + 'a')
#define _toupper(c) ((unsigned char)(c) - 'a' + 'A')
#endif
#undef POPULUS_CHARACTER

#ifdef __cplusplus
}
#endif
#endif
