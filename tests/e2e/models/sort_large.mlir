// Rows that several tiles sort together. The sorted rows follow from how the rows are made.

// Two operands: 10 i mod 501, and i. 451 is the inverse of 10.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<501xi32>
  %ten = stablehlo.constant dense<10> : tensor<501xi32>
  %n = stablehlo.constant dense<501> : tensor<501xi32>
  %p = stablehlo.multiply %i, %ten : tensor<501xi32>
  %x = stablehlo.remainder %p, %n : tensor<501xi32>
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<501xi32>, tensor<501xi32>) -> (tensor<501xi32>, tensor<501xi32>)
  check.expect_eq %0#0, %i : tensor<501xi32>
  %inverse = stablehlo.constant dense<451> : tensor<501xi32>
  %q = stablehlo.multiply %i, %inverse : tensor<501xi32>
  %y = stablehlo.remainder %q, %n : tensor<501xi32>
  check.expect_eq %0#1, %y : tensor<501xi32>
  return
}
// -----
// Equal keys stay in order, in each of two rows; the greatest come first. Bytes: no two workers
// write to one word.
func.func @main() {
  %i = stablehlo.iota dim = 1 : tensor<2x303xi32>
  %three = stablehlo.constant dense<3> : tensor<2x303xi32>
  %r = stablehlo.remainder %i, %three : tensor<2x303xi32>
  %x = stablehlo.convert %r : (tensor<2x303xi32>) -> tensor<2x303xi8>
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
    %l = stablehlo.compare GT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<2x303xi8>, tensor<2x303xi32>) -> (tensor<2x303xi8>, tensor<2x303xi32>)
  %third = stablehlo.constant dense<101> : tensor<2x303xi32>
  %two = stablehlo.constant dense<2> : tensor<2x303xi32>
  %q = stablehlo.divide %i, %third : tensor<2x303xi32>
  %k = stablehlo.subtract %two, %q : tensor<2x303xi32>
  %key = stablehlo.convert %k : (tensor<2x303xi32>) -> tensor<2x303xi8>
  check.expect_eq %0#0, %key : tensor<2x303xi8>
  %m = stablehlo.remainder %i, %third : tensor<2x303xi32>
  %t = stablehlo.multiply %m, %three : tensor<2x303xi32>
  %y = stablehlo.add %t, %k : tensor<2x303xi32>
  check.expect_eq %0#1, %y : tensor<2x303xi32>
  return
}
// -----
// Along a dimension that is not the last, of halves.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<301x2xf16>
  %x = stablehlo.negate %i : tensor<301x2xf16>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<301x2xf16>) -> tensor<301x2xf16>
  %n = stablehlo.constant dense<300.0> : tensor<301x2xf16>
  %y = stablehlo.subtract %i, %n : tensor<301x2xf16>
  check.expect_eq %0, %y : tensor<301x2xf16>
  return
}
// -----
// Every fifth key is NaN, which LT calls equal to all. This order contradicts itself, but no
// element is lost or doubled, as a second sort shows.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<403xi32>
  %five = stablehlo.constant dense<5> : tensor<403xi32>
  %zero = stablehlo.constant dense<0> : tensor<403xi32>
  %r = stablehlo.remainder %i, %five : tensor<403xi32>
  %fifth = stablehlo.compare EQ, %r, %zero : (tensor<403xi32>, tensor<403xi32>) -> tensor<403xi1>
  %n = stablehlo.negate %i : tensor<403xi32>
  %f = stablehlo.convert %n : (tensor<403xi32>) -> tensor<403xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<403xf32>
  %x = stablehlo.select %fifth, %nan, %f : tensor<403xi1>, tensor<403xf32>
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<403xf32>, tensor<403xi32>) -> (tensor<403xf32>, tensor<403xi32>)
  %1:2 = "stablehlo.sort"(%0#1, %i) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<403xi32>, tensor<403xi32>) -> (tensor<403xi32>, tensor<403xi32>)
  check.expect_eq %1#0, %i : tensor<403xi32>
  return
}
// -----
// Enough rows that each worker has some to itself.
func.func @main() {
  %i = stablehlo.iota dim = 1 : tensor<50x20xi64>
  %x = stablehlo.reverse %i, dims = [1] : tensor<50x20xi64>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<50x20xi64>) -> tensor<50x20xi64>
  check.expect_eq %0, %i : tensor<50x20xi64>
  return
}
