/* Modules as text: dumps, and what the hash of a module is of. */
#ifndef POPULUS_MODELS_PRINT_H
#define POPULUS_MODELS_PRINT_H

#include "models/module.h"
#include "models/text.h"

/* All functions, or `only` one; `names`: with the names that values have in the source, as comments. Numbers of values are
 * set anew. */
void module_print(text *to, const module *m, function *only, bool names);

#endif
