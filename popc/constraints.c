/* Constraints on where a vertex's data lie. poplar/Constraint.hpp (C++) and CONSTRAINT of
 * populus/fields.h (C) leave annotations "populus:constraint:<text>" on the class, on its compute()
 * or on a base class. libcodelet parses the text.
 */
#include "reflect_internal.h"

#include <populus/vertex_table.h>

#include <stdlib.h>
#include <string.h>

typedef struct constraint_list {
  reflection *r;
  const pop_vertex_type *type;
  pop_constraint *items;
  size_t count, capacity;
} constraint_list;

static void take_text(constraint_list *list, CXCursor at, const char *text)
{
  pop_constraint parsed;
  pop_error *error = pop_constraint_parse(list->type, text, &parsed);
  if (error)
    reflect_error(list->r, at, "%s", pop_error_message(error));
  else
    pop_push(list->items, list->count, list->capacity, parsed);
  pop_error_free(error);
}

static enum CXChildVisitResult take_annotation(CXCursor cursor, CXCursor parent, CXClientData data)
{
  (void)parent;
  static const char prefix[] = "populus:constraint:";
  constraint_list *list = data;
  if (clang_getCursorKind(cursor) == CXCursor_AnnotateAttr) {
    const char *text = reflect_string(list->r, clang_getCursorSpelling(cursor));
    if (!strncmp(text, prefix, sizeof prefix - 1))
      take_text(list, cursor, text + sizeof prefix - 1);
  } else if (clang_getCursorKind(cursor) == CXCursor_CXXMethod) {
    return CXChildVisit_Recurse;
  }
  return CXChildVisit_Continue;
}

/* libclang shows no members of an explicit instantiation: its template has the attributes. An
 * explicit specialization has its own. */
static void take_class(void *context, CXCursor record, bool is_public)
{
  (void)is_public;
  reflect_bases(record, take_class, context);
  clang_visitChildren(reflect_with_members(record), take_annotation, context);
}

void reflect_constraints(reflection *r, CXCursor record, pop_vertex_type *type)
{
  constraint_list list = {.r = r, .type = type};
  take_class(&list, record, true);
  size_t bytes = list.count * sizeof *list.items;
  pop_constraint *kept = pop_arena_alloc(r->arena, bytes);
  if (bytes) memcpy(kept, list.items, bytes);
  free(list.items);
  type->constraints = kept;
  type->num_constraints = list.count;
}
