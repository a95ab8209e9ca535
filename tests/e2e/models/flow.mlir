// Control flow, regions, calls; the generic form; several processes.
module @flow {
  func.func private @double(%x: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %x, %x : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    // Fibonacci: the carried values are swapped.
    %0:3 = stablehlo.while(%i = %zero, %a = %zero, %b = %one) : tensor<i32>, tensor<i32>, tensor<i32>
      cond {
        %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %j, %b, %s : tensor<i32>, tensor<i32>, tensor<i32>
      }
    check.expect_eq_const %0#1, dense<5> : tensor<i32>
    check.expect_eq_const %0#2, dense<8> : tensor<i32>
    %1 = func.call @double(%0#2) : (tensor<i32>) -> tensor<i32>
    %p = stablehlo.compare GT, %1, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%p) ({
      %x = stablehlo.negate %1 : tensor<i32>
      stablehlo.return %x : tensor<i32>
    }, {
      stablehlo.return %n : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    check.expect_eq_const %2, dense<-16> : tensor<i32>
    %3 = "stablehlo.case"(%n) ({
      stablehlo.return %zero : tensor<i32>
    }, {
      stablehlo.return %one : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %3, dense<1> : tensor<i32>
    return
  }
}
// -----
"builtin.module"() <{sym_name = "generic"}> ({
  "func.func"() <{function_type = () -> (), sym_name = "main"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[3.0, 1.0, 2.0, 1.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %2:2 = "stablehlo.sort"(%0, %1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %l = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%l) : (tensor<i1>) -> ()
    }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    %e = "stablehlo.constant"() <{value = dense<[1, 3, 2, 0]> : tensor<4xi32>}> : () -> tensor<4xi32>
    "check.expect_eq"(%2#1, %e) : (tensor<4xi32>, tensor<4xi32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
func.func @sum(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  %1 = stablehlo.replica_id : tensor<ui32>
  return %0, %1 : tensor<2xi64>, tensor<ui32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %b = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  %0:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>, tensor<2xi64>, tensor<ui32>)
  check.expect_eq_const %0#0, dense<[4, 7]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<1> : tensor<ui32>
  return
}
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
  // One index is repeated, and one is out of range and ignored.
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
  // The same with dimension numbers, and with the kernel's dimensions in another order.
  %t = stablehlo.transpose %k, dims = [3, 2, 0, 1] : (tensor<2x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %3 = "stablehlo.convolution"(%i, %t) {dimension_numbers = #stablehlo.conv<raw
    input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2],
    kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 0, kernel_spatial_dimensions = [2, 3],
    output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>,
    padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x1xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x3x1xf32>
  check.expect_eq %3, %2 : tensor<1x1x3x1xf32>
  return
}
// -----
!inner = tuple<tensor<2xf32>, tensor<i1>>
!outer = tuple<tensor<i32>, !inner>
// Tuples as operands and results of calls, loops and branches.
func.func @f(%t: !outer) -> !outer {
  %0 = stablehlo.optimization_barrier %t : !outer
  return %0 : !outer
}
func.func @main() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %u = stablehlo.tuple %x, %p : !inner
  %t = stablehlo.tuple %one, %u : !outer
  %e = func.call @f(%t) : (!outer) -> !outer
  %w = stablehlo.while(%a = %e) : !outer cond {
    %i = stablehlo.get_tuple_element %a[0] : (!outer) -> tensor<i32>
    %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %i = stablehlo.get_tuple_element %a[0] : (!outer) -> tensor<i32>
    %v = stablehlo.get_tuple_element %a[1] : (!outer) -> !inner
    %y = stablehlo.get_tuple_element %v[0] : (!inner) -> tensor<2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.add %y, %y : tensor<2xf32>
    %q = stablehlo.get_tuple_element %v[1] : (!inner) -> tensor<i1>
    %n = stablehlo.not %q : tensor<i1>
    %vv = stablehlo.tuple %z, %n : !inner
    %r = stablehlo.tuple %j, %vv : !outer
    stablehlo.return %r : !outer
  }
  %b = "stablehlo.if"(%p) ({
    %k = stablehlo.get_tuple_element %w[1] : (!outer) -> !inner
    stablehlo.return %k : !inner
  }, {
    stablehlo.return %u : !inner
  }) : (tensor<i1>) -> !inner
  %r0 = stablehlo.get_tuple_element %b[0] : (!inner) -> tensor<2xf32>
  %r1 = stablehlo.get_tuple_element %b[1] : (!inner) -> tensor<i1>
  check.expect_eq_const %r0, dense<[512.0, 1024.0]> : tensor<2xf32>
  check.expect_eq_const %r1, dense<false> : tensor<i1>
  %d = "stablehlo.case"(%one) ({
    stablehlo.return %u : !inner
  }, {
    stablehlo.return %b : !inner
  }) : (tensor<i32>) -> !inner
  %d0 = stablehlo.get_tuple_element %d[0] : (!inner) -> tensor<2xf32>
  check.expect_eq_const %d0, dense<[512.0, 1024.0]> : tensor<2xf32>
  return
}
// -----
// Scalar regions that use values from outside, and contain loops and branches.
func.func @main() {
  %x = stablehlo.constant dense<[[3, 1, 2], [6, 5, 4]]> : tensor<2x3xi32>
  %b = stablehlo.optimization_barrier %x : tensor<2x3xi32>
  %s0 = stablehlo.slice %b [0:1, 0:1] : (tensor<2x3xi32>) -> tensor<1x1xi32>
  %k = stablehlo.reshape %s0 : (tensor<1x1xi32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%b init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
   reducer(%p: tensor<i32>, %q: tensor<i32>) {
    %1 = stablehlo.maximum %p, %q : tensor<i32>
    %2 = stablehlo.minimum %1, %k : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }
  %m = "stablehlo.map"(%b) ({
   ^bb0(%p: tensor<i32>):
    %1 = stablehlo.multiply %p, %k : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %m, dense<[[9, 3, 6], [18, 15, 12]]> : tensor<2x3xi32>
  // The distance from 3 decides.
  %s = "stablehlo.sort"(%b) ({
   ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.subtract %p, %k : tensor<i32>
    %2 = stablehlo.subtract %q, %k : tensor<i32>
    %3 = stablehlo.abs %1 : tensor<i32>
    %4 = stablehlo.abs %2 : tensor<i32>
    %5 = stablehlo.compare LT, %3, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %s, dense<[[3, 2, 1], [4, 5, 6]]> : tensor<2x3xi32>
  %w = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[[10, 20, 30], [1, 2, 3]]> : tensor<2x3xi32>
  %sc = "stablehlo.scatter"(%b, %w, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.multiply %q, %k : tensor<i32>
    %2 = stablehlo.add %p, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %sc, dense<[[3, 1, 2], [39, 71, 103]]> : tensor<2x3xi32>
  // The position of the largest element of each row gets k times the source.
  %sas = "stablehlo.select_and_scatter"(%b, %w, %zero) <{window_dimensions = array<i64: 1, 3>}> ({
   ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.subtract %p, %k : tensor<i32>
    %2 = stablehlo.subtract %q, %k : tensor<i32>
    %3 = stablehlo.compare GE, %1, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }, {
   ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.multiply %q, %k : tensor<i32>
    %2 = stablehlo.add %p, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %sas, dense<[[3, 0, 0], [3, 0, 0]]> : tensor<2x3xi32>
  %rw = "stablehlo.reduce_window"(%b, %zero) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>}> ({
   ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.maximum %p, %q : tensor<i32>
    %2 = stablehlo.minimum %1, %k : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %rw, dense<[[3, 3, 2], [3, 3, 3]]> : tensor<2x3xi32>
  check.expect_eq_const %0, dense<[3, 3]> : tensor<2xi32>
  // Loops and branches in a reducer: the larger of two if it is positive, by counting.
  %1 = stablehlo.reduce(%b init: %zero) across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
   reducer(%p: tensor<i32>, %q: tensor<i32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %p, %other = %q) : tensor<i32>, tensor<i32> cond {
      %c = stablehlo.compare LT, %i, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %other : tensor<i32>, tensor<i32>
    }
    %big = stablehlo.compare GT, %r#0, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = "stablehlo.if"(%big) ({
      stablehlo.return %r#0 : tensor<i32>
    }, {
      %g = stablehlo.maximum %p, %q : tensor<i32>
      stablehlo.return %g : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %h = "stablehlo.case"(%f) ({
      stablehlo.return %zero : tensor<i32>
    }, {
      stablehlo.return %one : tensor<i32>
    }, {
      %g = stablehlo.minimum %f, %r#0 : tensor<i32>
      stablehlo.return %g : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %h : tensor<i32>
  }
  check.expect_eq_const %1, dense<6> : tensor<i32>
  return
}
// -----
// Values that only dead operations use do not exist: a branch whose slice is unused lays out
// nothing.
func.func @main() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<6x4xi32>
  %x = stablehlo.add %i, %i : tensor<6x4xi32>
  %0 = "stablehlo.if"(%p) ({
    %d = stablehlo.dynamic_slice %x, %z, %z, sizes = [1, 4] : (tensor<6x4xi32>, tensor<i32>, tensor<i32>) -> tensor<1x4xi32>
    stablehlo.return %i : tensor<6x4xi32>
  }, {
    stablehlo.return %i : tensor<6x4xi32>
  }) : (tensor<i1>) -> tensor<6x4xi32>
  check.expect_eq %0, %i : tensor<6x4xi32>
  return
}
// -----
// A value that passes a barrier is not changed in place while others need it.
func.func @main() {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i = stablehlo.iota dim = 0 : tensor<6x4xi32>
  %w = stablehlo.constant dense<9> : tensor<1x4xi32>
  %u = stablehlo.constant dense<-7> : tensor<3x2xi32>
  %x = stablehlo.dynamic_update_slice %i, %w, %one, %z : (tensor<6x4xi32>, tensor<1x4xi32>, tensor<i32>, tensor<i32>) -> tensor<6x4xi32>
  %r = stablehlo.dynamic_slice %x, %one, %z, sizes = [1, 4] : (tensor<6x4xi32>, tensor<i32>, tensor<i32>) -> tensor<1x4xi32>
  %b = stablehlo.optimization_barrier %x : tensor<6x4xi32>
  %c = stablehlo.dynamic_slice %b, %one, %one, sizes = [3, 2] : (tensor<6x4xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
  %d = stablehlo.dynamic_update_slice %b, %u, %one, %one : (tensor<6x4xi32>, tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<6x4xi32>
  check.expect_eq_const %b, dense<[[0, 0, 0, 0], [9, 9, 9, 9], [2, 2, 2, 2], [3, 3, 3, 3], [4, 4, 4, 4], [5, 5, 5, 5]]> : tensor<6x4xi32>
  check.expect_eq_const %d, dense<[[0, 0, 0, 0], [9, -7, -7, 9], [2, -7, -7, 2], [3, -7, -7, 3], [4, 4, 4, 4], [5, 5, 5, 5]]> : tensor<6x4xi32>
  check.expect_eq_const %r, dense<9> : tensor<1x4xi32>
  check.expect_eq_const %c, dense<[[9, 9], [2, 2], [3, 3]]> : tensor<3x2xi32>
  return
}
// -----
// Reducers in wider types than their operands.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 256.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<2x4xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[259.0, 4.0]> : tensor<2xf32>
  %i = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %iz = stablehlo.constant dense<1> : tensor<i8>
  %w = "stablehlo.reduce_window"(%i, %iz) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<2xi32>
  check.expect_eq_const %w, dense<201> : tensor<2xi32>
  %at = stablehlo.constant dense<[[1], [1], [5]]> : tensor<3x1xi32>
  %sc = "stablehlo.scatter"(%i, %at, %i) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %s = stablehlo.add %a, %b : tensor<i16>
    stablehlo.return %s : tensor<i16>
  }) : (tensor<3xi8>, tensor<3x1xi32>, tensor<3xi8>) -> tensor<3xi16>
  check.expect_eq_const %sc, dense<[100, 300, 100]> : tensor<3xi16>
  %o = stablehlo.constant dense<[1.0, 3.0, 2.0, 5.0]> : tensor<4xf16>
  %src = stablehlo.constant dense<[60000.0, 60000.0, 1.0]> : tensor<3xf16>
  %hz = stablehlo.constant dense<0.0> : tensor<f16>
  %ss = "stablehlo.select_and_scatter"(%o, %src, %hz) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.compare GE, %a, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf16>, tensor<3xf16>, tensor<f16>) -> tensor<4xf32>
  check.expect_eq_const %ss, dense<[0.0, 120000.0, 0.0, 1.0]> : tensor<4xf32>
  return
}

// -----
// A sort without a dimension is along the last one.
func.func @main() {
  %x = stablehlo.constant dense<[[3, 1, 2], [0, 5, 4]]> : tensor<2x3xi32>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[1, 2, 3], [0, 4, 5]]> : tensor<2x3xi32>
  return
}

// -----
// Processes that run different functions meet in a collective: its region is that of either.
func.func @short(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
func.func @long(%x: tensor<2xi64>) -> tensor<2xi64> {
  %k = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
  %m = stablehlo.negate %k : tensor<2xi64>
  %n = stablehlo.negate %m : tensor<2xi64>
  %y = stablehlo.add %x, %n : tensor<2xi64>
  %0 = "stablehlo.all_reduce"(%y) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  %1 = stablehlo.add %0, %y : tensor<2xi64>
  %2 = stablehlo.subtract %1, %m : tensor<2xi64>
  return %2 : tensor<2xi64>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %b = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@long], [@short]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<[35, 69]> : tensor<2xi64>
  check.expect_eq_const %0#1, dense<[14, 27]> : tensor<2xi64>
  %1:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@short], [@long]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  check.expect_eq_const %1#0, dense<[14, 27]> : tensor<2xi64>
  check.expect_eq_const %1#1, dense<[37, 72]> : tensor<2xi64>
  return
}
