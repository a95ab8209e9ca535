/* Shared by hlo_translate.c and hlo_forms.c, which write StableHLO text from HLO text. */
#ifndef POPULUS_MODELS_HLO_TRANSLATE_H
#define POPULUS_MODELS_HLO_TRANSLATE_H

#include "models/hlo_text.h"

typedef struct translation {
  hlo_module *h;
  text *to;
  pop_name_table names, repeated; /* of all instructions; those that occur more than once */
  module_place *places;
  size_t num_places, capacity;
  unsigned depth;
} translation;

const char *hlo_unique_name(translation *t, const hlo_computation *c, const hlo_instruction *i);
/* Names the leaves as results of an operation called `result`. */
void hlo_set_leaves(translation *t, hlo_instruction *i, const char *result);
/* The instruction's leaves are those of another one, from leaf `first` on. */
void hlo_alias(translation *t, hlo_instruction *i, const hlo_instruction *of, size_t first);
POP_MUST_CHECK pop_error *hlo_write_instruction(translation *t, hlo_computation *c,
                                                hlo_instruction *i);
/* Writes the instruction as one operation with the same operands. */
POP_MUST_CHECK pop_error *hlo_write_operation(translation *t, hlo_computation *c,
                                              hlo_instruction *i);

/* hlo_forms.c: writes instructions whose form in StableHLO is another one. *written is false for
 * all others. */
POP_MUST_CHECK pop_error *hlo_write_form(translation *t, hlo_computation *c, hlo_instruction *i,
                                         bool *written);

#endif
