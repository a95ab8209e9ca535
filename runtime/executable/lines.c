/* Source lines of tiles' code, from the owner of the images. Without debug information there are
 * none. */
#include "executable/executable.h"

#include <stdio.h>

executable_lines *executable_open_lines(const pop_executable *e, uint32_t tile)
{
  return e->images.open_lines ? e->images.open_lines(e, tile) : NULL;
}

bool executable_line(const pop_executable *e, executable_lines *lines, uint32_t pc,
                     pop_arena *arena, pop_source_place *place)
{
  return lines && e->images.find_line(lines, pc, arena, place);
}

void executable_close_lines(const pop_executable *e, executable_lines *lines)
{
  if (lines) e->images.close_lines(lines);
}

void executable_find_line(const pop_executable *e, uint32_t tile, uint32_t pc, char *text,
                          size_t size)
{
  pop_arena *arena = pop_arena_new();
  executable_lines *lines = executable_open_lines(e, tile);
  pop_source_place place;
  text[0] = '\0';
  if (executable_line(e, lines, pc, arena, &place))
    snprintf(text, size, "%s:%u", place.path, place.line);
  executable_close_lines(e, lines);
  pop_arena_free(arena);
}
