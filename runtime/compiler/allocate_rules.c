/* Rules: `elem(*a) != elem(*b)`, `region(*a) != region(*b)` and the same with `==`.
 *
 * A tile's memory is made of memory elements (target.h): of memory_element_bytes each in region 0,
 * counted from address 0; in region 1 two are interleaved and count as one. Two accesses in one cycle
 * need two elements, which is what codelets ask for. No element holds bytes of both regions. Past the
 * end of memory it goes on as in region 1, so that an overfull tile can be laid out too.
 *
 * For an item, each rule with an item that has its address already forbids addresses: those where
 * its range would touch the elements of the other's. That is like a block in the way, so the search
 * is one over forbidden ranges of addresses:
 *
 *     taken [b, e)                    b - size < address < e
 *     elements [b, e) of another      b - end of range < address < e - begin of range
 */
#include "compiler/allocate.h"

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

/* What the bytes [begin, end) touch. */
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

/* No address that is above `after` and below `before`. */
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

static int compare_forbidden(const void *left, const void *right)
{
  const forbidden *a = left, *b = right;
  return (a->after > b->after) - (a->after < b->after);
}

/* What one side of a rule means for an item, the other side having its address. */
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

/* The rules that speak of nothing but the item: an `==` wants its range in one element. */
static bool suits_itself(const plan_problem *problem, uint32_t item, uint64_t address)
{
  for (size_t i = 0; i < problem->num_rules; i++) {
    plan_rule rule = problem->rules[i];
    const uint64_t both[2] = {address, address};
    for (int side = 0; side < 2; side++) {
      if (rule.items[side] != item) continue;
      if (rule.items[!side] == item) {
        if (!rule_holds(problem->target, &rule, both)) return false;
        continue;
      }
      if (!rule.equal) continue;
      plan_rule own = rule;
      own.begin[!side] = rule.begin[side];
      own.end[!side] = rule.end[side];
      if (!rule_holds(problem->target, &own, both)) return false;
    }
  }
  return true;
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
  if (list->count > 1) qsort(list->items, list->count, sizeof *list->items, compare_forbidden);
}

/* The lowest address from `from` on that nothing in the list forbids; INT64_MAX: there is none. */
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
                               const bool *placed, uint32_t item)
{
  const plan_item *x = &problem->items[item];
  /* Elements repeat: what suits nowhere in two of the largest suits nowhere. */
  int64_t tries_bytes = 4 * (int64_t)problem->target->memory_element_bytes + (int64_t)x->align;
  forbidden_list away = {0};
  collect_forbidden(&away, problem, list, placed, item);
  int64_t from = lowest_allowed(&away, (int64_t)plan_lowest(problem, x), x->align);
  int64_t address = from;
  while (address != INT64_MAX && !suits_itself(problem, item, (uint64_t)address))
    address =
        address - from > tries_bytes ? INT64_MAX : lowest_allowed(&away, address + 1, x->align);
  free(away.items);
  return address >= UINT32_MAX ? PLAN_NOWHERE : (uint64_t)address; /* regions end there */
}
