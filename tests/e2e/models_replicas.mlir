// Collectives between 4 replicas. Each has iota + 4 * its number. tests/e2e/models_replicas.sh runs
// it.
func.func @main() {
  %id = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
  %iota = stablehlo.iota dim = 0 : tensor<4xi32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %first = stablehlo.multiply %r, %four : tensor<i32>
  %firsts = stablehlo.broadcast_in_dim %first, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %numbers = stablehlo.add %iota, %firsts : tensor<4xi32>
  // sums of two groups; all four replicas would give 24, 28, 32, 36
  %pairs = "stablehlo.all_reduce"(%numbers) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %pairs, dense<[12, 14, 16, 18]> : tensor<4xi32>
  %all = "stablehlo.all_reduce"(%numbers) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %all, dense<[12, 13, 14, 15]> : tensor<4xi32>
  // in the order of the group: ((3 - 2) - 1) - 0
  %less = "stablehlo.all_reduce"(%numbers) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.subtract %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %less, dense<[0, -2, -4, -6]> : tensor<4xi32>
  // other types: pairs of bits, and types of 8 bytes
  %even = stablehlo.constant dense<2> : tensor<i32>
  %rest = stablehlo.remainder %r, %even : tensor<i32>
  %odd = stablehlo.convert %rest : (tensor<i32>) -> tensor<i1>
  %any = "stablehlo.all_reduce"(%odd) ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %s = stablehlo.or %a, %b : tensor<i1>
      stablehlo.return %s : tensor<i1>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<i1>) -> tensor<i1>
  check.expect_eq_const %any, dense<true> : tensor<i1>
  %differ = "stablehlo.all_reduce"(%odd) ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %s = stablehlo.compare NE, %a, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
  }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<i1>) -> tensor<i1>
  check.expect_eq_const %differ, dense<true> : tensor<i1>
  %wide = stablehlo.convert %numbers : (tensor<4xi32>) -> tensor<4xi64>
  %big = stablehlo.constant dense<5000000000> : tensor<4xi64>
  %sum = stablehlo.add %wide, %big : tensor<4xi64>
  %sums = "stablehlo.all_reduce"(%sum) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xi64>) -> tensor<4xi64>
  check.expect_eq_const %sums, dense<[20000000024, 20000000028, 20000000032, 20000000036]> : tensor<4xi64>
  // along a dimension: [2, 2] becomes [2, 4], of replicas 0 and 2, and of 1 and 3
  %square = stablehlo.reshape %numbers : (tensor<4xi32>) -> tensor<2x2xi32>
  %wider = "stablehlo.all_gather"(%square) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}
    : (tensor<2x2xi32>) -> tensor<2x4xi32>
  %offset = stablehlo.broadcast_in_dim %rest, dims = [] : (tensor<i32>) -> tensor<2x4xi32>
  %fours = stablehlo.constant dense<4> : tensor<2x4xi32>
  %more = stablehlo.multiply %offset, %fours : tensor<2x4xi32>
  %like0 = stablehlo.subtract %wider, %more : tensor<2x4xi32>
  check.expect_eq_const %like0, dense<[[0, 1, 8, 9], [2, 3, 10, 11]]> : tensor<2x4xi32>
  // each replica gets its part of the sums 24, 28, 32, 36
  %part = "stablehlo.reduce_scatter"(%numbers) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xi32>) -> tensor<1xi32>
  %again = "stablehlo.all_gather"(%part) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}
    : (tensor<1xi32>) -> tensor<4xi32>
  check.expect_eq_const %again, dense<[24, 28, 32, 36]> : tensor<4xi32>
  // row i of all replicas goes to replica i: column r
  %column = "stablehlo.all_to_all"(%numbers) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
    replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %column0 = stablehlo.subtract %column, %rs : tensor<4xi32>
  check.expect_eq_const %column0, dense<[0, 4, 8, 12]> : tensor<4xi32>
  // 0 to 1, 1 to 2, 2 to 3; replica 0 gets zeros
  %shifted = "stablehlo.collective_permute"(%numbers) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}
    : (tensor<4xi32>) -> tensor<4xi32>
  %zeros = stablehlo.constant dense<0> : tensor<4xi32>
  %fours1 = stablehlo.constant dense<4> : tensor<4xi32>
  %before = stablehlo.subtract %numbers, %fours1 : tensor<4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %is0 = stablehlo.compare EQ, %r, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %wanted = stablehlo.select %is0, %zeros, %before : tensor<i1>, tensor<4xi32>
  check.expect_eq %shifted, %wanted : tensor<4xi32>
  // replica 2 sends to 2 and 3; 0 and 1 are in no group
  %cast = "stablehlo.collective_broadcast"(%numbers) {replica_groups = dense<[[2, 3]]> : tensor<1x2xi64>}
    : (tensor<4xi32>) -> tensor<4xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %low = stablehlo.compare LT, %r, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %eights = stablehlo.constant dense<[8, 9, 10, 11]> : tensor<4xi32>
  %given = stablehlo.select %low, %zeros, %eights : tensor<i1>, tensor<4xi32>
  check.expect_eq %cast, %given : tensor<4xi32>
  // in a loop, three times: 1, 4, 16, 64 from 1 in each
  %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
  %i:2 = stablehlo.while(%n = %zero, %x = %ones) : tensor<i32>, tensor<2xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %n, %one : tensor<i32>
      %y = "stablehlo.all_reduce"(%x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %next, %y : tensor<i32>, tensor<2xf32>
    }
  check.expect_eq_const %i#1, dense<64.0> : tensor<2xf32>
  return
}
