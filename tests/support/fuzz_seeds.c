/* fuzz_seeds archive|image FOLDER, fuzz_seeds link FOLDER OBJECT, fuzz_seeds metadata FOLDER
 * METADATA.elf: writes the first inputs of a fuzz target. These are one or two sound ones, and each
 * of the wrong statements that a header can make about them: cut short, outside of the file,
 * overlapping, naming itself, past 32 bits. See tests/fuzz/seeds.sh.
 */
#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <populus/image.h>

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static pop_error *save(const char *name, const void *bytes, size_t size)
{
  char *path = pop_xasprintf("%s/%s", folder, name);
  pop_output *output;
  pop_error *error = pop_output_open(path, &output);
  free(path);
  if (error) return error;
  error = pop_output_write(output, bytes, size);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

/* ---- ELF files ---- */

/* A field of a header, and its wrong value. The section is found by its name; NULL: the ELF header.
 * With SELF the value is the number of the section itself. */
typedef struct lie {
  const char *name, *section;
  size_t offset, bytes;
  uint32_t value;
} lie;
#define SELF 0xabad1deaU
#define FILE_FIELD(field) NULL, offsetof(Elf32_Ehdr, field), sizeof(((Elf32_Ehdr *)0)->field)
#define SECTION_FIELD(section, field)                                                              \
  section, offsetof(Elf32_Shdr, field), sizeof(((Elf32_Shdr *)0)->field)

/* The header of the section, and its number; NULL if there is none. */
static uint8_t *find_section(uint8_t *bytes, const char *name, uint32_t *number)
{
  Elf32_Ehdr *header = (Elf32_Ehdr *)(void *)bytes;
  Elf32_Shdr *sections = (Elf32_Shdr *)(void *)(bytes + header->e_shoff);
  const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
  for (*number = 1; *number < header->e_shnum; ++*number)
    if (strcmp(names + sections[*number].sh_name, name) == 0) return (uint8_t *)&sections[*number];
  return NULL;
}

static pop_error *save_lie(const lie *told, const uint8_t *sound, size_t size, const char *suffix)
{
  uint8_t *copy = pop_xmalloc(size);
  memcpy(copy, sound, size);
  uint32_t number = 0;
  uint8_t *at = told->section ? find_section(copy, told->section, &number) : copy;
  pop_error *error = NULL;
  if (at) {
    uint32_t value = told->value == SELF ? number : told->value;
    memcpy(at + told->offset, &value, told->bytes); /* little-endian, as the file */
    char *name = pop_xasprintf("%s%s", told->name, suffix);
    error = save(name, copy, size);
    free(name);
  } else {
    error = pop_error_new(POP_ERROR_INTERNAL, "%s: no section %s", told->name, told->section);
  }
  free(copy);
  return error;
}

static pop_error *save_elf(const char *name, const lie *lies, size_t num_lies, const uint8_t *sound,
                           size_t size, const char *suffix)
{
  char *sound_name = pop_xasprintf("%s%s", name, suffix);
  char *cut_name = pop_xasprintf("cut%s", suffix);
  pop_error *error = save(sound_name, sound, size);
  if (!error) error = save(cut_name, sound, size * 3 / 4);
  for (size_t i = 0; i < num_lies && !error; ++i) error = save_lie(&lies[i], sound, size, suffix);
  free(sound_name);
  free(cut_name);
  return error;
}
#define SAVE_ELF(name, lies, sound, size, suffix)                                                  \
  save_elf(name, lies, sizeof(lies) / sizeof *(lies), sound, size, suffix)

static const lie image_lies[] = {
    {"section-headers-past-32-bits", FILE_FIELD(e_shoff), 0xfffffff0},
    {"section-headers-over-the-header", FILE_FIELD(e_shoff), 0},
    {"more-sections-than-there-are", FILE_FIELD(e_shnum), 0xffff},
    {"names-are-no-names", FILE_FIELD(e_shstrndx), 1},
    {"names-in-no-section", FILE_FIELD(e_shstrndx), 0xffff},
    {"program-headers-over-the-header", FILE_FIELD(e_phoff), 0},
    {"program-headers-past-the-end", FILE_FIELD(e_phoff), 0x7fffffff},
    {"more-program-headers-than-there-are", FILE_FIELD(e_phnum), 0xffff},
    {"entry-in-data", FILE_FIELD(e_entry), 0x4c000},
    {"memory-larger-than-the-file", SECTION_FIELD(".text", sh_size), 0xfffffff0},
    {"memory-that-wraps", SECTION_FIELD(".text", sh_addr), 0xfffffff0},
    {"memory-over-the-header", SECTION_FIELD(".text", sh_offset), 0},
    {"symbols-over-memory", SECTION_FIELD(".symtab", sh_offset), 0x40},
    {"symbols-named-by-symbols", SECTION_FIELD(".symtab", sh_link), SELF},
    {"symbols-of-another-size", SECTION_FIELD(".symtab", sh_entsize), 0},
    {"symbols-and-a-half", SECTION_FIELD(".symtab", sh_size), 40},
    {"section-name-past-the-names", SECTION_FIELD(".symtab", sh_name), 0xffff},
    {"names-without-end", SECTION_FIELD(".strtab", sh_size), 5},
    {"names-of-no-size", SECTION_FIELD(".strtab", sh_size), 0},
    {"segments-over-the-header", SECTION_FIELD(".populus.segments", sh_offset), 0},
    {"segments-and-a-half", SECTION_FIELD(".populus.segments", sh_size), 18},
    {"details-over-the-header", SECTION_FIELD(".populus.symbols", sh_offset), 0},
    {"details-of-no-size", SECTION_FIELD(".populus.symbols", sh_size), 0},
    {"details-that-take-memory", SECTION_FIELD(".populus.symbols", sh_flags), SHF_ALLOC},
};

static pop_error *save_images(void)
{
  enum { BASE = 0x4c000, CODE = BASE + 16, SIZE = 64 };
  uint8_t memory[SIZE];
  for (int i = 0; i < SIZE; ++i) memory[i] = (uint8_t)(i * 37);
  const pop_image_segment segments[] = {{BASE, 16, .writable = true},
                                        {CODE, 16, .executable = true},
                                        {CODE + 16, SIZE - 32, .writable = true}};
  const pop_image_symbol symbols[] = {
      {.name = "control", .address = CODE, .size = 16, .kind = POP_SYMBOL_CODE_AREA},
      {.name = "in",
       .address = CODE + 16,
       .size = 32,
       .kind = POP_SYMBOL_OBJECT,
       .local = true,
       .type = "float[8]"}};
  const pop_image_mapping mappings[] = {{BASE, false}, {CODE, true}, {CODE + 16, false}};
  const pop_image image = {.tile = 1,
                           .base = BASE,
                           .size = SIZE,
                           .bytes = memory,
                           .entry = CODE,
                           .segments = segments,
                           .num_segments = 3,
                           .symbols = symbols,
                           .num_symbols = 2,
                           .mappings = mappings,
                           .num_mappings = 3};
  pop_bytes file = {0};
  pop_error *error = pop_image_write(&image, &file);
  if (!error) error = SAVE_ELF("sound", image_lies, file.data, file.size, ".elf");
  pop_bytes_free(&file);
  return error;
}

static const lie object_lies[] = {
    {"section-headers-past-32-bits", FILE_FIELD(e_shoff), 0xfffffff0},
    {"section-headers-over-the-header", FILE_FIELD(e_shoff), 0},
    {"no-sections", FILE_FIELD(e_shnum), 0},
    {"names-are-code", FILE_FIELD(e_shstrndx), 2},
    {"code-past-32-bits", SECTION_FIELD(".text.entry", sh_offset), 0xfffffff0},
    {"code-larger-than-the-file", SECTION_FIELD(".text.entry", sh_size), 0x7ffffffc},
    {"code-of-no-size", SECTION_FIELD(".text.entry", sh_size), 0},
    {"alignment-of-everything", SECTION_FIELD(".text.entry", sh_addralign), 0x80000000},
    {"alignment-of-three", SECTION_FIELD(".text.entry", sh_addralign), 3},
    {"relocations-of-themselves", SECTION_FIELD(".rela.text.entry", sh_info), SELF},
    {"relocations-by-themselves", SECTION_FIELD(".rela.text.entry", sh_link), SELF},
    {"relocations-of-no-section", SECTION_FIELD(".rela.text.entry", sh_info), 0xffff},
    {"relocations-over-code", SECTION_FIELD(".rela.text.entry", sh_offset), 0x34},
    {"relocations-of-no-size", SECTION_FIELD(".rela.text.entry", sh_entsize), 0},
    {"relocations-and-a-half", SECTION_FIELD(".rela.text.entry", sh_size), 18},
    {"symbols-over-code", SECTION_FIELD(".symtab", sh_offset), 0x34},
    {"symbols-named-by-symbols", SECTION_FIELD(".symtab", sh_link), SELF},
    {"all-symbols-local", SECTION_FIELD(".symtab", sh_info), 0x7fffffff},
    {"zeros-larger-than-a-tile", SECTION_FIELD(".bss.zeros", sh_size), 0xfffffff0},
    {"thread-local-is-code", SECTION_FIELD(".tbss.calls", sh_flags), 0x407},
};

static pop_error *save_links(const char *path)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_file_read(path, 1 << 16, &bytes, &size));
  pop_error *error = SAVE_ELF("sound", object_lies, bytes, size, ".o");
  pop_archive_writer *writer = NULL;
  if (!error) error = pop_archive_writer_open(NULL, &writer);
  for (int i = 0; i < 2 && !error; ++i)
    error = pop_archive_writer_add(writer, i ? "library.o" : "first.o", bytes, size);
  uint8_t *archive = NULL;
  size_t archive_size;
  if (!error) {
    pop_archive_writer_take(writer, &archive, &archive_size);
    error = save("two-objects.a", archive, archive_size);
  }
  free(archive);
  free(bytes);
  return error;
}

/* ---- metadata ---- */

#define NOTES ".note.populus.metadata"
static const lie metadata_lies[] = {
    {"section-headers-past-32-bits", FILE_FIELD(e_shoff), 0xfffffff0},
    {"section-headers-over-the-header", FILE_FIELD(e_shoff), 0},
    {"more-sections-than-there-are", FILE_FIELD(e_shnum), 0xffff},
    {"names-are-notes", FILE_FIELD(e_shstrndx), 1},
    {"class-of-64-bits", NULL, EI_CLASS, 1, ELFCLASS64},
    {"notes-larger-than-the-file", SECTION_FIELD(NOTES, sh_size), 0xfffffff0},
    {"notes-over-the-header", SECTION_FIELD(NOTES, sh_offset), 0},
    {"notes-cut", SECTION_FIELD(NOTES, sh_size), 40},
    {"notes-of-no-size", SECTION_FIELD(NOTES, sh_size), 0},
    {"notes-compressed", SECTION_FIELD(NOTES, sh_flags), SHF_COMPRESSED},
    {"notes-aligned-to-8", SECTION_FIELD(NOTES, sh_addralign), 8},
};

/* A key of the CBOR, with room in front for its head, and the wrong bytes after it. */
static const struct cbor_lie {
  const char *name, *key, *value;
} cbor_lies[] = {
    {"format-of-tomorrow", " format", "\x02"},
    {"tiles-without-number", " tiles_per_ipu", "\x1a\xff\xff\xff\xff"},
    {"chips-without-number", " num_ipus", "\x1a\xff\xff\xff\xff"},
    {"programs-without-number", " programs", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff"},
    {"programs-of-unknown-number", " programs", "\x9f"},
    {"tensors-in-a-map", " tensors", "\xbf"},
    {"streams-past-the-end", " streams", "\x99\x7f\xff"},
    {"digests-past-the-end", " digests", "\x5a\x7f\xff\xff\xff"},
    {"key-without-value", " stacks", "\xff"},
};

/* Where the bytes behind the key are; NULL if it is not there. */
static uint8_t *behind_key(uint8_t *cbor, size_t size, const char *key)
{
  char *head = pop_xstrdup(key);
  head[0] = (char)(0x60 + strlen(key + 1)); /* a text of so many bytes */
  uint8_t *at = memmem(cbor, size, head, strlen(head));
  free(head);
  return at ? at + strlen(key) : NULL;
}

static pop_error *save_cbor(const uint8_t *sound, size_t size)
{
  POP_TRY(save("sound.cbor", sound, size));
  POP_TRY(save("cut.cbor", sound, size * 3 / 4));
  for (size_t i = 0; i < sizeof cbor_lies / sizeof *cbor_lies; ++i) {
    uint8_t *copy = pop_xmalloc(size);
    memcpy(copy, sound, size);
    uint8_t *at = behind_key(copy, size, cbor_lies[i].key);
    size_t bytes = strlen(cbor_lies[i].value);
    pop_error *error = NULL;
    if (!at || bytes > size - (size_t)(at - copy))
      error = pop_error_new(POP_ERROR_INTERNAL, "%s: no key '%s'", cbor_lies[i].name,
                            cbor_lies[i].key + 1);
    if (!error) memcpy(at, cbor_lies[i].value, bytes);
    char *name = pop_xasprintf("%s.cbor", cbor_lies[i].name);
    if (!error) error = save(name, copy, size);
    free(name);
    free(copy);
    POP_TRY(error);
  }
  return NULL;
}

/* The notes are the digest, of 28 bytes in all, and the CBOR: see runtime/executable/note.c. */
static pop_error *save_metadata(const char *path)
{
  enum { DIGEST_NOTE_BYTES = 28, HEAD_BYTES = 20 };
  uint8_t *bytes;
  size_t size;
  uint32_t number;
  Elf32_Nhdr note;
  POP_TRY(pop_file_read(path, 1 << 16, &bytes, &size));
  pop_error *error = SAVE_ELF("sound", metadata_lies, bytes, size, ".elf");
  if (!error) {
    const Elf32_Shdr *notes = (const Elf32_Shdr *)(void *)find_section(bytes, NOTES, &number);
    const uint8_t *at = bytes + notes->sh_offset + DIGEST_NOTE_BYTES;
    memcpy(&note, at, sizeof note);
    error = save_cbor(at + HEAD_BYTES, note.n_descsz);
  }
  free(bytes);
  return error;
}

/* ---- archives ---- */

#define HEADER(name, size) name "0           0     0     644     " size "`\n"
#define MAGIC "!<arch>\n"
#define NAME_A "a/              "
#define ARCHIVE(name, content) {name, content, sizeof(content) - 1}

static const struct {
  const char *name, *bytes;
  size_t size;
} archives[] = {
    ARCHIVE("no-members.a", MAGIC),
    ARCHIVE("cut-in-the-magic.a", "!<arch"),
    ARCHIVE("thin.a", "!<thin>\n" HEADER(NAME_A, "4         ")),
    ARCHIVE("odd-without-padding.a", MAGIC HEADER(NAME_A, "3         ") "odd"),
    ARCHIVE("cut-in-a-header.a", MAGIC HEADER(NAME_A, "4         ") "evenb/     "),
    ARCHIVE("larger-than-the-file.a", MAGIC HEADER(NAME_A, "9999999999") "even"),
    ARCHIVE("size-is-no-number.a", MAGIC HEADER(NAME_A, "0x4       ") "even"),
    ARCHIVE("size-is-negative.a", MAGIC HEADER(NAME_A, "-4        ") "even"),
    ARCHIVE("long-name.a",
            MAGIC HEADER("//              ", "26        ") "a-name-longer-than-15.elf/\n" HEADER(
                "/0              ", "4         ") "even"),
    ARCHIVE("long-name-past-its-table.a",
            MAGIC HEADER("//              ", "4         ") "ab/\n" HEADER("/4              ",
                                                                          "4         ") "even"),
    ARCHIVE("long-name-without-end.a", MAGIC HEADER("//              ", "4         ") "abcd" HEADER(
                                           "/0              ", "4         ") "even"),
    ARCHIVE("table-of-names-twice.a", MAGIC HEADER("//              ", "4         ") "ab/\n" HEADER(
                                          "//              ", "4         ") "cd/\n"),
    ARCHIVE("no-table-of-names.a", MAGIC HEADER("/7              ", "4         ") "even"),
    ARCHIVE("symbol-index.a",
            MAGIC HEADER("/               ", "12        ") "\377\377\377\377aaaa\0b\0\0" HEADER(
                NAME_A, "4         ") "even"),
    ARCHIVE("symbol-index-of-64-bits.a",
            MAGIC HEADER("/SYM64/         ",
                         "8         ") "\377\377\377\377aaaa" HEADER(NAME_A, "4         ") "even"),
    ARCHIVE("name-in-the-way-of-bsd.a",
            MAGIC HEADER("#1/20           ", "24        ") "a-name-of-twenty....even"),
    ARCHIVE("archive-in-an-archive.a",
            MAGIC HEADER(NAME_A, "72        ") MAGIC HEADER(NAME_A, "4         ") "even"),
    ARCHIVE("tiles.a", MAGIC HEADER("tile-00000.elf/ ", "4         ") "even" HEADER(
                           "tile-00000.elf/ ", "3         ") "odd\n"),
};

static pop_error *save_archives(void)
{
  for (size_t i = 0; i < sizeof archives / sizeof *archives; ++i)
    POP_TRY(save(archives[i].name, archives[i].bytes, archives[i].size));
  return NULL;
}

int main(int argc, char **argv)
{
  pop_error *error = NULL;
  folder = argc > 2 ? argv[2] : NULL;
  if (argc == 3 && strcmp(argv[1], "archive") == 0)
    error = save_archives();
  else if (argc == 3 && strcmp(argv[1], "image") == 0)
    error = save_images();
  else if (argc == 4 && strcmp(argv[1], "link") == 0)
    error = save_links(argv[3]);
  else if (argc == 4 && strcmp(argv[1], "metadata") == 0)
    error = save_metadata(argv[3]);
  else {
    fprintf(stderr, "usage: fuzz_seeds archive|image FOLDER, fuzz_seeds link FOLDER OBJECT, or "
                    "fuzz_seeds metadata FOLDER METADATA.elf\n");
    return 2;
  }
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "fuzz_seeds: error: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}
