/* Classes of tiles with the same control code, as far as it has been walked. */
#include "control_parts.h"

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint32_t word_number(const machine *m, uint32_t address)
{
  return (address - m->target.memory_base) / 4;
}

bool control_is_equal(const machine *m, const control_class *of, const block *b)
{
  uint32_t first = word_number(m, b->pc);
  for (uint32_t i = first; i < first + b->words; i++)
    if (i / 64 >= of->num_equal || !(of->equal[i / 64] >> i % 64 & 1)) return false;
  return true;
}

static void set_equal(const machine *m, control_class *of, const block *b)
{
  uint32_t first = word_number(m, b->pc), last = first + b->words - 1;
  while (of->num_equal <= last / 64)
    pop_push(of->equal, of->num_equal, of->equal_capacity, (uint64_t)0);
  for (uint32_t i = first; i <= last; i++) of->equal[i / 64] |= (uint64_t)1 << i % 64;
}

static void add_to_class(control *c, uint32_t number, uint32_t tile_number)
{
  control_class *of = &c->classes[number];
  pop_push(of->tiles, of->num_tiles, of->tiles_capacity, tile_number);
  c->class_of[tile_number] = number;
}

void control_first_class(control *c, uint32_t num_tiles)
{
  pop_push(c->classes, c->num_classes, c->classes_capacity, (control_class){0});
  for (uint32_t i = 0; i < num_tiles; i++) add_to_class(c, 0, i);
}

void control_free_classes(control *c)
{
  for (size_t i = 0; i < c->num_classes; i++) {
    free(c->classes[i].equal);
    free(c->classes[i].tiles);
  }
  free(c->classes);
}

/* A new class with the known words of class `number`, for tiles that leave it. */
static uint32_t copy_class(control *c, uint32_t number)
{
  const control_class *old = &c->classes[number];
  control_class copy = {.num_equal = old->num_equal, .equal_capacity = old->num_equal};
  copy.equal = pop_xrealloc(NULL, old->num_equal + 1, sizeof *copy.equal);
  if (old->num_equal) memcpy(copy.equal, old->equal, old->num_equal * sizeof *copy.equal);
  pop_push(c->classes, c->num_classes, c->classes_capacity, copy);
  return (uint32_t)(c->num_classes - 1);
}

static bool has_words_of(const machine *m, const effects *s, const tile *t, const tile *other)
{
  for (size_t i = 0; i < s->num_blocks; i++) {
    const block *b = &s->blocks[i];
    if (!memory_contains(t, b->pc, 4 * b->words, false, true) ||
        memcmp(words_at(m, t, b->pc), words_at(m, other, b->pc), 4 * (size_t)b->words))
      return false;
  }
  return true;
}

static uint64_t hash_words(const machine *m, const effects *s, const tile *t)
{
  uint64_t hash = 0;
  for (size_t i = 0; i < s->num_blocks; i++) {
    const block *b = &s->blocks[i];
    if (!memory_contains(t, b->pc, 4 * b->words, false, true)) return hash;
    hash = XXH3_64bits_withSeed(words_at(m, t, b->pc), 4 * (size_t)b->words, hash);
  }
  return hash;
}

/* Classes that tiles move to: from their class, by what its words are. */
typedef struct hashed_class {
  uint64_t hash;
  uint32_t number;
  bool used;
} hashed_class;

typedef struct class_split {
  uint32_t from, first;   /* the class that is split; the first new one, which others follow */
  hashed_class *slots;    /* of the new ones, by hash: open addressing; NULL: none yet */
  size_t num_slots;       /* a power of 2 */
  control_group **groups; /* of the group that is split: by class; 0: `from` */
} class_split;

/* The new class of tiles whose words have the hash. */
static uint32_t class_of_hash(control *c, class_split *split, uint64_t hash)
{
  if (!split->slots) {
    split->num_slots = 16;
    while (split->num_slots < 2 * c->classes[split->from].num_tiles) split->num_slots *= 2;
    split->slots = pop_xcalloc(split->num_slots, sizeof *split->slots);
  }
  size_t at = hash & (split->num_slots - 1);
  while (split->slots[at].used && split->slots[at].hash != hash)
    at = (at + 1) & (split->num_slots - 1);
  hashed_class *slot = &split->slots[at];
  if (!slot->used) *slot = (hashed_class){hash, copy_class(c, split->from), true};
  return slot->number;
}

static control_group **group_of_class(const class_split *split, uint32_t class_number)
{
  return &split->groups[class_number == split->from ? 0 : 1 + class_number - split->first];
}

/* The group keeps the tiles of its first tile's class. The tiles of each other class become a
 * group. */
static void split_by_class(control *c, const class_split *split, control_group *g)
{
  size_t first_new = c->num_groups, kept = 0;
  g->class_number = c->class_of[g->tiles[0]];
  for (size_t i = 0; i < g->num_tiles; i++) {
    uint32_t number = g->tiles[i], class_number = c->class_of[number];
    if (class_number == g->class_number) {
      g->tiles[kept++] = number;
      continue;
    }
    control_group **other = group_of_class(split, class_number);
    if (!*other) {
      *other = control_new_group(c, g);
      (*other)->class_number = class_number;
    }
    control_add_tile(c, *other, number);
  }
  g->num_tiles = kept;
  for (size_t i = first_new; i < c->num_groups; i++)
    *group_of_class(split, c->groups[i]->class_number) = NULL;
}

void control_compare_blocks(machine *m, control *c, control_group *g)
{
  const effects *s = &c->s;
  const tile *first = &m->tiles[g->tiles[0]];
  uint32_t number = g->class_number;
  class_split split = {.from = number, .first = (uint32_t)c->num_classes};
  size_t kept = 0, num_groups = c->num_groups;
  for (size_t i = 0; i < c->classes[number].num_tiles; i++) {
    uint32_t tile_number = c->classes[number].tiles[i];
    const tile *t = &m->tiles[tile_number];
    if (t == first || has_words_of(m, s, t, first))
      c->classes[number].tiles[kept++] = tile_number;
    else
      add_to_class(c, class_of_hash(c, &split, hash_words(m, s, t)), tile_number);
  }
  c->classes[number].num_tiles = kept;
  for (size_t i = 0; i < s->num_blocks; i++) set_equal(m, &c->classes[number], &s->blocks[i]);
  size_t num_new = c->num_classes - split.first;
  if (num_new) split.groups = pop_xcalloc(num_new + 1, sizeof(control_group *));
  for (size_t i = 0; num_new && i < num_groups; i++)
    if (c->groups[i]->class_number == number && c->groups[i]->num_tiles)
      split_by_class(c, &split, c->groups[i]);
  free(split.slots);
  free(split.groups);
}
