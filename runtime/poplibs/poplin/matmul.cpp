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

using namespace poplar;

namespace poplin
{

#define INLINE __attribute__((always_inline)) inline

// Two elements that lie side by side. The tile loads both in one slot, from any multiple of 4 (runtime/isa/isa.h, packed
// instructions), and the second half of a register costs nothing to get at; popc does not do so with vectors that are taken
// apart at once.
template <typename T> static INLINE void load(const T *at, float &first, float &second)
{
  first = float(at[0]);
  second = float(at[1]);
}

// A pointer whose elements are loaded when `value` has been calculated.
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

// A constant that is calculated where it is used. Registers that keep such for a loop are saved on the stack: code, and memory of
// each worker.
template <typename T> static INLINE T here(T constant)
{
#ifdef __IPU__
  __asm__ volatile("" : "+r"(constant));
#endif
  return constant;
}

// Where the elements of N rows of the left matrix are (columns of the right one); next() is for the next k. Side by side, or
// `across` apart. take() loads the i-th and as many as `group` says.
//
// The compiler would load all that a block needs for a k before the first product, for which there are not registers enough, so
// after() says that what comes from i on is loaded when a sum is there.
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

  // The elements of `held` for a k stay in registers while those of `streamed` go by.
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

  // From a row and a column on. What is of rows before that one is stored in its place, before what belongs there.
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

// What the first sums are: to load them is less code than to clear registers.
template <typename P> static const P zeros[8] = {};

// True; the compiler does not know that, so that vertices jump to what returns it and need no stack.
static INLINE bool done()
{
  bool is = true;
#ifdef __IPU__
  __asm__ volatile("" : "+r"(is));
#endif
  return is;
}

// What both vertices do with what they are connected to, which `V` has the names of. Not inlined: it is the same code for both.
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

// Added to what is there.
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
  Input<Vector<T>> left, right; // as above, but
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
