/* Shared by the only files that use libclang. They look at the syntax tree: reflect.c (which
 * classes and structs are vertex types), kind.c (their kinds), probe.c (what only the compiler
 * knows about them), fields.c (their fields), vertex_name.c, constraints.c, mark.c. */
#ifndef POPC_REFLECT_INTERNAL_H
#define POPC_REFLECT_INTERNAL_H

#include "popc_internal.h"

#include <clang-c/Index.h>

typedef enum vertex_result {
  RETURNS_BOOL,
  RETURNS_VOID,
  RETURNS_OTHER,
  RETURNS_OPEN
} vertex_result;

/* What makes a class a vertex. */
typedef struct vertex_class {
  bool open; /* depends on template parameters: only the compiler knows the rest */
  bool is_vertex;
  pop_vertex_kind kind;
  CXCursor compute; /* where compute() is to be seen; null: there is none */
  vertex_result result;
  CXCursor first_virtual; /* a virtual function or base class; null: there is none */
  bool has_compute;       /* there is one, seen or not */
  bool has_two_kinds;
} vertex_class;

/* A class about which the compiler is asked, and the answer. */
typedef struct probe {
  const char *name; /* as generated C++ can write it */
  bool is_vertex;
  pop_vertex_kind kind;
  bool has_compute; /* that can be called as the kind wants */
  vertex_result result;
  bool has_two_kinds;
} probe;

/* A base class that depends on template parameters, and what it is in an instantiation. */
typedef struct dependent_base {
  const char *derived;                /* the class that has it, as generated C++ can write it */
  const char *name;                   /* of the base's template */
  CXCursor derived_class, base_class; /* answered; null: there is no such class */
} dependent_base;

/* What generated C++ calls a class whose template arguments only its author can write. */
typedef struct class_alias {
  const char *meaning; /* what tells it from others */
  const char *name, *definition;
} class_alias;

typedef struct reflection {
  CXTranslationUnit unit;
  popc_target target;
  pop_arena *arena;
  popc_vertex *vertices;
  size_t num_vertices, capacity;
  CXCursor *cursors; /* parallel to vertices */
  size_t num_cursors, cursors_capacity;
  vertex_class *classes; /* parallel to vertices; of C++ only */
  size_t num_classes, classes_capacity;
  probe *probes; /* open classes: collected at the first look, answered at the second */
  size_t num_probes, probes_capacity;
  dependent_base *bases; /* of open classes: the same */
  size_t num_bases, bases_capacity;
  class_alias *aliases;
  size_t num_aliases, aliases_capacity;
  bool probed; /* this is the second look */
  pop_bytes *diagnostics;
  unsigned num_errors;
  bool colour; /* in the diagnostics */
} reflection;

/* reflect.c */

/* Reports an error in clang's form at the cursor. */
void reflect_error(reflection *r, CXCursor at, const char *format, ...) POP_PRINTF(3, 4);
/* In the arena. Disposes of `string`. */
const char *reflect_string(reflection *r, CXString string);
/* Is it `::poplar::name`? */
bool reflect_is_poplar(CXCursor declaration, const char *name);

/* kind.c */

/* Calls visit for each base class (its declaration). */
typedef void (*base_visitor)(void *context, CXCursor base, bool is_public);
void reflect_bases(CXCursor class_cursor, base_visitor visit, void *context);
/* The cursor that shows the class's bases and functions: the class itself, also as an explicit
 * specialization, or the template that it was instantiated from. */
CXCursor reflect_with_members(CXCursor class_cursor);
/* Does the base depend on template parameters? Then it is no class yet. */
bool reflect_is_dependent(CXCursor base);
/* Is it in a header of the C++ library or of ours? A user's headers may be system headers, too. */
bool reflect_is_in_library(CXCursor cursor);
/* Notes the dependent bases of a class, and those of its bases, in r->bases. `name`: as generated C++
 * can write the class. */
void reflect_note_bases(reflection *r, CXCursor class_cursor, const char *name);
vertex_class reflect_class(CXCursor class_cursor);
/* Fills in compute, result and first_virtual for class->kind. */
void reflect_compute(CXCursor class_cursor, vertex_class *class);
/* Says what is wrong with class->compute, which is not null. */
void reflect_check_compute(reflection *r, const char *name, const vertex_class *class);

/* probe.c */

/* The text that asks about r->probes and r->bases, to be appended to the source. */
void reflect_write_probes(const reflection *r, pop_bytes *out);
/* Fills in the answers from the syntax tree of the source with that text. */
void reflect_read_probes(reflection *r);
/* NULL if there is none of that name. */
const probe *reflect_find_probe(const reflection *r, const char *name);
/* The class that a dependent base is in an instantiation; null if that is not known. */
CXCursor reflect_find_base(const reflection *r, CXCursor derived, CXCursor base);

/* vertex_name.c: the qualified name of a class, in the arena. The first is for symbols, the second
 * for people, the third for generated C++, which needs the alias's definition, if there is one (NULL:
 * there is none). */
char *reflect_class_name(reflection *r, CXCursor cursor);
char *reflect_vertex_name(reflection *r, CXCursor cursor);
const char *reflect_cxx_name(reflection *r, CXCursor cursor);
const class_alias *reflect_alias(reflection *r, CXCursor cursor);

/* fields.c: fills in fields, state size and alignment, and the assertions for the compiler. */
void reflect_fields(reflection *r, CXCursor record, popc_vertex *vertex);

/* constraints.c: fills in the constraints of a vertex type whose fields are filled in. */
void reflect_constraints(reflection *r, CXCursor record, pop_vertex_type *type);

/* mark.c: appends a mark, a section of the given name, if `mentions` holds for one of the source's
 * files. For tiles only. */
typedef bool (*reflect_mentions)(const char *path, const char *text, size_t size);
void reflect_mark(reflection *r, reflect_mentions mentions, const char *section, pop_bytes *out);

/* architecture.c: appends a mark if the source depends on the kind of tile. */
void reflect_architecture(reflection *r, pop_bytes *out);

/* reflect_vectors.c: appends a mark if a file of the source mentions vectors of 64 bits. */
void reflect_vectors(reflection *r, pop_bytes *out);

#endif
