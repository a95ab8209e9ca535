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
 * VECTOR(type, layout, alignment, interleaved): layout is SPAN (pointer and size, the default) or
 * ONE_PTR (pointer only); alignment in bytes that the data must have (0: what the type needs);
 * interleaved is 1 if the data must lie in the interleaved memory of the tile.
 */
#ifndef POPULUS_VERTEX_H
#define POPULUS_VERTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef _Float16 half;

#define INPUT(...) POPULUS_EDGE("input", const, __VA_ARGS__)
#define OUTPUT(...) POPULUS_EDGE("output", , __VA_ARGS__)
#define INOUT(...) POPULUS_EDGE("inout", , __VA_ARGS__)
#define VECTOR(...)                                                                                \
  POPULUS_CHOOSE(__VA_ARGS__, POPULUS_VECTOR_4, POPULUS_VECTOR_3, POPULUS_VECTOR_2,                \
                 POPULUS_VECTOR_1, )                                                               \
  (__VA_ARGS__)

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

/* What follows is how it works.
 *
 * VECTOR(float) expands to several arguments, a plain type to one: counting them tells INPUT which
 * form the field has. The annotation is "populus:<kind>:<layout>:<alignment>:<interleaved>". */
#define POPULUS_EDGE(kind, qualifier, ...)                                                         \
  POPULUS_CHOOSE(__VA_ARGS__, POPULUS_EDGE_VECTOR, , , POPULUS_EDGE_SCALAR, )                      \
  (kind, qualifier, __VA_ARGS__)
#define POPULUS_CHOOSE(a, b, c, d, chosen, ...) chosen
#define POPULUS_VECTOR_1(type) type, SPAN, 0, 0
#define POPULUS_VECTOR_2(type, layout) type, layout, 0, 0
#define POPULUS_VECTOR_3(type, layout, align) type, layout, align, 0
#define POPULUS_VECTOR_4(type, layout, align, interleaved) type, layout, align, interleaved

/* __typeof__ makes one type of it, so that `INPUT(float) a, b;` declares two pointers. */
#define POPULUS_EDGE_SCALAR(kind, qualifier, type)                                                 \
  __attribute__((annotate("populus:" kind ":SCALAR:0:0"))) __typeof__(qualifier type *)
#define POPULUS_EDGE_VECTOR(kind, qualifier, type, layout, alignment, interleaved)                 \
  __attribute__((annotate("populus:" kind ":" #layout ":" #alignment                               \
                          ":" #interleaved))) POPULUS_LAYOUT_##layout(qualifier type)
#define POPULUS_LAYOUT_SPAN(type)                                                                  \
  struct {                                                                                         \
    type *data;                                                                                    \
    unsigned size;                                                                                 \
  }
#define POPULUS_LAYOUT_ONE_PTR(type) __typeof__(type *)

#endif
