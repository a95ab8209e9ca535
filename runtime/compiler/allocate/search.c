/* Gives addresses to blocks that may share them when their live ranges do not overlap: dynamic
 * storage allocation, which is NP-hard.
 *
 * Blocks are placed one after the other, each in a gap that is free during its live range. The
 * order decides how good the plan is. Several good orders are tried, with the tightest or the
 * lowest gap. The goal is the most bytes that are live at one step, or what other groups need
 * anyway.
 *
 * If no order reaches the goal, local search improves the best plan. A move takes a block forward
 * in the order: the one with the highest end, or any. The blocks from its new position on are
 * placed again. The new order is kept if its plan ends lower, or ends equally high with no more
 * bytes above the goal. After many failures two more moves are made at once. The search ends after
 * a number of failures in a row that depends on the number of blocks, because few blocks have few
 * orders. A plan that still ends far above the goal is improved from other orders, too, each with
 * the same budget.
 *
 * The random numbers are the same in every run, and work is counted, not timed, so that equal
 * problems get equal plans.
 */
#include "base/order.h"
#include "compiler/allocate/allocate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  MANY_FAILURES = 30,
  FAILURES_PER_PAIR = 32, /* of blocks, before the search ends */
  RULES_COST = 4,         /* relative to a block without rules */
};
static const uint64_t BROKEN_BYTES = (uint64_t)1 << 40;

typedef enum search_order { BY_SKYLINE, BY_SIZE, BY_AREA, BY_LIFE, BY_FIRST_STEP } search_order;

/* The best ones first; each is the best for some groups. */
static const struct {
  search_order order;
  gap_choice choice;
} attempts[] = {
    {BY_SKYLINE, GAP_TIGHTEST}, {BY_SKYLINE, GAP_LOWEST}, {BY_SIZE, GAP_TIGHTEST},
    {BY_AREA, GAP_TIGHTEST},    {BY_LIFE, GAP_TIGHTEST},  {BY_FIRST_STEP, GAP_TIGHTEST},
    {BY_SIZE, GAP_LOWEST},      {BY_AREA, GAP_LOWEST},    {BY_LIFE, GAP_LOWEST},
};
enum {
  NUM_ATTEMPTS = sizeof attempts / sizeof *attempts,
  NUM_CLIMBS = 4,
  FAR_PARTS = 40,        /* far above the goal: by more than one part in this many */
  NUM_FREE_ATTEMPTS = 3, /* attempts that are made even without budget */
};

/* Members of the group are numbered from 0. */
static plan_item *member(const plan_group *group, uint32_t number)
{
  return &group->problem->items[group->items[number]];
}

static uint64_t order_key(search_order order, const plan_item *x)
{
  uint32_t life = x->last_step - x->first_step;
  switch (order) {
  case BY_SIZE:
    return (uint64_t)~x->size << 32 | x->first_step;
  case BY_AREA:
    return ~(((uint64_t)life + 1) * x->size);
  case BY_LIFE:
    return (uint64_t)~life << 32 | (uint32_t)~x->size;
  default:
    return (uint64_t)x->first_step << 32 | (uint32_t)~x->size;
  }
}

static void set_order(search_memory *memory, const plan_group *group, search_order order)
{
  if (order == BY_SKYLINE) {
    order_by_skyline(group, memory->order);
    return;
  }
  for (uint32_t i = 0; i < group->count; i++)
    memory->keys[i] = (keyed){order_key(order, member(group, i)), i};
  sort_keyed(memory->keys, group->count);
  for (size_t i = 0; i < group->count; i++) memory->order[i] = memory->keys[i].index;
}

/* ---- one plan ---- */

/* The address of the member; PLAN_NO_ADDRESS if its rules leave none. */
static uint64_t find_address(search_memory *memory, const plan_group *group, uint32_t number,
                             gap_choice choice)
{
  const plan_item *x = member(group, number);
  uint64_t looked_at = (memory->taken.count + 1) * (x->has_rules ? RULES_COST : 1);
  memory->budget -= memory->budget < looked_at ? memory->budget : looked_at;
  if (x->has_rules)
    return find_address_by_rules(group->problem, &memory->taken, group->placed,
                                 group->items[number], choice == GAP_TIGHTEST);
  uint64_t lowest = plan_lowest(group->problem, x);
  return find_gap(&memory->taken, x, lowest > group->floor ? lowest : group->floor, choice);
}

/* Sets memory->taken to what is taken before the members from position `first` on are placed: what
 * is fixed, and the earlier members where the best plan has them. */
static void take_before(search_memory *memory, const plan_group *group, size_t first)
{
  const taken_list *fixed = group->fixed;
  memory->taken.count = 0;
  pop_reserve(memory->taken.items, fixed->count + group->count, memory->taken.capacity);
  if (fixed->count) memcpy(memory->taken.items, fixed->items, fixed->count * sizeof *fixed->items);
  memory->taken.count = fixed->count;
  for (size_t i = 0; i < group->count; i++)
    group->placed[group->items[memory->order[i]]] = i < first;
  if (first == 0) return;
  for (size_t i = 0; i < first; i++) memory->in_front[memory->order[i]] = true;
  for (size_t i = 0; i < group->count; i++) {
    uint32_t number = memory->by_address[i];
    if (!memory->in_front[number]) continue;
    memory->in_front[number] = false;
    take(&memory->taken, plan_taken(member(group, number)));
  }
}

static uint64_t end_before(const search_memory *memory, const plan_group *group, size_t first)
{
  uint64_t end = group->floor;
  for (size_t i = 0; i < first; i++) {
    uint64_t item_end = plan_item_end(member(group, memory->order[i]));
    if (item_end > end) end = item_end;
  }
  return end;
}

/* Places the members from position `first` of the order on. Returns the highest end of all members;
 * stops as soon as it is at least `limit`. A plan that breaks a rule gets a very high end. */
static uint64_t place_from(search_memory *memory, const plan_group *group, size_t first,
                           gap_choice choice, uint64_t limit)
{
  uint64_t end = end_before(memory, group, first);
  take_before(memory, group, first);
  for (size_t i = first; i < group->count && end < limit; i++) {
    uint32_t number = memory->order[i];
    plan_item *x = member(group, number);
    x->address = find_address(memory, group, number, choice);
    bool broken = x->address == PLAN_NO_ADDRESS;
    if (broken) x->address = find_gap(&memory->taken, x, plan_lowest(group->problem, x), choice);
    take(&memory->taken, plan_taken(x));
    group->placed[group->items[number]] = true;
    uint64_t item_end = plan_item_end(x) + (broken ? BROKEN_BYTES : 0);
    if (item_end > end) end = item_end;
  }
  return end;
}

/* Saves order and addresses as the best so far. */
static void keep(search_memory *memory, const plan_group *group)
{
  memcpy(memory->best_order, memory->order, group->count * sizeof *memory->order);
  for (uint32_t i = 0; i < group->count; i++) {
    memory->best[i] = member(group, i)->address;
    memory->keys[i] = (keyed){memory->best[i], i};
  }
  sort_keyed(memory->keys, group->count);
  for (size_t i = 0; i < group->count; i++) memory->by_address[i] = memory->keys[i].index;
}

static void restore(search_memory *memory, const plan_group *group)
{
  memcpy(memory->order, memory->best_order, group->count * sizeof *memory->order);
  for (uint32_t i = 0; i < group->count; i++) member(group, i)->address = memory->best[i];
}

/* ---- local search ---- */

static uint32_t random_below(uint64_t *state, size_t limit)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*state >> 33) % limit);
}

static size_t highest_in_order(const search_memory *memory, const plan_group *group)
{
  size_t highest = 0;
  uint64_t end = 0;
  for (size_t i = 0; i < group->count; i++) {
    uint64_t item_end = plan_item_end(member(group, memory->order[i]));
    if (item_end > end) {
      end = item_end;
      highest = i;
    }
  }
  return highest;
}

/* Moves one member forward; returns its new position. There are at least two members. */
static size_t perturb(search_memory *memory, const plan_group *group, uint64_t *random)
{
  assert(group->count > 1);
  size_t from = highest_in_order(memory, group);
  if (from == 0 || random_below(random, 2)) from = 1 + random_below(random, group->count - 1);
  size_t to = random_below(random, from);
  uint32_t *order = memory->order, moved = order[from];
  memmove(order + to + 1, order + to, (from - to) * sizeof *order);
  order[to] = moved;
  return to;
}

static uint64_t bytes_above_goal(const plan_group *group)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    uint64_t end = plan_item_end(member(group, i));
    if (end > group->goal) sum += end - group->goal;
  }
  return sum;
}

/* Returns the end of the best plan, which is kept. */
static uint64_t improve(search_memory *memory, const plan_group *group, uint64_t best,
                        uint64_t random)
{
  uint64_t least_above = bytes_above_goal(group);
  uint64_t failures = 0, most_failures = (uint64_t)group->count * group->count * FAILURES_PER_PAIR;
  while (best > group->goal && memory->budget > 0 && failures < most_failures) {
    size_t first = perturb(memory, group, &random);
    for (int more = failures > MANY_FAILURES ? 2 : 0; more > 0; more--) {
      size_t other = perturb(memory, group, &random);
      if (other < first) first = other;
    }
    gap_choice choice = random_below(&random, 2) ? GAP_LOWEST : GAP_TIGHTEST;
    uint64_t end = place_from(memory, group, first, choice, best + 1);
    uint64_t above = end <= best ? bytes_above_goal(group) : UINT64_MAX;
    failures++;
    if (end < best || above <= least_above) {
      if (end < best || above < least_above) failures = 0;
      best = end;
      least_above = above;
      keep(memory, group);
    }
    restore(memory, group);
  }
  return best;
}

/* ---- the search ---- */

static void reserve(search_memory *memory, size_t count)
{
  pop_reserve(memory->order, count, memory->order_capacity);
  pop_reserve(memory->best_order, count, memory->best_order_capacity);
  pop_reserve(memory->by_address, count, memory->by_address_capacity);
  pop_reserve(memory->keys, count, memory->keys_capacity);
  pop_reserve(memory->best, count, memory->best_capacity);
  pop_reserve(memory->found, count, memory->found_capacity);
  if (count <= memory->in_front_capacity) return;
  free(memory->in_front);
  memory->in_front = pop_xcalloc(count, sizeof *memory->in_front);
  memory->in_front_capacity = count;
}

static void keep_found(search_memory *memory, const plan_group *group)
{
  memcpy(memory->found, memory->best, group->count * sizeof *memory->found);
}

static bool is_far_above_goal(const plan_group *group, uint64_t end)
{
  uint64_t wanted = group->goal - group->floor;
  return end > group->goal + wanted / FAR_PARTS;
}

/* Improves the best plan. If the result ends far above the goal, plans of other orders are improved
 * too: local search from one order may get stuck where another does not. */
static void climb(search_memory *memory, const plan_group *group, uint64_t best)
{
  uint64_t budget = memory->budget, used = 0, found = UINT64_MAX;
  for (int i = 0; i < NUM_CLIMBS && (i == 0 || is_far_above_goal(group, found)); i++) {
    memory->budget = budget;
    if (i > 0) {
      set_order(memory, group, attempts[i].order);
      best = place_from(memory, group, 0, attempts[i].choice, UINT64_MAX);
      keep(memory, group);
    }
    best = improve(memory, group, best, (uint64_t)i + 1);
    used += budget - memory->budget;
    if (best >= found) continue;
    found = best;
    keep_found(memory, group);
  }
  memory->budget = used < budget ? budget - used : 0;
  for (uint32_t i = 0; i < group->count; i++) member(group, i)->address = memory->found[i];
}

uint64_t search_group(search_memory *memory, const plan_group *group)
{
  uint64_t best = UINT64_MAX;
  reserve(memory, group->count);
  for (int i = 0; i < NUM_ATTEMPTS && best > group->goal; i++) {
    if (i >= NUM_FREE_ATTEMPTS && memory->budget == 0) break;
    set_order(memory, group, attempts[i].order);
    uint64_t end = place_from(memory, group, 0, attempts[i].choice, best);
    if (end >= best) continue;
    best = end;
    keep(memory, group);
  }
  restore(memory, group);
  if (group->count > 2) climb(memory, group, best);
  for (size_t i = 0; i < group->count; i++) group->placed[group->items[i]] = true;
  return end_before(memory, group, group->count);
}

void search_memory_free(search_memory *memory)
{
  void *const arrays[] = {memory->taken.items, memory->order, memory->best_order,
                          memory->by_address,  memory->keys,  memory->best,
                          memory->in_front,    memory->found};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}
