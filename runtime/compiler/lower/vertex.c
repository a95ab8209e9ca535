/* Compute sets: which vertices run on which tile and worker, and their states. vertex_fields.c
 * decides where their fields point.
 *
 * The vertices of a tile are shared among its workers, the longest first, each to the worker with
 * the least load (LPT rule). The length is the graph's cycle estimate, or else the number of
 * connected elements. Vertices that run on all workers or on the supervisor need no sharing: emit.h
 * says when they run. */
#include "compiler/lower/vertex_lowering.h"
#include "compiler/lower/vertex_state.h"
#include "isa/isa.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VERTEX_COST = 16 };

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

/* Sorts v->order as tile_work says; index is the position in v->vertices. */
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

/* Bytes of the blocks of the tile that belong to its vertices: the profile has to account for each
 * one. */
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
