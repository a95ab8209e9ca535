/* Tensors and their variables, as bytes for another graph. CBOR, a map of
 *
 *   format     "populus tensors"
 *   variables  [{name, type, elements, mapping: [begin, end, tile, begin, end, tile, …]}, …]
 *   tensors    [{type, shape: […], pieces: [variable, begin, end, variable, begin, end, …]}, …]
 *
 * A variable's number is its place in the list. Only variables of the tensors are in it. */
#include "base/emitter.h"
#include "graph/check.h"
#include "graph/graph.h"

#include <errno.h>
#include <populus/introspection.h>
#include <stdlib.h>
#include <string.h>

static const char format_name[] = "populus tensors";

/* ---- writing ---- */

/* The number of each variable in the file (GRAPH_NONE: it is not there), and the variables by
 * number. */
typedef struct numbering {
  uint32_t *of_variable;
  uint32_t *variables;
  size_t count, capacity;
} numbering;

static void number_variables(numbering *n, const pop_graph *graph, const pop_tensor *tensors,
                             size_t num_tensors)
{
  n->of_variable = pop_xmalloc((graph->num_variables + 1) * sizeof *n->of_variable);
  memset(n->of_variable, 0xff, (graph->num_variables + 1) * sizeof *n->of_variable);
  for (size_t i = 0; i < num_tensors; i++) {
    view_walk walk;
    view_walk_start(&walk, graph, tensors[i].index);
    for (view_run run; view_walk_next(&walk, &run);) {
      if (n->of_variable[run.variable] != GRAPH_NONE) continue;
      n->of_variable[run.variable] = (uint32_t)n->count;
      pop_push(n->variables, n->count, n->capacity, run.variable);
    }
  }
}

static void put_variable(const emitter *to, pop_graph *graph, uint32_t index)
{
  const variable *v = &graph->variables[index];
  size_t count;
  const mapping_interval *mapping = graph_mapping(graph, index, &count);
  emit_begin_map(to, NULL);
  emit_string(to, "name", v->name);
  emit_string(to, "type", pop_type_name(v->type));
  emit_int(to, "elements", (int64_t)pop_tensor_num_elements((pop_tensor){graph, v->tensor}));
  emit_begin_vector(to, "mapping");
  for (size_t i = 0; i < count; i++) {
    emit_int(to, NULL, (int64_t)mapping[i].begin);
    emit_int(to, NULL, (int64_t)mapping[i].end);
    emit_int(to, NULL, (int64_t)mapping[i].tile);
  }
  emit_end_vector(to);
  emit_end_map(to);
}

static void put_tensor(const emitter *to, const pop_graph *graph, uint32_t index,
                       const uint32_t *of_variable)
{
  const tensor *t = &graph->tensors[index];
  emit_begin_map(to, NULL);
  emit_string(to, "type", pop_type_name(t->type));
  emit_begin_vector(to, "shape");
  for (uint32_t d = 0; d < t->rank; d++) emit_int(to, NULL, (int64_t)t->shape[d]);
  emit_end_vector(to);
  emit_begin_vector(to, "pieces");
  view_walk walk;
  view_walk_start(&walk, graph, index);
  for (view_run run; view_walk_next(&walk, &run);) {
    emit_int(to, NULL, (int64_t)of_variable[run.variable]);
    emit_int(to, NULL, (int64_t)run.begin);
    emit_int(to, NULL, (int64_t)(run.begin + run.count));
  }
  emit_end_vector(to);
  emit_end_map(to);
}

pop_error *pop_graph_save_tensors(pop_graph *graph, const pop_tensor *tensors, size_t num_tensors,
                                  FILE *stream)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  POP_TRY(object_check_list(tensors, num_tensors, "tensors", __func__));
  graph = graph->top;
  for (size_t i = 0; i < num_tensors; i++)
    if (!tensors[i].graph || tensors[i].graph->top != graph || tensors[i].index == 0 ||
        tensors[i].index >= graph->num_tensors)
      return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                           "%s: tensor %zu is null, or not one of this graph", __func__, i);
  numbering n = {0};
  number_variables(&n, graph, tensors, num_tensors);
  emitter to = cbor_emitter(stream);
  emit_begin_map(&to, NULL);
  emit_string(&to, "format", format_name);
  emit_begin_vector(&to, "variables");
  for (size_t i = 0; i < n.count; i++) put_variable(&to, graph, n.variables[i]);
  emit_end_vector(&to);
  emit_begin_vector(&to, "tensors");
  for (size_t i = 0; i < num_tensors; i++) put_tensor(&to, graph, tensors[i].index, n.of_variable);
  emit_end_vector(&to);
  emit_end_map(&to);
  free(n.of_variable);
  free(n.variables);
  if (fflush(stream) != 0 || ferror(stream))
    return pop_error_errno(errno, "%s: cannot write", __func__);
  return NULL;
}

/* ---- reading ---- */

static pop_error *damaged(const char *what, size_t number, const char *why)
{
  return pop_error_new(POP_ERROR_FILE_LOAD, "pop_graph_load_tensors: %s %zu: %s", what, number,
                       why);
}

/* Item `index` of a list of numbers; -1 if there is none. */
static int64_t number_at(pop_profile_value list, size_t index)
{
  pop_profile_value value = pop_profile_at(list, index);
  return pop_profile_kind_of(value) == POP_PROFILE_INT ? pop_profile_as_int(value) : -1;
}

static bool read_type(pop_profile_value map, pop_type *type)
{
  const char *name = pop_profile_as_string(pop_profile_get(map, "type"));
  return name && pop_type_from_name(name, type);
}

static pop_error *load_variable(pop_graph *graph, pop_profile_value from, size_t number,
                                pop_tensor *loaded)
{
  const char *name = pop_profile_as_string(pop_profile_get(from, "name"));
  int64_t elements = pop_profile_as_int(pop_profile_get(from, "elements"));
  pop_profile_value mapping = pop_profile_get(from, "mapping");
  pop_type type;
  if (!name || !read_type(from, &type) || elements < 0)
    return damaged("variable", number, "name, type and number of elements are not all there");
  for (size_t i = 0; i < pop_profile_count(mapping); i += 3) {
    int64_t begin = number_at(mapping, i), end = number_at(mapping, i + 1),
            tile = number_at(mapping, i + 2);
    if (begin < 0 || end < begin || end > elements || tile < 0)
      return damaged("variable", number, "its mapping is not of its elements");
    if (tile >= graph_tile_limit(graph))
      return damaged("variable", number, "it is mapped to a tile that this graph has not");
  }
  *loaded = pop_graph_add_variable(graph, type, (size_t[]){(size_t)elements}, 1, name);
  for (size_t i = 0; i < pop_profile_count(mapping); i += 3)
    pop_graph_set_tile_mapping(graph,
                               pop_tensor_slice(*loaded, (size_t)number_at(mapping, i),
                                                (size_t)number_at(mapping, i + 1), 0),
                               (uint32_t)number_at(mapping, i + 2));
  return NULL;
}

/* Reads the shape. The pieces must be of known variables of the tensor's type, and have as many
 * elements as the shape. */
static pop_error *check_saved(pop_profile_value from, size_t number, pop_type type,
                              const pop_tensor *variables, size_t num_variables, size_t *shape)
{
  pop_profile_value dims = pop_profile_get(from, "shape"), pieces = pop_profile_get(from, "pieces");
  size_t rank = pop_profile_count(dims), held = 0, wanted = 1;
  if (rank > GRAPH_MAX_RANK) return damaged("tensor", number, "it has too many dimensions");
  for (size_t d = 0; d < rank; d++) {
    int64_t size = number_at(dims, d);
    if (size < 0 || (size > 0 && wanted > SIZE_MAX / 8 / (uint64_t)size))
      return damaged("tensor", number, "its shape is none");
    wanted *= shape[d] = (size_t)size;
  }
  for (size_t i = 0; i < pop_profile_count(pieces); i += 3) {
    int64_t variable = number_at(pieces, i), begin = number_at(pieces, i + 1),
            end = number_at(pieces, i + 2);
    if (variable < 0 || (uint64_t)variable >= num_variables || begin < 0 || end < begin ||
        (uint64_t)end > pop_tensor_num_elements(variables[variable]))
      return damaged("tensor", number, "a piece is not of a variable that is there");
    if (pop_tensor_element_type(variables[variable]) != type)
      return damaged("tensor", number, "a piece is of another type");
    held += (size_t)(end - begin);
  }
  return held == wanted ? NULL
                        : damaged("tensor", number, "its pieces are not as many as its shape has");
}

static pop_error *load_tensor(pop_graph *graph, pop_profile_value from, size_t number,
                              const pop_tensor *variables, size_t num_variables, pop_tensor *loaded)
{
  pop_type type;
  size_t shape[GRAPH_MAX_RANK];
  if (!read_type(from, &type)) return damaged("tensor", number, "its type is none");
  POP_TRY(check_saved(from, number, type, variables, num_variables, shape));
  pop_profile_value pieces = pop_profile_get(from, "pieces");
  size_t rank = pop_profile_count(pop_profile_get(from, "shape"));
  size_t count = pop_profile_count(pieces) / 3;
  if (count == 0) {
    *loaded = pop_graph_add_variable(graph, type, shape, rank, "");
    return NULL;
  }
  pop_tensor *parts = pop_xmalloc(count * sizeof *parts);
  for (size_t i = 0; i < count; i++)
    parts[i] =
        pop_tensor_slice(variables[number_at(pieces, 3 * i)], (size_t)number_at(pieces, 3 * i + 1),
                         (size_t)number_at(pieces, 3 * i + 2), 0);
  *loaded = pop_tensor_reshape(pop_concat(parts, count, 0), shape, rank);
  free(parts);
  return NULL;
}

/* If the graph refuses something, such as an impossible variable, its error becomes the error of
 * this call and is cleared in the graph. */
static pop_error *take_graph_error(pop_graph *graph, pop_error *error)
{
  pop_error *refused = pop_graph_take_error(graph);
  if (!error) return refused;
  pop_error_free(refused);
  return error;
}

static pop_error *load_all(pop_graph *graph, pop_profile_value root, pop_tensor *variables,
                           pop_tensor *tensors)
{
  pop_profile_value from = pop_profile_get(root, "variables"),
                    saved = pop_profile_get(root, "tensors");
  size_t num_variables = pop_profile_count(from);
  for (size_t i = 0; i < num_variables; i++)
    POP_TRY(
        take_graph_error(graph, load_variable(graph, pop_profile_at(from, i), i, &variables[i])));
  for (size_t i = 0; i < pop_profile_count(saved); i++)
    POP_TRY(take_graph_error(graph, load_tensor(graph, pop_profile_at(saved, i), i, variables,
                                                num_variables, &tensors[i])));
  return NULL;
}

/* Parses the bytes. The caller frees *file. */
static pop_error *read_file(const void *bytes, size_t size, const char *call, pop_profile **file)
{
  pop_error *error = pop_profile_read_memory(bytes, size, file);
  if (error) return pop_error_prefix(error, "%s: these are no tensors that were saved", call);
  const char *format = pop_profile_as_string(pop_profile_get(pop_profile_root(*file), "format"));
  if (format && strcmp(format, format_name) == 0) return NULL;
  pop_profile_free(*file);
  return pop_error_new(POP_ERROR_FILE_LOAD, "%s: these are no tensors that were saved", call);
}

pop_error *pop_graph_load_tensors(pop_graph *graph, const void *bytes, size_t size,
                                  pop_tensor **tensors, size_t *num_tensors)
{
  GRAPH_TURN(graph);
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(tensors, "where the tensors go", __func__));
  POP_TRY(object_check_argument(num_tensors, "their number", __func__));
  *tensors = NULL;
  *num_tensors = 0;
  const pop_error *before = pop_graph_error(graph);
  if (before)
    return pop_error_new(pop_error_get_code(before), "%s: the graph has an error already: %s",
                         __func__, pop_error_message(before));
  pop_profile *file;
  POP_TRY(read_file(bytes, size, __func__, &file));
  pop_profile_value root = pop_profile_root(file);
  size_t num_variables = pop_profile_count(pop_profile_get(root, "variables"));
  size_t count = pop_profile_count(pop_profile_get(root, "tensors"));
  pop_tensor *variables = pop_xmalloc((num_variables + 1) * sizeof *variables);
  pop_tensor *loaded = pop_xmalloc((count + 1) * sizeof *loaded);
  pop_error *error = load_all(graph, root, variables, loaded);
  free(variables);
  pop_profile_free(file);
  if (error) {
    free(loaded);
    return error;
  }
  *tensors = loaded;
  *num_tensors = count;
  return NULL;
}
