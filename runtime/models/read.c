/* The reader of StableHLO text: modules, functions, blocks, operations in both forms.
 *
 * It checks what the language asks for: that names are defined before they are used, and that the types that stand
 * behind an operation are those of its operands. What an operation wants of them is verify.c's concern. */
#include "models/hlo_text.h"
#include "models/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

uint32_t reader_offset(const reader *r)
{
  return (uint32_t)(r->token.start - r->m->text);
}

static bool fail(reader *r, uint32_t offset, const char *format, va_list args)
{
  if (r->error) return false;
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  char *place = model_place(r->m, offset);
  r->error = pop_error_prefix(error, "%s", place);
  free(place);
  return false;
}

bool reader_fail(reader *r, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fail(r, reader_offset(r), format, args);
  va_end(args);
  return false;
}

bool reader_fail_at(reader *r, uint32_t offset, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fail(r, offset, format, args);
  va_end(args);
  return false;
}

void reader_jump(reader *r, const char *at)
{
  r->token = lexer_next(at, r->end);
}

void reader_advance(reader *r)
{
  reader_jump(r, r->token.start + r->token.length);
}

bool reader_is(const reader *r, const char *text)
{
  return strlen(text) == r->token.length && memcmp(text, r->token.start, r->token.length) == 0;
}

bool reader_take(reader *r, const char *text)
{
  if (!reader_is(r, text)) return false;
  reader_advance(r);
  return true;
}

bool reader_expect(reader *r, const char *text)
{
  if (reader_take(r, text)) return true;
  if (r->token.kind == TOKEN_END)
    return reader_fail(r, "'%s' is expected, and this is the end of the text", text);
  if (r->token.kind == TOKEN_BAD)
    return reader_fail(r, "'%s' is expected, and this is no token (a string without an end?)",
                       text);
  int shown = r->token.length < 40 ? (int)r->token.length : 40;
  return reader_fail(r, "'%s' is expected, not '%.*s'", text, shown, r->token.start);
}

char *reader_text(reader *r)
{
  char *text = pop_arena_alloc(r->arena, r->token.length + 1);
  memcpy(text, r->token.start, r->token.length);
  return text;
}

bool reader_enter(reader *r)
{
  if (r->depth == READER_MAX_DEPTH)
    return reader_fail(r, "regions, attributes or types are more than %d deep", READER_MAX_DEPTH);
  r->depth++;
  return true;
}

void reader_leave(reader *r)
{
  r->depth--;
}

bool reader_integer(reader *r, int64_t *value)
{
  bool negative = reader_take(r, "-");
  if (r->token.kind != TOKEN_INTEGER) return reader_fail(r, "an integer is expected");
  errno = 0;
  char *text = reader_text(r);
  uint64_t magnitude = strtoull(text, NULL, 0);
  if (errno || magnitude > INT64_MAX) return reader_fail(r, "%s has more than 63 bits", text);
  *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
  reader_advance(r);
  return true;
}

bool reader_skip_location(reader *r)
{
  if (!reader_take(r, "loc")) return true;
  if (!reader_expect(r, "(")) return false;
  for (int depth = 1; depth; reader_advance(r)) {
    if (r->token.kind == TOKEN_END) return reader_fail(r, "a location has no end");
    if (r->token.kind == TOKEN_PUNCTUATION && *r->token.start == '(') depth++;
    if (r->token.kind == TOKEN_PUNCTUATION && *r->token.start == ')') depth--;
  }
  return true;
}

/* ---- names of values ---- */

static size_t hash_name(const char *name)
{
  size_t h = 5381;
  for (; *name; ++name) h = h * 33 + (unsigned char)*name;
  return h ^ (h >> 15);
}

/* The slot that has the name, or would have it. */
static size_t find_slot(const reader *r, const char *name)
{
  size_t slot = hash_name(name) & (r->num_slots - 1);
  while (r->slots[slot] != UINT32_MAX && strcmp(r->bindings[r->slots[slot]].name, name) != 0)
    slot = (slot + 1) & (r->num_slots - 1);
  return slot;
}

static void grow_slots(reader *r)
{
  if (r->num_slots && r->num_bindings * 2 < r->num_slots) return;
  size_t wanted = r->num_slots ? r->num_slots * 2 : 256;
  free(r->slots);
  r->slots = pop_xmalloc(wanted * sizeof *r->slots);
  r->num_slots = wanted;
  memset(r->slots, 0xff, wanted * sizeof *r->slots);
  for (size_t i = 0; i < r->num_bindings; ++i)
    if (r->bindings[i].values) r->slots[find_slot(r, r->bindings[i].name)] = (uint32_t)i;
}

bool reader_define(reader *r, const char *name, uint32_t offset, value **values, size_t count)
{
  grow_slots(r);
  size_t slot = find_slot(r, name);
  if (r->slots[slot] != UINT32_MAX && r->bindings[r->slots[slot]].values)
    return reader_fail_at(r, offset, "%s is defined twice", name);
  binding b = {.name = pop_arena_strdup(r->arena, name), .values = values, .count = count};
  r->slots[slot] = (uint32_t)r->num_bindings;
  pop_push(r->bindings, r->num_bindings, r->bindings_capacity, b);
  for (size_t i = 0; i < count; ++i) values[i]->name = b.name;
  return true;
}

/* Names that were defined behind `mark` are gone: their slots stay, without values, for the chains of others. */
void reader_forget(reader *r, size_t mark)
{
  for (size_t i = mark; i < r->num_bindings; ++i) r->bindings[i].values = NULL;
}

bool reader_use(reader *r, value **v)
{
  if (r->token.kind != TOKEN_VALUE) return reader_fail(r, "a value is expected, such as %%0");
  char *name = reader_text(r);
  uint32_t offset = reader_offset(r);
  const binding *b = NULL;
  if (r->num_slots) {
    size_t slot = find_slot(r, name);
    if (r->slots[slot] != UINT32_MAX) b = &r->bindings[r->slots[slot]];
  }
  if (!b || !b->values) return reader_fail(r, "%s is used, and not defined before that", name);
  reader_advance(r);
  size_t number = 0;
  if (r->token.kind == TOKEN_ALIAS && r->token.start == r->m->text + offset + strlen(name)) {
    char *digits = reader_text(r) + 1, *end;
    number = strtoul(digits, &end, 10);
    if (*end || number >= b->count)
      return reader_fail(r, "%s has %zu results, there is no #%s", name, b->count, digits);
    reader_advance(r);
  } else if (b->count != 1) {
    return reader_fail_at(r, offset, "%s has %zu results: which one is meant, %s#0?", name,
                          b->count, name);
  }
  *v = b->values[number];
  return true;
}

/* ---- operations ---- */

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
  /* Room is doubled: there may be many. */
  size_t n = op->num_operands;
  if ((n & (n - 1)) == 0) {
    value **more = pop_arena_alloc(r->arena, (n ? 2 * n : 1) * sizeof *more);
    if (n) memcpy(more, op->operands, n * sizeof *more);
    op->operands = more;
  }
  op->operands[op->num_operands++] = v;
  return true;
}

/* "(a, b) -> c": operands must have the types that are said. */
static bool check_operand_types(reader *r, const operation *op, const model_type **types,
                                size_t count, uint32_t offset)
{
  if (count != op->num_operands)
    return reader_fail_at(r, offset, "%s has %zu operands, and types of %zu", op->name,
                          op->num_operands, count);
  for (size_t i = 0; i < count; ++i)
    if (!type_equal(types[i], op->operands[i]->type))
      return reader_fail_at(
          r, types[i]->offset, "operand %s of %s is %s, not %s", op->operands[i]->name, op->name,
          type_text(r->arena, op->operands[i]->type), type_text(r->arena, types[i]));
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
  bool each = op->code == OP_WHILE || op->code == OP_OPTIMIZATION_BARRIER;
  if (each && !check_operand_types(r, op, types, count, offset)) return false;
  *results = each ? types : types + count - 1;
  *num_results = each ? count : 1;
  return true;
}

static bool read_generic(reader *r, operation *op, const model_type ***results, size_t *num_results)
{
  if (!reader_expect(r, "(")) return false;
  if (!reader_is(r, ")")) do {
      if (!add_operand(r, op)) return false;
    } while (reader_take(r, ","));
  if (!reader_expect(r, ")")) return false;
  if (reader_is(r, "[")) return reader_fail(r, "operations with successors are not supported");
  if (reader_take(r, "<")) {
    if (!read_dictionary(r, &op->attributes, &op->num_attributes) || !reader_expect(r, ">"))
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

/* "stablehlo.add" is an add; calls and returns may stand without dialect. */
static op_code code_of(const char *name)
{
  if (strcmp(name, "sdy.sharding_constraint") == 0) return OP_OPTIMIZATION_BARRIER;
  static const char *const dialects[] = {"stablehlo.", "mhlo.",        "chlo.",
                                         "check.",     "interpreter.", "populus."};
  if (strcmp(name, "func.return") == 0 || strcmp(name, "return") == 0) return OP_RETURN;
  if (strcmp(name, "func.call") == 0 || strcmp(name, "call") == 0) return OP_CALL;
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
    if (strncmp(name, dialects[i], strlen(dialects[i])) == 0)
      return op_find(name + strlen(dialects[i]));
  return OP_COUNT;
}

/* Functions of custom_call that are operations by another name. */
static op_code code_of_custom_call(const operation *op)
{
  const char *target = op_word(op, "call_target_name");
  if (strncmp(target, "check.", 6) == 0) return code_of(target);
  if (strcmp(target, "mhlo.erf") == 0) return OP_ERF;
  if (strcmp(target, "mhlo.topk") == 0) return OP_TOP_K;
  /* What compilers for several devices want to know: here the value goes through. */
  if (strcmp(target, "Sharding") == 0 || strcmp(target, "annotate_device_placement") == 0 ||
      strcmp(target, "LayoutConstraint") == 0)
    return OP_OPTIMIZATION_BARRIER;
  return OP_CUSTOM_CALL;
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
  /* Types are optional where there is nothing to say. */
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
  good = good && read_op_inside(r, op, &types, &num_types);
  if (good && op->code == OP_CUSTOM_CALL) op->code = code_of_custom_call(op);
  good = good && define_results(r, op, types, num_types, names, count, total);
  free(names);
  return good && reader_skip_location(r);
}

/* ---- blocks ---- */

static bool read_block_arguments(reader *r, block *b)
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

/* { … }: arguments may have been read. */
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

/* ---- functions and modules ---- */

static void start_function(reader *r)
{
  r->num_bindings = 0;
  if (r->num_slots) memset(r->slots, 0xff, r->num_slots * sizeof *r->slots);
}

static bool add_function(reader *r, const function *f)
{
  if (module_find(r->m, f->name))
    return reader_fail_at(r, f->offset, "there is a function @%s already", f->name);
  pop_push(r->m->functions, r->m->num_functions, r->m->functions_capacity, *f);
  return true;
}

static bool check_return(reader *r, const function *f)
{
  const operation *last = f->body.last;
  if (!last) return reader_fail_at(r, f->offset, "@%s ends without a return", f->name);
  if (last->num_operands != f->num_results)
    return reader_fail_at(r, last->offset, "@%s has %zu results, and %zu are returned", f->name,
                          f->num_results, last->num_operands);
  for (size_t i = 0; i < f->num_results; ++i)
    if (!type_equal(last->operands[i]->type, f->results[i]))
      return reader_fail_at(r, last->offset, "result %zu of @%s is %s, and %s is returned", i,
                            f->name, type_text(r->arena, f->results[i]),
                            type_text(r->arena, last->operands[i]->type));
  return true;
}

/* Behind "func.func". */
static bool read_function(reader *r)
{
  function f = {0};
  f.is_private = reader_take(r, "private");
  if (!f.is_private) (void)(reader_take(r, "public") || reader_take(r, "nested"));
  f.offset = reader_offset(r);
  attribute name;
  if (r->token.kind != TOKEN_SYMBOL) return reader_fail(r, "the function's name is expected");
  if (!read_attribute(r, &name)) return false;
  f.name = name.text;
  start_function(r);
  if (!reader_expect(r, "(") || !read_block_arguments(r, &f.body)) return false;
  if (reader_take(r, "->") && !read_type_list(r, &f.results, &f.num_results)) return false;
  attribute *attributes = NULL;
  size_t num_attributes = 0;
  if (reader_take(r, "attributes") && !read_dictionary(r, &attributes, &num_attributes))
    return false;
  if (!reader_is(r, "{")) return reader_fail(r, "@%s has no body: '{' is expected", f.name);
  value **arguments = f.body.arguments;
  return read_region(r, &f.body, arguments, f.body.num_arguments) && check_return(r, &f) &&
         reader_skip_location(r) && add_function(r, &f);
}

/* "func.func"() <{sym_name = …}> ({ … }) : () -> () */
static bool read_generic_function(reader *r)
{
  operation op = {.name = "func.func", .offset = reader_offset(r)};
  function f = {.offset = op.offset};
  start_function(r);
  const model_type **types;
  size_t count;
  if (!read_generic(r, &op, &types, &count)) return false;
  f.name = op_word(&op, "sym_name");
  f.is_private = strcmp(op_word(&op, "sym_visibility"), "private") == 0;
  if (!*f.name || op.num_regions != 1)
    return reader_fail_at(r, op.offset, "a function needs sym_name and one region");
  f.body = op.regions[0];
  const operation *last = f.body.last;
  f.results = pop_arena_alloc(r->arena, (last->num_operands + 1) * sizeof *f.results);
  f.num_results = last->num_operands;
  for (size_t i = 0; i < f.num_results; ++i) f.results[i] = last->operands[i]->type;
  return reader_skip_location(r) && add_function(r, &f);
}

static bool read_alias_definition(reader *r)
{
  char *name = reader_text(r);
  attribute a;
  reader_advance(r);
  if (!reader_expect(r, "=") || !read_attribute(r, &a)) return false;
  a.name = name;
  pop_push(r->aliases, r->num_aliases, r->aliases_capacity, a);
  return true;
}

/* @mesh = <["x"=2]>: how values are spread over devices is not our concern. */
static bool skip_mesh(reader *r)
{
  attribute name;
  if (r->token.kind != TOKEN_SYMBOL) return reader_fail(r, "the name of a mesh is expected");
  return read_attribute(r, &name) && reader_expect(r, "=") && reader_expect(r, "<") &&
         reader_skip_balanced(r) && reader_skip_location(r);
}

static bool read_top(reader *r, const char *close);

static bool read_module(reader *r)
{
  attribute name = {0};
  if (r->token.kind == TOKEN_SYMBOL && !read_attribute(r, &name)) return false;
  if (name.text) r->m->name = name.text;
  if (reader_take(r, "attributes") && !read_dictionary(r, &r->m->attributes, &r->m->num_attributes))
    return false;
  return reader_expect(r, "{") && read_top(r, "}") && reader_expect(r, "}") &&
         reader_skip_location(r);
}

/* "builtin.module"() <{…}> ({ … }) : () -> () */
static bool read_generic_module(reader *r)
{
  if (!reader_expect(r, "(") || !reader_expect(r, ")")) return false;
  if (reader_take(r, "<") &&
      (!read_dictionary(r, &r->m->attributes, &r->m->num_attributes) || !reader_expect(r, ">")))
    return false;
  if (!reader_expect(r, "(") || !reader_expect(r, "{")) return false;
  if (r->token.kind == TOKEN_BLOCK) {
    reader_advance(r);
    if (reader_take(r, "(") && !reader_expect(r, ")")) return false;
    if (!reader_expect(r, ":")) return false;
  }
  if (!read_top(r, "}") || !reader_expect(r, "}") || !reader_expect(r, ")")) return false;
  if (reader_is(r, "{") && !read_dictionary(r, &r->m->attributes, &r->m->num_attributes))
    return false;
  const model_type **types;
  size_t count;
  return reader_expect(r, ":") && read_type_list(r, &types, &count) && reader_expect(r, "->") &&
         read_type_list(r, &types, &count) && reader_skip_location(r);
}

/* Functions, modules and definitions up to `close`, NULL: the end. */
static bool read_top(reader *r, const char *close)
{
  if (!reader_enter(r)) return false;
  bool good = true;
  while (good && !(close ? reader_is(r, close) : r->token.kind == TOKEN_END)) {
    if (reader_take(r, "module") || reader_take(r, "builtin.module"))
      good = read_module(r);
    else if (reader_take(r, "func.func"))
      good = read_function(r);
    else if (reader_take(r, "\"builtin.module\""))
      good = read_generic_module(r);
    else if (reader_take(r, "\"func.func\""))
      good = read_generic_function(r);
    else if (r->token.kind == TOKEN_ALIAS)
      good = read_alias_definition(r);
    else if (reader_take(r, "sdy.mesh"))
      good = skip_mesh(r);
    else
      good = reader_fail(r, "a module or a function is expected");
  }
  reader_leave(r);
  return good;
}

pop_error *module_read_function(module *m, const char *text, function *f)
{
  module own = {.arena = m->arena, .file = "expand.c", .text = text, .size = strlen(text)};
  reader r = {.m = &own, .arena = m->arena, .end = text + own.size};
  reader_jump(&r, text);
  bool good = read_top(&r, NULL);
  if (good && own.functions)
    *f = own.functions[0];
  else
    reader_fail(&r, "a function is expected");
  free(own.functions);
  free(r.bindings);
  free(r.slots);
  return r.error;
}

static pop_error *read_text(module *m, size_t begin, size_t end)
{
  reader r = {.m = m, .arena = m->arena, .end = m->text + end};
  reader_jump(&r, m->text + begin);
  bool good = read_resources(&r) && read_top(&r, NULL);
  if (good && !m->num_functions) reader_fail(&r, "there is no function");
  free(r.bindings);
  free(r.slots);
  free(r.aliases);
  free(r.resources);
  return r.error;
}

/* HLO text is read as the StableHLO text that it becomes. */
static pop_error *read_hlo(module *m, size_t begin, size_t end)
{
  hlo_module *h;
  text translated = {0};
  pop_error *error = hlo_parse(m, begin, end, &h);
  if (!error) error = hlo_translate(h, &translated);
  hlo_module_free(h);
  if (!error && translated.size > UINT32_MAX - 1)
    error = model_error(m, 0, "the module is too large");
  if (!error) {
    m->source = m->text;
    m->source_size = m->size;
    m->size = translated.size;
    m->text = pop_arena_strdup(m->arena, translated.data);
    error = read_text(m, 0, m->size);
  }
  text_free(&translated);
  return error;
}

pop_error *module_read(const char *file, const char *text, size_t begin, size_t end,
                       module **result)
{
  pop_arena *arena = pop_arena_new();
  module *m = pop_arena_alloc(arena, sizeof *m);
  *m = (module){.arena = arena, .file = pop_arena_strdup(arena, file), .text = text, .size = end};
  m->name = "module";
  *result = NULL;
  pop_error *error;
  if (end > UINT32_MAX - 1)
    error = pop_error_new(POP_ERROR_FILE_LOAD, "%s: a module has less than 4 GiB of text", file);
  else if (hlo_recognise(text, begin, end))
    error = read_hlo(m, begin, end);
  else
    error = read_text(m, begin, end);
  if (error)
    module_free(m);
  else
    *result = m;
  return error;
}
