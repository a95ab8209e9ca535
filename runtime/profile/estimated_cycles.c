#include "profile/estimated_cycles.h"

#include "isa/isa.h"

static uint64_t cycles_of(const executable_vertex *vertices, uint32_t i, const uint64_t *taken)
{
  return vertices[i].cycles || !taken ? vertices[i].cycles : taken[i];
}

/* The time of a work on its tile. First come the vertices that are not of a single worker, one
 * after the other; their estimates are in cycles of the tile. Then the workers run in parallel,
 * each in its own slots. */
uint64_t estimated_cycles(const pop_executable *e, const executable_work *work,
                          const uint64_t *taken)
{
  const executable_row *row = &e->vertex_rows[work->row];
  const executable_vertex *vertices = e->vertices + row->first;
  uint64_t alone = 0, of_worker[ISA_MAX_WORKERS] = {0}, longest = 0;
  for (uint32_t i = 0; i < row->count; ++i) {
    uint64_t cycles = cycles_of(vertices, i, taken);
    if (vertices[i].worker < ISA_MAX_WORKERS)
      of_worker[vertices[i].worker] += cycles;
    else
      alone += cycles;
  }
  for (int w = 0; w < ISA_MAX_WORKERS; ++w)
    longest = of_worker[w] > longest ? of_worker[w] : longest;
  return alone + longest * e->target.num_worker_contexts;
}

uint64_t estimated_active_cycles(const pop_executable *e, const executable_work *work,
                                 const uint64_t *taken)
{
  const executable_row *row = &e->vertex_rows[work->row];
  uint64_t cycles = 0;
  for (uint32_t i = 0; i < row->count; ++i) cycles += cycles_of(e->vertices + row->first, i, taken);
  return cycles;
}
