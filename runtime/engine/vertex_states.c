/* Where the states of each tile's vertices begin, so that machines can check that no vertex writes
 * another's state. */
#include "engine/vertex_states.h"

#include <assert.h>
#include <populus/arena.h>
#include <stdlib.h>

/* The works by tile, then by the address of their states. */
static keyed *sort_works(const pop_executable *e)
{
  keyed *order = pop_xcalloc(e->num_works + 1, sizeof *order);
  for (uint32_t i = 0; i < e->num_works; i++)
    order[i] = (keyed){(uint64_t)e->works[i].tile << 32 | e->works[i].state_address, i};
  sort_keyed(order, e->num_works);
  return order;
}

void vertex_states_find(const pop_executable *e, vertex_states *s)
{
  *s = (vertex_states){.e = e, .order = sort_works(e)};
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  s->first = pop_xcalloc(num_tiles + 1, sizeof *s->first);
  for (size_t i = 0; i < e->num_works; i++) s->first[e->works[i].tile + 1]++;
  for (uint32_t t = 0; t < num_tiles; t++) s->first[t + 1] += s->first[t];
  assert(s->first[num_tiles] == e->num_works); /* decode.c rejects works of other tiles */
}

void vertex_states_free(vertex_states *s)
{
  free(s->order);
  free(s->first);
}

pop_error *vertex_states_set(const vertex_states *s, machine *m, uint32_t tile)
{
  const pop_executable *e = s->e;
  uint32_t *starts = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = s->first[tile]; i < s->first[tile + 1]; i++) {
    const executable_work *work = &e->works[s->order[i].index];
    const executable_row *row = &e->vertex_rows[work->row];
    pop_reserve(starts, count + row->count, capacity);
    for (uint32_t v = 0; v < row->count; v++)
      starts[count++] = work->state_address + e->vertices[row->first + v].state_offset;
  }
  pop_error *error = machine_set_states(m, tile, starts, count);
  free(starts);
  return error;
}
