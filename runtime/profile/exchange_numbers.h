/* The numbers that exchanges have in profiles: those within IPUs, those between IPUs or replicas, and those with the
 * host count by themselves. */
#ifndef PROFILE_EXCHANGE_NUMBERS_H
#define PROFILE_EXCHANGE_NUMBERS_H

#include "executable/executable.h"

typedef struct exchange_numbers {
  uint32_t *of_exchange; /* by exchange of the executable */
  /* By event: exchanges with streams and remote buffers, then what the host looks at (prints, comparisons);
   * NONE: an abort moves nothing. */
  uint32_t *of_event;
  uint32_t *events; /* those that have a number, by it */
  uint32_t num_internal, num_external, num_host;
} exchange_numbers;

exchange_numbers exchange_numbers_new(const pop_executable *e);
void exchange_numbers_free(exchange_numbers *n);

#endif
