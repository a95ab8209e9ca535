/* Constants. Their contents are known, so they need neither be on the tile that they are mapped to
 * nor be sent. Libraries map constants anywhere (most to tile 0), and make large ones for padding.
 *
 * - A small constant that only vertices on one tile read, and as a whole, is placed on that tile.
 *   (A large one takes memory there only while it is read.)
 * - A uniform constant has equal elements. Each of its tiles holds only the tile's pattern of that
 *   value, of PATTERN_BYTES. The elements wrap: all of them are at the pattern. This is not done if
 *   a vertex on one of its tiles reads the constant in place.
 * - A tile that needs a uniform constant of another tile copies it from a pattern of its own. */
#include "compiler/lower/constants.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MOVED_BYTES = 1024, LEAST_UNIFORM_BYTES = 256, PATTERN_BYTES = 512, FIRST_SLOTS = 64 };

#define HOME_UNKNOWN UINT32_MAX

/* ---- where constants are ---- */

static bool is_uniform(const variable *v)
{
  uint64_t element = pop_type_bytes(v->type), bytes = v->num_elements * element;
  return v->initial && bytes >= LEAST_UNIFORM_BYTES &&
         memcmp(v->initial, v->initial + element, bytes - element) == 0;
}

static bool is_mapped_to(pop_graph *graph, const view_run *run, uint32_t tile)
{
  size_t count;
  const mapping_interval *mapping = graph_mapping(graph, run->variable, &count);
  size_t i = graph_find_mapping(mapping, count, run->begin);
  return i < count && mapping[i].begin <= run->begin && mapping[i].tile == tile;
}

static void see_reader(pop_graph *graph, constant_use *uses, uint32_t tensor_number,
                       const pop_field *field, uint32_t tile)
{
  const tensor *t = &graph->tensors[tensor_number];
  view_walk walk;
  view_run run;
  view_walk_start(&walk, graph, tensor_number);
  while (view_walk_next(&walk, &run)) {
    const variable *v = &graph->variables[run.variable];
    if (!v->constant || v->is_replica_index) continue;
    constant_use *use = &uses[run.variable];
    bool whole = run.count == v->num_elements && t->num_elements == v->num_elements;
    uint64_t bytes = run.count * pop_type_bytes(v->type);
    if (field->kind != POP_FIELD_INPUT || !whole || bytes > MOST_MOVED_BYTES ||
        (use->home != HOME_UNKNOWN && use->home != tile))
      use->home = CONSTANT_ANYWHERE;
    else
      use->home = tile;
    if (use->is_uniform && run.count == t->num_elements && bytes > PATTERN_BYTES &&
        is_mapped_to(graph, &run, tile))
      use->is_read_in_place = true;
  }
}

constant_use *find_constant_uses(pop_graph *graph, const reach *r)
{
  constant_use *uses = pop_xcalloc(graph->num_variables + 1, sizeof *uses);
  for (size_t i = 0; i < graph->num_variables; i++) {
    const variable *v = &graph->variables[i];
    uses[i] = (constant_use){.home = HOME_UNKNOWN,
                             .is_uniform = v->constant && !v->is_replica_index && is_uniform(v)};
  }
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    if (r->compute_set_uses[v->compute_set] == 0) continue; /* nobody has checked it */
    const pop_vertex_type *type = graph->vertex_types[v->type].type;
    for (uint32_t at = v->first_edge; at != GRAPH_NONE; at = graph->edges[at].next) {
      uint32_t count;
      const uint32_t *tensors = edge_tensors(graph, &graph->edges[at], &count);
      for (uint32_t row = 0; row < count; row++)
        see_reader(graph, uses, tensors[row], &type->fields[graph->edges[at].field], v->tile);
    }
  }
  return uses;
}

/* ---- patterns ---- */

static tile_pattern *slot_of(const tile_patterns *patterns, uint64_t value, uint32_t tile)
{
  uint64_t hash = (value ^ tile) * 0x9e3779b97f4a7c15u;
  size_t last = patterns->num_slots - 1, at = (size_t)(hash ^ hash >> 32) & last;
  while (patterns->slots[at].block != COMPILER_NONE &&
         (patterns->slots[at].value != value || patterns->slots[at].tile != tile))
    at = (at + 1) & last;
  return &patterns->slots[at];
}

static void grow(tile_patterns *patterns)
{
  tile_patterns larger = {.num_slots = patterns->num_slots ? 2 * patterns->num_slots : FIRST_SLOTS,
                          .count = patterns->count};
  larger.slots = pop_xcalloc(larger.num_slots, sizeof *larger.slots);
  for (size_t i = 0; i < larger.num_slots; i++) larger.slots[i].block = COMPILER_NONE;
  for (size_t i = 0; i < patterns->num_slots; i++) {
    const tile_pattern *old = &patterns->slots[i];
    if (old->block != COMPILER_NONE) *slot_of(&larger, old->value, old->tile) = *old;
  }
  free(patterns->slots);
  *patterns = larger;
}

static uint32_t add_pattern(compilation *c, uint64_t value, uint32_t tile)
{
  uint32_t content_number = begin_content(c, PATTERN_BYTES);
  uint8_t *bytes = c->bytes + c->contents[content_number].first_byte;
  for (uint32_t at = 0; at < PATTERN_BYTES; at += UNIFORM_VALUE_BYTES)
    memcpy(bytes + at, &value, UNIFORM_VALUE_BYTES);
  return add_block(c, &(block){.tile = tile,
                               .size = PATTERN_BYTES,
                               .align = UNIFORM_VALUE_BYTES,
                               .category = POP_MEMORY_CONSTANT,
                               .flags = BLOCK_ALWAYS_LIVE | BLOCK_UNIFORM,
                               .name = "pattern",
                               .content = content_number});
}

static uint32_t pattern_on_tile(compilation *c, uint64_t value, uint32_t tile)
{
  tile_patterns *patterns = &c->patterns;
  if (2 * patterns->count >= patterns->num_slots) grow(patterns);
  tile_pattern *slot = slot_of(patterns, value, tile);
  if (slot->block == COMPILER_NONE) {
    *slot = (tile_pattern){value, tile, add_pattern(c, value, tile)};
    patterns->count++;
  }
  return slot->block;
}

void wrap_interval(compilation *c, uint32_t number, const mapping_interval *mapped)
{
  const variable *v = &c->graph->variables[number];
  uint64_t value, most = PATTERN_BYTES / pop_type_bytes(v->type), count;
  memcpy(&value, v->initial, sizeof value);
  place at = {.block = pattern_on_tile(c, value, mapped->tile)};
  for (uint64_t begin = mapped->begin; begin < mapped->end; begin += count) {
    count = mapped->end - begin < most ? mapped->end - begin : most;
    pop_push(c->intervals, c->num_intervals, c->intervals_capacity,
             (placed_interval){begin, begin + count, mapped->tile, at});
  }
}

bool is_of_uniform(const compilation *c, const transfer *t)
{
  return t->source_tile != t->destination_tile &&
         (c->blocks[t->source.block].flags & BLOCK_UNIFORM) != 0;
}

/* The transfer begins at an element, as all transfers do. */
static void take_from_pattern(compilation *c, const transfer *t, transfer_list *out)
{
  const content *of = &c->contents[c->blocks[t->source.block].content];
  uint64_t value;
  memcpy(&value, c->bytes + of->first_byte, sizeof value);
  uint32_t tile = t->destination_tile;
  place source = {pattern_on_tile(c, value, tile), 0}, destination = t->destination;
  for (uint32_t left = t->bytes, bytes; left > 0; left -= bytes) {
    bytes = left < PATTERN_BYTES ? left : PATTERN_BYTES;
    pop_push(out->items, out->count, out->capacity,
             (transfer){tile, tile, source, destination, bytes});
    destination.offset += bytes;
  }
}

void add_localized(compilation *c, const transfer *t, transfer_list *out)
{
  if (is_of_uniform(c, t))
    take_from_pattern(c, t, out);
  else
    pop_push(out->items, out->count, out->capacity, *t);
}
