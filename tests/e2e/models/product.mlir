// A product that is planned over the tiles: rows times columns, 0.001 i * j summed over 128.
func.func @main() {
  %0 = stablehlo.iota dim = 1 : tensor<2x256x128xf32>
  %1 = stablehlo.iota dim = 2 : tensor<2x128x64xf32>
  %c = stablehlo.constant dense<0.001> : tensor<2x256x128xf32>
  %a = stablehlo.multiply %0, %c : tensor<2x256x128xf32>
  %2 = stablehlo.dot_general %a, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x256x128xf32>, tensor<2x128x64xf32>) -> tensor<2x256x64xf32>
  %3 = stablehlo.iota dim = 1 : tensor<2x256x64xf32>
  %4 = stablehlo.iota dim = 2 : tensor<2x256x64xf32>
  %5 = stablehlo.constant dense<0.128> : tensor<2x256x64xf32>
  %6 = stablehlo.multiply %3, %5 : tensor<2x256x64xf32>
  %7 = stablehlo.multiply %6, %4 : tensor<2x256x64xf32>
  %8 = stablehlo.subtract %2, %7 : tensor<2x256x64xf32>
  %9 = stablehlo.constant dense<0.01> : tensor<2x256x64xf32>
  %10 = stablehlo.multiply %8, %9 : tensor<2x256x64xf32>
  %11 = stablehlo.constant dense<0.0> : tensor<2x256x64xf32>
  %12 = stablehlo.abs %10 : tensor<2x256x64xf32>
  check.expect_almost_eq %12, %11 : tensor<2x256x64xf32>
  return
}
