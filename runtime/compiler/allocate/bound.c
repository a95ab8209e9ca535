/* A lower bound for plans.
 *
 * At the step where most bytes are live, all of them are in memory at once. So there are at least
 * as many bytes from the start of data to their end. The bound ignores alignment gaps, and assumes
 * that memory can be shared perfectly: a plan may be above the bound and still be optimal.
 *
 * Two demands raise the bound by themselves:
 *   interleaved    what must be in region 1 and is live at one step is above the region's base
 *   rules          of two ranges in different memory elements (regions), one begins after the
 *                  element that the other ends in
 */
#include "base/order.h"
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

/* Sweep over the live ranges of temporaries, sorted by their begins and by their ends. */
static uint64_t most_of_temporaries(keyed *begins, keyed *ends, size_t count,
                                    const plan_item *items)
{
  sort_keyed(begins, count);
  sort_keyed(ends, count);
  uint64_t live = 0, most = 0;
  for (size_t b = 0, e = 0; b < count; b++) {
    for (; ends[e].key < begins[b].key; e++) live -= items[ends[e].index].size;
    live += items[begins[b].index].size;
    if (live > most) most = live;
  }
  return most;
}

uint64_t most_live_bytes(const plan_item *items, size_t count, bool interleaved_only)
{
  keyed *begins = pop_xcalloc(count + 1, sizeof *begins);
  keyed *ends = pop_xcalloc(count + 1, sizeof *ends);
  uint64_t always = 0;
  size_t num_temporaries = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (interleaved_only && !items[i].interleaved) continue;
    if (plan_is_always_live(&items[i])) {
      always += items[i].size;
      continue;
    }
    begins[num_temporaries] = (keyed){items[i].first_step, i};
    ends[num_temporaries++] = (keyed){items[i].last_step, i};
  }
  uint64_t most = always + most_of_temporaries(begins, ends, num_temporaries, items);
  free(begins);
  free(ends);
  return most;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* The end if side `low` of the rule is below the other side. */
static uint64_t end_with_lower(const plan_problem *problem, const plan_rule *rule, int low,
                               uint64_t start)
{
  const plan_item *below = &problem->items[rule->items[low]];
  const plan_item *above = &problem->items[rule->items[!low]];
  uint64_t region_1 = problem->target->interleaved_base;
  uint64_t lowest = below->interleaved && start < region_1 ? region_1 : start;
  uint64_t last = lowest + rule->end[low] - 1;
  uint64_t border = rule->regions ? region_1 : memory_element_end(problem->target, last);
  return border + above->size - rule->begin[!low];
}

uint64_t least_end(const plan_problem *problem, uint64_t start, uint64_t live)
{
  uint64_t least = start + live, region_1 = problem->target->interleaved_base;
  uint64_t interleaved = most_live_bytes(problem->items, problem->num_items, true);
  if (interleaved && region_1 + interleaved > least) least = region_1 + interleaved;
  for (size_t i = 0; i < problem->num_rules; i++) {
    const plan_rule *rule = &problem->rules[i];
    if (rule->equal || rule->items[0] == rule->items[1]) continue;
    uint64_t end =
        least_of(end_with_lower(problem, rule, 0, start), end_with_lower(problem, rule, 1, start));
    if (end > least) least = end;
  }
  return least;
}
