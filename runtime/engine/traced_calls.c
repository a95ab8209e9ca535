/* Compilations, loads and runs that an event trace records. */
#include "engine/traced_calls.h"

#include "events/tensor_map.h"
#include "events/traced_module.h"
#include "profile/graph_profile.h"
#include <populus/introspection.h>
#include <populus/profile.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */

/* "report.json" */
static char *report_name(const traced_module *module, const char *what)
{
  const trace_options *options = event_trace_options(traced_module_trace(module));
  const char *suffix = options->text_report ? "txt" : options->cbor_report ? "cbor" : "json";
  return pop_xasprintf("%s.%s", what, suffix);
}

static pop_profile_format profile_format(const traced_module *module)
{
  return event_trace_options(traced_module_trace(module))->cbor_report ? POP_PROFILE_CBOR
                                                                       : POP_PROFILE_JSON;
}

/* ---- compiling ---- */

/* Merges options of profile_execution with those of the call, which win. The caller frees the
 * result. */
static pop_option *merge_options(const pop_event_trace *trace, const pop_option *options,
                                 size_t num_options, size_t *count)
{
  static const char *const levels[] = {
      [DEVICE_PROFILE] = "device", [IPU_PROFILE] = "ipu", [TILE_PROFILE] = "tile"};
  execution_profile_type type = event_trace_options(trace)->execution;
  const pop_option ours[] = {{"debug.instrument", "true"},
                             {"debug.computeInstrumentationLevel", levels[type]}};
  enum { NUM_OURS = sizeof ours / sizeof *ours };
  pop_option *merged = pop_xcalloc(num_options + NUM_OURS, sizeof *merged);
  *count = 0;
  for (size_t i = 0; i < NUM_OURS && type != NO_EXECUTION_PROFILE; i++) {
    bool given = false;
    for (size_t j = 0; j < num_options; j++)
      given |= options[j].key && strcmp(options[j].key, ours[i].key) == 0;
    if (!given) merged[(*count)++] = ours[i];
  }
  for (size_t i = 0; i < num_options; i++) merged[(*count)++] = options[i];
  return merged;
}

typedef struct compile_report {
  const traced_module *module;
  const pop_executable *executable;
} compile_report;

static pop_error *write_compile_report(FILE *stream, const void *context)
{
  const compile_report *report = context;
  if (event_trace_options(traced_module_trace(report->module))->text_report)
    return graph_summary_print(report->executable, NULL, 0, stream);
  return pop_executable_write_graph_profile(report->executable, profile_format(report->module),
                                            stream);
}

static pop_error *write_graph(FILE *stream, const void *traced)
{
  return pop_graph_serialize(((const traced_graph *)traced)->graph, stream);
}

static pop_error *describe_graph(traced_module *module, const traced_graph *graph,
                                 pop_trace_event *event)
{
  POP_TRY(
      traced_module_text(module, "the tensor map", write_tensor_map, graph, &event->tensor_map));
  POP_TRY(traced_module_text(module, "the instruction info", write_instruction_info, graph,
                             &event->instruction_info));
  if (!event_trace_options(traced_module_trace(module))->serialized_graph) return NULL;
  return traced_module_report(module, "serialized_graph.json", write_graph, graph, &event->graph);
}

/* The CPU has no graph profile. */
static pop_error *report_compilation(traced_module *module, const pop_executable *executable,
                                     pop_trace_event *event)
{
  if (!event_trace_options(traced_module_trace(module))->profiling || executable->cpu) return NULL;
  const compile_report report = {module, executable};
  char *name = report_name(module, "report");
  pop_error *error =
      traced_module_report(module, name, write_compile_report, &report, &event->report);
  free(name);
  return error;
}

static void free_module(void *module)
{
  traced_module_free(module);
}

static void attach(pop_executable *executable, traced_module *module)
{
  executable->traced = module;
  executable->free_traced = free_module;
}

static const char *module_name(const pop_graph *graph, const pop_program *programs,
                               size_t num_programs)
{
  bool has_first = num_programs > 0 && programs[0].graph == graph && programs[0].index > 0 &&
                   programs[0].index <= graph->num_programs;
  const char *name = has_first ? graph->programs[programs[0].index - 1].name : "";
  return *name ? name : "module";
}

/* Records the end of a compilation: keeps the executable, or the reason that there is none. */
static pop_error *end_compilation(traced_module *module, const traced_graph *graph,
                                  pop_executable **executable, event_time begun, pop_error *error)
{
  event_time ended = event_now();
  pop_trace_event event = event_new(POP_TRACE_COMPILE_END, traced_module_name(module));
  if (error)
    event_set_text(&event.error, pop_error_message(error));
  else
    error = describe_graph(module, graph, &event);
  if (!error) error = report_compilation(module, *executable, &event);
  event_trace_add(traced_module_trace(module), &event, begun, ended);
  if (!error) {
    attach(*executable, module);
    return NULL;
  }
  pop_executable_free(*executable);
  *executable = NULL;
  traced_module_free(module);
  return error;
}

pop_error *pop_event_trace_compile_graph(pop_event_trace *trace, pop_graph *graph,
                                         const pop_program *programs, size_t num_programs,
                                         const pop_option *options, size_t num_options,
                                         pop_executable **executable)
{
  POP_TRY(object_check_argument(executable, "the executable to make", __func__));
  *executable = NULL;
  POP_TRY(object_check(trace, OBJECT_EVENT_TRACE, __func__));
  POP_TRY(object_check_list(programs, num_programs, "programs", __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  if (!event_trace_is_on(trace))
    return pop_compile_graph(graph, programs, num_programs, options, num_options, executable);
  graph = graph->top;
  const traced_graph traced = {graph, programs, num_programs};
  traced_module *module = traced_module_new(trace, module_name(graph, programs, num_programs));
  event_time begun = event_now();
  pop_trace_event begin = event_new(POP_TRACE_COMPILE_BEGIN, traced_module_name(module));
  event_trace_add(trace, &begin, begun, begun);
  size_t count;
  pop_option *merged = merge_options(trace, options, num_options, &count);
  pop_error *error = pop_compile_graph(graph, programs, num_programs, merged, count, executable);
  free(merged);
  return end_compilation(module, &traced, executable, begun, error);
}

pop_error *pop_event_trace_add_executable(pop_event_trace *trace, pop_executable *executable,
                                          const char *module_name)
{
  POP_TRY(object_check(trace, OBJECT_EVENT_TRACE, __func__));
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(module_name, "the module's name", __func__));
  if (executable->traced)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "pop_event_trace_add_executable: the executable is recorded already, as "
                         "module '%s'",
                         traced_module_name(executable->traced));
  if (event_trace_is_on(trace)) attach(executable, traced_module_new(trace, module_name));
  return NULL;
}

/* ---- engines ---- */

void trace_load(const pop_engine *engine, event_time begun)
{
  const traced_module *module = engine->traced;
  if (!module) return;
  pop_trace_event event = event_new(POP_TRACE_LOAD_ENGINE, traced_module_name(module));
  event_trace_add(traced_module_trace(module), &event, begun, event_now());
}

static pop_error *write_execution_report(FILE *stream, const void *context)
{
  const pop_engine *engine = context;
  const traced_module *module = engine->traced;
  if (event_trace_options(traced_module_trace(module))->text_report)
    return pop_engine_print_execution_summary(engine, true, stream);
  return pop_engine_write_execution_profile(engine, profile_format(module), stream);
}

static pop_error *report_run(traced_module *module, const pop_engine *engine,
                             pop_trace_event *event)
{
  char *name = report_name(module, "execution");
  pop_error *error =
      traced_module_report(module, name, write_execution_report, engine, &event->report);
  free(name);
  return error;
}

pop_error *trace_run(const pop_engine *engine, size_t program, event_time begun, pop_error *error)
{
  event_time ended = event_now();
  traced_module *module = engine->traced;
  if (!module) return error;
  const trace_options *options = event_trace_options(traced_module_trace(module));
  if (options->execution == NO_EXECUTION_PROFILE && !options->events) return error;
  pop_trace_event event = event_new(POP_TRACE_EXECUTE, traced_module_name(module));
  event_set_text(&event.program, engine->executable->programs[program]);
  bool wants_report =
      traced_module_count_execution(module) && options->execution != NO_EXECUTION_PROFILE;
  if (error)
    event_set_text(&event.error, pop_error_message(error));
  else if (wants_report)
    error = report_run(module, engine, &event);
  event_trace_add(traced_module_trace(module), &event, begun, ended);
  return error;
}
