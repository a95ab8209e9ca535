/* Control code runs once for many tiles.
 *
 * Supervisors that are at the same place with the same registers, and have the same code from there on,
 * do the same up to the next time they wait. Such tiles are a group:
 *
 *   group --walk--> a stretch: registers, time, workers started, words loaded and stored, until
 *                   tile.wait or a sync
 *         --take--> the stretch is put on every tile: its stores, its time. Tiles whose memory holds
 *                   something else in one of the words loaded become a group of their own, which is walked
 *                   again; so one load tells apart whoever has to go another way
 *
 * Nothing is done before it is certain: a walk changes nothing, and gives up at whatever control code
 * does not consist of (calls of vertices, CSRs but the cycle counter, floating point, anything that would fault),
 * at the end of the cycle limit, or when it becomes long. Then the tiles of the group are alone until the next
 * sync: each interprets its own code from the place where the stretch began, with every fault exact.
 *
 * Who has the same code? A class of tiles has equal words wherever one of its groups has been. Words are
 * compared, on all its tiles, when a walk first comes to them; who has others goes to another class.
 * Words of executable segments do not change; when the host changes them, all is forgotten.
 *
 * What the cycle counter says differs between tiles, too, by their clocks: a walk knows it from the start of the
 * stretch on. Such a number may be stored, which is all that instrumented code does with it; a walk that reads
 * it for something else gives up.
 *
 * Registers that a vertex of the supervisor has left behind differ between tiles. They are `unknown` to
 * the group: a walk that reads one gives up.
 */
#include "control.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
  MAX_LOADS = 32,
  MAX_STORES = 32,
  MAX_BLOCKS = 256,
  MAX_WALK = 100000, /* instructions */
  MAX_SPLITS = 32    /* of groups by what they load, in one superstep */
};

struct control_group {
  uint32_t class_number;
  bool runs;      /* it has not asked for a sync in this superstep */
  uint64_t round; /* in which it began to wait for its workers */
  uint32_t pc;
  uint32_t x[REGISTER_SINK + 1];
  uint64_t unknown;      /* bits: registers that are in the tiles' contexts, not in x */
  uint64_t instructions; /* that the tiles' contexts do not know of */
  uint32_t sync_rd;      /* of the last tile.hostsync */
  uint32_t *tiles;
  size_t num_tiles, tiles_capacity;
  /* The last stretch */
  worker_start starts[MAX_WORKERS]; /* clocks from its start on */
  bool has_starts;
  uint64_t cycles;
};

typedef struct control_class {
  uint64_t *equal; /* bit per word from the base of tile memory: it is the same on all tiles */
  size_t num_equal, equal_capacity; /* of 64 words each */
} control_class;

typedef struct load {
  uint8_t id; /* OP_LB … */
  uint32_t address, value;
} load;

typedef struct store {
  uint8_t bytes;
  bool by_sp;
  uint32_t sp, address, value;
  bool timed; /* `value` counts from the tile's clock at the start of the stretch on */
} store;

typedef struct block {
  uint32_t pc, words;
} block;

typedef struct stretch {
  uint32_t x[REGISTER_SINK + 1];
  uint64_t read, written; /* registers; read: before they were written */
  uint64_t timed;         /* registers that count from the start of the stretch on */
  bool misread;           /* one of them was read */
  uint32_t pc;            /* behind it */
  uint64_t slots, instructions;
  load loads[MAX_LOADS];
  store stores[MAX_STORES];
  block blocks[MAX_BLOCKS]; /* whose words have not been compared yet */
  size_t num_loads, num_stores, num_blocks;
  worker_start starts[MAX_WORKERS];
  bool has_starts;
  stop why;
  uint32_t asked, host_code, sync_rd;
} stretch;

struct control {
  uint32_t *class_of; /* by tile */
  control_class *classes;
  size_t num_classes, classes_capacity;
  control_group **group_of; /* by tile; NULL: it is alone */
  control_group **groups;
  size_t num_groups, groups_capacity;
  control_job *jobs;
  size_t num_jobs, jobs_capacity;
  uint32_t num_splits; /* in this superstep */
  uint64_t round;      /* counts calls of control_advance */
  bool unsettled;      /* there are tiles alone, or groups that may have become equal */
  stretch s;           /* the one that is walked or taken */
};

/* Groups */

static void add_tile(control *c, control_group *g, uint32_t number)
{
  pop_push(g->tiles, g->num_tiles, g->tiles_capacity, number);
  c->group_of[number] = g;
}

/* One without tiles, in the state of `like`. */
static control_group *new_group(control *c, const control_group *like)
{
  control_group *g = pop_xmalloc(sizeof *g);
  *g = *like;
  g->tiles = NULL;
  g->num_tiles = g->tiles_capacity = 0;
  pop_push(c->groups, c->num_groups, c->groups_capacity, g);
  return g;
}

static void free_group(control_group *g)
{
  free(g->tiles);
  free(g);
}

/* Writes registers of the group into the tile's context. */
static void write_registers(machine *m, const control_group *g, uint32_t number, uint64_t mask)
{
  uint32_t *x = m->tiles[number].supervisor.x;
  for (uint32_t r = 1; r < 32; r++)
    if (mask >> r & 1) x[r] = g->x[r];
}

/* The tile's context is as if it had run alone. */
static void write_back(machine *m, const control_group *g, uint32_t number)
{
  context *supervisor = &m->tiles[number].supervisor;
  write_registers(m, g, number, ~g->unknown);
  supervisor->pc = g->pc;
  supervisor->instructions += g->instructions;
  supervisor->sync_rd = g->sync_rd;
}

static void leave(machine *m, control *c, const control_group *g, uint32_t number)
{
  write_back(m, g, number);
  c->group_of[number] = NULL;
  c->unsettled = true;
  pop_push(c->jobs, c->num_jobs, c->jobs_capacity, (control_job){number, NULL});
}

/* All tiles of the group go on alone. */
static void disband(machine *m, control *c, control_group *g)
{
  for (size_t i = 0; i < g->num_tiles; i++) leave(m, c, g, g->tiles[i]);
  g->num_tiles = 0;
  g->runs = false;
}

static void remove_empty_groups(control *c)
{
  size_t kept = 0;
  for (size_t i = 0; i < c->num_groups; i++) {
    if (c->groups[i]->num_tiles)
      c->groups[kept++] = c->groups[i];
    else
      free_group(c->groups[i]);
  }
  c->num_groups = kept;
}

/* Classes */

static uint32_t word_number(const machine *m, uint32_t address)
{
  return (address - m->target.memory_base) / 4;
}

static bool is_equal(const machine *m, const control_class *of, const block *b)
{
  uint32_t first = word_number(m, b->pc);
  for (uint32_t i = first; i < first + b->words; i++)
    if (i / 64 >= of->num_equal || !(of->equal[i / 64] >> i % 64 & 1)) return false;
  return true;
}

static void set_equal(const machine *m, control_class *of, const block *b)
{
  uint32_t first = word_number(m, b->pc), last = first + b->words - 1;
  while (of->num_equal <= last / 64)
    pop_push(of->equal, of->num_equal, of->equal_capacity, (uint64_t)0);
  for (uint32_t i = first; i <= last; i++) of->equal[i / 64] |= (uint64_t)1 << i % 64;
}

static uint32_t copy_class(control *c, uint32_t number)
{
  const control_class *old = &c->classes[number];
  control_class copy = {.num_equal = old->num_equal, .equal_capacity = old->num_equal};
  copy.equal = pop_xrealloc(NULL, old->num_equal + 1, sizeof *copy.equal);
  if (old->num_equal) memcpy(copy.equal, old->equal, old->num_equal * sizeof *copy.equal);
  pop_push(c->classes, c->num_classes, c->classes_capacity, copy);
  return (uint32_t)(c->num_classes - 1);
}

static const uint8_t *words_at(const machine *m, const tile *t, uint32_t address)
{
  return t->memory + (address - m->target.memory_base);
}

static bool has_words_of(const machine *m, const stretch *s, const tile *t, const tile *other)
{
  for (size_t i = 0; i < s->num_blocks; i++) {
    const block *b = &s->blocks[i];
    if (!memory_contains(t, b->pc, 4 * b->words, false, true) ||
        memcmp(words_at(m, t, b->pc), words_at(m, other, b->pc), 4 * (size_t)b->words))
      return false;
  }
  return true;
}

static uint64_t hash_words(const machine *m, const stretch *s, const tile *t)
{
  uint64_t hash = 0;
  for (size_t i = 0; i < s->num_blocks; i++) {
    const block *b = &s->blocks[i];
    if (!memory_contains(t, b->pc, 4 * b->words, false, true)) return hash;
    hash = XXH3_64bits_withSeed(words_at(m, t, b->pc), 4 * (size_t)b->words, hash);
  }
  return hash;
}

/* The group keeps the tiles of its first tile's class; each other class's become a group. */
static void split_by_class(control *c, control_group *g)
{
  size_t first_new = c->num_groups, kept = 0;
  g->class_number = c->class_of[g->tiles[0]];
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i], class_number = c->class_of[number];
    if (class_number == g->class_number) {
      g->tiles[kept++] = number;
      continue;
    }
    size_t other = first_new;
    while (other < c->num_groups && c->groups[other]->class_number != class_number) other++;
    if (other == c->num_groups) new_group(c, g)->class_number = class_number;
    add_tile(c, c->groups[other], number);
  }
  g->num_tiles = kept;
}

typedef struct hashed_class {
  uint64_t hash;
  uint32_t number;
} hashed_class;

/* Compares the stretch's blocks on all tiles of the group's class. Those that differ from the group's
 * first tile get classes by what they have, which the first walk of each compares again. */
static void compare_blocks(machine *m, control *c, control_group *g)
{
  const stretch *s = &c->s;
  const tile *first = &m->tiles[g->tiles[0]];
  uint32_t number = g->class_number;
  hashed_class *others = NULL;
  size_t num_others = 0, capacity = 0, num_groups = c->num_groups;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    const tile *t = &m->tiles[i];
    if (c->class_of[i] != number || t == first || has_words_of(m, s, t, first)) continue;
    uint64_t hash = hash_words(m, s, t);
    size_t at = 0;
    while (at < num_others && others[at].hash != hash) at++;
    if (at == num_others)
      pop_push(others, num_others, capacity, (hashed_class){hash, copy_class(c, number)});
    c->class_of[i] = others[at].number;
  }
  free(others);
  for (size_t i = 0; i < s->num_blocks; i++) set_equal(m, &c->classes[number], &s->blocks[i]);
  for (size_t i = 0; num_others && i < num_groups; i++)
    if (c->groups[i]->class_number == number && c->groups[i]->num_tiles)
      split_by_class(c, c->groups[i]);
}

/* Walking: what a stretch does, from the state of a group. */

static bool enter_block(const machine *m, const control *c, const control_group *g, stretch *s,
                        uint32_t pc, const operation *op)
{
  block b = {pc, op->block_count};
  s->slots += op->block_cost;
  s->instructions += op->block_count;
  if (!b.words || s->instructions > MAX_WALK || s->read & g->unknown || s->misread) return false;
  if (is_equal(m, &c->classes[g->class_number], &b)) return true;
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

/* What a load finds in the tile's memory; false if it is not legal. */
static bool read_memory(const machine *m, const tile *t, uint8_t id, uint32_t address,
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
  if (s->num_loads == MAX_LOADS || !read_memory(m, t, op->id, address, &value)) return false;
  s->loads[s->num_loads++] = (load){op->id, address, value};
  s->x[op->rd] = value;
  return true;
}

/* Where a store of the supervisor goes, by the interpreter's rules; NULL if it is not legal. */
static uint8_t *store_place(machine *m, tile *t, const store *s)
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
  if (s->num_stores == MAX_STORES || !store_place(m, t, &made)) return false;
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

/* Walks the group's code to its next stop; false if its tiles have to go alone. Words that have not been
 * compared are those of its first tile. */
static bool walk(machine *m, control *c, const control_group *g)
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

/* Taking: the stretch happens on the tiles. */

/* Does the tile find what the group's first one has found, and may it store? */
static bool agrees(machine *m, const stretch *s, tile *t)
{
  for (size_t i = 0; i < s->num_loads; i++) {
    uint32_t value;
    if (!read_memory(m, t, s->loads[i].id, s->loads[i].address, &value)) return false;
    if (value != s->loads[i].value) return false;
  }
  for (size_t i = 0; i < s->num_stores; i++)
    if (!store_place(m, t, &s->stores[i])) return false;
  return true;
}

/* Tiles that do not agree become another group. */
static void split_by_memory(machine *m, control *c, control_group *g)
{
  const stretch *s = &c->s;
  if (!s->num_loads && !s->num_stores) return;
  control_group *rest = NULL;
  size_t kept = 1; /* the stretch is the first tile's */
  for (size_t i = 1; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i];
    if (agrees(m, s, &m->tiles[number])) {
      g->tiles[kept++] = number;
      continue;
    }
    if (!rest) rest = new_group(c, g);
    add_tile(c, rest, number);
  }
  g->num_tiles = kept;
  if (!rest) return;
  c->unsettled = true;
  if (++c->num_splits > MAX_SPLITS) disband(m, c, rest);
}

static bool is_within_limit(const machine *m, const control_group *g, uint64_t cycles)
{
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint64_t clock = m->at.clocks[g->tiles[i]];
    if (clock > m->limit || m->limit - clock < cycles) return false;
  }
  return true;
}

static void put_stores(machine *m, const stretch *s, tile *t, uint32_t clock)
{
  for (size_t i = 0; i < s->num_stores; i++) {
    uint32_t value = s->stores[i].value + (s->stores[i].timed ? clock : 0);
    memcpy(store_place(m, t, &s->stores[i]), &value, s->stores[i].bytes);
  }
}

/* They are in the tiles' contexts from here on. */
static void put_timed(const stretch *s, context *supervisor, uint32_t clock)
{
  for (uint64_t left = s->timed; left; left &= left - 1) {
    uint32_t r = (uint32_t)__builtin_ctzll(left);
    supervisor->x[r] = s->x[r] + clock;
  }
}

static void take_on_tiles(machine *m, control *c, const control_group *g)
{
  const stretch *s = &c->s;
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i];
    uint32_t clock = (uint32_t)m->at.clocks[number];
    if (s->num_stores) put_stores(m, s, &m->tiles[number], clock);
    put_timed(s, &m->tiles[number].supervisor, clock);
    m->at.clocks[number] += g->cycles;
    m->at.waiting[number] = (uint8_t)s->why;
    m->at.asked[number] = s->asked;
    m->at.host_codes[number] = s->host_code;
    if (s->has_starts) pop_push(c->jobs, c->num_jobs, c->jobs_capacity, (control_job){number, g});
  }
}

static void take(machine *m, control *c, control_group *g)
{
  const stretch *s = &c->s;
  memcpy(g->x, s->x, sizeof g->x);
  g->unknown = (g->unknown & ~s->written) | s->timed;
  g->pc = s->pc;
  g->instructions += s->instructions;
  g->sync_rd = s->sync_rd;
  memcpy(g->starts, s->starts, sizeof g->starts);
  g->has_starts = s->has_starts;
  g->cycles = s->slots * m->target.num_worker_contexts;
  g->runs = s->why == STOP_WAIT;
  take_on_tiles(m, c, g);
  m->control_instructions += s->instructions * g->num_tiles;
}

/* Up to where its workers have to run, or to a sync. */
static void advance_group(machine *m, control *c, control_group *g)
{
  while (g->runs) {
    bool walked = walk(m, c, g), again = !walked && c->s.num_blocks == MAX_BLOCKS;
    if (c->s.num_blocks && (walked || again)) compare_blocks(m, c, g);
    if (again) continue;
    if (!walked) {
      disband(m, c, g);
      return;
    }
    split_by_memory(m, c, g);
    if (!is_within_limit(m, g, c->s.slots * m->target.num_worker_contexts)) {
      disband(m, c, g);
      return;
    }
    take(m, c, g);
    if (g->has_starts) {
      g->round = c->round;
      return;
    }
  }
}

/* The superstep */

static control *new_control(const machine *m)
{
  control *c = pop_xcalloc(1, sizeof *c);
  c->class_of = pop_xcalloc(m->num_tiles, sizeof *c->class_of);
  c->group_of = pop_xcalloc(m->num_tiles, sizeof(control_group *));
  pop_push(c->classes, c->num_classes, c->classes_capacity, (control_class){0});
  c->unsettled = true;
  return c;
}

void control_begin(machine *m)
{
  if (!m->control) {
    m->control = new_control(m);
    control_settle(m);
  }
  control *c = m->control;
  c->num_splits = 0;
  for (size_t i = 0; i < c->num_groups; i++) c->groups[i]->runs = true;
}

uint32_t control_advance(machine *m, const control_job **jobs)
{
  control *c = m->control;
  c->num_jobs = 0;
  c->round++;
  /* Groups that are split off come behind; those of one whose workers have not run yet wait with it. */
  for (size_t i = 0; i < c->num_groups; i++)
    if (c->groups[i]->num_tiles && c->groups[i]->round != c->round)
      advance_group(m, c, c->groups[i]);
  *jobs = c->jobs;
  return (uint32_t)c->num_jobs;
}

const worker_start *control_starts(const machine *m, const control_job *job, uint64_t *from)
{
  *from = m->at.clocks[job->tile] - job->group->cycles;
  return job->group->starts;
}

void control_drop(machine *m, uint32_t tile)
{
  control *c = m->control;
  control_group *g = c->group_of[tile];
  size_t at = 0;
  while (g->tiles[at] != tile) at++;
  write_back(m, g, tile);
  g->tiles[at] = g->tiles[--g->num_tiles];
  c->group_of[tile] = NULL;
}

/* Joining */

/* Registers that calls of functions leave as they are, and the stack pointer. */
static const uint64_t kept_registers = 0x0ffc031e;

static uint32_t answered_register(const machine *m, uint32_t number, uint32_t rd)
{
  return m->at.waiting[number] == STOP_HOST_SYNC ? rd : 0;
}

typedef struct place {
  uint32_t class_number, pc, answered;
  uint32_t x[32]; /* kept ones; the others 0 */
} place;

static place place_at(const control *c, const machine *m, uint32_t number, uint32_t pc,
                      const uint32_t *x, uint32_t rd)
{
  place p = {c->class_of[number], pc, answered_register(m, number, rd), {0}};
  for (uint32_t r = 0; r < 32; r++)
    if (kept_registers >> r & 1) p.x[r] = x[r];
  return p;
}

static place place_of_group(const control *c, const machine *m, const control_group *g)
{
  return place_at(c, m, g->tiles[0], g->pc, g->x, g->sync_rd);
}

/* The registers of `mask` are in the contexts from here on. */
static void make_unknown(machine *m, control_group *g, uint64_t mask)
{
  mask &= ~g->unknown;
  if (!mask) return;
  for (size_t i = 0; i < g->num_tiles; i++) write_registers(m, g, g->tiles[i], mask);
  g->unknown |= mask;
}

/* The tiles of `other`, which is at the same place, join g. */
static void join_group(machine *m, control *c, control_group *g, control_group *other)
{
  uint64_t differ = other->unknown;
  for (uint32_t r = 1; r < 32; r++)
    if (g->x[r] != other->x[r]) differ |= (uint64_t)1 << r;
  make_unknown(m, g, differ);
  make_unknown(m, other, g->unknown);
  for (size_t i = 0; i < other->num_tiles; i++) {
    m->tiles[other->tiles[i]].supervisor.instructions += other->instructions - g->instructions;
    add_tile(c, g, other->tiles[i]);
  }
  other->num_tiles = 0;
}

static void join_tile(machine *m, control *c, control_group *g, tile *t)
{
  uint64_t differ = 0;
  for (uint32_t r = 1; r < 32; r++)
    if (g->x[r] != t->supervisor.x[r]) differ |= (uint64_t)1 << r;
  make_unknown(m, g, differ);
  t->supervisor.instructions -= g->instructions;
  add_tile(c, g, t->number);
}

typedef struct place_table {
  struct {
    control_group *group;
    place at;
  } *slots;
  size_t num_slots; /* a power of 2 */
} place_table;

/* The group at that place, or NULL with the slot where it would be. */
static control_group *find_group(const place_table *table, const place *at, size_t *slot)
{
  size_t mask = table->num_slots - 1;
  for (*slot = XXH3_64bits(at, sizeof *at) & mask;; *slot = (*slot + 1) & mask) {
    control_group *g = table->slots[*slot].group;
    if (!g || !memcmp(&table->slots[*slot].at, at, sizeof *at)) return g;
  }
}

static void settle_groups(machine *m, control *c, place_table *table)
{
  size_t num_groups = c->num_groups, slot;
  for (size_t i = 0; i < num_groups; i++) {
    control_group *g = c->groups[i];
    place at = place_of_group(c, m, g);
    control_group *same = find_group(table, &at, &slot);
    if (same) {
      join_group(m, c, same, g);
    } else {
      table->slots[slot].group = g;
      table->slots[slot].at = at;
    }
  }
}

static void settle_tiles(machine *m, control *c, place_table *table)
{
  size_t slot;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    if (c->group_of[i] || m->at.waiting[i] == STOP_FAULT) continue;
    context *supervisor = &m->tiles[i].supervisor;
    place at = place_at(c, m, i, supervisor->pc, supervisor->x, supervisor->sync_rd);
    control_group *g = find_group(table, &at, &slot);
    if (!g) {
      control_group alone = {
          .class_number = c->class_of[i], .pc = supervisor->pc, .sync_rd = supervisor->sync_rd};
      memcpy(alone.x, supervisor->x, sizeof alone.x);
      g = new_group(c, &alone);
      table->slots[slot].group = g;
      table->slots[slot].at = at;
    }
    join_tile(m, c, g, &m->tiles[i]);
  }
}

void control_settle(machine *m)
{
  control *c = m->control;
  if (!c->unsettled) return;
  c->unsettled = false;
  remove_empty_groups(c);
  place_table table = {.num_slots = 16};
  size_t num_alone = 0;
  for (uint32_t i = 0; i < m->num_tiles; i++) num_alone += !c->group_of[i];
  while (table.num_slots < 2 * (c->num_groups + num_alone)) table.num_slots *= 2;
  table.slots = pop_xcalloc(table.num_slots, sizeof *table.slots);
  settle_groups(m, c, &table);
  settle_tiles(m, c, &table);
  remove_empty_groups(c);
  free(table.slots);
}

void control_answer(machine *m, uint32_t answer)
{
  control *c = m->control;
  for (uint32_t i = 0; i < m->num_tiles; i++) {
    context *supervisor = &m->tiles[i].supervisor;
    if (!c || !c->group_of[i]) supervisor->x[supervisor->sync_rd] = answer;
  }
  for (size_t i = 0; c && i < c->num_groups; i++) {
    control_group *g = c->groups[i];
    g->x[g->sync_rd] = answer;
    g->unknown &= ~((uint64_t)1 << g->sync_rd);
  }
}

void control_dissolve(machine *m)
{
  control *c = m->control;
  for (size_t i = 0; c && i < c->num_groups; i++)
    for (size_t k = 0; k < c->groups[i]->num_tiles; k++)
      write_back(m, c->groups[i], c->groups[i]->tiles[k]);
  control_forget(m);
}

void control_forget(machine *m)
{
  control *c = m->control;
  if (!c) return;
  for (size_t i = 0; i < c->num_groups; i++) free_group(c->groups[i]);
  for (size_t i = 0; i < c->num_classes; i++) free(c->classes[i].equal);
  free(c->class_of);
  free(c->classes);
  free(c->group_of);
  free(c->groups);
  free(c->jobs);
  free(c);
  m->control = NULL;
}
