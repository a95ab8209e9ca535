# Calls of __builtin_ipu_… that the software tile does not support are compiler errors. The error
# explains the reason and points at the user's line.
set -eu

refuse() { # <statement> <part of the message>
  cat >wrong.cpp <<END
#include <poplar/Vertex.hpp>
#include <ipu_builtins.h>
class V : public poplar::Vertex {
public:
  poplar::InOut<int> out;
  void compute() {
    $1
  }
};
END
  if "$POPULUS_BIN/popc" --target ipu2 wrong.cpp -o wrong.gp 2>message; then
    echo "accepted: $1" >&2
    exit 1
  fi
  grep -q "wrong.cpp:7:.*error: .*$2" message || { echo "$1:" >&2; cat message >&2; exit 1; }
}

refuse '__builtin_ipu_put(1, 0x50);' 'does nothing on the software tile'
refuse '*out = __builtin_ipu_get(2);' 'does nothing on the software tile'
refuse '__builtin_ipu_uput(1u, 7);' 'PRNG_1_1 and TAS are there'
refuse 'float2 f = __builtin_ipu_f32v2gina(float2{1, 2}, 1);' 'only flags 0'
refuse '__builtin_ipu_f32v2aop(float2{1, 2}, float2{1, 2}, 3);' 'must be 0'
refuse '__builtin_ipu_ld64putcs(0);' '__builtin_ipu_ld64putcs'

# C has the builtins too, and needs no include for them.
cat >c.c <<'END'
#include <populus/vertex.h>
typedef struct {
  INOUT(int) out;
} C;
COMPUTE(C)
{
  *vertex->out = (int)__builtin_ipu_max(1.0f, 5.0f) + (int)__builtin_ipu_shuf8x8lo(1, 2) + __builtin_ipu_get_tile_id();
  return true;
}
END
"$POPULUS_BIN/popc" --target ipu2 c.c -o c.gp
[ "$("$POPULUS_BUILD_DIR/tests/support/run_vertex" c.gp C)" = "out = 519" ]
