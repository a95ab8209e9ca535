/* JSON as it is written: nothing is kept but how deep it is nested. Numbers of lists go on one line,
 * objects of the outer lists on lines of their own. */
#ifndef PROFILE_JSON_H
#define PROFILE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_writer {
  FILE *stream;
  unsigned depth;
  bool is_first; /* in its list or object */
} json_writer;

/* `key` is NULL in lists, and for the outermost value. */
void json_begin_object(json_writer *json, const char *key);
void json_end_object(json_writer *json);
void json_begin_list(json_writer *json, const char *key);
void json_end_list(json_writer *json);
/* Bytes that are no UTF-8 become U+FFFD. */
void json_put_string(json_writer *json, const char *key, const char *value);
void json_put_number(json_writer *json, const char *key, uint64_t value);
void json_put_bool(json_writer *json, const char *key, bool value);

#endif
