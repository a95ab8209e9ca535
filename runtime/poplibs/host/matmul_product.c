/* The parts of a matrix product, one for each tile: what a part needs of the operands, and its
 * vertex. */
#include "poplibs/host/matmul_product.h"
#include "base/divide.h"
#include "poplibs/host/spread.h"

size_t product_count_places(const product *p)
{
  return p->shape.groups * p->plan.depth * p->plan.rows * p->plan.columns;
}

size_t product_tile_at(const product *p, size_t row, size_t column)
{
  return (row * p->plan.columns + column) % p->shape.num_tiles;
}

product_place product_place_at(const product *p, size_t i)
{
  const product_plan *plan = &p->plan;
  product_place x = {.tile = product_tile_at(p, i / plan->columns, i % plan->columns),
                     .column = i % plan->columns};
  x.n = product_part_of(product_cut_of(&p->shape, p->shape.n, plan->columns), x.column);
  i /= plan->columns;
  x.row = i % plan->rows;
  x.m = product_part_of(product_cut_of(&p->shape, p->shape.m, plan->rows), x.row);
  i /= plan->rows;
  x.depth = i % plan->depth;
  x.k = product_part_of(product_cut_of(&p->shape, p->shape.k, plan->depth), x.depth);
  x.group = i / plan->depth;
  return x;
}

size_t product_count_steps(const product *p)
{
  product_cut depths = product_cut_of(&p->shape, p->shape.k, p->plan.depth);
  return divide_up(product_largest_part(depths), p->plan.length);
}

product_part product_step_of(const product *p, const product_place *x, size_t step)
{
  size_t begin = smaller(x->k.begin + step * p->plan.length, x->k.end);
  return (product_part){begin, smaller(begin + p->plan.length, x->k.end)};
}

pop_tensor product_submatrix(pop_tensor t, product_part rows, product_part columns)
{
  return pop_tensor_slice_nd(t, (size_t[]){rows.begin, columns.begin},
                             (size_t[]){rows.end, columns.end}, 2);
}

pop_tensor product_panel(const product *p, const product_place *x, int operand, product_part k)
{
  pop_tensor t = pop_tensor_index(p->operands[operand], x->group);
  return operand == 0 ? product_submatrix(t, x->m, k) : product_submatrix(t, k, x->n);
}

/* partials: [depth, groups, m, n] */
static pop_tensor partial_of(const product_place *x, pop_tensor partials)
{
  return product_submatrix(pop_tensor_index(pop_tensor_index(partials, x->depth), x->group), x->m,
                           x->n);
}

void product_add_vertex(const product *p, pop_compute_set set, const product_place *x, bool first,
                        const pop_tensor operands[2], pop_tensor partials)
{
  static const char *const truth[] = {"false", "true"};
  pop_graph *graph = p->graph;
  pop_tensor out = partial_of(x, partials);
  size_t rows = x->m.end - x->m.begin, columns = x->n.end - x->n.begin;
  pop_vertex v = poplibs_add_vertex(
      graph, set, x->tile, "poplin::MatMul%s<%s,%s,%u,%u,%s,%s>", first ? "Block" : "More",
      pop_type_name(p->type), pop_type_name(p->partials), p->plan.block_rows, p->plan.block_columns,
      truth[!p->by_columns[0]], truth[!p->by_columns[1]]);
  if (first) pop_graph_set_tile_mapping(graph, out, x->tile);
  pop_graph_connect(graph, v, "left", operands[0]);
  pop_graph_connect(graph, v, "right", operands[1]);
  pop_graph_connect(graph, v, "out", pop_tensor_flatten(out));
  pop_graph_set_field_int(graph, v, "length",
                          (int64_t)(pop_tensor_num_elements(operands[0]) / rows));
  pop_graph_set_field_int(graph, v, "rows", (int64_t)rows);
  pop_graph_set_field_int(graph, v, "columns", (int64_t)columns);
}
