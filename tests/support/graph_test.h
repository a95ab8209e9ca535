/* Shared by the tests of graphs. */
#ifndef GRAPH_TEST_H
#define GRAPH_TEST_H

#include "graph/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A test that runs twice, for tiles and for the CPU. Programs must compute the same on both, and
 * the same must be refused. */
#define TEST_ON_EACH_DEVICE(suite, name)                                                           \
  static void suite##_##name(void);                                                                \
  Test(suite, name)                                                                                \
  {                                                                                                \
    suite##_##name();                                                                              \
    graphs_for_cpu = true;                                                                         \
    suite##_##name();                                                                              \
  }                                                                                                \
  static void suite##_##name(void)

static bool graphs_for_cpu;

/* One "ipu2" with as many tiles as wanted; or the CPU. */
static inline pop_graph *new_graph_with_tiles(uint32_t tiles)
{
  pop_target target;
  pop_error *error = pop_target_create("ipu2", 1, &target);
  cr_assert_null(error);
  target.tiles_per_ipu = tiles;
  if (graphs_for_cpu) pop_target_create_cpu(&target);
  return pop_graph_create(&target);
}

static inline pop_graph *new_graph(void)
{
  return new_graph_with_tiles(1472);
}

static inline void assert_no_error(const pop_graph *graph)
{
  const pop_error *error = pop_graph_error(graph);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

/* Checks that the graph has an error with this code whose message holds all of the words (at most
 * 5, NULL ends). */
static inline void assert_error(const pop_graph *graph, pop_error_code code,
                                const char *const *words, const char *where)
{
  const pop_error *error = pop_graph_error(graph);
  cr_assert_not_null(error, "%s: no error", where);
  cr_assert_eq(pop_error_get_code(error), code, "%s: %s: %s", where,
               pop_error_code_name(pop_error_get_code(error)), pop_error_message(error));
  for (size_t i = 0; i < 5 && words[i]; i++)
    cr_assert_not_null(strstr(pop_error_message(error), words[i]), "%s: no <%s> in: %s", where,
                       words[i], pop_error_message(error));
}

/* A wrong call, and the graph's error after it. */
typedef struct bad_call {
  void (*call)(pop_graph *graph);
  pop_error_code code;
  const char *words[5];
} bad_call;

/* Makes each call on a graph of its own. */
static inline void assert_bad_calls(const bad_call *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    pop_graph *graph = new_graph();
    cases[i].call(graph);
    char where[32];
    snprintf(where, sizeof where, "case %zu", i);
    assert_error(graph, cases[i].code, cases[i].words, where);
    pop_graph_free(graph);
  }
}

/* A vertex type without code, as if it came from a .gp. */
static inline void add_vertex_type(pop_graph *graph, const pop_vertex_type *type)
{
  pop_name_table_add(&graph->vertex_type_names, type->name, (uint32_t)graph->num_vertex_types);
  vertex_type_entry entry = {.type = type};
  pop_push(graph->vertex_types, graph->num_vertex_types, graph->vertex_types_capacity, entry);
}

#endif
