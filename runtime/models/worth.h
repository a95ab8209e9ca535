/* How many tiles a module is worth. */
#ifndef MODELS_WORTH_H
#define MODELS_WORTH_H

#include "models/module.h"

/* At least 1; `f` has been verified. */
uint64_t tiles_worth_using(const module *m, const function *f);

#endif
