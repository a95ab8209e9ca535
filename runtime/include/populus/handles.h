/* What a graph gives out: small structs, passed by value. They belong to the graph
 * (populus/graph.h) and die with it. */
#ifndef POPULUS_HANDLES_H
#define POPULUS_HANDLES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_graph pop_graph;

/* A view: a shape over elements of variables. Index 0 is the null tensor (after an error). */
typedef struct pop_tensor {
  pop_graph *graph;
  uint32_t index;
} pop_tensor;

typedef struct pop_compute_set {
  pop_graph *graph;
  uint32_t index;
} pop_compute_set;

typedef struct pop_vertex {
  pop_graph *graph;
  uint32_t index;
} pop_vertex;

#ifdef __cplusplus
}
#endif
#endif
