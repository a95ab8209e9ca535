/* From an address in tile memory to a line of the user's source.
 *
 *   pc --pop_live_sections_locate--> object, section, offset
 *      --pop_debug_info_place--> file, line
 *
 * Damaged debug information only makes a message or a listing shorter. The debug information of an
 * object is read at the first request for one of its lines.
 */
#include "driver/source_lines.h"

#include "compiler/layout.h"
#include <populus/arena.h>
#include <stdlib.h>

typedef struct object_lines {
  const pop_object *object;
  pop_debug_info *info; /* NULL: it has none */
} object_lines;

struct executable_lines {
  const pop_live_sections *live;
  pop_link_addresses addresses;
  object_lines *objects; /* objects with requests so far */
  size_t num_objects, capacity;
};

executable_lines *source_lines_open(const compilation *c, uint32_t tile)
{
  uint32_t group = c->tiles[tile].code_group;
  if (group == COMPILER_NONE || c->options.drop_debug_information) return NULL;
  executable_lines *lines = pop_xcalloc(1, sizeof *lines);
  lines->live = c->code_groups[group].live;
  lines->addresses = linked_addresses(c, tile);
  return lines;
}

static const pop_debug_info *info_of(executable_lines *lines, const pop_object *object)
{
  for (size_t i = 0; i < lines->num_objects; ++i)
    if (lines->objects[i].object == object) return lines->objects[i].info;
  object_lines added = {object, pop_debug_info_open(object)};
  pop_push(lines->objects, lines->num_objects, lines->capacity, added);
  return added.info;
}

bool source_lines_find(executable_lines *lines, uint32_t pc, pop_arena *arena,
                       pop_source_place *place)
{
  const pop_object *object;
  const char *section_name;
  uint32_t section, offset;
  if (!pop_live_sections_locate(lines->live, &lines->addresses, pc, &object, &section_name,
                                &section, &offset))
    return false;
  const pop_debug_info *info = info_of(lines, object);
  return info && pop_debug_info_place(info, section, offset, arena, place);
}

void source_lines_close(executable_lines *lines)
{
  for (size_t i = 0; i < lines->num_objects; ++i) pop_debug_info_free(lines->objects[i].info);
  free(lines->objects);
  free(lines);
}
