/* Large products of matrices in types that poplin does not have: integers, f64, complex, i1.
 *
 *     left [groups, m, k]  x  right [groups, k, n]
 *
 * Each vertex makes one block of the result: `rows` x `columns` of one group. It gets only the rows
 * of the left and the columns of the right that its block needs, so no tile has a whole matrix.
 * Where possible, the vertices of a tile have the same columns, which the tile then holds once. If
 * a tile has no room for its rows and columns, k is processed in steps: each step is a compute set
 * that adds to the blocks. If there are fewer blocks than workers, k is cut into parts. Each part
 * has a result of its own, and these are added up at the end.
 *
 * The result is stored as panels. Each group has one for every `columns` columns, stored row by
 * row. So each block is one contiguous run of elements, and so is each of its rows:
 *
 *     panel 0: [m, columns]     panel 1: [m, columns]     …     the last: [m, what is left of n]
 *
 * To keep the number of messages low, the right matrix is first copied to panels [k, columns]. The
 * left one is copied to contiguous rows unless it has them. */
#include "models/range.h"

typedef struct block_shape {
  uint64_t groups, m, k, n;
  element_type element;
} block_shape;

typedef struct block_plan {
  uint64_t rows, columns;           /* of a block; the last ones may be smaller */
  uint64_t part, step;              /* of k: length of a part, and of a step */
  uint64_t down, across, num_parts; /* how many blocks and parts */
  uint64_t per_tile;                /* vertices of a step */
} block_plan;

static uint64_t smaller(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

/* ---- the plan ---- */

/* Columns that the inner loop makes at once, with their sums in registers. */
static unsigned columns_per_step(element_type e)
{
  return element_bytes(e) == 8 ? 2 : 4;
}

/* Instructions of a multiplication and its addition. */
static double product_cost(element_type e)
{
  if (e == ELEMENT_F64) return 360;
  return element_bytes(e) == 8 ? 14 : 2;
}

/* The most rows that `vertices` consecutive vertices touch, with `length` vertices in each row. */
static uint64_t rows_touched(uint64_t vertices, uint64_t length, uint64_t rows)
{
  bool even = length % vertices == 0 || vertices % length == 0;
  return smaller((vertices - 1) / length + (even ? 1 : 2), smaller(vertices, rows));
}

/* How many rows of the left and columns of the right the vertices of a tile need. Vertices of the
 * same panel share columns; vertices of the same product share rows. */
static uint64_t lines_of_tile(const block_shape *s, const block_plan *p)
{
  uint64_t products = p->num_parts * s->groups, n = p->per_tile;
  uint64_t columns = rows_touched(n, p->down, products * p->across);
  uint64_t of_products = rows_touched(n, p->down * p->across, products);
  return columns * p->columns + smaller(n, of_products * p->down) * p->rows;
}

/* Derives the rest of the plan from the sizes of a block and a part. False if a tile has no room
 * for a step. */
static bool complete_plan(const lowering *l, const block_shape *s, block_plan *p)
{
  enum { OF_VERTEX_BYTES = 64 };
  uint64_t bytes = element_bytes(s->element);
  uint64_t room = pop_graph_get_target(l->graph)->memory_bytes / 4;
  p->down = divide_up(s->m, p->rows);
  p->across = divide_up(s->n, p->columns);
  p->num_parts = divide_up(s->k, p->part);
  uint64_t panels = p->num_parts * s->groups * p->across;
  p->per_tile = divide_up(panels * p->down, l->num_tiles);
  uint64_t lines = lines_of_tile(s, p);
  uint64_t taken = p->per_tile * OF_VERTEX_BYTES;
  if (p->num_parts > 1) taken += p->per_tile * p->rows * p->columns * bytes;
  if (taken > room / 2) return false;
  room -= taken;
  uint64_t most = room / (lines * bytes);
  if (most == 0) return false;
  p->step = divide_up(p->part, divide_up(p->part, most));
  return true;
}

/* Estimated cycles: workers run round-robin, and an exchange receives one word in a cycle. */
static double cycles_of(const lowering *l, const block_shape *s, const block_plan *p)
{
  enum { OF_STEP = 400, OF_VERTEX = 100, OF_ROW = 30, OF_ELEMENT = 3 };
  double workers = (double)l->num_workers, words = (double)element_bytes(s->element) / 4;
  unsigned together = columns_per_step(s->element);
  uint64_t loops = p->columns / together + p->columns % together;
  double along = (double)p->part * ((double)p->columns * (product_cost(s->element) + 1) +
                                    (double)(loops * OF_ELEMENT));
  double starts = (double)(OF_VERTEX * divide_up(p->part, p->step));
  double vertex = starts + (double)p->rows * (along + (double)(loops * OF_ROW));
  double rounds = (double)divide_up(p->per_tile, l->num_workers);
  double lines = (double)lines_of_tile(s, p);
  double cycles = rounds * workers * vertex + lines * (double)p->part * words +
                  (double)(OF_STEP * divide_up(p->part, p->step));
  if (p->num_parts == 1) return cycles;
  double partials = (double)(p->num_parts * s->groups * s->m * s->n) / (double)l->num_tiles;
  return cycles + OF_STEP + (partials + 1) * (words + product_cost(s->element) + OF_ELEMENT);
}

/* The sizes to try: all small ones, then in steps of an eighth. */
static uint64_t next_size(uint64_t size, uint64_t most)
{
  if (size == most) return most + 1;
  return smaller(size + 1 + size / 8, most);
}

static block_plan plan_blocks(const lowering *l, const block_shape *s)
{
  enum { MOST_PARTS = 128 };
  /* If no plan fits, the graph compiler reports how much memory is missing. That does not take it
   * long for this plan. */
  block_plan best = {.rows = s->m, .columns = s->n, .part = s->k};
  double least = -1;
  if (!complete_plan(l, s, &best)) best.step = s->k;
  for (uint64_t rows = 1; rows <= s->m; rows = next_size(rows, s->m))
    for (uint64_t columns = 1; columns <= s->n; columns = next_size(columns, s->n))
      for (uint64_t parts = 1; parts <= smaller(s->k, MOST_PARTS); parts *= 2) {
        block_plan p = {.rows = rows, .columns = columns, .part = divide_up(s->k, parts)};
        if (!complete_plan(l, s, &p)) continue;
        double cycles = cycles_of(l, s, &p);
        if (least >= 0 && cycles >= least) continue;
        least = cycles;
        best = p;
      }
  return best;
}

/* ---- panels ---- */

/* A view [groups, lines, n] of a tensor that is stored as panels. */
static pop_tensor panels_view(lowering *l, const block_shape *s, const block_plan *p,
                              pop_tensor flat, uint64_t lines)
{
  pop_tensor *groups = pop_arena_alloc(l->m->arena, s->groups * sizeof *groups);
  pop_tensor *panels = pop_arena_alloc(l->m->arena, p->across * sizeof *panels);
  uint64_t begin = 0;
  for (uint64_t g = 0; g < s->groups; ++g) {
    for (uint64_t c = 0; c < p->across; ++c) {
      size_t width = smaller(p->columns, s->n - c * p->columns);
      panels[c] = pop_tensor_reshape(pop_tensor_slice(flat, begin, begin + lines * width, 0),
                                     (size_t[]){1, lines, width}, 3);
      begin += lines * width;
    }
    groups[g] = pop_concat(panels, p->across, 2);
  }
  return pop_concat(groups, s->groups, 0);
}

/* `lines` lines of a panel, from `line` on. */
static pop_tensor in_panel(const block_shape *s, const block_plan *p, pop_tensor flat,
                           uint64_t of_all, uint64_t group, uint64_t column, uint64_t line,
                           uint64_t lines)
{
  uint64_t width = smaller(p->columns, s->n - column * p->columns);
  uint64_t begin = group * of_all * s->n + column * p->columns * of_all + line * width;
  return pop_tensor_slice(flat, begin, begin + lines * width, 0);
}

static pop_tensor add_variable(lowering *l, const operation *op, const block_shape *s,
                               const size_t *shape, size_t rank)
{
  return pop_graph_add_variable(l->graph, element_infos[s->element].type, shape, rank,
                                lowering_name(l, op));
}

/* Each range on another tile is a message of its own, so ranges are not shorter than this. */
enum { LEAST_ELEMENTS = 64 };

static void count_run(void *context, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  *(uint64_t *)context += 1;
}

/* Copies the left matrix unless each of its rows is one contiguous run. */
static pop_tensor left_in_rows(lowering *l, const operation *op, const block_shape *s, pop_tensor t)
{
  uint64_t runs = 0;
  pop_tensor_visit_contiguous_regions(t, count_run, &runs);
  if (runs <= s->groups * s->m) return t;
  pop_tensor left = add_variable(l, op, s, (size_t[]){s->groups, s->m, s->k}, 3);
  pop_graph_map_linearly(l->graph, left, LEAST_ELEMENTS, 0);
  pop_sequence_add(l->sequence, pop_program_copy(t, left, lowering_name(l, op)));
  return left;
}

static pop_tensor right_in_panels(lowering *l, const operation *op, const block_shape *s,
                                  const block_plan *p, pop_tensor t)
{
  pop_tensor right = add_variable(l, op, s, (size_t[]){s->groups * s->k * s->n}, 1);
  pop_graph_map_linearly(l->graph, right, LEAST_ELEMENTS, 0);
  pop_sequence_add(l->sequence,
                   pop_program_copy(t, panels_view(l, s, p, right, s->k), lowering_name(l, op)));
  return right;
}

/* ---- codelets ---- */

/* Emits the loop over columns of a row, `count` at a time. */
static void add_columns(text *t, pop_arena *arena, element_type e, unsigned count, bool adds)
{
  const element_info *is = &element_infos[e];
  text_add(t, "    for (; j + %u <= columns; j += %u) {\n", count, count);
  for (unsigned c = 0; c < count; ++c)
    if (adds)
      text_add(t, "      %s s%u = hlo_load_%s(out[j + %u]);\n", is->value, c, is->suffix, c);
    else
      text_add(t, "      %s s%u = %s;\n", is->value, c, e == ELEMENT_C64 ? "{0, 0}" : "0");
  text_add(t,
           "      const %s *y = b + j;\n"
           "      for (unsigned i = 0; i < length; ++i, y += columns) {\n"
           "        const %s x = hlo_load_%s(a[i]);\n",
           is->field, is->value, is->suffix);
  for (unsigned c = 0; c < count; ++c)
    text_add(t, "        s%u = %s;\n", c,
             emit_product_added(arena, e, pop_arena_printf(arena, "s%u", c), "x",
                                pop_arena_printf(arena, "hlo_load_%s(y[%u])", is->suffix, c)));
  text_add(t, "      }\n");
  for (unsigned c = 0; c < count; ++c)
    text_add(t, "      out[j + %u] = hlo_store_%s(s%u);\n", c, is->suffix, c);
  text_add(t, "    }\n");
}

/* Makes a block from its rows and columns, each of `base` elements. `adds`: to what is there;
 * otherwise the block is set. */
static uint32_t block_codelet(lowering *l, const operation *op, element_type e, bool adds)
{
  const char *field = element_infos[e].field;
  text t = {0};
  text_add(&t,
           "typedef struct {\n  INPUT(VECTOR(%s)) a;\n  INPUT(VECTOR(%s)) b;\n"
           "  %s(VECTOR(%s)) out;\n  unsigned base;\n} NAME;\n\nCOMPUTE(NAME)\n{\n",
           field, field, adds ? "INOUT" : "OUTPUT", field);
  text_add(&t,
           "  const %s *restrict a = vertex->a.data;\n  const %s *restrict b = vertex->b.data;\n"
           "  %s *restrict out = vertex->out.data;\n"
           "  const unsigned length = vertex->base;\n"
           "  const unsigned rows = vertex->a.size / length, columns = vertex->b.size / length;\n"
           "  for (unsigned r = 0; r < rows; ++r, a += length, out += columns) {\n"
           "    unsigned j = 0;\n",
           field, field, field);
  add_columns(&t, l->m->arena, e, columns_per_step(e), adds);
  add_columns(&t, l->m->arena, e, 1, adds);
  text_add(&t, "  }\n  return true;\n}\n");
  uint32_t codelet = lowering_add_codelet(l, t.data, op_infos[op->code].name);
  text_free(&t);
  return codelet;
}

/* ---- vertices ---- */

/* One step of all parts: each goes from its k = `from` on. */
static void add_step(lowering *l, const operation *op, const block_shape *s, const block_plan *p,
                     uint64_t from, const pop_tensor operands[2], pop_tensor partials)
{
  pop_compute_set set = pop_graph_add_compute_set(l->graph, lowering_name(l, op));
  uint32_t codelet = block_codelet(l, op, s->element, from > 0);
  uint64_t i = 0;
  for (uint64_t part = 0; part < p->num_parts; ++part) {
    uint64_t begin = part * p->part + from, end = smaller((part + 1) * p->part, s->k);
    pop_tensor sums = pop_tensor_flatten(pop_tensor_slice(partials, part, part + 1, 0));
    if (end > begin + p->step) end = begin + p->step;
    for (uint64_t g = 0; g < s->groups; ++g)
      for (uint64_t c = 0; c < p->across; ++c)
        for (uint64_t r = 0; r < p->down; ++r, ++i) {
          if (begin >= end) continue;
          uint64_t row = r * p->rows, last = smaller(row + p->rows, s->m);
          pop_tensor a = pop_tensor_slice(operands[0], g, g + 1, 0);
          a = pop_tensor_slice(pop_tensor_slice(a, row, last, 1), begin, end, 2);
          planned_vertex *v = lowering_add_vertex(l, set, codelet, i / p->per_tile, 4);
          vertex_set(v, "base", (int64_t)(end - begin));
          vertex_connect(v, "a", pop_tensor_flatten(a));
          vertex_connect(v, "b", in_panel(s, p, operands[1], s->k, g, c, begin, end - begin));
          vertex_connect(v, "out", in_panel(s, p, sums, s->m, g, c, row, last - row));
        }
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
}

/* [parts, groups * m * n], each block on the tile of its vertex. */
static pop_tensor partials_variable(lowering *l, const operation *op, const block_shape *s,
                                    const block_plan *p)
{
  pop_tensor t = add_variable(l, op, s, (size_t[]){p->num_parts, s->groups * s->m * s->n}, 2);
  uint64_t i = 0;
  for (uint64_t part = 0; part < p->num_parts; ++part) {
    pop_tensor sums = pop_tensor_flatten(pop_tensor_slice(t, part, part + 1, 0));
    for (uint64_t g = 0; g < s->groups; ++g)
      for (uint64_t c = 0; c < p->across; ++c)
        for (uint64_t row = 0; row < s->m; row += p->rows, ++i)
          pop_graph_set_tile_mapping(
              l->graph, in_panel(s, p, sums, s->m, g, c, row, smaller(p->rows, s->m - row)),
              i / p->per_tile);
  }
  return t;
}

/* Adds up the results of the parts, in the order of k. */
static pop_tensor sum_of_parts(lowering *l, const operation *op, const block_shape *s,
                               const block_plan *p, pop_tensor partials)
{
  range_codelet c = {.e.l = l};
  const element_info *is = &element_infos[s->element];
  int64_t elements = (int64_t)(s->groups * s->m * s->n);
  const model_type type = {.rank = 1, .dims = &elements, .element = s->element};
  const value v = {.type = &type};
  spread_plan plan = lowering_plan(l, (uint64_t)elements, p->num_parts, 1);
  pop_tensor *tensors = pop_arena_alloc(l->m->arena, (p->num_parts + 1) * sizeof *tensors);
  bool *sliced = pop_arena_alloc(l->m->arena, (p->num_parts + 1) * sizeof *sliced);
  text_add(&c.e.body, "  for (unsigned i = 0; i < size; ++i) {\n    %s s = hlo_load_%s(in0[i]);\n",
           is->value, is->suffix);
  for (size_t i = 0; i < p->num_parts; ++i) {
    if (!range_add_field(&c, op, "in", i, &v, false)) break;
    if (i)
      text_add(&c.e.body, "    s = hlo_add_%s(s, hlo_load_%s(in%zu[i]));\n", is->suffix, is->suffix,
               i);
    tensors[i] = pop_tensor_slice(partials, i, i + 1, 0);
    sliced[i] = true;
  }
  text_add(&c.e.body, "    out0[i] = hlo_store_%s(s);\n  }\n", is->suffix);
  pop_tensor sum = tensors[p->num_parts] = lowering_variable(l, &type, &plan, lowering_name(l, op));
  sliced[p->num_parts] = true;
  if (range_add_field(&c, op, "out", 0, &v, true))
    range_add_vertices(l, op, &c, range_finish(&c, op), &plan, tensors, sliced);
  range_free(&c);
  return sum;
}

pop_tensor lower_product_in_blocks(lowering *l, const operation *op, pop_tensor a, pop_tensor b)
{
  if (pop_graph_error(l->graph)) return (pop_tensor){0}; /* then tensors have no sizes */
  const block_shape s = {.groups = pop_tensor_dim(a, 0),
                         .m = pop_tensor_dim(a, 1),
                         .k = pop_tensor_dim(a, 2),
                         .n = pop_tensor_dim(b, 2),
                         .element = product_element(op)};
  const block_plan p = plan_blocks(l, &s);
  const pop_tensor operands[2] = {left_in_rows(l, op, &s, a), right_in_panels(l, op, &s, &p, b)};
  pop_tensor partials = partials_variable(l, op, &s, &p);
  for (uint64_t from = 0; from < p.part; from += p.step)
    add_step(l, op, &s, &p, from, operands, partials);
  pop_tensor sum =
      p.num_parts > 1 ? sum_of_parts(l, op, &s, &p, partials) : pop_tensor_flatten(partials);
  return panels_view(l, &s, &p, product_result(l, op, sum, s.element), s.m);
}
