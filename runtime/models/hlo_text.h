/* HLO text, as XLA's --xla_dump_to writes it (*.txt, before and after optimisation), becomes StableHLO text, which
 * read.c reads; a table says which place of the one stands for which place of the other.
 *
 *   text --hlo_parse.c--> computations of instructions --hlo_translate.c, hlo_operation.c--> text
 *
 * A value that is a tuple is its members from the first to the last, "leaves", all through: of parameters, calls, loops
 * and branches. Layouts matter to bitcast only; sharding, metadata and backend_config to nothing here.
 */
#ifndef POPULUS_MODELS_HLO_TEXT_H
#define POPULUS_MODELS_HLO_TEXT_H

#include "models/module.h"
#include "models/text.h"

typedef struct hlo_type {
  bool tuple, token;
  const char *element; /* as StableHLO calls it: "i32" */
  uint32_t rank;
  int64_t dims[MODEL_MAX_RANK];
  int64_t layout[MODEL_MAX_RANK]; /* dimensions from the one that changes fastest */
  struct hlo_type *members;
  size_t num_members;
} hlo_type;

typedef struct hlo_attribute {
  const char *key, *value; /* value: as it stands, without blanks around it */
  uint32_t offset;
} hlo_attribute;

typedef struct hlo_instruction {
  const char *name, *opcode;
  uint32_t offset;
  bool root;
  hlo_type type;
  const char *inside; /* what stands in its parentheses */
  struct hlo_instruction **operands;
  size_t num_operands;
  hlo_attribute *attributes;
  size_t num_attributes;
  char **leaves; /* the values' names in the translation, as many as the type has tensors */
} hlo_instruction;

typedef struct hlo_computation {
  const char *name;
  uint32_t offset;
  hlo_instruction **instructions;
  size_t num_instructions, capacity;
  pop_name_table by_name;
  hlo_instruction *root;
  bool entry, wanted, function_written; /* wanted: as a function */
  unsigned open; /* regions of it that are being written: it cannot contain itself */
} hlo_computation;

typedef struct hlo_module {
  module *m; /* for the arena and for messages: its text is the HLO text */
  const char *name;
  int64_t num_replicas, num_partitions;
  hlo_computation *computations;
  size_t num_computations, capacity;
  pop_name_table by_name;
} hlo_module;

/* Does the text begin as such a module does? */
bool hlo_recognise(const char *text, size_t begin, size_t end);

/* hlo_parse.c */
POP_MUST_CHECK pop_error *hlo_parse(module *m, size_t begin, size_t end, hlo_module **result);
void hlo_module_free(hlo_module *h);
const char *hlo_attribute_value(const hlo_instruction *i, const char *key);   /* NULL: not there */
hlo_computation *hlo_find_computation(const hlo_module *h, const char *name); /* or with '%' */
size_t hlo_num_leaves(const hlo_type *t);
/* Its n-th tensor. */
const hlo_type *hlo_leaf(const hlo_type *t, size_t n);

/* hlo_translate.c: the StableHLO text; `places` are m's for it. */
POP_MUST_CHECK pop_error *hlo_translate(hlo_module *h, text *to);

/* hlo_operation.c: an instruction that is one operation: its name, its attributes as StableHLO writes them ("" or "{…}"),
 * and the computations that are its regions. */
typedef struct hlo_operation {
  const char *name, *attributes;
  hlo_computation *regions[2];
  size_t num_regions;
} hlo_operation;
POP_MUST_CHECK pop_error *hlo_describe(const hlo_module *h, const hlo_instruction *i,
                                       hlo_operation *op);
/* hlo_check.c: names of attributes, and their values as far as they are numbers. */
POP_MUST_CHECK pop_error *hlo_check_attributes(const hlo_module *h, const hlo_instruction *i);
/* hlo_literal.c: "dense<…> : type" of a constant. */
POP_MUST_CHECK pop_error *hlo_literal(const hlo_module *h, const hlo_instruction *i, text *to);
/* hlo_groups.c: replica_groups or source_target_pairs as "key = dense<…> : type". */
POP_MUST_CHECK pop_error *hlo_groups(const hlo_module *h, const hlo_instruction *i, const char *key,
                                     char **result);
char *hlo_type_text(const hlo_module *h, const hlo_type *t); /* of a tensor or token */
/* An error at the instruction. */
POP_NEVER_NULL pop_error *hlo_error(const hlo_module *h, const hlo_instruction *i,
                                    const char *format, ...) POP_PRINTF(3, 4);

#endif
