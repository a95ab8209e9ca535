/* The reader of StableHLO text: modules, functions and definitions of aliases.
 *
 * It checks what the syntax requires: that names are defined before they are used, and that types
 * agree. */
#include "models/hlo_text.h"
#include "models/reader.h"

#include <stdlib.h>
#include <string.h>

static void start_function(reader *r)
{
  r->num_bindings = 0;
  free(r->slots); /* clearing those of a large function would take long for each small one */
  r->slots = NULL;
  r->num_slots = 0;
}

static bool add_function(reader *r, const function *f)
{
  if (module_find(r->m, f->name))
    return reader_fail_at(r, f->offset, "there is a function @%s already", f->name);
  pop_name_table_add(&r->m->function_names, f->name, (uint32_t)r->m->num_functions);
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
    if (!type_equal(last->operands[i]->type, f->results[i])) {
      const operation *by = last->operands[i]->op;
      bool supported;
      if (by) r->error = module_verify_op(r->m, by, &supported); /* the first that is wrong */
      return reader_fail_at(r, last->offset, "result %zu of @%s is %s, and %s is returned", i,
                            f->name, type_text(r->arena, f->results[i]),
                            type_text(r->arena, last->operands[i]->type));
    }
  return true;
}

/* "(tensor<3xf32>, …) -> …" after the name: arguments without names mean that the function is
 * defined elsewhere. */
static bool is_declaration(const reader *r)
{
  token next = lexer_next(r->token.start + r->token.length, r->end);
  return reader_is(r, "(") && next.kind != TOKEN_VALUE && !(next.length == 1 && *next.start == ')');
}

/* A declaration is skipped. A call of it then gives the error that there is no such function. */
static bool read_declaration(reader *r, const char *name)
{
  const model_type **types;
  attribute *attributes = NULL;
  size_t count, num_attributes = 0;
  if (!read_type_list(r, &types, &count)) return false;
  if (reader_take(r, "->") && !read_type_list(r, &types, &count)) return false;
  if (reader_take(r, "attributes") && !read_dictionary(r, &attributes, &num_attributes))
    return false;
  if (reader_is(r, "{")) return reader_fail(r, "the arguments of @%s have no names", name);
  return reader_skip_location(r);
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
  if (f.is_private && is_declaration(r)) return read_declaration(r, f.name);
  if (!reader_expect(r, "(") || !read_block_arguments(r, &f.body)) return false;
  if (reader_take(r, "->") && !read_type_list(r, &f.results, &f.num_results)) return false;
  attribute *attributes = NULL;
  size_t num_attributes = 0;
  if (reader_take(r, "attributes") && !read_dictionary(r, &attributes, &num_attributes))
    return false;
  if (!reader_is(r, "{") && f.is_private && !f.body.num_arguments) return reader_skip_location(r);
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

/* !name = type; read_type knows the name from then on. */
static bool read_type_alias(reader *r)
{
  attribute a = {.kind = ATTRIBUTE_TYPE, .offset = reader_offset(r), .name = reader_text(r)};
  reader_advance(r);
  if (!reader_expect(r, "=") || !read_type(r, &a.type)) return false;
  pop_push(r->aliases, r->num_aliases, r->aliases_capacity, a);
  return true;
}

/* @mesh = <["x"=2]>: distribution over devices is ignored. */
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

/* Reads functions, modules and definitions up to `close`; NULL for the end of the text. */
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
    else if (r->token.kind == TOKEN_BANG)
      good = read_type_alias(r);
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
  pop_name_table_free(&own.function_names);
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

/* Translates HLO text to StableHLO text and reads that. */
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
