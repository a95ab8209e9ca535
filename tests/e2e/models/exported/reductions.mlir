module @reductions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[[[-3.000000000e+00, -1.000000000e+00, -2.000000000e+00, 5.000000000e-01, 2.250000000e+00], [-2.750000000e+00, 2.500000000e+00, -2.250000000e+00, 1.750000000e+00, 7.500000000e-01], [-2.750000000e+00, -5.000000000e-01, -2.500000000e-01, -2.250000000e+00, 5.000000000e-01], [-1.250000000e+00, -1.500000000e+00, -1.500000000e+00, 2.500000000e-01, -3.500000000e+00]], [[-4.000000000e+00, 2.000000000e+00, 2.500000000e-01, -3.500000000e+00, 3.500000000e+00], [2.500000000e+00, 1.750000000e+00, -3.000000000e+00, -1.500000000e+00, 1.750000000e+00], [-1.750000000e+00, -2.500000000e-01, 2.250000000e+00, 0x7FC00000, 1.500000000e+00], [7.500000000e-01, -3.500000000e+00, -2.500000000e+00, -3.000000000e+00, 2.500000000e-01]], [[3.000000000e+00, -3.750000000e+00, 1.250000000e+00, 5.000000000e-01, -3.250000000e+00], [-5.000000000e-01, 2.500000000e-01, -2.500000000e+00, -1.250000000e+00, 1.250000000e+00], [-2.750000000e+00, -1.750000000e+00, -2.000000000e+00, 2.750000000e+00, -1.500000000e+00], [1.750000000e+00, -1.750000000e+00, -3.500000000e+00, 0.000000000e+00, -3.750000000e+00]]]> : tensor<3x4x5xf32>
    %io = stablehlo.iota dim = 1 : tensor<3x4x5xi32>
    %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.reduce(%k1 init: %ninf), (%io init: %c0) across dimensions = [1] : (tensor<3x4x5xf32>, tensor<3x4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x5xf32>, tensor<3x5xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %4 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.or %4, %5 : tensor<i1>
      %7 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %9 = stablehlo.and %7, %8 : tensor<i1>
      %10 = stablehlo.or %6, %9 : tensor<i1>
      %11 = stablehlo.select %6, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %12 = stablehlo.select %10, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %11, %12 : tensor<f32>, tensor<i32>
    }
    check.expect_eq_const %r#1, dense<[[3, 1, 2, 1, 0], [1, 0, 2, 2, 0], [0, 1, 0, 2, 1]]> : tensor<3x5xi32>
    %k2 = stablehlo.constant dense<[[false, true, false, true, false, true], [true, false, false, true, true, true], [true, true, false, true, false, false], [false, false, false, false, false, true]]> : tensor<4x6xi1>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %fa = stablehlo.constant dense<false> : tensor<i1>
    %all = stablehlo.reduce(%k2 init: %t) applies stablehlo.and across dimensions = [0] : (tensor<4x6xi1>, tensor<i1>) -> tensor<6xi1>
    %any = stablehlo.reduce(%k2 init: %fa) applies stablehlo.or across dimensions = [1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<4xi1>
    %xo = stablehlo.reduce(%k2 init: %fa) applies stablehlo.xor across dimensions = [0, 1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<i1>
    check.expect_eq_const %all, dense<[false, false, false, false, false, false]> : tensor<6xi1>
    check.expect_eq_const %any, dense<[true, true, true, true]> : tensor<4xi1>
    check.expect_eq_const %xo, dense<true> : tensor<i1>
    %k3 = stablehlo.constant dense<[[[614277773071, 137677706225, -688512998406, -468453280540], [-729799445797, -92109871914, 524788827048, 460075769069], [62456931852, 44645640677, -866878422243, 530037494898]], [[34075818835, -1088009445107, -116787434885, -388646220746], [-1004884072674, 1080590269511, -455711705994, -1023360669307], [1021183269960, 748639853227, -326237673659, -499247444715]]]> : tensor<2x3x4xi64>
    %l = stablehlo.constant dense<9223372036854775807> : tensor<i64>
    %mn = stablehlo.reduce(%k3 init: %l) applies stablehlo.minimum across dimensions = [2, 0] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<3xi64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %pr = stablehlo.reduce(%k3 init: %one) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<i64>
    check.expect_eq_const %mn, dense<[-1088009445107, -1023360669307, -866878422243]> : tensor<3xi64>
    check.expect_eq_const %pr, dense<6606001106363023360> : tensor<i64>
    %k4 = stablehlo.constant dense<> : tensor<0x3xf32>
    %five = stablehlo.constant dense<5.0> : tensor<f32>
    %em = stablehlo.reduce(%k4 init: %five) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
    check.expect_eq_const %em, dense<[5.000000000e+00, 5.000000000e+00, 5.000000000e+00]> : tensor<3xf32>
    return
  }
}
