/* Estimates of vertices, for machines whose target asks for them (target.cycle_estimates). For a
 * vertex without an estimate the machine counts what its code takes. */
#include "engine/engine_private.h"

#include <stdlib.h>
#include <string.h>

/* Estimates of the vertices on each tile: consecutive in `list`, tile by tile. */
typedef struct estimate_lists {
  machine_estimate *list;
  size_t *first; /* by tile, and the end */
} estimate_lists;

static uint64_t tile_cycles(const pop_target *target, const executable_vertex *v)
{
  bool on_one_worker = v->worker < target->num_worker_contexts;
  uint64_t cycles;
  if (!on_one_worker) return v->cycles;
  return __builtin_mul_overflow(v->cycles, target->num_worker_contexts, &cycles) ? UINT64_MAX
                                                                                 : cycles;
}

static void list_estimates(const pop_executable *e, const executable_work *work,
                           machine_estimate *list)
{
  bool measured = e->instrumentation.compute == INSTRUMENT_VERTICES;
  const executable_row *row = &e->vertex_rows[work->row];
  for (uint32_t i = 0; i < row->count; i++) {
    const executable_vertex *v = &e->vertices[row->first + i];
    *list++ = (machine_estimate){.vertex_state = work->state_address + v->state_offset,
                                 .cycles = tile_cycles(&e->target, v),
                                 .until_return = measured,
                                 .on_all_workers = v->worker == EXECUTABLE_ON_ALL_WORKERS};
  }
}

static estimate_lists collect_estimates(const pop_executable *e)
{
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  estimate_lists lists = {.first = pop_xcalloc(num_tiles + 1, sizeof *lists.first)};
  for (size_t i = 0; i < e->num_works; i++)
    lists.first[e->works[i].tile + 1] += e->vertex_rows[e->works[i].row].count;
  for (uint32_t t = 0; t < num_tiles; t++) lists.first[t + 1] += lists.first[t];
  lists.list = pop_xcalloc(lists.first[num_tiles] + 1, sizeof *lists.list);
  size_t *next = pop_xcalloc(num_tiles, sizeof *next);
  memcpy(next, lists.first, num_tiles * sizeof *next);
  for (size_t i = 0; i < e->num_works; i++) {
    uint32_t tile = e->works[i].tile;
    list_estimates(e, &e->works[i], lists.list + next[tile]);
    next[tile] += e->vertex_rows[e->works[i].row].count;
  }
  free(next);
  return lists;
}

pop_error *engine_set_estimates(pop_engine *engine)
{
  const pop_executable *e = engine->executable;
  if (!e->target.cycle_estimates) return NULL;
  estimate_lists lists = collect_estimates(e);
  pop_error *error = NULL;
  for (uint32_t t = 0; t < pop_target_num_tiles(&e->target); t++)
    for (uint32_t i = 0; i < engine->num_own && !error; i++)
      error =
          machine_set_estimates(engine->replicas[engine->first + i].machine, t,
                                lists.list + lists.first[t], lists.first[t + 1] - lists.first[t]);
  free(lists.list);
  free(lists.first);
  return error;
}
