/* Reading a tile image that anyone may have made: from bytes, or piece by piece from an archive.
 *
 *   ELF header -> section headers, names -> program headers -> memory, symbols if they are wanted
 *
 * Every piece is checked against the file's size in 64-bit arithmetic before it is used. Tables are
 * translated by libelf's xlate functions, which need no Elf handle. Nothing else in the file is
 * interpreted. From a member of an archive only these pieces are read. The result is then checked
 * against the rules for images (image_check.c) and against the target's tile memory.
 */
#include "image_internal.h"

#include <populus/arena.h>
#include <populus/file.h>

#include <inttypes.h>
#include <libelf.h>
#include <string.h>

/* Pieces of a file are read into our memory. The size of a file proves nothing, as it may have
 * holes. An image that is larger than this is not a tile's. */
#define MAX_PIECE_BYTES (UINT32_C(1) << 28)

typedef struct reader {
  const uint8_t *bytes;       /* the file; NULL: it is a member of the archive */
  const pop_archive *archive; /* its member `member` */
  size_t member;
  uint64_t size;
  pop_arena *arena;
  Elf32_Ehdr header;
  const Elf32_Shdr *sections; /* header.e_shnum of them */
  Elf32_Shdr memory; /* address, offset and size of the sections that hold the tile's memory */
  pop_image_section *memory_sections;
  size_t num_memory_sections;
  const Elf32_Shdr *segments, *details, *debug_link; /* NULL: there is none */
  pop_image_symbol *symbols;
} reader;

static pop_error *malformed(const char *format, ...) POP_PRINTF(1, 2);
static pop_error *malformed(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  return error;
}

/* Is [offset, offset + size) in the file? */
static pop_error *check_inside_file(const reader *reader, const char *what, uint64_t offset,
                                    uint64_t size)
{
  if (offset <= reader->size && size <= reader->size - offset) return NULL;
  return malformed("truncated: %s is at bytes %" PRIu64 " to %" PRIu64 ", but the file has %" PRIu64
                   " bytes",
                   what, offset, offset + size, reader->size);
}

/* Is it in the file, and small enough for our memory? */
static pop_error *check_piece(const reader *reader, const char *what, uint64_t offset,
                              uint64_t size)
{
  POP_TRY(check_inside_file(reader, what, offset, size));
  if (reader->bytes || size <= MAX_PIECE_BYTES) return NULL;
  return malformed("%s has %" PRIu64 " bytes, more than any tile's", what, size);
}

static pop_error *fetch(const reader *reader, const char *what, uint64_t offset, uint64_t size,
                        const uint8_t **piece)
{
  POP_TRY(check_piece(reader, what, offset, size));
  if (reader->bytes) {
    *piece = reader->bytes + offset;
    return NULL;
  }
  uint8_t *copy = pop_arena_alloc(reader->arena, (size_t)size);
  *piece = copy;
  return pop_archive_read_part(reader->archive, reader->member, offset, copy, (size_t)size);
}

/* Translates `bytes` bytes of the file, one or more ELF structs, to `to`. */
static pop_error *translate(const reader *reader, const char *what, uint32_t offset, size_t bytes,
                            Elf_Type type, void *to)
{
  const uint8_t *piece = NULL;
  POP_TRY(fetch(reader, what, offset, bytes, &piece));
  Elf_Data from = {
      .d_buf = (void *)piece, .d_type = type, .d_size = bytes, .d_version = EV_CURRENT};
  Elf_Data translated = from;
  translated.d_buf = to;
  if (bytes && !elf32_xlatetof(&translated, &from, ELFDATA2LSB))
    return malformed("%s: %s", what, elf_errmsg(-1));
  return NULL;
}

/* The same for a table of `count` entries, into the arena. The check comes first: a count that the
 * file does not hold must not cause an allocation. */
static pop_error *read_table(const reader *reader, const char *what, uint32_t offset,
                             uint32_t count, Elf_Type type, size_t entry_bytes, const void **table)
{
  size_t bytes = count * entry_bytes;
  POP_TRY(check_piece(reader, what, offset, bytes));
  void *copy = pop_arena_alloc(reader->arena, bytes);
  *table = copy;
  return translate(reader, what, offset, bytes, type, copy);
}

static pop_error *read_header(reader *reader)
{
  const uint8_t *ident = NULL;
  uint64_t ident_bytes = reader->size < EI_NIDENT ? reader->size : EI_NIDENT;
  POP_TRY(fetch(reader, "the ELF header", 0, ident_bytes, &ident));
  if (ident_bytes < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
    return malformed("this is %s, not an ELF file", pop_file_kind(ident, (size_t)ident_bytes));
  POP_TRY(translate(reader, "the ELF header", 0, sizeof(Elf32_Ehdr), ELF_T_EHDR, &reader->header));
  if (ident[EI_CLASS] != ELFCLASS32 || ident[EI_DATA] != ELFDATA2LSB)
    return malformed("a tile image is a 32-bit little-endian ELF file, this one is not (class %u, "
                     "data %u)",
                     ident[EI_CLASS], ident[EI_DATA]);
  const Elf32_Ehdr *h = &reader->header;
  if (ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
    return malformed("ELF version %" PRIu32 ", but there is only version %d", h->e_version,
                     EV_CURRENT);
  if (h->e_machine != EM_RISCV)
    return malformed("a tile image is for RISC-V (machine %d), this file is for machine %u",
                     EM_RISCV, h->e_machine);
  if (h->e_type != ET_EXEC)
    return malformed("a tile image is an executable (type %d), this file is of type %u", ET_EXEC,
                     h->e_type);
  if (h->e_phnum && h->e_phentsize != sizeof(Elf32_Phdr))
    return malformed("program headers of %u bytes, but they have %zu", h->e_phentsize,
                     sizeof(Elf32_Phdr));
  if (!h->e_shnum || h->e_shentsize != sizeof(Elf32_Shdr))
    return malformed("%u section headers of %u bytes: there must be some, of %zu bytes", h->e_shnum,
                     h->e_shentsize, sizeof(Elf32_Shdr));
  return NULL;
}

/* The content of string table `index`. It ends in NUL, so that a name that starts inside
 * also ends inside. */
static pop_error *string_table(const reader *reader, uint32_t index, const char **strings,
                               uint32_t *size)
{
  if (index >= reader->header.e_shnum)
    return malformed("there is no section %" PRIu32 " for names", index);
  const Elf32_Shdr *section = &reader->sections[index];
  if (section->sh_type != SHT_STRTAB)
    return malformed("section %" PRIu32 " should be a string table", index);
  const uint8_t *piece = NULL;
  POP_TRY(fetch(reader, "a string table", section->sh_offset, section->sh_size, &piece));
  *strings = (const char *)piece;
  *size = section->sh_size;
  if (!*size || (*strings)[*size - 1])
    return malformed("string table %" PRIu32 " does not end in NUL", index);
  return NULL;
}

/* Sections of memory follow each other, in the file as in the tile. */
static pop_error *take_memory(reader *reader, const Elf32_Shdr *section, const char *name)
{
  uint8_t kind;
  Elf32_Shdr *memory = &reader->memory;
  if (!image_section_kind(name, &kind))
    return malformed("section '%s' takes memory of the tile: in a tile image only .text does, or "
                     "sections that say what it is used for",
                     name);
  if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_ALLOC))
    return malformed("the section %s holds no memory of the tile", name);
  POP_TRY(check_inside_file(reader, name, section->sh_offset, section->sh_size));
  uint64_t address_end = (uint64_t)memory->sh_addr + memory->sh_size;
  uint64_t offset_end = (uint64_t)memory->sh_offset + memory->sh_size;
  if (!reader->num_memory_sections)
    *memory = *section;
  else if (section->sh_addr == address_end && section->sh_offset == offset_end &&
           section->sh_size <= UINT32_MAX - memory->sh_size)
    memory->sh_size += section->sh_size;
  else
    return malformed("the section %s at 0x%" PRIx32
                     " does not follow the memory before it, which ends at 0x%" PRIx64,
                     name, section->sh_addr, address_end);
  reader->memory_sections[reader->num_memory_sections++] =
      (pop_image_section){section->sh_addr, section->sh_size, kind};
  return NULL;
}

static pop_error *note_section(reader *reader, uint32_t index, const char *name)
{
  const Elf32_Shdr *section = &reader->sections[index];
  if (strcmp(name, ".text") == 0 || ((section->sh_flags & SHF_ALLOC) && section->sh_size))
    return take_memory(reader, section, name);
  if (section->sh_type != SHT_PROGBITS || (section->sh_flags & SHF_ALLOC)) return NULL;
  const Elf32_Shdr **ours = strcmp(name, IMAGE_SEGMENTS_SECTION) == 0     ? &reader->segments
                            : strcmp(name, IMAGE_DETAILS_SECTION) == 0    ? &reader->details
                            : strcmp(name, IMAGE_DEBUG_LINK_SECTION) == 0 ? &reader->debug_link
                                                                          : NULL;
  if (!ours) return NULL;
  POP_TRY(check_inside_file(reader, name, section->sh_offset, section->sh_size));
  *ours = section;
  return NULL;
}

static pop_error *read_sections(reader *reader)
{
  const void *table = NULL;
  POP_TRY(read_table(reader, "the table of section headers", reader->header.e_shoff,
                     reader->header.e_shnum, ELF_T_SHDR, sizeof(Elf32_Shdr), &table));
  reader->sections = table;
  reader->memory_sections =
      pop_arena_alloc(reader->arena, reader->header.e_shnum * sizeof *reader->memory_sections);
  const char *names = NULL;
  uint32_t names_size = 0;
  POP_TRY(string_table(reader, reader->header.e_shstrndx, &names, &names_size));
  for (uint32_t i = 1; i < reader->header.e_shnum; i++) {
    if (reader->sections[i].sh_name >= names_size)
      return malformed("the name of section %" PRIu32 " is outside of the table of names", i);
    POP_TRY(note_section(reader, i, names + reader->sections[i].sh_name));
  }
  if (!reader->num_memory_sections) return malformed("there is no section .text");
  return NULL;
}

/* The name of a target whose tile memory starts at `base`, or NULL. */
static const char *target_with_base(uint32_t base)
{
  for (const char *const *name = pop_target_names(); *name; name++) {
    pop_target target;
    pop_error *error = pop_target_create(*name, 1, &target);
    if (!error && target.memory_base == base) return *name;
    pop_error_free(error);
  }
  return NULL;
}

static pop_error *check_target(const pop_image *image, const pop_target *target, bool *overflowed)
{
  *overflowed = (uint64_t)image->base + image->size > pop_target_memory_end(target);
  if (image->base == target->memory_base) return NULL;
  const char *other = target_with_base(image->base);
  return malformed("its memory starts at 0x%" PRIx32 " as %s's does, but the tile memory of target "
                   "%s starts at 0x%" PRIx32,
                   image->base, other ? other : "no known target", target->name,
                   target->memory_base);
}

static pop_error *check_program_header(const reader *reader, const Elf32_Phdr *header)
{
  if (header->p_filesz != header->p_memsz)
    return malformed("the segment at 0x%" PRIx32 " has %" PRIu32 " bytes in the file and %" PRIu32
                     " in memory: a tile image holds all of its memory",
                     header->p_vaddr, header->p_filesz, header->p_memsz);
  const Elf32_Shdr *text = &reader->memory;
  if (header->p_vaddr != text->sh_addr || header->p_memsz != text->sh_size ||
      header->p_offset != text->sh_offset)
    return malformed("the segment at 0x%" PRIx32 " is not .text", header->p_vaddr);
  return NULL;
}

static pop_error *check_program_headers(const reader *reader)
{
  uint32_t count = reader->header.e_phnum, loaded = 0;
  const void *table = NULL;
  POP_TRY(read_table(reader, "the table of program headers", reader->header.e_phoff, count,
                     ELF_T_PHDR, sizeof(Elf32_Phdr), &table));
  const Elf32_Phdr *headers = table;
  for (uint32_t i = 0; i < count; i++) {
    if (headers[i].p_type != PT_LOAD) continue;
    POP_TRY(check_program_header(reader, &headers[i]));
    loaded++;
  }
  return loaded == 1 ? NULL : malformed("%" PRIu32 " segments are loaded, not one", loaded);
}

static uint32_t get_word(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static pop_error *read_segments(const reader *reader, pop_image *image)
{
  if (!reader->segments)
    return malformed("there is no section " IMAGE_SEGMENTS_SECTION ", which says what is code");
  uint32_t bytes = reader->segments->sh_size;
  if (bytes % IMAGE_SEGMENT_BYTES)
    return malformed(IMAGE_SEGMENTS_SECTION " has %" PRIu32 " bytes, not a multiple of %d", bytes,
                     IMAGE_SEGMENT_BYTES);
  const uint8_t *record = NULL;
  POP_TRY(fetch(reader, IMAGE_SEGMENTS_SECTION, reader->segments->sh_offset, bytes, &record));
  size_t count = bytes / IMAGE_SEGMENT_BYTES;
  pop_image_segment *segments = pop_arena_alloc(reader->arena, count * sizeof *segments);
  for (size_t i = 0; i < count; i++, record += IMAGE_SEGMENT_BYTES) {
    uint32_t flags = get_word(record + 8);
    segments[i] = (pop_image_segment){.start = get_word(record),
                                      .size = get_word(record + 4),
                                      .writable = flags & PF_W,
                                      .executable = flags & PF_X,
                                      .states = flags & IMAGE_SEGMENT_STATES};
  }
  image->segments = segments;
  image->num_segments = count;
  return NULL;
}

/* "$x" or "$d", possibly followed by more ("$xrv32i…", "$d.7"). */
static bool is_mapping(const Elf32_Sym *symbol, const char *name)
{
  return ELF32_ST_TYPE(symbol->st_info) == STT_NOTYPE && name[0] == '$' &&
         (name[1] == 'x' || name[1] == 'd');
}

/* A symbol without a section is one that has a part in each of several. */
static bool is_in_memory(const reader *reader, uint16_t section)
{
  if (section == SHN_ABS) return reader->num_memory_sections > 1;
  if (section >= reader->header.e_shnum) return false;
  return reader->sections[section].sh_flags & SHF_ALLOC;
}

/* The arrays have room for every symbol of the file. Symbols of other types (files, sections) and
 * of other sections do not concern tile memory and are skipped. */
static void take_symbol(const reader *reader, const Elf32_Sym *symbol, const char *name,
                        pop_image_symbol *symbols, pop_image_mapping *mappings, pop_image *image)
{
  unsigned type = ELF32_ST_TYPE(symbol->st_info);
  if (!is_in_memory(reader, symbol->st_shndx)) return;
  if (is_mapping(symbol, name)) {
    mappings[image->num_mappings++] =
        (pop_image_mapping){.address = symbol->st_value, .code = name[1] == 'x'};
  } else if (type == STT_FUNC || type == STT_OBJECT) {
    symbols[image->num_symbols++] = (pop_image_symbol){
        .name = name,
        .address = symbol->st_value,
        .size = symbol->st_size,
        .kind = type == STT_FUNC ? POP_SYMBOL_FUNCTION : POP_SYMBOL_OBJECT,
        .local = ELF32_ST_BIND(symbol->st_info) == STB_LOCAL,
    };
  }
}

static pop_error *read_symbol_table(reader *reader, const Elf32_Shdr *section, pop_image *image)
{
  if (section->sh_entsize != sizeof(Elf32_Sym) || section->sh_size % sizeof(Elf32_Sym))
    return malformed("the symbol table is not made of entries of %zu bytes", sizeof(Elf32_Sym));
  uint32_t count = section->sh_size / (uint32_t)sizeof(Elf32_Sym);
  const char *names = NULL;
  uint32_t names_size = 0;
  const void *table = NULL;
  POP_TRY(string_table(reader, section->sh_link, &names, &names_size));
  POP_TRY(read_table(reader, "the symbol table", section->sh_offset, count, ELF_T_SYM,
                     sizeof(Elf32_Sym), &table));
  const Elf32_Sym *entries = table;
  pop_image_symbol *symbols = pop_arena_alloc(reader->arena, count * sizeof *symbols);
  pop_image_mapping *mappings = pop_arena_alloc(reader->arena, count * sizeof *mappings);
  reader->symbols = symbols;
  image->symbols = symbols;
  image->mappings = mappings;
  for (uint32_t i = 1; i < count; i++) {
    if (entries[i].st_name >= names_size)
      return malformed("the name of symbol %" PRIu32 " is outside of the table of names", i);
    take_symbol(reader, &entries[i], names + entries[i].st_name, symbols, mappings, image);
  }
  return NULL;
}

static pop_error *read_symbols(reader *reader, pop_image *image)
{
  bool found = false;
  for (uint32_t i = 1; i < reader->header.e_shnum; i++) {
    if (reader->sections[i].sh_type != SHT_SYMTAB) continue;
    if (found) return malformed("there are two symbol tables");
    found = true;
    POP_TRY(read_symbol_table(reader, &reader->sections[i], image));
  }
  if (!found || !reader->details) return NULL;
  const uint8_t *details = NULL;
  uint32_t bytes = reader->details->sh_size;
  POP_TRY(fetch(reader, IMAGE_DETAILS_SECTION, reader->details->sh_offset, bytes, &details));
  return image_read_details(details, bytes, reader->symbols, image);
}

/* An image runs without its debug information, too. So a link that makes no sense is ignored. */
static pop_error *read_debug_link(const reader *reader, pop_image *image)
{
  if (!reader->debug_link) return NULL;
  const uint8_t *link = NULL;
  uint32_t bytes = reader->debug_link->sh_size;
  POP_TRY(fetch(reader, IMAGE_DEBUG_LINK_SECTION, reader->debug_link->sh_offset, bytes, &link));
  const uint8_t *end = bytes ? memchr(link, '\0', bytes) : NULL;
  if (!end || end == link) return NULL;
  uint64_t crc = ((uint64_t)(end - link) / 4 + 1) * 4;
  if (crc + sizeof(uint32_t) > bytes) return NULL;
  image->debug_file = (const char *)link;
  image->debug_crc = get_word(link + crc);
  return NULL;
}

static pop_error *read_image(reader *reader, unsigned parts, const pop_target *target,
                             pop_image *image, bool *overflowed)
{
  POP_TRY(read_header(reader));
  POP_TRY(read_sections(reader));
  *image = (pop_image){
      .base = reader->memory.sh_addr,
      .size = reader->memory.sh_size,
      .sections = reader->memory_sections,
      .num_sections = reader->num_memory_sections > 1 ? reader->num_memory_sections : 0,
      .entry = reader->header.e_entry,
  };
  POP_TRY(check_target(image, target, overflowed));
  POP_TRY(check_program_headers(reader));
  POP_TRY(read_segments(reader, image));
  if (parts & POP_IMAGE_MEMORY)
    POP_TRY(fetch(reader, ".text", reader->memory.sh_offset, image->size, &image->bytes));
  if (parts & POP_IMAGE_SYMBOLS) POP_TRY(read_symbols(reader, image));
  if (parts & POP_IMAGE_DEBUG_LINK) POP_TRY(read_debug_link(reader, image));
  return image_verify(image, POP_ERROR_FILE_LOAD);
}

pop_error *pop_image_read(const uint8_t *bytes, size_t size, const char *name,
                          const pop_target *target, pop_arena *arena, pop_image *image,
                          bool *overflowed)
{
  reader reader = {.bytes = bytes, .size = size, .arena = arena};
  return pop_error_prefix(read_image(&reader, POP_IMAGE_ALL, target, image, overflowed), "'%s'",
                          name);
}

pop_error *pop_image_read_member(const pop_archive *archive, size_t member, unsigned parts,
                                 const pop_target *target, pop_arena *arena, pop_image *image,
                                 bool *overflowed)
{
  const pop_archive_member *found = pop_archive_get_member(archive, member);
  reader reader = {.archive = archive, .member = member, .size = found->size, .arena = arena};
  return pop_error_prefix(read_image(&reader, parts, target, image, overflowed), "'%s(%s)'",
                          pop_archive_name(archive), found->name);
}
