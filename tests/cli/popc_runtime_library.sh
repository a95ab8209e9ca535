# A .gp contains the parts of the C, C++ and compiler libraries that its codelets need (S16), and no
# others.
set -eu
popc=$POPULUS_BIN/popc

members() {
  ar t "$1" | tr '\n' ' '
}

cat >plain.c <<'END'
#include <populus/vertex.h>
typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) out; } Plain;
COMPUTE(Plain) { *vertex->out = vertex->in.data[0] + vertex->in.data[1]; return true; }
END
"$popc" plain.c
[ "$(members plain.gp)" = 'populus.o tile-0.o host-0.o ' ]

cat >rich.cpp <<'END'
#include <poplar/Vertex.hpp>
#include <algorithm>
#include <array>
#include <cmath>
using namespace poplar;
class Rich : public Vertex {
public:
  InOut<Vector<float>> x;
  Output<long long> quotient;
  bool compute()
  {
    for (auto &v : x) v = std::cos(v) + sqrtf(v) + static_cast<float>(std::sin(static_cast<double>(v)));
    std::sort(x.begin(), x.end());
    std::array<uint16_t, 64> copy;
    memcpy(&copy, &x[0], sizeof copy);
    *quotient = static_cast<long long>(x[0]) / static_cast<long long>(x.size()) + copy[x.size() % 64];
    return true;
  }
};
END
"$popc" rich.cpp
for needed in lib-math_trig.o lib-s_sin.o lib-int64.o lib-cxx_sort.o; do
  members rich.gp | grep -q " $needed " || { echo "no $needed in $(members rich.gp)"; exit 1; }
done
# No symbol is missing: lld links it.
mkdir objects
(cd objects && ar x ../rich.gp && ld.lld-19 -m elf32lriscv -e __runCodelet_Rich --gc-sections -o ../linked tile-0.o lib-*.o)

# A merged .gp has one copy of what both parts need.
"$popc" rich.gp plain.c -o both.gp
sed 's/Rich/Rich2/' rich.cpp >rich2.cpp
"$popc" rich.gp rich2.cpp -o twins.gp
[ "$(ar t twins.gp | grep -c lib-)" = "$(ar t rich.gp | grep -c lib-)" ]
