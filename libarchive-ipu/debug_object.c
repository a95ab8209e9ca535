/* A copy of an object whose debug information a DWARF reader understands without relocating it.
 *
 * Debug information of a relocatable object is full of relocations: positions of strings, addresses
 * of functions, distances between lines of code (R_RISCV_ADD16, _SUB16). libdw leaves these to
 * libdwfl, which (0.188) does not know RISC-V's pairs and then finds no line at all. So the
 * linker's own table of relocations is used, and the copy says that it is relocated:
 *
 *   object (ET_REL)                        copy (ET_EXEC)
 *   .text.a, .text.b: all at address 0     each loaded section has addresses of its own
 *   .debug_line, …: with relocations       relocated
 *
 * The addresses are not those of any tile. Loaded sections follow one another from FIRST_ADDRESS
 * on, each aligned as it demands. A gap after each makes the end of one differ from the start of
 * the next. The zeros of common symbols come last. Thread-local sections start from 0, because
 * DWARF names a thread-local variable by its offset in a thread's block. Sections that are not
 * loaded are at 0: a reference into one is an offset in it. Loaded sections keep their bytes, as
 * nobody runs the copy.
 *
 * Source: System V ABI, "Object Files"; RISC-V ELF psABI, chapter "Relocations"; DWARF 5, 7.3.
 */
#include "debug_relocate.h"
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

static uint32_t value_of(const void *context, const object_relocation *entry)
{
  const debug_copy *copy = context;
  return symbol_value(copy, entry->symbol) + entry->addend;
}

static uint8_t *bytes_of(void *context, uint32_t section)
{
  const debug_copy *copy = context;
  return copy->bytes + (copy->object->sections[section].data - copy->object->bytes);
}

/* Runs after the relocations, as a damaged object's debug sections may overlap the headers. */
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

static pop_error *make_copy(debug_copy *copy)
{
  memcpy(copy->bytes, copy->object->bytes, copy->object->size);
  POP_TRY(lay_out(copy));
  POP_TRY(debug_relocate(copy->object, &(debug_copier){bytes_of, value_of, copy}));
  write_headers(copy);
  return NULL;
}

/* Compressed sections are refused: relocations apply to the uncompressed bytes, and libdw believes
 * the size that such a section states. ".zdebug_…" is an older form. */
const char *pop_object_compressed_debug(const pop_object *object)
{
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    const object_section *section = &object->sections[i];
    if (section->flags & SHF_COMPRESSED || !strncmp(section->name, ".zdebug", 7))
      return section->name;
  }
  return NULL;
}

pop_error *pop_object_debug_image(const pop_object *object, pop_bytes *elf)
{
  const char *compressed = pop_object_compressed_debug(object);
  if (compressed)
    return pop_error_new(POP_ERROR_FILE_LOAD, "debug information of %s: section %s is compressed",
                         object->name, compressed);
  debug_copy copy = {.object = object,
                     .num_headers = object_num_headers(object),
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
