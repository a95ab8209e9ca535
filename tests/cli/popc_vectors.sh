#!/bin/sh
# Vectors of 64 bits: popc makes of float2 and half4 the tile's packed instructions, which compute what single elements do.
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# Each vertex does everything twice, with vectors and element by element, and counts the bits that differ.
cat >vectors.cpp <<'END_OF_CODELET'
#include <ipudef.h>
#include <poplar/Vertex.hpp>
using namespace poplar;

template <typename T> struct Kind {
  static constexpr unsigned lanes = 2;
  typedef float2 V;
  typedef unsigned Bits;
};
template <> struct Kind<half> {
  static constexpr unsigned lanes = 4;
  typedef half4 V;
  typedef unsigned short Bits;
};

template <typename T> class Compare : public Vertex
{
  typedef typename Kind<T>::V V;
  typedef typename Kind<T>::Bits Bits;
  static constexpr unsigned lanes = Kind<T>::lanes;

public:
  InOut<int> out;

  bool compute()
  {
    alignas(8) T x[lanes * count], y[lanes * count], z[lanes * count];
    for (unsigned i = 0; i < lanes * count; ++i) {
      x[i] = value(i);
      y[i] = value(i * 5 + 3);
    }
    int wrong = 0;
    V sum = {};
    volatile T s = T(1.5f);
    vectors(reinterpret_cast<V *>(x), reinterpret_cast<V *>(y), reinterpret_cast<V *>(z), s, &sum);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      volatile T total = T(0);
      for (unsigned i = lane; i < lanes * count; i += lanes) {
        volatile T product = s * x[i], difference = product - y[i];
        volatile T least = __builtin_elementwise_min(T(difference), T(y[i]));
        volatile T most = __builtin_elementwise_max(T(least), T(x[i]));
        wrong += bits(z[i]) != bits(most);
        if (i / lanes % 2) total = total + x[i];
      }
      wrong += bits(sum[lane]) != bits(total);
    }
    *out = 1000 + wrong;
    return true;
  }

private:
  static constexpr unsigned count = 12;
  static Bits bits(T value) { return __builtin_bit_cast(Bits, value); }
  static T value(unsigned i)
  {
    static const float special[] = {0, -0.0f, 1, -2.5f, 60000, -60000, 3e-8f, 6e-5f, 1e30f, -1e-40f, 0.1f, 7};
    switch (i % 17) {
    case 13: return T(__builtin_inff());
    case 14: return T(-__builtin_inff());
    case 15: return T(__builtin_nanf(""));
    case 16: return T(float(i) * 0.37f);
    default: return T(special[i % 12]);
    }
  }
  __attribute__((noinline)) static void vectors(const V *x, const V *y, V *z, T s, V *sum)
  {
    for (unsigned i = 0; i < count; ++i) {
      z[i] = __builtin_elementwise_max(__builtin_elementwise_min(s * x[i] - y[i], y[i]), x[i]);
      if (i % 2) *sum += x[i];
    }
  }
};

template class Compare<float>;
template class Compare<half>;
END_OF_CODELET
for level in -O0 -O1 -O3; do
  "$popc" $level --target ipu2 vectors.cpp -o vectors.gp || fail "$level: does not compile"
  for vertex in "Compare<float>" "Compare<half>"; do
    for engine in interpreter translator; do
      got=$(POPULUS_TILE_ENGINE=$engine "$run" vectors.gp "$vertex" 2>&1)
      [ "$got" = 'out = 1000' ] || fail "$level $vertex $engine: $got"
    done
  done
done

cat >code.c <<'END_OF_CODE'
typedef float float2 __attribute__((ext_vector_type(2)));
void add(const float2 *a, const float2 *b, float2 *c) { *c = *a + *b; }
#ifdef DOUBLE
double add_double(const float2 *a, double b) { return (*a + *a).x + b; }
#endif
END_OF_CODE
code() { # options: instructions that load, store and compute, one each
  "$popc" -O2 -S --target ipu2 "$@" code.c -o code.s && grep -cE '^	(fld|fsd|\.insn r 119)' code.s
}
[ "$(code)" = 4 ] || fail "one addition takes $(code) instructions, not 4"
[ "$(code -DDOUBLE)" = 4 ] || fail 'a function with doubles has packed instructions, too'

exit $((failures > 0))
