/* Stack analysis, as its own files see it (public view: populus/stack.h).
 *
 *   entry ──stack_frame.c──> one function: its frame, and whom it calls at which depth
 *         ──stack_usage.c──> the worst chain of calls
 *   sections of the objects ──stack_notes.c──> what authors state
 *   names of functions      ──stack_known.c──> what their libraries' sources say
 */
#ifndef POPULUS_STACK_USAGE_H
#define POPULUS_STACK_USAGE_H

#include "link_set.h"
#include <populus/stack.h>

/* A place in the code of a set. */
typedef struct stack_place {
  uint32_t section, offset;
} stack_place;

/* Places to numbers. Zero-initialised it is empty. */
typedef struct stack_map {
  struct stack_map_slot *slots; /* open addressing, at most half in use */
  size_t capacity, count;
} stack_map;

/* The number of the place; `number` if it had none and has that now. */
uint32_t stack_map_put(stack_map *map, stack_place place, uint32_t number);
/* OBJECT_NONE if it has none. */
uint32_t stack_map_find(const stack_map *map, stack_place place);
void stack_map_free(stack_map *map);

typedef struct stack_call {
  stack_place callee;
  stack_place at; /* the instruction */
  uint32_t depth; /* bytes of the caller's frame at the call */
} stack_call;

/* One function by itself. */
typedef struct stack_frame {
  uint32_t bytes;          /* at its deepest */
  pop_stack_reason reason; /* KNOWN, DYNAMIC, UNREADABLE or UNDEFINED */
  stack_place reason_at;   /* the instruction, unless KNOWN */
  bool indirect;           /* calls through a pointer, … */
  uint32_t indirect_depth; /* … at most at this depth */
  stack_place indirect_at; /* … the first of them here */
  stack_call *calls;       /* one per callee, at its deepest; the caller frees */
  size_t num_calls, calls_capacity;
} stack_frame;

/* `budget` counts instructions. Anybody may have made an object: code that takes longer to analyse
 * than any compiler's is UNREADABLE. */
void stack_read_frame(const pop_link_set *set, stack_place entry, uint64_t *budget,
                      stack_frame *frame);

/* The name of the function that starts at the place; NULL if none does. */
const char *stack_function_at(const pop_link_set *set, stack_place place);

/* What authors state. */
typedef struct stack_note {
  stack_place function;
  uint32_t value; /* bytes of stack, or levels of recursion */
} stack_note;

/* The largest value stated about each function. */
typedef struct stack_note_list {
  stack_note *notes;
  size_t count, capacity;
  stack_map index_of; /* function -> index in `notes` */
} stack_note_list;

/* NULL: nothing is stated about the function. */
const stack_note *stack_find_note(const stack_note_list *list, stack_place function);

typedef struct stack_pointer_call {
  stack_place caller, callee;
} stack_pointer_call;

typedef struct stack_notes {
  stack_note_list uses, levels;
  stack_pointer_call *calls; /* by caller */
  size_t num_calls, calls_capacity;
} stack_notes;

POP_MUST_CHECK pop_error *stack_read_notes(const pop_link_set *set, stack_notes *notes);
/* Index of the first of `calls` that is not of a caller before this one. */
size_t stack_first_call(const stack_notes *notes, stack_place caller);
void stack_notes_free(stack_notes *notes);

/* The largest recursion depth of a library's function; 0: not known. */
uint32_t stack_known_levels(const char *symbol);

#endif
