/* Debug information of live sections at their addresses in tile memory, as a file of its own.
 *
 *   objects of the live sections        file, ELF32 ET_EXEC
 *   a.o: .debug_info  ─┐          .code     no bytes: says where the code is
 *        .debug_line  ─┼─┐        .debug_info   a.o's, then b.o's
 *   b.o: .debug_info  ─┘ │        .debug_line   a.o's, then b.o's
 *        .debug_line  ───┘        …
 *
 * Sections of one name follow one another, as in a linker's output, and their relocations are
 * applied. An object's debug information is about all of its functions, while the live sections may
 * hold few of them. A function that is not there, or is folded into another's copy, gets address 0,
 * where no tile has memory and DWARF readers assume removed code. (In DWARF 4 two zeros end a list;
 * there it is 1.) Functions are in .symtab, too, for tools that expect some in every file. Strings
 * are not merged and nothing is compressed: the host reads the file, one function at a time.
 *
 * No section here is named `.text`: the file lies in archives, and users filter the lines of `size
 * -A` by that word.
 *
 * Source: DWARF 5, 7.3; lld/ELF/InputSection.cpp (relocateNonAlloc) for the addresses of what is
 * not there.
 */
#include "debug_relocate.h"
#include "live_sections.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

/* One debug section of an object, and where it goes. */
typedef struct input_section {
  uint32_t object; /* of the set */
  uint32_t section;
  uint32_t output;
  uint32_t offset; /* in the output section */
} input_section;

typedef struct output_section {
  const char *name;
  uint32_t size, align, flags, entry_bytes;
  uint32_t file_offset;
} output_section;

typedef struct debug_file {
  const pop_live_sections *live;
  const pop_link_addresses *addresses;
  input_section *inputs; /* by object, then section */
  size_t num_inputs, inputs_capacity;
  pop_name_table output_names;
  output_section *outputs;
  size_t num_outputs, outputs_capacity;
  Elf32_Sym *symbols; /* the empty one, then functions, local ones first */
  size_t num_symbols, symbols_capacity;
  uint32_t num_local_symbols;
  pop_bytes symbol_names;
  uint8_t *bytes;               /* of the file */
  uint32_t object;              /* of the set, whose relocations are being applied … */
  const input_section *at_work; /* … to this section */
} debug_file;

/* Collecting. */

/* False for a group whose kept copy is another object's. */
static bool is_wanted(const pop_link_set *set, uint32_t object, uint32_t index)
{
  const object_section *section = &set->objects[object].object->sections[index];
  return debug_is_section(section) && !(section->flags & SHF_COMPRESSED) &&
         link_set_keeper(set, set->objects[object].first_section + index) == &set->objects[object];
}

static uint32_t find_output(debug_file *file, const object_section *section)
{
  uint32_t found = pop_name_table_find(&file->output_names, section->name);
  if (found < file->num_outputs) return found;
  pop_name_table_add(&file->output_names, section->name, (uint32_t)file->num_outputs);
  pop_push(file->outputs, file->num_outputs, file->outputs_capacity,
           (output_section){.name = section->name,
                            .align = 1,
                            .flags = section->flags & (SHF_MERGE | SHF_STRINGS),
                            .entry_bytes = section->entry_bytes});
  return (uint32_t)file->num_outputs - 1;
}

static pop_error *add_input(debug_file *file, uint32_t object, uint32_t index)
{
  const object_section *section = &file->live->set->objects[object].object->sections[index];
  uint32_t number = find_output(file, section);
  output_section *output = &file->outputs[number];
  uint64_t start = ((uint64_t)output->size + section->align - 1) & ~((uint64_t)section->align - 1);
  if (start + section->size > OBJECT_SECTION_BYTES_MAX) {
    return pop_error_new(POP_ERROR_LINK, "%s of all objects together has more than %u bytes",
                         section->name, OBJECT_SECTION_BYTES_MAX);
  }
  if (section->align > output->align) output->align = section->align;
  output->size = (uint32_t)(start + section->size);
  pop_push(file->inputs, file->num_inputs, file->inputs_capacity,
           (input_section){object, index, number, (uint32_t)start});
  return NULL;
}

static pop_error *add_object(debug_file *file, uint32_t object)
{
  const pop_link_set *set = file->live->set;
  for (uint32_t i = 1; i < set->objects[object].object->num_sections; ++i)
    if (is_wanted(set, object, i)) POP_TRY(add_input(file, object, i));
  return NULL;
}

static int compare_numbers(const void *left, const void *right)
{
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/* The objects that own live sections, in their order in the set, each once. */
static pop_error *add_objects(debug_file *file)
{
  const pop_live_sections *live = file->live;
  uint32_t *owners = pop_xcalloc(live->num_sections + 1, sizeof *owners);
  for (size_t i = 0; i < live->num_sections; ++i)
    owners[i] = live->set->section_owners[live->sections[i].section];
  qsort(owners, live->num_sections, sizeof *owners, compare_numbers);
  pop_error *error = NULL;
  for (size_t i = 0; i < live->num_sections && !error; ++i)
    if (i == 0 || owners[i] != owners[i - 1]) error = add_object(file, owners[i]);
  free(owners);
  return error;
}

/* Values. */

static int compare_inputs(const void *left, const void *right)
{
  const input_section *a = left, *b = right;
  if (a->object != b->object) return a->object < b->object ? -1 : 1;
  return (a->section > b->section) - (a->section < b->section);
}

static const input_section *find_input(const debug_file *file, uint32_t object, uint32_t section)
{
  const input_section wanted = {.object = object, .section = section};
  return bsearch(&wanted, file->inputs, file->num_inputs, sizeof wanted, compare_inputs);
}

/* The address for code that is not there. In one half of a difference of two places, it is as
 * if the section were at 0: then the difference is right, and a list of ranges or locations
 * does not end early. */
static uint32_t removed(const debug_file *file, const link_target *target,
                        const object_relocation *entry)
{
  if (entry->type != relocation_type_find(R_RISCV_32)) return target->value + entry->addend;
  const char *name = file->outputs[file->at_work->output].name;
  return strcmp(name, ".debug_ranges") == 0 || strcmp(name, ".debug_loc") == 0;
}

/* Address in tile memory, or offset in a context's thread-local block. A folded function counts as
 * removed, as the copy that is used has its own lines. False if it is not there. */
static bool find_loaded(const debug_file *file, const link_target *target, uint32_t addend,
                        uint32_t *value)
{
  const pop_live_sections *live = file->live;
  const live_section *kept = live_sections_find(live, target->section);
  if (kept && kept->section != target->section && kept->group == POP_LINK_CODE) return false;
  pop_link_group group;
  if (!live_sections_resolve(live, target, addend, &group, value)) return false;
  *value += group == POP_LINK_TLS ? 0 : file->addresses->start[group];
  return true;
}

/* Offset in an output section. */
static bool find_debug(const debug_file *file, const link_target *target, uint32_t addend,
                       uint32_t *value)
{
  const pop_link_set *set = file->live->set;
  uint32_t owner = set->section_owners[target->section];
  const input_section *input =
      find_input(file, owner, target->section - set->objects[owner].first_section);
  if (input) *value = input->offset + target->value + addend;
  return input;
}

static uint32_t value_of(const void *context, const object_relocation *entry)
{
  const debug_file *file = context;
  const pop_link_set *set = file->live->set;
  link_target target = link_set_resolve(set, file->object, entry->symbol);
  uint32_t value = target.value + entry->addend;
  if (target.kind == TARGET_ABSOLUTE) return value;
  if (target.kind == TARGET_SECTION) {
    bool loaded =
        object_section_group(link_set_section(set, target.section)) != POP_LINK_GROUP_COUNT;
    if (loaded ? find_loaded(file, &target, entry->addend, &value)
               : find_debug(file, &target, entry->addend, &value))
      return value;
  }
  return removed(file, &target, entry);
}

/* Symbols. */

typedef struct symbol_visit {
  debug_file *file;
  bool local; /* which ones are wanted now */
} symbol_visit;

static void add_symbol(void *context, const pop_link_symbol *symbol)
{
  const symbol_visit *visit = context;
  debug_file *file = visit->file;
  if (!symbol->function || symbol->local != visit->local) return;
  pop_push(file->symbols, file->num_symbols, file->symbols_capacity,
           (Elf32_Sym){.st_name = (uint32_t)file->symbol_names.size,
                       .st_value = symbol->address,
                       .st_size = symbol->size,
                       .st_info = ELF32_ST_INFO(symbol->local ? STB_LOCAL : STB_GLOBAL, STT_FUNC),
                       .st_shndx = 1});
  pop_bytes_append(&file->symbol_names, symbol->name, strlen(symbol->name) + 1);
}

static void add_symbols(debug_file *file)
{
  pop_push(file->symbols, file->num_symbols, file->symbols_capacity, (Elf32_Sym){0});
  pop_bytes_append(&file->symbol_names, "", 1);
  pop_live_sections_symbols(file->live, file->addresses, add_symbol, &(symbol_visit){file, true});
  file->num_local_symbols = (uint32_t)file->num_symbols;
  pop_live_sections_symbols(file->live, file->addresses, add_symbol, &(symbol_visit){file, false});
}

/* Writing. Section 1 says where the code is; then the outputs, the symbols and the names. */

static const char fixed_names[] = "\0.code\0.symtab\0.strtab\0.shstrtab"; /* then the outputs' */
enum { CODE_NAME = 1, SYMTAB_NAME = 7, STRTAB_NAME = 15, SHSTRTAB_NAME = 23 };
enum { CODE = 1, FIRST_OUTPUT, NUM_BEHIND_OUTPUTS = 3 };

/* Where things are in the file. */
typedef struct debug_layout {
  uint32_t symtab, strtab, shstrtab, headers, total;
} debug_layout;

static uint32_t names_bytes(const debug_file *file)
{
  size_t bytes = sizeof fixed_names;
  for (size_t i = 0; i < file->num_outputs; ++i) bytes += strlen(file->outputs[i].name) + 1;
  return (uint32_t)bytes;
}

static uint32_t num_headers(const debug_file *file)
{
  return FIRST_OUTPUT + (uint32_t)file->num_outputs + NUM_BEHIND_OUTPUTS;
}

static pop_error *lay_out(debug_file *file, debug_layout *layout)
{
  uint64_t end = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
  for (size_t i = 0; i < file->num_outputs; ++i) {
    output_section *output = &file->outputs[i];
    end = (end + output->align - 1) & ~((uint64_t)output->align - 1);
    output->file_offset = (uint32_t)end;
    end += output->size;
    if (end > OBJECT_SECTION_BYTES_MAX) break;
  }
  uint64_t tables = file->num_symbols * sizeof *file->symbols + file->symbol_names.size;
  if (end + tables > OBJECT_SECTION_BYTES_MAX || num_headers(file) >= SHN_LORESERVE)
    return pop_error_new(POP_ERROR_LINK, "the debug information of all objects together has more "
                                         "than 1 GiB or 65,000 sections");
  layout->symtab = ((uint32_t)end + 3) & ~3u;
  layout->strtab = layout->symtab + (uint32_t)(file->num_symbols * sizeof *file->symbols);
  layout->shstrtab = layout->strtab + (uint32_t)file->symbol_names.size;
  layout->headers = (layout->shstrtab + names_bytes(file) + 3) & ~3u;
  layout->total = layout->headers + num_headers(file) * (uint32_t)sizeof(Elf32_Shdr);
  return NULL;
}

static uint8_t *bytes_of(void *context, uint32_t section)
{
  debug_file *file = context;
  file->at_work = find_input(file, file->object, section);
  if (!file->at_work) return NULL;
  return file->bytes + file->outputs[file->at_work->output].file_offset + file->at_work->offset;
}

/* The inputs of one object follow each other. */
static pop_error *write_contents(debug_file *file)
{
  const debug_copier copier = {bytes_of, value_of, file};
  for (size_t i = 0; i < file->num_inputs; ++i) {
    const input_section *input = &file->inputs[i];
    const pop_object *object = file->live->set->objects[input->object].object;
    const object_section *section = &object->sections[input->section];
    memcpy(file->bytes + file->outputs[input->output].file_offset + input->offset, section->data,
           section->size);
    if (i + 1 < file->num_inputs && file->inputs[i + 1].object == input->object) continue;
    file->object = input->object;
    pop_error *error = debug_relocate(object, &copier);
    if (error) return pop_error_prefix(error, "debug information of %s", object->name);
  }
  return NULL;
}

static void write_section_header(uint8_t *table, uint32_t index, const Elf32_Shdr *header)
{
  memcpy(table + (size_t)index * sizeof *header, header, sizeof *header);
}

static void write_output_headers(const debug_file *file, const debug_layout *layout)
{
  char *names = (char *)file->bytes + layout->shstrtab;
  uint32_t name = sizeof fixed_names;
  memcpy(names, fixed_names, sizeof fixed_names);
  for (uint32_t i = 0; i < file->num_outputs; ++i) {
    const output_section *output = &file->outputs[i];
    size_t length = strlen(output->name) + 1;
    memcpy(names + name, output->name, length);
    write_section_header(file->bytes + layout->headers, FIRST_OUTPUT + i,
                         &(Elf32_Shdr){.sh_name = name,
                                       .sh_type = SHT_PROGBITS,
                                       .sh_flags = output->flags,
                                       .sh_offset = output->file_offset,
                                       .sh_size = output->size,
                                       .sh_addralign = output->align,
                                       .sh_entsize = output->entry_bytes});
    name += (uint32_t)length;
  }
}

static void write_section_headers(const debug_file *file, const debug_layout *layout)
{
  uint8_t *table = file->bytes + layout->headers;
  uint32_t behind = FIRST_OUTPUT + (uint32_t)file->num_outputs;
  const Elf32_Shdr code = {.sh_name = CODE_NAME,
                           .sh_type = SHT_NOBITS,
                           .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                           .sh_addr = file->addresses->start[POP_LINK_CODE],
                           .sh_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                           .sh_size = file->live->bytes[POP_LINK_CODE],
                           .sh_addralign = 4};
  const Elf32_Shdr last[NUM_BEHIND_OUTPUTS] = {{.sh_name = SYMTAB_NAME,
                                                .sh_type = SHT_SYMTAB,
                                                .sh_offset = layout->symtab,
                                                .sh_size = layout->strtab - layout->symtab,
                                                .sh_link = behind + 1,
                                                .sh_info = file->num_local_symbols,
                                                .sh_addralign = 4,
                                                .sh_entsize = sizeof(Elf32_Sym)},
                                               {.sh_name = STRTAB_NAME,
                                                .sh_type = SHT_STRTAB,
                                                .sh_offset = layout->strtab,
                                                .sh_size = layout->shstrtab - layout->strtab,
                                                .sh_addralign = 1},
                                               {.sh_name = SHSTRTAB_NAME,
                                                .sh_type = SHT_STRTAB,
                                                .sh_offset = layout->shstrtab,
                                                .sh_size = names_bytes(file),
                                                .sh_addralign = 1}};
  write_section_header(table, CODE, &code);
  write_output_headers(file, layout);
  for (uint32_t i = 0; i < NUM_BEHIND_OUTPUTS; ++i)
    write_section_header(table, behind + i, &last[i]);
}

static void write_file_header(const debug_file *file, uint32_t headers)
{
  Elf32_Ehdr header = {
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
      .e_type = ET_EXEC,
      .e_machine = EM_RISCV,
      .e_version = EV_CURRENT,
      .e_phoff = sizeof header,
      .e_shoff = headers,
      .e_flags = EF_RISCV_FLOAT_ABI_SINGLE,
      .e_ehsize = sizeof header,
      .e_phentsize = sizeof(Elf32_Phdr),
      .e_phnum = 1,
      .e_shentsize = sizeof(Elf32_Shdr),
      .e_shnum = (Elf32_Half)num_headers(file),
      .e_shstrndx = (Elf32_Half)(num_headers(file) - 1),
  };
  const Elf32_Phdr code = {
      .p_type = PT_LOAD,
      .p_offset = sizeof header + sizeof code,
      .p_vaddr = file->addresses->start[POP_LINK_CODE],
      .p_paddr = file->addresses->start[POP_LINK_CODE],
      .p_memsz = file->live->bytes[POP_LINK_CODE],
      .p_flags = PF_R | PF_X,
      .p_align = 4,
  };
  memcpy(file->bytes, &header, sizeof header);
  memcpy(file->bytes + sizeof header, &code, sizeof code);
}

static pop_error *write_file(debug_file *file, pop_bytes *elf)
{
  debug_layout layout;
  POP_TRY(lay_out(file, &layout));
  if (!pop_bytes_try_reserve(elf, layout.total))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for %u bytes of debug information",
                         layout.total);
  file->bytes = elf->data + elf->size;
  memset(file->bytes, 0, layout.total);
  POP_TRY(write_contents(file));
  memcpy(file->bytes + layout.symtab, file->symbols, layout.strtab - layout.symtab);
  memcpy(file->bytes + layout.strtab, file->symbol_names.data, file->symbol_names.size);
  write_section_headers(file, &layout);
  write_file_header(file, layout.headers);
  elf->size += layout.total;
  return NULL;
}

bool pop_live_sections_has_debug(const pop_live_sections *live)
{
  const pop_link_set *set = live->set;
  uint32_t last = OBJECT_NONE;
  for (size_t i = 0; i < live->num_sections; ++i) {
    uint32_t owner = set->section_owners[live->sections[i].section];
    if (owner == last) continue;
    last = owner;
    for (uint32_t j = 1; j < set->objects[owner].object->num_sections; ++j)
      if (is_wanted(set, owner, j)) return true;
  }
  return false;
}

pop_error *pop_live_sections_debug_file(const pop_live_sections *live,
                                        const pop_link_addresses *addresses, pop_bytes *elf)
{
  debug_file file = {.live = live, .addresses = addresses};
  pop_error *error = add_objects(&file);
  add_symbols(&file);
  if (!error) error = write_file(&file, elf);
  free(file.inputs);
  free(file.outputs);
  free(file.symbols);
  pop_bytes_free(&file.symbol_names);
  pop_name_table_free(&file.output_names);
  return error;
}
