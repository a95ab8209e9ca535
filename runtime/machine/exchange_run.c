/* Plans of exchanges: finds, runs and forgets them.
 *
 * A plan's key is what every tile waits in and asks for, because the tiles' code determines the
 * exchange. A program in a loop wants the same plans in the same order, so the plan that followed
 * the last time is tried first. Code segments are read-only: a plan stays right as long as images
 * and segments do. */
#include "exchange_plan.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Making */

void exchange_plan_add(exchange_plan *plan, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  if (plan->plain)
    copy_list_add(&plan->copies, (copy_run){.to = to, .from = from, .bytes = bytes, .count = 1});
  else
    copy_list_join(&plan->copies, to, from, bytes);
}

static void *duplicate(const void *items, size_t bytes)
{
  return memcpy(pop_xmalloc(bytes), items, bytes);
}

static void free_plan(exchange_plan *plan)
{
  free(plan->waiting);
  free(plan->stop_argument);
  free(plan->parts);
  copy_list_free(&plan->copies);
  free(plan);
}

/* The plan of what the tiles ask for now; NULL after a fault. */
static exchange_plan *make_plan(machine *m, uint64_t hash)
{
  exchange_plan *plan = pop_xcalloc(1, sizeof *plan);
  plan->hash = hash;
  plan->plain = m->options.plain;
  plan->waiting = duplicate(m->at.waiting, m->num_tiles * sizeof *plan->waiting);
  plan->stop_argument = duplicate(m->at.stop_argument, m->num_tiles * sizeof *plan->stop_argument);
  for (uint32_t i = 0; i < m->num_tiles; i++)
    if (m->at.waiting[i] == STOP_EXCHANGE)
      pop_push(plan->parts, plan->num_parts, plan->parts_capacity,
               (exchange_part){.tile = i, .code = m->at.stop_argument[i]});
  if (!exchange_verify(m, plan)) {
    free_plan(plan);
    return NULL;
  }
  for (size_t i = 0; i < plan->num_parts; i++) plan->received += plan->parts[i].received;
  copy_list_finish(&plan->copies, NULL);
  return plan;
}

/* Finding */

struct exchange_plans {
  exchange_plan **chains;
  size_t num_chains, num_plans;
  exchange_plan *last; /* that was wanted */
};

static bool is_wanted(const machine *m, const exchange_plan *plan)
{
  return !memcmp(plan->stop_argument, m->at.stop_argument,
                 m->num_tiles * sizeof *plan->stop_argument) &&
         !memcmp(plan->waiting, m->at.waiting, m->num_tiles * sizeof *plan->waiting);
}

static uint64_t hash_wanted(const machine *m)
{
  uint64_t hash = XXH3_64bits(m->at.waiting, m->num_tiles * sizeof *m->at.waiting);
  return XXH3_64bits_withSeed(m->at.stop_argument, m->num_tiles * sizeof *m->at.stop_argument,
                              hash);
}

static exchange_plan *find_plan(const machine *m, uint64_t hash)
{
  const exchange_plans *plans = m->plans;
  if (plans->num_chains == 0) return NULL;
  exchange_plan *plan = plans->chains[hash % plans->num_chains];
  while (plan && (plan->hash != hash || !is_wanted(m, plan))) plan = plan->next;
  return plan;
}

static void link_plan(exchange_plans *plans, exchange_plan *plan)
{
  exchange_plan **chain = &plans->chains[plan->hash % plans->num_chains];
  plan->next = *chain;
  *chain = plan;
}

/* Doubles the table when it has as many plans as chains. */
static void keep_plan(exchange_plans *plans, exchange_plan *plan)
{
  enum { FIRST_CHAINS = 16 };
  if (plans->num_plans == plans->num_chains) {
    exchange_plan **old = plans->chains;
    size_t num_old = plans->num_chains;
    plans->num_chains = num_old ? 2 * num_old : FIRST_CHAINS;
    plans->chains = pop_xcalloc(plans->num_chains, sizeof(exchange_plan *));
    for (size_t i = 0; i < num_old; i++)
      for (exchange_plan *moved = old[i], *next; moved; moved = next) {
        next = moved->next;
        link_plan(plans, moved);
      }
    free(old);
  }
  link_plan(plans, plan);
  plans->num_plans++;
}

/* NULL after a fault. */
static exchange_plan *get_plan(machine *m)
{
  if (!m->plans) m->plans = pop_xcalloc(1, sizeof *m->plans);
  exchange_plans *plans = m->plans;
  exchange_plan *before = plans->last, *plan = before ? before->successor : NULL;
  if (!plan || !is_wanted(m, plan)) {
    uint64_t hash = hash_wanted(m);
    plan = find_plan(m, hash);
    if (!plan) {
      plan = make_plan(m, hash);
      if (!plan) return NULL;
      keep_plan(plans, plan);
    }
    if (before) before->successor = plan;
  }
  plans->last = plan;
  return plan;
}

void exchange_forget(machine *m)
{
  exchange_plans *plans = m->plans;
  if (!plans) return;
  for (size_t i = 0; i < plans->num_chains; i++)
    for (exchange_plan *plan = plans->chains[i], *next; plan; plan = next) {
      next = plan->next;
      free_plan(plan);
    }
  free(plans->chains);
  free(plans);
  m->plans = NULL;
}

/* Running */

void exchange_run(machine *m)
{
  exchange_plan *plan = get_plan(m);
  if (!plan) return;
  copy_list_run(&plan->copies, m->pool);
  m->exchanged_bytes += plan->received;
  for (size_t i = 0; i < plan->num_parts; i++) {
    const exchange_part *p = &plan->parts[i];
    uint64_t start = m->at.clocks[p->tile], end = m->at.clocks[p->tile] = start + p->cycles;
    if (m->trace)
      superstep_trace(m, MACHINE_TRACE_EXCHANGE, p->tile, p->code, start, end, p->received);
  }
}
