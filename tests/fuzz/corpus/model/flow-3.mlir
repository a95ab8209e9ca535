// -----
func.func @windows() {
  %x = stablehlo.constant dense<[[1, 4, 2], [5, 3, 0]]> : tensor<2x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[1, 4, 4], [5, 5, 3]]> : tensor<2x3xi32>
  // The same place twice, and one outside, which is left out.
  %w = stablehlo.constant dense<[[1], [1], [7]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %y = stablehlo.constant dense<[1, 1, 1]> : tensor<3xi32>
  %1 = "stablehlo.scatter"(%y, %w, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[1, 31, 1]> : tensor<3xi32>
  %i = stablehlo.iota dim = 2 : tensor<1x2x3x1xf32>
  %k = stablehlo.constant dense<2.0> : tensor<2x2x1x1xf32>
  %2 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x1x3x1xf32>
  check.expect_eq_const %2, dense<[[[[0.0], [4.0], [12.0]]]]> : tensor<1x1x3x1xf32>
  return
}
