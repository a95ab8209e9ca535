# Functions of the headers for codelets do what they should. The checks are in
# tests/codelets/headers.cpp. They run on a tile; those that need no tile also run on the host, from
# the object that popc makes for it.
set -eu

source=$POPULUS_SOURCE_DIR/tests/codelets/headers.cpp
run=$POPULUS_BUILD_DIR/tests/support/run_vertex
"$POPULUS_BIN/popc" -O2 "$source" -o headers.gp

fail() {
  echo "$1" >&2
  exit 1
}

for vertex in Portable OnTile Random; do
  out=$("$run" headers.gp "$vertex")
  [ "$out" = "out = 0" ] || fail "$vertex on the tile: line ${out#out = } of headers.cpp"
done
"$POPULUS_BIN/popc" -O0 "$source" -o O0.gp
for vertex in Portable OnTile; do
  out=$("$run" O0.gp "$vertex")
  [ "$out" = "out = 0" ] || fail "$vertex with -O0: line ${out#out = } of headers.cpp"
done

# In other standards, without a warning but that about calls through a pointer.
for standard in 14 20; do
  "$POPULUS_BIN/popc" -O0 -std=c++$standard --target ipu2 "$source" -o standard.gp 2>messages ||
    fail "C++$standard: $(cat messages)"
  ! grep 'warning' messages | grep -v 'calls through a pointer' || fail "C++$standard: warnings"
done

# Codelets that popops generates at run time include two headers and call functions that these
# headers bring along on the chip.
cat >written.cpp <<'END'
#include <poplar/HalfFloat.hpp>
#include <ipu_memory_intrinsics>
#include <ipu_vector_math>
#include <poplar/Vertex.hpp>
class Written : public poplar::Vertex
{
public:
  poplar::InOut<int> out;
  bool compute()
  {
    volatile int seven = -7;
    volatile float large = 3e38f, half = .5f;
    static_assert(sizeof(std::erf(.5f * ::half(1))) == 4, "in single precision");
    bool right = abs(seven) == 7 && !std::isfinite(10 * large) && std::isfinite(float(large));
    right = right && ipu::fabs(std::erf(float(half)) - .5204998778f) < 1e-6f;
    *out = right ? 0 : 1;
    return true;
  }
};
END
{ cat written.cpp; echo '#include <cmath>'; } >with_cmath.cpp
for name in written with_cmath; do
  "$POPULUS_BIN/popc" -O2 --target ipu2 "$name.cpp" -o "$name.gp"
  out=$("$run" "$name.gp" Written)
  [ "$out" = "out = 0" ] || fail "$name.cpp: $out"
done

# In C, <ctype.h> has functions that are there, on the tile and on the host.
cat >characters.c <<'END'
#include <ctype.h>
#include <populus/vertex.h>
typedef struct {
  INOUT(int) out;
} Characters;
COMPUTE(Characters)
{
  static const unsigned char text[] = "Az09 _\t\n~\x7f\xe4";
  unsigned kinds = 0;
  for (int i = 0; i < 12; i++) {
    int c = i < 11 ? text[i] : -1;
    int letter = isalpha(c) && (isupper(c) || islower(c)) && isalnum(c);
    int other = (isdigit(c) && isxdigit(c)) || (isblank(c) && isspace(c)) || (ispunct(c) && isgraph(c));
    kinds = 3 * kinds + (letter ? 2 : other) + (iscntrl(c) ? 1 : 0) + (isprint(c) ? 7 : 0);
  }
  *vertex->out = (int)kinds == 2359836 && toupper('q') == 'Q' && tolower('Q') == 'q' ? 0 : (int)kinds;
  return true;
}
END
"$POPULUS_BIN/popc" -O1 characters.c -o characters.gp 2>messages && [ ! -s messages ] ||
  fail "characters.c: $(cat messages)"
out=$("$run" characters.gp Characters)
[ "$out" = "out = 0" ] || fail "characters.c: $out"
"$POPULUS_BIN/popc" -S --target cpu characters.c -o - | grep -q 'isalpha' || fail "the host's isalpha is no function"

# The host's object is the content of a section of its member.
ar t headers.gp | grep host >members
[ "$(wc -l <members)" = 1 ] || fail "not one host object: $(cat members)"
ar x headers.gp "$(cat members)"
llvm-objcopy-19 --dump-section .populus.host=host.o "$(cat members)" /dev/null
cat >main.c <<'END'
#include <stdio.h>
int __runCodelet_Portable(void *state);
int main(void)
{
  int out = 0;
  struct { int *out; } state = {&out};
  __runCodelet_Portable(&state);
  printf("out = %d\n", out);
}
END
cc main.c host.o -o main -lm
out=$(./main)
[ "$out" = "out = 0" ] || fail "Portable on the host: line ${out#out = } of headers.cpp"

# DEF_STACK_USAGE and DEF_FUNC_CALL_PTRS leave the records that libcodelet/device/README.md
# describes.
ar x headers.gp "$(ar t headers.gp | grep tile | head -n 1)"
readelf -x .populus.stack tile*.o | grep -q 'headersStack' || fail "no record of headersStack's stack"
readelf -x .populus.calls tile*.o | grep -q 'memcpy,memset' || fail "no record of headersStack's calls"

# The macros do the same in assembly.
cat >stack.S <<'END'
#include <poplar/StackSizeDefs.hpp>
DEF_STACK_USAGE 64, assemblyStack
DEF_FUNC_CALL_PTRS assemblyStack, "memcpy,memset"
.globl assemblyStack
assemblyStack:
  ret
END
"$POPULUS_BIN/popc" --target ipu2 stack.S -o stack.gp
ar p stack.gp "$(ar t stack.gp | grep tile | head -n 1)" >stack.o
readelf -x .populus.stack stack.o | grep -q 'assemblyStack' || fail "no record of assemblyStack's stack"
readelf -x .populus.calls stack.o | grep -q 'memcpy,memset' || fail "no record of assemblyStack's calls"

# In C too, functions of <math.h> that are instructions of the tile become these instructions. They
# treat special values as IEEE 754 says.
cat >instructions.c <<'END'
#include <math.h>
#include <populus/vertex.h>
typedef struct {
  INOUT(int) out;
} Instructions;
static volatile union {
  unsigned bits;
  float value;
} nan_of = {0x7fc00000}, signals = {0x7f800001};
static volatile float one = 1, four = 4, zero = 0, less_zero = -0.0f, least = 0x1p-149f;
/* Right up to here: the number of the first that is not, from 1 on. */
#define IS(what) (!(what) ? wrong = wrong ? wrong : at, at++ : at++)
COMPUTE(Instructions)
{
  int at = 1, wrong = 0;
  IS(fmaxf(one, four) == 4);
  IS(fminf(one, four) == 1);
  IS(fmaxf(nan_of.value, one) == 1);
  IS(fminf(one, nan_of.value) == 1);
  IS(fmaxf(signals.value, one) == 1);
  IS(isnan(fmaxf(nan_of.value, nan_of.value)));
  IS(!signbit(fmaxf(zero, less_zero)));
  IS(signbit(fminf(zero, less_zero)));
  IS(sqrtf(four) == 2);
  IS(isnan(sqrtf(-one)));
  IS(signbit(sqrtf(less_zero)));
  IS(fmaf(0x1.000002p0f * one, 0x1.000002p0f, -0x1.000004p0f) == 0x1p-46f);
  IS(copysignf(four, less_zero) == -4);
  IS(fabsf(-four) == 4);
  IS(fpclassify(nan_of.value) == FP_NAN);
  IS(fpclassify(one / zero) == FP_INFINITE);
  IS(fpclassify(least) == FP_SUBNORMAL);
  IS(fpclassify(less_zero) == FP_ZERO);
  IS(fpclassify(four) == FP_NORMAL);
  IS(isfinite(four) && !isfinite(one / zero) && !isfinite(nan_of.value));
  *vertex->out = wrong;
  return true;
}
END
for level in -O0 -O2; do
  "$POPULUS_BIN/popc" $level --target ipu2 instructions.c -o instructions.gp
  out=$("$run" instructions.gp Instructions)
  [ "$out" = "out = 0" ] || fail "$level: line ${out#out = } of instructions.c is not so"
done
"$POPULUS_BIN/popc" -O2 -S --target ipu2 instructions.c -o instructions.s
! grep -E '^[[:space:]]*(call|tail)[[:space:]]' instructions.s || fail "instructions.c calls functions for what are instructions"
