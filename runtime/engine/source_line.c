/* From an address in tile memory to a line of the user's source.
 *
 *   pc --pop_closure_locate--> object, section, offset
 *      --pop_object_debug_image--> an address in a copy of the object that libdw can read
 *      --line table of libdw--> file, line
 *
 * This runs once per fault that a user sees, so nothing is kept between calls. What is wrong with
 * debug information makes a message shorter, never another one: the fault is what matters.
 */
#include "engine/source_line.h"

#include "compiler/layout.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

/* An address of code, in words of the object that it comes from. */
typedef struct code_place {
  const pop_object *object;
  uint32_t section, offset;
} code_place;

static bool find_place(const compilation *c, uint32_t tile, uint32_t pc, code_place *place)
{
  if (c->tiles[tile].code_group == COMPILER_NONE) return false;
  const pop_closure *closure = c->code_groups[c->tiles[tile].code_group].closure;
  pop_link_addresses addresses = linked_addresses(c, tile);
  const char *section_name;
  return pop_closure_locate(closure, &addresses, pc, &place->object, &section_name, &place->section,
                            &place->offset);
}

/* Writes the path as the compiler was given it, as far as it can be told: line tables name files
 * with or without the folder that the compiler was started in, whatever the user wrote. The unit's
 * own name is as written: if that is a path from the root, all are shown so, otherwise none that is
 * below the folder. */
static void show_line(Dwarf_Die *unit, const char *path, int line, char *text, size_t size)
{
  Dwarf_Attribute attribute;
  const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  const char *name = dwarf_diename(unit);
  size_t length = folder ? strlen(folder) : 0;
  if (length && strncmp(path, folder, length) == 0 && path[length] == '/') path += length + 1;
  if (length && name && name[0] == '/' && path[0] != '/')
    snprintf(text, size, "%s/%s:%d", folder, path, line);
  else
    snprintf(text, size, "%s:%d", path, line);
}

/* False if the line table of the compilation unit does not know the address, or only that no line
 * of the source made this code (line 0). */
static bool find_in_unit(Dwarf_Die *unit, Dwarf_Addr address, char *text, size_t size)
{
  int number;
  Dwarf_Line *line = dwarf_getsrc_die(unit, address);
  if (!line || dwarf_lineno(line, &number) != 0 || number <= 0) return false;
  const char *path = dwarf_linesrc(line, NULL, NULL);
  if (path) show_line(unit, path, number, text, size);
  return path;
}

/* Looks into every unit: clang writes no .debug_aranges, which would say whose the address is. */
static void find_in_units(Dwarf *dwarf, Dwarf_Addr address, char *text, size_t size)
{
  Dwarf_CU *cu = NULL;
  Dwarf_Die unit;
  uint8_t kind;
  while (dwarf_get_units(dwarf, cu, &cu, NULL, &kind, &unit, NULL) == 0)
    if (kind == DW_UT_compile && find_in_unit(&unit, address, text, size)) return;
}

static void find_in_elf(Elf *elf, const code_place *place, char *text, size_t size)
{
  GElf_Shdr section;
  if (!gelf_getshdr(elf_getscn(elf, place->section), &section)) return;
  Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  if (!dwarf) return;
  find_in_units(dwarf, section.sh_addr + place->offset, text, size);
  dwarf_end(dwarf);
}

static void find_in_object(const code_place *place, char *text, size_t size)
{
  pop_bytes image = {0};
  pop_error *error = pop_object_debug_image(place->object, &image);
  Elf *elf = NULL;
  if (!error && elf_version(EV_CURRENT) != EV_NONE)
    elf = elf_memory((char *)image.data, image.size);
  if (elf) find_in_elf(elf, place, text, size);
  elf_end(elf);
  pop_bytes_free(&image);
  pop_error_free(error);
}

void find_source_line(const compilation *c, uint32_t tile, uint32_t pc, char *text, size_t size)
{
  code_place place;
  text[0] = '\0';
  if (find_place(c, tile, pc, &place)) find_in_object(&place, text, size);
}
