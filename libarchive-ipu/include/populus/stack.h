/* How much stack a function needs at most, with everything that it calls: read from its machine
 * code, not guessed.
 *
 *   link set --pop_stack_analysis_new--> analysis
 *   analysis, entry symbol --pop_stack_analyse--> bytes, or why nobody can know, with the call chain
 *
 * Known are frames of a constant size and calls of named functions. Where the code does not say
 * (recursion, a call through a pointer, alloca), the author may: an object's section
 * POP_STACK_SECTION states the stack of functions, callees included, POP_STACK_LEVELS_SECTION how
 * deep a function calls itself, and POP_STACK_CALLS_SECTION which functions a function calls through
 * pointers (libcodelet/device/README.md: the layout). Of some functions of the C++ library the depth
 * is known (stack_known.c).
 */
#ifndef POPULUS_STACK_H
#define POPULUS_STACK_H

#include <populus/link.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POP_STACK_SECTION ".populus.stack"
#define POP_STACK_LEVELS_SECTION ".populus.levels"
#define POP_STACK_CALLS_SECTION ".populus.calls"

typedef enum pop_stack_reason {
  POP_STACK_KNOWN,
  POP_STACK_RECURSION,
  POP_STACK_INDIRECT_CALL, /* through a pointer, or a virtual function */
  POP_STACK_DYNAMIC,       /* alloca, or an array whose length is not constant */
  POP_STACK_UNREADABLE,    /* the function's code moves the stack pointer in a way of its own */
  POP_STACK_UNDEFINED      /* there is no such function */
} pop_stack_reason;

#define POP_STACK_UNKNOWN UINT32_MAX

typedef struct pop_stack_use {
  uint32_t bytes; /* from the stack pointer at entry; POP_STACK_UNKNOWN unless KNOWN */
  pop_stack_reason reason;
  /* From the entry to the function that needs the most stack; if that is unknown, to the function
   * that is the reason; if it is a recursion, to the second occurrence of the function that it
   * comes back to. The names are the objects', the array is in the arena that was given. */
  const char *const *chain;
  size_t chain_length;
  /* The instruction that is the reason: the call that comes back, the call through a pointer, what
   * moves the stack pointer. NULL if the stack is known, or the entry undefined. */
  const pop_object *object;
  uint32_t section, offset;
} pop_stack_use;

typedef struct pop_stack_analysis pop_stack_analysis;

/* The set must not change while the analysis lives. Errors: FILE_LOAD for a damaged annotation. */
POP_MUST_CHECK pop_error *pop_stack_analysis_new(const pop_link_set *set,
                                                 pop_stack_analysis **analysis);
void pop_stack_analysis_free(pop_stack_analysis *analysis);

/* Each function is read once, however many entries lead to it. Not thread-safe. */
pop_stack_use pop_stack_analyse(pop_stack_analysis *analysis, const char *symbol, pop_arena *arena);

/* A function about which its author states less than its own frame takes. It gets its frame. */
typedef struct pop_stack_understatement {
  const char *function;
  uint32_t stated_bytes, frame_bytes;
  const pop_object *object; /* where it is defined */
  uint32_t section, offset;
} pop_stack_understatement;

/* Those that the entries analysed so far lead to, in the order in which they were found. */
void pop_stack_understatements(const pop_stack_analysis *analysis,
                               void (*visit)(void *context, const pop_stack_understatement *what),
                               void *context);

/* "f -> g -> f: g calls f again" and the like: why the stack is unknown. In `arena`. */
const char *pop_stack_explain(const pop_stack_use *use, pop_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
