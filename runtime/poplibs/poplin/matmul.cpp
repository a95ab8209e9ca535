// A part of a matrix product on one tile: out = left x right, or out += left x right. The result is
// cut into blocks of R x C elements, whose sums stay in registers for all k. So each loaded element
// is used C (R) times. Blocks are dealt out to the workers round-robin. If sizes are no multiples
// of R and C, the last block of a row or column overlaps its neighbour and stores only its own
// elements. Elements are of type T, sums are stored as P.
//
// Both matrices are stored by rows or by columns, whichever takes fewer messages:
//
//     LeftByRows    left[row * length + k]        or  left[k * rows + row]
//     RightByRows   right[k * columns + column]   or  right[column * length + k]
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace poplin
{

#define INLINE __attribute__((always_inline)) inline

// Loads two adjacent elements. The tile loads both in one slot, from any multiple of 4
// (runtime/isa/isa.h, packed instructions), and the high half of a register is free to read. popc
// does not generate this for vectors whose elements are extracted at once.
template <typename T> static INLINE void load(const T *at, float &first, float &second)
{
  first = float(at[0]);
  second = float(at[1]);
}

// Orders loads from `at` after the calculation of `value`.
template <typename T> static INLINE void wait(const T *&at, float value)
{
#ifdef __IPU__
  __asm__ volatile("" : "+r"(at) : "f"(value));
#else
  (void)at, (void)value;
#endif
}

template <typename T> static INLINE void store(T *at, float first, float second)
{
  at[0] = T(first);
  at[1] = T(second);
}

#ifdef __IPU__
struct Pair {
  float elements[2];
};

template <> INLINE void load(const float *at, float &first, float &second)
{
  __asm__(".insn i 0x07, 3, %0, %2\n"        // fld
          ".insn r 0x77, 2, 1, %1, %0, f0\n" // tile.high
          ".pushsection .populus.needs,\"\",@progbits\n"
          ".asciz \"packed\"\n"
          ".popsection"
          : "=&f"(first), "=f"(second)
          : "m"(*reinterpret_cast<const Pair *>(at)));
}

template <> INLINE void store(float *at, float first, float second)
{
  float both;
  __asm__(".insn r 0x77, 2, 0, %1, %2, %3\n" // tile.pair
          ".insn s 0x27, 3, %1, %0\n"        // fsd
          ".pushsection .populus.needs,\"\",@progbits\n"
          ".asciz \"packed\"\n"
          ".popsection"
          : "=m"(*reinterpret_cast<Pair *>(at)), "=&f"(both)
          : "f"(first), "f"(second));
}
#endif

// Makes the compiler materialize a constant where it is used. A register that keeps it through a
// loop would be saved on the stack, which costs code and memory of each worker.
template <typename T> static INLINE T here(T constant)
{
#ifdef __IPU__
  __asm__ volatile("" : "+r"(constant));
#endif
  return constant;
}

// Pointers to the elements of N rows of the left matrix, or columns of the right one, for one k.
// next() advances to the next k. The N elements are adjacent, or `across` apart (Apart). take()
// loads element i and, up to `group`, the next ones.
//
// The compiler would load all that a block needs for a k before the first product, and run out of
// registers. So after() orders the loads from element i on after a sum.
template <typename T, unsigned N, bool Apart> struct Lines {
  static constexpr unsigned count = N, group = 2;
  const T *at;
  const unsigned step;

  INLINE Lines(const T *begin, unsigned, unsigned step) : at(begin), step(step) {}
  INLINE void take(unsigned i, float *values) const
  {
    if (i + 1 < N)
      load(at + i, values[0], values[1]);
    else
      values[0] = float(at[i]);
  }
  INLINE void after(float sum, unsigned) { wait(at, sum); }
  INLINE void next() { at += step; }
};
template <typename T, unsigned N> struct Lines<T, N, true> {
  static constexpr unsigned count = N, group = 1;
  const T *at[N];

  INLINE Lines(const T *begin, unsigned across, unsigned)
  {
    for (unsigned i = 0; i < N; ++i) at[i] = begin + i * across;
  }
  INLINE void take(unsigned i, float *values) const { values[0] = float(*at[i]); }
  INLINE void after(float sum, unsigned i)
  {
    if (i < N) wait(at[i], sum);
  }
  INLINE void next()
  {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < N; ++i) ++at[i];
  }
};

// The sums of a block, in registers.
template <unsigned R, unsigned C> struct Sums {
  float sum[R][C];

  // The elements of `held` stay in registers for a k; those of `streamed` are loaded group by
  // group.
  template <bool ByRows, typename H, typename S> INLINE void add(H &held, S &streamed)
  {
    float x[H::count], y[S::group];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < H::count; i += H::group) held.take(i, x + i);
#pragma clang loop unroll(full)
    for (unsigned j = 0; j < S::count; j += S::group) {
      streamed.take(j, y);
#pragma clang loop unroll(full)
      for (unsigned n = 0; n < S::group && j + n < S::count; ++n)
#pragma clang loop unroll(full)
        for (unsigned i = 0; i < H::count; ++i) {
          float &to = ByRows ? sum[j + n][i] : sum[i][j + n];
          to = __builtin_fmaf(x[i], y[n], to);
          streamed.after(to, j + S::group);
        }
    }
    held.next();
    streamed.next();
  }

  template <typename P> INLINE void load(const P *from, unsigned columns)
  {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < R; ++i, from += columns) {
#pragma clang loop unroll(full)
      for (unsigned j = 0; j + 1 < C; j += 2) poplin::load(from + j, sum[i][j], sum[i][j + 1]);
      if constexpr (C % 2) sum[i][C - 1] = from[C - 1];
    }
  }

  // Stores the sums from a row and a column on. Rows before `row` are written where `row` belongs,
  // and are then overwritten by it.
  template <typename P>
  INLINE void store(P *to, unsigned columns, unsigned row, unsigned column) const
  {
    P *rows[R];
    rows[0] = to + row * columns;
#pragma clang loop unroll(full)
    for (unsigned i = 1; i < R; ++i) rows[i] = i <= row ? rows[0] : rows[i - 1] + columns;
    if (column == 0) {
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < R; ++i) {
#pragma clang loop unroll(full)
        for (unsigned j = 0; j + 1 < C; j += 2)
          poplin::store(rows[i] + j, sum[i][j], sum[i][j + 1]);
        if constexpr (C % 2) rows[i][C - 1] = P(sum[i][C - 1]);
      }
      return;
    }
#pragma clang loop unroll(full)
    for (unsigned j = 1; j < C; ++j)
      if (here(j) >= column)
#pragma clang loop unroll(full)
        for (unsigned i = 0; i < R; ++i) rows[i][j] = P(sum[i][j]);
  }
};

// The first sums. Loading them takes less code than clearing registers.
template <typename P> static const P zeros[8] = {};

// Returns true, but hides that from the compiler. So vertices tail-call multiply() and need no
// stack.
static INLINE bool done()
{
  bool is = true;
#ifdef __IPU__
  __asm__ volatile("" : "+r"(is));
#endif
  return is;
}

// The work of both vertex types; `V` has their fields. Not inlined, so that both share one copy of
// the code.
template <unsigned R, unsigned C, bool LeftByRows, bool RightByRows, typename T, typename P,
          typename V>
static __attribute__((noinline)) bool multiply(V &v, unsigned worker, bool more)
{
  const T *left = &v.left[0], *right = &v.right[0];
  P *out = &v.out[0];
  const unsigned length = v.length, rows = v.rows, columns = v.columns;
  for (unsigned i = 0, j = worker * C;; j += MultiVertex::numWorkers() * C) {
    for (; j >= columns; i += R) {
      const unsigned width = (columns + C - 1) / C * C;
      if (i + R >= rows) return done();
      j -= width;
    }
    const unsigned row = i + R <= rows ? i : rows - R, column = j + C <= columns ? j : columns - C;
    P *to = out + row * columns + column;
    Sums<R, C> sums;
    sums.load(more ? to : here(zeros<P>), more ? columns : 0);
    Lines<T, R, LeftByRows> l(left + (LeftByRows ? row * length : row), length, rows);
    Lines<T, C, !RightByRows> r(right + (RightByRows ? column : column * length), length, columns);
#pragma clang loop unroll_count(R *C < 16 ? 4 : 1)
    for (unsigned k = 0; k < length; ++k)
      if constexpr (R <= C)
        sums.template add<false>(l, r);
      else
        sums.template add<true>(r, l);
    sums.store(to, columns, i - row, j - column);
  }
}

// Accumulates: out += left x right.
template <typename T, typename P, unsigned R, unsigned C, bool LeftByRows, bool RightByRows>
class MatMulMore : public MultiVertex
{
public:
  Input<Vector<T>> left, right;
  InOut<Vector<P>> out;           // row by row
  unsigned length, rows, columns; // rows >= R, columns >= C

  bool compute(unsigned worker)
  {
    return multiply<R, C, LeftByRows, RightByRows, T, P>(*this, worker, true);
  }
};

template <typename T, typename P, unsigned R, unsigned C, bool LeftByRows, bool RightByRows>
class MatMulBlock : public MultiVertex
{
public:
  Input<Vector<T>> left, right; // the same fields, but `out` is only written
  Output<Vector<P>> out;
  unsigned length, rows, columns;

  bool compute(unsigned worker)
  {
    using More = MatMulMore<T, P, R, C, LeftByRows, RightByRows>;
    More &more = reinterpret_cast<More &>(*this);
    return multiply<R, C, LeftByRows, RightByRows, T, P>(more, worker, false);
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
  OF_BLOCK(T, P, 4, 6)                                                                             \
  OF_BLOCK(T, P, 6, 4)                                                                             \
  OF_BLOCK(T, P, 3, 8)                                                                             \
  OF_BLOCK(T, P, 8, 3)                                                                             \
  OF_BLOCK(T, P, 4, 4)                                                                             \
  OF_BLOCK(T, P, 1, 8)                                                                             \
  OF_BLOCK(T, P, 8, 1)                                                                             \
  OF_BLOCK(T, P, 1, 1)
OF_TYPES(float, float)
OF_TYPES(half, float)
OF_TYPES(half, half)

} // namespace poplin
