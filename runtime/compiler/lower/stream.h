/* Lowers the stream copies of a sequence, one after the other. */
#ifndef COMPILER_LOWER_STREAM_H
#define COMPILER_LOWER_STREAM_H

#include "compiler/lower/host_exchange.h"

typedef struct stream_lowering {
  host_draft group; /* copies that wait for more */
  host_draft part;  /* the part of the current copy that is being drafted */
} stream_lowering;

void lower_streams(compilation *c); /* those of the graph; called before any copy */
/* Lowers the next of adjacent copies. A draft that may be merged with the next copy is kept back
 * until lower_stream_end. Error: CONTROL_PROGRAM if the copy moves more than one exchange may
 * move. */
POP_MUST_CHECK pop_error *lower_stream_copy(stream_lowering *s, lowering *l, const program *copied,
                                            step_list *steps);
void lower_stream_end(stream_lowering *s, lowering *l, step_list *steps);
void stream_lowering_free(stream_lowering *s);

#endif
