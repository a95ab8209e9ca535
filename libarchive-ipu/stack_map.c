/* Places in code to numbers: open addressing with linear probing. See stack_usage.h. */
#include "stack_usage.h"
#include <populus/arena.h>

enum { FIRST_CAPACITY = 64 }; /* a power of two, as every size after it */

struct stack_map_slot {
  stack_place place;
  uint32_t number; /* OBJECT_NONE: free */
};

static struct stack_map_slot *find_slot(const stack_map *map, stack_place place)
{
  uint64_t key = (uint64_t)place.section << 32 | place.offset;
  for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 32;; ++at) { /* 2^64 / golden ratio */
    struct stack_map_slot *slot = &map->slots[at & (map->capacity - 1)];
    bool same = slot->place.section == place.section && slot->place.offset == place.offset;
    if (slot->number == OBJECT_NONE || same) return slot;
  }
}

static void grow(stack_map *map)
{
  stack_map larger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
                      .count = map->count};
  larger.slots = pop_xcalloc(larger.capacity, sizeof *larger.slots);
  for (size_t i = 0; i < larger.capacity; ++i) larger.slots[i].number = OBJECT_NONE;
  for (size_t i = 0; i < map->capacity; ++i) {
    if (map->slots[i].number != OBJECT_NONE)
      *find_slot(&larger, map->slots[i].place) = map->slots[i];
  }
  free(map->slots);
  *map = larger;
}

uint32_t stack_map_put(stack_map *map, stack_place place, uint32_t number)
{
  if (2 * (map->count + 1) > map->capacity) grow(map);
  struct stack_map_slot *slot = find_slot(map, place);
  if (slot->number != OBJECT_NONE) return slot->number;
  *slot = (struct stack_map_slot){place, number};
  ++map->count;
  return number;
}

uint32_t stack_map_find(const stack_map *map, stack_place place)
{
  return map->capacity ? find_slot(map, place)->number : OBJECT_NONE;
}

void stack_map_free(stack_map *map)
{
  free(map->slots);
  *map = (stack_map){0};
}
