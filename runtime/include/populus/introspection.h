/* What a graph is made of, for host programs that look at graphs that others have made, and for people.
 *
 * Variables, vertex types and so on have numbers from 0 on, in the order in which they were made; of a
 * virtual graph they are those of the graph that it is a view of. Names live as long as the graph, and are
 * "" where none was given. All can be asked of a graph that has an error. A number that there is not is
 * INDEX. */
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
  pop_tensor tensor; /* all of it, in the shape that it was added with */
} pop_variable_info;
size_t pop_graph_num_variables(const pop_graph *graph);
POP_MUST_CHECK pop_error *pop_graph_variable_info(pop_graph *graph, size_t variable,
                                                  pop_variable_info *info);

size_t pop_graph_num_vertex_types(const pop_graph *graph);
/* "SumVertex", "popops::Add<float>"; NULL if there is no such number. */
const char *pop_graph_vertex_type_name(const pop_graph *graph, size_t vertex_type);
/* Can vertices of the type be added? */
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
  size_t tile; /* of the graph that was asked; SIZE_MAX: none (of it) */
} pop_vertex_info;
size_t pop_graph_num_vertices(const pop_graph *graph);
POP_MUST_CHECK pop_error *pop_graph_vertex_info(pop_graph *graph, size_t vertex,
                                                pop_vertex_info *info);
typedef struct pop_field_info {
  bool is_edge; /* Input, Output, InOut: tensors are connected to it; otherwise values are set */
  bool is_vector, has_rows;    /* no vector: one element; rows: a vector of vectors */
  pop_type type;               /* of an element */
  pop_field_layout layout;     /* populus/vertex_type.h */
  pop_field_layout row_layout; /* of a field with rows; SCALAR if a row is one element */
  uint32_t max_rows;           /* that the layout can count; 1 without rows */
  uint32_t
      max_elements; /* the same: of a row, if there are rows; UINT32_MAX: no limit but memory */
} pop_field_info;
/* UNKNOWN_FIELD, with those that there are, or INVALID_ARGUMENT: no such vertex. */
POP_MUST_CHECK pop_error *pop_graph_field_info(pop_vertex vertex, const char *field,
                                               pop_field_info *info);
/* The same before there is a vertex, by the name of its type. UNKNOWN_VERTEX_TYPE, with those that are like it. */
POP_MUST_CHECK pop_error *pop_graph_vertex_type_field_info(pop_graph *graph,
                                                           const char *vertex_type,
                                                           const char *field, pop_field_info *info);
/* The connected fields of a vertex in the order in which they were connected, with the tensor, or one
 * for each row in order: `row` is SIZE_MAX for a field without rows. Null tensors are rows that are not
 * connected yet. */
POP_MUST_CHECK pop_error *pop_graph_visit_vertex_fields(
    pop_graph *graph, size_t vertex,
    void (*visit)(void *context, const char *field, size_t row, pop_tensor tensor), void *context);

/* ---- the whole, for other programs ---- */

/* The vertices, as a graph for Graphviz's dot: of each compute set that the programs run a cluster with
 * its vertices; an edge from each variable that a vertex reads and to each that it writes. With no
 * programs: of all compute sets. */
POP_MUST_CHECK pop_error *pop_graph_output_vertex_graph(pop_graph *graph, FILE *stream,
                                                        const pop_program *programs,
                                                        size_t num_programs);
/* The same with one node for each compute set, and one for each copy and print of the programs. */
POP_MUST_CHECK pop_error *pop_graph_output_compute_graph(pop_graph *graph, FILE *stream,
                                                         const pop_program *programs,
                                                         size_t num_programs);
/* The graph as JSON, without codelets' code and without the contents of constants and variables: target,
 * variables with their mapping, vertex types, compute sets with vertices and what they are connected to,
 * programs, handles and streams. `[variable, begin, end]` is a run of elements, `[begin, end, tile]` one of
 * a mapping. */
POP_MUST_CHECK pop_error *pop_graph_serialize(pop_graph *graph, FILE *stream);
/* The same as CBOR (RFC 8949), maps and vectors of indefinite length. */
POP_MUST_CHECK pop_error *pop_graph_serialize_cbor(pop_graph *graph, FILE *stream);
/* `program` and all that it runs, each program once, as the list of programs that pop_graph_serialize writes; `program` itself is
 * the first. `index` says which number another's `children` know it by. */
POP_MUST_CHECK pop_error *pop_program_serialize(pop_program program, FILE *stream);

/* Tensors with the variables that they are of, for another graph: names, types, sizes and mapping, no contents (a constant
 * comes back as a variable, quarters have metadata of their own). What is written is CBOR, for pop_graph_load_tensors.
 * INVALID_ARGUMENT for tensors of another graph; SYSTEM if the stream cannot be written. */
POP_MUST_CHECK pop_error *pop_graph_save_tensors(pop_graph *graph, const pop_tensor *tensors,
                                                 size_t num_tensors, FILE *stream);
/* Adds such variables to `graph`, also where there are some of the same names, and gives the tensors: a list that the caller
 * frees. FILE_LOAD for bytes that are something else or damaged, and for tiles that `graph` has not; what the graph refuses, as
 * variables that are too large, is this error, too, and not the graph's. A graph that has an error already says that one. */
POP_MUST_CHECK pop_error *pop_graph_load_tensors(pop_graph *graph, const void *bytes, size_t size,
                                                 pop_tensor **tensors, size_t *num_tensors);

#ifdef __cplusplus
}
#endif
#endif
