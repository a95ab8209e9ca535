/* What the library functions share: operands of one shape, results, and vertices on the tiles of a tensor. */
#ifndef POPLIBS_HOST_SPREAD_H
#define POPLIBS_HOST_SPREAD_H

#include <populus/graph.h>
#include <populus/popops.h>
#include <populus/program.h>

/* estimates.c: adds the chip's estimators for vertices of popops. The graph must have the
 * codelets of popops. */
void poplibs_add_estimates(pop_graph *graph);

/* codelets.c: adds the codelets of a library ("popops"). An error if the process also has the
 * original library. */
void poplibs_add_codelets(pop_graph *graph, const char *call, const char *library);
/* Does the graph have our codelets of popops? */
bool poplibs_has_popops(pop_graph *graph);
/* Loads them if the graph does not have them: it may have those of the original library, or
 * none. */
void poplibs_need_popops(pop_graph *graph);

/* Logs a call of a library function with its tensors (POPLIBS_LOG_LEVEL=INFO). Null tensors are
 * left out. `call` is pop_<library>_<function>. */
void poplibs_log(const char *call, const char *name, const pop_tensor *tensors, size_t count);

/* Fails the graph with a message that begins with `call`. */
void poplibs_fail(pop_graph *graph, pop_error_code code, const char *format, ...) POP_PRINTF(3, 4);

/* The tensor broadcast to a shape; null after an error. `call` is for messages. */
pop_tensor poplibs_broadcast(const char *call, pop_tensor t, const size_t *shape, size_t rank);

/* The shape that all tensors can be broadcast to; false after an error. `shape` has room for 16
 * sizes. */
bool poplibs_common_shape(const char *call, const pop_tensor *tensors, size_t count, size_t *shape,
                          size_t *rank);

/* `out`, if it is not null and has the shape and type (an error otherwise). If it is null, a new
 * variable. That is mapped like the first operand that has the shape, can be written and is
 * mapped; if there is none, it is mapped linearly. */
pop_tensor poplibs_result(pop_graph *graph, const char *call, pop_tensor out, pop_type type,
                          const size_t *shape, size_t rank, const pop_tensor *operands,
                          size_t num_operands, const char *name);

/* `t`, or, if it shares elements with `out`, a copy that the sequence makes: for vertices that read
 * `t` while they write `out`. A tensor that is `out` itself is not copied, because such vertices read
 * an element before they write the same one. */
pop_tensor poplibs_apart(pop_graph *graph, pop_tensor t, pop_tensor out, pop_program sequence,
                         const char *name);

/* The elements of a flattened tensor that are on one tile, in the tensor's order. */
typedef struct spread_part {
  size_t tile;
  pop_interval *intervals;
  size_t count, capacity, num_elements;
} spread_part;
/* Of a part, so of a vertex: workers count in 16 bits how often they take four elements
 * (popops/vectors.hpp). Tiles of the user's own targets may have room for more. */
enum { SPREAD_MOST_ELEMENTS = 1 << 20 };
typedef struct spread {
  spread_part *parts; /* by tile, ascending; only tiles with elements; several of a tile if it
                       * has more than SPREAD_MOST_ELEMENTS */
  size_t count, capacity;
} spread;
/* Fails the graph if elements are on no tile. Free with spread_free. */
spread spread_of(pop_graph *graph, const char *call, pop_tensor t);
void spread_free(spread *s);
/* Builds a spread by hand. Tiles may come in any order, but the elements of a tile in ascending
 * order. Until spread_finish, parts[tile] is the part of that tile, for all tiles up to the last
 * one with elements. spread_finish drops the empty parts. (A host has a million tiles, of which
 * programs use some.) */
void spread_add(spread *s, size_t tile, size_t begin, size_t end);
void spread_finish(spread *s);
/* The part's elements of another flattened tensor, which has as many elements as the spread's. */
pop_tensor spread_slice(const spread_part *part, pop_tensor flat);

/* element_wise.c: `a op b` in the type of `a`, where `b` is of floats. Halves are calculated in
 * single precision and rounded once. */
pop_tensor poplibs_with_floats(pop_graph *graph, pop_binary_op op, pop_tensor a, pop_tensor b,
                               pop_tensor out, pop_program sequence, const char *name);

/* Flattens a matrix row by row or column by column, whichever gives longer runs in memory: each
 * run is one message on its way to a vertex. Null after an error. */
pop_tensor poplibs_flatten_in_runs(pop_tensor matrix, bool *by_columns);

/* Adds a vertex on a tile; the format gives its type. Null after an error. */
pop_vertex poplibs_add_vertex(pop_graph *graph, pop_compute_set set, size_t tile,
                              const char *format, ...) POP_PRINTF(4, 5);
/* Fails the graph if there is no such vertex type. The message says that there is no `what` for
 * `type`. */
bool poplibs_check_vertex_type(pop_graph *graph, const char *call, const char *vertex_type,
                               const char *what, pop_type type);

#endif
