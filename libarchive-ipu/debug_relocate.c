/* Applies the relocations of a debug section. The tables are decoded each time: a parsed object
 * keeps only the relocations of loaded sections, as the debug information of most objects is never
 * used. relocate.c explains the types.
 *
 * Source: RISC-V ELF psABI, chapter "Relocations". */
#include "debug_relocate.h"
#include <string.h>

typedef struct debug_target {
  const object_section *section;
  uint8_t *bytes; /* of the copy */
  const debug_copier *copier;
} debug_target;

static uint32_t value_of(const debug_target *target, const object_relocation *entry)
{
  return target->copier->value(target->copier->context, entry);
}

bool debug_is_section(const object_section *section)
{
  return !(section->flags & SHF_ALLOC) && section->data &&
         strncmp(section->name, ".debug_", 7) == 0;
}

/* The difference of two symbols, as the number of bytes in a range: see relocate.c. */
static pop_error *apply_pair(const debug_target *target, const object_relocation *minuend,
                             const object_relocation *entry)
{
  if (!minuend->type || minuend->type->value != VALUE_ULEB_MINUEND ||
      minuend->offset != entry->offset)
    return pop_error_new(POP_ERROR_FILE_LOAD, "there is no R_RISCV_SET_ULEB128 in front of it");
  uint32_t difference = value_of(target, minuend) - value_of(target, entry);
  if (!relocation_put_uleb128(target->bytes + entry->offset, target->bytes + target->section->size,
                              difference))
    return pop_error_new(POP_ERROR_FILE_LOAD, "difference %u needs more bytes than it has",
                         difference);
  return NULL;
}

static pop_error *apply(const debug_target *target, const object_relocation *before,
                        const object_relocation *entry)
{
  switch (entry->type->value) {
  case VALUE_NONE:
  case VALUE_ULEB_MINUEND:
    return NULL;
  case VALUE_ADDRESS:
    entry->type->encode(target->bytes + entry->offset, value_of(target, entry));
    return NULL;
  case VALUE_ULEB_DIFFERENCE:
    return apply_pair(target, before, entry);
  default:
    return pop_error_new(POP_ERROR_FILE_LOAD, "it has no place in debug information");
  }
}

static pop_error *apply_table(const pop_object *object, const object_section *table,
                              const debug_target *target)
{
  if (target->section->flags & SHF_COMPRESSED)
    return pop_error_new(POP_ERROR_FILE_LOAD, "section %s is compressed", target->section->name);
  object_relocation before = {0}, entry;
  for (uint32_t i = 0; i < table->size / sizeof(Elf32_Rela); ++i, before = entry) {
    POP_TRY(object_read_relocation(object, table, i, target->section, &entry));
    pop_error *error = apply(target, &before, &entry);
    if (error) {
      return pop_error_prefix(error, "relocation %s of section %s at offset 0x%x", entry.type->name,
                              target->section->name, entry.offset);
    }
  }
  return NULL;
}

pop_error *debug_relocate(const pop_object *object, const debug_copier *copier)
{
  uint32_t headers = object_num_headers(object);
  for (uint32_t i = 1; i < headers; ++i) {
    if (object->sections[i].type != SHT_RELA) continue;
    uint32_t index = object_raw_section(object, i).sh_info;
    if (index >= headers || !debug_is_section(&object->sections[index])) continue;
    debug_target target = {&object->sections[index], copier->bytes(copier->context, index), copier};
    if (target.bytes) POP_TRY(apply_table(object, &object->sections[i], &target));
  }
  return NULL;
}
