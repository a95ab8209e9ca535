#include "events/event_trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct pop_trace_events {
  object base;
  pop_trace_event *events; /* with their texts */
  size_t count, capacity;
};

struct pop_event_trace {
  object base;
  trace_options options;
  pthread_mutex_t lock; /* for the fields below */
  pop_trace_events *waiting;
};

event_time event_now(void)
{
  struct timespec wall, steady;
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  return (event_time){(double)wall.tv_sec + 1e-9 * (double)wall.tv_nsec,
                      steady.tv_sec * 1000000 + steady.tv_nsec / 1000};
}

/* ---- traces ---- */

pop_error *pop_event_trace_create(const pop_option *options, size_t num_options,
                                  pop_event_trace **trace)
{
  trace_options parsed;
  POP_TRY(object_check_argument(trace, "the trace to make", __func__));
  *trace = NULL;
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  POP_TRY(trace_options_parse(options, num_options, &parsed));
  pop_event_trace *made = object_new(OBJECT_EVENT_TRACE, sizeof *made);
  made->options = parsed;
  pthread_mutex_init(&made->lock, NULL);
  made->waiting = object_new(OBJECT_TRACE_EVENTS, sizeof *made->waiting);
  *trace = made;
  return NULL;
}

pop_event_trace *event_trace_retain(pop_event_trace *trace)
{
  object_hold(&trace->base);
  return trace;
}

static void destroy(pop_event_trace *trace)
{
  pop_trace_events_free(trace->waiting);
  pthread_mutex_destroy(&trace->lock);
  trace_options_free(&trace->options);
  object_delete(&trace->base);
}

void event_trace_release(pop_event_trace *trace)
{
  if (object_drop(&trace->base)) destroy(trace);
}

void pop_event_trace_free(pop_event_trace *trace)
{
  if (object_release(trace, OBJECT_EVENT_TRACE, __func__)) destroy(trace);
}

const trace_options *event_trace_options(const pop_event_trace *trace)
{
  return &trace->options;
}

bool event_trace_is_on(const pop_event_trace *trace)
{
  const trace_options *options = &trace->options;
  return options->events || options->profiling || options->execution != NO_EXECUTION_PROFILE;
}

/* ---- events ---- */

static char *const no_text = "";

static void free_text(const char *text)
{
  if (text != no_text) free((char *)text);
}

void event_set_text(const char **text, const char *value)
{
  free_text(*text);
  *text = pop_xstrdup(value);
}

void event_take_bytes(pop_trace_text *text, pop_bytes *bytes)
{
  size_t size = bytes->size;
  pop_bytes_append(bytes, "", 1);
  free_text(text->data);
  *text = (pop_trace_text){(char *)bytes->data, size};
  *bytes = (pop_bytes){0};
}

pop_trace_event event_new(pop_trace_event_type type, const char *module_name)
{
  const pop_trace_text none = {no_text, 0};
  return (pop_trace_event){.type = type,
                           .module_name = pop_xstrdup(module_name),
                           .program = no_text,
                           .report = none,
                           .tensor_map = none,
                           .instruction_info = none,
                           .graph = none,
                           .error = no_text};
}

void event_free(pop_trace_event *event)
{
  const char *const texts[] = {
      event->module_name,           event->program,    event->report.data, event->tensor_map.data,
      event->instruction_info.data, event->graph.data, event->error};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free_text(texts[i]);
}

void event_trace_add(pop_event_trace *trace, pop_trace_event *event, event_time begun,
                     event_time ended)
{
  event->ordinal = (int32_t)trace->options.ordinal;
  event->timestamp = ended.seconds;
  event->duration = ended.microseconds - begun.microseconds;
  pthread_mutex_lock(&trace->lock);
  pop_trace_events *waiting = trace->waiting;
  pop_push(waiting->events, waiting->count, waiting->capacity, *event);
  pthread_mutex_unlock(&trace->lock);
}

pop_trace_events *pop_event_trace_fetch(pop_event_trace *trace)
{
  if (!object_there(trace, OBJECT_EVENT_TRACE, __func__)) return NULL;
  pop_trace_events *empty = object_new(OBJECT_TRACE_EVENTS, sizeof *empty);
  pthread_mutex_lock(&trace->lock);
  pop_trace_events *fetched = trace->waiting;
  trace->waiting = empty;
  pthread_mutex_unlock(&trace->lock);
  return fetched;
}

void pop_trace_events_free(pop_trace_events *events)
{
  if (!object_release(events, OBJECT_TRACE_EVENTS, __func__)) return;
  for (size_t i = 0; i < events->count; i++) event_free(&events->events[i]);
  free(events->events);
  object_delete(&events->base);
}

size_t pop_trace_events_count(const pop_trace_events *events)
{
  if (!object_there(events, OBJECT_TRACE_EVENTS, __func__)) return 0;
  return events->count;
}

const pop_trace_event *pop_trace_events_at(const pop_trace_events *events, size_t index)
{
  if (!object_there(events, OBJECT_TRACE_EVENTS, __func__)) return NULL;
  return index < events->count ? &events->events[index] : NULL;
}
