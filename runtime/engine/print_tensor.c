/* PrintTensor's text, as the guide shows it:
 *
 *   v1-debug: {1,1.5,2,2.5}
 *   v3: {
 *    {5,4.5},
 *    {4,3.5}
 *   }
 *
 * Rows of the last dimension are on one line; every outer dimension adds a brace and a blank of
 * indentation. Floats have six significant digits, like those of C++ streams.
 */
#include "engine/engine_private.h"

#include "base/c_locale.h"

#include <populus/names.h>
#include <string.h>

static void format_float(char text[ELEMENT_TEXT_SIZE], double value, const char *format,
                         int precision)
{
  C_LOCALE; /* in "{1,5,2,5}" nobody could tell the elements */
  if (strcmp(format, "f") == 0)
    snprintf(text, ELEMENT_TEXT_SIZE, "%.*f", precision, value);
  else if (strcmp(format, "e") == 0)
    snprintf(text, ELEMENT_TEXT_SIZE, "%.*e", precision, value);
  else
    snprintf(text, ELEMENT_TEXT_SIZE, "%.*g", precision, value);
}

void format_element(char text[ELEMENT_TEXT_SIZE], pop_type type, const uint8_t *at,
                    const char *float_format, int precision)
{
  union {
    float f;
    int16_t s;
    uint16_t us;
    int32_t i;
    uint32_t u;
    int64_t ll;
    uint64_t ull;
  } value = {0};
  memcpy(&value, at, pop_type_bytes(type));
  switch (type) {
  case POP_BOOL:
  case POP_UNSIGNED_CHAR:
  case POP_QUARTER: /* the raw byte: its format and scale are not part of the tensor */
    snprintf(text, ELEMENT_TEXT_SIZE, "%u", *at);
    break;
  case POP_CHAR:
  case POP_SIGNED_CHAR:
    snprintf(text, ELEMENT_TEXT_SIZE, "%d", (int8_t)*at);
    break;
  case POP_SHORT:
    snprintf(text, ELEMENT_TEXT_SIZE, "%d", value.s);
    break;
  case POP_UNSIGNED_SHORT:
    snprintf(text, ELEMENT_TEXT_SIZE, "%u", value.us);
    break;
  case POP_INT:
    snprintf(text, ELEMENT_TEXT_SIZE, "%d", value.i);
    break;
  case POP_UNSIGNED_INT:
    snprintf(text, ELEMENT_TEXT_SIZE, "%u", value.u);
    break;
  case POP_LONGLONG:
    snprintf(text, ELEMENT_TEXT_SIZE, "%lld", (long long)value.ll);
    break;
  case POP_UNSIGNED_LONGLONG:
    snprintf(text, ELEMENT_TEXT_SIZE, "%llu", (unsigned long long)value.ull);
    break;
  case POP_HALF:
    format_float(text, (double)pop_half_to_float(value.us), float_format, precision);
    break;
  case POP_FLOAT:
    format_float(text, (double)value.f, float_format, precision);
    break;
  case POP_TYPE_COUNT:
    *text = '\0';
    break;
  }
}

static void print_element(FILE *stream, pop_type type, const uint8_t *at)
{
  char text[ELEMENT_TEXT_SIZE];
  format_element(text, type, at, "g", 6);
  fputs(text, stream);
}

/* Prints dimensions `d` and inwards from *at on, and advances *at. Depth <= rank <= 16. */
static void print_dimension(FILE *stream, pop_type type, const size_t *shape, uint32_t rank,
                            uint32_t d, const uint8_t **at)
{
  bool rows = d + 1 < rank;
  fputc('{', stream);
  for (size_t i = 0; i < shape[d]; ++i) {
    if (i) fputc(',', stream);
    if (rows) {
      fprintf(stream, "\n%*s", (int)d + 1, "");
      print_dimension(stream, type, shape, rank, d + 1, at);
    } else {
      print_element(stream, type, *at);
      *at += pop_type_bytes(type);
    }
  }
  if (rows && shape[d]) fprintf(stream, "\n%*s", (int)d, "");
  fputc('}', stream);
}

/* Control characters in a title must not reach a terminal. */
void print_title(FILE *stream, const char *title)
{
  pop_write_name(title, stream);
  fputs(": ", stream);
}

void print_tensor(FILE *stream, const char *title, pop_type type, const size_t *shape,
                  uint32_t rank, const void *data)
{
  const uint8_t *at = data;
  print_title(stream, title);
  if (rank == 0)
    print_element(stream, type, at);
  else
    print_dimension(stream, type, shape, rank, 0, &at);
  fputc('\n', stream);
}
