/* The vertex table: vertex types as JSON text, in the section `.populus.vertices` of an object.
 * popc writes it, gp.h reads it. */
#ifndef POPULUS_VERTEX_TABLE_H
#define POPULUS_VERTEX_TABLE_H

#include <populus/error.h>
#include <populus/storage.h>
#include <populus/vertex_type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POP_VERTEX_TABLE_SECTION ".populus.vertices"
#define POP_VERTEX_TABLE_VERSION 1

/* Appends the table, one line of JSON text per vertex type, without a NUL. Same types, same
 * bytes. */
void pop_vertex_table_write(const pop_vertex_type *types, size_t count, pop_bytes *out);

/* Reads a tile's table and checks it: every key there and of the right form, no two vertices and no
 * two fields of a vertex with one name, fields inside the state, aligned, and apart from each
 * other. The types live in `arena`. `where` is for messages. Errors: FILE_LOAD. */
POP_MUST_CHECK pop_error *pop_vertex_table_read(const char *text, size_t size, const char *where,
                                                pop_arena *arena, pop_vertex_type **types,
                                                size_t *count);

/* The same for a host object's table: offsets, sizes and state are the host's
 * (pop_host_layout_forms). */
POP_MUST_CHECK pop_error *pop_vertex_table_read_host(const char *text, size_t size,
                                                     const char *where, pop_arena *arena,
                                                     pop_vertex_type **types, size_t *count);

/* constraint.c: "elem(*a) != elem(**b)" and back. `type` must have its fields already. Errors:
 * CODELET_COMPILE, which say what stands where something else must. The caller frees the text. */
POP_MUST_CHECK pop_error *pop_constraint_parse(const pop_vertex_type *type, const char *text,
                                               pop_constraint *constraint);
char *pop_constraint_text(const pop_vertex_type *type, const pop_constraint *constraint);

#ifdef __cplusplus
}
#endif
#endif
