/* Metadata of quarters: their format and scale, an unsigned char. What a quarter stands for is
 * only known with its metadata (pop_quarter_to_float).
 *
 * Each variable of quarters has metadata, an element of a variable or of a constant. Views of
 * the variable share them. Quarters that were made without metadata get a variable of their own,
 * of the default format, as soon as somebody asks for it or a vertex takes them.
 *
 * In a replicated graph, the metadata of replica r follow those of replica 0, as everything
 * does. */
#include "graph/metadata.h"

#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"
#include "graph/view.h"
#include <populus/program.h>

static bool check_quarters(pop_graph *graph, const char *call, const tensor *t)
{
  if (t->type == POP_QUARTER) return true;
  graph_failf(graph, POP_ERROR_TYPE,
              "%s: the %s has no metadata: only quarters have, a format and a scale", call,
              say_tensor(graph, t));
  return false;
}

/* Makes default metadata in each replica; none after an error. */
static void make_usual(pop_graph *graph, const char *call, uint32_t quarters, uint32_t replication)
{
  uint32_t count = replication_count(graph, replication);
  if (!check_room(graph, call, graph->num_variables + count - 1, "variables")) return;
  const variable *of = &graph->variables[quarters];
  const char *name = pop_arena_printf(graph->arena, "%s" POP_METADATA_SUFFIX, of->name);
  uint8_t *constant = of->constant ? pop_xcalloc(1, 1) : NULL;
  if (constant) *constant = POP_QUARTER_USUAL;
  uint32_t first = (uint32_t)graph->num_variables;
  pop_tensor made = graph_add_variable(graph, replication, call, POP_UNSIGNED_CHAR, &(size_t){1}, 1,
                                       name, constant);
  if (!made.index) return;
  for (uint32_t r = 0; r < count; r++) {
    variable *v = &graph->variables[first + r];
    if (!v->initial) v->initial = pop_xcalloc(1, 1);
    *v->initial = POP_QUARTER_USUAL;
    v->metadata_of = quarters + r + 1;
    graph->variables[quarters + r].metadata = first + r + 1;
    graph->variables[quarters + r].metadata_at = 0;
  }
}

/* The first of the tensor's variables whose metadata differ from those of its first variable;
 * the first variable if there is none; GRAPH_NONE after an error. */
static uint32_t find_other(pop_graph *graph, const char *call, const tensor *t)
{
  uint32_t first = graph->pieces[t->first_piece].variable;
  for (size_t i = 0; i < t->num_pieces; i++) {
    uint32_t number = graph->pieces[t->first_piece + i].variable;
    if (!graph->variables[number].metadata) make_usual(graph, call, number, t->replication);
    const variable *v = &graph->variables[number], *with = &graph->variables[first];
    if (!v->metadata) return GRAPH_NONE;
    if (v->metadata != with->metadata || v->metadata_at != with->metadata_at) return number;
  }
  return first;
}

static pop_tensor element_of(pop_graph *graph, const char *call, uint32_t replication,
                             const variable *quarters)
{
  uint32_t number = quarters->metadata - 1;
  uint64_t at = quarters->metadata_at;
  view_begin(graph, replication);
  view_add_run(graph, number, at, 1);
  return view_end(graph, call, POP_UNSIGNED_CHAR, &(size_t){1}, 1);
}

pop_tensor graph_metadata(pop_graph *graph, const char *call, const tensor *quarters, bool must)
{
  const tensor t = *quarters;
  pop_tensor none = {graph, 0};
  if (!t.num_pieces || !check_quarters(graph, call, &t)) return none;
  uint32_t first = graph->pieces[t.first_piece].variable, other = find_other(graph, call, &t);
  if (other == first) return element_of(graph, call, t.replication, &graph->variables[first]);
  if (other != GRAPH_NONE && must)
    graph_failf(
        graph, POP_ERROR_INVALID_ARGUMENT,
        "%s: the %s has elements of %s and of %s, whose metadata are not the same variable: "
        "together they mean nothing; cast one of them first",
        call, say_tensor(graph, &t), say_name(graph, graph->variables[first].name),
        say_name(graph, graph->variables[other].name));
  return none;
}

pop_tensor pop_graph_get_metadata(pop_graph *graph, pop_tensor quarters)
{
  GRAPH_TURN(graph);
  const tensor *t = graph_enter(&graph, __func__)
                        ? check_tensor(graph, "pop_graph_get_metadata", quarters)
                        : NULL;
  return t ? graph_metadata(graph, "pop_graph_get_metadata", t, true) : (pop_tensor){graph, 0};
}

static bool check_metadata(pop_graph *graph, const char *call, const tensor *t,
                           const tensor *metadata)
{
  if (!check_replication(graph, call, metadata, t->replication)) return false;
  if (metadata->type == POP_UNSIGNED_CHAR && metadata->num_elements == 1) return true;
  graph_failf(graph, POP_ERROR_TYPE,
              "%s: the %s cannot be metadata: these are one element of type %s", call,
              say_tensor(graph, metadata), pop_type_name(POP_UNSIGNED_CHAR));
  return false;
}

/* Have all its variables no metadata yet, or these? */
static bool may_have_metadata(const pop_graph *graph, const tensor *t, const view_piece *from)
{
  for (size_t i = 0; i < t->num_pieces; i++)
    for (uint32_t r = 0; r < replication_count(graph, t->replication); r++) {
      const variable *v = &graph->variables[graph->pieces[t->first_piece + i].variable + r];
      if (v->metadata && (v->metadata != from->variable + r + 1 || v->metadata_at != from->base))
        return false;
    }
  return true;
}

void pop_graph_set_metadata(pop_graph *graph, pop_tensor quarters, pop_tensor handle)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_metadata";
  if (!graph_enter(&graph, __func__) || !check_tensor(graph, call, quarters) ||
      !check_tensor(graph, call, handle))
    return;
  const tensor t = graph->tensors[quarters.index], metadata = graph->tensors[handle.index];
  if (!check_quarters(graph, call, &t) || !check_metadata(graph, call, &t, &metadata)) return;
  const view_piece *from = &graph->pieces[metadata.first_piece];
  if (!may_have_metadata(graph, &t, from)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the %s has metadata already, which a vertex or a host handle may have "
                "taken: copy to them "
                "(pop_graph_get_metadata) what they should be",
                call, say_tensor(graph, &t));
    return;
  }
  for (size_t i = 0; i < t.num_pieces; i++)
    for (uint32_t r = 0; r < replication_count(graph, t.replication); r++) {
      variable *v = &graph->variables[graph->pieces[t.first_piece + i].variable + r];
      v->metadata = from->variable + r + 1;
      v->metadata_at = from->base;
    }
}

pop_tensor pop_graph_pack_metadata(pop_graph *graph, pop_program sequence, uint8_t format,
                                   pop_tensor scale)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_pack_metadata", name[] = "packMetadata";
  pop_graph *view = graph;
  const tensor *t = graph_enter(&graph, __func__) ? check_tensor(graph, call, scale) : NULL;
  pop_tensor none = {graph, 0};
  if (!t || !graph_add_built_in_codelets(graph, call)) return none;
  if (t->type != POP_SIGNED_CHAR || t->num_elements != 1) {
    graph_failf(graph, POP_ERROR_TYPE,
                "%s: the %s cannot be a scale: that is one element of type %s", call,
                say_tensor(graph, t), pop_type_name(POP_SIGNED_CHAR));
    return none;
  }
  const size_t one = 1;
  pop_tensor metadata = pop_graph_add_variable(view, POP_UNSIGNED_CHAR, &one, 1, name);
  pop_graph_set_tile_mapping(view, metadata, 0);
  pop_compute_set set = pop_graph_add_compute_set(view, name);
  pop_vertex v = pop_graph_add_vertex(view, set, "poplar_rt::PackMetadata");
  pop_graph_set_vertex_tile(view, v, 0);
  pop_graph_connect(view, v, "scale", pop_tensor_reshape(scale, NULL, 0));
  pop_graph_connect(view, v, "metadata", pop_tensor_reshape(metadata, NULL, 0));
  pop_graph_set_field(view, v, "format", POP_UNSIGNED_CHAR, &format);
  pop_sequence_add(sequence, pop_program_execute(view, set, name));
  return metadata;
}
