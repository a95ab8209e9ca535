#!/bin/sh
# Vectors of 64 bits: popc compiles operations on float2 and half4 to the tile's packed
# instructions. They compute the same bits as operations on single elements.
set -u
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# Each vertex computes everything twice, with vectors and element by element, and counts the
# elements whose bits differ.
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
    reversed(reinterpret_cast<V *>(x), reinterpret_cast<V *>(y), reinterpret_cast<V *>(z));
    for (unsigned i = 0; i < lanes * count; ++i) {
      unsigned mirror = i / lanes * lanes + lanes - 1 - i % lanes;
      volatile T product = (i / lanes % 3 != 0 ? x : y)[mirror] * y[mirror];
      wrong += bits(z[i]) != bits(product);
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
  __attribute__((noinline)) static V product(bool first, V a, V b) { return (first ? a : b) * b; }
  __attribute__((noinline)) static void reversed(const V *x, const V *y, V *z)
  {
    for (unsigned i = 0; i < count; ++i) {
      V straight = product(i % 3 != 0, x[i], y[i]), mirrored = straight;
      for (unsigned lane = 0; lane < lanes; ++lane) mirrored[lane] = straight[lanes - 1 - lane];
      z[i] = mirrored;
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
  "$popc" -O2 -S --target ipu2 "$@" -o code.s && grep -cE '^	(fld|fsd|\.insn r 119)' code.s
}
[ "$(code code.c)" = 4 ] || fail "one addition takes $(code code.c) instructions, not 4"
[ "$(code code.c -DDOUBLE)" = 4 ] || fail 'a function with doubles has packed instructions, too'
[ "$(code code.c --vectors=never)" = 0 ] || fail '--vectors=never: there are packed instructions'

# Volatile accesses, and accesses to data with an alignment of 4 bytes, are done element by element.
cat >single.c <<'END_OF_CODE'
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float loose2 __attribute__((ext_vector_type(2), aligned(4)));
#ifdef LOOSE
void twice(const loose2 *a, loose2 *b) { *b = *a + *a; }
#else
void twice(const volatile float2 *a, volatile float2 *b) { *b = *a + *a; }
#endif
END_OF_CODE
for options in -DLOOSE -DVOLATILE; do
  [ "$(code single.c $options)" -gt 0 ] || fail "$options: there are no packed instructions"
  ! grep -qE '^	(fld|fsd)' code.s || fail "$options: an access of 64 bits"
done

# Sources that use vectors only through an include, and IR as text and as bitcode, compile to the
# same instructions.
sed -n 1,2p code.c >code.h
echo '#include "code.h"' >includes.c
"$popc" -S -emit-llvm --target ipu2 --vectors=never code.c -o ir.ll && "$popc" -c -emit-llvm --target ipu2 code.c -o ir.bc ||
  fail 'no IR'
for source in includes.c ir.ll ir.bc; do
  [ "$(code "$source")" = 4 ] || fail "$source: $(code "$source") instructions, not 4"
  [ "$(code "$source" --vectors=never)" = 0 ] || fail "$source: --vectors=never has packed instructions"
done

# IR that clang's optimizer seldom produces. LLVM's verifier checks the result.
cat >shapes.ll <<'END_OF_IR'
target datalayout = "e-m:e-p:32:32-i64:64-n32-S128"
target triple = "riscv32-unknown-unknown-elf"

declare <2 x float> @other(<2 x float>)
declare <2 x float> @llvm.minnum.v2f32(<2 x float>, <2 x float>)

; two edges from one block, constants and undef as values, a block that nothing reaches
define void @edges(i32 %which, ptr %p) {
entry:
  %a = load <2 x float>, ptr %p, align 8
  switch i32 %which, label %end [ i32 1, label %join
                                  i32 2, label %join
                                  i32 3, label %more ]
more:
  %f = freeze <2 x float> %a
  br label %join
join:
  %v = phi <2 x float> [ <float 1.0, float undef>, %entry ], [ <float 1.0, float undef>, %entry ], [ %f, %more ]
  %u = phi <2 x float> [ undef, %entry ], [ undef, %entry ], [ %a, %more ]
  %s = fadd <2 x float> %v, %u
  br label %end
lost:
  %x = fmul <2 x float> %x, %s
  store <2 x float> %x, ptr %p, align 8
  br label %lost
end:
  %r = phi <2 x float> [ %a, %entry ], [ %s, %join ]
  store <2 x float> %r, ptr %p, align 8
  ret void
}

; a loop that carries a vector around, twice; a choice lane by lane, which is none of pairs; calls
define void @carries(i32 %n, ptr %p, <2 x i1> %lanes) {
entry:
  %first = call <2 x float> @other(<2 x float> zeroinitializer)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi <2 x float> [ %first, %entry ], [ %b, %loop ]
  %b = phi <2 x float> [ zeroinitializer, %entry ], [ %least, %loop ]
  %m = fsub <2 x float> %a, %b
  %c = select <2 x i1> %lanes, <2 x float> %m, <2 x float> %a
  %d = call <2 x float> @other(<2 x float> %c)
  %least = call <2 x float> @llvm.minnum.v2f32(<2 x float> %d, <2 x float> %m)
  %even = trunc i32 %i to i1
  %e = select i1 %even, <2 x float> %least, <2 x float> %m
  store <2 x float> %e, ptr %p, align 8
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret void
}
END_OF_IR
for level in -O0 -O2; do
  [ "$(code shapes.ll $level)" -gt 8 ] || fail "shapes.ll $level: there are no packed instructions"
done

# For sources without vectors only clang is started. With --vectors=always the code is the same,
# including line numbers.
cat >plain.cpp <<'END_OF_CODELET'
#include <poplar/Vertex.hpp>
#include <cmath>
class Plain : public poplar::Vertex {
public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    for (unsigned i = 0; i < out.size(); ++i) out[i] = std::sin(in[i]) * 3 + in[i] / 7;
    return true;
  }
};
END_OF_CODELET
"$popc" -v --target ipu2 plain.cpp -o plain.gp 2>steps.txt || fail 'plain.cpp does not compile'
grep -q popc-pairs steps.txt && fail 'a source without vectors goes through popc-pairs'
"$popc" -v --vectors=always --target ipu2 plain.cpp -o long.gp 2>steps.txt || fail 'plain.cpp does not compile for vectors'
grep -q popc-pairs steps.txt || fail '--vectors=always changes nothing'
for options in -O2 '-O0 -g' '-Os -g'; do
  # shellcheck disable=SC2086 # words
  "$popc" $options --target ipu2 plain.cpp -o plain.gp && "$popc" $options --vectors=always --target ipu2 plain.cpp -o long.gp
  cmp plain.gp long.gp || fail "$options: other code by the longer way"
done

# Objects record the features that they need. An object that needs a feature that tiles lack is
# refused.
"$popc" --target ipu2 code.c -o needs.gp && grep -aqF .populus.needs needs.gp || fail 'code.c: the object does not say what it needs'
for gp in "--vectors=never code.c" "plain.cpp"; do
  # shellcheck disable=SC2086 # words
  "$popc" --target ipu2 $gp -o needs.gp && ! grep -aqF .populus.needs needs.gp || fail "$gp: it needs nothing, and says that it does"
done
for need in packed levitation; do
  printf '.section .populus.needs,"",@progbits\n.asciz "packed"\n.asciz "%s"\n' $need >needs.s
  "$popc" --target ipu2 needs.s -o needs.gp 2>$need.txt
  echo $? >>$need.txt
done
[ "$(tail -n 1 packed.txt)" = 0 ] || fail "an object that needs packed instructions is refused: $(cat packed.txt)"
grep -q "needs.s.* needs 'levitation' of a tile" levitation.txt || fail "levitation: $(cat levitation.txt)"

# Each diagnostic of clang is shown once, at its line. Wrong inline assembly is detected after
# popc-pairs.
cat >wrong.c <<'END_OF_CODE'
typedef float float2 __attribute__((ext_vector_type(2)));
void add(const float2 *a, const float2 *b, float2 *c) {
  int unused;
  *c = *a + *b;
  __asm__("no such instruction");
}
END_OF_CODE
"$popc" -Wall --portable=never --target ipu2 wrong.c -o wrong.gp 2>said.txt
[ $? = 1 ] || fail 'assembly that is none compiles'
grep -q '^wrong.c:5:[0-9]*: error: ' said.txt || fail "the error is not at its line: $(cat said.txt)"
[ "$(grep -c 'unused variable' said.txt)" = 1 ] || fail "the warning is not said once: $(cat said.txt)"
sed 's/no such/nop #/' wrong.c >right.c
"$popc" -Wall -Wno-such-warning --target ipu2 right.c -o right.gp 2>said.txt || fail 'right.c does not compile'
[ "$(grep -c 'warning: .*\[-W' said.txt)" = 2 ] || fail "not two warnings: $(cat said.txt)"

# If popc-pairs fails, popc goes on or ends with a message that names the reason.
mkdir data
ln -s "$("$popc" --print-clang-flags | sed -n 's,^\(/.*\)/device/include$,\1,p')"/* data
rm data/popc-pairs
ends() { # exit status, words, shell commands: popc with a popc-pairs of these
  printf '#!/bin/sh\n%s\n' "$3" >data/popc-pairs
  chmod +x data/popc-pairs
  POPULUS_DATA_DIR=$PWD/data TMPDIR=$PWD "$popc" --target ipu2 code.c -o ends.gp 2>said.txt
  [ $? = "$1" ] || fail "popc-pairs ($3): popc ends with another status than $1"
  grep -q "$2" said.txt || fail "popc-pairs ($3): $(cat said.txt)"
}
ends 70 'signal 6' 'kill -ABRT $$'
ends 70 'no bitcode for you' 'echo no bitcode for you >&2; exit 1'
ends 4 'POPC_MEMORY_LIMIT' 'echo "LLVM ERROR: out of memory" >&2; kill -ABRT $$'
ends 0 'warning: .*one element' 'echo this is no bitcode'

exit $((failures > 0))
