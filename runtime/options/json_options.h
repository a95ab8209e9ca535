/* Options as a JSON object has them: those of the environment, and what programs read by pop_options_read_json. */
#ifndef OPTIONS_JSON_OPTIONS_H
#define OPTIONS_JSON_OPTIONS_H

#include <jansson.h>
#include <populus/error.h>
#include <stddef.h>

enum { OPTION_NUMBER_CHARS = 32 };

/* The object that the text is, to be released. Fails with INVALID_OPTION if it is none, or longer than 1 MiB. */
POP_MUST_CHECK pop_error *json_options_load(const char *text, size_t length, json_t **root);
/* A member's value as options have it, which is a string: what the string holds, or how JSON writes a number or a boolean.
 * It belongs to `value`, or is in `number`. */
POP_MUST_CHECK pop_error *json_options_value(const char *key, const json_t *value,
                                             char number[OPTION_NUMBER_CHARS], const char **text);

#endif
