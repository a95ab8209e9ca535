/* From an address in tile memory to a line of the user's source.
 *
 *   pc --pop_live_sections_locate--> object, section, offset
 *      --pop_debug_info_place--> file, line
 *
 * This runs once per fault that a user sees, so nothing is kept between calls. What is wrong with
 * debug information makes a message shorter, never another one: the fault is what matters.
 */
#include "driver/source_line.h"

#include "compiler/layout.h"
#include <populus/arena.h>
#include <stdio.h>

/* An address of code, in words of the object that it comes from. */
typedef struct code_place {
  const pop_object *object;
  uint32_t section, offset;
} code_place;

static bool find_place(const compilation *c, uint32_t tile, uint32_t pc, code_place *place)
{
  if (c->tiles[tile].code_group == COMPILER_NONE) return false;
  const pop_live_sections *live = c->code_groups[c->tiles[tile].code_group].live;
  pop_link_addresses addresses = linked_addresses(c, tile);
  const char *section_name;
  return pop_live_sections_locate(live, &addresses, pc, &place->object, &section_name,
                                  &place->section, &place->offset);
}

void find_source_line(const compilation *c, uint32_t tile, uint32_t pc, char *text, size_t size)
{
  code_place place;
  text[0] = '\0';
  if (c->options.drop_debug_information || !find_place(c, tile, pc, &place)) return;
  pop_debug_info *info = pop_debug_info_open(place.object);
  pop_arena *arena = pop_arena_new();
  pop_source_place source;
  if (info && pop_debug_info_place(info, place.section, place.offset, arena, &source))
    snprintf(text, size, "%s:%u", source.path, source.line);
  pop_arena_free(arena);
  pop_debug_info_free(info);
}
