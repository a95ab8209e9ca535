/* Operations in both forms, with their blocks and regions.
 *
 * The types after an operation must be those of its operands. What an operation requires of them is
 * checked by verify.c. */
#include "models/reader.h"

#include <stdlib.h>
#include <string.h>

value *new_value(reader *r, const model_type *type, operation *op)
{
  value *v = pop_arena_alloc(r->arena, sizeof *v);
  v->type = type;
  v->op = op;
  return v;
}

typedef struct value_list {
  value **values;
  size_t count, capacity;
} value_list;

bool add_operand(reader *r, operation *op)
{
  value *v = NULL;
  if (!reader_use(r, &v)) return false;
  /* The room is doubled, since there may be many operands. */
  size_t n = op->num_operands;
  if ((n & (n - 1)) == 0) {
    value **more = pop_arena_alloc(r->arena, (n ? 2 * n : 1) * sizeof *more);
    if (n) memcpy(more, op->operands, n * sizeof *more);
    op->operands = more;
  }
  op->operands[op->num_operands++] = v;
  return true;
}

bool read_check_type(reader *r, const operation *op, const value *v, const model_type *type,
                     uint32_t offset)
{
  bool supported;
  if (type_equal(type, v->type)) return true;
  if (v->op && !r->error) r->error = module_verify_op(r->m, v->op, &supported);
  return reader_fail_at(r, offset, "operand %s of %s is %s, not %s", v->name, op->name,
                        type_text(r->arena, v->type), type_text(r->arena, type));
}

/* "(a, b) -> c": operands must have the types that are written. */
static bool check_operand_types(reader *r, const operation *op, const model_type **types,
                                size_t count, uint32_t offset)
{
  if (count != op->num_operands)
    return reader_fail_at(r, offset, "%s has %zu operands, and types of %zu", op->name,
                          op->num_operands, count);
  for (size_t i = 0; i < count; ++i)
    if (!read_check_type(r, op, op->operands[i], types[i], types[i]->offset)) return false;
  return true;
}

/* "%p, %a, %b : t, u" of a select, "%a, %b : t" of others: the last type is that of all remaining
 * operands. */
static bool check_last_types(reader *r, const operation *op, const model_type **types, size_t count)
{
  for (size_t i = 0; i < op->num_operands; ++i) {
    const model_type *type = types[i < count ? i : count - 1];
    if (!read_check_type(r, op, op->operands[i], type, type->offset)) return false;
  }
  return true;
}

/* Behind ':'. */
static bool read_op_types(reader *r, operation *op, bool generic, const model_type ***results,
                          size_t *num_results)
{
  const model_type **types;
  size_t count;
  uint32_t offset = reader_offset(r);
  bool list = reader_is(r, "(");
  if (!read_type_list(r, &types, &count)) return false;
  if (!list) { /* a, b, c */
    const model_type **all = pop_arena_alloc(r->arena, (count + 1) * sizeof *all);
    all[0] = types[0];
    size_t room = 1;
    while (reader_take(r, ",")) {
      if (count == room) {
        const model_type **more = pop_arena_alloc(r->arena, 2 * room * sizeof *more);
        memcpy(more, all, room * sizeof *more);
        all = more;
        room *= 2;
      }
      if (!read_type(r, &all[count])) return false;
      count++;
    }
    types = all;
  }
  if (reader_take(r, "->"))
    return (list || count == op->num_operands ? check_operand_types(r, op, types, count, offset)
                                              : true) &&
           read_type_list(r, results, num_results);
  if (generic || list) return reader_fail(r, "'->' is expected behind the operands' types");
  if (op->code == OP_RETURN || op->code == OP_RNG_KEEP)
    return *num_results = 0, check_operand_types(r, op, types, count, offset);
  if (op->code == OP_EXPECT_EQ || op->code == OP_EXPECT_ALMOST_EQ || op->code == OP_EXPECT_CLOSE) {
    *num_results = 0;
    return true;
  }
  if (op_infos[op->code].how == HOW_ELEMENT && op->code != OP_COMPLEX && count <= 2 &&
      !check_last_types(r, op, types, count))
    return false;
  bool each = op->code == OP_WHILE || op->code == OP_OPTIMIZATION_BARRIER;
  if (each && !check_operand_types(r, op, types, count, offset)) return false;
  *results = each ? types : types + count - 1;
  *num_results = each ? count : 1;
  return true;
}

bool read_generic(reader *r, operation *op, const model_type ***results, size_t *num_results)
{
  if (!reader_expect(r, "(")) return false;
  if (!reader_is(r, ")")) do {
      if (!add_operand(r, op)) return false;
    } while (reader_take(r, ","));
  if (!reader_expect(r, ")")) return false;
  if (reader_is(r, "[")) return reader_fail(r, "operations with successors are not supported");
  if (reader_take(r, "<")) {
    if (!read_dictionary(r, &op->attributes, &op->num_attributes) || !reader_expect(r, ">") ||
        !read_check_properties(r, op))
      return false;
  }
  if (reader_take(r, "(")) {
    block regions[64];
    size_t count = 0;
    do {
      if (count == 64) return reader_fail(r, "an operation has at most 64 regions");
      if (!read_region(r, &regions[count++], NULL, 0)) return false;
    } while (reader_take(r, ","));
    op->regions = pop_arena_alloc(r->arena, count * sizeof *regions);
    memcpy(op->regions, regions, count * sizeof *regions);
    op->num_regions = count;
    if (!reader_expect(r, ")")) return false;
  }
  if (reader_is(r, "{") && !read_dictionary(r, &op->attributes, &op->num_attributes)) return false;
  return reader_expect(r, ":") && read_op_types(r, op, true, results, num_results);
}

/* "stablehlo.add" is an add. Calls and returns may have no dialect. */
static op_code code_of(const char *name)
{
  if (strcmp(name, "sdy.sharding_constraint") == 0 || strcmp(name, "sdy.reshard") == 0)
    return OP_OPTIMIZATION_BARRIER;
  if (strcmp(name, "sdy.manual_computation") == 0) return OP_MANUAL_COMPUTATION;
  if (strcmp(name, "sdy.constant") == 0 || strcmp(name, "arith.constant") == 0) return OP_CONSTANT;
  if (strncmp(name, "chlo.broadcast_", strlen("chlo.broadcast_")) == 0) return OP_BROADCASTING;
  if (strcmp(name, "mhlo.topk") == 0) return OP_TOP_K;
  static const char *const dialects[] = {"stablehlo.", "mhlo.",        "chlo.",
                                         "check.",     "interpreter.", "populus."};
  if (strcmp(name, "func.return") == 0 || strcmp(name, "sdy.return") == 0 ||
      strcmp(name, "return") == 0)
    return OP_RETURN;
  if (strcmp(name, "func.call") == 0 || strcmp(name, "call") == 0) return OP_CALL;
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
    if (strncmp(name, dialects[i], strlen(dialects[i])) == 0)
      return op_find(name + strlen(dialects[i]));
  return OP_COUNT;
}

/* Annotations for distribution over devices, or for memory elsewhere. Here the operand is the
 * result. */
static bool is_annotation(const char *target)
{
  static const char *const targets[] = {"LayoutConstraint",
                                        "MoveToDevice",
                                        "MoveToHost",
                                        "PinToDevice",
                                        "PinToHost",
                                        "SPMDFullToShardShape",
                                        "SPMDShardToFullShape",
                                        "Sharding",
                                        "annotate_device_placement",
                                        "xla.sdy.FuncResultSharding",
                                        "xla.sdy.GlobalToLocalShape",
                                        "xla.sdy.LocalToGlobalShape",
                                        "xla.sdy.PropagationBarrier"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i)
    if (strcmp(targets[i], target) == 0) return true;
  return false;
}

/* Custom calls that are operations by another name. */
static op_code code_of_custom_call(const operation *op, const model_type *const *types,
                                   size_t num_types)
{
  const char *target = op_word(op, "call_target_name");
  if (strncmp(target, "check.", 6) == 0) return code_of(target);
  if (strncmp(target, "mhlo.", 5) == 0) { /* mhlo.erf, mhlo.acos */
    op_code code = code_of(target);
    if (op_infos[code].how == HOW_ELEMENT || code == OP_TOP_K) return code;
  }
  bool same = op->num_operands == num_types; /* otherwise the result is a shard of the operand */
  for (size_t i = 0; i < num_types && same; ++i) same = type_equal(types[i], op->operands[i]->type);
  return same && is_annotation(target) ? OP_OPTIMIZATION_BARRIER : OP_CUSTOM_CALL;
}

/* Such an operation has its attributes in a dictionary: k and largest of a top_k. */
static void resolve_custom_call(reader *r, operation *op, const model_type *const *types,
                                size_t num_types)
{
  const attribute *own = op_attribute(op, "mhlo.attributes");
  op->code = code_of_custom_call(op, types, num_types);
  if (op->code == OP_CUSTOM_CALL || !own || own->kind != ATTRIBUTE_DICT) return;
  for (size_t i = 0; i < own->num_items; ++i) add_attribute(r, op, own->items[i]);
}

typedef struct result_names {
  char *name;
  uint32_t offset;
  size_t count;
} result_names;

/* "%0:2, %a = " */
static bool read_result_names(reader *r, result_names **names, size_t *count, size_t *total)
{
  size_t capacity = 0;
  do {
    if (r->token.kind != TOKEN_VALUE) return reader_fail(r, "the name of a result is expected");
    result_names n = {reader_text(r), reader_offset(r), 1};
    reader_advance(r);
    int64_t many = 0;
    if (reader_take(r, ":")) {
      if (!reader_integer(r, &many)) return false;
      if (many < 1 || many > 100000)
        return reader_fail_at(r, n.offset, "%s cannot have %lld results", n.name, (long long)many);
      n.count = (size_t)many;
    }
    *total += n.count;
    pop_push(*names, *count, capacity, n);
  } while (reader_take(r, ","));
  return reader_expect(r, "=");
}

static bool define_results(reader *r, operation *op, const model_type **types, size_t num_types,
                           const result_names *names, size_t count, size_t total)
{
  op->results = pop_arena_alloc(r->arena, (num_types + 1) * sizeof *op->results);
  op->num_results = num_types;
  for (size_t i = 0; i < num_types; ++i) op->results[i] = new_value(r, types[i], op);
  if (count && total != num_types && op->code == OP_COUNT)
    return reader_fail_at(r, op->offset, "%s is not supported", op->name);
  if (count && total != num_types)
    return reader_fail_at(r, names[0].offset, "%s has %zu results, not %zu", op->name, num_types,
                          total);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!reader_define(r, names[i].name, names[i].offset, op->results + at, names[i].count))
      return false;
    at += names[i].count;
  }
  return true;
}

static bool read_op_inside(reader *r, operation *op, const model_type ***types, size_t *num_types)
{
  op->offset = reader_offset(r);
  if (r->token.kind == TOKEN_STRING) {
    char *name = reader_text(r);
    name[strlen(name) - 1] = '\0';
    op->name = name + 1;
    op->code = code_of(op->name);
    reader_advance(r);
    return read_generic(r, op, types, num_types);
  }
  if (r->token.kind == TOKEN_END)
    return reader_fail(r, "'}' is expected, and this is the end of the text");
  if (r->token.kind != TOKEN_NAME) return reader_fail(r, "an operation is expected");
  op->name = reader_text(r);
  op->code = code_of(op->name);
  reader_advance(r);
  if (op->code == OP_COUNT && !strchr(op->name, '.'))
    return reader_fail_at(r, op->offset, "an operation is expected, not '%s'", op->name);
  bool typed = read_form(r, op, types, num_types);
  if (r->error) return false;
  if (typed) return true;
  /* Types are optional if there are none to write. */
  if (reader_take(r, ":")) return read_op_types(r, op, false, types, num_types);
  return op->num_operands && op->code == OP_RETURN
             ? reader_fail(r, "':' and the operands' types are expected")
             : true;
}

static bool read_op(reader *r, operation **result)
{
  operation *op = pop_arena_alloc(r->arena, sizeof *op);
  result_names *names = NULL;
  size_t count = 0, total = 0, num_types = 0;
  const model_type **types = NULL;
  *result = op;
  bool good = r->token.kind != TOKEN_VALUE || read_result_names(r, &names, &count, &total);
  good = good && read_op_inside(r, op, &types, &num_types) && read_check_required(r, op);
  if (good && op->code == OP_CUSTOM_CALL) resolve_custom_call(r, op, types, num_types);
  good = good && define_results(r, op, types, num_types, names, count, total);
  free(names);
  return good && reader_skip_location(r);
}

/* ---- blocks ---- */

bool read_block_arguments(reader *r, block *b)
{
  value_list list = {0};
  bool good = true;
  if (!reader_is(r, ")")) do {
      if (r->token.kind != TOKEN_VALUE) {
        good = reader_fail(r, "the name of an argument is expected");
        break;
      }
      char *name = reader_text(r);
      uint32_t offset = reader_offset(r);
      const model_type *type;
      reader_advance(r);
      good = reader_expect(r, ":") && read_type(r, &type);
      attribute *ignored = NULL;
      size_t num_ignored = 0;
      if (good && reader_is(r, "{")) good = read_dictionary(r, &ignored, &num_ignored);
      good = good && reader_skip_location(r);
      if (!good) break;
      value *v = new_value(r, type, NULL);
      value **one = pop_arena_alloc(r->arena, sizeof *one);
      one[0] = v;
      good = reader_define(r, name, offset, one, 1);
      pop_push(list.values, list.count, list.capacity, v);
    } while (good && reader_take(r, ","));
  b->arguments = pop_arena_alloc(r->arena, (list.count + 1) * sizeof *b->arguments);
  if (list.count) memcpy(b->arguments, list.values, list.count * sizeof *b->arguments);
  b->num_arguments = list.count;
  free(list.values);
  return good && reader_expect(r, ")");
}

static bool read_block_ops(reader *r, block *b)
{
  while (!reader_is(r, "}")) {
    if (r->token.kind == TOKEN_BLOCK)
      return reader_fail(r, "regions of several blocks are not supported");
    if (b->last && b->last->code == OP_RETURN)
      return reader_fail(r, "there is an operation behind the block's return");
    operation *op;
    if (!read_op(r, &op)) return false;
    if (b->last)
      b->last->next = op;
    else
      b->first = op;
    b->last = op;
  }
  if (!b->last || b->last->code != OP_RETURN)
    return reader_fail(r, "the block does not end in a return");
  return true;
}

/* "{ … }"; its arguments may have been read already. */
bool read_region(reader *r, block *b, value **arguments, size_t num_arguments)
{
  size_t mark = r->num_bindings;
  *b = (block){.arguments = arguments, .num_arguments = num_arguments};
  if (!reader_enter(r)) return false;
  bool good = reader_expect(r, "{");
  if (good && r->token.kind == TOKEN_BLOCK) {
    reader_advance(r);
    if (reader_take(r, "(")) good = read_block_arguments(r, b);
    good = good && reader_expect(r, ":");
  }
  good = good && read_block_ops(r, b) && reader_expect(r, "}");
  reader_forget(r, mark);
  reader_leave(r);
  return good;
}
