/* The inside of the memory planner: what the files of pass `allocate` do.
 *
 *   allocate.c         the pass: places each tile's stacks and code, then its data as a plan
 *   identical_tiles.c  tiles with equal blocks, which are planned once
 *   data.c             a plan: what is always live, what has rules, then groups of temporaries
 *   search.c           a group: blocks that share addresses; orders and local search
 *   skyline.c          one of the orders
 *   gap.c              the free ranges of an unfinished plan, and which of them a block takes
 *   rules.c            memory elements and regions: where a block with rules may be
 *   bound.c            a lower bound for the end of any plan
 *   early.c            what cannot fit at all, found before exchanges are planned
 *   near.c             what must be near the base, where addresses do not reach everything
 *   address_form.c     packed addresses, and whether they fit
 *   out_of_memory.c    the error of a graph that does not fit
 *   account.c          pass `account`: memory by category and region
 *   liveness.c         pass `liveness`: live ranges of blocks
 *
 * The planner (data.c, search.c, skyline.c, gap.c, rules.c, bound.c) knows items and addresses; the
 * other files know blocks and tiles.
 */
#ifndef COMPILER_ALLOCATE_ALLOCATE_H
#define COMPILER_ALLOCATE_ALLOCATE_H

#include "base/order.h"
#include "compiler/compilation.h"

/* A block of data. Addresses have 64 bits, because an overfull tile may end anywhere. */
typedef struct plan_item {
  uint32_t block; /* of the compilation */
  uint32_t size, align;
  uint32_t first_step, last_step; /* live range; always live: 0 and UINT32_MAX */
  bool interleaved;               /* in region 1 */
  bool has_rules;
  uint64_t address; /* the result */
} plan_item;

/* A rule about bytes [begin, end) of each of two items. `equal`: both ranges are in the same memory
 * element (or region). Otherwise no element (region) holds bytes of both. Both items may be the
 * same one. */
typedef struct plan_rule {
  uint32_t items[2];
  uint32_t begin[2], end[2];
  bool regions, equal;
} plan_rule;

typedef struct plan_problem {
  const pop_target *target;
  uint64_t start; /* data may begin here */
  plan_item *items;
  size_t num_items, items_capacity;
  plan_rule *rules;
  size_t num_rules, rules_capacity;
} plan_problem;

/* A range of addresses that is in use from first_step to last_step. Lists are ascending by
 * `begin`. */
typedef struct taken {
  uint64_t begin, end;
  uint32_t first_step, last_step;
} taken;

typedef struct taken_list {
  taken *items;
  size_t count, capacity;
} taken_list;

enum { PLAN_NO_ADDRESS = 0 }; /* no address: tile memory begins above 0 */

static inline uint64_t plan_align_up(uint64_t address, uint64_t align)
{
  return (address + align - 1) & ~(align - 1); /* a power of two */
}

static inline uint64_t plan_item_end(const plan_item *x)
{
  return x->address + x->size;
}

static inline taken plan_taken(const plan_item *x)
{
  return (taken){x->address, plan_item_end(x), x->first_step, x->last_step};
}

static inline bool plan_is_always_live(const plan_item *x)
{
  return x->last_step == UINT32_MAX;
}

/* The lowest address that the regions allow for the item. */
static inline uint64_t plan_lowest(const plan_problem *problem, const plan_item *x)
{
  uint64_t region_1 = problem->target->interleaved_base;
  return x->interleaved && problem->start < region_1 ? region_1 : problem->start;
}

/* ---- gap.c ---- */
typedef enum gap_choice { GAP_LOWEST, GAP_TIGHTEST } gap_choice;

/* The address from `from` on where x fits between what is taken during its live range; after
 * everything if no gap is large enough. */
uint64_t find_gap(const taken_list *list, const plan_item *x, uint64_t from, gap_choice choice);
void take(taken_list *list, taken added);

/* ---- rules.c ---- */
/* The lowest address for an item with rules. It avoids what is taken, and satisfies the rules with
 * items that already have an address (`placed`, by item). PLAN_NO_ADDRESS if there is none.
 * `whole`: keep the item in one memory element, if it fits one. */
uint64_t find_address_by_rules(const plan_problem *problem, const taken_list *list,
                               const bool *placed, uint32_t item, bool whole);
bool rule_holds(const pop_target *target, const plan_rule *rule, const uint64_t addresses[2]);
/* The end of the memory element that holds the address. */
uint64_t memory_element_end(const pop_target *target, uint64_t address);

/* ---- bound.c ---- */
/* The most bytes of the items (or of the interleaved ones only) that are live at one step. */
uint64_t most_live_bytes(const plan_item *items, size_t count, bool interleaved_only);
/* A lower bound: no plan whose data begin at `start` ends below this. `live` is most_live_bytes of
 * all items. */
uint64_t least_end(const plan_problem *problem, uint64_t start, uint64_t live);

/* ---- search.c ---- */
/* Temporaries whose live ranges are connected by overlaps, to be placed from `floor` on beside
 * `fixed`. */
typedef struct plan_group {
  const plan_problem *problem;
  const taken_list *fixed;
  uint32_t *items; /* in the problem */
  size_t count;
  bool *placed; /* by item of the problem, for rules */
  uint64_t floor;
  uint64_t goal; /* a plan that ends here is good enough */
} plan_group;

typedef struct search_memory {
  taken_list taken;
  uint32_t *order, *best_order;
  uint32_t *by_address; /* members by address in the best plan */
  uint64_t *best;       /* addresses of the best plan */
  uint64_t *found;      /* addresses of the best climb */
  bool *in_front;
  keyed *keys;
  size_t order_capacity, best_order_capacity, by_address_capacity, best_capacity;
  size_t found_capacity, in_front_capacity, keys_capacity;
  uint64_t budget; /* taken ranges that may still be examined */
} search_memory;

/* Sets the items' addresses; returns the highest end. */
uint64_t search_group(search_memory *memory, const plan_group *group);
/* skyline.c: the order in which to place the group's members (numbered from 0). */
void order_by_skyline(const plan_group *group, uint32_t *order);
void search_memory_free(search_memory *memory);

/* ---- near.c ---- */
typedef struct near_blocks near_blocks;

enum { EXCHANGE_REACH_BYTES = 4 << 18 }; /* from the base of memory */

/* To be called once all blocks have addresses. */
near_blocks *near_blocks_new(const compilation *c);
void near_blocks_free(near_blocks *near);
/* Is something on the tile out of reach? */
bool tile_is_far(const near_blocks *near, uint32_t tile);
/* Gives addresses from `at` on to the tile's blocks that must be near and have none yet; returns
 * the end. */
uint64_t place_near(const near_blocks *near, compilation *c, const tile_layout *layout,
                    uint64_t at);

/* ---- data.c ---- */
enum { PLAN_BUDGET = 60000000 }; /* about two thirds of a second, for a compilation */

typedef struct planner {
  uint64_t budget; /* for the plans to come: taken ranges that may be examined to improve them */
  plan_problem problem;
  taken_list fixed;
  search_memory search;
  uint32_t *lists; /* items by kind (data.c) */
  size_t lists_capacity;
  bool *placed;
  size_t placed_capacity;
  uint64_t *best;
  size_t best_capacity;
} planner;

/* Sets the addresses of all items of p->problem; returns the end. */
uint64_t plan_data(planner *p);
void planner_free(planner *p);

/* ---- identical_tiles.c ---- */
typedef struct identical_tiles identical_tiles;

identical_tiles *identical_tiles_new(const compilation *c);
void identical_tiles_free(identical_tiles *t);
/* An earlier tile with the same blocks and rules in the same order, or COMPILER_NONE; in that case
 * this tile is remembered. Reads c->blocks_by_tile, which must be ascending. */
uint32_t find_identical_tile(identical_tiles *t, const compilation *c, uint32_t tile);
/* The tile's rules, as numbers of c->placement_rules. */
const uint32_t *rules_of_tile(const identical_tiles *t, uint32_t tile, size_t *count);

#endif
