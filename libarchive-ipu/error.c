/* Errors: a code and a sentence, owned by whoever holds the pointer.
 *
 * Sentences quote names of files, symbols and vertices, which anybody may have chosen. Control
 * characters in them are written as \x1b, so that no name can control the terminal on which an
 * error is shown. So are bytes that are not UTF-8, as some terminals take them for C1 controls.
 * Line feeds and tabs stay: some errors are lists.
 */
#include <populus/error.h>
#include <populus/names.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pop_error {
  pop_error_code code;
  char *message;
  char *report; /* path; NULL: none */
};

/* Returned when there is no memory left for an error. Never freed, never changed. */
static pop_error out_of_memory = {POP_ERROR_MEMORY, (char *)"out of memory", NULL};

static const struct {
  const char *name;
  int exit_status;
} codes[] = {
#define POP_ERROR_ROW(id, name, status) [id] = {name, status},
    POP_ERROR_CODES(POP_ERROR_ROW)
#undef POP_ERROR_ROW
};

#define NUM_CODES (sizeof codes / sizeof *codes)

/* Escapes in the malloc'ed `text` what must not reach a terminal; returns it, or its
 * replacement. */
static char *escape_controls(char *text)
{
  size_t size = strlen(text), escapes = 0;
  for (size_t at = 0, length; at < size; at += length ? length : 1) {
    length = pop_printable_length(text + at, size - at);
    escapes += length == 0;
  }
  if (!escapes) return text;

  char *escaped = malloc(size + 3 * escapes + 1);
  if (!escaped) {
    free(text);
    return NULL;
  }
  char *out = escaped;
  for (size_t at = 0, length; at < size; at += length ? length : 1) {
    length = pop_printable_length(text + at, size - at);
    if (length)
      out = mempcpy(out, text + at, length);
    else
      out += sprintf(out, "\\x%02x", (unsigned char)text[at]);
  }
  *out = '\0';
  free(text);
  return escaped;
}

/* Takes the malloc'ed message (NULL: there was no memory for it). */
static pop_error *make(pop_error_code code, char *message)
{
  if (message) message = escape_controls(message);
  pop_error *error = message ? malloc(sizeof *error) : NULL;
  if (!error) {
    free(message);
    return &out_of_memory;
  }
  *error = (pop_error){.code = code, .message = message};
  return error;
}

pop_error *pop_error_new_v(pop_error_code code, const char *format, va_list args)
{
  char *message = NULL;
  if (vasprintf(&message, format, args) < 0) message = NULL;
  return make(code, message);
}

pop_error *pop_error_new(pop_error_code code, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(code, format, args);
  va_end(args);
  return error;
}

pop_error *pop_error_errno(int errnum, const char *format, ...)
{
  char *sentence = NULL, *message = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&sentence, format, args) < 0) sentence = NULL;
  va_end(args);

  char reason[256];
  if (sentence &&
      asprintf(&message, "%s: %s", sentence, strerror_r(errnum, reason, sizeof reason)) < 0)
    message = NULL;
  free(sentence);
  return make(POP_ERROR_SYSTEM, message);
}

pop_error *pop_error_prefix(pop_error *error, const char *format, ...)
{
  if (!error || error == &out_of_memory) return error;
  char *prefix = NULL, *message = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&prefix, format, args) < 0) prefix = NULL;
  va_end(args);
  if (prefix && asprintf(&message, "%s: %s", prefix, error->message) < 0) message = NULL;
  free(prefix);
  if (message) message = escape_controls(message);
  if (!message) return error; /* the sentence without its prefix says more than none */
  free(error->message);
  error->message = message;
  return error;
}

pop_error *pop_error_with_report(pop_error *error, const char *path)
{
  if (!error || error == &out_of_memory) return error;
  char *copy = strdup(path);
  if (!copy) return error; /* the message says it, too */
  free(error->report);
  error->report = copy;
  return error;
}

void pop_error_free(pop_error *error)
{
  if (!error || error == &out_of_memory) return;
  free(error->message);
  free(error->report);
  free(error);
}

pop_error_code pop_error_get_code(const pop_error *error)
{
  return error->code;
}

const char *pop_error_message(const pop_error *error)
{
  return error->message;
}

const char *pop_error_report(const pop_error *error)
{
  return error->report;
}

const char *pop_error_code_name(pop_error_code code)
{
  return (size_t)code < NUM_CODES ? codes[code].name : "unknown_error";
}

int pop_error_exit_status(const pop_error *error)
{
  if (!error) return 0;
  return (size_t)error->code < NUM_CODES ? codes[error->code].exit_status
                                         : codes[POP_ERROR_INTERNAL].exit_status;
}

pop_error *pop_error_out_of_memory(void)
{
  return &out_of_memory;
}
