/* The stages of the network, and the best block size: sort_network.h. */
#include "poplibs/host/sort_network.h"

size_t sort_num_stages(size_t count)
{
  size_t log = 0;
  while (((size_t)1 << log) < count) log++;
  return log * (log + 1) / 2;
}

void sort_make_stages(size_t count, sort_stage *stages)
{
  size_t half = 1, used = 0;
  while (2 * half < count) half *= 2;
  for (size_t bit = half; bit > 0; bit /= 2) {
    stages[used++] = (sort_stage){bit, bit, false};
    for (size_t reach = half; reach > bit; reach /= 2)
      stages[used++] = (sort_stage){bit, reach - bit, true};
  }
}

double sort_cycles(const sort_costs *c, size_t tiles, size_t num_rows, size_t n, size_t size)
{
  size_t count = (n + size - 1) / size;
  size_t on_tile = (num_rows * count + tiles - 1) / tiles;
  size_t rounds = (on_tile + c->workers - 1) / c->workers, doublings = 0;
  for (size_t run = 1; run < size; run *= 2) doublings++;
  double sorted = (double)(size * doublings) * c->sorted + c->begun;
  double merged = (double)size * c->merged + c->begun;
  double received = (double)(on_tile * size) * c->received;
  return (double)rounds * sorted +
         (double)sort_num_stages(count) * ((double)rounds * merged + received + c->stage);
}

size_t sort_fastest_block(const sort_costs *c, size_t tiles, size_t num_rows, size_t n)
{
  size_t best = n;
  for (size_t count = 2; count <= n && count * num_rows <= tiles * c->workers; count++) {
    size_t size = (n + count - 1) / count;
    if ((n + size - 1) / size != count) continue;
    if ((sort_num_stages(count) + 1) * count * num_rows > c->most_vertices) break;
    if (sort_cycles(c, tiles, num_rows, n, size) < sort_cycles(c, tiles, num_rows, n, best))
      best = size;
  }
  return best;
}
