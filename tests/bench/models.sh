#!/bin/sh
# models.sh <file>: modules of StableHLO by pophlo.
#
# models_conformance: how many of StableHLO's conformance programs pass (in POPULUS_STABLEHLO; left
#     out if there are none)
# models_conformance_s: the time of that
# models_matmul_vs_bound: cycles of a product of two 1024 x 1024 matrices of f32 on the 1,472 tiles
#     of ipu2, exchange and all else included, over those of its multiply-adds at one for each issue
#     slot: 1024^3 / 1472
# models_memory_vs_live: all memory of its images, gaps included, over the bytes of the three
#     matrices
# models_memory_own_vs_live: that without the 8 KiB at the base of each tile, which are the system's
#     for any program (12 MB, nearly as much as the matrices: models_memory_vs_live is at least 1 +
#     1472 * 8192 / 12582912 = 1.96)
# models_memory_data_vs_live: the part of that which holds elements: the matrices and all copies of
#     their elements (operands' pieces for a step, partial sums, messages), each byte of a tile
#     counted once. The rest is code, exchange code, stacks and tables, which grow with the number
#     of tiles and not with the matrices
# models_transformer_compile_s: compilation of one layer of a transformer to an archive: 128 words
#     of width 512, 8 heads, a hidden layer of 2,048 (examples/models/transformer.mlir, enlarged);
#     the least of three
# models_resnet_vs_bound, models_resnet_compile_s: the same for two 3 x 3 convolutions of 56 x 56 x
#     64 with bias and activation, and the input added (a block of a ResNet)
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/measure.sh"

output=$1
pophlo=$POPULUS_BIN/pophlo
tiles=1472

folder=${POPULUS_STABLEHLO-$POPULUS_SOURCE_DIR/../shared/data/stablehlo}
if [ -d "$folder" ]; then
  seconds sh -c '"$@" >out || true' sh "$pophlo" --check "$folder"/*.mlir >took
  number models_conformance "$(awk 'END { print $1 }' out)" programs
  number models_conformance_s "$(cat took)" s
fi

matrix='tensor<1024x1024xf32>'
cat >product.mlir <<TEXT
func.func @main(%x: $matrix, %y: $matrix) -> $matrix {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ($matrix, $matrix) -> $matrix
  return %0 : $matrix
}
TEXT
head -c 4194304 /dev/zero >zeros
"$pophlo" --tiles $tiles --run --cycles --memory --in x=zeros --in y=zeros product.mlir >product
number models_matmul_vs_bound "$(awk -v tiles=$tiles '/^cycles: / { print $2 / (1024 ^ 3 / tiles) }' product)" 'times the bound'
number models_memory_vs_live "$(awk '/Including Gaps:/ { gsub(/,/, "", $3); print $3 / (3 * 1024 ^ 2 * 4); exit }' product)" \
  'times the live bytes'
own=$(awk -v tiles=$tiles '/Including Gaps:/ { gsub(/,/, "", $3); print $3 - tiles * 8192; exit }' product)
number models_memory_own_vs_live "$(awk -v own="$own" 'BEGIN { print own / (3 * 1024 ^ 2 * 4) }')" 'times the live bytes'
data=$(awk -f "$POPULUS_SOURCE_DIR/tests/support/element_bytes.awk" product)
number models_memory_data_vs_live "$(awk -v data="$data" 'BEGIN { print data / (3 * 1024 ^ 2 * 4) }')" 'times the live bytes'

sed -e 's/tensor<64xf32>/tensor<262144xf32>/g; s/tensor<128xf32>/tensor<1048576xf32>/g
  s/6x2x4xf32/128x8x64xf32/g; s/2x6x6xf32/8x128x128xf32/g; s/2x6x4xf32/8x128x64xf32/g; s/<2x6xf32/<8x128xf32/g
  s/6x16xf32/128x2048xf32/g; s/<8x16xf32/<512x2048xf32/g; s/<16x8xf32/<2048x512xf32/g; s/<8x8xf32/<512x512xf32/g
  s/<6x8xf32/<128x512xf32/g; s/<6xf32/<128xf32/g' "$POPULUS_SOURCE_DIR/examples/models/transformer.mlir" >layer.mlir
for _ in 1 2 3; do seconds "$pophlo" --tiles $tiles -o layer.a layer.mlir; done | sort -g | head -1 >took
number models_transformer_compile_s "$(cat took)" s

image='tensor<1x56x56x64xf32>' kernel='tensor<3x3x64x64xf32>' bias='tensor<64xf32>'
# convolved <name> <input> <kernel> <bias>
convolved()
{
  cat <<TEXT
  %$1a = stablehlo.convolution($2, $3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : ($image, $kernel) -> $image
  %$1b = stablehlo.broadcast_in_dim $4, dims = [3] : ($bias) -> $image
  %$1 = stablehlo.add %$1a, %$1b : $image
TEXT
}
{
  echo "func.func @main(%x: $image, %v: $kernel, %w: $kernel, %a: $bias, %b: $bias) -> $image {"
  echo "  %zero = stablehlo.constant dense<0.0> : $image"
  convolved first %x %v %a
  echo "  %active = stablehlo.maximum %first, %zero : $image"
  convolved second %active %w %b
  echo "  %sum = stablehlo.add %second, %x : $image"
  echo "  %out = stablehlo.maximum %sum, %zero : $image"
  echo "  return %out : $image"
  echo '}'
} >block.mlir
head -c $((56 * 56 * 64 * 4)) /dev/zero >image
head -c $((9 * 64 * 64 * 4)) /dev/zero >kernel
head -c $((64 * 4)) /dev/zero >bias
for _ in 1 2 3; do seconds "$pophlo" --tiles $tiles -o block.a block.mlir; done | sort -g | head -1 >took
number models_resnet_compile_s "$(cat took)" s
"$pophlo" --tiles $tiles --run --cycles --in x=image --in v=kernel --in w=kernel --in a=bias --in b=bias block.mlir >block
number models_resnet_vs_bound "$(awk -v tiles=$tiles '/^cycles: / { print $2 / (2 * 56 * 56 * 576 * 64 / tiles) }' block)" \
  'times the bound'
