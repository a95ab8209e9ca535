#!/bin/sh
# Loops that the chip's compiler would make hardware loops: popc marks them with the instruction
# tile.count if the number of rounds fits into 16 bits. Their results stay the same.
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# count <body of a function of float2 *x, unsigned n, unsigned short s>: the number of tile.count
# instructions in its code
count() {
  cat >one.c <<END_OF_CODELET
typedef float float2 __attribute__((ext_vector_type(2)));
float2 callee(float2 x);
void f(float2 *x, unsigned n, unsigned short s)
{
  $1
}
END_OF_CODELET
  "$popc" -O2 -S --target ipu2 one.c -o one.s 2>messages || fail "$1: $(cat messages)"
  grep -cE '\.insn i (27|0x1b), 2' one.s
}

expect() { # <how many> <body>
  got=$(count "$2")
  [ "$got" = "$1" ] || fail "$2: $got counts, not $1"
}

expect 1 'for (unsigned short i = 0; i < s; ++i) x[i] += x[i + 1];'
expect 1 'for (unsigned short i = 0; i != s; ++i) x[i] += x[i + 1];'
expect 1 'for (unsigned i = 0; i < (n & 0xffff); ++i) x[i] += x[i + 1];'
expect 1 'for (unsigned i = 0; i < n >> 16; ++i) x[i] += x[i + 1];'
expect 1 '__builtin_assume(n < 65536); for (unsigned i = 0; i < n; ++i) x[i] += x[i + 1];'
expect 1 '__builtin_assume(n <= 4095); while (n) { *x += x[1]; ++x; --n; }'
expect 0 '__builtin_assume(n <= 65536); for (unsigned i = 0; i < n; ++i) x[i] += x[i + 1];'
expect 0 'for (unsigned i = 0; i < n; ++i) x[i] += x[i + 1];'
expect 0 'for (unsigned i = 0; i < n >> 15; ++i) x[i] += x[i + 1];'
expect 0 'for (unsigned short i = 0; i < s; ++i) x[i] = callee(x[i]);'
expect 0 'for (unsigned short i = 0; i < s; ++i) if (x[i][0] < 0) x[n++] += x[i];'
expect 0 'while ((*x)[0] < s) { *x += x[1]; ++x; }'
# Of two nested loops, the inner one is marked.
expect 1 'for (unsigned short i = 0; i < s; ++i) for (unsigned short j = 0; j < s; ++j) x[j] += x[j + 1] * 2.f;'

# Loops of no round, one round, several rounds, and with counters up to the largest value.
cat >rounds.cpp <<'END_OF_CODELET'
#include <ipudef.h>
#include <poplar/Vertex.hpp>
using namespace poplar;

class Rounds : public Vertex
{
public:
  InOut<int> out;

  bool compute()
  {
    static const unsigned short counts[] = {0, 1, 2, 3, 7, 40, 150};
    int wrong = 0;
    for (unsigned k = 0; k < 7; ++k) {
      volatile unsigned short rounds = counts[k], start = 65535 - 7;
      wrong += up(rounds) != sum(counts[k]) || down(rounds) != sum(counts[k]);
      wrong += between(start, (unsigned short)(start + (rounds & 7))) != sum(counts[k] & 7);
    }
    *out = wrong;
    return true;
  }

private:
  static float sum(unsigned count) { return float(count % 64); }
  static float folded(float2 total)
  {
    return float((unsigned(total[0]) + unsigned(total[1])) / 2 % 64);
  }
  __attribute__((noinline)) static float up(unsigned short count)
  {
    float2 total = {0, 0}, one = {1, 1};
    for (unsigned short i = 0; i < count; ++i) total += one;
    return folded(total);
  }
  __attribute__((noinline)) static float down(unsigned short count)
  {
    float2 total = {0, 0}, one = {1, 1};
    while (count--) total += one;
    return folded(total);
  }
  __attribute__((noinline)) static float between(unsigned short first, unsigned short last)
  {
    float2 total = {0, 0}, one = {1, 1};
    for (unsigned short i = first; i != last; ++i) total += one;
    return folded(total);
  }
};
END_OF_CODELET
for options in -O0 -O1 -O2 -O3 '-O2 --vectors=never'; do
  # shellcheck disable=SC2086 # several words
  "$popc" $options rounds.cpp -o rounds.gp || fail "$options: does not compile"
  for engine in interpreter translator; do
    got=$(POPULUS_TILE_ENGINE=$engine "$run" rounds.gp Rounds 2>&1)
    [ "$got" = 'out = 0' ] || fail "$options $engine: $got"
  done
done
exit $((failures != 0))
