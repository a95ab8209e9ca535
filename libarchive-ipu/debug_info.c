/* What an object's debug information says: the line of the source that made an instruction, and the
 * name of a function as its author wrote it.
 *
 *   object --pop_object_debug_image--> a copy that libdw can read --libdw--> lines, names
 *
 * It is asked for messages. What is wrong with debug information makes a message shorter, never
 * another one: so nothing here is an error.
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

pop_debug_info *pop_debug_info_open(const pop_object *object)
{
  pop_debug_info *info = pop_xcalloc(1, sizeof *info);
  pop_error *error = pop_object_debug_image(object, &info->image);
  if (!error && elf_version(EV_CURRENT) != EV_NONE)
    info->elf = elf_memory((char *)info->image.data, info->image.size);
  if (info->elf) info->dwarf = dwarf_begin_elf(info->elf, DWARF_C_READ, NULL);
  pop_error_free(error);
  if (info->dwarf) return info;
  pop_debug_info_free(info);
  return NULL;
}

void pop_debug_info_free(pop_debug_info *info)
{
  if (!info) return;
  dwarf_end(info->dwarf);
  elf_end(info->elf);
  pop_bytes_free(&info->image);
  free(info);
}

/* Writes the path as the compiler was given it, as far as it can be told: line tables name files
 * with or without the folder that the compiler was started in, whatever the user wrote. The unit's
 * own name is as written: if that is a path from the root, all are shown so, otherwise none that is
 * below the folder. */
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

/* False if the line table of the compilation unit does not know the address, or only that no line
 * of the source made this code (line 0). */
static bool find_in_unit(Dwarf_Die *unit, Dwarf_Addr address, pop_arena *arena,
                         pop_source_place *place)
{
  int number, column = 0;
  Dwarf_Line *line = dwarf_getsrc_die(unit, address);
  if (!line || dwarf_lineno(line, &number) != 0 || number <= 0) return false;
  const char *path = dwarf_linesrc(line, NULL, NULL);
  if (!path) return false;
  dwarf_linecol(line, &column);
  *place = (pop_source_place){path_as_written(unit, path, arena), (unsigned)number,
                              column > 0 ? (unsigned)column : 0};
  return true;
}

bool pop_debug_info_place(const pop_debug_info *info, uint32_t section, uint32_t offset,
                          pop_arena *arena, pop_source_place *place)
{
  GElf_Shdr header;
  if (!gelf_getshdr(elf_getscn(info->elf, section), &header)) return false;
  /* Every unit: clang writes no .debug_aranges, which would say whose the address is. */
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  uint8_t kind;
  while (dwarf_get_units(info->dwarf, cu, &cu, NULL, &kind, &unit, NULL) == 0)
    if (kind == DW_UT_compile && find_in_unit(&unit, header.sh_addr + offset, arena, place))
      return true;
  return false;
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
