/* Several processes as one program: the groups of processes, and their collectives. */
#include "models/parallel.h"

/* ---- groups ---- */

bool parallel_waits(op_code code)
{
  return code == OP_ALL_GATHER || code == OP_ALL_REDUCE || code == OP_ALL_TO_ALL ||
         code == OP_COLLECTIVE_BROADCAST || code == OP_COLLECTIVE_PERMUTE ||
         code == OP_REDUCE_SCATTER;
}

static process *process_of(parallel *p, int64_t replica, int64_t partition)
{
  if (replica < 0 || replica >= p->num_replicas || partition < 0 || partition >= p->num_partitions)
    return NULL;
  return &p->processes[replica * p->num_partitions + partition];
}

typedef struct members {
  process **list;
  size_t count;
} members;

static bool has_member(const members *g, const process *one)
{
  for (size_t i = 0; i < g->count; ++i)
    if (g->list[i] == one) return true;
  return false;
}

/* False if it is a member already. */
static bool add_member(members *g, process *one)
{
  if (!one) return true;
  if (has_member(g, one)) return false;
  g->list[g->count++] = one;
  return true;
}

int64_t parallel_channel(const operation *op)
{
  return dict_int(op_attribute(op, "channel_handle"), "handle", 0);
}

/* The processes that one row of replica_groups means for process `one`, by the specification's
 * cross_replica, cross_partition, cross_replica_and_partition or flattened_ids. False if a process
 * is there twice. */
static bool members_of_row(parallel *p, const operation *op, const process *one, const int64_t *row,
                           size_t count, members *g)
{
  bool channel = parallel_channel(op) > 0, ids = op_flag(op, "use_global_device_ids", false);
  bool reduces =
      op->code == OP_ALL_GATHER || op->code == OP_ALL_REDUCE || op->code == OP_REDUCE_SCATTER;
  bool once = true;
  g->count = 0;
  for (int64_t q = 0; q < p->num_partitions && channel && reduces && !ids; ++q)
    for (size_t i = 0; i < count; ++i) once &= add_member(g, process_of(p, row[i], q));
  for (size_t i = 0; i < count && !(channel && reduces && !ids); ++i) {
    if (row[i] < 0) continue;
    if (channel && reduces)
      once &= add_member(g, process_of(p, row[i] / p->num_partitions, row[i] % p->num_partitions));
    else if (channel)
      once &= add_member(g, process_of(p, one->replica, row[i]));
    else
      once &= add_member(g, process_of(p, row[i], one->partition));
  }
  return once;
}

/* Finds the group of process `one`: its row of replica_groups or, for a collective_permute, all
 * that can take part. */
static pop_error *find_group(parallel *p, const operation *op, const process *one, members *g)
{
  module *m = p->in->m;
  size_t count, columns;
  const attribute *a = op_attribute(op, "replica_groups");
  g->list = pop_arena_alloc(m->arena, (p->num_processes * 2 + 64) * sizeof *g->list);
  g->count = 0;
  if (op->code == OP_COLLECTIVE_PERMUTE) {
    for (size_t i = 0; i < p->num_processes; ++i) {
      const process *other = &p->processes[i];
      bool channel = parallel_channel(op) > 0;
      if (channel ? other->replica == one->replica : other->partition == one->partition)
        add_member(g, &p->processes[i]);
    }
    return NULL;
  }
  const int64_t *ids = op_int_list(m, op, "replica_groups", &count);
  if (!a || a->kind != ATTRIBUTE_DENSE || a->type->rank != 2)
    return model_error(m, op->offset, "%s: replica_groups is a matrix of numbers", op->name);
  columns = (size_t)a->type->dims[1];
  if (columns > p->num_processes)
    return model_error(m, op->offset, "%s: a group has at most %zu processes", op->name,
                       p->num_processes);
  for (size_t at = 0; columns && at + columns <= count; at += columns) {
    if (!members_of_row(p, op, one, ids + at, columns, g))
      return model_error(m, op->offset, "%s: a process is twice in a row of replica_groups",
                         op->name);
    if (has_member(g, one)) return NULL;
  }
  g->count = 0; /* in no group */
  return NULL;
}

/* ---- collectives ---- */

value *parallel_operand(const process *one, size_t i)
{
  return inline_mapped(&one->map, one->at->operands[i]);
}

void parallel_set_result(process *one, size_t i, value *v)
{
  one->map.values[one->at->results[i]->number] = v;
}

/* The region is that of process `one`; the others may run other functions. */
static pop_error *reduce_over(parallel *p, const members *g, const process *one, size_t operand,
                              value **result)
{
  value *sum = parallel_operand(g->list[0], operand);
  for (size_t i = 1; i < g->count; ++i)
    POP_TRY(parallel_map(p, one->at, &one->map, sum, parallel_operand(g->list[i], operand), &sum));
  *result = sum;
  return NULL;
}

static pop_error *want_dimension(parallel *p, const operation *op, const value *v, int64_t d,
                                 int64_t parts)
{
  if (v->type->kind != TYPE_TENSOR || v->type->dynamic || d < 0 || d >= v->type->rank ||
      parts < 1 || v->type->dims[d] % parts)
    return model_error(p->in->m, op->offset, "%s: dimension %lld cannot be divided by %lld",
                       op->name, (long long)d, (long long)parts);
  return NULL;
}

static pop_error *all_to_all(parallel *p, const members *g, const operation *op, size_t operand)
{
  int64_t split = op_int(op, "split_dimension", -1), concat = op_int(op, "concat_dimension", -1);
  int64_t count = op_int(op, "split_count", 0);
  if (count != (int64_t)g->count)
    return model_error(p->in->m, op->offset, "%s: split_count is %lld, the group has %zu processes",
                       op->name, (long long)count, g->count);
  value **parts = pop_arena_alloc(p->in->m->arena, g->count * sizeof *parts);
  value **results = pop_arena_alloc(p->in->m->arena, g->count * sizeof *results);
  for (size_t to = 0; to < g->count; ++to) {
    for (size_t from = 0; from < g->count; ++from) {
      value *v = parallel_operand(g->list[from], operand);
      POP_TRY(want_dimension(p, op, v, split, count));
      POP_TRY(want_dimension(p, op, v, concat, 1));
      parts[from] = parallel_slice(p, op, v, split, (int64_t)to, count);
    }
    results[to] = parallel_concatenate(p, op, parts, g->count, concat);
  }
  for (size_t to = 0; to < g->count; ++to) parallel_set_result(g->list[to], operand, results[to]);
  return NULL;
}

static pop_error *permute(parallel *p, const members *g, const operation *op)
{
  size_t count;
  const int64_t *pairs = op_int_list(p->in->m, op, "source_target_pairs", &count);
  bool channel = parallel_channel(op) > 0;
  for (size_t to = 0; to < g->count; ++to) {
    int64_t self = channel ? g->list[to]->partition : g->list[to]->replica;
    value *v = NULL;
    for (size_t i = 0; i + 1 < count; i += 2)
      for (size_t from = 0; from < g->count && pairs[i + 1] == self; ++from)
        if ((channel ? g->list[from]->partition : g->list[from]->replica) == pairs[i])
          v = parallel_operand(g->list[from], 0);
    if (!v) v = parallel_constant(p, op, op->results[0]->type, 0);
    parallel_set_result(g->list[to], 0, v);
  }
  return NULL;
}

/* The value of the group's first process. With has_dynamic_root the last operand says, for each
 * result, whose value it is. */
static pop_error *broadcast(parallel *p, const members *g, const operation *op, size_t operand,
                            value **result)
{
  *result = parallel_operand(g->list[0], operand);
  if (!op_flag(op, "has_dynamic_root", false)) return NULL;
  value *root = parallel_operand(g->list[0], op->num_operands - 1);
  const model_type *type = (*result)->type;
  if (op->num_operands != op->num_results + 1 || root->type->kind != TYPE_TENSOR ||
      root->type->rank != 1 || root->type->dims[0] != (int64_t)op->num_results ||
      type->kind != TYPE_TENSOR || type->rank == MODEL_MAX_RANK)
    return model_error(p->in->m, op->offset, "%s: the last operand has a root for each result",
                       op->name);
  value **values = pop_arena_alloc(p->in->m->arena, g->count * sizeof *values);
  for (size_t i = 0; i < g->count; ++i) values[i] = parallel_operand(g->list[i], operand);
  *result = parallel_choice(p, op, values, g->count, root, operand);
  return NULL;
}

static pop_error *meet(parallel *p, const members *g, const process *one)
{
  const operation *op = one->at;
  for (size_t i = 0; i < op->num_results; ++i) {
    value *v = NULL;
    if (i >= op->num_operands)
      return model_error(p->in->m, op->offset, "%s has as many results as operands", op->name);
    if (op->code == OP_ALL_TO_ALL) {
      POP_TRY(all_to_all(p, g, op, i));
      continue;
    }
    if (op->code == OP_ALL_GATHER) {
      int64_t d = op_int(op, "all_gather_dim", -1);
      value **parts = pop_arena_alloc(p->in->m->arena, g->count * sizeof *parts);
      for (size_t k = 0; k < g->count; ++k) {
        parts[k] = parallel_operand(g->list[k], i);
        POP_TRY(want_dimension(p, op, parts[k], d, 1));
      }
      v = parallel_concatenate(p, op, parts, g->count, d);
    } else if (op->code == OP_COLLECTIVE_BROADCAST) {
      POP_TRY(broadcast(p, g, op, i, &v));
    } else {
      if (op->num_regions != 1)
        return model_error(p->in->m, op->offset, "%s has one region", op->name);
      POP_TRY(reduce_over(p, g, one, i, &v));
    }
    for (size_t k = 0; k < g->count; ++k) {
      if (op->code != OP_REDUCE_SCATTER) {
        parallel_set_result(g->list[k], i, v);
        continue;
      }
      int64_t d = op_int(op, "scatter_dimension", -1);
      POP_TRY(want_dimension(p, op, v, d, (int64_t)g->count));
      parallel_set_result(g->list[k], i,
                          parallel_slice(p, op, v, d, (int64_t)k, (int64_t)g->count));
    }
  }
  return NULL;
}

pop_error *parallel_check_results(parallel *p, const process *one)
{
  for (size_t i = 0; i < one->at->num_results; ++i) {
    const value *is = inline_mapped(&one->map, one->at->results[i]);
    if (is && !type_equal(is->type, one->at->results[i]->type))
      return model_error(p->in->m, one->at->offset, "result %zu of %s is %s, not %s", i,
                         one->at->name, type_text(p->in->m->arena, is->type),
                         type_text(p->in->m->arena, one->at->results[i]->type));
  }
  return NULL;
}

/* The members' functions may differ, and with them what they have at this place. */
static pop_error *check_counts(parallel *p, const members *g, const operation *op)
{
  bool permutes = op->code == OP_COLLECTIVE_PERMUTE;
  if (permutes && (op->num_operands != 1 || op->num_results != 1))
    return model_error(p->in->m, op->offset, "%s has one operand and one result", op->name);
  for (size_t i = 0; i < g->count; ++i) {
    const operation *other = g->list[i]->at;
    if (other->num_operands != op->num_operands || other->num_results != op->num_results)
      return model_error(p->in->m, other->offset,
                         "%s: all processes of a group have as many operands and results",
                         op->name);
  }
  return NULL;
}

pop_error *parallel_try_collective(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  members g;
  POP_TRY(find_group(p, op, one, &g));
  if (g.count == 0) { /* in no group: its results are zeros */
    for (size_t i = 0; i < op->num_results; ++i)
      parallel_set_result(one, i, parallel_constant(p, op, op->results[i]->type, 0));
    one->at = op->next;
    *moved = true;
    return NULL;
  }
  for (size_t i = 0; i < g.count; ++i)
    if (!g.list[i]->at || g.list[i]->at->code != op->code ||
        parallel_channel(g.list[i]->at) != parallel_channel(op))
      return NULL;
  POP_TRY(check_counts(p, &g, op));
  POP_TRY(op->code == OP_COLLECTIVE_PERMUTE ? permute(p, &g, op) : meet(p, &g, one));
  for (size_t i = 0; i < g.count; ++i) {
    POP_TRY(parallel_check_results(p, g.list[i]));
    g.list[i]->at = g.list[i]->at->next;
  }
  *moved = true;
  return NULL;
}
