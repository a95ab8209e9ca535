// Operations that pophlo expands into others. A script calculated the gradients as differences of
// the forward function.
func.func @main() {
  %x = stablehlo.constant dense<[[4.9000000e-01, 9.7000000e-01], [1.1800000e+00, 1.7700000e+00], [9.6000000e-01, 1.6900000e+00], [-1.8800000e+00, -1.4000000e-01]]> : tensor<4x2xf32>
  %scale = stablehlo.constant dense<[1.5000000e+00, 5.0000000e-01]> : tensor<2xf32>
  %offset = stablehlo.constant dense<[2.5000000e-01, -1.0000000e+00]> : tensor<2xf32>
  %g = stablehlo.constant dense<[[8.9000000e-01, 3.0000000e-01], [8.0000000e-01, -7.7000000e-01], [-6.0000000e-02, -5.1000000e-01], [9.0000000e-02, 1.5000000e-01]]> : tensor<4x2xf32>
  %y:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_almost_eq_const %y#0, dense<[[6.2198012e-01, -1.0668284e+00], [1.4704637e+00, -5.4524058e-01], [1.1999327e+00, -5.9739937e-01], [-2.2923765e+00, -1.7905316e+00]]> : tensor<4x2xf32>
  check.expect_almost_eq_const %y#1, dense<[1.8750000e-01, 1.0725000e+00]> : tensor<2xf32>
  check.expect_almost_eq_const %y#2, dense<[1.4869687e+00, 5.8711875e-01]> : tensor<2xf32>
  %d:3 = "stablehlo.batch_norm_grad"(%x, %scale, %y#1, %y#2, %g) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_almost_eq_const %d#0, dense<[[5.1373241e-01, 3.0063874e-01], [2.8462398e-01, -1.6093769e-01], [-7.3514387e-01, -1.5026366e-02], [-6.3212516e-02, -1.2467468e-01]]> : tensor<4x2xf32>
  check.expect_almost_eq_const %d#1, dense<[6.8108228e-01, -1.3882387e+00]> : tensor<2xf32>
  check.expect_almost_eq_const %d#2, dense<[1.7200000e+00, -8.3000000e-01]> : tensor<2xf32>
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %low = stablehlo.constant dense<[1, -1]> : tensor<2xi64>
  %none = stablehlo.constant dense<0> : tensor<2xi64>
  %p = stablehlo.dynamic_pad %a, %nine, %low, %none, %none : (tensor<2x2xi32>, tensor<i32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x1xi32>
  check.expect_eq_const %p, dense<[[9], [2], [4]]> : tensor<3x1xi32>
  %image = stablehlo.constant dense<[[[[1], [2]], [[3], [4]]]]> : tensor<1x2x2x1xi32>
  %kernel = stablehlo.constant dense<1> : tensor<2x2x1x1xi32>
  %pads = stablehlo.constant dense<[[1, 0], [0, 0]]> : tensor<2x2xi32>
  %c = "stablehlo.dynamic_conv"(%image, %kernel, %pads) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x2x2x1xi32>, tensor<2x2x1x1xi32>, tensor<2x2xi32>) -> tensor<1x2x1x1xi32>
  check.expect_eq_const %c, dense<[[[[3]], [[10]]]]> : tensor<1x2x1x1xi32>
  // Random numbers: all are in range, no two are alike, and means and spreads are as expected.
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %shape = stablehlo.constant dense<[4096]> : tensor<1xi64>
  %u = stablehlo.rng %one, %two, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4096xf32>
  // truth values from false up to true are all false
  %no = stablehlo.constant dense<false> : tensor<i1>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %falses = stablehlo.rng %no, %yes, %shape, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<1xi64>) -> tensor<4096xi1>
  check.expect_eq_const %falses, dense<false> : tensor<4096xi1>
  %n = "stablehlo.rng"(%one, %two, %shape) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4096xf32>
  %ulow = stablehlo.reduce(%u init: %two) applies stablehlo.minimum across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %uhigh = stablehlo.reduce(%u init: %one) applies stablehlo.maximum across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %below = stablehlo.compare GE, %ulow, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %above = stablehlo.compare LT, %uhigh, %two : (tensor<f32>, tensor<f32>) -> tensor<i1>
  check.expect_eq_const %below, dense<true> : tensor<i1>
  check.expect_eq_const %above, dense<true> : tensor<i1>
  %count = stablehlo.constant dense<4096.0> : tensor<f32>
  %usum = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %umean = stablehlo.divide %usum, %count : tensor<f32>
  %nsum = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %nmean = stablehlo.divide %nsum, %count : tensor<f32>
  %squares = stablehlo.multiply %n, %n : tensor<4096xf32>
  %nsquares = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %nsquare = stablehlo.divide %nsquares, %count : tensor<f32>
  // Mean 1.5, within 4 deviations of .0045; mean 1, within 4 of .031; mean square 5, within 4 of
  // .09.
  %tens = stablehlo.constant dense<50.0> : tensor<f32>
  %uround = stablehlo.multiply %umean, %tens : tensor<f32>
  %u75 = stablehlo.round_nearest_afz %uround : tensor<f32>
  check.expect_eq_const %u75, dense<75.0> : tensor<f32>
  %nround = stablehlo.multiply %nmean, %two : tensor<f32>
  %n2 = stablehlo.round_nearest_afz %nround : tensor<f32>
  check.expect_eq_const %n2, dense<2.0> : tensor<f32>
  %n5 = stablehlo.round_nearest_afz %nsquare : tensor<f32>
  check.expect_eq_const %n5, dense<5.0> : tensor<f32>
  // Each round of the loop draws other numbers: six numbers of 2^31 are different.
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %i1 = stablehlo.constant dense<1> : tensor<i32>
  %i6 = stablehlo.constant dense<6> : tensor<i32>
  %most = stablehlo.constant dense<2147483647> : tensor<i32>
  %scalar = stablehlo.constant dense<> : tensor<0xi64>
  %drawn = stablehlo.constant dense<0> : tensor<6xi32>
  %loop:2 = stablehlo.while(%i = %i0, %d0 = %drawn) : tensor<i32>, tensor<6xi32>
    cond {
      %t = stablehlo.compare LT, %i, %i6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %r = stablehlo.rng %i0, %most, %scalar, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<0xi64>) -> tensor<i32>
      %r1 = stablehlo.reshape %r : (tensor<i32>) -> tensor<1xi32>
      %d1 = stablehlo.dynamic_update_slice %d0, %r1, %i : (tensor<6xi32>, tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
      %j = stablehlo.add %i, %i1 : tensor<i32>
      stablehlo.return %j, %d1 : tensor<i32>, tensor<6xi32>
    }
  %rows = stablehlo.broadcast_in_dim %loop#1, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
  %columns = stablehlo.broadcast_in_dim %loop#1, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
  %same = stablehlo.compare EQ, %rows, %columns : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %ones = stablehlo.convert %same : (tensor<6x6xi1>) -> tensor<6x6xi32>
  %alike = stablehlo.reduce(%ones init: %i0) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x6xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %alike, dense<6> : tensor<i32>
  return
}
// -----
// Other expansions: einsum and index_select of torch and TensorFlow, broadcasts of chlo, random
// words and regions of JAX.
func.func @main() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[1.0, 0.5], [2.0, -1.0]]> : tensor<2x2xf32>
  %0 = stablehlo.einsum %a, %b, config = "ij,kj->ki" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[2.0, 5.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %1 = "stablehlo.einsum"(%a, %b) <{einsum_config = "bi,bj->bji"}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  check.expect_eq_const %1, dense<[[[1.0, 2.0], [0.5, 1.0]], [[6.0, 8.0], [-3.0, -4.0]]]> : tensor<2x2x2xf32>
  // i is a summed label of one operand; the result has no dimension.
  %2 = stablehlo.einsum %a, %b, config = "ij,jk->" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  check.expect_eq_const %2, dense<12.0> : tensor<f32>
  %3 = stablehlo.unary_einsum %a, config = "...i->i..." : (tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %3, dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %4 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->j"}> : (tensor<2x2xf32>) -> tensor<2xf32>
  check.expect_eq_const %4, dense<[4.0, 6.0]> : tensor<2xf32>
  %x = stablehlo.iota dim = 0 : tensor<12xi32>
  %x2 = stablehlo.reshape %x : (tensor<12xi32>) -> tensor<2x3x2xi32>
  %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi64>
  %5 = "stablehlo.torch_index_select"(%x2, %i) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x3x2xi32>, tensor<2x2xi64>) -> tensor<2x2x2xi32>
  check.expect_eq_const %5, dense<[[[4, 5], [0, 1]], [[8, 9], [8, 9]]]> : tensor<2x2x2xi32>
  %j = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi32>
  %6 = "stablehlo.torch_index_select"(%x2, %j) {dim = 2 : i64, batch_dims = 0 : i64} : (tensor<2x3x2xi32>, tensor<3xi32>) -> tensor<2x3x3xi32>
  check.expect_eq_const %6, dense<[[[1, 0, 1], [3, 2, 3], [5, 4, 5]], [[7, 6, 7], [9, 8, 9], [11, 10, 11]]]> : tensor<2x3x3xi32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %7 = stablehlo.set_dimension_size %x2, %n, dim = 1 : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<2x3x2xi32>
  check.expect_eq %7, %x2 : tensor<2x3x2xi32>
  %8 = chlo.broadcast_add %x2, %n : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<2x3x2xi32>
  %c = chlo.constant dense<[[[0], [1], [10]]]> : tensor<1x3x1xi32>
  %9 = chlo.broadcast_compare %8, %c {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3x2xi32>, tensor<1x3x1xi32>) -> tensor<2x3x2xi1>
  %k = "chlo.constant_like"(%x2) {value = -1 : i32} : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
  %10 = chlo.broadcast_select %9, %k, %c : (tensor<2x3x2xi1>, tensor<2x3x2xi32>, tensor<1x3x1xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %10, dense<[[[0, 0], [1, 1], [-1, -1]], [[0, 0], [1, 1], [10, 10]]]> : tensor<2x3x2xi32>
  %v = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %11 = "chlo.broadcast_multiply"(%v, %x2) {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %11, dense<[[[0, 1], [2, 3], [4, 5]], [[12, 14], [16, 18], [20, 22]]]> : tensor<2x3x2xi32>
  // The known answers of the authors' test vectors.
  %k0 = stablehlo.constant dense<[0, 0xffffffff, 0x13198a2e]> : tensor<3xui32>
  %k1 = stablehlo.constant dense<[0, 0xffffffff, 0x03707344]> : tensor<3xui32>
  %w0 = stablehlo.constant dense<[0, 0xffffffff, 0x243f6a88]> : tensor<3xui32>
  %w1 = stablehlo.constant dense<[0, 0xffffffff, 0x85a308d3]> : tensor<3xui32>
  %12:2 = stablehlo.custom_call @cu_threefry2x32_ffi(%k0, %k1, %w0, %w1) {api_version = 4 : i32, backend_config = {}, operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]} : (tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
  check.expect_eq_const %12#0, dense<[0x6b200159, 0x1cb996fc, 0xc4923a9c]> : tensor<3xui32>
  check.expect_eq_const %12#1, dense<[0x99ba4efe, 0xbb002be7, 0x483df7a0]> : tensor<3xui32>
  return
}
// -----
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  func.func public @main(%arg0: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<2x2xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}p0, {?}]>}) {
    %c = sdy.constant dense<1.0> : tensor<2xf32>
    %0 = sdy.manual_computation(%arg0, %c) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2x2xf32>, %arg3: tensor<2xf32>) {
      %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
      %2 = stablehlo.add %arg2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<2x2xf32>
      sdy.return %2 : tensor<2x2xf32>
    } : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %3 = sdy.reshard %0 <@mesh, [{"x"}, {}]> : tensor<2x2xf32>
    %4 = "sdy.manual_computation"(%3) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}> ({
    ^bb0(%arg4: tensor<2x2xf32>):
      %5 = stablehlo.subtract %arg4, %arg0 : tensor<2x2xf32>
      sdy.return %5 : tensor<2x2xf32>
    }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    check.expect_eq_const %4, dense<1.0> : tensor<2x2xf32>
    return %4 : tensor<2x2xf32>
  }
}
// -----
// LAPACK and BLAS calls as JAX makes them on CPUs: [[4, 2], [2, 5]] = [[2, 0], [1, 2]] [[2, 1], [0,
// 2]].
func.func @main() {
  %a = stablehlo.constant dense<[[[4.0, 2.0], [2.0, 5.0]], [[9.0, 3.0], [3.0, 2.0]]]> : tensor<2x2x2xf32>
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xi32>)
  check.expect_eq_const %0#1, dense<0> : tensor<2xi32>
  %r = stablehlo.iota dim = 1 : tensor<2x2x2xi32>
  %c = stablehlo.iota dim = 2 : tensor<2x2x2xi32>
  %p = stablehlo.compare GE, %r, %c, SIGNED : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi1>
  %z = stablehlo.constant dense<0.0> : tensor<2x2x2xf32>
  %l = stablehlo.select %p, %0#0, %z : tensor<2x2x2xi1>, tensor<2x2x2xf32>
  check.expect_almost_eq_const %l, dense<[[[2.0, 0.0], [1.0, 2.0]], [[3.0, 0.0], [1.0, 1.0]]]> : tensor<2x2x2xf32>
  %m = stablehlo.slice %l [0:1, 0:2, 0:2] : (tensor<2x2x2xf32>) -> tensor<1x2x2xf32>
  %k = stablehlo.reshape %m : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0, 4.0], [7.0, 4.0]]> : tensor<2x2xf32>
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%k, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_almost_eq_const %1, dense<[[1.0, 2.0], [3.0, 1.0]]> : tensor<2x2xf32>
  %2 = stablehlo.custom_call @lapack_strsm_ffi(%k, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_almost_eq_const %2, dense<[[2.0, 2.0], [7.0, -3.0]]> : tensor<2x2xf32>
  return
}
