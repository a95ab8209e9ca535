/* Host exchanges: the windows that the host offers, and the work before and after.
 *
 * Stream copies that the compiler has merged are one exchange, but must look as if they were made
 * one after another. So if memory that is written also belongs to another window (streams may be
 * connected to the same memory), the data are written to a temporary buffer and copied to that
 * memory afterwards, in the order of the copies. */
#include "engine/engine_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The exchange of one replica. */
typedef struct exchange {
  const replica *of;
  const executable_window *facts;
  size_t count;
  machine_window *windows;
  uint8_t **staging; /* by window: temporary buffer in place of its memory, or NULL */
} exchange;

static uint64_t window_bytes(const machine_window *w)
{
  return w->record_bytes * w->num_records;
}

static bool share_memory(const machine_window *a, const machine_window *b)
{
  return a->memory < b->memory + window_bytes(b) && b->memory < a->memory + window_bytes(a);
}

static bool is_written(const pop_engine *engine, const executable_window *w)
{
  return !w->remote && !engine->executable->streams[w->object].to_device;
}

static bool reads_streams(const pop_engine *engine, const exchange *x)
{
  for (size_t i = 0; i < x->count; i++)
    if (!x->facts[i].remote && !is_written(engine, &x->facts[i])) return true;
  return false;
}

/* Decides which windows get a temporary buffer. With several ranks all do, so that what the
 * replicas write takes effect in their order. So do those of a replica if later replicas may read
 * where it writes. */
static void allocate_staging(const pop_engine *engine, exchange *x)
{
  bool all = engine->num_own < engine->num_replicas ||
             (engine->num_replicas > 1 && reads_streams(engine, x));
  for (size_t i = 0; i < x->count; i++) {
    if (!is_written(engine, &x->facts[i])) continue;
    bool shared = all;
    for (size_t j = 0; j < x->count && !shared; j++)
      shared = j != i && share_memory(&x->windows[i], &x->windows[j]);
    if (shared) x->staging[i] = pop_xcalloc(window_bytes(&x->windows[i]), 1);
  }
}

/* Does the window use the memory of replica 0's window, as broadcast streams do? */
static bool is_of_first(const pop_engine *engine, const exchange *x, const executable_window *w)
{
  return x->of != &engine->replicas[0] && !w->remote &&
         engine->executable->streams[w->object].broadcast;
}

/* ---- streams, of all replicas ---- */

/* A stream's window, and its error. */
typedef struct stream_window {
  exchange *of;
  size_t number; /* in its exchange */
  pop_error *error;
  size_t next;  /* next window of the same connection; 0: none */
  bool follows; /* it follows another window */
} stream_window;

/* The work on all stream windows, which calls their callbacks. */
typedef struct stream_work {
  const pop_engine *engine;
  pop_error *(*run)(const pop_engine *engine, exchange *x, size_t number);
  stream_window *windows; /* in the order of replicas and copies */
  size_t count, capacity;
  size_t *first; /* windows that wait for no other one */
  size_t num_first, first_capacity;
} stream_work;

static void free_work(stream_work *work)
{
  free(work->first);
  free(work->windows);
  *work = (stream_work){0};
}

/* Owned by the engine, since a callback may not return (use.c). */
struct exchange_run {
  exchange *all; /* by replica */
  uint32_t count;
  stream_work work;
};

/* Copies what was written to a temporary buffer to its place. */
static void flush_staging(exchange *x, size_t number)
{
  const machine_window *w = &x->windows[number];
  if (x->staging[number]) memcpy(w->memory, x->staging[number], window_bytes(w));
  free(x->staging[number]);
  x->staging[number] = NULL;
}

static pop_error *open_stream(const pop_engine *engine, exchange *x, size_t number)
{
  (void)engine;
  return streams_begin(x->of->streams, &x->facts[number], &x->windows[number].memory);
}

static pop_error *close_stream(const pop_engine *engine, exchange *x, size_t number)
{
  flush_staging(x, number);
  return streams_end(x->of->streams, &x->facts[number], x->windows[number].memory,
                     engine->prefetch);
}

static void add_stream_window(stream_work *work, exchange *x, size_t number)
{
  stream_window added = {.of = x, .number = number};
  pop_push(work->windows, work->count, work->capacity, added);
}

static const void *used_by(const stream_window *w)
{
  return streams_used_by(w->of->of->streams, w->of->facts[w->number].object);
}

/* Chains the windows of one connection, or of one context of callbacks: they are processed in
 * order. */
static void link_windows(stream_work *work)
{
  for (size_t i = 0; i < work->count; i++) {
    if (!work->windows[i].follows) pop_push(work->first, work->num_first, work->first_capacity, i);
    for (size_t j = i + 1; j < work->count && !work->windows[i].next; j++)
      if (used_by(&work->windows[i]) == used_by(&work->windows[j])) {
        work->windows[i].next = j;
        work->windows[j].follows = true;
      }
  }
}

static pop_error *run_window(const stream_work *work, stream_window *w)
{
  return w->error = work->run(work->engine, w->of, w->number);
}

static void run_chain(void *context, size_t item)
{
  const stream_work *work = context;
  for (size_t i = work->first[item]; !run_window(work, &work->windows[i]);) {
    i = work->windows[i].next;
    if (i == 0) return;
  }
}

/* Without callback threads, processes the windows in order on the run's thread, up to the first
 * failure. With them, processes independent chains at the same time. The error is that of the first
 * window with one. */
static pop_error *run_stream_work(stream_work *work)
{
  pop_error *error = NULL;
  if (work->engine->callback_threads) {
    link_windows(work);
    callback_threads_run(work->engine->callback_threads, run_chain, work, work->num_first);
  } else {
    for (size_t i = 0; i < work->count; i++)
      if (run_window(work, &work->windows[i])) break;
  }
  for (size_t i = 0; i < work->count; i++) {
    if (error)
      pop_error_free(work->windows[i].error);
    else
      error = work->windows[i].error;
  }
  free_work(work);
  return error;
}

/* ---- one exchange ---- */

/* Opens the windows, except the memory of streams. */
static void open_windows(exchange *x)
{
  for (size_t i = 0; i < x->count; i++) {
    const executable_window *w = &x->facts[i];
    machine_window *opened = &x->windows[i];
    opened->record_bytes = w->bytes;
    opened->num_records = w->records;
    if (!w->remote || !x->of->remote_buffers) continue; /* another rank's: not used here */
    opened->memory = remote_buffers_memory(x->of->remote_buffers, w);
    opened->name = remote_buffers_name(x->of->remote_buffers, w->object);
  }
}

static pop_error *open_streams(const pop_engine *engine, exchange_run *run)
{
  exchange *all = run->all;
  run->work = (stream_work){.engine = engine, .run = open_stream};
  for (uint32_t r = 0; r < engine->num_replicas; r++)
    for (size_t i = 0; i < all[r].count; i++)
      if (!all[r].facts[i].remote && !is_of_first(engine, &all[r], &all[r].facts[i]))
        add_stream_window(&run->work, &all[r], i);
  POP_TRY(run_stream_work(&run->work));
  for (uint32_t r = 1; r < engine->num_replicas; r++)
    for (size_t i = 0; i < all[r].count; i++)
      if (is_of_first(engine, &all[r], &all[r].facts[i]))
        all[r].windows[i].memory = all[0].windows[i].memory;
  return NULL;
}

static pop_error *close_streams(const pop_engine *engine, exchange_run *run)
{
  exchange *all = run->all;
  run->work = (stream_work){.engine = engine, .run = close_stream};
  for (uint32_t r = 0; r < engine->num_replicas; r++)
    for (size_t i = 0; i < all[r].count; i++) {
      if (all[r].facts[i].remote) continue;
      if (engine->callback_threads) flush_staging(&all[r], i);
      add_stream_window(&run->work, &all[r], i);
    }
  return run_stream_work(&run->work);
}

static pop_error *run_exchange(const pop_engine *engine, const exchange *x)
{
  machine_window *offered = pop_xcalloc(x->count + 1, sizeof *offered);
  for (size_t i = 0; i < x->count; i++) {
    offered[i] = x->windows[i];
    if (x->staging[i]) offered[i].memory = x->staging[i];
  }
  pop_error *error = engine->on_cpu ? cpu_host_exchange(x->of->cpu, offered, x->count)
                                    : machine_host_exchange(x->of->machine, offered, x->count);
  free(offered);
  return error;
}

static exchange new_exchange(const pop_engine *engine, const executable_event *event,
                             const replica *of)
{
  return (exchange){.of = of,
                    .facts = engine->executable->windows + event->first_window,
                    .count = event->num_windows,
                    .windows = pop_xcalloc(event->num_windows + 1, sizeof(machine_window)),
                    .staging = pop_xcalloc(event->num_windows + 1, sizeof(uint8_t *))};
}

static void free_exchange(exchange *x)
{
  for (size_t i = 0; i < x->count; i++) free(x->staging[i]);
  free(x->staging);
  free(x->windows);
}

static exchange_run *begin_run(pop_engine *engine, const executable_event *event)
{
  assert(
      !engine->exchange); /* the previous exchange has ended, or end_abandoned_run has ended it */
  exchange_run *run = engine->exchange = pop_xcalloc(1, sizeof *run);
  run->all = pop_xcalloc(engine->num_replicas, sizeof *run->all);
  for (; run->count < engine->num_replicas; run->count++) {
    run->all[run->count] = new_exchange(engine, event, &engine->replicas[run->count]);
    open_windows(&run->all[run->count]);
  }
  return run;
}

void engine_end_host_exchange(pop_engine *engine)
{
  exchange_run *run = engine->exchange;
  if (!run) return;
  engine_leave_callbacks(engine);
  for (uint32_t r = 0; r < run->count; r++) free_exchange(&run->all[r]);
  free_work(&run->work);
  free(run->all);
  free(run);
  engine->exchange = NULL;
}

/* ---- with other ranks ---- */

/* Copies all that the replicas of one rank write to streams, in the order of replicas and windows:
 * from the windows to `packed`, or from `packed` to the windows. */
static void move_written(const pop_engine *engine, exchange_run *run, uint32_t rank,
                         uint8_t *packed, bool pack)
{
  for (uint32_t r = rank * engine->num_own; r < (rank + 1) * engine->num_own; r++) {
    exchange *x = &run->all[r];
    for (size_t i = 0; i < x->count; i++) {
      if (!is_written(engine, &x->facts[i])) continue;
      size_t bytes = window_bytes(&x->windows[i]);
      memcpy(pack ? packed : x->staging[i], pack ? x->staging[i] : packed, bytes);
      packed += bytes;
    }
  }
}

static size_t count_written(const pop_engine *engine, const exchange *x)
{
  size_t bytes = 0;
  for (size_t i = 0; i < x->count; i++)
    if (is_written(engine, &x->facts[i])) bytes += window_bytes(&x->windows[i]);
  return bytes;
}

/* Brings what replicas have written to streams to the host's side of all ranks. */
static pop_error *share_written(const pop_engine *engine, exchange_run *run, pop_error *own)
{
  if (engine->num_own == engine->num_replicas) return own;
  size_t share = engine->num_own * count_written(engine, &run->all[0]);
  if (share == 0) return own; /* the next collective call tells the others of the error */
  uint32_t count = ranks_count(engine->ranks), mine = ranks_own(engine->ranks);
  uint8_t *all = pop_xcalloc(count, share);
  if (!own) move_written(engine, run, mine, all + mine * share, true);
  pop_error *error = ranks_gather(engine->ranks, "a copy from tiles to streams", own,
                                  all + mine * share, share, all);
  for (uint32_t i = 0; i < count && !error; i++)
    if (i != mine) move_written(engine, run, i, all + i * share, false);
  free(all);
  return error;
}

/* A broadcast stream has one memory for all replicas: it stays open until the last one has its
 * data. */
pop_error *engine_host_exchange(pop_engine *engine, const executable_event *event)
{
  uint32_t faulted = engine->first;
  exchange_run *run = begin_run(engine, event);
  engine_enter_callbacks(engine);
  pop_error *error = open_streams(engine, run);
  for (uint32_t r = 0; r < run->count && !error; r++) {
    allocate_staging(engine, &run->all[r]);
    if (!replicas_has(engine, r)) continue;
    error = run_exchange(engine, &run->all[r]);
    faulted = r;
  }
  error = share_written(engine, run, error);
  if (!error) error = close_streams(engine, run);
  engine_end_host_exchange(engine);
  return error ? replicas_report_fault(engine, faulted, error) : NULL;
}
