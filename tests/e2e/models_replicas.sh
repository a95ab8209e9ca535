#!/bin/sh
# A module in several replicas: its collectives, over groups of any form, in loops, and with files.
# The expected results come from NumPy.
set -eu
. "$POPULUS_SOURCE_DIR/tests/support/check.sh"
pophlo=$POPULUS_BIN/pophlo
models=$POPULUS_SOURCE_DIR/tests/e2e

# All collectives with 4 replicas. The module checks the results itself.
quiet out "$pophlo" --check --replicas=4 --tiles=3 "$models/models_replicas.mlir"
has out '^1 of 1 files hold, with [0-9]+ checks$'
quiet out "$pophlo" --check --replicas=4 --both-engines "$models/models_replicas.mlir"

# A wrong result of one replica is found, and the replica is named.
sed 's/dense<\[12, 14, 16, 18\]>/dense<[12, 14, 16, 19]>/' "$models/models_replicas.mlir" >wrong.mlir
refuses 1 'wrong.mlir:|replica 0|18 at [3], not 19' "$pophlo" --check --replicas=4 wrong.mlir

# HLO text: groups as a list, as all replicas, and as a reshaped sequence of numbers from 0.
cat >groups.hlo.txt <<'EOF'
HloModule groups, replica_count=4
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
ENTRY main {
  r = u32[] replica-id()
  id = s32[] convert(r)
  x = s32[1] reshape(id)
  two = s32[1] constant({2})
  all = s32[1] all-reduce(x), replica_groups={}, to_apply=sum
  all.e = s32[1] constant({6})
  check.0 = () custom-call(all, all.e), custom_call_target="check.expect_eq"
  one = s32[1] all-reduce(x), channel_id=1, replica_groups=[1,4]<=[4], use_global_device_ids=true, to_apply=sum
  check.1 = () custom-call(one, all.e), custom_call_target="check.expect_eq"
  pairs = s32[1] all-reduce(x), replica_groups=[2,2]<=[4], to_apply=sum
  half = s32[1] divide(x, two)
  pairs.4 = s32[1] constant({4})
  pairs.1 = s32[1] constant({1})
  pairs.m = s32[1] multiply(half, pairs.4)
  pairs.e = s32[1] add(pairs.m, pairs.1)
  check.2 = () custom-call(pairs, pairs.e), custom_call_target="check.expect_eq"
  odd = s32[1] remainder(x, two)
  odd.2 = s32[1] multiply(odd, two)
  odd.e = s32[1] add(odd.2, two)
  turned = s32[1] all-reduce(x), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=sum
  check.3 = () custom-call(turned, odd.e), custom_call_target="check.expect_eq"
  listed = s32[1] all-reduce(x), replica_groups={{0,2},{3,1}}, to_apply=sum
  check.4 = () custom-call(listed, odd.e), custom_call_target="check.expect_eq"
  row = s32[4] all-gather(x), replica_groups={}, dimensions={0}
  row.e = s32[4] constant({0, 1, 2, 3})
  check.5 = () custom-call(row, row.e), custom_call_target="check.expect_eq"
  order = s32[4] all-gather(x), replica_groups=[1,4]<=[2,2]T(1,0), dimensions={0}
  order.e = s32[4] constant({0, 2, 1, 3})
  check.6 = () custom-call(order, order.e), custom_call_target="check.expect_eq"
  none = s32[1] collective-permute(x), source_target_pairs={}
  none.e = s32[1] constant({0})
  check.7 = () custom-call(none, none.e), custom_call_target="check.expect_eq"
  ROOT end = s32[1] copy(x)
}
EOF
quiet out "$pophlo" --check --replicas=4 groups.hlo.txt
has out '^1 of 1 files hold, with 8 checks$'
# all-to-all with one operand, and with one operand for each replica of a group.
cat >exchange.hlo.txt <<'EOF'
HloModule exchange, replica_count=4
ENTRY main {
  r = u32[] replica-id()
  id = s32[] convert(r)
  ten = s32[] constant(10)
  base = s32[] multiply(id, ten)
  bases = s32[4,1] broadcast(base), dimensions={}
  places = s32[4,1] iota(), iota_dimension=0
  x = s32[4,1] add(bases, places)
  y = s32[4,1] all-to-all(x), replica_groups={}, dimensions={0}
  tens = s32[4,1] broadcast(ten), dimensions={}
  froms = s32[4,1] multiply(places, tens)
  ids = s32[4,1] broadcast(id), dimensions={}
  y.e = s32[4,1] add(froms, ids)
  check.0 = () custom-call(y, y.e), custom_call_target="check.expect_eq"
  x0 = s32[2,1] slice(x), slice={[0:2], [0:1]}
  x1 = s32[2,1] slice(x), slice={[2:4], [0:1]}
  z = (s32[2,1], s32[2,1]) all-to-all(x0, x1), replica_groups={{0,2},{1,3}}
  z0 = s32[2,1] get-tuple-element(z), index=0
  z1 = s32[2,1] get-tuple-element(z), index=1
  two = s32[] constant(2)
  half = s32[] divide(id, two)
  odd = s32[] remainder(id, two)
  from = s32[] multiply(odd, ten)
  twice = s32[] multiply(half, two)
  first = s32[] add(from, twice)
  firsts = s32[2,1] broadcast(first), dimensions={}
  two.places = s32[2,1] iota(), iota_dimension=0
  z0.e = s32[2,1] add(firsts, two.places)
  check.1 = () custom-call(z0, z0.e), custom_call_target="check.expect_eq"
  twenty = s32[2,1] constant({{20}, {20}})
  z1.e = s32[2,1] add(z0.e, twenty)
  check.2 = () custom-call(z1, z1.e), custom_call_target="check.expect_eq"
  ROOT end = s32[4,1] copy(y)
}
EOF
quiet out "$pophlo" --check --replicas=4 exchange.hlo.txt
has out '^1 of 1 files hold, with 3 checks$'
# StableHLO states the number of parts.
cat >parts.mlir <<'EOF'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
EOF
refuses 1 'parts.mlir:2:|split_count is 0, a group has 2 replicas' "$pophlo" -o none.a --replicas=2 parts.mlir
# With a channel_handle the numbers are partitions, of which there is one.
cat >permute.mlir <<'EOF'
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
         source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
EOF
refuses 1 'permute.mlir:2:|collective_permute: there is no partition 1' "$pophlo" -o none.a --replicas=2 permute.mlir
sed 's/collective_permute/collective_broadcast/; s/source_target_pairs.*> : tensor<2x2/replica_groups = dense<[[0, 1]]> : tensor<1x2/' permute.mlir >spread.mlir
refuses 1 'spread.mlir:2:|collective_broadcast: there is no partition 1' "$pophlo" -o none.a --replicas=2 spread.mlir
# With one replica, groups have only that replica.
sed '/check\|pairs=/d; /replica_groups=[^{]/d; /replica_groups={{/d; /all-gather/d' groups.hlo.txt >alone.hlo.txt
quiet out "$pophlo" -o alone.a alone.hlo.txt
sed 's/\[2,2\]<=\[2,2\]T(1,0)/[2,2]<=[2,3]T(1,0)/' groups.hlo.txt >shape.hlo.txt
refuses 1 'shape.hlo.txt:25:3|all-reduce: replica_groups=[2,2]<=[2,3]T(1,0) is not supported' "$pophlo" --check --replicas=4 shape.hlo.txt
sed 's/{{0,2},{3,1}}/{{0,2,3},{1}}/' groups.hlo.txt >uneven.hlo.txt
refuses 1 'uneven.hlo.txt:27:3|groups are of the same size' "$pophlo" --check --replicas=4 uneven.hlo.txt

# With files: one input for each replica, or the same for all; the output has the results of all.
cat >sum.mlir <<'EOF'
module @sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2xf32>, %k: tensor<f32>) -> tensor<2xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
                                      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2xf32>
    %3 = stablehlo.add %2, %x : tensor<2xf32>
    return %3 : tensor<2xf32>
  }
}
EOF
printf '\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100' >x.bin # 1, 2; 3, 4
printf '\0\0\0\77' >k.bin                                     # .5
quiet out "$pophlo" --run --replicas=2 --in x=x.bin --in k=k.bin --out out0=y.bin sum.mlir
printf '\0\0\100\100\0\0\240\100\0\0\240\100\0\0\340\100' | cmp - y.bin # 3, 5; 5, 7
# The same from an archive.
quiet out "$pophlo" -o sum.a --replicas=2 sum.mlir
quiet out "$POPULUS_BIN/popexec" --write x=x.bin --write k=k.bin --read out0=z.bin sum.a
cmp y.bin z.bin

# Mistakes about replicas and groups are reported at their place.
refuses 1 'sum.mlir:3:|between several processes (replicas: pophlo --replicas)' "$pophlo" -o none.a sum.mlir
refuses 1 'sum.mlir:3:|replica 2 is in no group' "$pophlo" -o none.a --replicas=3 sum.mlir
sed 's/\[\[0, 1\]\]/[[0, 7]]/' sum.mlir >seven.mlir
refuses 1 'seven.mlir:3:|replica_groups has 7; there are replicas 0 to 1' "$pophlo" -o none.a --replicas=2 seven.mlir
sed 's/return %s/%t = stablehlo.negate %s : tensor<f32>\n      stablehlo.return %t/; s/stablehlo.%t/%t/' sum.mlir >two.mlir
refuses 1 'two.mlir:3:|a region of more than one operation' "$pophlo" -o none.a --replicas=2 two.mlir
refuses 2 '--replicas takes at least one' "$pophlo" -o none.a --replicas=0 sum.mlir
refuses 2 'a CPU has no tiles' "$pophlo" --run --device=cpu --replicas=2 sum.mlir

# infeed and outfeed are streams: three times in a loop, with one tensor and with two.
cat >feeds.mlir <<'EOF'
func.func @main(%n: tensor<i32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2xf32>
  %t = stablehlo.create_token : !stablehlo.token
  %r:3 = stablehlo.while(%i = %zero, %x = %zeros, %token = %t) : tensor<i32>, tensor<2xf32>, !stablehlo.token
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %in:2 = "stablehlo.infeed"(%token) {infeed_config = "", layout = [[0]]} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
      %y = stablehlo.add %x, %in#0 : tensor<2xf32>
      %out = "stablehlo.outfeed"(%y, %next, %in#1) {outfeed_config = ""} : (tensor<2xf32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token
      stablehlo.return %next, %y, %out : tensor<i32>, tensor<2xf32>, !stablehlo.token
    }
  return %r#1 : tensor<2xf32>
}
EOF
printf '\3\0\0\0' >n.bin
for device in ipu cpu; do
  quiet out "$pophlo" --run --device=$device --list --in n=n.bin --in infeed0=x.bin --out outfeed0.0=sums.bin \
    --out outfeed0.1=turns.bin --out out0=last.bin feeds.mlir # 1, 2; 3, 4; and 1, 2 again
  has out '^stream in infeed0: f32\[2\]$' '^stream out outfeed0.0: f32\[2\]$' '^stream out outfeed0.1: i32\[\]$'
  printf '\0\0\200\77\0\0\0\100\0\0\200\100\0\0\300\100\0\0\240\100\0\0\0\101' | cmp - sums.bin # 1, 2; 4, 6; 5, 8
  printf '\1\0\0\0\2\0\0\0\3\0\0\0' | cmp - turns.bin
  printf '\0\0\240\100\0\0\0\101' | cmp - last.bin
done
refuses 2 '--in infeed0=FILE is missing' "$pophlo" --run --in n=n.bin --out outfeed0.0=sums.bin --out outfeed0.1=turns.bin feeds.mlir
sed 's/(%token) {infeed/() {infeed/; s/: (!stablehlo.token) -> (tensor<2xf32>/: () -> (tensor<2xf32>/' feeds.mlir >bad_feed.mlir
refuses 1 'bad_feed.mlir:12:|stablehlo.infeed takes a token' "$pophlo" -o none.a bad_feed.mlir
