/* A failed allocation becomes an error, wherever it happens.
 *
 * Code that builds and compiles graphs allocates in a thousand places, none of which checks. There
 * are two ways out of a failed allocation:
 *
 *   - pop_with_memory(body): the allocation does not return, and pop_with_memory returns an error
 *     (longjmp). It is used where a struct with an owner is filled by `body`. Everything with an
 *     owner is freed as after any other error, as an array that could not grow is unchanged. Only
 *     what local variables of `body` hold is lost. Temporary files that it opened are removed. No
 *     thread may use the body's variables, and no lock may be held. Where these are,
 *     pop_memory_hold keeps the allocation from jumping.
 *   - Otherwise, or while the jump is held back, blocks of a reserve are used. They suffice for
 *     what one call allocates. pop_memory_check, at the start of each call, refills the reserve or
 *     reports that there is no memory.
 *
 * For larger arrays there is room for each to grow once more. A larger single allocation outside of
 * pop_with_memory ends the process.
 */
#include "file_internal.h"
#include "memory_internal.h"

#include <populus/arena.h>
#include <populus/file.h>
#include <populus/out_of_memory.h>

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic(pop_out_of_memory_handler) out_of_memory_handler;

/* Of the thread. */
typedef struct scope {
  struct scope *outer;
  jmp_buf jump;
  size_t bytes; /* that could not be had */
  unsigned held_before;
} scope;

static _Thread_local scope *innermost;
static _Thread_local unsigned held;
static _Thread_local void (*thread_handler)(size_t bytes);

/* ---- the reserve ---- */

/* Most allocations are small; an arena's chunks have up to 1 MiB, and then some. */
enum { NUM_SIZES = 4, MOST_BLOCKS = 64 };
static const struct {
  size_t bytes;
  unsigned count;
} reserve_sizes[NUM_SIZES] = {{256, 64}, {4096 + 256, 32}, {64 << 10, 8}, {(1 << 20) + 4096, 3}};

static _Atomic(void *) reserve[NUM_SIZES][MOST_BLOCKS];
static atomic_bool reserve_is_whole;

/* ---- room for arrays to grow ----
 *
 * Allocations that are larger than those blocks are arrays that grow. Address space is reserved for
 * them: twice the next step of the largest one. It is not memory, but it counts where address space
 * is limited (ulimit -v). It is released when an array cannot grow. */
static pthread_mutex_t reserved_lock = PTHREAD_MUTEX_INITIALIZER;
static void *reserved; /* under the lock, as the next one */
static size_t reserved_bytes;
static _Atomic(size_t) reserved_wanted;

void memory_has_grown(size_t bytes)
{
  size_t wanted = bytes > SIZE_MAX / 4 ? SIZE_MAX : 3 * bytes,
         before = atomic_load(&reserved_wanted);
  while (wanted > before)
    if (atomic_compare_exchange_weak(&reserved_wanted, &before, wanted)) {
      atomic_store(&reserve_is_whole, false);
      return;
    }
}

static void release_address_space(void)
{
  pthread_mutex_lock(&reserved_lock);
  if (reserved_bytes) munmap(reserved, reserved_bytes);
  reserved_bytes = 0;
  pthread_mutex_unlock(&reserved_lock);
}

static bool reserve_address_space(void)
{
  size_t wanted = atomic_load(&reserved_wanted);
  pthread_mutex_lock(&reserved_lock);
  if (reserved_bytes < wanted) {
    if (reserved_bytes) munmap(reserved, reserved_bytes);
    reserved = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    reserved_bytes = reserved == MAP_FAILED ? 0 : wanted;
  }
  bool is_enough = reserved_bytes >= wanted;
  if (!is_enough)
    atomic_store(&reserved_wanted, 0); /* who is told so does not grow on; others go without */
  pthread_mutex_unlock(&reserved_lock);
  return is_enough;
}

static bool fill_reserve(void)
{
  if (!reserve_address_space()) return false;
  for (int i = 0; i < NUM_SIZES; ++i) {
    for (unsigned j = 0; j < reserve_sizes[i].count; ++j) {
      void *none = NULL, *block;
      if (atomic_load(&reserve[i][j])) continue;
      if (!(block = malloc(reserve_sizes[i].bytes))) return false;
      if (!atomic_compare_exchange_strong(&reserve[i][j], &none, block)) free(block);
    }
  }
  return true;
}

static void *take_reserve(size_t bytes)
{
  atomic_store(&reserve_is_whole, false);
  for (int i = 0; i < NUM_SIZES; ++i) {
    for (unsigned j = 0; reserve_sizes[i].bytes >= bytes && j < reserve_sizes[i].count; ++j) {
      void *block = atomic_exchange(&reserve[i][j], NULL);
      if (block) return block;
    }
  }
  return NULL;
}

pop_error *pop_memory_check(void)
{
  if (atomic_load_explicit(&reserve_is_whole, memory_order_relaxed)) return NULL;
  atomic_store(&reserve_is_whole, true); /* before: who takes a block meanwhile says so */
  if (fill_reserve()) return NULL;
  atomic_store(&reserve_is_whole, false);
  return pop_error_new(POP_ERROR_MEMORY, "out of memory");
}

/* ---- ends ---- */

void pop_set_out_of_memory_handler(pop_out_of_memory_handler handler)
{
  atomic_store(&out_of_memory_handler, handler);
}

void pop_set_thread_out_of_memory_handler(void (*handler)(size_t bytes))
{
  thread_handler = handler;
}

/* Nothing here may allocate. */
static _Noreturn void end_process(size_t bytes)
{
  if (thread_handler) thread_handler(bytes);
  pop_out_of_memory_handler handler = atomic_load(&out_of_memory_handler);
  if (handler) handler(bytes);
  pop_output_remove_all_temporaries();
  char line[80];
  int length = snprintf(line, sizeof line, "populus: error: out of memory (%zu bytes)\n", bytes);
  ssize_t written = write(STDERR_FILENO, line, (size_t)length);
  (void)written; /* there is nobody left to tell */
  _exit(4);
}

_Noreturn void memory_exhausted(size_t bytes)
{
  if (!innermost || held) end_process(bytes);
  innermost->bytes = bytes;
  longjmp(innermost->jump, 1);
}

void *memory_allocation_failed(void *old, size_t bytes)
{
  if (innermost && !held) memory_exhausted(bytes);
  void *block = take_reserve(bytes);
  if (!block) {
    release_address_space();
    block = malloc(bytes);
  }
  if (!block) end_process(bytes);
  if (old) {
    size_t size = malloc_usable_size(old);
    memcpy(block, old, size < bytes ? size : bytes);
    free(old);
  }
  return block;
}

void pop_memory_hold(void)
{
  ++held;
}

void pop_memory_release(void)
{
  --held;
}

const void *memory_scope(void)
{
  return innermost;
}

pop_error *pop_with_memory(const char *doing, pop_error *(*body)(void *context), void *context)
{
  pop_error *short_of = pop_memory_check();
  if (short_of) return pop_error_prefix(short_of, "%s", doing);
  scope here = {.outer = innermost, .held_before = held};
  if (setjmp(here.jump) == 0) { /* NOLINT(cert-err52-cpp): see above */
    innermost = &here;
    held = 0;
    pop_error *error = body(context);
    held = here.held_before;
    innermost = here.outer;
    temporaries_change_owner(&here, here.outer);
    return error;
  }
  innermost = here.outer;
  held = here.held_before;
  temporaries_abandon(&here);
  return pop_error_new(POP_ERROR_MEMORY, "%s: out of memory (%zu bytes)", doing, here.bytes);
}
