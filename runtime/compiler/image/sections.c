/* Sections by category: the memory report in the form of `size -A`.
 *
 * The sections of a category add up to the report's notOverlapped bytes of it. Memory that several
 * blocks use at different times is `.overlapped`, whatever their categories. The system's memory at
 * the base of tile memory is `.system`. Unused memory is `.gap`. All sections together are the
 * report's total including gaps. */
#include "compiler/layout.h"

#include <stdlib.h>
#include <string.h>

typedef struct section_list {
  const compilation *c;
  pop_image_section *sections;
  size_t count, capacity;
} section_list;

static void add_section(section_list *list, uint32_t from, uint32_t to, uint8_t kind)
{
  pop_image_section *last = list->count ? &list->sections[list->count - 1] : NULL;
  if (from == to) return;
  if (last && last->kind == kind)
    last->size += to - from;
  else
    pop_push(list->sections, list->count, list->capacity,
             (pop_image_section){.start = from, .size = to - from, .kind = kind});
}

static void add_range(void *context, const uint32_t *blocks, size_t num_blocks, uint32_t from,
                      uint32_t to)
{
  section_list *list = context;
  const pop_target *target = &list->c->target;
  uint32_t system_end = target->memory_base + target->system_bytes;
  if (num_blocks) {
    add_section(list, from, to,
                num_blocks == 1 ? list->c->blocks[blocks[0]].category
                                : POP_IMAGE_SECTION_OVERLAPPED);
    return;
  }
  uint32_t middle = system_end < from ? from : system_end < to ? system_end : to;
  add_section(list, from, middle, POP_IMAGE_SECTION_SYSTEM);
  add_section(list, middle, to, POP_IMAGE_SECTION_GAP);
}

void make_image_sections(const compilation *c, uint32_t tile, pop_arena *arena, pop_image *image)
{
  section_list list = {.c = c};
  sweep_tile(c, tile, add_range, &list);
  size_t bytes = list.count * sizeof *list.sections;
  image->sections = memcpy(pop_arena_alloc(arena, bytes), list.sections, bytes);
  image->num_sections = list.count;
  free(list.sections);
}
