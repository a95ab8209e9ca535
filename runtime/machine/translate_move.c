/* Units without their place (position-independent units). Tiles have the same code at different
 * addresses, because each links what it needs, and its data behind that. What a unit's code does
 * depends on the place only where it makes an address of code: targets of jumps, return addresses,
 * auipc, places where the interpreter goes on. So in a moved unit these addresses are relative to
 * the starts of the unit's functions. Native code loads the starts from numbers that linking writes
 * (translator/object_place.c), as it does the bounds of the tiles' data. So one object serves all
 * places.
 *
 *   address of code = starts[number] + offset  -->  number << MOVED_OFFSET_BITS | offset
 *
 * An address in none of the unit's functions is relative to its own word. */
#include "translate.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STARTS = 256 };

typedef struct mover {
  const code_unit *unit;
  uint32_t *entries; /* of functions: addresses in the unit's ranges, in any order */
  size_t num_entries, entries_capacity;
  uint32_t *starts; /* by number */
  size_t num_starts, starts_capacity;
  bool good;
} mover;

static bool is_pc(const code_op *op)
{
  return op->id == OP_AUIPC || op->id == OP_JAL ||
         (op->id < ISA_NUM_OPS && isa_rows[op->id].format == FORMAT_B);
}

/* The range with the address. Its end counts, too: the interpreter may go on there. */
static const code_range *range_of(const code_unit *unit, uint32_t address)
{
  for (size_t i = 0; i < unit->num_ranges; i++)
    if (unit->ranges[i].start <= address && address <= unit->ranges[i].end) return &unit->ranges[i];
  return NULL;
}

/* The nearest start in front of the address. */
static uint32_t start_of(const mover *mv, uint32_t address)
{
  const code_range *range = range_of(mv->unit, address);
  if (!range) return address & ~3u; /* starts are multiples of 4; a wild jump's target may not be */
  uint32_t start = range->start;
  for (size_t i = 0; i < mv->num_entries; i++)
    if (mv->entries[i] > start && mv->entries[i] <= address) start = mv->entries[i];
  return start;
}

static uint32_t moved_from(mover *mv, uint32_t start, uint32_t address)
{
  uint32_t offset = address - start;
  size_t number = 0;
  while (number < mv->num_starts && mv->starts[number] != start) number++;
  if (number == MAX_STARTS || offset >> MOVED_OFFSET_BITS) {
    mv->good = false;
    return 0;
  }
  if (number == mv->num_starts) pop_push(mv->starts, mv->num_starts, mv->starts_capacity, start);
  return (uint32_t)number << MOVED_OFFSET_BITS | offset;
}

static uint32_t moved(mover *mv, uint32_t address)
{
  return moved_from(mv, start_of(mv, address), address);
}

/* Behind the block's instructions another function may begin. Both addresses are relative to the
 * start of the block's function. */
static void move_block(mover *mv, code_block *b)
{
  uint32_t start = start_of(mv, b->pc), behind = b->pc + 4 * b->num_ops;
  uint32_t moved_behind = moved_from(mv, start, behind);
  b->pc = moved_from(mv, start, b->pc);
  b->pc_end = b->pc_end == behind ? moved_behind : moved(mv, b->pc_end);
}

static void add_entry(mover *mv, uint32_t address)
{
  for (size_t i = 0; i < mv->num_entries; i++)
    if (mv->entries[i] == address) return;
  pop_push(mv->entries, mv->num_entries, mv->entries_capacity, address);
}

static void find_entries(mover *mv)
{
  const code_unit *u = mv->unit;
  for (size_t i = 0; i < u->num_functions; i++) add_entry(mv, u->functions[i].entry);
  for (size_t i = 0; i < u->num_ops && mv->num_entries < MAX_STARTS; i++) {
    uint32_t target = (uint32_t)u->ops[i].imm;
    bool calls = u->ops[i].id == OP_JAL && u->ops[i].rd != REGISTER_SINK;
    if (calls && target % 4 == 0) add_entry(mv, target); /* a wild call's target is no start */
  }
}

/* The first half of a call, auipc ra: its value depends on the distance to the function, and is not
 * used. */
static bool is_overwritten(const code_op *op, uint32_t left)
{
  return op->id == OP_AUIPC && left > 1 && op[1].id == OP_JAL && op[1].rd == op->rd;
}

static void move_ops(mover *mv, code_op *ops, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    code_op *op = &ops[i];
    /* decoded from bits of the immediate */
    if (op->id == OP_AUIPC || op->id == OP_JAL) op->rs1 = op->rs2 = 0;
    if (is_overwritten(op, count - i))
      op->imm = 0;
    else if (is_pc(op))
      op->imm = (int32_t)moved(mv, (uint32_t)op->imm);
  }
}

static void *copied(const void *array, size_t count, size_t size)
{
  void *copy = pop_xmalloc(count * size + 1);
  if (count) memcpy(copy, array, count * size);
  return copy;
}

static void move_code(mover *mv, code_unit *to)
{
  for (size_t i = 0; i < to->num_functions; i++)
    to->functions[i].entry = moved(mv, to->functions[i].entry);
  for (size_t i = 0; i < to->num_blocks; i++) {
    move_block(mv, &to->blocks[i]);
    move_ops(mv, &to->ops[to->blocks[i].first_op], to->blocks[i].num_ops);
  }
}

/* All targets of a jump table must be relative to one start (translator/lift_call.c). */
static bool tables_stay_together(const code_unit *to)
{
  for (size_t f = 0; f < to->num_functions; f++) {
    const code_block *blocks = &to->blocks[to->functions[f].first_block];
    for (uint32_t n = 0; n < to->functions[f].num_blocks; n++)
      for (uint32_t i = 1; i < blocks[n].num_targets; i++) {
        const int32_t *targets = &to->targets[blocks[n].first_target];
        if ((blocks[targets[0]].pc ^ blocks[targets[i]].pc) >> MOVED_OFFSET_BITS) return false;
      }
  }
  return true;
}

/* A moved window keeps a power of two of bytes, so that programs with little data share code, too.
 * False: it is empty. */
static uint32_t move_window(code_window *window, code_window *to)
{
  uint32_t bytes = MOVED_WINDOW_BYTES;
  while (bytes > window->bytes) bytes /= 2;
  *to = *window;
  *window = (code_window){0, bytes};
  return bytes > 0;
}

static code_unit copy_unit(const code_unit *unit)
{
  code_unit to = *unit;
  to.functions = copied(unit->functions, unit->num_functions, sizeof *unit->functions);
  to.blocks = copied(unit->blocks, unit->num_blocks, sizeof *unit->blocks);
  to.ops = copied(unit->ops, unit->num_ops, sizeof *unit->ops);
  return to;
}

code_unit code_unit_move(const code_unit *unit, code_place *place)
{
  mover mv = {.unit = unit, .good = true};
  code_unit to = copy_unit(unit);
  find_entries(&mv);
  move_code(&mv, &to);
  free(mv.entries);
  *place = (code_place){0};
  if (mv.good && tables_stay_together(&to)) {
    to.num_starts = (uint32_t)mv.num_starts;
    place->starts = mv.starts;
    place->num_starts = mv.num_starts;
  } else {
    free(mv.starts);
    code_unit_free_moved(&to);
    to = copy_unit(unit);
  }
  to.writable_is_moved = move_window(&to.writable, &place->writable);
  if (!unit->reads_all) to.readable_is_moved = move_window(&to.readable, &place->readable);
  return to;
}

void code_unit_free_moved(code_unit *to)
{
  free(to->functions);
  free(to->blocks);
  free(to->ops);
  *to = (code_unit){0};
}
