/* Modules as text: dumps, and what the hash of a module is of. */
#ifndef POPULUS_MODELS_PRINT_H
#define POPULUS_MODELS_PRINT_H

#include "models/module.h"
#include "models/text.h"

/* Prints all functions, or `only` one. `names`: adds the source's names of values as comments.
 * Without them the text is what the hash is of: it does not depend on the notation, either. Values
 * are renumbered. */
void module_print(text *to, const module *m, function *only, bool names);

#endif
