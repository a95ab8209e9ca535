/* Who uses an engine: one call at a time. While one is running, a callback of a stream (or another
 * thread) may ask for anything: it gets an error, and the run goes on undisturbed. An engine that is freed
 * then lives until the call that uses it has come to its end. */
#include "engine/engine_private.h"

#include <populus/out_of_memory.h>

enum { IDLE, IN_USE, TO_BE_FREED };

pop_error *engine_enter(pop_engine *engine, const char *what)
{
  int use = IDLE;
  POP_TRY(pop_memory_check());
  if (atomic_compare_exchange_strong(&engine->use, &use, IN_USE)) {
    pop_memory_hold(); /* threads work with what is on this one's stack, and the user's functions are called */
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
  if (atomic_exchange(&engine->use, IDLE) == TO_BE_FREED) engine_destroy(engine);
  return error;
}

bool engine_free_later(pop_engine *engine)
{
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
