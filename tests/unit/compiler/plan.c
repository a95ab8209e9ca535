/* Plans for the data of a tile (runtime/compiler/allocate/data.c and the files below it): small
 * problems whose best plan is known, and random ones. The tests check every plan themselves, with
 * no code of the planner. */
#include "compiler/allocate/allocate.h"
#include "support/random.h"
#include "support/seeds.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Elements of 64 bytes, in region 1 of 128: so small data already fill several elements. */
enum { BASE = 0x1000, REGION_1 = 0x1800, ELEMENT = 64, START = BASE + 0x20 };

static pop_target small_target(void)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu1", 1, &target);
  cr_assert_null(error);
  target.memory_base = BASE;
  target.interleaved_base = REGION_1;
  target.memory_bytes = 0x2000;
  target.memory_element_bytes = ELEMENT;
  return target;
}

static void start(planner *p, const pop_target *target)
{
  p->budget = PLAN_BUDGET;
  p->problem.target = target;
  p->problem.start = START;
  p->problem.num_items = p->problem.num_rules = 0;
}

static void add_item(planner *p, plan_item x)
{
  plan_problem *problem = &p->problem;
  x.block = (uint32_t)problem->num_items;
  pop_push(problem->items, problem->num_items, problem->items_capacity, x);
}

static void add_rule(planner *p, plan_rule rule)
{
  plan_problem *problem = &p->problem;
  for (int side = 0; side < 2; side++) problem->items[rule.items[side]].has_rules = true;
  pop_push(problem->rules, problem->num_rules, problem->rules_capacity, rule);
}

/* ---- the checker ---- */

static bool live_together(const plan_item *a, const plan_item *b)
{
  return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

/* The number of the element: 64 bytes each below region 1, 128 bytes from there on. */
static uint64_t element_at(uint64_t address)
{
  return address < REGION_1 ? address / 64 : 1000000 + (address - REGION_1) / 128;
}

static uint64_t region_at(uint64_t address)
{
  return address < REGION_1 ? 0 : 1;
}

/* Checks the rule byte by byte. */
static bool rule_is_kept(const plan_problem *problem, const plan_rule *rule)
{
  uint64_t (*unit)(uint64_t) = rule->regions ? region_at : element_at;
  const plan_item *a = &problem->items[rule->items[0]], *b = &problem->items[rule->items[1]];
  for (uint32_t i = rule->begin[0]; i < rule->end[0]; i++)
    for (uint32_t j = rule->begin[1]; j < rule->end[1]; j++)
      if ((unit(a->address + i) == unit(b->address + j)) != rule->equal) return false;
  return true;
}

static uint64_t check_plan(const plan_problem *problem)
{
  uint64_t end = START;
  for (size_t i = 0; i < problem->num_items; i++) {
    const plan_item *x = &problem->items[i];
    cr_assert_eq(x->address % x->align, 0, "item %zu at 0x%llx", i, (unsigned long long)x->address);
    cr_assert_geq(x->address, x->interleaved ? REGION_1 : START, "item %zu is too low", i);
    for (size_t j = 0; j < i; j++) {
      const plan_item *y = &problem->items[j];
      bool apart = x->address + x->size <= y->address || y->address + y->size <= x->address;
      cr_assert(apart || !live_together(x, y), "items %zu and %zu overlap", i, j);
    }
    if (x->address + x->size > end) end = x->address + x->size;
  }
  for (size_t i = 0; i < problem->num_rules; i++)
    cr_assert(rule_is_kept(problem, &problem->rules[i]), "rule %zu is broken", i);
  return end;
}

static uint64_t plan(planner *p)
{
  uint64_t end = plan_data(p);
  cr_assert_eq(end, check_plan(&p->problem));
  uint64_t live = most_live_bytes(p->problem.items, p->problem.num_items, false);
  uint64_t least = least_end(&p->problem, START, live);
  cr_assert_geq(end, least, "the plan ends below its bound");
  return end;
}

/* ---- known best plans ---- */

typedef struct known_item {
  uint32_t size, align, first_step, last_step;
  bool interleaved;
} known_item;

#define ALWAYS 0, UINT32_MAX

typedef struct known_case {
  const char *what;
  uint64_t end; /* of the best plan */
  known_item items[8];
  plan_rule rules[4];
} known_case;

static const known_case known_cases[] = {
    {.what = "nothing", .end = START},
    {.what = "one", .end = START + 12, .items = {{12, 4, ALWAYS, 0}}},
    {.what = "one after the other share",
     .end = START + 40,
     .items = {{40, 4, 0, 1, 0}, {40, 4, 2, 3, 0}, {24, 8, 4, 4, 0}}},
    {.what = "no gap where sizes are mixed with alignments",
     .end = START + 96 + 16 + 8 + 12,
     .items = {{12, 4, ALWAYS, 0}, {8, 8, ALWAYS, 0}, {96, 32, ALWAYS, 0}, {16, 16, ALWAYS, 0}}},
    {.what = "the gap before a large alignment is filled",
     .end = BASE + 0x80 + 4,
     .items = {{4, 128, ALWAYS, 0}, {48, 8, ALWAYS, 0}, {32, 4, ALWAYS, 0}}},
    {.what = "words fill what alignments leave",
     .end = START + 32,
     .items = {{12, 16, ALWAYS, 0}, {8, 16, ALWAYS, 0}, {4, 4, ALWAYS, 0}, {8, 8, ALWAYS, 0}}},
    {.what = "what lives always makes room in the first element for a temporary that needs it",
     .end = BASE + ELEMENT + 24 + 16,
     .items = {{24, 8, 0, 1, 0}, {24, 8, 0, 1, 0}, {16, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {24, 24}, false, false}}},
    {.what = "a stair: each meets the next",
     .end = START + 48,
     .items = {{16, 4, 0, 2, 0}, {32, 4, 2, 4, 0}, {16, 4, 4, 6, 0}, {32, 4, 6, 8, 0}}},
    {.what = "first come first served would leave a hole",
     .end = START + 64,
     .items = {{16, 4, 0, 1, 0}, {16, 4, 0, 9, 0}, {32, 4, 2, 3, 0}, {48, 4, 4, 9, 0}}},
    {.what = "two towers and a roof",
     .end = START + 60,
     .items = {{20, 4, 0, 3, 0},
               {40, 4, 0, 1, 0},
               {40, 4, 2, 5, 0},
               {20, 4, 4, 7, 0},
               {40, 4, 6, 7, 0}}},
    {.what = "interleaved memory begins where region 1 does",
     .end = REGION_1 + 24,
     .items = {{16, 4, ALWAYS, 0}, {24, 8, ALWAYS, 1}}},
    {.what = "interleaved above what is too large for region 0",
     .end = START + 0x800 + 32,
     .items = {{0x800, 4, ALWAYS, 0}, {32, 8, ALWAYS, 1}}},
    {.what = "what is interleaved and live always makes way for what is large and is not",
     .end = START + 0x800 + 32,
     .items = {{0x800, 4, 0, 1, 0}, {0x7e0, 4, 2, 2, 0}, {32, 8, ALWAYS, 1}}},
    {.what = "interleaved in turns",
     .end = REGION_1 + 24,
     .items = {{16, 4, 0, 0, 1}, {24, 8, 1, 1, 1}, {0x600, 4, ALWAYS, 0}}},
    {.what = "two elements",
     .end = BASE + ELEMENT + 8,
     .items = {{8, 4, ALWAYS, 0}, {8, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {8, 8}, false, false}}},
    {.what = "two elements, the rest of the first filled",
     .end = BASE + ELEMENT + 8 + 16,
     .items = {{8, 4, ALWAYS, 0}, {8, 4, ALWAYS, 0}, {24, 8, ALWAYS, 0}, {16, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {8, 8}, false, false}}},
    {.what = "the small one goes first where the large one would go past the border",
     .end = BASE + ELEMENT + 60,
     .items = {{60, 4, ALWAYS, 0}, {8, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {60, 8}, false, false}}},
    {.what = "only the bytes that are meant count",
     .end = START + 24 + 40,
     .items = {{24, 4, ALWAYS, 0}, {40, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 16}, {8, 40}, false, false}}},
    {.what = "three elements",
     .end = BASE + 2 * ELEMENT + 4,
     .items = {{4, 4, ALWAYS, 0}, {4, 4, ALWAYS, 0}, {4, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {4, 4}, false, false},
               {{1, 2}, {0, 0}, {4, 4}, false, false},
               {{2, 0}, {0, 0}, {4, 4}, false, false}}},
    {.what = "two elements in region 1 are pairs",
     .end = REGION_1 + 2 * ELEMENT + 4,
     .items = {{4, 4, ALWAYS, 1}, {4, 4, ALWAYS, 1}},
     .rules = {{{0, 1}, {0, 0}, {4, 4}, false, false}}},
    {.what = "two regions",
     .end = REGION_1 + 4,
     .items = {{4, 4, ALWAYS, 0}, {16, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {4, 16}, true, false}}},
    {.what = "one element for two that others would part",
     .end = BASE + 2 * ELEMENT,
     .items = {{40, 4, ALWAYS, 0}, {24, 4, ALWAYS, 0}, {32, 4, ALWAYS, 0}},
     .rules = {{{0, 1}, {0, 0}, {40, 24}, false, true}}},
    {.what = "temporaries with rules share with others",
     .end = BASE + ELEMENT + 8,
     .items = {{8, 4, 0, 0, 0}, {8, 4, 0, 0, 0}, {32, 4, 1, 1, 0}, {40, 4, 2, 2, 0}},
     .rules = {{{0, 1}, {0, 0}, {8, 8}, false, false}}},
};

static void add_known(planner *p, const known_case *k)
{
  for (size_t i = 0; i < sizeof k->items / sizeof *k->items && k->items[i].size; i++) {
    const known_item *x = &k->items[i];
    add_item(p, (plan_item){.size = x->size,
                            .align = x->align,
                            .first_step = x->first_step,
                            .last_step = x->last_step,
                            .interleaved = x->interleaved});
  }
  for (size_t i = 0; i < sizeof k->rules / sizeof *k->rules && k->rules[i].end[0]; i++)
    add_rule(p, k->rules[i]);
}

Test(plan, small_problems_get_the_best_plan)
{
  pop_target target = small_target();
  planner p = {0};
  for (size_t i = 0; i < sizeof known_cases / sizeof *known_cases; i++) {
    const known_case *k = &known_cases[i];
    start(&p, &target);
    add_known(&p, k);
    uint64_t end = plan(&p);
    cr_expect_eq(end, k->end, "%s: %lld bytes more than needed", k->what,
                 (long long)(end - k->end));
  }
  planner_free(&p);
}

/* Problems that the first order of the search does not solve. The bound of each is reached only by
 * other orders, or by improving the best one. */
Test(plan, orders_that_miss_the_bound_are_improved)
{
  static const known_case hard = {.end = START + 100,
                                  .items = {{40, 4, 0, 4, 0},
                                            {60, 4, 0, 1, 0},
                                            {20, 4, 2, 6, 0},
                                            {40, 4, 2, 3, 0},
                                            {40, 4, 4, 5, 0},
                                            {80, 4, 7, 8, 0},
                                            {20, 4, 5, 9, 0},
                                            {40, 4, 6, 6, 0}}};
  pop_target target = small_target();
  planner p = {0};
  start(&p, &target);
  add_known(&p, &hard);
  cr_expect_eq(plan(&p), hard.end);
  planner_free(&p);
}

/* Alignments keep every order of these above the bound. Three blocks have six orders: no reason to
 * search for long. */
Test(plan, a_bound_out_of_reach_of_a_few_blocks_takes_little_work)
{
  static const known_case aligned = {
      .end = START + 0x20 + 132, .items = {{4, 64, 0, 1, 0}, {4, 64, 0, 2, 0}, {4, 64, 1, 2, 0}}};
  pop_target target = small_target();
  planner p = {0};
  start(&p, &target);
  add_known(&p, &aligned);
  cr_expect_eq(plan(&p), aligned.end);
  cr_expect(p.budget > PLAN_BUDGET - 10000, "%llu ranges looked at",
            (unsigned long long)(PLAN_BUDGET - p.budget));
  planner_free(&p);
}

/* ---- random problems ---- */

typedef struct random_form {
  uint32_t num_items, num_rules;
  uint32_t num_steps, longest_life, largest;
  uint32_t always_of_10, interleaved_of_10;
  bool any_align;
} random_form;

static plan_item random_item(uint64_t *seed, const random_form *form)
{
  plan_item x = {.size = 4 * (1 + random_below(seed, form->largest / 4)),
                 .align = form->any_align ? 4u << random_below(seed, 6) : 4,
                 .interleaved = random_below(seed, 10) < form->interleaved_of_10};
  x.first_step = random_below(seed, form->num_steps);
  x.last_step = x.first_step + random_below(seed, form->longest_life);
  if (random_below(seed, 10) < form->always_of_10) {
    x.first_step = 0;
    x.last_step = UINT32_MAX;
  }
  return x;
}

/* Rules that can be kept: items in the lower half are on one side only. */
static plan_rule random_rule(uint64_t *seed, const plan_problem *problem)
{
  plan_rule rule = {.equal = false, .regions = random_below(seed, 12) == 0};
  uint32_t half = (uint32_t)problem->num_items / 2;
  rule.items[0] = random_below(seed, half);
  rule.items[1] = half + random_below(seed, half);
  if (rule.regions && problem->items[rule.items[0]].interleaved &&
      problem->items[rule.items[1]].interleaved)
    rule.regions = false;
  for (int side = 0; side < 2; side++) {
    uint32_t size = problem->items[rule.items[side]].size;
    rule.begin[side] = random_below(seed, size);
    rule.end[side] = rule.begin[side] + 1 + random_below(seed, size - rule.begin[side]);
  }
  return rule;
}

static void make_random(planner *p, const pop_target *target, const random_form *form,
                        uint64_t seed)
{
  start(p, target);
  for (uint32_t i = 0; i < form->num_items; i++) add_item(p, random_item(&seed, form));
  uint32_t num_region_rules = 0;
  for (uint32_t i = 0; i < form->num_rules; i++) {
    plan_rule rule = random_rule(&seed, &p->problem);
    if (rule.regions && num_region_rules++) rule.regions = false;
    add_rule(p, rule);
  }
}

Test(plan, random_problems_are_laid_out_as_they_ask)
{
  static const random_form forms[] = {
      {1, 0, 1, 1, 40, 0, 0, true},      {20, 0, 5, 5, 100, 3, 2, true},
      {100, 0, 30, 8, 300, 2, 1, true},  {60, 0, 1, 1, 64, 0, 5, true},
      {300, 0, 200, 20, 64, 1, 0, true}, {6, 2, 4, 3, 60, 5, 0, true},
      {16, 6, 6, 4, 120, 4, 2, true},    {40, 12, 20, 6, 200, 2, 1, true},
  };
  pop_target target = small_target();
  planner p = {0};
  seed_range seeds = test_all_seeds(1, 30);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
      make_random(&p, &target, &forms[i], seed);
      plan(&p);
    }
  planner_free(&p);
}

/* The worst ratio to the bound over all seeds. */
static double worst_ratio(const random_form *form)
{
  pop_target target = small_target();
  planner p = {0};
  double worst = 0;
  seed_range seeds = test_all_seeds(1, 20);
  for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
    make_random(&p, &target, form, seed);
    uint64_t end = plan(&p);
    uint64_t live = most_live_bytes(p.problem.items, p.problem.num_items, false);
    uint64_t least = least_end(&p.problem, START, live);
    double ratio = (double)(end - START) / (double)(least - START);
    if (ratio > worst) worst = ratio;
  }
  planner_free(&p);
  return worst;
}

Test(plan, sharing_stays_near_the_lower_bound)
{
  static const struct {
    random_form form;
    double limit;
  } cases[] = {
      {{12, 0, 12, 4, 400, 0, 0, false}, 1.05},    {{120, 0, 60, 3, 400, 0, 0, false}, 1.05},
      {{120, 0, 60, 10, 400, 0, 0, false}, 1.05},  {{120, 0, 60, 40, 400, 0, 0, false}, 1.08},
      {{300, 0, 150, 20, 400, 1, 0, false}, 1.05}, {{60, 0, 30, 6, 2000, 3, 2, false}, 1.05},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double worst = worst_ratio(&cases[i].form);
    cr_log_info("case %zu: %.4f", i, worst);
    cr_expect_leq(worst, cases[i].limit, "case %zu: %.4f of the bound", i, worst);
  }
}

Test(plan, equal_problems_get_equal_plans)
{
  static const random_form form = {80, 8, 30, 8, 200, 2, 1, true};
  pop_target target = small_target();
  planner first = {0}, second = {0};
  make_random(&second, &target, &(random_form){40, 0, 9, 9, 90, 1, 1, true}, 5);
  plan(&second); /* earlier plans must not affect this one */
  make_random(&first, &target, &form, 3);
  make_random(&second, &target, &form, 3);
  plan(&first);
  plan(&second);
  for (size_t i = 0; i < first.problem.num_items; i++)
    cr_assert_eq(first.problem.items[i].address, second.problem.items[i].address);
  planner_free(&first);
  planner_free(&second);
}
