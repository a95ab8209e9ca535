/* memory of the graph profile: by tile, category, compute set and vertex type.
 *
 * The numbers by tile and category are the account's (compiler/allocate/account.c). Those by
 * compute set and vertex type are of the blocks of vertices, which are always live. Added up over
 * vertex types they equal vertexInstanceState, vertexFieldData, vectorListDescriptor and
 * copyDescriptor.
 *
 * For an IPU_MODEL without compile_ipu_code, code counts as 0 bytes everywhere. */
#include "profile/graph_profile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static uint32_t num_tiles(const graph_profile *g)
{
  return pop_target_num_tiles(&g->e->target);
}

static const pop_tile_memory *memory_of(const graph_profile *g, uint32_t tile)
{
  return &g->e->memory_rows[g->e->tiles[tile].memory];
}

bool leaves_out_category(const graph_profile *g, int category)
{
  return g->e->target.memory_without_code &&
         pop_memory_category_is_code((pop_memory_category)category);
}

static bool shows_code(const graph_profile *g)
{
  return !g->e->target.memory_without_code;
}

/* Code never overlaps anything else. */
static pop_tile_memory memory_without_code(const graph_profile *g, const pop_tile_memory *all)
{
  pop_tile_memory m = *all;
  for (int r = 0; r < POP_REGION_COUNT; ++r) {
    uint32_t code = 0;
    for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
      if (leaves_out_category(g, c)) code += m.not_overlapped[c][r];
    m.by_region[r] -= code;
    m.by_region_including_gaps[r] -= code;
    m.total -= code;
    m.total_including_gaps -= code;
    m.most_live -= code;
    m.least_including_gaps -= code;
  }
  return m;
}

/* ---- by tile ---- */

#define MEMORY_FIELD(field) offsetof(pop_tile_memory, field)

static const struct {
  const char *key;
  size_t offset; /* of a uint32_t field in pop_tile_memory */
} tile_fields[] = {
    {"interleaved", MEMORY_FIELD(by_region[POP_REGION_INTERLEAVED])},
    {"interleavedIncludingGaps", MEMORY_FIELD(by_region_including_gaps[POP_REGION_INTERLEAVED])},
    {"nonInterleaved", MEMORY_FIELD(by_region[POP_REGION_NON_INTERLEAVED])},
    {"nonInterleavedIncludingGaps",
     MEMORY_FIELD(by_region_including_gaps[POP_REGION_NON_INTERLEAVED])},
    {"overflowed", MEMORY_FIELD(by_region[POP_REGION_OVERFLOWED])},
    {"overflowedIncludingGaps", MEMORY_FIELD(by_region_including_gaps[POP_REGION_OVERFLOWED])},
    {"total", MEMORY_FIELD(total)},
    {"totalIncludingGaps", MEMORY_FIELD(total_including_gaps)},
    {"mostLive", MEMORY_FIELD(most_live)},
    {"leastIncludingGaps", MEMORY_FIELD(least_including_gaps)},
};

static void emit_by_tile(const emitter *to, const graph_profile *g)
{
  pop_tile_memory *rows = pop_xcalloc(g->e->num_memory_rows + 1, sizeof *rows);
  for (size_t i = 0; i < g->e->num_memory_rows; ++i)
    rows[i] = memory_without_code(g, &g->e->memory_rows[i]);
  emit_begin_map(to, "byTile");
  for (size_t f = 0; f < sizeof tile_fields / sizeof *tile_fields; ++f) {
    emit_begin_vector(to, tile_fields[f].key);
    for (uint32_t t = 0; t < num_tiles(g); ++t) {
      uint32_t bytes;
      memcpy(&bytes, (const char *)&rows[g->e->tiles[t].memory] + tile_fields[f].offset,
             sizeof bytes);
      emit_int(to, NULL, bytes);
    }
    emit_end_vector(to);
  }
  emit_end_map(to);
  free(rows);
}

/* ---- by category ---- */

static void emit_cells(const emitter *to, const char *key, const graph_profile *g, int category,
                       int region, bool overlapped)
{
  bool left_out = leaves_out_category(g, category);
  emit_begin_vector(to, key);
  for (uint32_t t = 0; t < num_tiles(g); ++t) {
    const pop_tile_memory *m = memory_of(g, t);
    emit_int(to, NULL,
             left_out     ? 0
             : overlapped ? m->overlapped[category][region]
                          : m->not_overlapped[category][region]);
  }
  emit_end_vector(to);
}

static void emit_category_total(const emitter *to, const graph_profile *g, int category)
{
  emit_begin_vector(to, "total");
  for (uint32_t t = 0; t < num_tiles(g); ++t) {
    const pop_tile_memory *m = memory_of(g, t);
    int64_t total = 0;
    for (int r = 0; r < POP_REGION_COUNT && !leaves_out_category(g, category); ++r)
      total += (int64_t)m->overlapped[category][r] + m->not_overlapped[category][r];
    emit_int(to, NULL, total);
  }
  emit_end_vector(to);
}

static void emit_by_category(const emitter *to, const graph_profile *g)
{
  static const char *const regions[] = {[POP_REGION_NON_INTERLEAVED] = "nonInterleaved",
                                        [POP_REGION_INTERLEAVED] = "interleaved",
                                        [POP_REGION_OVERFLOWED] = "overflowed"};
  emit_begin_map(to, "byCategory");
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c) {
    emit_begin_map(to, pop_memory_category_key((pop_memory_category)c));
    for (int r = 0; r < POP_REGION_COUNT; ++r) {
      emit_begin_map(to, regions[r]);
      emit_cells(to, "nonOverlapped", g, c, r, false);
      emit_cells(to, "overlapped", g, c, r, true);
      emit_end_map(to);
    }
    emit_category_total(to, g, c);
    emit_end_map(to);
  }
  emit_end_map(to);
}

/* ---- by compute set, by vertex type ---- */

/* After the parts of vertices. */
enum { CODE = PROFILE_VERTEX_PART_COUNT, TOTAL, NUM_VALUES };

static const char *const value_keys[NUM_VALUES] = {
#define PART_KEY(id, key, label) [id] = key,
    PROFILE_VERTEX_PARTS(PART_KEY)
#undef PART_KEY
        [CODE] = "codeBytes",
    [TOTAL] = "totalBytes"};

static uint64_t use_bytes(const profile_vertex_use *use, int value)
{
  uint64_t total = 0;
  for (int p = 0; p < PROFILE_VERTEX_PART_COUNT; ++p) total += use->bytes[p];
  return value == TOTAL ? total : value == CODE ? 0 : use->bytes[value];
}

static uint64_t row_bytes(const graph_profile *g, const profile_work_row *row, int value)
{
  const executable_profile *p = g->p;
  uint64_t bytes = shows_code(g) && (value == CODE || value == TOTAL) ? row->code_bytes : 0;
  for (uint32_t u = 0; u < row->num_uses; ++u)
    bytes += use_bytes(&p->uses[row->first_use + u], value);
  return bytes;
}

static void emit_tiles(const emitter *to, const uint64_t *bytes, uint32_t count)
{
  emit_begin_vector(to, NULL);
  for (uint32_t t = 0; t < count; ++t) emit_int(to, NULL, (int64_t)bytes[t]);
  emit_end_vector(to);
}

static void emit_by_compute_set(const emitter *to, const graph_profile *g)
{
  const executable_profile *p = g->p;
  uint64_t *bytes = pop_xcalloc(num_tiles(g), sizeof *bytes);
  emit_begin_map(to, "byComputeSet");
  for (int value = 0; value < NUM_VALUES; ++value) {
    emit_begin_vector(to, value_keys[value]);
    for (size_t s = 0; s < g->e->num_compute_sets; ++s) {
      const executable_compute_set *set = &g->e->compute_sets[s];
      memset(bytes, 0, num_tiles(g) * sizeof *bytes);
      for (size_t w = set->first_work; w < set->first_work + set->num_works; ++w)
        bytes[g->e->works[w].tile] = row_bytes(g, &p->work_rows[p->works[w]], value);
      emit_tiles(to, bytes, num_tiles(g));
    }
    emit_end_vector(to);
  }
  emit_end_map(to);
  free(bytes);
}

/* Uses by vertex type: those of type t are uses[first[t]] to uses[first[t + 1]]. */
typedef struct use_on_tile {
  uint32_t tile, use;
} use_on_tile;

typedef struct uses_by_type {
  size_t *first;
  use_on_tile *uses;
} uses_by_type;

static uses_by_type sort_uses(const graph_profile *g)
{
  const executable_profile *p = g->p;
  size_t num_types = p->num_vertex_types;
  uses_by_type by = {.first = pop_xcalloc(num_types + 2, sizeof *by.first)};
  size_t *next = by.first + 1; /* while counting, next[t] grows to first[t + 1] */
  for (size_t w = 0; w < p->num_works; ++w) {
    const profile_work_row *row = &p->work_rows[p->works[w]];
    for (uint32_t u = 0; u < row->num_uses; ++u) next[p->uses[row->first_use + u].type + 1]++;
  }
  for (size_t t = 0; t < num_types; ++t) next[t + 1] += next[t];
  by.uses = pop_xcalloc(next[num_types] + 1, sizeof *by.uses);
  for (size_t w = 0; w < p->num_works; ++w) {
    const profile_work_row *row = &p->work_rows[p->works[w]];
    for (uint32_t u = row->first_use; u < row->first_use + row->num_uses; ++u)
      by.uses[next[p->uses[u].type]++] = (use_on_tile){g->e->works[w].tile, u};
  }
  return by;
}

static void emit_by_vertex_type(const emitter *to, const graph_profile *g)
{
  const executable_profile *p = g->p;
  uint64_t *bytes = pop_xcalloc(num_tiles(g), sizeof *bytes);
  uses_by_type by = sort_uses(g);
  emit_begin_map(to, "byVertexType");
  for (int value = 0; value < NUM_VALUES; ++value) {
    emit_begin_vector(to, value_keys[value]);
    for (size_t t = 0; t < p->num_vertex_types; ++t) {
      bool counted = shows_code(g) && (value == CODE || value == TOTAL);
      uint32_t code = counted ? p->vertex_types[t].code_bytes : 0;
      memset(bytes, 0, num_tiles(g) * sizeof *bytes);
      for (size_t i = by.first[t]; i < by.first[t + 1]; ++i) bytes[by.uses[i].tile] = code;
      for (size_t i = by.first[t]; i < by.first[t + 1]; ++i)
        bytes[by.uses[i].tile] += use_bytes(&p->uses[by.uses[i].use], value);
      emit_tiles(to, bytes, num_tiles(g));
    }
    emit_end_vector(to);
  }
  emit_end_map(to);
  free(by.first);
  free(by.uses);
  free(bytes);
}

void emit_memory(const emitter *to, const graph_profile *g)
{
  emit_begin_map(to, "memory");
  emit_by_tile(to, g);
  emit_by_category(to, g);
  if (!g->for_summary) emit_by_compute_set(to, g);
  emit_by_vertex_type(to, g);
  emit_liveness(to, g);
  emit_end_map(to);
}
