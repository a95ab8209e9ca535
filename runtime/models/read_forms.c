/* The pretty forms of operations, as the dialects' printers write them.
 *
 * Nearly all consist of operands, "name = value", enumerators and a dictionary, in some order with
 * commas. Only the names differ from those of the attributes. A few have regions or a notation of
 * their own. */
#include "models/reader.h"

#include <stdlib.h>
#include <string.h>

/* The attribute for "name = " in the pretty form of an operation. */
static const struct {
  op_code code;
  const char *form, *attribute;
} form_names[] = {
    {OP_BROADCAST, "sizes", "broadcast_sizes"},
    {OP_BROADCAST_IN_DIM, "dims", "broadcast_dimensions"},
    {OP_DYNAMIC_BROADCAST_IN_DIM, "dims", "broadcast_dimensions"},
    {OP_TRANSPOSE, "dims", "permutation"},
    {OP_REVERSE, "dims", "dimensions"},
    {OP_IOTA, "dim", "iota_dimension"},
    {OP_DYNAMIC_IOTA, "dim", "iota_dimension"},
    {OP_CONCATENATE, "dim", "dimension"},
    {OP_GET_DIMENSION_SIZE, "dim", "dimension"},
    {OP_EINSUM, "config", "einsum_config"},
    {OP_UNARY_EINSUM, "config", "einsum_config"},
    {OP_SET_DIMENSION_SIZE, "dim", "dimension"},
    {OP_PAD, "low", "edge_padding_low"},
    {OP_PAD, "high", "edge_padding_high"},
    {OP_PAD, "interior", "interior_padding"},
    {OP_DYNAMIC_SLICE, "sizes", "slice_sizes"},
    {OP_FFT, "type", "fft_type"},
    {OP_FFT, "length", "fft_length"},
    {OP_RNG_BIT_GENERATOR, "algorithm", "rng_algorithm"},
    {OP_RNG, "distribution", "rng_distribution"},
    {OP_DOT, "precision", "precision_config"},
    {OP_DOT_GENERAL, "precision", "precision_config"},
};

static const char *attribute_name(op_code code, const char *form)
{
  for (size_t i = 0; i < sizeof form_names / sizeof *form_names; ++i)
    if (form_names[i].code == code && strcmp(form_names[i].form, form) == 0)
      return form_names[i].attribute;
  return form;
}

static bool is_convolution(const operation *op)
{
  return op->code == OP_CONVOLUTION || op->code == OP_DYNAMIC_CONV;
}

static void add_int(reader *r, operation *op, const char *name, int64_t value)
{
  add_attribute(r, op, (attribute){.kind = ATTRIBUTE_INT, .name = name, .integer = value});
}

/* A list of integers as an attribute. */
static attribute int_list(reader *r, const char *name, const int64_t *values, size_t count)
{
  attribute a = {.kind = ATTRIBUTE_ARRAY, .name = name, .num_items = count};
  a.items = pop_arena_alloc(r->arena, (count + 1) * sizeof *a.items);
  for (size_t i = 0; i < count; ++i)
    a.items[i] = (attribute){.kind = ATTRIBUTE_INT, .integer = values[i]};
  return a;
}

/* ---- notations ---- */

/* x [0:1, 2:8:2]; of a tuple %x[1]. */
static bool read_brackets(reader *r, operation *op)
{
  int64_t begin[MODEL_MAX_RANK], end[MODEL_MAX_RANK], stride[MODEL_MAX_RANK];
  size_t count = 0;
  if (!reader_expect(r, "[")) return false;
  if (op->code == OP_GET_TUPLE_ELEMENT) {
    if (!reader_integer(r, &begin[0])) return false;
    add_int(r, op, "index", begin[0]);
    return reader_expect(r, "]");
  }
  if (op->code != OP_SLICE) return reader_fail(r, "%s has no '[…]'", op->name);
  if (!reader_is(r, "]")) do {
      if (count == MODEL_MAX_RANK)
        return reader_fail(r, "a tensor has at most %d dimensions", MODEL_MAX_RANK);
      stride[count] = 1;
      if (!reader_integer(r, &begin[count]) || !reader_expect(r, ":") ||
          !reader_integer(r, &end[count]))
        return false;
      if (reader_take(r, ":") && !reader_integer(r, &stride[count])) return false;
      count++;
    } while (reader_take(r, ","));
  add_attribute(r, op, int_list(r, "start_indices", begin, count));
  add_attribute(r, op, int_list(r, "limit_indices", end, count));
  add_attribute(r, op, int_list(r, "strides", stride, count));
  return reader_expect(r, "]");
}

/* batching_dims = [0] x [1]: lists of a dot_general's dimension numbers. */
static bool read_dot_dimensions(reader *r, operation *op, const char *form)
{
  bool batch = strcmp(form, "batching_dims") == 0;
  attribute sides[2];
  if (!read_attribute(r, &sides[0]) || !reader_expect(r, "x") || !read_attribute(r, &sides[1]))
    return false;
  sides[0].name = batch ? "lhs_batching_dimensions" : "lhs_contracting_dimensions";
  sides[1].name = batch ? "rhs_batching_dimensions" : "rhs_contracting_dimensions";
  attribute *dict = (attribute *)op_attribute(op, "dot_dimension_numbers");
  if (!dict) {
    attribute empty = {.kind = ATTRIBUTE_DICT, .name = "dot_dimension_numbers"};
    empty.items = pop_arena_alloc(r->arena, 8 * sizeof *empty.items);
    add_attribute(r, op, empty);
    dict = &op->attributes[op->num_attributes - 1];
  }
  if (dict->num_items > 6) return reader_fail(r, "%s is there more than once", form);
  dict->items[dict->num_items++] = sides[0];
  dict->items[dict->num_items++] = sides[1];
  return true;
}

/* window = {stride = [2, 2], pad = [[1, 1], [0, 0]], …} */
static bool read_window(reader *r, operation *op)
{
  static const char *const names[][2] = {{"stride", "window_strides"},
                                         {"pad", "padding"},
                                         {"lhs_dilate", "lhs_dilation"},
                                         {"rhs_dilate", "rhs_dilation"},
                                         {"reverse", "window_reversal"}};
  attribute *items = NULL;
  size_t count = 0;
  if (!read_dictionary(r, &items, &count)) return false;
  for (size_t i = 0; i < count; ++i) {
    size_t n = 0;
    while (n < 5 && strcmp(items[i].name, names[n][0]) != 0) n++;
    if (n == 5) return reader_fail_at(r, items[i].offset, "a window has no '%s'", items[i].name);
    items[i].name = names[n][1];
    add_attribute(r, op, items[i]);
  }
  return true;
}

/* e5m10 */
static bool read_format(reader *r, operation *op)
{
  char *text = reader_text(r), *end, *start;
  if (*text != 'e') return reader_fail(r, "a format is expected, such as e5m10");
  add_int(r, op, "exponent_bits", (int64_t)strtoul(text + 1, &end, 10));
  if (*end != 'm') return reader_fail(r, "a format is expected, such as e5m10");
  start = end + 1;
  add_int(r, op, "mantissa_bits", (int64_t)strtoul(start, &end, 10));
  if (*end || end == start) return reader_fail(r, "a format is expected, such as e5m10");
  reader_advance(r);
  return true;
}

/* Behind "name =". */
static bool read_form_value(reader *r, operation *op, const char *name)
{
  if (op->code == OP_DOT_GENERAL &&
      (strcmp(name, "batching_dims") == 0 || strcmp(name, "contracting_dims") == 0))
    return read_dot_dimensions(r, op, name);
  if (is_convolution(op) && strcmp(name, "window") == 0) return read_window(r, op);
  if (op->code == OP_REDUCE_PRECISION && strcmp(name, "format") == 0) return read_format(r, op);
  attribute a;
  if (is_convolution(op) && strcmp(name, "dim_numbers") == 0) {
    a = (attribute){.offset = reader_offset(r)};
    if (!read_conv_dimensions(r, &a)) return false;
    a.name = "dimension_numbers";
  } else {
    if (op->code == OP_DOT_GENERAL && strcmp(name, "algorithm") == 0 && reader_is(r, "<")) {
      a = (attribute){.kind = ATTRIBUTE_DICT, .offset = reader_offset(r)};
      while (!reader_is(r, ">") && r->token.kind != TOKEN_END) reader_advance(r);
      if (!reader_expect(r, ">")) return false;
    } else if (r->token.kind == TOKEN_INTEGER || reader_is(r, "-")) {
      /* A number without a type: the ':' after it belongs to the operation. */
      a = (attribute){.kind = ATTRIBUTE_INT, .offset = reader_offset(r)};
      if (!reader_integer(r, &a.integer)) return false;
    } else if (!read_attribute(r, &a)) {
      return false;
    }
    a.name = attribute_name(op->code, name);
  }
  add_attribute(r, op, a);
  return true;
}

/* A name without '=': an enumerator of a compare. */
static bool read_word(reader *r, operation *op, const char *name, uint32_t offset)
{
  attribute a = {.kind = ATTRIBUTE_WORD, .text = name, .offset = offset};
  if (op->code == OP_COMPARE)
    a.name = op_attribute(op, "comparison_direction") ? "compare_type" : "comparison_direction";
  else
    return reader_fail_at(r, offset, "'%s' is not expected in %s", name, op->name);
  add_attribute(r, op, a);
  return true;
}

static bool read_parenthesised(reader *r, operation *op)
{
  while (!reader_is(r, ")")) {
    if (r->token.kind == TOKEN_VALUE) {
      if (!add_operand(r, op)) return false;
    } else if (r->token.kind == TOKEN_NAME) { /* top_k(%x, k = 2) */
      char *name = reader_text(r);
      reader_advance(r);
      if (!reader_expect(r, "=") || !read_form_value(r, op, name)) return false;
    } else {
      break;
    }
    if (!reader_take(r, ",")) break;
  }
  return reader_expect(r, ")");
}

static bool read_item(reader *r, operation *op)
{
  uint32_t offset = reader_offset(r);
  attribute a;
  switch (r->token.kind) {
  case TOKEN_VALUE:
    if (!add_operand(r, op)) return false;
    if (op->code == OP_OPTIMIZATION_BARRIER && reader_take(r, "<")) /* a sharding */
      return reader_skip_balanced(r);
    return !reader_is(r, "[") || read_brackets(r, op);
  case TOKEN_SYMBOL:
  case TOKEN_STRING:
    if (!read_attribute(r, &a)) return false;
    a.name = op->code == OP_CALL        ? "callee"
             : op->code == OP_COMPOSITE ? "name"
                                        : "call_target_name";
    add_attribute(r, op, a);
    return true;
  case TOKEN_NAME: {
    if (reader_is(r, "dense") || reader_is(r, "dense_resource")) {
      if (!read_attribute(r, &a)) return false;
      a.name = "value";
      add_attribute(r, op, a);
      return true;
    }
    char *name = reader_text(r);
    reader_advance(r);
    if (reader_take(r, "=")) return read_form_value(r, op, name);
    return read_word(r, op, name, offset);
  }
  default:
    return reader_fail(r, "%s: an operand or attribute is expected", op->name);
  }
}

/* ---- operations with regions ---- */

static bool read_typed_name(reader *r, char **name, value **v)
{
  const model_type *type;
  if (r->token.kind != TOKEN_VALUE) return reader_fail(r, "the name of an argument is expected");
  *name = reader_text(r);
  uint32_t offset = reader_offset(r);
  reader_advance(r);
  if (!reader_expect(r, ":") || !read_type(r, &type) || !reader_skip_location(r)) return false;
  *v = new_value(r, type, NULL);
  value **one = pop_arena_alloc(r->arena, sizeof *one);
  *one = *v;
  return reader_define(r, *name, offset, one, 1);
}

/* reducer(%a: t, %b: t) (%c: u, %d: u) { … }: the block's arguments are %a, %c, %b, %d. */
static bool read_reducer(reader *r, operation *op, size_t inputs)
{
  value **arguments = pop_arena_alloc(r->arena, 2 * inputs * sizeof *arguments);
  size_t mark = r->num_bindings;
  if (!reader_expect(r, "reducer")) return false;
  for (size_t i = 0; i < inputs; ++i) {
    char *name;
    if (!reader_expect(r, "(") || !read_typed_name(r, &name, &arguments[i]) ||
        !reader_expect(r, ",") || !read_typed_name(r, &name, &arguments[inputs + i]) ||
        !reader_expect(r, ")"))
      return false;
  }
  bool good = read_region(r, op->regions, arguments, 2 * inputs);
  reader_forget(r, mark);
  return good;
}

/* applies stablehlo.add: makes the block. */
static bool make_reducer(reader *r, operation *op, const char *name, uint32_t offset)
{
  static const char dialect[] = "stablehlo.";
  block *b = op->regions;
  op_code code = strncmp(name, dialect, sizeof dialect - 1) == 0 || strncmp(name, "mhlo.", 5) == 0
                     ? op_find(strchr(name, '.') + 1)
                     : OP_COUNT;
  if (code == OP_COUNT || op->num_operands < 2)
    return reader_fail_at(r, offset, "'%s' cannot be applied by a reduce", name);
  model_type *scalar = pop_arena_alloc(r->arena, sizeof *scalar);
  *scalar = *op->operands[1]->type;
  scalar->rank = 0;
  b->arguments = pop_arena_alloc(r->arena, 2 * sizeof *b->arguments);
  b->num_arguments = 2;
  for (int i = 0; i < 2; ++i) b->arguments[i] = new_value(r, scalar, NULL);
  operation *body = pop_arena_alloc(r->arena, sizeof *body);
  *body = (operation){.code = code, .name = name, .offset = offset, .num_operands = 2};
  body->operands = b->arguments;
  body->results = pop_arena_alloc(r->arena, sizeof *body->results);
  body->results[0] = new_value(r, scalar, body);
  body->num_results = 1;
  operation *end = pop_arena_alloc(r->arena, sizeof *end);
  *end = (operation){.code = OP_RETURN, .name = "stablehlo.return", .offset = offset};
  end->operands = body->results;
  end->num_operands = 1;
  body->next = end;
  b->first = body;
  b->last = end;
  return true;
}

/* reduce(%x init: %a), (%y init: %b) … across dimensions = [0] : (…) -> (…) reducer… */
static bool read_reduce(reader *r, operation *op, const model_type ***results, size_t *num_results)
{
  operation inits = {0};
  do {
    if (!reader_expect(r, "(") || !add_operand(r, op) || !reader_expect(r, "init") ||
        !reader_expect(r, ":") || !add_operand(r, &inits) || !reader_expect(r, ")"))
      return false;
  } while (reader_take(r, ","));
  size_t inputs = op->num_operands;
  value **all = pop_arena_alloc(r->arena, 2 * inputs * sizeof *all);
  memcpy(all, op->operands, inputs * sizeof *all);
  memcpy(all + inputs, inits.operands, inputs * sizeof *all);
  op->operands = all;
  op->num_operands = 2 * inputs;
  op->regions = pop_arena_alloc(r->arena, sizeof *op->regions);
  op->num_regions = 1;
  bool applies = reader_take(r, "applies");
  if (applies) {
    char *name = reader_text(r);
    if (!make_reducer(r, op, name, reader_offset(r))) return false;
    reader_advance(r);
  }
  attribute dimensions;
  if (!reader_expect(r, "across") || !reader_expect(r, "dimensions") || !reader_expect(r, "=") ||
      !read_attribute(r, &dimensions))
    return false;
  dimensions.name = "dimensions";
  add_attribute(r, op, dimensions);
  if (reader_is(r, "{") && !read_dictionary(r, &op->attributes, &op->num_attributes)) return false;
  const model_type **types;
  size_t count;
  if (!reader_expect(r, ":") || !read_type_list(r, &types, &count) || !reader_expect(r, "->") ||
      !read_type_list(r, results, num_results))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (count != op->num_operands || !type_equal(types[i], op->operands[i]->type))
      return reader_fail_at(r, types[i]->offset, "the types are not those of the operands");
  return applies || read_reducer(r, op, inputs);
}

/* while(%a = %x, %b = %y) : t, u cond { … } do { … } */
static bool read_while(reader *r, operation *op, const model_type ***results, size_t *num_results)
{
  char **names = NULL;
  uint32_t *offsets = NULL;
  size_t count = 0, capacity = 0, offsets_count = 0, offsets_capacity = 0;
  bool good = reader_expect(r, "(");
  if (good && !reader_is(r, ")")) do {
      if (r->token.kind != TOKEN_VALUE) {
        good = reader_fail(r, "the name of an argument is expected");
        break;
      }
      pop_push(offsets, offsets_count, offsets_capacity, reader_offset(r));
      pop_push(names, count, capacity, reader_text(r));
      reader_advance(r);
      good = reader_expect(r, "=") && add_operand(r, op);
    } while (good && reader_take(r, ","));
  good = good && reader_expect(r, ")");
  const model_type **types = pop_arena_alloc(r->arena, (count + 1) * sizeof *types);
  if (good && count) {
    good = reader_expect(r, ":");
    for (size_t i = 0; i < count && good; ++i) {
      good = (i == 0 || reader_expect(r, ",")) && read_type(r, &types[i]);
      if (good && !type_equal(types[i], op->operands[i]->type))
        good = reader_fail_at(r, types[i]->offset, "%s is %s", op->operands[i]->name,
                              type_text(r->arena, op->operands[i]->type));
    }
  }
  if (good && reader_take(r, "attributes"))
    good = read_dictionary(r, &op->attributes, &op->num_attributes);
  op->regions = pop_arena_alloc(r->arena, 2 * sizeof *op->regions);
  op->num_regions = 2;
  for (int which = 0; which < 2 && good; ++which) {
    good = reader_expect(r, which ? "do" : "cond");
    size_t mark = r->num_bindings;
    value **arguments = pop_arena_alloc(r->arena, (count + 1) * sizeof *arguments);
    for (size_t i = 0; i < count && good; ++i) {
      arguments[i] = new_value(r, types[i], NULL);
      good = reader_define(r, names[i], offsets[i], arguments + i, 1);
    }
    good = good && read_region(r, &op->regions[which], arguments, count);
    reader_forget(r, mark);
  }
  free(names);
  free(offsets);
  *results = types;
  *num_results = count;
  return good;
}

/* manual_computation(%x, %y) in_shardings=[…] out_shardings=[…] manual_axes={…} (%a: t, %b: u) { …
 * }: distribution over devices is ignored. */
static bool read_manual(reader *r, operation *op)
{
  size_t mark = r->num_bindings;
  op->regions = pop_arena_alloc(r->arena, sizeof *op->regions);
  op->num_regions = 1;
  if (!reader_expect(r, "(") || !read_parenthesised(r, op)) return false;
  while (r->token.kind == TOKEN_NAME) {
    reader_advance(r);
    if (!reader_expect(r, "=")) return false;
    if (!reader_is(r, "[") && !reader_is(r, "{")) return reader_fail(r, "a list is expected");
    reader_advance(r);
    if (!reader_skip_balanced(r)) return false;
  }
  block arguments = {0};
  if (!reader_expect(r, "(") || !read_block_arguments(r, &arguments)) return false;
  bool good = read_region(r, op->regions, arguments.arguments, arguments.num_arguments);
  reader_forget(r, mark);
  return good;
}

/* True if the types have been read, too. */
bool read_form(reader *r, operation *op, const model_type ***results, size_t *num_results)
{
  if (op->code == OP_REDUCE) return read_reduce(r, op, results, num_results);
  if (op->code == OP_WHILE) return read_while(r, op, results, num_results);
  if (op->code == OP_MANUAL_COMPUTATION) return (void)read_manual(r, op), false;
  bool first = true;
  for (;;) {
    if (reader_is(r, "{")) {
      if (!read_dictionary(r, &op->attributes, &op->num_attributes)) return false;
    } else if (reader_take(r, "(")) {
      if (!read_parenthesised(r, op)) return false;
    } else if (reader_take(r, ",")) {
      if (!read_item(r, op)) return false;
    } else if (first || is_convolution(op) || op->code == OP_CONSTANT ||
               op->code == OP_CUSTOM_CALL || op->code == OP_COMPOSITE || op->code == OP_CALL) {
      if (r->token.kind != TOKEN_VALUE && r->token.kind != TOKEN_NAME &&
          r->token.kind != TOKEN_SYMBOL && r->token.kind != TOKEN_STRING)
        break;
      /* An operation may be alone on its line. The name on the next line is then not its
       * operand. */
      if (r->token.kind == TOKEN_VALUE && !first && op->code != OP_COMPOSITE) break;
      if (r->token.kind == TOKEN_NAME && (reader_is(r, "loc") || strchr(reader_text(r), '.')))
        break;
      if (!read_item(r, op)) return false;
    } else {
      break;
    }
    first = false;
    const attribute *value = op_attribute(op, "value");
    if (value && value->kind == ATTRIBUTE_DENSE &&
        value == &op->attributes[op->num_attributes - 1]) {
      /* The constant's type is the result's type. */
      if (op->code == OP_CONSTANT) {
        *results = pop_arena_alloc(r->arena, sizeof **results);
        (*results)[0] = value->type;
        *num_results = 1;
      }
      return true;
    }
  }
  return false;
}
