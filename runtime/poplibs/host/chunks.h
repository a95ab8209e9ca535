/* Tables of chunks, for collectives: data that are cut into as many chunks as a ring has positions, so that each tile has a part
 * of every chunk, and a chunk is taken, combined or put back by copies within tiles. Which chunk it is the device knows.
 *
 * On each tile a table's elements are one run: chunk 0's part, chunk 1's, …, each of as many elements as the tile's part of
 * a row has; the last chunks' parts may be shorter, or empty. */
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
  size_t *columns; /* by part of `on`: of a row */
  size_t all_columns;
} chunk_table;

/* Over elements that are somewhere already, of which each tile has one run. Rows on a tile are whole words. Free with
 * chunks_free. */
chunk_table chunks_of(pop_graph *graph, const char *call, const char *name, pop_tensor flat,
                      size_t num_chunks);
/* A new table [num_chunks, columns]: *rows is it in that shape. */
chunk_table chunks_new(pop_graph *graph, const char *call, const char *name, pop_type type,
                       size_t num_chunks, size_t columns, pop_tensor *rows);
void chunks_free(chunk_table *t);

/* Has each tile one run of the elements, with nothing between? */
bool chunks_are_runs(pop_tensor flat, const spread *on);

/* A variable for one chunk: its elements lie where the table's do. Chunks of chunks_new have them in the order of columns. */
pop_tensor chunks_new_row(const chunk_table *t);
/* row = chunk `at` (unsigned int [1]); zeros where that has no elements. */
void chunks_take(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence);
void chunks_put(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence);
/* row = received op chunk `at`. */
void chunks_combine(const chunk_table *t, pop_binary_op op, pop_tensor at, pop_tensor received,
                    pop_tensor row, pop_program sequence);

/* ---- chunks that stay in the table ----
 *
 * Between replicas that are loaded one by one, chunks can go from table to table: vertices say on each tile where the one to be
 * sent is (graph/replica.h). A state has that, and which chunk it is. Beginning with a state at some chunk, each chunks_pass sends
 * the chunk before the one that was sent last, and receives the one before that. */

/* Elements are words, tiles have a part of each chunk, and replicas are loaded one by one, on tiles. */
bool chunks_can_stay(const chunk_table *t);
/* At chunk `at` (unsigned int [1]). */
pop_tensor chunks_new_state(const chunk_table *t, pop_tensor at, pop_program sequence);
/* To a row of chunks_new_row; null: to its place in the table. Each replica's chunk goes where the map says. */
void chunks_pass(const chunk_table *t, pop_tensor state, pop_tensor row,
                 const pop_replica_pair *map, size_t count, pop_program sequence);
/* The chunk that has come to the row = row op that chunk. */
void chunks_combine_here(const chunk_table *t, pop_binary_op op, pop_tensor state, pop_tensor row,
                         pop_program sequence);

#endif
