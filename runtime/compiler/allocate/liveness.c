/* Liveness: the live range of each block, from the first to the last step at which its content is
 * needed. allocate can give the same memory to blocks that are never live together.
 *
 * A step's number is its position in the script (script.h). Rules, for a block with accesses from
 * step f to step l in order of the numbers:
 *
 *  1. A block that the front end has marked, one with initial content, and one without any access
 *     are always live.
 *  2. A buffer that the compiler added (messages, rearrangement, output edge, …) carries no value
 *     from one iteration of a loop, or from one run, to the next: it is live from f to l. A buffer
 *     that is read before it is written would carry one: it is always live.
 *  3. A variable is live from f to l only if its first access writes all of it and reads none of
 *     it: then its earlier content cannot be seen. Otherwise it is always live.
 *  4. If a loop holds some of the accesses but not the first, the block is live to the end of the
 *     loop. If the loop holds the first, nothing changes: each iteration begins with the write.
 *  5. If a shared step (one that is called from several places) holds some of the accesses but not
 *     the first, each call of it is an access too. If it holds the first, each call begins with the
 *     write.
 *  6. A variable whose live range is then not inside one control program is always live: the host
 *     may run programs in any order.
 *  7. If the first access is inside a branch of a Switch or the body of a While and another one is
 *     not, the write may not have happened: the block is always live. Otherwise branches change
 *     nothing: they follow one another in the script, and control never goes back in them.
 *  8. If a live range covers a call of a shared step, the block must not share memory with the
 *     shared step's own buffers. So the range is extended back over the shared step, which is in
 *     the script where it is called first.
 *
 * So no program can tell from its results that memory was shared.
 *
 * Needs:   steps, accesses and blocks.
 * Adds:    first_step and last_step of blocks, or BLOCK_ALWAYS_LIVE.
 * Then:    blocks that are added later must be BLOCK_ALWAYS_LIVE; steps may not change.
 */
#include "compiler/script.h"

#include <stdlib.h>

/* A loop, a branch, a shared step or a control program: the ops from begin to end. */
typedef struct region {
  uint32_t begin, end;
  uint32_t parent; /* COMPILER_NONE: a control program */
  /* Enclosing regions, or the region itself, cached so that deep nesting costs nothing: */
  uint32_t program;     /* the control program */
  uint32_t branch;      /* the nearest branch; COMPILER_NONE: none */
  uint32_t visited_for; /* last block whose range was extended over this region */
} region;

typedef struct timed_access {
  uint32_t op;
  uint32_t access; /* in compilation.accesses */
} timed_access;

typedef struct liveness {
  compilation *c;
  script script;
  region *regions;
  size_t num_regions, regions_capacity;
  uint32_t *region_of_op; /* the innermost region; for the begin or end of a region: that region */
  timed_access *timed;    /* of block b: [first_timed[b], first_timed[b + 1]), ascending by op */
  size_t *first_timed;
  uint32_t *calls; /* CALL ops, ascending */
  size_t num_calls, calls_capacity;
  /* earliest[k * num_calls + i]: the earliest op that is called by calls [i, i + 2^k) */
  uint32_t *earliest;
  uint32_t *pending; /* of one block: ops with an access */
  size_t num_pending, pending_capacity;
} liveness;

/* ---- what the rules need to know of the script ---- */

static void add_region(liveness *l, uint32_t begin, uint32_t parent)
{
  const script_op *op = &l->script.ops[begin];
  uint32_t number = (uint32_t)l->num_regions;
  region added = {begin, op->match, parent, number, COMPILER_NONE, COMPILER_NONE};
  if (parent != COMPILER_NONE) {
    added.program = l->regions[parent].program;
    added.branch = l->regions[parent].branch;
  }
  if (op->kind == SCRIPT_CASE) added.branch = number;
  pop_push(l->regions, l->num_regions, l->regions_capacity, added);
}

static void find_regions(liveness *l)
{
  const script *s = &l->script;
  l->region_of_op = pop_xcalloc(s->num_ops + 1, sizeof *l->region_of_op);
  uint32_t current = COMPILER_NONE;
  for (uint32_t i = 0; i < s->num_ops; i++) {
    if (s->ops[i].match > i && s->ops[i].match != COMPILER_NONE) { /* a beginning */
      add_region(l, i, current);
      current = (uint32_t)(l->num_regions - 1);
    }
    l->region_of_op[i] = current;
    if (i == l->regions[current].end) current = l->regions[current].parent;
  }
}

/* Sparse table of minima over all ranges of 2^k calls, for rule 8. */
static void index_calls(liveness *l)
{
  const script *s = &l->script;
  for (uint32_t i = 0; i < s->num_ops; i++)
    if (s->ops[i].kind == SCRIPT_CALL) pop_push(l->calls, l->num_calls, l->calls_capacity, i);
  size_t n = l->num_calls, num_levels = 1;
  while ((size_t)1 << num_levels <= n) num_levels++;
  l->earliest = pop_xcalloc(num_levels * n + 1, sizeof *l->earliest);
  for (size_t i = 0; i < n; i++) l->earliest[i] = s->ops[l->calls[i]].match;
  for (size_t k = 1; k < num_levels; k++)
    for (size_t i = 0; i + ((size_t)1 << k) <= n; i++) {
      const uint32_t *below = l->earliest + (k - 1) * n;
      uint32_t a = below[i], b = below[i + ((size_t)1 << (k - 1))];
      l->earliest[k * n + i] = a < b ? a : b;
    }
}

static size_t first_call_from(const liveness *l, uint32_t op)
{
  size_t low = 0, high = l->num_calls;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->calls[middle] < op)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The earliest op that is called by a call in [from, to], or `from` if none is before it. */
static uint32_t earliest_called(const liveness *l, uint32_t from, uint32_t to)
{
  size_t first = first_call_from(l, from), last = first_call_from(l, to + 1);
  if (first == last) return from;
  size_t k = 0;
  while ((size_t)2 << k <= last - first) k++;
  const uint32_t *level = l->earliest + k * l->num_calls;
  uint32_t a = level[first], b = level[last - ((size_t)1 << k)];
  uint32_t earliest = a < b ? a : b;
  return earliest < from ? earliest : from;
}

/* Groups the accesses of the script's leaves by block: counting sort. */
static void group_accesses(liveness *l)
{
  const compilation *c = l->c;
  const script *s = &l->script;
  l->first_timed = pop_xcalloc(c->num_blocks + 2, sizeof *l->first_timed);
  size_t *next = l->first_timed + 1; /* next[b] becomes first_timed[b + 1] */
  for (uint32_t i = 0; i < s->num_ops; i++) {
    const step *leaf = script_accesses(c, s, i);
    if (!leaf) continue;
    for (size_t a = 0; a < leaf->num_accesses; a++)
      next[c->accesses[leaf->first_access + a].block + 1]++;
  }
  for (size_t b = 0; b < c->num_blocks; b++) next[b + 1] += next[b];
  l->timed = pop_xcalloc(next[c->num_blocks] + 1, sizeof *l->timed);
  for (uint32_t i = 0; i < s->num_ops; i++) {
    const step *leaf = script_accesses(c, s, i);
    if (!leaf) continue;
    for (size_t a = 0; a < leaf->num_accesses; a++) {
      uint32_t access = (uint32_t)(leaf->first_access + a);
      l->timed[next[c->accesses[access].block]++] = (timed_access){i, access};
    }
  }
}

/* ---- the range of one block ---- */

static bool is_buffer(const block *b)
{
  return b->category == POP_MEMORY_MESSAGE || b->category == POP_MEMORY_GLOBAL_MESSAGE ||
         b->category == POP_MEMORY_REARRANGEMENT || b->category == POP_MEMORY_OUTPUT_EDGE ||
         b->category == POP_MEMORY_MULTIPLE || b->category == POP_MEMORY_CONTROL_ID ||
         b->category == POP_MEMORY_HOST_MESSAGE;
}

/* Rules 1 to 3: may the live range end, or is the block always live? */
static bool may_end(const liveness *l, uint32_t index)
{
  const block *b = &l->c->blocks[index];
  size_t first = l->first_timed[index];
  if (b->flags & BLOCK_ALWAYS_LIVE || b->content != COMPILER_NONE ||
      first == l->first_timed[index + 1])
    return false;
  const block_access *access = &l->c->accesses[l->timed[first].access];
  if (access->reads) return false;
  if (is_buffer(b)) return true;
  return b->category == POP_MEMORY_VARIABLE && access->bytes_written == b->size;
}

/* Rule 5: the calls of a shared step become accesses of the block. */
static void add_calls(liveness *l, const region *shared)
{
  for (size_t i = first_call_from(l, shared->end); i < l->num_calls; i++)
    if (l->script.ops[l->calls[i]].match == shared->begin)
      pop_push(l->pending, l->num_pending, l->pending_capacity, l->calls[i]);
}

/* Rules 4 and 5 for an access at `op` to a block whose range begins at `from`: the last op for
 * which the access keeps the block live. A region that begins before `from` holds the first access,
 * and so do the regions around it. */
static uint32_t last_needed(liveness *l, uint32_t block, uint32_t op, uint32_t from)
{
  uint32_t last = op;
  for (uint32_t i = l->region_of_op[op]; i != COMPILER_NONE; i = l->regions[i].parent) {
    region *around = &l->regions[i];
    if (around->begin <= from) break;
    uint32_t kind = l->script.ops[around->begin].kind;
    if (kind == SCRIPT_LOOP || kind == SCRIPT_WHILE) last = around->end;
    if (kind == SCRIPT_SHARED && around->visited_for != block) add_calls(l, around);
    around->visited_for = block;
  }
  return last;
}

static bool in_one_program(const liveness *l, uint32_t from, uint32_t to)
{
  const region *around = &l->regions[l->region_of_op[from]];
  return to <= l->regions[around->program].end;
}

/* Rule 7. */
static bool may_lack_first_write(const liveness *l, uint32_t from, uint32_t to)
{
  uint32_t branch = l->regions[l->region_of_op[from]].branch;
  return branch != COMPILER_NONE && to > l->regions[branch].end;
}

static void find_range(liveness *l, uint32_t index)
{
  block *b = &l->c->blocks[index];
  const timed_access *first = l->timed + l->first_timed[index];
  const timed_access *end = l->timed + l->first_timed[index + 1];
  uint32_t from = first->op, to = from;
  l->num_pending = 0;
  for (const timed_access *a = first; a < end; a++)
    pop_push(l->pending, l->num_pending, l->pending_capacity, a->op);
  for (size_t i = 0; i < l->num_pending; i++) {
    uint32_t last = last_needed(l, index, l->pending[i], from);
    if (last > to) to = last;
  }
  if ((!is_buffer(b) && !in_one_program(l, from, to)) || may_lack_first_write(l, from, to)) {
    b->flags |= BLOCK_ALWAYS_LIVE;
    return;
  }
  for (uint32_t called; (called = earliest_called(l, from, to)) < from;) from = called;
  b->first_step = from;
  b->last_step = to;
}

pop_error *pass_liveness(compilation *c)
{
  liveness l = {.c = c};
  script_build(c, &l.script);
  find_regions(&l);
  index_calls(&l);
  group_accesses(&l);
  for (uint32_t i = 0; i < c->num_blocks; i++) {
    if (may_end(&l, i))
      find_range(&l, i);
    else
      c->blocks[i].flags |= BLOCK_ALWAYS_LIVE;
  }
  script_free(&l.script);
  free(l.regions);
  free(l.region_of_op);
  free(l.calls);
  free(l.earliest);
  free(l.timed);
  free(l.first_timed);
  free(l.pending);
  return NULL;
}
