/* What a group's control code does up to its next stop, without doing it. */
#include "control_parts.h"

#include <string.h>

static bool enter_block(const machine *m, const control *c, const control_group *g, stretch *s,
                        uint32_t pc, const operation *op)
{
  block b = {pc, op->block_count};
  s->slots += op->block_cost;
  s->instructions += op->block_count;
  if (!b.words || s->instructions > MAX_WALK || s->read & g->unknown || s->misread) return false;
  if (control_is_equal(m, &c->classes[g->class_number], &b)) return true;
  if (s->num_blocks == MAX_BLOCKS) return false;
  s->blocks[s->num_blocks++] = b;
  return true;
}

static uint32_t bytes_of_load(uint8_t id)
{
  return id == OP_LW ? 4 : id == OP_LH || id == OP_LHU ? 2 : 1;
}

static uint32_t extend(uint8_t id, uint32_t value)
{
  switch (id) {
  case OP_LB:
    return (uint32_t)(int8_t)value;
  case OP_LBU:
    return value & 0xff;
  case OP_LH:
    return (uint32_t)(int16_t)value;
  case OP_LHU:
    return value & 0xffff;
  default:
    return value;
  }
}

bool control_read_memory(const machine *m, const tile *t, uint8_t id, uint32_t address,
                         uint32_t *value)
{
  uint32_t bytes = bytes_of_load(id), word = 0;
  if (address & (bytes - 1) || !memory_contains(t, address, bytes, false, false)) return false;
  memcpy(&word, words_at(m, t, address), bytes);
  *value = extend(id, word);
  return true;
}

static bool walk_load(const machine *m, const tile *t, stretch *s, const operation *op)
{
  uint32_t address = s->x[op->rs1] + (uint32_t)op->imm, bytes = bytes_of_load(op->id), value;
  for (size_t i = s->num_stores; i-- > 0;) {
    const store *before = &s->stores[i];
    if (address - before->address >= before->bytes && before->address - address >= bytes) continue;
    if (before->address != address || before->bytes != bytes || before->timed) return false;
    s->x[op->rd] = extend(op->id, before->value);
    return true;
  }
  if (s->num_loads == MAX_LOADS || !control_read_memory(m, t, op->id, address, &value))
    return false;
  s->loads[s->num_loads++] = (load){op->id, address, value};
  s->x[op->rd] = value;
  return true;
}

uint8_t *control_store_place(machine *m, tile *t, const store *s)
{
  context *c = &t->supervisor;
  const window *w = s->by_sp ? &c->stack : &c->writable;
  uint32_t offset = s->address - w->start;
  if (!(s->address & (s->bytes - 1u)) && offset < w->size) return w->host + offset;
  machine_fault before = c->fault;
  uint32_t sp = c->x[2];
  c->x[2] = s->sp;
  uint8_t *place = memory_access(m, t, c, s->address, s->bytes, true, s->by_sp);
  c->x[2] = sp;
  c->fault = before;
  return place;
}

static bool walk_store(machine *m, tile *t, stretch *s, const operation *op)
{
  bool by_sp = op->id >= OP_SB_STACK;
  uint8_t id = by_sp ? (uint8_t)(op->id - OP_SB_STACK + OP_SB) : op->id;
  store made = {.bytes = (uint8_t)(1 << (id - OP_SB)),
                .by_sp = by_sp,
                .sp = s->x[2],
                .address = s->x[op->rs1] + (uint32_t)op->imm,
                .value = s->x[op->rs2],
                .timed = s->timed >> op->rs2 & 1};
  if (made.timed && made.bytes < 4) return false;
  if (s->num_stores == MAX_STORES || !control_store_place(m, t, &made)) return false;
  s->stores[s->num_stores++] = made;
  return true;
}

static bool walk_run(const machine *m, stretch *s, const operation *op)
{
  if (op->rd >= m->target.num_worker_contexts || s->starts[op->rd].started) return false;
  s->has_starts = true;
  s->starts[op->rd] = (worker_start){.started = true,
                                     .pc = s->x[op->rs1],
                                     .argument = s->x[op->rs2],
                                     .clock = s->slots * m->target.num_worker_contexts};
  return true;
}

/* rdcycle: all else that reads or writes a CSR is not control code. */
static bool walk_csr(const machine *m, stretch *s, const operation *op)
{
  if (op->id != OP_CSRRS || op->rs1 != 0 || op->imm != CSR_CYCLE) return false;
  uint64_t before = s->slots - op->block_cost; /* it ends its block */
  s->x[op->rd] = (uint32_t)(before * m->target.num_worker_contexts);
  s->written |= (uint64_t)1 << op->rd;
  if (op->rd != REGISTER_SINK) s->timed |= (uint64_t)1 << op->rd;
  return true;
}

static bool walk_stop(stretch *s, stop why, uint32_t asked, uint32_t pc)
{
  if (s->misread) return false;
  s->why = why;
  s->asked = asked;
  s->pc = pc + 4;
  return true;
}

#define READ(r)                                                                                    \
  (s->read |= ~s->written & (uint64_t)1 << (r), s->misread |= s->timed >> (r) & 1, s->x[r])
#define A READ(op->rs1)
#define B READ(op->rs2)
#define IMM ((uint32_t)op->imm)
#define PC() (page->key.address + 4 * (uint32_t)(op - page->operations))
#define WRITE(value)                                                                               \
  do {                                                                                             \
    uint32_t written = (value);                                                                    \
    s->x[op->rd] = written;                                                                        \
    s->written |= (uint64_t)1 << op->rd;                                                           \
    s->timed &= ~((uint64_t)1 << op->rd);                                                          \
  } while (0)
#define INTEGER(id, value)                                                                         \
  case OP_##id:                                                                                    \
    WRITE(value);                                                                                  \
    break;
#define BRANCH(id, condition)                                                                      \
  case OP_##id:                                                                                    \
    pc = PC() + ((condition) ? 4 * IMM : 4);                                                       \
    goto enter;                                                                                    \
  case OP_##id##_FAR:                                                                              \
    pc = PC() + ((condition) ? IMM : 4);                                                           \
    goto enter;

bool control_walk(machine *m, control *c, const control_group *g)
{
  stretch *s = &c->s;
  tile *t = &m->tiles[g->tiles[0]];
  uint32_t pc = g->pc;
  const code_page *page;
  const operation *op;
  memcpy(s->x, g->x, sizeof s->x);
  s->read = s->written = s->slots = s->instructions = 0;
  s->timed = 0;
  s->misread = false;
  s->num_loads = s->num_stores = s->num_blocks = 0;
  s->has_starts = false;
  memset(s->starts, 0, sizeof s->starts);
  s->host_code = 0;
  s->sync_rd = g->sync_rd;
enter:
  page = memory_code_page(m, t, pc, false);
  if (!page) return false;
  op = page->operations + (pc - page->key.address) / 4;
  if (!enter_block(m, c, g, s, pc, op)) return false;
  for (;; op++) {
    switch (op->id) {
      INTEGER(LUI, IMM)
      INTEGER(AUIPC, IMM)
      INTEGER(ADDI, A + IMM)
      INTEGER(ANDI, A & IMM)
      INTEGER(ORI, A | IMM)
      INTEGER(XORI, A ^ IMM)
      INTEGER(SLTIU, A < IMM)
      INTEGER(SLLI, A << IMM)
      INTEGER(SRLI, A >> IMM)
      INTEGER(ADD, A + B)
      INTEGER(SUB, A - B)
      INTEGER(AND, A & B)
      INTEGER(OR, A | B)
      INTEGER(XOR, A ^ B)
      INTEGER(SLTU, A < B)
      INTEGER(SH1ADD, (A << 1) + B)
      INTEGER(SH2ADD, (A << 2) + B)
      INTEGER(SH3ADD, (A << 3) + B)
      BRANCH(BEQ, A == B)
      BRANCH(BNE, A != B)
      BRANCH(BLT, (int32_t)A < (int32_t)B)
      BRANCH(BGE, (int32_t)A >= (int32_t)B)
      BRANCH(BLTU, A < B)
      BRANCH(BGEU, A >= B)
    case OP_JAL:
    case OP_JAL_FAR:
      pc = PC() + (op->id == OP_JAL ? 4 * IMM : IMM);
      WRITE(PC() + 4);
      goto enter;
    case OP_JALR:
      pc = (A + IMM) & ~1u;
      WRITE(PC() + 4);
      goto enter;
    case OP_LB:
    case OP_LBU:
    case OP_LH:
    case OP_LHU:
    case OP_LW:
      (void)A;
      if (s->read & g->unknown || s->misread || !walk_load(m, t, s, op)) return false;
      s->written |= (uint64_t)1 << op->rd;
      s->timed &= ~((uint64_t)1 << op->rd);
      break;
    case OP_SB:
    case OP_SH:
    case OP_SW:
    case OP_SB_STACK:
    case OP_SH_STACK:
    case OP_SW_STACK:
      (void)A;
      (void)READ(2);
      s->read |= ~s->written & (uint64_t)1 << op->rs2; /* which may be timed */
      if (s->read & g->unknown || s->misread || !walk_store(m, t, s, op)) return false;
      break;
    case OP_CSRRS:
      if (!walk_csr(m, s, op)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_RUN:
      (void)A;
      (void)B;
      if (!walk_run(m, s, op)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_WAIT:
      return walk_stop(s, STOP_WAIT, 0, PC()) && !(s->read & g->unknown);
    case OP_TILE_SYNC:
      if (op->rd > ISA_SYNC_REPLICAS) return false;
      return walk_stop(s, STOP_SYNC, op->rd, PC()) && !(s->read & g->unknown);
    case OP_TILE_EXCHANGE:
      if (op->rd > ISA_SYNC_REPLICAS) return false;
      return walk_stop(s, stop_of_exchange(op->rd), A, PC()) && !(s->read & g->unknown);
    case OP_TILE_HOST_SYNC:
      s->host_code = B;
      s->sync_rd = op->rd;
      return walk_stop(s, STOP_HOST_SYNC, A, PC()) && !(s->read & g->unknown);
    case OP_NEXT_PAGE:
      pc = PC();
      goto enter;
    default:
      return false;
    }
  }
}

#undef READ
#undef A
#undef B
#undef IMM
#undef PC
#undef WRITE
#undef INTEGER
#undef BRANCH
