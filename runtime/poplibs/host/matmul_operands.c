/* The best layout of a matrix product's operands.
 *
 * A panel is what a row (column) of parts needs of an operand in one step. If panels would come
 * in too many messages, the operand is first copied to a variable in which each panel is on one
 * tile, or on several tiles row by row. pop_poplin_create_mat_mul_input makes operands with that
 * layout. */
#include "graph/graph.h"
#include "poplibs/host/matmul_product.h"
#include "poplibs/host/spread.h"

/* The layout of an operand, as [groups, rows, columns], or as its transposed matrices if their
 * elements are adjacent (`by_columns`).
 *
 * With one step, a panel is on the tiles of its parts, in `chunks` of whole rows. With several
 * steps it is copied in any case, so it is on the tiles next to those of its parts. Panels with
 * rows in common do not share a tile, unless there are too many panels. So each chunk is one run
 * of memory. */
typedef struct arrangement {
  const product *p;
  int operand;
  bool by_columns, rows_are_k;
  size_t rows, columns, steps, chunks;
  size_t others; /* parts that share the panel */
} arrangement;

static arrangement arrangement_of(const product *p, int operand, bool by_columns)
{
  size_t steps = product_count_steps(p);
  bool left = operand == 0, rows_are_k = left == by_columns;
  size_t size = left ? p->shape.m : p->shape.n;
  arrangement a = {.p = p,
                   .operand = operand,
                   .by_columns = by_columns,
                   .rows_are_k = rows_are_k,
                   .steps = steps,
                   .rows = rows_are_k ? p->shape.k : size,
                   .columns = rows_are_k ? size : p->shape.k,
                   .others = left ? p->plan.columns : p->plan.rows};
  size_t panel_rows = rows_are_k ? smaller(p->plan.length, p->shape.k / p->plan.depth)
                                 : size / (left ? p->plan.rows : p->plan.columns);
  a.chunks = smaller(a.others > steps ? a.others / steps : 1, panel_rows);
  return a;
}

/* What the parts that need an element have in common. `shared` is their row (left operand) or
 * column (right operand). */
typedef struct owner {
  size_t group, depth, shared, step, chunk;
} owner;

static size_t tile_of_owner(const arrangement *a, owner o)
{
  const product_plan *plan = &a->p->plan;
  size_t all = a->operand == 0 ? plan->rows : plan->columns, place;
  if (a->steps > a->others) {
    place = o.step % a->others;
    o.shared += o.step / a->others;
  } else {
    place = (o.step * a->chunks + o.chunk) * a->others / (a->steps * a->chunks);
  }
  if (a->steps > 1) o.shared++;
  o.shared %= all;
  size_t row = a->operand == 0 ? o.shared : place, column = a->operand == 0 ? place : o.shared;
  return product_tile_at(a->p, (o.group * plan->depth + o.depth) * plan->rows + row, column);
}

/* The tile of an element. *end: the column up to which the row's elements are on the same tile. */
static size_t tile_of(const arrangement *a, size_t group, size_t row, size_t column, size_t *end)
{
  const product *p = a->p;
  bool left = a->operand == 0;
  size_t k = a->rows_are_k ? row : column, other = a->rows_are_k ? column : row;
  product_cut cut = left ? product_cut_of(&p->shape, p->shape.m, p->plan.rows)
                         : product_cut_of(&p->shape, p->shape.n, p->plan.columns);
  product_cut depths = product_cut_of(&p->shape, p->shape.k, p->plan.depth);
  owner o = {.group = group,
             .depth = product_part_with(depths, k),
             .shared = product_part_with(cut, other)};
  product_place x = {.k = product_part_of(depths, o.depth)};
  o.step = (k - x.k.begin) / p->plan.length;
  product_part range = product_step_of(p, &x, o.step), across = product_part_of(cut, o.shared);
  product_part lines = a->rows_are_k ? range : across;
  size_t count = lines.end - lines.begin;
  o.chunk =
      product_part_with((product_cut){count, smaller(a->chunks, count), 1}, row - lines.begin);
  *end = a->rows_are_k ? across.end : range.end;
  return tile_of_owner(a, o);
}

static void map_operand(const arrangement *a, pop_tensor t)
{
  for (size_t g = 0; g < a->p->shape.groups; g++)
    for (size_t row = 0; row < a->rows && !pop_graph_error(a->p->graph); row++) {
      pop_tensor line = pop_tensor_index(pop_tensor_index(t, g), row);
      for (size_t begin = 0, end; begin < a->columns; begin = end) {
        size_t tile = tile_of(a, g, row, begin, &end);
        pop_graph_set_tile_mapping(a->p->graph, pop_tensor_slice(line, begin, end, 0), tile);
      }
    }
}

typedef struct comparison {
  const arrangement *a;
  bool differs;
} comparison;

static void compare_run(void *context, size_t tile, size_t begin, size_t end)
{
  comparison *c = context;
  const arrangement *a = c->a;
  size_t of_group = a->rows * a->columns;
  for (size_t at = begin; at < end && !c->differs;) {
    size_t row = at % of_group / a->columns, column = at % a->columns, line_end;
    c->differs = tile_of(a, at / of_group, row, column, &line_end) != tile;
    at += line_end - column;
  }
}

static bool has_arrangement(const arrangement *a, pop_tensor t)
{
  comparison c = {.a = a};
  pop_graph_visit_tile_mapping(a->p->graph, t, compare_run, &c);
  return !c.differs;
}

static void count_one(void *context, size_t tile, size_t begin, size_t end)
{
  (void)tile;
  (void)begin;
  (void)end;
  ++*(size_t *)context;
}

/* The number of runs in memory, or of runs on one tile, whichever is greater. */
static size_t count_pieces(pop_graph *graph, pop_tensor t)
{
  view_walk walk;
  view_run run;
  size_t runs = 0, on_tiles = 0;
  view_walk_start(&walk, t.graph->top, t.index);
  while (view_walk_next(&walk, &run)) runs++;
  pop_graph_visit_tile_mapping(graph, t, count_one, &on_tiles);
  return runs > on_tiles ? runs : on_tiles;
}

static pop_tensor arranged_variable(const arrangement *a)
{
  const product *p = a->p;
  pop_tensor t = pop_graph_add_variable(
      p->graph, p->type, (size_t[]){p->shape.groups, a->rows, a->columns}, 3, p->name);
  map_operand(a, t);
  return a->by_columns ? pop_tensor_dim_shuffle(t, (size_t[]){0, 2, 1}, 3) : t;
}

pop_tensor operand_create(const product *p, int operand)
{
  arrangement a = arrangement_of(p, operand, false);
  return arranged_variable(&a);
}

/* Each further message costs its receivers a few words of code and a few cycles. The operand is
 * copied if that saves most messages. */
void operand_arrange(product *p, int operand, pop_program sequence)
{
  enum { FEW = 16 };
  arrangement a = arrangement_of(p, operand, false);
  product_place first = product_place_at(p, 0);
  if (pop_graph_error(p->graph) || has_arrangement(&a, p->operands[operand])) return;
  pop_tensor panel = product_panel(p, &first, operand, product_step_of(p, &first, 0));
  pop_tensor flat = poplibs_flatten_in_runs(panel, &p->by_columns[operand]);
  if (count_pieces(p->graph, flat) <= 2 * a.chunks + FEW) return;
  a = arrangement_of(p, operand, p->by_columns[operand]);
  pop_tensor t = arranged_variable(&a);
  pop_sequence_add(sequence, pop_program_copy(p->operands[operand], t, p->name));
  p->operands[operand] = t;
}
