/*
 * printf and the functions into which compilers turn it. The instruction tile.print
 * (runtime/isa/isa.h) hands format and arguments to the host, which formats. So printing costs a
 * tile a few bytes instead of the 8 KB of picolibc's formatting.
 */
#include <stdarg.h>
#include <stdio.h>

#undef putchar /* a macro there */

/* A va_list of this ABI is the address of the arguments. The memory clobber makes the
 * compiler store them. */
int vprintf(const char *format, va_list arguments)
{
  int bytes;
  __asm__ volatile(".insn r 0x2b, 0, 10, %0, %1, %2"
                   : "=r"(bytes)
                   : "r"(format), "r"(arguments)
                   : "memory");
  return bytes;
}

int printf(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int bytes = vprintf(format, arguments);
  va_end(arguments);
  return bytes;
}

int puts(const char *text)
{
  return printf("%s\n", text);
}

int putchar(int c)
{
  printf("%c", c);
  return (unsigned char)c;
}
