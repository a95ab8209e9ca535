/* Matrix products: populus/poplin.h.
 *
 * The three dimensions are cut into rows x columns x depth parts, one of each for a tile:
 *
 *     left [m / rows, k / depth]  x  right [k / depth, n / columns]  ->  partials[part of k][m / rows, n / columns]
 *
 * How many parts is found by comparing the estimated cycles of all that there are tiles for. What a tile needs then may be
 * more than it may have for that: parts of k are cut into steps, one after the other, that add to the same partials. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <populus/poplin.h>
#include <populus/popops.h>

static const char call[] = "pop_poplin_mat_mul";

typedef struct cut {
  size_t rows, columns, depth; /* parts */
} cut;

typedef struct product {
  pop_graph *graph;
  size_t m, k, n, element_bytes;
  pop_type type, partials;
  size_t bytes; /* of operands and partials that a tile may have in a step */
  const char *name;
} product;

static size_t divide_up(size_t a, size_t b)
{
  return (a + b - 1) / b;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

void pop_poplin_add_codelets(pop_graph *graph)
{
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, "poplin");
}

/* Of the busiest tile. A multiplication and addition takes about 8 instructions of a worker; the result's elements go
 * round among the workers; operands come at a word a cycle; the parts of k are added on about one tile each. */
static double estimate_cycles(const product *p, cut c)
{
  enum { INSTRUCTIONS = 8, SECOND_SET = 500 };
  size_t workers = pop_graph_get_target(p->graph)->num_worker_contexts;
  double rows = (double)divide_up(p->m, c.rows), columns = (double)divide_up(p->n, c.columns);
  double depth = (double)divide_up(p->k, c.depth);
  double rounds = (double)divide_up((size_t)(rows * columns), workers);
  double cycles = rounds * depth * INSTRUCTIONS * (double)workers;
  cycles += (rows + columns) * depth * (double)p->element_bytes / 4;
  return c.depth > 1 ? cycles + SECOND_SET + (double)c.depth * INSTRUCTIONS : cycles;
}

/* In how many steps what a tile holds of operands and result is no more than it may be, as far as steps help. */
static size_t count_steps(const product *p, cut c)
{
  size_t rows = divide_up(p->m, c.rows), columns = divide_up(p->n, c.columns);
  size_t depth = divide_up(p->k, c.depth), result = rows * columns * pop_type_bytes(p->partials);
  size_t of_one = (rows + columns) * p->element_bytes;
  size_t fitting = p->bytes > result ? (p->bytes - result) / of_one : 0;
  size_t steps = divide_up(depth, fitting ? fitting : 1);
  return smaller(steps, p->k / c.depth); /* none is empty */
}

static cut find_cut(const product *p)
{
  size_t tiles = pop_graph_num_tiles(p->graph);
  cut best = {1, 1, 1};
  double least = 0;
  bool found = false, best_fits = false;
  for (size_t rows = 1; rows <= smaller(p->m, tiles); rows++)
    for (size_t columns = 1; columns <= smaller(p->n, tiles / rows); columns++)
      for (int cut_depth = 0; cut_depth < 2; cut_depth++) {
        cut c = {rows, columns,
                 cut_depth ? smaller(tiles / (rows * columns), divide_up(p->k, 32)) : 1};
        double cycles = estimate_cycles(p, c);
        bool good = count_steps(p, c) == 1;
        if (found && (best_fits > good || (best_fits == good && cycles >= least))) continue;
        best = c;
        least = cycles;
        best_fits = good;
        found = true;
      }
  return best;
}

static void add_block(const product *p, pop_compute_set set, size_t tile, bool first,
                      pop_tensor left, pop_tensor right, pop_tensor out)
{
  pop_graph *graph = p->graph;
  if (first) pop_graph_set_tile_mapping(graph, out, tile);
  pop_vertex v =
      poplibs_add_vertex(graph, set, tile, "poplin::MatMul%s<%s,%s>", first ? "Block" : "More",
                         pop_type_name(p->type), pop_type_name(p->partials));
  bool by_columns;
  size_t rows = pop_tensor_dim(left, 0), length = pop_tensor_dim(left, 1),
         columns = pop_tensor_dim(right, 1);
  pop_graph_connect(graph, v, "left", poplibs_flatten_in_runs(left, &by_columns));
  pop_graph_set_field_int(graph, v, "leftStep", by_columns ? (int64_t)rows : 1);
  pop_graph_connect(graph, v, "right", poplibs_flatten_in_runs(right, &by_columns));
  pop_graph_set_field_int(graph, v, "rightStep", by_columns ? 1 : (int64_t)columns);
  pop_graph_connect(graph, v, "out", pop_tensor_flatten(out));
  pop_graph_set_field_int(graph, v, "length", (int64_t)length);
  pop_graph_set_field_int(graph, v, "columns", (int64_t)columns);
}

/* One of `steps`, of all tiles; partials: [depth, m, n]. */
static void add_step(const product *p, cut c, size_t step, size_t steps, pop_tensor a, pop_tensor b,
                     pop_tensor partials, pop_program sequence)
{
  pop_compute_set set = pop_graph_add_compute_set(p->graph, p->name);
  size_t tile = 0;
  for (size_t d = 0; d < c.depth; d++) {
    size_t begin = d * p->k / c.depth, length = (d + 1) * p->k / c.depth - begin;
    size_t k0 = begin + step * length / steps, k1 = begin + (step + 1) * length / steps;
    pop_tensor part = pop_tensor_index(partials, d);
    for (size_t r = 0; r < c.rows; r++) {
      size_t m0 = r * p->m / c.rows, m1 = (r + 1) * p->m / c.rows;
      pop_tensor left = pop_tensor_slice_nd(a, (size_t[]){m0, k0}, (size_t[]){m1, k1}, 2);
      for (size_t s = 0; s < c.columns && !pop_graph_error(p->graph); s++) {
        size_t n0 = s * p->n / c.columns, n1 = (s + 1) * p->n / c.columns;
        add_block(p, set, tile++, step == 0, left,
                  pop_tensor_slice_nd(b, (size_t[]){k0, n0}, (size_t[]){k1, n1}, 2),
                  pop_tensor_slice_nd(part, (size_t[]){m0, n0}, (size_t[]){m1, n1}, 2));
      }
    }
  }
  pop_sequence_add(sequence, pop_program_execute(p->graph, set, p->name));
}

/* [depth, m, n] */
static pop_tensor add_blocks(const product *p, cut c, pop_tensor a, pop_tensor b,
                             pop_program sequence)
{
  pop_tensor partials =
      pop_graph_add_variable(p->graph, p->partials, (size_t[]){c.depth, p->m, p->n}, 3, p->name);
  size_t steps = count_steps(p, c);
  for (size_t step = 0; step < steps && !pop_graph_error(p->graph); step++)
    add_step(p, c, step, steps, a, b, partials, sequence);
  return partials;
}

static bool check_operands(pop_graph *graph, pop_tensor a, pop_tensor b)
{
  pop_type type = pop_tensor_element_type(a);
  if (pop_graph_error(graph)) return false;
  if (pop_tensor_rank(a) != 2 || pop_tensor_rank(b) != 2 ||
      pop_tensor_dim(a, 1) != pop_tensor_dim(b, 0) || pop_tensor_num_elements(a) == 0 ||
      pop_tensor_num_elements(b) == 0) {
    char shapes[2][64];
    pop_tensor_shape_string(a, shapes[0], sizeof shapes[0]);
    pop_tensor_shape_string(b, shapes[1], sizeof shapes[1]);
    poplibs_fail(
        graph, POP_ERROR_TENSOR,
        "%s: the product of tensors of shapes %s and %s; {m,k} and {k,n} are needed, not empty",
        call, shapes[0], shapes[1]);
    return false;
  }
  if (pop_tensor_element_type(b) != type || (type != POP_FLOAT && type != POP_HALF)) {
    poplibs_fail(graph, POP_ERROR_TYPE,
                 "%s: the product of elements of type %s and %s; both must be float, or half", call,
                 pop_type_name(type), pop_type_name(pop_tensor_element_type(b)));
    return false;
  }
  return poplibs_check_vertex_type(graph, call, "poplin::MatMulBlock<float,float>", "product",
                                   type);
}

static bool check_options(pop_graph *graph, const pop_mat_mul_options *o)
{
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

pop_mat_mul_options pop_mat_mul_default_options(pop_type type)
{
  return (pop_mat_mul_options){.memory_proportion = .6, .partials = POP_FLOAT, .output = type};
}

pop_tensor pop_poplin_mat_mul_with(pop_graph *graph, pop_tensor a, pop_tensor b,
                                   const pop_mat_mul_options *options, pop_program sequence,
                                   const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  pop_tensor none = {graph->top, 0};
  if (!check_operands(graph, a, b) || !check_options(graph, options)) return none;
  pop_type type = pop_tensor_element_type(a);
  product p = {graph,
               pop_tensor_dim(a, 0),
               pop_tensor_dim(a, 1),
               pop_tensor_dim(b, 1),
               pop_type_bytes(type),
               type,
               type == POP_FLOAT ? POP_FLOAT : options->partials,
               0,
               name};
  /* Half of the proportion: what the operands are taken from lies on the tiles, too. */
  p.bytes =
      (size_t)(options->memory_proportion / 2 * (double)pop_graph_get_target(graph)->memory_bytes);
  cut c = find_cut(&p);
  pop_tensor partials = add_blocks(&p, c, a, b, sequence);
  pop_tensor result = pop_tensor_index(partials, 0);
  if (c.depth > 1)
    result =
        pop_popops_reduce(graph, partials, (size_t[]){0}, 1, (pop_reduction){.op = POP_REDUCE_ADD},
                          none, sequence, NULL, NULL, name);
  if (p.partials != options->output)
    result = pop_popops_cast(graph, result, options->output, none, sequence, name);
  return pop_graph_error(graph) ? none : result;
}

pop_tensor pop_poplin_mat_mul(pop_graph *graph, pop_tensor a, pop_tensor b, pop_program sequence,
                              const char *name)
{
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  pop_mat_mul_options options = pop_mat_mul_default_options(pop_tensor_element_type(a));
  if (options.output != POP_HALF) options.output = POP_FLOAT; /* others are refused with a reason */
  return pop_poplin_mat_mul_with(graph, a, b, &options, sequence, name);
}
