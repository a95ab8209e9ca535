/* Merges bounds checks, over the dominator tree.
 *
 * The code is executed symbolically from the root down to the current block. A block starts with
 * the registers that its dominator has left, except those that blocks between the two write (joins,
 * loops). A symbol stands for a register at the root's start, for a register that was written in
 * between, or for a result that is not affine. Accesses whose addresses differ by constants form a
 * group if they are in one block, or in blocks of which the second always follows the first. The
 * first access of a group checks the range of all. Symbols do not change, so a checked range stays
 * legal in all blocks below.
 *
 * Only ranges are checked that will be accessed if nothing faults before. If a check fails, the
 * interpreter goes on. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256, MAX_SPAN = 8192, FIRST_SYMBOL = NUM_REGISTERS, LAST_SYMBOL = UINT16_MAX };

typedef struct group {
  affine base;                     /* constant 0 */
  affine sp;                       /* where the group is tested */
  int64_t lowest, highest, offset; /* of all accesses; of the first one */
  uint32_t align, rest;            /* as of align_together */
  uint32_t first, chain;           /* operation, and its search.chain */
  bool store, by_sp;
} group;

/* How a block is linked to the one above it in its tree. */
typedef struct link {
  uint32_t parent; /* UINT32_MAX: it is a root */
  uint32_t first_child, next_sibling;
  uint32_t written; /* by the blocks between the two: integer registers, a bit each */
  bool follows;     /* the block always follows its parent, unless native code is left in between */
} link;

typedef struct search {
  const code_unit *unit;
  const code_block *blocks; /* of the function */
  uint32_t num_blocks, first_op;
  const function_loops *loops;
  const counted_loop *fast; /* NULL: the function */
  link *links;              /* by block, as the next */
  uint32_t *first_before;   /* start of its predecessors in `before`; one more entry at the end */
  uint32_t *before;
  bool *between; /* while a block is looked at */
  uint32_t *stack;
  access_check *out;
  group *groups;
  size_t num_groups, groups_capacity;
  /* chain: the first of the blocks that the current one always follows; depth: of the current block
   * in its tree */
  uint32_t chain, depth;
  unsigned next_symbol;
  uint32_t *roots;
  size_t num_roots, roots_capacity;
} search;

/* Trees */

/* A block behind a counted loop has another predecessor, the fast copy, unless the last iteration
 * is in the plain copy. So it is not below the loop's blocks. */
static bool is_cut_off(const search *s, uint32_t from, uint32_t to)
{
  for (size_t i = 0; i < s->loops->num_loops && !s->fast; i++) {
    const counted_loop *loop = &s->loops->loops[i];
    if (loop->contains[from]) return !loop_ends_in_plain_copy(loop) && !loop->contains[to];
  }
  return false;
}

/* Does the block end without a call, so that no other code changes registers? */
static bool goes_on(const code_block *b)
{
  switch (b->end) {
  case BLOCK_NEXT:
  case BLOCK_BRANCH:
  case BLOCK_JUMP:
  case BLOCK_ENTER:
    return true;
  case BLOCK_INDIRECT:
    return b->num_targets && b->next == UNIT_NONE;
  default:
    return false;
  }
}

static void find_predecessors(search *s, const block_graph *g)
{
  s->first_before = pop_xcalloc(s->num_blocks + 2, sizeof *s->first_before);
  /* count[n]: first the start of block n's predecessors, then where its next one goes */
  uint32_t *count = s->first_before + 2, num = 0;
  for (uint32_t n = 0; n < s->num_blocks; n++)
    for (uint32_t i = 0; i < block_graph_num_successors(g, n); i++) {
      int32_t to = block_graph_successor(g, n, i);
      if (to == UNIT_NONE) continue;
      num++;
      if ((uint32_t)to + 1 < s->num_blocks) count[to]++;
    }
  for (uint32_t n = 2; n < s->num_blocks + 1; n++) s->first_before[n] += s->first_before[n - 1];
  s->before = pop_xcalloc(num + 1, sizeof *s->before);
  for (uint32_t n = 0; n < s->num_blocks; n++)
    for (uint32_t i = 0; i < block_graph_num_successors(g, n); i++) {
      int32_t to = block_graph_successor(g, n, i);
      if (to != UNIT_NONE) s->before[s->first_before[to + 1]++] = n;
    }
}

static uint32_t written_by(const search *s, uint32_t block)
{
  const code_block *b = &s->blocks[block];
  uint32_t registers = 0;
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
    registers |= 1u << (code_op_writes_x(&s->unit->ops[i]) & (NUM_REGISTERS - 1));
  return registers;
}

/* Marks the blocks between `top` and the block that it dominates, backwards along edges. False if
 * code that is not known may change registers there. */
static bool find_between(search *s, const block_graph *g, uint32_t top, uint32_t block, link *out)
{
  uint32_t depth = 0;
  bool good = true;
  s->stack[depth++] = block;
  while (depth) {
    uint32_t at = s->stack[--depth];
    for (uint32_t i = s->first_before[at]; i < s->first_before[at + 1]; i++) {
      uint32_t from = s->before[i];
      if (g->order[from] == UINT32_MAX) continue;
      good = good && goes_on(&s->blocks[from]);
      if (from == top || s->between[from]) continue;
      s->between[from] = true;
      out->written |= written_by(s, from);
      s->stack[depth++] = from;
    }
  }
  return good;
}

/* Do all edges from `top` and the blocks in between stay among them or lead to `block`? */
static bool always_follows(const search *s, const block_graph *g, uint32_t top, uint32_t block)
{
  if (s->between[block]) return false;
  for (uint32_t n = 0; n < s->num_blocks; n++) {
    if (n != top && !s->between[n]) continue;
    for (uint32_t i = 0; i < block_graph_num_successors(g, n); i++) {
      int32_t to = block_graph_successor(g, n, i);
      if (to == UNIT_NONE ? s->blocks[n].end == BLOCK_BRANCH
                          : (uint32_t)to != block && !s->between[to])
        return false;
    }
  }
  return true;
}

static void find_link(search *s, const block_graph *g, uint32_t block)
{
  link *out = &s->links[block];
  uint32_t top = g->dominator[block];
  while (top && is_cut_off(s, top, block)) top = g->dominator[top];
  if (is_cut_off(s, top, block)) return;
  memset(s->between, 0, s->num_blocks * sizeof *s->between);
  if (!find_between(s, g, top, block, out)) return;
  out->follows = always_follows(s, g, top, block);
  out->parent = top;
  out->next_sibling = s->links[top].first_child;
  s->links[top].first_child = block;
}

static bool is_lifted(const search *s, const block_graph *g, uint32_t block)
{
  return s->fast ? s->fast->contains[block] : g->order[block] != UINT32_MAX;
}

static void find_links(search *s, const block_graph *g)
{
  s->links = pop_xcalloc(s->num_blocks, sizeof *s->links);
  s->between = pop_xcalloc(s->num_blocks, sizeof *s->between);
  s->stack = pop_xcalloc(s->num_blocks + 1, sizeof *s->stack);
  for (uint32_t n = 0; n < s->num_blocks; n++)
    s->links[n] =
        (link){.parent = UINT32_MAX, .first_child = UINT32_MAX, .next_sibling = UINT32_MAX};
  for (uint32_t n = 1; n < s->num_blocks; n++)
    if (g->order[n] != UINT32_MAX && is_lifted(s, g, n) && !(s->fast && n == s->fast->header))
      find_link(s, g, n);
}

/* Groups */

/* Iterations down to the group's alignment. */
static int64_t round_down(const group *g, int64_t offset)
{
  return ((offset - g->rest) & -(int64_t)g->align) + g->rest;
}

/* Adds an access to the group's range, if the range does not become too large. */
static bool extend(group *g, int64_t offset, uint32_t bytes)
{
  int64_t low = offset < g->lowest ? offset : g->lowest;
  int64_t high = offset + bytes > g->highest ? offset + bytes : g->highest;
  if (high - low > MAX_SPAN ||
      !align_together(&g->align, &g->rest, offset, isa_access_align(bytes)))
    return false;
  g->lowest = low;
  g->highest = high;
  return true;
}

static bool is_aligned_by(const group *g, int64_t offset, uint32_t align)
{
  uint32_t own = g->align, rest = g->rest;
  return align <= own && align_together(&own, &rest, offset, align);
}

/* Does a test further up cover the access? */
static bool has_tested(const group *g, const affine *base, int64_t offset, uint32_t bytes,
                       bool store, bool by_sp)
{
  return affine_same_terms(&g->base, base) && offset >= g->lowest && offset + bytes <= g->highest &&
         is_aligned_by(g, offset, isa_access_align(bytes)) && (!store || g->store) &&
         (!by_sp || g->by_sp);
}

/* Outside the windows it may depend on sp whether a store that is not relative to sp is legal
 * (memory.c). */
static bool is_tested_alike(const group *g, const affine *sp, bool store, bool by_sp)
{
  return !store || by_sp || g->by_sp || affine_equal(&g->sp, sp);
}

static group *find_group(search *s, const affine *base, int64_t offset, uint32_t bytes,
                         const affine *sp, bool store, bool by_sp)
{
  for (size_t i = s->num_groups; i-- > 0;) {
    group *g = &s->groups[i];
    if (!is_tested_alike(g, sp, store, by_sp)) continue;
    if (has_tested(g, base, offset, bytes, store, by_sp)) return g;
    if (g->chain == s->chain && affine_same_terms(&g->base, base) && extend(g, offset, bytes))
      return g;
  }
  return NULL;
}

static void add_access(search *s, const affine_registers *v, const code_op *op, uint32_t index)
{
  bool store;
  uint32_t bytes;
  if (!code_op_is_access(op, &store, &bytes)) return;
  if (s->fast && (s->fast->accesses[index].group != UNIT_NONE ||
                  s->fast->accesses[index].invariant != UNIT_NONE))
    return;
  affine base = affine_add(v->x[op->rs1], (uint32_t)op->imm);
  int64_t offset = (int32_t)base.constant;
  bool by_sp = store && op->rs1 == 2;
  base.constant = 0;
  if (!base.known) return;
  group *g = find_group(s, &base, offset, bytes, &v->x[2], store, by_sp);
  if (g) {
    s->out[index] = (access_check){
        .covered = true, .tested_by = g->first, .from = (int32_t)(offset - g->offset)};
  } else {
    pop_push(s->groups, s->num_groups, s->groups_capacity,
             (group){.base = base,
                     .sp = v->x[2],
                     .lowest = offset,
                     .highest = offset + bytes,
                     .offset = offset,
                     .align = isa_access_align(bytes),
                     .rest = (uint32_t)offset & (isa_access_align(bytes) - 1),
                     .first = index,
                     .chain = s->chain});
    g = &s->groups[s->num_groups - 1];
  }
  g->store |= store;
  g->by_sp |= by_sp;
}

/* The group is complete: its first access gets the test. */
static void finish_group(search *s, const group *g)
{
  int64_t from = round_down(g, g->lowest), to = round_down(g, g->highest + g->align - 1);
  s->out[g->first] = (access_check){.from = (int32_t)(from - g->offset),
                                    .bytes = (uint32_t)(to - from),
                                    .align = g->align,
                                    .store = g->store,
                                    .by_sp = g->by_sp};
}

/* Walking */

static void execute(search *s, affine_registers *v, const code_op *op)
{
  affine *result = affine_execute(v, op);
  if (result && !result->known && s->next_symbol <= LAST_SYMBOL)
    *result = affine_symbol((uint16_t)s->next_symbol++);
}

static void walk(search *s, uint32_t block, uint32_t chain, affine_registers v);

static void forget(search *s, affine_registers *v, uint32_t registers)
{
  for (uint32_t r = 1; r < NUM_REGISTERS; r++)
    if (registers >> r & 1)
      v->x[r] =
          s->next_symbol <= LAST_SYMBOL ? affine_symbol((uint16_t)s->next_symbol++) : (affine){0};
}

/* Walks the blocks below; where the tree is too deep, they become roots. */
static void walk_on(search *s, uint32_t block, const affine_registers *v)
{
  for (uint32_t n = s->links[block].first_child; n != UINT32_MAX; n = s->links[n].next_sibling) {
    if (s->depth == MAX_DEPTH) {
      pop_push(s->roots, s->num_roots, s->roots_capacity, n);
      continue;
    }
    affine_registers own = *v;
    unsigned next_symbol = s->next_symbol;
    uint32_t chain = s->chain;
    forget(s, &own, s->links[n].written);
    walk(s, n, s->links[n].follows ? chain : n, own);
    s->chain = chain;
    s->next_symbol = next_symbol;
  }
}

static void walk(search *s, uint32_t block, uint32_t chain, affine_registers v)
{
  const code_block *b = &s->blocks[block];
  size_t num_groups = s->num_groups;
  s->chain = chain;
  for (uint32_t i = 0; i < b->num_ops; i++) {
    const code_op *op = &s->unit->ops[b->first_op + i];
    add_access(s, &v, op, b->first_op + i - s->first_op);
    execute(s, &v, op);
  }
  s->depth++;
  walk_on(s, block, &v);
  s->depth--;
  for (size_t i = num_groups; i < s->num_groups; i++) finish_group(s, &s->groups[i]);
  s->num_groups = num_groups;
}

static void walk_trees(search *s)
{
  affine_registers start = {0};
  for (uint32_t r = 0; r < NUM_REGISTERS; r++) start.x[r] = affine_symbol((uint16_t)r);
  for (uint32_t n = 0; n < s->num_blocks; n++)
    if (s->links[n].parent == UINT32_MAX && (!s->fast || s->fast->contains[n]))
      pop_push(s->roots, s->num_roots, s->roots_capacity, n);
  for (size_t i = 0; i < s->num_roots; i++) { /* the list may grow */
    s->next_symbol = FIRST_SYMBOL;
    s->depth = 0;
    walk(s, s->roots[i], s->roots[i], start);
  }
}

access_check *function_checks_find(const code_unit *unit, const code_function *f,
                                   const function_loops *loops, const counted_loop *fast)
{
  search s = {.unit = unit,
              .blocks = unit->blocks + f->first_block,
              .num_blocks = f->num_blocks,
              .loops = loops,
              .fast = fast};
  const code_block *last = &s.blocks[s.num_blocks - 1];
  s.first_op = s.blocks[0].first_op; /* operations of a function are consecutive */
  size_t num_ops = last->first_op + last->num_ops - s.first_op;
  s.out = pop_xcalloc(num_ops + 1, sizeof *s.out);
  block_graph g = block_graph_make(unit, f);
  find_predecessors(&s, &g);
  find_links(&s, &g);
  walk_trees(&s);
  block_graph_free(&g);
  free(s.first_before);
  free(s.before);
  free(s.links);
  free(s.between);
  free(s.stack);
  free(s.groups);
  free(s.roots);
  return s.out;
}
