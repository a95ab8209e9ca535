/* The format of a printed tensor, as the text that goes with the program from graph to engine:
 * "1000 3 75 8 0 20 5b 5d", or "" for the default of the user guide. */
#ifndef RUNTIME_GRAPH_PRINT_FORMAT_H
#define RUNTIME_GRAPH_PRINT_FORMAT_H

#include <populus/program.h>

enum { PRINT_FORMAT_SIZE = 80, PRINT_FORMAT_MAX_DIGITS = 17 };

/* False if the format is not valid. */
bool print_format_write(const pop_print_format *format, char text[PRINT_FORMAT_SIZE]);
/* False if the text is not valid: it may come from a file. */
bool print_format_read(const char *text, pop_print_format *format);

#endif
