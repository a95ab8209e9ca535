/* Control code that many tiles have in common runs once for all of them. control.c says how. */
#ifndef MACHINE_CONTROL_H
#define MACHINE_CONTROL_H

#include "state.h"

typedef struct control_group control_group;

/* Something to run on a tile. */
typedef struct control_job {
  uint32_t tile;
  /* only its workers run; NULL: the tile is alone, and its supervisor runs, too */
  const control_group *group;
} control_job;

/* A superstep begins. */
void control_begin(machine *m);
/* Advances the groups until they wait for workers or ask for a sync. The jobs have to be run before
 * the next call, and are valid until then. Returns their number; 0: all tiles have asked. */
uint32_t control_advance(machine *m, const control_job **jobs);
/* The workers that a job starts, by number. Their clocks count from *from. */
const worker_start *control_starts(const machine *m, const control_job *job, uint64_t *from);
void control_remove_tile(machine *m, uint32_t tile); /* its workers have faulted */
/* All tiles have asked for a sync: tiles at the same place join. */
void control_merge_groups(machine *m);

/* Every supervisor gets the host's answer. */
void control_answer(machine *m, uint32_t answer);
/* All tiles leave their groups: their contexts are as if they had run alone. */
void control_write_back(machine *m);
void control_free(machine *m); /* frees all, without that */

#endif
