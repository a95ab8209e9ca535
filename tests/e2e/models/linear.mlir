// Triangular matrices: every way to solve with them, checked by the product, and the factors of a
// matrix.
func.func @main() {
  %low = stablehlo.constant dense<[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [-1.0, 0.5, -2.0]]> : tensor<3x3xf32>
  %up = stablehlo.constant dense<[[2.0, 1.0, -1.0], [9.0, 4.0, 0.5], [9.0, 9.0, -2.0]]> : tensor<3x3xf32>
  // the same without the elements that must be ignored
  %l = stablehlo.constant dense<[[2.0, 0.0, 0.0], [1.0, 4.0, 0.0], [-1.0, 0.5, -2.0]]> : tensor<3x3xf32>
  %u = stablehlo.constant dense<[[2.0, 1.0, -1.0], [0.0, 4.0, 0.5], [0.0, 0.0, -2.0]]> : tensor<3x3xf32>
  %b = stablehlo.constant dense<[[1.0, -2.0], [3.0, 5.0], [7.0, 0.25]]> : tensor<3x2xf32>
  %c = stablehlo.constant dense<[[1.0, 3.0, 7.0], [-2.0, 5.0, 0.25]]> : tensor<2x3xf32>

  %x0 = "stablehlo.triangular_solve"(%low, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y0 = stablehlo.dot_general %l, %x0, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y0, %b : tensor<3x2xf32>

  %x1 = "stablehlo.triangular_solve"(%low, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y1 = stablehlo.dot_general %l, %x1, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y1, %b : tensor<3x2xf32>

  %x2 = "stablehlo.triangular_solve"(%low, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y2 = stablehlo.dot_general %l, %x2, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y2, %b : tensor<3x2xf32>

  %x3 = "stablehlo.triangular_solve"(%low, %c) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y3 = stablehlo.dot_general %x3, %l, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  check.expect_almost_eq %y3, %c : tensor<2x3xf32>

  %x4 = "stablehlo.triangular_solve"(%low, %c) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y4 = stablehlo.dot_general %x4, %l, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  check.expect_almost_eq %y4, %c : tensor<2x3xf32>

  %x5 = "stablehlo.triangular_solve"(%up, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y5 = stablehlo.dot_general %u, %x5, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y5, %b : tensor<3x2xf32>

  %x6 = "stablehlo.triangular_solve"(%up, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y6 = stablehlo.dot_general %u, %x6, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y6, %b : tensor<3x2xf32>

  %x7 = "stablehlo.triangular_solve"(%up, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y7 = stablehlo.dot_general %u, %x7, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_almost_eq %y7, %b : tensor<3x2xf32>

  %x8 = "stablehlo.triangular_solve"(%up, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y8 = stablehlo.dot_general %x8, %u, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  check.expect_almost_eq %y8, %c : tensor<2x3xf32>

  %x9 = "stablehlo.triangular_solve"(%up, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y9 = stablehlo.dot_general %x9, %u, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  check.expect_almost_eq %y9, %c : tensor<2x3xf32>

  // a diagonal that counts as ones, in 16 bits, for a stack of two matrices
  %h = stablehlo.constant dense<[[[8.0, 8.0], [0.5, 8.0]], [[8.0, 8.0], [-2.0, 8.0]]]> : tensor<2x2x2xf16>
  %k = stablehlo.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf16>
  %xh = "stablehlo.triangular_solve"(%h, %k) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x2x2xf16>, tensor<2x2x1xf16>) -> tensor<2x2x1xf16>
  check.expect_eq_const %xh, dense<[[[1.0], [1.5]], [[3.0], [10.0]]]> : tensor<2x2x1xf16>

  // conjugates
  %z = stablehlo.constant dense<[[(0.0, 1.0), (9.0, 9.0)], [(1.0, 1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %w = stablehlo.constant dense<[[(1.0, 0.0)], [(0.0, 4.0)]]> : tensor<2x1xcomplex<f32>>
  %xz = "stablehlo.triangular_solve"(%z, %w) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  check.expect_almost_eq_const %xz, dense<[[(2.0, -1.0)], [(0.0, 2.0)]]> : tensor<2x1xcomplex<f32>>

  // l l^T, of which only one half is given
  %a = stablehlo.constant dense<[[[4.0, 77.0, 77.0], [2.0, 17.0, 77.0], [-2.0, 1.0, 5.25]], [[1.0, 77.0, 77.0], [0.0, 4.0, 77.0], [0.0, 0.0, 9.0]]]> : tensor<2x3x3xf32>
  %fl = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf32>
  check.expect_almost_eq_const %fl, dense<[[[2.0, 0.0, 0.0], [1.0, 4.0, 0.0], [-1.0, 0.5, 2.0]], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]]> : tensor<2x3x3xf32>
  %at = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %fu = stablehlo.cholesky %at, lower = false : tensor<2x3x3xf32>
  check.expect_almost_eq_const %fu, dense<[[[2.0, 1.0, -1.0], [0.0, 4.0, 0.5], [0.0, 0.0, 2.0]], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]]> : tensor<2x3x3xf32>
  return
}
