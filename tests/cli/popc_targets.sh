# popc's targets: every spelling of --target in public build scripts, what targets share, merging of
# parts as a library build does it, and messages about a missing target (G11).
set -u
popc=$POPULUS_BIN/popc
failures=0

fail() {
  echo "FAIL: $*"
  cat err.txt
  failures=$((failures + 1))
}

run() {
  "$popc" "$@" >out.txt 2>err.txt || fail "popc $* ends with $?"
}

# refused <status> <text> <argument>...
refused() {
  wanted=$1
  text=$2
  shift 2
  "$popc" "$@" >out.txt 2>err.txt
  status=$?
  [ $status = "$wanted" ] || fail "popc $* ends with $status instead of $wanted"
  grep -qF -e "$text" err.txt || fail "popc $* does not say '$text'"
}

# holds <file> <targets> <members>
holds() {
  run --list-vertices --json "$1"
  found=$(tr -d ' \n' <out.txt | sed 's/.*"targets":\[\([^]]*\)\].*/\1/; s/"//g')
  [ "$found" = "$2" ] || fail "$1 is for '$found' instead of '$2'"
  members=$(ar t "$1" | grep -v -e '^populus.o' -e '^lib-' | tr '\n' ' ')
  [ "$members" = "$3" ] || fail "$1 holds '$members' instead of '$3'"
}

cat >one.c <<'END_'
#include <populus/vertex.h>
#ifndef N
#define N 0
#endif
typedef struct { OUTPUT(int) out; } One;
COMPUTE(One) { *vertex->out = 1 + N; return true; }
END_
cat >per_arch.c <<'END_'
#include <populus/vertex.h>
#include "version.h"
typedef struct { OUTPUT(int) out; } PerArch;
COMPUTE(PerArch) { *vertex->out = VERSION; return true; }
END_
cat >version.h <<'END_'
#ifdef __IPU__
#define VERSION __IPU_ARCH_VERSION__
#else
#define VERSION 0
#endif
END_

# The four spellings, lists, and the last of several options.
for target in --target=ipu2 '--target ipu2' -target=ipu2 '-target ipu2' '--target ipu1 --target ipu2'; do
  # shellcheck disable=SC2086 # words
  run $target one.c -o t.gp
  holds t.gp ipu2 'tile-0.o '
done
run --target ipu2,ipu21,cpu one.c -o t.gp
holds t.gp cpu,ipu2,ipu21 'tile-0.o host-0.o '
run --target cpu one.c -o t.gp
holds t.gp cpu 'host-0.o '
run one.c -o t.gp
holds t.gp cpu,ipu1,ipu2,ipu21 'tile-0.o host-0.o '

# Targets get objects of their own where the source, or a file that it includes, tests the version.
run per_arch.c -o arch.gp
holds arch.gp cpu,ipu1,ipu2,ipu21 'tile-0.o tile-1.o tile-2.o host-0.o '
run --target ipu1,ipu2,ipu21 -DN=__IPU_ARCH_VERSION__ one.c -o arch_option.gp
holds arch_option.gp ipu1,ipu2,ipu21 'tile-0.o tile-1.o tile-2.o '
for target in ipu1:1 ipu2:2 ipu21:21; do
  run -E -P --target ${target%:*} per_arch.c -o -
  grep -q "out = ${target#*:};" out.txt || fail "__IPU_ARCH_VERSION__ of $target"
done
run -E -P --target cpu per_arch.c -o -
grep -q 'out = 0;' out.txt || fail '__IPU__ is defined for cpu'

# The JSON form describes variants with flags of their own.
run --target '["ipu2",{"name":"ipu2:cpp","arch":"ipu2","compile-flags":["-DN=7"]}]' one.c -o json.gp
holds json.gp ipu2,ipu2:cpp 'tile-0.o tile-1.o '
run --target '["ipu2",{"name":"ipu2:cpp","arch":"ipu2","compile-flags":["-DUNUSED"]}]' one.c -o json.gp
holds json.gp ipu2,ipu2:cpp 'tile-0.o ' # the same code
refused 2 "did you mean 'ipu1'" --target '[{"name":"x","arch":"ipu3"}]' one.c
refused 2 'byte 1' --target '[' one.c
refused 2 'unknown key' --target '[{"name":"x","arch":"ipu2","compile_flags":[]}]' one.c
refused 2 'no name' --target '[{"arch":"ipu2"}]' one.c
refused 2 "'-Xclang'" --target '[{"name":"x","arch":"ipu2","compile-flags":["-Xclang"]}]' one.c
refused 2 'only options for the compiler' --target '[{"name":"x","arch":"ipu2","compile-flags":["-v","-ox"]}]' one.c
refused 2 'only options for the compiler' --target '[{"name":"x","arch":"ipu2","compile-flags":["--vectors=never"]}]' one.c
refused 2 "that is another architecture's" --target '[{"name":"cpu","arch":"ipu2"}]' one.c
refused 2 "cannot have the name 'host'" --target '[{"name":"host","arch":"cpu"}]' one.c
refused 2 'described twice' --target '["ipu2",{"name":"ipu2","compile-flags":["-DN"]}]' one.c

refused 2 "unknown target 'ipu22'; did you mean 'ipu2'? popc compiles for cpu,ipu1,ipu2,ipu21" --target ipu22 one.c
refused 2 'empty name' --target ipu2,,cpu one.c
refused 2 'needs a value' --target= one.c
refused 2 'one target' -S --target ipu1,ipu2 one.c

# A library build: each source for each target, assembly beside it, then a merge.
cat >sum.cpp <<'END_'
#include <poplar/Vertex.hpp>
struct Sum : poplar::Vertex { poplar::Output<int> out; bool compute(); };
#ifndef __IPU__
bool Sum::compute() { *out = 5; return true; }
#endif
END_
cat >sum.S <<'END_'
#ifdef __POPC__
.globl __runCodelet_Sum
.type __runCodelet_Sum, @function
.section .text.Sum, "ax", @progbits
__runCodelet_Sum:
  li a1, __IPU_ARCH_VERSION__
  lw a0, 0(a0)
  sw a1, 0(a0)
  li a0, 1
  ret
.size __runCodelet_Sum, . - __runCodelet_Sum
#endif
END_
run sum.cpp sum.S -o sum.gp
holds sum.gp cpu,ipu1,ipu2,ipu21 'tile-0.o tile-1.o tile-2.o tile-3.o host-0.o '
run --list-vertices sum.gp
grep -q 'ipu2 20 bytes' out.txt || grep -q 'ipu2 20,' out.txt || fail 'the entry is not the one in assembly'
for target in cpu ipu1 ipu2; do run --target $target per_arch.c -o part_$target.gp; done
run --target cpu,ipu1,ipu2 part_cpu.gp part_ipu1.gp part_ipu2.gp -o whole.gp
holds whole.gp cpu,ipu1,ipu2 'tile-0.o tile-1.o host-0.o '
run --target ipu2 whole.gp -o only.gp
cmp -s only.gp part_ipu2.gp || fail 'a part taken out is not what it was'

# G11
run --target cpu,ipu1,ipu21 one.c -o missing.gp
refused 1 "nothing for target 'ipu2', they were compiled for cpu,ipu1,ipu21" --target ipu2 missing.gp -o t.gp
refused 1 "nothing for target 'cpu': assembly is for tiles" --target cpu sum.S
refused 1 'is defined twice' one.c -DN=1 --target ipu2 missing.gp whole.gp json.gp t.gp -o twice.gp
# The same for the host, whose objects are bytes for who collects them. Equal objects are one.
sed 's/1 + N/2/' one.c >two.c
refused 1 "vertex 'One' is defined twice for the host (one.c:5 and two.c:5)" --target cpu one.c two.c -o twice.gp
for file in one two; do run --target cpu $file.c -o $file.gp; done
refused 1 "vertex 'One' is defined twice for the host (one.c:5 and two.c:5)" one.gp two.gp -o twice.gp
run --target cpu one.c one.c one.gp -o once.gp

run --list-targets
[ "$(cat out.txt)" = cpu,ipu1,ipu2,ipu21 ] || fail '--list-targets'

[ $failures = 0 ]
