// Windows of many overlapping elements, made of shorter ones (runtime/models/expand_windows.c).
// They are compared with windows whose body is two operations, which are made separately.
module @windows_long {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %i = stablehlo.iota dim = 1 : tensor<3x300xi32>
    %j = stablehlo.iota dim = 0 : tensor<3x300xi32>
    %k = stablehlo.constant dense<7919> : tensor<3x300xi32>
    %m = stablehlo.constant dense<1021> : tensor<3x300xi32>
    %ik = stablehlo.multiply %i, %k : tensor<3x300xi32>
    %ij = stablehlo.add %ik, %j : tensor<3x300xi32>
    %x = stablehlo.remainder %ij, %m : tensor<3x300xi32>

    // A cumulative sum: its last column is the sum of all, and the differences of neighbours are
    // the elements.
    %sum = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 300>, padding = dense<[[0, 0], [299, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %b, %a : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<3x300xi32>, tensor<i32>) -> tensor<3x300xi32>
    %behind = stablehlo.slice %sum [0:3, 1:300] : (tensor<3x300xi32>) -> tensor<3x299xi32>
    %front = stablehlo.slice %sum [0:3, 0:299] : (tensor<3x300xi32>) -> tensor<3x299xi32>
    %difference = stablehlo.subtract %behind, %front : tensor<3x299xi32>
    %elements = stablehlo.slice %x [0:3, 1:300] : (tensor<3x300xi32>) -> tensor<3x299xi32>
    check.expect_eq %difference, %elements : tensor<3x299xi32>, tensor<3x299xi32>
    %last = stablehlo.slice %sum [0:3, 299:300] : (tensor<3x300xi32>) -> tensor<3x1xi32>
    %all = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x300xi32>, tensor<i32>) -> tensor<3xi32>
    %all1 = stablehlo.reshape %all : (tensor<3xi32>) -> tensor<3x1xi32>
    check.expect_eq %last, %all1 : tensor<3x1xi32>, tensor<3x1xi32>

    // An initial value that counts once for each window, and for each element of padding.
    %s = "stablehlo.reduce_window"(%x, %five) <{window_dimensions = array<i64: 1, 77>, padding = dense<[[0, 0], [40, 41]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<3x300xi32>, tensor<i32>) -> tensor<3x305xi32>
    %s2 = "stablehlo.reduce_window"(%x, %five) <{window_dimensions = array<i64: 1, 77>, padding = dense<[[0, 0], [40, 41]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %n = stablehlo.negate %a : tensor<i32>
      %r = stablehlo.subtract %b, %n : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<3x300xi32>, tensor<i32>) -> tensor<3x305xi32>
    check.expect_eq %s, %s2 : tensor<3x305xi32>, tensor<3x305xi32>

    // The other dimension, no padding, the greatest of 96.
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x300xi32>) -> tensor<300x3xi32>
    %g = "stablehlo.reduce_window"(%t, %zero) <{window_dimensions = array<i64: 96, 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %r = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<300x3xi32>, tensor<i32>) -> tensor<205x3xi32>
    %g2 = "stablehlo.reduce_window"(%t, %zero) <{window_dimensions = array<i64: 96, 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = stablehlo.select %c, %a, %b : tensor<i1>, tensor<i32>
      stablehlo.return %r : tensor<i32>
    }) : (tensor<300x3xi32>, tensor<i32>) -> tensor<205x3xi32>
    check.expect_eq %g, %g2 : tensor<205x3xi32>, tensor<205x3xi32>
    return
  }
}
