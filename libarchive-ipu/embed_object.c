/* An object for the host's linker with an archive in it.
 *
 *   ELF header | .rodata | .data.rel.ro | .rela.data.rel.ro | .symtab | .strtab | .shstrtab |
 *   section headers
 *
 *   .data.rel.ro: address of the archive (a relocation), its size
 *
 * Code refers to the two constants and never to the archive itself, so the distance to the archive
 * does not matter. On x86-64 a large archive goes to the large data (SHF_X86_64_LARGE, behind
 * everything else). It would otherwise push the program's other sections out of each other's reach.
 * The empty section .note.GNU-stack says that nothing here wants an executable stack.
 */
#include "embed_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define ABSOLUTE R_X86_64_64
#define LARGE_SECTION ".lrodata"
#define LARGE_FLAG SHF_X86_64_LARGE
#define MAX_ARCHIVE_BYTES INT64_MAX
#ifndef SHF_X86_64_LARGE
#define SHF_X86_64_LARGE 0x10000000
#endif
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define ABSOLUTE R_AARCH64_ABS64
#define LARGE_SECTION ".rodata"
#define LARGE_FLAG 0
#define MAX_ARCHIVE_BYTES ((int64_t)1 << 31) /* code reaches 4 GiB, and has to reach across it */
#else
#error "name the host's processor and its relocation here"
#endif

/* So a program's own code and data have at least 3/4 of the range that code reaches. */
#define LARGE_BYTES ((uint64_t)512 << 20)

enum { ARCHIVE = 1, DATA, RELOCATIONS, SYMBOLS, STRINGS, STACK, NAMES, NUM_SECTIONS };
enum { SYMBOL_ARCHIVE = 1, SYMBOL_POINTER, SYMBOL_SIZE, NUM_SYMBOLS };

static const char *const section_names[NUM_SECTIONS] = {
    [ARCHIVE] = ".rodata", [DATA] = ".data.rel.ro", [RELOCATIONS] = ".rela.data.rel.ro",
    [SYMBOLS] = ".symtab", [STRINGS] = ".strtab",   [STACK] = ".note.GNU-stack",
    [NAMES] = ".shstrtab"};

typedef struct object {
  Elf64_Shdr sections[NUM_SECTIONS];
  uint64_t data[2];
  Elf64_Rela relocation;
  Elf64_Sym symbols[NUM_SYMBOLS];
  pop_bytes strings, names;
} object;

static uint32_t add_text(pop_bytes *table, const char *text)
{
  uint32_t at = (uint32_t)table->size;
  pop_bytes_append(table, text, strlen(text) + 1);
  return at;
}

static void add_symbols(object *o, const char *symbol)
{
  char *size_symbol = pop_xasprintf("%s_size", symbol);
  add_text(&o->strings, "");
  o->symbols[SYMBOL_ARCHIVE] =
      (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = ARCHIVE};
  o->symbols[SYMBOL_POINTER] = (Elf64_Sym){.st_name = add_text(&o->strings, symbol),
                                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                           .st_shndx = DATA,
                                           .st_size = sizeof o->data[0]};
  o->symbols[SYMBOL_SIZE] = (Elf64_Sym){.st_name = add_text(&o->strings, size_symbol),
                                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                        .st_shndx = DATA,
                                        .st_value = sizeof o->data[0],
                                        .st_size = sizeof o->data[1]};
  free(size_symbol);
}

/* Everything but the offsets, which follow in order from sizes and alignments. */
static void describe(object *o, uint64_t archive_bytes, const char *symbol)
{
  bool large = archive_bytes > LARGE_BYTES;
  add_symbols(o, symbol);
  add_text(&o->names, "");
  for (int i = 1; i < NUM_SECTIONS; i++) {
    const char *name = i == ARCHIVE && large ? LARGE_SECTION : section_names[i];
    o->sections[i].sh_name = add_text(&o->names, name);
    o->sections[i].sh_type = SHT_PROGBITS;
    o->sections[i].sh_addralign = 1;
  }
  Elf64_Shdr *s = o->sections;
  s[ARCHIVE].sh_flags = SHF_ALLOC | (large ? LARGE_FLAG : 0);
  s[ARCHIVE].sh_size = archive_bytes;
  s[ARCHIVE].sh_addralign = EMBED_ARCHIVE_ALIGN;
  s[DATA].sh_flags = SHF_ALLOC | SHF_WRITE;
  s[DATA].sh_size = sizeof o->data;
  s[RELOCATIONS].sh_type = SHT_RELA;
  s[RELOCATIONS].sh_flags = SHF_INFO_LINK;
  s[RELOCATIONS].sh_size = s[RELOCATIONS].sh_entsize = sizeof o->relocation;
  s[RELOCATIONS].sh_link = SYMBOLS;
  s[RELOCATIONS].sh_info = DATA;
  s[SYMBOLS].sh_type = SHT_SYMTAB;
  s[SYMBOLS].sh_size = sizeof o->symbols;
  s[SYMBOLS].sh_entsize = sizeof *o->symbols;
  s[SYMBOLS].sh_link = STRINGS;
  s[SYMBOLS].sh_info = SYMBOL_POINTER; /* the first that is not local */
  s[DATA].sh_addralign = s[RELOCATIONS].sh_addralign = s[SYMBOLS].sh_addralign = 8;
  s[STRINGS].sh_type = s[NAMES].sh_type = SHT_STRTAB;
  s[STRINGS].sh_size = o->strings.size;
  s[NAMES].sh_size = o->names.size;
  o->data[1] = archive_bytes;
  o->relocation = (Elf64_Rela){.r_info = ELF64_R_INFO(SYMBOL_ARCHIVE, ABSOLUTE)};
}

static uint64_t align_up(uint64_t value, uint64_t align)
{
  return (value + align - 1) / align * align;
}

/* Returns where the section headers start. */
static uint64_t place(object *o)
{
  uint64_t at = sizeof(Elf64_Ehdr);
  for (int i = 1; i < NUM_SECTIONS; i++) {
    o->sections[i].sh_offset = at = align_up(at, o->sections[i].sh_addralign);
    at += o->sections[i].sh_size;
  }
  return align_up(at, sizeof(uint64_t));
}

static pop_error *write_section(const object *o, int number, const void *bytes, pop_output *output)
{
  const Elf64_Shdr *section = &o->sections[number];
  POP_TRY(embed_align(output, section->sh_addralign));
  return pop_output_write(output, bytes, section->sh_size);
}

static pop_error *write_object(const object *o, uint64_t headers, const char *archive,
                               pop_output *output)
{
  uint64_t size = 0;
  const Elf64_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_REL,
      .e_machine = MACHINE,
      .e_version = EV_CURRENT,
      .e_shoff = headers,
      .e_ehsize = sizeof header,
      .e_shentsize = sizeof *o->sections,
      .e_shnum = NUM_SECTIONS,
      .e_shstrndx = NAMES,
  };
  POP_TRY(pop_output_write(output, &header, sizeof header));
  POP_TRY(embed_align(output, EMBED_ARCHIVE_ALIGN));
  POP_TRY(embed_archive(archive, output, &size));
  if (size != o->sections[ARCHIVE].sh_size)
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' has changed while it was read", archive);
  POP_TRY(write_section(o, DATA, o->data, output));
  POP_TRY(write_section(o, RELOCATIONS, &o->relocation, output));
  POP_TRY(write_section(o, SYMBOLS, o->symbols, output));
  POP_TRY(write_section(o, STRINGS, o->strings.data, output));
  POP_TRY(write_section(o, NAMES, o->names.data, output));
  POP_TRY(embed_align(output, sizeof(uint64_t)));
  return pop_output_write(output, o->sections, sizeof o->sections);
}

static pop_error *write_output(const object *o, uint64_t headers, const char *archive,
                               const char *path)
{
  pop_output *output;
  POP_TRY(pop_output_open(path, &output));
  pop_error *error = write_object(o, headers, archive, output);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

pop_error *pop_embed_in_object(const char *archive, const char *symbol, const char *output)
{
  struct stat status;
  if (stat(archive, &status) != 0) return pop_error_errno(errno, "cannot read '%s'", archive);
  if (status.st_size > MAX_ARCHIVE_BYTES)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' is too large for an object: code on this host does not reach across "
                         "it; link it into a program (--link without -c)",
                         archive);
  object o = {0};
  describe(&o, (uint64_t)status.st_size, symbol);
  pop_error *error = write_output(&o, place(&o), archive, output);
  pop_bytes_free(&o.strings);
  pop_bytes_free(&o.names);
  return error;
}
