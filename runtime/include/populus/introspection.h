/* Queries of a graph's parts, for host programs that inspect graphs of others, and for people.
 *
 * Variables, vertex types and so on have numbers from 0 on, in the order in which they were made.
 * Those of a virtual graph are its top-level graph's. Names are "" if none was given. They live as
 * long as the graph. Queries also work for a graph with an error, except for those of fields, which
 * return that error. An invalid number is an INDEX error. */
#ifndef POPULUS_INTROSPECTION_H
#define POPULUS_INTROSPECTION_H

#include <populus/program.h>
#include <populus/vertex_type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_variable_info {
  const char *name;
  pop_type type;
  bool constant;
  pop_tensor tensor; /* all elements, in the shape that it was added with */
} pop_variable_info;
size_t pop_graph_num_variables(const pop_graph *graph);
POP_MUST_CHECK pop_error *pop_graph_variable_info(pop_graph *graph, size_t variable,
                                                  pop_variable_info *info);

size_t pop_graph_num_vertex_types(const pop_graph *graph);
/* "SumVertex", "popops::Add<float>"; NULL if there is no such number. */
const char *pop_graph_vertex_type_name(const pop_graph *graph, size_t vertex_type);
/* Can vertices of the type be added? By the exact name. False for built-in types (poplar_rt::…)
 * that are not loaded yet. */
bool pop_graph_has_vertex_type(const pop_graph *graph, const char *name);

typedef struct pop_compute_set_info {
  const char *name;
  pop_compute_set compute_set;
  size_t num_vertices;
} pop_compute_set_info;
size_t pop_graph_num_compute_sets(const pop_graph *graph);
POP_MUST_CHECK pop_error *pop_graph_compute_set_info(pop_graph *graph, size_t compute_set,
                                                     pop_compute_set_info *info);

typedef struct pop_vertex_info {
  const char *vertex_type;
  pop_vertex vertex;
  pop_compute_set compute_set;
  size_t tile; /* number in the graph that is queried; SIZE_MAX: none */
} pop_vertex_info;
size_t pop_graph_num_vertices(const pop_graph *graph);
POP_MUST_CHECK pop_error *pop_graph_vertex_info(pop_graph *graph, size_t vertex,
                                                pop_vertex_info *info);
typedef struct pop_field_info {
  bool is_edge; /* Input, Output, InOut: tensors are connected to it; otherwise values are set */
  bool is_vector, has_rows;    /* neither: one element; rows: a vector of vectors */
  pop_type type;               /* of an element */
  pop_field_layout layout;     /* populus/vertex_type.h */
  pop_field_layout row_layout; /* of a field with rows; SCALAR if a row is one element */
  uint32_t max_rows;           /* limit of the layout; 1 without rows */
  uint32_t
      max_elements; /* the same, of a row if there are rows; UINT32_MAX: limited by memory only */
} pop_field_info;
/* UNKNOWN_FIELD, listing the fields, or INVALID_ARGUMENT: there is no such vertex. */
POP_MUST_CHECK pop_error *pop_graph_field_info(pop_vertex vertex, const char *field,
                                               pop_field_info *info);
/* The same without a vertex, by the name of its type. UNKNOWN_VERTEX_TYPE, listing similar ones;
 * UNKNOWN_FIELD. */
POP_MUST_CHECK pop_error *pop_graph_vertex_type_field_info(pop_graph *graph,
                                                           const char *vertex_type,
                                                           const char *field, pop_field_info *info);
/* Visits the connected fields of a vertex, in the order in which they were connected. A field with
 * rows is visited once for each row, in order; without rows `row` is SIZE_MAX. A null tensor is a
 * row that is not connected yet. `visit` may add to the graph: a vertex that is connected like this
 * one, for example. */
POP_MUST_CHECK pop_error *pop_graph_visit_vertex_fields(
    pop_graph *graph, size_t vertex,
    void (*visit)(void *context, const char *field, size_t row, pop_tensor tensor), void *context);

/* ---- the whole graph, for other programs ---- */

/* Writes the vertices as a graph for Graphviz's dot. Each compute set that the programs run is a
 * cluster with its vertices. There is an edge from each variable that a vertex reads, and to each
 * that it writes. Without programs: all compute sets. Errors here: CONTROL_PROGRAM for a program
 * that is null or of another graph; SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_graph_output_vertex_graph(pop_graph *graph, FILE *stream,
                                                        const pop_program *programs,
                                                        size_t num_programs);
/* The same with one node for each compute set, and one for each copy (also between replicas, and
 * with streams and remote buffers) and print of the programs. */
POP_MUST_CHECK pop_error *pop_graph_output_compute_graph(pop_graph *graph, FILE *stream,
                                                         const pop_program *programs,
                                                         size_t num_programs);
/* Writes the graph as JSON, without codelets' code and without the contents of constants and
 * variables: target, variables with their mapping, vertex types, compute sets with vertices and
 * what these are connected to, programs, handles, streams and remote buffers. `[variable, begin,
 * end]` is a run of elements, `[begin, end, tile]` an interval of a mapping. Of a RemoteCopy,
 * `source` is the tensor in both directions (`toDevice`), and `destination` has the offsets. */
POP_MUST_CHECK pop_error *pop_graph_serialize(pop_graph *graph, FILE *stream);
/* The same as CBOR (RFC 8949), with maps and vectors of indefinite length. */
POP_MUST_CHECK pop_error *pop_graph_serialize_cbor(pop_graph *graph, FILE *stream);
/* Writes `program` and all that it runs, each program once, as the list of programs of
 * pop_graph_serialize. `program` itself is the first. `index` is the number that `children` of
 * other programs refer to. */
POP_MUST_CHECK pop_error *pop_program_serialize(pop_program program, FILE *stream);

/* Writes tensors with their variables, for another graph: names, types, sizes and mapping, but
 * no contents (a constant comes back as a variable; quarters have metadata of their own). The
 * bytes are CBOR, for pop_graph_load_tensors. INVALID_ARGUMENT for tensors of another graph;
 * SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_graph_save_tensors(pop_graph *graph, const pop_tensor *tensors,
                                                 size_t num_tensors, FILE *stream);
/* Adds such variables to `graph`, even if it has variables of the same names, and returns the
 * tensors in a list that the caller frees by free(). FILE_LOAD for bytes that are something else or
 * damaged, and for tiles that `graph` does not have. What the graph refuses, such as variables that
 * are too large, is the graph's error code, but returned here and not kept by the graph. Variables
 * that were added before an error stay. If the graph has an error already, that is returned. */
POP_MUST_CHECK pop_error *pop_graph_load_tensors(pop_graph *graph, const void *bytes, size_t size,
                                                 pop_tensor **tensors, size_t *num_tensors);

#ifdef __cplusplus
}
#endif
#endif
