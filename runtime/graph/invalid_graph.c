/* Errors of calls on a graph that is NULL or was freed. A graph keeps its first error, but these
 * calls have no graph. So the thread keeps the error, for pop_graph_error and
 * pop_graph_take_error of such a graph. */
#include "graph/graph.h"

#include <pthread.h>

static pthread_key_t lost;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void free_lost(void *error)
{
  pop_error_free(error);
}

static void make_key(void)
{
  (void)pthread_key_create(&lost, free_lost);
}

void graph_note_invalid(const pop_graph *graph, const char *call)
{
  pthread_once(&made, make_key);
  pop_error *error = object_check(graph, OBJECT_GRAPH, call);
  if (!error) return;
  log_write(LOG_ERR, "GRAPH", "%s", pop_error_message(error));
  if (pthread_getspecific(lost) || pthread_setspecific(lost, error) != 0) pop_error_free(error);
}

const pop_error *graph_invalid_error(const pop_graph *graph)
{
  graph_note_invalid(graph, "pop_graph_error");
  return pthread_getspecific(lost);
}

pop_error *graph_take_invalid_error(const pop_graph *graph)
{
  graph_note_invalid(graph, "pop_graph_take_error");
  pop_error *error = pthread_getspecific(lost);
  (void)pthread_setspecific(lost, NULL);
  return error;
}
