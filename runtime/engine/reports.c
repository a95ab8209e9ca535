#include "engine/reports.h"

#include "base/json.h"
#include "base/log.h"
#include "engine/engine_private.h"
#include "profile/code_report.h"
#include "profile/combined_profile.h"
#include "profile/graph_profile.h"
#include "profile/lowered_programs.h"
#include "profile/report_file.h"
#include "profile/variable_report.h"
#include <errno.h>
#include <populus/cache_folder.h>
#include <populus/introspection.h>
#include <populus/out_of_memory.h>
#include <populus/profile.h>
#include <populus/report_page.h>
#include <stdlib.h>
#include <string.h>

/* ---- each report, to a stream ---- */

static pop_error *write_summary(FILE *stream, const void *executable)
{
  return graph_summary_print(executable, NULL, 0, stream);
}

static pop_error *write_variable_report(FILE *stream, const void *executable)
{
  return write_variables(stream, executable);
}

static pop_error *write_code_with_source(FILE *stream, const void *executable)
{
  return write_code(stream, executable, true);
}

static pop_error *write_code_without_source(FILE *stream, const void *executable)
{
  return write_code(stream, executable, false);
}

static pop_error *write_program_report(FILE *stream, const void *executable)
{
  return write_lowered_programs(stream, executable);
}

static pop_error *write_graph(FILE *stream, const void *graph)
{
  return pop_graph_serialize(*(pop_graph *const *)graph, stream);
}

static void put_options(json_writer *json, const char *key, const executable_option *options,
                        size_t count)
{
  json_begin_object(json, key);
  for (size_t i = 0; i < count; i++) json_put_string(json, options[i].key, options[i].value);
  json_end_object(json);
}

static void put_variables(json_writer *json, const pop_executable *e)
{
  json_begin_list(json, "variables");
  for (size_t i = 0; i < e->num_variables; i++) {
    const executable_variable *v = &e->variables[i];
    json_begin_object(json, NULL);
    json_put_string(json, "name", v->name);
    json_put_string(json, "type", pop_type_name(v->type));
    json_begin_list(json, "shape");
    for (uint32_t d = 0; d < v->rank; d++) json_put_number(json, NULL, v->shape[d]);
    json_end_list(json);
    json_put_bool(json, "constant", v->constant);
    json_end_object(json);
  }
  json_end_list(json);
}

/* Writes the names of what the executable has. */
static pop_error *write_names(FILE *stream, const void *executable)
{
  const pop_executable *e = executable;
  json_writer json = {.stream = stream};
  json_begin_object(&json, NULL);
  json_put_string(&json, "version", e->version);
  json_put_string(&json, "target", e->target.name);
  put_options(&json, "options", e->options, e->num_options);
  json_begin_list(&json, "programs");
  for (size_t i = 0; i < e->num_programs; i++) json_put_string(&json, NULL, e->programs[i]);
  json_end_list(&json);
  json_begin_list(&json, "computeSets");
  for (size_t i = 0; i < e->num_compute_sets; i++)
    json_put_string(&json, NULL, e->compute_sets[i].name);
  json_end_list(&json);
  json_begin_list(&json, "vertexTypes");
  for (size_t i = 0; i < e->num_vertex_types; i++) json_put_string(&json, NULL, e->vertex_types[i]);
  json_end_list(&json);
  put_variables(&json, e);
  json_end_object(&json);
  return NULL;
}

typedef struct profile_report {
  const pop_executable *executable;
  pop_profile_format format;
} profile_report;

static pop_error *write_graph_profile(FILE *stream, const void *context)
{
  const profile_report *report = context;
  return pop_executable_write_graph_profile(report->executable, report->format, stream);
}

/* ---- where they go ---- */

static pop_error *save_archive(const pop_executable *e, const char *path)
{
  log_phase saving = log_phase_start("ENGINE", "Saving archive");
  POP_TRY(pop_executable_save(e, path));
  log_phase_end(&saving);
  return NULL;
}

static pop_error *print_graph_report(const pop_executable *e, const char *destination)
{
  FILE *stream = strcmp(destination, "stdout") == 0   ? stdout
                 : strcmp(destination, "stderr") == 0 ? stderr
                                                      : NULL;
  if (!stream) return report_file_write(destination, write_summary, e);
  POP_TRY(write_summary(stream, e));
  return fflush(stream) == 0 ? NULL : pop_error_errno(errno, "cannot print the graph report");
}

/* ---- autoReport ---- */

static bool is_wanted(report_choice choice, bool all)
{
  return choice == YES || (choice == AS_ALL && all);
}

/* Is a report wanted that the page shows? It is wanted with the page, too. */
static bool is_shown(report_choice choice, bool all, const run_options *options)
{
  return is_wanted(choice, all || options->report_page);
}

static char *report_path(const run_options *options, const char *name)
{
  return pop_xasprintf("%s/%s", options->report_directory, name);
}

char *execution_report_folder(const run_options *options)
{
  return is_shown(options->report_execution, options->report_all, options)
             ? pop_xstrdup(options->report_directory)
             : NULL;
}

static pop_error *write_page(const char *folder)
{
  char *path = pop_xasprintf("%s/report.html", folder);
  pop_error *error = pop_report_write_page(&folder, 1, 0, path);
  free(path);
  return error;
}

/* ---- after a run ---- */

static pop_error *write_execution(FILE *stream, const void *context)
{
  const pop_engine *engine = context;
  return pop_engine_write_execution_profile(engine, engine->profile_format, stream);
}

static pop_error *write_execution_summary(FILE *stream, const void *engine)
{
  return pop_engine_print_execution_summary(engine, true, stream);
}

static pop_error *write_execution_trace(FILE *stream, const void *engine)
{
  return pop_engine_write_trace_events(engine, stream);
}

static pop_error *write_execution_stacks(FILE *stream, const void *engine)
{
  return pop_engine_write_folded_stacks(engine, stream);
}

/* The report of the graph alone; that of runs follows later. */
static pop_error *write_graph_report_file(FILE *stream, const void *executable)
{
  return report_to_stream(executable, NULL, POP_PROFILE_CBOR, stream);
}

static pop_error *write_execution_report_file(FILE *stream, const void *engine)
{
  return pop_engine_write_report(engine, true, POP_PROFILE_CBOR, stream);
}

/* The archive may lack its graph profile: then the file is not written, with a warning, and other
 * reports of runs still are. */
static pop_error *write_report_of_runs(const pop_engine *engine, const char *path)
{
  pop_error *error = report_file_write(path, write_execution_report_file, engine);
  if (!error || pop_error_get_code(error) != POP_ERROR_FILE_LOAD) return error;
  log_write(LOG_WARN, "ENGINE", "'%s' is not written: %s", path, pop_error_message(error));
  pop_error_free(error);
  return NULL;
}

pop_error *write_execution_reports(const pop_engine *engine, const char *folder)
{
  bool as_cbor = engine->profile_format == POP_PROFILE_CBOR;
  const struct {
    const char *name;
    pop_error *(*write)(FILE *stream, const void *engine);
  } files[] = {{as_cbor ? "execution.cbor" : "execution.json", write_execution},
               {"execution.txt", write_execution_summary},
               {"execution_trace.json", write_execution_trace},
               {"execution_stacks.folded", write_execution_stacks}};
  POP_TRY(pop_cache_folder_make(folder));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char *path = pop_xasprintf("%s/%s", folder, files[i].name);
    pop_error *error = report_file_write(path, files[i].write, engine);
    free(path);
    if (error) return error;
  }
  char *path = pop_xasprintf("%s/%s", folder, REPORT_FILE_NAME);
  pop_error *error = write_report_of_runs(engine, path);
  free(path);
  return error || !engine->writes_page ? error : write_page(folder);
}

static pop_error *write_report(const engine_options *options, bool wanted, const char *name,
                               pop_error *(*write)(FILE *stream, const void *context),
                               const void *context)
{
  if (!wanted) return NULL;
  char *path = report_path(&options->run, name);
  pop_error *error = write ? report_file_write(path, write, context) : save_archive(context, path);
  free(path);
  return error;
}

static pop_error *write_graph_reports(const pop_executable *e, const engine_options *options)
{
  profile_report report = {e, options->run.profile_format};
  const char *name = report.format == POP_PROFILE_CBOR ? "graph.cbor" : "graph.json";
  POP_TRY(write_report(options, true, name, write_graph_profile, &report));
  POP_TRY(write_report(options, true, REPORT_FILE_NAME, write_graph_report_file, e));
  return write_report(options, true, "graph.txt", write_summary, e);
}

/* autoReport.all, for reports of a compiled graph. An engine inherits the option from
 * pop_compile_graph: then those reports are in the same folder already. */
static bool wants_all(const engine_options *options, const pop_executable *e, bool is_new)
{
  const run_options *run = &options->run;
  bool done =
      !is_new && options->inherits_report_all && strcmp(e->reported_to, run->report_directory) == 0;
  return run->report_all && !done;
}

void warn_of_no_reports(const engine_options *o)
{
  bool all = o->run.report_all;
  if (!is_wanted(o->report_archive, all) && !is_shown(o->report_graph, all, &o->run) &&
      !is_shown(o->report_variables, all, &o->run) && !is_shown(o->report_debug, all, &o->run) &&
      !is_shown(o->report_code, all, &o->run) && !is_shown(o->run.report_execution, all, &o->run) &&
      !o->report_serialized_graph && !*o->save_archive && !*o->variable_file && !*o->program_file &&
      !*o->graph_report)
    return;
  log_write(LOG_WARN, "ENGINE",
            "no reports and no archive are written of a graph for the CPU: it has no tiles, no "
            "memory plan and no cycles; "
            "compile it for an IPU or an IPU Model");
}

bool reports_want_graph(const engine_options *o)
{
  return is_shown(o->report_graph, o->run.report_all, &o->run) || *o->graph_report;
}

char *reports_profile_path(const engine_options *o)
{
  return is_shown(o->report_graph, o->run.report_all, &o->run)
             ? report_path(&o->run, REPORT_FILE_NAME)
             : NULL;
}

static pop_error *write_auto_reports(pop_graph *compiled, const pop_executable *e,
                                     const engine_options *options)
{
  bool all = wants_all(options, e, compiled);
  bool archive = is_wanted(options->report_archive, all),
       graph = is_shown(options->report_graph, all, &options->run),
       variables = is_shown(options->report_variables, all, &options->run),
       debug = is_shown(options->report_debug, all, &options->run),
       code = is_shown(options->report_code, all, &options->run),
       execution = is_shown(options->run.report_execution, options->run.report_all, &options->run),
       serialized = options->report_serialized_graph && compiled;
  if (options->report_serialized_graph && !compiled)
    log_write(LOG_WARN, "ENGINE",
              "autoReport.outputSerializedGraph: there is no graph any more; it "
              "is written when it is compiled");
  bool page = options->run.report_page && (archive || graph);
  if (!archive && !graph && !variables && !debug && !code && !execution && !serialized) return NULL;
  POP_TRY(pop_cache_folder_make(options->run.report_directory));
  POP_TRY(write_report(options, archive, "archive.a", NULL, e));
  if (graph) POP_TRY(write_graph_reports(e, options));
  POP_TRY(write_report(options, variables, "vars.json", write_variable_report, e));
  POP_TRY(write_report(options, debug, "debug.json", write_names, e));
  POP_TRY(write_report(options, code, "code.json",
                       options->report_source ? write_code_with_source : write_code_without_source,
                       e));
  POP_TRY(write_report(options, serialized, "serialized_graph.json", write_graph, &compiled));
  return page ? write_page(options->run.report_directory) : NULL;
}

typedef struct reports_request {
  pop_graph *graph;
  const pop_executable *executable;
  const engine_options *options;
} reports_request;

static pop_error *write_all(void *context)
{
  const reports_request *request = context;
  pop_graph *graph = request->graph;
  const pop_executable *e = request->executable;
  const engine_options *options = request->options;
  POP_TRY(write_auto_reports(graph, e, options));
  if (*options->save_archive) POP_TRY(save_archive(e, options->save_archive));
  if (*options->variable_file)
    POP_TRY(report_file_write(options->variable_file, write_variable_report, e));
  if (*options->program_file)
    POP_TRY(report_file_write(options->program_file, write_program_report, e));
  if (*options->graph_report) POP_TRY(print_graph_report(e, options->graph_report));
  return NULL;
}

pop_error *write_reports(pop_graph *graph, const pop_executable *e, const engine_options *options)
{
  reports_request request = {graph, e, options};
  return pop_with_memory("writing reports", write_all, &request);
}
