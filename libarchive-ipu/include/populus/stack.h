/* The largest stack that a function needs, with everything that it calls. It is read from
 * machine code, not guessed.
 *
 *   link set --pop_stack_analysis_new--> analysis
 *   analysis, entry symbol --pop_stack_analyse--> bytes, or why they are unknown, and the chain
 *
 * Frames of a constant size and calls of named functions are known. If the code does not show the
 * stack (recursion, a call through a pointer, alloca), the author may state it in sections of an
 * object: POP_STACK_SECTION has the stack of functions with their callees, POP_STACK_LEVELS_SECTION
 * the recursion depth of functions, POP_STACK_CALLS_SECTION the functions that a function calls
 * through pointers (libcodelet/device/README.md has the layout). The depths of some library
 * functions are known (stack_known.c).
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
  /* The function's code moves the stack pointer in a way of its own, or takes far longer to follow
   * than what compilers make. */
  POP_STACK_UNREADABLE,
  POP_STACK_UNDEFINED /* there is no such function */
} pop_stack_reason;

#define POP_STACK_UNKNOWN UINT32_MAX

typedef struct pop_stack_use {
  uint32_t bytes; /* from the stack pointer at entry; POP_STACK_UNKNOWN unless KNOWN */
  pop_stack_reason reason;
  /* The functions from the entry to the one that needs the most stack. If the stack is unknown,
   * they end at the function that is the reason; for a recursion, at the second occurrence of
   * the function to which it comes back. The names are the objects', the array is in the arena
   * that was given. */
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
void pop_stack_analysis_free(pop_stack_analysis *analysis); /* NULL is fine */

/* Each function is read once, however many entries lead to it. Not thread-safe. */
pop_stack_use pop_stack_analyse(pop_stack_analysis *analysis, const char *symbol, pop_arena *arena);

/* A function whose author states less than its own frame takes. Its frame is used. */
typedef struct pop_stack_understatement {
  const char *function;
  uint32_t stated_bytes, frame_bytes;
  const pop_object *object; /* where it is defined */
  uint32_t section, offset;
} pop_stack_understatement;

/* Visits those that the entries analysed so far reach, in the order in which they were found. */
void pop_stack_understatements(const pop_stack_analysis *analysis,
                               void (*visit)(void *context, const pop_stack_understatement *what),
                               void *context);

/* "f -> g -> f: g calls f again" and the like: why the stack is unknown. In `arena`. */
const char *pop_stack_explain(const pop_stack_use *use, pop_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
