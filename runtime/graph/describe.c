/* Words for messages: see describe.h. Names are quoted as they are, because pop_error_new
 * escapes control characters. Long names are cut: a name may have a million bytes. */
#include "graph/describe.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_QUOTED = 100, MOST_LISTED = 6, MOST_NEAR = 3 };

const char *say_name(pop_graph *graph, const char *name)
{
  if (!name || !*name) return "(no name)";
  size_t length = strnlen(name, LONGEST_QUOTED + 1);
  if (length <= LONGEST_QUOTED) return pop_arena_printf(graph->arena, "'%s'", name);
  length = LONGEST_QUOTED;
  while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
    length--; /* whole characters */
  return pop_arena_printf(graph->arena, "'%.*s…'", (int)length, name);
}

const char *say_shape(pop_graph *graph, const size_t *shape, size_t rank)
{
  if (rank > GRAPH_MAX_RANK) return pop_arena_printf(graph->arena, "of rank %zu", rank);
  char text[GRAPH_MAX_RANK * 21 + 3], *out = text;
  *out++ = '{';
  for (size_t d = 0; d < rank; d++) out += sprintf(out, d ? ",%zu" : "%zu", shape[d]);
  strcpy(out, "}");
  return pop_arena_strdup(graph->arena, text);
}

static bool of_several_variables(const pop_graph *graph, const tensor *t)
{
  const view_piece *pieces = graph->pieces + t->first_piece;
  for (size_t i = 1; i < t->num_pieces; i++)
    if (pieces[i].variable != pieces[0].variable) return true;
  return false;
}

const char *say_tensor(pop_graph *graph, const tensor *t)
{
  const char *type = pop_type_name(t->type), *shape = say_shape(graph, t->shape, t->rank);
  if (t->num_pieces == 0) return pop_arena_printf(graph->arena, "%s tensor %s", type, shape);
  const char *name = say_name(graph, graph->variables[graph->pieces[t->first_piece].variable].name);
  const char *more = of_several_variables(graph, t) ? " and others" : "";
  return pop_arena_printf(graph->arena, "%s tensor %s of %s%s", type, shape, name, more);
}

const char *say_tiles(const pop_graph *view)
{
  return pop_arena_printf(view->top->arena, "the %s has the tiles 0 to %u",
                          view->parent ? "virtual graph" : "target", view->num_tiles - 1);
}

const char *say_vertex(pop_graph *graph, uint32_t index)
{
  const vertex *v = &graph->vertices[index];
  return pop_arena_printf(graph->arena, "vertex %u (%s in compute set %s)", index,
                          say_name(graph, graph->vertex_types[v->type].type->name),
                          say_name(graph, graph->compute_sets[v->compute_set].name));
}

static const char *join(pop_graph *graph, const char *const *names, size_t count, const char *last)
{
  const char *text = "";
  for (size_t i = 0; i < count; i++) {
    const char *separator = i == 0 ? "" : i + 1 == count ? last : ", ";
    text = pop_arena_printf(graph->arena, "%s%s%s", text, separator, say_name(graph, names[i]));
  }
  return text;
}

const char *say_alternatives(pop_graph *graph, const char *name, const char *const *names,
                             size_t count)
{
  const char *near[MOST_NEAR];
  size_t num_near = pop_nearest_names(name, names, count, near, MOST_NEAR);
  if (num_near)
    return pop_arena_printf(graph->arena, "; did you mean %s?",
                            join(graph, near, num_near, " or "));
  if (!count) return "";
  size_t listed = count < MOST_LISTED ? count : MOST_LISTED;
  return pop_arena_printf(graph->arena, "; there %s %s%s", count == 1 ? "is" : "are",
                          join(graph, names, listed, ", "), listed < count ? ", …" : "");
}
