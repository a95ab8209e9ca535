/* PrintTensor's text with a format, as numpy prints arrays:
 *
 *   v1-debug: [1.0000000 1.5000000 2.0000000 2.5000000]
 *   v3: [[5.0000000 4.5000000]
 *    [4.0000000 3.5000000]]
 *
 * All elements have the same width, so there are two passes: one finds it, one prints. */
#include "engine/engine_private.h"

#include <math.h>
#include <string.h>

typedef struct printing {
  FILE *stream; /* NULL: nothing is printed */
  const pop_print_format *format;
  pop_type type;
  const size_t *shape;
  uint32_t rank;
  const uint8_t *data;
  bool summarised;
  double largest, smallest; /* of finite nonzero values; 0: there are none */
  const char *float_format;
  int precision;
  size_t width;  /* of an element */
  size_t column; /* current column of the line */
} printing;

/* ---- format of floats ---- */

static void look_at(printing *p, size_t element)
{
  const uint8_t *at = p->data + element * pop_type_bytes(p->type);
  uint16_t half;
  float value = 0;
  if (p->type == POP_HALF) {
    memcpy(&half, at, sizeof half);
    value = pop_half_to_float(half);
  } else {
    memcpy(&value, at, sizeof value);
  }
  double size = fabs((double)value);
  if (size == 0 || !isfinite(size)) return;
  if (size > p->largest) p->largest = size;
  if (p->smallest == 0 || size < p->smallest) p->smallest = size;
}

/* Digits before the decimal point. */
static int digits_before_point(double largest)
{
  int digits = 1;
  double limit = 10;
  while (largest >= limit) {
    limit *= 10;
    digits++;
  }
  return digits;
}

static void choose_float_format(printing *p)
{
  int digits = (int)p->format->digits, before = digits_before_point(p->largest);
  pop_float_format format = p->format->float_format;
  if (format == POP_FLOAT_AUTO) {
    bool fits = before <= digits && (p->smallest == 0 || p->smallest >= 1e-4);
    format = fits ? POP_FLOAT_FIXED : POP_FLOAT_SCIENTIFIC;
  }
  if (format == POP_FLOAT_FIXED) {
    p->float_format = "f";
    p->precision = before < digits ? digits - before : 0;
  } else if (format == POP_FLOAT_SCIENTIFIC) {
    p->float_format = "e";
    p->precision = digits - 1;
  } else {
    p->float_format = "g";
    p->precision = digits;
  }
}

/* ---- elements ---- */

static void text_of(const printing *p, size_t element, char text[ELEMENT_TEXT_SIZE])
{
  format_element(text, p->type, p->data + element * pop_type_bytes(p->type), p->float_format,
                 p->precision);
}

static void measure(printing *p, size_t element)
{
  char text[ELEMENT_TEXT_SIZE];
  text_of(p, element, text);
  if (strlen(text) > p->width) p->width = strlen(text);
}

static void put(printing *p, const char *text, size_t width)
{
  int blanks = width > strlen(text) ? (int)(width - strlen(text)) : 0;
  fprintf(p->stream, "%*s%s", blanks, "", text);
  p->column += (size_t)blanks + strlen(text);
}

static void put_character(printing *p, char c)
{
  fputc(c, p->stream);
  p->column++;
}

static void new_line(printing *p, uint32_t indent)
{
  fprintf(p->stream, "\n%*s", (int)indent, "");
  p->column = indent;
}

/* Prints an element in a row, after the others. */
static void put_in_row(printing *p, const char *text, size_t width, bool first)
{
  uint32_t most = p->format->max_line_width;
  size_t needed = (width > strlen(text) ? width : strlen(text)) + 2; /* with what is around it */
  bool broken = !first && most && p->column + needed > most;
  if (!first && !(broken && p->format->separator == ' ')) put_character(p, p->format->separator);
  if (broken) new_line(p, p->rank);
  put(p, text, width);
}

/* ---- dimensions ---- */

/* Prints what is between two parts of dimension `d` that are not elements. */
static void put_between(printing *p, uint32_t d)
{
  if (p->format->separator != ' ') put_character(p, p->format->separator);
  for (uint32_t i = d + 2; i < p->rank; ++i) fputc('\n', p->stream);
  new_line(p, d + 1);
}

/* Walks over dimensions `d` and inwards from element `first` on: `visit`s the elements that are
 * shown or, without `visit`, prints them. */
static void walk(printing *p, uint32_t d, size_t first, void (*visit)(printing *, size_t))
{
  size_t size = p->shape[d], stride = 1, edge = p->format->edge_items;
  for (uint32_t i = d + 1; i < p->rank; ++i) stride *= p->shape[i];
  bool rows = d + 1 < p->rank, cut = p->summarised && size / 2 >= edge && size > 2 * edge;
  char text[ELEMENT_TEXT_SIZE];
  if (!visit) put_character(p, p->format->open_bracket);
  for (size_t i = 0; i < size; ++i) {
    bool dots = cut && i == edge;
    if (dots) i = size - edge;
    if (dots && !visit) {
      if (rows && edge) put_between(p, d);
      if (rows)
        put(p, "...", 0);
      else
        put_in_row(p, "...", 0, edge == 0);
    }
    if (i == size) break;
    if (rows) {
      if (i && !visit) put_between(p, d);
      walk(p, d + 1, first + i * stride, visit);
    } else if (visit) {
      visit(p, first + i);
    } else {
      text_of(p, first + i, text);
      put_in_row(p, text, p->width, i == 0);
    }
  }
  if (!visit) put_character(p, p->format->close_bracket);
}

void print_tensor_formatted(FILE *stream, const char *title, const pop_print_format *format,
                            pop_type type, const size_t *shape, uint32_t rank, const void *data)
{
  static const size_t one = 1;
  bool scalar = rank == 0;
  printing p = {.stream = stream,
                .format = format,
                .type = type,
                .shape = scalar ? &one : shape,
                .rank = scalar ? 1 : rank,
                .data = data,
                .float_format = "g",
                .precision = (int)format->digits};
  size_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) count *= shape[i];
  p.summarised = count > format->summarise_threshold;
  bool floats = type == POP_FLOAT || type == POP_HALF;
  if (floats) {
    walk(&p, 0, 0, look_at);
    choose_float_format(&p);
  }
  if (!floats || format->float_format != POP_FLOAT_NONE) walk(&p, 0, 0, measure);
  print_title(stream, title);
  p.column = strlen(title) + 2;
  char text[ELEMENT_TEXT_SIZE];
  if (scalar) {
    text_of(&p, 0, text);
    put(&p, text, 0);
  } else {
    walk(&p, 0, 0, NULL);
  }
  fputc('\n', stream);
}
