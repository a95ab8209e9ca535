/* Chunk tables, for collectives. A table holds data cut into as many chunks as a ring has
 * positions. Each tile has a part of every chunk. So a chunk is taken, combined or put back by
 * copies within tiles. The chunk's number is known only on the device.
 *
 * A tile's elements of the table are one run: its part of chunk 0, of chunk 1, …. Each part has
 * as many elements as the tile has of a row. The parts of the last chunks may be shorter, or
 * empty. */
#ifndef POPLIBS_HOST_CHUNKS_H
#define POPLIBS_HOST_CHUNKS_H

#include "poplibs/host/spread.h"
#include <populus/popops.h>

typedef struct chunk_table {
  pop_graph *graph;
  const char *call, *name;
  pop_tensor flat;
  spread on; /* of flat */
  size_t num_chunks;
  size_t *columns; /* for each part of `on`: the tile's elements of a row */
  size_t all_columns;
} chunk_table;

/* A table over elements that exist already. Each tile must have them in one run
 * (chunks_are_runs). A tile's part of a row is whole words. Free with chunks_free. */
chunk_table chunks_of(pop_graph *graph, const char *call, const char *name, pop_tensor flat,
                      size_t num_chunks);
/* A table over a new variable; *rows is that variable as [num_chunks, columns]. */
chunk_table chunks_new(pop_graph *graph, const char *call, const char *name, pop_type type,
                       size_t num_chunks, size_t columns, pop_tensor *rows);
void chunks_free(chunk_table *t);

/* Are the elements of each tile one run, without gaps? */
bool chunks_are_runs(pop_tensor flat, const spread *on);

/* A variable for one chunk, mapped as the table's elements are. In tables of chunks_new the
 * elements of a chunk are in the order of the columns. */
pop_tensor chunks_new_row(const chunk_table *t);
/* row = chunk `at` (unsigned int [1]); zeros where the chunk has no elements. */
void chunks_take(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence);
void chunks_put(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence);
/* row = received op chunk `at`. */
void chunks_combine(const chunk_table *t, pop_binary_op op, pop_tensor at, pop_tensor received,
                    pop_tensor row, pop_program sequence);

/* ---- chunks that stay in the table ----
 *
 * Replicas that are loaded one by one can send a chunk from table to table, without a row
 * between. On each tile a vertex writes the packet headers, which say where the chunk is
 * (graph/replica.h). The headers and the chunk's number are in a state. The state begins at some
 * chunk. Each chunks_pass sends the chunk before the one that was sent last, and receives the
 * one before that. */

/* True if elements are words, each tile has a part of every chunk, and replicas are loaded one
 * by one, on tiles. */
bool chunks_fit_in_place(const chunk_table *t);
/* A state at chunk `at` (unsigned int [1]). */
pop_tensor chunks_new_state(const chunk_table *t, pop_tensor at, pop_program sequence);
/* The received chunk goes to `row` (of chunks_new_row), or, if that is null, to its place in the
 * table. `map` says to which replica each replica sends. */
void chunks_pass(const chunk_table *t, pop_tensor state, pop_tensor row,
                 const pop_replica_pair *map, size_t count, pop_program sequence);
/* The chunk that was received last, in the table = row op that chunk. */
void chunks_combine_here(const chunk_table *t, pop_binary_op op, pop_tensor state, pop_tensor row,
                         pop_program sequence);

#endif
