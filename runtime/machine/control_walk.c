/* Walks a group's control code to its next stop: notes its effects without applying them. */
#include "control_parts.h"

#include "isa/integer.h"

#include <string.h>

static bool enter_block(const machine *m, const control *c, const control_group *g, effects *s,
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

bool control_read_memory(const machine *m, const tile *t, uint8_t id, uint32_t address,
                         uint32_t *value)
{
  uint32_t bytes = isa_rows[id].access_bytes, word = 0;
  if (address & (bytes - 1) || !memory_contains(t, address, bytes, false, false)) return false;
  memcpy(&word, words_at(m, t, address), bytes);
  *value = isa_extend(id, word);
  return true;
}

static bool walk_load(const machine *m, const tile *t, effects *s, const operation *op)
{
  uint32_t address = s->x[op->rs1] + (uint32_t)op->imm, bytes = isa_rows[op->id].access_bytes,
           value;
  for (size_t i = s->num_stores; i-- > 0;) {
    const store *before = &s->stores[i];
    if (address - before->address >= before->bytes && before->address - address >= bytes) continue;
    if (before->address != address || before->bytes != bytes || before->timed) return false;
    s->x[op->rd] = isa_extend(op->id, before->value);
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

static bool walk_store(machine *m, tile *t, effects *s, const operation *op, uint8_t bytes,
                       bool by_sp)
{
  store made = {.bytes = bytes,
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

static bool walk_start(const machine *m, effects *s, const operation *op, uint32_t worker,
                       uint32_t argument)
{
  if (worker >= m->target.num_worker_contexts || s->starts[worker].started) return false;
  s->has_starts = true;
  s->starts[worker] = (worker_start){.started = true,
                                     .pc = s->x[op->rs1],
                                     .argument = argument,
                                     .clock = s->slots * m->target.num_worker_contexts};
  return true;
}

static bool walk_run_all(const machine *m, effects *s, const operation *op)
{
  for (uint32_t n = 0; n < op->rd; n++)
    if (!walk_start(m, s, op, n, s->x[op->rs2] + 8 * n)) return false;
  return op->rd > 0;
}

/* rdcycle. Other CSR instructions are not control code. */
static bool walk_csr(const machine *m, effects *s, const operation *op)
{
  if (op->id != OP_CSRRS || op->rs1 != 0 || op->imm != CSR_CYCLE) return false;
  uint64_t before = s->slots - op->block_cost; /* it ends its block */
  s->x[op->rd] = (uint32_t)(before * m->target.num_worker_contexts);
  s->written |= (uint64_t)1 << op->rd;
  if (op->rd != REGISTER_SINK) s->timed |= (uint64_t)1 << op->rd;
  return true;
}

/* tile.sans; false if it would fault. */
static bool walk_sans(const machine *m, effects *s, const operation *op, uint32_t open)
{
  uint32_t syncs = op->rs1 | (uint32_t)op->rs2 << 5;
  if (open || s->acks.open || !syncs || op->rd > ISA_SYNC_REPLICAS) return false;
  s->acks =
      (tile_acks){.open = syncs, .zone = op->rd, .clock = s->slots * m->target.num_worker_contexts};
  return true;
}

static bool has_open_syncs(const effects *s, const tile_acks *before)
{
  return s->acks.open || before->open;
}

static bool walk_stop(effects *s, stop why, uint32_t stop_argument, uint32_t pc)
{
  if (s->misread) return false;
  s->why = why;
  s->stop_argument = stop_argument;
  s->pc = pc + 4;
  return true;
}

static uint32_t read_register(effects *s, uint32_t r)
{
  s->read |= ~s->written & (uint64_t)1 << r;
  s->misread |= s->timed >> r & 1;
  return s->x[r];
}

static void write_register(effects *s, uint32_t r, uint32_t value)
{
  s->x[r] = value;
  s->written |= (uint64_t)1 << r;
  s->timed &= ~((uint64_t)1 << r);
}

#define A read_register(s, op->rs1)
#define B read_register(s, op->rs2)
#define IMM ((uint32_t)op->imm)
#define PC() (page->key.address + 4 * (uint32_t)(op - page->operations))
#define VALUE(id, mnemonic, mask, match, format, cost, expression)                                 \
  case OP_##id:                                                                                    \
    write_register(s, op->rd, expression);                                                         \
    break;
#define BRANCH(id, mnemonic, mask, match, format, cost, condition)                                 \
  case OP_##id:                                                                                    \
    pc = PC() + ((condition) ? 4 * IMM : 4);                                                       \
    goto enter;                                                                                    \
  case OP_##id##_FAR:                                                                              \
    pc = PC() + ((condition) ? IMM : 4);                                                           \
    goto enter;
#define CASE(id, ...) case OP_##id:
/* The stored value may be timed. */
#define STORE(name, mnemonic, mask, match, format, cost, type)                                     \
  case OP_##name:                                                                                  \
  case OP_##name##_STACK:                                                                          \
    (void)A;                                                                                       \
    (void)read_register(s, 2);                                                                     \
    s->read |= ~s->written & (uint64_t)1 << op->rs2;                                               \
    if (s->read & g->unknown || s->misread ||                                                      \
        !walk_store(m, t, s, op, sizeof(type), op->id != OP_##name))                               \
      return false;                                                                                \
    break;

bool control_walk(machine *m, control *c, const control_group *g)
{
  effects *s = &c->s;
  tile *t = &m->tiles[g->tiles[0]];
  /* the same on all tiles of the group, except for the clocks */
  const tile_acks *before = &m->at.acks[t->number];
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
  s->acks.open = 0;
  s->sync_rd = g->sync_rd;
enter:
  page = memory_code_page(m, t, pc, false);
  if (!page) return false;
  op = page->operations + (pc - page->key.address) / 4;
  if (!enter_block(m, c, g, s, pc, op)) return false;
  for (;; op++) {
    switch (op->id) {
      VALUES(VALUE)
      BRANCHES(BRANCH)
    case OP_JAL:
    case OP_JAL_FAR:
      pc = PC() + (op->id == OP_JAL ? 4 * IMM : IMM);
      write_register(s, op->rd, PC() + 4);
      goto enter;
    case OP_JALR:
      pc = (A + IMM) & ~1u;
      write_register(s, op->rd, PC() + 4);
      goto enter;
      LOADS(CASE)
      (void)A;
      if (s->read & g->unknown || s->misread || !walk_load(m, t, s, op)) return false;
      s->written |= (uint64_t)1 << op->rd;
      s->timed &= ~((uint64_t)1 << op->rd);
      break;
      STORES(STORE)
    case OP_CSRRS:
      if (!walk_csr(m, s, op)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_RUN:
      (void)A;
      if (!walk_start(m, s, op, op->rd, B)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_RUN_ALL:
      (void)A;
      (void)B;
      if (!walk_run_all(m, s, op)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_WAIT:
      return walk_stop(s, STOP_WAIT, 0, PC()) && !(s->read & g->unknown);
    case OP_TILE_SANS:
      if (!walk_sans(m, s, op, before->open)) return false;
      pc = PC() + 4;
      goto enter;
    case OP_TILE_SYNC:
      if (op->rd == ISA_SYNC_ANS) {
        uint32_t zone = s->acks.open ? s->acks.zone : before->zone;
        if (s->acks.open || before->open)
          return walk_stop(s, STOP_ANS, zone, PC()) && !(s->read & g->unknown);
        pc = PC() + 4;
        goto enter;
      }
      if (has_open_syncs(s, before)) return false;
      return walk_stop(s, STOP_SYNC, op->rd, PC()) && !(s->read & g->unknown);
    case OP_TILE_EXCHANGE:
      if (op->rd > ISA_SYNC_REPLICAS || has_open_syncs(s, before)) return false;
      return walk_stop(s, stop_of_exchange(op->rd), A, PC()) && !(s->read & g->unknown);
    case OP_TILE_HOST_SYNC:
      if (has_open_syncs(s, before)) return false;
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

#undef A
#undef B
#undef IMM
#undef PC
#undef VALUE
#undef BRANCH
#undef CASE
#undef STORE
