/* Words for messages. The strings are in the graph's arena. */
#ifndef GRAPH_DESCRIBE_H
#define GRAPH_DESCRIBE_H

#include "graph/graph.h"

/* 'name', cut after 100 bytes; NULL and "" are "(no name)". */
const char *say_name(pop_graph *graph, const char *name);
const char *say_shape(pop_graph *graph, const size_t *shape, size_t rank); /* {4,3} */
/* "float tensor {4,3} of 'v1' and others" */
const char *say_tensor(pop_graph *graph, const tensor *t);
const char *say_vertex(pop_graph *graph, uint32_t vertex); /* "vertex 17 (SumVertex in 'cs')" */
/* "the target has the tiles 0 to 3", "the virtual graph has …" */
const char *say_tiles(const pop_graph *graph_or_view);
/* "; did you mean 'a' or 'b'?", else "; there are 'a', 'b', 'c' …", or "" without names. */
const char *say_alternatives(pop_graph *graph, const char *name, const char *const *names,
                             size_t count);

#endif
