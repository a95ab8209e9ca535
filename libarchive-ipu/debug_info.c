/* Queries of an object's debug information: the source line that made an instruction, and a
 * function's name as its author wrote it.
 *
 *   object --pop_object_debug_image--> a copy that libdw can read --libdw--> lines,
 *   names file of an archive, made by pop_live_sections_debug_file, with addresses of a
 *   tile --libdw--> lines, names
 *
 * Anyone may have made an archive. So libdw gets its file only if the file has the form that
 * ours have. In particular libdw must open no other file and must not believe the uncompressed
 * size of any section.
 *
 * The answers are for messages. Wrong debug information makes a message shorter, but never
 * different. So nothing here is an error.
 */
#include "object.h"
#include <populus/arena.h>
#include <populus/link.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct pop_debug_info {
  pop_bytes image;
  Elf *elf;
  Dwarf *dwarf;
};

static bool is_section_readable(Elf *elf, Elf_Scn *section, size_t names)
{
  static const char *const refused[] = {".zdebug", ".gnu_debugaltlink", ".gnu_debuglink"};
  GElf_Shdr header;
  if (!gelf_getshdr(section, &header) || (header.sh_flags & SHF_COMPRESSED)) return false;
  const char *name = elf_strptr(elf, names, header.sh_name);
  for (size_t i = 0; name && i < sizeof refused / sizeof *refused; ++i)
    if (strncmp(name, refused[i], strlen(refused[i])) == 0) return false;
  return name;
}

static bool is_file_readable(Elf *elf)
{
  GElf_Ehdr header;
  size_t names;
  if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) return false;
  if (gelf_getclass(elf) != ELFCLASS32 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_RISCV || header.e_type != ET_EXEC || elf_getshdrstrndx(elf, &names))
    return false;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
    if (!is_section_readable(elf, section, names)) return false;
  return true;
}

/* Takes `info`, whose image is filled in. */
static pop_debug_info *open_image(pop_debug_info *info)
{
  if (elf_version(EV_CURRENT) != EV_NONE)
    info->elf = elf_memory((char *)info->image.data, info->image.size);
  if (info->elf && is_file_readable(info->elf))
    info->dwarf = dwarf_begin_elf(info->elf, DWARF_C_READ, NULL);
  if (info->dwarf) return info;
  pop_debug_info_free(info);
  return NULL;
}

pop_debug_info *pop_debug_info_open(const pop_object *object)
{
  pop_debug_info *info = pop_xcalloc(1, sizeof *info);
  pop_error *error = pop_object_debug_image(object, &info->image);
  if (!error) return open_image(info);
  pop_error_free(error);
  pop_debug_info_free(info);
  return NULL;
}

pop_debug_info *pop_debug_info_open_file(pop_bytes *file)
{
  pop_debug_info *info = pop_xcalloc(1, sizeof *info);
  info->image = *file;
  *file = (pop_bytes){0};
  return open_image(info);
}

void pop_debug_info_free(pop_debug_info *info)
{
  if (!info) return;
  dwarf_end(info->dwarf);
  elf_end(info->elf);
  pop_bytes_free(&info->image);
  free(info);
}

/* The path as the compiler was given it, as far as that can be told. Line tables name files
 * with or without the compiler's working folder, whatever the user wrote. But the unit's own
 * name is as written: if it is an absolute path, all names are shown absolute; otherwise none
 * below the folder is. */
static const char *path_as_written(Dwarf_Die *unit, const char *path, pop_arena *arena)
{
  Dwarf_Attribute attribute;
  const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  const char *name = dwarf_diename(unit);
  size_t length = folder ? strlen(folder) : 0;
  if (length && strncmp(path, folder, length) == 0 && path[length] == '/') path += length + 1;
  if (length && name && name[0] == '/' && path[0] != '/')
    return pop_arena_printf(arena, "%s/%s", folder, path);
  return pop_arena_strdup(arena, path);
}

static const char *path_from_root(Dwarf_Die *unit, const char *path, pop_arena *arena)
{
  Dwarf_Attribute attribute;
  const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return folder && path[0] != '/' ? pop_arena_printf(arena, "%s/%s", folder, path)
                                  : pop_arena_strdup(arena, path);
}

/* False if the compilation unit's line table does not have the address, or says that no source line
 * made this code (line 0). */
static bool find_in_unit(Dwarf_Die *unit, Dwarf_Addr address, pop_arena *arena,
                         pop_source_place *place)
{
  int number, column = 0;
  Dwarf_Line *line = dwarf_getsrc_die(unit, address);
  if (!line || dwarf_lineno(line, &number) != 0 || number <= 0) return false;
  const char *path = dwarf_linesrc(line, NULL, NULL);
  if (!path) return false;
  dwarf_linecol(line, &column);
  *place = (pop_source_place){path_as_written(unit, path, arena), path_from_root(unit, path, arena),
                              (unsigned)number, column > 0 ? (unsigned)column : 0};
  return true;
}

bool pop_debug_info_line(const pop_debug_info *info, uint32_t address, pop_arena *arena,
                         pop_source_place *place)
{
  /* All units: clang writes no .debug_aranges, which would map addresses to units. */
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  uint8_t kind;
  while (dwarf_get_units(info->dwarf, cu, &cu, NULL, &kind, &unit, NULL) == 0)
    if (kind == DW_UT_compile && find_in_unit(&unit, address, arena, place)) return true;
  return false;
}

bool pop_debug_info_place(const pop_debug_info *info, uint32_t section, uint32_t offset,
                          pop_arena *arena, pop_source_place *place)
{
  GElf_Shdr header;
  return gelf_getshdr(elf_getscn(info->elf, section), &header) &&
         pop_debug_info_line(info, (uint32_t)header.sh_addr + offset, arena, place);
}

typedef struct name_search {
  const char *symbol, *name;
} name_search;

static int compare_symbol(Dwarf_Die *function, void *context)
{
  name_search *search = context;
  Dwarf_Attribute attribute;
  Dwarf_Attribute *linkage = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);
  const char *symbol = dwarf_formstring(linkage);
  if (!symbol || strcmp(symbol, search->symbol) != 0) return DWARF_CB_OK;
  search->name = dwarf_diename(function);
  return DWARF_CB_ABORT;
}

const char *pop_debug_info_name(const pop_debug_info *info, const char *symbol)
{
  name_search search = {symbol, NULL};
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  uint8_t kind;
  while (!search.name && dwarf_get_units(info->dwarf, cu, &cu, NULL, &kind, &unit, NULL) == 0)
    if (kind == DW_UT_compile) dwarf_getfuncs(&unit, compare_symbol, &search, 0);
  return search.name;
}

char *object_say_place(const pop_object *object, uint32_t section, uint32_t offset)
{
  pop_arena *arena = pop_arena_new();
  pop_debug_info *info = pop_debug_info_open(object);
  pop_source_place place;
  char *text = NULL;
  if (info && pop_debug_info_place(info, section, offset, arena, &place))
    text = pop_xasprintf("%s, %s:%u", object->name, place.path, place.line);
  pop_debug_info_free(info);
  pop_arena_free(arena);
  return text ? text : pop_xstrdup(object->name);
}
