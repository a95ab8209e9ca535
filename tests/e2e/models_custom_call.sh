#!/bin/sh
# custom_call @populus.vertex runs a user's codelet in a module. Mistakes in the call are reported
# at its line.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
pophlo=$POPULUS_BIN/pophlo

mkdir sub
cat >sub/codelets.c <<'EOT'
#include <populus/vertex.h>

typedef struct {
  INPUT(VECTOR(float)) in0;
  INPUT(VECTOR(float)) in1;
  OUTPUT(VECTOR(float)) out0;
  OUTPUT(VECTOR(int)) out1;
  float factor;
  unsigned offset;
} Scaled;

COMPUTE(Scaled)
{
  for (unsigned i = 0; i < vertex->in0.size; ++i)
    vertex->out0.data[i] = vertex->in0.data[i] * vertex->factor + vertex->in1.data[0];
  vertex->out1.data[0] = (int)(vertex->in0.size + vertex->offset);
  return true;
}
EOT
cat >sub/module.mlir <<'EOT'
func.func @main() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<0.5> : tensor<f32>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0:2 = stablehlo.custom_call @populus.vertex(%t, %b) {backend_config = {vertex = "Scaled", codelets = "codelets.c", factor = 2.0 : f32, offset = 3 : i32, tile = 2 : i64}} : (tensor<2x2xf32>, tensor<f32>) -> (tensor<2x2xf32>, tensor<i32>)
  %1 = stablehlo.add %0#0, %a : tensor<2x2xf32>
  check.expect_eq_const %1, dense<[[3.5, 8.5], [7.5, 12.5]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<7> : tensor<i32>
  return
}
EOT
quiet out "$pophlo" --check --both-engines --tiles 4 sub/module.mlir
# The same call in the notation of jax.ffi, with a .gp.
quiet out "$POPULUS_BIN/popc" -O2 sub/codelets.c -o sub/codelets.gp
sed 's/backend_config/api_version = 4 : i32, mhlo.backend_config/; s/codelets\.c"/codelets.gp"/' sub/module.mlir >sub/jax.mlir
quiet out "$pophlo" --check --tiles 4 sub/jax.mlir

# Printers write quotes, and letters beyond ASCII, as hexadecimal digits.
cp sub/codelets.c 'sub/écaille "1".c'
sed 's/"codelets\.c"/"\\C3\\A9caille \\221\\22.c"/' sub/module.mlir >sub/escaped.mlir
grep -qF 'codelets = "\C3\A9caille \221\22.c"' sub/escaped.mlir
quiet out "$pophlo" --check --tiles 4 sub/escaped.mlir

# wrong <words> <sed>: the module with this change is refused at the call.
wrong()
{
  sed "$2" sub/module.mlir >sub/wrong.mlir
  refuses 1 "sub/wrong.mlir:5:10: |$1" "$pophlo" --check --tiles 4 sub/wrong.mlir
}
wrong "backend_config has no 'vertex'" 's/vertex = "Scaled", //'
wrong 'Scalde' 's/"Scaled"/"Scalde"/'
wrong 'nowhere.c' 's/codelets\.c"/nowhere.c"/'
wrong 'there is no tile 9, only 4 tiles' 's/tile = 2/tile = 9/'
wrong "factr" 's/factor/factr/'
wrong "'offset' of backend_config is to be a number" 's/offset = 3 : i32/offset = "3"/'
wrong 'custom_call @other is not supported' 's/@populus.vertex/@other/'
