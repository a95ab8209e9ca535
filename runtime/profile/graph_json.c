/* A graph as JSON, as it is written: nothing is copied. */
#include "graph/graph.h"
#include "profile/json.h"

#include <errno.h>
#include <populus/introspection.h>

static const char *const kind_names[] = {
    [PROGRAM_SEQUENCE] = "Sequence",
    [PROGRAM_EXECUTE] = "Execute",
    [PROGRAM_COPY] = "Copy",
    [PROGRAM_REPEAT] = "Repeat",
    [PROGRAM_SWITCH] = "Switch",
    [PROGRAM_WHILE] = "RepeatWhile",
    [PROGRAM_CALL] = "Call",
    [PROGRAM_WRITE_UNDEF] = "WriteUndef",
    [PROGRAM_NOP] = "Nop",
    [PROGRAM_BLOCK] = "Block",
    [PROGRAM_ABORT] = "Abort",
    [PROGRAM_SYNC] = "Sync",
    [PROGRAM_STREAM_COPY] = "StreamCopy",
    [PROGRAM_PRINT_TENSOR] = "PrintTensor",
};
enum { NUM_KIND_NAMES = sizeof kind_names / sizeof *kind_names };

static const char *kind_name(program_kind kind)
{
  const char *name = (size_t)kind < NUM_KIND_NAMES ? kind_names[kind] : NULL;
  return name ? name : "Program";
}

static void put_triple(json_writer *json, uint64_t a, uint64_t b, uint64_t c)
{
  json_begin_list(json, NULL);
  json_put_number(json, NULL, a);
  json_put_number(json, NULL, b);
  json_put_number(json, NULL, c);
  json_end_list(json);
}

/* ---- tensors ---- */

static void put_shape(json_writer *json, const tensor *t)
{
  json_begin_list(json, "shape");
  for (uint32_t d = 0; d < t->rank; d++) json_put_number(json, NULL, t->shape[d]);
  json_end_list(json);
}

static void put_tensor(json_writer *json, const char *key, const pop_graph *graph, uint32_t index)
{
  const tensor *t = &graph->tensors[index];
  if (index == 0) return;
  json_begin_object(json, key);
  json_put_string(json, "type", pop_type_name(t->type));
  put_shape(json, t);
  json_begin_list(json, "elements");
  view_walk walk;
  view_walk_start(&walk, graph, index);
  for (view_run run; view_walk_next(&walk, &run);)
    put_triple(json, run.variable, run.begin, run.begin + run.count);
  json_end_list(json);
  json_end_object(json);
}

static void put_variables(json_writer *json, pop_graph *graph)
{
  json_begin_list(json, "variables");
  for (uint32_t i = 0; i < graph->num_variables; i++) {
    const variable *v = &graph->variables[i];
    size_t count;
    const mapping_interval *mapping = graph_mapping(graph, i, &count);
    json_begin_object(json, NULL);
    json_put_string(json, "name", v->name);
    json_put_string(json, "type", pop_type_name(v->type));
    put_shape(json, &graph->tensors[v->tensor]);
    json_put_bool(json, "constant", v->constant);
    json_begin_list(json, "mapping");
    for (size_t j = 0; j < count; j++)
      put_triple(json, mapping[j].begin, mapping[j].end, mapping[j].tile);
    json_end_list(json);
    json_end_object(json);
  }
  json_end_list(json);
}

/* ---- vertices ---- */

static void put_fields(json_writer *json, const pop_graph *graph, const vertex *v)
{
  const pop_field *fields = graph->vertex_types[v->type].type->fields;
  json_begin_list(json, "fields");
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    const edge *e = &graph->edges[i];
    uint32_t count;
    const uint32_t *tensors = edge_tensors(graph, e, &count);
    json_begin_object(json, NULL);
    json_put_string(json, "name", fields[e->field].name);
    json_begin_list(json, "rows");
    for (uint32_t row = 0; row < count; row++) put_tensor(json, NULL, graph, tensors[row]);
    json_end_list(json);
    json_end_object(json);
  }
  json_end_list(json);
}

static void put_vertices(json_writer *json, const pop_graph *graph)
{
  json_begin_list(json, "vertexTypes");
  for (size_t i = 0; i < graph->num_vertex_types; i++)
    json_put_string(json, NULL, graph->vertex_types[i].type->name);
  json_end_list(json);
  json_begin_list(json, "computeSets");
  for (size_t i = 0; i < graph->num_compute_sets; i++)
    json_put_string(json, NULL, graph->compute_sets[i].name);
  json_end_list(json);
  json_begin_list(json, "vertices");
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    json_begin_object(json, NULL);
    json_put_number(json, "type", v->type);
    json_put_number(json, "computeSet", v->compute_set);
    if (v->tile != GRAPH_NONE) json_put_number(json, "tile", v->tile);
    if (v->cycle_estimate) json_put_number(json, "cycles", v->cycle_estimate);
    if (v->flop_estimate) json_put_number(json, "flops", v->flop_estimate);
    put_fields(json, graph, v);
    json_end_object(json);
  }
  json_end_list(json);
}

/* ---- programs, host ---- */

static void put_program(json_writer *json, const pop_graph *graph, const program *p)
{
  json_begin_object(json, NULL);
  json_put_string(json, "kind", kind_name(p->kind));
  if (*p->name) json_put_string(json, "name", p->name);
  if (p->kind == PROGRAM_REPEAT) json_put_number(json, "count", p->count);
  if (p->kind == PROGRAM_WHILE) json_put_bool(json, "whileTrue", p->count);
  if (p->kind == PROGRAM_EXECUTE) json_put_number(json, "computeSet", p->compute_set);
  if (p->kind == PROGRAM_STREAM_COPY) json_put_number(json, "stream", p->stream);
  if (p->num_children) {
    json_begin_list(json, "children");
    for (size_t i = 0; i < p->num_children; i++) json_put_number(json, NULL, p->children[i]);
    json_end_list(json);
  }
  put_tensor(json, "source", graph, p->source);
  put_tensor(json, "destination", graph, p->destination);
  json_end_object(json);
}

static void put_host(json_writer *json, const pop_graph *graph)
{
  json_begin_list(json, "handles");
  for (size_t i = 0; i < graph->num_handles; i++) {
    const host_handle *h = &graph->handles[i];
    json_begin_object(json, NULL);
    json_put_string(json, "name", h->name);
    json_put_bool(json, "read", h->read);
    put_tensor(json, "tensor", graph, h->tensor);
    json_end_object(json);
  }
  json_end_list(json);
  json_begin_list(json, "streams");
  for (size_t i = 0; i < graph->num_streams; i++) {
    const host_stream *s = &graph->streams[i];
    json_begin_object(json, NULL);
    json_put_string(json, "name", s->name);
    json_put_string(json, "type", pop_type_name(s->type));
    json_put_bool(json, "toDevice", s->to_device);
    json_put_number(json, "numElements", s->num_elements);
    json_end_object(json);
  }
  json_end_list(json);
}

static void put_target(json_writer *json, const pop_target *target)
{
  json_begin_object(json, "target");
  json_put_string(json, "name", target->name);
  json_put_number(json, "numIPUs", target->num_ipus);
  json_put_number(json, "tilesPerIPU", target->tiles_per_ipu);
  json_put_number(json, "bytesPerTile", target->memory_bytes);
  json_put_number(json, "numWorkerContexts", target->num_worker_contexts);
  json_end_object(json);
}

pop_error *pop_graph_serialize(pop_graph *graph, FILE *stream)
{
  if (!graph || !stream)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "pop_graph_serialize: the %s is NULL",
                         graph ? "stream" : "graph");
  graph = graph->top;
  json_writer json = {.stream = stream};
  json_begin_object(&json, NULL);
  put_target(&json, &graph->target);
  put_variables(&json, graph);
  put_vertices(&json, graph);
  json_begin_list(&json, "programs");
  for (size_t i = 0; i < graph->num_programs; i++) put_program(&json, graph, &graph->programs[i]);
  json_end_list(&json);
  put_host(&json, graph);
  json_end_object(&json);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "pop_graph_serialize: cannot write");
  return NULL;
}
