/* A streaming JSON writer: it keeps only the nesting. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/emitter.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum json_layout {
  JSON_OUTER_LINES, /* the two outer levels have a line for each value; the rest follows on it */
  JSON_DENSE,
  JSON_PRETTY /* a line for each value, but one for the scalars of a list */
} json_layout;

typedef struct json_writer {
  FILE *stream;
  json_layout layout;
  unsigned depth;
  bool is_first;    /* in its list or object */
  bool on_own_line; /* the value before */
} json_writer;

/* `key` is NULL in lists, and for the outermost value. */
void json_begin_object(json_writer *json, const char *key);
void json_end_object(json_writer *json);
void json_begin_list(json_writer *json, const char *key);
void json_end_list(json_writer *json);
/* Bytes that are not UTF-8 become U+FFFD. */
void json_put_string(json_writer *json, const char *key, const char *value);
void json_put_number(json_writer *json, const char *key, uint64_t value);
void json_put_integer(json_writer *json, const char *key, int64_t value);
/* In digits that are read back as the same number; null if it is not a number. */
void json_put_double(json_writer *json, const char *key, double value);
void json_put_bool(json_writer *json, const char *key, bool value);

emitter json_emitter(json_writer *json);

#endif
