/* Constants of HLO text: braces become brackets, and numbers are written as the type wants them. */
#include "models/hlo_text.h"

#include <ctype.h>
#include <string.h>

/* Infinity and NaN have no name in the other notation: their bits. `name`: behind the sign. */
static const char *special(const char *element, const char *name, size_t length, bool negative)
{
  static const struct {
    const char *element, *inf, *minus, *nan;
  } bits[] = {{"f16", "0x7C00", "0xFC00", "0x7E00"},
              {"bf16", "0x7F80", "0xFF80", "0x7FC0"},
              {"f32", "0x7F800000", "0xFF800000", "0x7FC00000"},
              {"complex<f32>", "0x7F800000", "0xFF800000", "0x7FC00000"},
              {"f64", "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"}};
  bool inf = length >= 3 && memcmp(name, "inf", 3) == 0,
       nan = length >= 3 && memcmp(name, "nan", 3) == 0;
  if (!inf && !nan) return NULL;
  for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
    if (strcmp(bits[i].element, element) == 0)
      return nan ? bits[i].nan : negative ? bits[i].minus : bits[i].inf;
  return NULL;
}

/* One number or word, to its end. */
static const char *add_number(text *to, const char *element, const char *at)
{
  const char *begin = at;
  while (isalnum((unsigned char)*at) || *at == '.' || *at == '-' || *at == '+' || *at == '_') at++;
  size_t length = (size_t)(at - begin);
  bool negative = *begin == '-';
  const char *name = special(element, begin + negative, length - negative, negative);
  bool real = strchr(element, 'f') != NULL;
  if (name)
    text_add(to, "%s", name);
  else if (strcmp(element, "i1") == 0 && length == 1)
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
      at = behind;
    }
  }
  text_add(to, "> : %s", type);
  return NULL;
}
