/* Shared by the files that make several processes one program (parallel.c). */
#ifndef POPULUS_MODELS_PARALLEL_H
#define POPULUS_MODELS_PARALLEL_H

#include "models/inline.h"

typedef struct process {
  function *f;
  copy_map map;
  const operation *at;
  int64_t replica, partition;
} process;

typedef struct message {
  int64_t channel;
  value **values;
  size_t count;
  bool taken;
} message;

typedef struct parallel {
  inliner *in;
  const operation *op;
  block *to;
  process *processes;
  size_t num_processes;
  int64_t num_replicas, num_partitions;
  const attribute *infeed;
  size_t next_infeed;
  message *messages;
  size_t num_messages, messages_capacity;
} parallel;

/* parallel_operations.c: make operations of the new program, in the order in which they run. `by`
 * is the operation that they stand for; values are those of the new program. */

operation *parallel_op(parallel *p, const operation *by, op_code code, value **operands,
                       size_t num_operands, const model_type *type);
/* A tensor whose elements all equal the number, which must be small. */
value *parallel_constant(parallel *p, const operation *by, const model_type *type, int64_t number);
value *parallel_concatenate(parallel *p, const operation *by, value **parts, size_t count,
                            int64_t dimension);
/* Part number `part` of `count` equal parts along a dimension. */
value *parallel_slice(parallel *p, const operation *by, value *v, int64_t dimension, int64_t part,
                      int64_t count);
/* Selects values[index[i]]; all values have one type. */
value *parallel_choice(parallel *p, const operation *by, value **values, size_t count, value *index,
                       size_t i);
/* Applies the region to `a` and `b`, element by element. Each use makes a copy of the region. */
POP_MUST_CHECK pop_error *parallel_map(parallel *p, const operation *by, const copy_map *map,
                                       value *a, value *b, value **result);

/* parallel_collectives.c */

/* Does the operation wait for all processes of a group? */
bool parallel_waits(op_code code);
int64_t parallel_channel(const operation *op);
/* Operand i of the operation at which the process is. */
value *parallel_operand(const process *one, size_t i);
void parallel_set_result(process *one, size_t i, value *v);
/* The results must have the types that the operation declares. */
POP_MUST_CHECK pop_error *parallel_check_results(parallel *p, const process *one);
/* If all of the group are at the operation, performs it and moves them past it. */
POP_MUST_CHECK pop_error *parallel_try_collective(parallel *p, process *one, bool *moved);

#endif
