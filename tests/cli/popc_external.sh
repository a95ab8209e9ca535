# isExternalCodelet: an entry in assembly replaces compute(). Without the assembly, the body of
# compute() runs. Without either, popc names the missing symbol and the vertex that needs it. S15:
# assembly for another processor, and included files that do not exist.
set -eu
popc=$POPULUS_BIN/popc
run=$POPULUS_BUILD_DIR/tests/support/run_vertex

fail() {
  echo "FAIL: $1"
  cat err.txt
  exit 1
}

cat >external.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <type_traits>
template <class T> struct Fill : poplar::Vertex {
#ifdef EXTERNAL
  static const bool isExternalCodelet = std::is_same<T, int>::value;
#endif
  poplar::InOut<T> out;
  bool compute() { *out = 1; return true; }
};
template struct Fill<int>;
struct Declared : poplar::Vertex {
  static const bool isExternalCodelet = true;
  poplar::InOut<int> out;
  bool compute();
};
END
cat >external.S <<'END'
#define ENTRY(name, number) \
  .globl name; .type name, @function; name: lw a1, 0(a0); li a0, number; sw a0, 0(a1); ret
ENTRY(__runCodelet_Fill___int, 7)
ENTRY(__runCodelet_Declared, 8)
END
for flags in -DEXTERNAL -DOTHER; do
  "$popc" $flags external.cpp external.S -o both.gp 2>err.txt
  [ ! -s err.txt ] || fail "$flags: warnings"
  [ "$("$run" both.gp 'Fill<int>')" = 'out = 7' ] || fail "$flags: not the assembly of Fill"
  [ "$("$run" both.gp Declared)" = 'out = 8' ] || fail "$flags: not the assembly of Declared"
  "$popc" $flags external.cpp -o alone.gp 2>err.txt
  grep -qF "undefined symbol _ZN8Declared7computeEv, needed by __runCodelet_Declared" err.txt || fail "$flags: nothing missing"
  grep -qF 'for vertex Declared (external.cpp:11)' err.txt || fail "$flags: for which vertex?"
  [ "$("$run" alone.gp 'Fill<int>')" = 'out = 1' ] || fail "$flags: not compute()"
  # A merge of .gp files gives the same result.
  "$popc" external.S -o assembly.gp
  "$popc" alone.gp assembly.gp -o merged.gp
  [ "$("$run" merged.gp Declared)" = 'out = 8' ] || fail "$flags: merged"
done

# S15
expect() { # <status> <text> popc's arguments
  wanted=$1 text=$2 status=0
  shift 2
  "$popc" "$@" -o out.gp 2>err.txt || status=$?
  [ $status = "$wanted" ] || fail "$*: ends with $status"
  grep -qF -e "$text" err.txt || fail "$*: does not say '$text'"
  [ ! -e out.gp ] || fail "$*: leaves a file"
}
cat >ipu.cpp <<'END'
#include <poplar/Vertex.hpp>
struct V : poplar::Vertex {
  poplar::InOut<int> out;
  bool compute() {
    asm volatile("ld32 $m0, $m1, $m15, 0" : : : "memory");
    return true;
  }
};
END
expect 1 'ipu.cpp:5:18: error: ' --target=ipu2 ipu.cpp
printf '.text\n  movl %%eax, %%ebx\n' >x86.s
expect 1 'x86.s:2:' x86.s
printf '.section .rodata\n.incbin "/nonexistent/file"\n' >incbin.s
expect 1 "incbin.s:2:9: error: Could not find incbin file '/nonexistent/file'" incbin.s
printf 'asm(".incbin \\"/dev/zero\\"");\n' >zero.c
[ -n "$POPULUS_SANITIZE" ] || POPC_MEMORY_LIMIT=600 expect 4 'limit' zero.c
