/* JSON output of tools: values are built in order, then printed, on one line or for people. */
#ifndef TOOLS_VALUES_H
#define TOOLS_VALUES_H

#include <populus/arena.h>
#include <populus/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Each value of a map has a key; in a list, and for the outermost value, it is NULL.
 * Begin with {0}. */
typedef pop_bytes values;
void values_begin_map(values *v, const char *key);
void values_begin_list(values *v, const char *key);
void values_end(values *v); /* of a map or a list */
void values_put_text(values *v, const char *key, const char *text);
void values_put_count(values *v, const char *key, uint64_t count);
void values_put_bool(values *v, const char *key, bool is);
/* To the stream, with the end of the line; frees them. */
POP_MUST_CHECK pop_error *values_write(values *v, bool pretty, FILE *stream);
/* To standard output, with the end of the line; frees them. */
POP_MUST_CHECK pop_error *values_print(values *v, bool pretty);

#endif
