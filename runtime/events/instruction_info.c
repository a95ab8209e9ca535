/* {"ml_types": {compute set: type, …}}
 *
 * Programs do not say what a matrix product is for. Names of layers do, as in the guide's sample:
 * Layer1/Fwd/Conv_1/Convolve, Layer3/Bwd/…, Layer3/Wu/…. */
#include "events/tensor_map.h"

#include "base/json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum ml_type { UNCLASSIFIED, STANDALONE, FORWARD, INPUT_GRADIENT, FILTER_GRADIENT } ml_type;

/* Is `part` one of the parts between slashes? */
static bool has_part(const char *name, const char *part)
{
  size_t length = strlen(part);
  for (const char *at = name; (at = strstr(at, part)); at++)
    if ((at == name || at[-1] == '/') && (at[length] == '/' || !at[length])) return true;
  return false;
}

static ml_type type_by_name(const char *name)
{
  static const struct {
    const char *part;
    ml_type type;
  } parts[] = {{"Fwd", FORWARD}, {"Bwd", INPUT_GRADIENT}, {"Wu", FILTER_GRADIENT}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (has_part(name, parts[i].part)) return parts[i].type;
  return UNCLASSIFIED;
}

/* By compute set: does it have vertices of poplin? The caller frees the result. */
static bool *find_products(const pop_graph *graph)
{
  static const char library[] = "poplin::";
  bool *found = pop_xcalloc(graph->num_compute_sets + 1, sizeof *found);
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    const char *type = graph->vertex_types[v->type].type->name;
    if (strncmp(type, library, strlen(library)) == 0) found[v->compute_set] = true;
  }
  return found;
}

/* Compute sets may have the same name, and then have the same type. A key is written once. */
static bool is_new_name(pop_name_table *names, const char *name)
{
  if (pop_name_table_find(names, name) != POP_NAME_NONE) return false;
  pop_name_table_add(names, name, 0);
  return true;
}

pop_error *write_instruction_info(FILE *stream, const void *context)
{
  const pop_graph *graph = ((const traced_graph *)context)->graph;
  bool *products = find_products(graph), is_training = false;
  for (size_t i = 0; i < graph->num_compute_sets; i++)
    if (products[i] && type_by_name(graph->compute_sets[i].name) != UNCLASSIFIED)
      is_training = true;
  pop_name_table names = {0};
  json_writer json = {.stream = stream, .layout = JSON_DENSE};
  json_begin_object(&json, NULL);
  json_begin_object(&json, "ml_types");
  for (size_t i = 0; i < graph->num_compute_sets; i++) {
    const char *name = graph->compute_sets[i].name;
    if (!products[i] || !is_new_name(&names, name)) continue;
    ml_type type = type_by_name(name);
    if (type == UNCLASSIFIED && !is_training) type = STANDALONE;
    json_put_number(&json, name, type);
  }
  json_end_object(&json);
  json_end_object(&json);
  pop_name_table_free(&names);
  free(products);
  return fflush(stream) == 0 && !ferror(stream)
             ? NULL
             : pop_error_errno(errno, "cannot write what matrix products are for");
}
