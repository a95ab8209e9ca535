/* What view_gather.c (which finds pieces) and view.c (which keeps them) share. */
#ifndef GRAPH_VIEW_SCRATCH_H
#define GRAPH_VIEW_SCRATCH_H

#include "graph/graph.h"

enum {
  RECENT = 1024,        /* slots of the memories of shapes and loops; a power of two */
  MOST_PIECES = 1 << 26 /* of one view: 2 GiB */
};

typedef struct recent_shape {
  const size_t *shape;
  size_t rank;
} recent_shape;

struct view_scratch {
  /* The pieces of the view that is being made: a stack, so that the last ones can be merged.
   * first_dim is an index in the `dims` here; `start` is not set yet. */
  GRAPH_ARRAY(view_piece, pieces);
  GRAPH_ARRAY(view_dim, dims);
  uint32_t replication;
  bool too_many; /* more than MOST_PIECES: nothing more is collected */
  /* Most tensors look like one that was made shortly before. By hash of the content: where equal
   * loops are in graph->dims, and where equal shapes are in the arena. */
  size_t recent_dims[RECENT];
  recent_shape recent_shapes[RECENT];
};

/* Two loops can be merged if the outer one continues where the inner one ends. */
static inline bool view_loops_join(view_dim outer, view_dim inner)
{
  int64_t end;
  return !__builtin_mul_overflow((int64_t)inner.count, inner.stride, &end) && outer.stride == end;
}

/* Adds a piece. `dims` need not be canonical. */
void view_add_piece(struct view_scratch *scratch, uint32_t variable, uint64_t base,
                    const view_dim *dims, size_t num_dims);

#endif
