module @torch attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[[[-1.250000000e+00, -2.250000000e+00, 1.000000000e+00, -1.500000000e+00], [1.750000000e+00, -1.000000000e+00, 3.000000000e+00, -1.500000000e+00], [-3.000000000e+00, -1.000000000e+00, -2.500000000e-01, 3.750000000e+00]], [[2.000000000e+00, -2.500000000e+00, 3.500000000e+00, -3.500000000e+00], [-2.500000000e+00, 1.500000000e+00, 2.500000000e-01, 2.000000000e+00], [-1.000000000e+00, 4.000000000e+00, 5.000000000e-01, -1.000000000e+00]]]> : tensor<2x3x4xf32>
    %k2 = stablehlo.constant dense<[3.750000000e+00, 3.250000000e+00, -3.500000000e+00]> : tensor<3xf32>
    %k3 = stablehlo.constant dense<[3.500000000e+00, -3.250000000e+00, 0.000000000e+00]> : tensor<3xf32>
    %k4 = stablehlo.constant dense<[1.750000000e+00, -2.250000000e+00, -3.250000000e+00]> : tensor<3xf32>
    %k5 = stablehlo.constant dense<[3.750000000e+00, 2.750000000e+00, 2.250000000e+00]> : tensor<3xf32>
    %bn = "stablehlo.batch_norm_inference"(%k1, %k2, %k3, %k4, %k5) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
    check.expect_almost_eq_const %bn, dense<[[[-2.308700562e+00, -4.244934082e+00, 2.047824860e+00, -2.792758942e+00], [4.587870121e+00, -8.006656170e-01, 7.037204742e+00, -1.780399323e+00], [-5.832037330e-01, -5.248833656e+00, -6.998445034e+00, -1.632970428e+01]], [[3.984058380e+00, -4.728992462e+00, 6.888408661e+00, -6.665225983e+00], [-3.739866972e+00, 4.098003387e+00, 1.648668766e+00, 5.077737808e+00], [-5.248833656e+00, -1.691290855e+01, -8.748056412e+00, -5.248833656e+00]]]> : tensor<2x3x4xf32>
    %g = stablehlo.composite "aten.gelu.default" %bn {composite_attributes = {approximate = "none"}, decomposition = @aten.gelu.default.impl} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %tu = stablehlo.tuple %g, %k2 {xla_shape = "(f32[2,3,4]{2,1,0}, f32[3]{0})"} : tuple<tensor<2x3x4xf32>, tensor<3xf32>>
    %e0 = stablehlo.get_tuple_element %tu[0] : (tuple<tensor<2x3x4xf32>, tensor<3xf32>>) -> tensor<2x3x4xf32>
    %e1 = stablehlo.get_tuple_element %tu[1] : (tuple<tensor<2x3x4xf32>, tensor<3xf32>>) -> tensor<3xf32>
    check.expect_eq_const %e1, dense<[3.750000000e+00, 3.250000000e+00, -3.500000000e+00]> : tensor<3xf32>
    %ex = stablehlo.constant dense<[[[-2.419541962e-02, -4.640939005e-05, 2.006277323e+00, -7.297567092e-03], [4.587859631e+00, -1.694709957e-01, 7.037204742e+00, -6.677444279e-02], [-1.632259488e-01, -4.017070978e-07, -9.056519423e-12, -0.000000000e+00]], [[3.983923435e+00, -5.335174592e-06, 6.888408661e+00, -8.806717161e-11], [-3.442878951e-04, 4.097918034e+00, 1.566882014e+00, 5.077736855e+00], [-4.017070978e-07, -0.000000000e+00, -0.000000000e+00, -4.017070978e-07]]]> : tensor<2x3x4xf32>
    check.expect_almost_eq %e0, %ex : tensor<2x3x4xf32>
    return
  }
  func.func private @aten.gelu.default.impl(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
    %h = stablehlo.constant dense<0.707106769> : tensor<2x3x4xf32>
    %0 = stablehlo.multiply %arg0, %h : tensor<2x3x4xf32>
    %1 = chlo.erf %0 : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
    %o = stablehlo.constant dense<1.0> : tensor<2x3x4xf32>
    %2 = stablehlo.add %1, %o : tensor<2x3x4xf32>
    %hf = stablehlo.constant dense<5.000000e-01> : tensor<2x3x4xf32>
    %3 = stablehlo.multiply %arg0, %hf : tensor<2x3x4xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<2x3x4xf32>
    return %4 : tensor<2x3x4xf32>
  }
}
