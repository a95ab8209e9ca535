/* The best cut of a reduction: reduce_cut.h. */
#include "poplibs/host/reduce_cut.h"
#include "base/divide.h"

static size_t cost_of(size_t outs, size_t length, size_t most, size_t second_step, reduce_cut c)
{
  size_t first = divide_up(outs, c.outs) * divide_up(length, c.pieces);
  return c.pieces < 2 ? first : first + second_step + divide_up(outs, most) * c.pieces;
}

reduce_cut reduce_find_cut(size_t outs, size_t length, size_t most, size_t second_step)
{
  enum { LEAST_PIECE = 32 };
  reduce_cut best = {outs < most ? outs : most, 1};
  for (size_t pieces = 2; outs > 0 && pieces <= length / LEAST_PIECE && pieces <= most; pieces++) {
    reduce_cut c = {most / pieces < outs ? most / pieces : outs, pieces};
    if (cost_of(outs, length, most, second_step, c) <
        cost_of(outs, length, most, second_step, best))
      best = c;
  }
  return best;
}
