/* A plan for the data of one tile. There are five kinds of data:
 *
 *   RULED        always live, with rules: tried in several orders, first or after FILLER
 *   RIGID        always live, with a large alignment
 *   UPPER        always live, in region 1
 *   FILLER       always live, anything else: fills what the others leave free, without gaps
 *   TEMPORARY    live from step to step; shares addresses
 *
 * The live ranges of temporaries form groups that do not overlap each other at all, often one for
 * each superstep. Each group has all the memory above FILLER to itself. So the search for a good
 * plan, which is quadratic in the size of a group, stays short.
 *
 * The order of the kinds is a trade-off. If UPPER goes first, large temporaries may have to go
 * above it although there is room below. If it goes last, above all others, interleaved temporaries
 * are in its way. If FILLER goes first, it takes the rest of the first memory element from
 * temporaries that need two. All variants are tried, until a plan ends at the lower bound or close
 * to it. The effort is limited for all tiles together: tiles that come first get more of it.
 */
#include "base/order.h"
#include "compiler/allocate/allocate.h"

#include <stdlib.h>
#include <string.h>

typedef enum item_kind { RULED, RIGID, UPPER, FILLER, TEMPORARY, NUM_KINDS } item_kind;

enum {
  RULED_LAST = 1,
  UPPER_LAST = 2,
  FILLER_LAST = 4,
  NUM_VARIANTS = 8,
  MAX_SPLIT_HOLES = 8,
  RIGID_ALIGN = 32, /* alignments of at least this leave gaps worth filling */
  MAX_TILE_BUDGET = 4000000,
  BUDGET_PARTS = 8,         /* a tile may use one part in this many of the rest */
  MAX_RULED_MOVES = 40,     /* other orders of RULED that are tried */
  MAX_RULED_WORK = 1000000, /* pairs examined for that */
  GOOD_ENOUGH_PARTS = 400,  /* good: above the bound by less than one part in this many */
};

typedef struct layout {
  planner *p;
  uint32_t *lists[NUM_KINDS];
  size_t counts[NUM_KINDS];
  uint64_t start, goal;
  bool has_ruled_temporaries;
  uint64_t budget; /* of a variant */
} layout;

static item_kind kind_of(const plan_item *x)
{
  if (!plan_is_always_live(x)) return TEMPORARY;
  if (x->has_rules) return RULED;
  if (x->interleaved) return UPPER;
  return x->align >= RIGID_ALIGN ? RIGID : FILLER;
}

/* Sorts by descending alignment. Among equal alignments, items whose size is a multiple of it come
 * first, then larger ones, because small ones fit into more gaps. */
static uint64_t packing_key(const plan_item *x)
{
  bool uneven = x->size % x->align != 0;
  uint64_t align_rank = 63 - (uint64_t)__builtin_ctz(x->align);
  return align_rank << 33 | (uint64_t)uneven << 32 | (uint64_t)(uint32_t)~x->size;
}

static uint64_t list_key(item_kind kind, const plan_item *x)
{
  if (kind == TEMPORARY) return x->first_step;
  return kind == RULED ? (uint64_t)~x->size : packing_key(x);
}

static void sort_list(layout *l, item_kind kind)
{
  size_t count = l->counts[kind];
  if (count < 2) return;
  keyed *keys = pop_xcalloc(count, sizeof *keys);
  for (size_t i = 0; i < count; i++) {
    uint32_t item = l->lists[kind][i];
    keys[i] = (keyed){list_key(kind, &l->p->problem.items[item]), item};
  }
  sort_keyed(keys, count);
  for (size_t i = 0; i < count; i++) l->lists[kind][i] = keys[i].index;
  free(keys);
}

static void make_lists(layout *l)
{
  planner *p = l->p;
  size_t n = p->problem.num_items;
  pop_reserve(p->lists, n + 1, p->lists_capacity);
  uint32_t *next = p->lists;
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    l->lists[kind] = next;
    for (uint32_t i = 0; i < n; i++)
      if (kind_of(&p->problem.items[i]) == (item_kind)kind) *next++ = i;
    l->counts[kind] = (size_t)(next - l->lists[kind]);
    sort_list(l, (item_kind)kind);
  }
}

/* ---- what is fixed while temporaries are placed ---- */

static uint64_t higher_of(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

static uint64_t place_ruled(layout *l)
{
  plan_problem *problem = &l->p->problem;
  uint64_t end = l->start;
  for (size_t i = 0; i < l->counts[RULED]; i++) {
    uint32_t item = l->lists[RULED][i];
    plan_item *x = &problem->items[item];
    x->address = find_address_by_rules(problem, &l->p->fixed, l->p->placed, item, true);
    if (x->address == PLAN_NO_ADDRESS) /* out_of_memory.c will find the rule broken */
      x->address = find_gap(&l->p->fixed, x, plan_lowest(problem, x), GAP_LOWEST);
    l->p->placed[item] = true;
    take(&l->p->fixed, plan_taken(x));
    end = higher_of(end, plan_item_end(x));
  }
  return end;
}

static uint64_t place_list(layout *l, item_kind kind)
{
  uint64_t end = l->start;
  for (size_t i = 0; i < l->counts[kind]; i++) {
    plan_item *x = &l->p->problem.items[l->lists[kind][i]];
    x->address = find_gap(&l->p->fixed, x, plan_lowest(&l->p->problem, x), GAP_LOWEST);
    take(&l->p->fixed, plan_taken(x));
    end = higher_of(end, plan_item_end(x));
  }
  return end;
}

/* Places all of UPPER above everything else. */
static uint64_t stack_upper(layout *l, uint64_t end)
{
  for (size_t i = 0; i < l->counts[UPPER]; i++) {
    plan_item *x = &l->p->problem.items[l->lists[UPPER][i]];
    x->address = plan_align_up(higher_of(end, plan_lowest(&l->p->problem, x)), x->align);
    end = plan_item_end(x);
  }
  return end;
}

/* The ranges that are free at every step, from the start on; the last one has no end. */
static size_t find_holes(const layout *l, taken *holes)
{
  size_t count = 0;
  uint64_t end = l->start;
  for (size_t i = 0; i < l->p->fixed.count; i++) {
    const taken *t = &l->p->fixed.items[i];
    if (t->begin > end) holes[count++] = (taken){end, t->begin, 0, UINT32_MAX};
    end = higher_of(end, t->end);
  }
  holes[count++] = (taken){end, UINT64_MAX, 0, UINT32_MAX};
  return count;
}

/* The first hole that has room for the item. */
static size_t hole_for(const taken *holes, const plan_item *x)
{
  size_t h = 0;
  while (plan_align_up(holes[h].begin, x->align) + x->size > holes[h].end) h++;
  return h;
}

/* Places FILLER in the holes. An alignment gap below an item becomes another hole, for the first
 * few gaps: a later word may fit. */
static uint64_t fill(layout *l)
{
  taken *holes = pop_xcalloc(l->p->fixed.count + 1 + MAX_SPLIT_HOLES, sizeof *holes);
  taken *whole = pop_xcalloc(l->p->fixed.count + 1, sizeof *whole);
  size_t num_whole = find_holes(l, whole), num_split = 0;
  uint64_t end = l->start;
  memcpy(holes + MAX_SPLIT_HOLES, whole, num_whole * sizeof *whole);
  for (size_t i = 0; i < l->counts[FILLER]; i++) {
    plan_item *x = &l->p->problem.items[l->lists[FILLER][i]];
    taken *hole = &holes[hole_for(holes, x)];
    x->address = plan_align_up(hole->begin, x->align);
    if (x->address > hole->begin && num_split < MAX_SPLIT_HOLES)
      holes[num_split++] = (taken){hole->begin, x->address, 0, UINT32_MAX};
    hole->begin = plan_item_end(x);
    end = higher_of(end, hole->begin);
  }
  for (size_t i = 0; i < num_whole; i++)
    if (holes[MAX_SPLIT_HOLES + i].begin > whole[i].begin)
      take(&l->p->fixed, (taken){whole[i].begin, holes[MAX_SPLIT_HOLES + i].begin, 0, UINT32_MAX});
  free(holes);
  free(whole);
  return end;
}

static uint64_t place_fixed(layout *l, int variant)
{
  l->p->fixed.count = 0;
  if (l->p->problem.num_items) memset(l->p->placed, 0, l->p->problem.num_items);
  uint64_t end = l->start;
  if (!(variant & RULED_LAST)) end = place_ruled(l);
  end = higher_of(end, place_list(l, RIGID));
  if (!(variant & UPPER_LAST)) end = higher_of(end, place_list(l, UPPER));
  if (!(variant & FILLER_LAST)) end = higher_of(end, fill(l));
  if (variant & RULED_LAST) end = higher_of(end, place_ruled(l));
  return end;
}

/* ---- temporaries ---- */

/* The end of the part, from the start on, that is always taken, without a hole. */
static uint64_t solid_end(const layout *l)
{
  uint64_t end = l->start;
  for (size_t i = 0; i < l->p->fixed.count; i++) {
    const taken *t = &l->p->fixed.items[i];
    if (t->begin <= end && t->last_step == UINT32_MAX) end = higher_of(end, t->end);
  }
  return end;
}

static uint64_t group_live_bytes(const plan_problem *problem, const uint32_t *items, size_t count)
{
  plan_item *members = pop_xcalloc(count, sizeof *members);
  for (size_t i = 0; i < count; i++) members[i] = problem->items[items[i]];
  uint64_t live = most_live_bytes(members, count, false);
  free(members);
  return live;
}

/* Splits the temporaries into groups at steps that no live range crosses, and places each group. */
static uint64_t place_temporaries(layout *l, uint64_t end)
{
  const plan_item *items = l->p->problem.items;
  uint32_t *list = l->lists[TEMPORARY];
  uint64_t floor = solid_end(l);
  for (size_t first = 0, next; first < l->counts[TEMPORARY]; first = next) {
    uint32_t last_step = items[list[first]].last_step;
    for (next = first + 1; next < l->counts[TEMPORARY] && items[list[next]].first_step <= last_step;
         next++)
      if (items[list[next]].last_step > last_step) last_step = items[list[next]].last_step;
    plan_group group = {.problem = &l->p->problem,
                        .fixed = &l->p->fixed,
                        .items = list + first,
                        .count = next - first,
                        .placed = l->p->placed,
                        .floor = floor};
    uint64_t live = group_live_bytes(&l->p->problem, group.items, group.count);
    group.goal = higher_of(end, floor + live + live / GOOD_ENOUGH_PARTS);
    end = higher_of(end, search_group(&l->p->search, &group));
  }
  return end;
}

/* ---- variants ---- */

static uint64_t try_layout(layout *l, int variant)
{
  uint64_t before = l->p->search.budget = l->budget;
  uint64_t end = place_temporaries(l, place_fixed(l, variant));
  uint64_t used = before - l->p->search.budget;
  l->p->budget -= used < l->p->budget ? used : l->p->budget;
  if (variant & FILLER_LAST) {
    for (size_t i = 0; i < l->counts[TEMPORARY]; i++)
      take(&l->p->fixed, plan_taken(&l->p->problem.items[l->lists[TEMPORARY][i]]));
    end = higher_of(end, fill(l));
  }
  return variant & UPPER_LAST ? stack_upper(l, end) : end;
}

static bool makes_a_difference(const layout *l, int variant)
{
  if (variant & RULED_LAST && l->counts[RULED] == 0) return false;
  if (variant & FILLER_LAST && !l->has_ruled_temporaries) return false;
  return !(variant & UPPER_LAST) ||
         (l->counts[UPPER] > 0 && l->counts[TEMPORARY] + l->counts[FILLER] > 0);
}

static uint64_t keep_if_better(layout *l, uint64_t end, uint64_t best)
{
  if (end >= best) return best;
  for (size_t i = 0; i < l->p->problem.num_items; i++)
    l->p->best[i] = l->p->problem.items[i].address;
  return end;
}

static uint64_t try_variants(layout *l, uint64_t best)
{
  for (int variant = 0; variant < NUM_VARIANTS && best > l->goal; variant++)
    if (makes_a_difference(l, variant)) best = keep_if_better(l, try_layout(l, variant), best);
  return best;
}

/* Tries the order by size reversed, and then orders with one item after another moved to the
 * front. */
static uint64_t try_orders_of_ruled(layout *l, uint64_t best)
{
  uint32_t *list = l->lists[RULED];
  size_t count = l->counts[RULED];
  for (size_t i = 0; i < count / 2; i++) {
    uint32_t item = list[i];
    list[i] = list[count - 1 - i];
    list[count - 1 - i] = item;
  }
  best = try_variants(l, best);
  size_t work = count * (count + l->p->problem.num_rules), moves = MAX_RULED_WORK / work;
  if (moves > MAX_RULED_MOVES) moves = MAX_RULED_MOVES;
  if (moves > 2 * count) moves = 2 * count;
  for (size_t move = 0; move < moves && best > l->goal; move++) {
    size_t from = count - 1 - move % count;
    uint32_t item = list[from];
    memmove(list + 1, list, from * sizeof *list);
    list[0] = item;
    best = try_variants(l, best);
  }
  return best;
}

static uint64_t variant_budget(const layout *l)
{
  uint64_t budget = l->p->budget / BUDGET_PARTS;
  if (budget > MAX_TILE_BUDGET) budget = MAX_TILE_BUDGET;
  if (l->counts[RULED]) return budget / NUM_VARIANTS / MAX_RULED_MOVES;
  return budget / (l->counts[UPPER] ? 2 : 1) / (l->has_ruled_temporaries ? 2 : 1);
}

uint64_t plan_data(planner *p)
{
  layout l = {.p = p, .start = p->problem.start};
  size_t n = p->problem.num_items;
  make_lists(&l);
  for (size_t i = 0; i < l.counts[TEMPORARY]; i++)
    l.has_ruled_temporaries |= p->problem.items[l.lists[TEMPORARY][i]].has_rules;
  pop_reserve(p->placed, n + 1, p->placed_capacity);
  pop_reserve(p->best, n + 1, p->best_capacity);
  l.budget = variant_budget(&l);
  uint64_t live = most_live_bytes(p->problem.items, n, false);
  uint64_t least = least_end(&p->problem, l.start, live);
  l.goal = least + (least - l.start) / GOOD_ENOUGH_PARTS;
  uint64_t best = try_variants(&l, UINT64_MAX);
  if (l.counts[RULED] > 1 && best > l.goal) best = try_orders_of_ruled(&l, best);
  for (size_t i = 0; i < n; i++) p->problem.items[i].address = p->best[i];
  return best;
}

void planner_free(planner *p)
{
  void *const arrays[] = {p->problem.items, p->problem.rules, p->fixed.items,
                          p->lists,         p->placed,        p->best};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  search_memory_free(&p->search);
}
