/* tile.copy and tile.copyrows (isa.h): what a descriptor says, whether it is legal, what it costs; and doing it. */
#ifndef MACHINE_BLOCK_COPY_H
#define MACHINE_BLOCK_COPY_H

#include "state.h"

/* `count` runs of `bytes`, the steps apart (modulo 2^32). */
typedef struct block_copy {
  uint32_t source, destination, bytes, count, source_step, destination_step;
  uint32_t behind; /* address behind the descriptor */
  uint64_t slots;  /* beside the instruction's own */
} block_copy;

/* Reads the descriptor at `address`. False if it or anything that it asks for is not legal: c->fault (kind, address,
 * detail) says why. */
bool block_copy_read(machine *m, const tile *t, context *c, uint32_t address, bool rows,
                     block_copy *copy);
/* Of a copy that block_copy_read has found legal. */
void block_copy_run(const machine *m, const tile *t, const block_copy *copy);

/* A plain copy all of which is in the context's windows, if that takes no more than `left` slots: done, and the slots
 * that it took beside the instruction's own. 0: it is not that, and nothing is done. */
uint64_t block_copy_plain(const context *c, uint32_t address, int64_t left);

#endif
