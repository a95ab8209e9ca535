/* Where the pointers of a unit probably point: to functions whose addresses its code makes (lui and
 * addi, auipc and addi), and to those in constant tables whose addresses it makes.
 *
 * A call through a register is compared with these functions (guarded direct calls). A wrong guess
 * costs a comparison. */
#include "translate.h"

#include <populus/arena.h>

enum { MAX_POINTERS = 8, MAX_TABLE = 16 };

typedef struct pointers {
  const machine *m;
  const tile *t;
  uint32_t *places;
  size_t num_places, capacity;
} pointers;

static bool is_code(const pointers *p, uint32_t address)
{
  return address % 4 == 0 && memory_contains(p->t, address, 4, false, true);
}

static void add_place(pointers *p, uint32_t address)
{
  for (size_t i = 0; i < p->num_places; i++)
    if (p->places[i] == address) return;
  if (p->num_places < MAX_POINTERS) pop_push(p->places, p->num_places, p->capacity, address);
}

/* Adds the address of code, or the addresses in a table of code. Tables do not look like code,
 * because all instructions end in 3. */
static void add_address(pointers *p, uint32_t address)
{
  uint32_t count = 0;
  for (; count < MAX_TABLE; count++) {
    uint32_t at = address + 4 * count;
    if (at % 4 || !memory_contains(p->t, at, 4, false, false)) break;
    uint32_t target = memory_word(p->m, p->t, at);
    if (!is_code(p, target)) break;
    add_place(p, target);
  }
  if (!count && is_code(p, address)) add_place(p, address);
}

/* lui or auipc makes a constant, addi adds to it. Nothing is known at the start of a block. */
static void look_at_block(pointers *p, const code_unit *unit, const code_block *b)
{
  uint32_t value[32] = {0};
  bool known[32] = {false};
  for (uint32_t i = b->first_op; i < b->first_op + b->num_ops; i++) {
    const code_op *op = &unit->ops[i];
    bool high = op->id == OP_LUI || op->id == OP_AUIPC;
    bool sum = op->id == OP_ADDI && known[op->rs1];
    uint32_t made = sum ? value[op->rs1] + (uint32_t)op->imm : (uint32_t)op->imm;
    if (sum) add_address(p, made);
    if (op->id == OP_LW && known[op->rs1]) add_address(p, value[op->rs1] + (uint32_t)op->imm);
    if (!isa_writes_integer(isa_rows[op->id].format) || op->rd >= 32) continue;
    known[op->rd] = high || sum;
    value[op->rd] = made;
  }
}

uint32_t *code_unit_find_pointers(const machine *m, const tile *t, const code_unit *unit,
                                  size_t *num_pointers)
{
  pointers p = {.m = m, .t = t};
  for (size_t i = 0; i < unit->num_blocks; i++) look_at_block(&p, unit, &unit->blocks[i]);
  *num_pointers = p.num_places;
  return p.places;
}

bool code_unit_calls_pointers(const code_unit *unit)
{
  for (size_t i = 0; i < unit->num_blocks; i++) {
    const code_block *b = &unit->blocks[i];
    if (b->end != BLOCK_INDIRECT || b->next == UNIT_NONE) continue;
    if (unit->ops[b->first_op + b->num_ops - 1].id == OP_JALR) return true;
  }
  return false;
}
