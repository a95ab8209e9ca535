/* Shared by the files that look at the syntax tree: reflect.c (which classes and structs are vertex
 * types) and fields.c (what their fields are). The only files that know libclang. */
#ifndef POPC_REFLECT_INTERNAL_H
#define POPC_REFLECT_INTERNAL_H

#include "popc_internal.h"

#include <clang-c/Index.h>

typedef struct reflection {
  CXTranslationUnit unit;
  popc_target target;
  pop_arena *arena;
  popc_vertex *vertices;
  size_t num_vertices, capacity;
  CXCursor *cursors; /* parallel to vertices */
  size_t num_cursors, cursors_capacity;
  pop_bytes *diagnostics;
  unsigned num_errors;
} reflection;

/* reflect.c */

/* An error of ours in the form of clang's, at the cursor. */
void reflect_error(reflection *r, CXCursor at, const char *format, ...) POP_PRINTF(3, 4);
/* In the arena. Disposes of `string`. */
const char *reflect_string(reflection *r, CXString string);
/* Calls visit for each base class (its declaration). */
void reflect_bases(CXCursor class_cursor, void (*visit)(void *context, CXCursor base),
                   void *context);
/* Is it `poplar::name`? */
bool reflect_is_poplar(CXCursor declaration, const char *name);

/* vertex_name.c: qualified name of a class, as generated C++ can write it. In the arena. */
char *reflect_class_name(reflection *r, CXCursor cursor);

/* fields.c: fills in fields, state size and alignment. */
void reflect_fields(reflection *r, CXCursor record, pop_vertex_type *type);

/* constraints.c: fills in the constraints of a vertex type that has its fields. */
void reflect_constraints(reflection *r, CXCursor record, pop_vertex_type *type);

#endif
