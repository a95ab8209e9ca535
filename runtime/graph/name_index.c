/* Open addressing with linear probing; at most half of the slots are in use. */
#include "graph/name_index.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64 }; /* a power of two, as every size after it */

struct slot {
  const char *name; /* NULL: free */
  uint64_t hash;
  uint32_t index;
};

struct name_index {
  struct slot *slots;
  size_t num_slots, num_names;
};

struct name_index *name_index_new(void)
{
  struct name_index *table = pop_xmalloc(sizeof *table);
  *table = (struct name_index){.slots = pop_xcalloc(FIRST_SLOTS, sizeof(struct slot)),
                               .num_slots = FIRST_SLOTS};
  return table;
}

void name_index_free(struct name_index *table)
{
  if (!table) return;
  free(table->slots);
  free(table);
}

/* FNV-1a. */
static uint64_t hash_name(const char *name)
{
  uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char *p = (const unsigned char *)name; *p; p++)
    hash = (hash ^ *p) * 0x100000001b3u;
  return hash;
}

/* The slot that holds `name`, or the free one where it would go. */
static struct slot *find_slot(const struct name_index *table, const char *name, uint64_t hash)
{
  for (size_t i = hash;; i++) {
    struct slot *slot = &table->slots[i & (table->num_slots - 1)];
    if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0)) return slot;
  }
}

uint32_t name_index_find(const struct name_index *table, const char *name)
{
  const struct slot *slot = find_slot(table, name, hash_name(name));
  return slot->name ? slot->index : NAME_INDEX_NONE;
}

static void double_slots(struct name_index *table)
{
  struct slot *old = table->slots;
  size_t num_old = table->num_slots;
  table->num_slots *= 2;
  table->slots = pop_xcalloc(table->num_slots, sizeof *table->slots);
  for (size_t i = 0; i < num_old; i++)
    if (old[i].name) *find_slot(table, old[i].name, old[i].hash) = old[i];
  free(old);
}

void name_index_add(struct name_index *table, const char *name, uint32_t index)
{
  if (2 * (table->num_names + 1) > table->num_slots) double_slots(table);
  uint64_t hash = hash_name(name);
  *find_slot(table, name, hash) = (struct slot){name, hash, index};
  table->num_names++;
}
