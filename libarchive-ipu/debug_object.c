/* A copy of an object whose debug information a DWARF reader understands as it is.
 *
 * Debug information of a relocatable object is full of relocations: where its strings are, what
 * address a function has, how far one line of code is from the next (R_RISCV_ADD16, _SUB16). libdw
 * leaves those to libdwfl, which (0.188) does not know RISC-V's pairs and then finds no line at
 * all. So the linker's own table of relocations is used, and the copy says that it is done:
 *
 *   object (ET_REL)                        copy (ET_EXEC)
 *   .text.a, .text.b: all at address 0     each loaded section has addresses of its own
 *   .debug_line, …: with relocations       relocated
 *
 * The addresses are those of no tile: loaded sections follow one another from FIRST_ADDRESS on,
 * aligned as they ask for, with a gap behind each, so that the end of one is not the start of the
 * next; the zeros of common symbols come last. Thread-local sections do so from 0 on, because DWARF
 * names what is in them by its offset in a thread's block. Sections that are not loaded are at 0: a
 * reference into one is an offset in it. What is loaded keeps its bytes: nobody runs the copy.
 *
 * Source: System V ABI, "Object Files"; RISC-V ELF psABI, chapter "Relocations"; DWARF 5, 7.3.
 */
#include "object.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* Not 0: readers of DWARF take code at 0 for code that a linker has removed. */
#define FIRST_ADDRESS 0x1000u
#define GAP_BYTES 4u

typedef struct debug_copy {
  const pop_object *object;
  uint32_t num_headers; /* sections in the file: without those made for common symbols */
  uint32_t *addresses;  /* by section of the object */
  uint8_t *bytes;       /* the copy, as long as the object */
} debug_copy;

static bool is_loaded(const object_section *section)
{
  return section->flags & SHF_ALLOC;
}

static bool is_debug(const object_section *section)
{
  return !is_loaded(section) && section->data && strncmp(section->name, ".debug_", 7) == 0;
}

static pop_error *lay_out(const debug_copy *copy)
{
  uint64_t end = FIRST_ADDRESS, thread_end = 0;
  for (uint32_t i = 0; i < copy->object->num_sections; ++i) {
    const object_section *section = &copy->object->sections[i];
    if (!is_loaded(section)) continue;
    uint64_t *behind = section->flags & SHF_TLS ? &thread_end : &end;
    uint64_t start = (*behind + section->align - 1) & ~(uint64_t)(section->align - 1);
    *behind = start + section->size + GAP_BYTES;
    if (*behind > UINT32_MAX) {
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "the sections up to %s end at 0x%llx, behind 32-bit addresses",
                           section->name, (unsigned long long)*behind);
    }
    copy->addresses[i] = (uint32_t)start;
  }
  return NULL;
}

static uint32_t symbol_value(const debug_copy *copy, uint32_t index)
{
  if (index == 0) return 0; /* "no symbol" */
  const object_symbol *symbol = &copy->object->symbols[index];
  if (symbol->place == PLACE_UNDEFINED) return 0;
  return symbol->value + (symbol->place == PLACE_SECTION ? copy->addresses[symbol->section] : 0);
}

static uint32_t value_of(const debug_copy *copy, const object_relocation *entry)
{
  return symbol_value(copy, entry->symbol) + entry->addend;
}

/* The difference of two symbols, as the number of bytes in a range: see relocate.c. */
static pop_error *apply_pair(const debug_copy *copy, const object_section *target,
                             const object_relocation *minuend, const object_relocation *entry)
{
  if (!minuend->type || minuend->type->value != VALUE_ULEB_MINUEND ||
      minuend->offset != entry->offset)
    return pop_error_new(POP_ERROR_FILE_LOAD, "there is no R_RISCV_SET_ULEB128 in front of it");
  uint8_t *bytes = copy->bytes + (target->data - copy->object->bytes);
  uint32_t difference = value_of(copy, minuend) - value_of(copy, entry);
  if (!relocation_put_uleb128(bytes + entry->offset, bytes + target->size, difference))
    return pop_error_new(POP_ERROR_FILE_LOAD, "difference %u needs more bytes than it has",
                         difference);
  return NULL;
}

static pop_error *apply(const debug_copy *copy, const object_section *target,
                        const object_relocation *before, const object_relocation *entry)
{
  uint8_t *place = copy->bytes + (target->data - copy->object->bytes) + entry->offset;
  switch (entry->type->value) {
  case VALUE_NONE:
  case VALUE_ULEB_MINUEND:
    return NULL;
  case VALUE_ADDRESS:
    entry->type->encode(place, value_of(copy, entry));
    return NULL;
  case VALUE_ULEB_DIFFERENCE:
    return apply_pair(copy, target, before, entry);
  default:
    return pop_error_new(POP_ERROR_FILE_LOAD, "it has no place in debug information");
  }
}

/* Applies the entries of the SHT_RELA section `table` to the debug section `target`. */
static pop_error *apply_table(const debug_copy *copy, const object_section *table,
                              const object_section *target)
{
  if (target->flags & SHF_COMPRESSED)
    return pop_error_new(POP_ERROR_FILE_LOAD, "section %s is compressed", target->name);
  object_relocation before = {0}, entry;
  for (uint32_t i = 0; i < table->size / sizeof(Elf32_Rela); ++i, before = entry) {
    POP_TRY(object_read_relocation(copy->object, table, i, target, &entry));
    pop_error *error = apply(copy, target, &before, &entry);
    if (error) {
      return pop_error_prefix(error, "relocation %s of section %s at offset 0x%x", entry.type->name,
                              target->name, entry.offset);
    }
  }
  return NULL;
}

static pop_error *apply_relocations(const debug_copy *copy)
{
  for (uint32_t i = 1; i < copy->num_headers; ++i) {
    if (copy->object->sections[i].type != SHT_RELA) continue;
    uint32_t target = object_raw_section(copy->object, i).sh_info;
    if (target < copy->num_headers && is_debug(&copy->object->sections[target]))
      POP_TRY(apply_table(copy, &copy->object->sections[i], &copy->object->sections[target]));
  }
  return NULL;
}

/* After the relocations, as a damaged object's debug sections may overlap the headers. */
static void write_headers(const debug_copy *copy)
{
  Elf32_Ehdr header;
  memcpy(&header, copy->object->bytes, sizeof header);
  for (uint32_t i = 0; i < copy->num_headers; ++i) {
    Elf32_Shdr section = object_raw_section(copy->object, i);
    if (is_loaded(&copy->object->sections[i])) section.sh_addr = copy->addresses[i];
    memcpy(copy->bytes + header.e_shoff + (size_t)i * sizeof section, &section, sizeof section);
  }
  header.e_type = ET_EXEC;
  memcpy(copy->bytes, &header, sizeof header);
}

static uint32_t count_headers(const pop_object *object)
{
  Elf32_Ehdr header;
  memcpy(&header, object->bytes, sizeof header);
  return header.e_shnum ? header.e_shnum : object_raw_section(object, 0).sh_size;
}

static pop_error *make_copy(debug_copy *copy)
{
  memcpy(copy->bytes, copy->object->bytes, copy->object->size);
  POP_TRY(lay_out(copy));
  POP_TRY(apply_relocations(copy));
  write_headers(copy);
  return NULL;
}

pop_error *pop_object_debug_image(const pop_object *object, pop_bytes *elf)
{
  debug_copy copy = {.object = object,
                     .num_headers = count_headers(object),
                     .addresses = calloc(object->num_sections, sizeof *copy.addresses)};
  if (!copy.addresses || !pop_bytes_try_reserve(elf, object->size)) {
    free(copy.addresses);
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the debug information of %s",
                         object->name);
  }
  copy.bytes = elf->data + elf->size;
  pop_error *error = make_copy(&copy);
  free(copy.addresses);
  if (error) return pop_error_prefix(error, "debug information of %s", object->name);
  elf->size += object->size;
  return NULL;
}
