/* Reads the stack frame of one function from its machine code. See stack_usage.h.
 *
 * This is a data-flow analysis. It follows the code from the entry along every path, with a
 * value for each register:
 *
 *   a number                      li t0, -4096; add sp, sp, t0
 *   entry's stack pointer + n     addi sp, sp, -32; addi s0, sp, 32; …; addi sp, s0, -32
 *   address of a table            lui a1, %hi(.LJTI0_0); sh2add a0, a0, a1
 *   entry of a table              lw a0, %lo(.LJTI0_0)(a0); jr a0       (a switch)
 *   address of code               auipc t0, %pcrel_hi(.Lstores); add a3, a3, t0; jr a3
 *                                 auipc ra, 0; jalr -44(ra)     (the assembler knew how far it is)
 *
 * Where paths join, values that differ become unknown. Each register becomes unknown at most
 * once there, so the analysis ends. A stack pointer that is unknown, or that differs between
 * rounds of a loop, means alloca.
 *
 * An instruction that sets a link register is a call. So is a jump to the start of another function
 * if the frame is gone by then (a tail call). With a frame it continues the same function, as
 * compilers do that move rare code elsewhere (`f.cold`). A jump through a register is a switch if
 * the register came out of a table of labels. If the register is a label plus something (memset's),
 * the jump goes to any instruction from that label to the next return. Otherwise it is a tail call
 * of an unknown function.
 *
 * Source: RISC-V unprivileged ISA, chapters RV32I, M, F, Zfh, Zba; psABI, "Calling Conventions".
 */
#include "isa/encoding.h"
#include "stack_usage.h"
#include <populus/arena.h>
#include <string.h>

enum { ZERO, RA, SP, T0 = 5, NUM_REGISTERS = 32 };

#define RETURN 0x00008067u
#define UNIMP 0xc0001073u /* the machine stops there */

#define MAX_JOIN_POINTS (1u << 17) /* bounds the memory for objects that no compiler made */

typedef enum value_kind { UNKNOWN, NUMBER, STACK, CODE, TABLE, TABLE_ENTRY } value_kind;

typedef struct value {
  value_kind kind;
  uint32_t section; /* of CODE, TABLE, TABLE_ENTRY */
  uint32_t number;  /* STACK: relative to the stack pointer at entry; else an offset in `section` */
} value;

typedef struct registers {
  value r[NUM_REGISTERS];
} registers;

/* Where paths come together: a target of jumps, or the entry. */
typedef struct join_point {
  stack_place place;
  registers state;
  bool queued; /* to be followed from here */
} join_point;

typedef struct reader {
  const pop_link_set *set;
  stack_place entry;
  stack_frame *frame;
  uint64_t *budget;
  join_point *join_points;
  size_t num_join_points, join_points_capacity;
  stack_map join_point_at;
  uint32_t *worklist; /* numbers of join points, a stack */
  size_t worklist_size, worklist_capacity;

  /* The current instruction. */
  stack_place at;
  registers state;
  uint32_t word;
  const isa_row *row;                  /* of the table of instructions; NULL: it is none */
  const object_relocation *relocation; /* NULL: none */
  link_target target;                  /* of the relocation, with its addend */
} reader;

/* ---- places ---- */

static bool same_place(stack_place a, stack_place b)
{
  return a.section == b.section && a.offset == b.offset;
}

static const pop_object *object_of(const pop_link_set *set, uint32_t section)
{
  return link_set_owner(set, section)->object;
}

static bool is_code(const pop_link_set *set, stack_place place)
{
  const object_section *section = link_set_section(set, place.section);
  return object_section_group(section) == POP_LINK_CODE && section->data && place.offset % 4 == 0 &&
         place.offset < section->size && section->size - place.offset >= 4;
}

static bool names_function(const object_symbol *symbol)
{
  return symbol->type == STT_FUNC || (symbol->type == STT_NOTYPE && symbol->bind != STB_LOCAL);
}

/* The symbols of a section in order of their values; the first of them at or behind `offset`. */
static uint32_t first_symbol(const pop_link_set *set, uint32_t section, uint32_t offset,
                             const uint32_t **index)
{
  const pop_object *object = object_of(set, section);
  const object_section *in = link_set_section(set, section);
  *index = object->by_place + in->first_symbol;
  uint32_t low = 0, high = in->num_symbols;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (object->symbols[(*index)[middle]].value < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const char *stack_function_at(const pop_link_set *set, stack_place place)
{
  const pop_object *object = object_of(set, place.section);
  const uint32_t *index;
  uint32_t i = first_symbol(set, place.section, place.offset, &index);
  for (; i < link_set_section(set, place.section)->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[index[i]];
    if (symbol->value != place.offset) break;
    if (names_function(symbol)) return symbol->name;
  }
  return NULL;
}

/* The part of a section that belongs to the function around `place`. */
static void enclosing_function(const pop_link_set *set, stack_place place, uint32_t *start,
                               uint32_t *end)
{
  const pop_object *object = object_of(set, place.section);
  const object_section *section = link_set_section(set, place.section);
  const uint32_t *index;
  uint32_t i = first_symbol(set, place.section, place.offset + 1, &index), behind = i;
  while (i > 0 && !names_function(&object->symbols[index[i - 1]])) --i;
  while (behind < section->num_symbols && !names_function(&object->symbols[index[behind]]))
    ++behind;
  *start = i ? object->symbols[index[i - 1]].value : 0;
  *end = behind < section->num_symbols ? object->symbols[index[behind]].value : section->size;
}

/* The first relocation at or behind `offset`, as an index from the section's first. */
static uint32_t first_relocation(const pop_link_set *set, uint32_t section, uint32_t offset)
{
  const object_section *in = link_set_section(set, section);
  const object_relocation *all = object_of(set, section)->relocations + in->first_relocation;
  uint32_t low = 0, high = in->num_relocations;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (all[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The relocation at exactly this place that has a value; NULL if there is none. */
static const object_relocation *relocation_at(const pop_link_set *set, stack_place place,
                                              link_target *target)
{
  const object_section *section = link_set_section(set, place.section);
  const object_relocation *all =
      object_of(set, place.section)->relocations + section->first_relocation;
  for (uint32_t i = first_relocation(set, place.section, place.offset);
       i < section->num_relocations && all[i].offset == place.offset; ++i) {
    if (all[i].type->value == VALUE_NONE) continue;
    *target = link_set_resolve(set, set->section_owners[place.section], all[i].symbol);
    target->value += all[i].addend;
    return &all[i];
  }
  return NULL;
}

static bool is_type(const object_relocation *relocation, uint32_t number)
{
  return relocation && relocation->type == relocation_type_find(number);
}

/* ---- fields of instructions ---- */

static uint32_t rd_of(uint32_t word)
{
  return isa_bits(word, 7, 5);
}

static uint32_t rs1_of(uint32_t word)
{
  return isa_bits(word, 15, 5);
}

static uint32_t rs2_of(uint32_t word)
{
  return isa_bits(word, 20, 5);
}

static uint32_t imm_of(const reader *r)
{
  return (uint32_t)isa_immediate(r->word, r->row->format);
}

/* ---- what the frame is ---- */

static void give_up(reader *r, pop_stack_reason reason)
{
  if (r->frame->reason != POP_STACK_KNOWN) return;
  r->frame->reason = reason;
  r->frame->reason_at = r->at;
}

/* Bytes of the frame at this moment. */
static uint32_t depth(const reader *r)
{
  const value *sp = &r->state.r[SP];
  return sp->kind == STACK ? 0u - sp->number : 0;
}

static bool has_frame(const reader *r)
{
  return r->state.r[SP].kind != STACK || r->state.r[SP].number != 0;
}

static void set_register(reader *r, uint32_t number, value to)
{
  if (number == ZERO) return;
  r->state.r[number] = to;
  if (number != SP) return;
  if (to.kind != STACK)
    give_up(r, POP_STACK_DYNAMIC);
  else if ((int32_t)to.number > 0)
    give_up(r, POP_STACK_UNREADABLE); /* it is in the caller's frame now */
  else if (depth(r) > r->frame->bytes)
    r->frame->bytes = depth(r);
}

static void add_call(reader *r, stack_place callee)
{
  stack_frame *f = r->frame;
  pop_push(f->calls, f->num_calls, f->calls_capacity, (stack_call){callee, r->at, depth(r)});
}

static void add_indirect_call(reader *r)
{
  if (!r->frame->indirect) r->frame->indirect_at = r->at;
  r->frame->indirect = true;
  if (depth(r) > r->frame->indirect_depth) r->frame->indirect_depth = depth(r);
}

/* ---- paths ---- */

static void add_to_worklist(reader *r, uint32_t number)
{
  if (r->join_points[number].queued) return;
  r->join_points[number].queued = true;
  pop_push(r->worklist, r->worklist_size, r->worklist_capacity, number);
}

static bool same_value(value a, value b)
{
  return a.kind == b.kind && a.section == b.section && a.number == b.number;
}

/* Is it a label in the middle of a function? Values computed from it stay behind it. */
static bool is_label(const pop_link_set *set, value v)
{
  return v.kind == CODE && !stack_function_at(set, (stack_place){v.section, v.number});
}

static value meet_values(const pop_link_set *set, value a, value b)
{
  if (same_value(a, b)) return a;
  if (a.section == b.section && is_label(set, a) && is_label(set, b))
    return a.number < b.number ? a : b;
  return (value){.kind = UNKNOWN};
}

/* Adds a path that continues at `place` with the current state. */
static void join(reader *r, stack_place place)
{
  if (r->num_join_points == MAX_JOIN_POINTS) *r->budget = 0;
  if (*r->budget == 0) {
    give_up(r, POP_STACK_UNREADABLE);
    return;
  }
  uint32_t number = stack_map_put(&r->join_point_at, place, (uint32_t)r->num_join_points);
  if (number == r->num_join_points) {
    pop_push(r->join_points, r->num_join_points, r->join_points_capacity,
             (join_point){place, r->state, false});
    add_to_worklist(r, number);
    return;
  }
  for (int i = 0; i < NUM_REGISTERS; ++i) {
    value *known = &r->join_points[number].state.r[i];
    value both = meet_values(r->set, *known, r->state.r[i]);
    if (same_value(*known, both)) continue;
    *known = both;
    if (i == SP) give_up(r, POP_STACK_DYNAMIC);
    add_to_worklist(r, number);
  }
}

/* A jump to a known place. */
static void jump(reader *r, stack_place to)
{
  if (!is_code(r->set, to)) return; /* it faults there */
  bool tail = !has_frame(r) && !same_place(to, r->entry) && stack_function_at(r->set, to);
  if (tail)
    add_call(r, to);
  else
    join(r, to);
}

/* The target of the current branch or jump; false if that is no place in the code. */
static bool find_target(reader *r, uint32_t distance, stack_place *to)
{
  if (!r->relocation) {
    *to = (stack_place){r->at.section, r->at.offset + distance};
    return true;
  }
  if (r->target.kind == TARGET_UNDEFINED) give_up(r, POP_STACK_UNDEFINED);
  *to = (stack_place){r->target.section, r->target.value};
  return r->target.kind == TARGET_SECTION;
}

/* After a call only what the callee preserves is known. */
static void forget_scratch(reader *r)
{
  static const uint32_t scratch = 0xf003fce2; /* ra, t0-t2, a0-a7, t3-t6 */
  for (int i = 0; i < NUM_REGISTERS; ++i)
    if (scratch >> i & 1) r->state.r[i] = (value){.kind = UNKNOWN};
}

/* `link`: the register that gets the return address, or ZERO. True if the path
 * continues after it. */
static bool call_or_jump_to(reader *r, uint32_t link, stack_place to)
{
  if (link == ZERO) {
    jump(r, to);
    return false;
  }
  if (is_code(r->set, to)) add_call(r, to);
  forget_scratch(r);
  return true;
}

static bool call_or_jump(reader *r, uint32_t link, uint32_t distance)
{
  stack_place to;
  if (find_target(r, distance, &to)) return call_or_jump_to(r, link, to);
  forget_scratch(r);
  return link != ZERO;
}

/* Jumps to the labels of the table from which the register was loaded. The table has 4-byte
 * entries with a relocation each, and ends at the first that is no label of this function.
 * False if there is none. */
static bool jump_through_table(reader *r, value entry)
{
  uint32_t start, end;
  enclosing_function(r->set, r->at, &start, &end);
  for (uint32_t offset = entry.number;; offset += 4) {
    link_target label;
    const object_relocation *at =
        relocation_at(r->set, (stack_place){entry.section, offset}, &label);
    bool more = (is_type(at, R_RISCV_32) || is_type(at, R_RISCV_ADD32)) &&
                label.kind == TARGET_SECTION && label.section == r->at.section &&
                label.value > start && label.value < end && *r->budget > 0;
    if (!more) return offset != entry.number;
    --*r->budget;
    jump(r, (stack_place){label.section, label.value});
  }
}

/* Jumps to a label plus something: any instruction from there to the first return. */
static void jump_into_code(reader *r, value label)
{
  if (label.section != r->at.section) add_indirect_call(r);
  stack_place to = {r->at.section, label.number};
  for (; label.section == to.section && is_code(r->set, to) && *r->budget > 0; to.offset += 4) {
    --*r->budget;
    join(r, to);
    if (relocation_get32(link_set_section(r->set, to.section)->data + to.offset) == RETURN) return;
  }
}

/* True if the path continues after it. */
static bool indirect_jump(reader *r)
{
  uint32_t link = rd_of(r->word), source = rs1_of(r->word);
  if (link == ZERO && (source == RA || source == T0)) {
    if (has_frame(r)) give_up(r, POP_STACK_UNREADABLE);
    return false;
  }
  value to = r->state.r[source];
  if (to.kind == CODE && !r->relocation) to.number += imm_of(r);
  stack_place place = {to.section, to.number};
  if (to.kind == CODE && stack_function_at(r->set, place)) return call_or_jump_to(r, link, place);
  if (to.kind == CODE)
    jump_into_code(r, to);
  else if (link != ZERO || to.kind != TABLE_ENTRY || !jump_through_table(r, to))
    add_indirect_call(r);
  forget_scratch(r);
  return link != ZERO;
}

/* ---- values ---- */

static value number(uint32_t n)
{
  return (value){.kind = NUMBER, .number = n};
}

static value add_offset(value v, uint32_t by)
{
  if (v.kind == UNKNOWN || v.kind == TABLE_ENTRY) return (value){.kind = UNKNOWN};
  v.number += by;
  return v;
}

/* Stack pointers are multiples of 16 at entry, and are aligned downwards: the result is
 * the lowest possible. */
static value align_down(value v, uint32_t mask)
{
  uint32_t alignment = 0u - mask;
  if (v.kind != STACK || alignment == 0 || (alignment & (alignment - 1)))
    return (value){.kind = UNKNOWN};
  v.number &= alignment < 16 ? mask : ~15u;
  if (alignment > 16) v.number -= alignment - 16;
  return v;
}

static value sum(const reader *r, value a, value b)
{
  if (b.kind == NUMBER) return add_offset(a, b.number);
  if (a.kind == NUMBER) return add_offset(b, a.number);
  if (a.kind == TABLE_ENTRY || b.kind == TABLE_ENTRY) return a.kind == TABLE_ENTRY ? a : b;
  value base = a.kind == UNKNOWN ? b : a; /* plus an index */
  if ((a.kind == UNKNOWN || b.kind == UNKNOWN) && (base.kind == TABLE || is_label(r->set, base)))
    return base;
  return (value){.kind = UNKNOWN};
}

/* lui, auipc: the upper part of an address. */
static value upper(const reader *r, bool relative)
{
  uint32_t own = r->word & 0xfffff000;
  if (!r->relocation && !relative) return number(own);
  if (!r->relocation) return (value){CODE, r->at.section, r->at.offset + own};
  bool address =
      r->relocation && r->target.kind == TARGET_SECTION &&
      (is_type(r->relocation, R_RISCV_HI20) || is_type(r->relocation, R_RISCV_PCREL_HI20));
  if (!address) return (value){.kind = UNKNOWN};
  const object_section *in = link_set_section(r->set, r->target.section);
  return (value){.kind = object_section_group(in) == POP_LINK_CODE ? CODE : TABLE,
                 .section = r->target.section,
                 .number = r->target.value};
}

/* addi, andi: also the lower part of an address */
static value with_immediate(const reader *r)
{
  value source = r->state.r[rs1_of(r->word)];
  if (r->relocation)
    return source.kind == TABLE || source.kind == CODE ? source : (value){.kind = UNKNOWN};
  uint32_t imm = imm_of(r);
  if (r->row->op == OP_ANDI) return align_down(source, imm);
  return imm == 0 ? source : add_offset(source, imm);
}

/* a + (b << shift) */
static value shifted_sum(const reader *r, value a, uint32_t shift, value b)
{
  return sum(r, a.kind == NUMBER ? number(a.number << shift) : (value){.kind = UNKNOWN}, b);
}

static value load(const reader *r)
{
  value base = r->state.r[rs1_of(r->word)];
  if (base.kind != TABLE) return (value){.kind = UNKNOWN};
  base.kind = TABLE_ENTRY;
  return base;
}

/* The instruction's result in its integer register, for instructions that form addresses. */
static value result(const reader *r)
{
  value a = r->state.r[rs1_of(r->word)], b = r->state.r[rs2_of(r->word)];
  switch (r->row->op) {
  case OP_LUI:
    return upper(r, false);
  case OP_AUIPC:
    return upper(r, true);
  case OP_LW:
    return load(r);
  case OP_ADDI:
  case OP_STEP:
  case OP_COUNT:
  case OP_ANDI:
    return with_immediate(r);
  case OP_SLLI:
    return a.kind == NUMBER && !r->relocation ? number(a.number << imm_of(r))
                                              : (value){.kind = UNKNOWN};
  case OP_ADD:
    return sum(r, a, b);
  case OP_SUB:
    return b.kind == NUMBER ? add_offset(a, 0u - b.number) : (value){.kind = UNKNOWN};
  case OP_SH1ADD:
    return shifted_sum(r, a, 1, b);
  case OP_SH2ADD:
    return shifted_sum(r, a, 2, b);
  case OP_SH3ADD:
    return shifted_sum(r, a, 3, b);
  default:
    return (value){.kind = UNKNOWN};
  }
}

/* ---- instructions ---- */

static void fetch(reader *r)
{
  const object_section *section = link_set_section(r->set, r->at.section);
  r->word = relocation_get32(section->data + r->at.offset);
  r->row = isa_find(r->word);
  r->relocation = relocation_at(r->set, r->at, &r->target);
}

/* auipc and jalr with one relocation for both. */
static bool call_pair(reader *r)
{
  r->at.offset += 4;
  if (!is_code(r->set, r->at)) return false;
  uint32_t jalr = relocation_get32(link_set_section(r->set, r->at.section)->data + r->at.offset);
  return call_or_jump(r, rd_of(jalr), 0);
}

/* True if the path continues after the instruction; an invalid word ends it. `called`: it
 * is a call. */
static bool step(reader *r, bool *called)
{
  if (!r->row) return false;
  *called = true;
  stack_place to;
  switch (r->row->format) {
  case FORMAT_B:
    *called = false;
    if (find_target(r, imm_of(r), &to)) jump(r, to);
    return true;
  case FORMAT_J:
    return call_or_jump(r, rd_of(r->word), imm_of(r));
  default:
    if (r->row->op == OP_JALR) return indirect_jump(r);
    if (is_type(r->relocation, R_RISCV_CALL) || is_type(r->relocation, R_RISCV_CALL_PLT))
      return call_pair(r); /* the auipc of auipc and jalr */
  }
  *called = false;
  if (isa_writes_integer(r->row->format)) set_register(r, rd_of(r->word), result(r));
  return r->word != UNIMP;
}

/* Follows a path until it ends or has been followed before. If nothing or another function is
 * behind a call, the callee does not return. */
static void follow(reader *r, uint32_t from)
{
  r->join_points[from].queued = false;
  r->at = r->join_points[from].place;
  r->state = r->join_points[from].state;
  for (bool called = false;;) {
    if (*r->budget == 0) {
      give_up(r, POP_STACK_UNREADABLE);
      return;
    }
    --*r->budget;
    fetch(r);
    if (!step(r, &called)) return;
    r->at.offset += 4;
    if (!is_code(r->set, r->at)) return;
    bool function = stack_function_at(r->set, r->at);
    if (function && called) return;
    if (function || stack_map_find(&r->join_point_at, r->at) != OBJECT_NONE) {
      jump(r, r->at);
      return;
    }
  }
}

/* ---- the frame ---- */

static int compare_calls(const void *left, const void *right)
{
  const stack_call *a = left, *b = right;
  if (a->callee.section != b->callee.section) return a->callee.section < b->callee.section ? -1 : 1;
  if (a->callee.offset != b->callee.offset) return a->callee.offset < b->callee.offset ? -1 : 1;
  return (a->depth < b->depth) - (a->depth > b->depth);
}

/* Each callee once, at its deepest. */
static void merge_calls(stack_frame *frame)
{
  if (frame->num_calls) qsort(frame->calls, frame->num_calls, sizeof *frame->calls, compare_calls);
  size_t count = 0;
  for (size_t i = 0; i < frame->num_calls; ++i) {
    if (count == 0 || !same_place(frame->calls[count - 1].callee, frame->calls[i].callee))
      frame->calls[count++] = frame->calls[i];
  }
  frame->num_calls = count;
}

void stack_read_frame(const pop_link_set *set, stack_place entry, uint64_t *budget,
                      stack_frame *frame)
{
  reader r = {.set = set, .entry = entry, .at = entry, .frame = frame, .budget = budget};
  *frame = (stack_frame){.reason = POP_STACK_KNOWN};
  r.state.r[ZERO] = number(0);
  r.state.r[SP] = (value){.kind = STACK};
  if (is_code(set, entry))
    join(&r, entry);
  else
    give_up(&r, POP_STACK_UNDEFINED); /* data */
  while (r.worklist_size) follow(&r, r.worklist[--r.worklist_size]);
  merge_calls(frame);
  free(r.join_points);
  free(r.worklist);
  stack_map_free(&r.join_point_at);
}
