/* Control code that many tiles have in common runs once for all of them. control.c says how. */
#ifndef MACHINE_CONTROL_H
#define MACHINE_CONTROL_H

#include "state.h"

typedef struct control_group control_group;

/* What is to run on a tile. */
typedef struct control_job {
  uint32_t tile;
  const control_group *group; /* its workers; NULL: the tile is alone, its supervisor, too */
} control_job;

/* A superstep begins. */
void control_begin(machine *m);
/* Takes the groups to where they wait for workers or ask for a sync. The jobs have to be run before the
 * next call; they stay where they are until then. Answers how many there are; 0: all tiles have asked. */
uint32_t control_advance(machine *m, const control_job **jobs);
/* The workers that a job starts, by number; their clocks count from the answer on. */
const worker_start *control_starts(const machine *m, const control_job *job, uint64_t *from);
void control_drop(machine *m, uint32_t tile); /* its workers have faulted */
/* All have asked for a sync: tiles that are where others are join them. */
void control_settle(machine *m);

/* Every supervisor gets the host's answer. */
void control_answer(machine *m, uint32_t answer);
/* Everyone's context is as if it had run alone, and everyone is alone. */
void control_dissolve(machine *m);
void control_forget(machine *m); /* all, without that */

#endif
