/* Calls of several threads on one graph take turns. The threads of this test do as libraries do,
 * which inspect a tensor tile by tile from as many threads as the host has. */
#include "support/graph_test.h"

#include <populus/introspection.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 300, ROWS = 64, COLUMNS = 48 };

typedef struct looker {
  pthread_t thread;
  pop_graph *graph;
  pop_tensor matrix;
  size_t number, wrong;
  size_t column, elements; /* of the inspected view */
} looker;

static void is_of_column(void *context, size_t tile, size_t begin, size_t end)
{
  looker *l = context;
  l->wrong += tile != l->column;
  l->elements += end - begin;
}

static void is_one_apart(void *context, size_t begin, size_t end)
{
  looker *l = context;
  l->wrong += end - begin != 1;
  l->elements += end - begin;
}

/* Inspects column after column, in two parts that are swapped, and a variable of its own. */
static void *look(void *context)
{
  looker *l = context;
  for (size_t i = 0; i < ROUNDS; i++) {
    l->column = (i * THREADS + l->number) % COLUMNS;
    pop_tensor column = pop_tensor_flatten(
        pop_tensor_slice(pop_tensor_transpose(l->matrix), l->column, l->column + 1, 0));
    const pop_tensor parts[] = {pop_tensor_slice(column, ROWS / 2, ROWS, 0),
                                pop_tensor_slice(column, 0, ROWS / 2, 0)};
    pop_tensor turned = pop_concat(parts, 2, 0);
    l->elements = 0;
    pop_graph_visit_tile_mapping(l->graph, turned, is_of_column, l);
    pop_tensor_visit_contiguous_regions(turned, is_one_apart, l);
    l->wrong += l->elements != 2 * ROWS || pop_tensor_shape(turned)[0] != ROWS;
    const size_t shape[] = {i + 1};
    pop_tensor own = pop_graph_add_variable(l->graph, POP_INT, shape, 1, "own");
    pop_graph_set_tile_mapping(l->graph, own, l->number);
    l->wrong += pop_tensor_num_elements(own) != i + 1 ||
                pop_tensor_intersects_with(own, l->matrix) || !pop_tensor_equal(own, own);
  }
  return NULL;
}

Test(graph_threads, views_and_variables_are_made_by_several_at_once)
{
  pop_graph *graph = new_graph_with_tiles(COLUMNS);
  static const size_t shape[] = {ROWS, COLUMNS};
  pop_tensor matrix = pop_graph_add_variable(graph, POP_FLOAT, shape, 2, "matrix");
  for (size_t c = 0; c < COLUMNS; c++)
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(matrix, c, c + 1, 1), c);
  looker lookers[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    lookers[i] = (looker){.graph = graph, .matrix = matrix, .number = i};
    cr_assert_eq(pthread_create(&lookers[i].thread, NULL, look, &lookers[i]), 0);
  }
  for (size_t i = 0; i < THREADS; i++) pthread_join(lookers[i].thread, NULL);
  assert_no_error(graph);
  for (size_t i = 0; i < THREADS; i++) cr_expect_eq(lookers[i].wrong, 0, "thread %zu", i);
  cr_assert_eq(pop_graph_num_variables(graph), 1 + THREADS * ROUNDS);
  pop_graph_free(graph);
}

/* ---- each call waits for its turn ---- */

typedef struct waiter {
  pthread_t thread;
  void (*call)(const struct waiter *w);
  pop_graph *graph;
  pop_tensor tensor;
  atomic_bool done;
} waiter;

static void dump(const waiter *w)
{
  FILE *nowhere = fopen("/dev/null", "w");
  if (!nowhere) abort();
  pop_tensor_dump(w->tensor, nowhere);
  fclose(nowhere);
}

static void ask_for_the_top(const waiter *w)
{
  pop_graph_top_level_graph(w->graph);
}

static void *wait_and_call(void *context)
{
  waiter *w = context;
  w->call(w);
  w->done = true;
  return NULL;
}

Test(graph_threads, calls_wait_while_another_thread_is_in_one)
{
  pop_graph *graph = new_graph();
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, NULL, 0, "t");
  waiter waiters[] = {{.call = dump, .graph = graph, .tensor = t},
                      {.call = ask_for_the_top, .graph = graph}};
  enum { COUNT = sizeof waiters / sizeof *waiters };
  graph_turn turn = graph_begin_turn(graph, NULL);
  for (size_t i = 0; i < COUNT; i++)
    cr_assert_eq(pthread_create(&waiters[i].thread, NULL, wait_and_call, &waiters[i]), 0);
  usleep(100000); /* long enough for a call that does not wait */
  for (size_t i = 0; i < COUNT; i++) cr_expect_eq(waiters[i].done, false, "call %zu", i);
  graph_end_turn(&turn);
  for (size_t i = 0; i < COUNT; i++) pthread_join(waiters[i].thread, NULL);
  pop_graph_free(graph);
}

/* Compilation takes long. Meanwhile the first of the graphs is used by another thread. */
static void *add_variables(void *context)
{
  waiter *w = context;
  for (size_t i = 0; i < 200000 && !w->done; i++)
    pop_graph_add_variable(w->graph, POP_INT, NULL, 0, "a variable with a name of its own");
  return NULL;
}

Test(graph_threads, a_source_for_several_graphs_is_compiled_while_one_of_them_is_used)
{
  pop_graph *graphs[] = {new_graph(), new_graph()};
  waiter user = {.graph = graphs[0]};
  cr_assert_eq(pthread_create(&user.thread, NULL, add_variables, &user), 0);
  pop_graph_add_codelets_source_to_all(graphs, 2, "c", "static int x;\n", "nothing",
                                       "-DA=1 -DB=2 -DC=3");
  user.done = true;
  pthread_join(user.thread, NULL);
  for (size_t i = 0; i < 2; i++) {
    assert_no_error(graphs[i]);
    pop_graph_free(graphs[i]);
  }
}
