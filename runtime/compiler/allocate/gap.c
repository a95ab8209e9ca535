/* Free ranges between taken ranges. A list has tens to a few hundred taken ranges: it is kept
 * sorted and searched linearly. */
#include "compiler/allocate/allocate.h"

static bool live_together(const taken *t, const plan_item *x)
{
  return t->first_step <= x->last_step && x->first_step <= t->last_step;
}

uint64_t find_gap(const taken_list *list, const plan_item *x, uint64_t from, gap_choice choice)
{
  uint64_t free_from = plan_align_up(from, x->align), best = 0, best_bytes = UINT64_MAX;
  for (size_t i = 0; i < list->count; i++) {
    const taken *t = &list->items[i];
    if (!live_together(t, x) || t->end <= free_from) continue;
    if (t->begin >= free_from + x->size && t->begin - free_from < best_bytes) {
      if (choice == GAP_LOWEST) return free_from;
      best = free_from;
      best_bytes = t->begin - free_from;
    }
    free_from = plan_align_up(t->end, x->align);
  }
  return best_bytes == UINT64_MAX ? free_from : best;
}

void take(taken_list *list, taken added)
{
  pop_push(list->items, list->count, list->capacity, added);
  size_t i = list->count - 1;
  for (; i > 0 && list->items[i - 1].begin > added.begin; i--) list->items[i] = list->items[i - 1];
  list->items[i] = added;
}
