/* What bytes of vertices are for, while they are lowered. */
#ifndef COMPILER_LOWER_VERTEX_BYTES_H
#define COMPILER_LOWER_VERTEX_BYTES_H

#include "compiler/compilation.h"

/* Of one state: its fields' pointers and values; what no field covers is padding. `copies`: of the
 * compiler's copy vertices, whose pointers lead to descriptors. */
void add_state_bytes(profile_vertex_use *use, const pop_vertex_type *type, bool copies);

/* The work's uses are the last of the compilation; that of a type is there once. */
void begin_vertex_uses(const compilation *c, tile_work *work);
void add_vertex_use(compilation *c, tile_work *work, const profile_vertex_use *use);
/* Of all uses of a work. */
uint64_t vertex_use_bytes(const compilation *c, const tile_work *work);

#endif
