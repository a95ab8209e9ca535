/* What is live at which step, and what each step accesses, for the profile. Blocks with equal name,
 * category and live range are one row. */
#include "compiler/describe/profile.h"
#include "compiler/script.h"

#include <stdlib.h>
#include <string.h>

typedef struct live_range_table {
  uint32_t *slots;  /* row + 1; 0: free */
  size_t num_slots; /* a power of two */
} live_range_table;

static uint64_t hash_live_range(const profile_live *l)
{
  uint64_t hash = l->name * 0x9e3779b97f4a7c15u + l->category;
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u + l->first_step;
  hash = (hash ^ hash >> 32) * 0x94d049bb133111ebu + l->last_step;
  return hash ^ hash >> 31;
}

static uint32_t *find_live_range(const live_range_table *t, const executable_profile *p,
                                 const profile_live *l)
{
  for (size_t at = hash_live_range(l) & (t->num_slots - 1);; at = (at + 1) & (t->num_slots - 1)) {
    if (!t->slots[at]) return &t->slots[at];
    const profile_live *found = &p->lives[t->slots[at] - 1];
    if (found->name == l->name && found->category == l->category &&
        found->first_step == l->first_step && found->last_step == l->last_step)
      return &t->slots[at];
  }
}

static void grow_live_ranges(live_range_table *t, const executable_profile *p)
{
  if (2 * p->num_lives < t->num_slots) return;
  t->num_slots = t->num_slots ? 2 * t->num_slots : 256;
  free(t->slots);
  t->slots = pop_xcalloc(t->num_slots, sizeof *t->slots);
  for (uint32_t i = 0; i < p->num_lives; i++) *find_live_range(t, p, &p->lives[i]) = i + 1;
}

/* Does the user know the block by its name? Otherwise its category says what it is. */
static bool is_known_by_name(uint32_t category)
{
  switch ((pop_memory_category)category) {
  case POP_MEMORY_VARIABLE:
  case POP_MEMORY_MESSAGE:
  case POP_MEMORY_HOST_MESSAGE:
  case POP_MEMORY_GLOBAL_MESSAGE:
  case POP_MEMORY_REARRANGEMENT:
  case POP_MEMORY_OUTPUT_EDGE:
  case POP_MEMORY_MULTIPLE:
  case POP_MEMORY_CONTROL_ID:
    return true;
  default:
    return false;
  }
}

/* The name in the words of the guide's summary. */
static uint32_t shown_name(profile_maker *m, const profile_live *l)
{
  const char *name =
      l->name == COMPILER_NONE || !*m->p->names[l->name] ? "anon" : m->p->names[l->name];
  const char *key = pop_memory_category_key((pop_memory_category)l->category);
  if (l->category == POP_MEMORY_CONSTANT) return profile_name(m, "<const>");
  if (!is_known_by_name(l->category)) return profile_name(m, key);
  if (l->category == POP_MEMORY_VARIABLE && strcmp(name, "anon") != 0) return l->name;
  char *shown = l->category == POP_MEMORY_VARIABLE ? pop_xstrdup("<anon>")
                                                   : pop_xasprintf("<%s:%s>", key, name);
  uint32_t number = profile_name(m, shown);
  free(shown);
  return number;
}

uint32_t profile_block_name(profile_maker *m, const block *b)
{
  profile_live named = {.name = is_known_by_name(b->category) ? profile_name(m, b->name)
                                                              : COMPILER_NONE,
                        .category = b->category};
  return shown_name(m, &named);
}

static int compare_rows(const void *a, const void *b)
{
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

/* Adds the rows that the step at `op` accesses, each once. used_at[row]: 1 + the last op that
 * accessed it. */
static void describe_uses_at(profile_maker *m, uint32_t op, const step *of,
                             const uint32_t *row_of_block, uint32_t *used_at)
{
  executable_profile *p = m->p;
  uint32_t *rows = pop_xcalloc(of->num_accesses + 1, sizeof *rows);
  size_t count = 0;
  for (size_t a = 0; a < of->num_accesses; a++) {
    uint32_t row = row_of_block[m->c->accesses[of->first_access + a].block];
    if (used_at[row] == op + 1) continue;
    used_at[row] = op + 1;
    rows[count++] = row;
  }
  qsort(rows, count, sizeof *rows, compare_rows);
  for (size_t i = 0; i < count; i++)
    pop_push(p->used, p->num_used, p->used_capacity, (profile_used){op, rows[i]});
  free(rows);
}

static void describe_uses(profile_maker *m, const uint32_t *row_of_block)
{
  uint32_t *used_at = pop_xcalloc(m->p->num_lives + 1, sizeof *used_at);
  script s;
  script_build(m->c, &s);
  for (uint32_t op = 0; op < s.num_ops; op++) {
    const step *of = script_accesses(m->c, &s, op);
    if (of) describe_uses_at(m, op, of, row_of_block, used_at);
  }
  script_free(&s);
  free(used_at);
}

void describe_live_ranges(profile_maker *m)
{
  const compilation *c = m->c;
  executable_profile *p = m->p;
  live_range_table table = {0};
  const char *last = NULL; /* a variable's blocks follow one another */
  uint32_t last_name = COMPILER_NONE;
  uint32_t *row_of_block = pop_xcalloc(c->num_blocks + 1, sizeof *row_of_block);
  for (size_t i = 0; i < c->num_blocks; i++) {
    const block *b = &c->blocks[i];
    bool always = b->flags & BLOCK_ALWAYS_LIVE, named = is_known_by_name(b->category);
    if (named && b->name != last) {
      last = b->name;
      last_name = profile_name(m, last);
    }
    profile_live l = {.name = named ? last_name : COMPILER_NONE,
                      .category = b->category,
                      .first_step = always ? COMPILER_NONE : b->first_step,
                      .last_step = always ? COMPILER_NONE : b->last_step};
    grow_live_ranges(&table, p);
    uint32_t *slot = find_live_range(&table, p, &l);
    if (!*slot) {
      pop_push(p->lives, p->num_lives, p->lives_capacity, l);
      *slot = (uint32_t)p->num_lives;
    }
    row_of_block[i] = *slot - 1;
    p->lives[*slot - 1].bytes += b->size;
  }
  free(table.slots);
  describe_uses(m, row_of_block);
  free(row_of_block);
  for (size_t i = 0; i < p->num_lives; i++) p->lives[i].name = shown_name(m, &p->lives[i]);
}
