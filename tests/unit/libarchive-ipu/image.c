/* libarchive-ipu/image_*.c: tile images are written, read back, and damaged in every place.
 * tests/golden/image_tools.sh reads them with other tools. */
#include "support/expect.h"

#include <populus/arena.h>
#include <populus/image.h>
#include <populus/memory.h>

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ipu2: 64 bytes of system memory, code (4 instructions), data. */
#define BASE 0x4c000u
#define SIZE 104u
#define CODE (BASE + 64)
#define DATA (BASE + 80)

static const pop_image_segment segments[] = {
    {BASE, 64, .writable = true},
    {CODE, 16, .executable = true},
    {DATA, 24, .writable = true},
};
static const pop_image_symbol symbols[] = {
    {.name = "vertex",
     .address = CODE + 8,
     .size = 8,
     .kind = POP_SYMBOL_FUNCTION,
     .category = POP_MEMORY_VERTEX_CODE},
    {.name = "constants",
     .address = DATA,
     .size = 8,
     .kind = POP_SYMBOL_OBJECT,
     .category = POP_MEMORY_CONSTANT,
     .local = true,
     .type = "half[4]"},
    {.name = "control",
     .address = CODE,
     .size = 8,
     .kind = POP_SYMBOL_CODE_AREA,
     .category = POP_MEMORY_CONTROL_CODE},
    {.name = "in", .address = DATA + 8, .size = 8, .kind = POP_SYMBOL_OBJECT, .type = "float[2]"},
    {.name = "out", .address = DATA + 16, .size = 8, .kind = POP_SYMBOL_OBJECT, .type = "float[2]"},
    {.name = "end", .address = BASE + SIZE, .size = 0, .kind = POP_SYMBOL_OBJECT},
};
static const pop_image_mapping mappings[] = {{BASE, false}, {CODE, true}, {DATA, false}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static pop_image sample(void)
{
  static uint8_t memory[SIZE];
  for (size_t i = 0; i < SIZE; i++) memory[i] = (uint8_t)(i * 7);
  return (pop_image){
      .tile = 42,
      .base = BASE,
      .size = SIZE,
      .bytes = memory,
      .entry = CODE,
      .segments = segments,
      .num_segments = COUNT(segments),
      .symbols = symbols,
      .num_symbols = COUNT(symbols),
      .mappings = mappings,
      .num_mappings = COUNT(mappings),
  };
}

static pop_bytes sample_file(void)
{
  pop_image image = sample();
  pop_bytes file = {0};
  expect_ok(pop_image_write(&image, &file));
  return file;
}

static pop_target ipu(const char *name)
{
  pop_target target;
  expect_ok(pop_target_create(name, 1, &target));
  return target;
}

/* The copy has exactly its size, so that AddressSanitizer finds a read after its end. */
typedef struct read_result {
  uint8_t *copy;
  pop_arena *arena;
  pop_image image;
  bool overflowed;
  pop_error *error;
} read_result;

/* The image is read again as a member of an archive, piece by piece. The result or the error is the
 * same. */
static void expect_same_from_archive(const uint8_t *bytes, size_t size, const char *target_name,
                                     const read_result *expected)
{
  pop_archive_writer *writer;
  pop_archive *archive;
  uint8_t *file;
  size_t file_size;
  expect_ok(pop_archive_writer_open(NULL, &writer));
  expect_ok(pop_archive_writer_add(writer, "tile-00042.elf", bytes, size));
  pop_archive_writer_take(writer, &file, &file_size);
  expect_ok(pop_archive_open_memory(file, file_size, "a.a", &archive));
  pop_target target = ipu(target_name);
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  pop_error *error =
      pop_image_read_member(archive, 0, POP_IMAGE_ALL, &target, arena, &image, &overflowed);
  cr_assert_eq(!error, !expected->error);
  if (error) {
    cr_assert_str_eq(pop_error_message(error), pop_error_message(expected->error));
  } else {
    cr_assert_eq(image.num_symbols, expected->image.num_symbols);
    cr_assert_eq(image.num_mappings, expected->image.num_mappings);
    cr_assert_eq(image.size, expected->image.size);
    cr_assert_eq(!image.debug_file, !expected->image.debug_file);
    cr_assert(memcmp(image.bytes, expected->image.bytes, image.size) == 0);
  }
  pop_error_free(error);
  pop_arena_free(arena);
  pop_archive_close(archive);
  free(file);
}

static read_result read_copy(const uint8_t *bytes, size_t size, const char *target_name)
{
  read_result result = {.copy = pop_xmalloc(size), .arena = pop_arena_new()};
  memcpy(result.copy, bytes, size);
  pop_target target = ipu(target_name);
  result.error = pop_image_read(result.copy, size, "a.a(tile-00042.elf)", &target, result.arena,
                                &result.image, &result.overflowed);
  expect_same_from_archive(bytes, size, target_name, &result);
  return result;
}

static void discard(read_result *result)
{
  pop_arena_free(result->arena);
  free(result->copy);
}

static const pop_image_symbol *find_symbol(const pop_image *image, const char *name)
{
  for (size_t i = 0; i < image->num_symbols; i++)
    if (strcmp(image->symbols[i].name, name) == 0) return &image->symbols[i];
  return NULL;
}

Test(image, what_is_written_is_read)
{
  pop_image written = sample();
  pop_bytes file = sample_file();
  read_result r = read_copy(file.data, file.size, "ipu2");
  expect_ok(r.error);
  cr_assert_eq(r.image.base, BASE);
  cr_assert_eq(r.image.size, SIZE);
  cr_assert_eq(r.image.entry, CODE);
  cr_assert(memcmp(r.image.bytes, written.bytes, SIZE) == 0);
  cr_assert_not(r.overflowed);
  cr_assert_eq(r.image.num_segments, COUNT(segments));
  for (size_t i = 0; i < COUNT(segments); i++) {
    cr_assert_eq(r.image.segments[i].start, segments[i].start);
    cr_assert_eq(r.image.segments[i].size, segments[i].size);
    cr_assert_eq(r.image.segments[i].writable, segments[i].writable);
    cr_assert_eq(r.image.segments[i].executable, segments[i].executable);
  }
  cr_assert_eq(r.image.num_mappings, COUNT(mappings));
  for (size_t i = 0; i < COUNT(mappings); i++) {
    cr_assert_eq(r.image.mappings[i].address, mappings[i].address);
    cr_assert_eq(r.image.mappings[i].code, mappings[i].code);
  }
  cr_assert_eq(r.image.num_symbols, COUNT(symbols));
  for (size_t i = 0; i < COUNT(symbols); i++) {
    const pop_image_symbol *symbol = find_symbol(&r.image, symbols[i].name);
    cr_assert_not_null(symbol, "%s", symbols[i].name);
    cr_assert_eq(symbol->address, symbols[i].address);
    cr_assert_eq(symbol->size, symbols[i].size);
    cr_assert_eq(symbol->local, symbols[i].local);
    cr_assert_eq(symbol->kind == POP_SYMBOL_OBJECT, symbols[i].kind == POP_SYMBOL_OBJECT);
    cr_assert_eq(symbol->category, symbols[i].category);
    cr_assert_eq(!symbol->type, !symbols[i].type);
    if (symbol->type) cr_assert_str_eq(symbol->type, symbols[i].type);
  }
  cr_assert(r.image.symbols_have_categories);
  discard(&r);
  pop_bytes_free(&file);
}

/* Two images in an archive; the second one's memory ends with the file. */
Test(image, only_what_is_wanted_is_read)
{
  pop_bytes file = sample_file();
  pop_archive_writer *writer;
  pop_archive *archive;
  expect_ok(pop_archive_writer_open("two.a", &writer));
  for (int i = 0; i < 2; i++)
    expect_ok(pop_archive_writer_add(writer, "tile-00042.elf", file.data, file.size));
  expect_ok(pop_archive_writer_commit(writer));
  expect_ok(pop_archive_open("two.a", &archive));
  pop_target target = ipu("ipu2");
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  for (unsigned parts = 0; parts <= POP_IMAGE_ALL; parts++) {
    expect_ok(pop_image_read_member(archive, 1, parts, &target, arena, &image, &overflowed));
    cr_assert_eq(image.size, SIZE);
    cr_assert_eq(image.num_segments, COUNT(segments));
    cr_assert_eq(image.bytes != NULL, (parts & POP_IMAGE_MEMORY) != 0);
    cr_assert_eq(image.num_symbols, parts & POP_IMAGE_SYMBOLS ? COUNT(symbols) : 0);
    cr_assert_eq(image.num_mappings, parts & POP_IMAGE_SYMBOLS ? COUNT(mappings) : 0);
    cr_assert_null(image.debug_file);
  }
  /* If the file is cut meanwhile, reading the missing bytes is an error. */
  uint64_t cut = pop_archive_get_member(archive, 1)->offset + 40;
  cr_assert_eq(truncate("two.a", (off_t)cut), 0);
  expect_ok(pop_image_read_member(archive, 0, 0, &target, arena, &image, &overflowed));
  expect_error(pop_image_read_member(archive, 1, 0, &target, arena, &image, &overflowed),
               POP_ERROR_FILE_LOAD, "was cut while it was read", "cut");
  pop_archive_close(archive);
  pop_arena_free(arena);
  pop_bytes_free(&file);
}

static const pop_image_section sections[] = {
    {BASE, 48, POP_IMAGE_SECTION_SYSTEM}, {BASE + 48, 16, POP_IMAGE_SECTION_GAP},
    {CODE, 8, POP_MEMORY_CONTROL_CODE},   {CODE + 8, DATA - CODE - 8, POP_MEMORY_VERTEX_CODE},
    {DATA, 12, POP_MEMORY_CONSTANT},      {DATA + 12, BASE + SIZE - DATA - 12, POP_MEMORY_VARIABLE},
};

/* The symbol `in` lies in the sections of constants and of variables, and is found again. */
Test(image, memory_in_sections_is_the_same_memory)
{
  pop_image written = sample();
  written.sections = sections;
  written.num_sections = COUNT(sections);
  pop_bytes file = {0};
  expect_ok(pop_image_write(&written, &file));
  read_result r = read_copy(file.data, file.size, "ipu2");
  expect_ok(r.error);
  cr_assert_eq(r.image.base, BASE);
  cr_assert_eq(r.image.size, SIZE);
  cr_assert(memcmp(r.image.bytes, written.bytes, SIZE) == 0);
  cr_assert_eq(r.image.num_sections, COUNT(sections));
  for (size_t i = 0; i < COUNT(sections); i++) {
    cr_assert_eq(r.image.sections[i].start, sections[i].start);
    cr_assert_eq(r.image.sections[i].size, sections[i].size);
    cr_assert_eq(r.image.sections[i].kind, sections[i].kind);
  }
  cr_assert_eq(r.image.num_symbols, COUNT(symbols));
  cr_assert_eq(r.image.num_mappings, COUNT(mappings));
  cr_assert_eq(find_symbol(&r.image, "in")->address, DATA + 8);
  cr_assert_eq(find_symbol(&r.image, "end")->address, BASE + SIZE);
  discard(&r);
  pop_bytes_free(&file);
}

/* Users pick lines with grep -e ".text", where "." is any character. */
Test(image, names_of_sections_are_distinct_and_only_one_is_text)
{
  for (unsigned i = 0; i < POP_IMAGE_SECTION_KIND_COUNT; i++) {
    const char *name = pop_image_section_name(i);
    cr_assert_eq(name[0], '.', "%u", i);
    if (i != POP_MEMORY_VERTEX_CODE) cr_assert_null(strstr(name, "text"), "%s", name);
    for (unsigned j = 0; j < i; j++) cr_assert_str_neq(name, pop_image_section_name(j));
  }
  cr_assert_str_eq(pop_image_section_name(POP_MEMORY_VERTEX_CODE), ".text");
}

/* A tool that removes or moves symbols does not know of the categories. */
Test(image, categories_that_do_not_fit_the_symbols_count_as_missing)
{
  static const struct {
    uint32_t word, value; /* of .populus.symbols */
  } changes[] = {{0, COUNT(symbols) - 1}, {0, UINT32_MAX}, {1, BASE}, {11, 0}};
  for (size_t i = 0; i < COUNT(changes); i++) {
    pop_bytes file = sample_file();
    Elf32_Ehdr header;
    Elf32_Shdr section;
    memcpy(&header, file.data, sizeof header);
    memcpy(&section, file.data + header.e_shoff + 5 * sizeof section, sizeof section);
    memcpy(file.data + section.sh_offset + changes[i].word * 4, &changes[i].value, 4);
    read_result r = read_copy(file.data, file.size, "ipu2");
    expect_ok(r.error);
    cr_assert_not(r.image.symbols_have_categories, "change %zu", i);
    cr_assert_eq(r.image.num_symbols, COUNT(symbols));
    for (size_t j = 0; j < COUNT(symbols); j++)
      cr_assert(r.image.symbols[j].category == 0 && !r.image.symbols[j].type);
    discard(&r);
    pop_bytes_free(&file);
  }
}

Test(image, build_id_is_a_hash_of_everything)
{
  pop_bytes files[4] = {sample_file()};
  pop_image image = sample();
  uint8_t memory[SIZE];
  memcpy(memory, image.bytes, SIZE);
  memory[SIZE - 1] ^= 1;
  image.bytes = memory;
  expect_ok(pop_image_write(&image, &files[1]));
  image = sample();
  image.debug_file = "code-00000.dbg";
  expect_ok(pop_image_write(&image, &files[2]));
  image.debug_crc = 1;
  expect_ok(pop_image_write(&image, &files[3]));
  uint8_t ids[4][16];
  for (size_t i = 0; i < 4; i++) {
    Elf32_Ehdr header;
    Elf32_Shdr note;
    memcpy(&header, files[i].data, sizeof header);
    memcpy(&note, files[i].data + header.e_shoff + 4 * sizeof note, sizeof note);
    cr_assert_eq(note.sh_type, SHT_NOTE);
    cr_assert_eq(note.sh_size, 32);
    memcpy(ids[i], files[i].data + note.sh_offset + 16, 16);
    for (size_t j = 0; j < i; j++) cr_assert_neq(memcmp(ids[i], ids[j], 16), 0, "%zu %zu", i, j);
  }
  for (size_t i = 0; i < 4; i++) pop_bytes_free(&files[i]);
}

/* An invalid link is ignored, and the image still runs. */
Test(image, G04_link_to_debug_information)
{
  static const struct {
    const char *damage;
    size_t at, bytes; /* within the section: where it is written, and how many bytes */
    uint32_t size;    /* the section's size */
    bool found;
  } cases[] = {
      {"", 0, 0, 20, true},  {"", 0, 1, 20, false},        /* no name */
      {"", 0, 0, 19, false},                               /* the checksum is cut */
      {"", 0, 0, 14, false},                               /* the name has no end */
      {"", 0, 0, 0, false},  {"xxxxxx", 14, 6, 20, false}, /* the name goes on to the end */
  };
  pop_image image = sample();
  image.debug_file = "code-00042.dbg";
  image.debug_crc = 0x12345678;
  for (size_t i = 0; i < COUNT(cases); i++) {
    pop_bytes file = {0};
    expect_ok(pop_image_write(&image, &file));
    Elf32_Ehdr header;
    memcpy(&header, file.data, sizeof header);
    uint8_t *at = file.data + header.e_shoff + (header.e_shnum - 1) * sizeof(Elf32_Shdr);
    Elf32_Shdr link;
    memcpy(&link, at, sizeof link);
    cr_assert_eq(link.sh_size, 20);
    link.sh_size = cases[i].size;
    memcpy(at, &link, sizeof link);
    memcpy(file.data + link.sh_offset + cases[i].at, cases[i].damage, cases[i].bytes);
    read_result r = read_copy(file.data, file.size, "ipu2");
    expect_ok(r.error);
    cr_assert_eq(r.image.debug_file != NULL, cases[i].found, "case %zu", i);
    if (cases[i].found) {
      cr_assert_str_eq(r.image.debug_file, "code-00042.dbg");
      cr_assert_eq(r.image.debug_crc, 0x12345678);
    }
    discard(&r);
    pop_bytes_free(&file);
  }
}

/* The bytes do not depend on the place in the buffer. */
Test(image, same_image_same_bytes)
{
  pop_image image = sample();
  pop_bytes once = sample_file(), twice = {0};
  pop_bytes_append(&twice, "odd", 3);
  memset(twice.data + 3, 0xaa, twice.capacity - 3);
  expect_ok(pop_image_write(&image, &twice));
  cr_assert_eq(twice.size, 3 + once.size);
  cr_assert(memcmp(twice.data + 3, once.data, once.size) == 0);
  pop_bytes_free(&once);
  pop_bytes_free(&twice);
}

Test(image, smallest_image)
{
  static const pop_image_segment code = {BASE, 4, .executable = true};
  pop_image image = {.base = BASE,
                     .size = 4,
                     .bytes = (const uint8_t *)"\x13\0\0\0",
                     .entry = BASE,
                     .segments = &code,
                     .num_segments = 1};
  pop_bytes file = {0};
  expect_ok(pop_image_write(&image, &file));
  read_result r = read_copy(file.data, file.size, "ipu2");
  expect_ok(r.error);
  cr_assert_eq(r.image.size, 4);
  cr_assert_eq(r.image.num_symbols, 0);
  cr_assert_eq(r.image.num_mappings, 0);
  discard(&r);
  pop_bytes_free(&file);
}

/* With debug.allowOutOfMemory, reports read the image. It is marked. */
Test(image, larger_than_the_tile_is_read_and_marked)
{
  static const uint32_t sizes[] = {0xe8000 - BASE, 0xe8000 - BASE + 4};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    pop_image image = sample();
    image.size = sizes[i];
    image.bytes = calloc(1, sizes[i]);
    pop_bytes file = {0};
    expect_ok(pop_image_write(&image, &file));
    read_result r = read_copy(file.data, file.size, "ipu2");
    expect_ok(r.error);
    cr_assert_eq(r.overflowed, i == 1);
    discard(&r);
    pop_bytes_free(&file);
    free((void *)image.bytes);
  }
}

#define REFUSED(statement, fragment)                                                               \
  do {                                                                                             \
    pop_image image = sample();                                                                    \
    pop_bytes file = {0};                                                                          \
    statement;                                                                                     \
    expect_error(pop_image_write(&image, &file), POP_ERROR_INTERNAL, fragment, #statement);        \
    cr_assert_eq(file.size, 0);                                                                    \
  } while (0)

Test(image, the_writer_refuses_what_the_reader_would)
{
  static const pop_image_segment overlapping[] = {{CODE, 16, .executable = true},
                                                  {CODE + 12, 8, .writable = true}};
  static const pop_image_segment outside[] = {{CODE, 16, .executable = true},
                                              {DATA, 28, .writable = true}};
  static const pop_image_mapping twice[] = {{CODE, true}, {CODE, false}};
  static const pop_image_symbol past_the_end[] = {{.name = "x", .address = DATA, .size = 28}};
  REFUSED(image.base = 0xffffffc0, "image of tile 42: an image of 104 bytes at 0xffffffc0");
  REFUSED(image.entry = DATA, "the entry 0x4c050 is not an instruction of a code segment");
  REFUSED(image.entry = CODE + 2, "the entry");
  REFUSED(image.entry = CODE + 16, "the entry");
  REFUSED((image.segments = overlapping, image.num_segments = 2), "segment 1 starts at 0x4c04c");
  REFUSED((image.segments = outside, image.num_segments = 2), "outside of the image");
  REFUSED((image.mappings = twice, image.num_mappings = 2), "mapping symbol at 0x4c040");
  REFUSED((image.symbols = past_the_end, image.num_symbols = 1), "symbol 'x' at 0x4c050 with 28");
}

Test(image, sections_that_are_not_all_of_the_memory_are_refused)
{
  static const struct {
    size_t section;
    pop_image_section wrong;
    const char *fragment;
  } cases[] = {
      {0, {BASE + 4, 44, POP_MEMORY_STACK}, "section 0 of its memory, '.stack', starts at"},
      {2, {CODE + 4, 4, POP_MEMORY_STACK}, "section 2 of its memory"},
      {2, {CODE, 12, POP_MEMORY_STACK}, "section 3 of its memory"},
      {5, {DATA + 12, 4, POP_MEMORY_STACK}, "end at"},
      {5, {DATA + 12, 0, POP_MEMORY_STACK}, "section 5 of its memory, '.stack', is empty"},
      {1, {BASE + 48, 16, POP_IMAGE_SECTION_KIND_COUNT}, "'?'"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    pop_image_section changed[COUNT(sections)];
    memcpy(changed, sections, sizeof sections);
    changed[cases[i].section] = cases[i].wrong;
    pop_image image = sample();
    image.sections = changed;
    image.num_sections = COUNT(sections);
    pop_bytes file = {0};
    expect_error(pop_image_write(&image, &file), POP_ERROR_INTERNAL, cases[i].fragment,
                 cases[i].fragment);
    pop_bytes_free(&file);
  }
}

Test(image, A09_made_for_another_target)
{
  pop_bytes file = sample_file();
  read_result r = read_copy(file.data, file.size, "ipu1");
  expect_error(r.error, POP_ERROR_FILE_LOAD,
               "'a.a(tile-00042.elf)': its memory starts at 0x4c000 as ipu2's does, but the tile "
               "memory of target ipu1 starts at 0x40000",
               "ipu2 for ipu1");
  discard(&r);
  pop_bytes_free(&file);

  static const pop_image_segment code = {0x1000, 4, .executable = true};
  pop_image image = {.base = 0x1000,
                     .size = 4,
                     .bytes = (const uint8_t *)"\x13\0\0\0",
                     .entry = 0x1000,
                     .segments = &code,
                     .num_segments = 1};
  expect_ok(pop_image_write(&image, &file));
  r = read_copy(file.data, file.size, "ipu2");
  expect_error(r.error, POP_ERROR_FILE_LOAD, "0x1000 as no known target's does", "custom");
  discard(&r);
  pop_bytes_free(&file);
}

Test(image, A01_other_files)
{
  static const struct {
    const char *bytes;
    size_t size;
    const char *fragment;
  } cases[] = {
      {"", 0, "this is empty, not an ELF file"},
      {"\xff\xd8\xff\xe0 a picture", 14, "this is a JPEG image, not an ELF file"},
      {"\x7f"
       "ELF\1\1\1",
       7, "truncated: the ELF header is at bytes 0 to 52"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    read_result r = read_copy((const uint8_t *)cases[i].bytes, cases[i].size, "ipu2");
    expect_error(r.error, POP_ERROR_FILE_LOAD, cases[i].fragment, cases[i].fragment);
    discard(&r);
  }
}

/* The image ends with its table of section headers, so every cut removes a needed part. */
Test(image, G01_cut_at_every_offset)
{
  pop_bytes file = sample_file();
  for (size_t size = 0; size < file.size; size++) {
    read_result r = read_copy(file.data, size, "ipu2");
    cr_assert_not_null(r.error, "%zu of %zu bytes were taken for an image", size, file.size);
    cr_assert_eq(pop_error_get_code(r.error), POP_ERROR_FILE_LOAD);
    pop_error_free(r.error);
    discard(&r);
  }
  pop_bytes_free(&file);
}

/* An accepted image can be used without further checks. */
static void use_everything(const pop_image *image)
{
  uint64_t end = (uint64_t)image->base + image->size;
  volatile unsigned sum = 0;
  for (uint32_t i = 0; i < image->size; i++) sum += image->bytes[i];
  for (size_t i = 0; i < image->num_segments; i++) {
    cr_assert_geq(image->segments[i].start, image->base);
    cr_assert_leq((uint64_t)image->segments[i].start + image->segments[i].size, end);
  }
  for (size_t i = 0; i < image->num_symbols; i++) {
    sum += (unsigned)strlen(image->symbols[i].name);
    if (image->symbols[i].type) sum += (unsigned)strlen(image->symbols[i].type);
    cr_assert_lt(image->symbols[i].category, POP_MEMORY_CATEGORY_COUNT);
    cr_assert_geq(image->symbols[i].address, image->base);
    cr_assert_leq((uint64_t)image->symbols[i].address + image->symbols[i].size, end);
  }
  for (size_t i = 0; i < image->num_mappings; i++)
    cr_assert(image->mappings[i].address >= image->base && image->mappings[i].address <= end);
}

Test(image, G02_every_byte_changed)
{
  static const uint8_t masks[] = {0x01, 0x04, 0x10, 0x80, 0xff};
  pop_bytes file = sample_file();
  size_t refused = 0;
  for (size_t at = 0; at < file.size; at++) {
    for (size_t m = 0; m < sizeof masks; m++) {
      file.data[at] ^= masks[m];
      read_result r = read_copy(file.data, file.size, "ipu2");
      file.data[at] ^= masks[m];
      refused += r.error != NULL;
      if (!r.error) use_everything(&r.image);
      pop_error_free(r.error);
      discard(&r);
    }
  }
  cr_assert_gt(refused, file.size, "many of the changes concern a field that is checked");
  pop_bytes_free(&file);
}

/* Two bytes far apart change at once, so that tables contradict each other. The seed is fixed. */
Test(image, G04_random_changes)
{
  pop_bytes file = sample_file();
  uint32_t random = 12345;
  for (int round = 0; round < 20000; round++) {
    uint8_t *copy = malloc(file.size);
    memcpy(copy, file.data, file.size);
    for (int change = 0; change < 3; change++) {
      random = random * 1664525 + 1013904223;
      size_t word = (random >> 8) % (file.size / 4) * 4;
      random = random * 1664525 + 1013904223;
      uint32_t values[] = {random, 0, UINT32_MAX, random >> 24, 0x80000000, BASE + (random >> 25)};
      memcpy(copy + word, &values[(random >> 4) % COUNT(values)], 4);
    }
    read_result r = read_copy(copy, file.size, "ipu2");
    if (!r.error) use_everything(&r.image);
    pop_error_free(r.error);
    discard(&r);
    free(copy);
  }
  pop_bytes_free(&file);
}

/* One field of the sample gets a wrong value. Section numbers are those of image_write.c. */
enum { TEXT = 1, ATTRIBUTES, SEGMENTS, BUILD_ID, DETAILS, SYMTAB, STRTAB, SHSTRTAB, NUM_SECTIONS };
#define EHDR(field) 'e', 0, offsetof(Elf32_Ehdr, field), sizeof((Elf32_Ehdr *)0)->field
#define PHDR(index, field) 'p', index, offsetof(Elf32_Phdr, field), sizeof((Elf32_Phdr *)0)->field
#define SHDR(index, field) 's', index, offsetof(Elf32_Shdr, field), sizeof((Elf32_Shdr *)0)->field
#define SYM(index, field) 'y', index, offsetof(Elf32_Sym, field), sizeof((Elf32_Sym *)0)->field
#define DETAIL(index, word) 'd', index, 4 + 4 * (word), 4
#define SEGMENT(index, word) 'n', index, 4 * (word), 4

static const struct {
  const char *id;
  char table; /* 'e', 'p', 's', 'y', 'd' or 'n' */
  unsigned index;
  size_t field, field_bytes;
  uint32_t value;
  const char *fragment;
} fields[] = {
    {"G05 64-bit", EHDR(e_ident[EI_CLASS]), ELFCLASS64, "a 32-bit little-endian ELF file"},
    {"G05 big endian", EHDR(e_ident[EI_DATA]), ELFDATA2MSB, "a 32-bit little-endian ELF file"},
    {"G05 machine", EHDR(e_machine), EM_X86_64, "this file is for machine 62"},
    {"G05 object", EHDR(e_type), ET_REL, "this file is of type 1"},
    {"G03 version", EHDR(e_version), 2, "ELF version 2"},
    {"G07 no sections", EHDR(e_shnum), 0, "section headers"},
    {"G07 entry size", EHDR(e_shentsize), 64, "section headers of 64 bytes"},
    {"G07 many sections", EHDR(e_shnum), 0xff00, "truncated: the table of section headers"},
    {"G07 section headers", EHDR(e_shoff), 0xffffffff, "truncated: the table of section headers"},
    {"G09 names", EHDR(e_shstrndx), NUM_SECTIONS, "there is no section 9"},
    {"G09 names", EHDR(e_shstrndx), TEXT, "section 1 should be a string table"},
    {"A07 program headers", EHDR(e_phoff), 0xfffffff0, "truncated: the table of program headers"},
    {"A07 entry size", EHDR(e_phentsize), 56, "program headers of 56 bytes"},
    {"A08 entry in data", EHDR(e_entry), DATA, "the entry 0x4c050 is not"},
    {"A08 entry outside", EHDR(e_entry), 0, "the entry 0x0 is not"},
    {"A07 memsz > filesz", PHDR(0, p_memsz), 108, "104 bytes in the file and 108 in memory"},
    {"A07 filesz > memsz", PHDR(0, p_filesz), 108, "108 bytes in the file and 104 in memory"},
    {"A07 outside", PHDR(0, p_vaddr), 0, "the segment at 0x0 is not .text"},
    {"A07 wraps", PHDR(0, p_vaddr), 0xfffffff0, "the segment at 0xfffffff0 is not .text"},
    {"A07 other bytes", PHDR(0, p_offset), 0, "is not .text"},
    {"A07 overlap", PHDR(1, p_type), PT_LOAD, "bytes in the file and 0 in memory"},
    {"A07 type", PHDR(0, p_type), PT_NOTE, "0 segments are loaded, not one"},
    {"A07 segment outside", SEGMENT(0, 0), BASE - 4, "outside of the image"},
    {"A07 segment wraps", SEGMENT(2, 1), 0xfffffff0, "outside of the image"},
    {"A07 segments overlap", SEGMENT(1, 1), 20, "before the end of the one before it"},
    {"A07 no code", SEGMENT(1, 2), PF_R, "the entry 0x4c040 is not"},
    {"G07 note", SHDR(SEGMENTS, sh_type), SHT_NOTE, "there is no section .populus.segments"},
    {"G07 note loaded", SHDR(SEGMENTS, sh_flags), SHF_ALLOC, "'.populus.segments' takes memory"},
    {"G04 note", SHDR(SEGMENTS, sh_offset), 0xfffffff0, "truncated: .populus.segments"},
    {"G04 note size", SHDR(SEGMENTS, sh_size), 20, "has 20 bytes, not a multiple of 12"},
    {"G07 type", SHDR(TEXT, sh_type), SHT_NOBITS, ".text holds no memory"},
    {"G07 not allocated", SHDR(TEXT, sh_flags), 0, ".text holds no memory"},
    {"G04 .text outside", SHDR(TEXT, sh_offset), 0xffffff00, "truncated: .text"},
    {"G04 .text size", SHDR(TEXT, sh_size), 0xffffffff, "truncated: .text"},
    {"A07 wraps", SHDR(TEXT, sh_addr), 0xffffffff, "its memory starts at 0xffffffff"},
    {"G07 no .text", SHDR(TEXT, sh_name), 2, "section 'text' takes memory"},
    {"G09 name", SHDR(TEXT, sh_name), 9999, "the name of section 1 is outside"},
    {"G07 two .text", SHDR(SYMTAB, sh_name), 1, "the section .text holds no memory"},
    {"G07 other memory", SHDR(ATTRIBUTES, sh_flags), SHF_ALLOC, "'.riscv.attributes' takes memory"},
    {"G07 two tables", SHDR(ATTRIBUTES, sh_type), SHT_SYMTAB, "not made of entries"},
    {"G07 entry size", SHDR(SYMTAB, sh_entsize), 24, "not made of entries of 16"},
    {"G07 size", SHDR(SYMTAB, sh_size), 100, "not made of entries of 16"},
    {"G07 sh_link", SHDR(SYMTAB, sh_link), SYMTAB, "section 6 should be a string table"},
    {"G07 sh_link", SHDR(SYMTAB, sh_link), 0xffffffff, "there is no section 4294967295"},
    {"G04 symbols", SHDR(SYMTAB, sh_size), 0xfffffff0, "truncated: the symbol table"},
    {"G04 symbol names", SHDR(STRTAB, sh_offset), 0xfffffff0, "truncated: a string table"},
    {"G09 no NUL", SHDR(STRTAB, sh_size), 6, "string table 7 does not end in NUL"},
    {"G09 empty", SHDR(STRTAB, sh_size), 0, "string table 7 does not end in NUL"},
    {"G09 symbol name", SYM(4, st_name), 0x10000, "the name of symbol 4 is outside"},
    {"A08 symbol size", SYM(4, st_size), 0xffffffff, "outside of the image"},
    {"A08 symbol value", SYM(4, st_value), BASE - 4, "outside of the image"},
    {"G04 mapping value", SYM(1, st_value), 0, "outside of the image"},
    {"G04 mapping order", SYM(1, st_value), DATA, "mapping symbol"},
    {"G04 details", SHDR(DETAILS, sh_offset), 0xffffff00, "truncated: .populus.symbols"},
    {"G07 details loaded", SHDR(DETAILS, sh_flags), SHF_ALLOC, "'.populus.symbols' takes memory"},
    {"G09 types", SHDR(DETAILS, sh_size), 60, "do not start and end with NUL"},
    {"G10 category", DETAIL(0, 1), 200, "gives symbol 'constants' category 200"},
    {"G10 type", DETAIL(0, 1), 0xffffff00, "gives symbol 'constants' category 0 of"},
};

static uint8_t *field_of(uint8_t *file, size_t i)
{
  Elf32_Ehdr header;
  memcpy(&header, file, sizeof header);
  Elf32_Shdr sections[NUM_SECTIONS];
  memcpy(sections, file + header.e_shoff, sizeof sections);
  size_t table = fields[i].table == 'e'   ? 0
                 : fields[i].table == 'p' ? header.e_phoff + fields[i].index * sizeof(Elf32_Phdr)
                 : fields[i].table == 's' ? header.e_shoff + fields[i].index * sizeof(Elf32_Shdr)
                 : fields[i].table == 'n' ? sections[SEGMENTS].sh_offset + fields[i].index * 12
                 : fields[i].table == 'd'
                     ? sections[DETAILS].sh_offset + fields[i].index * 8
                     : sections[SYMTAB].sh_offset + fields[i].index * sizeof(Elf32_Sym);
  return file + table + fields[i].field;
}

Test(image, A07_A08_G05_G07_G09_wrong_fields_are_named)
{
  for (size_t i = 0; i < COUNT(fields); i++) {
    pop_bytes file = sample_file();
    memcpy(field_of(file.data, i), &fields[i].value, fields[i].field_bytes);
    read_result r = read_copy(file.data, file.size, "ipu2");
    expect_error(r.error, POP_ERROR_FILE_LOAD, fields[i].fragment, fields[i].id);
    discard(&r);
    pop_bytes_free(&file);
  }
}
