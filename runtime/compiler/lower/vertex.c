/* Compute sets: vertex states, and the data where the vertices want them.
 *
 * A field whose tensor is one run of bytes on the vertex's own tile points straight at it. For any
 * other the tile gets a buffer, filled before the compute set (inputs) or emptied after it
 * (outputs). Inputs that are the same bytes share a buffer. All buffers of one kind on a tile lie in
 * one block, one behind the other, so that the exchange can fill them in one go.
 *
 *     kind of buffer        category         for
 *     message               message          inputs with a part from another tile of the IPU
 *     global message        globalMessage    inputs with a part from another IPU
 *     rearrangement         rearrangement    inputs whose parts are all on the tile
 *     output                outputEdge       outputs and in-outs
 *
 * Fields that a constraint of the vertex type keeps apart (`elem(*a) != elem(*b)`) never point into
 * one block, since allocate decides where blocks lie and nothing else: they get buffers of different
 * sides (a small number for each field), and of two that lie in one variable the second gets a buffer
 * of its own.
 *
 * A field with rows has a pointer to each, in a table; tables and constant vectors of all vertices on
 * a tile lie in two blocks that live always.
 *
 * The vertices of a tile are shared by its workers, the longest first, by the estimate that the
 * graph gives or else by the number of elements that they are connected to. Those of all workers and
 * of the supervisor need no sharing: emit.h says when they run. */
#include "base/order.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/rules.h"
#include "compiler/lower/vertex_bytes.h"
#include "compiler/lower/vertex_state.h"
#include "compiler/segments.h"
#include "isa/isa.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What belongs to vertices beside their states. */
typedef enum field_data_kind {
  FIELD_DATA, /* constant vectors: vertices may write theirs, as all that the graph has set */
  ROW_TABLE,  /* tables of rows */
  LIST_TABLE, /* tables of packed rows */
  FIELD_DATA_COUNT
} field_data_kind;

static const pop_memory_category field_data_categories[FIELD_DATA_COUNT] = {
    [FIELD_DATA] = POP_MEMORY_VERTEX_FIELD_DATA,
    [ROW_TABLE] = POP_MEMORY_VERTEX_FIELD_DATA,
    [LIST_TABLE] = POP_MEMORY_VECTOR_LIST_DESCRIPTOR,
};

enum { WORD = 4, MIN_ALIGN = 8, VERTEX_COST = 16 };

/* Inputs: the larger wins where an input's parts come from here and there. What is read and written is filled before
 * and sent after: such a buffer is of several categories. */
typedef enum buffer_kind {
  REARRANGEMENT,
  MESSAGE,
  GLOBAL_MESSAGE,
  OUTPUT,
  IN_AND_OUT,
  BUFFER_KIND_COUNT
} buffer_kind;

static const pop_memory_category buffer_categories[BUFFER_KIND_COUNT] = {
    [MESSAGE] = POP_MEMORY_MESSAGE,
    [GLOBAL_MESSAGE] = POP_MEMORY_GLOBAL_MESSAGE,
    [REARRANGEMENT] = POP_MEMORY_REARRANGEMENT,
    [OUTPUT] = POP_MEMORY_OUTPUT_EDGE,
    [IN_AND_OUT] = POP_MEMORY_MULTIPLE,
};

/* An input buffer that other inputs may use. */
typedef struct shared_input {
  uint64_t hash;
  size_t first_segment, num_segments;
  bool interleaved;
  uint32_t side;
  place at;
  uint32_t next; /* in the chain of the hash, or COMPILER_NONE */
} shared_input;

typedef struct field_access {
  uint32_t block;
  uint32_t bytes_written;
  bool reads;
} field_access;

enum { HASH_CHAINS = 1024 };

typedef struct vertex_lowering {
  lowering *l;
  const char *name;
  transfer_list before, after;
  bool calls_supervisor;
  field_access *accesses;
  size_t num_accesses, accesses_capacity;

  /* The current tile. */
  uint32_t tile;
  const uint32_t *vertices;
  size_t num_vertices;
  /* Blocks or COMPILER_NONE: */
  uint32_t buffers[BUFFER_KIND_COUNT][2][NUM_SIDES]; /* [interleaved] */
  uint32_t field_data[FIELD_DATA_COUNT][NUM_SIDES];
  pointer *pointers; /* by vertex and field, and rows behind */
  size_t num_pointers, pointers_capacity;
  segment *segments; /* of the shared inputs, then of the current field */
  size_t num_segments, segments_capacity;
  shared_input *shared;
  size_t num_shared, shared_capacity;
  uint32_t chains[HASH_CHAINS];
  keyed *order; /* of the vertices: by cost, then by worker */
  uint32_t *workers;
  size_t order_capacity, workers_capacity;
  profile_vertex_use *uses; /* what each vertex takes */
  size_t uses_capacity;
  size_t first_rule; /* in c->placement_rules: of the tile */

  /* The current vertex. */
  profile_vertex_use *use;
  const pop_vertex_type *type;
  size_t first_pointer; /* of its fields */
  uint8_t *sides;       /* by field */
  size_t sides_capacity;
} vertex_lowering;

static uint32_t align_up(uint32_t bytes, uint32_t alignment)
{
  return (bytes + alignment - 1) / alignment * alignment;
}

/* ---- vertex types, groups ---- */

uint32_t use_vertex_type(compilation *c, const pop_vertex_type *type)
{
  pop_push(c->vertex_types, c->num_vertex_types, c->vertex_types_capacity,
           (used_vertex_type){.type = type});
  return (uint32_t)(c->num_vertex_types - 1);
}

static uint32_t used_type(lowering *l, uint32_t graph_type)
{
  uint32_t *used = &l->used_types[graph_type];
  if (*used == COMPILER_NONE)
    *used = use_vertex_type(l->c, l->c->graph->vertex_types[graph_type].type);
  return *used;
}

vertices_by_compute_set group_by_compute_set(const pop_graph *graph, uint32_t num_tiles)
{
  size_t count = graph->num_vertices, num_sets = graph->num_compute_sets;
  vertices_by_compute_set groups = {.vertices =
                                        pop_xrealloc(NULL, count + 1, sizeof *groups.vertices),
                                    .first = pop_xcalloc(num_sets + 1, sizeof *groups.first)};
  keyed *order = pop_xrealloc(NULL, count + 1, sizeof *order);
  for (size_t i = 0; i < count; i++) {
    const vertex *v = &graph->vertices[i];
    uint32_t tile = v->tile < num_tiles ? v->tile : num_tiles; /* unmapped: in no program */
    order[i] = (keyed){.key = (uint64_t)v->compute_set << 32 | tile, .index = (uint32_t)i};
  }
  sort_keyed(order, count);
  for (size_t i = 0, set = 0; i <= count; i++) {
    size_t end = i < count ? order[i].key >> 32 : num_sets;
    for (; set < end; set++) groups.first[set + 1] = i;
    if (i < count) groups.vertices[i] = order[i].index;
  }
  free(order);
  return groups;
}

/* ---- sides ---- */

static uint32_t field_number(const vertex_lowering *v, const pop_field *field)
{
  return (uint32_t)(field - v->type->fields);
}

static uint32_t side_of(const vertex_lowering *v, const pop_field *field)
{
  return v->type->num_constraints ? v->sides[field_number(v, field)] : 0;
}

/* Whether data of the field, or of one of its rows, lie in the block. */
static bool points_into(const vertex_lowering *v, uint32_t field, uint32_t block)
{
  const pointer *p = &v->pointers[v->first_pointer + field];
  if (!v->type->fields[field].has_rows) return p->at.block == block;
  for (uint32_t i = 0; i < p->elements; i++)
    if (v->pointers[p->first_row + i].at.block == block) return true;
  return false;
}

static bool is_kept_out(const vertex_lowering *v, const pop_field *field, uint32_t block)
{
  for (size_t i = 0; i < v->type->num_constraints; i++) {
    uint32_t other = field_kept_apart(&v->type->constraints[i], field_number(v, field));
    if (other != COMPILER_NONE && points_into(v, other, block)) return true;
  }
  return false;
}

/* ---- buffers ---- */

static place add_to_buffer(vertex_lowering *v, buffer_kind kind, const pop_field *field,
                           uint32_t bytes)
{
  compilation *c = v->l->c;
  uint32_t *number = &v->buffers[kind][field->interleaved][side_of(v, field)];
  if (*number == COMPILER_NONE) {
    *number = add_buffer(v->l, v->tile, WORD, MIN_ALIGN, buffer_categories[kind],
                         field->interleaved ? BLOCK_INTERLEAVED : 0, v->name);
    c->blocks[*number].size = 0;
  }
  block *b = &c->blocks[*number];
  uint32_t alignment = field->alignment > WORD ? field->alignment : WORD;
  if (alignment > b->align) b->align = alignment;
  place at = {*number, align_up(b->size, alignment)};
  b->size = align_up(at.offset + bytes, WORD);
  return at;
}

static buffer_kind input_kind(const vertex_lowering *v, const segment *part)
{
  const compilation *c = v->l->c;
  uint32_t per_ipu = c->target.tiles_per_ipu;
  if (part->tile == v->tile || (c->blocks[part->at.block].flags & BLOCK_UNIFORM))
    return REARRANGEMENT;
  return part->tile / per_ipu == v->tile / per_ipu ? MESSAGE : GLOBAL_MESSAGE;
}

static void add_transfer(transfer_list *list, transfer t)
{
  pop_push(list->items, list->count, list->capacity, t);
}

static void gather(vertex_lowering *v, const segment *segments, size_t count, place to)
{
  for (size_t i = 0; i < count; i++) {
    const segment *s = &segments[i];
    uint32_t bytes = s->bytes;
    /* Whole words instead of a staging buffer: what is behind the last byte is padding. */
    if (i + 1 == count && s->tile != v->tile && (s->at.offset | to.offset) % WORD == 0)
      bytes = align_up(bytes, WORD);
    add_transfer(&v->before, (transfer){s->tile, v->tile, s->at, to, bytes});
    to.offset += s->bytes;
  }
}

static void scatter(vertex_lowering *v, const segment *segments, size_t count, place from)
{
  for (size_t i = 0; i < count; i++) {
    const segment *s = &segments[i];
    add_transfer(&v->after, (transfer){v->tile, s->tile, from, s->at, s->bytes});
    from.offset += s->bytes;
  }
}

/* One run of another tile that begins inside a word: the words around it become the buffer, and the
 * field points into them. */
static bool is_one_skewed_run(const vertex_lowering *v, const segment *segments, size_t count,
                              const pop_field *field)
{
  uint32_t skew = segments[0].at.offset % WORD;
  return count == 1 && segments[0].tile != v->tile && skew != 0 && skew % field->alignment == 0;
}

static place gather_skewed_run(vertex_lowering *v, const segment *run, const pop_field *field)
{
  uint32_t skew = run->at.offset % WORD, bytes = align_up(skew + run->bytes, WORD);
  place words = {run->at.block, run->at.offset - skew};
  place to = add_to_buffer(v, input_kind(v, run), field, bytes);
  add_transfer(&v->before, (transfer){run->tile, v->tile, words, to, bytes});
  return (place){to.block, to.offset + skew};
}

/* ---- shared inputs ---- */

static uint64_t hash_segments(const segment *segments, size_t count)
{
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    uint64_t value = (uint64_t)segments[i].at.block << 32 | segments[i].at.offset;
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ segments[i].bytes) * 0xbf58476d1ce4e5b9u;
  }
  return hash ^ hash >> 32;
}

static bool same_segments(const segment *a, const segment *b, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (a[i].at.block != b[i].at.block || a[i].at.offset != b[i].at.offset ||
        a[i].bytes != b[i].bytes)
      return false;
  return true;
}

static bool is_aligned(const compilation *c, place at, uint32_t alignment)
{
  return at.offset % alignment == 0 && c->blocks[at.block].align >= alignment;
}

static const shared_input *find_shared(const vertex_lowering *v, uint64_t hash, size_t first,
                                       size_t count, const pop_field *field)
{
  for (uint32_t i = v->chains[hash % HASH_CHAINS]; i != COMPILER_NONE; i = v->shared[i].next) {
    const shared_input *s = &v->shared[i];
    if (s->hash == hash && s->num_segments == count && s->interleaved == field->interleaved &&
        s->side == side_of(v, field) && is_aligned(v->l->c, s->at, field->alignment) &&
        same_segments(v->segments + s->first_segment, v->segments + first, count))
      return s;
  }
  return NULL;
}

/* ---- fields ---- */

static place place_input(vertex_lowering *v, size_t first, size_t count, uint32_t bytes,
                         const pop_field *field)
{
  uint64_t hash = hash_segments(v->segments + first, count);
  const shared_input *shared = find_shared(v, hash, first, count, field);
  if (shared) {
    v->num_segments = first;
    return shared->at;
  }
  const segment *segments = v->segments + first;
  place at;
  if (is_one_skewed_run(v, segments, count, field)) {
    at = gather_skewed_run(v, segments, field);
  } else {
    buffer_kind kind = REARRANGEMENT;
    for (size_t i = 0; i < count; i++)
      if (input_kind(v, &segments[i]) > kind) kind = input_kind(v, &segments[i]);
    at = add_to_buffer(v, kind, field, bytes);
    gather(v, segments, count, at);
  }
  uint32_t *chain = &v->chains[hash % HASH_CHAINS];
  pop_push(v->shared, v->num_shared, v->shared_capacity,
           (shared_input){hash, first, count, field->interleaved, side_of(v, field), at, *chain});
  *chain = (uint32_t)(v->num_shared - 1);
  return at;
}

static place place_output(vertex_lowering *v, size_t first, size_t count, uint32_t bytes,
                          const pop_field *field)
{
  bool is_read = field->kind == POP_FIELD_INOUT;
  place at = add_to_buffer(v, is_read ? IN_AND_OUT : OUTPUT, field, bytes);
  if (is_read) gather(v, v->segments + first, count, at);
  scatter(v, v->segments + first, count, at);
  v->num_segments = first;
  return at;
}

static bool is_direct(const vertex_lowering *v, size_t first, size_t count, const pop_field *field)
{
  const compilation *c = v->l->c;
  const segment *s = &v->segments[first];
  return count == 1 && s->tile == v->tile && is_aligned(c, s->at, field->alignment) &&
         (!field->interleaved || (c->blocks[s->at.block].flags & BLOCK_INTERLEAVED)) &&
         !is_kept_out(v, field, s->at.block);
}

static pointer place_field(vertex_lowering *v, const pop_field *field, uint32_t tensor_number)
{
  const tensor *t = &v->l->c->graph->tensors[tensor_number];
  pointer p = {.at = {COMPILER_NONE, 0}, .elements = (uint32_t)t->num_elements};
  if (t->num_elements == 0) return p;
  uint32_t bytes = p.elements * pop_type_bytes(t->type);
  size_t first = v->num_segments, count;
  segment_walk walk;
  segment found;
  segment_walk_start(&walk, v->l->c, tensor_number);
  while (segment_walk_next(&walk, &found))
    pop_push(v->segments, v->num_segments, v->segments_capacity, found);
  count = v->num_segments - first;
  if (is_direct(v, first, count, field)) {
    p.at = found.at;
    v->num_segments = first;
  } else if (field->kind == POP_FIELD_INPUT) {
    p.at = place_input(v, first, count, bytes, field);
  } else {
    p.at = place_output(v, first, count, bytes, field);
  }
  pop_push(v->accesses, v->num_accesses, v->accesses_capacity,
           (field_access){.block = p.at.block,
                          .bytes_written = field->kind == POP_FIELD_INPUT ? 0 : bytes,
                          .reads = field->kind != POP_FIELD_OUTPUT});
  return p;
}

/* Room in the vertices' own data; its bytes are written when all of it is known. */
static place add_field_data(vertex_lowering *v, field_data_kind kind, profile_vertex_part part,
                            const pop_field *field, uint32_t alignment, uint32_t bytes)
{
  compilation *c = v->l->c;
  uint32_t *number = &v->field_data[kind][side_of(v, field)];
  if (*number == COMPILER_NONE) {
    *number =
        add_block(c, &(block){.tile = v->tile,
                              .size = WORD,
                              .align = MIN_ALIGN,
                              .category = (uint8_t)field_data_categories[kind],
                              .flags = BLOCK_ALWAYS_LIVE | (kind == FIELD_DATA ? 0 : BLOCK_TABLE),
                              .name = v->name,
                              .content = COMPILER_NONE});
    c->blocks[*number].size = 0;
  }
  block *b = &c->blocks[*number];
  if (alignment < WORD) alignment = WORD;
  if (alignment > b->align) b->align = alignment;
  place at = {*number, align_up(b->size, alignment)};
  uint32_t end = align_up(at.offset + bytes, WORD);
  v->use->bytes[part] += bytes;
  v->use->bytes[PROFILE_PADDING] += end - b->size - bytes;
  b->size = end;
  return at;
}

static pointer place_rows(vertex_lowering *v, const pop_field *field, const edge *e)
{
  uint32_t count;
  const uint32_t *tensors = edge_tensors(v->l->c->graph, e, &count);
  pointer table = {.at = {COMPILER_NONE, 0}, .elements = count, .first_row = v->num_pointers};
  for (uint32_t i = 0; i < count; i++) {
    pointer row = place_field(v, field, tensors[i]);
    pop_push(v->pointers, v->num_pointers, v->pointers_capacity, row);
  }
  bool is_list = is_list_layout(field->layout);
  if (count > 0 && field->layout != POP_LAYOUT_ARRAY)
    table.at = add_field_data(v, is_list ? LIST_TABLE : ROW_TABLE,
                              is_list ? PROFILE_DESCRIPTORS : PROFILE_EDGE_POINTERS, field,
                              field->table_alignment, count * pop_field_row_bytes(field));
  return table;
}

static void place_constants(vertex_lowering *v, const vertex *g, const pop_vertex_type *type,
                            size_t first_pointer)
{
  const pop_graph *graph = v->l->c->graph;
  for (uint32_t i = g->first_value; i != GRAPH_NONE; i = graph->field_values[i].next) {
    const field_value *value = &graph->field_values[i];
    const pop_field *field = &type->fields[value->field];
    if (field->layout == POP_LAYOUT_SCALAR || value->count == 0) continue;
    pointer *p = &v->pointers[first_pointer + value->field];
    p->elements = value->count;
    p->at = add_field_data(v, FIELD_DATA, PROFILE_VERTEX_DATA, field, field->alignment,
                           value->count * pop_type_bytes(field->type));
  }
}

static void place_fields(vertex_lowering *v, uint32_t vertex_number)
{
  const pop_graph *graph = v->l->c->graph;
  const vertex *g = &graph->vertices[vertex_number];
  const pop_vertex_type *type = graph->vertex_types[g->type].type;
  size_t first = v->num_pointers;
  v->type = type;
  v->first_pointer = first;
  if (type->num_constraints) {
    pop_reserve(v->sides, type->num_fields, v->sides_capacity);
    choose_sides(type, v->sides);
  }
  pop_reserve(v->pointers, first + type->num_fields, v->pointers_capacity);
  v->num_pointers += type->num_fields;
  for (size_t i = 0; i < type->num_fields; i++)
    v->pointers[first + i] = (pointer){.at = {COMPILER_NONE, 0}};
  for (uint32_t n = g->first_edge; n != GRAPH_NONE; n = graph->edges[n].next) {
    const edge *e = &graph->edges[n];
    const pop_field *field = &type->fields[e->field];
    v->l->c->num_edges += e->num_rows == GRAPH_NONE ? 1 : e->num_rows;
    pointer p = field->has_rows ? place_rows(v, field, e) : place_field(v, field, e->tensor);
    v->pointers[first + e->field] = p;
  }
  place_constants(v, g, type, first);
}

/* ---- workers ---- */

static uint64_t vertex_cost(const pop_graph *graph, uint32_t vertex_number)
{
  const vertex *v = &graph->vertices[vertex_number];
  if (v->cycle_estimate) return v->cycle_estimate;
  uint64_t cost = VERTEX_COST;
  for (uint32_t e = v->first_edge; e != GRAPH_NONE; e = graph->edges[e].next) {
    uint32_t count;
    const uint32_t *tensors = edge_tensors(graph, &graph->edges[e], &count);
    for (uint32_t i = 0; i < count; i++) cost += graph->tensors[tensors[i]].num_elements;
  }
  return cost;
}

static uint32_t rank_of_worker(uint32_t worker)
{
  return worker == ON_SUPERVISOR ? 0 : worker == ON_ALL_WORKERS ? 1 : worker + 2;
}

/* Leaves v->order as tile_work says; index is the position in v->vertices. */
static void share_among_workers(vertex_lowering *v)
{
  const pop_graph *graph = v->l->c->graph;
  uint32_t num_workers = v->l->c->target.num_worker_contexts;
  uint64_t load[ISA_MAX_WORKERS] = {0};
  pop_reserve(v->order, v->num_vertices, v->order_capacity);
  pop_reserve(v->workers, v->num_vertices, v->workers_capacity);
  for (size_t i = 0; i < v->num_vertices; i++)
    v->order[i] = (keyed){.key = ~vertex_cost(graph, v->vertices[i]), .index = (uint32_t)i};
  sort_keyed(v->order, v->num_vertices);
  for (size_t i = 0; i < v->num_vertices; i++) {
    uint32_t position = v->order[i].index, least = 0;
    const vertex *g = &graph->vertices[v->vertices[position]];
    pop_vertex_kind kind = graph->vertex_types[g->type].type->kind;
    if (kind != POP_VERTEX_WORKER) {
      v->workers[position] = kind == POP_VERTEX_MULTI ? ON_ALL_WORKERS : ON_SUPERVISOR;
      v->calls_supervisor |= kind == POP_VERTEX_SUPERVISOR;
      continue;
    }
    for (uint32_t worker = 1; worker < num_workers; worker++)
      if (load[worker] < load[least]) least = worker;
    load[least] += ~v->order[i].key;
    v->workers[position] = least;
  }
  for (size_t i = 0; i < v->num_vertices; i++)
    v->order[i] = (keyed){.key = rank_of_worker(v->workers[i]), .index = (uint32_t)i};
  sort_keyed(v->order, v->num_vertices);
}

/* ---- states ---- */

static const pop_vertex_type *type_at(const vertex_lowering *v, size_t position)
{
  const pop_graph *graph = v->l->c->graph;
  return graph->vertex_types[graph->vertices[v->vertices[position]].type].type;
}

static uint32_t state_alignment(const pop_vertex_type *type)
{
  return type->state_alignment > WORD ? type->state_alignment : WORD;
}

static uint32_t bytes_of_states(const vertex_lowering *v, uint32_t *alignment)
{
  uint32_t bytes = 0;
  *alignment = WORD;
  for (size_t i = 0; i < v->num_vertices; i++) {
    const pop_vertex_type *type = type_at(v, v->order[i].index);
    if (state_alignment(type) > *alignment) *alignment = state_alignment(type);
    bytes = align_up(bytes, state_alignment(type)) + type->state_size;
  }
  return bytes > 0 ? align_up(bytes, WORD) : WORD;
}

static void write_field_data(vertex_lowering *v, const size_t *first_pointer)
{
  compilation *c = v->l->c;
  const uint32_t *numbers = v->field_data[0];
  for (size_t i = 0; i < sizeof v->field_data / sizeof *numbers; i++) {
    uint32_t number = numbers[i];
    if (number == COMPILER_NONE) continue;
    uint32_t content_number = begin_content(c, c->blocks[number].size);
    c->blocks[number].content = content_number;
    field_writer w = {c, v->pointers, content_number, {number, 0}};
    for (size_t j = 0; j < v->num_vertices; j++)
      write_vertex_data(&w, &c->graph->vertices[v->vertices[j]], v->pointers + first_pointer[j]);
  }
}

static void add_states(vertex_lowering *v, const size_t *first_pointer)
{
  compilation *c = v->l->c;
  tile_work work = {
      .tile = v->tile, .first_vertex = c->num_vertices, .num_vertices = (uint32_t)v->num_vertices};
  uint32_t alignment, offset = 0, bytes = bytes_of_states(v, &alignment);
  uint32_t content_number = begin_content(c, bytes);
  begin_vertex_uses(c, &work);
  for (size_t i = 0; i < v->num_vertices; i++) {
    uint32_t position = v->order[i].index, vertex_number = v->vertices[position];
    const vertex *g = &c->graph->vertices[vertex_number];
    const pop_vertex_type *type = type_at(v, position);
    profile_vertex_use *use = &v->uses[position];
    uint32_t end = offset;
    offset = align_up(offset, state_alignment(type));
    use->bytes[PROFILE_PADDING] += offset - end;
    field_writer w = {c, v->pointers, content_number, {(uint32_t)c->num_blocks, 0}};
    write_vertex_state(&w, g, v->pointers + first_pointer[position], offset);
    rule_subject subject = {.type = type,
                            .tile = v->tile,
                            .pointers = v->pointers + first_pointer[position],
                            .all = v->pointers,
                            .state = {(uint32_t)c->num_blocks, offset}};
    add_placement_rules(c, v->first_rule, &subject);
    uint32_t used = used_type(v->l, g->type);
    pop_push(c->vertices, c->num_vertices, c->vertices_capacity,
             (lowered_vertex){.type = used,
                              .graph_vertex = vertex_number,
                              .state_offset = offset,
                              .worker = v->workers[position],
                              .cycles = g->cycle_estimate,
                              .flops = g->flop_estimate});
    c->vertex_types[used].num_instances++;
    if (g->cycle_estimate && !g->is_own_estimate)
      c->vertex_types[used].estimated_by = c->graph->vertex_types[g->type].source;
    offset += type->state_size;
    if (i + 1 == v->num_vertices) use->bytes[PROFILE_PADDING] += bytes - offset;
    use->type = used;
    add_state_bytes(use, type, false);
    add_vertex_use(c, &work, use);
  }
  work.state_block = add_block(c, &(block){.tile = v->tile,
                                           .size = bytes,
                                           .align = alignment,
                                           .category = POP_MEMORY_VERTEX_INSTANCE_STATE,
                                           .flags = BLOCK_ALWAYS_LIVE | BLOCK_STATES,
                                           .name = v->name,
                                           .content = content_number});
  pop_push(c->works, c->num_works, c->works_capacity, work);
}

/* Bytes of the tile's blocks that are its vertices' own: the profile has to account for each. */
static uint64_t bytes_of_vertices(const vertex_lowering *v)
{
  const compilation *c = v->l->c;
  const uint32_t *numbers = v->field_data[0];
  uint64_t bytes = c->blocks[c->works[c->num_works - 1].state_block].size;
  for (size_t i = 0; i < sizeof v->field_data / sizeof *numbers; i++)
    if (numbers[i] != COMPILER_NONE) bytes += c->blocks[numbers[i]].size;
  return bytes;
}

static void lower_tile(vertex_lowering *v)
{
  memset(v->buffers, 0xff, sizeof v->buffers);
  memset(v->chains, 0xff, sizeof v->chains);
  memset(v->field_data, 0xff, sizeof v->field_data);
  v->num_pointers = v->num_segments = v->num_shared = 0;
  v->first_rule = v->l->c->num_placement_rules;
  size_t *first_pointer = pop_xrealloc(NULL, v->num_vertices, sizeof *first_pointer);
  pop_reserve(v->uses, v->num_vertices, v->uses_capacity);
  for (size_t i = 0; i < v->num_vertices; i++) {
    first_pointer[i] = v->num_pointers;
    v->use = &v->uses[i];
    *v->use = (profile_vertex_use){0};
    place_fields(v, v->vertices[i]);
  }
  share_among_workers(v);
  write_field_data(v, first_pointer);
  add_states(v, first_pointer);
  assert(vertex_use_bytes(v->l->c, &v->l->c->works[v->l->c->num_works - 1]) ==
         bytes_of_vertices(v));
  free(first_pointer);
}

/* ---- the compute set ---- */

static void lower_tiles(vertex_lowering *v, const uint32_t *vertices, size_t count)
{
  const pop_graph *graph = v->l->c->graph;
  for (size_t first = 0, end; first < count; first = end) {
    v->tile = graph->vertices[vertices[first]].tile;
    for (end = first; end < count && graph->vertices[vertices[end]].tile == v->tile;) end++;
    v->vertices = vertices + first;
    v->num_vertices = end - first;
    lower_tile(v);
  }
}

static void add_execute_step(vertex_lowering *v, uint32_t set, step_list *steps)
{
  uint32_t added = add_step(v->l, STEP_EXECUTE, v->name, set);
  v->l->c->steps[added].calls_supervisor = v->calls_supervisor;
  begin_accesses(v->l, added);
  for (size_t i = 0; i < v->num_accesses; i++) {
    const field_access *a = &v->accesses[i];
    if (a->reads) record_read(v->l, a->block);
    if (a->bytes_written) record_write(v->l, a->block, a->bytes_written);
  }
  end_accesses(v->l, added);
  pop_push(steps->items, steps->count, steps->capacity, added);
}

static pop_error *add_steps(vertex_lowering *v, uint32_t set, step_list *steps)
{
  pop_arena *arena = v->l->c->arena;
  const transfer_names before = {.exchange = pop_arena_printf(arena, "%s/ExchangePre", v->name),
                                 .copy = pop_arena_printf(arena, "%s/OnTileCopyPre", v->name)};
  const transfer_names after = {.exchange = pop_arena_printf(arena, "%s/ExchangePost", v->name),
                                .copy = pop_arena_printf(arena, "%s/OnTileCopyPost", v->name)};
  POP_TRY(lower_transfers(v->l, &v->before, &before, steps));
  add_execute_step(v, set, steps);
  return lower_transfers(v->l, &v->after, &after, steps);
}

pop_error *lower_compute_set(lowering *l, uint32_t compute_set_number, step_list *steps)
{
  compilation *c = l->c;
  const vertices_by_compute_set *groups = &l->by_compute_set;
  size_t first = groups->first[compute_set_number], end = groups->first[compute_set_number + 1];
  if (first == end) return NULL;
  const char *name = pop_arena_strdup(c->arena, c->graph->compute_sets[compute_set_number].name);
  lowered_compute_set set = {
      .name = name, .graph_compute_set = compute_set_number, .first_work = c->num_works};
  vertex_lowering *v = pop_xcalloc(1, sizeof *v);
  v->l = l;
  v->name = name;
  lower_tiles(v, groups->vertices + first, end - first);
  set.num_works = c->num_works - set.first_work;
  uint32_t number = (uint32_t)c->num_compute_sets;
  pop_push(c->compute_sets, c->num_compute_sets, c->compute_sets_capacity, set);
  pop_error *error = add_steps(v, number, steps);
  void *const arrays[] = {v->before.items, v->after.items, v->accesses, v->pointers, v->segments,
                          v->shared,       v->order,       v->workers,  v->sides,    v->uses};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  free(v);
  return error;
}
