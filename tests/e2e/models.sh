#!/bin/sh
# pophlo reads, compiles, runs and checks modules of StableHLO, on tiles and on the host. A wrong
# module gets a message with its line.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
pophlo=$POPULUS_BIN/pophlo
models=$POPULUS_SOURCE_DIR/tests/e2e/models

# Each module runs on few tiles and on several, on both engines, and on the CPU device; some also
# run on the IPU model. Large modules take long in the interpreter and run on one engine. All run
# once more with a copy limit of 0, as if every operand were too large to be copied as a whole.
set --
for file in "$models"/*.mlir "$models"/*.txt; do
  case $file in *large.mlir | *fft_long.mlir) ;; *) set -- "$@" "$file" ;; esac
done
quiet out "$pophlo" --check --device=cpu "$models"/*.mlir "$models"/*.txt
has out '^19 of 19 files hold, with [0-9]+ checks$'
mv out cpu.out
if [ -z "$POPULUS_SANITIZE" ]; then # with a sanitizer the other runs suffice
  quiet out "$pophlo" --check --tiles=64 "$models"/*.mlir "$models"/*.txt
  cmp out cpu.out # each check counts once
fi
quiet out "$pophlo" --check --tiles=40 --copy-limit=0 "$models"/*.mlir "$models"/*.txt
cmp out cpu.out
quiet out "$pophlo" --check --everywhere --tiles=7 "$@"
has out '^14 of 14 files hold, with [0-9]+ checks$'
quiet out "$pophlo" --check --tiles=1472 "$models/fft_large.mlir"
refuses 2 '--copy-limit takes a number' "$pophlo" --check --copy-limit=many "$models/flow.mlir"
set -- "$models/flow.mlir" "$models/single.mlir" "$models/after.hlo.txt"
quiet out "$pophlo" --check --both-engines "$@"
has out '^3 of 3 files hold, with [0-9]+ checks$'
quiet out "$pophlo" --check --device=ipumodel "$@" "$models/elements.mlir"
has out '^4 of 4 files hold, with [0-9]+ checks$'
refuses 2 'a CPU has no engines|--everywhere' "$pophlo" --check --everywhere --device=cpu "$models/flow.mlir"
refuses 2 'a CPU has no replicas' "$pophlo" --check --everywhere --replicas=2 "$models/flow.mlir"
refuses 2 '--everywhere go with --check' "$pophlo" --run --everywhere "$models/flow.mlir"

# C06: outputs are files of their own, and not the module.
cp "$models/flow.mlir" own.mlir
ln own.mlir second.mlir
for output in own.mlir second.mlir; do
  refuses 2 "the output '$output' is the module" "$pophlo" own.mlir -o $output
  refuses 2 "the output '$output' is the module" "$pophlo" own.mlir --run --out out0=$output
done
cmp "$models/flow.mlir" own.mlir || fail 'pophlo has overwritten its module'
refuses 2 "two outputs would be the file 'x.npy'" "$pophlo" own.mlir --run --out out0=x.npy --out out1=x.npy
refuses 2 "two outputs would be the file './x.npy'" "$pophlo" own.mlir --run --out out0=x.npy --out out1=./x.npy

# The file of an f64 holds its bits. The message does not advise to convert the numbers.
echo 'func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> { return %x : tensor<2xf64> }' >bits.mlir
{ printf '\223NUMPY\001\000v\000'; printf '%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"; head -c 16 /dev/zero; } >f8.npy
refuses 1 "it has elements '<f8'|which is '<u8'; for such numbers by their bits, array.view" "$pophlo" --run bits.mlir --in x=f8.npy

# A check that fails is reported with file, line, operation, element and both values. The other
# files are still checked.
cat >wrong.mlir <<'EOF'
func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %1 = stablehlo.add %0, %0 : tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[2, 4], [7, 8]]> : tensor<2x2xi32>
  return
}
EOF
refuses 1 'wrong.mlir:4:3|expect_eq_const|stablehlo.add|6 at [1, 0], not 7' "$pophlo" --check -v wrong.mlir "$models/flow.mlir"
has refuses.out '^FAIL wrong.mlir$' "^pass .*flow.mlir\$" '^1 of 2 files hold'

# Such a check is the input's fault, with --run, too. A fault of the device program is not.
refuses 1 'wrong.mlir:4:3: expect_eq_const does not hold' "$pophlo" --run wrong.mlir
cat >endless.mlir <<'EOF'
func.func @main() {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.while(%i = %z) : tensor<i32>
    cond { %p = stablehlo.compare EQ, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %p : tensor<i1> }
    do { %k = stablehlo.multiply %i, %i : tensor<i32> stablehlo.return %k : tensor<i32> }
  check.expect_eq_const %r, dense<0> : tensor<i32>
  return
}
EOF
refuses 3 'OUT_OF_CYCLES' "$pophlo" --run --option debug.maxCyclesPerRun=100000 endless.mlir
refuses 3 'wrong.mlir:4:3|OUT_OF_CYCLES' "$pophlo" --check --option debug.maxCyclesPerRun=100000 wrong.mlir endless.mlir

# The number of tiles also follows the inputs, even if the result is small.
cat >few.mlir <<'EOF'
func.func @main(%x: tensor<8192x1024xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8192x1024xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
EOF
"$pophlo" few.mlir -o few.a

# It follows the work of products too: few elements may need many multiplications. Each line: the
# number of tiles, and the module.
while read -r tiles arguments results operation; do
  echo "func.func @main($arguments) -> $results { %0 = $operation return %0 : $results }" | tr '~' ' ' >worth.mlir
  "$pophlo" worth.mlir -o worth.a
  count=$(ar t worth.a | grep -c '^tile-') || :
  [ "$count" = "$tiles" ] || fail "$count tiles, not $tiles: $(cat worth.mlir)"
done <<'EOF'
1472 %x:~tensor<256x256xf32> tensor<256x256xf32> stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
256 %x:~tensor<128x128xf32> tensor<128x128xf32> stablehlo.dot %x, %x : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
110 %x:~tensor<1x32x32x8xf32>,~%k:~tensor<3x3x8x16xf32> tensor<1x28x28x16xf32> stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-1, -1], [-1, -1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x32x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x28x28x16xf32>
72 %x:~tensor<64x48xcomplex<f32>> tensor<64x48xcomplex<f32>> stablehlo.fft %x, type = FFT, length = [48] : (tensor<64x48xcomplex<f32>>) -> tensor<64x48xcomplex<f32>>
16 %x:~tensor<128x128xf32> tensor<128x128xf32> stablehlo.negate %x : tensor<128x128xf32>
1 %x:~tensor<4xf32> tensor<4xf32> stablehlo.negate %x : tensor<4xf32>
EOF

# The factors of a transform come from a table: 64 transforms of 2,048 elements take less than a
# million cycles. With sines and cosines they took nine million.
cat >power.mlir <<'EOF'
func.func @main(%x: tensor<64x2048xf32>) -> tensor<64x1025xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [2048] : (tensor<64x2048xf32>) -> tensor<64x1025xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<64x1025xcomplex<f32>>) -> tensor<64x1025xf32>
  return %1 : tensor<64x1025xf32>
}
EOF

# A tensor that a loop slices is laid out for the slices outside of the loop. Each slice takes some
# thousand cycles, not a hundred thousand.
cat >rows.mlir <<'EOF'
func.func @main(%x: tensor<64x2048xf32>) -> tensor<1x2048xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<64> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %s = stablehlo.constant dense<0.0> : tensor<1x2048xf32>
  %r:2 = stablehlo.while(%i = %z, %sum = %s) : tensor<i32>, tensor<1x2048xf32>
   cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
   } do {
    %1 = stablehlo.dynamic_slice %x, %i, %z, sizes = [1, 2048] : (tensor<64x2048xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2048xf32>
    %2 = stablehlo.add %sum, %1 : tensor<1x2048xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<1x2048xf32>
  }
  return %r#1 : tensor<1x2048xf32>
}
EOF
printf '\0\0\200\77%.0s' $(seq 131072) >rows.bin # each 1
quiet out "$pophlo" --run --cycles --tiles 128 rows.mlir --in x=rows.bin --out out0=sum.bin
printf '\0\0\200\102%.0s' $(seq 2048) | cmp - sum.bin # each 64
cycles=$(sed -n 's/^cycles: //p' out)
[ "$cycles" -lt 640000 ] || fail "64 rows of a table in a loop take $cycles cycles"
quiet out "$pophlo" --run --cycles --tiles 128 power.mlir --in x=rows.bin
cycles=$(sed -n 's/^cycles: //p' out)
[ "$cycles" -lt 1000000 ] || fail "64 transforms take $cycles cycles"

# The same holds for a tensor that is computed before the loop.
sed -e '/%r:2 = /i %y = stablehlo.negate %x : tensor<64x2048xf32>' -e 's/dynamic_slice %x/dynamic_slice %y/' rows.mlir >negated.mlir
quiet out "$pophlo" --run --cycles --tiles 128 negated.mlir --in x=rows.bin --out out0=sum.bin
printf '\0\0\200\302%.0s' $(seq 2048) | cmp - sum.bin # each -64
cycles=$(sed -n 's/^cycles: //p' out)
[ "$cycles" -lt 640000 ] || fail "64 rows of what is calculated take $cycles cycles in a loop"

# A gather in batches: a vertex must not get all rows of its columns if that is too much.
cat >batch.mlir <<'EOF'
func.func @main(%x: tensor<32x2000x64xf32>, %i: tensor<32x40x1xi32>) -> tensor<32x40x64xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 64>}> : (tensor<32x2000x64xf32>, tensor<32x40x1xi32>) -> tensor<32x40x64xf32>
  return %0 : tensor<32x40x64xf32>
}
EOF
quiet out "$pophlo" -q --tiles 1472 -o batch.a batch.mlir

# A branch that slices an argument in two ways has its own copies in the layouts of the slices.
# Outside of the branch the argument keeps its own layout.
cat >branch.mlir <<'EOT'
func.func @main(%p: tensor<i1>, %i: tensor<i32>, %a: tensor<128x256xf32>) -> (tensor<1x256xf32>, tensor<128x1xf32>, tensor<1x256xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = "stablehlo.if"(%p) ({
    %0 = stablehlo.dynamic_slice %a, %i, %z, sizes = [1, 256] : (tensor<128x256xf32>, tensor<i32>, tensor<i32>) -> tensor<1x256xf32>
    %1 = stablehlo.dynamic_slice %a, %z, %i, sizes = [128, 1] : (tensor<128x256xf32>, tensor<i32>, tensor<i32>) -> tensor<128x1xf32>
    stablehlo.return %0, %1 : tensor<1x256xf32>, tensor<128x1xf32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<1x256xf32>
    %d = stablehlo.constant dense<2.0> : tensor<128x1xf32>
    stablehlo.return %c, %d : tensor<1x256xf32>, tensor<128x1xf32>
  }) : (tensor<i1>) -> (tensor<1x256xf32>, tensor<128x1xf32>)
  %s = stablehlo.dynamic_slice %a, %i, %z, sizes = [1, 256] : (tensor<128x256xf32>, tensor<i32>, tensor<i32>) -> tensor<1x256xf32>
  return %r#0, %r#1, %s : tensor<1x256xf32>, tensor<128x1xf32>, tensor<1x256xf32>
}
EOT
printf '\0' >no
printf '\3\0\0\0' >three
printf '\0\0\200\77%.0s' $(seq 32768) >ones
quiet out "$pophlo" --run --tiles 64 branch.mlir --in p=no --in i=three --in a=ones --out out2=row
printf '\0\0\200\77%.0s' $(seq 256) | cmp - row

# Dimension numbers that use one dimension twice are refused.
sed '/#stablehlo.conv<raw/,/>,/s/input_feature_dimension = 3/input_feature_dimension = 2/' "$models/flow.mlir" >numbers.mlir
refuses 1 "numbers.mlir:|each dimension of the input is to be one of 'input_batch_dimension'" "$pophlo" --check numbers.mlir

# The results are the same with files and through an archive.
cat >saxpy.mlir <<'EOF'
module @saxpy {
  func.func public @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
    %two = stablehlo.constant dense<2.0> : tensor<3xf32>
    %0 = stablehlo.multiply %two, %x : tensor<3xf32>
    %1 = stablehlo.add %0, %y : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
EOF
printf '\0\0\200\77\0\0\0\100\0\0\100\100' >x.bin # 1, 2, 3
printf '\0\0\0\77\0\0\0\77\0\0\0\77' >y.bin       # .5, .5, .5
quiet out "$pophlo" --run --in x=x.bin --in y=y.bin --out out0=z.bin saxpy.mlir
printf '\0\0\40\100\0\0\220\100\0\0\320\100' | cmp - z.bin # 2.5, 4.5, 6.5
quiet out "$pophlo" -o saxpy.a --list saxpy.mlir
has out '^in x: f32\[3\]$' '^out out0: f32\[3\]$'
quiet out "$POPULUS_BIN/popexec" --write x=x.bin --write y=y.bin --read out0=w.bin saxpy.a
cmp z.bin w.bin
quiet out "$pophlo" --codelets saxpy.mlir
has out 'hlo_multiply_f32' 'hlo_add_f32'
[ "$(grep -c '^#include' out)" = 3 ] || fail "not only the headers that are needed: $(grep '#include' out)"
# hlo.h, the header for people who write such code, has all functions.
printf '#include <populus/vertex.h>\n#include <populus/hlo.h>\ntypedef struct { OUTPUT(float) out; } All;\n%s\n' \
  'COMPUTE(All) { *vertex->out = hlo_convert_c64_f32(hlo_make_c64(hlo_sinh_f32(0), (float)hlo_add_i8(1, 2))); return true; }' >all.c
quiet out "$POPULUS_BIN/popc" -O2 all.c -o all.gp

# Tuples that @main takes or returns become their members in order, whatever operation makes the
# tuple.
cat >tuples.mlir <<'EOF'
func.func @swap(%t: tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>) -> tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>> {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>) -> tensor<3xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>) -> tuple<tensor<i32>, tuple<>>
  %2 = stablehlo.add %0, %0 : tensor<3xf32>
  %3 = stablehlo.tuple %1, %2 : tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>>
  return %3 : tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>>
}
func.func @main(%t: tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>, %y: tensor<3xf32>) -> (tensor<3xf32>, tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>>, tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>) {
  %0 = call @swap(%t) : (tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>) -> tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>>
  return %y, %0, %t : tensor<3xf32>, tuple<tuple<tensor<i32>, tuple<>>, tensor<3xf32>>, tuple<tensor<3xf32>, tuple<tensor<i32>, tuple<>>>
}
EOF
printf '\7\0\0\0' >n.bin
quiet out "$pophlo" --list tuples.mlir
printf '%s\n' 'in t..0: f32[3]' 'in t..1: i32[]' 'in y: f32[3]' 'out out0: f32[3]' 'out out1: i32[]' 'out out2: f32[3]' \
  'out out3: f32[3]' 'out out4: i32[]' | cmp - out
quiet out "$pophlo" --run --in t..0=x.bin --in t..1=n.bin --in y=y.bin --out out0=o0 --out out1=o1 --out out2=o2 --out out3=o3 tuples.mlir
cmp o0 y.bin
cmp o1 n.bin
printf '\0\0\0\100\0\0\200\100\0\0\300\100' | cmp - o2 # 2, 4, 6
cmp o3 x.bin

# Arguments of HLO text keep their names, whatever names other computations use.
cat >names.hlo.txt <<'EOF'
HloModule names
less { n = f32[3] parameter(0)
  ROOT r = f32[3] negate(n) }
ENTRY e { x = f32[3] parameter(0)
  n = f32[3] parameter(1)
  c = f32[3] call(x), to_apply=less
  ROOT r = f32[3] add(c, n) }
EOF
quiet out "$pophlo" --list -o names.a names.hlo.txt
printf '%s\n' 'in x: f32[3]' 'in n: f32[3]' 'out out0: f32[3]' | cmp - out

# A missing attribute of an instruction is reported.
while read -r missing line; do
  printf 'HloModule m\nENTRY e { x = f32[3,4]{1,0} parameter(0)\n z = f32[] parameter(1)\n s = f32[4]{0} parameter(2)\n %s }\n' "$line" >must.hlo.txt
  refuses 1 "must.hlo.txt:5:|has no '$missing'" "$pophlo" -o none.a must.hlo.txt
done <<'EOF'
dimensions ROOT r = f32[3,4]{1,0} reverse(x)
edge_padding_high ROOT r = f32[3,4]{1,0} pad(x, z)
epsilon ROOT r = f32[3,4]{1,0} batch-norm-inference(x, s, s, s, s), feature_index=1
EOF

# says <line:column> <words> <text>: the module is refused at this place.
says()
{
  printf '%s\n' "$3" >bad.mlir
  refuses 1 "bad.mlir:$1:|$2" "$pophlo" --check bad.mlir
}
says 2:8 "%nothing is used, and not defined" 'func.func @f() {
return %nothing : tensor<f32>
}'
says 2:46 "'x' is expected behind a dimension" 'func.func @f() {
%0 = stablehlo.constant dense<1> : tensor<2x3*i32>
return
}'
says 2:27 'outside the range of ui8' 'func.func @f() { %0 = stablehlo.constant dense<
                          300> : tensor<ui8>
return }'
says 3:35 'operand %0 of stablehlo.add is tensor<2xf32>, not tensor<3xf32>' 'func.func @f() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = "stablehlo.add"(%0, %0) : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}'
says 2:33 "tensor<1099511627776xf32> has more than 2^32 - 1 elements" 'func.func @f() {
  %0 = stablehlo.iota dim = 0 : tensor<1099511627776xf32>
  return
}'
# A missing or misspelt attribute must be an error: with a default, the module would silently mean
# something else.
says 2:66 "stablehlo.reverse has no property 'dims'" 'func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.reverse"(%x) <{dimensions = array<i64>, dims = array<i64: 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}'
says 2:8 "stablehlo.reduce has no 'dimensions': a list is expected" 'func.func @f(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}'
says 2:8 "arguments 0 and 1 and its result 0 are to be of f32, or all of a wider type" 'func.func @f(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f16> {
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %1 = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %1 : tensor<f16>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f16>
  return %0 : tensor<f16>
}'
says 2:8 "stablehlo.triangular_solve has no 'lower': true or false is expected" 'func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}'
says 2:99 "#stablehlo.dot has no 'lhs_contracting'" 'func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4x4x4xf32> {
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting = [1]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
  return %0 : tensor<4x4x4x4xf32>
}'
says 3:8 "stablehlo.dynamic_slice: start indices are of one type" 'func.func @f(%x: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  %k = stablehlo.constant dense<0> : tensor<i64>
  %0 = stablehlo.dynamic_slice %x, %i, %k, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}'
says 2:8 "stablehlo.cholesky: 'lower' is to be true or false" 'func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.cholesky %x, lower = maybe : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}'
says 5:1 'end of the text' 'func.func @f() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  '
says 2:8 '@f calls itself' 'func.func @f() -> tensor<f32> {
  %0 = call @f() : () -> tensor<f32>
  return %0 : tensor<f32>
}'
says 3:3 "'->' is expected" 'func.func @f() -> tensor<f32> {
  %0 = stablehlo.iota dim = 0 : ()
  return %0 : tensor<f32>
}'
# An error is reported at the operation that is wrong, not where its result is used or returned.
says 2:8 'the result of stablehlo.transpose is tensor<2xf32>, not tensor<3xf32>' 'func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.transpose %a, dims = [0] : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}'
says 2:8 'the result of stablehlo.reverse is tensor<2xf32>, not tensor<3xf32>' 'func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.reverse"(%a) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %a : tensor<2xf32>
  return %1 : tensor<2xf32>
}'
says 2:52 'operand %a of stablehlo.select is tensor<2xf32>, not tensor<3xf32>' 'func.func @f(%a: tensor<2xf32>, %p: tensor<2xi1>) {
  %0 = stablehlo.select %p, %a, %a : tensor<2xi1>, tensor<3xf32>
  return }'
# Modules that the specification forbids, and that would compute something else.
while IFS='|' read -r message arguments operation; do
  printf 'func.func @f(%s) {\n  %%r = %s\n  return\n}\n' "$arguments" "$operation" >bad.mlir
  refuses 1 "bad.mlir:2:8:|$message" "$pophlo" --list bad.mlir
done <<'EOF'
complex numbers are compared by EQ and NE, not LT|%x: tensor<2xcomplex<f32>>|stablehlo.compare LT, %x, %x, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
stablehlo.abs: the operand is of ui8, which has no sign|%x: tensor<2xui8>|stablehlo.abs %x : tensor<2xui8>
stablehlo.sign: the operand is of ui64, which has no sign|%x: tensor<2xui64>|stablehlo.sign %x : tensor<2xui64>
stablehlo.all_gather: 'all_gather_dim' has dimension 2, there are 2|%x: tensor<2x2xf32>|"stablehlo.all_gather"(%x) <{all_gather_dim = 2 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
stablehlo.reduce_scatter: 'scatter_dimension' has dimension -1, there are 2|%x: tensor<2x2xf32>|"stablehlo.reduce_scatter"(%x) <{scatter_dimension = -1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
SIGNED is no comparison of f32|%x: tensor<2xf32>|stablehlo.compare LT, %x, %x, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
TOTALORDER is no comparison of i32|%x: tensor<2xi32>|stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
'collapsed_slice_dims' has batching dimension 0|%x: tensor<2x3xi32>, %i: tensor<2x1xi32>|"stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2xi32>
slices have no element in dimension 0, and the result has elements|%x: tensor<3xi32>, %i: tensor<2x1xi32>|"stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0>}> : (tensor<3xi32>, tensor<2x1xi32>) -> tensor<2xi32>
'start_index_map' has batching dimension 0|%x: tensor<2x3xi32>, %i: tensor<2x1xi32>|"stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], start_index_map = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2xi32>
'inserted_window_dims' has batching dimension 0|%x: tensor<2x3xi32>, %i: tensor<2x1xi32>, %u: tensor<2xi32>|"stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>): stablehlo.return %b : tensor<i32> }) : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x3xi32>
'offset_dims' is to be in ascending order|%x: tensor<4x4x4xf32>, %i: tensor<2x1xi32>|"stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 4>}> : (tensor<4x4x4xf32>, tensor<2x1xi32>) -> tensor<2x4x4xf32>
'update_window_dims' is to be in ascending order|%x: tensor<4x4x4xf32>, %i: tensor<2x1xi32>, %u: tensor<2x4x4xf32>|"stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): stablehlo.return %b : tensor<f32> }) : (tensor<4x4x4xf32>, tensor<2x1xi32>, tensor<2x4x4xf32>) -> tensor<4x4x4xf32>
'dimensions' are 0, 1, … in this order|%x: tensor<2x2xf32>|"stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({ ^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32> }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
EOF
# HLO text has the same errors, at its own lines.
says 3:25 "q is used, and not defined before that" 'HloModule m
ENTRY e { a = f32[] constant(1)
  ROOT b = f32[] add(a, q) }'
says 3:8 'operand 1 is tensor<2xf32>, the result tensor<f32>' 'HloModule m
ENTRY e { a = f32[] constant(1) b = f32[2] constant({1, 2})
  ROOT c = f32[] add(a, b) }'
says 2:11 'print_large_constants' 'HloModule m
ENTRY e { a = f32[9] constant({...}) }'
says 3:1 'the constant has nan(0x800000), which is no number of f32' 'HloModule m
ENTRY e {
a = f32[2] constant({1, nan(0x800000)}) }'
says 3:1 'the constant has -nan(0), which is no number of f16' 'HloModule m
ENTRY e {
a = f16[2] constant({-nan(0), 1}) }'
says 3:7 'e is the entry, which nobody calls' 'HloModule m
e { a = f32[] constant(1)
 ROOT b = f32[] call(a), to_apply=e }'
says 3:2 'this is the end of the text' 'HloModule m
ENTRY e { a = f32[] constant(1)'
says 2:34 'has more than 2^32 - 1 elements' 'HloModule m
ENTRY e { p = f32[] parameter(0) a = f32[1099511627776] broadcast(p), dimensions={} }'
# Misspelt names and numbers in another notation in HLO text. They were once silently read as the
# defaults.
while IFS='|' read -r message line; do
  printf 'HloModule m\na { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }\nENTRY e { x = f32[4,4] parameter(0)\n z = f32[] parameter(1)\n ROOT r = %s }\n' "$line" >bad.hlo.txt
  refuses 1 "bad.hlo.txt:7:|$message" "$pophlo" -o none.a bad.hlo.txt
done <<'EOF'
window has no 'strid': size, stride,|f32[2,2] reduce-window(x, z), window={size=2x2 strid=2x2}, to_apply=a
stride=2 is not a number for each of 2|f32[2,2] reduce-window(x, z), window={size=2x2 stride=2}, to_apply=a
pad=1x1 is not two numbers|f32[2,2] reduce-window(x, z), window={size=2x2 pad=1x1 stride=2x2}, to_apply=a
has no attribute 'lowr'; 'lower' is one|f32[4,4] cholesky(x), lowr=true
padding=1_1 is not two or three|f32[6,4] pad(x, z), padding=1_1
slice={[0:2]} is not two or three|f32[2,4] slice(x), slice={[0:2]}
dimensions={1;0} is no list of numbers|f32[4,4] transpose(x), dimensions={1;0}
EOF
says 2:23 'the layout has dimension 0 twice' 'HloModule m
ENTRY e { a = f32[2,2]{0,0} parameter(0) }'
says 2:34 'hlo.copy-twice is not supported' 'HloModule m
ENTRY e { p = f32[] parameter(0) a = f32[] copy-twice(p) b = f32[] all-to-none(a) }'
has refuses.err 'bad.mlir:2:58: hlo.all-to-none is not supported'
# Instructions with a form of their own: line, words, instruction.
form()
{
  says 3:2 "$1" "HloModule m
ENTRY e { p = f32[] parameter(0) q = f32[2] parameter(1)
 $2 }"
}
form 'copy-start has a tuple of operands and results' 'a = f32[] copy-start(p)'
form 'does not begin with those of the operands' 'a = (f32[], f32[2], u32[]) all-gather-start(p, p), dimensions={0}'
form 'copy-done takes what has been started' 'a = f32[] copy-done(p)'
form 'hlo.frob is not supported' 'a = (f32[], f32[]) frob-start(p)'
form 'there is no computation calls=nope' 'a = ((f32[]), f32[], u32[]) async-start(p), calls=nope'
form 'rng-get-and-update-state is u64[2] or u64[1]' 'a = f32[3] rng-get-and-update-state()'
form 'dynamic-slice has an index for each dimension' 'a = f32[] dynamic-slice(p, q), dynamic_slice_sizes={}'
form 'all-to-all of operands of different types' 'a = (f32[2], f32[]) all-to-all(p, q)'
# Everything that is not supported is reported at once.
says 2:50 'f8E4M3FN is not supported' 'func.func @f(%a: tensor<2xf32>) {
  %0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %1 = stablehlo.uniform_quantize %a : tensor<2xf32>
  %2 = stablehlo.frobnicate %a : tensor<2xf32>
  return
}'
has refuses.err 'bad.mlir:3:8: stablehlo.uniform_quantize is not supported' 'bad.mlir:4:8: stablehlo.frobnicate is not supported'

# Operations that pophlo expands into others.
made_up()
{
  says 2:8 "$1" "func.func @f(%a: tensor<2x3xf32>, %i: tensor<2xi32>, %n: tensor<i32>) {
  %0 = $2
  return }"
}
made_up 'a label of the result is none' 'stablehlo.unary_einsum %a, config = "ij->k" : (tensor<2x3xf32>) -> tensor<2xf32>'
made_up 'none twice: "ii->i"' 'stablehlo.unary_einsum %a, config = "ii->i" : (tensor<2x3xf32>) -> tensor<2xf32>'
made_up 'have different sizes: "ij,jk->ik"' \
  'stablehlo.einsum %a, %a, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>'
made_up 'index_select is tensor<2x2xf32>' \
  '"stablehlo.torch_index_select"(%a, %i) {dim = 1 : i64} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>'
made_up 'set_dimension_size to another size than' \
  'stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>'
made_up 'operand 1 is tensor<2xi32>, the result' 'chlo.broadcast_add %n, %i : (tensor<i32>, tensor<2xi32>) -> tensor<3xi32>'
made_up 'chlo.broadcast_frobnicate is not' 'chlo.broadcast_frobnicate %n, %i : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>'
made_up "'uplo' of @lapack_spotrf_ffi is one of the letters LU" \
  'stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 7 : ui8}} : (tensor<2x3xf32>) -> tensor<2x3xf32>'
made_up 'tensor<2x3xf32> does not go with' \
  'stablehlo.custom_call @lapack_strsm_ffi(%a, %a) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>'
made_up 'sdy.manual_computation is not' '"sdy.manual_computation"(%a) ({
  ^bb0(%b: tensor<1x3xf32>): sdy.return %b : tensor<1x3xf32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>'
says 3:8 'all_reduce between several processes (replicas: pophlo --replicas) is not supported' 'func.func @f(%a: tensor<f32>) -> tensor<f32> {
%z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}'

# A function that is only declared may not be called and may not be public.
says 2:1 '@f has no body' 'func.func @f(%x: tensor<f32>) -> tensor<f32>'
says 1:14 "the name of an argument is expected" 'func.func @f(tensor<f32>) -> tensor<f32>'
says 3:8 'there is no function @g' 'func.func private @g(tensor<f32>) -> tensor<f32>
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32> }'
says 1:64 "the arguments of @g have no names" 'func.func private @g(tensor<f32>) -> tensor<f32> attributes {} { return }'
# Type names of nested tuples, which double at each level.
{
  echo '!t0 = tuple<tensor<f32>, tensor<f32>>'
  seq 1 60 | while read -r i; do echo "!t$i = tuple<!t$((i - 1)), !t$((i - 1))>"; done
  echo 'func.func @f(%x: !t60) { return }'
} >bad.mlir
refuses 1 'bad.mlir:16:8|a tuple has more than 65536 types in it' "$pophlo" --check bad.mlir
# A check in a branch would be judged although the branch has not run; one in a loop, by the last turn.
says 4:5 'check.expect_eq_const in a branch or a loop (check its results) is not supported' 'func.func @f(%x: tensor<i32>, %p: tensor<i1>) {
  "stablehlo.if"(%p) ({
    %0 = stablehlo.negate %x : tensor<i32>
    check.expect_eq_const %0, dense<-1> : tensor<i32>
    stablehlo.return }, { stablehlo.return }) : (tensor<i1>) -> ()
  return }'
# Slices whose bounds are constant operands.
says 5:8 'real_dynamic_slice: [0:9:1] of dimension 0, which has 4 elements; the result has 2' 'func.func @f(%x: tensor<4xi8>) {
  %b = stablehlo.constant dense<0> : tensor<1xi32>
  %e = stablehlo.constant dense<9> : tensor<1xi32>
  %s = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %b, %e, %s : (tensor<4xi8>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi8>
  return }'
says 2:8 'compare: SIGNE is no comparison of i32' 'func.func @f(%x: tensor<4xi32>) {
  %0 = stablehlo.compare LT, %x, %x, SIGNE : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return }'
# Of two attributes with one name, one would be ignored.
says 2:81 "the attribute 'permutation' is there twice" 'func.func @f(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>, permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return }'
# An update would be converted silently.
says 2:8 'dynamic_update_slice of i32 has an update of f32' 'func.func @f(%x: tensor<4xi32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<4xi32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xi32>, tensor<2xf32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32> }'
# The shape of a result may be an operand. If it is a constant, it says the same as the type.
shaped()
{
  says 3:8 "$1" "func.func @f(%x: tensor<4xi8>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0 = $2
  return }"
}
shaped 'dimension 1 of the result is 2, and operand 1 says 3' 'stablehlo.dynamic_reshape %x, %s : (tensor<4xi8>, tensor<2xi32>) -> tensor<2x2xi8>'
shaped 'operand 1 has an integer for each dimension of the result' 'stablehlo.dynamic_reshape %x, %s : (tensor<4xi8>, tensor<2xi32>) -> tensor<4x1x1xi8>'
shaped 'dimension 0 of the result is 3, and operand 0 says 2' 'stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<3x3xi8>'
shaped 'dimension 1 of the result is 4, and operand 1 says 3' \
  'stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<4xi8>, tensor<2xi32>) -> tensor<2x4xi8>'
# A value that is split over several devices; assertions that fail, or that only a running program
# could check.
says 2:8 'custom_call @SPMDFullToShardShape is not supported' 'func.func @f(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32> }'
says 5:3 'the assertion does not hold: {0} is too small' 'func.func @f(%x: tensor<4xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  %1 = stablehlo.constant dense<5> : tensor<i32>
  %2 = stablehlo.compare GE, %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%2, %0) {error_message = "{0} is too small", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return }'
says 2:3 '@shape_assertion of what is not known before the program runs is not supported' 'func.func @f(%x: tensor<i1>) {
  stablehlo.custom_call @shape_assertion(%x) : (tensor<i1>) -> ()
  return }'
# The member of a tuple that control flow makes is checked too.
says 2:8 'get_tuple_element: the operand has no such member' 'func.func @f(%p: tensor<i1>, %t: tuple<tensor<f32>>) -> tensor<i1> { %0 = "stablehlo.if"(%p) ({ stablehlo.return %t : tuple<tensor<f32>> }, { stablehlo.return %t : tuple<tensor<f32>> }) : (tensor<i1>) -> tuple<tensor<f32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>>) -> tensor<i1>
  return %1 : tensor<i1> }'

# 10^5 nested regions, 10^5 brackets, and 20,000 operations in a row.
{ echo 'func.func @f(%p: tensor<i1>) {'; yes '"stablehlo.if"(%p) ({' | head -100000; } >bad.mlir
refuses 1 'more than 200 deep' "$pophlo" --check bad.mlir
{ printf 'func.func @f() attributes {a = '; yes '[' | head -100000 | tr -d '\n'; } >bad.mlir
refuses 1 'more than 200 deep' "$pophlo" --check bad.mlir
{
  echo 'func.func @f(%v0: tensor<f32>) -> tensor<f32> {'
  awk 'BEGIN { for (i = 1; i <= 20000; ++i) printf "%%v%d = stablehlo.negate %%v%d : tensor<f32>\n", i, i - 1 }'
  echo 'return %v7 : tensor<f32> }'
} >long.mlir
quiet out "$pophlo" --list long.mlir
quiet line "$pophlo" --list --json long.mlir
quiet pretty "$pophlo" --list --pretty long.mlir
python3 -c 'import json
line = open("line").read()
said = {"arguments": [{"name": "v0", "type": "f32", "shape": []}], "results": [{"name": "out0", "type": "f32", "shape": []}],
        "streams": []}
assert json.loads(line) == json.load(open("pretty")) == said and line.count("\n") == 1, line' || fail '--list --json'
refuses 2 'about --list' "$pophlo" --codelets --json long.mlir
quiet out "$pophlo" --codelets long.mlir # operations that nothing needs are removed

# A product fetches its operands in steps so short that the copies have at most half as many
# elements as the matrices. (A tile's share is that of 768 x 768 on 800 tiles. Without a limit on
# the steps, the copies here have 2.17 times the elements.)
matrix='tensor<384x384xf32>'
cat >product.mlir <<TEXT
func.func @main(%x: $matrix, %y: $matrix) -> $matrix {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ($matrix, $matrix) -> $matrix
  return %0 : $matrix
}
TEXT
head -c $((384 * 384 * 4)) /dev/zero >zeros
"$pophlo" --tiles 200 --run --memory --in x=zeros --in y=zeros product.mlir >product
bytes=$(awk -f "$POPULUS_SOURCE_DIR/tests/support/element_bytes.awk" product)
[ "$bytes" -le $((3 * 384 * 384 * 4 * 3 / 2)) ] || fail "$bytes bytes of elements for three matrices"

# The buffers that a product fetches into live only as long as the product, so four products in a
# row use the room of one. (It was 2.62 MB for 0.66 MB of arguments and results when buffers that
# were not filled at once lived all the time.)
{
  echo 'func.func @main(%0: tensor<64x256xf32>, %u: tensor<256x256xf32>, %v: tensor<256x256xf32>) -> tensor<64x256xf32> {'
  for step in '1 0 u' '2 1 v' '3 2 u' '4 3 v'; do
    # shellcheck disable=SC2086 # three words
    set -- $step
    echo "%$1 = stablehlo.dot %$2, %$3 : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>"
  done
  echo 'return %4 : tensor<64x256xf32> }'
} >chain.mlir
head -c $((64 * 256 * 4)) /dev/zero >x.zeros
head -c $((256 * 256 * 4)) /dev/zero >w.zeros
"$pophlo" --tiles 300 --run --memory --in 0=x.zeros --in u=w.zeros --in v=w.zeros chain.mlir >chain
bytes=$(awk -f "$POPULUS_SOURCE_DIR/tests/support/element_bytes.awk" chain)
[ "$bytes" -le 1900000 ] || fail "$bytes bytes of elements for four products in a row"

# A value that is repeated for the rows of a result is not copied to each tile. (Rows divided by
# their sums took 377 KB for 169 KB of arguments and results.) The sums of rows are distributed over
# the tiles one by one, not eight for each worker.
{
  echo 'func.func @main(%x: tensor<512x16xf32>, %l: tensor<256x100xf32>) -> (tensor<512x16xf32>, tensor<256xf32>) {'
  echo '%zero = stablehlo.constant dense<0.0> : tensor<f32>'
  echo '%sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x16xf32>, tensor<f32>) -> tensor<512xf32>'
  echo '%all = stablehlo.broadcast_in_dim %sums, dims = [0] : (tensor<512xf32>) -> tensor<512x16xf32>'
  echo '%y = stablehlo.divide %x, %all : tensor<512x16xf32>'
  echo '%z = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x100xf32>, tensor<f32>) -> tensor<256xf32>'
  echo 'return %y, %z : tensor<512x16xf32>, tensor<256xf32> }'
} >rows.mlir
head -c $((512 * 16 * 4)) /dev/zero >x.zeros
head -c $((256 * 100 * 4)) /dev/zero >l.zeros
"$pophlo" --tiles 64 --run --cycles --memory --in x=x.zeros --in l=l.zeros rows.mlir >rows
bytes=$(awk -f "$POPULUS_SOURCE_DIR/tests/support/element_bytes.awk" rows)
[ "$bytes" -le 300000 ] || fail "$bytes bytes of elements for rows and their sums"
awk '/^cycles:/ { exit $2 > 15000 }' rows || fail "rows and their sums: $(head -1 rows)" # 21305 with eight rows for each worker

# Double precision gives the bits of the host. It is faster than with the compiler's own helper
# functions, which took 1.28 million cycles.
cat >double.mlir <<'EOF'
func.func @main(%x: tensor<16x16xf64>, %y: tensor<16x16xf64>) -> tensor<16x16xf64> {
  %0 = stablehlo.dot %x, %y : (tensor<16x16xf64>, tensor<16x16xf64>) -> tensor<16x16xf64>
  return %0 : tensor<16x16xf64>
}
EOF
python3 - <<'EOF'
import random, struct
draw = random.Random(1)
# Terms that cancel, are far apart, are subnormal or overflow. Row 0 has infinities and zeros.
number = lambda least, most: draw.choice((-1, 1)) * draw.randrange(2**52, 2**53) * 2.0**draw.randint(least, most)
x = [[number(-560 if i > 8 else -54, -550 if i > 8 else -50) for k in range(16)] for i in range(16)]
y = [[number(-570 if j > 8 else -54, -560 if j > 8 else -50) for j in range(16)] for k in range(16)]
x[0][:4], y[3][:3] = [float("inf"), 0.0, -0.0, 1e308], [1e308, -1e308, -5e-324]
sums = [[0.0] * 16 for i in range(16)]
for i in range(16):
    for j in range(16):
        for k in range(16):
            sums[i][j] += x[i][k] * y[k][j]
for name, rows in (("x", x), ("y", y), ("sums", sums)):
    rows = [[v if v == v else float("nan") for v in row] for row in rows]
    open("double." + name, "wb").write(b"".join(struct.pack("<16d", *row) for row in rows))
EOF
quiet cycles "$pophlo" --run --cycles --tiles 1 --in x=double.x --in y=double.y --out out0=double.out double.mlir
cmp double.out double.sums
awk '/^cycles:/ { exit $2 > 1000000 }' cycles || fail "a product in double precision: $(cat cycles)"

# The largest result is worth one tile, but that tile has no room for all results. pophlo then takes
# all tiles, unless a number is given.
types=$(seq 1 220 | sed 's/.*/tensor<1024xf32>/' | paste -sd , -)
{
  echo "func.func public @main(%x: tensor<1024xf32>) -> ($types) {"
  seq 1 220 | sed 's/.*/%c& = stablehlo.constant dense<&.0> : tensor<1024xf32>\n%r& = stablehlo.multiply %x, %c& : tensor<1024xf32>/'
  echo "return $(seq 1 220 | sed 's/.*/%r&/' | paste -sd , -) : $types }"
} >many.mlir
"$pophlo" -o many.a many.mlir 2>err || fail "$(cat err)"
has err '^pophlo: the module does not fit on 1 tile: trying all 1472$'
quiet out "$pophlo" -q -o many.a many.mlir
[ "$(size -A many.a | grep -c '^tile-')" = 1472 ] || fail 'the module is not on all tiles'
refuses 1 'does not fit: 1 of 1 tiles out of memory' "$pophlo" --tiles 1 -o many.a many.mlir
# --check does the same, for that module only if a file has several.
{
  printf 'func.func @main() { return }\n// -----\nfunc.func @main() {\n%%x = stablehlo.iota dim = 0 : tensor<1024xf32>\n'
  seq 1 180 | sed 's/.*/%c& = stablehlo.constant dense<&.0> : tensor<1024xf32>\n%p& = stablehlo.multiply %x, %c& : tensor<1024xf32>/'
  seq 1 180 | sed 's/.*/%r& = stablehlo.optimization_barrier %p& : tensor<1024xf32>/'
  seq 1 180 | sed 's/.*/check.expect_eq %r&, %r& : tensor<1024xf32>/'
  echo 'return }'
} >parts.mlir
"$pophlo" --check parts.mlir >out 2>err || fail "$(cat err)"
has err '^pophlo: parts.mlir does not fit on 1 tile: trying all 1472$'
has out '^1 of 1 files hold, with 180 checks$'
refuses 1 'does not fit: 1 of 1 tiles out of memory' "$pophlo" --check --tiles 1 parts.mlir

# Weights and gradients of some tiles each must not all begin on the first tile, which has no room
# for 200 of them.
types=$(seq 1 200 | sed 's/.*/tensor<1024xf32>/' | paste -sd , -)
{
  echo "func.func public @main($(seq 1 200 | sed 's/.*/%w&: tensor<1024xf32>, %g&: tensor<1024xf32>/' | paste -sd , -)) -> ($types) {"
  echo '%c = stablehlo.constant dense<0.5> : tensor<1024xf32>'
  seq 1 200 | sed 's/.*/%m& = stablehlo.multiply %c, %g& : tensor<1024xf32>\n%r& = stablehlo.subtract %w&, %m& : tensor<1024xf32>/'
  echo "return $(seq 1 200 | sed 's/.*/%r&/' | paste -sd , -) : $types }"
} >weights.mlir
quiet out "$pophlo" --tiles 1472 -o weights.a weights.mlir

# Constants of several tiles must not all begin on the first tile either.
awk 'BEGIN {
  print "func.func @main() {"
  for (i = 0; i < 460; ++i) {
    printf "%%c%d = stablehlo.constant dense<\"0x", i
    for (k = 0; k < 448; ++k) printf "%02X%02X0000", (i * k) % 251, k % 256
    printf "\"> : tensor<448xi32>\n%%s%d = stablehlo.slice %%c%d [%d:%d] : (tensor<448xi32>) -> tensor<1xi32>\n", i, i, i % 440, i % 440 + 1
    printf "check.expect_eq_const %%s%d, dense<%d> : tensor<1xi32>\n", i, (i * (i % 440)) % 251 + (i % 440 % 256) * 256
  }
  print "return }"
}' >constants.mlir
quiet out "$pophlo" --check --tiles 64 constants.mlir
has out '^1 of 1 files hold, with 460 checks$'

says 3:10 "rng_algorithm is THREE_FRY, PHILOX or DEFAULT, not 'DICE'" 'func.func @f() {
%0 = stablehlo.constant dense<0> : tensor<2xui64>
%1, %2 = stablehlo.rng_bit_generator %0, algorithm = DICE : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
return }'
says 3:10 'the state is tensor<2xui64>, before and after, not tensor<3xui64>' 'func.func @f() {
%0 = stablehlo.constant dense<0> : tensor<3xui64>
%1, %2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
return }'
says 2:6 'stablehlo.fft: no prime factor of a length may be above 46340' 'func.func @main(%x: tensor<100042xcomplex<f32>>) -> tensor<100042xcomplex<f32>> {
%0 = stablehlo.fft %x, type = FFT, length = [100042] : (tensor<100042xcomplex<f32>>) -> tensor<100042xcomplex<f32>>
return %0 : tensor<100042xcomplex<f32>> }'
says 2:6 'stablehlo.all_reduce: a process is twice in a row of replica_groups' 'func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
%0 = "stablehlo.all_reduce"(%x) ({
^bb0(%a: tensor<i64>, %b: tensor<i64>):
%s = stablehlo.add %a, %b : tensor<i64>
stablehlo.return %s : tensor<i64>
}) {replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
return %0 : tensor<2xi64> }
func.func @main() {
%a = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
%0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@sum], [@sum]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
return }'
# Functions of one group that are not alike, and functions that run themselves as processes.
says 5:8 'all_gather: all processes of a group have as many operands and results' 'func.func @one(%x: tensor<2xi64>) -> tensor<4xi64> {
%0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<4xi64>
return %0 : tensor<4xi64> }
func.func @two(%x: tensor<2xi64>) -> tensor<4xi64> {
%0:2 = "stablehlo.all_gather"(%x, %x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>)
return %0#0 : tensor<4xi64> }
func.func @main() {
%a = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
%0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@one], [@two]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>)
return }'
says 2:1 'collective_permute has one operand and one result' 'func.func @none() {
"stablehlo.collective_permute"() {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : () -> ()
return }
func.func @main() {
"interpreter.run_parallel"() {programs = [[@none]]} : () -> ()
return }'
says 6:1 'with all calls, regions are more than 1024 deep' 'func.func @p() {
"interpreter.run_parallel"() {programs = [[@q]]} : () -> ()
return }
func.func @q() {
"interpreter.run_parallel"() {programs = [[@p]]} : () -> ()
return }
func.func @main() {
"interpreter.run_parallel"() {programs = [[@p]]} : () -> ()
return }'
says 7:1 'with all calls, regions are more than 1024 deep' 'func.func @p() {
%0 = stablehlo.create_token : !stablehlo.token
%1 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> !stablehlo.token
return }
func.func @main() {
"interpreter.run_parallel"() {programs = [[@p]], infeed = [@main]} : () -> ()
return }'
# Each function calls the next one in its innermost region.
deep() # functions, regions in each
{
  awk -v functions="$1" -v regions="$2" 'BEGIN {
    for (f = 0; f < functions; ++f) {
      printf "func.func @%s(%%p: tensor<i1>) -> tensor<i1> {\n", f ? "f" f : "main"
      for (r = 0; r < regions; ++r) printf "%%%d = \"stablehlo.if\"(%%p) ({\n", r
      if (f + 1 < functions) printf "%%x = func.call @f%d(%%p) : (tensor<i1>) -> tensor<i1>\n", f + 1
      else print "%x = stablehlo.not %p : tensor<i1>"
      for (r = regions; r > 0; --r)
        printf "stablehlo.return %%%s : tensor<i1>\n}, { stablehlo.return %%p : tensor<i1> }) : (tensor<i1>) -> tensor<i1>\n", r < regions ? r : "x"
      print "return %0 : tensor<i1> }"
    }
  }'
}
deep 200 150 >deep.mlir
refuses 1 'with all calls, regions are more than 1024 deep' "$pophlo" deep.mlir -o deep.a
deep 6 150 >deep.mlir
"$pophlo" deep.mlir -o deep.a
# Many functions do not take quadratic time: this took a minute, and takes a second.
awk 'BEGIN {
  n = 100000
  print "func.func @main(%x: tensor<i32>) -> tensor<i32> {"
  for (i = 0; i < n; ++i) printf "%%%d = func.call @f%d(%%%s) : (tensor<i32>) -> tensor<i32>\n", i, i, i ? i - 1 : "x"
  printf "return %%%d : tensor<i32> }\n", n - 1
  for (i = 0; i < n; ++i) printf "func.func private @f%d(%%a: tensor<i32>) -> tensor<i32> { return %%a : tensor<i32> }\n", i
}' >many.mlir
timeout 30 "$pophlo" --list many.mlir >out
# An argument and a stream of one name: --in would be for the stream alone.
cat >feed.mlir <<'EOF'
func.func @main(%infeed0: tensor<2xi32>) -> tensor<2xi32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  %0 = stablehlo.add %r#0, %infeed0 : tensor<2xi32>
  return %0 : tensor<2xi32>
}
EOF
refuses 1 "feed.mlir: the argument 'infeed0' has the name of a stream" "$pophlo" --run --in infeed0=feed.mlir feed.mlir
# An operation may have many operands.
awk 'BEGIN {
  n = 65
  print "func.func @main() {\n%x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>"
  for (i = 0; i < n; ++i) {
    operands = operands (i ? ", " : "") "%x"
    arguments = arguments (i ? ", " : "") "%a" i ": tensor<i32>"
    types = types (i ? ", " : "") "tensor<2xi32>"
    if (i) sums = sums "%s" i " = stablehlo.add " (i > 1 ? "%s" (i - 1) : "%a0") ", %a" i " : tensor<i32>\n"
  }
  print "%y = \"stablehlo.map\"(" operands ") <{dimensions = array<i64: 0>}> ({\n^bb0(" arguments "):"
  print sums "stablehlo.return %s" n - 1 " : tensor<i32>\n}) : (" types ") -> tensor<2xi32>"
  print "check.expect_eq_const %y, dense<[65, 130]> : tensor<2xi32>\nreturn }"
}' >map.mlir
quiet out "$pophlo" --check map.mlir
has out '^1 of 1 files hold, with 1 checks$'
says 3:6 'cholesky is of square matrices' 'func.func @f() {
%0 = stablehlo.constant dense<1.0> : tensor<2x3xf32>
%1 = stablehlo.cholesky %0, lower = true : tensor<2x3xf32>
return }'
refuses 2 'POPULUS_TILE_ENGINE is set' env POPULUS_TILE_ENGINE=auto "$pophlo" --check --both-engines saxpy.mlir
refuses 2 'POPLAR_ENGINE_OPTIONS has target.tileEngine' env POPLAR_ENGINE_OPTIONS='{"target.tileEngine":"interpreter"}' \
  "$pophlo" --check --both-engines saxpy.mlir
POPULUS_TILE_ENGINE='' quiet out "$pophlo" --check --both-engines saxpy.mlir
refuses 2 'a CPU has no engines' "$pophlo" --check --both-engines --device cpu saxpy.mlir
refuses 2 "standard output is for 'out0'" "$pophlo" --run --in x=x.bin --in y=y.bin --out out0=- --cycles saxpy.mlir
refuses 2 "standard input is for 'y'" "$pophlo" --run --in x=- --in y=- saxpy.mlir
refuses 2 "--in x=y.bin: it has the file 'x.bin' already" "$pophlo" --run --in x=x.bin --in x=y.bin --in y=y.bin saxpy.mlir
cat >outfeed.mlir <<'EOF'
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %t = "stablehlo.create_token"() : () -> !stablehlo.token
  %1 = "stablehlo.outfeed"(%x, %t) {outfeed_config = ""} : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<2xi32>
}
EOF
refuses 2 "--out outfeed0=two.bin: it has the file 'one.bin' already" \
  "$pophlo" --run --in x=x.bin --out outfeed0=one.bin --out outfeed0=two.bin outfeed.mlir
refuses 2 'there is no option' "$pophlo" --nonsense saxpy.mlir
refuses 2 'nothing is asked for' "$pophlo" saxpy.mlir
refuses 2 '--in x=FILE is missing' "$pophlo" --run saxpy.mlir
refuses 1 "no output 'q'" "$pophlo" --run --in x=x.bin --in y=y.bin --out q=q.bin saxpy.mlir
refuses 1 'nowhere.mlir' "$pophlo" --check nowhere.mlir
quiet out "$pophlo" --help
quiet out "$pophlo" --version
