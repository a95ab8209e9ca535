/* Who uses a graph: one thread at a time. That two threads build it at once is for them to avoid: calls are too
 * short and too many to look for it. Compiling takes long, and what is added meanwhile would be compiled by
 * halves. */
#include "graph/check.h"

static const char refused[] =
    "the graph is being compiled; threads must take turns with a graph, or have one each";

/* Of the calling thread, and of no other that lives. */
static uintptr_t this_thread(void)
{
  static _Thread_local char own;
  return (uintptr_t)&own;
}

pop_error *graph_begin_compilation(pop_graph *graph)
{
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
