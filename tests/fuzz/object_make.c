/* See object_make.h. */
#include "object_make.h"

#include <populus/link.h>
#include <populus/stack.h>
#include <populus/vertex_table.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
  MAX_OWN_SECTIONS = 8,
  MAX_OWN_SYMBOLS = 16,
  MAX_RELOCATIONS = 24,
  MAX_PATCHES = 8,
  /* null, own sections, own relocations, vertex table, symbols, names */
  MAX_SECTIONS = 1 + 2 * MAX_OWN_SECTIONS + 4
};

typedef struct section {
  const char *name;
  Elf32_Shdr header;
  pop_bytes content;
  pop_bytes relocations;
} section;

typedef struct maker {
  object_choices *choices;
  section sections[MAX_SECTIONS];
  unsigned num_own, num_sections; /* section 0 is none of them */
  Elf32_Sym symbols[MAX_OWN_SYMBOLS + 1];
  unsigned num_symbols;
  pop_bytes names;
} maker;

unsigned object_choose(object_choices *choices, unsigned count)
{
  unsigned value = choices->at < choices->size ? choices->bytes[choices->at++] : 0;
  return value % count;
}

static uint32_t choose_word(object_choices *choices)
{
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | object_choose(choices, 256);
  return word;
}

/* Small, at borders, or anything. */
static uint32_t choose_value(object_choices *choices)
{
  static const uint32_t borders[] = {0x10000,    0x20000,    0x40000,    0x9c000,    0xfff00,
                                     0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffe, 0xffffffff,
                                     0x4c000,    0x800,      0xfff,      0x1000,     0x100};
  unsigned choice = object_choose(choices, 256);
  if (choice < 200) return choice;
  if (choice < 200 + sizeof borders / sizeof *borders) return borders[choice - 200];
  return choose_word(choices);
}

/* ---- sections ---- */

static const struct {
  const char *name;
  uint32_t type, flags, entry_bytes;
} kinds[] = {
    {".text.A", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0},
    {".text.B", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0},
    {".data.x", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0},
    {".rodata.x", SHT_PROGBITS, SHF_ALLOC, 0},
    {".bss.x", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0},
    {".tdata.x", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, 0},
    {".tbss.x", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, 0},
    {".rodata.str1.1", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE | SHF_STRINGS, 1},
    {".rodata.cst4", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE, 4},
    {".group", SHT_GROUP, 0, 4},
    {".debug_line", SHT_PROGBITS, 0, 0},
    {POP_STACK_SECTION, SHT_PROGBITS, 0, 0},
    {POP_STACK_CALLS_SECTION, SHT_PROGBITS, 0, 0},
    {".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE, 0},
    {".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 4},
    {".note", SHT_NOTE, SHF_ALLOC, 0},
};
#define NUM_KINDS ((unsigned)(sizeof kinds / sizeof *kinds))

/* Typical instructions of codelets. Entry 0 is a return, so that a section of zeros is
 * a sound function. */
static const uint32_t instructions[] = {
    0x00008067, /* ret */
    0x00000013, /* nop */
    0x00052583, /* lw a1, 0(a0) */
    0x0005a603, /* lw a2, 0(a1) */
    0x00160613, /* addi a2, a2, 1 */
    0x00c5a023, /* sw a2, 0(a1) */
    0xff010113, /* addi sp, sp, -16 */
    0x01010113, /* addi sp, sp, 16 */
    0x00112623, /* sw ra, 12(sp) */
    0x00c12083, /* lw ra, 12(sp) */
    0x00000097, /* auipc ra, 0 */
    0x000080e7, /* jalr ra, ra */
    0x000005b7, /* lui a1, 0 */
    0x00058593, /* addi a1, a1, 0 */
    0x0000006f, /* j . */
    0x00050463, /* beqz a0, +8 */
    0x000580e7, /* jalr ra, a1 */
    0x00000517, /* auipc a0, 0 */
    0x00020533, /* add a0, tp, zero */
    0x00058067, /* jr a1 */
};

static void put_content(object_choices *choices, bool code, unsigned bytes, pop_bytes *content)
{
  enum { COUNT = sizeof instructions / sizeof *instructions };
  while (content->size < bytes) {
    unsigned choice = code ? object_choose(choices, COUNT + 2) : COUNT;
    uint32_t word = choice < COUNT ? instructions[choice] : choose_word(choices);
    size_t left = bytes - content->size;
    pop_bytes_append(content, &word, left < 4 ? left : 4);
  }
}

static section *add_section(maker *m, const char *name, uint32_t type, uint32_t flags)
{
  section *s = &m->sections[m->num_sections++];
  *s = (section){.name = name, .header = {.sh_type = type, .sh_flags = flags, .sh_addralign = 1}};
  return s;
}

static void make_section(maker *m)
{
  object_choices *c = m->choices;
  unsigned kind = object_choose(c, NUM_KINDS), align = object_choose(c, 64);
  unsigned size = object_choose(c, 64);
  bool code = kinds[kind].flags & SHF_EXECINSTR;
  section *s = add_section(m, kinds[kind].name, kinds[kind].type, kinds[kind].flags);
  s->header.sh_entsize = kinds[kind].entry_bytes;
  s->header.sh_addralign = align < 32 ? 1u << (align + (code ? 2 : 0)) % 32 : align % 8;
  if (code) size = 4 * size + 4;
  if (kinds[kind].type == SHT_NOBITS)
    s->header.sh_size = size < 48 ? size : choose_value(c);
  else
    put_content(c, code, size, &s->content);
}

/* ---- symbols ---- */

static const char *const symbol_names[] = {"__runCodelet_A",
                                           "__runCodelet_B",
                                           "x",
                                           "y",
                                           POP_LINK_MEMORY_BASE,
                                           "memcpy",
                                           "",
                                           "$x",
                                           "$d",
                                           ".L0",
                                           "z",
                                           "__runCodelet_",
                                           "memset",
                                           "main"};
#define NUM_NAMES ((unsigned)(sizeof symbol_names / sizeof *symbol_names))

static uint32_t put_name(pop_bytes *names, const char *name)
{
  uint32_t at = (uint32_t)names->size;
  pop_bytes_append(names, name, strlen(name) + 1);
  return at;
}

static void make_symbol(maker *m)
{
  static const uint16_t no_sections[] = {SHN_UNDEF, SHN_ABS, SHN_COMMON, SHN_XINDEX};
  static const uint8_t binds[] = {STB_GLOBAL, STB_LOCAL, STB_WEAK, STB_GNU_UNIQUE},
                       types[] = {STT_FUNC, STT_OBJECT, STT_NOTYPE, STT_SECTION,
                                  STT_FILE, STT_TLS,    STT_COMMON, STT_GNU_IFUNC};
  object_choices *c = m->choices;
  unsigned name = object_choose(c, NUM_NAMES), place = object_choose(c, MAX_OWN_SECTIONS + 4);
  Elf32_Sym *s = &m->symbols[m->num_symbols++];
  *s = (Elf32_Sym){.st_name = put_name(&m->names, symbol_names[name])};
  s->st_shndx = place < MAX_OWN_SECTIONS ? (uint16_t)(1 + place % m->num_own)
                                         : no_sections[place - MAX_OWN_SECTIONS];
  unsigned bind = object_choose(c, 16), type = object_choose(c, 16);
  s->st_info =
      ELF32_ST_INFO(bind < 4 ? binds[bind] : STB_GLOBAL, type < 8 ? types[type] : STT_FUNC);
  s->st_value = choose_value(c);
  s->st_size = choose_value(c);
}

/* As the format wants it: local ones first. */
static uint32_t sort_symbols(maker *m)
{
  Elf32_Sym sorted[MAX_OWN_SYMBOLS + 1] = {{0}};
  unsigned count = 1, num_local;
  for (int local = 1; local >= 0; --local) {
    for (unsigned i = 1; i < m->num_symbols; ++i)
      if ((ELF32_ST_BIND(m->symbols[i].st_info) == STB_LOCAL) == (local == 1))
        sorted[count++] = m->symbols[i];
    if (local) num_local = count;
  }
  memcpy(m->symbols, sorted, sizeof sorted);
  return num_local;
}

/* ---- relocations ---- */

static const uint8_t relocation_types[] = {
    R_RISCV_CALL,         R_RISCV_HI20,         R_RISCV_LO12_I,       R_RISCV_LO12_S,
    R_RISCV_PCREL_HI20,   R_RISCV_PCREL_LO12_I, R_RISCV_PCREL_LO12_S, R_RISCV_32,
    R_RISCV_BRANCH,       R_RISCV_JAL,          R_RISCV_CALL_PLT,     R_RISCV_GOT_HI20,
    R_RISCV_TPREL_HI20,   R_RISCV_TPREL_LO12_I, R_RISCV_TPREL_LO12_S, R_RISCV_TPREL_ADD,
    R_RISCV_ADD8,         R_RISCV_ADD16,        R_RISCV_ADD32,        R_RISCV_ADD64,
    R_RISCV_SUB6,         R_RISCV_SUB8,         R_RISCV_SUB16,        R_RISCV_SUB32,
    R_RISCV_SUB64,        R_RISCV_SET6,         R_RISCV_SET8,         R_RISCV_SET16,
    R_RISCV_SET32,        R_RISCV_32_PCREL,     R_RISCV_64,           R_RISCV_ALIGN,
    R_RISCV_RELAX,        R_RISCV_NONE,         R_RISCV_RVC_BRANCH,   R_RISCV_RVC_JUMP,
    R_RISCV_TLS_GOT_HI20, 59 /* PLT32 */,       60 /* SET_ULEB128 */, 61 /* SUB_ULEB128 */};

static void make_relocation(maker *m)
{
  object_choices *c = m->choices;
  enum { COUNT = sizeof relocation_types };
  section *s = &m->sections[1 + object_choose(c, m->num_own)];
  unsigned type = object_choose(c, COUNT + 1), symbol = object_choose(c, m->num_symbols + 1);
  uint32_t offset = choose_value(c);
  uint32_t number = type < COUNT ? relocation_types[type] : object_choose(c, 256);
  Elf32_Rela relocation = {.r_offset = offset < 200 ? offset & ~3u : offset,
                           .r_info = ELF32_R_INFO(symbol, number),
                           .r_addend = (int32_t)choose_value(c)};
  pop_bytes_append(&s->relocations, &relocation, sizeof relocation);
}

/* ---- the file ---- */

static void add_relocation_sections(maker *m, unsigned symtab)
{
  for (unsigned i = 1; i <= m->num_own; ++i) {
    if (!m->sections[i].relocations.size) continue;
    section *s = add_section(m, ".rela", SHT_RELA, SHF_INFO_LINK);
    s->content = m->sections[i].relocations;
    m->sections[i].relocations = (pop_bytes){0};
    s->header.sh_link = symtab;
    s->header.sh_info = i;
    s->header.sh_entsize = sizeof(Elf32_Rela);
  }
}

static void add_tables(maker *m, const pop_bytes *table)
{
  section *vertices = add_section(m, POP_VERTEX_TABLE_SECTION, SHT_PROGBITS, 0);
  pop_bytes_append(&vertices->content, table->data, table->size);
  unsigned symtab = m->num_sections;
  section *symbols = add_section(m, ".symtab", SHT_SYMTAB, 0);
  symbols->header.sh_info = sort_symbols(m);
  symbols->header.sh_link = symtab + 1;
  symbols->header.sh_entsize = sizeof(Elf32_Sym);
  pop_bytes_append(&symbols->content, m->symbols, m->num_symbols * sizeof *m->symbols);
  add_section(m, ".strtab", SHT_STRTAB, 0); /* gets its content when all have names */
  add_relocation_sections(m, symtab);
  for (unsigned i = 1; i < m->num_sections; ++i)
    m->sections[i].header.sh_name = put_name(&m->names, m->sections[i].name);
  m->sections[symtab + 1].content = m->names;
  for (unsigned i = 1; i <= m->num_own; ++i)
    if (m->sections[i].header.sh_type == SHT_GROUP) m->sections[i].header.sh_link = symtab;
}

static void put_file(maker *m, pop_bytes *elf)
{
  size_t start = elf->size, strtab = 0;
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_REL,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
      .e_ehsize = sizeof header,
      .e_shentsize = sizeof(Elf32_Shdr),
      .e_shnum = (Elf32_Half)m->num_sections};
  static const uint8_t padding[4];
  pop_bytes_append(elf, &header, sizeof header);
  for (unsigned i = 1; i < m->num_sections; ++i) {
    section *s = &m->sections[i];
    pop_bytes_append(elf, padding, -elf->size & 3);
    s->header.sh_offset = (uint32_t)(elf->size - start);
    if (s->header.sh_type != SHT_NOBITS) s->header.sh_size = (uint32_t)s->content.size;
    if (s->content.size) pop_bytes_append(elf, s->content.data, s->content.size);
    if (s->header.sh_type == SHT_STRTAB) strtab = i;
    pop_bytes_free(&s->content);
  }
  pop_bytes_append(elf, padding, -elf->size & 3);
  header.e_shoff = (uint32_t)(elf->size - start);
  header.e_shstrndx = (Elf32_Half)strtab;
  memcpy(elf->data + start, &header, sizeof header);
  for (unsigned i = 0; i < m->num_sections; ++i)
    pop_bytes_append(elf, &m->sections[i].header, sizeof(Elf32_Shdr));
}

/* Changes one field of the file's header or of a section's, or any byte. */
static void patch(maker *m, uint8_t *file, size_t size)
{
  object_choices *c = m->choices;
  Elf32_Ehdr header;
  memcpy(&header, file, sizeof header);
  unsigned where = object_choose(c, 3);
  uint32_t at, bytes = 4;
  if (where == 0) {
    at = 16 + 2 * object_choose(c, (sizeof header - 16) / 2);
    bytes = 2;
  } else if (where == 1) {
    unsigned section = object_choose(c, m->num_sections);
    unsigned field = object_choose(c, sizeof(Elf32_Shdr) / sizeof(uint32_t));
    at = header.e_shoff + (uint32_t)sizeof(Elf32_Shdr) * section + 4 * field;
  } else {
    at = choose_word(c) % (uint32_t)size;
    bytes = 1;
  }
  uint32_t value = choose_value(c);
  if (at < size && bytes <= size - at) memcpy(file + at, &value, bytes);
}

void object_make(object_choices *choices, const pop_bytes *table, pop_bytes *elf)
{
  maker m = {.choices = choices, .num_sections = 1, .num_symbols = 1};
  size_t start = elf->size;
  put_name(&m.names, "");
  m.num_own = 1 + object_choose(choices, MAX_OWN_SECTIONS);
  for (unsigned i = 0; i < m.num_own; ++i) make_section(&m);
  unsigned num_symbols = 1 + object_choose(choices, MAX_OWN_SYMBOLS);
  for (unsigned i = 0; i < num_symbols; ++i) make_symbol(&m);
  unsigned num_relocations = object_choose(choices, MAX_RELOCATIONS + 1);
  for (unsigned i = 0; i < num_relocations; ++i) make_relocation(&m);
  add_tables(&m, table);
  put_file(&m, elf);
  unsigned num_patches = object_choose(choices, MAX_PATCHES + 1);
  for (unsigned i = 0; i < num_patches; ++i) patch(&m, elf->data + start, elf->size - start);
}
