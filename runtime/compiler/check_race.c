/* Vertices of a compute set run at the same time, so what one writes no other may touch. A vertex may
 * read what it writes itself, by another field: it works in place.
 *
 * All runs of elements that the vertices' fields touch are sorted by variable and first element.
 * Going through them in that order, a run overlaps an earlier one exactly if some earlier run ends
 * behind its beginning; so it is enough to remember which runs of two different vertices, and which
 * writing ones, reached farthest. (That a tensor which a field writes holds no element twice, the graph
 * has seen to.) */
#include "compiler/check.h"
#include "compiler/order.h"

#include <stdlib.h>

typedef struct access {
  uint32_t variable;
  uint32_t begin, end; /* elements */
  uint32_t vertex;
  uint32_t field;
  bool writes;
} access;

typedef struct access_list {
  access *items;
  size_t count, capacity;
} access_list;

/* Of different vertices, in one variable; NULL: none. */
typedef struct farthest {
  const access *first, *second;
} farthest;

typedef struct sweep {
  const mapped_variables *mapped;
  farthest all, writers;
} sweep;

static void reach(farthest *f, const access *a)
{
  if (!f->first || a->end > f->first->end) {
    if (f->first && f->first->vertex != a->vertex) f->second = f->first;
    f->first = a;
  } else if (a->vertex != f->first->vertex && (!f->second || a->end > f->second->end)) {
    f->second = a;
  }
}

static const access *of_another_vertex(const farthest *f, uint32_t vertex)
{
  return f->first && f->first->vertex == vertex ? f->second : f->first;
}

static const char *field_name(const pop_graph *graph, const access *a)
{
  return graph->vertex_types[graph->vertices[a->vertex].type].type->fields[a->field].name;
}

static const char *type_name(const pop_graph *graph, const access *a)
{
  return graph->vertex_types[graph->vertices[a->vertex].type].type->name;
}

static pop_error *race(const pop_graph *graph, const access *writer, const access *other)
{
  uint32_t begin = writer->begin > other->begin ? writer->begin : other->begin;
  uint32_t end = writer->end < other->end ? writer->end : other->end;
  const char *variable = graph->variables[writer->variable].name;
  char *first = describe_vertex(graph, writer->vertex);
  char *second = describe_vertex(graph, other->vertex);
  pop_error *error = pop_error_new(
      POP_ERROR_GRAPH_CYCLE,
      "Field %s.%s writes to elements [%u:%u) of variable '%s' that are %s "
      "elsewhere in same compute set: %s writes them, and %s %s them by its "
      "field %s.%s",
      type_name(graph, writer), field_name(graph, writer), begin, end, variable,
      other->writes ? "written to" : "read", first, second, other->writes ? "writes" : "reads",
      type_name(graph, other), field_name(graph, other));
  free(first);
  free(second);
  return error;
}

static pop_error *sweep_access(sweep *s, const access *a)
{
  const pop_graph *graph = s->mapped->graph;
  pop_error *error = check_mapped(s->mapped, a->variable, a->begin, a->end);
  if (error) {
    char *who = describe_vertex(graph, a->vertex);
    error =
        pop_error_prefix(error, "%s, field %s.%s", who, type_name(graph, a), field_name(graph, a));
    free(who);
    return error;
  }
  if (s->all.first && s->all.first->variable != a->variable)
    s->all = s->writers = (farthest){NULL, NULL};
  const access *rival = of_another_vertex(a->writes ? &s->all : &s->writers, a->vertex);
  if ((!rival || rival->end <= a->begin) && a->writes) rival = s->writers.first;
  if (rival && rival->end > a->begin)
    return a->writes ? race(graph, a, rival) : race(graph, rival, a);
  reach(&s->all, a);
  if (a->writes) reach(&s->writers, a);
  return NULL;
}

static void collect_accesses(const pop_graph *graph, uint32_t vertex_number, access_list *list)
{
  const vertex *v = &graph->vertices[vertex_number];
  const pop_field *fields = graph->vertex_types[v->type].type->fields;
  view_walk walk;
  view_run run;
  for (uint32_t e = v->first_edge; e != GRAPH_NONE; e = graph->edges[e].next) {
    uint32_t field = graph->edges[e].field, count;
    const uint32_t *tensors = edge_tensors(graph, &graph->edges[e], &count);
    for (uint32_t i = 0; i < count; i++) {
      view_walk_start(&walk, graph, tensors[i]);
      while (view_walk_next(&walk, &run))
        pop_push(list->items, list->count, list->capacity,
                 (access){.variable = run.variable,
                          .begin = (uint32_t)run.begin,
                          .end = (uint32_t)(run.begin + run.count),
                          .vertex = vertex_number,
                          .field = field,
                          .writes = fields[field].kind != POP_FIELD_INPUT});
    }
  }
}

pop_error *check_races(const mapped_variables *mapped, const uint32_t *vertices,
                       size_t num_vertices)
{
  access_list list = {0};
  for (size_t i = 0; i < num_vertices; i++) collect_accesses(mapped->graph, vertices[i], &list);
  keyed *order = pop_xrealloc(NULL, list.count + 1, sizeof *order);
  for (size_t i = 0; i < list.count; i++)
    order[i] = (keyed){.key = (uint64_t)list.items[i].variable << 32 | list.items[i].begin,
                       .index = (uint32_t)i};
  sort_keyed(order, list.count);
  sweep s = {.mapped = mapped};
  pop_error *error = NULL;
  for (size_t i = 0; i < list.count && !error; i++)
    error = sweep_access(&s, &list.items[order[i].index]);
  free(order);
  free(list.items);
  return error;
}
