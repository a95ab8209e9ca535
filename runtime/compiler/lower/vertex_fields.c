/* Decides where the fields of vertices point.
 *
 * If the tensor of a field is one run of bytes on the vertex's tile, the field points straight at
 * it. Otherwise the tile gets a buffer, filled before the compute set (inputs) or emptied after it
 * (outputs). Inputs with the same bytes share a buffer. All buffers of one kind on a tile are
 * consecutive in one block, so that the exchange can fill them in one go.
 *
 *     kind of buffer        category         for
 *     message               message          inputs with a part from another tile of the IPU
 *     global message        globalMessage    inputs with a part from another IPU
 *     rearrangement         rearrangement    inputs whose parts are all on the tile
 *     output                outputEdge       outputs
 *     in and out            multiple         in-outs
 *
 * Fields that a constraint of the vertex type keeps apart (`elem(*a) != elem(*b)`) never point into
 * the same block, because allocate can only move whole blocks. Their buffers have different sides
 * (a small number for each field), and each side has blocks of its own. If the two fields are in
 * the same variable, the second gets a buffer.
 *
 * A field with rows has a table with a pointer to each row. Tables and constant vectors of all
 * vertices on a tile are in one block for each kind (field_data_kind) and side. These blocks are
 * always live. */
#include "compiler/lower/vertex_lowering.h"

static const pop_memory_category field_data_categories[FIELD_DATA_COUNT] = {
    [FIELD_DATA] = POP_MEMORY_VERTEX_FIELD_DATA,
    [ROW_TABLE] = POP_MEMORY_VERTEX_FIELD_DATA,
    [LIST_TABLE] = POP_MEMORY_VECTOR_LIST_DESCRIPTOR,
};

static const pop_memory_category buffer_categories[BUFFER_KIND_COUNT] = {
    [MESSAGE] = POP_MEMORY_MESSAGE,
    [GLOBAL_MESSAGE] = POP_MEMORY_GLOBAL_MESSAGE,
    [REARRANGEMENT] = POP_MEMORY_REARRANGEMENT,
    [OUTPUT] = POP_MEMORY_OUTPUT_EDGE,
    [IN_AND_OUT] = POP_MEMORY_MULTIPLE,
};

/* ---- sides ---- */

static uint32_t field_number(const vertex_lowering *v, const pop_field *field)
{
  return (uint32_t)(field - v->type->fields);
}

static uint32_t side_of(const vertex_lowering *v, const pop_field *field)
{
  return v->type->num_constraints ? v->sides[field_number(v, field)] : 0;
}

/* Are data of the field, or of one of its rows, in the block? */
static bool points_into(const vertex_lowering *v, uint32_t field, uint32_t block)
{
  const pointer *p = &v->pointers[v->first_pointer + field];
  if (!v->type->fields[field].has_rows) return p->at.block == block;
  for (uint32_t i = 0; i < p->elements; i++)
    if (v->pointers[p->first_row + i].at.block == block) return true;
  return false;
}

static bool is_in_conflict(const vertex_lowering *v, const pop_field *field, uint32_t block)
{
  for (size_t i = 0; i < v->type->num_constraints; i++) {
    uint32_t other = conflicting_field(&v->type->constraints[i], field_number(v, field));
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
    /* Whole words avoid a staging buffer; the bytes after the last one are padding. */
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

/* One run on another tile that begins inside a word: the words around it become the buffer, and the
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
         !is_in_conflict(v, field, s->at.block);
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

/* Reserves bytes in the vertices' own data. They are written when all of them are known. */
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

void place_fields(vertex_lowering *v, uint32_t vertex_number)
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
