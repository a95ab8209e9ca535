# popc appends a vertex table and entries to each source, separately for each target.
set -eu
popc=$POPULUS_BIN/popc

fail() {
  echo "$1"
  exit 1
}

cat >targets.cpp <<'EOF'
#include <poplar/Vertex.hpp>
using namespace poplar;
#ifdef __IPU__
class OnlyTile : public Vertex {
public:
  Output<float> out;
  bool compute() { *out = 1; return true; }
};
#else
class OnlyHost : public MultiVertex {
public:
  Output<float> out;
  bool compute(unsigned worker) { *out = worker; return true; }
};
#endif
class Both : public Vertex {
public:
#ifdef __IPU__
  Input<short> extra;
#endif
  Output<Vector<float>> out;
  void compute() { out[0] = 1; }
};
template <typename T> class Instance : public Vertex {
public:
  InOut<Vector<T>> x;
  bool compute()
  {
    for (auto &element : x) element += 1;
    return true;
  }
};
template class Instance<int>;
template class Instance<float>;
EOF
"$popc" --save-temps targets.cpp
mv targets-ipu2.o tile.o
mv targets-cpu.o host.o

table() {
  readelf -p .populus.vertices "$1"
}
field() {
  table "$1" | grep -F "\"name\":\"Both\"" | grep -oE "\"name\":\"$2\",[^}]*\"offset\":[0-9]+" | grep -oE '[0-9]+$'
}

# Vertices and fields that only one target has are in that target's table only.
table tile.o | grep -q OnlyTile || fail "the tile has no OnlyTile"
table host.o | grep -q OnlyHost || fail "the host has no OnlyHost"
! table tile.o | grep -q OnlyHost || fail "the tile has OnlyHost"
! table host.o | grep -q OnlyTile || fail "the host has OnlyTile"
table tile.o | grep -q '"name":"extra"' || fail "the tile has no field that only it has"
! table host.o | grep -q '"name":"extra"' || fail "the host has a field that only the tile has"
[ "$(field tile.o out)" = 4 ] || fail "out is at $(field tile.o out) on the tile"
[ "$(field host.o out)" = 0 ] || fail "out is at $(field host.o out) on the host"

# Entries: on the tile, compute() is inlined into its entry. On the host, the entry of an
# instantiation calls compute(), so that no instantiation is compiled twice.
calls() {
  readelf -rW "$1" | grep -cE "$2.*compute" || true
}
[ "$(calls tile.o .)" = 0 ] || fail "an entry on the tile calls compute()"
[ "$(calls host.o '(PLT|PC)32')" = 2 ] || fail "$(calls host.o '(PLT|PC)32') entries of instantiations on the host call compute()"
for symbol in OnlyHost Both Instance___int Instance___float; do
  readelf -sW host.o | grep -qE "FUNC +WEAK .* __runCodelet_$symbol\$" || fail "no weak entry of $symbol"
done

# G10: a vertex without code after optimization is an error on its line.
mkdir -p folder
cat >folder/nothing.c <<'EOF'
#include <populus/vertex.h>

typedef struct { OUTPUT(int) out; } Nothing;
COMPUTE(Nothing) { __builtin_unreachable(); }
EOF
status=0
"$popc" folder/nothing.c -o nothing.gp 2>err || status=$?
[ $status -eq 1 ] || fail "nothing.c: exit status $status"
grep -q "^folder/nothing.c:3: error: vertex 'Nothing': the entry __runCodelet_Nothing .* is empty" err || fail "$(cat err)"
[ ! -e nothing.gp ] || fail 'there is a .gp'
# For an entry in assembly the error names no vertex.
printf '.globl __runCodelet_First\n__runCodelet_First = 0x4c001\n' >absolute.s
status=0
"$popc" absolute.s -o nothing.gp 2>err || status=$?
[ $status -eq 1 ] || fail "absolute.s: exit status $status"
grep -q '^absolute.s: error: the entry __runCodelet_First (0x4c001) is an absolute address' err || fail "$(cat err)"

# What popc appends has no names that a source may have as macros, in entries and in questions about
# templates.
cat >macros.cpp <<'EOF'
#include <poplar/Vertex.hpp>
#define noinline __attribute__((noinline))
#define weak __attribute__((weak))
#define state (*this)
#define worker 5
#define stub (1)
#define clang 19
#define V 4
#define R 3
#define value 2
#define type "type"
#define vertex result
using namespace poplar;
template <class T> struct Base : Vertex { Input<T> x; };
template <class T> struct Derived : Base<T> { InOut<T> out; bool compute() { *out = V * value; return true; } };
template struct Derived<int>;
template <class T> struct Every : MultiVertex { InOut<T> out; void compute(unsigned) {} };
template struct Every<int>;
struct Once : SupervisorVertex { InOut<int> out; bool compute() { return true; } };
EOF
"$popc" macros.cpp -o macros.gp || fail 'macros'
"$popc" --list-vertices macros.gp | grep -c '^[DEO].*: ' | grep -qx 3 || fail 'vertices beside macros'

# Vectors have the names that codelets write, in vertices' names and symbols.
cat >vectors.cpp <<'END'
#include <ipudef.h>
#include <poplar/Vertex.hpp>
template <typename T> struct Box {
};
template <typename T> struct Of : poplar::Vertex {
  poplar::Output<int> out;
  bool compute() { *out = sizeof(T); return true; }
};
template class Of<float2>;
template class Of<half4 *>;
template class Of<Box<uchar8>>;
template class Of<longlong2>;
template class Of<bool __attribute__((ext_vector_type(2)))>;
END
"$popc" vectors.cpp -o vectors.gp
found=$("$popc" --list-vertices vectors.gp | sed -n 's/: worker.*//p' | tr '\n' ' ')
[ "$found" = 'Of<float2> Of<half4 *> Of<Box<uchar8>> Of<longlong2> Of<bool __attribute__((ext_vector_type(2)))> ' ] ||
  fail "vectors are named $found"
nm vectors.gp 2>&1 | grep -q '__runCodelet_Of___float2$' || fail "no entry of Of<float2>"
