#!/bin/sh
# Functions for which tiles have instructions: popc compiles each of their names to the instruction.
# Vectors and scalars get the same bits, on both engines and without vectors. Objects record that
# they need these instructions.
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# Each function is applied to vectors, and to their elements under another name. `out` is a digest
# of the results. It is 0 if the two differ.
cat >functions.cpp <<'END_OF_CODELET'
#include <cmath>
#include <ipu_vector_math>
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

template <typename T> class Functions : public Vertex
{
  typedef typename Kind<T>::V V;
  typedef typename Kind<T>::Bits Bits;
  static constexpr unsigned lanes = Kind<T>::lanes, count = 12;

public:
  InOut<int> out;

  bool compute()
  {
    alignas(8) T x[lanes * count], z[lanes * count];
    for (unsigned i = 0; i < lanes * count; ++i) x[i] = value(i);
    unsigned digest = 1;
#define EACH(name, single)                                                                         \
  {                                                                                                \
    const V *from = reinterpret_cast<const V *>(x);                                                \
    V *to = reinterpret_cast<V *>(z);                                                              \
    for (unsigned i = 0; i < count; ++i) to[i] = ipu::name(from[i]);                               \
    for (unsigned i = 0; i < lanes * count; ++i) {                                                 \
      float a = x[i];                                                                              \
      T wanted = T(single);                                                                        \
      if (bits(z[i]) != bits(wanted)) digest = 0;                                                  \
      digest *= 2 * bits(z[i]) + 0x9e3779b1u;                                                      \
    }                                                                                              \
  }
    EACH(exp, std::exp(a))
    EACH(exp2, exp2f(a))
    EACH(log, __builtin_logf(a))
    EACH(log2, std::log2(a))
    EACH(tanh, tanhf(a))
    EACH(sigmoid, __builtin_ipu_sigm(a))
    EACH(sigmoid, 1 / (1 + expf(-a)))
    EACH(rsqrt, 1 / std::sqrt(a))
    volatile auto function = expf;
    EACH(exp, function(a))
    *out = int(digest);
    return true;
  }

private:
  static Bits bits(T value) { return __builtin_bit_cast(Bits, value); }
  static T value(unsigned i)
  {
    static const float special[] = {0, -0.0f, 1, -2.5f, 60000, -60000, 3e-8f, 6e-5f, 88.8f, 1e-40f, 0.1f, 7};
    switch (i % 17) {
    case 13: return T(__builtin_inff());
    case 14: return T(-__builtin_inff());
    case 15: return T(__builtin_nanf(""));
    case 16: return T(float(i) * 0.37f);
    default: return T(special[i % 12]);
    }
  }
};

template class Functions<float>;
template class Functions<half>;
END_OF_CODELET
for options in -O3 '-O1 --vectors=never' '-O2 --portable=always'; do
  # shellcheck disable=SC2086 # words
  "$popc" $options --target ipu2 functions.cpp -o functions.gp 2>said.txt || fail "$options: does not compile: $(cat said.txt)"
  for type in float half; do
    for engine in interpreter translator; do
      got=$(POPULUS_TILE_ENGINE=$engine "$run" functions.gp "Functions<$type>" 2>&1)
      case $got in 'out = 0' | *fault*) fail "$options $type $engine: $got" ;; esac
      [ -e first.$type ] || echo "$got" >first.$type
      [ "$got" = "$(cat first.$type)" ] || fail "$options $type $engine: $got, and before $(cat first.$type)"
    done
  done
done

# Each function becomes one instruction under each of its names, in C and in C++.
cat >names.c <<'END_OF_CODE'
#include <math.h>
float a(float x) { return expf(x); }
float b(float x) { return __builtin_exp2f(x); }
float c(float x) { return logf(x); }
float d(float x) { return log2f(x); }
float e(float x) { return tanhf(x); }
float f(float x) { return __builtin_ipu_sigm(x); }
float g(float x) { return __builtin_ipu_f32oorx(x); }
END_OF_CODE
cat >names.cpp <<'END_OF_CODE'
#include <cmath>
#include <ipu_vector_math>
float a(float x) { return std::exp(x); }
float b(float x) { return std::exp2(x); }
float c(float x) { return std::log(x); }
float d(float x) { return std::log2(x); }
float e(float x) { return std::tanh(x); }
float f(float x) { return ipu::sigmoid(x); }
float g(float x) { return ipu::rsqrt(x); }
END_OF_CODE
cat >vectors.cpp <<'END_OF_CODE'
#include <ipu_vector_math>
void a(float2 *x) { *x = ipu::exp(*x); }
void b(float2 *x) { *x = 1.0f / (__builtin_elementwise_exp(-*x) + 1.0f); }
void c(float2 *x) { *x = 1.0f / __builtin_elementwise_sqrt(*x); }
void d(half4 *x) { *x = ipu::sigmoid(*x); }
void e(half4 *x) { *x = __builtin_elementwise_tanh(*x); }
void f(half4 *x) { *x = ipu::log(*x); }
END_OF_CODE
expect_instructions() { # source, funct3 and funct7 of each
  "$popc" -O2 -S --target ipu2 "$1" -o code.s 2>said.txt || fail "$1: does not compile"
  got=$(sed -n 's/^	\.insn r 119, \([0-9]*\), \([0-9]*\),.*/\1.\2/p' code.s | tr '\n' ' ')
  [ "$got" = "$2${2:+ }" ] || fail "$1: instructions $got, not $2"
}
expect_instructions names.c '3.0 3.1 3.2 3.3 3.4 3.5 3.6'
expect_instructions names.cpp '3.0 3.1 3.2 3.3 3.4 3.5 3.6'
! grep -qE '^	(call|tail|jal)' code.s || fail "names.cpp: there are calls"
expect_instructions vectors.cpp '4.0 4.5 4.6 5.5 5.4 5.2'

# A function that the source defines under such a name stays the source's own function.
cat >own.c <<'END_OF_CODE'
float logf(float x) { return x + 1; }
float a(float x) { return logf(x); }
END_OF_CODE
expect_instructions own.c ''

for source in names.c vectors.cpp; do
  "$popc" --target ipu2 $source -o needs.gp 2>said.txt && grep -aqF functions needs.gp || fail "$source: the object does not say what it needs"
done
echo 'float a(float x) { return x + 1; }' >plain.c
"$popc" --target ipu2 plain.c -o needs.gp 2>said.txt && ! grep -aqF .populus.needs needs.gp || fail 'plain.c: it needs nothing, and says that it does'

exit $((failures > 0))
