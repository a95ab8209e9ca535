/* Instructions whose form in StableHLO is another one.
 *
 *   x-start, x-update, x-done              x, done completely at x-start: nothing is asynchronous here
 *   all-to-all of several operands         an all_to_all of their concatenation
 *   dynamic-slice with a list of indices   one with an operand for each index
 *   rng-get-and-update-state               a read and an update of the state that the engine keeps
 */
#include "models/hlo_translate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(t->h->m->arena, __VA_ARGS__)

static bool ends_in(const char *opcode, const char *end)
{
  size_t n = strlen(opcode), m = strlen(end);
  return n > m && strcmp(opcode + n - m, end) == 0;
}

/* ---- asynchronous ones ---- */

/* Which member of a start's type is the result; -1: all of it. The type is the result's, or a tuple
 * of operands, result, and values that only its done uses. For a copy, the result comes first. */
static int64_t result_member(const hlo_instruction *i)
{
  if (strcmp(i->opcode, "all-reduce-start") == 0) return -1;
  return strcmp(i->opcode, "copy-start") == 0 ? 0 : 1;
}

static size_t first_leaf(const hlo_type *t, int64_t member)
{
  size_t first = 0;
  for (int64_t k = 0; k < member; ++k) first += hlo_num_leaves(&t->members[k]);
  return first;
}

/* The synchronous instruction. An async-start calls a computation; the names of others say what
 * they do. */
static hlo_instruction *started(translation *t, const hlo_instruction *i, const hlo_type *type)
{
  hlo_instruction *one = pop_arena_alloc(t->h->m->arena, sizeof *one);
  *one = *i;
  one->type = *type;
  if (strcmp(i->opcode, "copy-start") == 0)
    one->opcode = "copy";
  else if (hlo_attribute_value(i, "calls"))
    one->opcode = "fusion";
  else
    one->opcode = PRINT("%.*s", (int)(strlen(i->opcode) - strlen("-start")), i->opcode);
  return one;
}

/* The leaves are those of the operands and of the result. The remaining ones are numbers without a
 * meaning here. */
static pop_error *write_start(translation *t, hlo_computation *c, hlo_instruction *i)
{
  int64_t member = result_member(i);
  if (member >= 0 && (!i->type.tuple || i->type.num_members < 2))
    return hlo_error(t->h, i, "%s has a tuple of operands and results", i->opcode);
  hlo_instruction *one = started(t, i, member < 0 ? &i->type : &i->type.members[member]);
  POP_TRY(hlo_write_instruction(t, c, one));
  if (member < 0) return hlo_alias(t, i, one, 0), NULL;
  size_t count = hlo_num_leaves(&i->type), at = 0;
  size_t first = first_leaf(&i->type, member), results = hlo_num_leaves(&one->type);
  i->leaves = pop_arena_alloc(t->h->m->arena, (count + 1) * sizeof *i->leaves);
  for (size_t k = 0; k < results; ++k) i->leaves[first + k] = one->leaves[k];
  at = member == 0 ? results : 0;
  for (size_t k = 0; k < i->num_operands; ++k)
    for (size_t n = 0; n < hlo_num_leaves(&i->operands[k]->type); ++n) {
      if (at == count || (at >= first && at < first + results))
        return hlo_error(t->h, i, "%s: its type does not begin with those of the operands",
                         i->opcode);
      i->leaves[at++] = i->operands[k]->leaves[n];
    }
  if (member > 0 && at != first)
    return hlo_error(t->h, i, "%s: its type does not begin with those of the operands", i->opcode);
  for (size_t k = member == 0 ? at : first + results; k < count; ++k) {
    const char *name = PRINT("%s..more%zu", hlo_unique_name(t, c, i), k);
    text_add(t->to, "%s = stablehlo.constant dense<0> : %s\n", name,
             hlo_type_text(t->h, hlo_leaf(&i->type, k)));
    i->leaves[k] = (char *)name;
  }
  return NULL;
}

/* Follows updates back to the start. */
static const hlo_instruction *start_of(const hlo_instruction *i)
{
  while (i->num_operands == 1 && ends_in(i->opcode, "-update")) i = i->operands[0];
  return ends_in(i->opcode, "-start") ? i : NULL;
}

static pop_error *write_done(translation *t, hlo_instruction *i)
{
  const hlo_instruction *start = i->num_operands == 1 ? start_of(i->operands[0]) : NULL;
  if (!start) return hlo_error(t->h, i, "%s takes what has been started", i->opcode);
  int64_t member = result_member(start);
  const hlo_type *type = member < 0 ? &start->type : &start->type.members[member];
  if (hlo_num_leaves(type) != hlo_num_leaves(&i->type))
    return hlo_error(t->h, i, "%s has not the type of what has been started", i->opcode);
  hlo_alias(t, i, i->operands[0], member < 0 ? 0 : first_leaf(&start->type, member));
  return NULL;
}

static pop_error *write_update(translation *t, hlo_instruction *i)
{
  if (i->num_operands != 1 || !start_of(i->operands[0]) ||
      hlo_num_leaves(&i->type) != hlo_num_leaves(&i->operands[0]->type))
    return hlo_error(t->h, i, "%s takes what has been started", i->opcode);
  hlo_alias(t, i, i->operands[0], 0);
  return NULL;
}

/* ---- all-to-all ---- */

/* "%x..all" is the concatenation of all operands, reshaped to [1, …]. Its all_to_all is cut into
 * %x..0, … */
static pop_error *write_all_to_all(translation *t, hlo_computation *c, hlo_instruction *i)
{
  size_t n = i->num_operands;
  const char *name = hlo_unique_name(t, c, i), *one = hlo_type_text(t->h, &i->operands[0]->type);
  hlo_type line = {.element = i->operands[0]->type.element, .rank = i->operands[0]->type.rank + 1};
  char *groups = NULL, *lines = PRINT("%s", ""), *types = PRINT("%s", "");
  if (hlo_num_leaves(&i->type) != n || line.rank > MODEL_MAX_RANK)
    return hlo_error(t->h, i, "all-to-all has a result for each operand");
  for (size_t k = 0; k < n; ++k)
    if (i->operands[k]->type.tuple ||
        strcmp(hlo_type_text(t->h, &i->operands[k]->type), one) != 0 ||
        strcmp(hlo_type_text(t->h, hlo_leaf(&i->type, k)), one) != 0)
      return hlo_error(t->h, i, "all-to-all of operands of different types is not supported");
  POP_TRY(hlo_groups(t->h, i, "replica_groups", &groups));
  memcpy(line.dims + 1, i->operands[0]->type.dims, (line.rank - 1) * sizeof *line.dims);
  line.dims[0] = 1;
  const char *l = hlo_type_text(t->h, &line);
  line.dims[0] = (int64_t)n;
  const char *all = hlo_type_text(t->h, &line);
  for (size_t k = 0; k < n; ++k) {
    text_add(t->to, "%s..in%zu = stablehlo.reshape %s : (%s) -> %s\n", name, k,
             i->operands[k]->leaves[0], one, l);
    lines = PRINT("%s%s%s..in%zu", lines, k ? ", " : "", name, k);
    types = PRINT("%s%s%s", types, k ? ", " : "", l);
  }
  text_add(t->to,
           "%s..all = stablehlo.concatenate %s, dim = 0 : (%s) -> %s\n"
           "%s..new = \"stablehlo.all_to_all\"(%s..all) {split_dimension = 0 : i64, "
           "concat_dimension = 0 : i64, split_count = %zu : i64%s%s} : (%s) -> %s\n",
           name, lines, types, all, name, name, n, groups ? ", " : "", groups ? groups : "", all,
           all);
  i->leaves = pop_arena_alloc(t->h->m->arena, (n + 1) * sizeof *i->leaves);
  for (size_t k = 0; k < n; ++k) {
    i->leaves[k] = PRINT("%s..%zu", name, k);
    text_add(t->to, "%s..out%zu = stablehlo.slice %s..new [%zu:%zu", name, k, name, k, k + 1);
    for (uint32_t d = 1; d < line.rank; ++d) text_add(t->to, ", 0:%" PRId64, line.dims[d]);
    text_add(t->to, "] : (%s) -> %s\n%s = stablehlo.reshape %s..out%zu : (%s) -> %s\n", all, l,
             i->leaves[k], name, k, l, one);
  }
  return NULL;
}

/* ---- dynamic slices ---- */

/* The operand after the tensors is a list of indices. It is replaced by one operand for each
 * element. */
static pop_error *write_dynamic(translation *t, hlo_computation *c, hlo_instruction *i)
{
  size_t tensors = i->num_operands - 1;
  const hlo_instruction *list = i->operands[tensors];
  int64_t count = list->type.dims[0];
  const char *name = hlo_unique_name(t, c, i), *l = hlo_type_text(t->h, &list->type);
  hlo_instruction *one = pop_arena_alloc(t->h->m->arena, sizeof *one);
  if (i->operands[0]->type.tuple || count != i->operands[0]->type.rank)
    return hlo_error(t->h, i, "%s has an index for each dimension", i->opcode);
  *one = *i;
  one->num_operands = tensors + (size_t)count;
  one->operands = pop_arena_alloc(t->h->m->arena, (one->num_operands + 1) * sizeof *one->operands);
  memcpy(one->operands, i->operands, tensors * sizeof *one->operands);
  for (int64_t k = 0; k < count; ++k) {
    hlo_instruction *index = pop_arena_alloc(t->h->m->arena, sizeof *index);
    *index = (hlo_instruction){.type = {.element = list->type.element}};
    const char *scalar = hlo_type_text(t->h, &index->type), *e = list->type.element;
    text_add(t->to,
             "%s..at%" PRId64 " = stablehlo.slice %s [%" PRId64 ":%" PRId64
             "] : (%s) -> tensor<1x%s>\n%s..index%" PRId64 " = stablehlo.reshape %s..at%" PRId64
             " : (tensor<1x%s>) -> %s\n",
             name, k, list->leaves[0], k, k + 1, l, e, name, k, name, k, e, scalar);
    hlo_set_leaves(t, index, PRINT("%s..index%" PRId64, name, k));
    one->operands[tensors + (size_t)k] = index;
  }
  POP_TRY(hlo_write_operation(t, c, one));
  i->leaves = one->leaves;
  return NULL;
}

static bool has_list_of_indices(const hlo_instruction *i)
{
  size_t tensors = strcmp(i->opcode, "dynamic-slice") == 0          ? 1
                   : strcmp(i->opcode, "dynamic-update-slice") == 0 ? 2
                                                                    : SIZE_MAX;
  if (tensors == SIZE_MAX || i->num_operands != tensors + 1) return false;
  const hlo_type *type = &i->operands[tensors]->type;
  return !type->tuple && type->rank == 1;
}

/* ---- random numbers ---- */

/* The state is a counter, which grows by `delta` at each execution, and a key. Each instruction has
 * a key of its own, so all have different streams. The key is the second word of u64[2], or the
 * upper bits of u64[1]. */
static pop_error *write_state(translation *t, const hlo_computation *c, hlo_instruction *i)
{
  const char *delta = hlo_attribute_value(i, "delta"), *name = hlo_unique_name(t, c, i);
  bool both = i->type.rank == 1 && i->type.dims[0] == 2;
  if (i->type.tuple || strcmp(i->type.element, "ui64") != 0 || i->type.rank != 1 ||
      (!both && i->type.dims[0] != 1))
    return hlo_error(t->h, i, "%s is u64[2] or u64[1]", i->opcode);
  text *to = t->to;
  const char *n = name, *one = "tensor<1xui64>";
  text_add(to, "%s..old = populus.rng_state : tensor<2xui64>\n", n);
  for (int k = 0; k < 2; ++k)
    text_add(to, "%s..%s = stablehlo.slice %s..old [%d:%d] : (tensor<2xui64>) -> %s\n", n,
             k ? "count" : "key", n, k, k + 1, one);
  text_add(to, "%s..delta = stablehlo.constant dense<%" PRIu64 "> : %s\n", n,
           (uint64_t)(delta ? strtoull(delta, NULL, 10) : 0), one);
  text_add(to, "%s..sum = stablehlo.add %s..count, %s..delta : %s\n", n, n, n, one);
  text_add(to,
           "%s..new = stablehlo.concatenate %s..key, %s..sum, dim = 0 : (%s, %s) -> "
           "tensor<2xui64>\npopulus.rng_keep %s..old, %s..new : tensor<2xui64>, tensor<2xui64>\n",
           n, n, n, one, one, n, n);
  /* The old counter, from the new one: it has been overwritten. */
  text_add(to, "%s..first = stablehlo.subtract %s..sum, %s..delta : %s\n", n, n, n, one);
  if (both)
    text_add(to, "%s = stablehlo.concatenate %s..first, %s..key, dim = 0 : (%s, %s) -> %s\n", n, n,
             n, one, one, hlo_type_text(t->h, &i->type));
  else
    text_add(to,
             "%s..up = stablehlo.constant dense<40> : %s\n"
             "%s..high = stablehlo.shift_left %s..key, %s..up : %s\n"
             "%s = stablehlo.or %s..first, %s..high : %s\n",
             n, one, n, n, n, one, n, n, n, one);
  hlo_set_leaves(t, i, name);
  return NULL;
}

pop_error *hlo_write_form(translation *t, hlo_computation *c, hlo_instruction *i, bool *written)
{
  *written = true;
  if (strncmp(i->opcode, "send", 4) == 0 || strncmp(i->opcode, "recv", 4) == 0) {
    *written = false;
    return NULL;
  }
  if (ends_in(i->opcode, "-start")) return write_start(t, c, i);
  if (ends_in(i->opcode, "-update")) return write_update(t, i);
  if (ends_in(i->opcode, "-done")) return write_done(t, i);
  if (strcmp(i->opcode, "all-to-all") == 0 && i->type.tuple && i->num_operands)
    return write_all_to_all(t, c, i);
  if (has_list_of_indices(i)) return write_dynamic(t, c, i);
  if (strcmp(i->opcode, "rng-get-and-update-state") == 0) return write_state(t, c, i);
  *written = false;
  return NULL;
}
