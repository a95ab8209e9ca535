#include "graph/print_format.h"

#include <stdio.h>

pop_print_format pop_print_format_default(void)
{
  return (pop_print_format){.summarise_threshold = 1000,
                            .edge_items = 3,
                            .max_line_width = 75,
                            .digits = 8,
                            .float_format = POP_FLOAT_AUTO,
                            .separator = ' ',
                            .open_bracket = '[',
                            .close_bracket = ']'};
}

static bool is_printable(unsigned c)
{
  return c >= ' ' && c < 0x7f;
}

static bool is_possible(const pop_print_format *f)
{
  return f->digits >= 1 && f->digits <= PRINT_FORMAT_MAX_DIGITS &&
         (unsigned)f->float_format <= POP_FLOAT_NONE && is_printable((unsigned char)f->separator) &&
         is_printable((unsigned char)f->open_bracket) &&
         is_printable((unsigned char)f->close_bracket);
}

bool print_format_write(const pop_print_format *f, char text[PRINT_FORMAT_SIZE])
{
  if (!is_possible(f)) return false;
  snprintf(text, PRINT_FORMAT_SIZE, "%u %u %u %u %u %x %x %x", f->summarise_threshold,
           f->edge_items, f->max_line_width, f->digits, (unsigned)f->float_format,
           (unsigned char)f->separator, (unsigned char)f->open_bracket,
           (unsigned char)f->close_bracket);
  return true;
}

bool print_format_read(const char *text, pop_print_format *f)
{
  unsigned kind, separator, open, close;
  int end = 0;
  if (sscanf(text, "%u %u %u %u %u %x %x %x%n", &f->summarise_threshold, &f->edge_items,
             &f->max_line_width, &f->digits, &kind, &separator, &open, &close, &end) != 8 ||
      text[end] || kind > POP_FLOAT_NONE || !is_printable(separator) || !is_printable(open) ||
      !is_printable(close))
    return false;
  f->float_format = (pop_float_format)kind;
  f->separator = (char)separator;
  f->open_bracket = (char)open;
  f->close_bracket = (char)close;
  return is_possible(f);
}
