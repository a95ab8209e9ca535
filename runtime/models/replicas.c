/* Collectives of a module that runs in replicas. Each becomes a function of other StableHLO
 * operations and one new operation:
 *
 *   "populus.everywhere"(%x) : (tensor<…>) -> tensor<Nx…>     the operands of all N replicas
 *
 * Each replica then takes the parts of its group's members. The members are in a constant table
 * with a row for each replica:
 *
 *   replica_groups [[0, 2], [1, 3]]: members [[0, 2], [1, 3], [0, 2], [1, 3]]
 *
 * There is one partition only, so a collective between partitions is between one. */
#include "models/inline.h"
#include "models/text.h"
#include "models/verify.h"

#include <inttypes.h>

typedef struct collective {
  module *m;
  const operation *op;
  int64_t replicas, size; /* of a group */
  int64_t *members;       /* [replicas, size] */
  int64_t *positions;     /* of each replica in its group; -1 for none */
  bool alike;             /* all replicas are one group */
  text to;
} collective;

#define FAIL_AT(...) return model_error(c->m, c->op->offset, __VA_ARGS__)

bool replicas_collective(op_code code)
{
  return code == OP_ALL_GATHER || code == OP_ALL_REDUCE || code == OP_ALL_TO_ALL ||
         code == OP_COLLECTIVE_BROADCAST || code == OP_COLLECTIVE_PERMUTE ||
         code == OP_REDUCE_SCATTER;
}

/* ---- groups ---- */

/* Is the collective between partitions? There is only one. */
static bool is_of_partitions(const operation *op)
{
  bool channel = dict_int(op_attribute(op, "channel_handle"), "handle", 0) > 0;
  return channel && (op->code == OP_ALL_TO_ALL || op->code == OP_COLLECTIVE_BROADCAST ||
                     op->code == OP_COLLECTIVE_PERMUTE);
}

/* Checks numbers of partitions. */
static pop_error *only_partition(collective *c, const int64_t *ids, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (ids[i] != 0)
      FAIL_AT("%s: there is no partition %" PRId64
              "; there is one, and replicas are numbered without "
              "a channel_handle",
              c->op->name, ids[i]);
  return NULL;
}

static void new_groups(collective *c, int64_t size)
{
  size_t n = (size_t)c->replicas;
  c->size = size;
  c->members = pop_arena_alloc(c->m->arena, (n * (size_t)size + 1) * sizeof *c->members);
  c->positions = pop_arena_alloc(c->m->arena, n * sizeof *c->positions);
  for (size_t i = 0; i < n * (size_t)size; ++i) c->members[i] = 0;
  for (size_t i = 0; i < n; ++i) c->positions[i] = -1;
}

/* Makes a row of replica_groups the members of each replica in it. */
static pop_error *take_row(collective *c, const int64_t *row)
{
  for (int64_t k = 0; k < c->size; ++k) {
    if (row[k] < 0 || row[k] >= c->replicas)
      FAIL_AT("%s: replica_groups has %" PRId64 "; there are replicas 0 to %" PRId64
              ", and groups are of the same size",
              c->op->name, row[k], c->replicas - 1);
    if (c->positions[row[k]] >= 0)
      FAIL_AT("%s: replica %" PRId64 " is twice in replica_groups", c->op->name, row[k]);
    c->positions[row[k]] = k;
    memcpy(&c->members[row[k] * c->size], row, (size_t)c->size * sizeof *row);
  }
  return NULL;
}

static pop_error *find_groups(collective *c)
{
  const attribute *a = op_attribute(c->op, "replica_groups");
  size_t count;
  const int64_t *ids = op_int_list(c->m, c->op, "replica_groups", &count);
  bool all = !a || count == 0;
  if (a && (a->kind != ATTRIBUTE_DENSE || a->type->rank != 2))
    FAIL_AT("%s: replica_groups is a matrix of numbers", c->op->name);
  if (is_of_partitions(c->op)) {
    POP_TRY(only_partition(c, ids, count));
    new_groups(c, 1);
    for (int64_t r = 0; r < c->replicas; ++r) POP_TRY(take_row(c, &r));
    return NULL;
  }
  new_groups(c, all ? c->replicas : a->type->dims[1]);
  if (all) {
    int64_t *row = pop_arena_alloc(c->m->arena, (size_t)c->replicas * sizeof *row);
    for (int64_t r = 0; r < c->replicas; ++r) row[r] = r;
    POP_TRY(take_row(c, row));
  }
  if (c->size == 0 || c->size > c->replicas)
    FAIL_AT("%s: groups of %" PRId64 " of %" PRId64 " replicas", c->op->name, c->size, c->replicas);
  for (size_t at = 0; at + (size_t)c->size <= count; at += (size_t)c->size)
    POP_TRY(take_row(c, ids + at));
  for (int64_t r = 0; r < c->replicas; ++r)
    if (c->positions[r] < 0 && c->op->code != OP_COLLECTIVE_BROADCAST)
      FAIL_AT("%s: replica %" PRId64 " is in no group", c->op->name, r);
  c->alike = c->size == c->replicas;
  return NULL;
}

/* The group of each replica is its sender. */
static pop_error *find_senders(collective *c)
{
  size_t count;
  const int64_t *pairs = op_int_list(c->m, c->op, "source_target_pairs", &count);
  new_groups(c, 1);
  if (is_of_partitions(c->op)) {
    POP_TRY(only_partition(c, pairs, count));
    for (int64_t r = 0; r < c->replicas; ++r) {
      bool itself = count >= 2;
      c->members[r] = r;
      c->positions[r] = itself ? 0 : -1;
    }
    return NULL;
  }
  for (size_t i = 0; i + 1 < count; i += 2) {
    int64_t from = pairs[i], to = pairs[i + 1];
    if (from < 0 || to < 0 || from >= c->replicas || to >= c->replicas)
      FAIL_AT("%s: from %" PRId64 " to %" PRId64 "; there are replicas 0 to %" PRId64, c->op->name,
              from, to, c->replicas - 1);
    if (c->positions[to] >= 0) FAIL_AT("%s: replica %" PRId64 " gets from two", c->op->name, to);
    c->members[to] = from;
    c->positions[to] = 0;
  }
  return NULL;
}

/* ---- text ---- */

#define ADD(...) text_add(&c->to, __VA_ARGS__)

static const char *type_of_dims(collective *c, const model_type *like, const int64_t *dims,
                                uint32_t rank)
{
  model_type t = *like;
  t.dims = (int64_t *)dims;
  t.rank = rank;
  return type_text(c->m->arena, &t);
}

/* The type with a new first dimension of size `first`. */
static const char *with_first(collective *c, const model_type *t, int64_t first)
{
  int64_t dims[MODEL_MAX_RANK + 1] = {first};
  memcpy(dims + 1, t->dims, t->rank * sizeof *dims);
  return type_of_dims(c, t, dims, t->rank + 1);
}

/* "%<name>0 = …", up to width - 1: this replica's row of a table with rows of `width` numbers. */
static void add_own(collective *c, const char *name, const int64_t *table, int64_t width)
{
  ADD("%%%s..table = stablehlo.constant dense<[", name);
  for (int64_t i = 0; i < c->replicas * width; ++i) ADD("%s%" PRId64, i ? ", " : "", table[i]);
  ADD("]> : tensor<%" PRId64 "xi32>\n", c->replicas * width);
  for (int64_t k = 0; k < width; ++k) {
    ADD("%%%s..k%" PRId64 " = stablehlo.constant dense<%" PRId64 "> : tensor<i32>\n", name, k, k);
    ADD("%%%s..w%" PRId64 " = stablehlo.constant dense<%" PRId64 "> : tensor<i32>\n", name, k,
        width);
    ADD("%%%s..r%" PRId64 " = stablehlo.multiply %%replica, %%%s..w%" PRId64 " : tensor<i32>\n",
        name, k, name, k);
    ADD("%%%s..i%" PRId64 " = stablehlo.add %%%s..r%" PRId64 ", %%%s..k%" PRId64 " : tensor<i32>\n",
        name, k, name, k, name, k);
    ADD("%%%s..e%" PRId64 " = \"stablehlo.dynamic_slice\"(%%%s..table, %%%s..i%" PRId64
        ") {slice_sizes = array<i64: 1>} : (tensor<%" PRId64
        "xi32>, tensor<i32>) -> tensor<1xi32>\n",
        name, k, name, name, k, c->replicas * width);
    ADD("%%%s%" PRId64 " = stablehlo.reshape %%%s..e%" PRId64 " : (tensor<1xi32>) -> tensor<i32>\n",
        name, k, name, k);
  }
}

/* "%v<operand>.<member> = %all<operand>[number of the member]"; `member` is the position in the
 * group. */
static void add_part_of_all(collective *c, const model_type *t, size_t operand, int64_t member)
{
  const char *all = with_first(c, t, c->replicas), *one = with_first(c, t, 1);
  const char *type = type_text(c->m->arena, t);
  if (c->alike) {
    const int64_t who = c->members[member]; /* the same for all replicas */
    ADD("%%part%zu.%" PRId64
        " = \"stablehlo.slice\"(%%all%zu) {start_indices = array<i64: %" PRId64,
        operand, member, operand, who);
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", 0");
    ADD(">, limit_indices = array<i64: %" PRId64, who + 1);
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", %" PRId64, t->dims[d]);
    ADD(">, strides = array<i64: 1");
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", 1");
    ADD(">} : (%s) -> %s\n", all, one);
  } else {
    ADD("%%part%zu.%" PRId64 " = \"stablehlo.dynamic_slice\"(%%all%zu, %%member%" PRId64, operand,
        member, operand, member);
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", %%zero");
    ADD(") {slice_sizes = array<i64: 1");
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", %" PRId64, t->dims[d]);
    ADD(">} : (%s, tensor<i32>", all);
    for (uint32_t d = 0; d < t->rank; ++d) ADD(", tensor<i32>");
    ADD(") -> %s\n", one);
  }
  ADD("%%v%zu.%" PRId64 " = stablehlo.reshape %%part%zu.%" PRId64 " : (%s) -> %s\n", operand,
      member, operand, member, one, type);
}

/* %v<operand>.0 …: the operands of the group's members. */
static void add_members(collective *c, size_t operand)
{
  const model_type *t = c->op->operands[operand]->type;
  ADD("%%all%zu = \"populus.everywhere\"(%%x%zu) : (%s) -> %s\n", operand, operand,
      type_text(c->m->arena, t), with_first(c, t, c->replicas));
  for (int64_t k = 0; k < c->size; ++k) add_part_of_all(c, t, operand, k);
}

/* "%<to> = %<from>[%<begin>, … + size)" along the dimension. */
static void add_range(collective *c, const char *to, const char *from, const char *begin,
                      const model_type *of, int64_t dimension, int64_t size)
{
  int64_t dims[MODEL_MAX_RANK];
  memcpy(dims, of->dims, of->rank * sizeof *dims);
  dims[dimension] = size;
  ADD("%%%s = \"stablehlo.dynamic_slice\"(%%%s", to, from);
  for (uint32_t d = 0; d < of->rank; ++d) ADD(", %%%s", d == dimension ? begin : "zero");
  ADD(") {slice_sizes = array<i64: ");
  for (uint32_t d = 0; d < of->rank; ++d) ADD("%s%" PRId64, d ? ", " : "", dims[d]);
  ADD(">} : (%s", type_text(c->m->arena, of));
  for (uint32_t d = 0; d < of->rank; ++d) ADD(", tensor<i32>");
  ADD(") -> %s\n", type_of_dims(c, of, dims, of->rank));
}

/* "%<to> = concatenate %<part>.0, %<part>.1, …" along the dimension. */
static void add_concatenate(collective *c, const char *to, const char *part, const model_type *of,
                            int64_t dimension)
{
  int64_t dims[MODEL_MAX_RANK];
  memcpy(dims, of->dims, of->rank * sizeof *dims);
  dims[dimension] *= c->size;
  ADD("%%%s = \"stablehlo.concatenate\"(", to);
  for (int64_t k = 0; k < c->size; ++k) ADD("%s%%%s.%" PRId64, k ? ", " : "", part, k);
  ADD(") {dimension = %" PRId64 " : i64} : (", dimension);
  for (int64_t k = 0; k < c->size; ++k) ADD("%s%s", k ? ", " : "", type_text(c->m->arena, of));
  ADD(") -> %s\n", type_of_dims(c, of, dims, of->rank));
}

/* ---- the operations ---- */

/* The region must be one operation on its two arguments; finds it. */
static pop_error *find_combination(collective *c, const operation **found)
{
  const block *b = c->op->num_regions == 1 ? &c->op->regions[0] : NULL;
  const operation *of = b ? b->first : NULL;
  bool good = b && b->num_arguments == 2 && of && of->next == b->last && of->num_operands == 2 &&
              of->num_results == 1 && op_infos[of->code].how == HOW_ELEMENT &&
              b->last->num_operands == 1 && b->last->operands[0] == of->results[0] &&
              type_equal(of->results[0]->type, b->arguments[0]->type);
  for (size_t i = 0; good && i < 2; ++i)
    good = of->operands[i] == b->arguments[0] || of->operands[i] == b->arguments[1];
  if (!good || of->operands[0] == of->operands[1])
    FAIL_AT("%s between replicas: a region of more than one operation is not supported",
            c->op->name);
  *found = of;
  return NULL;
}

static pop_error *add_reduction(collective *c, size_t operand, const char *to)
{
  const operation *of;
  POP_TRY(find_combination(c, &of));
  const char *type = type_text(c->m->arena, c->op->operands[operand]->type);
  const char *direction = op_word(of, "comparison_direction"), *comma = *direction ? ", " : "";
  bool turned = of->operands[0] == c->op->regions[0].arguments[1];
  for (int64_t k = 1; k < c->size; ++k) {
    const char *sum = k == 1 ? pop_arena_printf(c->m->arena, "v%zu.0", operand)
                             : pop_arena_printf(c->m->arena, "sum%zu.%" PRId64, operand, k - 1);
    const char *by = pop_arena_printf(c->m->arena, "v%zu.%" PRId64, operand, k);
    const char *name =
        k + 1 == c->size ? to : pop_arena_printf(c->m->arena, "sum%zu.%" PRId64, operand, k);
    ADD("%%%s = stablehlo.%s %s%s%%%s, %%%s : %s\n", name, op_infos[of->code].name, direction,
        comma, turned ? by : sum, turned ? sum : by, type);
  }
  if (c->size == 1) ADD("%%%s = stablehlo.optimization_barrier %%v%zu.0 : %s\n", to, operand, type);
  return NULL;
}

static pop_error *want_dimension_of(collective *c, size_t operand, int64_t d, int64_t parts)
{
  const model_type *t = c->op->operands[operand]->type;
  if (d < 0 || d >= t->rank || t->dims[d] % parts)
    FAIL_AT("%s: dimension %" PRId64 " cannot be divided by %" PRId64, c->op->name, d, parts);
  return NULL;
}

/* The sender's value, or zeros in replicas without a sender. */
static void add_received(collective *c, size_t operand, const char *to)
{
  const model_type *t = c->op->operands[operand]->type;
  const char *type = type_text(c->m->arena, t), *zero = "0";
  int64_t *there = pop_arena_alloc(c->m->arena, (size_t)c->replicas * sizeof *there);
  bool all = true;
  for (int64_t r = 0; r < c->replicas; ++r) {
    there[r] = c->positions[r] >= 0;
    all = all && there[r];
  }
  if (all) {
    ADD("%%%s = stablehlo.optimization_barrier %%v%zu.0 : %s\n", to, operand, type);
    return;
  }
  if (t->element == ELEMENT_I1) zero = "false";
  if (t->element == ELEMENT_C64) zero = "(0.0, 0.0)";
  if (element_is_float(t->element)) zero = "0.0";
  const char *name = pop_arena_printf(c->m->arena, "there%zu.", operand);
  add_own(c, name, there, 1);
  ADD("%%has%zu = stablehlo.convert %%%s0 : (tensor<i32>) -> tensor<i1>\n", operand, name);
  ADD("%%none%zu = stablehlo.constant dense<%s> : %s\n", operand, zero, type);
  ADD("%%%s = \"stablehlo.select\"(%%has%zu, %%v%zu.0, %%none%zu) : (tensor<i1>, %s, %s) -> %s\n",
      to, operand, operand, operand, type, type, type);
}

static void add_starts(collective *c, const char *name, int64_t each)
{
  int64_t *starts = pop_arena_alloc(c->m->arena, (size_t)c->replicas * sizeof *starts);
  for (int64_t r = 0; r < c->replicas; ++r) starts[r] = c->positions[r] * each;
  add_own(c, name, starts, 1);
}

static pop_error *add_operand(collective *c, size_t i)
{
  const operation *op = c->op;
  const model_type *t = op->operands[i]->type;
  char *y = pop_arena_printf(c->m->arena, "y%zu", i), *v = pop_arena_printf(c->m->arena, "v%zu", i);
  char *start = pop_arena_printf(c->m->arena, "start%zu.", i);
  char *begin = pop_arena_printf(c->m->arena, "%s0", start);
  int64_t d;
  add_members(c, i);
  switch (op->code) {
  case OP_ALL_REDUCE:
    return add_reduction(c, i, y);
  case OP_ALL_GATHER:
    d = op_int(op, "all_gather_dim", -1);
    POP_TRY(want_dimension_of(c, i, d, 1));
    add_concatenate(c, y, v, t, d);
    return NULL;
  case OP_REDUCE_SCATTER: {
    d = op_int(op, "scatter_dimension", -1);
    char *sum = pop_arena_printf(c->m->arena, "sum%zu", i);
    POP_TRY(want_dimension_of(c, i, d, c->size));
    POP_TRY(add_reduction(c, i, sum));
    add_starts(c, start, t->dims[d] / c->size);
    add_range(c, y, sum, begin, t, d, t->dims[d] / c->size);
    return NULL;
  }
  case OP_ALL_TO_ALL: {
    d = op_int(op, "split_dimension", -1);
    int64_t count = op_int(op, "split_count", c->m->places ? c->size : 0); /* HLO text has none */
    if (count != c->size)
      FAIL_AT("%s: split_count is %" PRId64 ", a group has %" PRId64 " replicas", op->name, count,
              c->size);
    POP_TRY(want_dimension_of(c, i, d, c->size));
    int64_t concat = op_int(op, "concat_dimension", -1), dims[MODEL_MAX_RANK];
    POP_TRY(want_dimension_of(c, i, concat, 1));
    add_starts(c, start, t->dims[d] / c->size);
    for (int64_t k = 0; k < c->size; ++k)
      add_range(c, pop_arena_printf(c->m->arena, "cut%zu.%" PRId64, i, k),
                pop_arena_printf(c->m->arena, "%s.%" PRId64, v, k), begin, t, d,
                t->dims[d] / c->size);
    model_type cut = *t;
    memcpy(dims, t->dims, t->rank * sizeof *dims);
    dims[d] /= c->size;
    cut.dims = dims;
    add_concatenate(c, y, pop_arena_printf(c->m->arena, "cut%zu", i), &cut, concat);
    return NULL;
  }
  default: /* from one sender */
    add_received(c, i, y);
    return NULL;
  }
}

/* The result must have the type that the operation declares. */
static pop_error *check_result(collective *c, size_t i)
{
  const operation *op = c->op;
  model_type t = *op->operands[i]->type;
  int64_t dims[MODEL_MAX_RANK];
  memcpy(dims, t.dims, t.rank * sizeof *dims);
  t.dims = dims;
  if (op->code == OP_ALL_GATHER) dims[op_int(op, "all_gather_dim", 0)] *= c->size;
  if (op->code == OP_REDUCE_SCATTER) dims[op_int(op, "scatter_dimension", 0)] /= c->size;
  if (op->code == OP_ALL_TO_ALL) dims[op_int(op, "split_dimension", 0)] /= c->size;
  if (op->code == OP_ALL_TO_ALL) dims[op_int(op, "concat_dimension", 0)] *= c->size;
  if (type_equal(&t, op->results[i]->type)) return NULL;
  FAIL_AT("result %zu of %s is %s, not %s", i, op->name, type_text(c->m->arena, &t),
          type_text(c->m->arena, op->results[i]->type));
}

static void add_types(collective *c, value *const *values, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    ADD("%s%s", i ? ", " : "", type_text(c->m->arena, values[i]->type));
}

static pop_error *check(collective *c)
{
  const operation *op = c->op;
  if (op->num_results != op->num_operands || op_flag(op, "has_dynamic_root", false))
    FAIL_AT("%s between replicas: other than as many results as operands, and a root that is an "
            "operand, are not supported",
            op->name);
  for (size_t i = 0; i < op->num_operands; ++i)
    if (op->operands[i]->type->kind != TYPE_TENSOR || op->operands[i]->type->dynamic ||
        op->operands[i]->type->unsupported || op->operands[i]->type->rank == MODEL_MAX_RANK)
      FAIL_AT("%s: operand %zu is no tensor of a static shape and less than %d dimensions",
              op->name, i, MODEL_MAX_RANK);
  return NULL;
}

pop_error *replicas_expand(module *m, const operation *op, char **function)
{
  collective all = {.m = m, .op = op, .replicas = m->replicas}, *c = &all;
  POP_TRY(check(c));
  POP_TRY(op->code == OP_COLLECTIVE_PERMUTE ? find_senders(c) : find_groups(c));
  ADD("func.func private @f(");
  for (size_t i = 0; i < op->num_operands; ++i)
    ADD("%s%%x%zu: %s", i ? ", " : "", i, type_text(m->arena, op->operands[i]->type));
  ADD(") -> (");
  add_types(c, op->results, op->num_results);
  ADD(") {\n%%id = stablehlo.replica_id : tensor<ui32>\n"
      "%%replica = stablehlo.convert %%id : (tensor<ui32>) -> tensor<i32>\n"
      "%%zero = stablehlo.constant dense<0> : tensor<i32>\n");
  if (!c->alike) add_own(c, "member", c->members, c->size);
  pop_error *error = NULL;
  for (size_t i = 0; i < op->num_operands && !error; ++i) {
    error = add_operand(c, i);
    if (!error) error = check_result(c, i);
  }
  ADD("return ");
  for (size_t i = 0; i < op->num_operands; ++i) ADD("%s%%y%zu", i ? ", " : "", i);
  ADD(" : ");
  add_types(c, op->results, op->num_results);
  ADD("\n}\n");
  *function = error ? NULL : pop_arena_strdup(m->arena, all.to.data);
  text_free(&all.to);
  return error;
}
