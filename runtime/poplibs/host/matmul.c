/* Matrix products: populus/poplin.h.
 *
 * The three dimensions are cut into rows x columns x depth parts, one of each for a tile (matmul_plan.h):
 *
 *     left [m / rows, k / depth]  x  right [k / depth, n / columns]  ->  partials[part of k][m / rows, n / columns]
 *
 * A tile that has no room for that much of its operands gets them in steps: a copy brings the next elements along k to a buffer
 * of each operand, and the same vertices add their products. Panels are what a row (column) of parts needs for a step. Where they
 * are scattered over too many messages, the operand is copied to a variable first in which each panel is on one tile, or on
 * several row by row; pop_poplin_create_mat_mul_input makes operands that lie like that.
 *
 * Or the tiles give panels on to each other (matmul_rotation.c), which takes less memory and some more time. */
#include "poplibs/host/matmul.h"
#include "base/divide.h"
#include "base/log.h"
#include "graph/graph.h"
#include "poplibs/host/matmul_product.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <stdlib.h>

static const char call[] = "pop_poplin_mat_mul";

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

void pop_poplin_add_codelets(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, __func__, "poplin");
}

/* ---- parts ---- */

size_t product_count_places(const product *p)
{
  return p->shape.groups * p->plan.depth * p->plan.rows * p->plan.columns;
}

/* `row`: counted on through groups and parts of k. */
static size_t tile_of_part(const product *p, size_t row, size_t column)
{
  return (row * p->plan.columns + column) % p->shape.num_tiles;
}

product_place product_place_at(const product *p, size_t i)
{
  const product_plan *plan = &p->plan;
  product_place x = {.tile = tile_of_part(p, i / plan->columns, i % plan->columns),
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

static size_t count_steps(const product *p)
{
  product_cut depths = product_cut_of(&p->shape, p->shape.k, p->plan.depth);
  return divide_up(product_largest_part(depths), p->plan.length);
}

/* Of the part's k in a step; empty behind its end. */
static product_part step_of(const product *p, const product_place *x, size_t step)
{
  size_t begin = smaller(x->k.begin + step * p->plan.length, x->k.end);
  return (product_part){begin, smaller(begin + p->plan.length, x->k.end)};
}

static pop_tensor cut_out(pop_tensor t, product_part rows, product_part columns)
{
  return pop_tensor_slice_nd(t, (size_t[]){rows.begin, columns.begin},
                             (size_t[]){rows.end, columns.end}, 2);
}

/* What a part needs of an operand, as a matrix. */
static pop_tensor panel_of(const product *p, const product_place *x, int operand, product_part k)
{
  pop_tensor t = pop_tensor_index(p->operands[operand], x->group);
  return operand == 0 ? cut_out(t, x->m, k) : cut_out(t, k, x->n);
}

static pop_tensor flat_panel(const product *p, const product_place *x, int operand, product_part k)
{
  pop_tensor panel = panel_of(p, x, operand, k);
  return pop_tensor_flatten(p->by_columns[operand] ? pop_tensor_transpose(panel) : panel);
}

/* ---- where operands lie ---- */

/* Of an operand: [groups, rows, columns], or of its transposed matrices, if its elements lie together so. A panel is what a row (column) of parts needs in a step. If there is one step, it is on
 * the tiles of these parts, in `chunks` of whole rows; in several steps it would be copied there all the same, and is on the tiles
 * next to them. No panels with rows in common share a tile, unless there are too many, so that each chunk is one run of memory. */
typedef struct arrangement {
  const product *p;
  int operand;
  bool by_columns, rows_are_k;
  size_t rows, columns, steps, chunks;
  size_t others; /* parts that share the panel */
} arrangement;

static arrangement arrangement_of(const product *p, int operand, bool by_columns)
{
  size_t steps = count_steps(p);
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

/* What the parts that need an element have in common: `shared` is their row (column). */
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
  return tile_of_part(a->p, (o.group * plan->depth + o.depth) * plan->rows + row, column);
}

/* The tile of an element; *end: the end of the elements of its row that are there, too. */
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
  product_part range = step_of(p, &x, o.step), across = product_part_of(cut, o.shared);
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

static bool lies_as_arranged(const arrangement *a, pop_tensor t)
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

/* Elements that lie side by side, or one after the other on one tile: the more of both. */
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

/* As the product has the operand. */
static pop_tensor arranged_variable(const arrangement *a)
{
  const product *p = a->p;
  pop_tensor t = pop_graph_add_variable(
      p->graph, p->type, (size_t[]){p->shape.groups, a->rows, a->columns}, 3, p->name);
  map_operand(a, t);
  return a->by_columns ? pop_tensor_dim_shuffle(t, (size_t[]){0, 2, 1}, 3) : t;
}

/* Another message costs its receivers a few words of code and cycles: it is copied where that saves most of them. */
static void arrange_operand(product *p, int operand, pop_program sequence)
{
  enum { FEW = 16 };
  arrangement a = arrangement_of(p, operand, false);
  product_place first = product_place_at(p, 0);
  if (pop_graph_error(p->graph) || lies_as_arranged(&a, p->operands[operand])) return;
  pop_tensor panel = panel_of(p, &first, operand, step_of(p, &first, 0));
  pop_tensor flat = poplibs_flatten_in_runs(panel, &p->by_columns[operand]);
  if (count_pieces(p->graph, flat) <= 2 * a.chunks + FEW) return;
  a = arrangement_of(p, operand, p->by_columns[operand]);
  pop_tensor t = arranged_variable(&a);
  pop_sequence_add(sequence, pop_program_copy(p->operands[operand], t, p->name));
  p->operands[operand] = t;
}

/* ---- vertices ---- */

/* partials: [depth, groups, m, n] */
static pop_tensor partial_of(const product_place *x, pop_tensor partials)
{
  return cut_out(pop_tensor_index(pop_tensor_index(partials, x->depth), x->group), x->m, x->n);
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

/* All of k at once: the vertices are connected to the operands. */
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
  }
}

/* The panels of a step to the buffers. */
static void add_copy(const stepping *s, size_t step)
{
  const product *p = s->p;
  size_t parts = product_count_places(p), count = 0;
  pop_tensor *from = pop_xcalloc(2 * parts, sizeof *from), *to = pop_xcalloc(2 * parts, sizeof *to);
  for (int o = 0; o < 2; o++)
    for (size_t i = 0; i < parts; i++) {
      product_place x = product_place_at(p, i);
      product_part k = step_of(p, &x, step);
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
    product_part k = step_of(p, &x, step);
    size_t length = k.end - k.begin;
    if (length == 0) continue;
    pop_tensor operands[2] = {buffer_part(s, i, 0, (x.m.end - x.m.begin) * length),
                              buffer_part(s, i, 1, (x.n.end - x.n.begin) * length)};
    product_add_vertex(p, set, &x, step == 0, operands, s->partials);
  }
  return pop_program_execute(p->graph, set, p->name);
}

/* Is a part's last step shorter than the others? */
static bool is_uneven(const product *p)
{
  product_cut depths = product_cut_of(&p->shape, p->shape.k, p->plan.depth);
  return depths.size % (depths.grain * depths.parts) != 0 ||
         depths.size / depths.parts % p->plan.length != 0;
}

/* The first step stores, those in the middle are one compute set, and the last may be shorter. */
static void add_steps(const product *p, pop_tensor partials, pop_program sequence)
{
  stepping s = {.p = p, .partials = partials, .sequence = sequence};
  size_t steps = count_steps(p);
  pop_program more = {0};
  add_buffers(&s);
  for (size_t step = 0; step < steps && !pop_graph_error(p->graph); step++) {
    bool own = step == 0 || (step == steps - 1 && is_uneven(p));
    add_copy(&s, step);
    if (!own && !more.graph) more = execute_step(&s, step);
    pop_sequence_add(sequence, own ? execute_step(&s, step) : more);
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
        s->groups, s->m, s->k, s->k, s->n, plan->rows, plan->columns, plan->depth, count_steps(p),
        plan->length, plan->rotates ? " that go round" : "", plan->block_rows, plan->block_columns,
        plan->cycles, plan->tile_bytes);
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
  /* Half of the proportion: what the operands are taken from lies on the tiles, too. */
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
    arrange_operand(p, operand, sequence);
  pop_tensor partials = pop_graph_add_variable(
      p->graph, p->partials, (size_t[]){p->plan.depth, p->shape.groups, p->shape.m, p->shape.n}, 4,
      p->name);
  if (p->plan.rotates)
    rotation_add(p, partials, sequence);
  else if (count_steps(p) == 1)
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
  if (options.output != POP_HALF) options.output = POP_FLOAT; /* others are refused with a reason */
  return multiply(graph, a, b, 2, 1, &options, sequence, name);
}

/* May there be a variable for products of these sizes and operands of this type? */
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
  if (p.plan.rotates) return rotation_create_operand(&p, operand);
  arrangement a = arrangement_of(&p, operand, false);
  return arranged_variable(&a);
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
      pop_graph_set_tile_mapping(graph, cut_out(pop_tensor_index(t, x.group), x.m, x.n), x.tile);
  }
  return t;
}
