/* The public calls about profiles. */
#include "engine/engine_private.h"

#include "engine/reports.h"
#include "profile/combined_profile.h"
#include "profile/execution_summary.h"
#include "profile/execution_traces.h"
#include "profile/graph_profile.h"
#include "profile/graph_summary.h"
#include <errno.h>
#include <populus/profile.h>

pop_error *pop_engine_graph_profile(const pop_engine *engine, pop_profile **profile)
{
  POP_TRY(object_check_argument(profile, "the profile to make", __func__));
  *profile = NULL;
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  return pop_executable_graph_profile(engine->executable, profile);
}

pop_error *pop_engine_write_graph_profile(const pop_engine *engine, pop_profile_format format,
                                          FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  return pop_executable_write_graph_profile(engine->executable, format, stream);
}

pop_error *pop_engine_print_profile_summary(const pop_engine *engine, const pop_option *options,
                                            size_t num_options, FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  summary_style style;
  POP_TRY(summary_style_parse(options, num_options, stream, &style));
  POP_TRY(graph_summary_print(engine->executable, options, num_options, stream));
  return engine->profile ? pop_engine_print_execution_summary(engine, style.execution_steps, stream)
                         : NULL;
}

/* The execution to emit; if nothing is measured, an execution without runs. */
static const execution *execution_of(const pop_engine *engine, execution **made)
{
  *made = engine->profile ? NULL : execution_new(engine->executable);
  return *made ? *made : execution_profile_get(engine->profile);
}

pop_error *pop_engine_execution_profile(const pop_engine *engine, pop_profile **profile)
{
  POP_TRY(object_check_argument(profile, "the profile to make", __func__));
  *profile = NULL;
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  execution *made;
  *profile = emit_to_values(emit_execution, execution_of(engine, &made));
  execution_free(made);
  return NULL;
}

static pop_error *emit(const pop_engine *engine, const char *call, emit_function *part,
                       pop_profile_format format, FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, call));
  POP_TRY(object_check_argument(stream, "the stream", call));
  execution *made;
  pop_error *error = emit_to_stream(part, execution_of(engine, &made), format, stream);
  execution_free(made);
  return error;
}

pop_error *pop_engine_write_execution_profile(const pop_engine *engine, pop_profile_format format,
                                              FILE *stream)
{
  return emit(engine, __func__, emit_execution, format, stream);
}

pop_error *pop_engine_write_trace_events(const pop_engine *engine, FILE *stream)
{
  return emit(engine, __func__, emit_trace_events, POP_PROFILE_JSON, stream);
}

static pop_error *check_written(FILE *stream, const char *what)
{
  if (fflush(stream) == 0 && !ferror(stream)) return NULL;
  return pop_error_errno(errno, "cannot write the %s", what);
}

pop_error *pop_engine_print_execution_summary(const pop_engine *engine, bool steps, FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  execution *made;
  print_execution_summary(stream, execution_of(engine, &made), steps);
  execution_free(made);
  return check_written(stream, "execution summary");
}

static pop_error *print(const pop_engine *engine, const char *call, const char *what,
                        void (*print_it)(FILE *stream, const execution *x), FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, call));
  POP_TRY(object_check_argument(stream, "the stream", call));
  execution *made;
  print_it(stream, execution_of(engine, &made));
  execution_free(made);
  return check_written(stream, what);
}

pop_error *pop_engine_write_intervals(const pop_engine *engine, FILE *stream)
{
  return print(engine, __func__, "intervals", print_intervals, stream);
}

pop_error *pop_engine_write_folded_stacks(const pop_engine *engine, FILE *stream)
{
  return print(engine, __func__, "folded stacks", print_folded_stacks, stream);
}

pop_error *pop_engine_report(const pop_engine *engine, bool with_execution, pop_profile **report)
{
  POP_TRY(object_check_argument(report, "the profile to make", __func__));
  *report = NULL;
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  execution *made = NULL;
  const execution *x = with_execution ? execution_of(engine, &made) : NULL;
  pop_error *error = report_to_values(engine->executable, x, report);
  execution_free(made);
  return error;
}

pop_error *pop_engine_write_report(const pop_engine *engine, bool with_execution,
                                   pop_profile_format format, FILE *stream)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  execution *made = NULL;
  const execution *x = with_execution ? execution_of(engine, &made) : NULL;
  pop_error *error = report_to_stream(engine->executable, x, format, stream);
  execution_free(made);
  return error;
}

static pop_error *write_reports_of_runs(const pop_engine *engine)
{
  const execution *x = engine->profile ? execution_profile_get(engine->profile) : NULL;
  bool has_runs = x && x->num_runs > 0;
  return has_runs && engine->profile_folder
             ? write_execution_reports(engine, engine->profile_folder)
             : NULL;
}

pop_error *pop_engine_write_execution_reports(pop_engine *engine)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "write reports"));
  return engine_leave(engine, write_reports_of_runs(engine));
}

pop_error *pop_engine_reset_execution_profile(pop_engine *engine)
{
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  POP_TRY(engine_enter(engine, "reset the profile"));
  return engine_leave(engine,
                      execution_profile_reset(engine->profile, engine->state != ENGINE_COMPILED));
}

void pop_engine_enable_execution_profiling(pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return;
  execution_profile_enable(engine->profile, true);
}

void pop_engine_disable_execution_profiling(pop_engine *engine)
{
  if (!object_there(engine, OBJECT_ENGINE, __func__)) return;
  execution_profile_enable(engine->profile, false);
}
