/* pass_lower: turns programs into steps.
 *
 * Steps form a DAG: a program that is used in several places is lowered once. A sequence that is
 * used once is flattened into the program that contains it, however deeply nested (no recursion). A
 * repeat of a repeat is one repeat. A program that does nothing disappears.
 *
 * Needs:   the blocks of place.
 * Adds:    steps and their accesses, compute sets with vertices and their states, messages,
 *          host exchanges, buffers; replaces programs of the graph in control_programs by steps.
 * Then:    the programs are final; no later pass reads the graph.
 */
#include "compiler/lower/copy.h"
#include "compiler/lower/copy_group.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/remote.h"
#include "compiler/lower/stream.h"
#include "compiler/segments.h"
#include "isa/isa.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* The steps of a program or a compute set: `count` from lists.items[first] on. */
typedef struct range {
  size_t first, count;
  bool known;
  bool shared; /* other programs use the same steps */
} range;

typedef struct program_lowering {
  lowering l;
  step_list lists;
  range *programs;     /* by program of the graph */
  range *compute_sets; /* by compute set of the graph */
  uint32_t *stack;     /* programs still to be flattened, last first */
  size_t depth, stack_capacity;
  stream_lowering streams;
  copy_group copies;
  pop_error *error; /* of a deferred copy; lower_program reports it */
  /* Lightweight profiling; NULL: none. */
  const regex_t *timed_blocks, *timed_programs;
} program_lowering;

uint32_t add_step(lowering *l, step_kind kind, const char *name, uint32_t index)
{
  compilation *c = l->c;
  step added = {.kind = kind, .name = name, .index = index, .first_child = c->num_children};
  pop_push(c->steps, c->num_steps, c->steps_capacity, added);
  return (uint32_t)(c->num_steps - 1);
}

static void add_child(compilation *c, uint32_t parent, uint32_t child)
{
  pop_push(c->children, c->num_children, c->children_capacity, child);
  c->steps[parent].num_children++;
  c->steps[child].num_uses++;
}

static uint32_t add_sequence(lowering *l, const char *name, const uint32_t *steps, size_t count)
{
  uint32_t added = add_step(l, STEP_SEQUENCE, name, COMPILER_NONE);
  for (size_t i = 0; i < count; i++) add_child(l->c, added, steps[i]);
  return added;
}

/* Moves `steps` to the lists; several steps that are used repeatedly become one sequence. */
static range keep_steps(program_lowering *p, const step_list *steps, const char *name,
                        uint32_t num_uses, bool shared)
{
  range kept = {.first = p->lists.count, .known = true, .shared = shared || num_uses > 1};
  if (steps->count > 1 && num_uses > 1) {
    uint32_t sequence = add_sequence(&p->l, name, steps->items, steps->count);
    pop_push(p->lists.items, p->lists.count, p->lists.capacity, sequence);
  } else {
    for (size_t i = 0; i < steps->count; i++)
      pop_push(p->lists.items, p->lists.count, p->lists.capacity, steps->items[i]);
  }
  kept.count = p->lists.count - kept.first;
  return kept;
}

static const char *name_of(const program_lowering *p, uint32_t number)
{
  return pop_arena_strdup(p->l.c->arena, p->l.c->graph->programs[number].name);
}

static bool matches(const regex_t *filter, const char *name)
{
  return filter && regexec(filter, name, 0, NULL, 0) == 0;
}

/* The program's name in profiles: an execution without a name has that of its compute set. */
static const char *profiled_name(const program_lowering *p, uint32_t number)
{
  const pop_graph *graph = p->l.c->graph;
  const program *of = &graph->programs[number];
  bool of_set = of->kind == PROGRAM_EXECUTE && !*of->name;
  return of_set ? graph->compute_sets[of->compute_set].name : of->name;
}

/* Is the program made a block? */
static bool is_timed_program(const program_lowering *p, uint32_t number)
{
  const char *name = profiled_name(p, number);
  return p->l.c->graph->programs[number].kind != PROGRAM_BLOCK && *name &&
         matches(p->timed_programs, name);
}

/* Does the program have no steps of its own, so that its children go to the program that contains
 * it? */
static bool is_flattened(const program_lowering *p, uint32_t number)
{
  if (is_timed_program(p, number)) return false;
  program_kind kind = p->l.c->graph->programs[number].kind;
  return (kind == PROGRAM_SEQUENCE || kind == PROGRAM_CALL) && p->l.reach.program_uses[number] <= 1;
}

/* Is the program deferred until its neighbours are known? Adjacent copies become one exchange. With
 * debug.trace printing steps are between copies, so copies are not deferred. */
static bool is_deferred(const program_lowering *p, uint32_t number)
{
  program_kind kind = p->l.c->graph->programs[number].kind;
  return !is_timed_program(p, number) && p->l.reach.program_uses[number] <= 1 &&
         (kind == PROGRAM_STREAM_COPY || (kind == PROGRAM_COPY && !p->l.c->options.trace));
}

static void note_error(program_lowering *p, pop_error *error)
{
  if (p->error)
    pop_error_free(error);
  else
    p->error = error;
}

static void flush_copies(program_lowering *p, step_list *out)
{
  note_error(p, copy_group_end(&p->copies, &p->l, out));
}

/* Lowers a deferred copy, now that its neighbours are known. */
static void make_copy(program_lowering *p, uint32_t number, step_list *out)
{
  const program *copied = &p->l.c->graph->programs[number];
  if (p->error) return;
  if (copied->kind == PROGRAM_COPY) {
    lower_stream_end(&p->streams, &p->l, out);
    note_error(p, copy_group_add(&p->copies, &p->l, copied, out));
  } else {
    flush_copies(p, out);
    note_error(p, lower_stream_copy(&p->streams, &p->l, copied, out));
  }
}

static void flush_deferred(program_lowering *p, step_list *out)
{
  lower_stream_end(&p->streams, &p->l, out);
  flush_copies(p, out);
}

static void push_children(program_lowering *p, const program *of)
{
  for (size_t i = of->num_children; i > 0; i--)
    pop_push(p->stack, p->depth, p->stack_capacity, of->children[i - 1]);
}

/* Appends the steps of the children of a program, in order. Returns whether any of them is
 * shared. */
static bool flatten_children(program_lowering *p, const program *of, step_list *out)
{
  bool shared = false;
  p->depth = 0;
  push_children(p, of);
  while (p->depth > 0) {
    uint32_t child = p->stack[--p->depth];
    if (is_flattened(p, child)) {
      push_children(p, &p->l.c->graph->programs[child]);
      continue;
    }
    if (is_deferred(p, child)) {
      make_copy(p, child, out);
      continue;
    }
    flush_deferred(p, out);
    range steps = p->programs[child];
    shared |= steps.shared;
    for (size_t i = 0; i < steps.count; i++) {
      uint32_t child_step = p->lists.items[steps.first + i];
      pop_push(out->items, out->count, out->capacity, child_step);
    }
  }
  flush_deferred(p, out);
  return shared;
}

static pop_error *lower_execute(program_lowering *p, uint32_t number)
{
  uint32_t set = p->l.c->graph->programs[number].compute_set;
  if (!p->compute_sets[set].known) {
    step_list steps = {0};
    lower_traced_set(&p->l, set, false, &steps);
    pop_error *error = lower_compute_set(&p->l, set, &steps);
    if (!error) {
      lower_traced_set(&p->l, set, true, &steps);
      const char *name = pop_arena_strdup(p->l.c->arena, p->l.c->graph->compute_sets[set].name);
      p->compute_sets[set] = keep_steps(p, &steps, name, p->l.reach.compute_set_uses[set], false);
    }
    free(steps.items);
    POP_TRY(error);
  }
  p->programs[number] = p->compute_sets[set];
  return NULL;
}

/* A repeat of nothing is nothing. A repeat of only a repeat multiplies the trip counts, unless the
 * inner one is also run by itself. Returns whether the steps are shared. */
static bool lower_repeat(program_lowering *p, uint32_t number, step_list *steps)
{
  compilation *c = p->l.c;
  const program *repeat = &c->graph->programs[number];
  if (repeat->count == 0) return false;
  bool shared = flatten_children(p, repeat, steps);
  if (steps->count == 0 || repeat->count == 1) return shared;
  const step *only = &c->steps[steps->items[0]];
  if (steps->count == 1 && only->kind == STEP_REPEAT && !shared &&
      (uint64_t)only->count * repeat->count <= UINT32_MAX) {
    c->steps[steps->items[0]].count *= repeat->count;
    return false;
  }
  const char *name = name_of(p, number);
  uint32_t body = steps->items[0];
  if (steps->count > 1) body = add_sequence(&p->l, name, steps->items, steps->count);
  uint32_t added = add_step(&p->l, STEP_REPEAT, name, COMPILER_NONE);
  c->steps[added].count = repeat->count;
  add_child(c, added, body);
  steps->items[0] = added;
  steps->count = 1;
  return false;
}

/* The steps of one program as one step, which may be an empty sequence. */
static uint32_t single_step(program_lowering *p, uint32_t number)
{
  step_list steps = {0};
  program holder = {.children = &number, .num_children = 1};
  flatten_children(p, &holder, &steps);
  uint32_t only = steps.count == 1
                      ? steps.items[0]
                      : add_sequence(&p->l, name_of(p, number), steps.items, steps.count);
  free(steps.items);
  return only;
}

static bool is_empty(const compilation *c, uint32_t step_number)
{
  const step *s = &c->steps[step_number];
  return s->kind == STEP_SEQUENCE && s->num_children == 0;
}

/* A Switch whose branches are all empty is nothing. */
static pop_error *lower_switch(program_lowering *p, uint32_t number, step_list *steps)
{
  compilation *c = p->l.c;
  const program *lowered = &c->graph->programs[number];
  const char *name = name_of(p, number);
  uint32_t *branches = pop_xcalloc(lowered->num_children, sizeof *branches);
  bool empty = true;
  for (size_t i = 0; i < lowered->num_children; i++) {
    branches[i] = single_step(p, lowered->children[i]);
    empty &= is_empty(c, branches[i]);
  }
  uint32_t control_number = 0;
  pop_error *error = empty ? NULL : lower_control(&p->l, lowered, name, steps, &control_number);
  if (!error && !empty) {
    uint32_t added = add_step(&p->l, STEP_SWITCH, name, control_number);
    c->steps[added].count = lowered->count;
    for (size_t i = 0; i < lowered->num_children; i++) add_child(c, added, branches[i]);
    record_control_reads(&p->l, added);
    pop_push(steps->items, steps->count, steps->capacity, added);
  }
  free(branches);
  return error;
}

/* The control is broadcast to the tiles at the end of each condition. */
static pop_error *lower_while(program_lowering *p, uint32_t number, step_list *steps)
{
  compilation *c = p->l.c;
  const program *lowered = &c->graph->programs[number];
  const char *name = name_of(p, number);
  uint32_t control_number, body = single_step(p, lowered->children[1]);
  step_list condition = {0};
  program holder = {.children = lowered->children, .num_children = 1};
  flatten_children(p, &holder, &condition);
  pop_error *error = lower_control(&p->l, lowered, name, &condition, &control_number);
  if (!error) {
    uint32_t test = add_sequence(&p->l, name, condition.items, condition.count);
    uint32_t added = add_step(&p->l, STEP_WHILE, name, control_number);
    c->steps[added].count = lowered->count;
    add_child(c, added, test);
    add_child(c, added, body);
    record_control_reads(&p->l, added);
    pop_push(steps->items, steps->count, steps->capacity, added);
  }
  free(condition.items);
  return error;
}

/* If the predicate is true, the tiles report to the host, which ends the run. */
static pop_error *lower_abort(program_lowering *p, uint32_t number, step_list *steps)
{
  static uint32_t is_false = 0;
  lowering *l = &p->l;
  compilation *c = l->c;
  const program *lowered = &c->graph->programs[number];
  const char *message = pop_arena_strdup(c->arena, lowered->message);
  host_event event = {HOST_EVENT_ABORT, name_of(p, number), message, COMPILER_NONE};
  uint32_t only;
  if (lowered->source == 0) {
    only = add_host_event(l, &event);
  } else {
    program decides = {.kind = PROGRAM_SWITCH,
                       .source = lowered->source,
                       .case_values = &is_false,
                       .num_children = 2};
    uint32_t control_number;
    POP_TRY(lower_control(l, &decides, event.name, steps, &control_number));
    event.index = c->controls[control_number].tile;
    uint32_t go_on = add_sequence(l, event.name, NULL, 0), abort = add_host_event(l, &event);
    only = add_step(l, STEP_SWITCH, event.name, control_number);
    c->steps[only].count = 1;
    add_child(c, only, go_on);
    add_child(c, only, abort);
    record_control_reads(l, only);
  }
  pop_push(steps->items, steps->count, steps->capacity, only);
  return NULL;
}

static uint32_t add_block_step(program_lowering *p, const char *name, uint32_t body, bool timed)
{
  compilation *c = p->l.c;
  uint32_t added = add_step(&p->l, STEP_BLOCK, name, (uint32_t)c->num_profile_blocks);
  pop_push(c->profile_blocks, c->num_profile_blocks, c->profile_blocks_capacity, name);
  pop_push(c->block_is_timed, c->num_block_is_timed, c->block_is_timed_capacity, timed);
  add_child(c, added, body);
  return added;
}

static uint32_t lower_block(program_lowering *p, uint32_t number)
{
  const char *name = name_of(p, number);
  uint32_t body = single_step(p, p->l.c->graph->programs[number].children[0]);
  return add_block_step(p, name, body, matches(p->timed_blocks, name));
}

/* Wraps the steps of the program in a block. */
static void make_block(program_lowering *p, uint32_t number)
{
  range body = p->programs[number];
  const char *name = pop_arena_strdup(p->l.c->arena, profiled_name(p, number));
  step_list steps = {0};
  uint32_t only = body.count == 1
                      ? p->lists.items[body.first]
                      : add_sequence(&p->l, name, p->lists.items + body.first, body.count);
  uint32_t block = add_block_step(p, name, only, true);
  pop_push(steps.items, steps.count, steps.capacity, block);
  p->programs[number] = keep_steps(p, &steps, name, p->l.reach.program_uses[number], body.shared);
  free(steps.items);
}

static uint32_t lower_sync(program_lowering *p, uint32_t number)
{
  bool internal = p->l.c->graph->programs[number].count == POP_SYNC_INTERNAL;
  return add_step(&p->l, STEP_SYNC, name_of(p, number),
                  internal ? ISA_SYNC_INTERNAL : ISA_SYNC_EXTERNAL);
}

/* A tensor that holds an element twice is ignored: its bytes would be counted twice, and a part of
 * a block could count as the whole. */
static uint32_t lower_write_undef(program_lowering *p, uint32_t number)
{
  compilation *c = p->l.c;
  uint32_t added = add_step(&p->l, STEP_WRITE_UNDEF, name_of(p, number), COMPILER_NONE);
  pop_tensor undefined = {c->graph, c->graph->programs[number].source};
  bool counts = !pop_tensor_contains_aliases(undefined);
  begin_accesses(&p->l, added);
  segment_walk walk;
  segment found;
  segment_walk_start(&walk, c, undefined.index);
  while (counts && segment_walk_next(&walk, &found))
    record_write(&p->l, found.at.block, found.bytes);
  end_accesses(&p->l, added);
  return added;
}

static pop_error *lower_to_steps(program_lowering *p, uint32_t number)
{
  const program *lowered = &p->l.c->graph->programs[number];
  if (lowered->kind == PROGRAM_EXECUTE) return lower_execute(p, number);
  if (is_flattened(p, number) || is_deferred(p, number)) return NULL;
  step_list steps = {0};
  pop_error *error = NULL;
  bool shared = false;
  switch (lowered->kind) {
  case PROGRAM_SEQUENCE:
  case PROGRAM_CALL:
    shared = flatten_children(p, lowered, &steps);
    break;
  case PROGRAM_REPEAT:
    shared = lower_repeat(p, number, &steps);
    break;
  case PROGRAM_SWITCH:
    error = lower_switch(p, number, &steps);
    break;
  case PROGRAM_WHILE:
    error = lower_while(p, number, &steps);
    break;
  case PROGRAM_WRITE_UNDEF:
    pop_push(steps.items, steps.count, steps.capacity, lower_write_undef(p, number));
    break;
  case PROGRAM_STREAM_COPY:
    error = lower_stream_copy(&p->streams, &p->l, lowered, &steps);
    if (!error) lower_stream_end(&p->streams, &p->l, &steps);
    break;
  case PROGRAM_REMOTE_COPY:
    error = lower_remote_copy(&p->l, lowered, &steps);
    break;
  case PROGRAM_SYNC:
    pop_push(steps.items, steps.count, steps.capacity, lower_sync(p, number));
    break;
  case PROGRAM_BLOCK:
    pop_push(steps.items, steps.count, steps.capacity, lower_block(p, number));
    break;
  case PROGRAM_ABORT:
    error = lower_abort(p, number, &steps);
    break;
  case PROGRAM_NOP:
    break;
  case PROGRAM_COPY:
    lower_traced_copy(&p->l, lowered, false, &steps);
    error = lower_copy_program(&p->l, lowered, &steps);
    if (!error) lower_traced_copy(&p->l, lowered, true, &steps);
    break;
  case PROGRAM_REPLICA_COPY:
    error = lower_replica_copy(&p->l, lowered, &steps);
    break;
  case PROGRAM_ASSUME_EQUAL: /* a hint, unless it is to be checked */
    if (!p->l.c->options.check_equality) break;
    pop_push(steps.items, steps.count, steps.capacity, lower_host_view(&p->l, lowered));
    break;
  case PROGRAM_PRINT_TENSOR:
    pop_push(steps.items, steps.count, steps.capacity, lower_host_view(&p->l, lowered));
    break;
  case PROGRAM_EXECUTE:
    break; /* above */
  }
  if (!error) {
    error = p->error;
    p->error = NULL;
  }
  if (!error)
    p->programs[number] =
        keep_steps(p, &steps, name_of(p, number), p->l.reach.program_uses[number], shared);
  free(steps.items);
  return error;
}

static pop_error *lower_program(program_lowering *p, uint32_t number)
{
  POP_TRY(lower_to_steps(p, number));
  if (is_timed_program(p, number)) make_block(p, number);
  return NULL;
}

/* A control program is one step. */
static void lower_control_program(program_lowering *p, size_t i)
{
  compilation *c = p->l.c;
  uint32_t only = single_step(p, c->control_programs[i]);
  c->control_programs[i] = only;
  c->steps[only].num_uses++;
}

static pop_error *lower_programs(program_lowering *p)
{
  for (size_t i = 0; i < p->l.reach.num_order; i++) POP_TRY(lower_program(p, p->l.reach.order[i]));
  for (size_t i = 0; i < p->l.c->num_control_programs; i++) lower_control_program(p, i);
  pop_error *error = p->error;
  p->error = NULL;
  return error;
}

static void start_lowering(program_lowering *p, compilation *c)
{
  const pop_graph *graph = c->graph;
  p->l.c = c;
  p->l.by_compute_set = group_by_compute_set(graph, pop_target_num_tiles(&c->target));
  p->l.used_types = pop_xrealloc(NULL, graph->num_vertex_types + 1, sizeof *p->l.used_types);
  for (size_t i = 0; i < graph->num_vertex_types; i++) p->l.used_types[i] = COMPILER_NONE;
  for (size_t i = 0; i < COPY_KIND_COUNT; i++) p->l.used_copy_types[i] = COMPILER_NONE;
  p->programs = pop_xcalloc(graph->num_programs + 1, sizeof *p->programs);
  p->compute_sets = pop_xcalloc(graph->num_compute_sets + 1, sizeof *p->compute_sets);
  record_variable_blocks(&p->l);
}

static void end_lowering(program_lowering *p)
{
  reach_free(&p->l.reach);
  free(p->l.uses);
  free(p->l.used_types);
  free(p->l.by_compute_set.vertices);
  free(p->l.by_compute_set.first);
  free(p->lists.items);
  free(p->programs);
  free(p->compute_sets);
  free(p->stack);
  stream_lowering_free(&p->streams);
  copy_group_free(&p->copies);
}

/* compile() has checked that the text is a regular expression. */
static const regex_t *compile_filter(const char *text, regex_t *filter)
{
  if (!text || !*text) return NULL;
  return regcomp(filter, text, REG_EXTENDED | REG_NOSUB) == 0 ? filter : NULL;
}

pop_error *pass_lower(compilation *c)
{
  program_lowering p = {0};
  POP_TRY(reach_programs(c, &p.l.reach));
  start_lowering(&p, c);
  lower_handles(c);
  lower_streams(c);
  lower_remote_buffers(c);
  regex_t blocks, programs;
  p.timed_blocks = compile_filter(c->options.blocks.filter, &blocks);
  p.timed_programs = compile_filter(c->options.blocks.programs, &programs);
  pop_error *error = lower_programs(&p);
  if (p.timed_blocks) regfree(&blocks);
  if (p.timed_programs) regfree(&programs);
  if (!error) warn_of_unwritten(c);
  end_lowering(&p);
  return error;
}
