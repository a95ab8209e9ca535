/* Which additions of an object's code are steps (isa/isa.h): the tile does them with an instruction beside them, as the chip
 * does, whose loads and stores step their pointers (ld32step, st64step …) and whose branches count (brnzdec).
 *
 *   flw  fa4, 0(a2)          flw  fa4, 0(a2)
 *   fadd.s fa5, fa5, fa4     fadd.s fa5, fa5, fa4
 *   addi a2, a2, 4      -->  step a2, a2, 4       with the flw
 *   addi a1, a1, -1     -->  step a1, a1, -1      with the bnez
 *   bnez a1, …               bnez a1, …
 *
 * One word takes the place of another that computes the same, so nothing moves, and what refers to the code stays right. What
 * is asked is whether the chip has the instruction that would do both: the access and the addition are in one straight line of
 * code, what stands between them does not use the pointer but for other accesses (whose offsets would be others there), the
 * distance is a signed byte of the elements that are accessed, and a store is of one or two words, as the chip has no others.
 * An access makes one step. */
#include "object.h"

#include <elf.h>
#include <isa/encoding.h>
#include <populus/arena.h>
#include <string.h>

enum { SP = 2, MAX_STEP = 127, MIN_STEP = -128 };

/* Of a section, by word: */
enum {
  JOIN = 1,      /* code elsewhere may come here */
  RELOCATED = 2, /* linking changes it */
  HAS_STEP = 4,  /* an access that a step goes with */
};

typedef struct stepper {
  pop_object *object;
  uint8_t *code; /* of the section */
  uint32_t num_words;
  uint8_t *marks;
} stepper;

/* An instruction's part in what is done with integer registers. */
typedef struct use {
  const isa_row *row;
  uint32_t reads, writes; /* bit by register; of an access without its base */
  uint32_t base;          /* of an access, else 0 */
  int32_t imm;
} use;

static uint32_t word_at(const stepper *s, uint32_t i)
{
  return relocation_get32(s->code + 4 * i);
}

/* Operands that are integer registers; of float instructions only conversions have one. */
static uint32_t integers_read(const isa_row *row, uint32_t rs1, uint32_t rs2)
{
  enum { OP_FP = 0x14, MADD = 0x10, OP_P = 0x1d, STORE_FP = 0x09 };
  uint32_t major = isa_major(row->match), first = 1u << rs1, second = 1u << rs2;
  bool from_integer =
      row->cost == POP_COST_FLOAT_OF_INT || row->op == OP_FMV_W_X || row->op == OP_FMV_H_X;
  if (major == OP_FP) return from_integer ? first : 0;
  if (major == OP_P || (major >= MADD && major < OP_FP)) return 0;
  switch (row->format) {
  case FORMAT_I:
  case FORMAT_F_I:
  case FORMAT_SHIFT:
  case FORMAT_CSR:
    return first;
  case FORMAT_U:
  case FORMAT_J:
  case FORMAT_NONE:
    return 0;
  default:
    return major == STORE_FP ? first : first | second;
  }
}

static use use_at(const stepper *s, uint32_t i)
{
  uint32_t word = word_at(s, i), rs1 = isa_bits(word, 15, 5), rs2 = isa_bits(word, 20, 5);
  use u = {.row = isa_find(word)};
  if (!u.row) return u;
  u.imm = isa_immediate(word, u.row->format);
  u.reads = integers_read(u.row, rs1, rs2);
  if (isa_writes_integer(u.row->format)) u.writes = 1u << isa_bits(word, 7, 5);
  if (u.row->access_bytes) {
    u.base = rs1;
    bool stores_base = u.row->cost == POP_COST_STORE && u.reads >> rs2 & 1 && rs2 == rs1;
    bool is_integer_store = isa_major(u.row->match) == 0x08;
    u.reads = is_integer_store ? 1u << rs2 : 0;
    if (stores_base && is_integer_store) u.reads |= 1u << rs1;
  }
  return u;
}

/* Behind it the next word is not reached, or not from here alone. */
static bool ends_line(const use *u)
{
  return !u->row || u->row->cost == POP_COST_BRANCH || u->row->cost == POP_COST_JUMP ||
         u->row->cost == POP_COST_TILE || u->row->cost == POP_COST_CSR;
}

/* The addition of a register to itself that may become a step; 0: it is none. */
static uint32_t stepped(const stepper *s, uint32_t i, const use *u)
{
  if (!u->row || u->row->op != OP_ADDI || s->marks[i] & RELOCATED || u->imm == 0) return 0;
  uint32_t rd = isa_bits(word_at(s, i), 7, 5);
  return rd == isa_bits(word_at(s, i), 15, 5) && rd != SP ? rd : 0;
}

/* Has the chip the access that steps its pointer so far? */
static bool can_step(const use *access, int32_t distance)
{
  int32_t bytes = access->row->access_bytes;
  if (access->row->cost == POP_COST_STORE && bytes < 4) return false;
  return distance % bytes == 0 && distance / bytes >= MIN_STEP && distance / bytes <= MAX_STEP;
}

/* Looks from an addition to one side for what it goes with. */
static bool look(stepper *s, uint32_t from, uint32_t r, int32_t distance, bool back)
{
  for (uint32_t i = from;;) {
    if (back ? s->marks[i] & JOIN || i == 0 : i + 1 == s->num_words || s->marks[i + 1] & JOIN)
      return false;
    i += back ? UINT32_MAX : 1;
    use u = use_at(s, i);
    if (u.base == r && !((u.reads | u.writes) >> r & 1)) {
      if (s->marks[i] & (HAS_STEP | RELOCATED) || !can_step(&u, distance)) continue;
      s->marks[i] |= HAS_STEP;
      return true;
    }
    bool counts = u.row && u.row->op == OP_BNE && u.reads == (1u << r | 1) && distance == -1;
    if (!back && counts) return true;
    if (ends_line(&u) || (u.reads | u.writes) >> r & 1) return false;
  }
}

static void step_section(stepper *s)
{
  for (uint32_t i = 0; i < s->num_words; ++i) {
    use u = use_at(s, i);
    uint32_t r = stepped(s, i, &u);
    if (!r || (!look(s, i, r, u.imm, true) && !look(s, i, r, u.imm, false))) continue;
    relocation_put32(s->code + 4 * i, isa_word(OP_STEP, r, r, 0, u.imm));
  }
}

static void mark_join(stepper *s, uint32_t place)
{
  if (place / 4 < s->num_words) s->marks[place / 4] |= JOIN;
}

static void mark_jumps(stepper *s)
{
  for (uint32_t i = 0; i < s->num_words; ++i) {
    use u = use_at(s, i);
    if (u.row && (u.row->format == FORMAT_B || u.row->format == FORMAT_J))
      mark_join(s, 4 * i + (uint32_t)u.imm);
    if (ends_line(&u)) mark_join(s, 4 * i + 4);
  }
}

static void mark_relocated(stepper *s, const object_section *section)
{
  const object_relocation *r = s->object->relocations + section->first_relocation;
  for (uint32_t i = 0; i < section->num_relocations; ++i)
    if (r[i].offset / 4 < s->num_words) s->marks[r[i].offset / 4] |= RELOCATED;
}

/* Functions, and what the object's sections point to; labels of debug information, which are there or not, are nothing of that. */
static void mark_pointed(stepper *s, uint32_t section)
{
  const pop_object *o = s->object;
  for (uint32_t i = 0; i < o->num_symbols; ++i) {
    const object_symbol *named = &o->symbols[i];
    bool label = named->bind == STB_LOCAL && named->type == STT_NOTYPE;
    if (named->place == PLACE_SECTION && named->section == section && !label)
      mark_join(s, named->value);
  }
  for (uint32_t i = 0; i < o->num_relocations; ++i) {
    const object_symbol *to = &o->symbols[o->relocations[i].symbol];
    if (to->place == PLACE_SECTION && to->section == section)
      mark_join(s, to->value + o->relocations[i].addend);
  }
}

pop_error *pop_object_make_steps(void *bytes, size_t size, const char *name)
{
  pop_object *object;
  POP_TRY(pop_object_parse(bytes, size, name, &object));
  for (uint32_t n = 0; n < object->num_sections; ++n) {
    const object_section *section = &object->sections[n];
    if (object_section_group(section) != POP_LINK_CODE || !section->data) continue;
    stepper s = {.object = object,
                 .code = (uint8_t *)bytes + (section->data - object->bytes),
                 .num_words = section->size / 4,
                 .marks = pop_xcalloc(section->size / 4 + 1, 1)};
    mark_jumps(&s);
    mark_relocated(&s, section);
    mark_pointed(&s, n);
    step_section(&s);
    free(s.marks);
  }
  pop_object_free(object);
  return NULL;
}
