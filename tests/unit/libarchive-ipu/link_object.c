/* Objects are checked before they are used. The tests have damaged objects and files of the wrong
 * kind. */
#include "object.h"
#include "support/link_objects.h"

#include <elf.h>

TestSuite(link_object, .init = enter_fresh_folder);

/* All kinds of contents: code, calls, constants, data, zeros, thread-local data, a group. */
static const char sample[] =
    "extern int outside __attribute__((weak));\n"
    "thread_local int per_thread = 3;\n"
    "int data[2] = {1, 2}, zeros[4];\n"
    "int *pointer = &data[1];\n"
    "inline int shared() { static int n = 1; return ++n; }\n"
    "extern \"C\" float table(int n) {\n"
    "  static const float values[] = {1, 2.5f, 3, 4};\n"
    "  return n > 3 ? outside : values[n] * data[n & 1];\n"
    "}\n"
    "extern \"C\" int first(int n) {\n"
    "  return zeros[n] + *pointer + per_thread + shared() + (int)table(n);\n"
    "}\n";

static const uint32_t code_address = 0x50000;
enum { memory_bytes = 1 << 16 };

typedef struct names {
  const char *roots[64];
  size_t count;
} names;

static void collect(void *context, const char *name, bool defined, bool weak)
{
  (void)weak;
  names *names = context;
  if (defined && names->count < 64) names->roots[names->count++] = name;
}

static void count_symbol(void *context, const pop_link_symbol *symbol)
{
  *(size_t *)context += strlen(symbol->name);
}

/* Calls all functions of live sections; the sanitizers report wrong accesses. */
static void use_live_sections(const pop_live_sections *live)
{
  pop_link_addresses addresses;
  uint32_t end = code_address;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; ++group) {
    uint32_t align = pop_live_sections_group_align(live, (pop_link_group)group);
    addresses.start[group] = end = (end + align - 1) & ~(align - 1);
    if (pop_live_sections_group_bytes(live, (pop_link_group)group) > memory_bytes / 4) return;
    end += pop_live_sections_group_bytes(live, (pop_link_group)group);
  }
  uint8_t *memory = pop_xcalloc(1, memory_bytes), *tls = pop_xcalloc(1, memory_bytes);
  pop_error_free(
      pop_live_sections_relocate(live, &addresses, memory, code_address, memory_bytes, tls));
  size_t length = 0;
  pop_live_sections_symbols(live, &addresses, count_symbol, &length);
  const pop_object *object;
  const char *section;
  uint32_t index, offset;
  for (uint32_t address = code_address - 4; address < end; address += 4)
    pop_live_sections_locate(live, &addresses, address, &object, &section, &index, &offset);
  free(memory);
  free(tls);
}

/* Parses the object, and links it if that succeeds. Returns whether it parsed. */
static bool survives(const uint8_t *bytes, size_t size)
{
  pop_object *object;
  pop_error *error = pop_object_parse(bytes, size, "damaged.o", &object);
  if (error) {
    cr_assert_not_null(strstr(pop_error_message(error), "damaged.o"));
    pop_error_free(error);
    return false;
  }
  pop_link_set *set = pop_link_set_new();
  names names = {.count = 0};
  pop_object_symbols(object, collect, &names);
  pop_live_sections *live;
  error = pop_link_set_add(set, object, false);
  if (!error) error = pop_live_sections_create(set, names.roots, NULL, names.count, &live);
  if (!error) {
    use_live_sections(live);
    pop_live_sections_free(live);
  }
  pop_error_free(error);
  pop_link_set_free(set);
  pop_object_free(object);
  return true;
}

Test(link_object, G01_cut_at_every_offset)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_CXX, sample, &size);
  cr_assert(survives(bytes, size));
  for (size_t cut = 0; cut < size; ++cut) {
    uint8_t *exact = malloc(cut ? cut : 1); /* ASan finds a read after the end */
    memcpy(exact, bytes, cut);
    cr_assert_not(survives(exact, cut), "cut at %zu of %zu", cut, size);
    free(exact);
  }
  free(bytes);
}

Test(link_object, G02_every_byte_flipped)
{
  static const uint8_t flips[] = {0xff, 0x01, 0x80, 0x08};
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_CXX, sample, &size);
  for (size_t flip = 0; flip < sizeof flips; ++flip) {
    for (size_t at = 0; at < size; ++at) {
      bytes[at] ^= flips[flip];
      survives(bytes, size);
      bytes[at] ^= flips[flip];
    }
  }
  free(bytes);
}

static void expect_refused(const uint8_t *bytes, size_t size, const char *word)
{
  pop_object *object;
  EXPECT_ERROR(pop_object_parse(bytes, size, "x.gp(tile-0.o)", &object), POP_ERROR_FILE_LOAD,
               "x.gp(tile-0.o)", word);
}

Test(link_object, G05_other_kinds_of_objects)
{
  static const struct {
    const char *options, *word;
  } kinds[] = {
      {"--target=riscv64-unknown-elf -x c", "64-bit"},
      {"--target=x86_64-linux-gnu -x c", "64-bit"},
      {"--target=ppc-linux-gnu -x c", "big-endian"},
      {"--target=i386-linux-gnu -x c", "e_machine is 3, not 243"},
      {"--target=riscv32-unknown-elf -march=rv32imac -mabi=ilp32 -x c", "compressed"},
      {"--target=riscv32-unknown-elf -march=rv32imf -mabi=ilp32 -x c", "-mabi=ilp32f"},
      {"--target=riscv32-unknown-elf -march=rv32imfd -mabi=ilp32d -x c", "double-float"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    size_t size;
    uint8_t *bytes = compiled_bytes(kinds[i].options, "int f(void) { return 1; }\n", &size);
    expect_refused(bytes, size, kinds[i].word);
    free(bytes);
  }
  expect_refused((const uint8_t *)"\xff\xd8\xff\xe0", 4, "is a JPEG image, not an ELF file");
  expect_refused((const uint8_t *)"BC\xc0\xde", 4, "is LLVM bitcode, not an ELF file");
  expect_refused((const uint8_t *)"", 0, "is empty, not an ELF file");
}

/* ---- damage to single fields ---- */

typedef enum field {
  SECTION_SIZE,
  SECTION_ALIGN,
  SECTION_FLAGS,
  SECTION_LINK,
  SECTION_INFO,
  SECTION_OFFSET,
  SECTION_NAME,
  SECTION_ENTRY,
  FIRST_RELOCATION_OFFSET,
  FIRST_RELOCATION_INFO,
  LAST_BYTE,
  SYMBOL_3_NAME,
  SYMBOL_3_SECTION,
  SYMBOL_3_VALUE,
  GROUP_MEMBER
} field;

static void damage(uint8_t *bytes, const char *section, field field, uint32_t value)
{
  Elf32_Shdr *header = section_header(bytes, section);
  uint8_t *content = bytes + header->sh_offset;
  Elf32_Rela *relocation = (Elf32_Rela *)content;
  Elf32_Sym *symbol = (Elf32_Sym *)content + 3;
  switch (field) {
  case SECTION_SIZE:
    header->sh_size = value;
    break;
  case SECTION_ALIGN:
    header->sh_addralign = value;
    break;
  case SECTION_FLAGS:
    header->sh_flags |= value;
    break;
  case SECTION_LINK:
    header->sh_link = value;
    break;
  case SECTION_INFO:
    header->sh_info = value;
    break;
  case SECTION_OFFSET:
    header->sh_offset = value;
    break;
  case SECTION_NAME:
    header->sh_name = value;
    break;
  case SECTION_ENTRY:
    header->sh_entsize = value;
    break;
  case FIRST_RELOCATION_OFFSET:
    relocation->r_offset = value;
    break;
  case FIRST_RELOCATION_INFO:
    relocation->r_info = value;
    break;
  case LAST_BYTE:
    content[header->sh_size - 1] = (uint8_t)value;
    break;
  case SYMBOL_3_NAME:
    symbol->st_name = value;
    break;
  case SYMBOL_3_SECTION:
    symbol->st_shndx = (uint16_t)value;
    break;
  case SYMBOL_3_VALUE:
    symbol->st_value = value;
    break;
  case GROUP_MEMBER:
    ((uint32_t *)content)[1] = value;
    break;
  }
}

Test(link_object, G04_G06_G07_G08_G09_damaged_fields)
{
  static const struct {
    const char *section;
    field field;
    uint32_t value;
    const char *word;
  } cases[] = {
      {".bss.zeros", SECTION_SIZE, 0xffffffff, "4294967295 bytes, more than any tile's memory"},
      {".text.first", SECTION_SIZE, 0xfffffff0, "ends behind the file"},
      {".text.first", SECTION_OFFSET, 0xfffffff0, "ends behind the file"},
      {".text.first", SECTION_OFFSET, 0x60, "overlap"},
      {".text.first", SECTION_ALIGN, 3, "not a power of two"},
      {".text.first", SECTION_ALIGN, 0x80000000, "alignment 2147483648"},
      {".strtab", SECTION_ALIGN, 0x20000, "alignment 131072"},
      {".text.first", SECTION_FLAGS, SHF_COMPRESSED, "is compressed, and so cannot be loaded"},
      {".text.first", SECTION_NAME, 0xffffff, "its name is at offset"},
      {".symtab", SECTION_LINK, 0, "not a string table"},
      {".symtab", SECTION_LINK, 0x1000, "does not exist"},
      {".symtab", SECTION_ENTRY, 0, "entries of 0"},
      {".symtab", SECTION_SIZE, 17, "entries have 16 bytes"},
      {".rela.text.first", SECTION_INFO, 0x10000, "relocates section 65536"},
      {".rela.text.first", FIRST_RELOCATION_OFFSET, 0x7ffffffe, "ends behind the section"},
      {".rela.text.first", FIRST_RELOCATION_INFO, 0xf0, "type 240"},
      {".rela.text.first", FIRST_RELOCATION_INFO, R_RISCV_RVC_JUMP, "type 45"},
      {".rela.text.first", FIRST_RELOCATION_INFO, 0xffff001a, "names symbol 16776960 of"},
      {".strtab", LAST_BYTE, 'x', "does not end with a NUL"},
      {".symtab", SYMBOL_3_NAME, 0x100000, "symbol 3"},
      {".symtab", SYMBOL_3_SECTION, 0x1234, "is in section 4660"},
      {".symtab", SYMBOL_3_SECTION, SHN_XINDEX, "no entry in SHT_SYMTAB_SHNDX"},
      {".symtab", SYMBOL_3_SECTION, 0xff20, "reserved section index 0xff20"},
      {".symtab", SYMBOL_3_VALUE, 0x7fffffff, "ends behind its section"},
      {".group", GROUP_MEMBER, 0x1000, "as a member"},
      {".group", SECTION_INFO, 0x1000, "as its signature"},
  };
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_CXX, sample, &size), *copy = malloc(size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    memcpy(copy, bytes, size);
    damage(copy, cases[i].section, cases[i].field, cases[i].value);
    expect_refused(copy, size, cases[i].word);
  }
  free(copy);
  free(bytes);
}

Test(link_object, G07_section_counts_and_loops)
{
  size_t size;
  uint8_t *bytes = compiled_bytes(RV32_CXX, sample, &size);
  Elf32_Ehdr *header = (Elf32_Ehdr *)bytes;
  Elf32_Shdr *first = (Elf32_Shdr *)(bytes + header->e_shoff);
  uint16_t count = header->e_shnum;

  header->e_shnum = 0; /* the count is then in section 0 */
  /* With the second count, the headers take 24 bytes modulo 2^32. */
  static const uint32_t counts[] = {0x10000000, 0x06666667};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    first->sh_size = counts[i];
    expect_refused(bytes, size, "section header table");
  }
  first->sh_size = count;
  cr_assert(survives(bytes, size), "the same count, in section 0");
  first->sh_size = 0;
  expect_refused(bytes, size, "no sections");
  header->e_shnum = count;

  for (unsigned i = 1; i < count; ++i) /* every section links to itself; no link is followed */
    first[i].sh_link = i;
  cr_assert_not(survives(bytes, size));
  free(bytes);
}

Test(link_object, G07_more_sections_than_16_bits_count)
{
  pop_bytes source = {0};
  enum { sections = 66000 };
  for (int i = 0; i < sections; ++i) {
    char *text = pop_xasprintf(".section .text.f%d,\"ax\",@progbits\n.globl f%d\nf%d: %s\n", i, i,
                               i, i == sections - 1 ? "call f0" : "ret");
    pop_bytes_append(&source, text, strlen(text));
    free(text);
  }
  pop_bytes_append(&source, "", 1);
  pop_object *object = compiled(RV32_ASM, (const char *)source.data, "many.o");
  pop_link_set *set = pop_link_set_new();
  pop_live_sections *live = NULL;
  cr_assert_null(pop_link_set_add(set, object, false));
  cr_assert_null(pop_live_sections_create(set, (const char *const[]){"f65999"}, NULL, 1, &live));
  cr_assert_eq(pop_live_sections_group_bytes(live, POP_LINK_CODE), 12, "f0 and f65999");
  pop_live_sections_free(live);
  pop_link_set_free(set);
  pop_object_free(object);
  pop_bytes_free(&source);
}

Test(link_object, content_and_symbols_can_be_looked_at)
{
  pop_object *object = compiled(RV32_ASM,
                                ".section .note.mine,\"\",@progbits\n"
                                ".ascii \"hello\"\n"
                                ".text\n.globl here\nhere: call there\n.weak perhaps\n",
                                "a.o");
  size_t size;
  const char *content = pop_object_section(object, ".note.mine", &size);
  cr_assert_eq(size, 5);
  cr_assert_eq(memcmp(content, "hello", 5), 0);
  cr_assert_null(pop_object_section(object, ".note.other", &size));
  cr_assert_str_eq(pop_object_name(object), "a.o");
  names defined = {.count = 0};
  pop_object_symbols(object, collect, &defined);
  cr_assert_eq(defined.count, 1);
  cr_assert_str_eq(defined.roots[0], "here");
  pop_object_free(object);
}
