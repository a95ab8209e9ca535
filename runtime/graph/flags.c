/* Splitting a string into words as a shell does (POSIX.1-2017, XCU 2.2 Quoting), without expansions:
 * '…' keeps everything, "…" keeps everything but \" and \\, a backslash keeps the next character. */
#include "graph/flags.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Copies one word to `out` and returns where it ends in `text`; NULL if a quote is not closed. */
static const char *copy_word(const char *text, char *out)
{
  char quote = 0;
  for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
    bool escapes = *text == '\\' && text[1] &&
                   (!quote || (quote == '"' && (text[1] == '"' || text[1] == '\\')));
    if (escapes)
      *out++ = *++text;
    else if (*text == quote)
      quote = 0;
    else if (!quote && (*text == '\'' || *text == '"'))
      quote = *text;
    else
      *out++ = *text;
  }
  *out = '\0';
  return quote ? NULL : text;
}

pop_error *split_flags(pop_arena *arena, const char *text, flag_list *flags)
{
  *flags = (flag_list){0};
  for (const char *p = text ? text : "";;) {
    while (isspace((unsigned char)*p)) p++;
    if (!*p) return NULL;
    char *word = pop_arena_alloc(arena, strlen(p) + 1);
    p = copy_word(p, word);
    if (!p)
      return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "a quote in the flags <%s> is not closed",
                           text);
    pop_push(flags->items, flags->count, flags->capacity, word);
  }
}
