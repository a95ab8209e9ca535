/* Copies between replicas whose packet headers a program's own vertices write. */
#ifndef GRAPH_REPLICA_H
#define GRAPH_REPLICA_H

#include <populus/program.h>

/* Of a tile: the header of what it sends, then that of what it receives (../isa/isa.h). */
enum { REPLICA_HEADER_WORDS = 8 };

/* As pop_program_cross_replica_copy, of a graph that is loaded once for each replica, for tiles: but where on a tile words come from and
 * go to, and how many they are, is in memory, so that each replica may send another part of what it has. `headers`, unsigned int
 * [tiles, REPLICA_HEADER_WORDS], has for each tile of the source, which are those of the destination, in ascending order, what isa/isa.h
 * calls packet headers: of one packet that the tile sends, to the same tile of another replica, and of the one that it receives.
 * `source` and `destination` stand for what is read and written: one run of elements on each tile, in the same order, of variables whose
 * blocks the headers lead to, with as many elements as one packet has at most. They may be the same. */
pop_program graph_headed_replica_copy(pop_tensor source, pop_tensor destination, pop_tensor headers,
                                      const pop_replica_pair *map, size_t count, const char *name);

#endif
