/* The copy of an object that DWARF readers understand. It is compared with the output of lld, which
 * relocates the same debug sections for the same addresses. libdw must find the lines in it. */
#include "support/link_objects.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

TestSuite(debug_object, .init = enter_fresh_folder);

static const char c_source[] = "static inline int get(volatile int *p)\n"
                               "{\n"
                               "  return *p;\n"
                               "}\n"
                               "int common, data = 5;\n"
                               "int first(int *p)\n"
                               "{\n"
                               "  return get(p) + 1;\n"
                               "}\n"
                               "int second(int x)\n"
                               "{\n"
                               "  if (x > data)\n"
                               "    return first(&common);\n"
                               "  return x * x;\n"
                               "}\n";

static const char cxx_source[] =
    "template <typename T> struct Box {\n"
    "  T value;\n"
    "  __attribute__((noinline)) T twice() { return value + value; }\n"
    "};\n"
    "thread_local int per_thread = 3, other_per_thread = 4;\n"
    "inline int shared() { static int n = 1; return ++n; }\n"
    "extern \"C\" float all(int n) {\n"
    "  Box<float> a{2.5f};\n"
    "  Box<int> b{n};\n"
    "  return a.twice() + b.twice() + shared() + per_thread + other_per_thread;\n"
    "}\n";

/* Each instruction is on a line of its own, from line 2 and from line 6 on. */
static const char asm_source[] = ".section .text.a,\"ax\",@progbits\n"
                                 "lw a0, 0(a0)\n"
                                 "addi a0, a0, 1\n"
                                 "ret\n"
                                 ".section .text.b,\"ax\",@progbits\n"
                                 "addi a0, a0, 2\n"
                                 "ret\n";

/* Places each section where the copy has it, then compares the debug sections with lld's. */
static void expect_what_lld_makes(const pop_bytes *image, const char *what)
{
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)image->data;
  const Elf32_Shdr *sections = (const Elf32_Shdr *)(image->data + header->e_shoff);
  const char *names = (const char *)image->data + sections[header->e_shstrndx].sh_offset;
  FILE *script = fopen("script.ld", "w");
  cr_assert_not_null(script);
  fprintf(script, "SECTIONS {\n");
  for (unsigned i = 1; i < header->e_shnum; ++i) {
    const char *name = names + sections[i].sh_name;
    if (sections[i].sh_flags & SHF_ALLOC)
      fprintf(script, "  %s 0x%x : { *(%s) }\n", name, sections[i].sh_addr, name);
  }
  fprintf(script, "}\n");
  fclose(script);
  cr_assert_eq(system("ld.lld-19 -O0 -e 0 --no-relax -T script.ld object.o -o linked.elf"), 0);
  uint8_t *linked;
  size_t size, compared = 0;
  expect_ok(pop_file_read("linked.elf", UINT32_MAX, &linked, &size));
  for (unsigned i = 1; i < header->e_shnum; ++i) {
    const char *name = names + sections[i].sh_name;
    if (strncmp(name, ".debug_", 7) != 0) continue;
    const Elf32_Shdr *other = section_header(linked, name);
    cr_assert_eq(other->sh_size, sections[i].sh_size, "%s: %s", what, name);
    cr_assert(
        memcmp(linked + other->sh_offset, image->data + sections[i].sh_offset, other->sh_size) == 0,
        "%s: %s", what, name);
    ++compared;
  }
  cr_assert_geq(compared, 4, "%s: %zu debug sections", what, compared);
  free(linked);
}

Test(debug_object, debug_sections_are_those_of_lld)
{
  static const struct {
    const char *options, *source;
  } cases[] = {
      {RV32_C "-fno-common -g -gdwarf-4", c_source},
      {RV32_C "-fno-common -g -gdwarf-5", c_source},
      {RV32_C "-fno-common -g -gdwarf-5 -O0", c_source},
      {RV32_C "-fno-common -g -O3 -gline-tables-only", c_source},
      {RV32_CXX "-g -gdwarf-4", cxx_source},
      {RV32_CXX "-g -gdwarf-5", cxx_source},
      {RV32_ASM "-g", asm_source},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_object *object = compiled(cases[i].options, cases[i].source, "debug.o");
    pop_bytes image = {0};
    expect_ok(pop_object_debug_image(object, &image));
    expect_what_lld_makes(&image, cases[i].options);
    pop_bytes_free(&image);
    pop_object_free(object);
  }
}

/* The line that libdw finds for an offset in a section of the copy; 0 if none. */
static int line_at(const pop_bytes *image, const char *section, uint32_t offset)
{
  int line = 0;
  elf_version(EV_CURRENT);
  Elf *elf = elf_memory((char *)image->data, image->size);
  Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  while (dwarf && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
    Dwarf_Line *found =
        dwarf_getsrc_die(&unit, section_header(image->data, section)->sh_addr + offset);
    if (found) dwarf_lineno(found, &line);
  }
  dwarf_end(dwarf);
  elf_end(elf);
  return line;
}

Test(debug_object, lines_of_sections_that_all_start_at_0)
{
  static const struct {
    const char *options, *source, *section;
    uint32_t offset;
    int line;
  } cases[] = {
      {RV32_ASM "-g", asm_source, ".text.a", 0, 2},
      {RV32_ASM "-g", asm_source, ".text.a", 8, 4},
      {RV32_ASM "-g", asm_source, ".text.a", 12, 0},
      {RV32_ASM "-g", asm_source, ".text.b", 0, 6},
      {RV32_ASM "-g", asm_source, ".text.b", 4, 7},
      {RV32_ASM, asm_source, ".text.b", 4, 0},
      {RV32_C "-g -gdwarf-4", c_source, ".text.first", 0, 3},
      {RV32_C "-g -gdwarf-5", c_source, ".text.first", 0, 3},
      {RV32_C "-g -fcommon", c_source, ".text.first", 0, 3},
      {RV32_CXX "-g", cxx_source, ".text._ZN3BoxIfE5twiceEv", 0, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_object *object = compiled(cases[i].options, cases[i].source, "debug.o");
    pop_bytes image = {0};
    expect_ok(pop_object_debug_image(object, &image));
    int line = line_at(&image, cases[i].section, cases[i].offset);
    cr_assert_eq(line, cases[i].line, "%s, %s+%u: line %d, not %d", cases[i].options,
                 cases[i].section, cases[i].offset, line, cases[i].line);
    pop_bytes_free(&image);
    pop_object_free(object);
  }
}

Test(debug_object, the_image_goes_behind_what_the_buffer_holds)
{
  pop_object *object = compiled(RV32_ASM "-g", asm_source, "debug.o");
  pop_bytes image = {0};
  pop_bytes_append(&image, "front", 5);
  expect_ok(pop_object_debug_image(object, &image));
  cr_assert_eq(memcmp(image.data, "front" ELFMAG, 5 + SELFMAG), 0);
  pop_bytes_free(&image);
  pop_object_free(object);
}

typedef enum field { OFFSET, TYPE, SYMBOL, FLAGS } field;

/* Damages the first relocation of debug section `name`, or with FLAGS the section itself. */
static void damage(uint8_t *bytes, const char *name, field field, uint32_t value)
{
  char *table = pop_xasprintf(".rela%s", name);
  Elf32_Rela *entry = (Elf32_Rela *)(bytes + section_header(bytes, table)->sh_offset);
  free(table);
  switch (field) {
  case OFFSET:
    entry->r_offset = value;
    break;
  case TYPE:
    entry->r_info = ELF32_R_INFO(ELF32_R_SYM(entry->r_info), value);
    break;
  case SYMBOL:
    entry->r_info = ELF32_R_INFO(value, ELF32_R_TYPE(entry->r_info));
    break;
  case FLAGS:
    section_header(bytes, name)->sh_flags |= value;
    break;
  }
}

Test(debug_object, G06_damaged_relocations_are_refused)
{
  static const struct {
    const char *section;
    field field;
    uint32_t value;
    const char *word;
  } cases[] = {
      {".debug_line", OFFSET, 0x7ffffffe, "section .debug_line at offset 0x7ffffffe"},
      {".debug_line", OFFSET, 0xffffffff, "ends behind the section"},
      {".debug_info", TYPE, 240, "type 240"},
      {".debug_info", TYPE, R_RISCV_BRANCH, "R_RISCV_BRANCH of section .debug_info"},
      {".debug_info", TYPE, R_RISCV_PCREL_LO12_I, "no place in debug information"},
      {".debug_info", TYPE, 61, "no R_RISCV_SET_ULEB128 in front"},
      {".debug_info", SYMBOL, 0x12345, "names symbol 74565 of"},
      {".debug_loclists", TYPE, R_RISCV_NONE, "no R_RISCV_SET_ULEB128 in front"},
      {".debug_loclists", SYMBOL, 1, "needs more bytes than it has"},
      {".debug_line", FLAGS, SHF_COMPRESSED, ".debug_line is compressed"},
  };
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_C "-g -gdwarf-5", c_source, &size), *copy = malloc(size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    memcpy(copy, bytes, size);
    damage(copy, cases[i].section, cases[i].field, cases[i].value);
    pop_object *object;
    expect_ok(pop_object_parse(copy, size, "x.gp(tile-0.o)", &object));
    pop_bytes image = {0};
    EXPECT_ERROR(pop_object_debug_image(object, &image), POP_ERROR_FILE_LOAD,
                 "debug information of x.gp(tile-0.o)", cases[i].word);
    cr_assert_eq(image.size, 0);
    pop_bytes_free(&image);
    pop_object_free(object);
  }
  free(copy);
  free(bytes);
}

/* No reader believes that a section of a few bytes is gigabytes long when uncompressed, with
 * relocations or without, in the old form or the new. */
Test(debug_object, G08_compressed_sections_are_refused)
{
  static const struct {
    const char *section, *name; /* name: NULL, or another of the same length */
    uint32_t flags;
    const char *word;
  } cases[] = {
      {".debug_str", NULL, SHF_COMPRESSED, ".debug_str is compressed"},
      {".debug_abbrev", NULL, SHF_COMPRESSED, ".debug_abbrev is compressed"},
      {".debug_abbrev", ".zdebug_abbre", 0, ".zdebug_abbre is compressed"},
  };
  static const Elf32_Chdr bomb = {ELFCOMPRESS_ZLIB, 0xfffffff0, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    size_t size;
    uint8_t *bytes = compiled_bytes(RV32_C "-g", c_source, &size);
    Elf32_Shdr *header = section_header(bytes, cases[i].section);
    memcpy(bytes + header->sh_offset, &bomb, sizeof bomb);
    header->sh_flags |= cases[i].flags;
    if (cases[i].name) {
      char *name = memmem(bytes, size, cases[i].section, strlen(cases[i].section) + 1);
      cr_assert_not_null(name);
      memcpy(name, cases[i].name, strlen(cases[i].name));
    }
    pop_object *object;
    expect_ok(pop_object_parse(bytes, size, "x.gp(tile-0.o)", &object));
    pop_bytes image = {0};
    EXPECT_ERROR(pop_object_debug_image(object, &image), POP_ERROR_FILE_LOAD,
                 "debug information of x.gp(tile-0.o)", cases[i].word);
    cr_assert_null(pop_debug_info_open(object));
    pop_object_free(object);
    free(bytes);
  }
}

/* The sanitizers report wrong accesses. */
Test(debug_object, G02_every_byte_flipped)
{
  size_t size, made = 0;
  uint8_t *bytes = compiled_bytes(RV32_C "-g", c_source, &size);
  for (size_t at = 0; at < size; ++at) {
    bytes[at] ^= 0xff;
    pop_object *object = NULL;
    pop_bytes image = {0};
    pop_error *error = pop_object_parse(bytes, size, "damaged.o", &object);
    if (!error) error = pop_object_debug_image(object, &image);
    if (!error) ++made;
    pop_error_free(error);
    pop_bytes_free(&image);
    pop_object_free(object);
    bytes[at] ^= 0xff;
  }
  cr_assert_geq(made, 100);
  free(bytes);
}
