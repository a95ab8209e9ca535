/* Closure: which functions each tile needs, and blocks for them.
 *
 *   vertex types on the tile -> their entry symbols, sorted -> pop_closure (once per distinct set)
 *
 * What a closure's groups are in the memory profile: code of codelets is vertexCode, what they call of the
 * device library sharedCodeStorage ("code shared by vertices"), read-only data sharedDataStorage; global
 * variables (DATA) and thread-local ones (TLS: one copy per worker context) are variable, "space allocated for
 * variables in worker and supervisor code".
 */
#include "compiler/emit/emit.h"

#include <stdlib.h>
#include <string.h>

/* The set of vertex types of a tile, as a run of one long array; by rank of the entry symbol. */
typedef struct type_set {
  uint32_t tile;
  size_t first, count;
} type_set;

typedef struct closer {
  compilation *c;
  uint32_t *by_rank; /* vertex types by entry symbol */
  uint32_t *rank;    /* the inverse */
  uint64_t *uses;    /* tile << 32 | rank: sorted, each once */
  size_t num_uses, uses_capacity;
  type_set *sets; /* one per code group, of the first tile that has it */
  size_t num_sets, sets_capacity;
  uint32_t *slots;  /* hash table of sets: index + 1, 0 free */
  size_t num_slots; /* a power of two */
} closer;

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

static void rank_types(closer *k)
{
  size_t n = k->c->num_vertex_types;
  k->by_rank = pop_xcalloc(n + 1, sizeof *k->by_rank);
  k->rank = pop_xcalloc(n + 1, sizeof *k->rank);
  for (uint32_t i = 0; i < n; i++) k->by_rank[i] = i;
  qsort_r(k->by_rank, n, sizeof *k->by_rank, compare_types, k->c);
  for (uint32_t i = 0; i < n; i++) k->rank[k->by_rank[i]] = i;
}

static int compare_uses(const void *a, const void *b)
{
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Which types are on which tile. Within one tile's work each type is noted once. */
static void collect_uses(closer *k)
{
  const compilation *c = k->c;
  size_t *noted_by = pop_xcalloc(c->num_vertex_types + 1, sizeof *noted_by); /* work + 1 */
  for (size_t w = 0; w < c->num_works; w++) {
    const tile_work *work = &c->works[w];
    for (uint32_t v = 0; v < work->num_vertices; v++) {
      uint32_t type = c->vertices[work->first_vertex + v].type;
      if (noted_by[type] == w + 1) continue;
      noted_by[type] = w + 1;
      pop_push(k->uses, k->num_uses, k->uses_capacity, (uint64_t)work->tile << 32 | k->rank[type]);
    }
  }
  free(noted_by);
  if (k->num_uses) qsort(k->uses, k->num_uses, sizeof *k->uses, compare_uses);
  size_t count = 0;
  for (size_t i = 0; i < k->num_uses; i++)
    if (count == 0 || k->uses[count - 1] != k->uses[i]) k->uses[count++] = k->uses[i];
  k->num_uses = count;
}

/* ---- tiles with equal sets ---- */

static uint32_t hash_set(const closer *k, const type_set *set)
{
  uint32_t hash = 2166136261u; /* FNV-1a over the ranks */
  for (size_t i = 0; i < set->count; i++)
    hash = (hash ^ (uint32_t)k->uses[set->first + i]) * 16777619u;
  return hash;
}

static bool same_types(const closer *k, const type_set *a, const type_set *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if ((uint32_t)k->uses[a->first + i] != (uint32_t)k->uses[b->first + i]) return false;
  return true;
}

/* The slot of the set, or the free one where it belongs. */
static uint32_t *find_slot(const closer *k, const type_set *set)
{
  for (uint32_t at = hash_set(k, set);; at++) {
    uint32_t *slot = &k->slots[at & (k->num_slots - 1)];
    if (*slot == 0 || same_types(k, &k->sets[*slot - 1], set)) return slot;
  }
}

static void grow_slots(closer *k)
{
  k->num_slots = k->num_slots ? k->num_slots * 2 : 64;
  free(k->slots);
  k->slots = pop_xcalloc(k->num_slots, sizeof *k->slots);
  for (uint32_t i = 0; i < k->num_sets; i++) *find_slot(k, &k->sets[i]) = i + 1;
}

static pop_error *make_closure(closer *k, const type_set *set)
{
  const compilation *c = k->c;
  pop_arena *scratch = pop_arena_new();
  const char **roots = pop_arena_alloc(scratch, set->count * sizeof *roots);
  const char **needed_by = pop_arena_alloc(scratch, set->count * sizeof *needed_by);
  for (size_t i = 0; i < set->count; i++) {
    const pop_vertex_type *type =
        c->vertex_types[k->by_rank[(uint32_t)k->uses[set->first + i]]].type;
    roots[i] = type->symbol;
    needed_by[i] = pop_arena_printf(scratch, "vertex %s", type->name);
  }
  pop_closure *closure;
  pop_error *error = pop_closure_create(c->link_set, roots, needed_by, set->count, &closure);
  pop_arena_free(scratch);
  if (error) return pop_error_prefix(error, "linking the code of tile %u", set->tile);
  pop_push(k->c->code_groups, k->c->num_code_groups, k->c->code_groups_capacity,
           (code_group){.closure = closure});
  return NULL;
}

/* The code group of a tile's set; makes it if this is the first tile that has the set. */
static pop_error *find_group(closer *k, const type_set *set, uint32_t *group)
{
  if (k->num_sets * 2 >= k->num_slots) grow_slots(k);
  uint32_t *slot = find_slot(k, set);
  if (*slot == 0) {
    POP_TRY(make_closure(k, set));
    pop_push(k->sets, k->num_sets, k->sets_capacity, *set);
    *slot = (uint32_t)k->num_sets;
  }
  *group = *slot - 1;
  return NULL;
}

/* ---- blocks ---- */

uint32_t tls_stride_bytes(const pop_closure *closure)
{
  uint32_t align = pop_closure_group_align(closure, POP_LINK_TLS);
  return (pop_closure_group_bytes(closure, POP_LINK_TLS) + align - 1) & ~(align - 1);
}

/* A part of the group's block becomes a block of its own. Code of codelets comes first, and there is some. */
static void split_library_code(compilation *c, tile_layout *layout, const pop_closure *closure)
{
  uint32_t own = pop_closure_library_code(closure), code = layout->linked_blocks[POP_LINK_CODE];
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
  const pop_closure *closure = c->code_groups[layout->code_group].closure;
  for (int group = 0; group < POP_LINK_GROUP_COUNT; group++) {
    block b = prototypes[group];
    b.size = group == POP_LINK_TLS ? tls_stride_bytes(closure) * (c->target.num_worker_contexts + 1)
                                   : pop_closure_group_bytes(closure, (pop_link_group)group);
    if (b.size == 0) continue;
    b.tile = tile;
    b.align = pop_closure_group_align(closure, (pop_link_group)group);
    b.flags |= BLOCK_ALWAYS_LIVE;
    b.content = COMPILER_NONE; /* the linker writes it into the image */
    layout->linked_blocks[group] = add_block(c, &b);
  }
  split_library_code(c, layout, closure);
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

static pop_error *group_tiles(closer *k)
{
  for (size_t i = 0; i < k->num_uses;) {
    type_set set = {.tile = (uint32_t)(k->uses[i] >> 32), .first = i};
    while (i < k->num_uses && k->uses[i] >> 32 == set.tile) i++;
    set.count = i - set.first;
    POP_TRY(find_group(k, &set, &k->c->tiles[set.tile].code_group));
    add_linked_blocks(k->c, set.tile);
  }
  return NULL;
}

pop_error *pass_closure(compilation *c)
{
  closer k = {.c = c};
  start_layouts(c);
  POP_TRY(fill_link_set(c));
  rank_types(&k);
  collect_uses(&k);
  pop_error *error = group_tiles(&k);
  free(k.by_rank);
  free(k.rank);
  free(k.uses);
  free(k.sets);
  free(k.slots);
  return error;
}
