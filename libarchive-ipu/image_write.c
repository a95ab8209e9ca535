/* Writing a tile image: an ELF32 file in one buffer.
 *
 *   ELF header | program headers | .text | .riscv.attributes | .populus.segments | .note.gnu.build-id |
 *   .populus.symbols | .symtab | .strtab | .shstrtab | .gnu_debuglink, if there is one |
 *   section headers
 *
 * The positions are known before the first byte is written. So the file is laid out once and filled
 * in place. libelf's structs give the form, and its translation gives the byte order. (Through an
 * Elf handle on a memory file the same image takes several system calls and a copy.)
 *
 * Who reads what:
 *   size -A            one row per section: `.text` must be the only one that matches grep ".text"
 *   objdump -d         takes sections with SHF_EXECINSTR; $x and $d tell code from data in them
 *   objdump, llvm-*    decode Zfh, Zba and Zbb only if .riscv.attributes names them
 *   readelf -n, file   the build id: a hash of the whole file with the id itself zero. It is not
 *                      loaded, as tile memory is .text and nothing else
 *   gdb, addr2line,    .gnu_debuglink: the name of a file beside the image, and its CRC-32
 *   llvm-symbolizer
 *   eu-elflint, ld     local symbols first; sh_info is the index of the first global one; `.text` has
 *                      ALLOC and EXECINSTR and nothing else
 *   GNU strip, objcopy take a section for lost that is not in one PT_LOAD as a whole, and then empty
 *                      all segments. So .text has one; which part of it is code and what may be
 *                      written is in a section, see image_internal.h
 *   llvm-strip         drops what is neither loaded nor in a segment: the build id has a PT_NOTE, and
 *                      .populus.segments shares the one of .riscv.attributes. It is no note, as
 *                      eu-elflint knows all notes that there are, and GNU strip leaves segments of
 *                      other types 0 bytes of memory, which eu-elflint takes from these two types only
 *
 * Instead of .text there may be several sections with the same bytes: image_sections.c. Properties
 * of symbols for which .symtab has no field are in .populus.symbols: image_details.c.
 *
 * Formats: gABI chapters 4 and 5; RISC-V ELF psABI, "Object files" (flags, attributes, $x and $d).
 */
#include "image_internal.h"

#include <populus/arena.h>

#include <assert.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The instruction set in canonical order, as clang 19 writes it for the target of popc. */
#define ARCH "rv32i2p1_m2p0_f2p2_zicsr2p0_zmmul1p0_zfh1p0_zfhmin1p0_zba1p0_zbb1p0"
#define STACK_ALIGN_BYTES 16

#define TEXT_ALIGN 16
#define PHDR_ALIGN 4 /* pages are not mapped: offsets must match addresses only modulo a word */

enum section {
  NONE,
  TEXT,
  ATTRIBUTES,
  SEGMENTS,
  BUILD_ID,
  DETAILS,
  SYMTAB,
  STRTAB,
  SHSTRTAB,
  DEBUG_LINK, /* last, as it may be missing */
  NUM_SECTIONS
};

static const char section_names[] = "\0.text\0.riscv.attributes\0" IMAGE_SEGMENTS_SECTION
                                    "\0.note.gnu.build-id\0" IMAGE_DETAILS_SECTION
                                    "\0.symtab\0.strtab\0.shstrtab\0" IMAGE_DEBUG_LINK_SECTION;
static const char symbol_name_start[] = "\0$x\0$d"; /* of .strtab; then the image's names */
#define TEXT_NAME 1
#define CODE_MAPPING_NAME 1
#define DATA_MAPPING_NAME 4

/* Attributes: format 'A', then one vendor's section with one subsection for the whole file. */
#define TAG_FILE 1
#define TAG_STACK_ALIGN 4
#define TAG_ARCH 5
#define FILE_ATTRIBUTES_BYTES (1 + 4 + 2 + 1 + sizeof ARCH)
#define VENDOR_BYTES (4 + sizeof "riscv" + FILE_ATTRIBUTES_BYTES)
#define ATTRIBUTES_BYTES (1 + VENDOR_BYTES)

#define BUILD_ID_BYTES sizeof(XXH128_canonical_t)
#define BUILD_ID_NOTE_BYTES (sizeof(Elf32_Nhdr) + sizeof ELF_NOTE_GNU + BUILD_ID_BYTES)

enum { NUM_PROGRAM_HEADERS = 3 };

typedef struct layout {
  uint32_t offset[NUM_SECTIONS], size[NUM_SECTIONS]; /* TEXT: all sections of memory */
  uint32_t num_sections;
  uint32_t more_sections; /* of memory than one: by so much the others' numbers are higher */
  uint32_t section_headers, total;
  uint32_t num_local_symbols; /* with the null symbol */
} layout;

static uint64_t align_up(uint64_t offset, uint64_t align)
{
  return (offset + align - 1) & ~(align - 1);
}

/* Sizes of the two tables of symbols; false if they pass 32 bits. */
static bool measure_symbols(const pop_image *image, layout *layout)
{
  uint64_t names = sizeof symbol_name_start;
  uint64_t locals = 1 + (uint64_t)image->num_mappings;
  for (size_t i = 0; i < image->num_symbols; i++) {
    names += strlen(image->symbols[i].name) + 1;
    locals += image->symbols[i].local;
  }
  uint64_t symbols = 1 + (uint64_t)image->num_mappings + image->num_symbols;
  if (symbols > UINT32_MAX / sizeof(Elf32_Sym) || names > UINT32_MAX ||
      !image_measure_details(image, &layout->size[DETAILS]))
    return false;
  layout->size[SYMTAB] = (uint32_t)(symbols * sizeof(Elf32_Sym));
  layout->size[STRTAB] = (uint32_t)names;
  layout->num_local_symbols = (uint32_t)locals;
  return true;
}

static uint64_t debug_link_bytes(const char *file_name)
{
  return align_up(strlen(file_name) + 1, 4) + sizeof(uint32_t);
}

static pop_error *lay_out(const pop_image *image, layout *layout)
{
  static const uint32_t aligns[NUM_SECTIONS] = {1, TEXT_ALIGN, 1, 4, 4, 4, 4, 1, 1, 4};
  if (image->num_segments >= UINT16_MAX)
    return pop_error_new(POP_ERROR_INTERNAL, "%zu segments are more than an image has room for",
                         image->num_segments);
  if (image->num_sections >= SHN_LORESERVE - NUM_SECTIONS)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "its memory has %zu parts, but there can be at most %d sections",
                         image->num_sections, SHN_LORESERVE - NUM_SECTIONS - 1);
  layout->more_sections = image_num_memory_sections(image) - 1;
  bool fits = measure_symbols(image, layout);
  layout->size[TEXT] = image->size;
  layout->size[ATTRIBUTES] = ATTRIBUTES_BYTES;
  layout->size[SEGMENTS] = (uint32_t)(image->num_segments * IMAGE_SEGMENT_BYTES);
  layout->size[BUILD_ID] = BUILD_ID_NOTE_BYTES;
  layout->size[SHSTRTAB] = (uint32_t)sizeof section_names + image_section_names_bytes(image);
  layout->num_sections = image->debug_file ? NUM_SECTIONS : DEBUG_LINK;
  if (image->debug_file) layout->size[DEBUG_LINK] = (uint32_t)debug_link_bytes(image->debug_file);
  uint64_t offset = sizeof(Elf32_Ehdr) + NUM_PROGRAM_HEADERS * sizeof(Elf32_Phdr);
  for (uint32_t i = TEXT; fits && i < layout->num_sections; i++) {
    offset = align_up(offset, aligns[i]);
    layout->offset[i] = (uint32_t)offset;
    offset += layout->size[i];
    fits = offset < UINT32_MAX - 4096;
  }
  layout->section_headers = (uint32_t)align_up(offset, 4);
  uint32_t num_headers = layout->num_sections + layout->more_sections;
  layout->total = layout->section_headers + num_headers * (uint32_t)sizeof(Elf32_Shdr);
  if (!fits) return pop_error_new(POP_ERROR_INTERNAL, "the file would be larger than 4 GiB");
  return NULL;
}

/* Converts a table of ELF structs in the buffer from the host's to the file's byte order. */
static void to_file_order(uint8_t *table, Elf_Type type, size_t bytes)
{
  Elf_Data data = {.d_buf = table, .d_type = type, .d_size = bytes, .d_version = EV_CURRENT};
  const Elf_Data *translated = elf32_xlatetom(&data, &data, ELFDATA2LSB);
  assert(translated); /* it only refuses wrong types and sizes */
  (void)translated;
}

static void put_header(const pop_image *image, const layout *layout, uint8_t *file)
{
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_EXEC,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_entry = image->entry,
      .e_phoff = sizeof header,
      .e_shoff = layout->section_headers,
      .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
      .e_ehsize = sizeof header,
      .e_phentsize = sizeof(Elf32_Phdr),
      .e_phnum = NUM_PROGRAM_HEADERS,
      .e_shentsize = sizeof(Elf32_Shdr),
      .e_shnum = (Elf32_Half)(layout->num_sections + layout->more_sections),
      .e_shstrndx = (Elf32_Half)(SHSTRTAB + layout->more_sections),
  };
  memcpy(file, &header, sizeof header);
  to_file_order(file, ELF_T_EHDR, sizeof header);
}

static void put_program_headers(const pop_image *image, const layout *layout, uint8_t *file)
{
  const Elf32_Phdr headers[NUM_PROGRAM_HEADERS] = {
      {.p_type = PT_LOAD,
       .p_offset = layout->offset[TEXT],
       .p_vaddr = image->base,
       .p_paddr = image->base,
       .p_filesz = image->size,
       .p_memsz = image->size,
       .p_flags = PF_R | PF_X, /* as the section's */
       .p_align = PHDR_ALIGN},
      {.p_type = PT_NOTE,
       .p_offset = layout->offset[BUILD_ID],
       .p_filesz = layout->size[BUILD_ID],
       .p_flags = PF_R,
       .p_align = PHDR_ALIGN},
      {.p_type = PT_RISCV_ATTRIBUTES,
       .p_offset = layout->offset[ATTRIBUTES],
       .p_filesz = layout->offset[SEGMENTS] + layout->size[SEGMENTS] - layout->offset[ATTRIBUTES],
       .p_flags = PF_R,
       .p_align = 1},
  };
  memcpy(file + sizeof(Elf32_Ehdr), headers, sizeof headers);
  to_file_order(file + sizeof(Elf32_Ehdr), ELF_T_PHDR, sizeof headers);
}

static uint8_t *put_word(uint8_t *out, uint32_t word)
{
  memcpy(out, &word, sizeof word);
  to_file_order(out, ELF_T_WORD, sizeof word);
  return out + sizeof word;
}

static void put_attributes(uint8_t *out)
{
  *out++ = 'A';
  out = put_word(out, VENDOR_BYTES);
  out = (uint8_t *)memcpy(out, "riscv", sizeof "riscv") + sizeof "riscv";
  *out++ = TAG_FILE;
  out = put_word(out, FILE_ATTRIBUTES_BYTES);
  *out++ = TAG_STACK_ALIGN;
  *out++ = STACK_ALIGN_BYTES;
  *out++ = TAG_ARCH;
  memcpy(out, ARCH, sizeof ARCH);
}

/* Positions of the next symbol and the next name. */
typedef struct symbol_tables {
  uint8_t *symbol;
  uint8_t *names;
  uint32_t name_offset;
} symbol_tables;

static void put_symbol(symbol_tables *tables, const Elf32_Sym *symbol)
{
  memcpy(tables->symbol, symbol, sizeof *symbol);
  tables->symbol += sizeof *symbol;
}

static void put_named_symbols(symbol_tables *tables, const pop_image *image, bool local)
{
  for (size_t i = 0; i < image->num_symbols; i++) {
    const pop_image_symbol *symbol = &image->symbols[i];
    if (symbol->local != local) continue;
    size_t name_bytes = strlen(symbol->name) + 1;
    memcpy(tables->names + tables->name_offset, symbol->name, name_bytes);
    put_symbol(tables, &(Elf32_Sym){
                           .st_name = tables->name_offset,
                           .st_value = symbol->address,
                           .st_size = symbol->size,
                           .st_info = ELF32_ST_INFO(local ? STB_LOCAL : STB_GLOBAL,
                                                    symbol->kind == POP_SYMBOL_OBJECT ? STT_OBJECT
                                                                                      : STT_FUNC),
                           .st_shndx = image_section_of(image, symbol->address, symbol->size),
                       });
    tables->name_offset += (uint32_t)name_bytes;
  }
}

static void put_symbols(const pop_image *image, const layout *layout, uint8_t *file)
{
  symbol_tables tables = {.symbol = file + layout->offset[SYMTAB],
                          .names = file + layout->offset[STRTAB],
                          .name_offset = sizeof symbol_name_start};
  memcpy(tables.names, symbol_name_start, sizeof symbol_name_start);
  put_symbol(&tables, &(Elf32_Sym){0});
  for (size_t i = 0; i < image->num_mappings; i++)
    put_symbol(&tables,
               &(Elf32_Sym){
                   .st_name = image->mappings[i].code ? CODE_MAPPING_NAME : DATA_MAPPING_NAME,
                   .st_value = image->mappings[i].address,
                   .st_info = ELF32_ST_INFO(STB_LOCAL, STT_NOTYPE),
                   .st_shndx = image_section_of(image, image->mappings[i].address, 0),
               });
  put_named_symbols(&tables, image, true);
  put_named_symbols(&tables, image, false);
  to_file_order(file + layout->offset[SYMTAB], ELF_T_SYM, layout->size[SYMTAB]);
}

static void put_segments(const pop_image *image, uint8_t *out)
{
  for (size_t i = 0; i < image->num_segments; i++) {
    const pop_image_segment *segment = &image->segments[i];
    out = put_word(out, segment->start);
    out = put_word(out, segment->size);
    out = put_word(out, PF_R | (segment->writable ? PF_W : 0) | (segment->executable ? PF_X : 0) |
                            (segment->states ? IMAGE_SEGMENT_STATES : 0));
  }
}

static void put_debug_link(const pop_image *image, uint8_t *section)
{
  memcpy(section, image->debug_file, strlen(image->debug_file) + 1);
  put_word(section + debug_link_bytes(image->debug_file) - sizeof(uint32_t), image->debug_crc);
}

/* Comes last: it is a hash of everything else. */
static void put_build_id(const layout *layout, uint8_t *file)
{
  uint8_t *note = file + layout->offset[BUILD_ID];
  note = put_word(note, sizeof ELF_NOTE_GNU);
  note = put_word(note, BUILD_ID_BYTES);
  note = put_word(note, NT_GNU_BUILD_ID);
  note = (uint8_t *)memcpy(note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) + sizeof ELF_NOTE_GNU;
  XXH128_canonical_t id;
  XXH128_canonicalFromHash(&id, XXH3_128bits(file, layout->total));
  memcpy(note, &id, sizeof id);
}

static void put_section_headers(const pop_image *image, const layout *layout, uint8_t *file)
{
  Elf32_Shdr headers[NUM_SECTIONS] = {
      [ATTRIBUTES] = {.sh_type = SHT_RISCV_ATTRIBUTES, .sh_addralign = 1},
      [SEGMENTS] = {.sh_type = SHT_PROGBITS, .sh_addralign = 4},
      [BUILD_ID] = {.sh_type = SHT_NOTE, .sh_addralign = 4},
      [DETAILS] = {.sh_type = SHT_PROGBITS, .sh_addralign = 4},
      [SYMTAB] = {.sh_type = SHT_SYMTAB,
                  .sh_link = STRTAB + layout->more_sections,
                  .sh_info = layout->num_local_symbols,
                  .sh_addralign = 4,
                  .sh_entsize = sizeof(Elf32_Sym)},
      [STRTAB] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
      [SHSTRTAB] = {.sh_type = SHT_STRTAB, .sh_addralign = 1},
      [DEBUG_LINK] = {.sh_type = SHT_PROGBITS, .sh_addralign = 4},
  };
  uint32_t name = 0; /* of the section, in section_names: they are in the order of the enum */
  for (uint32_t i = NONE; i < layout->num_sections; i++) {
    headers[i].sh_name = name;
    headers[i].sh_offset = layout->offset[i];
    headers[i].sh_size = layout->size[i];
    name += (uint32_t)strlen(section_names + name) + 1;
  }
  uint32_t num_memory = 1 + layout->more_sections, num_others = layout->num_sections - ATTRIBUTES;
  Elf32_Shdr *table = pop_xcalloc(TEXT + num_memory + num_others, sizeof *table);
  size_t bytes = (TEXT + num_memory + num_others) * sizeof *table;
  image_put_memory_headers(image, layout->offset[TEXT],
                           image->num_sections ? sizeof section_names : TEXT_NAME, table + TEXT);
  memcpy(table + TEXT + num_memory, headers + ATTRIBUTES, num_others * sizeof *table);
  memcpy(file + layout->section_headers, table, bytes);
  to_file_order(file + layout->section_headers, ELF_T_SHDR, bytes);
  free(table);
}

static pop_error *write_image(const pop_image *image, pop_bytes *out)
{
  POP_TRY(image_verify(image, POP_ERROR_INTERNAL));
  layout layout = {0};
  POP_TRY(lay_out(image, &layout));
  if (!pop_bytes_try_reserve(out, layout.total))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for its %" PRIu32 " bytes", layout.total);

  uint8_t *file = out->data + out->size;
  uint32_t behind_text = layout.offset[TEXT] + layout.size[TEXT];
  memset(file, 0, layout.offset[TEXT]);
  memset(file + behind_text, 0, layout.total - behind_text);
  put_header(image, &layout, file);
  put_program_headers(image, &layout, file);
  if (image->size) memcpy(file + layout.offset[TEXT], image->bytes, image->size);
  put_attributes(file + layout.offset[ATTRIBUTES]);
  put_segments(image, file + layout.offset[SEGMENTS]);
  image_put_details(image, file + layout.offset[DETAILS]);
  put_symbols(image, &layout, file);
  if (image->debug_file) put_debug_link(image, file + layout.offset[DEBUG_LINK]);
  memcpy(file + layout.offset[SHSTRTAB], section_names, sizeof section_names);
  image_put_section_names(image, (char *)file + layout.offset[SHSTRTAB] + sizeof section_names);
  put_section_headers(image, &layout, file);
  put_build_id(&layout, file);
  out->size += layout.total;
  return NULL;
}

pop_error *pop_image_write(const pop_image *image, pop_bytes *out)
{
  return pop_error_prefix(write_image(image, out), "cannot write the image of tile %" PRIu32,
                          image->tile);
}
