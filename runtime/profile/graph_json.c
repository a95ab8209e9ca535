/* Writes a graph as JSON or CBOR without copying it. */
#include "base/json.h"
#include "graph/graph.h"

#include <errno.h>
#include <populus/introspection.h>
#include <stdlib.h>

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
    [PROGRAM_REPLICA_COPY] = "CrossReplicaCopy",
    [PROGRAM_ASSUME_EQUAL] = "AssumeEqualAcrossReplicas",
    [PROGRAM_STREAM_COPY] = "StreamCopy",
    [PROGRAM_REMOTE_COPY] = "RemoteCopy",
    [PROGRAM_PRINT_TENSOR] = "PrintTensor",
};

static void put_triple(const emitter *to, uint64_t a, uint64_t b, uint64_t c)
{
  emit_begin_vector(to, NULL);
  emit_int(to, NULL, (int64_t)a);
  emit_int(to, NULL, (int64_t)b);
  emit_int(to, NULL, (int64_t)c);
  emit_end_vector(to);
}

/* ---- tensors ---- */

static void put_shape(const emitter *to, const tensor *t)
{
  emit_begin_vector(to, "shape");
  for (uint32_t d = 0; d < t->rank; d++) emit_int(to, NULL, (int64_t)t->shape[d]);
  emit_end_vector(to);
}

static void put_tensor(const emitter *to, const char *key, const pop_graph *graph, uint32_t index)
{
  const tensor *t = &graph->tensors[index];
  if (index == 0) return;
  emit_begin_map(to, key);
  emit_string(to, "type", pop_type_name(t->type));
  put_shape(to, t);
  emit_begin_vector(to, "elements");
  view_walk walk;
  view_walk_start(&walk, graph, index);
  for (view_run run; view_walk_next(&walk, &run);)
    put_triple(to, run.variable, run.begin, run.begin + run.count);
  emit_end_vector(to);
  emit_end_map(to);
}

static void put_variables(const emitter *to, pop_graph *graph)
{
  emit_begin_vector(to, "variables");
  for (uint32_t i = 0; i < graph->num_variables; i++) {
    const variable *v = &graph->variables[i];
    size_t count;
    const mapping_interval *mapping = graph_mapping(graph, i, &count);
    emit_begin_map(to, NULL);
    emit_string(to, "name", v->name);
    emit_string(to, "type", pop_type_name(v->type));
    put_shape(to, &graph->tensors[v->tensor]);
    emit_bool(to, "constant", v->constant);
    emit_begin_vector(to, "mapping");
    for (size_t j = 0; j < count; j++)
      put_triple(to, mapping[j].begin, mapping[j].end, mapping[j].tile);
    emit_end_vector(to);
    emit_end_map(to);
  }
  emit_end_vector(to);
}

/* ---- vertices ---- */

static void put_fields(const emitter *to, const pop_graph *graph, const vertex *v)
{
  const pop_field *fields = graph->vertex_types[v->type].type->fields;
  emit_begin_vector(to, "fields");
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    const edge *e = &graph->edges[i];
    uint32_t count;
    const uint32_t *tensors = edge_tensors(graph, e, &count);
    emit_begin_map(to, NULL);
    emit_string(to, "name", fields[e->field].name);
    emit_begin_vector(to, "rows");
    for (uint32_t row = 0; row < count; row++) put_tensor(to, NULL, graph, tensors[row]);
    emit_end_vector(to);
    emit_end_map(to);
  }
  emit_end_vector(to);
}

static void put_vertices(const emitter *to, const pop_graph *graph)
{
  emit_begin_vector(to, "vertexTypes");
  for (size_t i = 0; i < graph->num_vertex_types; i++)
    emit_string(to, NULL, graph->vertex_types[i].type->name);
  emit_end_vector(to);
  emit_begin_vector(to, "computeSets");
  for (size_t i = 0; i < graph->num_compute_sets; i++)
    emit_string(to, NULL, graph->compute_sets[i].name);
  emit_end_vector(to);
  emit_begin_vector(to, "vertices");
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    emit_begin_map(to, NULL);
    emit_int(to, "type", (int64_t)v->type);
    emit_int(to, "computeSet", (int64_t)v->compute_set);
    if (v->tile != GRAPH_NONE) emit_int(to, "tile", (int64_t)v->tile);
    if (v->cycle_estimate) emit_int(to, "cycles", (int64_t)v->cycle_estimate);
    if (v->flop_estimate) emit_int(to, "flops", (int64_t)v->flop_estimate);
    put_fields(to, graph, v);
    emit_end_map(to);
  }
  emit_end_vector(to);
}

/* ---- programs, host ---- */

/* Of the children but the last, which is for all other values. */
static void put_case_values(const emitter *to, const pop_graph *graph, const program *p)
{
  bool is_signed = pop_type_is_signed_integer(graph->tensors[p->source].type);
  emit_begin_vector(to, "caseValues");
  for (size_t i = 0; i + 1 < p->num_children; i++) {
    uint32_t value = p->case_values[i];
    emit_int(to, NULL, is_signed ? (int32_t)value : (int64_t)value);
  }
  emit_end_vector(to);
}

static void put_program(const emitter *to, const pop_graph *graph, uint32_t index)
{
  const program *p = &graph->programs[index];
  emit_begin_map(to, NULL);
  emit_int(to, "index", (int64_t)index);
  emit_string(to, "kind", kind_names[p->kind]);
  if (*p->name) emit_string(to, "name", p->name);
  if (p->kind == PROGRAM_REPEAT) emit_int(to, "count", (int64_t)p->count);
  if (p->kind == PROGRAM_WHILE) emit_bool(to, "whileTrue", p->count);
  if (p->kind == PROGRAM_EXECUTE) emit_int(to, "computeSet", (int64_t)p->compute_set);
  if (p->kind == PROGRAM_STREAM_COPY) emit_int(to, "stream", (int64_t)p->stream);
  if (p->kind == PROGRAM_REMOTE_COPY) {
    emit_int(to, "remoteBuffer", (int64_t)p->stream);
    emit_bool(to, "toDevice", p->to_device);
  }
  if (p->kind == PROGRAM_SWITCH) put_case_values(to, graph, p);
  if (p->num_children) {
    emit_begin_vector(to, "children");
    for (size_t i = 0; i < p->num_children; i++) emit_int(to, NULL, (int64_t)p->children[i]);
    emit_end_vector(to);
  }
  put_tensor(to, "source", graph, p->source);
  put_tensor(to, "destination", graph, p->destination);
  emit_end_map(to);
}

static void put_host(const emitter *to, const pop_graph *graph)
{
  emit_begin_vector(to, "handles");
  for (size_t i = 0; i < graph->num_handles; i++) {
    const host_handle *h = &graph->handles[i];
    emit_begin_map(to, NULL);
    emit_string(to, "name", h->name);
    emit_bool(to, "read", h->read);
    put_tensor(to, "tensor", graph, h->tensor);
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_begin_vector(to, "streams");
  for (size_t i = 0; i < graph->num_streams; i++) {
    const host_stream *s = &graph->streams[i];
    emit_begin_map(to, NULL);
    emit_string(to, "name", s->name);
    emit_string(to, "type", pop_type_name(s->type));
    emit_bool(to, "toDevice", s->to_device);
    emit_int(to, "numElements", (int64_t)s->num_elements);
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_begin_vector(to, "remoteBuffers");
  for (size_t i = 0; i < graph->num_remote_buffers; i++) {
    const remote_buffer *b = &graph->remote_buffers[i];
    emit_begin_map(to, NULL);
    emit_string(to, "name", b->name);
    emit_string(to, "type", pop_type_name(b->type));
    emit_int(to, "numElements", (int64_t)b->num_elements);
    emit_int(to, "repeats", (int64_t)b->repeats);
    emit_end_map(to);
  }
  emit_end_vector(to);
}

static void put_target(const emitter *to, const pop_target *target)
{
  emit_begin_map(to, "target");
  emit_string(to, "name", target->name);
  emit_int(to, "numIPUs", (int64_t)target->num_ipus);
  emit_int(to, "tilesPerIPU", (int64_t)target->tiles_per_ipu);
  emit_int(to, "bytesPerTile", (int64_t)target->memory_bytes);
  emit_int(to, "numWorkerContexts", (int64_t)target->num_worker_contexts);
  emit_end_map(to);
}

static void put_graph(const emitter *to, pop_graph *graph)
{
  emit_begin_map(to, NULL);
  put_target(to, &graph->target);
  put_variables(to, graph);
  put_vertices(to, graph);
  emit_begin_vector(to, "programs");
  for (uint32_t i = 0; i < graph->num_programs; i++) put_program(to, graph, i);
  emit_end_vector(to);
  put_host(to, graph);
  emit_end_map(to);
}

static pop_error *serialize(const char *call, pop_graph *graph, FILE *stream, const emitter *to)
{
  POP_TRY(object_check(graph, OBJECT_GRAPH, call));
  put_graph(to, graph->top);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "%s: cannot write", call);
  return NULL;
}

/* The programs reachable from `from`, which is the first. Those of a sequence are in order, each
 * once. The caller frees the list. */
static uint32_t *reachable(pop_graph *graph, uint32_t from, size_t *num_reached)
{
  uint32_t *reached = NULL, *open = NULL;
  size_t count = 0, capacity = 0, num_open = 0, open_capacity = 0;
  uint64_t visit = ++graph->program_visit;
  pop_push(open, num_open, open_capacity, from);
  while (num_open) {
    uint32_t index = open[--num_open];
    program *p = &graph->programs[index];
    if (p->visit == visit) continue;
    p->visit = visit;
    pop_push(reached, count, capacity, index);
    for (size_t i = p->num_children; i-- > 0;)
      pop_push(open, num_open, open_capacity, p->children[i]);
  }
  free(open);
  *num_reached = count;
  return reached;
}

pop_error *pop_program_serialize(pop_program program, FILE *stream)
{
  GRAPH_TURN(program.graph);
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  POP_TRY(object_check(program.graph, OBJECT_GRAPH, __func__));
  pop_graph *graph = program.graph->top;
  if (program.index == 0 || program.index > graph->num_programs)
    return pop_error_new(POP_ERROR_CONTROL_PROGRAM, "%s: a null program, or not one of this graph",
                         __func__);
  json_writer json = {.stream = stream};
  emitter to = json_emitter(&json);
  size_t count;
  uint32_t *reached = reachable(graph, program.index - 1, &count);
  emit_begin_vector(&to, NULL);
  for (size_t i = 0; i < count; i++) put_program(&to, graph, reached[i]);
  emit_end_vector(&to);
  free(reached);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "%s: cannot write", __func__);
  return NULL;
}

pop_error *pop_graph_serialize(pop_graph *graph, FILE *stream)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  json_writer json = {.stream = stream};
  emitter to = json_emitter(&json);
  return serialize("pop_graph_serialize", graph, stream, &to);
}

pop_error *pop_graph_serialize_cbor(pop_graph *graph, FILE *stream)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  emitter to = cbor_emitter(stream);
  return serialize("pop_graph_serialize_cbor", graph, stream, &to);
}
