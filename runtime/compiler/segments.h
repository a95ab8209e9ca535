/* Tensors as memory: the elements of a view in order, as runs of bytes on tiles. */
#ifndef COMPILER_SEGMENTS_H
#define COMPILER_SEGMENTS_H

#include "compiler/compilation.h"

typedef host_run segment; /* consecutive bytes on one tile */

typedef struct segment_walk {
  const compilation *c;
  view_walk view;
  view_run run;               /* what is left of the current run */
  size_t interval;            /* in c->intervals, where the last element was found */
  uint32_t interval_variable; /* whose `interval` is; COMPILER_NONE: none yet */
  uint32_t element_bytes;
  bool has_pending;
  segment pending; /* found, but it may go on */
} segment_walk;

void segment_walk_start(segment_walk *walk, const compilation *c, uint32_t tensor);
bool segment_walk_next(segment_walk *walk, segment *out); /* neighbours are merged */

/* Of a placed element: the number of its interval in c->intervals. */
size_t find_interval_number(const compilation *c, uint32_t variable, uint64_t element);

#endif
