/* The tensor map:
 *
 *   {"mappings": {program: [[name, ordinal, [shape], type, constants, aliases, elements,
 *                            [[tile, elements], …]], …], …}}
 *
 * A program has the variables that it reads or writes, in the order in which they were added. Then
 * follow the host's handles of tensors that share elements with these. */
#include "events/tensor_map.h"

#include "base/json.h"
#include "profile/graph_steps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_writer {
  pop_graph *graph;
  json_writer json;
  bool *touched; /* by variable: does the program read or write it? */
  /* To number tensors with the same name in the program: */
  pop_name_table names;
  GRAPH_ARRAY(uint32_t, ordinals);
  /* Of the current tensor: */
  uint64_t *elements; /* by tile */
  GRAPH_ARRAY(size_t, tiles);
} map_writer;

/* ---- what a program touches ---- */

static void touch(map_writer *m, uint32_t index)
{
  const tensor *t = &m->graph->tensors[index];
  for (size_t i = 0; index && i < t->num_pieces; i++)
    m->touched[m->graph->pieces[t->first_piece + i].variable] = true;
}

static void touch_vertex(map_writer *m, const vertex *v)
{
  const pop_graph *graph = m->graph;
  for (uint32_t i = v->first_edge; i != GRAPH_NONE; i = graph->edges[i].next) {
    uint32_t count;
    const uint32_t *tensors = edge_tensors(graph, &graph->edges[i], &count);
    for (uint32_t row = 0; row < count; row++) touch(m, tensors[row]);
  }
}

static pop_error *touch_all(map_writer *m, const pop_program *program)
{
  const pop_graph *graph = m->graph;
  graph_steps steps;
  POP_TRY(graph_steps_find("the tensor map", graph, program, 1, &steps));
  for (size_t i = 0; i < graph->num_variables; i++) m->touched[i] = false;
  for (size_t i = 0; i < graph->num_programs; i++) {
    if (!steps.programs[i]) continue;
    touch(m, graph->programs[i].source);
    touch(m, graph->programs[i].destination);
  }
  for (size_t i = 0; i < graph->num_vertices; i++)
    if (steps.compute_sets[graph->vertices[i].compute_set]) touch_vertex(m, &graph->vertices[i]);
  graph_steps_free(&steps);
  return NULL;
}

static bool is_touched(const map_writer *m, const tensor *t)
{
  for (size_t i = 0; i < t->num_pieces; i++)
    if (m->touched[m->graph->pieces[t->first_piece + i].variable]) return true;
  return false;
}

/* ---- tensors ---- */

static void count_run(void *context, size_t tile, size_t begin, size_t end)
{
  map_writer *m = context;
  if (tile == SIZE_MAX || begin == end) return;
  if (m->elements[tile] == 0) pop_push(m->tiles, m->num_tiles, m->tiles_capacity, tile);
  m->elements[tile] += end - begin;
}

static int compare_tiles(const void *a, const void *b)
{
  const size_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void put_tiles(map_writer *m, pop_tensor tensor)
{
  m->num_tiles = 0;
  pop_graph_visit_tile_mapping(m->graph, tensor, count_run, m);
  if (m->num_tiles) qsort(m->tiles, m->num_tiles, sizeof *m->tiles, compare_tiles);
  json_begin_list(&m->json, NULL);
  for (size_t i = 0; i < m->num_tiles; i++) {
    json_begin_list(&m->json, NULL);
    json_put_number(&m->json, NULL, m->tiles[i]);
    json_put_number(&m->json, NULL, m->elements[m->tiles[i]]);
    json_end_list(&m->json);
    m->elements[m->tiles[i]] = 0;
  }
  json_end_list(&m->json);
}

static uint32_t next_ordinal(map_writer *m, const char *name)
{
  uint32_t found = pop_name_table_find(&m->names, name);
  if (found != POP_NAME_NONE) return m->ordinals[found]++;
  pop_name_table_add(&m->names, name, (uint32_t)m->num_ordinals);
  pop_push(m->ordinals, m->num_ordinals, m->ordinals_capacity, 1);
  return 0;
}

static void put_tensor(map_writer *m, const char *name, uint32_t index)
{
  const pop_tensor handle = {m->graph, index};
  const tensor t = m->graph->tensors[index];
  const char *shown = *name ? name : "<anon>";
  json_begin_list(&m->json, NULL);
  json_put_string(&m->json, NULL, shown);
  json_put_number(&m->json, NULL, next_ordinal(m, shown));
  json_begin_list(&m->json, NULL);
  for (uint32_t d = 0; d < t.rank; d++) json_put_number(&m->json, NULL, t.shape[d]);
  json_end_list(&m->json);
  json_put_string(&m->json, NULL, pop_type_name(t.type));
  json_put_bool(&m->json, NULL, pop_tensor_contains_constant(handle));
  json_put_bool(&m->json, NULL, pop_tensor_contains_aliases(handle));
  json_put_number(&m->json, NULL, t.num_elements);
  put_tiles(m, handle);
  json_end_list(&m->json);
}

/* The caller frees the key. If several programs have the same name, all but the first have their
 * number after it. */
static char *program_key(const traced_graph *traced, size_t number)
{
  const program *programs = traced->graph->programs;
  const char *name = programs[traced->programs[number].index - 1].name;
  if (!*name) return pop_xasprintf("program %zu", number);
  for (size_t i = 0; i < number; i++)
    if (strcmp(programs[traced->programs[i].index - 1].name, name) == 0)
      return pop_xasprintf("%s (program %zu)", name, number);
  return pop_xstrdup(name);
}

static pop_error *put_program(map_writer *m, const traced_graph *traced, size_t number)
{
  pop_graph *graph = m->graph;
  POP_TRY(touch_all(m, &traced->programs[number]));
  char *key = program_key(traced, number);
  json_begin_list(&m->json, key);
  free(key);
  for (size_t i = 0; i < graph->num_variables; i++)
    if (m->touched[i]) put_tensor(m, graph->variables[i].name, graph->variables[i].tensor);
  for (size_t i = 0; i < graph->num_handles; i++)
    if (is_touched(m, &graph->tensors[graph->handles[i].tensor]))
      put_tensor(m, graph->handles[i].name, graph->handles[i].tensor);
  json_end_list(&m->json);
  pop_name_table_free(&m->names);
  m->num_ordinals = 0;
  return NULL;
}

pop_error *write_tensor_map(FILE *stream, const void *context)
{
  const traced_graph *traced = context;
  map_writer m = {.graph = traced->graph,
                  .json = {.stream = stream, .layout = JSON_DENSE},
                  .touched = pop_xcalloc(traced->graph->num_variables + 1, sizeof(bool)),
                  .elements = pop_xcalloc(graph_tile_limit(traced->graph), sizeof(uint64_t))};
  pop_error *error = NULL;
  json_begin_object(&m.json, NULL);
  json_begin_object(&m.json, "mappings");
  for (size_t i = 0; i < traced->num_programs && !error; i++) error = put_program(&m, traced, i);
  json_end_object(&m.json);
  json_end_object(&m.json);
  free(m.touched);
  free(m.elements);
  free(m.tiles);
  free(m.ordinals);
  if (error) return error;
  return fflush(stream) == 0 && !ferror(stream)
             ? NULL
             : pop_error_errno(errno, "cannot write a tensor map");
}
