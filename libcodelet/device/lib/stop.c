/*
 * The ends of a program on a tile. Each is a fault, which the machine reports with tile,
 * vertex and source line. picolibc's versions print through stdio and a host interface,
 * which a tile does not have.
 */
#include <stdint.h>
#include <stdio.h>

_Noreturn void abort(void)
{
  __builtin_trap();
}

_Noreturn void _exit(int status)
{
  (void)status;
  __builtin_trap();
}

/* A failed assertion prints its message, then ends in the fault TRAP with the value 1. */
static _Noreturn void trap(void)
{
  __asm__ volatile(".insn r 0x2b, 0, 9, x0, %0, x0" : : "r"(1)); /* tile.trap */
  __builtin_unreachable();
}

/* assert() of picolibc's <assert.h>, with and without text (__ASSERT_VERBOSE). */
_Noreturn void __assert_func(const char *file, int line, const char *function,
                             const char *expression)
{
  printf("%s:%d: %s%sassertion '%s' failed\n", file, line, function ? function : "",
         function ? ": " : "", expression);
  trap();
}

_Noreturn void __assert_no_args(void)
{
  printf("assertion failed\n");
  trap();
}

_Noreturn void exit(int status)
{
  _exit(status);
}
