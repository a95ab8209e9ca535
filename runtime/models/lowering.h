/* From operations to a graph.
 *
 * Operations of a block are taken in order. What is calculated element by element, or from the index of an element,
 * is only remembered (PENDING) until somebody needs it as a tensor; then it becomes one codelet with all that is
 * pending before it (fuse.c): C source, in which shapes and attributes are numbers. The rest is lowered at once.
 * All codelets of a model, or of several, are compiled together when it has been gone through, so vertices are kept in a
 * list until then (vertices.c).
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
  STATE_PENDING, /* what op says, to be calculated when it is needed */
  STATE_SPLAT,   /* all elements are the one at `splat` */
  STATE_TENSOR,
  STATE_TOKEN
} state_kind;

typedef struct value_state {
  state_kind kind;
  const operation *op;       /* PENDING */
  const uint8_t *splat;      /* SPLAT */
  pop_tensor tensor;         /* TENSOR, of the value's shape */
  uint32_t uses, group_uses; /* by operations; by those of the group that is being made */
  uint32_t weight; /* PENDING: operations that it takes, counted once for each way to them */
  bool in_group;
  /* TENSOR: a variable of its own, laid out as a table by the dimensions that have a bit in `rows`, which operations of this block
   * may change when nobody else needs it; or NULL. `done`: uses that need it no more (lower_windows.c). */
  const block *changes_in;
  uint64_t rows;
  uint32_t done;
} value_state;

/* Of values that are akin one is the root: places.c. */
typedef struct kin_state {
  uint32_t parent;
  uint32_t first_tile; /* of a root: where they begin, once one of them lies somewhere */
  bool of_argument;    /* of a root: one of them is an argument of @main */
} kin_state;

/* ---- codelets and vertices: vertices.c ---- */

typedef struct codelet {
  const char *stem;     /* "add" */
  char *name;           /* "hlo_add_3" */
  char *source;         /* with NAME for its name */
  const char *compiled; /* its name among those of all models that were compiled with it */
} codelet;

/* A field, connected to a tensor, or a number. */
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

/* A tensor of an infeed or outfeed, and the stream that it is. */
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
  uint64_t copy_limit; /* bytes: of larger operands no tile has a copy if there is another way */
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
  size_t next_tile;  /* where small tensors go, in turn */
  kin_state *kin;    /* by the number of the value */
  size_t next_place; /* where the next argument begins that is not small */
} lowering;

/* false, with an error at the operation unless there is one. */
bool lowering_fail(lowering *l, const operation *op, const char *format, ...) POP_PRINTF(3, 4);

value_state *state_of(lowering *l, const value *v);
/* The value as a tensor of its shape, calculated now if it is pending; null after an error. */
pop_tensor lowering_tensor(lowering *l, const value *v);
void lowering_set_tensor(lowering *l, const value *v, pop_tensor t);
/* What is pending becomes a tensor. */
bool lowering_force(lowering *l, const value *v);
/* A variable for an argument of the block, laid out as the first operation needs it that has a say in it. */
pop_tensor lowering_argument(lowering *l, const block *b, const value *v, const char *name);
/* All operations of a block but its return. */
bool lower_block(lowering *l, const block *b);
/* Does it have an effect, or a result that what lives uses? Nothing is made of what does not. */
bool lowering_is_live(lowering *l, const operation *op);

/* A variable of the type, spread as `parts` consecutive ranges of elements, `grain` of which each is a multiple of. */
typedef struct spread_plan {
  uint64_t elements; /* in units of `grain` */
  uint64_t per_vertex;
  uint64_t num_vertices;
  uint64_t on_tile; /* vertices: one for each worker, or fewer */
  uint64_t grain;
  size_t first_tile;
} spread_plan;
/* `cost`: of one element, in additions or so. */
spread_plan lowering_plan(lowering *l, uint64_t elements, uint64_t cost, uint64_t grain);
/* places.c: what is akin, by the numbers of values; then, for each variable of such a value, where it begins. */
void places_find(lowering *l);
void place_value(lowering *l, spread_plan *p, const value *v);
/* One behind the other, for what is akin to nothing. */
void place_next(lowering *l, spread_plan *p);
size_t plan_tile(const lowering *l, const spread_plan *p, uint64_t vertex);
/* Behind the last element of the vertex that has this one. */
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
/* Compiles the codelets of all, whose graphs have no error, each source once. What is wrong is in the graphs. */
void lowering_compile(lowering *const *all, size_t count);
void lowering_make_vertices(lowering *l); /* after that; the same */
/* The source of all codelets. */
char *lowering_source(const lowering *l);
/* headers.c: lines that include what the code calls. */
void lowering_add_headers(text *t, const char *code);

/* ---- code: emit.c ---- */

/* How an operand is used: at the same index, its only element, anywhere, or in the box that boxes.c says. */
typedef enum access { ACCESS_SAME, ACCESS_SCALAR, ACCESS_WHOLE, ACCESS_BOX } access;

typedef struct emitted_input {
  const value *v;
  access how;
  const operation *op; /* BOX: of this operation its operand `operand` */
  size_t operand;
} emitted_input;

typedef struct emitter {
  lowering *l;
  text functions; /* bodies of regions */
  text setup;     /* before the loop: values of one element */
  text body;      /* in the loop: element i of the vertex, e of the tensor */
  emitted_input *inputs;
  size_t num_inputs, inputs_capacity;
  const value **values; /* by the numbers of their variables */
  size_t num_values, values_capacity;
  unsigned next_name;
  bool in_setup;
} emitter;

/* Code for an element: an expression for what the operand has at `index` (of ACCESS_WHOLE). Arena. */
const char *emit_operand(emitter *e, const value *v, access how, const char *index);
/* The same for operand i of an operation, at an index of each dimension, for ACCESS_WHOLE and ACCESS_BOX: as index_access says. */
const char *emit_at(emitter *e, const operation *op, size_t i, const char *const *at);
/* The linear index of an element of a tensor by that of each dimension. */
const char *emit_linear_index(emitter *e, const char *const *x, const model_type *type);
/* The name of a value's variable. They count from 0 in each codelet, so that those that do the same are the same. */
const char *emit_variable(emitter *e, const value *v);
void emitter_free(emitter *e);
const char *emit_literal(pop_arena *arena, element_type e, const uint8_t *bytes);
/* A C function of the region's arguments; returns its name. NULL after an error: it has more than scalars. */
const char *emit_region(emitter *e, const operation *op, size_t region);
/* name(a, b, …, &x, &y) */
void emit_region_call(emitter *e, text *to, const block *region, const char *name,
                      const char *const *arguments, const char *const *results);
/* "hlo_add_f32(a, b)" */
const char *emit_element(emitter *e, const operation *op, const char *const *operands);
/* An element of one type as one of another. */
const char *emit_converted(pop_arena *arena, element_type from, element_type to, const char *x);
/* sum + a * b, rounded twice; 16-bit floats are f32 here. */
const char *emit_product_added(pop_arena *arena, element_type e, const char *sum, const char *a,
                               const char *b);
const char *suffix_of(const value *v);
const char *c_type_of(const value *v);

/* ---- boxes.c: which part of an operand some elements of a result need ---- */

/* Elements begin <= x < end of each dimension. */
typedef struct box {
  int64_t begin[MODEL_MAX_RANK], end[MODEL_MAX_RANK];
} box;
/* The smallest one with the elements [begin, end) of a tensor, of which there is at least one. */
box box_of_range(const model_type *type, uint64_t begin, uint64_t end);
/* Of operand i, for elements [begin, end) of the first result; it has at least one element if the operand has one. */
box box_needed(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
/* How many bytes that has. */
uint64_t box_bytes(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
/* Where a vertex of elements [begin, end) should end, so that it and another for the rest need much less of operand i than one for
 * all: `end`, or where a row, plane, … of the result does. */
uint64_t box_cut(const lowering *l, const operation *op, size_t i, uint64_t begin, uint64_t end);
bool box_is_known(const operation *op, size_t i); /* that this is less than all of the operand */
/* As fields of a vertex: the elements are in<n>, the others are numbers, begin<n>_<d> and size<n>_<d>. */
void box_add_fields(text *to, size_t n, uint32_t rank);
const char *box_index(pop_arena *arena, size_t n, uint32_t rank, const char *const *at);
void box_set(planned_vertex *v, size_t n, size_t rank, const box *b);
pop_tensor box_of_tensor(pop_tensor t, const box *b); /* flat */
void box_connect(planned_vertex *v, const char *field, size_t n, pop_tensor t, const box *b);

/* emit_index.c: statements that define the variables of the results. */
access index_access(const lowering *l, const operation *op, size_t operand);
bool emit_index(emitter *e, text *to, const operation *op);
uint64_t index_cost(const lowering *l, const operation *op);
bool fits_whole(const lowering *l, const value *v);
/* emit_compute.c: of a reduce, dimensions that are kept, then those that are reduced. */
void reduce_order(const lowering *l, const operation *op, size_t order[MODEL_MAX_RANK]);

/* The stages' functions for one operation. */
bool fuse_and_calculate(lowering *l, const value *v); /* fuse.c */
bool lower_view(lowering *l, const operation *op, bool *done);
/* lower_product.c: is it too large for copies of its operands on each tile? */
bool product_is_planned(const lowering *l, const operation *op);
bool lower_product(lowering *l, const operation *op);
bool convolution_is_planned(const lowering *l, const operation *op); /* lower_convolution.c */
bool lower_convolution(lowering *l, const operation *op);
/* A variable for the operand, so laid out as this product fetches it. */
pop_tensor product_argument(lowering *l, const operation *op, size_t operand, const char *name);
/* Products and convolutions in a type that their operands are converted to, and their result from: lower_product_type.c.
 * ELEMENT_F16 and ELEMENT_F32: one that poplin calculates in. */
element_type product_element(const operation *op);
/* What lowering_tensor has of the operand, in that type. */
pop_tensor product_operand(lowering *l, const operation *op, size_t operand);
bool product_takes_operand(const operation *op, size_t operand); /* as it is */
/* Elements of type `e` as ones of the result's: the same tensor, or a new one of its shape. */
pop_tensor product_result(lowering *l, const operation *op, pop_tensor t, element_type e);
pop_type product_output(const operation *op); /* of poplin's product */
bool product_is_poplins(const operation *op);
/* lower_product_blocks.c: [groups, m, k] times [groups, k, n], of elements in the type that is calculated in. None of the sizes is
 * 0. A view [groups, m, n] of elements of the result's type. */
pop_tensor lower_product_in_blocks(lowering *l, const operation *op, pop_tensor a, pop_tensor b);
bool lower_range(lowering *l, const operation *op);             /* lower_range.c */
bool reduce_is_planned(const lowering *l, const operation *op); /* lower_reduce.c */
bool lower_reduce(lowering *l, const operation *op);
bool windows_are_planned(const lowering *l, const operation *op); /* lower_windows.c */
bool lower_windows(lowering *l, const operation *op);
/* What the operation, which is done later and perhaps often, takes parts of lies so from here on. */
bool windows_lay_operand(lowering *l, const operation *op);
/* A variable of the operand's shape, so laid out that the operation finds its parts where they lie. */
pop_tensor lowering_sliceable(lowering *l, const operation *op, const char *name);
uint64_t windows_rows(const lowering *l, const operation *op); /* value_state.rows of that */
bool lower_flow(lowering *l, const operation *op);             /* lower_flow.c */
bool lower_custom_call(lowering *l, const operation *op);      /* lower_custom.c */
bool lower_rng_state(lowering *l, const operation *op);        /* lower_random.c */
bool lower_infeed(lowering *l, const operation *op);           /* feeds.c */
bool lower_outfeed(lowering *l, const operation *op);

/* lower.c: all but codelets and vertices. `m`, `f`, `graph`, `sequence`, `num_tiles` and `num_workers` are set. */
POP_MUST_CHECK pop_error *lowering_run(lowering *l);
void lowering_free(lowering *l);

#endif
