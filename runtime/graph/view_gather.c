/* Views of views: turns a nest of loops over positions of a tensor into loops over variables.
 *
 * Every shape operation on a tensor (slice, transpose, broadcast, …) is a nest of loops over the
 * positions 0, 1, … of its row-major sequence. A piece of the tensor maps positions to elements
 * like an odometer. Its loops are the digits; the innermost one turns fastest:
 *
 *     loops (4, stride 100) (6, stride 1):  position 15  =  digits 2 3  ->  base + 2*100 + 3*1
 *
 * A position loop that moves only one digit, without a carry, is a loop over elements. Its
 * stride is the digit's stride times the digit's step. A loop that turns a digit over a whole
 * number of times is two loops: the carry moves the next digit by one. If that works for all
 * loops, and the digits' sums stay in range, the nest inside the piece is one new piece.
 *
 * Otherwise the nest is cut: first at the ends of pieces, then where the outermost loop carries,
 * and at last by taking the outermost loop apart. So cuts are made at carries, that is by rows.
 * They are made by elements only if the elements come from different places one by one. */
#include "graph/view.h"
#include "graph/view_scratch.h"

#include <assert.h>
#include <string.h>

enum {
  MOST_LOOPS = 64,                         /* of a piece */
  MOST_POSITION_LOOPS = GRAPH_MAX_RANK + 2 /* of a nest over positions */
};

typedef struct digit {
  uint64_t count, weight; /* it turns over after `count` steps of `weight` positions */
  uint64_t value;
  int64_t stride; /* elements per step */
} digit;

typedef struct odometer {
  size_t num_digits;
  digit digits[MOST_LOOPS];
} odometer;

/* What is gathered from. */
typedef struct source {
  pop_graph *graph;
  const tensor *tensor;
  const view_piece *pieces;
  size_t piece; /* the piece of the last position; the next one is usually near */
} source;

static uint64_t magnitude(int64_t stride)
{
  return stride < 0 ? (uint64_t)-stride : (uint64_t)stride;
}

/* ---- inside one piece ---- */

static uint64_t set_odometer(odometer *o, const pop_graph *graph, const view_piece *piece,
                             uint64_t position)
{
  const view_dim *dims = piece_dims(graph, piece);
  uint64_t element = piece->base, weight = 1;
  o->num_digits = piece->num_dims;
  for (size_t k = piece->num_dims; k-- > 0;) {
    uint64_t value = position / weight % dims[k].count;
    o->digits[k] = (digit){dims[k].count, weight, value, dims[k].stride};
    element += value * (uint64_t)dims[k].stride;
    weight *= dims[k].count;
  }
  return element;
}

/* The outermost digit that steps of `step` positions move by a whole number. */
static size_t moved_digit(const odometer *o, uint64_t step)
{
  assert(o->num_digits > 0); /* a single element has no room for a step */
  size_t k = 0;
  while (k + 1 < o->num_digits && step % o->digits[k].weight) k++; /* the innermost weight is 1 */
  return k;
}

/* Splits the loop (count, step) into loops that each move one digit without a carry; parts[0] is
 * the innermost. The digits' values become the largest that they reach. 0 if that is impossible. */
static size_t split_loop(odometer *o, uint64_t count, uint64_t step, view_dim *parts)
{
  size_t k = moved_digit(o, step), num_parts = 0;
  for (uint64_t move = step / o->digits[k].weight;; move = 1, k--) {
    digit *d = &o->digits[k];
    uint64_t room = (d->count - 1 - d->value) / move; /* steps before a carry */
    bool all = count - 1 <= room;
    uint64_t turn = all ? count : d->count / move;
    if (!all && (k == 0 || d->count % move || turn - 1 > room || count % turn)) return 0;
    parts[num_parts++] = (view_dim){turn, (int64_t)move * d->stride};
    d->value += (turn - 1) * move;
    if (all) return num_parts;
    count /= turn;
  }
}

/* Adds the nest at `position`, inside the piece, as one new piece. False if it is not one. */
static bool add_as_one_piece(source *from, const view_piece *piece, uint64_t position,
                             const view_dim *loops, size_t num_loops)
{
  position -= piece->start;
  for (size_t i = 0; i < num_loops; i++) /* backward loops are walked from their other end */
    if (loops[i].stride < 0) position -= (loops[i].count - 1) * magnitude(loops[i].stride);

  odometer o;
  uint64_t element = set_odometer(&o, from->graph, piece, position);
  view_dim result[MOST_LOOPS];
  size_t num_result = 0;
  for (size_t i = 0; i < num_loops; i++) {
    view_dim parts[MOST_LOOPS];
    size_t num_parts = 1;
    if (loops[i].count == 1 || loops[i].stride == 0)
      parts[0] = (view_dim){loops[i].count, 0};
    else
      num_parts = split_loop(&o, loops[i].count, magnitude(loops[i].stride), parts);
    if (num_parts == 0) return false;
    assert(num_result + num_parts <= MOST_LOOPS); /* each counts to 2: see graph.h */
    while (num_parts-- > 0) {
      view_dim part = parts[num_parts];
      if (loops[i].stride < 0) {
        element += (part.count - 1) * (uint64_t)part.stride;
        part.stride = -part.stride;
      }
      result[num_result++] = part;
    }
  }
  view_add_piece(from->graph->scratch, piece->variable, element, result, num_result);
  return true;
}

/* How many steps of a loop are made before a carry that split_loop cannot express, if there are
 * no other loops. At least 1. */
static uint64_t steps_to_carry(const source *from, const view_piece *piece, uint64_t position,
                               view_dim loop)
{
  if (loop.stride == 0) return loop.count;
  odometer o;
  set_odometer(&o, from->graph, piece, position - piece->start);
  uint64_t step = magnitude(loop.stride), block = 1;
  size_t k = moved_digit(&o, step);
  for (uint64_t move = step / o.digits[k].weight;; move = 1, k--) {
    const digit *d = &o.digits[k];
    uint64_t value = loop.stride > 0 ? d->value : d->count - 1 - d->value; /* from its start */
    uint64_t turn = (d->count - 1 - value) / move + 1;
    uint64_t blocks = loop.count / block;
    if (blocks <= turn) return block * blocks;
    if (value >= move || d->count % move || k == 0) return block * turn;
    block *= turn;
  }
}

/* ---- over all pieces ---- */

static uint64_t piece_end(const source *from, size_t piece)
{
  bool last = piece + 1 == from->tensor->num_pieces;
  return last ? from->tensor->num_elements : from->pieces[piece + 1].start;
}

static size_t find_piece(source *from, uint64_t position)
{
  size_t low = 0, high = from->tensor->num_pieces; /* in [low, high) */
  for (size_t near = from->piece; near < high && near <= from->piece + 1; near++)
    if (from->pieces[near].start <= position && position < piece_end(from, near))
      return from->piece = near;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (from->pieces[middle].start <= position)
      low = middle;
    else
      high = middle;
  }
  return from->piece = low;
}

/* How many iterations of the outermost loop, from `position` on, stay in the piece. */
static uint64_t iterations_inside(const source *from, size_t piece, uint64_t position,
                                  const view_dim *loops, size_t num_loops)
{
  uint64_t lowest = position, highest = position; /* of the first iteration */
  for (size_t i = 1; i < num_loops; i++) {
    uint64_t reach = (loops[i].count - 1) * magnitude(loops[i].stride);
    if (loops[i].stride < 0)
      lowest -= reach;
    else
      highest += reach;
  }
  uint64_t start = from->pieces[piece].start, last = piece_end(from, piece) - 1;
  if (lowest < start || highest > last) return 0;
  if (loops[0].stride == 0) return loops[0].count;
  uint64_t room = loops[0].stride > 0 ? last - highest : lowest - start;
  uint64_t inside = room / magnitude(loops[0].stride) + 1;
  return inside < loops[0].count ? inside : loops[0].count;
}

static void gather(source *from, uint64_t position, const view_dim *loops, size_t num_loops);

/* Adds as many first iterations of the outermost loop as can be expressed at once, and returns
 * their number. The recursion is as deep as the nest: at most the rank plus two. */
static uint64_t gather_some(source *from, uint64_t position, const view_dim *loops,
                            size_t num_loops)
{
  size_t index = find_piece(from, position);
  const view_piece *piece = &from->pieces[index];
  uint64_t inside = iterations_inside(from, index, position, loops, num_loops);
  view_dim first[MOST_POSITION_LOOPS];
  memcpy(first, loops, num_loops * sizeof *first);
  first[0].count = inside;
  if (inside && add_as_one_piece(from, piece, position, first, num_loops)) return inside;
  if (inside) {
    first[0].count = steps_to_carry(from, piece, position, first[0]);
    if (first[0].count < inside && add_as_one_piece(from, piece, position, first, num_loops))
      return first[0].count;
  }
  assert(num_loops > 1); /* one loop to the next carry is one piece */
  gather(from, position, loops + 1, num_loops - 1);
  return 1;
}

static void gather(source *from, uint64_t position, const view_dim *loops, size_t num_loops)
{
  view_dim left[MOST_POSITION_LOOPS]; /* remaining iterations: the outermost loop gets shorter */
  memcpy(left, loops, num_loops * sizeof *left);
  while (left[0].count > 0 && !from->graph->scratch->too_many) {
    uint64_t done = gather_some(from, position, left, num_loops);
    position += done * (uint64_t)left[0].stride;
    left[0].count -= done;
  }
}

bool view_gather(pop_graph *graph, const tensor *t, uint64_t base, const view_dim *loops,
                 size_t num_loops)
{
  assert(num_loops <= MOST_POSITION_LOOPS);
  view_dim joined[MOST_POSITION_LOOPS + 1];
  size_t num_joined = 0;
  for (size_t i = 0; i < num_loops; i++) {
    view_dim loop = loops[i];
    if (loop.count == 0) return true;
    if (loop.count == 1) continue;
    view_dim *outer = num_joined ? &joined[num_joined - 1] : NULL;
    if (outer && view_loops_join(*outer, loop))
      *outer = (view_dim){outer->count * loop.count, loop.stride};
    else
      joined[num_joined++] = loop;
  }
  if (num_joined == 0) joined[num_joined++] = (view_dim){1, 0}; /* a single position */
  source from = {graph, t, graph->pieces + t->first_piece, 0};
  gather(&from, base, joined, num_joined);
  return !graph->scratch->too_many;
}
