/* popc's options from one string. */
#ifndef GRAPH_FLAGS_H
#define GRAPH_FLAGS_H

#include <populus/arena.h>
#include <populus/error.h>

typedef struct flag_list {
  char **items; /* in the arena */
  size_t count, capacity;
} flag_list;

/* Splits `text` (NULL: no flags) at blanks as a shell does, with its quotes and backslashes and
 * without its expansions. The items array is the caller's to free, also after an error. */
POP_MUST_CHECK pop_error *split_flags(pop_arena *arena, const char *text, flag_list *flags);

#endif
