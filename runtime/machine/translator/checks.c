/* Bounds checks are merged, over extended basic blocks.
 *
 * An extended basic block is a tree of blocks: each but the root has one predecessor, its parent. From
 * the root to the current block the code is executed symbolically. A symbol stands for a register where
 * the root begins, or for a result that is no sum. Accesses of a block whose addresses differ by
 * constants are a group: the first one checks the range of all. Symbols do not change, so a range that
 * has been checked is known to be good in all blocks below.
 *
 * Only what will be accessed is checked, if nothing faults before. Where a check fails, the interpreter
 * goes on. */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>

enum { MAX_DEPTH = 32, MAX_SPAN = 8192, FIRST_SYMBOL = NUM_REGISTERS, LAST_SYMBOL = UINT16_MAX };

typedef struct group {
  affine base;                     /* constant 0 */
  int64_t lowest, highest, offset; /* of everybody; of the first one */
  uint32_t align, first, block;    /* operation, and where it is */
  bool store, by_sp;
} group;

typedef struct search {
  const code_unit *unit;
  const code_block *blocks; /* of the function */
  uint32_t num_blocks, first_op;
  const function_loops *loops;
  const counted_loop *fast; /* NULL: the function */
  uint32_t *num_before;     /* by block: predecessors */
  access_check *out;
  group *groups;
  size_t num_groups, groups_capacity;
  uint32_t block, depth; /* the current block, and how deep it is in the tree */
  unsigned next_symbol;
  uint32_t *roots;
  size_t num_roots, roots_capacity;
} search;

/* Trees */

static bool is_counted_block(const search *s, uint32_t block, const counted_loop **loop)
{
  for (size_t i = 0; i < s->loops->num_loops; i++) {
    *loop = &s->loops->loops[i];
    if ((*loop)->contains[block]) return !(*loop)->ends_early;
  }
  return false;
}

/* Is `from` the parent of `to`? What leaves a counted loop has a second predecessor, the fast copy, unless that
 * goes back to the plain copy to end. */
static bool hangs_below(const search *s, uint32_t from, int32_t to)
{
  const counted_loop *loop;
  if (to <= 0 || s->num_before[to] != 1) return false;
  block_end end = s->blocks[from].end;
  if (end != BLOCK_NEXT && end != BLOCK_BRANCH && end != BLOCK_JUMP && end != BLOCK_ENTER)
    return false;
  if (s->fast) return s->fast->contains[to];
  return !is_counted_block(s, from, &loop) || loop->contains[to];
}

static void count_predecessors(search *s)
{
  s->num_before = pop_xcalloc(s->num_blocks, sizeof *s->num_before);
  for (uint32_t n = 0; n < s->num_blocks; n++) {
    const code_block *b = &s->blocks[n];
    if (b->next != UNIT_NONE) s->num_before[b->next]++;
    if (b->taken != UNIT_NONE && b->taken != b->next) s->num_before[b->taken]++;
    for (uint32_t i = 0; i < b->num_targets; i++)
      s->num_before[s->unit->targets[b->first_target + i]]++;
  }
}

/* Groups */

static int64_t round_down(int64_t value, uint32_t align)
{
  return value & -(int64_t)align;
}

/* Makes the group larger by an access, if it does not become too large. */
static bool extend(group *g, int64_t offset, uint32_t bytes)
{
  uint32_t own = isa_access_align(bytes), align = own > g->align ? own : g->align;
  int64_t low = offset < g->lowest ? offset : g->lowest;
  int64_t high = offset + bytes > g->highest ? offset + bytes : g->highest;
  if (high - low > MAX_SPAN) return false;
  g->lowest = low;
  g->highest = high;
  g->align = align;
  return true;
}

/* Has what the access needs been tested further up? */
static bool has_tested(const group *g, const affine *base, int64_t offset, uint32_t bytes,
                       bool store, bool by_sp)
{
  return affine_same_terms(&g->base, base) && offset >= g->lowest && offset + bytes <= g->highest &&
         isa_access_align(bytes) <= g->align && (!store || g->store) && (!by_sp || g->by_sp);
}

static group *find_group(search *s, const affine *base, int64_t offset, uint32_t bytes, bool store,
                         bool by_sp)
{
  for (size_t i = s->num_groups; i-- > 0;) {
    group *g = &s->groups[i];
    if (has_tested(g, base, offset, bytes, store, by_sp)) return g;
    if (g->block == s->block && affine_same_terms(&g->base, base) && extend(g, offset, bytes))
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
  if (!base.known || offset % isa_access_align(bytes)) return;
  group *g = find_group(s, &base, offset, bytes, store, by_sp);
  if (g) {
    s->out[index] = (access_check){
        .covered = true, .tested_by = g->first, .from = (int32_t)(offset - g->offset)};
  } else {
    pop_push(s->groups, s->num_groups, s->groups_capacity,
             (group){.base = base,
                     .lowest = offset,
                     .highest = offset + bytes,
                     .offset = offset,
                     .align = isa_access_align(bytes),
                     .first = index,
                     .block = s->block});
    g = &s->groups[s->num_groups - 1];
  }
  g->store |= store;
  g->by_sp |= by_sp;
}

/* Its block is done: the first one gets its test. */
static void finish_group(search *s, const group *g)
{
  int64_t from = round_down(g->lowest, g->align), to = -round_down(-g->highest, g->align);
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

static void walk(search *s, uint32_t block, affine_registers v);

/* To a block below, if it is one; where the tree is too deep, another one begins. */
static void walk_on(search *s, uint32_t from, int32_t to, const affine_registers *v)
{
  if (!hangs_below(s, from, to)) return;
  if (s->depth < MAX_DEPTH)
    walk(s, (uint32_t)to, *v);
  else
    pop_push(s->roots, s->num_roots, s->roots_capacity, (uint32_t)to);
}

static void walk(search *s, uint32_t block, affine_registers v)
{
  const code_block *b = &s->blocks[block];
  size_t num_groups = s->num_groups;
  unsigned next_symbol = s->next_symbol;
  s->block = block;
  for (uint32_t i = 0; i < b->num_ops; i++) {
    const code_op *op = &s->unit->ops[b->first_op + i];
    add_access(s, &v, op, b->first_op + i - s->first_op);
    execute(s, &v, op);
  }
  s->depth++;
  for (size_t i = num_groups; i < s->num_groups; i++) finish_group(s, &s->groups[i]);
  walk_on(s, block, b->next, &v);
  if (b->taken != b->next) walk_on(s, block, b->taken, &v);
  s->depth--;
  s->next_symbol = next_symbol;
  s->num_groups = num_groups;
}

static void find_roots(search *s)
{
  bool *below = pop_xcalloc(s->num_blocks, sizeof *below);
  for (uint32_t n = 0; n < s->num_blocks; n++) {
    const code_block *b = &s->blocks[n];
    if (s->fast && !s->fast->contains[n]) continue;
    if (hangs_below(s, n, b->next)) below[b->next] = true;
    if (hangs_below(s, n, b->taken)) below[b->taken] = true;
  }
  for (uint32_t n = 0; n < s->num_blocks; n++)
    if (!below[n] && (!s->fast || s->fast->contains[n]))
      pop_push(s->roots, s->num_roots, s->roots_capacity, n);
  free(below);
}

static void walk_trees(search *s)
{
  affine_registers start = {0};
  for (uint32_t r = 0; r < NUM_REGISTERS; r++) start.x[r] = affine_symbol((uint16_t)r);
  find_roots(s);
  for (size_t i = 0; i < s->num_roots; i++) { /* the list may grow */
    s->next_symbol = FIRST_SYMBOL;
    s->depth = 0;
    walk(s, s->roots[i], start);
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
  count_predecessors(&s);
  walk_trees(&s);
  free(s.num_before);
  free(s.groups);
  free(s.roots);
  return s.out;
}
