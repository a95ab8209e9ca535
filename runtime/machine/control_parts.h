/* Interface of the files of control code (control*.c). control.c says how it works. */
#ifndef MACHINE_CONTROL_PARTS_H
#define MACHINE_CONTROL_PARTS_H

#include "control.h"

enum {
  MAX_LOADS = 32,
  MAX_STORES = 32,
  MAX_BLOCKS = 256,
  MAX_WALK = 100000 /* instructions */
};

struct control_group {
  uint32_t class_number;
  bool runs;      /* it has not asked for a sync in this superstep */
  uint64_t round; /* the round in which it began to wait for its workers */
  uint32_t pc;
  uint32_t x[REGISTER_SINK + 1];
  uint64_t unknown;      /* bits: registers that are in the tiles' contexts, not in x */
  uint64_t instructions; /* executed, and not yet added in the tiles' contexts */
  uint32_t sync_rd;      /* of the last tile.hostsync */
  uint32_t *tiles;
  size_t num_tiles, tiles_capacity;
  /* The last walk */
  worker_start starts[ISA_MAX_WORKERS]; /* clocks from its start on */
  bool has_starts;
  uint64_t cycles;
};

typedef struct control_class {
  uint64_t *equal; /* bit per word from the base of tile memory: equal on all tiles of the class? */
  size_t num_equal, equal_capacity; /* of 64 words each */
  uint32_t *tiles;
  size_t num_tiles, tiles_capacity;
} control_class;

typedef struct load {
  uint8_t id; /* OP_LB … */
  uint32_t address, value;
} load;

typedef struct store {
  uint8_t bytes;
  bool by_sp;
  uint32_t sp, address, value;
  bool timed; /* `value` is relative to the tile's clock at the start of the walk */
} store;

typedef struct block {
  uint32_t pc, words;
} block;

/* The effects of control code from the state of a group on, until it waits. */
typedef struct effects {
  uint32_t x[REGISTER_SINK + 1];
  uint64_t read, written; /* registers; read: before they were written */
  uint64_t timed; /* registers whose value is relative to the clock at the start of the walk */
  bool misread;   /* a timed register was read */
  uint32_t pc;    /* behind it */
  uint64_t slots, instructions;
  load loads[MAX_LOADS];
  store stores[MAX_STORES];
  block blocks[MAX_BLOCKS]; /* whose words have not been compared yet */
  size_t num_loads, num_stores, num_blocks;
  worker_start starts[ISA_MAX_WORKERS];
  bool has_starts;
  stop why;
  uint32_t stop_argument, host_code, sync_rd;
  tile_acks acks; /* open: tile.sans was executed; its clock is relative to the start of the walk */
} effects;

struct control {
  uint32_t *class_of; /* by tile */
  control_class *classes;
  size_t num_classes, classes_capacity;
  control_group **group_of; /* by tile; NULL: it is alone */
  control_group **groups;
  size_t num_groups, groups_capacity;
  control_job *jobs;
  size_t num_jobs, jobs_capacity;
  uint32_t num_splits; /* in this superstep */
  uint64_t round;      /* counts calls of control_advance */
  bool may_merge;      /* some tiles are alone, or groups may have become equal */
  effects s;           /* of the current walk */
};

/* control.c: groups */

void control_add_tile(control *c, control_group *g, uint32_t number);
/* One without tiles, in the state of `like`. */
control_group *control_new_group(control *c, const control_group *like);

/* control_classes.c: which tiles have the same code */

void control_first_class(control *c, uint32_t num_tiles); /* of all tiles */
void control_free_classes(control *c);
/* Are the block's words the same on all tiles of the class? */
bool control_is_equal(const machine *m, const control_class *of, const block *b);
/* Compares the walk's blocks on all tiles of the group's class. Tiles that differ from the group's
 * first tile get new classes by their words; the first walk of each such class compares again. */
void control_compare_blocks(machine *m, control *c, control_group *g);

/* control_walk.c: walks control code from the state of a group */

/* Walks the group's code to its next stop, into c->s. False: its tiles have to go alone. Words that
 * have not been compared yet are taken from its first tile. */
bool control_walk(machine *m, control *c, const control_group *g);
/* What a load finds in the tile's memory; false if it is not legal. */
bool control_read_memory(const machine *m, const tile *t, uint8_t id, uint32_t address,
                         uint32_t *value);
/* Where a store of the supervisor goes, by the interpreter's rules; NULL if it is not legal. */
uint8_t *control_store_place(machine *m, tile *t, const store *s);

static inline const uint8_t *words_at(const machine *m, const tile *t, uint32_t address)
{
  return t->memory + (address - m->target.memory_base);
}

#endif
