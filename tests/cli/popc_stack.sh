# Warnings about unknown stack sizes (S11) have clang's form and colours. They point at the line
# that is the reason, and a note says what the author can state. popc uses what is stated. The test
# has each kind of reason, in C++, C and assembly.
set -eu
popc=$POPULUS_BIN/popc

fail() {
  echo "FAIL: $1"
  cat err.txt
  exit 1
}

says() {
  grep -qF -e "$1" err.txt || fail "not said: $1"
}

cat >reasons.cpp <<'END'
#include <poplar/Vertex.hpp>
using namespace poplar;

namespace tree {
__attribute__((noinline)) unsigned walk(unsigned n) {
	return n < 2 ? n : walk(n - 1) + 3 * walk(n - 2);
}
}
namespace ns {
template <typename T> struct Walk : Vertex {
  InOut<T> x;
  bool compute() { *x = tree::walk(*x); return true; }
};
template struct Walk<unsigned>;
}

static int (*volatile pointer)(int);
__attribute__((noinline)) int apply(int x) {
  return pointer(x) + 1;
}
struct Pointer : Vertex {
  InOut<int> x;
  bool compute() { *x = apply(*x); return true; }
};

__attribute__((noinline)) void use(int *p) { asm volatile("" :: "r"(p) : "memory"); }
struct Alloca : Vertex {
  InOut<int> x;
  bool compute() {
    int *a = static_cast<int *>(__builtin_alloca(4 * *x));
    use(a);
    return true;
  }
};
struct Plain : Vertex {
  InOut<int> x;
  bool compute() { *x += 1; return true; }
};
END
"$popc" reasons.cpp -o out.gp 2>err.txt || fail 'warnings are errors'
cat >expected.txt <<'END'
reasons.cpp:6:21: warning: how much stack vertex 'ns::Walk<unsigned int>' needs is unknown: ns::Walk<unsigned int> -> walk -> walk: recursion
    6 |         return n < 2 ? n : walk(n - 1) + 3 * walk(n - 2);
      |                            ^
reasons.cpp:14: note: state it with DEF_RECURSION_LEVELS(levels, _ZN4tree4walkEj) or DEF_STACK_USAGE(bytes, _ZN4tree4walkEj) of <poplar/StackSizeDefs.hpp>
reasons.cpp:19:10: warning: how much stack vertex 'Pointer' needs is unknown: Pointer -> apply calls through a pointer
   19 |   return pointer(x) + 1;
      |          ^
reasons.cpp:21: note: state it with DEF_FUNC_CALL_PTRS(_Z5applyi, "callee,callee") or DEF_STACK_USAGE(bytes, _Z5applyi) of <poplar/StackSizeDefs.hpp>
reasons.cpp:30:33: warning: how much stack vertex 'Alloca' needs is unknown: Alloca -> compute has an array whose size is not constant, or calls alloca
   30 |     int *a = static_cast<int *>(__builtin_alloca(4 * *x));
      |                                 ^
reasons.cpp:27: note: state it with DEF_STACK_USAGE(bytes, _ZN6Alloca7computeEv) of <poplar/StackSizeDefs.hpp>
END
diff expected.txt err.txt || fail 'S11: other warnings'

# The warnings are the same with -g, and for a .gp that has debug information.
"$popc" -g reasons.cpp -o out.gp 2>err.txt
diff expected.txt err.txt || fail 'S11: other warnings with -g'
"$popc" out.gp -o again.gp 2>err.txt
diff expected.txt err.txt || fail 'S11: other warnings about a .gp with debug information'
"$popc" -w reasons.cpp -o out.gp 2>err.txt
[ ! -s err.txt ] || fail '-w has warnings'
# Without debug information the warning points at the vertex.
"$popc" out.gp -o again.gp 2>err.txt
says "reasons.cpp:14: warning: how much stack vertex 'ns::Walk<unsigned int>' needs is unknown: ns::Walk<unsigned int> \
-> _ZN4tree4walkEj -> _ZN4tree4walkEj: recursion"

# Colours are clang's.
cat >colours.c <<'END'
static inline int f(int x) { return x; }
int g(int x) { if (x = f(1)) return 2; return 0; }
END
clang-19 -Wall -fcolor-diagnostics -fsyntax-only colours.c 2>clang.txt
"$popc" -fcolor-diagnostics reasons.cpp -o out.gp 2>err.txt
escape=$(printf '\033')
# Compares only the escape sequences of the first line of a warning and of a note.
shape() {
  grep "$1: " "$2" | head -n 1 | sed "s/[^$escape]*\($escape\[[0-9;]*m\)[^$escape]*/\1/g"
}
for severity in warning note; do
  [ "$(shape $severity err.txt)" = "$(shape $severity clang.txt)" ] || fail "$severity: other colours than clang's"
done

# No warning remains where the author states the size.
cat >stated.cpp <<'END'
#include <poplar/StackSizeDefs.hpp>
END
cat reasons.cpp >>stated.cpp
cat >>stated.cpp <<'END'
extern "C" int twice(int x) { return 2 * x; }
DEF_RECURSION_LEVELS(40, _ZN4tree4walkEj);
DEF_FUNC_CALL_PTRS(_Z5applyi, "twice");
DEF_STACK_USAGE(512, _ZN6Alloca7computeEv);
END
"$popc" --target=ipu2 stated.cpp -o stated.gp 2>err.txt
[ ! -s err.txt ] || fail 'S11: what is stated is unknown'
"$popc" --list-vertices stated.gp >list.txt
for vertex in 'ns::Walk<unsigned int>' Pointer Plain Alloca; do
  sed -n "/^$vertex: /{n;p;}" list.txt | grep -q '; stack ipu2 [0-9]* bytes$' || fail "no stack for $vertex"
done
[ "$(sed -n '/^Plain: /{n;s/.*stack ipu2 \([0-9]*\).*/\1/p;}' list.txt)" = 0 ] || fail 'Plain needs no stack'
[ "$(sed -n '/^ns::Walk/{n;s/.*stack ipu2 \([0-9]*\).*/\1/p;}' list.txt)" -ge 640 ] || fail '40 levels are less'
"$popc" --list-vertices -w reasons.cpp | grep -q 'stack ipu1 unknown, ipu2 unknown, ipu21 unknown$' ||
  fail 'no unknown stack in --list-vertices'
"$popc" --list-vertices --json stated.gp | grep -q '"stack_bytes":{' || fail 'no stack in --json'

# A stated size that is smaller than the function's frame gets a warning, and the frame's size is
# used.
cat >small.c <<'END'
#include <populus/vertex.h>
#include <poplar/StackSizeDefs.hpp>
typedef struct { INOUT(int) x; } Small;
__attribute__((noinline)) void large(int *x)
{
  volatile int a[50];
  for (int i = 0; i < 50; ++i) a[i] = *x;
  *x = a[3];
}
DEF_STACK_USAGE(16, large);
COMPUTE(Small)
{
  large(&*vertex->x);
  return true;
}
END
"$popc" --target=ipu2 small.c -o small.gp 2>err.txt
says "small.c:5: warning: DEF_STACK_USAGE states 16 bytes of stack for 'large', whose own frame takes 208"
"$popc" --list-vertices -w --target=ipu2 small.c | grep -q 'stack ipu2 224 bytes$' || fail 'the frame is not given'

# The macros work in assembly too.
cat >assembly.cpp <<'END'
#include <poplar/Vertex.hpp>
struct Deep : poplar::Vertex {
  poplar::InOut<int> x;
  bool compute();
};
END
cat >assembly.S <<'END'
#include <poplar/StackSizeDefs.hpp>
.globl __runCodelet_Deep
.type __runCodelet_Deep, @function
__runCodelet_Deep:
  addi sp, sp, -16
  sw ra, 12(sp)
  call down
  lw ra, 12(sp)
  addi sp, sp, 16
  ret
.globl down
.type down, @function
down:
  addi sp, sp, -32
  sw ra, 0(sp)
  addi a0, a0, -1
  beqz a0, 1f
  call down
1: lw ra, 0(sp)
  addi sp, sp, 32
  ret
#ifdef LEVELS
DEF_RECURSION_LEVELS LEVELS, down
#endif
#ifdef USAGE
DEF_STACK_USAGE USAGE, down
#endif
END
"$popc" --target=ipu2 assembly.cpp assembly.S -o out.gp 2>err.txt
says "assembly.cpp:2: warning: how much stack vertex 'Deep' needs is unknown: Deep -> down -> down: recursion"
"$popc" --target=ipu2 -DLEVELS=10 assembly.cpp assembly.S -o out.gp 2>err.txt
[ ! -s err.txt ] || fail 'DEF_RECURSION_LEVELS in assembly'
"$popc" --list-vertices out.gp | grep -q 'stack ipu2 336 bytes$' || fail '10 levels of 32 bytes and 16'
"$popc" --target=ipu2 -DUSAGE=100 assembly.cpp assembly.S -o out.gp 2>err.txt
[ ! -s err.txt ] || fail 'DEF_STACK_USAGE in assembly'
"$popc" --list-vertices out.gp | grep -q 'stack ipu2 116 bytes$' || fail 'DEF_STACK_USAGE in assembly: other bytes'
