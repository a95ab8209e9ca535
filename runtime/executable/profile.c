/* Lifetime of profiles. */
#include "executable/profile.h"

#include "executable/executable.h"
#include <stdlib.h>

executable_profile *executable_profile_new(void)
{
  executable_profile *p = pop_xcalloc(1, sizeof *p);
  p->arena = pop_arena_new();
  return p;
}

void executable_profile_free(executable_profile *p)
{
  if (!p) return;
  void *const arrays[] = {
      p->names, p->metrics,        p->vertex_types, p->uses,  p->work_rows,
      p->works, p->exchange_codes, p->moved,        p->lives, p->used,
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
  pop_arena_free(p->arena);
  free(p);
}

pop_error *executable_profile_get(const pop_executable *e, executable_profile **profile)
{
  executable_profile *p = executable_profile_new();
  pop_error *error = e->images.profile(e, p);
  if (error) {
    executable_profile_free(p);
    p = NULL;
  }
  *profile = p;
  return error;
}
