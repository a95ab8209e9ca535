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
 *     MULTI_COMPUTE(MyVertex)       on all workers: bool compute(MyVertex *vertex, unsigned worker)
 *     SUPERVISOR_COMPUTE(MyVertex)  on the supervisor: bool compute(MyVertex *vertex)
 *
 * A vertex is a plain struct and a function. popc finds the struct through COMPUTE, and the kinds
 * of its fields through the annotations that INPUT, OUTPUT and INOUT leave on them.
 *
 * A supervisor vertex can start workers itself: populus/workers.h.
 *
 * What else a field can be (other layouts, rows, data of the vertex itself) is in populus/fields.h.
 */
#ifndef POPULUS_VERTEX_H
#define POPULUS_VERTEX_H

#ifdef __cplusplus
#error "in C++ a vertex is a class derived from poplar::Vertex, of <poplar/Vertex.hpp>"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef _Float16 half;

#include <populus/fields.h>

/* compute(vertex) on one worker; on every worker of the tile, each with its number `worker`, 0 to
 * NUM_WORKERS - 1; on the supervisor, while no worker of the tile runs. */
#define COMPUTE(type)                                                                              \
  POPULUS_COMPUTE(type, "worker", (type * vertex), (void *populus_state), (populus_state))
#define MULTI_COMPUTE(type)                                                                        \
  POPULUS_COMPUTE(type, "multi", (type * vertex, unsigned worker),                                 \
                  (void *populus_state, unsigned populus_worker), (populus_state, populus_worker))
#define SUPERVISOR_COMPUTE(type)                                                                   \
  POPULUS_COMPUTE(type, "supervisor", (type * vertex), (void *populus_state, void *populus_stub),  \
                  (POPULUS_ENTER(populus_state, populus_stub)))
#define NUM_WORKERS 6u

/* How it works; __inline__, because -ansi and -std=c90 know no inline. */

/* populus/workers.h keeps the stub. */
#ifndef POPULUS_ENTER
#define POPULUS_ENTER(state, stub) ((void)(stub), (state))
#endif

/* Defines the entry that the tile calls, then begins the author's function. The typedef tells popc
 * the vertex type and its kind. */
#define POPULUS_COMPUTE(type, kind, parameters, entry_parameters, arguments)                       \
  typedef type populus_vertex_##type __attribute__((annotate("populus:" kind)));                   \
  static __inline__ bool populus_compute_##type parameters __attribute__((always_inline));         \
  bool __runCodelet_##type entry_parameters;                                                       \
  bool __runCodelet_##type entry_parameters                                                        \
  {                                                                                                \
    return populus_compute_##type arguments;                                                       \
  }                                                                                                \
  static __inline__ bool populus_compute_##type parameters

#endif
