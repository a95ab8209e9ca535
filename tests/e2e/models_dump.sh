#!/bin/sh
# Dumps of modules, hashes, lines of the cache in the log, and flags from the environment. A dump
# can be read again and gives the same module.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
pophlo=$POPULUS_BIN/pophlo
models=$POPULUS_SOURCE_DIR/tests/e2e/models

# In all notations, as read and without calls: the dump passes its checks and has the same hash.
for module in "$models/flow.mlir" "$models/expand.mlir" "$models/export.mlir" "$models/before.hlo.txt"; do
  rm -rf first second
  quiet out "$pophlo" --dump first "$module"
  [ "$(find first -type f | wc -l)" -eq 3 ] || fail "$module: three files are expected"
  quiet out "$pophlo" --dump second first/*.1_inlined.mlir
  quiet out "$pophlo" --dump second first/*.0_read.mlir
  [ "$(ls first)" = "$(ls second)" ] || fail "$module: another hash after reading its dump"
  quiet out "$pophlo" --check first/*.1_inlined.mlir
done
quiet out env XLA_FLAGS='--xla_dump_hlo_as_text  --xla_dump_to=third' "$pophlo" -o flow.a "$models/flow.mlir"
quiet out "$pophlo" --dump fourth "$models/flow.mlir"
diff -r third fourth

# The same operations in three notations, with other names: one hash.
cat >notations.mlir <<'TEXT'
func.func @main(%x: tensor<1x4x1xf32>) -> tensor<1x2x1xf32> {
  %k = stablehlo.constant dense<2.0> : tensor<3x1x1xf32>
  %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<1x4x1xf32>, tensor<1x4x1xf32>) -> tensor<1x8x1xf32>
  %1 = stablehlo.slice %0 [0:1, 0:8:2, 0:1] : (tensor<1x8x1xf32>) -> tensor<1x4x1xf32>
  %2 = stablehlo.convolution(%1, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x2x1xf32>
  return %2 : tensor<1x2x1xf32>
}
// -----
module @other {
  func.func private @g(%y: tensor<1x4x1xf32>) -> tensor<1x2x1xf32> {
    %c = "stablehlo.constant"() <{value = dense<[[[2.0]], [[2.0]], [[2.0]]]> : tensor<3x1x1xf32>}> : () -> tensor<3x1x1xf32>
    %a = "stablehlo.concatenate"(%y, %y) <{dimension = 1 : i64}> : (tensor<1x4x1xf32>, tensor<1x4x1xf32>) -> tensor<1x8x1xf32>
    %b = "stablehlo.slice"(%a) <{limit_indices = array<i64: 1, 8, 1>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 2, 1>}> : (tensor<1x8x1xf32>) -> tensor<1x4x1xf32>
    %d = "stablehlo.convolution"(%b, %c) <{window_strides = array<i64: 2>, window_reversal = array<i1: true>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x2x1xf32>
    return %d : tensor<1x2x1xf32>
  }
}
// -----
func.func @f(%x: tensor<1x4x1xf32>) -> tensor<1x2x1xf32> {
  %k = mhlo.constant dense<0x40000000> : tensor<3x1x1xf32>
  %0 = "mhlo.concatenate"(%x, %x) {dimension = 1 : i64} : (tensor<1x4x1xf32>, tensor<1x4x1xf32>) -> tensor<1x8x1xf32>
  %1 = "mhlo.slice"(%0) {start_indices = dense<0> : tensor<3xi64>, limit_indices = dense<[1, 8, 1]> : tensor<3xi64>, strides = dense<[1, 2, 1]> : tensor<3xi64>} : (tensor<1x8x1xf32>) -> tensor<1x4x1xf32>
  %2 = "mhlo.convolution"(%1, %k) {batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #mhlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_output_feature_dimension = 2, kernel_input_feature_dimension = 1, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_reversal = dense<true> : tensor<1xi1>, window_strides = dense<2> : tensor<1xi64>} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x2x1xf32>
  "func.return"(%2) : (tensor<1x2x1xf32>) -> ()
}
TEXT
for part in 0 1 2; do
  quiet out "$pophlo" --part $part --dump part-$part notations.mlir
  (cd part-$part && echo *.1_inlined.mlir | cut -d. -f1) >hash-$part
done
cmp hash-0 hash-1
cmp hash-0 hash-2

# The hash is that of the operations: another constant changes it, other names do not.
cat >one.mlir <<'TEXT'
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
TEXT
sed 's/%0/%other/' one.mlir >renamed.mlir
sed 's/1\.0/2.0/' one.mlir >two.mlir
for module in one renamed two; do
  quiet out env POPLAR_LOG_LEVEL=INFO POPLAR_LOG_DEST=log-$module "$pophlo" -o x.a $module.mlir
  sed -n 's/.*Begin XLA compilation: module (Hash \(0x[0-9a-f]\{16\}\))$/\1/p' log-$module >hash-$module
  [ -s hash-$module ] || fail "$module: no line with a hash in the log"
done
cmp hash-one hash-renamed
! cmp -s hash-one hash-two || fail 'another constant has the same hash'

# The cache.
mkdir -m 700 cache
for times in first second; do
  quiet out env TF_POPLAR_FLAGS='--executable_cache_path=cache --max_compilation_threads=2' POPLAR_LOG_LEVEL=INFO \
    POPLAR_LOG_DEST=log-$times "$pophlo" -o x.a "$models/flow.mlir"
done
has log-first "Couldn't find cache/[0-9a-f]+\\.a"
has log-second 'Loaded flow from cache/[0-9a-f]+\.a'

# Flags.
quiet out env TF_POPLAR_FLAGS=--use_ipu_model "$pophlo" --check "$models/flow.mlir"
refuses 2 "TF_POPLAR_FLAGS: the flag '--nonsense=3' is not known|--use_ipu_model" \
  env TF_POPLAR_FLAGS='--use_ipu_model --nonsense=3' "$pophlo" --list one.mlir
refuses 2 "XLA_FLAGS: the flag '--xla_dump=x' is not known" env XLA_FLAGS=--xla_dump=x "$pophlo" --list one.mlir
refuses 2 'needs a value' env XLA_FLAGS=--xla_dump_to "$pophlo" --list one.mlir
refuses 2 "number of threads, or -1 for any, not '0'" env TF_POPLAR_FLAGS=--max_compilation_threads=0 "$pophlo" --list one.mlir
refuses 4 'the folder cannot be made' "$pophlo" --dump nowhere/below one.mlir
