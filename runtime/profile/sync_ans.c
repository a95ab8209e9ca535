#include "profile/sync_ans.h"

#include <stdlib.h>

static int compare_last(const void *a, const void *b, void *rows)
{
  const ans_row *x = (const ans_row *)rows + *(const uint32_t *)a,
                *y = (const ans_row *)rows + *(const uint32_t *)b;
  return x->last != y->last ? (x->last > y->last ? 1 : -1) : (x > y) - (x < y);
}

/* Steps are sorted by position, so this is a binary search. */
static uint32_t count_exchanges(const pop_executable *e, uint32_t first, uint32_t last)
{
  uint32_t count = 0;
  size_t low = 0, high = e->num_steps;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (e->steps[middle].position < first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < e->num_steps && e->steps[low].position <= last; low++)
    count += e->steps[low].kind == EXECUTABLE_STEP_EXCHANGE ||
             e->steps[low].kind == EXECUTABLE_STEP_GLOBAL_EXCHANGE;
  return count;
}

ans_rows ans_rows_new(const pop_executable *e)
{
  ans_rows r = {0};
  size_t num_begins = 0;
  for (size_t i = 0; i < e->num_acknowledged; i++) {
    const executable_acknowledged *a = &e->acknowledged[i];
    ans_row *row = r.num_rows ? &r.rows[r.num_rows - 1] : NULL;
    if (!row || row->first != a->first || row->last != a->last) {
      ans_row made = {.first = a->first,
                      .last = a->last,
                      .syncs = count_exchanges(e, a->first, a->last),
                      .ranges = a,
                      .first_begin = num_begins};
      pop_push(r.rows, r.num_rows, r.rows_capacity, made);
      row = &r.rows[r.num_rows - 1];
    }
    row->num_ranges++;
    num_begins += a->num_tiles;
  }
  r.begins = pop_xcalloc(num_begins + 1, sizeof *r.begins);
  r.by_last = pop_xcalloc(r.num_rows + 1, sizeof *r.by_last);
  for (uint32_t i = 0; i < r.num_rows; i++) r.by_last[i] = i;
  if (r.num_rows) qsort_r(r.by_last, r.num_rows, sizeof *r.by_last, compare_last, r.rows);
  return r;
}

void ans_rows_free(ans_rows *r)
{
  free(r->rows);
  free(r->by_last);
  free(r->begins);
}

void ans_ask(ans_rows *r, uint32_t position, const uint64_t *clocks)
{
  size_t low = 0, high = r->num_rows;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->rows[middle].first < position)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < r->num_rows && r->rows[low].first == position; low++) {
    const ans_row *row = &r->rows[low];
    uint64_t *begin = r->begins + row->first_begin;
    for (size_t i = 0; i < row->num_ranges; i++)
      for (uint32_t t = 0; t < row->ranges[i].num_tiles; t++)
        *begin++ = clocks[row->ranges[i].first_tile + t];
  }
}

bool ans_next_ended(const ans_rows *r, uint32_t position, size_t *at, uint32_t *row)
{
  size_t low = *at, high = *at ? *at : r->num_rows;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->rows[r->by_last[middle]].last < position)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == r->num_rows || r->rows[r->by_last[low]].last != position) return false;
  *row = r->by_last[low];
  *at = low + 1;
  return true;
}

size_t ans_costs(const ans_rows *r, uint32_t number, const uint64_t *clocks, tile_cost *costs,
                 uint64_t *begins)
{
  const ans_row *row = &r->rows[number];
  const uint64_t *begin = r->begins + row->first_begin;
  size_t count = 0;
  for (size_t i = 0; i < row->num_ranges; i++)
    for (uint32_t t = 0; t < row->ranges[i].num_tiles; t++, count++) {
      uint32_t tile = row->ranges[i].first_tile + t;
      begins[count] = begin[count];
      costs[count] = (tile_cost){.tile = tile, .cycles = clocks[tile] - begin[count]};
    }
  return count;
}
