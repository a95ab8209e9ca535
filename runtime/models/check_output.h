/* What check operations say: whether two tensors are equal, nearly equal, or close. */
#ifndef POPULUS_MODELS_CHECK_OUTPUT_H
#define POPULUS_MODELS_CHECK_OUTPUT_H

#include "models/lowering.h"

#include <populus/engine.h>

POP_MUST_CHECK pop_error *check_output(const module *m, const lowered_check *c, pop_engine *engine);

#endif
