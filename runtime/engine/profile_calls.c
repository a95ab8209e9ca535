/* The public calls about execution profiles. */
#include "engine/engine_private.h"

#include <populus/profile.h>

/* What is emitted of an engine: if nothing is measured, an execution without runs. */
static const execution *execution_of(const pop_engine *engine, execution **made)
{
  *made = engine->profile ? NULL : execution_new(engine->executable);
  return *made ? *made : execution_profile_get(engine->profile);
}

pop_error *pop_engine_execution_profile(const pop_engine *engine, pop_profile **profile)
{
  execution *made;
  *profile = emit_to_values(emit_execution, execution_of(engine, &made));
  execution_free(made);
  return NULL;
}

pop_error *pop_engine_write_execution_profile(const pop_engine *engine, pop_profile_format format,
                                              FILE *stream)
{
  execution *made;
  pop_error *error = emit_to_stream(emit_execution, execution_of(engine, &made), format, stream);
  execution_free(made);
  return error;
}

pop_error *pop_engine_reset_execution_profile(pop_engine *engine)
{
  return execution_profile_reset(engine->profile, engine->state != ENGINE_COMPILED);
}

void pop_engine_enable_execution_profiling(pop_engine *engine)
{
  execution_profile_enable(engine->profile, true);
}

void pop_engine_disable_execution_profiling(pop_engine *engine)
{
  execution_profile_enable(engine->profile, false);
}
