/* tile.copy and tile.copyrows (isa.h): reads descriptors, checks them, tells their cost, and does
 * the copies. */
#ifndef MACHINE_BLOCK_COPY_H
#define MACHINE_BLOCK_COPY_H

#include "state.h"

/* `count` runs of `bytes`, with these steps from run to run (modulo 2^32). */
typedef struct block_copy {
  uint32_t source, destination, bytes, count, source_step, destination_step;
  uint32_t behind; /* address behind the descriptor */
  uint64_t slots;  /* without the instruction's own */
} block_copy;

/* Reads the descriptor at `address`. False if the descriptor or its copy is not legal: c->fault
 * (kind, address, detail) says why. */
bool block_copy_read(machine *m, const tile *t, context *c, uint32_t address, bool rows,
                     block_copy *copy);
/* Does a copy that block_copy_read has found legal. */
void block_copy_run(const machine *m, const tile *t, const block_copy *copy);

/* Does a tile.copy that lies in the context's windows and takes no more than `left` slots. Returns
 * its slots without the instruction's own; 0: it is no such copy, and nothing is done. */
uint64_t block_copy_plain(const context *c, uint32_t address, int64_t left);

#endif
