/* Graphs: variables, tensors (views of variables), vertices in compute sets, and their tile
 * mapping.
 *
 * A graph owns everything that is made with it; only the graph itself is freed. Handles are
 * small structs passed by value.
 *
 * Errors: a graph keeps its first error, which says the call, the names, what was wrong and what
 * would be right. From then on, calls on the graph do nothing and return null handles. So a
 * program may check once, at the end (pop_graph_error), or not at all: pop_engine_create fails
 * with that error.
 *
 * Threads: different graphs are independent. Calls of several threads on one graph take turns:
 * each waits until the one before it has returned, including the functions of the program that
 * it calls. While one thread compiles a graph (pop_compile_graph, pop_engine_create), a call on
 * it by another thread fails the graph with an error that says so; compiling it, too, is an
 * error. No thread may free a graph, or take its error, while others use it. */
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

/* `target` is copied and checked. Never NULL: an invalid target is the graph's first error, as
 * is lack of memory. */
pop_graph *pop_graph_create(const pop_target *target);
/* A replicated graph: `replication_factor` copies of one graph run side by side, each on its share
 * of the target's IPUs. The graph is that of one replica. pop_graph_get_target returns the target
 * of one replica, of target->num_ipus / replication_factor IPUs; that must be a whole number, at
 * least 1, otherwise INVALID_ARGUMENT. (The CPU has up to POP_TARGET_MAX_IPUS replicas.) The graph
 * is compiled once. The engine loads the same images once for each replica (populus/engine.h says
 * what it reads, writes and connects then). Replicas run independently of each other up to a host
 * sync or a pop_program_cross_replica_copy, which all of them must reach. With more than one
 * replica, pop_graph_top_level_graph fails on it. */
pop_graph *pop_graph_create_replicated(const pop_target *target, uint32_t replication_factor);
/* The number of replicas; 1 if the graph is not replicated. */
uint32_t pop_graph_replication_factor(const pop_graph *graph);
/* Releases a reference, and frees the graph if that was the last. NULL is fine, and a virtual
 * graph stays. Engines made from the graph stay valid. A graph that was freed, and its
 * handles, may still be passed to calls, which then do nothing: pop_graph_error of it, or of
 * NULL, is about the thread's first such call. */
void pop_graph_free(pop_graph *graph);
/* Adds a reference, for code that keeps a handle longer than the code that it has it from. Give it
 * back by pop_graph_release. Of a virtual graph it is a reference to the top-level graph. Returns
 * `graph`. */
pop_graph *pop_graph_retain(pop_graph *graph);
void pop_graph_release(pop_graph *graph);                       /* NULL is fine */
const pop_target *pop_graph_get_target(const pop_graph *graph); /* lives as long as the graph */
/* The graph's error, which stays the graph's. */
const pop_error *pop_graph_error(const pop_graph *graph); /* NULL if there is no error */
/* Takes the error from the graph; the caller frees it. NULL if there is none. The graph
 * continues as if the call that failed had not been made. Calls made since then are missing. */
pop_error *pop_graph_take_error(pop_graph *graph);

/* ---- virtual graphs: views of a part of a graph's tiles ----
 *
 * A virtual graph can be used wherever a graph can. Where a call names a tile
 * (pop_graph_set_tile_mapping, pop_graph_map_linearly, pop_graph_set_vertex_tile, …), it is a
 * tile of the virtual graph. These count from 0 in the order of the list or range. All else is
 * the same. A variable, vertex or program that is made with a virtual graph is in the graph that
 * it is a view of, and handles may be used with any of these graphs. For
 * pop_graph_visit_tile_mapping of a virtual graph, elements on other tiles are not mapped.
 *
 * Virtual graphs belong to the graph and are freed with it (pop_graph_free of one does nothing).
 * They may be made of other virtual graphs, and may overlap. pop_graph_get_target returns the
 * target that their tiles make up. It has several IPUs if these have equally many of the tiles,
 * grouped by IPU; otherwise it has one IPU.
 *
 * Errors: INVALID_TILE_MAPPING for no tiles, for tiles (IPUs) that the graph does not have, and
 * for a tile that is listed twice; INVALID_ARGUMENT for a list that is NULL. After an error the
 * calls return the graph that has the error. */

/* Tiles first <= i < end of `graph`, over all IPUs. */
pop_graph *pop_graph_create_virtual_graph(pop_graph *graph, size_t first_tile, size_t end_tile);
/* IPUs first <= i < end. */
pop_graph *pop_graph_create_virtual_graph_by_ipus(pop_graph *graph, size_t first_ipu,
                                                  size_t end_ipu);
/* These tiles, in this order. */
pop_graph *pop_graph_create_virtual_graph_by_tiles(pop_graph *graph, const size_t *tiles,
                                                   size_t count);
/* The same tiles of every IPU; numbers are within an IPU. */
pop_graph *pop_graph_create_virtual_graph_per_ipu(pop_graph *graph, const size_t *tiles,
                                                  size_t count);
size_t pop_graph_num_tiles(const pop_graph *graph);
/* The number of a virtual graph's tile in the top-level graph (of a replicated graph, of replica
 * 0's tile); SIZE_MAX if `tile` is not below pop_graph_num_tiles. On a CPU, where tiles mean
 * nothing, it is `tile`. */
size_t pop_graph_physical_tile(const pop_graph *graph, size_t tile);
/* The graph that it was made of; NULL if it is not a virtual graph. */
pop_graph *pop_graph_parent(pop_graph *graph);
/* The graph at the top, which is not a view; the graph itself if it is no view. A graph that
 * pop_graph_create_replicated made for several replicas has none: INVALID_ARGUMENT, and NULL. */
pop_graph *pop_graph_top_level_graph(pop_graph *graph);

/* ---- replicas of an existing graph ----
 *
 * A virtual graph that stands for `replication_factor` equal parts of `graph` (which may be
 * virtual itself), each of consecutive tiles. It is the graph of one part: pop_graph_get_target
 * returns one replica's target, and tiles count from 0 in each. Variables, constants, vertices,
 * streams, remote buffers, and programs with these, are made in each replica. All replicas are
 * compiled as one graph and run its programs in step. Unlike replicas of
 * pop_graph_create_replicated, each needs no IPU of its own, and `graph` may do other work
 * besides.
 *
 * Handles of what is in replicas are used with each other only: the vertex of a replicated graph
 * with tensors of the same one, a stream with such a tensor, and so on; otherwise
 * INVALID_ARGUMENT. Compute sets, functions and programs take both.
 * pop_graph_get_non_replicated_tensor gives what all replicas hold as a tensor of `graph`. By
 * it, data go to replicas and back, and from one replica to another (which
 * pop_program_cross_replica_copy does, too). If, Switch and RepeatWhile decide by one tensor for
 * all replicas, so that cannot be a replicated one.
 *
 * For the host it is like a graph of pop_graph_create_replicated. Each replica has its streams
 * and remote buffers, and handles are read and written for all replicas at once
 * (populus/engine.h).
 *
 * Errors: INVALID_ARGUMENT if the number does not divide the graph's tiles (the CPU has any number
 * of replicas), if the graph is replicated already, or if 65,535 have been made of the same
 * top-level graph. */
pop_graph *pop_graph_create_replicated_graph(pop_graph *graph, uint32_t replication_factor);
/* The elements of a replicated graph's tensor in all replicas, with an additional first
 * dimension: the replica. Queries and operations of a replicated tensor concern one replica; the
 * returned tensor is one of the graph that was replicated. Errors: INVALID_ARGUMENT if the
 * tensor is not replicated, or if pop_graph_create_replicated made the graph. */
pop_tensor pop_graph_get_non_replicated_tensor(pop_graph *graph, pop_tensor tensor);

/* Adds codelets. `path` is a .gp file, or source (.c, .cpp, .S, …) that is compiled now, with
 * popc's `flags` (one string, split at blanks as by a shell without expansions; NULL for none).
 * They have no effect on a .gp. A file with the same content is added once only.
 *
 * Errors: those of popc_compile (populus/popc.h); FILE_LOAD for a file that cannot be read, or is
 * not for the graph's target; INVALID_ARGUMENT for a quote in `flags` that is not closed. A vertex
 * that another object has already is an error, which names both files: CODELET_COMPILE, or for the
 * CPU, if the code differs, FILE_LOAD. */
void pop_graph_add_codelets(pop_graph *graph, const char *path, const char *flags);
/* Adds codelets from source text. `language` is "c" or "c++", otherwise INVALID_ARGUMENT. `name`
 * stands for the file in messages; NULL or empty: "codelets from memory". Files that the text
 * includes in quotes are looked for in the current folder. Errors as above. */
void pop_graph_add_codelets_source(pop_graph *graph, const char *language, const char *text,
                                   const char *name, const char *flags);
/* The same for several graphs, for tiles or for the CPU. The source is compiled once for all of
 * them. Each graph has its own error. */
void pop_graph_add_codelets_source_to_all(pop_graph *const *graphs, size_t count,
                                          const char *language, const char *text, const char *name,
                                          const char *flags);

/* ---- variables and constants ---- */

/* A new variable, rank 0 to 16, shape[i] >= 0, up to 2^32 - 1 elements; `name` may be NULL. Its
 * elements must be mapped to tiles before the graph is compiled. Initially all bytes are zero.
 * Errors: INVALID_ARGUMENT for another shape; TYPE for a number that is no type; MEMORY for 2^32
 * variables. */
pop_tensor pop_graph_add_variable(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const char *name);
/* A constant. `data` has its elements in row-major order, in the tile's representation of the type
 * (half: IEEE binary16 bits, bool: one byte 0 or 1); they are copied. Errors: as above;
 * INVALID_ARGUMENT for another byte of a bool; MEMORY. */
pop_tensor pop_graph_add_constant(pop_graph *graph, pop_type type, const size_t *shape, size_t rank,
                                  const void *data, const char *name);
/* A scalar constant of type POP_UNSIGNED_INT: the number of the replica, from 0; without
 * replicas 0. */
pop_tensor pop_graph_add_replication_index_constant(pop_graph *graph, const char *name);
/* Sets the contents of a variable's view when the program is loaded; `data` as for a constant.
 * If the view has an element several times, the last one counts. In a replicated graph all
 * replicas get the same. Errors: INVALID_ARGUMENT for a view with constants, and for data as
 * above; MEMORY. */
void pop_graph_set_initial_value(pop_graph *graph, pop_tensor tensor, const void *data);

/* ---- metadata: what quarters (POP_QUARTER) stand for ----
 *
 * Metadata are a format and a scale: an element of type POP_UNSIGNED_CHAR, packed as for
 * pop_quarter_to_float (populus/types.h). Programs can write it while they run. Vertices with a
 * field of quarters get their metadata, too (POP_METADATA_SUFFIX in populus/vertex_type.h). Each
 * variable of quarters has one such element, the same for all views of it; a clone has its own.
 *
 * Errors of both: TYPE if `quarters` is of another type. */

/* Makes `metadata`, of one element, that of all variables that `quarters` has elements of. TYPE if
 * it is not one unsigned char. INVALID_ARGUMENT if one of the variables has other metadata already:
 * from an earlier call, from pop_graph_get_metadata, or because a vertex, a copy or a host handle
 * has used them. */
void pop_graph_set_metadata(pop_graph *graph, pop_tensor quarters, pop_tensor metadata);
/* The metadata of quarters, of shape {1}. If nobody has set them, they are a variable of their own,
 * initially f143 with scale 0; unless mapped, it is on the tile of the first of the quarters. For
 * constants they are a constant. Null if `quarters` has no elements. INVALID_ARGUMENT if it joins
 * elements of different metadata. */
pop_tensor pop_graph_get_metadata(pop_graph *graph, pop_tensor quarters);

/* ---- tile mapping ---- */

/* Maps all elements of the view to a tile. A later call for the same elements overrides an earlier
 * one. Cheapest in ascending order of a variable's elements. INVALID_TILE_MAPPING if `graph` does
 * not have the tile; INVALID_ARGUMENT if the tensor is of another replicated graph. */
void pop_graph_set_tile_mapping(pop_graph *graph, pop_tensor tensor, size_t tile);
/* Spreads the elements over the tiles of the graph: tile i gets elements [i*c, (i+1)*c). c is the
 * number of elements divided by the tiles, rounded up; at least min_elements_per_tile (0 for 1);
 * and a multiple of grain_size (0 for whole words: 2 halves, 4 bools). An element that the view has
 * several times is on the tile of its last place. */
void pop_graph_map_linearly(pop_graph *graph, pop_tensor tensor, size_t min_elements_per_tile,
                            size_t grain_size);
/* Visits the tiles of a view's elements. Calls `visit` for each run, in the view's order. [begin,
 * end) are indices of the flattened view. Elements that are on no tile of the graph have tile
 * SIZE_MAX. `visit` may use the graph: slice tensors and map them, for example. */
void pop_graph_visit_tile_mapping(pop_graph *graph, pop_tensor tensor,
                                  void (*visit)(void *context, size_t tile, size_t begin,
                                                size_t end),
                                  void *context);

/* ---- compute sets and vertices ---- */

/* `name` may be NULL, and need not be new. */
pop_compute_set pop_graph_add_compute_set(pop_graph *graph, const char *name);
/* `vertex_type` is the name that popc gives it: "SumVertex", "popops::Add<float>"; additional
 * blanks do not matter. UNKNOWN_VERTEX_TYPE, listing near matches. */
pop_vertex pop_graph_add_vertex(pop_graph *graph, pop_compute_set compute_set,
                                const char *vertex_type);
/* Connects a field to a view. Vector fields take rank 1 (any number of elements that the field's
 * layout can count). Scalar fields take one element (rank 0, or any shape of one element). A tensor
 * that the vertex writes must not be a constant and must not hold an element twice. A field has one
 * edge: connected again, it has the new tensor instead. So have rows, of which there must then be
 * as many. Elements have the field's type. Unsigned constants of 16 bits for an input of 32 bits
 * are widened, but not in fields with rows.
 *
 * A field with rows (Vector<Input<…>>, VectorList, an array of fields) takes rank 2, row by row, or
 * rank 1 if a row is one element.
 *
 * Errors of all calls about fields: GRAPH_CONNECTION for what a field cannot take; UNKNOWN_FIELD,
 * listing the fields; INVALID_ARGUMENT for handles of another graph, another replicated graph, or
 * data that are NULL. */
void pop_graph_connect(pop_graph *graph, pop_vertex vertex, const char *field, pop_tensor tensor);
/* Connects all rows at once, which may have different lengths: tensors[i] to row i. */
void pop_graph_connect_array(pop_graph *graph, pop_vertex vertex, const char *field,
                             const pop_tensor *tensors, size_t count);
/* Connects rows one by one, in any order. pop_graph_set_field_size sets the number of rows, once,
 * before or after (an array of fields has it already). If it is never set, the last connected row
 * is the last. For a plain vector field it sets the size of its data, which are zero until
 * pop_graph_set_field_array or pop_graph_set_field_element sets them. A later size drops earlier
 * data. */
void pop_graph_set_field_size(pop_graph *graph, pop_vertex vertex, const char *field, size_t size);
void pop_graph_connect_element(pop_graph *graph, pop_vertex vertex, const char *field, size_t row,
                               pop_tensor tensor);
/* Connects an input field to values instead of a tensor: `count` elements of the field's type,
 * in the tile's format (one for a scalar field). They become a constant on the vertex's tile,
 * whichever that will be. */
void pop_graph_connect_value(pop_graph *graph, pop_vertex vertex, const char *field, pop_type type,
                             const void *values, size_t count);
/* The same for one row of a field with rows, as in pop_graph_connect_element. */
void pop_graph_connect_element_value(pop_graph *graph, pop_vertex vertex, const char *field,
                                     size_t row, pop_type type, const void *values, size_t count);
/* Sets a plain scalar field. `value` points to one element of the field's type (tile format). A
 * later value replaces an earlier one. The _float and _int forms convert. Float and half fields
 * round to nearest even (an error if a finite value would become infinite). Integer and bool fields
 * take what they can hold exactly, plain char -128 to 255, quarters only 0 (an error otherwise).
 * Errors: TYPE for another type, or a value that does not fit; INVALID_ARGUMENT for a bool that is
 * neither 0 nor 1. */
void pop_graph_set_field(pop_graph *graph, pop_vertex vertex, const char *field, pop_type type,
                         const void *value);
void pop_graph_set_field_float(pop_graph *graph, pop_vertex vertex, const char *field,
                               double value);
void pop_graph_set_field_int(pop_graph *graph, pop_vertex vertex, const char *field, int64_t value);
/* Sets the data of a plain vector field, `count` elements in the tile's format; they are copied.
 * Errors as above. */
void pop_graph_set_field_array(pop_graph *graph, pop_vertex vertex, const char *field,
                               pop_type type, const void *values, size_t count);
/* Sets one element of such data, whose size pop_graph_set_field_size or pop_graph_set_field_array
 * has set; the others stay. INDEX if there is no such element. */
void pop_graph_set_field_element(pop_graph *graph, pop_vertex vertex, const char *field,
                                 size_t index, pop_type type, const void *value);
/* A later tile replaces an earlier one. INVALID_TILE_MAPPING if `graph` does not have the tile, or
 * if it is not of the replicated graph that the vertex was added to. */
void pop_graph_set_vertex_tile(pop_graph *graph, pop_vertex vertex, size_t tile);

/* ---- estimates ---- */

/* The estimated cost of a vertex. `cycles` includes the cost of the call. For a vertex that one
 * worker runs, they are the worker's, each of which takes num_worker_contexts cycles of the
 * tile. For a vertex of all workers or the supervisor (kinds multi and supervisor) they are the
 * tile's. 0: no estimate. `flops` are floating-point operations.
 *
 * Vertices are shared among workers by their estimates. On an IPU_MODEL, vertices take the
 * estimated cycles (except with pop_ipu_model.code_cycles); those without an estimate take what
 * their code takes, which is measured there. Everywhere else vertices take what their code
 * takes. */
typedef struct pop_perf_estimate {
  uint64_t cycles, flops;
} pop_perf_estimate;
void pop_graph_set_perf_estimate(pop_graph *graph, pop_vertex vertex, uint64_t cycles,
                                 uint64_t flops);
/* The same for the cycles alone, for older programs. */
void pop_graph_set_cycle_estimate(pop_graph *graph, pop_vertex vertex, uint64_t cycles);
/* An estimator of a vertex type. It is called when the graph is compiled, for each vertex of the
 * type without an estimate of its own, in the graph's order. It may query the vertex
 * (pop_graph_vertex_field_size, populus/introspection.h) and must not change the graph. A later
 * call replaces an earlier one, and an estimator of a library of Populus. `estimate` NULL: vertices
 * of the type have no estimates. Unknown vertex type: as in pop_graph_add_vertex. */
typedef pop_perf_estimate pop_perf_estimator(void *context, pop_graph *graph, pop_vertex vertex);
void pop_graph_register_perf_estimator(pop_graph *graph, const char *vertex_type,
                                       pop_perf_estimator *estimate, void *context);
/* The number of elements of a vector field, connected or given as data; 1 for a scalar field;
 * the number of rows for a field with rows. 0: not connected. SIZE_MAX: there is no such field
 * or vertex. */
size_t pop_graph_vertex_field_size(pop_graph *graph, pop_vertex vertex, const char *field);
/* Copies up to `max` elements of a plain field's value, or of the constants that a field without
 * rows is connected to, in the tile's format. `values` may be NULL if `max` is 0. Returns how many
 * there are: 1 for a scalar field, the number of data for a vector field. 0: nothing was given.
 * SIZE_MAX: there is no such field or vertex, or it is connected to elements that may change. */
size_t pop_graph_vertex_field_values(pop_graph *graph, pop_vertex vertex, const char *field,
                                     void *values, size_t max);
/* The same for one row of a field with rows, from 0 on. 0: nothing, or a tensor without
 * elements, is connected to it. SIZE_MAX also if the field has no rows, or not so many. */
size_t pop_graph_vertex_row_values(pop_graph *graph, pop_vertex vertex, const char *field,
                                   size_t row, void *values, size_t max);
/* The vertex's own estimate or, once the graph is compiled, that of its type; zeros if there is
 * none. */
pop_perf_estimate pop_graph_perf_estimate(pop_graph *graph, pop_vertex vertex);

/* ---- compiling ---- */

/* Has `progress` called during compilation with the number of steps done and of all steps. In
 * the last call both are equal: the graph is compiled. That call also comes if the executable
 * was found in the cache. NULL: no more calls. `progress` must not use the graph. */
void pop_graph_set_progress(pop_graph *graph,
                            void (*progress)(void *context, unsigned done, unsigned total),
                            void *context);

/* ---- host access ---- */

/* Names a tensor for pop_engine_read_tensor / pop_engine_write_tensor. A name may be used once for
 * reading and once for writing, for the same or different tensors. A tensor that is written must
 * not be a constant nor hold an element twice. Errors: INVALID_ARGUMENT.
 *
 * Quarters get a second handle, the name with POP_METADATA_SUFFIX behind it, for their metadata, if
 * all of them have the same. It is for reading if the metadata are a constant.
 *
 * The host always puts elements in order, straight from and to tile memory. So there is nothing for
 * rearrangeOnHost and optimiseMemory to choose, as they do elsewhere. */
void pop_graph_create_host_read(pop_graph *graph, const char *handle, pop_tensor tensor);
void pop_graph_create_host_write(pop_graph *graph, const char *handle, pop_tensor tensor);

#ifdef __cplusplus
}
#endif
#endif
