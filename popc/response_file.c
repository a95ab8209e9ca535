/* Arguments from files: "@file" stands for what is in the file, quoted as gcc and clang have it.
 *
 * Blanks and line ends separate arguments; quotes of either kind keep them together; a backslash
 * takes the next character as it is, and removes the end of a line. Files may name others, to a
 * depth of 10.
 */
#include "popc_internal.h"

#include <populus/file.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 10
#define MAX_FILE_BYTES ((size_t)16 << 20)

typedef struct expansion {
  pop_arena *arena;
  const char **items;
  size_t count, capacity;
} expansion;

static pop_error *expand(expansion *e, const char *argument, unsigned depth);

static const char *end_of_argument(const char *p, const char *end)
{
  for (char quote = 0; p < end && (quote || !isspace((unsigned char)*p)); ++p) {
    if (*p == '\\' && p + 1 < end)
      ++p;
    else if (quote ? *p == quote : *p == '"' || *p == '\'')
      quote = quote ? 0 : *p;
  }
  return p;
}

/* A backslash at the end of a line: the line goes on. */
static bool joins_lines(const char *p, const char *end)
{
  return *p == '\\' && p + 1 < end && p[1] == '\n';
}

/* The next argument of `*text`, up to `end`; NULL if there are only blanks. */
static char *next_argument(expansion *e, const char **text, const char *end)
{
  const char *p = *text;
  while (p < end && (isspace((unsigned char)*p) || joins_lines(p, end)))
    p += joins_lines(p, end) ? 2 : 1;
  if (p == end) return NULL;
  end = end_of_argument(p, end);
  char *argument = pop_arena_alloc(e->arena, (size_t)(end - p) + 1), *out = argument, quote = 0;
  for (; p < end; ++p) {
    if (joins_lines(p, end))
      ++p;
    else if (*p == '\\' && p + 1 < end)
      *out++ = *++p;
    else if (quote ? *p == quote : *p == '"' || *p == '\'')
      quote = quote ? 0 : *p;
    else
      *out++ = *p;
  }
  *text = p;
  return argument;
}

static pop_error *expand_text(expansion *e, const char *text, size_t size, unsigned depth)
{
  const char *end = text + size;
  for (char *argument; (argument = next_argument(e, &text, end));)
    POP_TRY(expand(e, argument, depth));
  return NULL;
}

static pop_error *expand_file(expansion *e, const char *path, unsigned depth)
{
  if (depth >= MAX_DEPTH)
    return pop_error_new(POP_ERROR_USAGE, "'@%s': argument files name each other more than %d deep",
                         path, MAX_DEPTH);
  uint8_t *bytes;
  size_t size;
  pop_error *error = pop_file_read(path, MAX_FILE_BYTES, &bytes, &size);
  if (error) {
    pop_error *usage = pop_error_new(POP_ERROR_USAGE, "'@%s': %s", path, pop_error_message(error));
    pop_error_free(error);
    return usage;
  }
  if (memchr(bytes, 0, size))
    error = pop_error_new(POP_ERROR_USAGE, "'@%s': the file holds a NUL, so it is no text", path);
  else
    error = expand_text(e, (const char *)bytes, size, depth + 1);
  free(bytes);
  return error;
}

static pop_error *expand(expansion *e, const char *argument, unsigned depth)
{
  if (argument[0] == '@' && argument[1]) return expand_file(e, argument + 1, depth);
  pop_push(e->items, e->count, e->capacity, argument);
  return NULL;
}

/* Copies the list to the arena. */
static void finish(expansion *e, const char ***expanded, size_t *count)
{
  *expanded = pop_arena_alloc(e->arena, (e->count + 1) * sizeof **expanded);
  if (e->count) memcpy(*expanded, e->items, e->count * sizeof **expanded);
  *count = e->count;
}

pop_error *popc_expand_arguments(pop_arena *arena, size_t count, const char *const *arguments,
                                 const char ***expanded, size_t *num_expanded)
{
  expansion e = {.arena = arena};
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) error = expand(&e, arguments[i], 0);
  finish(&e, expanded, num_expanded);
  free(e.items);
  return error;
}
