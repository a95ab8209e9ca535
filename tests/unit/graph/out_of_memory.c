/* If a graph outgrows the memory of the process, there is an error, and the process continues
 * (D05). */
#include "support/graph_test.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DONE = 0, NO_ERROR = 60, OTHER_ERROR = 61, NOT_AFTERWARDS = 62, MOST = 4000000 };

/* Limits the process to `more_bytes` above its current memory. */
static void limit_memory(rlim_t more_bytes)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  cr_assert(file && fscanf(file, "%lu", &pages) == 1);
  fclose(file);
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more_bytes;
  cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

static void add_variables(pop_graph *graph)
{
  static const size_t four = 4;
  for (int i = 0; i < MOST && !pop_graph_error(graph); i++)
    pop_graph_add_variable(graph, POP_INT, &four, 1, "v");
}

static void add_vertices(pop_graph *graph)
{
  static const pop_vertex_type type = {
      .name = "V", .symbol = "__runCodelet_V", .source = "v.c:1", .state_alignment = 4};
  add_vertex_type(graph, &type);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  for (int i = 0; i < MOST && !pop_graph_error(graph); i++)
    pop_graph_set_vertex_tile(graph, pop_graph_add_vertex(graph, set, "V"), 3);
}

static int outgrow(void (*grow)(pop_graph *graph), size_t more_bytes)
{
  pop_graph *graph = new_graph();
  limit_memory(more_bytes);
  grow(graph);
  const pop_error *error = pop_graph_error(graph);
  if (!error) return NO_ERROR;
  if (pop_error_get_code(error) != POP_ERROR_MEMORY) return OTHER_ERROR;
  pop_graph_free(graph);
  graph = new_graph();
  static const size_t one = 1;
  pop_graph_add_variable(graph, POP_INT, &one, 1, "small");
  return pop_graph_error(graph) ? NOT_AFTERWARDS : DONE;
}

static void expect_an_error(void (*grow)(pop_graph *graph))
{
#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(__SANITIZE_THREAD__) /* these have an allocator of their own */
  for (size_t mib = 20; mib <= 80; mib += 12) {
    fflush(NULL);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) _exit(outgrow(grow, mib << 20));
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == DONE, "%zu MiB: status 0x%x", mib,
              status);
  }
#else
  (void)grow;
  (void)outgrow;
#endif
}

Test(graph_out_of_memory, D05_variables_without_end)
{
  expect_an_error(add_variables);
}

Test(graph_out_of_memory, D05_vertices_without_end)
{
  expect_an_error(add_vertices);
}
