/* A trace of events: when graphs were compiled, loaded and run, with reports about these.
 *
 *   pop_event_trace_create(options, n, &trace);
 *   // COMPILE_BEGIN, COMPILE_END
 *   pop_event_trace_compile_graph(trace, graph, &program, 1, NULL, 0, &executable);
 *   pop_engine_create_from_executable(executable, NULL, 0, &engine);
 *   pop_engine_load(engine);                   LOAD_ENGINE
 *   pop_engine_run(engine, 0);                 EXECUTE
 *   events = pop_event_trace_fetch(trace);     … and the trace is empty again
 *   pop_trace_events_write(events, stream);    protobuf: event_trace.proto
 *
 * Options, each a string ("true", "false", a number, a path). Without one of the first three,
 * nothing is recorded.
 *
 *   profiling            turns the trace on, with compilation reports. Runs are recorded only with
 *                        one of the next two
 *   enable_ipu_events    turns the trace on, with runs, without reports
 *   profile_execution    turns the trace on, with runs and execution reports. true or
 *                        DEVICE_PROFILE, IPU_PROFILE, TILE_PROFILE: the graph is compiled with
 *                        debug.instrument and the debug.computeInstrumentationLevel device, ipu,
 *                        tile
 *   use_poplar_text_report
 *                        reports are summaries (pop_profile_print_graph_summary, …), not JSON
 *   use_poplar_cbor_report
 *                        reports are CBOR
 *   enable_poplar_serialized_graph
 *                        COMPILE_END has the graph (pop_graph_serialize)
 *   report_every_nth_execution
 *                        only every nth execution of a module has a report, including the first;
 *                        0: all
 *   max_report_size      limit in bytes of a report or graph; a larger one is dropped, with a
 *                        warning in the log. Default: 268435456
 *   report_directory     reports and graphs are files, and events have their paths. Each module
 *                        has a folder in this one: <module>/report.json, serialized_graph.json,
 *                        execution.json (the last one; .txt and .cbor for the other formats). A
 *                        folder that exists is never written to: the next is <module>_1, …
 *   ordinal              of the device, for the events. Default: 0
 *
 * Several threads may use a trace. */
#ifndef POPULUS_EVENT_TRACE_H
#define POPULUS_EVENT_TRACE_H

#include <populus/executable.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_event_trace pop_event_trace;

/* The caller owns *trace. INVALID_OPTION: an unknown key, an invalid value, a key twice, text and
 * CBOR at once. */
POP_MUST_CHECK pop_error *pop_event_trace_create(const pop_option *options, size_t num_options,
                                                 pop_event_trace **trace);
/* NULL is fine. Executables and engines that record into the trace keep it alive. */
void pop_event_trace_free(pop_event_trace *trace);

/* Does pop_compile_graph and records it, and what engines made from the executable do. The
 * module's name is that of the first program, or "module". Options of profile_execution come
 * before `options`, so those, and the environment, override them. Errors: those of
 * pop_compile_graph; SYSTEM if a report cannot be written. */
POP_MUST_CHECK pop_error *pop_event_trace_compile_graph(
    pop_event_trace *trace, pop_graph *graph, const pop_program *programs, size_t num_programs,
    const pop_option *options, size_t num_options, pop_executable **executable);
/* Records what engines do that are made from a loaded executable from now on, under the module
 * name. INVALID_ARGUMENT if it is recorded already. */
POP_MUST_CHECK pop_error *pop_event_trace_add_executable(pop_event_trace *trace,
                                                         pop_executable *executable,
                                                         const char *module_name);

/* ---- events ---- */

typedef enum pop_trace_event_type {
  POP_TRACE_COMPILE_BEGIN = 1, /* the numbers of event_trace.proto */
  POP_TRACE_COMPILE_END,
  POP_TRACE_LOAD_ENGINE,
  POP_TRACE_EXECUTE
} pop_trace_event_type;

/* Bytes, followed by a zero that `size` does not count; never NULL. */
typedef struct pop_trace_text {
  const char *data;
  size_t size;
} pop_trace_text;

typedef struct pop_trace_event {
  pop_trace_event_type type;
  double timestamp; /* seconds since 1970, UTC: when it ended; COMPILE_BEGIN: when it began */
  int32_t ordinal;
  int64_t duration; /* microseconds, without reports; 0 for COMPILE_BEGIN */
  const char *module_name;
  const char *program; /* EXECUTE; otherwise "" */
  pop_trace_text
      report; /* COMPILE_END, EXECUTE: JSON, CBOR or text, or the path of the file; or empty */
  /* COMPILE_END: the variables and handles that the program uses: {"mappings": {program:
   * [[variable, ordinal, shape, type, has constants, has aliases, elements, [[tile, elements],
   * …]], …], …}}. A variable without a name is "<anon>". `ordinal` counts those of one name. */
  pop_trace_text tensor_map;
  /* COMPILE_END: the compute sets with matrix products: {"ml_types": {compute set: type}}. The
   * type is 2 for the forward pass, 3 for the gradient of the input, 4 for the gradient of the
   * filter, by a part Fwd, Bwd or Wu of their names. Otherwise it is 1, or 0 if there are such
   * parts elsewhere in the graph. */
  pop_trace_text instruction_info;
  pop_trace_text graph; /* COMPILE_END: JSON, or the path of the file; or empty */
  const char *error;    /* COMPILE_END, EXECUTE: the error's message; otherwise "" */
} pop_trace_event;

typedef struct pop_trace_events pop_trace_events;

/* All events since the last call, in order; the caller frees them. NULL for a trace that is
 * none. */
pop_trace_events *pop_event_trace_fetch(pop_event_trace *trace);
void pop_trace_events_free(pop_trace_events *events); /* NULL is fine */
size_t pop_trace_events_count(const pop_trace_events *events);
/* Lives as long as the events; NULL if there is no event with this number. */
const pop_trace_event *pop_trace_events_at(const pop_trace_events *events, size_t index);

/* Writes messages IpuTraceEvent of event_trace.proto (installed beside this header), each after
 * its length as a varint. SYSTEM if the stream cannot be written; INVALID_ARGUMENT for an event
 * of 2 GiB or more, which protobuf does not allow. */
POP_MUST_CHECK pop_error *pop_trace_events_write(const pop_trace_events *events, FILE *stream);
/* Prints a line for each event, with its report below, for people. SYSTEM if the stream cannot
 * be written. */
POP_MUST_CHECK pop_error *pop_trace_events_print(const pop_trace_events *events, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
