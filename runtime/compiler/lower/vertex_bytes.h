/* Counts what the bytes of vertices are for, while they are lowered. */
#ifndef COMPILER_LOWER_VERTEX_BYTES_H
#define COMPILER_LOWER_VERTEX_BYTES_H

#include "compiler/compilation.h"

/* Counts one state: pointers and values of its fields; bytes that no field covers are padding.
 * `copies`: the type is a copy vertex of the compiler's, whose pointers lead to descriptors. */
void add_state_bytes(profile_vertex_use *use, const pop_vertex_type *type, bool copies);

/* The uses of a work are the last ones of the compilation, one for each vertex type. */
void begin_vertex_uses(const compilation *c, tile_work *work);
void add_vertex_use(compilation *c, tile_work *work, const profile_vertex_use *use);
/* The bytes of all uses of a work. */
uint64_t vertex_use_bytes(const compilation *c, const tile_work *work);

#endif
