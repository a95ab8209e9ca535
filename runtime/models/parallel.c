/* Several processes as one program.
 *
 * interpreter.run_parallel says which function each process runs, by replica and partition. Their operations are
 * taken in turn up to the next one that waits for other processes. When all of a group have come there it becomes
 * ordinary operations between their values: an all_gather a concatenate, an all_reduce maps of the region, and so on.
 * Infeeds take what the functions in `infeed` return; what is sent is received in order.
 *
 * Operations that wait must not be in regions: verify.c names those that are left there. */
#include "models/inline.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- operations that are made ---- */

static operation *make_op(parallel *p, const operation *by, op_code code, value **operands,
                          size_t num_operands, const model_type *type)
{
  pop_arena *arena = p->in->m->arena;
  operation *op = pop_arena_alloc(arena, sizeof *op);
  *op = (operation){.code = code, .name = by->name, .offset = by->offset};
  op->operands = pop_arena_alloc(arena, (num_operands + 1) * sizeof *op->operands);
  if (num_operands) memcpy(op->operands, operands, num_operands * sizeof *operands);
  op->num_operands = num_operands;
  op->results = pop_arena_alloc(arena, sizeof *op->results);
  op->results[0] = pop_arena_alloc(arena, sizeof **op->results);
  *op->results[0] = (value){.type = type, .op = op};
  op->num_results = 1;
  op->attributes = pop_arena_alloc(arena, 4 * sizeof *op->attributes);
  inline_append(p->to, op);
  return op;
}

static void set_int(operation *op, const char *name, int64_t number)
{
  op->attributes[op->num_attributes++] =
      (attribute){.kind = ATTRIBUTE_INT, .name = name, .integer = number};
}

static void set_ints(parallel *p, operation *op, const char *name, const int64_t *numbers,
                     size_t count)
{
  attribute a = {.kind = ATTRIBUTE_ARRAY, .name = name, .num_items = count};
  a.items = pop_arena_alloc(p->in->m->arena, (count + 1) * sizeof *a.items);
  for (size_t i = 0; i < count; ++i)
    a.items[i] = (attribute){.kind = ATTRIBUTE_INT, .integer = numbers[i]};
  op->attributes[op->num_attributes++] = a;
}

/* All elements are the number, which is small. */
static value *make_constant(parallel *p, const operation *by, const model_type *type,
                            int64_t number)
{
  operation *op = make_op(p, by, OP_CONSTANT, NULL, 0, type);
  attribute a = {.kind = ATTRIBUTE_DENSE, .name = "value", .type = type, .splat = true};
  a.data = pop_arena_alloc(p->in->m->arena, 8);
  if (type->element < ELEMENT_COUNT) element_from_int(type->element, (uint64_t)number, a.data);
  op->attributes[op->num_attributes++] = a;
  return op->results[0];
}

static value *make_concatenate(parallel *p, const operation *by, value **parts, size_t count,
                               int64_t dimension)
{
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *parts[0]->type;
  type->dims = pop_arena_alloc(p->in->m->arena, (type->rank + 1) * sizeof *type->dims);
  memcpy(type->dims, parts[0]->type->dims, type->rank * sizeof *type->dims);
  for (size_t i = 1; i < count; ++i) type->dims[dimension] += parts[i]->type->dims[dimension];
  operation *op = make_op(p, by, OP_CONCATENATE, parts, count, type);
  set_int(op, "dimension", dimension);
  return op->results[0];
}

/* Part `part` of `count` equal ones along a dimension. */
static value *make_slice(parallel *p, const operation *by, value *v, int64_t dimension,
                         int64_t part, int64_t count)
{
  int64_t begin[MODEL_MAX_RANK] = {0}, end[MODEL_MAX_RANK], one[MODEL_MAX_RANK];
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *v->type;
  type->dims = pop_arena_alloc(p->in->m->arena, (type->rank + 1) * sizeof *type->dims);
  memcpy(type->dims, v->type->dims, type->rank * sizeof *type->dims);
  memcpy(end, type->dims, type->rank * sizeof *type->dims);
  for (uint32_t d = 0; d < type->rank; ++d) one[d] = 1;
  int64_t size = type->dims[dimension] / count;
  begin[dimension] = part * size;
  end[dimension] = begin[dimension] + size;
  type->dims[dimension] = size;
  operation *op = make_op(p, by, OP_SLICE, &v, 1, type);
  set_ints(p, op, "start_indices", begin, type->rank);
  set_ints(p, op, "limit_indices", end, type->rank);
  set_ints(p, op, "strides", one, type->rank);
  return op->results[0];
}

static model_type *type_like(parallel *p, const model_type *of, const int64_t *dims, uint32_t rank)
{
  model_type *type = pop_arena_alloc(p->in->m->arena, sizeof *type);
  *type = *of;
  type->rank = rank;
  type->dims = pop_arena_alloc(p->in->m->arena, (rank + 1) * sizeof *type->dims);
  if (rank) memcpy(type->dims, dims, rank * sizeof *dims);
  return type;
}

static value *make_reshape(parallel *p, const operation *by, value *v, const int64_t *dims,
                           uint32_t rank)
{
  return make_op(p, by, OP_RESHAPE, &v, 1, type_like(p, v->type, dims, rank))->results[0];
}

/* Of values of one type the one whose number is element i of `index`. */
static value *make_choice(parallel *p, const operation *by, value **values, size_t count,
                          value *index, size_t i)
{
  const model_type *type = values[0]->type;
  int64_t dims[MODEL_MAX_RANK] = {1};
  memcpy(dims + 1, type->dims, type->rank * sizeof *dims);
  value **rows = pop_arena_alloc(p->in->m->arena, count * sizeof *rows);
  for (size_t k = 0; k < count; ++k) rows[k] = make_reshape(p, by, values[k], dims, type->rank + 1);
  value *operands[MODEL_MAX_RANK + 1];
  operands[0] = make_concatenate(p, by, rows, count, 0);
  value *one = make_slice(p, by, index, 0, (int64_t)i, index->type->dims[0]);
  operands[1] = make_reshape(p, by, one, NULL, 0);
  for (uint32_t d = 1; d <= type->rank; ++d)
    operands[1 + d] = make_constant(p, by, operands[1]->type, 0);
  operation *op = make_op(p, by, OP_DYNAMIC_SLICE, operands, 2 + type->rank,
                          type_like(p, type, dims, type->rank + 1));
  set_ints(p, op, "slice_sizes", dims, type->rank + 1);
  return make_reshape(p, by, op->results[0], type->dims, type->rank);
}

/* The region applied to elements of both; each use of it is a copy of its own. */
static pop_error *make_map(parallel *p, const operation *by, const copy_map *map, value *a,
                           value *b, value **result)
{
  value *both[2] = {a, b};
  operation shell = {.code = OP_MAP, .name = by->name, .offset = by->offset};
  shell.regions = by->regions;
  shell.num_regions = 1;
  block copy = {0};
  POP_TRY(inline_copy(p->in, map, &shell, &copy));
  operation *op = make_op(p, by, OP_MAP, both, 2, a->type);
  op->regions = copy.first->regions;
  op->num_regions = 1;
  *result = op->results[0];
  return NULL;
}

/* ---- groups ---- */

static bool waits(op_code code)
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

/* False if it is there already. */
static bool add_member(members *g, process *one)
{
  if (!one) return true;
  if (has_member(g, one)) return false;
  g->list[g->count++] = one;
  return true;
}

static int64_t channel_of(const operation *op)
{
  return dict_int(op_attribute(op, "channel_handle"), "handle", 0);
}

/* Which processes the numbers in one row of replica_groups are, for the process `one`, as the specification's
 * cross_replica, cross_partition, cross_replica_and_partition and flattened_ids say. False if one is there twice. */
static bool members_of_row(parallel *p, const operation *op, const process *one, const int64_t *row,
                           size_t count, members *g)
{
  bool channel = channel_of(op) > 0, ids = op_flag(op, "use_global_device_ids", false);
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

/* The rows: replica_groups, or of a collective_permute one row of all that take part. */
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
      bool channel = channel_of(op) > 0;
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
  g->count = 0; /* in no group: by itself */
  return NULL;
}

/* ---- collectives ---- */

static value *operand_of(const process *one, size_t i)
{
  return inline_mapped(&one->map, one->at->operands[i]);
}

static void set_result(process *one, size_t i, value *v)
{
  one->map.values[one->at->results[i]->number] = v;
}

static pop_error *reduce_over(parallel *p, const members *g, const operation *op, size_t operand,
                              value **result)
{
  value *sum = operand_of(g->list[0], operand);
  for (size_t i = 1; i < g->count; ++i)
    POP_TRY(make_map(p, op, &g->list[0]->map, sum, operand_of(g->list[i], operand), &sum));
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
      value *v = operand_of(g->list[from], operand);
      POP_TRY(want_dimension(p, op, v, split, count));
      POP_TRY(want_dimension(p, op, v, concat, 1));
      parts[from] = make_slice(p, op, v, split, (int64_t)to, count);
    }
    results[to] = make_concatenate(p, op, parts, g->count, concat);
  }
  for (size_t to = 0; to < g->count; ++to) set_result(g->list[to], operand, results[to]);
  return NULL;
}

static pop_error *permute(parallel *p, const members *g, const operation *op)
{
  size_t count;
  const int64_t *pairs = op_int_list(p->in->m, op, "source_target_pairs", &count);
  bool channel = channel_of(op) > 0;
  for (size_t to = 0; to < g->count; ++to) {
    int64_t self = channel ? g->list[to]->partition : g->list[to]->replica;
    value *v = NULL;
    for (size_t i = 0; i + 1 < count; i += 2)
      for (size_t from = 0; from < g->count && pairs[i + 1] == self; ++from)
        if ((channel ? g->list[from]->partition : g->list[from]->replica) == pairs[i])
          v = operand_of(g->list[from], 0);
    if (!v) v = make_constant(p, op, op->results[0]->type, 0);
    set_result(g->list[to], 0, v);
  }
  return NULL;
}

/* The first of the group has it, or, with has_dynamic_root, who the last operand says for each of the others. */
static pop_error *broadcast(parallel *p, const members *g, const operation *op, size_t operand,
                            value **result)
{
  *result = operand_of(g->list[0], operand);
  if (!op_flag(op, "has_dynamic_root", false)) return NULL;
  value *root = operand_of(g->list[0], op->num_operands - 1);
  const model_type *type = (*result)->type;
  if (op->num_operands != op->num_results + 1 || root->type->kind != TYPE_TENSOR ||
      root->type->rank != 1 || root->type->dims[0] != (int64_t)op->num_results ||
      type->kind != TYPE_TENSOR || type->rank == MODEL_MAX_RANK)
    return model_error(p->in->m, op->offset, "%s: the last operand has a root for each result",
                       op->name);
  value **values = pop_arena_alloc(p->in->m->arena, g->count * sizeof *values);
  for (size_t i = 0; i < g->count; ++i) values[i] = operand_of(g->list[i], operand);
  *result = make_choice(p, op, values, g->count, root, operand);
  return NULL;
}

static pop_error *meet(parallel *p, const members *g, const operation *op)
{
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
        parts[k] = operand_of(g->list[k], i);
        POP_TRY(want_dimension(p, op, parts[k], d, 1));
      }
      v = make_concatenate(p, op, parts, g->count, d);
    } else if (op->code == OP_COLLECTIVE_BROADCAST) {
      POP_TRY(broadcast(p, g, op, i, &v));
    } else {
      if (op->num_regions != 1)
        return model_error(p->in->m, op->offset, "%s has one region", op->name);
      POP_TRY(reduce_over(p, g, op, i, &v));
    }
    for (size_t k = 0; k < g->count; ++k) {
      if (op->code != OP_REDUCE_SCATTER) {
        set_result(g->list[k], i, v);
        continue;
      }
      int64_t d = op_int(op, "scatter_dimension", -1);
      POP_TRY(want_dimension(p, op, v, d, (int64_t)g->count));
      set_result(g->list[k], i, make_slice(p, op, v, d, (int64_t)k, (int64_t)g->count));
    }
  }
  return NULL;
}

/* What came of it must have the types that were said. */
static pop_error *check_results(parallel *p, const process *one)
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

/* All of the group are there: they go on behind it. */
static pop_error *try_collective(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  members g;
  POP_TRY(find_group(p, op, one, &g));
  if (g.count == 0) { /* not in any group: zeros */
    for (size_t i = 0; i < op->num_results; ++i)
      set_result(one, i, make_constant(p, op, op->results[i]->type, 0));
    one->at = op->next;
    *moved = true;
    return NULL;
  }
  for (size_t i = 0; i < g.count; ++i)
    if (!g.list[i]->at || g.list[i]->at->code != op->code ||
        channel_of(g.list[i]->at) != channel_of(op))
      return NULL;
  POP_TRY(op->code == OP_COLLECTIVE_PERMUTE ? permute(p, &g, op) : meet(p, &g, op));
  for (size_t i = 0; i < g.count; ++i) {
    POP_TRY(check_results(p, g.list[i]));
    g.list[i]->at = g.list[i]->at->next;
  }
  *moved = true;
  return NULL;
}

/* ---- infeed, send and receive ---- */

static value *make_token(parallel *p, const operation *by, const model_type *type)
{
  return make_op(p, by, OP_CREATE_TOKEN, NULL, 0, type)->results[0];
}

/* The results of the next function in `infeed`, then a token. */
static pop_error *take_infeed(parallel *p, process *one)
{
  module *m = p->in->m;
  const operation *op = one->at;
  size_t available = p->infeed ? p->infeed->num_items : 0;
  if (p->next_infeed == available)
    return model_error(m, op->offset, "%s: nothing is left to feed", op->name);
  function *f = module_find(
      m, p->infeed->items[p->next_infeed].text ? p->infeed->items[p->next_infeed].text : "");
  p->next_infeed++;
  if (!f || f->body.num_arguments || f->num_results + 1 != op->num_results)
    return model_error(m, op->offset, "%s: the function that feeds it gives something else",
                       op->name);
  POP_TRY(module_inline(m, f));
  copy_map inside = {pop_xcalloc(f->num_values + 1, sizeof *inside.values)};
  pop_error *error = NULL;
  for (const operation *at = f->body.first; at != f->body.last && !error; at = at->next)
    error = inline_copy(p->in, &inside, at, p->to);
  for (size_t i = 0; i < f->num_results && !error; ++i)
    set_result(one, i, inline_mapped(&inside, f->body.last->operands[i]));
  free(inside.values);
  if (error) return error;
  set_result(one, f->num_results, make_token(p, op, op->results[f->num_results]->type));
  return check_results(p, one);
}

static void send(parallel *p, process *one)
{
  const operation *op = one->at;
  message m = {.channel = channel_of(op)};
  m.count = op->num_operands ? op->num_operands - 1 : 0;
  m.values = pop_arena_alloc(p->in->m->arena, (m.count + 1) * sizeof *m.values);
  for (size_t i = 0; i < m.count; ++i) m.values[i] = operand_of(one, i);
  pop_push(p->messages, p->num_messages, p->messages_capacity, m);
}

static pop_error *receive(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  for (size_t i = 0; i < p->num_messages; ++i) {
    message *m = &p->messages[i];
    if (m->taken || m->channel != channel_of(op)) continue;
    if (m->count + 1 != op->num_results)
      return model_error(p->in->m, op->offset, "%s receives %zu values, and %zu were sent",
                         op->name, op->num_results - 1, m->count);
    m->taken = true;
    for (size_t k = 0; k < m->count; ++k) set_result(one, k, m->values[k]);
    set_result(one, m->count, make_token(p, op, op->results[m->count]->type));
    POP_TRY(check_results(p, one));
    one->at = op->next;
    *moved = true;
    return NULL;
  }
  return NULL;
}

/* ---- processes ---- */

/* One operation, if it need not wait. */
static pop_error *step(parallel *p, process *one, bool *moved)
{
  const operation *op = one->at;
  if (waits(op->code)) return try_collective(p, one, moved);
  switch (op->code) {
  case OP_RECV:
    return receive(p, one, moved);
  case OP_INFEED:
    POP_TRY(take_infeed(p, one));
    break;
  case OP_SEND:
    send(p, one);
    /* fall through */
  case OP_OUTFEED: /* what nobody takes is gone */
    if (op->num_results) set_result(one, 0, make_token(p, op, op->results[0]->type));
    break;
  case OP_REPLICA_ID:
  case OP_PARTITION_ID:
    if (op->num_results == 1)
      set_result(one, 0,
                 make_constant(p, op, op->results[0]->type,
                               op->code == OP_REPLICA_ID ? one->replica : one->partition));
    break;
  default:
    POP_TRY(inline_copy(p->in, &one->map, op, p->to));
  }
  one->at = op->next;
  *moved = true;
  return NULL;
}

static pop_error *run(parallel *p)
{
  size_t done = 0;
  while (done < p->num_processes) {
    bool any = false;
    done = 0;
    for (size_t i = 0; i < p->num_processes; ++i) {
      process *one = &p->processes[i];
      for (bool moved = true; moved && one->at != one->f->body.last; any = any || moved) {
        moved = false;
        POP_TRY(step(p, one, &moved));
      }
      done += one->at == one->f->body.last;
    }
    if (done < p->num_processes && !any)
      return model_error(p->in->m, p->op->offset,
                         "%s: all processes wait for each other, the first one in %s", p->op->name,
                         p->processes[0].at->name);
  }
  return NULL;
}

static pop_error *start_process(parallel *p, const copy_map *map, size_t number, const char *name,
                                size_t *operand)
{
  module *m = p->in->m;
  process *one = &p->processes[number];
  one->f = module_find(m, name);
  if (!one->f) return model_error(m, p->op->offset, "there is no function @%s", name);
  for (size_t i = 0; i < p->in->depth; ++i)
    if (p->in->stack[i] == one->f)
      return model_error(m, p->op->offset, "@%s calls itself: recursion is not supported", name);
  POP_TRY(module_inline(m, one->f));
  one->replica = (int64_t)number / p->num_partitions;
  one->partition = (int64_t)number % p->num_partitions;
  one->at = one->f->body.first;
  one->map.values = pop_xcalloc(one->f->num_values + 1, sizeof *one->map.values);
  for (size_t i = 0; i < one->f->body.num_arguments; ++i) {
    const value *argument = one->f->body.arguments[i];
    if (*operand == p->op->num_operands ||
        !type_equal(p->op->operands[*operand]->type, argument->type))
      return model_error(m, p->op->offset, "%s: argument %zu of @%s is missing, or of another type",
                         p->op->name, i, name);
    one->map.values[argument->number] = inline_mapped(map, p->op->operands[(*operand)++]);
  }
  return NULL;
}

static pop_error *start(parallel *p, const copy_map *map)
{
  module *m = p->in->m;
  const attribute *programs = op_attribute(p->op, "programs");
  if (!programs || programs->kind != ATTRIBUTE_ARRAY || !programs->num_items ||
      programs->items[0].kind != ATTRIBUTE_ARRAY || !programs->items[0].num_items)
    return model_error(m, p->op->offset, "%s: programs is a matrix of functions", p->op->name);
  p->num_replicas = (int64_t)programs->num_items;
  p->num_partitions = (int64_t)programs->items[0].num_items;
  p->num_processes = (size_t)(p->num_replicas * p->num_partitions);
  p->processes = pop_xcalloc(p->num_processes, sizeof *p->processes);
  size_t operand = 0;
  for (size_t i = 0; i < p->num_processes; ++i) {
    const attribute *row = &programs->items[i / (size_t)p->num_partitions];
    size_t column = i % (size_t)p->num_partitions;
    if (row->kind != ATTRIBUTE_ARRAY || row->num_items != (size_t)p->num_partitions ||
        row->items[column].kind != ATTRIBUTE_SYMBOL)
      return model_error(m, p->op->offset, "%s: programs is a matrix of functions", p->op->name);
    POP_TRY(start_process(p, map, i, row->items[column].text, &operand));
  }
  return NULL;
}

/* The results of all processes, one behind the other. */
static pop_error *take_results(parallel *p, const copy_map *map)
{
  size_t next = 0;
  for (size_t i = 0; i < p->num_processes; ++i) {
    const operation *last = p->processes[i].f->body.last;
    for (size_t k = 0; k < last->num_operands; ++k, ++next) {
      if (next == p->op->num_results ||
          !type_equal(p->op->results[next]->type, last->operands[k]->type))
        return model_error(p->in->m, p->op->offset, "%s: result %zu has another type", p->op->name,
                           next);
      map->values[p->op->results[next]->number] =
          inline_mapped(&p->processes[i].map, last->operands[k]);
    }
  }
  if (next == p->op->num_results) return NULL;
  return model_error(p->in->m, p->op->offset, "%s has %zu results, not %zu", p->op->name, next,
                     p->op->num_results);
}

pop_error *inline_parallel(inliner *in, const copy_map *map, const operation *op, block *to)
{
  parallel p = {.in = in, .op = op, .to = to, .infeed = op_attribute(op, "infeed")};
  pop_error *error = start(&p, map);
  if (!error) error = run(&p);
  if (!error) error = take_results(&p, map);
  for (size_t i = 0; i < p.num_processes; ++i) free(p.processes[i].map.values);
  free(p.processes);
  free(p.messages);
  return error;
}
