/* Finds the steps that a run executed: walks its program and takes the branches that the tiles
 * recorded. Without records the trace ends at the first branch. */
#include "profile/execution.h"

#include <stdlib.h>

/* A step that is being executed. */
typedef struct frame {
  uint32_t step;
  uint32_t next; /* SEQUENCE: next child; REPEAT: iterations so far; others: parts that are done */
} frame;

typedef struct walk {
  execution *x;
  const uint32_t *branches;
  size_t num_branches, next_branch;
  frame *frames;
  size_t num_frames, frames_capacity;
  uint64_t visited, syncs;
  size_t looked_at; /* end of the traced steps whose syncs are counted */
} walk;

/* A limit for programs in which most steps leave no trace. */
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

/* The branch that was taken here. False if it was not recorded. */
static bool take_branch(walk *w, uint32_t num_successors, uint32_t *successor)
{
  if (w->next_branch == w->num_branches) return false;
  *successor = w->branches[w->next_branch++];
  return *successor < num_successors;
}

/* The condition (next 0), then the body or the end (next 1). */
static bool walk_while(walk *w, frame *f, const executable_step *s)
{
  uint32_t successor;
  if (f->next++ == 0) {
    enter(w, child_of(w, s, 0));
    return true;
  }
  if (!take_branch(w, 2, &successor)) return false;
  f->next = 0;
  if (successor)
    enter(w, child_of(w, s, 1));
  else
    w->num_frames--;
  return true;
}

/* Continues the innermost step that is not done. False at a branch that was not recorded. */
static bool advance(walk *w)
{
  const pop_executable *e = w->x->executable;
  frame *f = &w->frames[w->num_frames - 1];
  const executable_step *s = &e->steps[f->step];
  uint32_t successor = 0, next = f->next;
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
    if (!take_branch(w, s->num_children, &successor)) return false;
    enter(w, child_of(w, s, successor));
    break;
  default:
    note(w, f->step);
    break;
  }
  if (w->frames[w->num_frames - 1].step == (uint32_t)(s - e->steps)) w->num_frames--;
  return true;
}

/* ---- runs that did not come to their end ---- */

/* How often tiles sync in a step. If a tile measures for others, the measurement has syncs of its
 * own (../compiler/emit/instrument.c). */
static uint64_t syncs_of(const pop_executable *e, const executable_step *s)
{
  const instrumentation *in = &e->instrumentation;
  switch (s->kind) {
  case EXECUTABLE_STEP_EXECUTE:
    return in->compute == INSTRUMENT_DEVICE || in->compute == INSTRUMENT_IPUS ? 3 : 0;
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
    return in->external_exchange ? 2 : 1;
  case EXECUTABLE_STEP_STREAM_COPY:
    if (e->events[s->index].kind != EXECUTABLE_EVENT_EXCHANGE) return 1;
    return in->external_exchange || in->blocks ? 2 : 1;
  case EXECUTABLE_STEP_EXCHANGE:
  case EXECUTABLE_STEP_SYNC:
  case EXECUTABLE_STEP_ABORT:
    return 1;
  default:
    return 0;
  }
}

static const executable_step *traced_step(const execution *x, size_t at)
{
  return &x->executable->steps[x->trace[at] & ~EXECUTION_BLOCK_END];
}

/* The end of the trace of a run that failed. `after` is the end of the steps whose syncs happened.
 * The fault is in the first execution of its compute set from there on, or in the step of the last
 * sync. */
static size_t end_at_fault(const execution *x, execution_run *run, size_t after)
{
  size_t i = after > run->first_traced ? after - 1 : after, end = after, found = 0;
  for (; i < x->num_trace && run->fault.compute_set != EXECUTABLE_NONE; i++) {
    const executable_step *s = traced_step(x, i);
    if (s->kind != EXECUTABLE_STEP_EXECUTE || s->index != run->fault.compute_set) continue;
    if (found++ == 0) end = i + 1;
  }
  if (found > 1) run->is_complete = false;
  return end;
}

/* Did the tiles get past the step that was traced last? False ends the trace. A step whose first
 * sync did not happen is removed from it. */
static bool reached_last_step(walk *w, const execution_run *run, size_t *after)
{
  size_t last = w->x->num_trace - 1;
  if (!run->fault.message || w->x->num_trace == *after || w->x->trace[last] & EXECUTION_BLOCK_END)
    return true;
  uint64_t syncs = syncs_of(w->x->executable, traced_step(w->x, last)),
           left = run->fault.syncs - w->syncs;
  if (!syncs || last < w->looked_at) return true;
  w->looked_at = last + 1;
  if (left == 0) {
    w->x->num_trace--;
    return false;
  }
  w->syncs += left < syncs ? left : syncs;
  *after = last + 1;
  return left >= syncs;
}

void trace_program(execution *x, execution_run *run, const uint32_t *branches, size_t num_branches)
{
  const pop_executable *e = x->executable;
  walk w = {.x = x, .branches = branches, .num_branches = num_branches};
  size_t after = run->first_traced = x->num_trace;
  bool knows = true;
  enter(&w, e->control_steps[run->program]);
  while (w.num_frames && knows && reached_last_step(&w, run, &after))
    knows = x->num_trace < EXECUTION_MAX_TRACED &&
            ++w.visited < (uint64_t)EXECUTION_MAX_TRACED * MAX_VISITED_PER_TRACED && advance(&w);
  if (run->fault.message) {
    execution_drop_unfinished(x, run->to);
    /* Recorded branches end where the run does, so a missing branch is no loss. */
    run->is_complete = w.syncs == run->fault.syncs;
    x->num_trace = end_at_fault(x, run, after);
  } else {
    run->is_complete = knows;
  }
  run->num_traced = x->num_trace - run->first_traced;
  free(w.frames);
}
