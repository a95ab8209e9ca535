/* Copies live sections into tile memory and fills in the addresses. See live_sections.h;
 * relocation.c has the table of types and writes the fields.
 *
 * Most relocations compute S + A or S + A - P, check the value and encode it. The others:
 *
 *   R_RISCV_PCREL_LO12_*   The symbol is not the target but the label of the auipc that holds the
 *                          upper part; the value is that of the relocation at the label, found by
 *                          binary search, as relocations are sorted by offset.
 *
 *       .L1: auipc a0, %pcrel_hi(x)            x - .L1, upper part
 *            lw    a0, %pcrel_lo(.L1)(a0)      x - .L1, lower part
 *
 *   R_RISCV_GOT_HI20,      Clang addresses an `extern _Thread_local` variable (errno) through a
 *   R_RISCV_TLS_GOT_HI20   table of addresses even in static code. A tile has no such table: the
 *                          value is known now, so that the load is turned into the sum itself.
 *
 *       .L1: auipc a0, %tls_ie_pcrel_hi(errno)       lui  a0, %tprel_hi(errno)
 *            lw    a1, %pcrel_lo(.L1)(a0)            addi a1, a0, %tprel_lo(errno)
 *
 *   R_RISCV_SET_ULEB128,   A pair at one offset: the difference of two symbols, in as many bytes
 *   R_RISCV_SUB_ULEB128    as the assembler left for it.
 */
#include "live_sections.h"
#include <string.h>

/* One relocation at work. */
typedef struct site {
  const pop_live_sections *live;
  const pop_link_addresses *addresses;
  const live_section *place;
  uint32_t object; /* of the set, that owns the section */
  const object_section *section;
  const object_relocation *entry;
  uint8_t *bytes; /* the section's, in tile memory */
} site;

static uint32_t site_address(const site *site)
{
  return site->addresses->start[site->place->group] + site->place->offset + site->entry->offset;
}

static pop_error *explain(const site *site, pop_error *error)
{
  const pop_link_set *set = site->live->set;
  const pop_object *object = set->objects[site->object].object;
  const char *target = link_set_resolve(set, site->object, site->entry->symbol).name;
  return pop_error_prefix(error, "relocation %s against %s in %s, section %s, offset 0x%x",
                          site->entry->type->name, *target ? target : "a section", object->name,
                          site->section->name, site->entry->offset);
}

/* S + A: an address, or an offset from the thread pointer. */
static pop_error *symbol_value(const site *site, bool thread_offset, uint32_t *value)
{
  link_target target = link_set_resolve(site->live->set, site->object, site->entry->symbol);
  *value = target.value + site->entry->addend;
  if (target.kind != TARGET_SECTION) return NULL;
  pop_link_group group = POP_LINK_GROUP_COUNT;
  (void)live_sections_resolve(site->live, &target, site->entry->addend, &group, value);
  if ((group == POP_LINK_TLS) != thread_offset) {
    return pop_error_new(POP_ERROR_LINK, "the symbol is %sthread-local, the instruction is %s",
                         group == POP_LINK_TLS ? "" : "not ",
                         thread_offset ? "for thread-local ones" : "not for those");
  }
  *value += thread_offset ? 0 : site->addresses->start[group];
  return NULL;
}

/* Entry of this site's section at `offset` that has the upper part; NULL if there is none. */
static const object_relocation *find_high(const site *site, uint32_t offset)
{
  const object_relocation *entries =
      site->live->set->objects[site->object].object->relocations + site->section->first_relocation;
  uint32_t low = 0, high = site->section->num_relocations;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (entries[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < site->section->num_relocations && entries[low].offset == offset &&
               entries[low].type->high;
  return found ? &entries[low] : NULL;
}

static pop_error *computed_value(const site *site, uint32_t *value)
{
  relocation_value kind = site->entry->type->value;
  POP_TRY(symbol_value(site, kind == VALUE_THREAD_OFFSET, value));
  if (kind == VALUE_DISTANCE) *value -= site_address(site);
  return NULL;
}

/* Does `value` fit a field of `bits` bits for multiples of 4? */
static bool fits(uint32_t value, unsigned bits)
{
  int32_t limit = 1 << (bits - 1);
  return (int32_t)value >= -limit && (int32_t)value < limit && value % 4 == 0;
}

#define OPCODE_AUIPC 0x17u
#define OPCODE_LUI 0x37u
#define OPCODE_LW 0x2003u /* with funct3 */
#define OPCODE_ADDI 0x13u
#define OPCODE_MASK 0x7fu
#define OPCODE_FUNCT3_MASK 0x707fu

static pop_error *replace_opcode(const site *site, uint32_t mask, uint32_t from, uint32_t to)
{
  uint8_t *place = site->bytes + site->entry->offset;
  uint32_t instruction = relocation_get32(place);
  if ((instruction & mask) != from) {
    return pop_error_new(POP_ERROR_LINK, "expected %s here, found instruction 0x%08x",
                         from == OPCODE_LW ? "lw" : "auipc", instruction);
  }
  relocation_put32(place, (instruction & ~mask) | to);
  return NULL;
}

static pop_error *apply_computed(const site *site)
{
  const relocation_type *type = site->entry->type;
  uint32_t value;
  POP_TRY(computed_value(site, &value));
  if (type->bits && !fits(value, type->bits)) {
    return pop_error_new(POP_ERROR_LINK,
                         "distance %d does not fit: it must be a multiple of 4 from %d to %d",
                         (int32_t)value, -(1 << (type->bits - 1)), (1 << (type->bits - 1)) - 4);
  }
  if (type->got) POP_TRY(replace_opcode(site, OPCODE_MASK, OPCODE_AUIPC, OPCODE_LUI));
  type->encode(site->bytes + site->entry->offset, value);
  return NULL;
}

static pop_error *apply_low(const site *at)
{
  link_target label = link_set_resolve(at->live->set, at->object, at->entry->symbol);
  site upper = *at;
  upper.entry = NULL;
  if (label.kind == TARGET_SECTION && label.section == at->place->section)
    upper.entry = find_high(at, label.value);
  if (!upper.entry)
    return pop_error_new(POP_ERROR_LINK, "there is no R_RISCV_PCREL_HI20 at this label");
  uint32_t value;
  POP_TRY(computed_value(&upper, &value));
  if (upper.entry->type->got)
    POP_TRY(replace_opcode(at, OPCODE_FUNCT3_MASK, OPCODE_LW, OPCODE_ADDI));
  at->entry->type->encode(at->bytes + at->entry->offset, value);
  return NULL;
}

static pop_error *apply_uleb_difference(const site *at)
{
  site minuend = *at;
  const object_relocation *entries =
      at->live->set->objects[at->object].object->relocations + at->section->first_relocation;
  if (at->entry == entries || at->entry[-1].type->value != VALUE_ULEB_MINUEND ||
      at->entry[-1].offset != at->entry->offset)
    return pop_error_new(POP_ERROR_LINK, "there is no R_RISCV_SET_ULEB128 in front of it");
  --minuend.entry;
  uint32_t left, right;
  POP_TRY(symbol_value(&minuend, false, &left));
  POP_TRY(symbol_value(at, false, &right));
  if (!relocation_put_uleb128(at->bytes + at->entry->offset, at->bytes + at->section->size,
                              left - right))
    return pop_error_new(POP_ERROR_LINK, "difference %u needs more bytes than it has",
                         left - right);
  return NULL;
}

static pop_error *apply(const site *site)
{
  switch (site->entry->type->value) {
  case VALUE_NONE:
  case VALUE_ULEB_MINUEND:
    return NULL;
  case VALUE_ADDRESS:
  case VALUE_DISTANCE:
  case VALUE_THREAD_OFFSET:
    return apply_computed(site);
  case VALUE_OF_HIGH:
    return apply_low(site);
  case VALUE_ULEB_DIFFERENCE:
    return apply_uleb_difference(site);
  }
  return NULL;
}

static pop_error *relocate_section(const pop_live_sections *live,
                                   const pop_link_addresses *addresses, const live_section *place,
                                   uint8_t *group_bytes)
{
  site site = {.live = live,
               .addresses = addresses,
               .place = place,
               .object = live->set->section_owners[place->section],
               .section = link_set_section(live->set, place->section),
               .bytes = group_bytes + place->offset};
  if (!site.section->data || site.section->size == 0)
    return NULL; /* the group's memory is zero already */
  if (live_sections_is_cut(live, place->section)) return NULL; /* its pieces come later */
  memcpy(site.bytes, site.section->data, site.section->size);
  site.entry = live->set->objects[site.object].object->relocations + site.section->first_relocation;
  const object_relocation *end = site.entry + site.section->num_relocations;
  for (; site.entry < end; ++site.entry) {
    pop_error *error = apply(&site);
    if (error) return explain(&site, error);
  }
  return NULL;
}

static pop_error *check_placement(const pop_live_sections *live,
                                  const pop_link_addresses *addresses, pop_link_group group,
                                  uint32_t memory_address, uint32_t memory_bytes)
{
  static const char *const names[] = {"code", "read-only data", "data", "thread-local data"};
  uint32_t start = addresses->start[group], bytes = live->bytes[group];
  if (start % live->align[group]) {
    return pop_error_new(POP_ERROR_LINK, "%s at 0x%x is not aligned to %u", names[group], start,
                         live->align[group]);
  }
  if (start < memory_address || start - memory_address > memory_bytes ||
      bytes > memory_bytes - (start - memory_address)) {
    return pop_error_new(POP_ERROR_LINK, "%s (%u bytes at 0x%x) is outside memory 0x%x to 0x%llx",
                         names[group], bytes, start, memory_address,
                         (unsigned long long)memory_address + memory_bytes);
  }
  return NULL;
}

pop_error *pop_live_sections_relocate(const pop_live_sections *live,
                                      const pop_link_addresses *addresses, uint8_t *memory,
                                      uint32_t memory_address, uint32_t memory_bytes,
                                      uint8_t *tls_image)
{
  for (int i = 0; i < POP_LINK_GROUP_COUNT; ++i) {
    pop_link_group group = (pop_link_group)i;
    if (live->bytes[group] == 0) continue;
    uint8_t *bytes = tls_image;
    if (group != POP_LINK_TLS) {
      POP_TRY(check_placement(live, addresses, group, memory_address, memory_bytes));
      bytes = memory + (addresses->start[group] - memory_address);
    }
    memset(bytes, 0, live->bytes[group]);
    for (uint32_t at = live->first[group]; at < live->first[group + 1]; ++at)
      POP_TRY(relocate_section(live, addresses, &live->sections[at], bytes));
    if (group == POP_LINK_RODATA) live_sections_write_pieces(live, bytes);
  }
  return NULL;
}
