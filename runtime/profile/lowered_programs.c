#include "profile/lowered_programs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { MAX_INDENT = 40 }; /* nesting of programs is not limited */

typedef struct open_step {
  uint32_t step, depth;
} open_step;

static void put_name(FILE *stream, const char *name)
{
  fputs(" '", stream);
  for (const char *p = name; *p; p++) {
    unsigned char c = (unsigned char)*p;
    if (c < ' ' || c == 127 || c == '\'' || c == '\\')
      fprintf(stream, "\\x%02x", c);
    else
      fputc(c, stream);
  }
  fputc('\'', stream);
}

static void put_step(FILE *stream, const executable_step *s, uint32_t depth)
{
  fprintf(stream, "%*s%s", 2 * (int)(depth < MAX_INDENT ? depth : MAX_INDENT), "",
          executable_step_tag(s->kind));
  if (s->kind == EXECUTABLE_STEP_REPEAT) fprintf(stream, " %u", s->count);
  if (s->kind == EXECUTABLE_STEP_CALL) fprintf(stream, " function %u", s->index);
  if (*s->name) put_name(stream, s->name);
  fputc('\n', stream);
}

/* A step and everything in it, in order, without recursion. */
static void put_tree(FILE *stream, const pop_executable *e, uint32_t root)
{
  open_step *open = NULL;
  size_t count = 0, capacity = 0;
  pop_push(open, count, capacity, (open_step){root, 1});
  while (count) {
    open_step at = open[--count];
    const executable_step *s = &e->steps[at.step];
    put_step(stream, s, at.depth);
    for (uint32_t i = s->num_children; i-- > 0;)
      pop_push(open, count, capacity,
               (open_step){e->step_children[s->first_child + i], at.depth + 1});
  }
  free(open);
}

pop_error *write_lowered_programs(FILE *stream, const pop_executable *e)
{
  for (size_t i = 0; i < e->num_control_steps; i++) {
    fprintf(stream, "program %zu", i);
    if (i < e->num_programs && *e->programs[i]) put_name(stream, e->programs[i]);
    fputc('\n', stream);
    put_tree(stream, e, e->control_steps[i]);
  }
  for (size_t i = 0; i < e->num_functions; i++) {
    fprintf(stream, "function %zu\n", i);
    put_tree(stream, e, e->functions[i]);
  }
  return ferror(stream) ? pop_error_errno(errno, "cannot write the programs") : NULL;
}
