/* What the files that write StableHLO text of HLO text have in common: hlo_translate.c, hlo_forms.c. */
#ifndef POPULUS_MODELS_HLO_TRANSLATE_H
#define POPULUS_MODELS_HLO_TRANSLATE_H

#include "models/hlo_text.h"

typedef struct translation {
  hlo_module *h;
  text *to;
  pop_name_table names, repeated; /* of all instructions; those that several have */
  module_place *places;
  size_t num_places, capacity;
  unsigned depth;
} translation;

const char *hlo_unique_name(translation *t, const hlo_computation *c, const hlo_instruction *i);
/* Names as results of an operation are called; `result`: its name. */
void hlo_set_leaves(translation *t, hlo_instruction *i, const char *result);
/* What the instruction has is what another one has, from its leaf `first` on. */
void hlo_alias(translation *t, hlo_instruction *i, const hlo_instruction *of, size_t first);
POP_MUST_CHECK pop_error *hlo_write_instruction(translation *t, hlo_computation *c,
                                                hlo_instruction *i);
/* As one operation with the same operands. */
POP_MUST_CHECK pop_error *hlo_write_operation(translation *t, hlo_computation *c,
                                              hlo_instruction *i);

/* hlo_forms.c: instructions that StableHLO has in another form; not *written: it is none of them. */
POP_MUST_CHECK pop_error *hlo_write_form(translation *t, hlo_computation *c, hlo_instruction *i,
                                         bool *written);

#endif
