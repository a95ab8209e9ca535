/* Events on their way from engines to the program that fetches them. */
#ifndef EVENTS_EVENT_TRACE_H
#define EVENTS_EVENT_TRACE_H

#include "base/object.h"
#include "events/trace_options.h"
#include <populus/arena.h>
#include <populus/event_trace.h>

/* Seconds since 1970; microseconds of a monotonic clock. */
typedef struct event_time {
  double seconds;
  int64_t microseconds;
} event_time;
event_time event_now(void);

const trace_options *event_trace_options(const pop_event_trace *trace);
pop_event_trace *event_trace_retain(pop_event_trace *trace);
void event_trace_release(pop_event_trace *trace);
/* Is anything to be recorded? */
bool event_trace_is_on(const pop_event_trace *trace);

/* An event of the type, with empty texts. Texts are allocated with malloc and freed with the
 * event. */
pop_trace_event event_new(pop_trace_event_type type, const char *module_name);
void event_free(pop_trace_event *event);
void event_set_text(const char **text, const char *value);
/* Takes the bytes. */
void event_take_bytes(pop_trace_text *text, pop_bytes *bytes);
/* Takes ownership of the event. COMPILE_BEGIN ends when it begins. */
void event_trace_add(pop_event_trace *trace, pop_trace_event *event, event_time begun,
                     event_time ended);

#endif
