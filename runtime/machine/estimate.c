/* Watches vertices: for the trace (machine_trace_vertices), for estimated cycles, and to note
 * cycles (machine_set_estimates).
 *
 * A vertex with an estimate executes its code for its results; only the clock is set afterwards.
 * Its cycles cover:
 *
 *   worker      from the end of a tile.call to the end of the next one, or of tile.exit. The
 *               stub's work between two vertices is part of the estimate, unless the stub
 *               measures them (until_return)
 *   supervisor  from the end of the tile.call until the vertex returns: other control code follows
 *
 * A fault has the cycle that the code itself has reached, and the cycle limit holds for both. Where
 * calls are watched, interpret() stops at every tile.call and at the return of the vertex. Stubs do
 * not become native code there, because native code would not stop. */
#include "state.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

static int compare_states(const void *a, const void *b)
{
  const machine_estimate *x = a, *y = b;
  return (x->vertex_state > y->vertex_state) - (x->vertex_state < y->vertex_state);
}

pop_error *machine_set_estimates(machine *m, uint32_t tile, const machine_estimate *estimates,
                                 size_t count)
{
  if (tile >= m->num_tiles)
    return pop_error_new(POP_ERROR_INDEX, "estimates for tile %u: the target has tiles 0 to %u",
                         tile, m->num_tiles - 1);
  struct tile *t = &m->tiles[tile];
  estimate_forget(t);
  t->num_estimates = count;
  if (!count) return NULL;
  t->noted = pop_xcalloc(count, sizeof *t->noted);
  t->estimates = pop_xrealloc(NULL, count, sizeof *estimates);
  memcpy(t->estimates, estimates, count * sizeof *estimates);
  qsort(t->estimates, count, sizeof *t->estimates, compare_states);
  return NULL;
}

void estimate_forget(tile *t)
{
  free(t->estimates);
  free(t->noted);
  t->estimates = NULL;
  t->noted = NULL;
  t->num_estimates = 0;
}

static const machine_estimate *find_estimate(const tile *t, uint32_t vertex_state)
{
  machine_estimate key = {.vertex_state = vertex_state};
  return t->num_estimates
             ? bsearch(&key, t->estimates, t->num_estimates, sizeof key, compare_states)
             : NULL;
}

uint64_t machine_vertex_cycles(const machine *m, uint32_t tile, uint32_t vertex_state)
{
  if (tile >= m->num_tiles) return 0;
  const struct tile *t = &m->tiles[tile];
  const machine_estimate *found = find_estimate(t, vertex_state);
  return found ? t->noted[found - t->estimates] : 0;
}

/* An estimator that counts below zero in 64 bits returns nearly 2^64 cycles. A clock that estimates
 * would move past 2^62 stays there: so what is added to it later, such as a sync, cannot overflow
 * it, and no clock goes back. */
static uint64_t end_of_estimate(uint64_t clock, uint64_t cycles)
{
  const uint64_t latest = UINT64_C(1) << 62;
  if (clock >= latest) return clock;
  return cycles < latest - clock ? clock + cycles : latest;
}

/* The vertex that is being called. */
static void begin(const tile *t, context *c)
{
  const machine_estimate *found = find_estimate(t, c->vertex_state);
  c->is_estimated = found && found->cycles;
  c->note = found && !found->cycles ? (uint32_t)(found - t->estimates) + 1 : 0;
  c->ends_at_return = c->number == MACHINE_SUPERVISOR || (found && found->until_return);
  c->called_at = c->clock;
  c->returns_to = c->x[1];
  if (c->is_estimated) c->estimated_end = end_of_estimate(c->clock, found->cycles);
}

static void note_return(const machine *m, tile *t, context *c)
{
  c->returns_to = 0;
  if (!m->traces_vertices || !m->trace) return;
  pop_push(t->events, t->num_events, t->events_capacity,
           (machine_trace_event){.kind = MACHINE_TRACE_VERTEX,
                                 .tile = t->number,
                                 .argument = c->vertex_state,
                                 .context = c->number,
                                 .from = c->called_at,
                                 .to = c->is_estimated ? c->estimated_end : c->clock});
}

/* Workers run one after the other, worker 0 first. */
static void note_cycles(tile *t, const context *c)
{
  uint64_t *noted = &t->noted[c->note - 1], cycles = c->clock - c->called_at;
  bool is_another = t->estimates[c->note - 1].on_all_workers && c->number > 0;
  if (!is_another || cycles > *noted) *noted = cycles;
}

/* An estimator that counts below zero in 32 bits returns about 2^32 cycles. That is no endless
 * loop, so the run's limit is extended by as many cycles: for this tile in this superstep, and from
 * the next one on for all, which then have waited for it. So where another tile ends at the limit
 * does not depend on which of them has run first. */
static void extend_limit(machine *m, tile *t, uint64_t cycles)
{
  enum { PLAUSIBLE = INT32_MAX };
  if (cycles <= PLAUSIBLE) return;
  if (__builtin_add_overflow(t->limit_extension, cycles, &t->limit_extension))
    t->limit_extension = UINT64_MAX;
  atomic_store(&m->extends_limit, true);
}

void estimate_extend_limit(machine *m)
{
  uint64_t most = 0, limit = atomic_load(&m->limit), later;
  if (!atomic_load(&m->extends_limit)) return;
  atomic_store(&m->extends_limit, false);
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    if (m->tiles[i].limit_extension > most) most = m->tiles[i].limit_extension;
    m->tiles[i].limit_extension = 0;
  }
  do {
    if (limit == 0) return; /* the run has been stopped */
    if (__builtin_add_overflow(limit, most, &later)) later = UINT64_MAX;
  } while (!atomic_compare_exchange_weak(&m->limit, &limit, later));
}

static void end(machine *m, tile *t, context *c)
{
  if (c->is_estimated) {
    if (c->estimated_end > c->clock) extend_limit(m, t, c->estimated_end - c->clock);
    c->clock = c->estimated_end;
  }
  if (c->note) note_cycles(t, c);
  c->is_estimated = false;
  c->note = 0;
}

/* Has the watched vertex ended? A vertex of the supervisor may wait for workers, and goes on
 * afterwards. */
static bool is_over(const context *c, stop why)
{
  return c->ends_at_return ? why == STOP_RETURN : why == STOP_CALL || why == STOP_EXIT;
}

stop estimate_run(machine *m, tile *t, context *c, stop (*run)(machine *, tile *, context *))
{
  for (;;) {
    stop why = run(m, t, c);
    if (why == STOP_RETURN) note_return(m, t, c);
    if (is_over(c, why)) end(m, t, c);
    if (why == STOP_CALL) begin(t, c);
    if (why != STOP_CALL && why != STOP_RETURN) return why;
  }
}
