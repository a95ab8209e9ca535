/* Pass live_sections: finds out which functions each tile needs, and adds blocks for them.
 *
 *   vertex types on the tile -> their entry symbols, sorted -> pop_live_sections (once per set)
 *
 * The groups of live sections have these categories in the memory profile:
 *   CODE     code of codelets: vertexCode; functions of the device library that they call:
 *            sharedCodeStorage ("code shared by vertices")
 *   RODATA   sharedDataStorage
 *   DATA, TLS   global and thread-local variables (a copy per context): variable, "space allocated
 *            for variables in worker and supervisor code"
 *
 * Needs:   the vertices of each tile (lower).
 * Adds:    the link set, code groups, the layout of each tile with the blocks of its linked code.
 * Then:    which functions a tile has is final; their addresses are open.
 */
#include "compiler/emit/emit.h"

#include <stdlib.h>
#include <string.h>

/* The set of vertex types of a tile: a run of code_grouping.uses, sorted by rank of the entry
 * symbol. */
typedef struct type_set {
  uint32_t tile;
  size_t first, count;
} type_set;

typedef struct code_grouping {
  compilation *c;
  uint32_t *by_rank; /* vertex types, sorted by entry symbol */
  uint32_t *rank;    /* the inverse */
  uint64_t *uses;    /* tile << 32 | rank: sorted, each once */
  size_t num_uses, uses_capacity;
  type_set *sets; /* one per code group: that of its first tile */
  size_t num_sets, sets_capacity;
  uint32_t *slots;  /* hash table of sets: index + 1, 0 free */
  size_t num_slots; /* a power of two */
} code_grouping;

static pop_error *fill_link_set(compilation *c)
{
  c->link_set = pop_link_set_new();
  if (c->options.keep_duplicate_code) pop_link_set_keep_duplicates(c->link_set);
  pop_link_set_define(c->link_set, POP_LINK_MEMORY_BASE, c->target.memory_base);
  for (size_t g = 0; g < c->num_codelets; g++) {
    for (size_t i = 0; i < pop_gp_num_tile_objects(c->codelets[g]); i++) {
      bool library;
      const pop_object *object = pop_gp_tile_object(c->codelets[g], i, &library);
      POP_TRY(pop_link_set_add(c->link_set, object, library));
    }
  }
  return NULL;
}

static int compare_types(const void *a, const void *b, void *context)
{
  const compilation *c = context;
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  int order = strcmp(c->vertex_types[left].type->symbol, c->vertex_types[right].type->symbol);
  return order ? order : (left > right) - (left < right);
}

static void rank_types(code_grouping *g)
{
  size_t n = g->c->num_vertex_types;
  g->by_rank = pop_xcalloc(n + 1, sizeof *g->by_rank);
  g->rank = pop_xcalloc(n + 1, sizeof *g->rank);
  for (uint32_t i = 0; i < n; i++) g->by_rank[i] = i;
  qsort_r(g->by_rank, n, sizeof *g->by_rank, compare_types, g->c);
  for (uint32_t i = 0; i < n; i++) g->rank[g->by_rank[i]] = i;
}

static int compare_uses(const void *a, const void *b)
{
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Collects which types are on which tile. Each type is added once for each work. */
static void collect_uses(code_grouping *g)
{
  const compilation *c = g->c;
  size_t *noted_by = pop_xcalloc(c->num_vertex_types + 1, sizeof *noted_by); /* work + 1 */
  for (size_t w = 0; w < c->num_works; w++) {
    const tile_work *work = &c->works[w];
    for (uint32_t v = 0; v < work->num_vertices; v++) {
      uint32_t type = c->vertices[work->first_vertex + v].type;
      if (noted_by[type] == w + 1) continue;
      noted_by[type] = w + 1;
      pop_push(g->uses, g->num_uses, g->uses_capacity, (uint64_t)work->tile << 32 | g->rank[type]);
    }
  }
  free(noted_by);
  if (g->num_uses) qsort(g->uses, g->num_uses, sizeof *g->uses, compare_uses);
  size_t count = 0;
  for (size_t i = 0; i < g->num_uses; i++)
    if (count == 0 || g->uses[count - 1] != g->uses[i]) g->uses[count++] = g->uses[i];
  g->num_uses = count;
}

/* ---- tiles with equal sets ---- */

static uint32_t hash_set(const code_grouping *g, const type_set *set)
{
  uint32_t hash = 2166136261u; /* FNV-1a over the ranks */
  for (size_t i = 0; i < set->count; i++)
    hash = (hash ^ (uint32_t)g->uses[set->first + i]) * 16777619u;
  return hash;
}

static bool same_types(const code_grouping *g, const type_set *a, const type_set *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if ((uint32_t)g->uses[a->first + i] != (uint32_t)g->uses[b->first + i]) return false;
  return true;
}

/* The slot of the set, or the free slot where it belongs. */
static uint32_t *find_slot(const code_grouping *g, const type_set *set)
{
  for (uint32_t at = hash_set(g, set);; at++) {
    uint32_t *slot = &g->slots[at & (g->num_slots - 1)];
    if (*slot == 0 || same_types(g, &g->sets[*slot - 1], set)) return slot;
  }
}

static void grow_slots(code_grouping *g)
{
  g->num_slots = g->num_slots ? g->num_slots * 2 : 64;
  free(g->slots);
  g->slots = pop_xcalloc(g->num_slots, sizeof *g->slots);
  for (uint32_t i = 0; i < g->num_sets; i++) *find_slot(g, &g->sets[i]) = i + 1;
}

static pop_error *make_live_sections(code_grouping *g, const type_set *set)
{
  const compilation *c = g->c;
  pop_arena *scratch = pop_arena_new();
  const char **roots = pop_arena_alloc(scratch, set->count * sizeof *roots);
  const char **needed_by = pop_arena_alloc(scratch, set->count * sizeof *needed_by);
  for (size_t i = 0; i < set->count; i++) {
    const pop_vertex_type *type =
        c->vertex_types[g->by_rank[(uint32_t)g->uses[set->first + i]]].type;
    roots[i] = type->symbol;
    needed_by[i] = pop_arena_printf(scratch, "vertex %s", type->name);
  }
  pop_live_sections *live;
  pop_error *error = pop_live_sections_create(c->link_set, roots, needed_by, set->count, &live);
  pop_arena_free(scratch);
  if (error) return pop_error_prefix(error, "linking the code of tile %u", set->tile);
  pop_push(g->c->code_groups, g->c->num_code_groups, g->c->code_groups_capacity,
           (code_group){.live = live});
  return NULL;
}

/* Finds the code group of a tile's set. For the first tile with the set, makes the group. */
static pop_error *find_group(code_grouping *g, const type_set *set, uint32_t *group)
{
  if (g->num_sets * 2 >= g->num_slots) grow_slots(g);
  uint32_t *slot = find_slot(g, set);
  if (*slot == 0) {
    POP_TRY(make_live_sections(g, set));
    pop_push(g->sets, g->num_sets, g->sets_capacity, *set);
    *slot = (uint32_t)g->num_sets;
  }
  *group = *slot - 1;
  return NULL;
}

/* ---- blocks ---- */

uint32_t tls_stride_bytes(const pop_live_sections *live)
{
  uint32_t align = pop_live_sections_group_align(live, POP_LINK_TLS);
  return (pop_live_sections_group_bytes(live, POP_LINK_TLS) + align - 1) & ~(align - 1);
}

/* Splits the library code off the group's block as a block of its own. Code of codelets comes
 * first; if there is none, nothing is split. */
static void split_library_code(compilation *c, tile_layout *layout, const pop_live_sections *live)
{
  uint32_t own = pop_live_sections_library_code(live), code = layout->linked_blocks[POP_LINK_CODE];
  if (code == COMPILER_NONE || own == 0 || own == c->blocks[code].size) return;
  block library = c->blocks[code];
  library.category = POP_MEMORY_SHARED_CODE_STORAGE;
  library.name = "code.library";
  library.size -= own;
  library.align = 4;
  c->blocks[code].size = own;
  layout->library_code = add_block(c, &library);
}

static void add_linked_blocks(compilation *c, uint32_t tile)
{
  static const block prototypes[POP_LINK_GROUP_COUNT] = {
      [POP_LINK_CODE] = {.category = POP_MEMORY_VERTEX_CODE, .flags = BLOCK_CODE, .name = "code"},
      [POP_LINK_RODATA] = {.category = POP_MEMORY_SHARED_DATA_STORAGE,
                           .flags = BLOCK_READ_ONLY,
                           .name = "code.constants"},
      [POP_LINK_DATA] = {.category = POP_MEMORY_VARIABLE, .name = "code.variables"},
      [POP_LINK_TLS] = {.category = POP_MEMORY_VARIABLE, .name = "code.worker_variables"},
  };
  tile_layout *layout = &c->tiles[tile];
  const pop_live_sections *live = c->code_groups[layout->code_group].live;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; group++) {
    block b = prototypes[group];
    b.size = group == POP_LINK_TLS ? tls_stride_bytes(live) * (c->target.num_worker_contexts + 1)
                                   : pop_live_sections_group_bytes(live, (pop_link_group)group);
    if (b.size == 0) continue;
    b.tile = tile;
    b.align = pop_live_sections_group_align(live, (pop_link_group)group);
    b.flags |= BLOCK_ALWAYS_LIVE;
    b.content = COMPILER_NONE; /* the linker writes it into the image */
    layout->linked_blocks[group] = add_block(c, &b);
  }
  split_library_code(c, layout, live);
}

static void start_layouts(compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  c->tiles = pop_xcalloc(num_tiles, sizeof *c->tiles);
  for (uint32_t t = 0; t < num_tiles; t++) {
    c->tiles[t].code_group = COMPILER_NONE;
    c->tiles[t].library_code = COMPILER_NONE;
    c->tiles[t].control_code = COMPILER_NONE;
    memset(c->tiles[t].linked_blocks, 0xff, sizeof c->tiles[t].linked_blocks);
    memset(c->tiles[t].stack_blocks, 0xff, sizeof c->tiles[t].stack_blocks);
  }
}

static pop_error *group_tiles(code_grouping *g)
{
  for (size_t i = 0; i < g->num_uses;) {
    type_set set = {.tile = (uint32_t)(g->uses[i] >> 32), .first = i};
    while (i < g->num_uses && g->uses[i] >> 32 == set.tile) i++;
    set.count = i - set.first;
    POP_TRY(find_group(g, &set, &g->c->tiles[set.tile].code_group));
    add_linked_blocks(g->c, set.tile);
  }
  return NULL;
}

pop_error *pass_live_sections(compilation *c)
{
  code_grouping g = {.c = c};
  start_layouts(c);
  POP_TRY(fill_link_set(c));
  rank_types(&g);
  collect_uses(&g);
  pop_error *error = group_tiles(&g);
  free(g.by_rank);
  free(g.rank);
  free(g.uses);
  free(g.sets);
  free(g.slots);
  return error;
}
