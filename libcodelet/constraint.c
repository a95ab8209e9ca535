/* Constraints of a vertex on where its data lie:
 *
 *   constraint = place ("!=" | "==") place
 *   place      = ("elem" | "region") "(" "*" ["*"] field ")"
 *
 * with blanks anywhere between. Both places must be of the same kind, elements or regions. Public
 * codelets use nothing else (graphcore/poplibs: 50 of them; and 5 other repositories).
 */
#include <populus/arena.h>
#include <populus/vertex_table.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
  const pop_vertex_type *type;
  const char *text, *at;
} parser;

static pop_error *refuse(const parser *p, const char *wanted)
{
  return pop_error_new(POP_ERROR_CODELET_COMPILE,
                       "constraint '%s' does not parse: at '%s' there must be %s", p->text,
                       *p->at ? p->at : "the end", wanted);
}

static void skip_blanks(parser *p)
{
  while (isspace((unsigned char)*p->at)) ++p->at;
}

static bool take(parser *p, const char *token)
{
  skip_blanks(p);
  size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0) return false;
  p->at += length;
  return true;
}

/* Names of fields may have letters outside ASCII, and clang takes dollars. */
static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static pop_error *take_field(parser *p, uint32_t *field)
{
  skip_blanks(p);
  const char *start = p->at, *end = start;
  while (is_word(*end)) ++end;
  size_t length = (size_t)(end - start);
  if (length == 0) return refuse(p, "the name of a field");
  for (uint32_t i = 0; i < p->type->num_fields; ++i) {
    const char *name = p->type->fields[i].name;
    if (strlen(name) != length || memcmp(name, start, length) != 0) continue;
    p->at = end;
    *field = i;
    return NULL;
  }
  return pop_error_new(POP_ERROR_CODELET_COMPILE,
                       "constraint '%s' names '%.*s': vertex '%s' has no such field", p->text,
                       (int)length, start, p->type->name);
}

static pop_error *take_place(parser *p, bool *regions, uint32_t *field, uint32_t *depth)
{
  *regions = take(p, "region");
  if (!*regions && !take(p, "elem")) return refuse(p, "'elem(' or 'region('");
  if (!take(p, "(")) return refuse(p, "'('");
  for (*depth = 0; take(p, "*");) ++*depth;
  if (*depth < 1 || *depth > 2) return refuse(p, "'*' or '**' and a field");
  POP_TRY(take_field(p, field));
  return take(p, ")") ? NULL : refuse(p, "')'");
}

static pop_error *check_depths(const parser *p, const pop_constraint *constraint)
{
  for (int i = 0; i < 2; ++i) {
    const pop_field *field = &p->type->fields[constraint->fields[i]];
    bool plain = field->kind == POP_FIELD_CONSTANT && field->layout == POP_LAYOUT_SCALAR;
    if (plain || (constraint->depths[i] == 2 && !field->has_rows))
      return pop_error_new(POP_ERROR_CODELET_COMPILE, "constraint '%s': field '%s' %s", p->text,
                           field->name,
                           plain ? "is a plain value and points at nothing"
                                 : "has no rows: one '*' leads to its data");
  }
  return NULL;
}

pop_error *pop_constraint_parse(const pop_vertex_type *type, const char *text,
                                pop_constraint *constraint)
{
  parser p = {type, text, text};
  bool regions[2];
  POP_TRY(take_place(&p, &regions[0], &constraint->fields[0], &constraint->depths[0]));
  constraint->equal = take(&p, "==");
  if (!constraint->equal && !take(&p, "!=")) return refuse(&p, "'!=' or '=='");
  const char *second = p.at;
  POP_TRY(take_place(&p, &regions[1], &constraint->fields[1], &constraint->depths[1]));
  skip_blanks(&p);
  if (*p.at) return refuse(&p, "nothing more");
  if (regions[0] != regions[1]) {
    p.at = second;
    return refuse(&p, regions[0] ? "'region(', as before" : "'elem(', as before");
  }
  constraint->regions = regions[0];
  return check_depths(&p, constraint);
}

char *pop_constraint_text(const pop_vertex_type *type, const pop_constraint *constraint)
{
  const char *what = constraint->regions ? "region" : "elem";
  const char *stars[2];
  for (int i = 0; i < 2; ++i) stars[i] = constraint->depths[i] == 2 ? "**" : "*";
  return pop_xasprintf(
      "%s(%s%s) %s %s(%s%s)", what, stars[0], type->fields[constraint->fields[0]].name,
      constraint->equal ? "==" : "!=", what, stars[1], type->fields[constraint->fields[1]].name);
}
