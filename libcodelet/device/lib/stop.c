/*
 * The ends of a program, for a tile: each is an illegal instruction, which the machine reports as a
 * fault with tile, vertex and source line. picolibc's own would print through stdio and a host
 * interface that a tile does not have.
 */
#include <stdint.h>

_Noreturn void abort(void)
{
  __builtin_trap();
}

_Noreturn void _exit(int status)
{
  (void)status;
  __builtin_trap();
}

/* assert() of picolibc's <assert.h>, with and without text (__ASSERT_VERBOSE). */
_Noreturn void __assert_func(const char *file, int line, const char *function,
                             const char *expression)
{
  (void)file, (void)line, (void)function, (void)expression;
  __builtin_trap();
}

_Noreturn void __assert_no_args(void)
{
  __builtin_trap();
}

_Noreturn void exit(int status)
{
  _exit(status);
}
