/* For tests and benches that look into what the compiler made of a graph. */
#ifndef POPULUS_TEST_COMPILED_H
#define POPULUS_TEST_COMPILED_H

#include <compiler/compilation.h>
#include <engine/engine_private.h>

/* Of an engine that was made from a graph, not from an archive. */
static inline const compilation *engine_compilation(const pop_engine *engine)
{
  return engine->executable->images.context;
}

#endif
