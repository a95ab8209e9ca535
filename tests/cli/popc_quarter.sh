# Quarter is an element type of edges, vectors and plain fields, in C++ and in C.
set -eu
popc=$POPULUS_BIN/popc

cat >q.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <poplar/QuarterFloat.hpp>
using namespace poplar;
struct Q : Vertex {
  Input<Vector<quarter>> in;
  Output<Vector<quarter, VectorLayout::ONE_PTR>> out;
  Vector<Output<Vector<quarter>>> rows;
  quarter k;
  bool compute() { out[0] = in[0]; rows[0][0] = k; return true; }
};
END
cat >q.c <<'END'
#include <ipudef.h>
#include <populus/vertex.h>
typedef struct { INPUT(VECTOR(quarter)) in; OUTPUT(quarter) out; quarter k; } Q;
COMPUTE(Q) { *vertex->out = vertex->in.data[0]; return true; }
END
"$popc" --list-vertices --target ipu2,cpu --json q.cpp >cpp.json
"$popc" --list-vertices --target ipu2,cpu --json q.c >c.json
quarters() {
  grep -o '"type": *"quarter"' "$1" | wc -l
}
[ "$(quarters cpp.json)" = 4 ] || { cat cpp.json; exit 1; }
[ "$(quarters c.json)" = 3 ] || { cat c.json; exit 1; }

# In C++, each field of quarters except a plain value has a pointer to its format and scale.
[ "$(grep -o '"name": *"[a-z]*\.metadata"' cpp.json | sort | tr -d ' \n')" = '"name":"in.metadata""name":"out.metadata""name":"rows.metadata"' ] ||
  { cat cpp.json; exit 1; }
if grep -q metadata c.json; then exit 1; fi
echo '#include <poplar/Vertex.hpp>
struct A : poplar::Vertex { poplar::Input<poplar::Vector<quarter>> a[2]; bool compute() { return true; } };' >array.cpp
if "$popc" array.cpp 2>popc.txt; then exit 1; fi
grep -q "array.cpp:2:.*error: field 'A.a' is an array of fields of quarters" popc.txt
echo '#include <poplar/Vertex.hpp>
struct A : poplar::Vertex { poplar::Vector<quarter> a; bool compute() { return true; } };' >own.cpp
if "$popc" own.cpp 2>popc.txt; then exit 1; fi
grep -q "own.cpp:2:.*error: field 'A.a' is data of the vertex itself, which cannot be quarters" popc.txt

# Only poplar's quarter: a user's struct of that name is still refused.
echo '#include <poplar/Vertex.hpp>
namespace mine { struct quarter { unsigned char value; }; }
struct V : poplar::Vertex { mine::quarter q; bool compute() { return true; } };' >other.cpp
if "$popc" other.cpp 2>popc.txt; then exit 1; fi
grep -q "unsupported field type 'mine::quarter'" popc.txt
