module @windows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[[[[-3.500000000e+00, -3.500000000e+00], [7.500000000e-01, -3.750000000e+00], [-1.000000000e+00, 2.500000000e-01], [-3.500000000e+00, 2.500000000e+00], [2.000000000e+00, 1.250000000e+00], [2.000000000e+00, 5.000000000e-01], [-4.000000000e+00, 1.500000000e+00]], [[2.250000000e+00, -5.000000000e-01], [-2.500000000e+00, 3.500000000e+00], [-7.500000000e-01, -1.000000000e+00], [1.750000000e+00, 5.000000000e-01], [-0.000000000e+00, -1.000000000e+00], [-5.000000000e-01, -1.750000000e+00], [0.000000000e+00, 7.500000000e-01]], [[-1.500000000e+00, -1.750000000e+00], [-1.000000000e+00, -2.500000000e-01], [5.000000000e-01, 2.500000000e+00], [-3.750000000e+00, 0.000000000e+00], [2.750000000e+00, -3.750000000e+00], [7.500000000e-01, 2.500000000e-01], [2.750000000e+00, 2.500000000e+00]], [[2.000000000e+00, -1.250000000e+00], [-3.000000000e+00, -2.000000000e+00], [-1.750000000e+00, -2.750000000e+00], [2.000000000e+00, -3.500000000e+00], [-1.750000000e+00, 3.000000000e+00], [-2.750000000e+00, 2.500000000e-01], [-4.000000000e+00, 3.000000000e+00]], [[-3.750000000e+00, -0.000000000e+00], [1.750000000e+00, -7.500000000e-01], [-3.500000000e+00, -3.000000000e+00], [-2.500000000e-01, 2.500000000e-01], [-2.500000000e-01, 3.750000000e+00], [2.000000000e+00, 5.000000000e-01], [1.000000000e+00, 4.000000000e+00]], [[5.000000000e-01, 1.750000000e+00], [-5.000000000e-01, -7.500000000e-01], [-3.250000000e+00, -3.500000000e+00], [-2.750000000e+00, -7.500000000e-01], [0.000000000e+00, -2.250000000e+00], [-1.000000000e+00, 3.500000000e+00], [2.500000000e+00, 2.000000000e+00]]]]> : tensor<1x6x7x2xf32>
    %k2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %w2 = "stablehlo.reduce_window"(%k1, %k2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }) : (tensor<1x6x7x2xf32>, tensor<f32>) -> tensor<1x3x4x2xf32>
    check.expect_almost_eq_const %w2, dense<[[[[2.250000000e+00, 3.500000000e+00], [1.750000000e+00, 2.500000000e+00], [2.000000000e+00, 1.250000000e+00], [0.000000000e+00, 1.500000000e+00]], [[2.250000000e+00, 3.500000000e+00], [2.000000000e+00, 2.500000000e+00], [2.750000000e+00, 3.000000000e+00], [2.750000000e+00, 3.000000000e+00]], [[2.000000000e+00, 1.750000000e+00], [2.000000000e+00, 2.500000000e-01], [2.000000000e+00, 3.750000000e+00], [2.500000000e+00, 4.000000000e+00]]]]> : tensor<1x3x4x2xf32>
    %k3 = stablehlo.constant dense<[[-3.000000000e+00, -3.000000000e+00, -2.750000000e+00, -2.500000000e-01, 2.750000000e+00], [-1.500000000e+00, 3.250000000e+00, -3.250000000e+00, -1.000000000e+00, -2.500000000e+00], [-7.500000000e-01, -1.500000000e+00, 1.250000000e+00, -4.000000000e+00, -4.000000000e+00], [-2.500000000e+00, -2.250000000e+00, 2.500000000e-01, 2.750000000e+00, -2.000000000e+00]]> : tensor<4x5xf32>
    %k4 = stablehlo.constant dense<0.000000000e+00> : tensor<f32>
    %w4 = "stablehlo.reduce_window"(%k3, %k4) <{base_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [2, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 2>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<7x3xf32>
    check.expect_almost_eq_const %w4, dense<[[-5.750000000e+00, -3.000000000e+00, 0.000000000e+00], [-5.750000000e+00, -3.000000000e+00, 0.000000000e+00], [-4.750000000e+00, -7.250000000e+00, -5.750000000e+00], [-4.750000000e+00, -7.250000000e+00, -5.750000000e+00], [5.000000000e-01, -3.500000000e+00, -2.750000000e+00], [5.000000000e-01, -3.500000000e+00, -2.750000000e+00], [-2.250000000e+00, -4.250000000e+00, -1.750000000e+00]]> : tensor<7x3xf32>
    %k5 = stablehlo.constant dense<[-5, 1, 4, 3, 4, -2, -2, -2, -3]> : tensor<9xi64>
    %k6 = stablehlo.constant dense<0> : tensor<i64>
    %w6 = "stablehlo.reduce_window"(%k5, %k6) <{base_dilations = array<i64: 1>, padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 9>, window_strides = array<i64: 1>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %0 = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %0 : tensor<i64>
    }) : (tensor<9xi64>, tensor<i64>) -> tensor<9xi64>
    check.expect_eq_const %w6, dense<[-5, -4, 0, 3, 7, 5, 3, 1, -2]> : tensor<9xi64>
    %k7 = stablehlo.constant dense<[[3, 1, 2, 1, 1, 3], [3, 1, 2, 3, 1, 3], [2, 2, 1, 1, 2, 1]]> : tensor<3x6xi32>
    %k8 = stablehlo.constant dense<1> : tensor<i32>
    %w8 = "stablehlo.reduce_window"(%k7, %k8) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 5]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 6>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %0 : tensor<i32>
    }) : (tensor<3x6xi32>, tensor<i32>) -> tensor<3x6xi32>
    check.expect_eq_const %w8, dense<[[18, 6, 6, 3, 3, 3], [54, 18, 18, 9, 3, 3], [8, 4, 2, 2, 2, 1]]> : tensor<3x6xi32>
    %k9 = stablehlo.constant dense<[[0.000000000e+00, 5.000000000e-01, 1.750000000e+00, -1.500000000e+00, -1.250000000e+00], [-2.000000000e+00, 1.000000000e+00, -2.250000000e+00, -2.000000000e+00, -2.500000000e-01], [1.250000000e+00, 3.250000000e+00, 3.250000000e+00, 2.750000000e+00, -2.000000000e+00], [-1.500000000e+00, 0.000000000e+00, -7.500000000e-01, -2.500000000e-01, -3.000000000e+00], [3.500000000e+00, 3.750000000e+00, -7.500000000e-01, 2.000000000e+00, -5.000000000e-01]]> : tensor<5x5xf32>
    %k10 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %w10 = "stablehlo.reduce_window"(%k9, %k10) <{base_dilations = array<i64: 1, 1>, padding = dense<[[-1, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }) : (tensor<5x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    check.expect_almost_eq_const %w10, dense<[[-2.250000000e+00, -2.250000000e+00, -3.000000000e+00], [-1.500000000e+00, -7.500000000e-01, -3.000000000e+00]]> : tensor<2x3xf32>
    %k11 = stablehlo.constant dense<[[2.500000000e-01, -5.000000000e-01, -5.000000000e-01, -3.750000000e+00, -1.000000000e+00, -3.250000000e+00], [-2.250000000e+00, 2.500000000e-01, -3.000000000e+00, -3.500000000e+00, -2.000000000e+00, -1.250000000e+00], [2.500000000e-01, -2.750000000e+00, 3.250000000e+00, -3.250000000e+00, 2.500000000e+00, -2.750000000e+00], [0.000000000e+00, -4.000000000e+00, 5.000000000e-01, 1.000000000e+00, -1.500000000e+00, -1.750000000e+00], [3.500000000e+00, 1.000000000e+00, 3.750000000e+00, -1.500000000e+00, -3.750000000e+00, -2.750000000e+00], [-1.750000000e+00, -1.000000000e+00, 2.500000000e+00, -7.500000000e-01, -3.500000000e+00, 1.250000000e+00]]> : tensor<6x6xf32>
    %k12 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29], [30, 31, 32, 33, 34, 35]]> : tensor<6x6xi32>
    %neg = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %mone = stablehlo.constant dense<-1> : tensor<i32>
    %am:2 = "stablehlo.reduce_window"(%k11, %k12, %neg, %mone) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
      %0 = stablehlo.compare GE, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %a, %c : tensor<i1>, tensor<f32>
      %2 = stablehlo.select %0, %b, %d : tensor<i1>, tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }) : (tensor<6x6xf32>, tensor<6x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
    check.expect_eq_const %am#0, dense<[[2.500000000e-01, -1.000000000e+00], [3.250000000e+00, 2.500000000e+00], [3.750000000e+00, 1.250000000e+00]]> : tensor<3x2xf32>
    check.expect_eq_const %am#1, dense<[[0, 4], [14, 16], [26, 35]]> : tensor<3x2xi32>
    return
  }
}
