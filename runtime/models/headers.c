/* Which headers of hlo_*.h generated code includes: only those of functions that it calls. Reading
 * all of them took a quarter of the time to compile a small model. */
#include "models/lowering.h"

#include <ctype.h>
#include <string.h>

typedef enum header {
  HEADER_FLOAT,
  HEADER_SPECIAL,
  HEADER_INTEGER,
  HEADER_COMPLEX,
  HEADER_CONVERT,
  HEADER_COUNT
} header;

static const char *const header_names[HEADER_COUNT] = {"hlo_float", "hlo_special", "hlo_integer",
                                                       "hlo_complex", "hlo_convert"};

/* Functions of hlo_values.h that exist for each type, by the part of the name before the type. */
static const char *const value_functions[] = {"bits", "from_bits", "load",
                                              "make", "round",     "store"};
static const char *const special_functions[] = {
    "acosh", "bessel_i1e", "cosh", "digamma", "erf_inv", "lgamma", "polygamma", "sinh", "zeta"};

/* hlo_<name>_<type> */
typedef struct call {
  const char *name, *type;
  size_t name_length, type_length;
} call;

static bool is_one_of(const call *c, const char *const *names, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (strlen(names[i]) == c->name_length && memcmp(names[i], c->name, c->name_length) == 0)
      return true;
  return false;
}

static bool starts(const call *c, const char *word)
{
  size_t length = strlen(word);
  return c->name_length >= length && memcmp(c->name, word, length) == 0;
}

static element_type type_of(const call *c)
{
  for (element_type e = 0; e < ELEMENT_COUNT; ++e)
    if (strlen(element_infos[e].suffix) == c->type_length &&
        memcmp(element_infos[e].suffix, c->type, c->type_length) == 0)
      return e;
  return ELEMENT_COUNT;
}

/* HEADER_COUNT if it is none of these. */
static header header_of(const call *c)
{
  element_type type = type_of(c);
  if (type == ELEMENT_COUNT ||
      is_one_of(c, value_functions, sizeof value_functions / sizeof *value_functions))
    return HEADER_COUNT;
  if (starts(c, "convert_")) return HEADER_CONVERT;
  if (type == ELEMENT_C64 || is_one_of(c, (const char *[]){"complex"}, 1)) return HEADER_COMPLEX;
  if (!element_is_float(type)) return HEADER_INTEGER;
  return is_one_of(c, special_functions, sizeof special_functions / sizeof *special_functions)
             ? HEADER_SPECIAL
             : HEADER_FLOAT;
}

/* Splits the word behind "hlo_" at its last '_'. */
static call read_call(const char *at)
{
  size_t length = 0, last = 0;
  for (; isalnum((unsigned char)at[length]) || at[length] == '_'; ++length)
    if (at[length] == '_') last = length;
  return (call){at, at + last + 1, last, last ? length - last - 1 : 0};
}

void lowering_add_headers(text *t, const char *code)
{
  bool needed[HEADER_COUNT + 1] = {false};
  for (const char *at = code; (at = strstr(at, "hlo_")); at += 4) {
    call c = read_call(at + 4);
    needed[header_of(&c)] = true;
  }
  text_add(t, "#include <populus/hlo_values.h>\n");
  for (header h = 0; h < HEADER_COUNT; ++h)
    if (needed[h]) text_add(t, "#include <populus/%s.h>\n", header_names[h]);
}
