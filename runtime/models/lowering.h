/* From operations to a graph.
 *
 * The operations of a block are taken in order. An operation that works element by element, or from
 * the index of an element, is only recorded (STATE_PENDING) at first. When some other operation
 * needs its result as a tensor, that value and everything pending before it are fused into one
 * codelet (fuse.c): C source with the shapes and attributes as numbers. All other operations are
 * lowered at once.
 *
 * The codelets of a model, or of several models, are compiled together once all operations are
 * lowered. Until then vertices are kept in a list (vertices.c).
 */
#ifndef POPULUS_MODELS_LOWERING_H
#define POPULUS_MODELS_LOWERING_H

#include "base/divide.h"
#include "models/module.h"
#include "models/text.h"

#include <populus/graph.h>
#include <populus/program.h>

typedef enum state_kind {
  STATE_NONE,    /* not reached yet */
  STATE_PENDING, /* result of `op`, calculated when it is needed */
  STATE_SPLAT,   /* all elements equal the one at `splat` */
  STATE_TENSOR,
  STATE_TOKEN
} state_kind;

typedef struct value_state {
  state_kind kind;
  const operation *op;       /* PENDING */
  const uint8_t *splat;      /* SPLAT */
  pop_tensor tensor;         /* TENSOR, of the value's shape */
  uint32_t uses, group_uses; /* by all operations; by those of the group that is being fused */
  uint32_t weight; /* PENDING: operations in its expression; shared ones count once for each path */
  bool in_group;
  /* STATE_TENSOR: the block whose operations may overwrite this tensor once nobody else needs it,
   * or NULL. It is then a variable of its own, laid out as a table: the dimensions with a bit in
   * `rows` form the rows. `done`: uses that have already been lowered (lower_windows.c). */
  const block *changes_in;
  uint64_t rows;
  uint32_t done;
} value_state;

/* Union-find: related values share one root (places.c). */
typedef struct placement_set {
  uint32_t parent;
  uint32_t first_tile; /* of a root: where its values begin, once one of them has been placed */
  bool of_argument;    /* of a root: an argument of @main is in the set */
} placement_set;

/* ---- codelets and vertices: vertices.c ---- */

typedef struct codelet {
  const char *stem;     /* "add" */
  char *name;           /* "hlo_add_3" */
  char *source;         /* with NAME for its name */
  const char *compiled; /* its name in the common compilation of all models */
} codelet;

/* A field of a vertex: connected to a tensor, or set to a number. */
typedef struct connection {
  char field[24];
  bool is_number;
  pop_tensor tensor;
  int64_t number;
} connection;

typedef struct planned_vertex {
  pop_compute_set compute_set;
  uint32_t codelet;
  size_t tile;
  connection *connections;
  size_t num_connections;
} planned_vertex;

/* ---- the state of a lowering ---- */

typedef struct lowered_check {
  const operation *op;
  const model_type *type;
  char actual[32], expected[32]; /* handles */
  const attribute *literal;      /* NULL: `expected` is read */
} lowered_check;

/* A tensor of an infeed or outfeed, and the name of its stream. */
typedef struct feed {
  const operation *op;
  const value *value;
  const char *name;
} feed;
typedef struct feed_list {
  feed *items;
  size_t count, capacity;
  size_t num_in, num_out; /* operations */
} feed_list;
/* feeds.c */
void feeds_find(module *m, const block *b, feed_list *list);

typedef struct lowering {
  module *m;
  function *f;
  pop_graph *graph;
  pop_program sequence; /* that operations are added to */
  pop_error *error;
  size_t num_tiles, num_workers;
  uint64_t copy_limit; /* bytes: larger operands are not copied to each tile if avoidable */
  value_state *states; /* by the number of the value */
  const block *block;  /* that is being lowered */
  codelet *codelets;
  size_t num_codelets, codelets_capacity;
  planned_vertex *vertices;
  size_t num_vertices, vertices_capacity;
  lowered_check *checks;
  size_t num_checks, checks_capacity;
  const feed_list *feeds;
  uint64_t num_rng_states;
  size_t next_tile;              /* for small tensors, round-robin */
  placement_set *placement_sets; /* by the number of the value */
  size_t next_place;             /* first tile of the next argument that is not small */
} lowering;

/* Returns false. Sets an error at the operation, unless there is one already. */
bool lowering_fail(lowering *l, const operation *op, const char *format, ...) POP_PRINTF(3, 4);

value_state *state_of(lowering *l, const value *v);
/* The value as a tensor of its shape, calculated now if it is pending. Null after an error. */
pop_tensor lowering_tensor(lowering *l, const value *v);
void lowering_set_tensor(lowering *l, const value *v, pop_tensor t);
/* Makes a pending value a tensor. */
bool lowering_materialise(lowering *l, const value *v);
/* A variable for an argument of the block. Its layout is that of the first operation that requires
 * one. */
pop_tensor lowering_argument(lowering *l, const block *b, const value *v, const char *name);
/* Lowers all operations of a block except its return. */
bool lower_block(lowering *l, const block *b);
/* Does the operation have an effect, or a result that a live operation uses? Dead operations are
 * not lowered. */
bool lowering_is_live(lowering *l, const operation *op);

/* How a value is divided between vertices and tiles: consecutive ranges, one for each vertex. The
 * length of each range is a multiple of `grain` elements. */
typedef struct spread_plan {
  uint64_t elements; /* in units of `grain` */
  uint64_t per_vertex;
  uint64_t num_vertices;
  uint64_t on_tile; /* vertices on a tile: one for each worker, or fewer */
  uint64_t grain;
  size_t first_tile;
} spread_plan;
/* `cost`: of one element, in units of about one addition. */
spread_plan lowering_plan(lowering *l, uint64_t elements, uint64_t cost, uint64_t grain);
/* places.c: finds which values are related, by their numbers; then chooses the first tile of a
 * variable for such a value. */
void places_find(lowering *l);
void place_value(lowering *l, spread_plan *p, const value *v);
/* The next free place, for a value that is related to none. */
void place_next(lowering *l, spread_plan *p);
size_t plan_tile(const lowering *l, const spread_plan *p, uint64_t vertex);
/* The end of the range of the vertex that has this element. */
uint64_t plan_end(const spread_plan *p, uint64_t element);
pop_tensor lowering_variable(lowering *l, const model_type *type, const spread_plan *plan,
                             const char *name);
pop_tensor lowering_constant(lowering *l, const model_type *type, const uint8_t *data, bool splat);
/* A name for people: "%5 add". */
char *lowering_name(lowering *l, const operation *op);

/* vertices.c */
uint32_t lowering_add_codelet(lowering *l, const char *source, const char *stem);
planned_vertex *lowering_add_vertex(lowering *l, pop_compute_set set, uint32_t codelet, size_t tile,
                                    size_t max_fields);
void vertex_connect(planned_vertex *v, const char *field, pop_tensor t);
void vertex_set(planned_vertex *v, const char *field, int64_t number);
/* Compiles the codelets of all lowerings whose graphs have no error, each distinct source once.
 * Errors are set on the graphs. */
void lowering_compile(lowering *const *all, size_t count);
void lowering_make_vertices(lowering *l); /* after lowering_compile; errors are on the graph */
/* The source of all codelets. */
char *lowering_source(const lowering *l);
/* headers.c: adds #include lines for the functions that the code calls. */
void lowering_add_headers(text *t, const char *code);

/* ---- code: emit.c ---- */

/* Which elements of an operand are used: the one at the same index, its only one, any, or those in
 * the box that boxes.c finds. */
typedef enum access { ACCESS_SAME, ACCESS_SCALAR, ACCESS_WHOLE, ACCESS_BOX } access;

typedef struct emitted_input {
  const value *v;
  access how;
  const operation *op; /* BOX: the operation whose operand number `operand` this is */
  size_t operand;
} emitted_input;

typedef struct emitter {
  lowering *l;
  text functions; /* bodies of regions */
  text setup;     /* before the loop: values that have one element */
  text body;      /* in the loop: i is the element's number in the vertex, e in the tensor */
  emitted_input *inputs;
  size_t num_inputs, inputs_capacity;
  const value **values; /* by the numbers in their variables' names */
  size_t num_values, values_capacity;
  unsigned next_name;
  bool in_setup;
} emitter;

/* An expression for the operand's element. `index` is only for ACCESS_WHOLE. Allocated in the
 * arena. */
const char *emit_operand(emitter *e, const value *v, access how, const char *index);
/* The same for operand i of an operation, with one index for each dimension. For ACCESS_WHOLE and
 * ACCESS_BOX, as index_access says. */
const char *emit_at(emitter *e, const operation *op, size_t i, const char *const *at);
/* The linear index of an element from its index in each dimension. */
const char *emit_linear_index(emitter *e, const char *const *x, const model_type *type);
/* The name of a value's variable. Numbering begins at 0 in each codelet, so equal codelets have
 * equal source. */
const char *emit_variable(emitter *e, const value *v);
void emitter_free(emitter *e);
const char *emit_literal(pop_arena *arena, element_type e, const uint8_t *bytes);
/* Emits the region as a C function and returns its name. NULL after an error: the region has values
 * that are not scalars. */
const char *emit_region(emitter *e, const operation *op, size_t region);
/* name(a, b, …, &x, &y) */
void emit_region_call(emitter *e, text *to, const block *region, const char *name,
                      const char *const *arguments, const char *const *results);
/* "hlo_add_f32(a, b)" */
const char *emit_element(emitter *e, const operation *op, const char *const *operands);
/* Converts an element from one type to another. */
const char *emit_converted(pop_arena *arena, element_type from, element_type to, const char *x);
/* sum + a * b, rounded after each of the two; 16-bit floats are f32 here. */
const char *emit_product_added(pop_arena *arena, element_type e, const char *sum, const char *a,
                               const char *b);
const char *suffix_of(const value *v);
const char *c_type_of(const value *v);

/* ---- boxes.c: which part of an operand some elements of a result need ---- */

/* In each dimension the elements begin <= x < end. */
typedef struct box {
  int64_t begin[MODEL_MAX_RANK], end[MODEL_MAX_RANK];
} box;
/* The smallest box with the elements [begin, end) of a tensor; begin < end. */
box box_of_range(const model_type *type, uint64_t begin, uint64_t end);
/* The box of operand i that elements [begin, end) of the first result need. It has at least one
 * element if the operand has one. */
box box_needed(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
/* Its size in bytes. */
uint64_t box_bytes(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
/* Where a vertex that begins at `begin` should end. Returns `end`, or the boundary of a row, plane,
 * … of the result at which two vertices would need much less of operand i than one. */
uint64_t box_cut(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
bool box_is_known(const operation *op, size_t i); /* that a box can be smaller than operand i */
/* The fields of a box: elements are in in<n>; the numbers are begin<n>_<d> and size<n>_<d>. */
void box_add_fields(text *to, size_t n, uint32_t rank);
const char *box_index(pop_arena *arena, size_t n, uint32_t rank, const char *const *at);
void box_set(planned_vertex *v, size_t n, size_t rank, const box *b);
pop_tensor box_of_tensor(pop_tensor t, const box *b); /* flat */
void box_connect(planned_vertex *v, const char *field, size_t n, pop_tensor t, const box *b);

/* emit_index.c: emits statements that define the variables of the results. */
access index_access(const lowering *l, const operation *op, size_t operand);
bool emit_index(emitter *e, text *to, const operation *op);
uint64_t index_cost(const lowering *l, const operation *op);
bool fits_whole(const lowering *l, const value *v);
/* emit_compute.c: the dimensions of a reduce's operand, those that are kept first. */
void reduce_order(const lowering *l, const operation *op, size_t order[MODEL_MAX_RANK]);

/* The lowering of one operation, by stage. */
bool fuse_and_materialise(lowering *l, const value *v); /* fuse.c */
bool lower_view(lowering *l, const operation *op, bool *done);
/* lower_product.c: are the operands too large to be copied to each tile? */
bool product_is_planned(const lowering *l, const operation *op);
bool lower_product(lowering *l, const operation *op);
bool convolution_is_planned(const lowering *l, const operation *op); /* lower_convolution.c */
bool lower_convolution(lowering *l, const operation *op);
/* A variable for the operand, laid out as this product reads it. */
pop_tensor product_argument(lowering *l, const operation *op, size_t operand, const char *name);
/* lower_product_type.c: the type in which a product or convolution is calculated. Operands are
 * converted to it, and the result from it. poplin calculates in ELEMENT_F16 and ELEMENT_F32. */
element_type product_element(const operation *op);
/* The operand's tensor, converted to that type. */
pop_tensor product_operand(lowering *l, const operation *op, size_t operand);
bool product_takes_operand(const operation *op, size_t operand); /* as it is */
/* Converts elements of type `e` to the result's type. Returns the same tensor, or a new one of its
 * shape. */
pop_tensor product_result(lowering *l, const operation *op, pop_tensor t, element_type e);
pop_type product_output(const operation *op); /* of poplin's product */
bool product_is_poplins(const operation *op);
/* lower_product_blocks.c: [groups, m, k] times [groups, k, n], with elements of the type of
 * calculation and no size 0. Returns a view [groups, m, n] with elements of the result's type. */
pop_tensor lower_product_in_blocks(lowering *l, const operation *op, pop_tensor a, pop_tensor b);
bool lower_range(lowering *l, const operation *op);             /* lower_range.c */
bool reduce_is_planned(const lowering *l, const operation *op); /* lower_reduce.c */
bool lower_reduce(lowering *l, const operation *op);
bool windows_are_planned(const lowering *l, const operation *op); /* lower_windows.c */
bool lower_windows(lowering *l, const operation *op);
/* Lays out the operand as a table if the operation takes parts of it. For operations that run later
 * and perhaps often. */
bool windows_prepare_operand(lowering *l, const operation *op);
/* A variable of the operand's shape, laid out as a table that the operation can take parts of. */
pop_tensor lowering_sliceable(lowering *l, const operation *op, const char *name);
uint64_t windows_rows(const lowering *l, const operation *op); /* its value_state.rows */
bool lower_flow(lowering *l, const operation *op);             /* lower_flow.c */
bool lower_custom_call(lowering *l, const operation *op);      /* lower_custom.c */
bool lower_rng_state(lowering *l, const operation *op);        /* lower_random.c */
bool lower_infeed(lowering *l, const operation *op);           /* feeds.c */
bool lower_outfeed(lowering *l, const operation *op);

/* lower.c: everything but codelets and vertices. `m`, `f`, `graph`, `sequence`, `num_tiles` and
 * `num_workers` must be set. */
POP_MUST_CHECK pop_error *lowering_run(lowering *l);
void lowering_free(lowering *l);

#endif
