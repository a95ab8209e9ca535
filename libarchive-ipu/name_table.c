/* Names to numbers: open addressing with linear probing, at most half of the slots in use. */
#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_CAPACITY = 64 }; /* a power of two, as every size after it */

struct pop_name_slot {
  const char *name; /* NULL: free */
  uint32_t hash;
  uint32_t number;
};

static uint32_t hash_name(const char *name)
{
  return (uint32_t)XXH3_64bits(name, strlen(name));
}

/* The slot that holds `name`, or the free one where it belongs. */
static struct pop_name_slot *find_slot(const pop_name_table *table, const char *name, uint32_t hash)
{
  for (size_t at = hash;; ++at) {
    struct pop_name_slot *slot = &table->slots[at & (table->capacity - 1)];
    if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0)) return slot;
  }
}

uint32_t pop_name_table_find(const pop_name_table *table, const char *name)
{
  if (table->capacity == 0) return POP_NAME_NONE;
  const struct pop_name_slot *slot = find_slot(table, name, hash_name(name));
  return slot->name ? slot->number : POP_NAME_NONE;
}

static void grow(pop_name_table *table)
{
  pop_name_table larger = {.capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY,
                           .count = table->count};
  larger.slots = pop_xcalloc(larger.capacity, sizeof *larger.slots);
  for (size_t i = 0; i < table->capacity; ++i) {
    const struct pop_name_slot *old = &table->slots[i];
    if (old->name) *find_slot(&larger, old->name, old->hash) = *old;
  }
  free(table->slots);
  *table = larger;
}

void pop_name_table_add(pop_name_table *table, const char *name, uint32_t number)
{
  if (2 * (table->count + 1) > table->capacity) grow(table);
  uint32_t hash = hash_name(name);
  *find_slot(table, name, hash) = (struct pop_name_slot){name, hash, number};
  ++table->count;
}

void pop_name_table_free(pop_name_table *table)
{
  free(table->slots);
  *table = (pop_name_table){0};
}
