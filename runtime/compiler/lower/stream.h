/* Stream copies, as they come in a sequence. */
#ifndef COMPILER_LOWER_STREAM_H
#define COMPILER_LOWER_STREAM_H

#include "compiler/lower/host_exchange.h"

typedef struct stream_lowering {
  host_draft group; /* copies that wait for more */
  host_draft part;  /* of the copy that is looked at */
} stream_lowering;

void lower_streams(compilation *c); /* the graph's streams, before any copy */
/* The next copy of a row of them. What can be merged with the next one is kept back until
 * lower_stream_end. Errors: CONTROL_PROGRAM for more than one exchange may move. */
POP_MUST_CHECK pop_error *lower_stream_copy(stream_lowering *s, lowering *l, const program *copied,
                                            step_list *steps);
void lower_stream_end(stream_lowering *s, lowering *l, step_list *steps);
void stream_lowering_free(stream_lowering *s);

#endif
