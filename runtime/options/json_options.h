/* Options in a JSON object: from the environment, or read by pop_options_read_json. */
#ifndef OPTIONS_JSON_OPTIONS_H
#define OPTIONS_JSON_OPTIONS_H

#include <jansson.h>
#include <populus/error.h>
#include <stddef.h>

enum { OPTION_NUMBER_CHARS = 32 };

/* Parses the object. Release it with json_decref. INVALID_OPTION if the text is not an object, or
 * longer than 1 MiB. */
POP_MUST_CHECK pop_error *json_options_load(const char *text, size_t length, json_t **root);
/* A member's value as an option's string: the string itself, or a number or boolean as JSON writes
 * it. The text belongs to `value`, or is in `number`. */
POP_MUST_CHECK pop_error *json_options_value(const char *key, const json_t *value,
                                             char number[OPTION_NUMBER_CHARS], const char **text);

#endif
