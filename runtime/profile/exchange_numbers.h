/* The numbers of exchanges in profiles. Exchanges within IPUs, between IPUs or replicas, and with
 * the host are numbered separately. */
#ifndef PROFILE_EXCHANGE_NUMBERS_H
#define PROFILE_EXCHANGE_NUMBERS_H

#include "executable/executable.h"

typedef struct exchange_numbers {
  uint32_t *of_exchange; /* by number in the executable */
  /* By event: first exchanges with streams and remote buffers, then tensors that the host reads
   * (prints, comparisons). EXECUTABLE_NONE for an abort, which moves nothing. */
  uint32_t *of_event;
  uint32_t *events; /* the event of each host exchange */
  uint32_t num_internal, num_external, num_host;
} exchange_numbers;

exchange_numbers exchange_numbers_new(const pop_executable *e);
void exchange_numbers_free(exchange_numbers *n);

#endif
