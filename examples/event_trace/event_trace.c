/* What a framework does: a + b + a + c on an IPU, with a trace of when it was compiled, loaded and run, and the reports.
 *
 * usage: event_trace [--device ipu|ipumodel|cpu] [OPTION=VALUE]...     options of the trace (populus/event_trace.h)
 *
 * Leaves events.pb (protobuf) and Trace_Event_Report.rep (text). */
#include "../example.h"

enum { NUM_ELEMENTS = 2, MAX_OPTIONS = 16 };

static const pop_option usual[] = {
    {"profiling", "true"}, {"profile_execution", "true"}, {"use_poplar_text_report", "true"}};

/* Those of the command line; the usual ones if there are none. */
static pop_event_trace *create_trace(int argc, char **argv)
{
  pop_option options[MAX_OPTIONS];
  size_t count = 0;
  for (int i = 1; i < argc && count < MAX_OPTIONS; ++i) {
    char *equals = strchr(argv[i], '=');
    if (!equals) {
      fprintf(stderr, "error: '%s' is no option: it takes OPTION=VALUE\n", argv[i]);
      exit(2);
    }
    *equals = '\0';
    options[count++] = (pop_option){argv[i], equals + 1};
  }
  pop_event_trace *trace;
  if (count)
    example_check(pop_event_trace_create(options, count, &trace));
  else
    example_check(pop_event_trace_create(usual, sizeof usual / sizeof *usual, &trace));
  return trace;
}

static pop_tensor add_input(pop_graph *graph, const char *name)
{
  const size_t shape[] = {NUM_ELEMENTS};
  pop_tensor t = pop_graph_add_variable(graph, POP_FLOAT, shape, 1, name);
  pop_graph_map_linearly(graph, t, 0, 0);
  pop_graph_create_host_write(graph, name, t);
  return t;
}

/* The same operations as in the tutorial of the framework. */
static pop_program basic_graph(pop_graph *graph)
{
  pop_program program = pop_program_sequence(graph, "basic_graph");
  pop_tensor a = add_input(graph, "a"), b = add_input(graph, "b"), c = add_input(graph, "c");
  const pop_tensor none = {0};
  pop_tensor o1 = pop_popops_binary(graph, POP_BINARY_ADD, a, b, none, program, "o1");
  pop_tensor o2 = pop_popops_binary(graph, POP_BINARY_ADD, a, c, none, program, "o2");
  pop_tensor sum = pop_popops_binary(graph, POP_BINARY_ADD, o1, o2, none, program, "sum");
  pop_graph_create_host_read(graph, "result", sum);
  return program;
}

static void run(pop_engine *engine)
{
  static const float a[] = {1, 1}, b[] = {0, 1}, c[] = {1, 5};
  float result[NUM_ELEMENTS];
  example_check(pop_engine_write_tensor(engine, "a", a, sizeof a));
  example_check(pop_engine_write_tensor(engine, "b", b, sizeof b));
  example_check(pop_engine_write_tensor(engine, "c", c, sizeof c));
  example_check(pop_engine_run(engine, 0));
  example_check(pop_engine_read_tensor(engine, "result", result, sizeof result));
  printf("result: {%g,%g}\n", result[0], result[1]);
}

static void save(const pop_trace_events *events, const char *path,
                 pop_error *(*write)(const pop_trace_events *events, FILE *stream))
{
  FILE *file = fopen(path, "wb");
  if (!file) {
    perror(path);
    exit(4);
  }
  example_check(write(events, file));
  if (fclose(file) != 0) {
    perror(path);
    exit(4);
  }
}

int main(int argc, char **argv)
{
  example_help(argc, argv,
               EXAMPLE_DEVICE " [OPTION=VALUE]...     options of populus/event_trace.h");
  pop_device *device = example_device(&argc, argv, 1);
  pop_event_trace *trace = create_trace(argc, argv);
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_popops_add_codelets(graph);
  pop_program program = basic_graph(graph);

  pop_executable *executable;
  pop_engine *engine;
  example_check(pop_event_trace_compile_graph(trace, graph, &program, 1, NULL, 0, &executable));
  example_check(pop_engine_create_from_executable(executable, NULL, 0, &engine));
  example_check(pop_engine_load_device(engine, device));
  run(engine);

  pop_trace_events *events = pop_event_trace_fetch(trace);
  printf("%zu events\n", pop_trace_events_count(events));
  save(events, "events.pb", pop_trace_events_write);
  save(events, "Trace_Event_Report.rep", pop_trace_events_print);

  pop_trace_events_free(events);
  pop_engine_free(engine);
  pop_executable_free(executable);
  pop_graph_free(graph);
  pop_event_trace_free(trace);
  pop_device_free(device);
  return example_end(0);
}
