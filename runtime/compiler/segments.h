/* Tensors as memory: the elements of a view in order, as runs of bytes on tiles. */
#ifndef COMPILER_SEGMENTS_H
#define COMPILER_SEGMENTS_H

#include "compiler/compilation.h"

typedef host_run segment; /* consecutive bytes on one tile */

typedef struct segment_walk {
  const compilation *c;
  view_walk view;
  view_run run;               /* rest of the current run */
  size_t interval;            /* in c->intervals: the interval of the last element */
  uint32_t interval_variable; /* variable of `interval`; COMPILER_NONE: none yet */
  uint32_t element_bytes;
  bool has_pending;
  segment pending; /* found, but the next one may extend it */
} segment_walk;

void segment_walk_start(segment_walk *walk, const compilation *c, uint32_t tensor);
bool segment_walk_next(segment_walk *walk, segment *out); /* neighbours are merged */

/* The number of an element's interval in c->intervals. */
size_t find_interval_number(const compilation *c, uint32_t variable, uint64_t element);

#endif
