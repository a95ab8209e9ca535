/* Runs one vertex, for tests of faulty codelets.
 *
 *   run_vertex CODELETS VERTEX [FLAGS]
 *
 * CODELETS is a .gp file, or source that is compiled now with popc's FLAGS. The vertex is on tile 1
 * in the compute set "only". Its field `out` (an INOUT(int)) is 0 before the run and printed after
 * it. If something fails, the error goes to standard error and the exit status is the error's. */
#include <populus/populus.h>

#include <stdio.h>

static pop_error *run(int argc, char **argv, pop_graph *graph, pop_engine **engine)
{
  int zero = 0, out = 0;
  pop_graph_add_codelets(graph, argv[1], argc > 3 ? argv[3] : NULL);
  pop_tensor tensor = pop_graph_add_variable(graph, POP_INT, NULL, 0, "out");
  pop_graph_set_tile_mapping(graph, tensor, 1);
  pop_graph_create_host_write(graph, "write", tensor);
  pop_graph_create_host_read(graph, "read", tensor);
  pop_compute_set only = pop_graph_add_compute_set(graph, "only");
  pop_vertex vertex = pop_graph_add_vertex(graph, only, argv[2]);
  pop_graph_connect(graph, vertex, "out", tensor);
  pop_graph_set_vertex_tile(graph, vertex, 1);
  pop_program program = pop_program_execute(graph, only, "only");
  static const pop_option options[] = {{"debug.maxCyclesPerRun", "50000000"}};
  POP_TRY(pop_engine_create(graph, &program, 1, options, 1, engine));
  POP_TRY(pop_engine_load(*engine));
  POP_TRY(pop_engine_write_tensor(*engine, "write", &zero, sizeof zero));
  POP_TRY(pop_engine_run(*engine, 0));
  POP_TRY(pop_engine_read_tensor(*engine, "read", &out, sizeof out));
  printf("out = %d\n", out);
  return NULL;
}

int main(int argc, char **argv)
{
  pop_target target;
  pop_graph *graph = NULL;
  pop_engine *engine = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: run_vertex CODELETS VERTEX [FLAGS]\n");
    return 2;
  }
  pop_error *error = pop_target_create("ipu2", 1, &target);
  if (!error) {
    graph = pop_graph_create(&target);
    error = run(argc, argv, graph, &engine);
  }
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "run_vertex: %s\n", pop_error_message(error));
  pop_error_free(error);
  pop_engine_free(engine);
  pop_graph_free(graph);
  return status;
}
