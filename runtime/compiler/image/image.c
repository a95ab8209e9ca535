/* Images: turns blocks with addresses into the bytes and symbols of a tile.
 *
 *   zero bytes <- linked code <- contents of blocks <- addresses (fixups) <- patches of instructions
 *
 * Symbols:
 *   linked code     functions and data under their names in the objects; thread-local data as
 *                   `<name>.worker<number>`, one for each worker
 *   blocks          variables, tables, stacks, control and exchange code under their own names; a
 *                   block that serves a compute set or a copy as `<category>.<name>`
 *                   (`message.mulCS`)
 *   vertices        `vertex.<compute set>.<vertex type>.<number>`: the number in the graph, from 0;
 *                   of a copy vertex that the compiler added, the number on the tile
 *   program blocks  `block.<number>.<name>`, inside `control`
 *
 * All symbols but the objects' global ones are local: the names are the user's and need not be
 * unique.
 *
 * Nothing here changes the compilation: images can be made by several threads, in any order.
 */
#include "compiler/emit/assembler.h"
#include "compiler/emit/emit.h"
#include "compiler/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static uint32_t address_of(const compilation *c, place p)
{
  return c->blocks[p.block].address + p.offset;
}

static uint32_t load_word(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store_word(uint8_t *at, uint32_t word)
{
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(word >> (8 * i));
}

static void write_content(const compilation *c, const block *b, uint8_t *bytes)
{
  const content *from = &c->contents[b->content];
  uint8_t *to = bytes + (b->address - c->target.memory_base);
  memcpy(to, c->bytes + from->first_byte, from->size);
  for (uint32_t i = 0; i < from->num_fixups; i++) {
    const fixup *f = &c->fixups[from->first_fixup + i];
    store_address(c, f, to + f->at);
  }
}

/* On an overfull tile a place may be out of reach of an exchange instruction (allocate rejects that
 * on tiles that fit). Such an image is for reports only, and the field keeps the low bits. */
static void apply_patch(const compilation *c, const code_patch *patch, uint8_t *bytes)
{
  uint8_t *at = bytes + (address_of(c, patch->at) - c->target.memory_base);
  uint32_t target = address_of(c, patch->target);
  uint32_t word_offset = (target - c->target.memory_base) / 4 & (ISA_MAX_WORD_OFFSET - 1);
  switch ((code_patch_kind)patch->kind) {
  case PATCH_LUI_ADDI:
    store_word(at, load_word(at) | rv_upper(target));
    store_word(at + 4, load_word(at + 4) | (uint32_t)rv_lower(target) << 20);
    return;
  case PATCH_SEND:
    store_word(at, load_word(at) | word_offset << 7);
    return;
  case PATCH_IMM22:
    store_word(at, isa_imm22_word(load_word(at) >> 12 & 7, word_offset));
    return;
  }
}

static pop_error *write_bytes(const compilation *c, uint32_t tile, uint8_t *bytes, uint32_t size)
{
  const tile_layout *layout = &c->tiles[tile];
  POP_TRY(write_linked_code(c, tile, bytes, size));
  for (size_t i = 0; i < layout->num_blocks; i++) {
    const block *b = &c->blocks[c->blocks_by_tile[layout->first_block + i]];
    if (b->content != COMPILER_NONE) write_content(c, b, bytes);
  }
  for (size_t i = 0; i < layout->num_patches; i++)
    apply_patch(c, &c->code_patches[layout->first_patch + i], bytes);
  return NULL;
}

/* ---- symbols and mappings ---- */

typedef struct builder {
  const compilation *c;
  uint32_t tile;
  pop_arena *arena;
  pop_image_symbol *symbols;
  size_t num_symbols, symbols_capacity;
  pop_image_mapping *mappings; /* in any order; of equal addresses the last one counts */
  size_t num_mappings, mappings_capacity;
} builder;

static void add_symbol(builder *b, pop_image_symbol symbol)
{
  if (symbol.local && b->c->options.global_symbols_only) return;
  pop_push(b->symbols, b->num_symbols, b->symbols_capacity, symbol);
}

static void add_mapping(builder *b, uint32_t address, bool code)
{
  pop_push(b->mappings, b->num_mappings, b->mappings_capacity,
           (pop_image_mapping){.address = address, .code = code});
}

/* A thread-local variable of each worker: `errno.worker0` … */
static void add_worker_symbols(builder *b, const pop_link_symbol *symbol)
{
  const tile_layout *layout = &b->c->tiles[b->tile];
  uint32_t stride = tls_stride_bytes(b->c->code_groups[layout->code_group].live);
  for (uint32_t w = 0; w < b->c->target.num_worker_contexts; w++)
    add_symbol(b, (pop_image_symbol){
                      .name = pop_arena_printf(b->arena, "%s.worker%u", symbol->name, w),
                      .address = symbol->address + w * stride,
                      .size = symbol->size,
                      .kind = POP_SYMBOL_OBJECT,
                      .category = POP_MEMORY_VARIABLE,
                      .local = true,
                  });
}

static void add_linked_symbol(void *context, const pop_link_symbol *symbol)
{
  builder *b = context;
  if (symbol->name[0] == '$') {
    if (symbol->group == POP_LINK_CODE) add_mapping(b, symbol->address, symbol->name[1] == 'x');
    return;
  }
  const tile_layout *layout = &b->c->tiles[b->tile];
  uint32_t block = layout->linked_blocks[symbol->group], library = layout->library_code;
  if (symbol->group == POP_LINK_CODE && library != COMPILER_NONE &&
      symbol->address >= b->c->blocks[library].address)
    block = library;
  if (block == COMPILER_NONE) return; /* a symbol of no size in an empty group */
  if (symbol->group == POP_LINK_TLS) {
    add_worker_symbols(b, symbol);
    return;
  }
  add_symbol(b, (pop_image_symbol){
                    .name = symbol->name,
                    .address = symbol->address,
                    .size = symbol->size,
                    .kind = symbol->function ? POP_SYMBOL_FUNCTION : POP_SYMBOL_OBJECT,
                    .category = b->c->blocks[block].category,
                    .local = symbol->local,
                });
}

static void add_linked_symbols(builder *b)
{
  const tile_layout *layout = &b->c->tiles[b->tile];
  if (layout->code_group == COMPILER_NONE) return;
  pop_link_addresses addresses = linked_addresses(b->c, b->tile);
  pop_live_sections_symbols(b->c->code_groups[layout->code_group].live, &addresses,
                            add_linked_symbol, b);
}

static bool is_linked(const tile_layout *layout, uint32_t block)
{
  for (int group = 0; group < POP_LINK_GROUP_COUNT; group++)
    if (layout->linked_blocks[group] == block) return true;
  return layout->library_code == block;
}

/* Programs that read symbols must not mistake a variable named like a stack for one. */
static const char *block_symbol_name(const builder *b, const block *x)
{
  const char *key = pop_memory_category_key((pop_memory_category)x->category);
  if (!*x->name) return key;
  switch (x->category) {
  case POP_MEMORY_MESSAGE:
  case POP_MEMORY_HOST_MESSAGE:
  case POP_MEMORY_REARRANGEMENT:
  case POP_MEMORY_OUTPUT_EDGE:
  case POP_MEMORY_MULTIPLE:
  case POP_MEMORY_COPY_DESCRIPTOR:
  case POP_MEMORY_VERTEX_FIELD_DATA:
  case POP_MEMORY_VECTOR_LIST_DESCRIPTOR:
    return pop_arena_printf(b->arena, "%s.%s", key, x->name);
  case POP_MEMORY_VARIABLE:
  case POP_MEMORY_CONSTANT:
    if (strncmp(x->name, "stack.", strlen("stack.")) == 0)
      return pop_arena_printf(b->arena, "%s.%s", key, x->name);
    return x->name;
  default:
    return x->name;
  }
}

/* The type of the variable whose elements the block holds, or NULL. */
static const char *block_type(const compilation *c, uint32_t block)
{
  size_t low = 0, high = c->num_variables;
  while (low < high) { /* variables before `low` start at or before the block */
    size_t middle = low + (high - low) / 2;
    if (c->variables[middle].first_block <= block)
      low = middle + 1;
    else
      high = middle;
  }
  const placed_variable *v = low ? &c->variables[low - 1] : NULL;
  return v && block - v->first_block < v->num_blocks ? v->type : NULL;
}

/* Is the block followed by more linked code? */
static bool is_split(const tile_layout *layout, uint32_t block)
{
  return block == layout->linked_blocks[POP_LINK_CODE] && layout->library_code != COMPILER_NONE;
}

/* Adds symbols and mappings of blocks. Linked code has its own, and vertex states have symbols by
 * vertex. */
static void add_block_symbols(builder *b)
{
  const tile_layout *layout = &b->c->tiles[b->tile];
  for (size_t i = 0; i < layout->num_blocks; i++) {
    uint32_t index = b->c->blocks_by_tile[layout->first_block + i];
    const block *x = &b->c->blocks[index];
    bool linked = is_linked(layout, index), code = x->flags & BLOCK_CODE;
    if (!linked || !code) add_mapping(b, x->address, code);
    if (code && !is_split(layout, index)) add_mapping(b, x->address + x->size, false);
    if (linked || x->category == POP_MEMORY_VERTEX_INSTANCE_STATE) continue;
    add_symbol(b, (pop_image_symbol){
                      .name = block_symbol_name(b, x),
                      .address = x->address,
                      .size = x->size,
                      .kind = code ? POP_SYMBOL_CODE_AREA : POP_SYMBOL_OBJECT,
                      .category = x->category,
                      .local = true,
                      .type = block_type(b->c, index),
                  });
  }
}

/* Blocks of programs: each is an area of the control code. There is no symbol if the tile does
 * nothing in the block. */
static void add_mark_symbols(builder *b)
{
  const compilation *c = b->c;
  const tile_layout *layout = &c->tiles[b->tile];
  for (size_t i = 0; i < layout->num_marks; i++) {
    const block_mark *mark = &c->block_marks[layout->first_mark + i];
    if (mark->begin == mark->end) continue;
    add_symbol(b, (pop_image_symbol){
                      .name = pop_arena_printf(b->arena, "block.%u.%s", mark->block,
                                               c->profile_blocks[mark->block]),
                      .address = address_of(c, (place){layout->control_code, mark->begin}),
                      .size = mark->end - mark->begin,
                      .kind = POP_SYMBOL_OBJECT,
                      .category = POP_MEMORY_CONTROL_CODE,
                      .local = true,
                  });
  }
}

static const tile_work *find_work(const compilation *c, const lowered_compute_set *set,
                                  uint32_t tile)
{
  size_t low = 0, high = set->num_works;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (c->works[set->first_work + middle].tile < tile)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == set->num_works) return NULL;
  const tile_work *work = &c->works[set->first_work + low];
  return work->tile == tile ? work : NULL;
}

static void add_vertex_symbols(builder *b)
{
  const compilation *c = b->c;
  for (size_t s = 0; s < c->num_compute_sets; s++) {
    const lowered_compute_set *set = &c->compute_sets[s];
    const tile_work *work = find_work(c, set, b->tile);
    for (uint32_t i = 0; work && i < work->num_vertices; i++) {
      const lowered_vertex *v = &c->vertices[work->first_vertex + i];
      const pop_vertex_type *type = c->vertex_types[v->type].type;
      uint32_t number = v->graph_vertex == COMPILER_NONE ? i : v->graph_vertex;
      add_symbol(b, (pop_image_symbol){
                        .name = pop_arena_printf(b->arena, "vertex.%s.%s.%u", set->name, type->name,
                                                 number),
                        .address = address_of(c, (place){work->state_block, v->state_offset}),
                        .size = type->state_size,
                        .kind = POP_SYMBOL_OBJECT,
                        .category = POP_MEMORY_VERTEX_INSTANCE_STATE,
                        .local = true,
                    });
    }
  }
}

/* A mapping and its rank, which makes the sort stable: the last mapping of an address counts. */
typedef struct ranked_mapping {
  pop_image_mapping mapping;
  size_t rank;
} ranked_mapping;

static int compare_mappings(const void *left, const void *right)
{
  const ranked_mapping *a = left, *b = right;
  if (a->mapping.address != b->mapping.address)
    return a->mapping.address < b->mapping.address ? -1 : 1;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Keeps the mappings below `end` that change something, in order. */
static void finish_mappings(const builder *b, uint32_t end, pop_image *image)
{
  size_t n = b->num_mappings, kept = 0;
  ranked_mapping *ranked = pop_xcalloc(n + 1, sizeof *ranked);
  for (size_t i = 0; i < n; i++) ranked[i] = (ranked_mapping){b->mappings[i], i};
  qsort(ranked, n, sizeof *ranked, compare_mappings);
  pop_image_mapping *out = pop_arena_alloc(b->arena, (n + 1) * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    pop_image_mapping m = ranked[i].mapping;
    bool overridden = i + 1 < n && ranked[i + 1].mapping.address == m.address;
    if (overridden || m.address >= end || (kept && out[kept - 1].code == m.code)) continue;
    out[kept++] = m;
  }
  free(ranked);
  image->mappings = out;
  image->num_mappings = kept;
}

static void name_everything(const compilation *c, uint32_t tile, pop_arena *arena, pop_image *image)
{
  builder b = {.c = c, .tile = tile, .arena = arena};
  add_mapping(&b, image->base, false);
  add_linked_symbols(&b);
  add_block_symbols(&b);
  add_mark_symbols(&b);
  add_vertex_symbols(&b);
  size_t bytes = b.num_symbols * sizeof *b.symbols;
  pop_image_symbol *symbols = pop_arena_alloc(arena, bytes);
  if (bytes) memcpy(symbols, b.symbols, bytes);
  image->symbols = symbols;
  image->num_symbols = b.num_symbols;
  finish_mappings(&b, image->base + image->size, image);
  free(b.symbols);
  free(b.mappings);
}

/* ---- segments ---- */

/* In address order, but for data, which can be anywhere. */
typedef enum segment_kind { SYSTEM, DATA, CODE, TABLES, STATES } segment_kind;

static segment_kind kind_of_block(const block *b)
{
  if (b->flags & (BLOCK_CODE | BLOCK_READ_ONLY)) return CODE;
  if (b->flags & BLOCK_TABLE) return TABLES;
  return b->flags & BLOCK_STATES ? STATES : DATA;
}

enum { MAX_SEGMENTS = 8 }; /* each kind once, with data in between */

typedef struct segment_list {
  pop_image_segment *segments;
  size_t count;
  segment_kind kind; /* of the last one, from `start` to `end` so far */
  uint32_t start, end;
} segment_list;

static void end_segment(segment_list *list, uint32_t end)
{
  segment_kind kind = list->kind;
  if (end <= list->start) return;
  assert(list->count < MAX_SEGMENTS);
  list->segments[list->count++] = (pop_image_segment){.start = list->start,
                                                      .size = end - list->start,
                                                      .writable = kind == DATA || kind == STATES,
                                                      .executable = kind == CODE,
                                                      .states = kind == STATES};
  list->start = end;
}

/* The segments together cover the image. The system's memory may be read only. A gap belongs to a
 * data segment if data are on one side of it. */
static void make_segments(const compilation *c, uint32_t tile, pop_arena *arena, pop_image *image)
{
  const tile_layout *layout = &c->tiles[tile];
  uint32_t data_start = image->base + c->target.system_bytes;
  segment_list list = {.segments = pop_arena_alloc(arena, MAX_SEGMENTS * sizeof *list.segments),
                       .kind = SYSTEM,
                       .start = image->base,
                       .end = data_start};
  end_segment(&list, data_start);
  list.kind = DATA;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    const block *b = &c->blocks[c->blocks_by_tile[layout->first_block + i]];
    segment_kind kind = kind_of_block(b);
    if (kind != list.kind) end_segment(&list, list.kind == DATA ? b->address : list.end);
    list.kind = kind;
    if (b->address + b->size > list.end) list.end = b->address + b->size;
  }
  end_segment(&list, list.kind == DATA ? layout->end : list.end);
  list.kind = DATA;
  end_segment(&list, layout->end);
  image->segments = list.segments;
  image->num_segments = list.count;
}

/* ---- the image ---- */

pop_error *compilation_tile_image(const compilation *c, uint32_t tile, pop_arena *arena,
                                  pop_image *image)
{
  const tile_layout *layout = &c->tiles[tile];
  uint32_t size = layout->end - c->target.memory_base;
  uint8_t *bytes = pop_arena_alloc(arena, size);
  POP_TRY(write_bytes(c, tile, bytes, size));
  *image = (pop_image){.tile = tile,
                       .base = c->target.memory_base,
                       .size = size,
                       .bytes = bytes,
                       .entry = c->blocks[layout->control_code].address};
  make_segments(c, tile, arena, image);
  if (c->options.sections_by_category) make_image_sections(c, tile, arena, image);
  name_everything(c, tile, arena, image);
  return NULL;
}
