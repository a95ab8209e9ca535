#include "compiler/segments.h"

#include <assert.h>

void segment_walk_start(segment_walk *walk, const compilation *c, uint32_t tensor)
{
  walk->c = c;
  walk->run.count = 0;
  walk->interval_variable = COMPILER_NONE;
  walk->element_bytes = pop_type_bytes(c->graph->tensors[tensor].type);
  walk->has_pending = false;
  view_walk_start(&walk->view, c->graph, tensor);
}

size_t find_interval_number(const compilation *c, uint32_t variable, uint64_t element)
{
  const placed_variable *placed = &c->variables[variable];
  assert(placed->num_intervals); /* check/mapping.c rejects unmapped variables */
  size_t low = placed->first_interval, high = low + placed->num_intervals;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (c->intervals[middle].begin <= element)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Fast path: elements near the last ones are in the same interval or in the next. */
static const placed_interval *interval_of(segment_walk *walk, uint32_t variable, uint64_t element)
{
  const compilation *c = walk->c;
  const placed_variable *placed = &c->variables[variable];
  size_t end = placed->first_interval + placed->num_intervals;
  if (walk->interval_variable == variable)
    for (size_t i = walk->interval; i < end && i < walk->interval + 2; i++)
      if (c->intervals[i].begin <= element && element < c->intervals[i].end) {
        walk->interval = i;
        return &c->intervals[i];
      }
  size_t found = find_interval_number(c, variable, element);
  walk->interval_variable = variable;
  walk->interval = found;
  return &c->intervals[found];
}

static bool next_unmerged(segment_walk *walk, segment *out)
{
  if (walk->run.count == 0 && !view_walk_next(&walk->view, &walk->run)) return false;
  view_run *run = &walk->run;
  const placed_interval *interval = interval_of(walk, run->variable, run->begin);
  uint64_t count = interval->end - run->begin;
  if (count > run->count) count = run->count;
  uint64_t skipped = (run->begin - interval->begin) * walk->element_bytes;
  *out = (segment){.tile = interval->tile,
                   .at = {interval->at.block, interval->at.offset + (uint32_t)skipped},
                   .bytes = (uint32_t)(count * walk->element_bytes)};
  run->begin += count;
  run->count -= count;
  return true;
}

bool segment_walk_next(segment_walk *walk, segment *out)
{
  segment next;
  while (next_unmerged(walk, &next)) {
    segment *pending = &walk->pending;
    if (walk->has_pending && pending->at.block == next.at.block &&
        pending->at.offset + pending->bytes == next.at.offset) {
      pending->bytes += next.bytes;
      continue;
    }
    bool complete = walk->has_pending;
    *out = *pending;
    *pending = next;
    walk->has_pending = true;
    if (complete) return true;
  }
  *out = walk->pending;
  bool last = walk->has_pending;
  walk->has_pending = false;
  return last;
}
