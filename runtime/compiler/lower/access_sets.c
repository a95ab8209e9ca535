#include "compiler/lower/access_sets.h"

#include <stdlib.h>

enum { BITS = 64, FIRST_SLOTS = 1024 };

static uint64_t key_of(uint32_t block, uint64_t offset)
{
  return (uint64_t)block << 32 | offset / BITS;
}

/* Bits of the bytes from `offset` to `end`, as far as they are in the part that holds `offset`. */
static uint64_t bits_of(uint64_t offset, uint64_t end)
{
  uint64_t first = offset % BITS, count = end - offset;
  if (count > BITS - first) count = BITS - first;
  return ~(uint64_t)0 >> (BITS - count) << first;
}

/* Where the key is, or would be. */
static access_sets_part *part_of(const access_sets *t, uint64_t key)
{
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  size_t slot = (hash ^ hash >> 32) & (t->num_slots - 1);
  while (t->parts[slot].generation == t->generation && t->parts[slot].key != key)
    slot = (slot + 1) & (t->num_slots - 1);
  return &t->parts[slot];
}

static void grow(access_sets *t)
{
  access_sets old = *t;
  t->num_slots = old.num_slots ? 2 * old.num_slots : FIRST_SLOTS;
  t->parts = pop_xcalloc(t->num_slots, sizeof *t->parts);
  if (t->generation == 0) t->generation = 1; /* 0 is the generation of unused slots */
  for (size_t i = 0; i < old.num_slots; i++)
    if (old.parts[i].generation == t->generation) *part_of(t, old.parts[i].key) = old.parts[i];
  free(old.parts);
}

bool access_sets_conflict(const access_sets *t, place at, uint32_t bytes, bool to_write)
{
  if (t->num_parts == 0) return false;
  uint64_t offset = at.offset, end = offset + bytes; /* a block may have nearly 2^32 bytes */
  for (; offset < end; offset += BITS - offset % BITS) {
    const access_sets_part *part = part_of(t, key_of(at.block, offset));
    if (part->generation != t->generation) continue;
    uint64_t matters = to_write ? part->read | part->written : part->written;
    if (matters & bits_of(offset, end)) return true;
  }
  return false;
}

void access_sets_add(access_sets *t, place at, uint32_t bytes, bool write)
{
  uint64_t offset = at.offset, end = offset + bytes;
  for (; offset < end; offset += BITS - offset % BITS) {
    if (2 * t->num_parts >= t->num_slots) grow(t);
    access_sets_part *part = part_of(t, key_of(at.block, offset));
    if (part->generation != t->generation) {
      *part = (access_sets_part){.key = key_of(at.block, offset), .generation = t->generation};
      t->num_parts++;
    }
    *(write ? &part->written : &part->read) |= bits_of(offset, end);
  }
}

void access_sets_clear(access_sets *t)
{
  t->num_parts = 0;
  if (++t->generation == 0) access_sets_free(t); /* after 2^32 rounds */
}

void access_sets_free(access_sets *t)
{
  free(t->parts);
  *t = (access_sets){0};
}
