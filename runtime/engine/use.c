/* Exclusive use of an engine: one call at a time. While one is running, a callback of a stream (or
 * another thread) may call any function: it gets an error, and the run continues undisturbed. If
 * the engine is freed meanwhile, it lives until the call that uses it ends. */
#include "base/log.h"
#include "engine/engine_private.h"

#include <assert.h>
#include <populus/out_of_memory.h>

enum { IDLE, IN_USE, TO_BE_FREED };

/* ---- callbacks that do not return ----
 *
 * A callback that ends by longjmp leaves the run incomplete, and the engine in use. The next call
 * from the same thread then has a stack frame nearer to the base of the stack than the call that
 * called the callback. That never happens inside a callback. Stacks that programs make themselves
 * are not compared. */

static bool on_stack_of_thread(const char *place)
{
  pthread_attr_t attributes;
  void *start = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes)) return false;
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return (uintptr_t)place - (uintptr_t)start < size;
}

/* With callback threads the answer is no: other threads may still be running callbacks. */
static bool was_abandoned(const pop_engine *engine)
{
  const char *here = __builtin_frame_address(0), *before = atomic_load(&engine->callback_frame);
  return before && before < here && !engine->callback_threads &&
         pthread_equal(engine->runner, pthread_self()) && on_stack_of_thread(before) &&
         on_stack_of_thread(here);
}

/* Ends a run that a callback has left. The tiles wait in a host sync, so no thread works for it any
 * more. */
static void end_abandoned_run(pop_engine *engine)
{
  if (atomic_load(&engine->use) != IN_USE || !was_abandoned(engine)) return;
  log_write(LOG_WARN, "ENGINE",
            "a callback of a stream has left pop_engine_run by longjmp: the run is over");
  pop_memory_release();
  engine->state = ENGINE_FAULTED;
  engine->was_abandoned = true;
  atomic_store(&engine->runs, false);
  engine_end_host_exchange(engine);
  atomic_store(&engine->use, IDLE);
}

void engine_enter_callbacks(pop_engine *engine)
{
  atomic_store(&engine->callback_frame, __builtin_frame_address(0));
}

void engine_leave_callbacks(pop_engine *engine)
{
  atomic_store(&engine->callback_frame, NULL);
}

/* ---- enter and leave ---- */

pop_error *engine_enter(pop_engine *engine, const char *what)
{
  int use = IDLE;
  POP_TRY(pop_memory_check());
  end_abandoned_run(engine);
  if (atomic_compare_exchange_strong(&engine->use, &use, IN_USE)) {
    engine->runner = pthread_self();
    pop_memory_hold(); /* other threads use this one's stack, and user functions are called */
    return NULL;
  }
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "cannot %s: the engine is in use by another call; a stream's callback has to "
      "return before its engine can be used again, and threads must take turns",
      what);
}

pop_error *engine_leave(pop_engine *engine, pop_error *error)
{
  pop_memory_release();
  if (error) log_write(LOG_ERR, "ENGINE", "%s", pop_error_message(error));
  int use = atomic_exchange(&engine->use, IDLE);
  assert(use != IDLE); /* leave follows enter */
  if (use == TO_BE_FREED) engine_destroy(engine);
  return error;
}

bool engine_free_later(pop_engine *engine)
{
  end_abandoned_run(engine);
  for (;;) {
    int use = IDLE;
    if (atomic_compare_exchange_strong(&engine->use, &use, IN_USE)) return false;
    if (use == TO_BE_FREED ||
        (use == IN_USE && atomic_compare_exchange_strong(&engine->use, &use, TO_BE_FREED)))
      return true;
  }
}

pop_error *engine_check_wanted(const pop_engine *engine)
{
  if (atomic_load(&engine->use) != TO_BE_FREED) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME, "the engine was freed while it ran a program");
}
