/* Control code runs once for many tiles.
 *
 * Supervisors that are at the same place with the same registers, and have the same code from there
 * on, do the same up to the next time they wait. Such tiles are a group:
 *
 *   group --walk--> effects: registers, time, workers started, words loaded and stored, until
 *                   tile.wait or a sync
 *         --take--> the effects are applied to every tile: stores, time. If a tile's memory has
 *                   another value in one of the words loaded, the tile leaves for a new group,
 *                   which is walked again; so one load tells apart the tiles that have to go
 *                   another way
 *
 * A walk changes nothing. It gives up at anything that control code does not consist of (calls of
 * vertices, CSRs except the cycle counter, floating point, anything that would fault), at the cycle
 * limit, and when it becomes long. Then the tiles of the group are alone until the next sync: each
 * interprets its own code from the place where the walk began, with every fault exact.
 *
 * Which tiles have the same code? The tiles of a class have equal words wherever one of its groups
 * has been. When a walk first comes to words, they are compared on all tiles of the class; tiles
 * with other words go to another class. Words of executable segments do not change; if the host
 * changes them, all this is forgotten.
 *
 * The cycle counter differs between tiles, by their clocks. A walk knows it relative to its own
 * start. Such a number may be stored, which is all that instrumented code does with it. A walk that
 * reads it for something else gives up.
 *
 * Registers that a vertex of the supervisor has written differ between tiles. They are `unknown` to
 * the group: a walk that reads one gives up. */
#include "control_parts.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAX_SPLITS = 32 /* splits of groups by loaded values, in one superstep */ };

/* Groups */

void control_add_tile(control *c, control_group *g, uint32_t number)
{
  pop_push(g->tiles, g->num_tiles, g->tiles_capacity, number);
  c->group_of[number] = g;
}

control_group *control_new_group(control *c, const control_group *like)
{
  control_group *g = pop_xmalloc(sizeof *g);
  *g = *like;
  g->tiles = NULL;
  g->num_tiles = g->tiles_capacity = 0;
  pop_push(c->groups, c->num_groups, c->groups_capacity, g);
  return g;
}

static void free_group(control_group *g)
{
  free(g->tiles);
  free(g);
}

/* Writes registers of the group into the tile's context. */
static void write_registers(machine *m, const control_group *g, uint32_t number, uint64_t mask)
{
  uint32_t *x = m->tiles[number].supervisor.x;
  for (uint32_t r = 1; r < 32; r++)
    if (mask >> r & 1) x[r] = g->x[r];
}

/* Writes to the tile's context what it would have if the tile had run alone. */
static void write_back(machine *m, const control_group *g, uint32_t number)
{
  context *supervisor = &m->tiles[number].supervisor;
  write_registers(m, g, number, ~g->unknown);
  supervisor->pc = g->pc;
  supervisor->instructions += g->instructions;
  supervisor->sync_rd = g->sync_rd;
}

static void leave(machine *m, control *c, const control_group *g, uint32_t number)
{
  write_back(m, g, number);
  c->group_of[number] = NULL;
  c->may_merge = true;
  pop_push(c->jobs, c->num_jobs, c->jobs_capacity, (control_job){number, NULL});
}

/* All tiles of the group leave it. */
static void dissolve_group(machine *m, control *c, control_group *g)
{
  for (size_t i = 0; i < g->num_tiles; i++) leave(m, c, g, g->tiles[i]);
  g->num_tiles = 0;
  g->runs = false;
}

static void remove_empty_groups(control *c)
{
  size_t kept = 0;
  for (size_t i = 0; i < c->num_groups; i++) {
    if (c->groups[i]->num_tiles)
      c->groups[kept++] = c->groups[i];
    else
      free_group(c->groups[i]);
  }
  c->num_groups = kept;
}
/* Taking: applies the effects to the tiles. */

/* Does the tile have the same values in the loaded words as the group's first one, and may it
 * store? */
static bool has_same_memory(machine *m, const effects *s, tile *t)
{
  for (size_t i = 0; i < s->num_loads; i++) {
    uint32_t value;
    if (!control_read_memory(m, t, s->loads[i].id, s->loads[i].address, &value)) return false;
    if (value != s->loads[i].value) return false;
  }
  for (size_t i = 0; i < s->num_stores; i++)
    if (!control_store_place(m, t, &s->stores[i])) return false;
  return true;
}

/* Tiles that do not agree become another group. */
static void split_by_memory(machine *m, control *c, control_group *g)
{
  const effects *s = &c->s;
  if (!s->num_loads && !s->num_stores) return;
  control_group *rest = NULL;
  size_t kept = 1; /* the first tile agrees: the effects are its own */
  for (size_t i = 1; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i];
    if (has_same_memory(m, s, &m->tiles[number])) {
      g->tiles[kept++] = number;
      continue;
    }
    if (!rest) rest = control_new_group(c, g);
    control_add_tile(c, rest, number);
  }
  g->num_tiles = kept;
  if (!rest) return;
  c->may_merge = true;
  if (++c->num_splits > MAX_SPLITS) dissolve_group(m, c, rest);
}

static bool is_within_limit(const machine *m, const control_group *g, uint64_t cycles)
{
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint64_t clock = m->at.clocks[g->tiles[i]], limit = cycle_limit(m, &m->tiles[g->tiles[i]]);
    if (clock > limit || limit - clock < cycles) return false;
  }
  return true;
}

static void put_stores(machine *m, const effects *s, tile *t, uint32_t clock)
{
  for (size_t i = 0; i < s->num_stores; i++) {
    uint32_t value = s->stores[i].value + (s->stores[i].timed ? clock : 0);
    memcpy(control_store_place(m, t, &s->stores[i]), &value, s->stores[i].bytes);
  }
}

/* From here on timed registers are in the tiles' contexts. */
static void put_timed(const effects *s, context *supervisor, uint32_t clock)
{
  for (uint64_t left = s->timed; left; left &= left - 1) {
    uint32_t r = (uint32_t)__builtin_ctzll(left);
    supervisor->x[r] = s->x[r] + clock;
  }
}

static void apply_to_tiles(machine *m, control *c, const control_group *g)
{
  const effects *s = &c->s;
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i];
    uint64_t clock_before = m->at.clocks[number];
    uint32_t clock = (uint32_t)clock_before;
    if (s->num_stores) put_stores(m, s, &m->tiles[number], clock);
    put_timed(s, &m->tiles[number].supervisor, clock);
    m->at.clocks[number] += g->cycles;
    m->at.waiting[number] = (uint8_t)s->why;
    m->at.stop_argument[number] = s->stop_argument;
    m->at.host_codes[number] = s->host_code;
    if (s->acks.open) {
      m->at.acks[number] = s->acks;
      m->at.acks[number].clock += clock_before;
    }
    if (s->has_starts) pop_push(c->jobs, c->num_jobs, c->jobs_capacity, (control_job){number, g});
  }
}

static void take(machine *m, control *c, control_group *g)
{
  const effects *s = &c->s;
  memcpy(g->x, s->x, sizeof g->x);
  g->unknown = (g->unknown & ~s->written) | s->timed;
  g->pc = s->pc;
  g->instructions += s->instructions;
  g->sync_rd = s->sync_rd;
  memcpy(g->starts, s->starts, sizeof g->starts);
  g->has_starts = s->has_starts;
  g->cycles = s->slots * m->target.num_worker_contexts;
  g->runs = s->why == STOP_WAIT;
  apply_to_tiles(m, c, g);
  m->control_instructions += s->instructions * g->num_tiles;
}

/* Advances the group until its workers have to run, or to a sync. */
static void advance_group(machine *m, control *c, control_group *g)
{
  while (g->runs) {
    bool walked = control_walk(m, c, g), again = !walked && c->s.num_blocks == MAX_BLOCKS;
    if (c->s.num_blocks && (walked || again)) control_compare_blocks(m, c, g);
    if (again) continue;
    if (!walked) {
      dissolve_group(m, c, g);
      return;
    }
    split_by_memory(m, c, g);
    if (!is_within_limit(m, g, c->s.slots * m->target.num_worker_contexts)) {
      dissolve_group(m, c, g);
      return;
    }
    take(m, c, g);
    if (g->has_starts) {
      g->round = c->round;
      return;
    }
  }
}

/* The superstep */

static control *new_control(const machine *m)
{
  control *c = pop_xcalloc(1, sizeof *c);
  c->class_of = pop_xcalloc(m->num_tiles, sizeof *c->class_of);
  c->group_of = pop_xcalloc(m->num_tiles, sizeof(control_group *));
  control_first_class(c, m->num_tiles);
  c->may_merge = true;
  return c;
}

void control_begin(machine *m)
{
  if (!m->control) {
    m->control = new_control(m);
    control_merge_groups(m);
  }
  control *c = m->control;
  c->num_splits = 0;
  for (size_t i = 0; i < c->num_groups; i++)
    c->groups[i]->runs = c->groups[i]->num_tiles && !m->at.acks[c->groups[i]->tiles[0]].open;
}

uint32_t control_advance(machine *m, const control_job **jobs)
{
  control *c = m->control;
  c->num_jobs = 0;
  c->round++;
  /* Groups that are split off are appended. If their workers have not run yet, they wait like the
   * group that they come from. */
  for (size_t i = 0; i < c->num_groups; i++)
    if (c->groups[i]->num_tiles && c->groups[i]->round != c->round)
      advance_group(m, c, c->groups[i]);
  *jobs = c->jobs;
  return (uint32_t)c->num_jobs;
}

const worker_start *control_starts(const machine *m, const control_job *job, uint64_t *from)
{
  *from = m->at.clocks[job->tile] - job->group->cycles;
  return job->group->starts;
}

void control_remove_tile(machine *m, uint32_t tile)
{
  control *c = m->control;
  control_group *g = c->group_of[tile];
  size_t at = 0;
  while (g->tiles[at] != tile) at++;
  write_back(m, g, tile);
  g->tiles[at] = g->tiles[--g->num_tiles];
  c->group_of[tile] = NULL;
}

/* Joining */

/* Registers that calls preserve, and the stack pointer. */
static const uint64_t kept_registers = 0x0ffc031e;

static uint32_t answered_register(const machine *m, uint32_t number, uint32_t rd)
{
  return m->at.waiting[number] == STOP_HOST_SYNC ? rd : 0;
}

typedef struct place {
  uint32_t class_number, pc, answered;
  uint32_t open;  /* syncs that have been acknowledged */
  uint32_t x[32]; /* kept ones; the others 0 */
} place;

static place place_at(const control *c, const machine *m, uint32_t number, uint32_t pc,
                      const uint32_t *x, uint32_t rd)
{
  place p = {
      c->class_of[number], pc, answered_register(m, number, rd), m->at.acks[number].open, {0}};
  for (uint32_t r = 0; r < 32; r++)
    if (kept_registers >> r & 1) p.x[r] = x[r];
  return p;
}

static place place_of_group(const control *c, const machine *m, const control_group *g)
{
  return place_at(c, m, g->tiles[0], g->pc, g->x, g->sync_rd);
}

/* From here on the registers of `mask` are in the tiles' contexts. */
static void spill_registers(machine *m, control_group *g, uint64_t mask)
{
  mask &= ~g->unknown;
  if (!mask) return;
  for (size_t i = 0; i < g->num_tiles; i++) write_registers(m, g, g->tiles[i], mask);
  g->unknown |= mask;
}

/* The tiles of `other`, which is at the same place, join g. */
static void merge_group(machine *m, control *c, control_group *g, control_group *other)
{
  uint64_t differ = other->unknown;
  for (uint32_t r = 1; r < 32; r++)
    if (g->x[r] != other->x[r]) differ |= (uint64_t)1 << r;
  spill_registers(m, g, differ);
  spill_registers(m, other, g->unknown);
  for (size_t i = 0; i < other->num_tiles; i++) {
    m->tiles[other->tiles[i]].supervisor.instructions += other->instructions - g->instructions;
    control_add_tile(c, g, other->tiles[i]);
  }
  other->num_tiles = 0;
}

static void join_tile(machine *m, control *c, control_group *g, tile *t)
{
  uint64_t differ = 0;
  for (uint32_t r = 1; r < 32; r++)
    if (g->x[r] != t->supervisor.x[r]) differ |= (uint64_t)1 << r;
  spill_registers(m, g, differ);
  t->supervisor.instructions -= g->instructions;
  control_add_tile(c, g, t->number);
}

typedef struct place_table {
  struct {
    control_group *group;
    place at;
  } *slots;
  size_t num_slots; /* a power of 2 */
} place_table;

/* The group at that place, or NULL with the slot where it would be. */
static control_group *find_group(const place_table *table, const place *at, size_t *slot)
{
  size_t mask = table->num_slots - 1;
  for (*slot = XXH3_64bits(at, sizeof *at) & mask;; *slot = (*slot + 1) & mask) {
    control_group *g = table->slots[*slot].group;
    if (!g || !memcmp(&table->slots[*slot].at, at, sizeof *at)) return g;
  }
}

static void merge_equal_groups(machine *m, control *c, place_table *table)
{
  size_t num_groups = c->num_groups, slot;
  for (size_t i = 0; i < num_groups; i++) {
    control_group *g = c->groups[i];
    place at = place_of_group(c, m, g);
    control_group *same = find_group(table, &at, &slot);
    if (same) {
      merge_group(m, c, same, g);
    } else {
      table->slots[slot].group = g;
      table->slots[slot].at = at;
    }
  }
}

static void group_single_tiles(machine *m, control *c, place_table *table)
{
  size_t slot;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    if (c->group_of[i] || m->at.waiting[i] == STOP_FAULT) continue;
    context *supervisor = &m->tiles[i].supervisor;
    place at = place_at(c, m, i, supervisor->pc, supervisor->x, supervisor->sync_rd);
    control_group *g = find_group(table, &at, &slot);
    if (!g) {
      control_group alone = {
          .class_number = c->class_of[i], .pc = supervisor->pc, .sync_rd = supervisor->sync_rd};
      memcpy(alone.x, supervisor->x, sizeof alone.x);
      g = control_new_group(c, &alone);
      table->slots[slot].group = g;
      table->slots[slot].at = at;
    }
    join_tile(m, c, g, &m->tiles[i]);
  }
}

void control_merge_groups(machine *m)
{
  control *c = m->control;
  if (!c->may_merge) return;
  c->may_merge = false;
  remove_empty_groups(c);
  place_table table = {.num_slots = 16};
  size_t num_alone = 0;
  for (uint32_t i = 0; i < m->num_tiles; i++) num_alone += !c->group_of[i];
  while (table.num_slots < 2 * (c->num_groups + num_alone)) table.num_slots *= 2;
  table.slots = pop_xcalloc(table.num_slots, sizeof *table.slots);
  merge_equal_groups(m, c, &table);
  group_single_tiles(m, c, &table);
  remove_empty_groups(c);
  free(table.slots);
}

void control_answer(machine *m, uint32_t answer)
{
  control *c = m->control;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    context *supervisor = &m->tiles[i].supervisor;
    if (!c || !c->group_of[i]) supervisor->x[supervisor->sync_rd] = answer;
  }
  for (size_t i = 0; c && i < c->num_groups; i++) {
    control_group *g = c->groups[i];
    g->x[g->sync_rd] = answer;
    g->unknown &= ~((uint64_t)1 << g->sync_rd);
  }
}

void control_write_back(machine *m)
{
  control *c = m->control;
  for (size_t i = 0; c && i < c->num_groups; i++)
    for (size_t k = 0; k < c->groups[i]->num_tiles; k++)
      write_back(m, c->groups[i], c->groups[i]->tiles[k]);
  control_free(m);
}

void control_free(machine *m)
{
  control *c = m->control;
  if (!c) return;
  for (size_t i = 0; i < c->num_groups; i++) free_group(c->groups[i]);
  control_free_classes(c);
  free(c->class_of);
  free(c->group_of);
  free(c->groups);
  free(c->jobs);
  free(c);
  m->control = NULL;
}
