/* Which registers are written to the context where native code is left: those that are live there.
 * So no value has to be kept for exits alone.
 *
 * A register is live if it may be read before it is written again (liveness analysis, backwards to
 * a fixed point). Registers are only visible to tile code. Where the code that follows is not known
 * (calls, returns, what is left to the interpreter), all registers are live. sp is live everywhere,
 * because it decides which accesses are legal.
 *
 * Blocks that are in no cycle and fast copies of loops leave by one shared exit, which writes all
 * registers. Values that are kept for it alone cost little there, and a hundred exits take long to
 * compile. For that reason the exits in cycles share it, too, after the first few hundreds of a
 * function (MOST_EXITS). */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>

enum { SP = 2 };
static const register_set all_registers = {UINT32_MAX, UINT64_MAX};

static register_set join(register_set a, register_set b)
{
  return (register_set){a.x | b.x, a.f | b.f};
}

static bool is_equal(register_set a, register_set b)
{
  return a.x == b.x && a.f == b.f;
}

/* Registers that are live in front of the operation, given those behind it. */
static register_set live_before(register_set live, const code_op *op)
{
  uint8_t written = code_op_writes_x(op);
  if (written < NUM_REGISTERS) live.x &= ~(1u << written);
  live.f &= ~code_op_writes_f(op);
  live.x |= code_op_reads_x(op) | 1u << SP;
  live.f |= code_op_reads_f(op);
  return live;
}

/* Does only code of its successors follow the block? */
static bool is_closed(const code_block *b)
{
  switch (b->end) {
  case BLOCK_NEXT:
    return b->next != UNIT_NONE;
  case BLOCK_BRANCH:
    return b->next != UNIT_NONE && b->taken != UNIT_NONE;
  case BLOCK_JUMP:
  case BLOCK_ENTER:
    return b->taken != UNIT_NONE;
  default:
    return false;
  }
}

/* Live registers in front of the operation, or behind all of the block. `entries`: at the starts of
 * blocks. */
static register_set live_at(const code_unit *unit, const code_block *b, const register_set *entries,
                            uint32_t op_index)
{
  register_set live = is_closed(b) ? (register_set){1u << SP, 0} : all_registers;
  for (uint32_t i = 0; i < code_block_num_successors(b); i++) {
    int32_t to = code_block_successor(unit, b, i);
    if (to != UNIT_NONE) live = join(live, entries[to]);
  }
  for (uint32_t i = b->first_op + b->num_ops; i-- > op_index;)
    live = live_before(live, &unit->ops[i]);
  return live;
}

static register_set *find_live(const lift *l, const block_graph *g)
{
  register_set *entries = pop_xcalloc(g->num_blocks, sizeof *entries);
  for (uint32_t n = 0; n < g->num_blocks; n++)
    if (g->order[n] == UINT32_MAX) entries[n] = all_registers;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = g->num_reachable; i-- > 0;) {
      uint32_t n = g->sequence[i];
      register_set now = live_at(l->unit, &g->blocks[n], entries, g->blocks[n].first_op);
      changed |= !is_equal(now, entries[n]);
      entries[n] = now;
    }
  }
  return entries;
}

/* Blocks in cycles, and some more: all blocks between the two ends of a backward edge, in reverse
 * postorder. */
static bool *find_cycles(const block_graph *g)
{
  bool *is_in_cycle = pop_xcalloc(g->num_blocks, sizeof *is_in_cycle);
  for (uint32_t i = 0; i < g->num_reachable; i++) {
    uint32_t n = g->sequence[i];
    for (uint32_t s = 0; s < block_graph_num_successors(g, n); s++) {
      int32_t to = block_graph_successor(g, n, s);
      if (to == UNIT_NONE) continue;
      for (uint32_t k = g->order[to]; k <= i; k++) is_in_cycle[g->sequence[k]] = true;
    }
  }
  return is_in_cycle;
}

void lift_find_exit_registers(lift *l)
{
  block_graph g = block_graph_make(l->unit, l->f);
  l->live = find_live(l, &g);
  l->is_in_cycle = find_cycles(&g);
  block_graph_free(&g);
}

static register_set written_of(const lift *l, register_set live)
{
  return (register_set){l->own->writes_x & live.x, l->own->writes_f & live.f};
}

register_set lift_exit_registers_at(const lift *l, uint32_t block)
{
  return written_of(l, l->live[block]);
}

register_set lift_exit_registers_here(const lift *l)
{
  return written_of(l, live_at(l->unit, l->block, l->live, l->op_index));
}

register_set lift_exit_registers_unknown(const lift *l)
{
  return written_of(l, all_registers);
}
