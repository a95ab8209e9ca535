/* printf of codelets, done by the host: format and arguments are in tile memory.
 *
 * The arguments are in memory as rv32's calling convention passes variable arguments: words of four
 * bytes; a long long or double takes two words, the first at an even word. A codelet may be wrong
 * about all of this. So each address is checked, each length is bounded, and the text says what
 * cannot be printed.
 */
#include "engine/engine_private.h"

#include "base/c_locale.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMAT_BYTES = 4096, MAX_STRING_BYTES = 4096, MAX_WIDTH = 256 };

typedef struct arguments {
  const machine *machine;
  uint32_t tile, address;
  bool readable;
} arguments;

static bool read_memory(const machine *m, uint32_t tile, uint32_t address, void *bytes,
                        uint32_t size)
{
  pop_error *error = machine_read(m, tile, address, bytes, size);
  bool read = !error;
  pop_error_free(error);
  if (!read) memset(bytes, 0, size);
  return read;
}

/* Reads up to `most` bytes of the string; false if it is not in memory. */
static bool read_string(const machine *m, uint32_t tile, uint32_t address, uint32_t most,
                        pop_bytes *string)
{
  char c = 1;
  while (string->size < most) {
    if (!read_memory(m, tile, address + (uint32_t)string->size, &c, 1)) return false;
    if (!c) break;
    pop_bytes_append(string, &c, 1);
  }
  return true;
}

static uint32_t take_word(arguments *a)
{
  uint32_t word;
  if (!read_memory(a->machine, a->tile, a->address, &word, sizeof word)) a->readable = false;
  a->address += 4;
  return word;
}

static uint64_t take_double_word(arguments *a)
{
  a->address = (a->address + 7) & ~7u;
  uint64_t low = take_word(a);
  return low | (uint64_t)take_word(a) << 32;
}

/* One conversion: "%-08.3lld" */
typedef struct conversion {
  char flags[8];
  int width, precision; /* precision -1: none */
  int size;             /* bytes of an integer argument */
  bool long_double;
  char letter;
} conversion;

static int take_number(const char **at, arguments *a, int most)
{
  int value = 0;
  if (**at == '*') {
    ++*at;
    value = (int32_t)take_word(a);
  } else {
    for (; **at >= '0' && **at <= '9'; ++*at)
      if (value <= most) value = 10 * value + (**at - '0');
  }
  return value > most ? most : value < -most ? -most : value;
}

static void add_flag(conversion *c, char flag)
{
  size_t length = strlen(c->flags);
  if (!strchr(c->flags, flag) && length + 1 < sizeof c->flags) c->flags[length] = flag;
}

/* Bytes of the argument: h: 2, hh: 1, ll and j: 8; any other length modifier: 4. */
static void take_length(const char **at, conversion *c)
{
  c->size = 4;
  for (; **at && strchr("hlLjzt", **at); ++*at) {
    if (**at == 'h') c->size = c->size == 2 ? 1 : 2;
    if (**at == 'j' || (**at == 'l' && (*at)[1] == 'l')) c->size = 8;
    if (**at == 'L') c->long_double = true;
  }
}

static conversion take_conversion(const char **at, arguments *a)
{
  conversion c = {.precision = -1};
  for (; **at && strchr("-+ #0", **at); ++*at) add_flag(&c, **at);
  c.width = take_number(at, a, MAX_WIDTH);
  if (c.width < 0) {
    add_flag(&c, '-');
    c.width = -c.width;
  }
  if (**at == '.') {
    ++*at;
    c.precision = take_number(at, a, MAX_STRING_BYTES);
  }
  take_length(at, &c);
  c.letter = **at;
  if (c.letter != 's' && c.precision > MAX_WIDTH) c.precision = MAX_WIDTH;
  if (**at) ++*at;
  return c;
}

static int64_t sign_extended(uint64_t value, int bytes)
{
  int unused = 64 - 8 * bytes;
  return (int64_t)(value << unused) >> unused;
}

/* Formats are built from checked parts. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_integer(const conversion *c, uint64_t value, pop_bytes *text)
{
  char format[24], out[2 * MAX_WIDTH + 64];
  bool is_signed = c->letter == 'd' || c->letter == 'i';
  uint64_t mask = c->size == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * c->size) - 1;
  snprintf(format, sizeof format, "%%%s*.*ll%c", c->flags, c->letter);
  int length = is_signed ? snprintf(out, sizeof out, format, c->width, c->precision,
                                    (long long)sign_extended(value, c->size))
                         : snprintf(out, sizeof out, format, c->width, c->precision,
                                    (unsigned long long)(value & mask));
  if (length > 0) pop_bytes_append(text, out, (size_t)length);
}

static void put_double(const conversion *c, uint64_t bits, pop_bytes *text)
{
  C_LOCALE;
  char format[24], out[2 * MAX_WIDTH + 400]; /* the largest has 309 digits */
  double value;
  memcpy(&value, &bits, sizeof value);
  snprintf(format, sizeof format, "%%%s*.*%c", c->flags, c->letter);
  int length = snprintf(out, sizeof out, format, c->width, c->precision, value);
  if (length > 0) pop_bytes_append(text, out, (size_t)length);
}

static void put_padded(const conversion *c, const char *bytes, size_t size, pop_bytes *text)
{
  bool left = strchr(c->flags, '-') != NULL;
  if (left) pop_bytes_append(text, bytes, size);
  for (size_t i = size; i < (size_t)c->width; ++i) pop_bytes_append(text, " ", 1);
  if (!left) pop_bytes_append(text, bytes, size);
}

static void put_string(const conversion *c, const arguments *a, uint32_t address, pop_bytes *text)
{
  char wrong[48];
  pop_bytes string = {0};
  uint32_t most = c->precision >= 0 ? (uint32_t)c->precision : MAX_STRING_BYTES;
  if (address == 0)
    put_padded(c, "(null)", 6, text);
  else if (read_string(a->machine, a->tile, address, most, &string))
    put_padded(c, (const char *)string.data, string.size, text);
  else
    put_padded(c, wrong, (size_t)snprintf(wrong, sizeof wrong, "<no string at 0x%x>", address),
               text);
  pop_bytes_free(&string);
}

static void put_conversion(const conversion *c, arguments *a, pop_bytes *text)
{
  static const char long_double[] = "<long double>";
  char byte;
  switch (c->letter) {
  case '%':
    pop_bytes_append(text, "%", 1);
    break;
  case 'c':
    byte = (char)take_word(a);
    put_padded(c, &byte, 1, text);
    break;
  case 's':
    put_string(c, a, take_word(a), text);
    break;
  case 'p': {
    conversion hexadecimal = {"#", c->width, -1, 4, false, 'x'};
    if (strchr(c->flags, '-')) add_flag(&hexadecimal, '-');
    put_integer(&hexadecimal, take_word(a), text);
    break;
  }
  case 'd':
  case 'i':
  case 'o':
  case 'u':
  case 'x':
  case 'X':
    put_integer(c, c->size == 8 ? take_double_word(a) : take_word(a), text);
    break;
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    if (!c->long_double) {
      put_double(c, take_double_word(a), text);
      break;
    }
    take_word(a); /* its address */
    pop_bytes_append(text, long_double, sizeof long_double - 1);
    break;
  case 'n': /* an address to which nothing is written */
    take_word(a);
    break;
  case '\0':
    break;
  default:
    pop_bytes_append(text, "%", 1);
    pop_bytes_append(text, &c->letter, 1);
    break;
  }
}

void device_format(const machine *m, uint32_t tile, uint32_t format, uint32_t arguments_at,
                   pop_bytes *text)
{
  arguments a = {m, tile, arguments_at, true};
  pop_bytes copy = {0};
  bool is_format = read_string(m, tile, format, MAX_FORMAT_BYTES, &copy);
  pop_bytes_append(&copy, "", 1);
  const char *at = (const char *)copy.data;
  while (is_format && *at && a.readable) {
    size_t plain = strcspn(at, "%");
    pop_bytes_append(text, at, plain);
    at += plain;
    if (!*at) break;
    ++at;
    conversion c = take_conversion(&at, &a);
    put_conversion(&c, &a, text);
  }
  static const char no_format[] = "<no format there>\n", no_arguments[] = "<no arguments there>\n";
  if (!is_format) pop_bytes_append(text, no_format, sizeof no_format - 1);
  if (!a.readable) pop_bytes_append(text, no_arguments, sizeof no_arguments - 1);
  pop_bytes_free(&copy);
}
