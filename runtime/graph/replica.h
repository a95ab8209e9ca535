/* Copies between replicas whose packet headers a program's own vertices write. */
#ifndef GRAPH_REPLICA_H
#define GRAPH_REPLICA_H

#include <populus/program.h>

/* Words for each tile: the header of what it sends, then that of what it receives
 * (../isa/isa.h). */
enum { REPLICA_HEADER_WORDS = 8 };

/* As pop_program_cross_replica_copy, of a graph that is loaded once for each replica, on tiles.
 * But packet headers in memory say from where to where on a tile words go, and how many. So each
 * replica may send a different part of its data.
 *
 * `headers`, unsigned int [tiles, REPLICA_HEADER_WORDS], has a row for each tile of the source,
 * in ascending order; the destination is on the same tiles. A row has the header of the one
 * packet that the tile sends, to the same tile of another replica, and of the one that it
 * receives (packet headers of isa/isa.h).
 *
 * `source` and `destination` stand for what is read and written. Each is one run of elements on
 * each tile, in the same order, with as many elements as a packet has at most. The headers must
 * point into the memory of their variables. `source` and `destination` may be the same. */
pop_program graph_headed_replica_copy(pop_tensor source, pop_tensor destination, pop_tensor headers,
                                      const pop_replica_pair *map, size_t count, const char *name);

#endif
