#include "profile/exchange_numbers.h"

#include <stdlib.h>

exchange_numbers exchange_numbers_new(const pop_executable *e)
{
  exchange_numbers n = {.of_exchange = pop_xcalloc(e->num_exchanges + 1, sizeof *n.of_exchange),
                        .of_event = pop_xcalloc(e->num_events + 1, sizeof *n.of_event),
                        .events = pop_xcalloc(e->num_events + 1, sizeof *n.events)};
  for (size_t i = 0; i < e->num_exchanges; ++i)
    n.of_exchange[i] = e->exchanges[i].zone ? n.num_external++ : n.num_internal++;
  for (size_t i = 0; i < e->num_events; ++i)
    n.of_event[i] = e->events[i].kind == EXECUTABLE_EVENT_EXCHANGE ? n.num_host++ : EXECUTABLE_NONE;
  for (size_t i = 0; i < e->num_events; ++i)
    if (e->events[i].kind == EXECUTABLE_EVENT_PRINT ||
        e->events[i].kind == EXECUTABLE_EVENT_ASSUME_EQUAL)
      n.of_event[i] = n.num_host++;
  for (uint32_t i = 0; i < e->num_events; ++i)
    if (n.of_event[i] != EXECUTABLE_NONE) n.events[n.of_event[i]] = i;
  return n;
}

void exchange_numbers_free(exchange_numbers *n)
{
  free(n->of_exchange);
  free(n->of_event);
  free(n->events);
}
