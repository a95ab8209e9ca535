/* Matrix products: populus/poplin.h.
 *
 * The three dimensions are cut into rows x columns x depth parts. Each tile gets one part
 * (matmul_plan.h):
 *
 *     left [m / rows, k / depth]  x  right [k / depth, n / columns]  ->  partials[part of k][m / rows, n / columns]
 *
 * A tile without room for its parts of the operands gets them in steps. In each step, a copy
 * brings the next elements along k to a buffer for each operand, and the same vertices
 * accumulate the products. If an operand would come in too many messages, it is first copied to
 * its best layout (matmul_operands.c).
 *
 * Or the tiles pass panels of the operands on to each other (matmul_rotation.c). That takes less
 * memory and some more time. */
#include "poplibs/host/matmul.h"
#include "base/divide.h"
#include "base/log.h"
#include "graph/graph.h"
#include "poplibs/host/matmul_product.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <stdlib.h>

static const char call[] = "pop_poplin_mat_mul";

void pop_poplin_add_codelets(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, __func__, "poplin");
}

/* ---- one step ---- */

static pop_tensor flat_panel(const product *p, const product_place *x, int operand, product_part k)
{
  pop_tensor panel = product_panel(p, x, operand, k);
  return pop_tensor_flatten(p->by_columns[operand] ? pop_tensor_transpose(panel) : panel);
}

/* All of k in one step: the vertices read the operands directly. */
static void add_one_step(const product *p, pop_tensor partials, pop_program sequence)
{
  pop_compute_set set = pop_graph_add_compute_set(p->graph, p->name);
  for (size_t i = 0; i < product_count_places(p) && !pop_graph_error(p->graph); i++) {
    product_place x = product_place_at(p, i);
    pop_tensor panels[2] = {flat_panel(p, &x, 0, x.k), flat_panel(p, &x, 1, x.k)};
    product_add_vertex(p, set, &x, true, panels, partials);
  }
  pop_sequence_add(sequence, pop_program_execute(p->graph, set, p->name));
}

/* ---- several steps ---- */

typedef struct stepping {
  const product *p;
  pop_tensor buffers[2]; /* [parts, elements of the largest panel] */
  pop_tensor partials;
  pop_program sequence;
} stepping;

static pop_tensor buffer_part(const stepping *s, size_t i, int operand, size_t elements)
{
  return pop_tensor_slice(pop_tensor_index(s->buffers[operand], i), 0, elements, 0);
}

/* Adds the buffers. The first step's panels may be smaller than a buffer. They also come in two
 * steps of the program: from other tiles, and from the tile itself. WriteUndef says that a
 * buffer is not live before. */
static void add_buffers(stepping *s)
{
  const product *p = s->p;
  size_t parts = product_count_places(p);
  size_t widths[2] = {product_largest_part(product_cut_of(&p->shape, p->shape.m, p->plan.rows)),
                      product_largest_part(product_cut_of(&p->shape, p->shape.n, p->plan.columns))};
  for (int o = 0; o < 2; o++) {
    s->buffers[o] = pop_graph_add_variable(
        p->graph, p->type, (size_t[]){parts, widths[o] * p->plan.length}, 2, p->name);
    for (size_t i = 0; i < parts; i++)
      pop_graph_set_tile_mapping(p->graph, pop_tensor_index(s->buffers[o], i),
                                 i % p->shape.num_tiles);
    pop_sequence_add(s->sequence, pop_program_write_undef(s->buffers[o], p->name));
  }
}

/* Copies the panels of a step to the buffers. */
static void add_copy(const stepping *s, size_t step)
{
  const product *p = s->p;
  size_t parts = product_count_places(p), count = 0;
  pop_tensor *from = pop_xcalloc(2 * parts, sizeof *from), *to = pop_xcalloc(2 * parts, sizeof *to);
  for (int o = 0; o < 2; o++)
    for (size_t i = 0; i < parts; i++) {
      product_place x = product_place_at(p, i);
      product_part k = product_step_of(p, &x, step);
      if (k.begin == k.end) continue;
      from[count] = flat_panel(p, &x, o, k);
      to[count] = buffer_part(s, i, o, pop_tensor_num_elements(from[count]));
      count++;
    }
  pop_sequence_add(s->sequence,
                   pop_program_copy(pop_concat(from, count, 0), pop_concat(to, count, 0), p->name));
  free(from);
  free(to);
}

static pop_program execute_step(const stepping *s, size_t step)
{
  const product *p = s->p;
  pop_compute_set set = pop_graph_add_compute_set(p->graph, p->name);
  for (size_t i = 0; i < product_count_places(p) && !pop_graph_error(p->graph); i++) {
    product_place x = product_place_at(p, i);
    product_part k = product_step_of(p, &x, step);
    size_t length = k.end - k.begin;
    if (length == 0) continue;
    pop_tensor operands[2] = {buffer_part(s, i, 0, (x.m.end - x.m.begin) * length),
                              buffer_part(s, i, 1, (x.n.end - x.n.begin) * length)};
    product_add_vertex(p, set, &x, step == 0, operands, s->partials);
  }
  return pop_program_execute(p->graph, set, p->name);
}

/* Do all parts of k get as many elements as in the step before? */
static bool is_like_last(const product *p, size_t step)
{
  product_cut depths = product_cut_of(&p->shape, p->shape.k, p->plan.depth);
  for (size_t i = 0; i < p->plan.depth; i++) {
    product_place x = {.k = product_part_of(depths, i)};
    product_part now = product_step_of(p, &x, step), last = product_step_of(p, &x, step - 1);
    if (now.end - now.begin != last.end - last.begin) return false;
  }
  return true;
}

/* The first step overwrites the partials. The steps after it share a compute set, but those at the
 * end of a part have their own: the part's elements are fewer, or none, and not all parts end in
 * the same step. */
static void add_steps(const product *p, pop_tensor partials, pop_program sequence)
{
  stepping s = {.p = p, .partials = partials, .sequence = sequence};
  size_t steps = product_count_steps(p);
  pop_program products = {0};
  add_buffers(&s);
  for (size_t step = 0; step < steps && !pop_graph_error(p->graph); step++) {
    add_copy(&s, step);
    if (step < 2 || !is_like_last(p, step)) products = execute_step(&s, step);
    pop_sequence_add(sequence, products);
  }
}

/* ---- calls ---- */

static bool check_operands(pop_graph *graph, pop_tensor a, pop_tensor b, size_t rank)
{
  pop_type type = pop_tensor_element_type(a);
  if (pop_graph_error(graph)) return false;
  if (pop_tensor_rank(a) != rank || pop_tensor_rank(b) != rank ||
      pop_tensor_dim(a, rank - 1) != pop_tensor_dim(b, rank - 2) ||
      (rank == 3 && pop_tensor_dim(a, 0) != pop_tensor_dim(b, 0)) ||
      pop_tensor_num_elements(a) == 0 || pop_tensor_num_elements(b) == 0) {
    char shapes[2][64];
    pop_tensor_shape_string(a, shapes[0], sizeof shapes[0]);
    pop_tensor_shape_string(b, shapes[1], sizeof shapes[1]);
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: the product of tensors of shapes %s and %s; %s are needed, not empty", call,
                 shapes[0], shapes[1],
                 rank == 3 ? "{groups,m,k} and {groups,k,n}" : "{m,k} and {k,n}");
    return false;
  }
  if (pop_tensor_element_type(b) != type || (type != POP_FLOAT && type != POP_HALF)) {
    poplibs_fail(graph, POP_ERROR_TYPE,
                 "%s: the product of elements of type %s and %s; both must be float, or half", call,
                 pop_type_name(type), pop_type_name(pop_tensor_element_type(b)));
    return false;
  }
  return poplibs_check_vertex_type(graph, call, "poplin::MatMulBlock<float,float,4,4,true,true>",
                                   "product", type);
}

static bool check_options(pop_graph *graph, const pop_mat_mul_options *o)
{
  if (!o) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: there are no options; a struct of them is needed", call);
    return false;
  }
  if ((o->partials != POP_FLOAT && o->partials != POP_HALF) ||
      (o->output != POP_FLOAT && o->output != POP_HALF)) {
    poplibs_fail(graph, POP_ERROR_TYPE,
                 "%s: partials of type %s, result of type %s; each must be float or half", call,
                 pop_type_name(o->partials), pop_type_name(o->output));
    return false;
  }
  if (!(o->memory_proportion >= 0 && o->memory_proportion <= 1)) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: a memory proportion of %g; it must be from 0 to 1", call,
                 o->memory_proportion);
    return false;
  }
  return true;
}

static void log_plan(const product *p)
{
  const product_shape *s = &p->shape;
  const product_plan *plan = &p->plan;
  if (log_poplibs_enabled(LOG_DEBUG))
    log_poplibs(
        LOG_DEBUG, "POPLIN",
        "%zu x [%zu, %zu] x [%zu, %zu]: %zu x %zu parts, k in %zu, %zu steps of %zu%s, blocks of "
        "%u x %u; about %.0f cycles, %zu bytes on a tile",
        s->groups, s->m, s->k, s->k, s->n, plan->rows, plan->columns, plan->depth,
        product_count_steps(p), plan->length, plan->rotates ? " that go round" : "",
        plan->block_rows, plan->block_columns, plan->cycles, plan->tile_bytes);
}

static product plan_product(pop_graph *graph, pop_type type, pop_mat_mul_sizes sizes, size_t run,
                            const pop_mat_mul_options *options, const char *name)
{
  product p = {.graph = graph,
               .type = type,
               .partials = type == POP_FLOAT ? POP_FLOAT : options->partials,
               .name = name};
  const pop_target *target = pop_graph_get_target(graph);
  p.shape = (product_shape){.groups = sizes.groups,
                            .m = sizes.m,
                            .k = sizes.k,
                            .n = sizes.n,
                            .run = run,
                            .element_bytes = pop_type_bytes(type),
                            .partial_bytes = pop_type_bytes(p.partials),
                            .num_tiles = pop_graph_num_tiles(graph),
                            .may_rotate = run == 1,
                            .target = target};
  /* Only half of the proportion: the original operands are on the tiles, too. */
  p.shape.bytes = (size_t)(options->memory_proportion / 2 * (double)target->memory_bytes);
  p.plan = product_find_plan(&p.shape);
  log_plan(&p);
  return p;
}

static pop_tensor add_product(product *p, const pop_mat_mul_options *options, pop_program sequence)
{
  pop_tensor none = {p->graph->top, 0};
  p->by_columns[0] = p->plan.rotates;
  for (int operand = 0; operand < 2 && !p->plan.rotates; operand++)
    operand_arrange(p, operand, sequence);
  pop_tensor partials = pop_graph_add_variable(
      p->graph, p->partials, (size_t[]){p->plan.depth, p->shape.groups, p->shape.m, p->shape.n}, 4,
      p->name);
  if (p->plan.rotates)
    rotation_add(p, partials, sequence);
  else if (product_count_steps(p) == 1)
    add_one_step(p, partials, sequence);
  else
    add_steps(p, partials, sequence);
  pop_tensor result = pop_tensor_index(partials, 0);
  if (p->plan.depth > 1)
    result = pop_popops_reduce(p->graph, partials, (size_t[]){0}, 1,
                               (pop_reduction){.op = POP_REDUCE_ADD}, none, sequence, NULL, NULL,
                               p->name);
  if (p->partials != options->output)
    result = pop_popops_cast(p->graph, result, options->output, none, sequence, p->name);
  return pop_graph_error(p->graph) ? none : result;
}

pop_mat_mul_options pop_mat_mul_default_options(pop_type type)
{
  return (pop_mat_mul_options){.memory_proportion = .6, .partials = POP_FLOAT, .output = type};
}

static pop_tensor multiply(pop_graph *graph, pop_tensor a, pop_tensor b, size_t rank, size_t run,
                           const pop_mat_mul_options *options, pop_program sequence,
                           const char *name)
{
  pop_tensor none = {graph->top, 0};
  if (!check_operands(graph, a, b, rank) || !check_options(graph, options)) return none;
  if (rank == 2) {
    a = pop_tensor_expand(a, 0);
    b = pop_tensor_expand(b, 0);
  }
  pop_mat_mul_sizes sizes = {pop_tensor_dim(a, 0), pop_tensor_dim(a, 1), pop_tensor_dim(a, 2),
                             pop_tensor_dim(b, 2)};
  product p = plan_product(graph, pop_tensor_element_type(a), sizes, run, options, name);
  p.operands[0] = a;
  p.operands[1] = b;
  pop_tensor result = add_product(&p, options, sequence);
  return rank == 2 && result.index ? pop_tensor_index(result, 0) : result;
}

pop_tensor pop_poplin_mat_mul_with(pop_graph *graph, pop_tensor a, pop_tensor b,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  return multiply(graph, a, b, 2, 1, options, sequence, name);
}

pop_tensor pop_poplin_mat_mul_grouped(pop_graph *graph, pop_tensor a, pop_tensor b,
                                      const pop_mat_mul_options *options, pop_program sequence,
                                      const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  return multiply(graph, a, b, 3, 1, options, sequence, name);
}

pop_tensor poplibs_mat_mul_in_runs(pop_graph *graph, pop_tensor a, pop_tensor b, size_t run,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name)
{
  poplibs_log("pop_poplin_mat_mul_grouped", name, (const pop_tensor[]){a, b}, 2);
  return multiply(graph, a, b, 3, run, options, sequence, name);
}

pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  pop_mat_mul_options options = pop_mat_mul_default_options(pop_tensor_element_type(a));
  if (options.output != POP_HALF)
    options.output = POP_FLOAT; /* others are refused with a message */
  return multiply(graph, a, b, 2, 1, &options, sequence, name);
}

/* Checks the options, type and sizes of a variable for a product's operand or result. */
static bool check_sizes(pop_graph *graph, const char *function, pop_type type,
                        pop_mat_mul_sizes sizes, const pop_mat_mul_options *options)
{
  if (!check_options(graph, options)) return false;
  if (type != POP_FLOAT && type != POP_HALF) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: operands of type %s; they must be float, or half",
                 function, pop_type_name(type));
    return false;
  }
  if (!sizes.groups || !sizes.m || !sizes.k || !sizes.n) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: %zu products of {%zu,%zu} and {%zu,%zu} have no elements", function,
                 sizes.groups, sizes.m, sizes.k, sizes.k, sizes.n);
    return false;
  }
  return true;
}

pop_tensor pop_poplin_create_mat_mul_input(pop_graph *graph, pop_type type, pop_mat_mul_side side,
                                           pop_mat_mul_sizes sizes,
                                           const pop_mat_mul_options *options, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  if (!check_sizes(graph, __func__, type, sizes, options)) return (pop_tensor){graph->top, 0};
  product p = plan_product(graph, type, sizes, 1, options, name);
  int operand = side == POP_MAT_MUL_LEFT ? 0 : 1;
  return p.plan.rotates ? rotation_create_operand(&p, operand) : operand_create(&p, operand);
}

pop_tensor pop_poplin_create_mat_mul_output(pop_graph *graph, pop_type type,
                                            pop_mat_mul_sizes sizes,
                                            const pop_mat_mul_options *options, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  if (!check_sizes(graph, __func__, type, sizes, options)) return (pop_tensor){graph->top, 0};
  product p = plan_product(graph, type, sizes, 1, options, name);
  pop_tensor t = pop_graph_add_variable(graph, options->output,
                                        (size_t[]){sizes.groups, sizes.m, sizes.n}, 3, name);
  for (size_t i = 0; i < product_count_places(&p) && !pop_graph_error(graph); i++) {
    product_place x = product_place_at(&p, i);
    if (x.depth == 0)
      pop_graph_set_tile_mapping(graph, product_submatrix(pop_tensor_index(t, x.group), x.m, x.n),
                                 x.tile);
  }
  return t;
}
