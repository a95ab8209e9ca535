/* Options of event traces, which populus/event_trace.h documents. */
#ifndef EVENTS_TRACE_OPTIONS_H
#define EVENTS_TRACE_OPTIONS_H

#include <populus/engine.h>
#include <stdint.h>

typedef enum execution_profile_type {
  NO_EXECUTION_PROFILE,
  DEVICE_PROFILE,
  IPU_PROFILE,
  TILE_PROFILE
} execution_profile_type;

typedef struct trace_options {
  bool profiling, events, text_report, cbor_report, serialized_graph;
  execution_profile_type execution;
  uint64_t report_every; /* nth execution; 0: all */
  uint64_t max_report_bytes;
  uint64_t ordinal;
  char *report_directory; /* owned; NULL: reports are in the events */
} trace_options;

/* Errors: INVALID_OPTION. Free *parsed after an error, too. */
POP_MUST_CHECK pop_error *trace_options_parse(const pop_option *options, size_t num_options,
                                              trace_options *parsed);
void trace_options_free(trace_options *options);

#endif
