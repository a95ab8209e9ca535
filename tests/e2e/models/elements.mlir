// Elementwise operations: each type, rounding, edge cases.
module @elements attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main() {
    %a = stablehlo.constant dense<[1.0, -0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
    %b = stablehlo.constant dense<[2.0, 0.0, 1.0, 0xFF800000]> : tensor<4xf32>
    %0 = stablehlo.maximum %a, %b : tensor<4xf32>
    check.expect_eq_const %0, dense<[2.0, 0.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    check.expect_eq_const %1, dense<[true, true, false, false]> : tensor<4xi1>
    %i = stablehlo.constant dense<[-128, 127, 5, -7]> : tensor<4xi8>
    %j = stablehlo.constant dense<[-1, 1, 0, 2]> : tensor<4xi8>
    %2 = stablehlo.divide %i, %j : tensor<4xi8>
    check.expect_eq_const %2, dense<[-128, 127, -1, -3]> : tensor<4xi8>
    %3 = stablehlo.remainder %i, %j : tensor<4xi8>
    check.expect_eq_const %3, dense<[0, 0, 5, -1]> : tensor<4xi8>
    %4 = stablehlo.shift_right_arithmetic %i, %j : tensor<4xi8>
    check.expect_eq_const %4, dense<[-1, 63, 5, -2]> : tensor<4xi8>
    %u = stablehlo.constant dense<[18446744073709551615, 9007199254740993]> : tensor<2xui64>
    %5 = stablehlo.convert %u : (tensor<2xui64>) -> tensor<2xbf16>
    check.expect_eq_const %5, dense<[1.8446744073709552e19, 9007199254740992.0]> : tensor<2xbf16>
    %6 = stablehlo.popcnt %u : tensor<2xui64>
    check.expect_eq_const %6, dense<[64, 2]> : tensor<2xui64>
    %h = stablehlo.constant dense<[2049.0, 65519.0]> : tensor<2xf32>
    %7 = stablehlo.convert %h : (tensor<2xf32>) -> tensor<2xf16>
    check.expect_eq_const %7, dense<[2048.0, 65504.0]> : tensor<2xf16>
    %d = stablehlo.constant dense<[1.0e300, 3.0]> : tensor<2xf64>
    %8 = stablehlo.multiply %d, %d : tensor<2xf64>
    check.expect_eq_const %8, dense<[0x7FF0000000000000, 9.0]> : tensor<2xf64>
    %c = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f32>>
    %9 = stablehlo.multiply %c, %c : tensor<2xcomplex<f32>>
    check.expect_eq_const %9, dense<[(-3.0, 4.0), (-1.0, 0.0)]> : tensor<2xcomplex<f32>>
    %p = stablehlo.constant dense<true> : tensor<i1>
    %10 = stablehlo.select %p, %i, %j : tensor<i1>, tensor<4xi8>
    check.expect_eq %10, %i : tensor<4xi8>
    %11 = stablehlo.reduce_precision %h, format = e5m2 : tensor<2xf32>
    check.expect_eq_const %11, dense<[2048.0, 0x7F800000]> : tensor<2xf32>
    return
  }
}

// -----
// Functions of f64, on both sides of the reflection.
func.func @main() {
  %x = stablehlo.constant dense<[-1.5, -0.25, 0.5, 2.5, 7.5]> : tensor<5xf64>
  %0 = chlo.lgamma %x : tensor<5xf64> -> tensor<5xf64>
  %1 = chlo.digamma %x : tensor<5xf64> -> tensor<5xf64>
  %e = stablehlo.constant dense<[0.8600470153764812, 1.5895753125511862, 0.5723649429247004, 0.2846828704729196, 7.534364236758734]> : tensor<5xf64>
  %f = stablehlo.constant dense<[0.703156640645243, 2.9141391202135285, -1.9635100260214235, 0.703156640645243, 1.9467574842460866]> : tensor<5xf64>
  check.expect_close %0, %e, max_ulp_difference = 64 : tensor<5xf64>, tensor<5xf64>
  check.expect_close %1, %f, max_ulp_difference = 64 : tensor<5xf64>, tensor<5xf64>
  return
}

// -----
// The imaginary part of a real number is 0, whatever the number.
func.func @main() {
  %x = stablehlo.constant dense<[-1.5, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %0 = stablehlo.imag %x : tensor<4xf32>
  check.expect_eq_const %0, dense<0.0> : tensor<4xf32>
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %2 = stablehlo.imag %1 : tensor<4xf16>
  check.expect_eq_const %2, dense<0.0> : tensor<4xf16>
  return
}

// -----
// All bits of a bf16 pass, also those of NaNs that signal.
func.func @main() {
  %x = stablehlo.constant dense<[0x7F81, 0x7FC0, 0xFF81, 0xFFFF, 0x7F80, 0x0001]> : tensor<6xui16>
  %0 = stablehlo.bitcast_convert %x : (tensor<6xui16>) -> tensor<6xbf16>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<6xbf16>
  %2 = stablehlo.bitcast_convert %1 : (tensor<6xbf16>) -> tensor<6xui16>
  check.expect_eq_const %2, dense<[0x0001, 0x7F80, 0xFFFF, 0xFF81, 0x7FC0, 0x7F81]> : tensor<6xui16>
  %3 = stablehlo.convert %0 : (tensor<6xbf16>) -> tensor<6xf32>
  %4 = stablehlo.is_finite %3 : (tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %4, dense<[false, false, false, false, false, true]> : tensor<6xi1>
  return
}
