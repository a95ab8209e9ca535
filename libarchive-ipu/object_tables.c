/* Reads the content of an object's sections: symbols, COMDAT groups, relocations. See object.h. */
#include "object.h"
#include <stdlib.h>
#include <string.h>

/* Symbols. */

typedef struct symbol_tables {
  uint32_t symbols;  /* section index of SHT_SYMTAB, 0: none */
  uint32_t strings;  /* of its string table */
  uint32_t extended; /* of SHT_SYMTAB_SHNDX, 0: none */
} symbol_tables;

static pop_error *check_entries(const pop_object *object, uint32_t index, size_t entry_bytes)
{
  Elf32_Shdr raw = object_raw_section(object, index);
  if (raw.sh_entsize == entry_bytes && raw.sh_size % entry_bytes == 0) return NULL;
  return pop_error_new(
      POP_ERROR_FILE_LOAD, "section %u (%s) has %u bytes in entries of %u; entries have %zu bytes",
      index, object->sections[index].name, raw.sh_size, raw.sh_entsize, entry_bytes);
}

static pop_error *find_symbol_tables(const pop_object *object, symbol_tables *tables)
{
  *tables = (symbol_tables){0};
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    uint32_t type = object->sections[i].type;
    if (type != SHT_SYMTAB && type != SHT_SYMTAB_SHNDX) continue;
    uint32_t *table = type == SHT_SYMTAB ? &tables->symbols : &tables->extended;
    if (*table) {
      return pop_error_new(POP_ERROR_FILE_LOAD, "sections %u and %u are both %s; an object has one",
                           *table, i,
                           type == SHT_SYMTAB ? "symbol tables" : "tables of section indices");
    }
    *table = i;
  }
  if (!tables->symbols) return NULL;
  tables->strings = object_raw_section(object, tables->symbols).sh_link;
  if (tables->extended) POP_TRY(check_entries(object, tables->extended, sizeof(Elf32_Word)));
  return check_entries(object, tables->symbols, sizeof(Elf32_Sym));
}

static Elf32_Sym raw_symbol(const pop_object *object, const symbol_tables *tables, uint32_t index)
{
  Elf32_Sym raw;
  memcpy(&raw, object->sections[tables->symbols].data + (size_t)index * sizeof raw, sizeof raw);
  return raw;
}

/* The section of a symbol whose st_shndx says that it is in the table of section indices. */
static pop_error *extended_index(const pop_object *object, const symbol_tables *tables,
                                 uint32_t index, uint32_t *section)
{
  if (!tables->extended || object->sections[tables->extended].size / sizeof(Elf32_Word) <= index) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "has section index SHN_XINDEX, but no entry in SHT_SYMTAB_SHNDX");
  }
  memcpy(section, object->sections[tables->extended].data + (size_t)index * sizeof *section,
         sizeof *section);
  return NULL;
}

/* A tentative definition ("int x;" with -fcommon) gets a section of zeros of its own. */
static pop_error *place_common(pop_object *object, const Elf32_Sym *raw, object_symbol *symbol)
{
  uint32_t align = raw->st_value ? raw->st_value : 1;
  if (align & (align - 1) || align > POP_LINK_ALIGN_MAX ||
      raw->st_size > OBJECT_SECTION_BYTES_MAX) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "is a common symbol of %u bytes, aligned to %u; tiles align to powers of "
                         "two, %u at most",
                         raw->st_size, align, POP_LINK_ALIGN_MAX);
  }
  object->sections[object->num_sections] = (object_section){
      .name = "COMMON",
      .size = raw->st_size,
      .align = align,
      .type = SHT_NOBITS,
      .flags = SHF_ALLOC | SHF_WRITE | (symbol->type == STT_TLS ? SHF_TLS : 0),
      .group = OBJECT_NONE,
  };
  symbol->place = PLACE_SECTION;
  symbol->section = object->num_sections++;
  symbol->value = 0; /* was the alignment */
  symbol->common = true;
  return NULL;
}

static pop_error *place_in_section(const pop_object *object, uint32_t index, object_symbol *symbol)
{
  if (index >= object->num_sections) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "is in section %u of %u", index,
                         object->num_sections);
  }
  const object_section *section = &object->sections[index];
  if (section->flags & SHF_ALLOC &&
      (symbol->value > section->size || symbol->size > section->size - symbol->value)) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "(%u bytes at 0x%x) ends behind its section %s, which has %u bytes",
                         symbol->size, symbol->value, section->name, section->size);
  }
  symbol->place = PLACE_SECTION;
  symbol->section = index;
  return NULL;
}

static pop_error *place_symbol(pop_object *object, const symbol_tables *tables, uint32_t index,
                               const Elf32_Sym *raw)
{
  object_symbol *symbol = &object->symbols[index];
  uint32_t section = raw->st_shndx;
  switch (raw->st_shndx) {
  case SHN_UNDEF:
    symbol->place = PLACE_UNDEFINED;
    return NULL;
  case SHN_ABS:
    symbol->place = PLACE_ABSOLUTE;
    return NULL;
  case SHN_COMMON:
    return place_common(object, raw, symbol);
  case SHN_XINDEX:
    POP_TRY(extended_index(object, tables, index, &section));
    break;
  default:
    if (section >= SHN_LORESERVE)
      return pop_error_new(POP_ERROR_FILE_LOAD, "has the reserved section index 0x%x", section);
  }
  return place_in_section(object, section, symbol);
}

static pop_error *read_symbol(pop_object *object, const symbol_tables *tables, uint32_t index)
{
  Elf32_Sym raw = raw_symbol(object, tables, index);
  object_symbol *symbol = &object->symbols[index];
  POP_TRY(object_string(object, tables->strings, raw.st_name, &symbol->name));
  symbol->value = raw.st_value;
  symbol->size = raw.st_size;
  symbol->bind = ELF32_ST_BIND(raw.st_info);
  symbol->type = ELF32_ST_TYPE(raw.st_info);
  if (symbol->bind > STB_WEAK)
    return pop_error_new(POP_ERROR_FILE_LOAD, "has the unknown binding %u", symbol->bind);
  if (symbol->type > STT_TLS) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has type %u%s", symbol->type,
                         symbol->type == STT_GNU_IFUNC
                             ? " (indirect function), which needs start-up code: tiles have none"
                             : ", which is unknown");
  }
  return place_symbol(object, tables, index, &raw);
}

/* Makes room for the sections of common symbols. */
static pop_error *reserve_common(pop_object *object, const symbol_tables *tables)
{
  size_t common = 0;
  for (uint32_t i = 0; i < object->num_symbols; ++i)
    common += raw_symbol(object, tables, i).st_shndx == SHN_COMMON;
  object_section *sections =
      realloc(object->sections, (object->num_sections + common) * sizeof *sections);
  if (!sections) return pop_error_new(POP_ERROR_MEMORY, "no memory for %zu common symbols", common);
  object->sections = sections;
  return NULL;
}

static pop_error *read_symbols(pop_object *object)
{
  symbol_tables tables;
  POP_TRY(find_symbol_tables(object, &tables));
  uint32_t count = tables.symbols ? object->sections[tables.symbols].size / sizeof(Elf32_Sym) : 0;
  POP_TRY(OBJECT_ALLOCATE(object, object->symbols, count));
  object->num_symbols = count;
  POP_TRY(reserve_common(object, &tables));
  for (uint32_t i = 0; i < count; ++i) {
    pop_error *error = read_symbol(object, &tables, i);
    if (error) {
      const char *name = object->symbols[i].name;
      return pop_error_prefix(error, "symbol %u%s%s", i, name ? " " : "", name ? name : "");
    }
  }
  return NULL;
}

/* Symbols by place. */

char object_mapping_kind(const object_symbol *symbol)
{
  const char *name = symbol->name;
  if (symbol->bind != STB_LOCAL || symbol->type != STT_NOTYPE || name[0] != '$') return 0;
  if (name[1] == 'd' && (name[2] == '\0' || name[2] == '.')) return 'd';
  /* "$xrv32i2p1_…" names the instruction set as well. */
  return name[1] == 'x' && (name[2] == '\0' || name[2] == '.' || name[2] == 'r') ? 'x' : 0;
}

static bool names_place(const pop_object *object, const object_symbol *symbol)
{
  if (symbol->place != PLACE_SECTION || !(object->sections[symbol->section].flags & SHF_ALLOC))
    return false;
  switch (symbol->type) {
  case STT_FUNC:
  case STT_OBJECT:
  case STT_COMMON:
  case STT_TLS:
    return true;
  case STT_NOTYPE:
    return symbol->bind != STB_LOCAL || object_mapping_kind(symbol);
  default:
    return false;
  }
}

static int compare_place(const void *left, const void *right, void *context)
{
  const object_symbol *symbols = context;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  const object_symbol *a = &symbols[i], *b = &symbols[j];
  if (a->section != b->section) return a->section < b->section ? -1 : 1;
  if (a->value != b->value) return a->value < b->value ? -1 : 1;
  return (i > j) - (i < j);
}

static pop_error *order_symbols(pop_object *object)
{
  POP_TRY(OBJECT_ALLOCATE(object, object->by_place, object->num_symbols));
  uint32_t count = 0;
  for (uint32_t i = 1; i < object->num_symbols; ++i) {
    if (names_place(object, &object->symbols[i])) object->by_place[count++] = i;
  }
  qsort_r(object->by_place, count, sizeof *object->by_place, compare_place, object->symbols);
  for (uint32_t i = 0; i < count; ++i) {
    object_section *section = &object->sections[object->symbols[object->by_place[i]].section];
    if (section->num_symbols++ == 0) section->first_symbol = i;
  }
  return NULL;
}

const char *object_name_at(const pop_object *object, uint32_t section, uint32_t offset)
{
  const char *name = object->sections[section].name;
  const uint32_t *index = object->by_place + object->sections[section].first_symbol;
  for (uint32_t i = 0; i < object->sections[section].num_symbols; ++i) {
    const object_symbol *symbol = &object->symbols[index[i]];
    if (symbol->value > offset) break;
    if (!object_mapping_kind(symbol)) name = symbol->name;
  }
  return name;
}

/* COMDAT groups. */

static pop_error *read_member(pop_object *object, uint32_t group, uint32_t member)
{
  if (member == 0 || member >= object->num_sections) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has section %u of %u as a member", member,
                         object->num_sections);
  }
  object_section *section = &object->sections[member];
  if (section->group != OBJECT_NONE) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has section %u as a member, which is in a group",
                         member);
  }
  section->group = group;
  return NULL;
}

static pop_error *read_group(pop_object *object, uint32_t index)
{
  Elf32_Shdr raw = object_raw_section(object, index);
  const object_section *section = &object->sections[index];
  if (section->size < sizeof(Elf32_Word) || section->size % sizeof(Elf32_Word))
    return pop_error_new(POP_ERROR_FILE_LOAD, "has %u bytes", section->size);
  if (raw.sh_info >= object->num_symbols) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "has symbol %u of %u as its signature", raw.sh_info,
                         object->num_symbols);
  }
  if (!(relocation_get32(section->data) & GRP_COMDAT))
    return NULL; /* only says what belongs together */
  const object_symbol *signature = &object->symbols[raw.sh_info];
  object_group *group = &object->groups[object->num_groups];
  group->signature = signature->name;
  if (signature->type == STT_SECTION && signature->place == PLACE_SECTION)
    group->signature = object->sections[signature->section].name;
  for (uint32_t at = sizeof(Elf32_Word); at < section->size; at += sizeof(Elf32_Word))
    POP_TRY(read_member(object, object->num_groups, relocation_get32(section->data + at)));
  ++object->num_groups;
  return NULL;
}

static pop_error *read_groups(pop_object *object)
{
  uint32_t count = 0;
  for (uint32_t i = 1; i < object->num_sections; ++i)
    count += object->sections[i].type == SHT_GROUP;
  POP_TRY(OBJECT_ALLOCATE(object, object->groups, count));
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    if (object->sections[i].type != SHT_GROUP) continue;
    pop_error *error = read_group(object, i);
    if (error) return pop_error_prefix(error, "group section %u", i);
  }
  return NULL;
}

/* Relocations. */

static int compare_relocations(const void *left, const void *right)
{
  const object_relocation *a = left, *b = right;
  if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
  if (a->type->high != b->type->high) return a->type->high ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

static pop_error *check_relocation(const pop_object *object, const object_section *target,
                                   const Elf32_Rela *raw)
{
  uint32_t number = ELF32_R_TYPE(raw->r_info), symbol = ELF32_R_SYM(raw->r_info);
  const relocation_type *type = relocation_type_find(number);
  if (!type) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "has type %u, which is not one of non-compressed, position-dependent "
                         "RV32 code: compile with -march=rv32imf_zfh_zba_zbb -fno-pic",
                         number);
  }
  if (raw->r_offset > target->size || type->bytes > target->size - raw->r_offset) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "(%s, %u bytes) ends behind the section's %u bytes",
                         type->name, type->bytes, target->size);
  }
  if (symbol >= object->num_symbols && symbol != 0) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "(%s) names symbol %u of %u", type->name, symbol,
                         object->num_symbols);
  }
  return NULL;
}

pop_error *object_read_relocation(const pop_object *object, const object_section *table,
                                  uint32_t index, const object_section *target,
                                  object_relocation *relocation)
{
  Elf32_Rela raw;
  memcpy(&raw, table->data + (size_t)index * sizeof raw, sizeof raw);
  pop_error *error = check_relocation(object, target, &raw);
  if (error) {
    return pop_error_prefix(error, "relocation of section %s at offset 0x%x", target->name,
                            raw.r_offset);
  }
  *relocation = (object_relocation){.offset = raw.r_offset,
                                    .symbol = ELF32_R_SYM(raw.r_info),
                                    .addend = (uint32_t)raw.r_addend,
                                    .order = index,
                                    .type = relocation_type_find(ELF32_R_TYPE(raw.r_info))};
  return NULL;
}

static void sort_relocations(const pop_object *object, const object_section *target)
{
  object_relocation *first = object->relocations + target->first_relocation;
  bool sorted = true;
  for (uint32_t i = 1; i < target->num_relocations && sorted; ++i)
    sorted = compare_relocations(&first[i - 1], &first[i]) < 0;
  if (!sorted) /* assemblers mostly write them in order */
    qsort(first, target->num_relocations, sizeof *first, compare_relocations);
}

static pop_error *read_relocation_section(pop_object *object, uint32_t index)
{
  const object_section *table = &object->sections[index];
  object_section *target = &object->sections[object_raw_section(object, index).sh_info];
  POP_TRY(check_entries(object, index, sizeof(Elf32_Rela)));
  if (target->num_relocations || !target->data) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "section %u (%s) relocates %s, which %s", index,
                         table->name, target->name,
                         target->data ? "another one does too" : "has no content");
  }
  target->first_relocation = object->num_relocations;
  for (uint32_t i = 0; i < table->size / sizeof(Elf32_Rela); ++i) {
    POP_TRY(object_read_relocation(object, table, i, target,
                                   &object->relocations[object->num_relocations]));
    ++object->num_relocations;
  }
  target->num_relocations = object->num_relocations - target->first_relocation;
  sort_relocations(object, target);
  return NULL;
}

/* Does section `index` relocate a loaded section? Relocations of debug sections are not
 * read here. */
static pop_error *relocates_loaded(const pop_object *object, uint32_t index, bool *relocates)
{
  *relocates = false;
  if (object->sections[index].type != SHT_RELA && object->sections[index].type != SHT_REL)
    return NULL;
  uint32_t target = object_raw_section(object, index).sh_info;
  if (target == 0 || target >= object->num_sections) {
    return pop_error_new(POP_ERROR_FILE_LOAD, "section %u (%s) relocates section %u of %u", index,
                         object->sections[index].name, target, object->num_sections);
  }
  *relocates = object->sections[target].flags & SHF_ALLOC;
  if (*relocates && object->sections[index].type == SHT_REL) {
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "section %u (%s) holds relocations without addends (SHT_REL); RISC-V "
                         "objects have SHT_RELA",
                         index, object->sections[index].name);
  }
  return NULL;
}

static pop_error *read_relocations(pop_object *object)
{
  size_t count = 0;
  bool relocates;
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    POP_TRY(relocates_loaded(object, i, &relocates));
    count += relocates ? object->sections[i].size / sizeof(Elf32_Rela) : 0;
  }
  POP_TRY(OBJECT_ALLOCATE(object, object->relocations, count));
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    POP_TRY(relocates_loaded(object, i, &relocates));
    if (relocates) POP_TRY(read_relocation_section(object, i));
  }
  return NULL;
}

/* Start-up functions, by section type or by the older convention of a name. */
static void find_constructors(pop_object *object)
{
  for (uint32_t i = 1; i < object->num_sections; ++i) {
    const object_section *section = &object->sections[i];
    bool listed = section->type == SHT_INIT_ARRAY || section->type == SHT_PREINIT_ARRAY ||
                  strncmp(section->name, ".init_array", 11) == 0 ||
                  strncmp(section->name, ".ctors", 6) == 0;
    if (listed && section->flags & SHF_ALLOC && section->size) object->constructors = i;
  }
}

pop_error *object_read_tables(pop_object *object)
{
  POP_TRY(read_symbols(object));
  POP_TRY(order_symbols(object));
  POP_TRY(read_groups(object));
  POP_TRY(read_relocations(object));
  find_constructors(object);
  return NULL;
}
