/* Tile memory that other ranks of the same host read where it is: a copy between replicas of two of its ranks is then one copy,
 * as within a process. MPI would pack what lies on a thousand tiles piece by piece into buffers, and unpack it on the other side.
 *
 * The memory has no name and is in no file system (memfd_create). What MPI has for this, MPI_Win_allocate_shared, is a file
 * under /dev/shm with Open MPI and MPICH: of 64 MiB in a container, and who writes more is killed by SIGBUS. A rank opens that of
 * another one as /proc/<pid>/fd/<number>, and knows by a random number behind the tiles that it is the right one: so nobody has to
 * say which ranks are on the same host. What cannot be opened, as in another container, goes by messages. */
#ifndef MACHINE_SHARED_TILES_H
#define MACHINE_SHARED_TILES_H

#include "machine.h"

/* memory.c: so many bytes, all zero, as a file descriptor; -1: not to be had. */
int shared_tiles_new(size_t bytes);
/* All zero again. */
void shared_tiles_clear(int file, size_t bytes);

/* Between this rank and another one; of ranks that machine_share has not been called for, and of its own: false. */
bool shared_tiles_reads(const machine_group *group, uint32_t rank);
bool shared_tiles_are_read_by(const machine_group *group, uint32_t rank);
/* Where the tile's memory is, only to be read: of a replica of a rank that this one reads. */
uint8_t *shared_tiles_find(const machine_group *group, uint32_t replica, uint32_t tile);

void shared_tiles_forget(machine *m);

#endif
