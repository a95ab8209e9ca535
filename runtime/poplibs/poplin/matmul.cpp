// A part of a matrix product on one tile: out = left x right, or added to what is there. The result is cut into blocks of
// R x C elements whose sums stay in registers while k goes by, so that each element that is loaded is used C (R) times;
// blocks go round among the workers. The last blocks of a row or column lie over their neighbours where sizes are no
// multiples of R and C, and store what is theirs alone. Elements of type T, sums stored as P.
//
// Both matrices are there row by row or column by column, as they come in longer messages:
//
//     LeftByRows    left[row * length + k]        or  left[k * rows + row]
//     RightByRows   right[k * columns + column]   or  right[column * length + k]
#include <poplar/Vertex.hpp>
#include <utility>

using namespace poplar;

namespace poplin
{

struct Sizes {
  unsigned length, rows, columns; // rows >= R, columns >= C
};

// Where the elements of N rows of the left matrix are (columns of the right one); next() is for the next k. Side by side, or
// `across` apart.
template <typename T, unsigned N, bool Apart> struct Lines {
  const T *at;
  Lines(const T *begin, unsigned) : at(begin) {}
  float get(unsigned i) const { return float(at[i]); }
  void next(unsigned step) { at += step; }
};
template <typename T, unsigned N> struct Lines<T, N, true> {
  const T *at[N];
  Lines(const T *begin, unsigned across)
  {
    for (unsigned i = 0; i < N; ++i) at[i] = begin + i * across;
  }
  float get(unsigned i) const { return float(*at[i]); }
  void next(unsigned)
  {
    for (unsigned i = 0; i < N; ++i) ++at[i];
  }
};

// The sums of a block, in registers: folds, as loops go over what is in memory, and functions that are inlined.
#define INLINE __attribute__((always_inline))
template <typename P, unsigned R, unsigned C, unsigned... I> struct Sums {
  float sum[R * C];

  INLINE Sums(std::integer_sequence<unsigned, I...>, const P *out, unsigned columns, bool more)
  {
    ((sum[I] = more ? float(out[I / C * columns + I % C]) : 0.f), ...);
  }

  template <typename L, typename M> INLINE void add(const L &left, const M &right)
  {
    ((sum[I] = __builtin_fmaf(left.get(I / C), right.get(I % C), sum[I])), ...);
  }

  INLINE void store(P *out, unsigned columns) const
  {
    ((out[I / C * columns + I % C] = P(sum[I])), ...);
  }

  // From a row and a column on.
  INLINE void store(P *out, unsigned columns, unsigned row, unsigned column) const
  {
    ((I / C >= row && I % C >= column ? void(out[I / C * columns + I % C] = P(sum[I])) : void()),
     ...);
  }
};
template <typename P, unsigned R, unsigned C, unsigned... I>
static Sums<P, R, C, I...> sumsOf(std::integer_sequence<unsigned, I...> all, const P *out,
                                  unsigned columns, bool more)
{
  return {all, out, columns, more};
}

template <unsigned R, unsigned C, bool LeftByRows, bool RightByRows, typename T, typename P>
static __attribute__((noinline)) void multiply(const T *left, const T *right, P *out,
                                               const Sizes &size, unsigned worker, bool more)
{
  const unsigned length = size.length, rows = size.rows, columns = size.columns;
  const unsigned perRow = (columns + C - 1) / C, blocks = (rows + R - 1) / R * perRow;
  for (unsigned block = worker; block < blocks; block += MultiVertex::numWorkers()) {
    const unsigned i = block / perRow * R, j = block % perRow * C;
    const unsigned row = i + R <= rows ? i : rows - R, column = j + C <= columns ? j : columns - C;
    P *to = out + row * columns + column;
    auto sums = sumsOf<P, R, C>(std::make_integer_sequence<unsigned, R * C>(), to, columns, more);
    Lines<T, R, LeftByRows> l(left + (LeftByRows ? row * length : row), length);
    Lines<T, C, !RightByRows> r(right + (RightByRows ? column : column * length), length);
#pragma clang loop unroll_count(4)
    for (unsigned k = 0; k < length; ++k) {
      sums.add(l, r);
      l.next(rows);
      r.next(columns);
    }
    if (row == i && column == j)
      sums.store(to, columns);
    else
      sums.store(to, columns, i - row, j - column);
  }
}

template <typename T, typename P, unsigned R, unsigned C, bool LeftByRows, bool RightByRows>
class MatMulBlock : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  Output<Vector<P>> out; // row by row
  unsigned length, rows, columns;

  bool compute(unsigned worker)
  {
    const Sizes size = {length, rows, columns};
    multiply<R, C, LeftByRows, RightByRows>(&left[0], &right[0], &out[0], size, worker, false);
    return true;
  }
};

// Added to what is there.
template <typename T, typename P, unsigned R, unsigned C, bool LeftByRows, bool RightByRows>
class MatMulMore : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  InOut<Vector<P>> out;
  unsigned length, rows, columns;

  bool compute(unsigned worker)
  {
    const Sizes size = {length, rows, columns};
    multiply<R, C, LeftByRows, RightByRows>(&left[0], &right[0], &out[0], size, worker, true);
    return true;
  }
};

// The blocks of ../host/matmul_plan.c.
#define OF_LAYOUT(T, P, R, C, L, M)                                                                \
  template class MatMulBlock<T, P, R, C, L, M>;                                                    \
  template class MatMulMore<T, P, R, C, L, M>;
#define OF_BLOCK(T, P, R, C)                                                                       \
  OF_LAYOUT(T, P, R, C, true, true)                                                                \
  OF_LAYOUT(T, P, R, C, true, false)                                                               \
  OF_LAYOUT(T, P, R, C, false, true)                                                               \
  OF_LAYOUT(T, P, R, C, false, false)
#define OF_TYPES(T, P)                                                                             \
  OF_BLOCK(T, P, 5, 5)                                                                             \
  OF_BLOCK(T, P, 4, 4)                                                                             \
  OF_BLOCK(T, P, 1, 8)                                                                             \
  OF_BLOCK(T, P, 8, 1)                                                                             \
  OF_BLOCK(T, P, 1, 1)
OF_TYPES(float, float)
OF_TYPES(half, float)
OF_TYPES(half, half)

} // namespace poplin
