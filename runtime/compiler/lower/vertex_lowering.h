/* State of lowering one compute set, while it goes over its tiles and their vertices: vertex.c,
 * vertex_fields.c. */
#ifndef COMPILER_LOWER_VERTEX_LOWERING_H
#define COMPILER_LOWER_VERTEX_LOWERING_H

#include "base/order.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/rules.h"
#include "compiler/lower/vertex_bytes.h"
#include "compiler/segments.h"

enum { WORD = 4, MIN_ALIGN = 8 };

/* Data of vertices besides their states. */
typedef enum field_data_kind {
  FIELD_DATA, /* constant vectors; vertices may write their own, as all data of the graph */
  ROW_TABLE,  /* tables of rows */
  LIST_TABLE, /* tables of packed rows */
  FIELD_DATA_COUNT
} field_data_kind;

/* Kinds of buffers. If the parts of an input are of different kinds, the larger kind counts. An
 * in-out is filled before the compute set and sent after it: its buffer belongs to several
 * categories. */
typedef enum buffer_kind {
  REARRANGEMENT,
  MESSAGE,
  GLOBAL_MESSAGE,
  OUTPUT,
  IN_AND_OUT,
  BUFFER_KIND_COUNT
} buffer_kind;

/* An input buffer that other inputs with the same data may use. */
typedef struct shared_input {
  uint64_t hash;
  size_t first_segment, num_segments;
  bool interleaved;
  uint32_t side;
  place at;
  uint32_t next; /* in the chain of the hash, or COMPILER_NONE */
} shared_input;

typedef struct field_access {
  uint32_t block;
  uint32_t bytes_written;
  bool reads;
} field_access;

enum { HASH_CHAINS = 1024 };

typedef struct vertex_lowering {
  lowering *l;
  const char *name;
  transfer_list before, after;
  bool calls_supervisor;
  field_access *accesses;
  size_t num_accesses, accesses_capacity;

  /* The current tile. */
  uint32_t tile;
  const uint32_t *vertices;
  size_t num_vertices;
  /* Blocks or COMPILER_NONE: */
  uint32_t buffers[BUFFER_KIND_COUNT][2][NUM_SIDES]; /* [interleaved] */
  uint32_t field_data[FIELD_DATA_COUNT][NUM_SIDES];
  pointer *pointers; /* by vertex and field; each vertex's rows follow its fields */
  size_t num_pointers, pointers_capacity;
  segment *segments; /* of the shared inputs, then of the current field */
  size_t num_segments, segments_capacity;
  shared_input *shared;
  size_t num_shared, shared_capacity;
  uint32_t chains[HASH_CHAINS];
  keyed *order; /* of the vertices: by cost, then by worker */
  uint32_t *workers;
  size_t order_capacity, workers_capacity;
  profile_vertex_use *uses; /* what each vertex takes */
  size_t uses_capacity;
  size_t first_rule; /* in c->placement_rules: of the tile */

  /* The current vertex. */
  profile_vertex_use *use;
  const pop_vertex_type *type;
  size_t first_pointer; /* of its fields */
  uint8_t *sides;       /* by field */
  size_t sides_capacity;
} vertex_lowering;

static inline uint32_t align_up(uint32_t bytes, uint32_t alignment)
{
  return (bytes + alignment - 1) / alignment * alignment;
}

/* vertex_fields.c: appends to `pointers` what each field of the vertex points at, in the order of
 * its type's fields. Where a field cannot point at its tensor directly, adds a buffer and the
 * transfers that fill or empty it. */
void place_fields(vertex_lowering *v, uint32_t vertex_number);

#endif
