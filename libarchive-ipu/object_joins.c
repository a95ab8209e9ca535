/* Which float operations of an object's code are joined (isa/isa.h). The chip executes bundles of
 * two independent instructions: one for the integer registers, memory and control, one for the
 * float registers' arithmetic. Its compiler fills them. A joined operation shares the slot of an
 * instruction of the other kind:
 *
 *   flw    fa1, 0(a0)                  slot 1
 *   flw    fa2, 4(a0)                  slot 2
 *   fadd.s fa1, fa0, fa1   --> joined  slot 2
 *   fsw    fa1, 0(a1)                  slot 3
 *   fadd.s fa0, fa0, fa2   --> joined  slot 3
 *   fsw    fa0, 4(a1)                  slot 4
 *
 * (axpy_twice of llvm/test/CodeGen/Colossus/coissue.ll in the public fork of LLVM, which expects
 * these four.) That compiler uses a list scheduler. It orders a block from its top, the longest
 * path to the end first, with a latency of one slot for everything, so that both halves have work
 * (colossus-mi-schedule.ll). The same is done here for each straight line of code (a scheduling
 * region), with the registers that clang chose. Instructions that share a slot in that schedule are
 * marked. Nothing moves here: words only get another form.
 *
 * A loop whose trip count is known to fit (isa/isa.h, repeats) has no branch on the chip, if its
 * compiler finds a repeat worth it: at most four bundles, or half of them, may have an empty half.
 * Here the branch takes the slot of a load or a store of the loop.
 *
 * Joined words round to nearest even (isa/isa.h). So none are made in an object that
 * changes the rounding mode.
 *
 * Divisions, roots and functions take several slots, in which loads and stores can issue
 * (f32-arithmetic.ll has a division beside a return). There it is the load or store that is joined.
 * An instruction that reads or writes registers of both kinds has a slot of its own. */
#include "object_code.h"

#include <populus/link.h>
#include <string.h>

enum { MAX_REGION = 64 }; /* longer lines are divided */
enum {
  MAX_HALF_FULL = 4
}; /* or half of a repeat's slots: max-nops-in-rpt, nop-threshold-in-rpt of the chip's compiler */

typedef enum unit { MAIN, AUX, BOTH, NONE } unit;

typedef struct node {
  code_use use;
  unit unit;
  bool accesses, stores;
  bool may_join;   /* it has a joined form */
  uint32_t beside; /* how many accesses take no slot beside it; 0 unless it takes several slots */
  uint32_t height; /* least number of slots from it to the end of the region */
  uint32_t slot;
  bool done;
} node;

typedef struct region {
  node nodes[MAX_REGION];
  uint32_t count;
} region;

/* Divisions, roots and functions, beside which loads and stores take no slot. Functions of pairs
 * are two instructions on the chip. */
static bool is_long(const isa_row *row)
{
  return row->cost >= POP_COST_FLOAT_DIV && row->cost <= POP_COST_HALF_TANH;
}

static unit unit_of(const isa_row *row, uint32_t word)
{
  bool floats = !row->access_bytes && isa_joined_word(word, row) != word;
  if (floats || isa_is_float_copy(row->op) || is_long(row)) return AUX;
  switch (row->cost) {
  case POP_COST_ALU:
  case POP_COST_MUL:
  case POP_COST_LOAD:
  case POP_COST_STORE:
  case POP_COST_BRANCH:
  case POP_COST_COMPARE_BRANCH:
  case POP_COST_JUMP:
    return MAIN;
  case POP_COST_STEP:
  case POP_COST_WORD_MOVE:
    return NONE; /* a part of another instruction, or of none */
  default:
    return BOTH;
  }
}

static void describe(node *m, const isa_row *row, uint32_t word)
{
  m->unit = unit_of(row, word);
  m->accesses = row->access_bytes > 0;
  m->stores = isa_is_store(row);
  m->may_join = isa_may_join(row);
  m->beside = is_long(row) ? 1 + isa_is_pair_function(row->op) : 0;
}

static uint32_t reads(const code_use *u)
{
  return (u->reads | (u->base ? 1u << u->base : 0)) & ~1u;
}

/* The latency from `a` to the later `b`, in slots; -1: they are independent. */
static int distance(const node *a, const node *b)
{
  const code_use *x = &a->use, *y = &b->use;
  int behind = a->unit == NONE ? 0 : 1;
  bool written = x->writes & ~1u & (reads(y) | y->writes);
  if (written || x->float_writes & (y->float_reads | y->float_writes)) return behind;
  if ((a->stores || b->stores) && a->accesses && b->accesses) return behind;
  bool overwritten = reads(x) & y->writes || x->float_reads & y->float_writes;
  return overwritten || code_ends_line(y) ? 0 : -1;
}

static void find_heights(region *l)
{
  for (uint32_t i = l->count; i-- > 0;) {
    l->nodes[i].height = 0;
    for (uint32_t k = i + 1; k < l->count; ++k) {
      int d = distance(&l->nodes[i], &l->nodes[k]);
      uint32_t height = l->nodes[k].height + (uint32_t)d;
      if (d >= 0 && height > l->nodes[i].height) l->nodes[i].height = height;
    }
  }
}

/* Have all its predecessors been scheduled early enough for this slot? */
static bool is_ready(const region *l, uint32_t i, uint32_t slot)
{
  for (uint32_t k = 0; k < i; ++k) {
    int d = distance(&l->nodes[k], &l->nodes[i]);
    if (d >= 0 && (!l->nodes[k].done || l->nodes[k].slot + (uint32_t)d > slot)) return false;
  }
  return true;
}

/* The ready node of the wanted unit with the longest path to the end; with `access`, only loads
 * and stores that may be joined. NULL: none. */
static node *best_ready(region *l, unit wanted, uint32_t slot, bool access)
{
  node *best_ready = NULL;
  for (uint32_t i = 0; i < l->count; ++i) {
    node *m = &l->nodes[i];
    bool longer = !best_ready || m->height > best_ready->height;
    bool fits = m->unit == wanted && (!access || m->may_join);
    if (!m->done && fits && longer && is_ready(l, i, slot)) best_ready = m;
  }
  return best_ready;
}

static void schedule_node(node *m, uint32_t slot)
{
  m->slot = slot;
  m->done = true;
}

static void schedule_free(region *l, uint32_t slot)
{
  for (node *m; (m = best_ready(l, NONE, slot, false));) schedule_node(m, slot);
}

static bool is_longer(const node *a, const node *b)
{
  return a && (!b || a->height > b->height);
}

/* Joins accesses beside an instruction that takes several slots. */
static void fill_beside_long(region *l, node *aux, uint32_t slot, bool joined[MAX_REGION])
{
  schedule_node(aux, slot);
  for (uint32_t room = aux->beside; room; --room) {
    node *access = best_ready(l, MAIN, slot, true);
    if (!access) return;
    schedule_node(access, slot);
    joined[access - l->nodes] = true;
  }
}

/* Fills a slot. Each half may overwrite what the other reads, and the branch, which comes last, may
 * be beside its predecessor. So the first half is tried again when the second is filled. */
static void fill_slot(region *l, uint32_t slot, bool joined[MAX_REGION])
{
  node *main = best_ready(l, MAIN, slot, false), *aux = best_ready(l, AUX, slot, false),
       *both = best_ready(l, BOTH, slot, false);
  if (both && !is_longer(main, both) && !is_longer(aux, both)) {
    schedule_node(both, slot);
    return;
  }
  if (aux && aux->beside && !is_longer(main, aux)) {
    fill_beside_long(l, aux, slot, joined);
    return;
  }
  if (main) schedule_node(main, slot);
  aux = best_ready(l, AUX, slot, false);
  if (aux && aux->beside) {
    if (!main || main->may_join) schedule_node(aux, slot);
    if (main && main->may_join) joined[main - l->nodes] = true;
    return;
  }
  if (aux) schedule_node(aux, slot);
  if (!main && (main = best_ready(l, MAIN, slot, false))) schedule_node(main, slot);
  if (aux && main) joined[aux - l->nodes] = true;
}

/* Schedules the region. `joined` becomes the nodes that share their slot. Returns the number of
 * slots if each slot takes one. */
static uint32_t schedule(region *l, bool joined[MAX_REGION])
{
  uint32_t left = l->count, slot = 0;
  for (uint32_t i = 0; i < l->count; ++i) l->nodes[i].done = false;
  find_heights(l);
  for (; left; ++slot) {
    schedule_free(l, slot);
    fill_slot(l, slot, joined);
    schedule_free(l, slot);
    left = 0;
    for (uint32_t i = 0; i < l->count; ++i) left += !l->nodes[i].done;
  }
  return slot;
}

/* ---- repeats ---- */

/* Is the region a whole loop whose last word, a branch, counts down by tile.count (isa/isa.h)? */
static bool is_counted_loop(uint32_t first, const region *l)
{
  const code_use *branch = &l->nodes[l->count - 1].use;
  uint32_t last = first + l->count - 1;
  if (!branch->row || branch->row->op != OP_BNE || last + (uint32_t)(branch->imm / 4) != first)
    return false;
  for (uint32_t i = 0; i < l->count; ++i) {
    const code_use *u = &l->nodes[i].use;
    if (u->row && u->row->op == OP_COUNT && (u->writes | 1) == branch->reads) return true;
  }
  return false;
}

/* The last access of the loop with which the branch can share a slot; NULL: none. */
static node *access_of(region *l, const bool joined[MAX_REGION])
{
  node *found = NULL;
  for (uint32_t i = 0; i < l->count; ++i) {
    node *m = &l->nodes[i];
    if (m->accesses && m->may_join && !joined[i]) found = m;
  }
  return found;
}

static uint32_t num_joined(const region *l, const bool joined[MAX_REGION], bool copies)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->count; ++i)
    count += joined[i] && (copies || !isa_is_float_copy(l->nodes[i].use.row->op));
  return count;
}

/* Handles a loop that the chip's compiler would make a repeat, if that saves a slot. `joined`
 * becomes the nodes that share slots in a schedule without the branch, and one access of the
 * loop, whose slot the branch takes. */
static void join_as_repeat(region *l, bool joined[MAX_REGION])
{
  bool without[MAX_REGION] = {false};
  node *branch = &l->nodes[l->count - 1];
  branch->unit = NONE;
  uint32_t slots = schedule(l, without), alone = slots - num_joined(l, without, true);
  branch->unit = MAIN;
  node *access = access_of(l, without);
  bool worth = alone <= MAX_HALF_FULL || 2 * alone <= slots;
  if (!access || !worth) return;
  without[access - l->nodes] = true;
  if (num_joined(l, without, false) > num_joined(l, joined, false))
    memcpy(joined, without, sizeof without);
}

static void join_region(object_code *c, uint32_t first, region *l)
{
  bool joined[MAX_REGION] = {false};
  schedule(l, joined);
  if (l->count && is_counted_loop(first, l)) join_as_repeat(l, joined);
  for (uint32_t i = 0; i < l->count; ++i)
    if (joined[i]) {
      uint32_t at = first + i;
      relocation_put32(c->words + 4 * at, isa_joined_word(code_word(c, at), l->nodes[i].use.row));
    }
}

/* Words that authors wrote in the joined form get slots of their own until they are found
 * to share them. */
static void separate_all(object_code *c)
{
  for (uint32_t i = 0; i < c->num_words; ++i) {
    const isa_row *row = isa_find(code_word(c, i));
    if (row) relocation_put32(c->words + 4 * i, isa_alone_word(code_word(c, i), row));
  }
}

static void join_section(object_code *c)
{
  region l;
  if (c->changes_rounding) return;
  separate_all(c);
  for (uint32_t i = 0; i < c->num_words;) {
    uint32_t first = i;
    bool end = false;
    memset(&l, 0, sizeof l);
    while (!end && i < c->num_words && l.count < MAX_REGION &&
           (i == first || !(c->marks[i] & CODE_JOIN))) {
      node *m = &l.nodes[l.count];
      m->use = code_use_at(c, i++);
      end = code_ends_line(&m->use);
      if (!m->use.row) break;
      describe(m, m->use.row, code_word(c, i - 1));
      l.count++;
    }
    join_region(c, first, &l);
  }
}

pop_error *pop_object_join(void *bytes, size_t size, const char *name)
{
  return code_change(bytes, size, name, join_section);
}
