/* Rules: `elem(*a) != elem(*b)`, `region(*a) != region(*b)` and the same with `==`.
 *
 * A tile's memory consists of memory elements (target.h). In region 0 they have
 * memory_element_bytes each, counted from address 0. In region 1 two are interleaved and count as
 * one. Two accesses in one cycle need two elements, which is what codelets ask for. No element
 * holds bytes of both regions. Past the end of memory the elements continue as in region 1, so that
 * an overfull tile can be laid out too.
 *
 * Each rule of an item with an item that already has its address forbids addresses: those where the
 * item's range would touch the elements of the other range. That is like a block in the way, so the
 * search is one over forbidden ranges of addresses:
 *
 *     taken [b, e)                    b - size < address < e
 *     elements [b, e) of another      b - end of range < address < e - begin of range
 */
#include "compiler/allocate/allocate.h"

#include <stdlib.h>

/* Elements: [begin, end). */
typedef struct span {
  uint64_t begin, end;
} span;

static span element_of(const pop_target *target, uint64_t address)
{
  uint64_t base = target->interleaved_base, bytes = target->memory_element_bytes;
  if (address < base) {
    uint64_t begin = address / bytes * bytes, end = begin + bytes;
    return (span){begin, end < base ? end : base};
  }
  uint64_t begin = base + (address - base) / (2 * bytes) * (2 * bytes);
  return (span){begin, begin + 2 * bytes};
}

uint64_t memory_element_end(const pop_target *target, uint64_t address)
{
  return element_of(target, address).end;
}

static span region_of(const pop_target *target, uint64_t address)
{
  uint64_t base = target->interleaved_base;
  return address < base ? (span){0, base} : (span){base, UINT32_MAX};
}

/* The elements (or regions) that the bytes [begin, end) touch. */
static span touched(const pop_target *target, bool regions, uint64_t begin, uint64_t end)
{
  span (*unit)(const pop_target *, uint64_t) = regions ? region_of : element_of;
  return (span){unit(target, begin).begin, unit(target, end - 1).end};
}

bool rule_holds(const pop_target *target, const plan_rule *rule, const uint64_t addresses[2])
{
  span touches[2];
  for (int side = 0; side < 2; side++)
    touches[side] = touched(target, rule->regions, addresses[side] + rule->begin[side],
                            addresses[side] + rule->end[side]);
  if (!rule->equal) return touches[0].end <= touches[1].begin || touches[1].end <= touches[0].begin;
  span one = touched(target, rule->regions, addresses[0] + rule->begin[0],
                     addresses[0] + rule->begin[0] + 1);
  return touches[0].end == one.end && touches[1].begin == one.begin && touches[1].end == one.end;
}

/* ---- the search ---- */

/* Addresses above `after` and below `before` are forbidden. */
typedef struct forbidden {
  int64_t after, before;
} forbidden;

typedef struct forbidden_list {
  forbidden *items;
  size_t count, capacity;
} forbidden_list;

static void forbid(forbidden_list *list, int64_t after, int64_t before)
{
  pop_push(list->items, list->count, list->capacity, (forbidden){after, before});
}

/* Insertion sort: ranges from a taken_list are sorted already, and rules add a few. */
static void sort_forbidden(forbidden_list *list)
{
  for (size_t i = 1; i < list->count; i++) {
    forbidden moved = list->items[i];
    size_t at = i;
    for (; at > 0 && list->items[at - 1].after > moved.after; at--)
      list->items[at] = list->items[at - 1];
    list->items[at] = moved;
  }
}

/* Forbids what one side of a rule forbids for an item, if the other side has its address. */
static void forbid_by_rule(forbidden_list *list, const plan_problem *problem, const plan_rule *rule,
                           int side)
{
  const plan_item *other = &problem->items[rule->items[!side]];
  span away = touched(problem->target, rule->regions, other->address + rule->begin[!side],
                      other->address + rule->end[!side]);
  int64_t begin = rule->begin[side], end = rule->end[side];
  if (!rule->equal) {
    forbid(list, (int64_t)away.begin - end, (int64_t)away.end - begin);
    return;
  }
  forbid(list, INT64_MIN, (int64_t)away.begin - begin);
  forbid(list, (int64_t)away.end - end, INT64_MAX);
}

/* The lowest address of the item, from `address` on, that puts its range [begin, end) into one
 * element; `address` itself if the range is too large for one. */
static uint64_t whole_from(const pop_target *target, uint64_t address, uint32_t begin, uint32_t end)
{
  span first = element_of(target, address + begin);
  if (address + end <= first.end) return address;
  span next = element_of(target, first.end);
  return end - begin <= next.end - next.begin ? first.end - begin : address;
}

/* The next candidate from `address` on, as far as the item alone decides; `address` itself if it is
 * suitable. A rule of the item with itself must hold. The range of an `==` must be in one element.
 * If `whole`, so must that of a `!=`: a range that touches two elements drives the others out of
 * both. */
static uint64_t suitable_from(const plan_problem *problem, uint32_t item, uint64_t address,
                              bool whole)
{
  for (size_t i = 0; i < problem->num_rules; i++) {
    const plan_rule *rule = &problem->rules[i];
    bool alone = rule->items[0] == rule->items[1];
    for (int side = 0; side < 2; side++) {
      if (rule->items[side] != item) continue;
      if (alone && !rule_holds(problem->target, rule, (uint64_t[]){address, address}))
        return address + 1;
      if (rule->regions || (!rule->equal && !whole)) continue;
      uint64_t from = whole_from(problem->target, address, rule->begin[side], rule->end[side]);
      if (from > address) return from;
    }
  }
  return address;
}

static void collect_forbidden(forbidden_list *list, const plan_problem *problem,
                              const taken_list *taken_ranges, const bool *placed, uint32_t item)
{
  const plan_item *x = &problem->items[item];
  for (size_t i = 0; i < taken_ranges->count; i++) {
    const taken *t = &taken_ranges->items[i];
    if (t->first_step <= x->last_step && x->first_step <= t->last_step)
      forbid(list, (int64_t)t->begin - x->size, (int64_t)t->end);
  }
  for (size_t i = 0; i < problem->num_rules; i++)
    for (int side = 0; side < 2; side++) {
      const plan_rule *rule = &problem->rules[i];
      uint32_t other = rule->items[!side];
      if (rule->items[side] == item && other != item && placed[other])
        forbid_by_rule(list, problem, rule, side);
    }
  sort_forbidden(list);
}

/* The lowest aligned address from `from` on that is not forbidden; INT64_MAX if there is none. */
static int64_t lowest_allowed(const forbidden_list *list, int64_t from, uint32_t align)
{
  int64_t address = (int64_t)plan_align_up((uint64_t)from, align);
  for (size_t i = 0; i < list->count; i++) {
    const forbidden *f = &list->items[i];
    if (f->before <= address) continue;
    if (f->after >= address) break;
    if (f->before == INT64_MAX) return INT64_MAX;
    address = (int64_t)plan_align_up((uint64_t)f->before, align);
  }
  return address;
}

uint64_t find_address_by_rules(const plan_problem *problem, const taken_list *list,
                               const bool *placed, uint32_t item, bool whole)
{
  const plan_item *x = &problem->items[item];
  /* Elements repeat: an item that fits nowhere in two of the largest elements fits nowhere. */
  int64_t tries_bytes = 4 * (int64_t)problem->target->memory_element_bytes + (int64_t)x->align;
  forbidden_list away = {0};
  collect_forbidden(&away, problem, list, placed, item);
  int64_t lowest = lowest_allowed(&away, (int64_t)plan_lowest(problem, x), x->align);
  int64_t address = lowest;
  while (address < UINT32_MAX) {
    int64_t from = (int64_t)suitable_from(problem, item, (uint64_t)address, whole);
    if (from == address) break;
    address = from - lowest > tries_bytes ? INT64_MAX : lowest_allowed(&away, from, x->align);
  }
  free(away.items);
  return address >= UINT32_MAX ? PLAN_NO_ADDRESS : (uint64_t)address; /* regions end there */
}
