/* The rest of the program for the calls that wrong_calls.py makes:
 * tests/unit/engine/wrong_calls.c. */
#ifndef POPULUS_TEST_WRONG_CALLS_H
#define POPULUS_TEST_WRONG_CALLS_H

#include <populus/debug_stream.h>
#include <populus/model.h>
#include <populus/popnn_norm.h>
#include <populus/popnn_pooling.h>
#include <populus/popops_slice.h>
#include <populus/popops_sort.h>
#include <populus/poprand.h>
#include <populus/populus.h>
#include <populus/solver.h>

#include <stdbool.h>
#include <stdio.h>

/* One of each kind. */
typedef struct call_arguments {
  pop_graph *graph;
  pop_engine *engine;
  pop_executable *executable;
  pop_device *device;
  pop_device_manager *manager;
  pop_event_trace *trace;
  pop_trace_events *events;
  pop_model *model;
  pop_solver *solver;
  pop_tensor tensor;
  pop_vertex vertex;
  pop_compute_set compute_set;
  pop_program program;
  pop_function function;
  pop_stream stream;
  pop_remote_buffer remote_buffer;
  pop_host_function host_function;
} call_arguments;

extern call_arguments freed, good;
extern char room[1 << 16]; /* zeros, for pointers to other things */
extern FILE *sink;

/* What a call must leave behind. */
typedef enum call_result { NOTHING, AN_ERROR, GRAPH_ERROR } call_result;
typedef struct wrong_call {
  void (*make)(void);
  const char *name, *with;
  call_result expects;
} wrong_call;
extern const wrong_call wrong_calls[];
extern const size_t num_wrong_calls;

void got_error(pop_error *error); /* the call's; takes it */

#endif
