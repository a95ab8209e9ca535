/* What the library functions share: operands of one shape, results, and vertices on the tiles of a tensor. */
#ifndef POPLIBS_HOST_SPREAD_H
#define POPLIBS_HOST_SPREAD_H

#include <populus/graph.h>
#include <populus/program.h>

/* estimates.c: what vertices of popops take on the chip, for models; codelets of popops are there. */
void poplibs_add_estimates(pop_graph *graph);

/* codelets.c: those of a library, "popops"; an error if the process has the original one, too. */
void poplibs_add_codelets(pop_graph *graph, const char *call, const char *library);
/* Has the graph our popops' codelets? */
bool poplibs_has_popops(pop_graph *graph);
/* Loads them if not: it may have the original libraries', or none. */
void poplibs_need_popops(pop_graph *graph);

/* The log of the libraries (POPLIBS_LOG_LEVEL=INFO): which function is called, with which tensors; null ones are left out.
 * `call` is pop_<library>_<function>. */
void poplibs_log(const char *call, const char *name, const pop_tensor *tensors, size_t count);

/* Fails the graph with a sentence that begins with `call`. */
void poplibs_fail(pop_graph *graph, pop_error_code code, const char *format, ...) POP_PRINTF(3, 4);

/* The tensor repeated to a shape; null after an error. `call` for messages. */
pop_tensor poplibs_broadcast(const char *call, pop_tensor t, const size_t *shape, size_t rank);

/* The shape that all go together to; false after an error. `shape` has room for 16 sizes. */
bool poplibs_common_shape(const char *call, const pop_tensor *tensors, size_t count, size_t *shape,
                          size_t *rank);

/* `out` if it is there and has the shape and type (an error otherwise), or a new variable: mapped as the first of
 * the operands that has the shape and can be written, or else spread. */
pop_tensor poplibs_result(pop_graph *graph, const char *call, pop_tensor out, pop_type type,
                          const size_t *shape, size_t rank, const pop_tensor *operands,
                          size_t num_operands, const char *name);

/* Elements of a flattened tensor that are on one tile, in its order. */
typedef struct spread_part {
  size_t tile;
  pop_interval *intervals;
  size_t count, capacity, num_elements;
} spread_part;
typedef struct spread {
  spread_part *parts; /* by tile, ascending; only tiles with elements */
  size_t count, capacity;
} spread;
/* An error of the graph's if elements are on no tile. Free with spread_free. */
spread spread_of(pop_graph *graph, const char *call, pop_tensor t);
void spread_free(spread *s);
/* The same by hand: elements of tiles in any order, those of a tile in order; then `spread_finish`, before which parts[tile] is
 * the part of each tile up to the last one that has elements. (A host has a million tiles, of which programs use some.) */
void spread_add(spread *s, size_t tile, size_t begin, size_t end);
void spread_finish(spread *s);
/* Those elements of a flattened tensor, of as many elements as the one that the spread is of. */
pop_tensor spread_slice(const spread_part *part, pop_tensor flat);

/* A matrix flattened row by row or column by column, as its elements lie side by side in longer runs: each run is a
 * message on its way to a vertex. Null after an error. */
pop_tensor poplibs_flatten_in_runs(pop_tensor matrix, bool *by_columns);

/* A vertex on a tile, and its type by a format; null after an error. */
pop_vertex poplibs_add_vertex(pop_graph *graph, pop_compute_set set, size_t tile,
                              const char *format, ...) POP_PRINTF(4, 5);
/* Fails the graph if a vertex type is not there: `what` for `type`. */
bool poplibs_check_vertex_type(pop_graph *graph, const char *call, const char *vertex_type,
                               const char *what, pop_type type);

#endif
