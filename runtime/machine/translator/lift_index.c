/* Elements of tables: accesses at base + (index << log), where the innermost loop does not write
 * the base. (If that is a counted loop, no loop around it may write the base.)
 *
 * Such an access is legal if index < limit. The limit is the number of elements from the base to
 * the end of the unit's window, so it depends on the base alone, and LLVM hoists it out of the
 * loop. What remains in the loop is a comparison of a value that exists anyway; a test of the
 * address would have to compute and rotate it. If the index is negative or too large, or the table
 * is in another window, the access is tested like any other (lift_memory.c).
 *
 * The sum in a register is known where only one operation can have written it (reaching
 * definitions). */
#include "lift.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* UNSET: no path has come here yet. SEVERAL: several operations, or one that is no sum. */
enum { UNSET = -1, SEVERAL = -2 };

/* Integer registers that the callee at the end of the block may write. A callee that calls unknown
 * code may write any. */
static uint32_t written_by_call(const lift *l, const code_block *b)
{
  if (b->callee != UNIT_NONE && !l->conventions[b->callee].by_context)
    return l->conventions[b->callee].writes_x;
  bool calls = b->callee != UNIT_NONE || b->end == BLOCK_CALL ||
               (b->end == BLOCK_INDIRECT && b->next != UNIT_NONE);
  return calls ? UINT32_MAX : 0;
}

static uint32_t written_by(const lift *l, const code_block *b)
{
  uint32_t written = written_by_call(l, b);
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++)
    written |= 1u << (code_op_writes_x(&l->unit->ops[i]) & (NUM_REGISTERS - 1));
  return written;
}

/* Loop-invariant registers */

/* Marks the header and the blocks with a backward edge to it. False if there are none. */
static bool begin_loop(const block_graph *g, uint32_t header, bool *contains)
{
  memset(contains, 0, g->num_blocks * sizeof *contains);
  for (uint32_t n = 0; n < g->num_blocks; n++)
    for (uint32_t s = 0; s < block_graph_num_successors(g, n); s++)
      if (block_graph_successor(g, n, s) == (int32_t)header && block_graph_dominates(g, header, n))
        contains[header] = contains[n] = true;
  return contains[header];
}

static uint32_t size_of(const block_graph *g, const bool *contains)
{
  uint32_t size = 0;
  for (uint32_t n = 0; n < g->num_blocks; n++) size += contains[n];
  return size;
}

/* The loops around a block: registers that none of them writes; of the innermost one the registers
 * that it does not write, its size and its header. */
typedef struct loops_around {
  uint32_t all, inner, size, header;
} loops_around;

static void add_loop(loops_around *a, uint32_t header, uint32_t size, uint32_t written)
{
  a->all = (a->size ? a->all : UINT32_MAX) & ~written;
  if (a->size && a->size <= size) return;
  a->inner = ~written;
  a->size = size;
  a->header = header;
}

static loops_around *find_loops(const lift *l, const block_graph *g)
{
  loops_around *around = pop_xcalloc(g->num_blocks, sizeof *around);
  bool *contains = pop_xcalloc(g->num_blocks, sizeof *contains);
  for (uint32_t header = 0; header < g->num_blocks; header++) {
    uint32_t written = 0;
    if (!begin_loop(g, header, contains)) continue;
    while (block_graph_grow_loop(g, header, contains)) continue;
    for (uint32_t n = 0; n < g->num_blocks; n++)
      if (contains[n]) written |= written_by(l, &g->blocks[n]);
    uint32_t size = size_of(g, contains);
    for (uint32_t n = 0; n < g->num_blocks; n++)
      if (contains[n]) add_loop(&around[n], header, size, written);
  }
  free(contains);
  return around;
}

/* By block: registers that the innermost loop around it does not write; none outside of loops. If
 * that loop is counted, only registers that no loop around writes: its plain copy often runs for
 * too few iterations to pay for computing a limit. */
static uint32_t *find_invariant_registers(const lift *l, const block_graph *g)
{
  uint32_t *invariant_x = pop_xcalloc(g->num_blocks, sizeof *invariant_x);
  loops_around *around = find_loops(l, g);
  for (uint32_t n = 0; n < g->num_blocks; n++) {
    if (!around[n].size) continue;
    bool is_counted = l->loops.loop_of[around[n].header] != UNIT_NONE;
    invariant_x[n] = is_counted ? around[n].all : around[n].inner;
  }
  free(around);
  return invariant_x;
}

/* Reaching definitions */

static bool is_sum(const code_op *op)
{
  return op->id == OP_ADD || op->id == OP_SH1ADD || op->id == OP_SH2ADD || op->id == OP_SH3ADD;
}

/* Updates the sums in registers from the start of the block to its end. */
static void pass_block(const lift *l, const code_block *b, int32_t *sums)
{
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
    const code_op *op = &l->unit->ops[i];
    sums[code_op_writes_x(op) & (NUM_REGISTERS - 1)] = is_sum(op) ? (int32_t)i : SEVERAL;
  }
  uint32_t written = written_by_call(l, b);
  for (uint32_t r = 0; r < NUM_REGISTERS; r++)
    if (written >> r & 1) sums[r] = SEVERAL;
}

static bool meet(int32_t *into, const int32_t *from)
{
  bool changed = false;
  for (uint32_t r = 0; r < NUM_REGISTERS; r++) {
    if (into[r] == from[r] || into[r] == SEVERAL || from[r] == UNSET) continue;
    into[r] = into[r] == UNSET ? from[r] : SEVERAL;
    changed = true;
  }
  return changed;
}

static block_sums *find_sums(const lift *l, const block_graph *g)
{
  block_sums *sums = pop_xcalloc(g->num_blocks, sizeof *sums);
  memset(sums, 0xff, g->num_blocks * sizeof *sums); /* UNSET */
  for (uint32_t r = 0; r < NUM_REGISTERS; r++) sums[0].of[r] = SEVERAL;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < g->num_reachable; i++) {
      uint32_t n = g->sequence[i];
      block_sums behind = sums[n];
      pass_block(l, &g->blocks[n], behind.of);
      for (uint32_t s = 0; s < block_graph_num_successors(g, n); s++) {
        int32_t to = block_graph_successor(g, n, s);
        if (to != UNIT_NONE) changed |= meet(sums[to].of, behind.of);
      }
    }
  }
  return sums;
}

void lift_find_indices(lift *l)
{
  block_graph g = block_graph_make(l->unit, l->f);
  l->invariant_x = find_invariant_registers(l, &g);
  l->sums = find_sums(l, &g);
  const code_block *last = &g.blocks[g.num_blocks - 1];
  l->sum_slots =
      pop_xcalloc(last->first_op + last->num_ops - g.blocks[0].first_op + 1, sizeof *l->sum_slots);
  block_graph_free(&g);
}

void lift_free_indices(lift *l)
{
  free(l->invariant_x);
  free(l->sums);
  free(l->sum_slots);
}

/* Lifting */

static uint32_t invariant_registers_here(const lift *l)
{
  return l->invariant_x[l->block - &l->unit->blocks[l->f->first_block]];
}

/* The register of the sum's operands that is the base here; 0: none. */
static uint32_t base_of(const lift *l, const code_op *op)
{
  uint32_t invariant_x = invariant_registers_here(l) & ~1u;
  bool first = op->id == OP_ADD && invariant_x >> op->rs1 & 1, second = invariant_x >> op->rs2 & 1;
  return first == second ? 0 : first ? op->rs1 : op->rs2;
}

/* Slots for the values of a sum's operands. They may be wanted before they are set, because blocks
 * are not lifted in the order in which they run. */
static sum_slots *slots_of(lift *l, int32_t sum)
{
  sum_slots *slots = &l->sum_slots[(uint32_t)sum - l->unit->blocks[l->f->first_block].first_op];
  for (int i = 0; i < 2; i++)
    if (!slots->operand[i]) slots->operand[i] = lift_new_slot(l, l->type.i32, "operand");
  return slots;
}

static uint32_t log_of_sum(const code_op *op)
{
  return op->id == OP_ADD ? 0 : op->id == OP_SH1ADD ? 1 : op->id == OP_SH2ADD ? 2 : 3;
}

table_element lift_element_at(lift *l, uint32_t r)
{
  int32_t sum = l->sums_here.of[r];
  if (r == 0 || sum < 0) return (table_element){0};
  const code_op *op = &l->unit->ops[sum];
  uint32_t base = base_of(l, op);
  if (!base) return (table_element){0};
  sum_slots *slots = slots_of(l, sum);
  LLVMValueRef operand[2];
  for (int i = 0; i < 2; i++) operand[i] = LLVMBuildLoad2(l->b, l->type.i32, slots->operand[i], "");
  bool second = base == op->rs2;
  return (table_element){operand[second], operand[!second], log_of_sum(op)};
}

void lift_begin_sums(lift *l, uint32_t block)
{
  l->sums_here = l->sums[block];
}

void lift_before_op(lift *l, const code_op *op)
{
  if (!is_sum(op)) return;
  sum_slots *slots = slots_of(l, (int32_t)l->op_index);
  LLVMBuildStore(l->b, lift_x(l, op->rs1), slots->operand[0]);
  LLVMBuildStore(l->b, lift_x(l, op->rs2), slots->operand[1]);
}

void lift_behind_op(lift *l, const code_op *op)
{
  l->sums_here.of[code_op_writes_x(op) & (NUM_REGISTERS - 1)] =
      is_sum(op) ? (int32_t)l->op_index : SEVERAL;
}
