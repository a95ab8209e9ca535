/* What the files share that make one program of several processes: parallel.c first. */
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

/* parallel_operations.c: operations that are made, in the order in which they run, on behalf of `by`. Values are the program's. */

operation *parallel_op(parallel *p, const operation *by, op_code code, value **operands,
                       size_t num_operands, const model_type *type);
/* All elements are the number, which is small. */
value *parallel_constant(parallel *p, const operation *by, const model_type *type, int64_t number);
value *parallel_concatenate(parallel *p, const operation *by, value **parts, size_t count,
                            int64_t dimension);
/* Part `part` of `count` equal ones along a dimension. */
value *parallel_slice(parallel *p, const operation *by, value *v, int64_t dimension, int64_t part,
                      int64_t count);
/* Of values of one type the one whose number is element i of `index`. */
value *parallel_choice(parallel *p, const operation *by, value **values, size_t count, value *index,
                       size_t i);
/* The region applied to elements of both; each use of it is a copy of its own. */
POP_MUST_CHECK pop_error *parallel_map(parallel *p, const operation *by, const copy_map *map,
                                       value *a, value *b, value **result);

/* parallel_collectives.c */

/* Is it done when all of a group have come to it? */
bool parallel_waits(op_code code);
int64_t parallel_channel(const operation *op);
/* Of the operation where the process is. */
value *parallel_operand(const process *one, size_t i);
void parallel_set_result(process *one, size_t i, value *v);
/* What came of it must have the types that were said. */
POP_MUST_CHECK pop_error *parallel_check_results(parallel *p, const process *one);
/* If all of the group are there, they go on behind it. */
POP_MUST_CHECK pop_error *parallel_try_collective(parallel *p, process *one, bool *moved);

#endif
