/* Translates HLO text to StableHLO text, which read.c reads. HLO text is what XLA's --xla_dump_to
 * writes (*.txt, before and after optimisation). A table maps places in the StableHLO text to
 * places in the HLO text.
 *
 *   text --hlo_parse.c--> computations of instructions --hlo_translate.c, hlo_operation.c--> text
 *
 * Tuples are replaced by their members, recursively, everywhere: in parameters, calls, loops and
 * branches. These members are called "leaves". Only bitcast depends on layouts. Sharding, metadata
 * and backend_config are ignored.
 */
#ifndef POPULUS_MODELS_HLO_TEXT_H
#define POPULUS_MODELS_HLO_TEXT_H

#include "models/module.h"
#include "models/text.h"

typedef struct hlo_type {
  bool tuple, token;
  const char *element; /* StableHLO's name: "i32" */
  uint32_t rank;
  int64_t dims[MODEL_MAX_RANK];
  int64_t layout[MODEL_MAX_RANK]; /* dimensions, the fastest-varying first */
  struct hlo_type *members;
  size_t num_members;
} hlo_type;

typedef struct hlo_attribute {
  const char *key, *value; /* value: the text, trimmed */
  uint32_t offset;
} hlo_attribute;

typedef struct hlo_instruction {
  const char *name, *opcode;
  uint32_t offset;
  bool root;
  hlo_type type;
  const char *inside; /* the text in its parentheses */
  struct hlo_instruction **operands;
  size_t num_operands;
  hlo_attribute *attributes;
  size_t num_attributes;
  char **leaves; /* names in the translation, one for each tensor of the type */
} hlo_instruction;

typedef struct hlo_computation {
  const char *name;
  uint32_t offset;
  hlo_instruction **instructions;
  size_t num_instructions, capacity;
  pop_name_table by_name;
  hlo_instruction *root;
  bool entry, wanted, function_written; /* wanted: it must become a function */
  unsigned open; /* regions of it that are being written, to detect recursion */
} hlo_computation;

typedef struct hlo_module {
  module *m; /* for its arena and its messages; its text is the HLO text */
  const char *name;
  int64_t num_replicas, num_partitions;
  hlo_computation *computations;
  size_t num_computations, capacity;
  pop_name_table by_name;
} hlo_module;

/* Does the text begin as an HLO module does? */
bool hlo_recognise(const char *text, size_t begin, size_t end);

/* hlo_parse.c */
POP_MUST_CHECK pop_error *hlo_parse(module *m, size_t begin, size_t end, hlo_module **result);
void hlo_module_free(hlo_module *h);
const char *hlo_attribute_value(const hlo_instruction *i, const char *key);   /* NULL: not there */
hlo_computation *hlo_find_computation(const hlo_module *h, const char *name); /* or with '%' */
size_t hlo_num_leaves(const hlo_type *t);
/* Its n-th tensor. */
const hlo_type *hlo_leaf(const hlo_type *t, size_t n);

/* hlo_translate.c: writes the StableHLO text and sets m's `places`. */
POP_MUST_CHECK pop_error *hlo_translate(hlo_module *h, text *to);

/* hlo_operation.c: an instruction that becomes one operation. It has the operation's name, its
 * attributes as StableHLO writes them ("" or "{…}"), and the computations that are its regions. */
typedef struct hlo_operation {
  const char *name, *attributes;
  hlo_computation *regions[2];
  size_t num_regions;
} hlo_operation;
POP_MUST_CHECK pop_error *hlo_describe(const hlo_module *h, const hlo_instruction *i,
                                       hlo_operation *op);
/* hlo_check.c: checks names of attributes, and values that are numbers. */
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
