/* The file with the debug information of the sections that are on a tile.
 * tests/golden/link_tools.sh compares its sections with lld's, and tests/golden/debug_tools.sh
 * reads it with common tools. These tests check what those cannot see. */
#include "support/link_objects.h"

#include <elfutils/libdw.h>

TestSuite(link_debug, .init = enter_fresh_folder);

static const char source[] = "int used(int x)\n" /* line 1 */
                             "{\n"
                             "  return x * 77;\n" /* line 3 */
                             "}\n"
                             "int removed(int x)\n"
                             "{\n"
                             "  return x / 3;\n"
                             "}\n"
                             "int same(int x)\n" /* as `used` */
                             "{\n"
                             "  return x * 77;\n"
                             "}\n";

static const pop_link_addresses addresses = {{0x50000, 0x51000, 0x52000, 0}};

static pop_error *make(const pop_object *const *objects, size_t count, const char *const *roots,
                       size_t num_roots, pop_bytes *elf)
{
  pop_link_set *set = pop_link_set_new();
  pop_live_sections *live = NULL;
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) error = pop_link_set_add(set, objects[i], false);
  if (!error) error = pop_live_sections_create(set, roots, NULL, num_roots, &live);
  if (!error) error = pop_live_sections_debug_file(live, &addresses, elf);
  pop_live_sections_free(live);
  pop_link_set_free(set);
  return error;
}

/* The line of an address, or 0. */
static int line_of(const pop_bytes *elf, uint32_t address)
{
  int line = 0;
  elf_version(EV_CURRENT);
  Elf *handle = elf_memory((char *)elf->data, elf->size);
  Dwarf *dwarf = dwarf_begin_elf(handle, DWARF_C_READ, NULL);
  cr_assert_not_null(dwarf);
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
    Dwarf_Line *found = dwarf_getsrc_die(&unit, address);
    if (found && !line) dwarf_lineno(found, &line);
  }
  dwarf_end(dwarf);
  elf_end(handle);
  return line;
}

Test(link_debug, lines_are_those_of_the_copy_that_is_kept)
{
  const char *const roots[] = {"used", "same", "other"};
  pop_object *objects[] = {
      compiled(RV32_C "-g", source, "a.o"),
      compiled(RV32_C "-g", "\n\n\n\n\n\nint other(int x) { return x + 1; }\n", "b.o")};
  pop_bytes elf = {0};
  expect_ok(make((const pop_object *const *)objects, 2, roots, 3, &elf));
  int line = line_of(&elf, 0x50000);
  cr_assert(line >= 1 && line <= 3, "line %d: not that of `same`", line);
  cr_assert_eq(section_header(elf.data, ".code")->sh_addr, 0x50000);
  uint32_t other = 0x50000 + section_header(elf.data, ".code")->sh_size - 8;
  cr_assert_eq(line_of(&elf, other), 7, "the second object's information is behind the first's");
  cr_assert_eq(line_of(&elf, other + 8), 0);
  for (size_t i = 0; i < 2; ++i) pop_object_free(objects[i]);
  pop_bytes_free(&elf);
}

/* ---- the file, read from an archive ---- */

static void make_file(pop_bytes *elf)
{
  const char *root = "used";
  pop_object *object = compiled(RV32_C "-g", source, "a.o");
  expect_ok(make((const pop_object *const *)&object, 1, &root, 1, elf));
  pop_object_free(object);
}

/* The line that the file gives for the first instruction; 0: none, or the file is not used. */
static unsigned line_in_file(const pop_bytes *elf)
{
  pop_bytes copy = {0};
  pop_bytes_append(&copy, elf->data, elf->size);
  pop_debug_info *info = pop_debug_info_open_file(&copy);
  cr_assert_null(copy.data);
  pop_arena *arena = pop_arena_new();
  pop_source_place place = {.line = 0};
  bool found = info && pop_debug_info_line(info, 0x50000, arena, &place);
  cr_assert_eq(found, place.line > 0);
  pop_arena_free(arena);
  pop_debug_info_free(info);
  return place.line;
}

Test(link_debug, lines_by_address_in_the_tile)
{
  pop_bytes elf = {0};
  make_file(&elf);
  unsigned line = line_in_file(&elf);
  cr_assert(line >= 1 && line <= 3, "line %u", line);
  pop_bytes_free(&elf);
}

/* libdw opens no other file that a foreign file names, and uncompresses nothing. */
Test(link_debug, G05_G08_other_files_are_not_looked_at)
{
  static const struct {
    const char *section; /* NULL: the ELF header */
    size_t at;
    uint8_t byte;
  } cases[] = {
      {NULL, EI_CLASS, ELFCLASS64},
      {NULL, EI_DATA, ELFDATA2MSB},
      {NULL, offsetof(Elf32_Ehdr, e_machine), EM_386},
      {NULL, offsetof(Elf32_Ehdr, e_type), ET_REL},
      {".debug_abbrev", offsetof(Elf32_Shdr, sh_flags) + 1, SHF_COMPRESSED >> 8},
  };
  static const char *const names[] = {".gnu_debugaltlink", ".gnu_debuglink", ".zdebug_abbrev"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_bytes elf = {0};
    make_file(&elf);
    uint8_t *header =
        cases[i].section ? (uint8_t *)section_header(elf.data, cases[i].section) : elf.data;
    cr_assert_not_null(header, "case %zu", i);
    header[cases[i].at] = cases[i].byte;
    cr_assert_eq(line_in_file(&elf), 0, "case %zu", i);
    pop_bytes_free(&elf);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    pop_bytes elf = {0};
    make_file(&elf);
    /* At the end of the file, where the name of .debug_abbrev is then. */
    const Elf32_Shdr *all = section_header(elf.data, ".shstrtab");
    uint32_t offset = (uint32_t)elf.size - all->sh_offset;
    pop_bytes_append(&elf, names[i], strlen(names[i]) + 1);
    section_header(elf.data, ".debug_abbrev")->sh_name = offset;
    ((Elf32_Shdr *)section_header(elf.data, ".shstrtab"))->sh_size =
        offset + (uint32_t)strlen(names[i]) + 1;
    cr_assert_eq(line_in_file(&elf), 0, "%s", names[i]);
    pop_bytes_free(&elf);
  }
}

/* The sanitizers report wrong accesses. */
Test(link_debug, G01_G02_file_cut_and_every_byte_flipped)
{
  pop_bytes elf = {0};
  make_file(&elf);
  size_t size = elf.size, found = 0;
  for (size_t at = 0; at < size; ++at) {
    elf.data[at] ^= 0xff;
    found += line_in_file(&elf) > 0;
    elf.data[at] ^= 0xff;
  }
  cr_assert_geq(found, 100);
  for (elf.size = 0; elf.size < size; ++elf.size) (void)line_in_file(&elf);
  pop_bytes_free(&elf);
}

Test(link_debug, nothing_is_said_of_objects_without)
{
  static const char *const options[] = {RV32_C, RV32_C "-g"};
  for (size_t i = 0; i < 2; ++i) {
    const char *root = "used";
    pop_object *object = compiled(options[i], source, "a.o");
    pop_link_set *set = pop_link_set_new();
    pop_live_sections *live = NULL;
    expect_ok(pop_link_set_add(set, object, false));
    expect_ok(pop_live_sections_create(set, &root, NULL, 1, &live));
    cr_assert_eq(pop_live_sections_has_debug(live), i == 1);
    pop_live_sections_free(live);
    pop_link_set_free(set);
    pop_object_free(object);
  }
}

/* The sanitizers report wrong accesses. */
Test(link_debug, G02_every_byte_flipped)
{
  const char *root = "used";
  size_t size, made = 0;
  uint8_t *bytes = compiled_bytes(RV32_C "-g -gdwarf-5", source, &size);
  for (size_t at = 0; at < size; ++at) {
    bytes[at] ^= 0xff;
    pop_object *object = NULL;
    pop_bytes elf = {0};
    pop_error *error = pop_object_parse(bytes, size, "damaged.o", &object);
    if (!error) error = make((const pop_object *const *)&object, 1, &root, 1, &elf);
    if (!error) ++made;
    pop_error_free(error);
    pop_bytes_free(&elf);
    pop_object_free(object);
    bytes[at] ^= 0xff;
  }
  cr_assert_geq(made, 100);
  free(bytes);
}

Test(link_debug, G06_damaged_relocations_are_refused)
{
  static const struct {
    uint32_t field, value; /* of the first entry: the word, and its new value */
    const char *words;
  } damages[] = {{0, 0x7fffffff, "ends behind the section"},
                 {1, 0x00ffff01, "names symbol"},
                 {1, 0x00000012, "it has no place in debug information"},
                 {1, 0x000000fe, "has type 254"}};
  const char *root = "used";
  for (size_t i = 0; i < sizeof damages / sizeof *damages; ++i) {
    size_t size;
    uint8_t *bytes = compiled_bytes(RV32_C "-g", source, &size);
    memcpy(bytes + section_header(bytes, ".rela.debug_info")->sh_offset + 4 * damages[i].field,
           &damages[i].value, 4);
    pop_object *object = NULL;
    pop_bytes elf = {0};
    expect_ok(pop_object_parse(bytes, size, "damaged.o", &object));
    EXPECT_ERROR(make((const pop_object *const *)&object, 1, &root, 1, &elf), POP_ERROR_FILE_LOAD,
                 "debug information of damaged.o", ".debug_info", damages[i].words);
    cr_assert_eq(elf.size, 0);
    pop_bytes_free(&elf);
    pop_object_free(object);
    free(bytes);
  }
}
