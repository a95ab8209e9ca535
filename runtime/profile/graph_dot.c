/* Graphs for Graphviz's dot: boxes are variables, ellipses what reads and writes them. */
#include "profile/graph_steps.h"

#include <errno.h>
#include <populus/introspection.h>
#include <stdlib.h>

typedef struct dot {
  const pop_graph *graph;
  FILE *stream;
  bool *used; /* by variable: does an edge name it? */
  /* For the current node: which variables it has an edge from (1) and to (2). `marked` lists them,
   * so that they can be cleared. */
  uint8_t *seen;
  GRAPH_ARRAY(uint32_t, marked);
} dot;

enum { READS = 1, WRITES = 2 };

static void put_quoted(FILE *stream, const char *text)
{
  putc('"', stream);
  for (const char *s = text; *s; s++) {
    if (*s == '"' || *s == '\\') putc('\\', stream);
    putc((unsigned char)*s < ' ' ? '?' : *s, stream);
  }
  putc('"', stream);
}

static const char *name_or(const char *name, const char *otherwise)
{
  return *name ? name : otherwise;
}

/* ---- edges ---- */

/* Notes the variables of a tensor for the current node. */
static void mark_tensor(dot *d, uint32_t index, unsigned access)
{
  const tensor *t = &d->graph->tensors[index];
  for (size_t i = 0; index && i < t->num_pieces; i++) {
    uint32_t variable = d->graph->pieces[t->first_piece + i].variable;
    if (!d->seen[variable]) pop_push(d->marked, d->num_marked, d->marked_capacity, variable);
    d->seen[variable] |= (uint8_t)access;
    d->used[variable] = true;
  }
}

static void put_edges(dot *d, const char *kind, size_t number)
{
  for (size_t i = 0; i < d->num_marked; i++) {
    uint32_t variable = d->marked[i];
    if (d->seen[variable] & READS) fprintf(d->stream, "  v%u -> %s%zu;\n", variable, kind, number);
    if (d->seen[variable] & WRITES) fprintf(d->stream, "  %s%zu -> v%u;\n", kind, number, variable);
    d->seen[variable] = 0;
  }
  d->num_marked = 0;
}

static unsigned access_of(const pop_field *field)
{
  return field->kind == POP_FIELD_INPUT    ? READS
         : field->kind == POP_FIELD_OUTPUT ? WRITES
                                           : READS | WRITES;
}

static void mark_vertex(dot *d, const vertex *v)
{
  const pop_field *fields = d->graph->vertex_types[v->type].type->fields;
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = d->graph->edges[i].next) {
    const edge *e = &d->graph->edges[i];
    uint32_t count;
    const uint32_t *tensors = edge_tensors(d->graph, e, &count);
    for (uint32_t row = 0; row < count; row++)
      mark_tensor(d, tensors[row], access_of(&fields[e->field]));
  }
}

static void put_variables(const dot *d)
{
  for (size_t i = 0; i < d->graph->num_variables; i++) {
    const variable *v = &d->graph->variables[i];
    if (!d->used[i]) continue;
    char shape[GRAPH_MAX_RANK * 21 + 3];
    pop_tensor_shape_string((pop_tensor){(pop_graph *)d->graph, v->tensor}, shape, sizeof shape);
    char *label = pop_xasprintf("%s %s %s%s", name_or(v->name, "(no name)"), pop_type_name(v->type),
                                shape, v->constant ? " constant" : "");
    fprintf(d->stream, "  v%zu [shape=box, label=", i);
    put_quoted(d->stream, label);
    fputs("];\n", d->stream);
    free(label);
  }
}

/* ---- vertices ---- */

/* The vertices of each compute set, in graph order: first[set] … first[set + 1]. */
static uint32_t *sort_vertices(const pop_graph *graph, size_t *first)
{
  uint32_t *sorted = pop_xcalloc(graph->num_vertices + 1, sizeof *sorted);
  for (size_t i = 0; i < graph->num_vertices; i++) first[graph->vertices[i].compute_set + 1]++;
  for (size_t s = 0; s < graph->num_compute_sets; s++) first[s + 1] += first[s];
  size_t *next = pop_xcalloc(graph->num_compute_sets + 1, sizeof *next);
  for (size_t s = 0; s < graph->num_compute_sets; s++) next[s] = first[s];
  for (size_t i = 0; i < graph->num_vertices; i++)
    sorted[next[graph->vertices[i].compute_set]++] = (uint32_t)i;
  free(next);
  return sorted;
}

static void put_vertex(const dot *d, uint32_t number)
{
  const vertex *v = &d->graph->vertices[number];
  char *label =
      v->tile == GRAPH_NONE
          ? pop_xasprintf("%s", d->graph->vertex_types[v->type].type->name)
          : pop_xasprintf("%s tile %u", d->graph->vertex_types[v->type].type->name, v->tile);
  fprintf(d->stream, "    x%u [label=", number);
  put_quoted(d->stream, label);
  fputs("];\n", d->stream);
  free(label);
}

static void put_vertex_cluster(dot *d, size_t set, const uint32_t *vertices, size_t count)
{
  fprintf(d->stream, "  subgraph cluster%zu {\n    label=", set);
  put_quoted(d->stream, name_or(d->graph->compute_sets[set].name, "(no name)"));
  fputs(";\n", d->stream);
  for (size_t i = 0; i < count; i++) put_vertex(d, vertices[i]);
  fputs("  }\n", d->stream);
  for (size_t i = 0; i < count; i++) {
    mark_vertex(d, &d->graph->vertices[vertices[i]]);
    put_edges(d, "x", vertices[i]);
  }
}

static void put_compute_set(dot *d, size_t set, const uint32_t *vertices, size_t count)
{
  char *label = pop_xasprintf("%s (%zu vertices)",
                              name_or(d->graph->compute_sets[set].name, "(no name)"), count);
  fprintf(d->stream, "  c%zu [label=", set);
  put_quoted(d->stream, label);
  fputs("];\n", d->stream);
  free(label);
  for (size_t i = 0; i < count; i++) mark_vertex(d, &d->graph->vertices[vertices[i]]);
  put_edges(d, "c", set);
}

static void put_compute_sets(dot *d, const graph_steps *steps, bool vertices)
{
  size_t *first = pop_xcalloc(d->graph->num_compute_sets + 2, sizeof *first);
  uint32_t *sorted = sort_vertices(d->graph, first);
  for (size_t set = 0; set < d->graph->num_compute_sets; set++) {
    const uint32_t *of_set = sorted + first[set];
    size_t count = first[set + 1] - first[set];
    if (!steps->compute_sets[set]) continue;
    if (vertices)
      put_vertex_cluster(d, set, of_set, count);
    else
      put_compute_set(d, set, of_set, count);
  }
  free(sorted);
  free(first);
}

/* ---- programs that move data ---- */

static const char *name_of_copy(program_kind kind)
{
  switch (kind) {
  case PROGRAM_COPY:
    return "Copy";
  case PROGRAM_REPLICA_COPY:
    return "CrossReplicaCopy";
  case PROGRAM_STREAM_COPY:
    return "StreamCopy";
  case PROGRAM_REMOTE_COPY:
    return "RemoteCopy";
  case PROGRAM_PRINT_TENSOR:
    return "PrintTensor";
  default:
    return NULL;
  }
}

/* What the host has of it: a stream or a remote buffer. NULL: nothing. */
static const char *name_on_host(const pop_graph *graph, const program *p)
{
  return p->kind == PROGRAM_STREAM_COPY   ? graph->streams[p->stream].name
         : p->kind == PROGRAM_REMOTE_COPY ? graph->remote_buffers[p->stream].name
                                          : NULL;
}

static void put_program(dot *d, size_t number)
{
  const program *p = &d->graph->programs[number];
  const char *what = name_of_copy(p->kind);
  if (!what) return;
  const char *on_host = name_on_host(d->graph, p), *name = on_host ? on_host : p->name;
  char *label = pop_xasprintf("%s%s%s", what, *name ? " " : "", name);
  bool writes = p->kind == PROGRAM_STREAM_COPY ? d->graph->streams[p->stream].to_device
                                               : p->kind == PROGRAM_REMOTE_COPY && p->to_device;
  fprintf(d->stream, "  p%zu [shape=parallelogram, label=", number);
  put_quoted(d->stream, label);
  fputs("];\n", d->stream);
  free(label);
  mark_tensor(d, p->source, writes ? WRITES : READS);
  mark_tensor(d, p->destination, p->kind == PROGRAM_REMOTE_COPY ? READS : WRITES); /* offsets */
  put_edges(d, "p", number);
}

/* ---- the whole ---- */

static pop_error *output(const char *call, pop_graph *graph, FILE *stream,
                         const pop_program *programs, size_t num_programs, bool vertices)
{
  POP_TRY(object_check(graph, OBJECT_GRAPH, call));
  POP_TRY(object_check_argument(stream, "the stream", call));
  POP_TRY(object_check_list(programs, num_programs, "programs", call));
  graph = graph->top;
  graph_steps steps;
  POP_TRY(graph_steps_find(call, graph, programs, num_programs, &steps));
  dot d = {.graph = graph,
           .stream = stream,
           .used = pop_xcalloc(graph->num_variables + 1, sizeof(bool)),
           .seen = pop_xcalloc(graph->num_variables + 1, 1)};
  fprintf(stream, "digraph %s {\n", vertices ? "vertices" : "compute");
  put_compute_sets(&d, &steps, vertices);
  for (size_t i = 0; !vertices && i < graph->num_programs; i++)
    if (steps.programs[i]) put_program(&d, i);
  put_variables(&d);
  fputs("}\n", stream);
  free(d.used);
  free(d.seen);
  free(d.marked);
  graph_steps_free(&steps);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "%s: cannot write", call);
  return NULL;
}

pop_error *pop_graph_output_vertex_graph(pop_graph *graph, FILE *stream,
                                         const pop_program *programs, size_t num_programs)
{
  GRAPH_TURN(graph);
  return output(__func__, graph, stream, programs, num_programs, true);
}

pop_error *pop_graph_output_compute_graph(pop_graph *graph, FILE *stream,
                                          const pop_program *programs, size_t num_programs)
{
  GRAPH_TURN(graph);
  return output(__func__, graph, stream, programs, num_programs, false);
}
