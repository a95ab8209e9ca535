/* The call chain with the largest stack from an entry. See stack_usage.h; stack_frame.c
 * reads single functions.
 *
 *   stack(f) = the largest of f's frame and, for each call, depth of the call + stack(callee)
 *
 * Functions are visited depth first, each once, with an explicit stack (the author of an object
 * decides how long chains are). A callee whose visit has begun and not ended is a recursion. If the
 * callee is the caller itself, and the number of levels is known, then
 *
 *   stack(f) = (levels - 1) * depth of f's calls of itself + stack(f) without these
 *
 * A statement of the author gives the function's stack and ends the search there. But the stack is
 * never less than the function's frame.
 */
#include "stack_usage.h"
#include <populus/arena.h>
#include <string.h>

/* How many instructions may be followed: so many for each word of the objects, but not more than
 * MAX_STEPS. Compilers' code needs up to one for each word; other code may need as many as its size
 * squared, and is not worth waiting for. */
enum { STEPS_PER_WORD = 64, MIN_STEPS = 1 << 16, MAX_STEPS = 1 << 26 };
#define BYTES_MAX (1u << 30)

typedef struct function {
  stack_place place;
  const char *name;
  stack_call *calls;
  size_t num_calls, calls_capacity;
  size_t done; /* calls that were followed */
  uint32_t bytes;
  uint32_t
      next; /* the callee that `bytes` or `reason` come from; OBJECT_NONE: the function itself */
  stack_place at;               /* … by this instruction */
  uint32_t levels;              /* of recursion: 0: unknown */
  uint32_t self_depth;          /* of calls of itself; 0: there are none */
  uint32_t stated, frame_bytes; /* by the author, if that is less than the frame */
  pop_stack_reason reason;
  bool open; /* on the way from the entry to where the visit is */
} function;

struct pop_stack_analysis {
  const pop_link_set *set;
  stack_notes notes;
  uint64_t budget;
  function *functions;
  size_t num_functions, functions_capacity;
  stack_map function_at;
  uint32_t *path; /* open functions, from the entry on */
  size_t path_length, path_capacity;
};

static uint64_t instruction_budget(const pop_link_set *set)
{
  uint64_t steps = MIN_STEPS;
  for (size_t i = 0; i < set->num_objects; ++i)
    steps += set->objects[i].object->size / 4 * (uint64_t)STEPS_PER_WORD;
  return steps < MAX_STEPS ? steps : MAX_STEPS;
}

pop_error *pop_stack_analysis_new(const pop_link_set *set, pop_stack_analysis **analysis)
{
  pop_stack_analysis *made = pop_xcalloc(1, sizeof *made);
  made->set = set;
  made->budget = instruction_budget(set);
  pop_error *error = stack_read_notes(set, &made->notes);
  if (error) {
    pop_stack_analysis_free(made);
    return error;
  }
  *analysis = made;
  return NULL;
}

void pop_stack_analysis_free(pop_stack_analysis *analysis)
{
  if (!analysis) return;
  for (size_t i = 0; i < analysis->num_functions; ++i) free(analysis->functions[i].calls);
  stack_notes_free(&analysis->notes);
  free(analysis->functions);
  stack_map_free(&analysis->function_at);
  free(analysis->path);
  free(analysis);
}

/* ---- one function ---- */

static uint32_t bounded(uint64_t bytes)
{
  return bytes < BYTES_MAX ? (uint32_t)bytes : BYTES_MAX;
}

/* Calls through pointers whose targets the author has stated. */
static void add_stated_calls(const pop_stack_analysis *a, stack_place caller, stack_frame *frame)
{
  if (!frame->indirect) return;
  const stack_notes *notes = &a->notes;
  for (size_t i = stack_first_call(notes, caller); i < notes->num_calls; ++i) {
    const stack_pointer_call *call = &notes->calls[i];
    if (call->caller.section != caller.section || call->caller.offset != caller.offset) break;
    frame->indirect = false;
    pop_push(frame->calls, frame->num_calls, frame->calls_capacity,
             (stack_call){call->callee, frame->indirect_at, frame->indirect_depth});
  }
}

static void read_function(pop_stack_analysis *a, function *f)
{
  stack_frame frame;
  stack_read_frame(a->set, f->place, &a->budget, &frame);
  const stack_note *use = stack_find_note(&a->notes.uses, f->place);
  if (use) {
    f->bytes = bounded(use->value);
    if (f->bytes < frame.bytes) {
      f->stated = f->bytes;
      f->bytes = f->frame_bytes = frame.bytes;
    }
    free(frame.calls);
    return;
  }
  add_stated_calls(a, f->place, &frame);
  const stack_note *levels = stack_find_note(&a->notes.levels, f->place);
  f->levels = levels ? levels->value : stack_known_levels(f->name);
  f->bytes = frame.bytes;
  f->reason = frame.reason;
  f->at = frame.reason_at;
  if (frame.reason == POP_STACK_KNOWN && frame.indirect) {
    f->reason = POP_STACK_INDIRECT_CALL;
    f->at = frame.indirect_at;
  }
  f->calls = frame.calls;
  f->num_calls = frame.num_calls;
}

/* The number of the function; if it is new, its visit begins. */
static uint32_t enter(pop_stack_analysis *a, stack_place place)
{
  uint32_t number = stack_map_put(&a->function_at, place, (uint32_t)a->num_functions);
  if (number < a->num_functions) return number;
  function f = {.place = place, .next = OBJECT_NONE, .open = true};
  f.name = stack_function_at(a->set, place);
  if (!f.name) {
    const set_object *owner = link_set_owner(a->set, place.section);
    f.name = object_name_at(owner->object, place.section - owner->first_section, place.offset);
  }
  read_function(a, &f);
  pop_push(a->functions, a->num_functions, a->functions_capacity, f);
  pop_push(a->path, a->path_length, a->path_capacity, number);
  return number;
}

/* ---- chains ---- */

/* Accounts for a call in its caller. The first reason for an unknown stack stays. */
static void account(function *caller, const stack_call *call, uint32_t number,
                    const function *callee)
{
  if (caller->reason != POP_STACK_KNOWN) return;
  if (caller == callee && caller->levels) {
    if (call->depth > caller->self_depth) caller->self_depth = call->depth;
    return;
  }
  pop_stack_reason reason = callee->open ? POP_STACK_RECURSION : callee->reason;
  if (reason != POP_STACK_KNOWN) {
    caller->reason = reason;
    caller->next = number;
    caller->at = call->at;
    return;
  }
  uint64_t bytes = (uint64_t)call->depth + callee->bytes;
  if (bytes <= caller->bytes) return;
  caller->bytes = bounded(bytes);
  caller->next = number;
}

/* Visits all functions that the newest function on the path reaches. */
static void visit(pop_stack_analysis *a)
{
  while (a->path_length) {
    uint32_t number = a->path[a->path_length - 1];
    function *f = &a->functions[number];
    if (f->done == f->num_calls || f->reason != POP_STACK_KNOWN) {
      if (f->levels) f->bytes = bounded(f->bytes + (uint64_t)(f->levels - 1) * f->self_depth);
      f->open = false;
      --a->path_length;
      continue;
    }
    stack_call call = f->calls[f->done];
    size_t before = a->num_functions;
    uint32_t callee = enter(a, call.callee);
    if (a->num_functions > before) continue; /* this call again, when the callee is known */
    f = &a->functions[number];
    ++f->done;
    account(f, &call, callee, &a->functions[callee]);
  }
}

/* ---- answers ---- */

static void make_chain(const pop_stack_analysis *a, uint32_t entry, pop_arena *arena,
                       pop_stack_use *use)
{
  size_t length = 0, capacity = 0;
  const char **names = NULL;
  stack_map seen = {0};
  for (uint32_t at = entry; at != OBJECT_NONE; at = a->functions[at].next) {
    pop_push(names, length, capacity, a->functions[at].name);
    if (stack_map_put(&seen, a->functions[at].place, (uint32_t)length) != length) break;
  }
  const char **chain = pop_arena_alloc(arena, length * sizeof *chain);
  if (length) memcpy(chain, names, length * sizeof *chain);
  use->chain = chain;
  use->chain_length = length;
  free(names);
  stack_map_free(&seen);
}

/* The place where the chain ends, or where a recursion comes back. */
static void find_reason(const pop_stack_analysis *a, uint32_t entry, pop_stack_use *use)
{
  uint32_t last = entry;
  for (size_t i = 1; i < use->chain_length; ++i) {
    uint32_t next = a->functions[last].next;
    if (use->reason == POP_STACK_RECURSION && i + 1 == use->chain_length) break;
    last = next;
  }
  const stack_place at = a->functions[last].at;
  const set_object *owner = link_set_owner(a->set, at.section);
  use->object = owner->object;
  use->section = at.section - owner->first_section;
  use->offset = at.offset;
}

pop_stack_use pop_stack_analyse(pop_stack_analysis *a, const char *symbol, pop_arena *arena)
{
  pop_stack_use use = {.bytes = POP_STACK_UNKNOWN, .reason = POP_STACK_UNDEFINED};
  link_target target = link_set_find(a->set, symbol);
  if (target.kind != TARGET_SECTION) {
    const char **chain = pop_arena_alloc(arena, sizeof *chain);
    *chain = pop_arena_strdup(arena, symbol);
    use.chain = chain;
    use.chain_length = 1;
    return use;
  }
  uint32_t entry = enter(a, (stack_place){target.section, target.value});
  visit(a);
  const function *f = &a->functions[entry];
  use.reason = f->reason;
  if (f->reason == POP_STACK_KNOWN) use.bytes = f->bytes;
  make_chain(a, entry, arena, &use);
  if (use.reason != POP_STACK_KNOWN) find_reason(a, entry, &use);
  return use;
}

void pop_stack_understatements(const pop_stack_analysis *a,
                               void (*visit)(void *context, const pop_stack_understatement *what),
                               void *context)
{
  for (size_t i = 0; i < a->num_functions; ++i) {
    const function *f = &a->functions[i];
    if (!f->frame_bytes) continue;
    const set_object *owner = link_set_owner(a->set, f->place.section);
    pop_stack_understatement what = {f->name,
                                     f->stated,
                                     f->frame_bytes,
                                     owner->object,
                                     f->place.section - owner->first_section,
                                     f->place.offset};
    visit(context, &what);
  }
}

const char *pop_stack_explain(const pop_stack_use *use, pop_arena *arena)
{
  static const char *const texts[] = {
      [POP_STACK_KNOWN] = "needs the most",
      [POP_STACK_RECURSION] = "recursion",
      [POP_STACK_INDIRECT_CALL] = "calls through a pointer",
      [POP_STACK_DYNAMIC] = "has an array whose size is not constant, or calls alloca",
      [POP_STACK_UNREADABLE] = "moves the stack pointer in a way of its own",
      [POP_STACK_UNDEFINED] = "is not defined",
  };
  enum { SHOWN = 16 };
  const char *text = use->chain[0];
  for (size_t i = 1; i < use->chain_length; ++i) {
    bool left_out = use->chain_length > SHOWN && i > SHOWN / 2 && i < use->chain_length - SHOWN / 2;
    if (left_out && i > SHOWN / 2 + 1) continue;
    text = pop_arena_printf(arena, "%s -> %s", text, left_out ? "…" : use->chain[i]);
  }
  bool recursion = use->reason == POP_STACK_RECURSION;
  return pop_arena_printf(arena, "%s%s%s", text, recursion ? ": " : " ", texts[use->reason]);
}
