// Data movement, small (in codelets) and large (views).
func.func @main() {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %1, dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
  %2 = stablehlo.reverse %0, dims = [1] : tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[2, 1, 0], [2, 1, 0]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<9> : tensor<i32>
  %3 = stablehlo.pad %0, %z, low = [0, -1], high = [1, 1], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  check.expect_eq_const %3, dense<[[1, 2, 9], [9, 9, 9], [1, 2, 9], [9, 9, 9]]> : tensor<4x3xi32>
  %4 = stablehlo.concatenate %0, %2, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  %5 = stablehlo.slice %4 [1:4:2, 0:2] : (tensor<4x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %5, dense<[[0, 1], [2, 1]]> : tensor<2x2xi32>
  %far = stablehlo.constant dense<100> : tensor<i64>
  %6 = stablehlo.dynamic_slice %4, %far, %far, sizes = [1, 2] : (tensor<4x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>
  check.expect_eq_const %6, dense<[[1, 0]]> : tensor<1x2xi32>
  %7 = stablehlo.bitcast_convert %1 : (tensor<3x2xi32>) -> tensor<3x2x2xi16>
  %8 = stablehlo.bitcast_convert %7 : (tensor<3x2x2xi16>) -> tensor<3x2xi32>
  check.expect_eq %8, %1 : tensor<3x2xi32>
  %w = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %9 = "stablehlo.gather"(%1, %w) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  check.expect_eq_const %9, dense<[[2, 2], [0, 0]]> : tensor<2x2xi32>
  %10 = stablehlo.iota dim = 0 : tensor<100x90xi32>
  %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<100x90xi32>) -> tensor<90x100xi32>
  %12 = stablehlo.iota dim = 1 : tensor<90x100xi32>
  check.expect_eq %11, %12 : tensor<90x100xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %13 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100x90xi32>, tensor<i32>) -> tensor<90xi32>
  check.expect_eq_const %13, dense<4950> : tensor<90xi32>
  %none = stablehlo.slice %0 [0:0, 0:3] : (tensor<2x3xi32>) -> tensor<0x3xi32>
  %14 = stablehlo.concatenate %none, %0, dim = 0 : (tensor<0x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq %14, %0 : tensor<2x3xi32>
  %a = stablehlo.constant dense<[[2.0, 9.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[4.0], [18.0]]> : tensor<2x1xf32>
  %15 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %15, dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %16 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %16, dense<[[-50.0], [18.0]]> : tensor<2x1xf32>
  %17 = stablehlo.reshape %b : (tensor<2x1xf32>) -> tensor<1x2xf32>
  %18 = "stablehlo.triangular_solve"(%a, %17) <{left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %18, dense<[[2.0, 0.0]]> : tensor<1x2xf32>
  return
}
// -----
// A slice of a table with equal elements needs no table, however large it is.
func.func @main() {
  %x = stablehlo.constant dense<7.0> : tensor<65536x1024xf64>
  %i = stablehlo.constant dense<[[0, 0], [3, 31], [70000, -1]]> : tensor<3x2xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<65536x1024xf64>, tensor<3x2xi64>) -> tensor<3xf64>
  check.expect_eq_const %0, dense<7.0> : tensor<3xf64>
  %j = stablehlo.constant dense<5> : tensor<i32>
  %k = stablehlo.optimization_barrier %j : tensor<i32>
  %1 = stablehlo.dynamic_slice %x, %k, %k, sizes = [1, 2] : (tensor<65536x1024xf64>, tensor<i32>, tensor<i32>) -> tensor<1x2xf64>
  check.expect_eq_const %1, dense<7.0> : tensor<1x2xf64>
  return
}

// -----
// An update without elements changes nothing.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<8192xi32>
  %none = stablehlo.constant dense<> : tensor<0xi32>
  %i = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %none, %i : (tensor<8192xi32>, tensor<0xi32>, tensor<i32>) -> tensor<8192xi32>
  check.expect_eq %0, %x : tensor<8192xi32>
  return
}

// -----
// Windows over a scalar have one element.
func.func @main() {
  %x = stablehlo.constant dense<3> : tensor<i32>
  %y = stablehlo.constant dense<5> : tensor<i32>
  %0 = "stablehlo.select_and_scatter"(%x, %y, %x) <{window_dimensions = array<i64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<8> : tensor<i32>
  return
}
// -----
// As many dimensions as there can be.
func.func @main() {
  %x = stablehlo.iota dim = 15 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.pad %x, %nine, low = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], high = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>, tensor<i32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x6xi32>
  %1 = stablehlo.reshape %0 : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x6xi32>) -> tensor<6xi32>
  check.expect_eq_const %1, dense<[9, 0, 9, 1, 9, 2]> : tensor<6xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.slice %x [0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 0:1, 1:3] : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xi32>
  %3 = stablehlo.dynamic_update_slice %x, %2, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z, %z : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>, tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>
  %4 = stablehlo.reshape %3 : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %4, dense<[1, 2, 2]> : tensor<3xi32>
  return
}
// -----
// A number that begins with 0 is not octal.
func.func @main() {
  %0 = stablehlo.constant dense<[010, 8, -09]> : tensor<3xi32>
  check.expect_eq_const %0, dense<[10, 8, -9]> : tensor<3xi32>
  %1 = stablehlo.iota dim = 0 : tensor<12xi32>
  %2 = stablehlo.slice %1 [08:010] : (tensor<12xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[8, 9]> : tensor<2xi32>
  %3 = "stablehlo.slice"(%1) <{start_indices = array<i64: 8>, limit_indices = array<i64: 010>, strides = array<i64: 1>}> : (tensor<12xi32>) -> tensor<2xi32>
  check.expect_eq %3, %2 : tensor<2xi32>
  return
}
// -----
// The largest 0 elements.
func.func @main() {
  %0 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %1:2 = chlo.top_k(%0, k = 0) : tensor<2x3xi32> -> (tensor<2x0xi32>, tensor<2x0xi32>)
  check.expect_eq_const %1#0, dense<> : tensor<2x0xi32>
  check.expect_eq_const %1#1, dense<> : tensor<2x0xi32>
  return
}
// -----
// Windows over elements that are dilated to more than 2^31.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<4096xi32>
  %x = stablehlo.optimization_barrier %i : tensor<4096xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %threes = stablehlo.constant dense<3> : tensor<4096xi32>
  %three_x = stablehlo.multiply %x, %threes : tensor<4096xi32>
  %wanted = stablehlo.slice %three_x [1:4095] : (tensor<4096xi32>) -> tensor<4094xi32>
  %sums = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) {window_dimensions = array<i64: 3>, base_dilations = array<i64: 1048573>, window_strides = array<i64: 1048573>,
      window_dilations = array<i64: 1048573>} : (tensor<4096xi32>, tensor<i32>) -> tensor<4094xi32>
  check.expect_eq %sums, %wanted : tensor<4094xi32>
  %input = stablehlo.reshape %x : (tensor<4096xi32>) -> tensor<1x4096x1xi32>
  %kernel = stablehlo.constant dense<1> : tensor<3x1x1xi32>
  %products = stablehlo.convolution(%input, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {stride = [1048573], lhs_dilate = [1048573], rhs_dilate = [1048573]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4096x1xi32>, tensor<3x1x1xi32>) -> tensor<1x4094x1xi32>
  %flat = stablehlo.reshape %products : (tensor<1x4094x1xi32>) -> tensor<4094xi32>
  check.expect_eq %flat, %wanted : tensor<4094xi32>
  return
}
// -----
// An index of 64 bits without a sign is never before the tensor.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<4xi32>
  %c = stablehlo.constant dense<[[18446744073709551615], [2], [9223372036854775808]]> : tensor<3x1xui64>
  %w = stablehlo.optimization_barrier %c : tensor<3x1xui64>
  %u = stablehlo.constant dense<10> : tensor<3x3xi32>
  %y = "stablehlo.scatter"(%x, %w, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<4xi32>, tensor<3x1xui64>, tensor<3x3xi32>) -> tensor<4xi32>
  check.expect_eq_const %y, dense<[0, 1, 12, 13]> : tensor<4xi32>
  return
}
