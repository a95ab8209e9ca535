/* memory.liveness of the graph profile: variables that are always live, and the others by program.
 *
 *   variables     names, categories and bytes, for all tiles; other entries refer to their numbers
 *   alwaysLive    {bytes, variables}
 *   programs      {program, bytes, variables, uses} of each program that reads or writes something.
 *                 `variables` are the live ones without those that are always live. `uses` are those
 *                 that the program reads or writes, also of the latter. The tree is that of
 *                 `programs`: a function appears once, and anything that one of its calls keeps
 *                 live is live in it
 *   maxBytes      at the program with the most live bytes, including those that are always live */
#include "profile/graph_profile.h"

#include <stdlib.h>

static bool is_always_live(const profile_live *l)
{
  return l->first_step == EXECUTABLE_NONE;
}

typedef struct live_set {
  const executable_profile *p;
  uint32_t *by_start; /* lives that are not always live, by their first step */
  size_t count, next;
  uint32_t *live; /* ascending */
  size_t num_live;
  uint64_t bytes; /* of what is live */
} live_set;

static int compare_starts(const void *a, const void *b, void *context)
{
  const profile_live *lives = context;
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  if (lives[left].first_step != lives[right].first_step)
    return lives[left].first_step < lives[right].first_step ? -1 : 1;
  return (left > right) - (left < right);
}

/* Does the step itself read or write something? */
static bool has_accesses(executable_step_kind kind)
{
  switch (kind) {
  case EXECUTABLE_STEP_SEQUENCE:
  case EXECUTABLE_STEP_REPEAT:
  case EXECUTABLE_STEP_BLOCK:
  case EXECUTABLE_STEP_SYNC:
    return false;
  default:
    return true;
  }
}

static live_set start_live_set(const executable_profile *p)
{
  live_set set = {.p = p,
                  .by_start = pop_xcalloc(p->num_lives + 1, sizeof *set.by_start),
                  .live = pop_xcalloc(p->num_lives + 1, sizeof *set.live)};
  for (uint32_t i = 0; i < p->num_lives; ++i)
    if (!is_always_live(&p->lives[i])) set.by_start[set.count++] = i;
  qsort_r(set.by_start, set.count, sizeof *set.by_start, compare_starts, p->lives);
  return set;
}

static void free_live_set(live_set *set)
{
  free(set->by_start);
  free(set->live);
}

/* Calls must be in ascending order of steps. */
static void move_to_step(live_set *set, uint32_t step)
{
  const profile_live *lives = set->p->lives;
  size_t kept = 0;
  set->bytes = 0;
  for (; set->next < set->count && lives[set->by_start[set->next]].first_step <= step; ++set->next)
    set->live[set->num_live++] = set->by_start[set->next];
  for (size_t i = 0; i < set->num_live; ++i) {
    const profile_live *l = &lives[set->live[i]];
    if (l->last_step < step) continue;
    set->bytes += l->bytes;
    set->live[kept++] = set->live[i];
  }
  set->num_live = kept;
}

static void emit_variables(const emitter *to, const graph_profile *g)
{
  const executable_profile *p = g->p;
  emit_begin_map(to, "variables");
  emit_begin_vector(to, "names");
  for (size_t i = 0; i < p->num_lives; ++i) emit_string(to, NULL, p->names[p->lives[i].name]);
  emit_end_vector(to);
  emit_begin_vector(to, "categories");
  for (size_t i = 0; i < p->num_lives; ++i)
    emit_string(to, NULL, pop_memory_category_key((pop_memory_category)p->lives[i].category));
  emit_end_vector(to);
  emit_begin_vector(to, "bytes");
  for (size_t i = 0; i < p->num_lives; ++i)
    emit_int(to, NULL,
             leaves_out_category(g, p->lives[i].category) ? 0 : (int64_t)p->lives[i].bytes);
  emit_end_vector(to);
  emit_end_map(to);
}

/* Returns its bytes. */
static uint64_t emit_always_live(const emitter *to, const graph_profile *g)
{
  const executable_profile *p = g->p;
  uint64_t bytes = 0;
  emit_begin_map(to, "alwaysLive");
  emit_begin_vector(to, "variables");
  for (size_t i = 0; i < p->num_lives; ++i) {
    if (!is_always_live(&p->lives[i]) || leaves_out_category(g, p->lives[i].category)) continue;
    bytes += p->lives[i].bytes;
    emit_int(to, NULL, (int64_t)i);
  }
  emit_end_vector(to);
  emit_int(to, "bytes", (int64_t)bytes);
  emit_end_map(to);
  return bytes;
}

/* Calls must be in ascending order of steps. *next is the first of `used` that belongs to no
 * earlier step. */
static void emit_uses(const emitter *to, const executable_profile *p, uint32_t step, size_t *next)
{
  while (*next < p->num_used && p->used[*next].step < step) ++*next;
  emit_begin_vector(to, "uses");
  for (; *next < p->num_used && p->used[*next].step == step; ++*next)
    emit_int(to, NULL, p->used[*next].live);
  emit_end_vector(to);
}

void emit_liveness(const emitter *to, const graph_profile *g)
{
  const executable_profile *p = g->p;
  live_set set = start_live_set(p);
  uint64_t most = 0;
  size_t next_used = 0;
  emit_begin_map(to, "liveness");
  emit_variables(to, g);
  uint64_t always = emit_always_live(to, g);
  emit_begin_vector(to, "programs");
  for (size_t i = 0; i < g->e->num_steps; ++i) {
    if (!has_accesses(g->e->steps[i].kind)) continue;
    move_to_step(&set, g->e->steps[i].position);
    most = set.bytes > most ? set.bytes : most;
    emit_begin_map(to, NULL);
    emit_int(to, "program", (int64_t)i);
    emit_int(to, "bytes", (int64_t)set.bytes);
    emit_begin_vector(to, "variables");
    for (size_t v = 0; v < set.num_live; ++v) emit_int(to, NULL, set.live[v]);
    emit_end_vector(to);
    emit_uses(to, p, g->e->steps[i].position, &next_used);
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_int(to, "maxBytes", (int64_t)(always + most));
  emit_end_map(to);
  free_live_set(&set);
}
