#!/bin/sh
# popc compiles divisions of 64-bit integers by constants to multiplications. The results are those
# of the device library's division.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
popc=$POPULUS_BIN/popc

# Each divisor is also used as a value that the compiler does not know.
cat >divisions.cpp <<'END_OF_CODELET'
#include <poplar/StackSizeDefs.hpp>
#include <poplar/Vertex.hpp>
using namespace poplar;
typedef unsigned long long u;
typedef long long s;

template <u D> __attribute__((noinline)) int differ(u n)
{
  volatile u d = D;
  return (n / D != n / d) + (n % D != n % d) + (s(n) / s(D) != s(n) / s(d)) + (s(n) % s(D) != s(n) % s(d));
}

template <u D> __attribute__((noinline)) int check()
{
  int wrong = 0;
  u n = D, random = 88172645463325252u;
  for (unsigned i = 0; i < 16; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    n = i < 4 ? n * 3 : i < 8 ? random : i < 12 ? random % 1024 * D : random >> 3 * i;
    wrong += differ<D>(n - 1) + differ<D>(n) + differ<D>(n + 1);
  }
  const u ends[] = {0, 1, D, D - 1, D + 1, 0 - D, ~u(0), u(1) << 63, (u(1) << 63) - 1, u(1) << 32, ~u(0) / D * D, ~u(0) / D * D - 1};
  for (u end : ends) wrong += differ<D>(end);
  return wrong;
}

template <u... D> int checkAll()
{
  return (check<D>() + ...);
}

DEF_STACK_USAGE(4096, __runCodelet_Divisions);
class Divisions : public Vertex
{
public:
  InOut<int> out;

  bool compute()
  {
    *out = checkAll<3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 25, 28, 60, 100, 125, 255, 257, 625, 641, 1000, 3600,
                    10000, 65535, 65537, 86400, 1000000, 16777213, 998244353, 1000000007, 2147483647, 2147483649, 4294967291,
                    4294967295, 4294967297, 6700417, 10000000000, 274177, 67280421310721, 1000000000000000003,
                    4611686018427387905, 9223372036854775807u, 9223372036854775809u, 12157665459056928801u,
                    18446744073709551557u, 18446744073709551615u, 18446744073709551613u, 0xaaaaaaaaaaaaaaabu>();
    return true;
  }
};
END_OF_CODELET
for options in -O0 -O2 '-O2 --vectors=never'; do
  # shellcheck disable=SC2086 # several words
  "$popc" $options divisions.cpp -o divisions.gp 2>messages || fail "$options: $(cat messages)"
  got=$("$POPULUS_BUILD_DIR/tests/support/run_vertex" divisions.gp Divisions 2>&1) || fail "$options: $got"
  [ "$got" = 'out = 0' ] || fail "$options: $got"
done

# calls <expression of u x, y>: the division functions of the library that the code calls
calls() {
  echo "typedef unsigned long long u; typedef long long s; u f(u x, u y) { return $1; }" >one.c
  # shellcheck disable=SC2086 # none, or one
  "$popc" -S --target ipu2 $2 one.c -o one.s 2>messages || fail "$1: $(cat messages)"
  sed -n 's/^.*\(__u*\(div\|mod\)di3\)$/\1/p' one.s | sort -u | tr '\n' ' '
}

expect() { # <functions> <expression> [option]
  got=$(calls "$2" "${3-}")
  [ "$got" = "$1" ] || fail "$2 ${3-}: calls '$got', not '$1'"
}

expect '' 'x / 9'
expect '' 'x % 1000000007'
expect '' '(s)x / -9'
expect '' '(s)x % 1000000 + (u)((s)y / 7)'
expect '' 'x / 64 + x % 4096'
expect '__udivdi3 ' 'x / y'
expect '__moddi3 ' '(s)x % (s)y + (s)x % 10'
expect '__udivdi3 ' 'x / 9' --vectors=never
