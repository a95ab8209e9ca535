/* How a tensor is printed, as the text that goes with the program from graph to engine: "1000 3 75 8 0 20 5b 5d", or ""
 * for the guide's form. */
#ifndef RUNTIME_GRAPH_PRINT_FORMAT_H
#define RUNTIME_GRAPH_PRINT_FORMAT_H

#include <populus/program.h>

enum { PRINT_FORMAT_SIZE = 80, PRINT_FORMAT_MAX_DIGITS = 17 };

/* False: the format cannot be. */
bool print_format_write(const pop_print_format *format, char text[PRINT_FORMAT_SIZE]);
/* False: the text is none, for it comes from a file. */
bool print_format_read(const char *text, pop_print_format *format);

#endif
