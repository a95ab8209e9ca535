/* Constants of HLO text: braces become brackets, and numbers are written in the type's notation. */
#include "models/hlo_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Infinity and NaN have no name in StableHLO, so they are written as their bits. */
static const struct {
  const char *element;
  unsigned bits, mantissa; /* bits of the type; of its mantissa */
} layouts[] = {
    {"f16", 16, 10}, {"bf16", 16, 7}, {"f32", 32, 23}, {"complex<f32>", 32, 23}, {"f64", 64, 52}};

/* Reads the mantissa of an infinity or NaN: 0 for "inf", the first bit for "nan", the payload for
 * "nan(0x400001)". Returns the end of the name. NULL if it is neither, or the payload does not
 * fit. */
static const char *read_mantissa(const char *at, unsigned bits, uint64_t *mantissa)
{
  *mantissa = 0;
  if (strncmp(at, "inf", 3) == 0) return at + 3;
  if (strncmp(at, "nan", 3) != 0) return NULL;
  *mantissa = 1ull << (bits - 1);
  at += 3;
  if (strncmp(at, "(0x", 3) != 0) return at;
  char *end;
  errno = 0;
  *mantissa = isxdigit((unsigned char)at[3]) ? strtoull(at + 3, &end, 16) : 0;
  bool fits = *mantissa && !errno && !(*mantissa >> bits);
  return fits && *end == ')' ? end + 1 : NULL;
}

/* NULL: it is no such number. */
static const char *add_special(text *to, const char *element, const char *at)
{
  bool negative = *at == '-';
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; ++i) {
    unsigned bits = layouts[i].bits, below = layouts[i].mantissa;
    if (strcmp(layouts[i].element, element) != 0) continue;
    uint64_t mantissa, exponent = (1ull << (bits - 1)) - (1ull << below);
    const char *end = read_mantissa(at + negative, below, &mantissa);
    if (end)
      text_add(to, "0x%0*" PRIX64, (int)bits / 4,
               (uint64_t)negative << (bits - 1) | exponent | mantissa);
    return end;
  }
  return NULL;
}

/* Adds one number or word, and returns its end. */
static const char *add_number(text *to, const char *element, const char *at)
{
  const char *begin = at, *behind = add_special(to, element, at);
  if (behind) return behind;
  while (isalnum((unsigned char)*at) || *at == '.' || *at == '-' || *at == '+' || *at == '_') at++;
  size_t length = (size_t)(at - begin);
  bool real = strchr(element, 'f') != NULL;
  if (strcmp(element, "i1") == 0 && length == 1)
    text_add(to, "%s", *begin == '0' ? "false" : "true");
  else if (real && !memchr(begin, '.', length) && !memchr(begin, 'e', length))
    text_add(to, "%.*s.0", (int)length, begin);
  else
    text_add(to, "%.*s", (int)length, begin);
  return at;
}

pop_error *hlo_literal(const hlo_module *h, const hlo_instruction *i, text *to)
{
  const char *type = hlo_type_text(h, &i->type), *at = i->inside;
  if (i->type.tuple || i->type.token) return hlo_error(h, i, "a constant is a tensor");
  if (strstr(at, "..."))
    return hlo_error(h, i,
                     "the elements of %s are not in the text: dump it with "
                     "--xla_dump_large_constants or print_large_constants",
                     i->name);
  for (uint32_t d = 0; d < i->type.rank; ++d)
    if (i->type.dims[d] == 0) {
      text_add(to, "dense<> : %s", type);
      return NULL;
    }
  text_add(to, "dense<");
  while (*at) {
    if (isspace((unsigned char)*at)) {
      at++;
    } else if (strchr("{}(),", *at)) {
      text_add(to, "%c", *at == '{' ? '[' : *at == '}' ? ']' : *at);
      at++;
    } else {
      const char *behind = add_number(to, i->type.element, at);
      if (behind == at) return hlo_error(h, i, "the constant has '%c' in it", *at);
      if (*behind == '(')
        return hlo_error(h, i, "the constant has %.*s, which is no number of %s",
                         (int)strcspn(at, ",} "), at, i->type.element);
      at = behind;
    }
  }
  text_add(to, "> : %s", type);
  return NULL;
}
