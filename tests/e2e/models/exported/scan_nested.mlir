module @scan_nested attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[[-3.625000000e+00, -1.625000000e+00, 1.750000000e+00], [-3.875000000e+00, -2.375000000e+00, -3.625000000e+00], [-1.625000000e+00, 1.250000000e+00, -1.500000000e+00], [6.250000000e-01, -3.500000000e+00, 3.000000000e+00], [-2.875000000e+00, -2.625000000e+00, -0.000000000e+00]]> : tensor<5x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %z = stablehlo.constant dense<0.0> : tensor<3xf32>
    %ys = stablehlo.constant dense<0.0> : tensor<5x3xf32>
    %0:3 = stablehlo.while(%iterArg = %c, %iterArg_1 = %z, %iterArg_2 = %ys) : tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
     cond {
      %c_9 = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.compare  LT, %iterArg, %c_9,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.dynamic_slice %k1, %iterArg, %c_1, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x3xf32>) -> tensor<3xf32>
      %3:2 = func.call @closed_call(%iterArg_1, %2, %iterArg) : (tensor<3xf32>, tensor<3xf32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>)
      %4 = stablehlo.broadcast_in_dim %3#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
      %5 = stablehlo.dynamic_update_slice %iterArg_2, %4, %iterArg, %c_1 : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %6, %3#0, %5 : tensor<i32>, tensor<3xf32>, tensor<5x3xf32>
    }
    check.expect_almost_eq_const %0#1, dense<[-5.540885925e+00, -5.287712097e+00, 1.694335938e-01]> : tensor<3xf32>
    check.expect_almost_eq_const %0#2, dense<[[3.625000000e+00, 1.625000000e+00, -1.750000000e+00], [6.718750000e+00, 3.968750000e+00, 5.000000000e+00], [3.683593750e+00, -1.691406250e+00, 3.250000000e+00], [-9.416503906e-01, 6.456787109e+00, -5.421875000e+00], [5.540885925e+00, 5.287712097e+00, -1.694335938e-01]]> : tensor<5x3xf32>
    check.expect_eq_const %0#0, dense<5> : tensor<i32>
    return
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %half = stablehlo.constant dense<5.000000e-01> : tensor<3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, tensor<3xf32> attributes {mhlo.frontend_attributes = {x = "y"}}
     cond {
      %1 = stablehlo.compare LE, %iterArg, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %lim = stablehlo.constant dense<1.000000e+01> : tensor<f32>
      %init = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = stablehlo.reduce(%iterArg_0 init: %init) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.compare LT, %2, %lim, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.and %1, %3 : tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %1 = stablehlo.multiply %iterArg_0, %half : tensor<3xf32>
      %2 = stablehlo.add %1, %arg1 : tensor<3xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %6, %2 : tensor<i32>, tensor<3xf32>
    }
    %5 = stablehlo.negate %0#1 : tensor<3xf32>
    return %0#1, %5 : tensor<3xf32>, tensor<3xf32>
  }
}
