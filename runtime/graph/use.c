/* Locking: one thread at a time uses a graph. Calls wait for each other, because libraries query
 * tensors from several threads. Calls of other threads during compilation are refused:
 * compilation takes long, and what they add would be compiled in part. */
#include "graph/check.h"

#include <pthread.h>

static const char refused[] =
    "the graph is being compiled; threads must take turns with a graph, or have one each";

/* A number of the calling thread that no other live thread has. */
static uintptr_t this_thread(void)
{
  static _Thread_local char own;
  return (uintptr_t)&own;
}

/* The graph whose lock a call takes; NULL if it takes none. The compiling thread needs none, and
 * may not return to where the lock would be released (populus/out_of_memory.h). */
static pop_graph *whose_turn(const pop_graph *graph)
{
  if (!object_lives(graph, OBJECT_GRAPH)) return NULL;
  return atomic_load_explicit(&graph->top->compiler, memory_order_relaxed) == this_thread()
             ? NULL
             : graph->top;
}

graph_turn graph_begin_turn(const pop_graph *graph, const pop_graph *other)
{
  graph_turn turn = {{whose_turn(graph), whose_turn(other)}};
  if (turn.graphs[0] > turn.graphs[1]) /* always in the same order, against deadlocks */
    turn = (graph_turn){{turn.graphs[1], turn.graphs[0]}};
  for (size_t i = 0; i < 2; i++)
    if (turn.graphs[i]) pthread_mutex_lock(&turn.graphs[i]->turn);
  return turn;
}

void graph_end_turn(const graph_turn *turn)
{
  for (size_t i = 0; i < 2; i++)
    if (turn->graphs[i]) pthread_mutex_unlock(&turn->graphs[i]->turn);
}

pop_error *graph_begin_compilation(pop_graph *graph)
{
  GRAPH_TURN(graph);
  uintptr_t nobody = 0;
  if (atomic_compare_exchange_strong(&graph->compiler, &nobody, this_thread())) return NULL;
  return pop_error_new(POP_ERROR_RUNTIME, "cannot compile: %s", refused);
}

void graph_end_compilation(pop_graph *graph)
{
  atomic_store(&graph->compiler, 0);
}

bool graph_check_turn(pop_graph *graph)
{
  uintptr_t compiler = atomic_load(&graph->compiler);
  if (compiler == 0 || compiler == this_thread()) return true;
  graph_failf(graph, POP_ERROR_RUNTIME, "%s", refused);
  return false;
}
