/* Reads a relocatable object: header and sections. object_tables.c reads the content of
 * the sections.
 *
 * The bytes may be anybody's, so nothing is used before it is checked. Three rules keep that
 * simple: sections lie inside the file (or are SHT_NOBITS with a size that a tile could have),
 * they do not overlap, and tables are decoded once into arrays whose size the file's size bounds.
 *
 * The structs are <elf.h>'s, copied out with memcpy. libelf would translate them, too. But every
 * message here names section and offset, and for a damaged table libelf returns a shortened or
 * empty one without saying what is wrong.
 *
 * Source: System V ABI, "Object Files"; RISC-V ELF psABI, "File Header" (e_flags).
 */
#include "object.h"
#include <populus/arena.h>
#include <populus/file.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "objects are read as they lie in memory");

#define WANTED "a tile object is a 32-bit little-endian RISC-V relocatable object"

static pop_error *check_identification(const pop_object *object)
{
  const uint8_t *e_ident = object->bytes;
  if (object->size < SELFMAG || memcmp(e_ident, ELFMAG, SELFMAG) != 0) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "is %s, not an ELF file; " WANTED,
                         pop_file_kind(e_ident, object->size));
  }
  if (object->size < sizeof(Elf32_Ehdr)) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "truncated at %u bytes, in the ELF header, which has %zu; " WANTED,
                         object->size, sizeof(Elf32_Ehdr));
  }
  if (e_ident[EI_CLASS] != ELFCLASS32) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "ELF class is %u (%s), not 1 (32-bit); " WANTED,
                         e_ident[EI_CLASS], e_ident[EI_CLASS] == ELFCLASS64 ? "64-bit" : "unknown");
  }
  if (e_ident[EI_DATA] != ELFDATA2LSB) {
    return pop_error_new(
        POP_ERROR_FILE_LOAD, "ELF byte order is %u (%s), not 1 (little-endian); " WANTED,
        e_ident[EI_DATA], e_ident[EI_DATA] == ELFDATA2MSB ? "big-endian" : "unknown");
  }
  if (e_ident[EI_VERSION] != EV_CURRENT)
    return pop_error_new(POP_ERROR_FILE_LOAD, "ELF version is %u, not 1", e_ident[EI_VERSION]);
  return NULL;
}

static pop_error *check_machine(const Elf32_Ehdr *header)
{
  if (header->e_machine != EM_RISCV) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "e_machine is %u, not %u (RISC-V); " WANTED,
                         header->e_machine, EM_RISCV);
  }
  if (header->e_type != ET_REL) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "e_type is %u, not %u (ET_REL); " WANTED,
                         header->e_type, ET_REL);
  }
  if (header->e_flags & EF_RISCV_RVC) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "holds compressed instructions (e_flags 0x%x, RVC); tiles have 4-byte "
                         "instructions only: compile with -march=rv32imf_zfh_zba_zbb",
                         header->e_flags);
  }
  static const char *const float_abis[] = {"soft", "single", "double", "quad"};
  unsigned float_abi = (header->e_flags & EF_RISCV_FLOAT_ABI) >> 1;
  if (header->e_flags & EF_RISCV_RVE || float_abi != EF_RISCV_FLOAT_ABI_SINGLE >> 1) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "e_flags 0x%x is the %s-float ABI%s; tiles use single-float (ilp32f): "
                         "compile with -mabi=ilp32f",
                         header->e_flags, float_abis[float_abi],
                         header->e_flags & EF_RISCV_RVE ? " with 16 registers (RVE)" : "");
  }
  return NULL;
}

static pop_error *check_inside(const pop_object *object, const char *what, uint64_t offset,
                               uint64_t size)
{
  if (offset <= object->size && size <= object->size - offset) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "%s (%llu bytes at offset %llu) ends behind the file, which is %u bytes: "
                       "truncated or damaged",
                       what, (unsigned long long)size, (unsigned long long)offset, object->size);
}

static Elf32_Ehdr raw_header(const pop_object *object)
{
  Elf32_Ehdr header;
  memcpy(&header, object->bytes, sizeof header);
  return header;
}

Elf32_Shdr object_raw_section(const pop_object *object, uint32_t index)
{
  Elf32_Shdr section;
  memcpy(&section, object->bytes + raw_header(object).e_shoff + (size_t)index * sizeof section,
         sizeof section);
  return section;
}

uint32_t object_num_headers(const pop_object *object)
{
  Elf32_Ehdr header = raw_header(object);
  return header.e_shnum ? header.e_shnum : object_raw_section(object, 0).sh_size;
}

pop_error *object_string(const pop_object *object, uint32_t table, uint32_t offset,
                         const char **string)
{
  if (table >= object->num_sections || object->sections[table].type != SHT_STRTAB) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "its name is in section %u, which %s", table,
                         table >= object->num_sections ? "does not exist"
                                                       : "is not a string table");
  }
  const object_section *strings = &object->sections[table];
  if (strings->size == 0 || strings->data[strings->size - 1] != '\0') {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "its name is in string table %u, which does not end with a NUL", table);
  }
  if (offset >= strings->size) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "its name is at offset %u of string table %u, which has %u bytes", offset,
                         table, strings->size);
  }
  *string = (const char *)strings->data + offset;
  return NULL;
}

pop_error *object_no_memory(const pop_object *object, size_t count)
{
  return pop_error_new(POP_ERROR_MEMORY, "no memory for %zu entries of %s", count, object->name);
}

pop_link_group object_section_group(const object_section *section)
{
  if (!(section->flags & SHF_ALLOC)) return POP_LINK_GROUP_COUNT;
  if (section->flags & SHF_TLS) return POP_LINK_TLS;
  if (section->flags & SHF_EXECINSTR) return POP_LINK_CODE;
  return section->flags & SHF_WRITE ? POP_LINK_DATA : POP_LINK_RODATA;
}

/* Rules for sections that go into tile memory. */
static pop_error *check_loaded(const object_section *section)
{
  if (section->flags & SHF_COMPRESSED)
    return pop_error_new(POP_ERROR_FILE_LOAD, "is compressed, and so cannot be loaded");
  if (section->size > OBJECT_SECTION_BYTES_MAX) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has %u bytes, more than any tile's memory",
                         section->size);
  }
  return NULL;
}

/* Also for sections that are not loaded: their alignments make gaps in a file of debug
 * information. */
static pop_error *check_alignment(const object_section *section)
{
  if (section->align & (section->align - 1)) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has alignment %u, which is not a power of two",
                         section->align);
  }
  if (section->align <= POP_LINK_ALIGN_MAX) return NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD, "wants alignment %u; tiles align to %u at most",
                       section->align, POP_LINK_ALIGN_MAX);
}

static pop_error *read_section(pop_object *object, uint32_t index)
{
  Elf32_Shdr raw = object_raw_section(object, index);
  object_section *section = &object->sections[index];
  section->group = OBJECT_NONE;
  if (raw.sh_type == SHT_NULL) return NULL; /* its other fields mean nothing */
  section->type = raw.sh_type;
  section->flags = raw.sh_flags;
  section->size = raw.sh_size;
  section->entry_bytes = raw.sh_entsize;
  section->align = raw.sh_addralign ? raw.sh_addralign : 1;
  POP_TRY(check_alignment(section));
  if (section->type != SHT_NOBITS) {
    POP_TRY(check_inside(object, "content", raw.sh_offset, raw.sh_size));
    section->data = object->bytes + raw.sh_offset;
  }
  return section->flags & SHF_ALLOC ? check_loaded(section) : NULL;
}

/* The number of sections, and the index of the table of their names. Large numbers are
 * in section 0. */
static pop_error *read_section_count(const pop_object *object, uint32_t *count, uint32_t *names)
{
  Elf32_Ehdr header = raw_header(object);
  *count = header.e_shnum;
  *names = header.e_shstrndx;
  if (header.e_shoff == 0) return pop_error_new(POP_ERROR_FILE_LOAD, "has no section headers");
  if (header.e_shentsize != sizeof(Elf32_Shdr)) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "e_shentsize is %u, not %zu", header.e_shentsize,
                         sizeof(Elf32_Shdr));
  }
  POP_TRY(check_inside(object, "section header 0", header.e_shoff, sizeof(Elf32_Shdr)));
  Elf32_Shdr first = object_raw_section(object, 0);
  if (*count == 0) *count = first.sh_size;
  if (*names == SHN_XINDEX) *names = first.sh_link;
  if (*count == 0) return pop_error_new(POP_ERROR_FILE_LOAD, "has no sections");
  return check_inside(object, "section header table", header.e_shoff,
                      (uint64_t)*count * sizeof(Elf32_Shdr));
}

static pop_error *read_sections(pop_object *object)
{
  uint32_t count, names;
  POP_TRY(read_section_count(object, &count, &names));
  POP_TRY(OBJECT_ALLOCATE(object, object->sections, count));
  object->num_sections = count;
  object->sections[0] = (object_section){.name = "", .group = OBJECT_NONE};
  for (uint32_t i = 1; i < count; ++i) {
    pop_error *error = read_section(object, i);
    if (error) return pop_error_prefix(error, "section %u", i);
  }
  for (uint32_t i = 1; i < count; ++i) {
    pop_error *error = object_string(object, names, object_raw_section(object, i).sh_name,
                                     &object->sections[i].name);
    if (error) return pop_error_prefix(error, "section %u", i);
  }
  return NULL;
}

static int compare_data(const void *left, const void *right)
{
  const object_section *a = *(const object_section *const *)left;
  const object_section *b = *(const object_section *const *)right;
  return a->data != b->data ? (a->data > b->data) - (a->data < b->data)
                            : (a->size > b->size) - (a->size < b->size);
}

/* Refuses overlaps. Otherwise one table of n bytes that n headers share would be
 * decoded n times. */
static pop_error *check_overlap(const pop_object *object)
{
  const object_section **sorted;
  POP_TRY(OBJECT_ALLOCATE(object, sorted, object->num_sections));
  size_t count = 0;
  for (uint32_t i = 0; i < object->num_sections; ++i) {
    if (object->sections[i].data && object->sections[i].size > 0)
      sorted[count++] = &object->sections[i];
  }
  qsort(sorted, count, sizeof *sorted, compare_data);
  pop_error *error = NULL;
  for (size_t i = 1; i < count && !error; ++i) {
    const object_section *before = sorted[i - 1], *after = sorted[i];
    if ((size_t)(after->data - before->data) < before->size) {
      error = pop_error_new(POP_ERROR_FILE_LOAD, "sections %s and %s overlap at offset %zu",
                            before->name, after->name, (size_t)(after->data - object->bytes));
    }
  }
  free(sorted);
  return error;
}

static pop_error *parse(pop_object *object, const void *bytes, size_t size)
{
  if (size > UINT32_MAX)
    return pop_error_new(POP_ERROR_FILE_LOAD, "has %zu bytes, more than a 32-bit ELF file can",
                         size);
  POP_TRY(OBJECT_ALLOCATE(object, object->bytes, size));
  if (size) memcpy(object->bytes, bytes, size);
  object->size = (uint32_t)size;
  POP_TRY(check_identification(object));
  Elf32_Ehdr header = raw_header(object);
  POP_TRY(check_machine(&header));
  POP_TRY(read_sections(object));
  POP_TRY(check_overlap(object));
  POP_TRY(object_read_tables(object));
  return object_read_pieces(object);
}

pop_error *pop_object_parse(const void *bytes, size_t size, const char *name, pop_object **object)
{
  pop_object *parsed = pop_xcalloc(1, sizeof *parsed);
  parsed->name = pop_xstrdup(name);
  parsed->constructors = OBJECT_NONE;
  pop_error *error = parse(parsed, bytes, size);
  if (error) {
    pop_object_free(parsed);
    return pop_error_prefix(error, "%s", name);
  }
  *object = parsed;
  return NULL;
}

void pop_object_free(pop_object *object)
{
  if (!object) return;
  free(object->name);
  free(object->bytes);
  free(object->sections);
  free(object->symbols);
  free(object->relocations);
  free(object->groups);
  free(object->pieces);
  free(object->by_place);
  free(object);
}

const void *pop_object_bytes(const pop_object *object, size_t *size)
{
  *size = object->size;
  return object->bytes;
}

const char *pop_object_name(const pop_object *object)
{
  return object->name;
}

const void *pop_object_section(const pop_object *object, const char *name, size_t *size)
{
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    const object_section *section = &object->sections[i];
    if (section->data && strcmp(section->name, name) == 0) {
      *size = section->size;
      return section->data;
    }
  }
  return NULL;
}

uint32_t pop_object_same_section(const pop_object *object, uint32_t section,
                                 const pop_object *other)
{
  const object_section *wanted = &object->sections[section];
  for (uint32_t i = 1; wanted->data && i < other->num_sections; ++i) {
    const object_section *found = &other->sections[i];
    if (found->data && found->size == wanted->size && !strcmp(found->name, wanted->name) &&
        !memcmp(found->data, wanted->data, wanted->size))
      return i;
  }
  return 0;
}

void pop_object_symbols(const pop_object *object,
                        void (*visit)(void *context, const char *name, bool defined, bool weak),
                        void *context)
{
  for (uint32_t i = 1; i < object->num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[i];
    if (symbol->bind != STB_LOCAL)
      visit(context, symbol->name, symbol->place != PLACE_UNDEFINED, symbol->bind == STB_WEAK);
  }
}
