/* pass_check: can the graph be compiled?
 *
 * Only what the programs use is checked: a compute set that no program runs may be half built. The
 * graph API checks what a single call can tell (types, shapes, names). This pass checks what needs
 * the whole graph. It reads the graph and changes nothing.
 *
 * Needs:   the graph and the programs that are compiled.
 * Adds:    nothing.
 * Then:    nothing changes.
 */
#include "compiler/check/check.h"
#include "compiler/reach.h"

#include <stdlib.h>

char *describe_vertex(const pop_graph *graph, uint32_t vertex_number)
{
  const vertex *v = &graph->vertices[vertex_number];
  return pop_xasprintf("vertex %u (%s) of compute set '%s'", vertex_number,
                       graph->vertex_types[v->type].type->name,
                       graph->compute_sets[v->compute_set].name);
}

static vertex_groups group_vertices(const pop_graph *graph)
{
  vertex_groups groups = {.vertices = pop_xcalloc(graph->num_vertices + 1, sizeof *groups.vertices),
                          .first = pop_xcalloc(graph->num_compute_sets + 2, sizeof *groups.first)};
  for (size_t i = 0; i < graph->num_vertices; i++)
    groups.first[graph->vertices[i].compute_set + 2]++;
  for (size_t i = 2; i < graph->num_compute_sets + 2; i++) groups.first[i] += groups.first[i - 1];
  for (size_t i = 0; i < graph->num_vertices; i++)
    groups.vertices[groups.first[graph->vertices[i].compute_set + 1]++] = (uint32_t)i;
  return groups;
}

static pop_error *check_compute_sets(const mapped_variables *mapped, const reach *r)
{
  const pop_graph *graph = mapped->graph;
  vertex_groups groups = group_vertices(graph);
  pop_error *error = NULL;
  for (size_t i = 0; i < graph->num_compute_sets && !error; i++) {
    if (r->compute_set_uses[i] == 0) continue;
    const uint32_t *vertices = groups.vertices + groups.first[i];
    size_t count = groups.first[i + 1] - groups.first[i];
    for (size_t j = 0; j < count && !error; j++) error = check_one_vertex(graph, vertices[j]);
    if (!error) error = check_races(mapped, vertices, count);
  }
  free(groups.vertices);
  free(groups.first);
  return error;
}

/* The use of a program's tensors, for messages; NULL: it has none. */
static const char *const tensor_users[] = {
    [PROGRAM_COPY] = "copy",
    [PROGRAM_REPLICA_COPY] = "copy between replicas",
    [PROGRAM_ASSUME_EQUAL] = "assumption about",
    [PROGRAM_STREAM_COPY] = "stream copy",
    [PROGRAM_REMOTE_COPY] = "remote buffer copy",
    [PROGRAM_SWITCH] = "control of",
    [PROGRAM_WHILE] = "predicate of",
    [PROGRAM_ABORT] = "predicate of",
    [PROGRAM_WRITE_UNDEF] = "write of undefined values",
    [PROGRAM_PRINT_TENSOR] = "print of tensor",
};

static pop_error *check_program_tensors(const mapped_variables *mapped, const program *p)
{
  bool to_host = p->kind == PROGRAM_STREAM_COPY || p->kind == PROGRAM_REMOTE_COPY;
  if (p->kind == PROGRAM_PRINT_TENSOR || p->kind == PROGRAM_ASSUME_EQUAL ||
      (to_host && pop_tensor_contains_aliases((pop_tensor){mapped->graph, p->source})))
    POP_TRY(check_host_tensor(mapped, p->source));
  if (p->kind == PROGRAM_COPY || p->kind == PROGRAM_REPLICA_COPY || p->kind == PROGRAM_REMOTE_COPY)
    POP_TRY(check_tensor_mapped(mapped, p->destination));
  if (p->headers) POP_TRY(check_tensor_mapped(mapped, p->headers));
  return check_tensor_mapped(mapped, p->source);
}

static pop_error *check_programs(const mapped_variables *mapped, const reach *r)
{
  for (size_t i = 0; i < r->num_order; i++) {
    const program *p = &mapped->graph->programs[r->order[i]];
    if (!tensor_users[p->kind]) continue;
    pop_error *error = check_program_tensors(mapped, p);
    if (error) return pop_error_prefix(error, "%s '%s'", tensor_users[p->kind], p->name);
  }
  return NULL;
}

static pop_error *check_handles(const mapped_variables *mapped)
{
  const pop_graph *graph = mapped->graph;
  for (size_t i = 0; i < graph->num_handles; i++) {
    pop_error *error = check_host_tensor(mapped, graph->handles[i].tensor);
    if (error) return pop_error_prefix(error, "host handle '%s'", graph->handles[i].name);
  }
  return NULL;
}

static bool *completely_mapped(pop_graph *graph)
{
  bool *completely = pop_xcalloc(graph->num_variables + 1, sizeof *completely);
  for (uint32_t i = 0; i < graph->num_variables; i++) {
    size_t count;
    const mapping_interval *mapping = graph_mapping(graph, i, &count);
    uint64_t covered = 0;
    for (size_t j = 0; j < count && mapping[j].begin == covered; j++) covered = mapping[j].end;
    completely[i] = covered == graph->variables[i].num_elements;
  }
  return completely;
}

pop_error *pass_check(compilation *c)
{
  reach r;
  POP_TRY(reach_programs(c, &r));
  mapped_variables mapped = {.graph = c->graph, .completely = completely_mapped(c->graph)};
  pop_error *error = check_handles(&mapped);
  if (!error) error = check_programs(&mapped, &r);
  if (!error) error = check_compute_sets(&mapped, &r);
  free(mapped.completely);
  reach_free(&r);
  return error;
}
