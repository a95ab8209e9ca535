/* Graphs: variables, tensors (views of variables), vertices in compute sets, and where all of it
 * lives.
 *
 * A graph owns everything that is made with it; nothing but the graph is freed. Handles are small
 * structs passed by value.
 *
 * Errors: a graph keeps its first error: the call, the names, what was wrong and what would be
 * right. From then on calls on the graph do nothing and return null handles, so a program may check
 * once, at the end (pop_graph_error), or not at all: pop_engine_create fails with that error.
 *
 * Threads: calls of several threads on one graph take turns, each waits until the one before it, with the functions of the
 * program that it calls, has returned; different graphs are independent. While one thread compiles a graph
 * (pop_compile_graph, pop_engine_create), calls on it by others fail it with an error that says so, and
 * compiling it, too, is an error. Freeing a graph, or taking its error, that others use is for them to avoid.
 */
#ifndef POPULUS_GRAPH_H
#define POPULUS_GRAPH_H

#include <populus/error.h>
#include <populus/handles.h>
#include <populus/target.h>
#include <populus/tensor.h>
#include <populus/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- graphs ---- */

/* `target` is copied and checked; an invalid one is the graph's first error, as is that there is no memory. Never NULL. */
pop_graph *pop_graph_create(const pop_target *target);
/* A replicated graph: `replication_factor` copies of one graph run side by side, each on its share of the
 * target's IPUs. The graph is that of one replica, and pop_graph_get_target tells its target: of
 * target->num_ipus / replication_factor IPUs, which must be a whole number, at least 1. It is compiled
 * once; the engine loads the same images once for each replica (populus/engine.h says what it then reads,
 * writes and connects). Replicas run independently of each other up to a host sync or a
 * pop_program_cross_replica_copy, to which all of them must come. pop_graph_top_level_graph fails on it. */
pop_graph *pop_graph_create_replicated(const pop_target *target, uint32_t replication_factor);
/* How many replicas the graph is one of; 1 if it is not replicated. */
uint32_t pop_graph_replication_factor(const pop_graph *graph);
/* Gives back a reference, and frees the graph if that was the last. NULL is fine, a virtual graph stays; engines made
 * from it stay valid. Handles of a graph that was freed, and the graph itself, may still be given to calls, which do
 * nothing then: pop_graph_error of it, or of NULL, is about the first such call of the thread. */
void pop_graph_free(pop_graph *graph);
/* One reference more, for who keeps a handle longer than whom it has it from: what keeps the graph alive is given back
 * by pop_graph_release. Of a virtual graph the graph that it is a view of. */
pop_graph *pop_graph_retain(pop_graph *graph);
void pop_graph_release(pop_graph *graph); /* NULL is fine */
const pop_target *pop_graph_get_target(const pop_graph *graph);
const pop_error *pop_graph_error(const pop_graph *graph); /* NULL while all is well */
/* Takes the error away, for the caller to free; NULL while all is well. The graph goes on as if the call
 * that failed had not been made; calls made since are missing. */
pop_error *pop_graph_take_error(pop_graph *graph);

/* ---- virtual graphs: views of a part of a graph's tiles ----
 *
 * A virtual graph can be used wherever a graph can. Where a call names a tile (pop_graph_set_tile_mapping,
 * pop_graph_map_linearly, pop_graph_set_vertex_tile, …), it is one of the virtual graph's, which count
 * from 0 in the order of the list or range; all else is the same: a variable, vertex or program that is
 * made with a virtual graph is in the graph that it is a view of, and handles may be used with any of
 * them. Elements on other tiles are not mapped, as pop_graph_visit_tile_mapping sees it.
 *
 * They belong to the graph and are freed with it (pop_graph_free of one does nothing), may be made of
 * other virtual graphs, and may overlap. pop_graph_get_target tells the target that their tiles make up:
 * of several IPUs if these have equally many of the tiles, one IPU's behind the other's, and otherwise
 * of one IPU.
 *
 * Errors: INVALID_TILE_MAPPING for no tiles, tiles (IPUs) that the graph does not have, a tile twice.
 * After an error they answer the graph that has it. */

/* Tiles first <= i < end of `graph`, over all IPUs. */
pop_graph *pop_graph_create_virtual_graph(pop_graph *graph, size_t first_tile, size_t end_tile);
/* IPUs first <= i < end. */
pop_graph *pop_graph_create_virtual_graph_by_ipus(pop_graph *graph, size_t first_ipu,
                                                  size_t end_ipu);
/* These tiles, in this order. */
pop_graph *pop_graph_create_virtual_graph_by_tiles(pop_graph *graph, const size_t *tiles,
                                                   size_t count);
/* The same tiles of every IPU: numbers within an IPU. */
pop_graph *pop_graph_create_virtual_graph_per_ipu(pop_graph *graph, const size_t *tiles,
                                                  size_t count);
size_t pop_graph_num_tiles(const pop_graph *graph);
/* The number of a tile of a virtual graph in the top-level graph (of a replicated one, of replica 0's tile);
 * SIZE_MAX if there is no such tile. On a CPU, where tiles mean nothing, the tile itself. */
size_t pop_graph_physical_tile(const pop_graph *graph, size_t tile);
/* The graph that it was made of; NULL if it is no virtual graph. */
pop_graph *pop_graph_parent(pop_graph *graph);
/* The graph that is no view; of such a graph itself. */
pop_graph *pop_graph_top_level_graph(pop_graph *graph);

/* ---- replicas of an existing graph ----
 *
 * A virtual graph that stands for `replication_factor` parts of `graph` (which may be virtual itself), equal
 * in size, each of consecutive tiles. It is the graph of one of them: pop_graph_get_target tells one replica's
 * target, tiles count from 0 in each. What is made with it is made in each replica: variables, constants,
 * vertices, streams, remote buffers, and with these programs. All replicas are compiled as one graph and run
 * its programs in step; unlike those of pop_graph_create_replicated they need no IPU of their own each, and
 * `graph` may do something else besides.
 *
 * Handles of what is in replicas are used with each other only: the vertex of a replicated graph with tensors
 * of the same one, a stream with such a tensor, and so on; else INVALID_ARGUMENT. Compute sets, functions and
 * programs have what they are given. What all replicas hold is a tensor of `graph` by
 * pop_graph_get_non_replicated_tensor, by which data go to replicas and back, and from one to the other
 * (pop_program_cross_replica_copy does that, too). If, Switch and RepeatWhile decide by one tensor for all:
 * it cannot be a replicated one.
 *
 * To the host it is as a graph of pop_graph_create_replicated: each replica has its streams and remote buffers,
 * handles are read and written for all at once (populus/engine.h).
 *
 * Errors: INVALID_ARGUMENT if the number does not divide the graph's tiles, or the graph is replicated already. */
pop_graph *pop_graph_create_replicated_graph(pop_graph *graph, uint32_t replication_factor);
/* The elements of `tensor`, which is of a replicated graph, in all replicas, with one more dimension in front:
 * its index is the replica. Of such a tensor questions and tensor operations concern one replica; this one is
 * of the graph that was replicated. Errors: INVALID_ARGUMENT if the tensor is not replicated, or
 * pop_graph_create_replicated made the graph. */
pop_tensor pop_graph_get_non_replicated_tensor(pop_graph *graph, pop_tensor tensor);

/* Adds codelets: `path` is a .gp file or source (.c, .cpp, …) that is compiled now, with popc's
 * `flags` (one string, split at blanks as a shell would without expansions; NULL for none).
 * The same file twice is taken once; a vertex that is there already with other code is an error
 * that names both files. */
void pop_graph_add_codelets(pop_graph *graph, const char *path, const char *flags);
/* Source text from memory; `language` is "c" or "c++"; `name` stands for the file in messages. What
 * it includes in quotes is looked for in the current folder. */
void pop_graph_add_codelets_source(pop_graph *graph, const char *language, const char *text,
                                   const char *name, const char *flags);
/* The same for several graphs, for tiles or for the CPU: the source is compiled once for all of them. Each has its own error. */
void pop_graph_add_codelets_source_to_all(pop_graph *const *graphs, size_t count,
                                          const char *language, const char *text, const char *name,
                                          const char *flags);

/* ---- variables and constants ---- */

/* A new variable, rank 0 to 16, shape[i] >= 0, up to 2^32 - 1 elements; `name` may be NULL. Its
 * elements must be mapped to tiles before the graph is compiled. Contents start as zero bytes. */
pop_tensor pop_graph_add_variable(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const char *name);
/* A constant: `data` holds its elements in row-major order in the tile's representation of the type
 * (half: IEEE binary16 bits, bool: one byte 0 or 1); they are copied. */
pop_tensor pop_graph_add_constant(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const void *data, const char *name);
/* A scalar constant of type POP_UNSIGNED_INT: in each replica its number, from 0; without replicas 0. */
pop_tensor pop_graph_add_replication_index_constant(pop_graph *graph, const char *name);
/* Contents of a variable's view when the program is loaded; `data` as for a constant. */
void pop_graph_set_initial_value(pop_graph *graph, pop_tensor tensor, const void *data);

/* ---- metadata: what quarters (POP_QUARTER) stand for ----
 *
 * Their format and scale are an element of type POP_UNSIGNED_CHAR, packed as pop_quarter_to_float (populus/types.h) has it, which
 * programs can write while they run. Vertices that take quarters get it with them. Each variable of quarters has one, the same
 * for all views of it; a clone has its own. */

/* `metadata`, of one element, becomes that of all variables that `quarters` has elements of. An error if these have metadata
 * already: from an earlier call, or because somebody has asked, or a vertex has taken them. */
void pop_graph_set_metadata(pop_graph *graph, pop_tensor quarters, pop_tensor metadata);
/* The metadata of quarters, of shape {1}. Those that nobody has set are a variable of their own, f143 with scale 0 to begin
 * with, on the tile of the first of the quarters if it is not mapped; of constants, a constant. Null if `quarters` has no
 * elements. An error if it joins elements of different metadata. */
pop_tensor pop_graph_get_metadata(pop_graph *graph, pop_tensor quarters);

/* ---- tile mapping ---- */

/* Maps all elements of the view to a tile; a later call for the same elements wins. Cheapest in
 * ascending order of a variable's elements. */
void pop_graph_set_tile_mapping(pop_graph *graph, pop_tensor tensor, size_t tile);
/* Spreads the elements over the tiles of the graph: tile i gets elements [i*c, (i+1)*c) where c is
 * the number of elements divided by the tiles, rounded up, and at least min_elements_per_tile (0 for 1),
 * and a multiple of grain_size (0 for whole words: 2 halves, 4 bools). */
void pop_graph_map_linearly(pop_graph *graph, pop_tensor tensor, size_t min_elements_per_tile,
                            size_t grain_size);
/* Where the elements of a view are: calls `visit` for each run, in the view's order:
 * [begin, end) are indices of the flattened view; elements that are on no tile of the graph have tile SIZE_MAX. */
void pop_graph_visit_tile_mapping(pop_graph *graph, pop_tensor tensor,
                                  void (*visit)(void *context, size_t tile, size_t begin,
                                                size_t end),
                                  void *context);

/* ---- compute sets and vertices ---- */

pop_compute_set pop_graph_add_compute_set(pop_graph *graph, const char *name);
/* `vertex_type` as popc names it: "SumVertex", "popops::Add<float>". Unknown: an error that lists
 * near matches. */
pop_vertex pop_graph_add_vertex(pop_graph *graph, pop_compute_set compute_set,
                                const char *vertex_type);
/* Connects a field to a view. Vector fields take rank 1 (any number of elements that the field's
 * layout can count); scalar fields take one element (rank 0, or any shape of one element). What the
 * vertex writes must not be a constant and must not hold an element twice. The field has one edge:
 * connected again, it has the new tensor instead; so have rows, of which there must then be as many.
 * Elements have the field's type, or are constants of 16 bits without a sign for an input of 32, which become such.
 *
 * A field with rows (Vector<Input<…>>, VectorList, an array of fields) takes rank 2, row by row, or
 * rank 1 if a row is one element. */
void pop_graph_connect(pop_graph *graph, pop_vertex vertex, const char *field, pop_tensor tensor);
/* Rows of different lengths, all at once: tensors[i] to row i. */
void pop_graph_connect_array(pop_graph *graph, pop_vertex vertex, const char *field,
                             const pop_tensor *tensors, size_t count);
/* Rows one by one, in any order. How many there are is said before or after (once; an array of fields knows); of what is never
 * said, the last row that is connected is the last. The size of a plain vector field is that of its data, which are zero until
 * pop_graph_set_field_array or pop_graph_set_field_element sets them. */
void pop_graph_set_field_size(pop_graph *graph, pop_vertex vertex, const char *field, size_t size);
void pop_graph_connect_element(pop_graph *graph, pop_vertex vertex, const char *field, size_t row,
                               pop_tensor tensor);
/* Connects an input field to values instead of a tensor: `count` elements of the field's type, in the
 * tile's format (one for a scalar field). They become a constant on the vertex's tile, wherever that will
 * be. */
void pop_graph_connect_value(pop_graph *graph, pop_vertex vertex, const char *field, pop_type type,
                             const void *values, size_t count);
/* One row of a field with rows, as pop_graph_connect_element does. */
void pop_graph_connect_element_value(pop_graph *graph, pop_vertex vertex, const char *field,
                                     size_t row, pop_type type, const void *values, size_t count);
/* Sets a plain scalar field; `value` points at one element of the field's type (tile format); a
 * later value takes the place of an earlier one. The _float and _int forms convert: float and half
 * fields round to nearest even (an error if a finite value would become infinite), integer and bool
 * fields take what they can hold exactly (an error otherwise). */
void pop_graph_set_field(pop_graph *graph, pop_vertex vertex, const char *field, pop_type type,
                         const void *value);
void pop_graph_set_field_float(pop_graph *graph, pop_vertex vertex, const char *field,
                               double value);
void pop_graph_set_field_int(pop_graph *graph, pop_vertex vertex, const char *field, int64_t value);
/* Sets the data of a plain vector field, `count` elements in the tile's format; they are copied. */
void pop_graph_set_field_array(pop_graph *graph, pop_vertex vertex, const char *field,
                               pop_type type, const void *values, size_t count);
/* Sets one element of it, which pop_graph_set_field_size or pop_graph_set_field_array has made; the others stay. */
void pop_graph_set_field_element(pop_graph *graph, pop_vertex vertex, const char *field,
                                 size_t index, pop_type type, const void *value);
void pop_graph_set_vertex_tile(pop_graph *graph, pop_vertex vertex, size_t tile);

/* ---- estimates ---- */

/* What a vertex is said to take. `cycles` are those of the worker that runs it, of which one takes
 * num_worker_contexts cycles of the tile, with what it costs to call it; of a vertex that no single worker
 * runs (kinds supervisor and multi) those of the tile. 0: nothing is said. `flops` are operations on
 * floating-point numbers.
 *
 * Vertices are shared among workers by their estimates. On an IPU_MODEL they take the cycles estimated
 * (but for pop_ipu_model.code_cycles), and those without an estimate what their code takes, which is measured
 * there; everywhere else what their code takes. */
typedef struct pop_perf_estimate {
  uint64_t cycles, flops;
} pop_perf_estimate;
void pop_graph_set_perf_estimate(pop_graph *graph, pop_vertex vertex, uint64_t cycles,
                                 uint64_t flops);
/* The same without flops, as older programs call it. */
void pop_graph_set_cycle_estimate(pop_graph *graph, pop_vertex vertex, uint64_t cycles);
/* The estimate of a vertex type: asked when the graph is compiled, for each vertex of the type that has
 * none of its own, in the graph's order. It may look at the vertex (pop_graph_vertex_field_size,
 * populus/introspection.h) and must not change the graph. A later call takes the place of an earlier one;
 * `estimate` NULL: none. Unknown vertex type: as in pop_graph_add_vertex. */
typedef pop_perf_estimate pop_perf_estimator(void *context, pop_graph *graph, pop_vertex vertex);
void pop_graph_register_perf_estimator(pop_graph *graph, const char *vertex_type,
                                       pop_perf_estimator *estimate, void *context);
/* The number of elements that a vector field is connected to, or has been given as data; of a scalar field 1;
 * of a field with rows the number of rows. 0: not connected. SIZE_MAX: there is no such field or vertex. */
size_t pop_graph_vertex_field_size(pop_graph *graph, pop_vertex vertex, const char *field);
/* Copies up to `max` elements of what a plain field has been given, or of the constants that a field without rows is connected
 * to, in the tile's format, and answers how many there are: of a scalar field 1, of a vector field those of its data. 0: nothing
 * was given. SIZE_MAX: no such field or vertex, or it is connected to what may change. */
size_t pop_graph_vertex_field_values(pop_graph *graph, pop_vertex vertex, const char *field,
                                     void *values, size_t max);
/* The same of one row of a field with rows, from 0 on. 0: nothing is connected to it, or what has no elements. SIZE_MAX also: the
 * field has no rows, or not so many. */
size_t pop_graph_vertex_row_values(pop_graph *graph, pop_vertex vertex, const char *field,
                                   size_t row, void *values, size_t max);
/* The vertex's own estimate or, once the graph has been compiled, its type's; zeros if there is none. */
pop_perf_estimate pop_graph_perf_estimate(pop_graph *graph, pop_vertex vertex);

/* ---- compiling ---- */

/* Has `progress` called while the graph is compiled: how many steps of how many are done; last, with both equal, when
 * it is compiled, also if the executable was found in the cache. NULL: not any more. It must not use the graph. */
void pop_graph_set_progress(pop_graph *graph,
                            void (*progress)(void *context, unsigned done, unsigned total),
                            void *context);

/* ---- host access ---- */

/* Names a tensor for pop_engine_read_tensor / pop_engine_write_tensor. A name is used once for
 * reading and once for writing, of tensors that need not be the same. What is written must not be a constant nor hold an element twice. The host always puts
 * elements in order, straight from and to tile memory: nothing is left of what rearrangeOnHost and optimiseMemory choose
 * elsewhere. */
void pop_graph_create_host_read(pop_graph *graph, const char *handle, pop_tensor tensor);
void pop_graph_create_host_write(pop_graph *graph, const char *handle, pop_tensor tensor);

#ifdef __cplusplus
}
#endif
#endif
