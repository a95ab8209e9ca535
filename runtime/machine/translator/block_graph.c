/* The control-flow graph of a function: reverse postorder, dominators (Cooper, Harvey, Kennedy, "A
 * Simple, Fast Dominance Algorithm", 2001), natural loops. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

uint32_t block_graph_num_successors(const block_graph *g, uint32_t block)
{
  return code_block_num_successors(&g->blocks[block]);
}

int32_t block_graph_successor(const block_graph *g, uint32_t block, uint32_t number)
{
  return code_block_successor(g->unit, &g->blocks[block], number);
}

static void find_order(block_graph *g)
{
  typedef struct visit {
    uint32_t block, next;
  } visit;
  visit *stack = pop_xcalloc(g->num_blocks + 1, sizeof *stack);
  bool *seen = pop_xcalloc(g->num_blocks, sizeof *seen);
  uint32_t depth = 0, at = g->num_blocks;
  stack[depth++] = (visit){0, 0};
  seen[0] = true;
  while (depth) {
    visit *v = &stack[depth - 1];
    if (v->next < block_graph_num_successors(g, v->block)) {
      int32_t to = block_graph_successor(g, v->block, v->next++);
      if (to != UNIT_NONE && !seen[to]) {
        seen[to] = true;
        stack[depth++] = (visit){(uint32_t)to, 0};
      }
    } else {
      g->sequence[--at] = v->block;
      depth--;
    }
  }
  g->num_reachable = g->num_blocks - at;
  memmove(g->sequence, g->sequence + at, g->num_reachable * sizeof *g->sequence);
  memset(g->order, 0xff, g->num_blocks * sizeof *g->order);
  for (uint32_t i = 0; i < g->num_reachable; i++) g->order[g->sequence[i]] = i;
  free(stack);
  free(seen);
}

static uint32_t common_dominator(const block_graph *g, uint32_t a, uint32_t b)
{
  while (a != b) {
    while (g->order[a] > g->order[b]) a = g->dominator[a];
    while (g->order[b] > g->order[a]) b = g->dominator[b];
  }
  return a;
}

static bool relax_dominator(block_graph *g, uint32_t from, uint32_t to)
{
  uint32_t old = g->dominator[to];
  uint32_t now = old == UINT32_MAX ? from : common_dominator(g, from, old);
  g->dominator[to] = now;
  return now != old;
}

static void find_dominators(block_graph *g)
{
  memset(g->dominator, 0xff, g->num_blocks * sizeof *g->dominator);
  g->dominator[0] = 0;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < g->num_reachable; i++) {
      uint32_t from = g->sequence[i];
      for (uint32_t s = 0; s < block_graph_num_successors(g, from); s++) {
        int32_t to = block_graph_successor(g, from, s);
        if (to > 0 && relax_dominator(g, from, (uint32_t)to)) changed = true;
      }
    }
  }
}

/* Numbers the dominator tree in preorder: the blocks that a block dominates have consecutive
 * numbers, its own first. */
static void number_tree(block_graph *g)
{
  uint32_t *next = pop_xcalloc(g->num_blocks, sizeof *next); /* number of the block's next child */
  for (uint32_t i = g->num_reachable; i-- > 0;) {
    uint32_t block = g->sequence[i];
    g->num_dominated[block]++;
    if (i > 0) g->num_dominated[g->dominator[block]] += g->num_dominated[block];
  }
  for (uint32_t i = 0; i < g->num_reachable; i++) {
    uint32_t block = g->sequence[i], parent = g->dominator[block];
    if (i > 0) {
      g->tree_order[block] = next[parent];
      next[parent] += g->num_dominated[block];
    }
    next[block] = g->tree_order[block] + 1;
  }
  free(next);
}

bool block_graph_dominates(const block_graph *g, uint32_t a, uint32_t b)
{
  if (g->order[b] == UINT32_MAX) return false;
  return g->tree_order[b] - g->tree_order[a] < g->num_dominated[a];
}

static bool leads_into(const block_graph *g, uint32_t block, uint32_t header, const bool *contains)
{
  for (uint32_t s = 0; s < block_graph_num_successors(g, block); s++) {
    int32_t to = block_graph_successor(g, block, s);
    if (to != UNIT_NONE && (uint32_t)to != header && contains[to]) return true;
  }
  return false;
}

bool block_graph_grow_loop(const block_graph *g, uint32_t header, bool *contains)
{
  bool changed = false;
  for (uint32_t i = g->num_reachable; i-- > g->order[header];) {
    uint32_t block = g->sequence[i];
    if (contains[block] || !block_graph_dominates(g, header, block)) continue;
    if (leads_into(g, block, header, contains)) contains[block] = changed = true;
  }
  return changed;
}

block_graph block_graph_make(const code_unit *unit, const code_function *f)
{
  uint32_t n = f->num_blocks;
  block_graph g = {.unit = unit,
                   .blocks = unit->blocks + f->first_block,
                   .num_blocks = n,
                   .sequence = pop_xcalloc(n, sizeof *g.sequence),
                   .order = pop_xcalloc(n, sizeof *g.order),
                   .dominator = pop_xcalloc(n, sizeof *g.dominator),
                   .tree_order = pop_xcalloc(n, sizeof *g.tree_order),
                   .num_dominated = pop_xcalloc(n, sizeof *g.num_dominated)};
  find_order(&g);
  find_dominators(&g);
  number_tree(&g);
  return g;
}

void block_graph_free(block_graph *g)
{
  free(g->sequence);
  free(g->order);
  free(g->dominator);
  free(g->tree_order);
  free(g->num_dominated);
}
