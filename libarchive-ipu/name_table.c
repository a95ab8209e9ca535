/* Names to small numbers, for symbols and COMDAT signatures. See link_set.h. */
#include "link_set.h"
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The slot that holds `name`, or the free one where it belongs. */
static struct name_slot *slot_of(const name_table *table, const char *name)
{
  size_t at = XXH3_64bits(name, strlen(name));
  for (;; ++at) {
    struct name_slot *slot = &table->slots[at & (table->capacity - 1)];
    if (!slot->name || strcmp(slot->name, name) == 0) return slot;
  }
}

uint32_t name_table_find(const name_table *table, const char *name)
{
  if (table->capacity == 0) return OBJECT_NONE;
  const struct name_slot *slot = slot_of(table, name);
  return slot->name ? slot->value : OBJECT_NONE;
}

static void grow(name_table *table)
{
  name_table larger = {.capacity = table->capacity ? table->capacity * 2 : 256};
  larger.count = table->count;
  larger.slots = pop_xcalloc(larger.capacity, sizeof *larger.slots);
  for (size_t i = 0; i < table->capacity; ++i) {
    if (table->slots[i].name) *slot_of(&larger, table->slots[i].name) = table->slots[i];
  }
  free(table->slots);
  *table = larger;
}

void name_table_add(name_table *table, const char *name, uint32_t value)
{
  if (table->count * 2 >= table->capacity) grow(table);
  *slot_of(table, name) = (struct name_slot){name, value};
  ++table->count;
}
