/* What check operations say: whether two tensors are equal, nearly equal, or close. */
#ifndef POPULUS_MODELS_JUDGE_H
#define POPULUS_MODELS_JUDGE_H

#include "models/lowering.h"

#include <populus/engine.h>

POP_MUST_CHECK pop_error *judge_check(const module *m, const lowered_check *c, pop_engine *engine);

#endif
