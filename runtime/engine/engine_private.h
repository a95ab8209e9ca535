/* The parts of an engine: an executable, and the machines or the CPU that run it. Between
 * executable and machine there are only tile images and addresses. */
#ifndef ENGINE_ENGINE_PRIVATE_H
#define ENGINE_ENGINE_PRIVATE_H

#include "cpu/cpu.h"
#include "device/device.h"
#include "engine/callback_threads.h"
#include "engine/execution_profile.h"
#include "engine/host_functions.h"
#include "engine/remote_buffers.h"
#include "engine/streams.h"
#include "executable/executable.h"
#include "graph/print_format.h"
#include "machine/machine.h"
#include "options/options.h"
#include <populus/names.h>
#include <pthread.h>
#include <stdatomic.h>

typedef enum engine_state {
  ENGINE_COMPILED, /* not loaded, or load failed */
  ENGINE_LOADED,   /* the tiles wait for a program */
  ENGINE_FAULTED   /* a run ended in an error: memory can be read, nothing can be run */
} engine_state;

typedef struct device_print device_print;
typedef struct exchange_run exchange_run;

/* A machine with the executable's images, and the host's side of it. A replica of another rank has
 * only the streams: the host's side is the same on all ranks (replicas.c). */
typedef struct replica {
  machine *machine; /* NULL: on the CPU */
  cpu *cpu;         /* NULL: on tiles */
  device_print *device_print;
  streams *streams;
  remote_buffers *remote_buffers;
} replica;

/* What ranks tell each other whenever their replicas have reached a host sync, or a sync of all
 * replicas. */
typedef struct run_state {
  uint64_t latest;           /* cycle in which the last tile has reached it */
  uint64_t instructions;     /* of all replicas */
  machine_counters counters; /* of replica 0 */
  uint32_t event;
  uint32_t exchange; /* if the event is a copy between replicas: machine_cached_exchange */
} run_state;

struct pop_engine {
  object base;
  pop_executable *executable; /* retained */
  /* The executable's when the engine was made: records what it does. NULL: nothing does. */
  struct traced_module *traced;
  pop_device *device; /* retained; NULL: the machine is the engine's own */
  replica *replicas;
  uint32_t num_replicas;    /* at least 1 */
  ranks *ranks;             /* that share the replicas; alone unless the graph is replicated */
  uint32_t first, num_own;  /* the replicas of this rank */
  _Atomic uint64_t images;  /* hash of the loaded images */
  run_state merged;         /* of all ranks, at their last meeting */
  uint32_t num_threads;     /* that load images; 0: as many as the process may use */
  bool on_cpu;              /* otherwise on tiles */
  bool prefetch;            /* may call callbacks of streams early */
  uint64_t max_host_memory; /* bytes; 0: no limit */
  double host_sync_timeout; /* seconds from one host sync to the next on the CPU; 0: no limit */
  callback_threads *callback_threads; /* of streams; NULL: they run on the run's thread */
  execution_profile *profile;         /* NULL: nothing is instrumented */
  char *profile_folder;               /* where it is written after a run; NULL: it is not */
  bool writes_page;                   /* report.html, beside it */
  pop_profile_format profile_format;  /* its format there */
  uint64_t reported_runs;             /* number of runs still to be reported */
  engine_state state;
  pop_name_table handles[2];      /* for writing, for reading: numbers of tensors */
  FILE *print_stream;             /* NULL: standard error */
  FILE *trace_file;               /* debug.trace's; NULL: the stream above */
  host_function *host_functions;  /* that have callbacks of streams */
  atomic_int use;                 /* use.c, these three */
  pthread_t runner;               /* the thread that uses it, while it is in use */
  _Atomic(char *) callback_frame; /* stack frame of the call that calls callbacks; NULL: none */
  exchange_run *exchange;         /* host_exchange.c: the current exchange; NULL: none */
  bool was_abandoned;             /* a callback of the last run did not return */
  atomic_bool runs, stopped;      /* pop_engine_stop; `stopped`: of the current run */
};

/* engine.c: is the engine loaded? `what` is for messages: "cannot run: …". */
POP_MUST_CHECK pop_error *engine_check_loaded(const pop_engine *engine, const char *what);

/* engine.c: retains the executable. */
POP_MUST_CHECK pop_error *engine_new(pop_executable *executable, const run_options *options,
                                     pop_engine **engine);

/* engine.c */
void engine_destroy(pop_engine *engine);

/* use.c: a call that needs the engine exclusively is between enter and leave. enter fails, saying
 * `what` it cannot do, if another call uses the engine. leave returns its argument; the engine may
 * be freed after it. */
POP_MUST_CHECK pop_error *engine_enter(pop_engine *engine, const char *what);
POP_MUST_CHECK pop_error *engine_leave(pop_engine *engine, pop_error *error);
/* If the engine is in use, returns true: leave will destroy it. Otherwise the caller must destroy
 * it. */
bool engine_free_later(pop_engine *engine);
/* Callbacks of the program are called between these two calls, by their caller or a function that
 * it calls. */
void engine_enter_callbacks(pop_engine *engine);
void engine_leave_callbacks(pop_engine *engine);
/* An error if the engine is to be freed. */
POP_MUST_CHECK pop_error *engine_check_wanted(const pop_engine *engine);

/* host_access.c: an error if the replica has no such stream, or if it is broadcast. */
POP_MUST_CHECK pop_error *engine_check_own_stream(pop_engine *engine, const char *call,
                                                  const char *handle, uint32_t replica);
/* Like pop_engine_connect_replica_stream_callback, inside a call that has entered the engine.
 * Callbacks with the same `user`, if it is not NULL, are never called at the same time. */
POP_MUST_CHECK pop_error *engine_connect_callback(pop_engine *engine, const char *handle,
                                                  uint32_t replica,
                                                  const pop_stream_callback *callback,
                                                  const void *user);

/* replicas.c: makes a machine for each replica of the executable. The engine owns each one right
 * away. */
POP_MUST_CHECK pop_error *replicas_create(pop_engine *engine, const run_options *options);
void replicas_free(pop_engine *engine);
/* Loads all of them, after all ranks have agreed that they load the same program. Then they wait
 * for a program number. */
POP_MUST_CHECK pop_error *replicas_load(pop_engine *engine);
/* On the CPU, which is told the program. Tiles ask for it instead. */
void replicas_start_on_cpu(pop_engine *engine, size_t program);
/* Runs all of them to the next host sync, at which each must report the same event. `before`: an
 * error of what was done since the last host sync. It is taken and returned, and the other ranks
 * are told of it. */
POP_MUST_CHECK pop_error *replicas_run(pop_engine *engine, pop_error *before, uint32_t answer,
                                       uint32_t *event);
/* Does this rank have the replica? */
bool replicas_has(const pop_engine *engine, uint32_t replica);
/* The counters of replica 0; the instructions of all replicas. On any rank. */
machine_counters replicas_counters(const pop_engine *engine);
uint64_t replicas_instructions(const pop_engine *engine);
/* replicas_stop: makes the run of all of them end soon. replicas_clear_stop: lets them run
 * again. */
void replicas_stop(pop_engine *engine);
void replicas_clear_stop(pop_engine *engine);
/* If `error` is due to a fault of the machine, returns the fault in the user's words. Nothing can
 * be run then. */
pop_error *replicas_report_fault(pop_engine *engine, uint32_t replica, pop_error *error);
FILE *engine_print_stream(const pop_engine *engine);

/* same_program.c: adds an image that is being loaded, on any thread. */
void engine_note_image(pop_engine *engine, const pop_image *image);
/* All ranks call this after loading, each with its own error or NULL. RUNTIME, naming two ranks, if
 * they have loaded different programs. */
POP_MUST_CHECK pop_error *engine_check_same(pop_engine *engine, pop_error *own);

/* memory_limit.c: MEMORY, naming both, if the engine needs more than its limit. */
POP_MUST_CHECK pop_error *engine_check_memory(const pop_engine *engine);

/* estimates.c: sets the estimates of vertices, on loaded machines whose target asks for them. */
POP_MUST_CHECK pop_error *engine_set_estimates(pop_engine *engine);

/* host_access.c: fills the tables of handles. */
void engine_name_handles(pop_engine *engine);

/* tensor_access.c: reads or writes a tensor's elements on the tiles of a replica, row-major; `size`
 * must fit. */
POP_MUST_CHECK pop_error *engine_read_host_tensor(const pop_engine *engine, uint32_t replica,
                                                  const executable_tensor *tensor, void *data);
POP_MUST_CHECK pop_error *engine_write_host_tensor(pop_engine *engine, uint32_t replica,
                                                   const executable_tensor *tensor,
                                                   const void *data);

/* tensor_access.c: reads the elements in all replicas, in their order, on all ranks. All ranks must
 * make this call, with their `own` error so far. */
POP_MUST_CHECK pop_error *engine_read_all_replicas(pop_engine *engine, pop_error *own,
                                                   const executable_tensor *tensor, void *data);

/* host_exchange.c: makes the host exchange of an event, in which the tiles wait. */
POP_MUST_CHECK pop_error *engine_host_exchange(pop_engine *engine, const executable_event *event);
/* Ends an exchange that a callback has left; otherwise does nothing. */
void engine_end_host_exchange(pop_engine *engine);

/* print_tensor.c: `title: {1,2}` and a newline. */
void print_tensor(FILE *stream, const char *title, pop_type type, const size_t *shape,
                  uint32_t rank, const void *data);

/* print_formatted.c: the same with a format. */
void print_tensor_formatted(FILE *stream, const char *title, const pop_print_format *format,
                            pop_type type, const size_t *shape, uint32_t rank, const void *data);
/* print_tensor.c, for both: prints "title: "; writes an element as text, floats by `float_format`
 * with `precision`. */
enum { ELEMENT_TEXT_SIZE = 400 };
void print_title(FILE *stream, const char *title);
void format_element(char text[ELEMENT_TEXT_SIZE], pop_type type, const uint8_t *at,
                    const char *float_format, int precision);

/* fault_report.c: the machine's fault, with names from metadata and the image's symbols. */
pop_error *engine_fault_report(const pop_engine *engine, uint32_t replica);

/* device_print.c: what codelets print. It is attached to the machine and collects the text of a
 * run. flush writes the complete lines; at the `end` of a run also the others, and how much was
 * dropped. It returns whether the run that ends has written anything. */
device_print *device_print_new(machine *machine, uint32_t num_tiles);
void device_print_free(device_print *print); /* NULL is fine */
bool device_print_flush(device_print *print, const pop_executable *executable, FILE *stream,
                        bool end);

/* device_format.c: appends the result of printf with a format and arguments in tile memory. */
void device_format(const machine *m, uint32_t tile, uint32_t format, uint32_t arguments,
                   pop_bytes *text);

#endif
