module @refined attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[[-2.500000000e+00, 2.500000000e+00, -3.750000000e+00, 5.000000000e-01], [2.750000000e+00, -2.500000000e-01, -2.500000000e+00, -5.000000000e-01], [1.250000000e+00, -1.750000000e+00, 3.000000000e+00, -2.500000000e+00]]> : tensor<3x4xf32>
    %d0 = stablehlo.get_dimension_size %k1, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
    %d1 = stablehlo.reshape %d0 : (tensor<i32>) -> tensor<1xi32>
    %c8 = stablehlo.constant dense<4> : tensor<1xi32>
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %sh = stablehlo.concatenate %two, %d1, %c8, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %b = stablehlo.dynamic_broadcast_in_dim %k1, %sh, dims = [1, 2] : (tensor<3x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
    %tot = stablehlo.multiply %d1, %c8 : tensor<1xi32>
    %sh2 = stablehlo.concatenate %two, %tot, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %r = stablehlo.dynamic_reshape %b, %sh2 : (tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<2x12xf32>
    %i = stablehlo.dynamic_iota %sh2, dim = 1 : (tensor<2xi32>) -> tensor<2x12xf32>
    %s = stablehlo.add %r, %i : tensor<2x12xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %lo = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
    %hi = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
    %in = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
    %p = stablehlo.dynamic_pad %s, %z, %lo, %hi, %in : (tensor<2x12xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x13xf32>
    %st = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %li = stablehlo.constant dense<[3, 13]> : tensor<2xi32>
    %sr = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
    %q = stablehlo.real_dynamic_slice %p, %st, %li, %sr : (tensor<3x13xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
    check.expect_eq_const %p, dense<[[0.000000000e+00, -2.500000000e+00, 3.500000000e+00, -1.750000000e+00, 3.500000000e+00, 6.750000000e+00, 4.750000000e+00, 3.500000000e+00, 6.500000000e+00, 9.250000000e+00, 7.250000000e+00, 1.300000000e+01, 8.500000000e+00], [0.000000000e+00, -2.500000000e+00, 3.500000000e+00, -1.750000000e+00, 3.500000000e+00, 6.750000000e+00, 4.750000000e+00, 3.500000000e+00, 6.500000000e+00, 9.250000000e+00, 7.250000000e+00, 1.300000000e+01, 8.500000000e+00], [0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00, 0.000000000e+00]]> : tensor<3x13xf32>
    check.expect_eq_const %q, dense<[[-1.750000000e+00, 3.500000000e+00, 1.300000000e+01], [0.000000000e+00, 0.000000000e+00, 0.000000000e+00]]> : tensor<2x3xf32>
    return
  }
}
