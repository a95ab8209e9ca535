#include "profile/combined_profile.h"

#include "profile/value.h"
#include <string.h>

static const char format_name[] = "Populus report";

typedef struct report {
  graph_profile graph;
  const execution *execution; /* NULL: none */
} report;

static void emit_report(const emitter *to, const void *what)
{
  const report *r = what;
  emit_begin_map(to, NULL);
  emit_string(to, "format", format_name);
  emit_string(to, "version", r->graph.e->version);
  emit_graph_profile_as(to, "graph", &r->graph);
  if (r->execution) emit_execution_as(to, "execution", r->execution);
  emit_end_map(to);
}

pop_error *report_to_values(const pop_executable *e, const execution *x, pop_profile **values)
{
  report r = {.execution = x};
  *values = NULL;
  POP_TRY(graph_profile_open(e, &r.graph));
  *values = emit_to_values(emit_report, &r);
  graph_profile_close(&r.graph);
  return NULL;
}

pop_error *report_to_stream(const pop_executable *e, const execution *x, pop_profile_format format,
                            FILE *stream)
{
  report r = {.execution = x};
  POP_TRY(graph_profile_open(e, &r.graph));
  pop_error *error = emit_to_stream(emit_report, &r, format, stream);
  graph_profile_close(&r.graph);
  return error;
}

pop_error *pop_report_read(const char *path, pop_profile **values)
{
  POP_TRY(object_check_argument(values, "the profile to make", __func__));
  *values = NULL;
  POP_TRY(object_check_argument(path, "the path", __func__));
  POP_TRY(pop_profile_read(path, values));
  pop_profile_value root = pop_profile_root(*values);
  const char *format = pop_profile_as_string(pop_profile_get(root, "format"));
  if (format && strcmp(format, format_name) == 0 &&
      pop_profile_kind_of(pop_profile_get(root, "graph")) == POP_PROFILE_MAP &&
      pop_profile_as_string(pop_profile_get(root, "version")))
    return NULL;
  pop_profile_free(*values);
  *values = NULL;
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' is no report: those are written as %s into autoReport.directory, with "
                       "autoReport.outputGraphProfile or autoReport.outputExecutionProfile",
                       path, REPORT_FILE_NAME);
}
