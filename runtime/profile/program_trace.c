/* Which steps a run has executed: a walk of its program, with the branches that the tiles have noted. Without
 * them it ends at the first branch. */
#include "profile/execution.h"

#include <stdlib.h>

/* A step that is being executed. */
typedef struct frame {
  uint32_t step;
  uint32_t
      next; /* SEQUENCE: child; REPEAT: how often it was executed; others: what has been done of it */
} frame;

typedef struct walk {
  execution *x;
  const uint32_t *branches;
  size_t num_branches, next_branch;
  frame *frames;
  size_t num_frames, frames_capacity;
  uint64_t visited;
} walk;

/* More than a trace can hold have to do nothing. */
enum { MAX_VISITED_PER_TRACED = 16 };

static void enter(walk *w, uint32_t step)
{
  pop_push(w->frames, w->num_frames, w->frames_capacity, (frame){step, 0});
}

static void note(walk *w, uint32_t what)
{
  pop_push(w->x->trace, w->x->num_trace, w->x->trace_capacity, what);
}

static uint32_t child_of(const walk *w, const executable_step *s, uint32_t number)
{
  return w->x->executable->step_children[s->first_child + number];
}

/* The branch that was taken at this place; false if nobody knows. */
static bool take_branch(walk *w, uint32_t num_ways, uint32_t *way)
{
  if (w->next_branch == w->num_branches) return false;
  *way = w->branches[w->next_branch++];
  return *way < num_ways;
}

/* The condition (next 0), then the body or the end (next 1). */
static bool walk_while(walk *w, frame *f, const executable_step *s)
{
  uint32_t way;
  if (f->next++ == 0) {
    enter(w, child_of(w, s, 0));
    return true;
  }
  if (!take_branch(w, 2, &way)) return false;
  f->next = 0;
  if (way)
    enter(w, child_of(w, s, 1));
  else
    w->num_frames--;
  return true;
}

/* Goes on in the innermost step that is not done. False at a branch that nobody knows of. */
static bool advance(walk *w)
{
  const pop_executable *e = w->x->executable;
  frame *f = &w->frames[w->num_frames - 1];
  const executable_step *s = &e->steps[f->step];
  uint32_t way = 0, next = f->next;
  switch (s->kind) {
  case EXECUTABLE_STEP_WHILE_TRUE:
  case EXECUTABLE_STEP_WHILE_FALSE:
    return walk_while(w, f, s);
  case EXECUTABLE_STEP_SEQUENCE:
    if (f->next++ < s->num_children) enter(w, child_of(w, s, next));
    break;
  case EXECUTABLE_STEP_REPEAT:
    if (f->next++ < s->count) enter(w, child_of(w, s, 0));
    break;
  case EXECUTABLE_STEP_BLOCK:
    note(w, next ? f->step | EXECUTION_BLOCK_END : f->step);
    if (f->next++ == 0) enter(w, child_of(w, s, 0));
    break;
  case EXECUTABLE_STEP_CALL:
    if (f->next++ == 0) enter(w, e->functions[s->index]);
    break;
  case EXECUTABLE_STEP_IF:
  case EXECUTABLE_STEP_SWITCH:
    if (f->next++ > 0) break;
    if (!take_branch(w, s->num_children, &way)) return false;
    enter(w, child_of(w, s, way));
    break;
  default:
    note(w, f->step);
    break;
  }
  if (w->frames[w->num_frames - 1].step == (uint32_t)(s - e->steps)) w->num_frames--;
  return true;
}

void trace_program(execution *x, execution_run *run, const uint32_t *branches, size_t num_branches)
{
  const pop_executable *e = x->executable;
  walk w = {.x = x, .branches = branches, .num_branches = num_branches};
  run->first_traced = x->num_trace;
  run->is_complete = true;
  enter(&w, e->control_steps[run->program]);
  while (w.num_frames && run->is_complete)
    run->is_complete = x->num_trace < EXECUTION_MAX_TRACED &&
                       ++w.visited < (uint64_t)EXECUTION_MAX_TRACED * MAX_VISITED_PER_TRACED &&
                       advance(&w);
  run->num_traced = x->num_trace - run->first_traced;
  free(w.frames);
}
