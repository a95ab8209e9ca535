/* The fingerprint of a graph: XXH3 over its arrays, field by field, in their order.
 *
 * Whatever affects the compiler's output must be hashed: two graphs with the same fingerprint
 * are taken to be the same. The sizes of the structs are asserted, so that whoever adds a field
 * comes here. Padding, pointers and capacities are not hashed, and neither is what only searches
 * leave behind. */
#include "graph/fingerprint.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state as a struct, without an allocation that can fail */
#include <xxhash.h>

/* Checked for 64-bit pointers only, which is what all usual builds have. */
#define ASSERT_SIZE(type, bytes)                                                                   \
  _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes),                                   \
                 "there is a new field: does it shape what is compiled? Then it has a part here")

/* Collects words, because XXH3 is faster with long inputs. */
typedef struct hasher {
  XXH3_state_t state;
  size_t num_words;
  uint64_t words[256];
} hasher;

static void flush_words(hasher *h)
{
  XXH3_128bits_update(&h->state, h->words, h->num_words * sizeof *h->words);
  h->num_words = 0;
}

static inline void add_words(hasher *h, const uint64_t *words, size_t count)
{
  if (count > sizeof h->words / sizeof *h->words - h->num_words) flush_words(h);
  memcpy(h->words + h->num_words, words, count * sizeof *words);
  h->num_words += count;
}

#define ADD(h, ...)                                                                                \
  add_words(h, (uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void add_bytes(hasher *h, const void *bytes, size_t size)
{
  ADD(h, bytes ? size : UINT64_MAX);
  flush_words(h);
  if (bytes) XXH3_128bits_update(&h->state, bytes, size);
}

static void add_text(hasher *h, const char *text)
{
  add_bytes(h, text, text ? strlen(text) : 0);
}

static void add_target(hasher *h, const pop_target *t)
{
  ASSERT_SIZE(pop_target, 168);
  uint64_t clock;
  memcpy(&clock, &t->clock_hz, sizeof clock);
  add_text(h, t->name);
  ADD(h, t->type, t->num_ipus, t->tiles_per_ipu, t->num_worker_contexts, t->memory_base,
      t->memory_bytes, t->interleaved_base, t->system_bytes, t->memory_element_bytes,
      t->exchange_bytes_per_cycle, t->exchange_latency_cycles, t->sync_cycles, t->host_sync_cycles,
      t->host_bytes_per_cycle, t->global_latency_cycles, t->global_bytes_per_cycle,
      t->link_domain_ipus, t->gateway_latency_cycles, t->gateway_bytes_per_cycle,
      t->cycle_estimates, t->memory_without_code, clock);
  add_bytes(h, t->cost, sizeof t->cost);
}

static void add_variables(hasher *h, pop_graph *g)
{
  ASSERT_SIZE(variable, 88); /* metadata: hashed by their effect on edges and mappings */
  ASSERT_SIZE(mapping_interval, 24);
  ADD(h, g->num_variables);
  for (uint32_t i = 0; i < g->num_variables; i++) {
    const variable *v = &g->variables[i];
    size_t count, bytes = v->num_elements * pop_type_bytes(v->type);
    const mapping_interval *mapping = graph_mapping(g, i, &count);
    add_text(h, v->name);
    ADD(h, v->type, v->constant, v->is_replica_index, v->num_elements, v->tensor, v->with_vertex,
        count);
    add_bytes(h, v->initial, bytes);
    for (size_t j = 0; j < count; j++) ADD(h, mapping[j].begin, mapping[j].end, mapping[j].tile);
  }
}

static void add_tensors(hasher *h, const pop_graph *g)
{
  ASSERT_SIZE(tensor, 40);
  ASSERT_SIZE(view_piece, 32);
  ASSERT_SIZE(view_dim, 16);
  ADD(h, g->num_tensors, g->num_pieces, g->num_dims);
  for (size_t i = 0; i < g->num_tensors; i++) {
    const tensor *t = &g->tensors[i];
    ADD(h, t->type, t->rank, t->first_piece, t->num_pieces, t->num_elements);
    for (uint32_t j = 0; j < t->rank; j++) ADD(h, t->shape[j]);
  }
  for (size_t i = 0; i < g->num_pieces; i++) {
    const view_piece *p = &g->pieces[i];
    ADD(h, p->variable, p->num_dims, p->base, p->first_dim, p->start);
  }
  for (size_t i = 0; i < g->num_dims; i++) ADD(h, g->dims[i].count, (uint64_t)g->dims[i].stride);
}

/* Hashes the objects for the graph's target only: they are the same from source as from a .gp,
 * which may have other objects. */
static void add_codelets(hasher *h, const pop_graph *g)
{
  ASSERT_SIZE(vertex_type_entry, 88);
  ADD(h, g->num_codelets, g->num_vertex_types);
  for (size_t i = 0; i < g->num_codelets; i++) {
    size_t num_objects = pop_gp_num_tile_objects(g->codelets[i]), size;
    ADD(h, num_objects);
    for (size_t j = 0; j < num_objects; j++) {
      bool library;
      const void *bytes = pop_object_bytes(pop_gp_tile_object(g->codelets[i], j, &library), &size);
      ADD(h, library);
      add_bytes(h, bytes, size);
    }
  }
  for (size_t i = 0; i < g->num_vertex_types; i++) {
    add_text(h, g->vertex_types[i].type->name);
    ADD(h, g->vertex_types[i].source);
  }
}

/* The values of a vertex's fields: vectors have their elements elsewhere. */
static void add_field_values(hasher *h, const pop_graph *g, const vertex *v)
{
  ASSERT_SIZE(field_value, 32);
  const pop_field *fields = g->vertex_types[v->type].type->fields;
  for (uint32_t i = v->first_value; i != GRAPH_NONE; i = g->field_values[i].next) {
    const field_value *f = &g->field_values[i];
    size_t bytes = (size_t)f->count * pop_type_bytes(fields[f->field].type);
    ADD(h, f->field, f->count);
    add_bytes(h, f->bytes, sizeof f->bytes);
    add_bytes(h, f->data, bytes);
  }
}

static void add_vertices(hasher *h, const pop_graph *g)
{
  ASSERT_SIZE(compute_set, 16);
  ASSERT_SIZE(vertex, 40);
  ASSERT_SIZE(edge, 16);
  ADD(h, g->num_compute_sets, g->num_vertices, g->num_edges, g->num_row_tensors);
  for (size_t i = 0; i < g->num_compute_sets; i++) add_text(h, g->compute_sets[i].name);
  for (size_t i = 0; i < g->num_vertices; i++) {
    const vertex *v = &g->vertices[i];
    ADD(h, v->type, v->compute_set, v->tile, v->first_edge, v->first_value, v->cycle_estimate,
        v->flop_estimate, v->is_own_estimate);
    add_field_values(h, g, v);
  }
  for (size_t i = 0; i < g->num_edges; i++) {
    const edge *e = &g->edges[i];
    ADD(h, e->field, e->tensor, e->num_rows, e->next);
  }
  for (size_t i = 0; i < g->num_row_tensors; i++) ADD(h, g->row_tensors[i]);
}

static void add_programs(hasher *h, const pop_graph *g)
{
  ASSERT_SIZE(program, 104);
  ADD(h, g->num_programs);
  for (size_t i = 0; i < g->num_programs; i++) {
    const program *p = &g->programs[i];
    size_t num_values = p->case_values ? p->num_children - 1 : 0;
    add_text(h, p->name);
    add_text(h, p->message);
    add_bytes(h, p->replica_map, g->num_replicas * sizeof *p->replica_map);
    ADD(h, p->kind, p->count, p->compute_set, p->stream, p->to_device, p->source, p->destination,
        p->headers, p->num_children, num_values);
    for (size_t j = 0; j < p->num_children; j++) ADD(h, p->children[j]);
    for (size_t j = 0; j < num_values; j++) ADD(h, p->case_values[j]);
  }
}

static void add_host(hasher *h, const pop_graph *g)
{
  ASSERT_SIZE(host_handle, 24);
  ASSERT_SIZE(host_stream, 56);
  ASSERT_SIZE(remote_buffer, 48);
  ADD(h, g->num_handles, g->num_streams, g->num_remote_buffers);
  for (size_t i = 0; i < g->num_handles; i++) {
    add_text(h, g->handles[i].name);
    ADD(h, g->handles[i].tensor, g->handles[i].num_replicas, g->handles[i].read);
  }
  for (size_t i = 0; i < g->num_streams; i++) {
    const host_stream *s = &g->streams[i];
    add_text(h, s->name);
    ADD(h, s->type, s->to_device, s->num_elements, s->split_bytes, s->depth, s->mode, s->replica,
        s->num_replicas);
  }
  for (size_t i = 0; i < g->num_remote_buffers; i++) {
    const remote_buffer *b = &g->remote_buffers[i];
    add_text(h, b->name);
    ADD(h, b->type, b->num_elements, b->repeats, b->replica, b->num_replicas);
  }
}

fingerprint graph_fingerprint(pop_graph *graph, const uint32_t *programs, size_t num_programs)
{
  ASSERT_SIZE(pop_graph, 864 + sizeof(pthread_mutex_t));
  hasher h;
  h.num_words = 0;
  XXH3_INITSTATE(&h.state);
  XXH3_128bits_reset(&h.state);
  add_target(&h, &graph->target);
  ADD(&h, graph->num_replicas);
  add_codelets(&h, graph);
  add_variables(&h, graph);
  add_tensors(&h, graph);
  add_vertices(&h, graph);
  add_programs(&h, graph);
  add_host(&h, graph);
  ADD(&h, num_programs);
  for (size_t i = 0; i < num_programs; i++) ADD(&h, programs[i]);
  flush_words(&h);
  XXH128_hash_t hash = XXH3_128bits_digest(&h.state);
  return (fingerprint){hash.low64, hash.high64};
}
