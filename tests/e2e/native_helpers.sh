# Native code as machine code: what the helpers that are called in the middle of loops do to the host's registers,
# for processors with each of the vector extensions. LLVM's calling conventions are promises that a feature of the
# processor has broken once (vzeroupper behind restored registers), so they are looked at, not believed.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
busy_graph=$POPULUS_BUILD_DIR/tests/support/busy_graph
quiet out "$POPULUS_BIN/popc" -O2 "$POPULUS_SOURCE_DIR/tests/codelets/busy.c" -o busy.gp

# A function of its own, called by regcall; and what recursion that counts on registers across calls gives.
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

# run <extension that is not there>: leaves the native objects in cache/native-*
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

# check_helper <name>: its code, no vector registers, and what it pushes it pops, in reverse
check_helper() {
  sed -n "/<$1>:/,/^$/p" code >helper
  grep -q 'ret' helper || fail "$object has no $1"
  ! grep -Eq '%[xyz]mm|vzero|%k[0-7]' helper || fail "$1 touches vector registers: $(cat helper)"
  sed -n 's/.*push *//p' helper >pushed
  sed -n 's/.*pop *//p' helper | tac >popped
  cmp pushed popped || fail "$1 does not restore what it saves: $(cat helper)"
  # All that a called function may change, but for %rax, its result, and %r11, which the convention leaves out.
  for register in cx dx si di 8 9 10; do
    grep -qx "%r$register" pushed || fail "$1 does not save %r$register: $(cat helper)"
  done
}

# check_kept <name>: keeps what regcall keeps, which its callers need not save: pushes and pops general registers, stores vector registers
# and loads them again from where they are, all of them
check_kept() {
  sed -n "/<$1>:/,/^$/p" code >helper
  grep -q 'ret' helper || fail "$object has no $1"
  sed -n 's/.*vmov[a-z]* *\(%xmm[0-9]*\),\([^%]*(%rsp)\).*/\1 \2/p' helper | sort >pushed
  sed -n 's/.*vmov[a-z]* *\([^%]*(%rsp)\),\(%xmm[0-9]*\).*/\2 \1/p' helper | sort | cmp - pushed || fail "$1 does not restore what it saves: $(cat helper)"
  [ "$(cut -d' ' -f1 pushed | tr '\n' ' ')" = '%xmm10 %xmm11 %xmm12 %xmm13 %xmm14 %xmm15 %xmm8 %xmm9 ' ] ||
    fail "$1 does not save what regcall keeps: $(cat helper)"
  check_function "$1"
}

# check_function <name>: called by LLVM's regcall convention: what it pushes it pops, and nothing clears the low halves of
# vector registers, which callers keep some of (that they are restored is what unit-machine-translate_calls is for)
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
  # The unit is called by C's convention, about which nothing has to be believed.
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

# A constant that loops read with a mask of no lanes: such a read maps no page, and is slow for good where none is mapped. Sums of
# an all-reduce are a loop whose NaNs become canonical.
rm -rf cache
POPULUS_TILE_ENGINE=translator POPLAR_EXECUTABLE_CACHE_DIR=$PWD/cache "$POPULUS_BUILD_DIR/tests/support/many_replicas" 2 1 64 >out 2>err || fail "$(cat err)"
find cache -path '*native-*' -name '*.o' -exec objdump -d --no-show-raw-insn {} + >code
grep -q 'vaddps.*%ymm' code || fail "the sums are not made in vectors"
! grep -E '\(%rip\).*\{%k' code || fail "a loop reads a constant with a mask"

# refused <extension> <words>: asked for native code that cannot be made
refused() {
  refuses 4 "tile code cannot be translated|$2" env POPULUS_TRANSLATOR_WITHOUT="$1" POPULUS_TILE_ENGINE=translator \
    "$busy_graph" busy.gp ipu2 8
}
refused avx "has no fma"
refused sse9 "POPULUS_TRANSLATOR_WITHOUT is 'sse9': it can be avx512, avx2 or avx"
