/* Plans of matrix products. The search tries all cuts of m, n and k that there are tiles for,
 * each with all register blocks of the vertices and with steps of several lengths. The cost of a
 * plan is the estimated cycles of the busiest tile, plus MEMORY_WEIGHT per cent for each per
 * cent of tile memory that it takes. The cheapest plan wins. */
#include "poplibs/host/matmul_plan.h"
#include "base/divide.h"

#include <assert.h>

enum { WORKERS_START = 150, MEMORY_WEIGHT = 6 };

/* The register blocks of ../poplin/matmul.cpp; of equally good ones the first is taken. */
static const struct {
  unsigned rows, columns;
} blocks[] = {{4, 6}, {3, 8}, {6, 4}, {8, 3}, {4, 4}, {1, 8}, {8, 1}, {1, 1}};

typedef struct search {
  const product_shape *shape;
  product_plan best;
  double least;
  bool found, fits;
} search;

product_cut product_cut_of(const product_shape *p, size_t size, size_t parts)
{
  size_t of_word = p->element_bytes < 4 ? 4 / p->element_bytes : 1;
  return (product_cut){size, parts, parts * of_word <= size ? of_word : 1};
}

size_t product_largest_part(product_cut cut)
{
  size_t grains = cut.size / cut.grain;
  return divide_up(grains, cut.parts) * cut.grain + cut.size % cut.grain;
}

product_part product_part_of(product_cut cut, size_t i)
{
  size_t grains = cut.size / cut.grain;
  bool last = i + 1 == cut.parts;
  return (product_part){i * grains / cut.parts * cut.grain,
                        last ? cut.size : (i + 1) * grains / cut.parts * cut.grain};
}

size_t product_part_with(product_cut cut, size_t at)
{
  assert(at < cut.size);
  size_t grains = cut.size / cut.grain, grain = at / cut.grain;
  if (grain == grains) grain--; /* what is left */
  return ((grain + 1) * cut.parts - 1) / grains;
}

/* Issue slots of a worker for one block in a step. Sums are loaded and stored; then each k takes
 * the loads, the products, a pointer and the loop. Adjacent single-precision elements are loaded
 * in pairs: usually those of the right operand, and those of both if panels rotate. Halves are
 * converted. */
static double block_slots(const product_shape *p, const product_plan *plan)
{
  enum { SETUP = 84 };
  unsigned r = plan->block_rows, c = plan->block_columns;
  unsigned left = plan->rotates ? (r + 1) / 2 : r;
  unsigned loads = p->element_bytes < 4 ? 2 * (r + c) : left + (c + 1) / 2;
  return SETUP + r * c + (double)plan->length * (r * c + loads + 2);
}

typedef struct extent {
  size_t rows, columns, depth; /* of the largest part */
  size_t steps;
} extent;

static extent extent_of(const product_shape *p, const product_plan *plan)
{
  size_t depth = plan->rotates ? plan->rows * plan->length
                               : product_largest_part(product_cut_of(p, p->k, plan->depth));
  return (extent){product_largest_part(product_cut_of(p, p->m, plan->rows)),
                  product_largest_part(product_cut_of(p, p->n, plan->columns)), depth,
                  divide_up(depth, plan->length)};
}

/* Cycles to reduce the `depth` partials. All tiles take part, one element after the other. */
static double sum_cycles(const product_shape *p, const product_plan *plan)
{
  enum { SLOTS = 6, SETS = 2 };
  double elements = (double)divide_up(p->groups * p->m * p->n, p->num_tiles);
  double of_one = (double)plan->depth * (SLOTS + (double)p->partial_bytes / 4);
  return SETS * (WORKERS_START + p->target->sync_cycles + p->target->exchange_latency_cycles) +
         elements * of_one;
}

static size_t result_bytes(const product_shape *p, const extent *e)
{
  return e->rows * e->columns * p->partial_bytes;
}

/* Of both operands, for one k. */
static size_t line_bytes(const product_shape *p, const extent *e)
{
  return (e->rows + e->columns) * p->element_bytes;
}

/* What a tile receives for a step. With one step, an operand that no other tile needs is there
 * already. In a rotation, a tile receives a piece at a time. */
static size_t operand_bytes(const product_shape *p, const product_plan *plan, const extent *e)
{
  if (plan->rotates) return line_bytes(p, e) * divide_up(plan->length, plan->pieces);
  size_t left = plan->columns > 1 || e->steps > 1 ? e->rows : 0;
  size_t right = plan->rows > 1 || e->steps > 1 ? e->columns : 0;
  return (left + right) * plan->length * p->element_bytes;
}

static double cycles_of(const product_shape *p, const product_plan *plan, const extent *e)
{
  size_t parts = plan->rows * plan->columns * plan->depth;
  double on_one_tile = (double)divide_up(p->groups * parts, p->num_tiles);
  size_t count = divide_up(e->rows, plan->block_rows) * divide_up(e->columns, plan->block_columns);
  double rounds = (double)divide_up(count, p->target->num_worker_contexts);
  double compute = rounds * block_slots(p, plan) * p->target->num_worker_contexts + WORKERS_START;
  double words = (double)operand_bytes(p, plan, e) / 4;
  double exchange = words + p->target->sync_cycles + p->target->exchange_latency_cycles;
  if (plan->rotates) exchange *= (double)plan->pieces;
  double cycles = (double)e->steps * on_one_tile * (compute + exchange);
  return plan->depth > 1 ? cycles + sum_cycles(p, plan) : cycles;
}

/* The pieces in which the left operand comes in a step: one for each row. If a step takes whole
 * runs, there is one for each run, because the runs of neighbouring rows are adjacent. */
static size_t pieces_of(const product_shape *p, const product_plan *plan, const extent *e)
{
  if (p->run <= 1) return 1;
  bool whole = plan->length % p->run == 0 && e->depth % p->run == 0;
  return whole ? plan->length / p->run : e->rows * (1 + divide_up(plan->length, p->run));
}

/* Code of a tile for each step. The exchange code has instructions for every 256 words received
 * of an operand (isa/isa.h), and for each piece received or sent. Control code starts it. */
static size_t step_code_bytes(const product_shape *p, const product_plan *plan, const extent *e)
{
  enum { CONTROL = 16, ENDS = 20, OF_MESSAGE = 8, OF_PIECE = 32, WORDS = 256 };
  size_t words[] = {divide_up(e->rows * plan->length * p->element_bytes, 4),
                    divide_up(e->columns * plan->length * p->element_bytes, 4)};
  size_t messages = divide_up(words[0], WORDS) + divide_up(words[1], WORDS);
  return CONTROL + ENDS + messages * OF_MESSAGE + (pieces_of(p, plan, e) - 1) * OF_PIECE;
}

/* Code of a tile for all steps of a rotation: exchange code for each piece, in both directions,
 * and the control code that starts it. */
static size_t rotation_code_bytes(const product_plan *plan)
{
  enum { LOOP = 200, OF_PIECE = 140 };
  return LOOP + plan->pieces * OF_PIECE;
}

/* Code of a tile to reduce partials. Elements of each partial come, in rows of its block, from
 * tiles other than the result's. */
static size_t sum_code_bytes(const product_plan *plan, const extent *e)
{
  enum { OF_ROW = 16 };
  return plan->depth > 1 ? plan->depth * smaller(e->rows, e->columns) * OF_ROW : 0;
}

static size_t bytes_of(const product_shape *p, const product_plan *plan, const extent *e)
{
  size_t code = 0;
  if (plan->rotates)
    code = rotation_code_bytes(plan);
  else if (e->steps > 1)
    code = e->steps * step_code_bytes(p, plan, e);
  return operand_bytes(p, plan, e) + (plan->depth > 1 ? result_bytes(p, e) : 0) +
         sum_code_bytes(plan, e) + code;
}

/* Plans that fit in memory come before those that do not. Of those that do not fit, the smallest
 * is best. */
static void consider(search *s, product_plan plan)
{
  const product_shape *p = s->shape;
  extent e = extent_of(p, &plan);
  plan.cycles = cycles_of(p, &plan, &e);
  plan.tile_bytes = bytes_of(p, &plan, &e);
  size_t needed = result_bytes(p, &e) + plan.tile_bytes;
  bool fits = needed <= p->bytes;
  if (s->found && s->fits && !fits) return;
  double cost =
      plan.cycles * (1 + MEMORY_WEIGHT * (double)plan.tile_bytes / p->target->memory_bytes);
  if (!fits) cost = (double)needed;
  if (s->found && s->fits == fits && cost >= s->least) return;
  s->best = plan;
  s->least = cost;
  s->fits = fits;
  s->found = true;
}

/* Tries steps of all of k, and shorter ones. If none fits, tries the longest step that does. */
static void consider_lengths(search *s, product_plan plan)
{
  enum { SHORTEST = 8, UNROLLED = 4 };
  const product_shape *p = s->shape;
  size_t depth = product_largest_part(product_cut_of(p, p->k, plan.depth)), steps = 1;
  assert(depth > 0 && "products of no elements are refused");
  for (plan.length = depth; plan.length >= SHORTEST || steps == 1; steps += (steps + 2) / 3) {
    size_t wanted = divide_up(depth, steps);
    size_t grain = p->run > UNROLLED && p->run <= wanted ? p->run : UNROLLED;
    plan.length = smaller(divide_up(wanted, grain) * grain, depth);
    consider(s, plan);
  }
  if (s->fits) return;
  plan.length = 1;
  extent e = extent_of(p, &plan);
  size_t result = result_bytes(p, &e), of_one = line_bytes(p, &e);
  size_t fitting = p->bytes > result ? (p->bytes - result) / of_one : 0;
  plan.length = smaller(fitting ? fitting : 1, depth);
  consider(s, plan);
}

static void consider_blocks(search *s, product_plan plan)
{
  const product_shape *p = s->shape;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    plan.block_rows = blocks[i].rows;
    plan.block_columns = blocks[i].columns;
    if (p->m / plan.rows < blocks[i].rows || p->n / plan.columns < blocks[i].columns) continue;
    consider_lengths(s, plan);
  }
}

/* Tries all register blocks, and up to MOST_PIECES pieces. */
static void consider_rotation(search *s, product_plan plan)
{
  enum { MOST_PIECES = 8 };
  plan.rotates = true;
  plan.length = divide_up(s->shape->k, plan.depth * plan.rows);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    plan.block_rows = blocks[i].rows;
    plan.block_columns = blocks[i].columns;
    if (s->shape->m / plan.rows < plan.block_rows ||
        s->shape->n / plan.columns < plan.block_columns)
      continue;
    for (plan.pieces = 1; plan.pieces <= smaller(MOST_PIECES, plan.length); plan.pieces++)
      consider(s, plan);
  }
}

static void consider_rotations(search *s, size_t tiles)
{
  enum { SHORTEST_SLICE = 4 };
  const product_shape *p = s->shape;
  size_t most = smaller(p->m, p->n);
  for (size_t rows = 2; rows <= most && rows * rows <= tiles; rows += 2)
    for (size_t depth = 1; rows * rows * depth <= tiles; depth *= 2)
      if (p->k >= depth * rows * SHORTEST_SLICE)
        consider_rotation(s, (product_plan){.rows = rows, .columns = rows, .depth = depth});
}

/* The next number of parts whose largest part is smaller; more than `size` after the last. */
static size_t next_cut(size_t size, size_t parts)
{
  size_t largest = divide_up(size, parts);
  return largest == 1 ? size + 1 : divide_up(size, largest - 1);
}

product_plan product_find_plan(const product_shape *p)
{
  enum { SHORTEST_PART = 16 };
  search s = {.shape = p};
  size_t tiles = p->num_tiles / smaller(p->groups, p->num_tiles);
  if (p->may_rotate && p->groups <= p->num_tiles) consider_rotations(&s, tiles);
  for (size_t rows = 1; rows <= smaller(p->m, tiles); rows = next_cut(p->m, rows))
    for (size_t columns = 1; columns <= smaller(p->n, tiles / rows);
         columns = next_cut(p->n, columns)) {
      product_plan plan = {.rows = rows, .columns = columns, .depth = 1};
      consider_blocks(&s, plan);
      size_t most = smaller(tiles / (rows * columns), p->k / SHORTEST_PART);
      for (plan.depth = most; plan.depth > 1; plan.depth /= 2) consider_blocks(&s, plan);
    }
  return s.best;
}
