/* How many tiles do what over time: the steps of the simulation as a table of intervals.
 *
 *   begin,end,compute,exchange,sync
 *   0,118,0,0,1472
 *
 * Each tile's part of a step adds one at its beginning and subtracts one at its end. Between two
 * such cycles nothing changes. */
#include "profile/execution_traces.h"
#include "profile/simulation.h"

#include <populus/arena.h>
#include <stdlib.h>

typedef enum activity { COMPUTES, EXCHANGES, NUM_ACTIVITIES } activity;

typedef struct change {
  uint64_t cycle;
  int32_t by[NUM_ACTIVITIES];
} change;

typedef struct intervals {
  change *changes;
  size_t num_changes, capacity;
} intervals;

static void add_change(intervals *all, uint64_t cycle, activity what, int32_t by)
{
  change *last = all->num_changes ? &all->changes[all->num_changes - 1] : NULL;
  if (!last || last->cycle != cycle) {
    pop_push(all->changes, all->num_changes, all->capacity, (change){.cycle = cycle});
    last = &all->changes[all->num_changes - 1];
  }
  last->by[what] += by;
}

static void take_step(void *context, const simulated_step *step)
{
  intervals *all = context;
  activity what = step->kind == EXECUTABLE_STEP_EXECUTE ? COMPUTES : EXCHANGES;
  if (step->kind == EXECUTABLE_STEP_SYNC) return;
  for (size_t i = 0; i < step->num_costs; i++)
    if (step->costs[i].cycles) add_change(all, step->begins[i], what, 1);
  for (size_t i = 0; i < step->num_costs; i++)
    if (step->costs[i].cycles) add_change(all, step->begins[i] + step->costs[i].cycles, what, -1);
}

static int compare_cycles(const void *a, const void *b)
{
  const change *x = a, *y = b;
  return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

static void print_row(FILE *stream, uint64_t begin, uint64_t end, const int64_t *tiles,
                      int64_t num_tiles)
{
  if (begin == end) return;
  fprintf(stream, "%llu,%llu,%lld,%lld,%lld\n", (unsigned long long)begin, (unsigned long long)end,
          (long long)tiles[COMPUTES], (long long)tiles[EXCHANGES],
          (long long)(num_tiles - tiles[COMPUTES] - tiles[EXCHANGES]));
}

void print_intervals(FILE *stream, const execution *x)
{
  intervals all = {0};
  simulation_totals totals;
  int64_t tiles[NUM_ACTIVITIES] = {0}, num_tiles = pop_target_num_tiles(&x->executable->target);
  uint64_t begin = 0;
  simulate(x, &(simulation_visitor){.step = take_step, .context = &all}, &totals);
  if (all.num_changes) qsort(all.changes, all.num_changes, sizeof *all.changes, compare_cycles);
  fputs("begin,end,compute,exchange,sync\n", stream);
  for (size_t i = 0; i < all.num_changes; i++) {
    const change *c = &all.changes[i];
    if (c->cycle != begin) print_row(stream, begin, c->cycle, tiles, num_tiles);
    begin = c->cycle;
    for (int what = 0; what < NUM_ACTIVITIES; what++) tiles[what] += c->by[what];
  }
  print_row(stream, begin, totals.cycles, tiles, num_tiles);
  free(all.changes);
}
