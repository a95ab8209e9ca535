/* What codelets on the host call and no C library has: as libdevice.a for the tile (libcodelet/device/lib).
 *
 * There is no heap on a tile: the forms of operator new that may answer "none" do so. A failed assertion
 * ends the process: a codelet on the CPU is part of it. */
#include "cpu/cpu_private.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

static _Thread_local FILE *print_stream;

void cpu_library_set_print(FILE *stream)
{
  print_stream = stream;
}

static FILE *where(void)
{
  return print_stream ? print_stream : stderr;
}

static int print_list(const char *format, va_list arguments)
{
  return vfprintf(where(), format, arguments);
}

static int print(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int bytes = vfprintf(where(), format, arguments);
  va_end(arguments);
  return bytes;
}

static int print_line(const char *text)
{
  return fprintf(where(), "%s\n", text);
}

static int print_character(int c)
{
  return fputc(c, where());
}

/* ---- ends ---- */

static void stop(void)
{
  fflush(where());
  abort();
}

static void fail_assertion(const char *file, int line, const char *function, const char *expression)
{
  fprintf(where(), "%s:%d: %s%sassertion '%s' failed\n", file, line, function ? function : "",
          function ? ": " : "", expression);
  stop();
}

static void fail_unknown_assertion(void)
{
  fputs("assertion failed\n", where());
  stop();
}

/* ---- C++ ---- */

static void *no_memory(void)
{
  return NULL;
}

static void delete_nothing(void) {}

static char nothrow;

/* ---- half ---- */

#ifdef __x86_64__
__extension__ typedef _Float16 half;

/* Where the processor converts halves itself, much faster than libgcc. */
__attribute__((target("f16c"))) static float extend_by_f16c(half value)
{
  return (float)value;
}

__attribute__((target("f16c"))) static half truncate_by_f16c(float value)
{
  return (half)value;
}

static float extend(half value)
{
  return (float)value;
}

static half truncate_single(float value)
{
  return (half)value;
}

static half truncate_double(double value)
{
  return (half)value;
}
#endif

/* ---- the table ---- */

typedef void (*any_function)(void);
typedef struct library_entry {
  const char *name;
  any_function function;
} library_entry;

#define FUNCTION(name, function) {name, (any_function)(function)}

static const library_entry entries[] = {
    FUNCTION("printf", print),
    FUNCTION("vprintf", print_list),
    FUNCTION("puts", print_line),
    FUNCTION("putchar", print_character),
    FUNCTION("__assert_func", fail_assertion),
    FUNCTION("__assert_no_args", fail_unknown_assertion),
    FUNCTION("__cxa_pure_virtual", stop),
    FUNCTION("_ZNSt3__122__libcpp_verbose_abortEPKcz", stop),
    FUNCTION("_ZnwmRKSt9nothrow_t", no_memory),
    FUNCTION("_ZnamRKSt9nothrow_t", no_memory),
    FUNCTION("_ZnwmSt11align_val_tRKSt9nothrow_t", no_memory),
    FUNCTION("_ZdlPv", delete_nothing),
    FUNCTION("_ZdaPv", delete_nothing),
    FUNCTION("_ZdlPvm", delete_nothing),
    FUNCTION("_ZdlPvRKSt9nothrow_t", delete_nothing),
    FUNCTION("_ZdlPvSt11align_val_t", delete_nothing),
    FUNCTION("_ZdlPvmSt11align_val_t", delete_nothing),
#ifdef __x86_64__
    FUNCTION("__truncdfhf2", truncate_double),
#endif
};

uintptr_t cpu_library_find(const char *name)
{
  if (strcmp(name, "_ZSt7nothrow") == 0) return (uintptr_t)&nothrow;
#ifdef __x86_64__
  bool fast = __builtin_cpu_supports("f16c");
  if (strcmp(name, "__extendhfsf2") == 0)
    return fast ? (uintptr_t)extend_by_f16c : (uintptr_t)extend;
  if (strcmp(name, "__truncsfhf2") == 0)
    return fast ? (uintptr_t)truncate_by_f16c : (uintptr_t)truncate_single;
#endif
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strcmp(entries[i].name, name) == 0) return (uintptr_t)entries[i].function;
  return 0;
}
