/* From an entry to the code that can be reached from it: functions, blocks, operations.
 *
 * A function consists of what branches, jumps and fall-through reach from its entry. A call starts
 * another function of the unit and is expected to return behind itself. Behind an indirect jump,
 * such as a return, nothing is known. Functions are found one after the other: the list of
 * functions is the worklist.
 *
 * If the unit calls through registers, functions that its pointers probably point to are added
 * (translate_pointers.c).
 *
 * Within a function, words are visited in any order and marked. Then they are cut into blocks, in
 * the order of their addresses. */
#include "translate.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* Larger units are cut. Functions that do not fit are looked up when they are called. Functions
 * with more blocks are cut, too, because LLVM's time grows with the square of the number of blocks:
 * an edge to the rest leaves native code, and the rest becomes another unit. */
enum { MAX_FUNCTIONS = 64, MAX_OPS = 16384, MAX_BLOCKS = 1024 };

enum { MARK_VISITED = 1, MARK_LEADER = 2 };

typedef struct discovery {
  machine *m;
  tile *t;
  code_unit *unit;
  uint8_t *marks; /* of the current function; one per word of the tile's code range */
  uint8_t *taken; /* words of the unit */
  uint32_t *work; /* leaders to visit, as word numbers */
  size_t num_work, work_capacity;
  uint32_t num_leaders;     /* of the current function */
  uint32_t lowest, highest; /* word numbers of the current function, highest exclusive */
} discovery;

static uint32_t num_words(const discovery *d)
{
  return d->t->code_bytes / 4;
}

static const operation *decoded(discovery *d, uint32_t word)
{
  const code_page *page = memory_code_page(d->m, d->t, d->t->code_start + 4 * word, false);
  return &page->operations[word % PAGE_WORDS];
}

static bool is_branch(uint8_t id)
{
  return id < ISA_NUM_OPS && isa_rows[id].format == FORMAT_B;
}

static bool is_near_jump(uint8_t id)
{
  return is_branch(id) || id == OP_JAL;
}

/* The isa_op of a form that the decoder adds. */
static uint8_t plain_id(uint8_t id)
{
#define FAR_ROW(id, ...) [OP_##id##_FAR] = OP_##id,
#define STACK_ROW(id, ...) [OP_##id##_STACK] = OP_##id,
  static const uint8_t plain[OPERATION_COUNT] = {
      [OP_JAL_FAR] = OP_JAL,
      BRANCHES(FAR_ROW) STORES(STACK_ROW) FLOAT_STORES(STACK_ROW) WIDE_STORES(STACK_ROW)};
  return plain[id] ? plain[id] : id;
}

static uint32_t own_cost(const operation *op)
{
  return op->block_count == 1 ? op->block_cost : op->block_cost - op[1].block_cost;
}

static code_op code_op_of(discovery *d, uint32_t word)
{
  const operation *op = decoded(d, word);
  code_op out = {.id = plain_id(op->id),
                 .rd = op->rd,
                 .rs1 = op->rs1,
                 .rs2 = op->rs2,
                 .imm = op->imm,
                 .cost = own_cost(op)};
  if (is_near_jump(out.id)) {
    int32_t distance = is_near_jump(op->id) ? 4 * op->imm : op->imm;
    out.imm = (int32_t)(d->t->code_start + 4 * word + (uint32_t)distance);
  }
  return out;
}

/* CSR instructions that are translated: reads of counters, reads and writes of random words, and
 * accesses without effect. The last are those of frm and fflags, because frm is 0 and no code reads
 * fflags (translate.h). */
static bool is_translated_csr(const code_op *op)
{
  enum { FFLAGS = 1, FRM = 2 };
  bool only_reads = op->id != OP_CSRRW && op->id != OP_CSRRWI && op->rs1 == 0;
  bool counter = op->imm == CSR_CYCLE || op->imm == CSR_CYCLEH || op->imm == CSR_INSTRET ||
                 op->imm == CSR_INSTRETH;
  bool random = isa_is_random((uint32_t)op->imm);
  return ((op->imm == FRM || counter || random) && only_reads) || (random && op->id == OP_CSRRW) ||
         (op->imm == FFLAGS && op->rd == REGISTER_SINK);
}

/* Is the instruction left to the interpreter? */
static bool is_left(const code_op *op)
{
  uint8_t id = op->id;
  switch (id) {
  case OP_TILE_CONTEXT:
  case OP_TILE_NUMBER:
  case OP_TILE_CALL:
    return false;
  case OP_ECALL:
  case OP_EBREAK:
  case OP_NEXT_PAGE:
  case OP_NOT_CODE:
  case OP_INVALID:
    return true;
  default:
    if (id >= OP_CSRRW && id <= OP_CSRRCI) return !is_translated_csr(op);
    return id >= OP_TILE_SYNC && id <= OP_TILE_PRINT; /* block copies have larger ids */
  }
}

/* Word number of an address, or num_words if it is no word of the code range. */
static uint32_t word_of(const discovery *d, uint32_t address)
{
  uint32_t offset = address - d->t->code_start;
  return offset % 4 || offset >= d->t->code_bytes ? num_words(d) : offset / 4;
}

static void add_leader(discovery *d, uint32_t word)
{
  if (word >= num_words(d) || d->marks[word] & MARK_LEADER || d->num_leaders == MAX_BLOCKS) return;
  d->num_leaders++;
  d->marks[word] |= MARK_LEADER;
  pop_push(d->work, d->num_work, d->work_capacity, word);
}

static block_end end_of(const code_op *op)
{
  if (is_branch(op->id)) return BLOCK_BRANCH;
  if (op->id == OP_JAL) return op->rd == REGISTER_SINK ? BLOCK_JUMP : BLOCK_CALL;
  if (op->id == OP_JALR || op->id == OP_TILE_CALL) return BLOCK_INDIRECT;
  return BLOCK_NEXT;
}

static bool returns_behind(const code_op *op)
{
  return op->id == OP_TILE_CALL || (op->id == OP_JALR && op->rd != REGISTER_SINK);
}

/* The operation in a block that begins at `first`. There `auipc r; jalr rd, imm(r)` has a known
 * target, if nothing jumps to the jalr from elsewhere: it becomes a jal. */
static code_op code_op_in_block(discovery *d, uint32_t first, uint32_t word)
{
  code_op op = code_op_of(d, word);
  if (word == first || op.id != OP_JALR || d->marks[word] & MARK_LEADER) return op;
  code_op before = code_op_of(d, word - 1);
  if (before.id != OP_AUIPC || before.rd != op.rs1) return op;
  op.id = OP_JAL;
  op.imm = (int32_t)(((uint32_t)before.imm + (uint32_t)op.imm) & ~1u);
  return op;
}

/* Jump tables: `sh2add t, index, table; lw t, (t); jr t`. The targets are a guess: native code
 * compares them with the real target, and leaves if none matches. So a search backwards through the
 * words in memory is enough. */

enum { MAX_TARGETS = 512, SEARCHED_WORDS = 256, MAX_TARGET_WORDS = 1 << 13 };

/* The nearest word in front of `word` that probably writes `reg`; num_words if there is none. */
static uint32_t find_maker(discovery *d, uint32_t word, uint32_t reg, code_op *op)
{
  for (uint32_t left = SEARCHED_WORDS; word > 0 && left > 0; left--) {
    *op = code_op_of(d, --word);
    bool makes = op->id == OP_LUI || op->id == OP_ADDI || op->id == OP_ADD || op->id == OP_SH2ADD ||
                 op->id == OP_LW;
    if (makes && op->rd == reg) return word;
  }
  return num_words(d);
}

/* The value of `reg` in front of `word`, if lui, li, or lui and addi make it. */
static bool find_constant(discovery *d, uint32_t word, uint32_t reg, uint32_t *value)
{
  code_op op;
  uint32_t at = find_maker(d, word, reg, &op);
  *value = 0;
  if (at == num_words(d)) return false;
  *value = (uint32_t)op.imm;
  if (op.id == OP_LUI || (op.id == OP_ADDI && op.rs1 == 0)) return true;
  if (op.id != OP_ADDI) return false;
  uint32_t low = *value;
  at = find_maker(d, at, op.rs1, &op);
  if (at == num_words(d) || op.id != OP_LUI) return false;
  *value = low + (uint32_t)op.imm;
  return true;
}

/* The number of entries of the table that `sum`, at `word`, indexes. It is told by the nearest
 * `bltu limit, index` or `andi index, x, limit`. */
static uint32_t find_table_size(discovery *d, uint32_t word, const code_op *sum)
{
  enum { SEARCHED = 16 };
  /* the register of a shifted index is not known yet */
  uint32_t index = sum->id == OP_SH2ADD ? sum->rs1 : 0;
  for (uint32_t left = SEARCHED; word > 0 && left > 0; left--) {
    code_op op = code_op_of(d, --word);
    uint32_t limit;
    if (op.id == OP_BLTU && find_constant(d, word, op.rs1, &limit) && limit < MAX_TARGETS)
      return limit + 1;
    if (op.id == OP_SLLI && op.imm == 2 && index == 0) index = op.rs1;
    if (op.id == OP_ANDI && op.rd == index && op.imm > 0 && op.imm < MAX_TARGETS)
      return (uint32_t)op.imm + 1;
  }
  return MAX_TARGETS;
}

static bool find_table(discovery *d, uint32_t word, uint32_t *table, uint32_t *size)
{
  code_op jump = code_op_of(d, word), load, sum;
  uint32_t at = find_maker(d, word, jump.rs1, &load);
  if (at == num_words(d) || load.id != OP_LW) return false;
  at = find_maker(d, at, load.rs1, &sum);
  if (at == num_words(d) || (sum.id != OP_SH2ADD && sum.id != OP_ADD)) return false;
  bool found = find_constant(d, at, sum.rs2, table) ||
               (sum.id == OP_ADD && find_constant(d, at, sum.rs1, table));
  *table += (uint32_t)load.imm;
  *size = find_table_size(d, at, &sum);
  return found;
}

/* `auipc t, 0; add a, a, t; jr imm(a)` jumps into the words behind it: stores of single bytes, as
 * in the C library's memset. Any of them up to the next return may be the target. */
static uint32_t find_computed(discovery *d, uint32_t word, uint32_t targets[MAX_TARGETS])
{
  enum { MOST = 32 };
  if (word < 2) return 0;
  code_op jump = code_op_of(d, word), sum = code_op_of(d, word - 1), base = code_op_of(d, word - 2);
  if (sum.id != OP_ADD || sum.rd != jump.rs1 || base.id != OP_AUIPC || base.rd != sum.rs2) return 0;
  uint32_t first = word_of(d, (uint32_t)base.imm + (uint32_t)jump.imm), count = 0;
  if (first >= num_words(d)) return 0;
  for (uint32_t at = first; count < MOST && at < num_words(d); at++) {
    targets[count++] = at;
    if (code_op_of(d, at).id == OP_JALR) break;
  }
  return count;
}

/* Probable targets of the jalr at `word`, as word numbers, each once. */
static uint32_t find_targets(discovery *d, uint32_t word, uint32_t targets[MAX_TARGETS])
{
  uint32_t table, size, count = find_computed(d, word, targets);
  if (count || !find_table(d, word, &table, &size)) return count;
  for (uint32_t i = 0; i < size; i++) {
    uint32_t at = table + 4 * i;
    if (at % 4 || !memory_contains(d->t, at, 4, false, false)) break;
    uint32_t target = word_of(d, memory_word(d->m, d->t, at)), known = 0;
    if (target >= num_words(d) || target - word + MAX_TARGET_WORDS > 2 * MAX_TARGET_WORDS) break;
    while (known < count && targets[known] != target) known++;
    if (known == count) targets[count++] = target;
  }
  return count;
}

static bool jumps_by_table(const code_op *op)
{
  enum { RA = 1, T0 = 5 };
  return op->id == OP_JALR && op->rd == REGISTER_SINK && op->rs1 != RA && op->rs1 != T0;
}

static void add_table_leaders(discovery *d, uint32_t word)
{
  uint32_t targets[MAX_TARGETS], count = find_targets(d, word, targets);
  for (uint32_t i = 0; i < count; i++) add_leader(d, targets[i]);
}

/* Marks the words from `word` on up to the end of the block. */
static void visit(discovery *d, uint32_t word)
{
  for (uint32_t first = word; word < num_words(d) && !(d->marks[word] & MARK_VISITED); word++) {
    d->marks[word] |= MARK_VISITED;
    if (word < d->lowest) d->lowest = word;
    if (word >= d->highest) d->highest = word + 1;
    code_op op = code_op_in_block(d, first, word);
    if (is_left(&op)) return;
    block_end end = end_of(&op);
    if (end == BLOCK_NEXT) continue;
    if (end == BLOCK_BRANCH || end == BLOCK_JUMP) add_leader(d, word_of(d, (uint32_t)op.imm));
    if (end == BLOCK_BRANCH || end == BLOCK_CALL || returns_behind(&op)) add_leader(d, word + 1);
    if (jumps_by_table(&op)) add_table_leaders(d, word);
    return;
  }
}

static int32_t find_block(const code_unit *u, const code_function *f, uint32_t pc)
{
  size_t low = 1, high = f->num_blocks; /* the entry's block comes first; the others ascend */
  if (u->blocks[f->first_block].pc == pc) return 0;
  while (low < high) {
    size_t middle = (low + high) / 2;
    uint32_t at = u->blocks[f->first_block + middle].pc;
    if (at == pc) return (int32_t)middle;
    if (at < pc)
      low = middle + 1;
    else
      high = middle;
  }
  return UNIT_NONE;
}

/* The function of the unit that starts at `entry`. A new one is added if there is room. */
static int32_t find_function(code_unit *u, uint32_t entry)
{
  for (size_t i = 0; i < u->num_functions; i++)
    if (u->functions[i].entry == entry) return (int32_t)i;
  if (u->num_functions == MAX_FUNCTIONS) return UNIT_NONE;
  pop_push(u->functions, u->num_functions, u->functions_capacity, (code_function){.entry = entry});
  return (int32_t)(u->num_functions - 1);
}

static void add_block(discovery *d, uint32_t word)
{
  code_unit *u = d->unit;
  uint32_t first = word;
  code_block block = {
      .pc = d->t->code_start + 4 * word, .first_op = (uint32_t)u->num_ops, .end = BLOCK_NEXT};
  do {
    d->taken[word] = 1;
    code_op op = code_op_in_block(d, first, word);
    if (is_left(&op)) {
      block.end = BLOCK_LEAVE;
      break;
    }
    pop_push(u->ops, u->num_ops, u->ops_capacity, op);
    block.end = end_of(&op);
    word++;
  } while (block.end == BLOCK_NEXT && word < num_words(d) && !(d->marks[word] & MARK_LEADER));
  if (block.end == BLOCK_NEXT && word >= num_words(d)) block.end = BLOCK_LEAVE;
  block.pc_end = d->t->code_start + 4 * word;
  block.num_ops = (uint32_t)u->num_ops - block.first_op;
  block.division = code_block_find_division(d->m, d->t, &block);
  pop_push(u->blocks, u->num_blocks, u->blocks_capacity, block);
}

static void add_targets(discovery *d, const code_function *f, code_block *block)
{
  code_unit *u = d->unit;
  uint32_t targets[MAX_TARGETS];
  uint32_t count = find_targets(d, word_of(d, block->pc_end - 4), targets);
  block->first_target = (uint32_t)u->num_targets;
  for (uint32_t i = 0; i < count; i++) {
    int32_t to = find_block(u, f, d->t->code_start + 4 * targets[i]);
    if (to != UNIT_NONE) pop_push(u->targets, u->num_targets, u->targets_capacity, to);
  }
  block->num_targets = (uint32_t)u->num_targets - block->first_target;
}

static void connect_block(discovery *d, const code_function *f, code_block *block)
{
  code_unit *u = d->unit;
  block->next = block->taken = block->callee = UNIT_NONE;
  if (block->end == BLOCK_LEAVE) return;
  const code_op *last = &u->ops[block->first_op + block->num_ops - 1];
  if (block->end == BLOCK_BRANCH || block->end == BLOCK_JUMP)
    block->taken = find_block(u, f, (uint32_t)last->imm);
  bool falls_through =
      block->end != BLOCK_JUMP && (block->end != BLOCK_INDIRECT || returns_behind(last));
  if (falls_through) block->next = find_block(u, f, block->pc_end);
  if (block->end == BLOCK_CALL && word_of(d, (uint32_t)last->imm) < num_words(d))
    block->callee = find_function(u, (uint32_t)last->imm);
  if (jumps_by_table(last)) add_targets(d, f, block);
}

static void discover_function(discovery *d, size_t number)
{
  code_unit *u = d->unit;
  uint32_t entry = word_of(d, u->functions[number].entry);
  d->lowest = num_words(d);
  d->highest = 0;
  d->num_leaders = 0;
  add_leader(d, entry);
  while (d->num_work) visit(d, d->work[--d->num_work]);
  size_t first = u->num_blocks;
  add_block(d, entry);
  for (uint32_t word = d->lowest; word < d->highest; word++)
    if (d->marks[word] & MARK_LEADER && word != entry) add_block(d, word);
  code_function f = {.entry = u->functions[number].entry,
                     .first_block = (uint32_t)first,
                     .num_blocks = (uint32_t)(u->num_blocks - first)};
  u->functions[number] = f;
  for (size_t i = first; i < u->num_blocks; i++) connect_block(d, &f, &u->blocks[i]);
  memset(d->marks + d->lowest, 0, d->highest - d->lowest);
}

/* Notes the words that the unit was made from, including the word at which a block leaves native
 * code. */
static void note_words(discovery *d)
{
  code_unit *u = d->unit;
  for (uint32_t word = 0; word < num_words(d); word++) {
    if (!d->taken[word]) continue;
    uint32_t start = word;
    while (word < num_words(d) && d->taken[word]) word++;
    pop_push(u->ranges, u->num_ranges, u->ranges_capacity,
             (code_range){d->t->code_start + 4 * start, d->t->code_start + 4 * word});
    u->num_words += word - start;
  }
  u->words = pop_xcalloc(u->num_words, sizeof *u->words);
  size_t at = 0;
  for (size_t i = 0; i < u->num_ranges; i++)
    for (uint32_t pc = u->ranges[i].start; pc < u->ranges[i].end; pc += 4)
      u->words[at++] = memory_word(d->m, d->t, pc);
}

/* Discovers functions from number `first` on, and those that they call. */
static void discover_functions(discovery *d, size_t first)
{
  code_unit *unit = d->unit;
  for (size_t i = first; i < unit->num_functions; i++) {
    if (unit->num_ops > MAX_OPS) { /* these are looked up when they are called */
      for (size_t b = 0; b < unit->num_blocks; b++)
        if (unit->blocks[b].callee >= (int32_t)i) unit->blocks[b].callee = UNIT_NONE;
      unit->num_functions = i;
      return;
    }
    discover_function(d, i);
  }
}

/* Does the place lie inside a function of the unit, like targets of jump tables? */
static bool is_inside(const discovery *d, uint32_t address)
{
  const code_unit *u = d->unit;
  for (size_t i = 0; i < u->num_functions; i++)
    if (u->functions[i].entry == address) return false;
  return d->taken[word_of(d, address)];
}

/* Functions that the unit's pointers probably point to become functions of the unit. */
static void find_pointed(discovery *d)
{
  code_unit *u = d->unit;
  if (!code_unit_calls_pointers(u)) return;
  size_t count, first = u->num_functions;
  uint32_t *places = code_unit_find_pointers(d->m, d->t, u, &count);
  for (size_t i = 0; i < count; i++) {
    if (word_of(d, places[i]) >= num_words(d) || is_inside(d, places[i])) continue;
    code_op op = code_op_of(d, word_of(d, places[i]));
    int32_t function = is_left(&op) ? UNIT_NONE : find_function(u, places[i]);
    if (function != UNIT_NONE) pop_push(u->pointed, u->num_pointed, u->pointed_capacity, function);
  }
  free(places);
  discover_functions(d, first);
  size_t kept = 0; /* without functions that did not fit */
  for (size_t i = 0; i < u->num_pointed; i++)
    if ((size_t)u->pointed[i] < u->num_functions) u->pointed[kept++] = u->pointed[i];
  u->num_pointed = kept;
}

bool code_unit_discover(machine *m, tile *t, uint32_t entry, code_unit *unit)
{
  *unit = (code_unit){0};
  discovery d = {.m = m, .t = t, .unit = unit};
  if (word_of(&d, entry) >= num_words(&d)) return false;
  code_op first = code_op_of(&d, word_of(&d, entry));
  if (is_left(&first)) return false;
  d.marks = pop_xcalloc(num_words(&d) + 1, 1);
  d.taken = pop_xcalloc(num_words(&d) + 1, 1);
  find_function(unit, entry);
  discover_functions(&d, 0);
  find_pointed(&d);
  note_words(&d);
  code_unit_inline(unit);
  free(d.marks);
  free(d.taken);
  free(d.work);
  return true;
}

void code_unit_free(code_unit *unit)
{
  free(unit->functions);
  free(unit->blocks);
  free(unit->ops);
  free(unit->targets);
  free(unit->pointed);
  free(unit->ranges);
  free(unit->words);
  *unit = (code_unit){0};
}
