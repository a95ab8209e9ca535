/* Host exchanges: the windows that the host offers, and what is to be done before and after.
 *
 * Stream copies that the compiler has merged are one exchange, but must look as if they were made one after
 * another. So if memory that is written is also that of another window (streams may be connected to the
 * same memory), it is written aside and put there afterwards, in the order of the copies. */
#include "engine/engine_private.h"

#include <stdlib.h>
#include <string.h>

/* Of one replica. */
typedef struct exchange {
  const replica *of;
  const executable_window *facts;
  size_t count;
  machine_window *windows;
  uint8_t **aside; /* by window: what stands in for its memory, or NULL */
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

static void set_aside(const pop_engine *engine, exchange *x)
{
  for (size_t i = 0; i < x->count; i++) {
    if (!is_written(engine, &x->facts[i])) continue;
    bool shared = false;
    for (size_t j = 0; j < x->count && !shared; j++)
      shared = j != i && share_memory(&x->windows[i], &x->windows[j]);
    if (shared) x->aside[i] = pop_xcalloc(window_bytes(&x->windows[i]), 1);
  }
}

/* Replica 0's windows, which are open, have the memory of streams that are broadcast. */
static bool is_of_first(const pop_engine *engine, const exchange *x, const executable_window *w)
{
  return x->of != &engine->replicas[0] && !w->remote &&
         engine->executable->streams[w->object].broadcast;
}

static pop_error *open_windows(const pop_engine *engine, exchange *x, const exchange *first)
{
  for (size_t i = 0; i < x->count; i++) {
    const executable_window *w = &x->facts[i];
    machine_window *opened = &x->windows[i];
    opened->record_bytes = w->bytes;
    opened->num_records = w->records;
    if (w->remote) {
      opened->memory = remote_buffers_memory(x->of->remote_buffers, w);
      opened->name = remote_buffers_name(x->of->remote_buffers, w->object);
    } else if (is_of_first(engine, x, w)) {
      opened->memory = first->windows[i].memory;
    } else {
      POP_TRY(streams_begin(x->of->streams, w, &opened->memory));
    }
  }
  return NULL;
}

static pop_error *run_exchange(const pop_engine *engine, const exchange *x)
{
  machine_window *offered = pop_xcalloc(x->count + 1, sizeof *offered);
  for (size_t i = 0; i < x->count; i++) {
    offered[i] = x->windows[i];
    if (x->aside[i]) offered[i].memory = x->aside[i];
  }
  pop_error *error = engine->on_cpu ? cpu_host_exchange(x->of->cpu, offered, x->count)
                                    : machine_host_exchange(x->of->machine, offered, x->count);
  free(offered);
  return error;
}

static pop_error *close_windows(pop_engine *engine, exchange *x)
{
  for (size_t i = 0; i < x->count; i++) {
    machine_window *w = &x->windows[i];
    if (x->aside[i]) memcpy(w->memory, x->aside[i], window_bytes(w));
    if (!x->facts[i].remote)
      POP_TRY(streams_end(x->of->streams, &x->facts[i], w->memory, engine->prefetch));
  }
  return NULL;
}

static exchange new_exchange(const pop_engine *engine, const executable_event *event,
                             const replica *of)
{
  return (exchange){.of = of,
                    .facts = engine->executable->windows + event->first_window,
                    .count = event->num_windows,
                    .windows = pop_xcalloc(event->num_windows + 1, sizeof(machine_window)),
                    .aside = pop_xcalloc(event->num_windows + 1, sizeof(uint8_t *))};
}

static void free_exchange(exchange *x)
{
  for (size_t i = 0; i < x->count; i++) free(x->aside[i]);
  free(x->aside);
  free(x->windows);
}

/* Streams that are broadcast have one memory for all replicas: it is open until the last one has it. */
pop_error *engine_host_exchange(pop_engine *engine, const executable_event *event)
{
  uint32_t count = engine->num_replicas, faulted = 0;
  exchange *all = pop_xcalloc(count, sizeof *all);
  pop_error *error = NULL;
  for (uint32_t r = 0; r < count; r++) all[r] = new_exchange(engine, event, &engine->replicas[r]);
  for (uint32_t r = 0; r < count && !error; r++) error = open_windows(engine, &all[r], &all[0]);
  for (uint32_t r = 0; r < count && !error; r++) {
    if (all[r].count > 1) set_aside(engine, &all[r]);
    error = run_exchange(engine, &all[r]);
    faulted = r;
  }
  for (uint32_t r = 0; r < count && !error; r++) error = close_windows(engine, &all[r]);
  for (uint32_t r = 0; r < count; r++) free_exchange(&all[r]);
  free(all);
  return error ? replicas_report_fault(engine, faulted, error) : NULL;
}
