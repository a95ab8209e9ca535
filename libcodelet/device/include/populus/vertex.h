/* Codelets in C.
 *
 *     #include <populus/vertex.h>
 *
 *     typedef struct {
 *       INPUT(VECTOR(float)) in;       in.data[i], in.size
 *       OUTPUT(float) out;             *out
 *       INOUT(VECTOR(int, ONE_PTR)) x; x[i]: the codelet knows the size from elsewhere
 *       float scale;                   a constant: the graph gives each vertex its value
 *     } MyVertex;
 *
 *     COMPUTE(MyVertex)                bool compute(MyVertex *vertex)
 *     {
 *       ...
 *       return true;
 *     }
 *
 * A vertex is a plain struct and a function. popc finds the struct through COMPUTE, and what its
 * fields are through the annotations that INPUT, OUTPUT and INOUT leave on them.
 *
 * What else a field can be (other layouts, rows, data of the vertex itself) is in populus/fields.h.
 */
#ifndef POPULUS_VERTEX_H
#define POPULUS_VERTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef _Float16 half;

#include <populus/fields.h>

/* Defines the entry that the tile calls, then begins the function that the codelet's author writes.
 * popc knows a vertex type by the typedef. */
#define COMPUTE(type)                                                                              \
  typedef type populus_vertex_##type __attribute__((annotate("populus:worker")));                  \
  static inline bool populus_compute_##type(type *vertex) __attribute__((always_inline));          \
  bool __runCodelet_##type(void *populus_state);                                                   \
  bool __runCodelet_##type(void *populus_state)                                                    \
  {                                                                                                \
    return populus_compute_##type((type *)populus_state);                                          \
  }                                                                                                \
  static inline bool populus_compute_##type(type *vertex)

/* How it works. */

#endif
