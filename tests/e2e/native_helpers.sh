# The machine code of native code: which host registers are changed by helpers that loops call, for
# processors with each of the vector extensions. A feature of the processor has once broken the
# promise of LLVM's calling conventions (vzeroupper after restored registers), so the test checks
# the code.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp

# A function of its own, called by regcall. Its recursion relies on registers that stay the same
# across calls.
cat >recursive.c <<'EOF'
#include <poplar/StackSizeDefs.hpp>
#include <populus/vertex.h>
DEF_STACK_USAGE(4096, walk);
__attribute__((noinline)) static int walk(int n, float scale)
{
  if (n < 2) return n;
  int first = walk(n - 1, scale * 0.5f), second = walk(n - 2, scale);
  return first + second + (scale > 4.0f);
}
typedef struct { INOUT(int) out; } Walk;
DEF_STACK_USAGE(4096, __runCodelet_Walk);
COMPUTE(Walk)
{
  *vertex->out = walk(12, 8.0f);
  return true;
}
EOF

# run <extension that is missing>: leaves the native objects in cache/native-*
run() {
  rm -rf cache
  quiet out env POPULUS_TRANSLATOR_WITHOUT="$1" POPULUS_TILE_ENGINE=translator \
    POPLAR_EXECUTABLE_CACHE_DIR="$PWD/cache" "$busy_graph" busy.gp ipu2 8
  [ -s expected ] || cp out expected
  cmp out expected || fail "without '$1' the results differ"
  quiet out env POPULUS_TRANSLATOR_WITHOUT="$1" POPULUS_TILE_ENGINE=translator POPLAR_EXECUTABLE_CACHE_DIR="$PWD/cache" \
    "$POPULUS_BUILD_DIR/tests/support/run_vertex" recursive.c Walk
  [ "$(cat out)" = 'out = 150' ] || fail "without '$1' the recursion gives $(cat out), not 150"
}

# check_helper <name>: the helper uses no vector registers, and pops what it pushes in reverse order
check_helper() {
  sed -n "/<$1>:/,/^$/p" code >helper
  grep -q 'ret' helper || fail "$object has no $1"
  ! grep -Eq '%[xyz]mm|vzero|%k[0-7]' helper || fail "$1 touches vector registers: $(cat helper)"
  sed -n 's/.*push *//p' helper >pushed
  sed -n 's/.*pop *//p' helper | tac >popped
  cmp pushed popped || fail "$1 does not restore what it saves: $(cat helper)"
  # All registers that a called function may change, except %rax, the result, and %r11, which the
  # convention leaves out.
  for register in cx dx si di 8 9 10; do
    grep -qx "%r$register" pushed || fail "$1 does not save %r$register: $(cat helper)"
  done
}

# check_kept <name>: the function keeps all registers that regcall keeps, so its callers need not
# save them. It pushes and pops general registers, and loads each vector register from where it
# stored it.
check_kept() {
  sed -n "/<$1>:/,/^$/p" code >helper
  grep -q 'ret' helper || fail "$object has no $1"
  sed -n 's/.*vmov[a-z]* *\(%xmm[0-9]*\),\([^%]*(%rsp)\).*/\1 \2/p' helper | sort >pushed
  sed -n 's/.*vmov[a-z]* *\([^%]*(%rsp)\),\(%xmm[0-9]*\).*/\2 \1/p' helper | sort | cmp - pushed || fail "$1 does not restore what it saves: $(cat helper)"
  [ "$(cut -d' ' -f1 pushed | tr '\n' ' ')" = '%xmm10 %xmm11 %xmm12 %xmm13 %xmm14 %xmm15 %xmm8 %xmm9 ' ] ||
    fail "$1 does not save what regcall keeps: $(cat helper)"
  check_function "$1"
}

# check_function <name>: a function with LLVM's regcall convention pops what it pushes. It does not
# clear the low halves of vector registers, some of which callers keep.
# (unit-machine-translate_calls tests that they are restored.)
check_function() {
  sed -n "/<$1>:/,/^$/p" code >function
  sed -n 's/.*push *//p' function | sort -u >pushed
  sed -n 's/.*pop *//p' function | sort -u | cmp - pushed || fail "$1 does not restore what it saves: $(cat function)"
  ! grep -q vzeroall function || fail "$1 clears vector registers that callers keep"
}

check_helpers() {
  objdump -d --no-show-raw-insn "$object" >code
  check_helper quiet_access
  check_helper quiet_more_time
  if grep -q '<kept_access>:' code; then
    check_kept kept_access
    check_kept kept_more_time
    echo "$object" >>kept_helpers
  fi
  # The unit has C's calling convention, which needs no check.
  sed -n 's/^[0-9a-f]* <\(.*\)>:$/\1/p' code >functions
  grep -Ex 'tile_[0-9a-f]+_[0-9]+' functions >tiles || true
  while read -r function; do
    check_function "$function"
  done <tiles
  grep -Evx '(quiet|kept)_(access|more_time)|unit_[0-9a-f]+_00000000|tile_[0-9a-f]+(_[0-9]+)?' functions &&
    fail "$object has functions that nobody has looked at"
  true
}

for extension in "" avx512 avx2; do
  run "$extension"
  objects=$(find cache -path '*native-*' -name '*.o')
  [ -n "$objects" ] || fail "without '$extension': no native code"
  for object in $objects; do
    check_helpers
    [ -z "$extension" ] || ! grep -q '%zmm' code || fail "without '$extension': $object uses AVX-512"
    [ "$extension" != avx2 ] || ! grep -Eq 'vpadd[bwdq] .*%ymm' code || fail "$object uses AVX2"
  done
done

[ -s kept_helpers ] || fail "no unit has helpers for functions that are called by regcall"

# Loops must not read a constant with a mask. With a mask of no lanes, such a read maps no page, and
# it stays slow for as long as none is mapped. The sums of an all-reduce are a loop that makes NaNs
# canonical.
rm -rf cache
POPULUS_TILE_ENGINE=translator POPLAR_EXECUTABLE_CACHE_DIR=$PWD/cache "$POPULUS_BUILD_DIR/tests/support/many_replicas" 2 1 64 >out 2>err || fail "$(cat err)"
find cache -path '*native-*' -name '*.o' -exec objdump -d --no-show-raw-insn {} + >code
grep -q 'vaddps.*%ymm' code || fail "the sums are not made in vectors"
! grep -E '\(%rip\).*\{%k' code || fail "a loop reads a constant with a mask"

# refused <extension> <words>: native code is requested that cannot be made
refused() {
  refuses 4 "tile code cannot be translated|$2" env POPULUS_TRANSLATOR_WITHOUT="$1" POPULUS_TILE_ENGINE=translator \
    "$busy_graph" busy.gp ipu2 8
}
refused avx "has no fma"
refused sse9 "POPULUS_TRANSLATOR_WITHOUT is 'sse9': it can be avx512, avx2 or avx"
