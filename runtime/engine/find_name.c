#include "engine/find_name.h"

#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* Returns "there are 'a' and 'b'"; the caller frees it. */
static char *list_names(const char *const *names, size_t count)
{
  enum { MOST = 4 };
  if (count == 0) return pop_xstrdup("the graph has none");
  char *text = pop_xasprintf("there %s '%s'", count == 1 ? "is" : "are", names[0]);
  for (size_t i = 1; i < count && i <= MOST; i++) {
    char *longer = i == MOST
                       ? pop_xasprintf("%s, …", text)
                       : pop_xasprintf("%s%s '%s'", text, i + 1 == count ? " and" : ",", names[i]);
    free(text);
    text = longer;
  }
  return text;
}

pop_error *find_name(pop_error_code code, const char *what, const char *name,
                     const char *const *names, size_t count, size_t *found)
{
  if (!name) return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "the name of the %s is NULL", what);
  const char **meant = pop_xcalloc(count + 1, sizeof *meant);
  size_t num_meant = 0;
  for (size_t i = 0; i < count; i++) {
    if (!names[i]) continue;
    if (strcmp(names[i], name) == 0) {
      *found = i;
      free(meant);
      return NULL;
    }
    meant[num_meant++] = names[i];
  }
  const char *near = pop_nearest_name(name, meant, num_meant);
  pop_error *error;
  if (near) {
    error = pop_error_new(code, "there is no %s '%s'; did you mean '%s'?", what, name, near);
  } else {
    char *others = list_names(meant, num_meant);
    error = pop_error_new(code, "there is no %s '%s'; %s", what, name, others);
    free(others);
  }
  free(meant);
  return error;
}
