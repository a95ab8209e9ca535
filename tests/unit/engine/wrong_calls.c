/* Every public function with NULL, with freed objects, and with NULL among valid arguments (P01).
 * tests/support/wrong_calls.py makes the calls from the headers. */
#include "support/wrong_calls.h"

#include "support/graph_test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

call_arguments freed, good;
char room[1 << 16];
FILE *sink;

static pop_error *last_error;

void got_error(pop_error *error)
{
  last_error = error;
}

static void ok(pop_error *error)
{
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static call_arguments make_one_of_each(void)
{
  const size_t count = 3;
  const pop_host_argument argument = {POP_INT, 3};
  call_arguments a = {.graph = new_graph_with_tiles(2)};
  a.tensor = pop_graph_add_variable(a.graph, POP_INT, &count, 1, "x");
  pop_graph_map_linearly(a.graph, a.tensor, 0, 0);
  pop_graph_add_codelets_source(a.graph, "c",
                                "#include <populus/vertex.h>\n"
                                "typedef struct { INOUT(VECTOR(int)) x; } Add;\n"
                                "COMPUTE(Add) { vertex->x.data[0]++; return true; }\n",
                                "add", NULL);
  a.compute_set = pop_graph_add_compute_set(a.graph, "set");
  a.vertex = pop_graph_add_vertex(a.graph, a.compute_set, "Add");
  pop_graph_set_vertex_tile(a.graph, a.vertex, 0);
  pop_graph_connect(a.graph, a.vertex, "x", a.tensor);
  a.program = pop_program_sequence(a.graph, "main");
  pop_sequence_add(a.program, pop_program_execute(a.graph, a.compute_set, "set"));
  a.function = pop_graph_add_function(a.graph, a.program);
  a.stream = pop_graph_add_host_to_device_fifo(a.graph, "x", POP_INT, 3);
  a.remote_buffer = pop_graph_add_remote_buffer(a.graph, "x", POP_INT, 3, 1);
  a.host_function = pop_graph_add_host_function(a.graph, "x", &argument, 1, NULL, 0);
  pop_graph_create_host_read(a.graph, "x", a.tensor);
  const pop_option options[] = {{"target.tileEngine", "interpreter"},
                                {"target.tileEngineThreads", "1"}};
  ok(pop_compile_graph(a.graph, &a.program, 1, options, 2, &a.executable));
  ok(pop_engine_create_from_executable(a.executable, NULL, 0, &a.engine));
  ok(pop_engine_load(a.engine));
  ok(pop_device_manager_create(&a.manager));
  a.device = pop_device_create_cpu();
  ok(pop_event_trace_create(NULL, 0, &a.trace));
  a.events = pop_event_trace_fetch(a.trace);
  static const char module[] = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                               "  return %x : tensor<3xf32>\n"
                               "}\n";
  ok(pop_model_parse(module, sizeof module - 1, "module", 0, &a.model));
  a.solver = pop_solver_create();
  return a;
}

static void free_all(const call_arguments *a)
{
  pop_model_free(a->model);
  pop_solver_free(a->solver);
  pop_trace_events_free(a->events);
  pop_event_trace_free(a->trace);
  pop_device_free(a->device);
  pop_device_manager_free(a->manager);
  pop_engine_free(a->engine);
  pop_executable_free(a->executable);
  pop_graph_free(a->graph);
}

/* "" if the call had the expected effect. */
static const char *judge(const wrong_call *call)
{
  static const pop_graph *const no_graph = NULL;
  const pop_error *error = last_error;
  if (call->expects == NOTHING) return "";
  if (call->expects == GRAPH_ERROR) error = pop_graph_error(no_graph);
  if (!error) return "there is no error";
  return strstr(pop_error_message(error), call->name) ? "" : pop_error_message(error);
}

Test(wrong_calls, P01_every_function_survives_what_is_not_there)
{
  sink = fopen("/dev/null", "w");
  freed = make_one_of_each();
  free_all(&freed);
  good = make_one_of_each();
  size_t failed = 0;
  for (size_t i = 0; i < num_wrong_calls; i++) {
    const wrong_call *call = &wrong_calls[i];
    int verdict[2], status;
    cr_assert_eq(pipe(verdict), 0);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      call->make();
      const char *text = judge(call);
      ssize_t written = write(verdict[1], text, strlen(text));
      _exit(written < 0);
    }
    close(verdict[1]);
    char text[400] = "";
    ssize_t length = read(verdict[0], text, sizeof text - 1);
    close(verdict[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    if (status == 0 && length == 0) continue;
    failed++;
    if (WIFSIGNALED(status)) snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    fprintf(stderr, "%s with %s: %s (status %d)\n", call->name, call->with, text, status);
  }
  free_all(&good);
  fclose(sink);
  cr_assert(num_wrong_calls >= 1000);
  cr_assert_eq(failed, 0, "%zu of %zu calls", failed, num_wrong_calls);
}
