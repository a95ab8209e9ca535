/* Functions that codelets on the host call and that no C library has, like libdevice.a for the tile
 * (libcodelet/device/lib).
 *
 * A tile has no heap: the forms of operator new that may return null do so. A failed assertion ends
 * the process, because a codelet on the CPU is part of it. */
#include "cpu/cpu_private.h"
#include "isa/functions.h"

#include <populus/names.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

/* Of the thread. A UTF-8 character may come byte by byte: its first bytes are kept until the rest
 * arrives. */
static _Thread_local FILE *print_stream;
static _Thread_local bool has_printed; /* since cpu_library_set_print */
static _Thread_local char begun[4];
static _Thread_local size_t num_begun;

static FILE *print_target(void)
{
  return print_stream ? print_stream : stderr;
}

/* Prints the text. Bytes at its end that may begin a character are kept. */
static void put_text(const char *text, size_t size)
{
  size_t kept = size < 3 ? size : 3;
  while (kept && !pop_utf8_begun(text + size - kept, kept)) kept--;
  pop_write_printable(text, size - kept, print_target());
  memcpy(begun, text + size - kept, kept);
  num_begun = kept;
}

static void put(const char *text, size_t size)
{
  has_printed = true;
  size_t taken = 0;
  for (; num_begun && taken < size; taken++) {
    char longer[sizeof begun + 1];
    memcpy(longer, begun, num_begun);
    longer[num_begun] = text[taken];
    put_text(longer, num_begun + 1);
  }
  if (taken < size) put_text(text + taken, size - taken);
}

void cpu_library_set_print(FILE *stream)
{
  print_stream = stream;
  has_printed = false;
}

bool cpu_library_end_print(void)
{
  if (num_begun) pop_write_printable(begun, num_begun, print_target());
  num_begun = 0;
  return has_printed;
}

static int print_list(const char *format, va_list arguments)
{
  char *text;
  int bytes = vasprintf(&text, format, arguments);
  if (bytes < 0) return bytes;
  put(text, (size_t)bytes);
  free(text);
  return bytes;
}

__attribute__((format(printf, 1, 2))) static int print(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int bytes = print_list(format, arguments);
  va_end(arguments);
  return bytes;
}

static int print_line(const char *text)
{
  return print("%s\n", text);
}

static int print_character(int c)
{
  const char byte = (char)c;
  put(&byte, 1);
  return (unsigned char)byte;
}

/* ---- ends ---- */

static void stop(void)
{
  (void)cpu_library_end_print();
  fflush(print_target());
  abort();
}

static void fail_assertion(const char *file, int line, const char *function, const char *expression)
{
  print("%s:%d: %s%sassertion '%s' failed\n", file, line, function ? function : "",
        function ? ": " : "", expression);
  stop();
}

static void fail_unknown_assertion(void)
{
  print("assertion failed\n");
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

/* For processors that convert halves themselves, which is much faster than libgcc. */
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
    FUNCTION("expf", function_expf),
    FUNCTION("exp2f", function_exp2f),
    FUNCTION("logf", function_logf),
    FUNCTION("log2f", function_log2f),
    FUNCTION("tanhf", function_tanhf),
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
