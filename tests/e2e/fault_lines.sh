#!/bin/sh
# fault_lines.sh: the message of a device fault names the line of the user's source if there is
# debug information for it, and the function in any case (V01, V04). Codelets come from a .gp file,
# or the host program compiles them; tests/support/run_vertex.c runs them.
set -eu

run_vertex=$POPULUS_BUILD_DIR/tests/support/run_vertex
failed=0

# check <case> <wanted text> <unwanted text or ""> <argument of run_vertex>...
check() {
  name=$1 wanted=$2 unwanted=$3
  shift 3
  status=0
  "$run_vertex" "$@" >out.txt 2>error.txt || status=$?
  if [ $status -ne 3 ] || ! grep -qF -- "$wanted" error.txt; then
    echo "$name: status $status, wanted 3 and '$wanted' in:"
    cat out.txt error.txt
    failed=1
  elif [ -n "$unwanted" ] && grep -qF -- "$unwanted" error.txt; then
    echo "$name: there should be no '$unwanted' in:"
    cat error.txt
    failed=1
  fi
}

# line <file> <word>: the number of the line that contains the word.
line() {
  grep -n "$2" "$1" | cut -d: -f1
}

mkdir -p source/include
cat >source/include/load.h <<'EOF'
static inline int load(const volatile int *from)
{
  return *from; /* header */
}
EOF
cat >source/null.c <<'EOF'
#include "include/load.h"
#include <populus/vertex.h>

typedef struct {
  INOUT(int) out;
} Null;

COMPUTE(Null)
{
  int *nowhere = 0;
  __asm__("" : "+r"(nowhere));
  *vertex->out = 1;
  *nowhere = 2; /* null */
  return true;
}

typedef struct {
  INOUT(int) out;
} Inlined;

COMPUTE(Inlined)
{
  *vertex->out += load(0);
  return true;
}

typedef struct {
  INOUT(int) out;
} Endless;

COMPUTE(Endless)
{
  for (;;) *(volatile int *)vertex->out += 1; /* endless */
  return true;
}

static __attribute__((noinline)) void store_here(int *to)
{
  *to = 7;
}

static __attribute__((noinline)) void store_there(int *to)
{
  *to = 7;
}

typedef struct {
  INOUT(int) out;
} Twins;

COMPUTE(Twins)
{
  int *nowhere = 0;
  __asm__("" : "+r"(nowhere));
  store_here(vertex->out);
  store_there(nowhere);
  return true;
}
EOF
cat >source/more.cpp <<'EOF'
#include <poplar/Vertex.hpp>

template <typename T> class Store : public poplar::Vertex {
public:
  poplar::InOut<T> out;

  __attribute__((noinline)) static void store(T *to, T value)
  {
    *to = value; // template
  }

  bool compute()
  {
    T *nowhere = nullptr;
    __asm__("" : "+r"(nowhere));
    store(nowhere, *out);
    return true;
  }
};
template class Store<int>;
EOF

"$POPULUS_BIN/popc" -g source/null.c source/more.cpp -o debug.gp
"$POPULUS_BIN/popc" source/null.c source/more.cpp -o plain.gp

null=", source/null.c:$(line source/null.c '/\* null'); "
check "V04 .gp with -g" "$null" "" debug.gp Null
check "V04 no debug information" "in __runCodelet_Null+0x" "null.c" plain.gp Null
check "V04 compiled by the host program" "$null" "" source/null.c Null -g
check "V04 not optimised" "$null" "" source/null.c Null "-g -O0"
check "V04 DWARF 5" "$null" "" source/null.c Null -gdwarf-5
check "V04 DWARF 5, a path from the root" ", $PWD/source/null.c:" "" "$PWD/source/null.c" Null -gdwarf-5
check "V04 line tables only" "$null" "" source/null.c Null -gline-tables-only
check "V04 a path from the root" ", $PWD/source/null.c:" "" "$PWD/source/null.c" Null -g
check "V04 inlined from a header" "include/load.h:$(line source/include/load.h header)" "" debug.gp Inlined
check "V01 endless loop" ", source/null.c:$(line source/null.c endless); " "" debug.gp Endless
check "V04 identical functions" "in store_here+0x4 (the same code as store_there), " "" debug.gp Twins
check "V04 C++ template in a second source" ", source/more.cpp:$(line source/more.cpp '// template'); " "" debug.gp 'Store<int>'

# archived <case> <argument of run_vertex>...: the message is the same when the graph is compiled,
# when its executable comes from the cache, and when popexec runs the archive. The archive that is
# saved from the cache's entry is the same file.
archived() {
  name=$1
  shift
  rm -rf cache
  for archive in made.a copied.a; do
    POPLAR_EXECUTABLE_CACHE_DIR=cache POPLAR_ENGINE_OPTIONS="{\"target.saveArchive\":\"$archive\"}" "$run_vertex" "$@" \
      >out.txt 2>$archive.err || true
  done
  "$POPULUS_BIN/popexec" made.a 2>error.txt || true
  grep -q 'device fault' error.txt || { echo "$name: no fault: $(cat error.txt)"; failed=1; }
  for said in made.a.err copied.a.err; do
    [ "$(sed 's/^run_vertex: //' $said)" = "$(sed 's/^popexec: //' error.txt)" ] ||
      { echo "$name: not the same:"; cat $said error.txt; failed=1; }
  done
  cmp made.a copied.a || { echo "$name: the copy of an archive is another"; failed=1; }
}
for program in Null Inlined Twins 'Store<int>'; do
  archived "V04 archive, $program" debug.gp "$program"
  grep -qE ', source/([a-z/]+\.[a-z]+):[0-9]+; ' error.txt || { echo "$program: no line in $(cat error.txt)"; failed=1; }
done
archived "V04 archive, DWARF 5" source/null.c Null -gdwarf-5
grep -qF -- "$null" error.txt || { echo "DWARF 5: no line in $(cat error.txt)"; failed=1; }
archived "V04 archive without debug information" plain.gp Null
! grep -q null.c error.txt || { echo "a line without -g: $(cat error.txt)"; failed=1; }

# Without its debug information the message is shorter.
archived "V04 archive" debug.gp Null
ar d made.a "$(ar t made.a | grep 'dbg$' | head -1)"
"$POPULUS_BIN/popexec" made.a 2>error.txt || true
grep -q 'in __runCodelet_Null+0x[0-9a-f]*; ' error.txt || { echo "without its .dbg: $(cat error.txt)"; failed=1; }
exit $failed
