/* A trace of events: which graphs were compiled, loaded and run when, with the reports about them.
 *
 *   pop_event_trace_create(options, n, &trace);
 *   pop_event_trace_compile_graph(trace, graph, &program, 1, NULL, 0, &executable);   COMPILE_BEGIN, COMPILE_END
 *   pop_engine_create_from_executable(executable, NULL, 0, &engine);
 *   pop_engine_load(engine);                                                          LOAD_ENGINE
 *   pop_engine_run(engine, 0);                                                        EXECUTE
 *   pop_event_trace_fetch(trace, &events);                                            … and the trace is empty again
 *   pop_trace_events_write(events, stream);                                           protobuf: event_trace.proto
 *
 * Options, each a string ("true", "false", a number, a path):
 *
 *   profiling                       compilation reports; turns the trace on
 *   enable_ipu_events               turns the trace on, without reports
 *   profile_execution               execution reports; turns the trace on. true or DEVICE_PROFILE, IPU_PROFILE,
 *                                   TILE_PROFILE: the graph is compiled with debug.instrument and the
 *                                   debug.computeInstrumentationLevel device, ipu, tile
 *   use_poplar_text_report          reports are summaries (pop_profile_print_graph_summary, …) instead of JSON
 *   use_poplar_cbor_report          reports are CBOR
 *   enable_poplar_serialized_graph  COMPILE_END has the graph (pop_graph_serialize)
 *   report_every_nth_execution      only every nth execution of a module has a report, the first one too; 0: all
 *   max_report_size                 of a report or graph that is larger, in bytes, only a warning in the log is left;
 *                                   268435456
 *   report_directory                reports and graphs are files, in a folder in this one for each compilation, and
 *                                   events have their paths: <module>/report.json, serialized_graph.json,
 *                                   execution.json (the last one; .txt and .cbor for the other formats). A folder
 *                                   that is there already is never written to: the next is <module>_1, …
 *   ordinal                         of the device, for the events; 0
 *
 * A trace may be used by several threads. */
#ifndef POPULUS_EVENT_TRACE_H
#define POPULUS_EVENT_TRACE_H

#include <populus/executable.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_event_trace pop_event_trace;

/* INVALID_OPTION: an unknown key, a value that it does not take, a key twice, text and CBOR at once. */
POP_MUST_CHECK pop_error *pop_event_trace_create(const pop_option *options, size_t num_options,
                                                 pop_event_trace **trace);
/* NULL is fine. Executables and engines that record into it keep it. */
void pop_event_trace_free(pop_event_trace *trace);

/* As pop_compile_graph, recorded; so is what engines do that are made from the executable. The module's name is
 * that of the first program, or "module". Options of profile_execution come before `options`: what those or the
 * environment say counts. Errors: those of pop_compile_graph; SYSTEM if a report cannot be written. */
POP_MUST_CHECK pop_error *pop_event_trace_compile_graph(
    pop_event_trace *trace, pop_graph *graph, const pop_program *programs, size_t num_programs,
    const pop_option *options, size_t num_options, pop_executable **executable);
/* What engines do that are made from a loaded executable from now on is recorded, under the name. INVALID_ARGUMENT
 * if it is recorded already. */
POP_MUST_CHECK pop_error *pop_event_trace_add_executable(pop_event_trace *trace,
                                                         pop_executable *executable,
                                                         const char *module_name);

/* ---- what has happened ---- */

typedef enum pop_trace_event_type {
  POP_TRACE_COMPILE_BEGIN = 1, /* the numbers of event_trace.proto */
  POP_TRACE_COMPILE_END,
  POP_TRACE_LOAD_ENGINE,
  POP_TRACE_EXECUTE
} pop_trace_event_type;

/* Bytes with a zero behind them that is not counted; never NULL. */
typedef struct pop_trace_text {
  const char *data;
  size_t size;
} pop_trace_text;

typedef struct pop_trace_event {
  pop_trace_event_type type;
  double timestamp; /* seconds since 1970, UTC */
  int32_t ordinal;
  int64_t duration; /* microseconds; 0 for COMPILE_BEGIN */
  const char *module_name;
  const char *program; /* EXECUTE; otherwise "" */
  pop_trace_text
      report; /* COMPILE_END, EXECUTE: JSON, CBOR or text, or the path of the file; or empty */
  /* COMPILE_END: {"mappings": {program: [[variable, ordinal, shape, type, has constants, has aliases, elements,
   * [[tile, elements], …]], …], …}}, of the variables and handles that the program touches. Without name:
   * "<anon>"; `ordinal` counts those of one name. */
  pop_trace_text tensor_map;
  /* COMPILE_END: {"ml_types": {compute set: type}}, of the compute sets with matrix products: 2 forward pass, 3
   * gradient of the input, 4 gradient of the filter, by a part Fwd, Bwd or Wu of their names; otherwise 1,
   * or 0 if there are such parts elsewhere in the graph. */
  pop_trace_text instruction_info;
  pop_trace_text graph; /* COMPILE_END: JSON, or the path of the file; or empty */
  const char *error;    /* COMPILE_END, EXECUTE: what went wrong; otherwise "" */
} pop_trace_event;

typedef struct pop_trace_events pop_trace_events;

/* All events since the last call, in order; the caller's to free. */
pop_trace_events *pop_event_trace_fetch(pop_event_trace *trace);
void pop_trace_events_free(pop_trace_events *events); /* NULL is fine */
size_t pop_trace_events_count(const pop_trace_events *events);
/* Lives as long as the events; NULL if there is no such number. */
const pop_trace_event *pop_trace_events_at(const pop_trace_events *events, size_t index);

/* Messages IpuTraceEvent of event_trace.proto (installed beside this header), each behind its length as a varint.
 * SYSTEM if the stream cannot be written; INVALID_ARGUMENT for an event of 2 GiB or more, which protobuf cannot have. */
POP_MUST_CHECK pop_error *pop_trace_events_write(const pop_trace_events *events, FILE *stream);
/* For people: a line for each event, with its report below. SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_trace_events_print(const pop_trace_events *events, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
