/* The effect of instructions on registers, and the places where control can enter code
 * (object_code.h). */
#include "object_code.h"

#include <elf.h>
#include <populus/arena.h>
#include <string.h>

enum { OP_FP = 0x14, MADD = 0x10, OP_P = 0x1d, LOAD_FP = 0x01, STORE_FP = 0x09, STORE = 0x08 };

/* Operands that are integer registers. Of the float instructions only conversions have one. */
static uint32_t integers_read(const isa_row *row, uint32_t rs1, uint32_t rs2)
{
  uint32_t major = isa_major(row->match), first = 1u << rs1, second = 1u << rs2;
  if (major == OP_FP) return isa_reads_integer(row) ? first : 0;
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

static uint32_t floats_read(const isa_row *row, uint32_t word)
{
  uint32_t major = isa_major(row->match), first = 1u << isa_bits(word, 15, 5),
           second = 1u << isa_bits(word, 20, 5), third = 1u << isa_bits(word, 27, 5);
  if (major == STORE_FP) return second;
  if (major >= MADD && major < OP_FP) return first | second | third;
  if ((major != OP_FP && major != OP_P) || isa_reads_integer(row)) return 0;
  return isa_bits(row->mask, 20, 5) ? first : first | second;
}

code_use code_use_at(const object_code *c, uint32_t i)
{
  uint32_t word = code_word(c, i), rs1 = isa_bits(word, 15, 5), rs2 = isa_bits(word, 20, 5);
  code_use u = {.row = isa_find(word)};
  if (!u.row) return u;
  u.imm = isa_immediate(word, u.row->format);
  u.reads = integers_read(u.row, rs1, rs2);
  u.float_reads = floats_read(u.row, word);
  if (isa_writes_integer(u.row->format)) u.writes = 1u << isa_bits(word, 7, 5);
  if (isa_writes_float(u.row->format)) u.float_writes = 1u << isa_bits(word, 7, 5);
  if (u.row->access_bytes) {
    u.base = rs1;
    u.reads = isa_major(u.row->match) == STORE ? 1u << rs2 : 0;
  }
  return u;
}

bool code_ends_line(const code_use *u)
{
  return !u->row || isa_ends_block(u->row->cost);
}

static void mark_join(object_code *c, uint32_t place)
{
  if (place / 4 < c->num_words) c->marks[place / 4] |= CODE_JOIN;
}

static void mark_jumps(object_code *c)
{
  for (uint32_t i = 0; i < c->num_words; ++i) {
    code_use u = code_use_at(c, i);
    if (u.row && (u.row->format == FORMAT_B || u.row->format == FORMAT_J))
      mark_join(c, 4 * i + (uint32_t)u.imm);
    if (code_ends_line(&u)) mark_join(c, 4 * i + 4);
  }
}

static void mark_relocated(object_code *c, const object_section *section)
{
  const object_relocation *r = c->object->relocations + section->first_relocation;
  for (uint32_t i = 0; i < section->num_relocations; ++i)
    if (r[i].offset / 4 < c->num_words) c->marks[r[i].offset / 4] |= CODE_RELOCATED;
}

static bool changes_rounding(const object_code *c)
{
  for (uint32_t i = 0; i < c->num_words; ++i) {
    uint32_t word = code_word(c, i);
    const isa_row *row = isa_find(word);
    if (!row || row->cost != POP_COST_CSR) continue;
    uint32_t number = isa_bits(word, 20, 12);
    bool reads = row->op != OP_CSRRW && row->op != OP_CSRRWI && isa_bits(word, 15, 5) == 0;
    if (!reads && (number == CSR_FRM || number == CSR_FCSR)) return true;
  }
  return false;
}

static bool calls_what_changes_rounding(const pop_object *o)
{
  static const char *const functions[] = {"fesetround", "fesetenv", "feupdateenv"};
  for (uint32_t i = 0; i < o->num_symbols; ++i)
    for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f)
      if (!strcmp(o->symbols[i].name, functions[f])) return true;
  return false;
}

static object_code code_of(const pop_object *o, const object_section *section, void *bytes)
{
  return (object_code){.words = (uint8_t *)bytes + (section->data - o->bytes),
                       .num_words = section->size / 4};
}

static bool is_code(const object_section *section)
{
  return object_section_group(section) == POP_LINK_CODE && section->data;
}

/* Does anything in the object change frm? */
static bool object_changes_rounding(const pop_object *o, void *bytes)
{
  if (calls_what_changes_rounding(o)) return true;
  for (uint32_t n = 0; n < o->num_sections; ++n) {
    if (!is_code(&o->sections[n])) continue;
    object_code c = code_of(o, &o->sections[n], bytes);
    if (changes_rounding(&c)) return true;
  }
  return false;
}

/* The code of all sections; without words where a section is none. */
static object_code *all_code(pop_object *o, void *bytes)
{
  object_code *all = pop_xcalloc(o->num_sections, sizeof *all);
  bool changes = object_changes_rounding(o, bytes);
  for (uint32_t n = 0; n < o->num_sections; ++n) {
    if (!is_code(&o->sections[n])) continue;
    all[n] = code_of(o, &o->sections[n], bytes);
    all[n].object = o;
    all[n].marks = pop_xcalloc(all[n].num_words + 1, 1);
    all[n].changes_rounding = changes;
  }
  return all;
}

/* Marks functions and places to which the object's sections point. Labels of debug information do
 * not count, as code must not depend on whether they exist. */
static void mark_pointed(object_code *all, const pop_object *o)
{
  for (uint32_t i = 0; i < o->num_symbols; ++i) {
    const object_symbol *named = &o->symbols[i];
    bool label = named->bind == STB_LOCAL && named->type == STT_NOTYPE;
    if (named->place == PLACE_SECTION && !label) mark_join(&all[named->section], named->value);
  }
  for (uint32_t i = 0; i < o->num_relocations; ++i) {
    const object_symbol *to = &o->symbols[o->relocations[i].symbol];
    if (to->place == PLACE_SECTION)
      mark_join(&all[to->section], to->value + o->relocations[i].addend);
  }
}

pop_error *code_change(void *bytes, size_t size, const char *name, void (*change)(object_code *c))
{
  pop_object *object;
  POP_TRY(pop_object_parse(bytes, size, name, &object));
  object_code *all = all_code(object, bytes);
  mark_pointed(all, object);
  for (uint32_t n = 0; n < object->num_sections; ++n) {
    object_code *c = &all[n];
    if (!c->words) continue;
    mark_jumps(c);
    mark_relocated(c, &object->sections[n]);
    change(c);
    free(c->marks);
  }
  free(all);
  pop_object_free(object);
  return NULL;
}
