/* Matrix products in which panels of the operands rotate (L. E. Cannon, "A cellular computer to
 * implement the Kalman filter algorithm", 1969). There are as many rows of parts as columns, and
 * k is cut into as many slices. A tile has one slice of its row's and of its column's panel. The
 * tiles of a row (column) have different slices. After each product, slices are passed on to the
 * neighbours:
 *
 *     tile (i, j) in step t:  result += left[rows of i, slice i + j + t] x right[slice i + j + t, columns of j]
 *     then                    left goes to tile (i, j - 1), right to tile (i - 1, j)
 *
 * So each element exists once, and all steps share their code. Slices are passed on in a few
 * pieces. In front of each slice there is room for one piece. The neighbour's first piece comes
 * to the room while the tile's own first piece is sent, the second comes to where the first was,
 * and so on. Then the slice lies in front, and the next one is passed on from its end:
 *
 *     room   piece 0  piece 1  piece 2      at rest, and in steps 2, 4, …
 *     piece 0  piece 1  piece 2   room      in steps 1, 3, …
 *
 * After as many steps as there are slices, an even number, everything is back where it was. So
 * operands made for the product (rotation_create_operand) are passed on themselves; other
 * operands are copied. All slices have the same length: k is padded with zeros. */
#include "graph/graph.h"
#include "poplibs/host/matmul_product.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

/* One operand as a variable: [groups, padded k, rows of the left or columns of the right
 * matrix]. */
typedef struct panels {
  const product *p;
  int operand;
  size_t others, k; /* size of the dimension that is not k; padded k */
  size_t room;      /* lines of a piece */
  pop_tensor all;   /* [groups, parts of k, slices, room + length, others] */
  bool in_place;
} panels;

static panels panels_of(const product *p, int operand)
{
  const product_plan *plan = &p->plan;
  return (panels){.p = p,
                  .operand = operand,
                  .others = operand == 0 ? p->shape.m : p->shape.n,
                  .k = plan->depth * plan->rows * plan->length,
                  .room = (plan->length + plan->pieces - 1) / plan->pieces};
}

static size_t count_elements(const panels *x)
{
  const product_plan *plan = &x->p->plan;
  size_t slices = x->p->shape.groups * plan->depth * plan->rows;
  return slices * (x->room + plan->length) * x->others;
}

static product_part others_of(const panels *x, size_t i)
{
  return product_part_of(product_cut_of(&x->p->shape, x->others, x->p->plan.rows), i);
}

/* The tile of a slice at rest. `place` is the index of its group and part of k. */
static size_t tile_of_slice(const panels *x, size_t place, size_t slice, size_t other)
{
  size_t count = x->p->plan.rows, across = (slice + count - other) % count;
  size_t row = x->operand == 0 ? other : across, column = x->operand == 0 ? across : other;
  return ((place * count + row) * count + column) % x->p->shape.num_tiles;
}

static pop_tensor in_slices(const panels *x, pop_tensor variable)
{
  const product_plan *plan = &x->p->plan;
  return pop_tensor_reshape(
      variable,
      (size_t[]){x->p->shape.groups, plan->depth, plan->rows, x->room + plan->length, x->others},
      5);
}

/* [room + length, others of a part] */
static pop_tensor slice_at(const panels *x, size_t place, size_t slice, size_t other)
{
  size_t depth = x->p->plan.depth;
  pop_tensor t = pop_tensor_index(pop_tensor_index(x->all, place / depth), place % depth);
  product_part range = others_of(x, other);
  return pop_tensor_slice(pop_tensor_index(t, slice), range.begin, range.end, 1);
}

static size_t count_groups(const panels *x)
{
  return x->p->shape.groups * x->p->plan.depth;
}

static void add_variable(panels *x)
{
  const product *p = x->p;
  size_t count = p->plan.rows;
  x->all = in_slices(
      x, pop_graph_add_variable(p->graph, p->type, (size_t[]){count_elements(x)}, 1, p->name));
  for (size_t g = 0; g < count_groups(x); g++)
    for (size_t i = 0; i < count * count && !pop_graph_error(p->graph); i++)
      pop_graph_set_tile_mapping(p->graph, slice_at(x, g, i / count, i % count),
                                 tile_of_slice(x, g, i / count, i % count));
}

/* Elements [groups, from to `to` along k, others] at rest. */
static pop_tensor elements_of(const panels *x, size_t from, size_t to)
{
  pop_tensor t = pop_tensor_slice(x->all, x->room, x->room + x->p->plan.length, 3);
  t = pop_tensor_reshape(t, (size_t[]){x->p->shape.groups, x->k, x->others}, 3);
  return pop_tensor_slice(t, from, to, 1);
}

static pop_tensor with_k_first(int operand, pop_tensor t)
{
  return operand == 0 ? pop_tensor_dim_shuffle(t, (size_t[]){0, 2, 1}, 3) : t;
}

/* The variable's pages are zeros when it is loaded, and no view reaches the padding of k. */
pop_tensor rotation_create_operand(const product *p, int operand)
{
  panels x = panels_of(p, operand);
  add_variable(&x);
  pop_tensor t = elements_of(&x, 0, p->shape.k);
  view_walk walk;
  view_run run;
  view_walk_start(&walk, p->graph, t.index);
  if (pop_graph_error(p->graph) || !view_walk_next(&walk, &run)) return t;
  p->graph->variables[run.variable].may_rotate = true;
  return with_k_first(operand, t);
}

/* ---- operands of the caller ---- */

typedef struct comparison {
  const panels *x;
  bool differs;
} comparison;

static void compare_run(void *context, size_t tile, size_t begin, size_t end)
{
  comparison *c = context;
  const panels *x = c->x;
  const product_plan *plan = &x->p->plan;
  for (size_t at = begin; at < end && !c->differs;) {
    size_t column = at % x->others, line = at / x->others;
    size_t slice = line / (x->room + plan->length);
    size_t other = product_part_with(product_cut_of(&x->p->shape, x->others, plan->rows), column);
    c->differs = tile_of_slice(x, slice / plan->rows, slice % plan->rows, other) != tile;
    at += others_of(x, other).end - column;
  }
}

/* Is `t` [groups, k, others] a whole variable of panels at rest, without its padding? */
static bool is_of_variable(const panels *x, pop_tensor t, uint32_t *variable)
{
  const product_shape *s = &x->p->shape;
  size_t length = x->p->plan.length, of_group = s->k * x->others, element = 0;
  view_walk walk;
  view_run run;
  view_walk_start(&walk, t.graph->top, t.index);
  while (view_walk_next(&walk, &run)) {
    if (element == 0) *variable = run.variable;
    size_t k = element % of_group / x->others, column = element % x->others;
    size_t slice = element / of_group * (x->k / length) + k / length;
    size_t line = slice * (x->room + length) + x->room + k % length;
    size_t left = (length - k % length) * x->others - column; /* of the slice */
    if (run.variable != *variable || run.begin != line * x->others + column || run.count > left)
      return false;
    element += run.count;
  }
  return element == s->groups * of_group;
}

static bool use_in_place(panels *x, pop_tensor t, const uint32_t *taken)
{
  pop_graph *graph = x->p->graph;
  uint32_t variable = 0;
  if (pop_graph_error(graph) || !is_of_variable(x, t, &variable)) return false;
  const struct variable *v = &graph->variables[variable];
  if (!v->may_rotate || v->num_elements != count_elements(x) || (taken && *taken == variable))
    return false;
  pop_tensor all = {graph->top, v->tensor};
  comparison c = {.x = x};
  pop_graph_visit_tile_mapping(graph, all, compare_run, &c);
  if (!c.differs) x->all = in_slices(x, all);
  return !c.differs;
}

static void copy_operand(panels *x, pop_tensor t, pop_program sequence)
{
  const product *p = x->p;
  add_variable(x);
  /* The room in front of the slices is written later. WriteUndef says that nothing is live
   * before. */
  pop_sequence_add(sequence, pop_program_write_undef(pop_tensor_flatten(x->all), p->name));
  pop_sequence_add(sequence, pop_program_copy(t, elements_of(x, 0, p->shape.k), p->name));
  if (x->k > p->shape.k)
    pop_popops_fill(p->graph, elements_of(x, p->shape.k, x->k), NULL, sequence, p->name);
}

/* ---- steps ---- */

/* The elements of a slice, at rest or in front. */
static pop_tensor operand_at(const panels *x, size_t place, size_t slice, size_t other,
                             bool at_rest)
{
  size_t begin = at_rest ? x->room : 0;
  pop_tensor t = slice_at(x, place, slice, other);
  return pop_tensor_flatten(pop_tensor_slice(t, begin, begin + x->p->plan.length, 0));
}

static pop_program add_products(const panels x[2], bool first, bool at_rest, pop_tensor partials)
{
  const product *p = x[0].p;
  pop_compute_set set = pop_graph_add_compute_set(p->graph, p->name);
  for (size_t i = 0; i < product_count_places(p) && !pop_graph_error(p->graph); i++) {
    product_place at = product_place_at(p, i);
    size_t place = at.group * p->plan.depth + at.depth, slice = (at.row + at.column) % p->plan.rows;
    const pop_tensor operands[2] = {operand_at(&x[0], place, slice, at.row, at_rest),
                                    operand_at(&x[1], place, slice, at.column, at_rest)};
    product_add_vertex(p, set, &at, first, operands, partials);
  }
  return pop_program_execute(p->graph, set, p->name);
}

/* Piece `i` of all slices, flat (`from`), and where those of the neighbours come to (`to`). */
static void piece_of(const panels *x, size_t i, bool at_rest, pop_tensor *from, pop_tensor *to)
{
  const product_plan *plan = &x->p->plan;
  size_t begin = i * x->room, end = begin + x->room < plan->length ? begin + x->room : plan->length;
  size_t there = at_rest ? x->room : 0, here = x->room - there;
  pop_tensor t = pop_tensor_slice(x->all, begin + there, end + there, 3);
  pop_tensor next[2] = {pop_tensor_slice(t, 1, plan->rows, 2), pop_tensor_slice(t, 0, 1, 2)};
  *from = pop_tensor_flatten(pop_concat(next, 2, 2));
  *to = pop_tensor_flatten(pop_tensor_slice(x->all, begin + here, end + here, 3));
}

/* Passes all slices on to the neighbours: from at rest to in front, or back. */
static pop_program rotate_slices(const panels x[2], bool at_rest)
{
  const product *p = x[0].p;
  pop_program sequence = pop_program_sequence(p->graph, p->name);
  size_t pieces = (p->plan.length + x[0].room - 1) / x[0].room;
  for (size_t i = 0; i < pieces && !pop_graph_error(p->graph); i++) {
    pop_tensor from[2], to[2];
    for (int o = 0; o < 2; o++)
      piece_of(&x[o], at_rest ? i : pieces - 1 - i, at_rest, &from[o], &to[o]);
    pop_sequence_add(sequence,
                     pop_program_copy(pop_concat(from, 2, 0), pop_concat(to, 2, 0), p->name));
  }
  return sequence;
}

static void add_to(pop_program sequence, const pop_program *programs, size_t count)
{
  for (size_t i = 0; i < count; i++) pop_sequence_add(sequence, programs[i]);
}

static void add_steps(const panels x[2], pop_tensor partials, pop_program sequence)
{
  const product *p = x[0].p;
  const pop_program steps[] = {rotate_slices(x, true), add_products(x, false, false, partials),
                               rotate_slices(x, false), add_products(x, false, true, partials)};
  uint32_t pairs = (uint32_t)p->plan.rows / 2 - 1;
  pop_sequence_add(sequence, add_products(x, true, true, partials));
  if (pairs) {
    pop_program both = pop_program_sequence(p->graph, p->name);
    add_to(both, steps, 4);
    pop_sequence_add(sequence, pop_program_repeat(p->graph, pairs, both, p->name));
  }
  add_to(sequence, steps, x[0].in_place || x[1].in_place ? 3 : 2);
}

void rotation_add(const product *p, pop_tensor partials, pop_program sequence)
{
  panels x[2];
  uint32_t taken = 0;
  for (int o = 0; o < 2; o++) {
    x[o] = panels_of(p, o);
    pop_tensor t = with_k_first(o, p->operands[o]);
    x[o].in_place = use_in_place(&x[o], t, o == 1 && x[0].in_place ? &taken : NULL);
    if (x[o].in_place && o == 0) is_of_variable(&x[o], t, &taken);
    if (!x[o].in_place) copy_operand(&x[o], t, sequence);
  }
  add_steps(x, partials, sequence);
}
