/* The host threads that run tiles. */
#ifndef MACHINE_CREW_H
#define MACHINE_CREW_H

#include <stdint.h>

struct machine;
typedef struct crew crew;

/* Of `num_threads` threads with the one that calls crew_run; 0: as many as the process may use. */
crew *crew_new(uint32_t num_threads);
void crew_free(crew *c); /* NULL is fine */

/* Calls run(m, tile) for every tile of the machine, in any order, and returns when all have returned.
 * `run` answers how much it has done, in instructions. */
void crew_run(crew *c, struct machine *m, uint64_t (*run)(struct machine *m, uint32_t tile));

#endif
