/* Race check. Vertices of a compute set run at the same time, so no vertex may access what another
 * one writes. A vertex may read what it writes itself, through another field, in two cases: the
 * writing field is an InOut field, or both fields have exactly the same run of elements (the vertex
 * calculates in place, element by element). Otherwise it would depend on the code whether an
 * element is read before or after it is written.
 *
 * The algorithm is a sweep over all runs of elements that the vertices' fields access, sorted by
 * variable and first element. A run overlaps an earlier one exactly if some earlier run ends after
 * its begin. So it is enough to remember the runs that reach farthest: of all runs; of another
 * vertex than that one; of other elements than that one; and of the writing runs, of which no two
 * overlap. (The graph has already checked that no tensor which a field writes holds an element
 * twice.) */
#include "base/order.h"
#include "compiler/check/check.h"

#include <stdlib.h>

typedef struct access {
  uint32_t variable;
  uint32_t begin, end; /* elements */
  uint32_t vertex;
  uint32_t field;
  pop_field_kind kind;
} access;

typedef struct access_list {
  access *items;
  size_t count, capacity;
} access_list;

/* The farthest-reaching accesses to the current variable so far; NULL: none. */
typedef struct sweep {
  const mapped_variables *mapped;
  const access *all;
  const access *of_another_vertex; /* than `all` */
  const access *of_other_elements; /* than `all` */
  const access *writer;
} sweep;

static bool same_elements(const access *a, const access *b)
{
  return a->begin == b->begin && a->end == b->end;
}

/* Replaces *farthest if `a` reaches as far. Of two accesses that reach equally far the new one
 * counts: the old one may be of the vertex, or of the elements, of s->all. */
static void take_farther(const access **farthest, const access *a)
{
  if (!*farthest || a->end >= (*farthest)->end) *farthest = a;
}

static void extend_sweep(sweep *s, const access *a)
{
  const access *less = a;
  if (!s->all || a->end > s->all->end) {
    less = s->all;
    s->all = a;
  }
  if (less && less->vertex != s->all->vertex) take_farther(&s->of_another_vertex, less);
  if (less && !same_elements(less, s->all)) take_farther(&s->of_other_elements, less);
  if (a->kind != POP_FIELD_INPUT) take_farther(&s->writer, a);
}

static bool overlaps(const access *earlier, const access *a)
{
  return earlier && earlier->end > a->begin;
}

/* An earlier access that conflicts with the reading access `a`, or NULL. */
static const access *conflict_with_reader(const sweep *s, const access *a)
{
  const access *w = s->writer;
  bool in_place =
      w && w->vertex == a->vertex && (w->kind == POP_FIELD_INOUT || same_elements(w, a));
  return overlaps(w, a) && !in_place ? w : NULL;
}

/* An earlier access that conflicts with the writing access `a`, or NULL. */
static const access *conflict_with_writer(const sweep *s, const access *a)
{
  if (overlaps(s->writer, a)) return s->writer;
  const access *candidates[] = {s->all, s->of_another_vertex, s->of_other_elements};
  for (size_t i = 0; i < 3; i++) {
    const access *c = candidates[i];
    bool in_place =
        c && c->vertex == a->vertex && (a->kind == POP_FIELD_INOUT || same_elements(c, a));
    if (overlaps(c, a) && !in_place) return c;
  }
  return NULL;
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
  pop_error *error =
      pop_error_new(POP_ERROR_GRAPH_CYCLE,
                    "Field %s.%s writes to elements [%u:%u) of variable '%s' that are %s "
                    "elsewhere in same compute set: %s writes them, and %s %s them by its "
                    "field %s.%s",
                    type_name(graph, writer), field_name(graph, writer), begin, end, variable,
                    other->kind == POP_FIELD_INPUT ? "read" : "written to", first, second,
                    other->kind == POP_FIELD_INPUT ? "reads" : "writes", type_name(graph, other),
                    field_name(graph, other));
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
  if (s->all && s->all->variable != a->variable) *s = (sweep){.mapped = s->mapped};
  bool reads = a->kind == POP_FIELD_INPUT;
  const access *conflict = reads ? conflict_with_reader(s, a) : conflict_with_writer(s, a);
  if (conflict) return reads ? race(graph, conflict, a) : race(graph, a, conflict);
  extend_sweep(s, a);
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
      walk.skip_repeats = true; /* the same access: what is written repeats nothing */
      while (view_walk_next(&walk, &run))
        pop_push(list->items, list->count, list->capacity,
                 (access){.variable = run.variable,
                          .begin = (uint32_t)run.begin,
                          .end = (uint32_t)(run.begin + run.count),
                          .vertex = vertex_number,
                          .field = field,
                          .kind = fields[field].kind});
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
