module @jit_fft {
  func.func public @main() {
    %x = stablehlo.constant dense<[1.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
    %0 = stablehlo.fft %x, type =  RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    check.expect_almost_eq_const %1, dense<1.0> : tensor<3xf32>
    %2 = stablehlo.fft %0, type =  IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
    check.expect_almost_eq %2, %x : tensor<4xf32>
    %3 = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
    %4 = stablehlo.abs %3 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    check.expect_almost_eq_const %4, dense<[1.4142135, 0.0, 0.0, 0.0]> : tensor<4xf32>
    return
  }
}
// -----
#loc = loc(unknown)
#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %cst = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<2x2xf32> loc(#loc)
    %0 = call @inner(%cst) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc(#loc9)
    check.expect_eq_const %0, dense<[[1.0, 4.0], [9.0, 16.0]]> : tensor<2x2xf32> loc(#loc5)
    return loc(#loc)
  } loc(#loc)
  func.func private @inner(%arg0: tensor<2x2xf32> {mhlo.sharding = "{replicated}"} loc("jit(f)/jit(main)/pjit"("<stdin>":1:2))) -> (tensor<2x2xf32> {jax.result_info = ""}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x2xf32> loc(#loc5)
    return %0 : tensor<2x2xf32> loc(#loc)
  } loc(#loc9)
} loc(#loc)
#loc2 = loc("<stdin>":3:4)
#loc3 = loc("f"(#loc2))
#loc4 = loc(callsite(#loc3 at #loc2))
#loc5 = loc("jit(f)/jit(main)/mul"(#loc4))
#loc9 = loc(fused<{name = "x"}>[#loc1, #loc2, "y"])
// -----
module @jit_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %xs = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %ys = stablehlo.constant dense<0.0> : tensor<4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %xs, %iterArg_1 = %c, %iterArg_2 = %cst, %iterArg_3 = %ys) : tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<4xf32>
     cond {
      %c_9 = stablehlo.constant dense<4> : tensor<i32>
      %1 = stablehlo.compare  LT, %iterArg_1, %c_9,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.dynamic_slice %iterArg, %iterArg_1, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
      %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
      %c_5 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.remainder %iterArg_1, %c_5 : tensor<i32>
      %c_6 = stablehlo.constant dense<2> : tensor<i32>
      %4 = stablehlo.clamp %c_4, %3, %c_6 : tensor<i32>
      %5 = "stablehlo.case"(%4) ({
        %10 = stablehlo.add %iterArg_2, %2 : tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }, {
        %10 = func.call @mul(%iterArg_2, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }, {
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %7 = stablehlo.dynamic_update_slice %iterArg_3, %6, %iterArg_1 : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg_1, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %8, %5, %7 : tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<4xf32>
    }
    check.expect_eq_const %0#3, dense<[1.0, 2.0, 3.0, 7.0]> : tensor<4xf32>
    return
  }
  func.func private @mul(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
}
// -----
module @jit_f attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{}"}, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  func.func public @main() {
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<2xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.composite "chlo.erf" %2 {decomposition = @erf.impl, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %3, dense<[0.842701, 0.995322]> : tensor<2xf32>
    return
  }
  func.func private @erf.impl(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = chlo.erf %arg0 : tensor<2xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// -----
// Operations of mhlo and chlo as custom_call: a dictionary has their attributes.
module @calls {
  func.func public @main() {
    %i = stablehlo.constant dense<[[3, 1, 4, 1, 5], [-9, 2, -6, 5, 3]]> : tensor<2x5xi32>
    %0:2 = stablehlo.custom_call @mhlo.topk(%i) {mhlo.attributes = {k = 3 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<2x5xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
    check.expect_eq_const %0#0, dense<[[1, 1, 3], [-9, -6, 2]]> : tensor<2x3xi32>
    check.expect_eq_const %0#1, dense<[[1, 3, 0], [0, 2, 1]]> : tensor<2x3xi32>
    %1:2 = stablehlo.custom_call @mhlo.topk(%i) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<2x5xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
    check.expect_eq_const %1#1, dense<[[4, 2, 0], [3, 4, 1]]> : tensor<2x3xi32>
    // NaN comes last; the negative zero comes before the positive one
    %f = stablehlo.constant dense<[0x7FC00000, 0.0, -0.0, 1.0, 0.0, 0x7F800000, 0xFF800000]> : tensor<7xf32>
    %2:2 = stablehlo.custom_call @mhlo.topk(%f) {mhlo.attributes = {k = 7 : i64, largest = false}} : (tensor<7xf32>) -> (tensor<7xf32>, tensor<7xi32>)
    check.expect_eq_const %2#1, dense<[6, 2, 1, 4, 3, 5, 0]> : tensor<7xi32>
    %u = stablehlo.constant dense<[18446744073709551615, 1, 9223372036854775808, 2]> : tensor<4xui64>
    %3:2 = "mhlo.topk"(%u) <{k = 2 : i64, largest = false}> : (tensor<4xui64>) -> (tensor<2xui64>, tensor<2xi32>)
    check.expect_eq_const %3#0, dense<[1, 2]> : tensor<2xui64>
    %h = stablehlo.constant dense<0.5> : tensor<2xf32>
    %e0 = stablehlo.custom_call @mhlo.tan(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e0, dense<0.546302> : tensor<2xf32>
    %e1 = stablehlo.custom_call @mhlo.asin(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e1, dense<0.523599> : tensor<2xf32>
    %e2 = stablehlo.custom_call @mhlo.acos(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e2, dense<1.047198> : tensor<2xf32>
    %e3 = stablehlo.custom_call @mhlo.atan(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e3, dense<0.463648> : tensor<2xf32>
    %e4 = stablehlo.custom_call @mhlo.sinh(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e4, dense<0.521095> : tensor<2xf32>
    %e5 = stablehlo.custom_call @mhlo.cosh(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e5, dense<1.127626> : tensor<2xf32>
    %e6 = stablehlo.custom_call @mhlo.asinh(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e6, dense<0.481212> : tensor<2xf32>
    %e7 = stablehlo.custom_call @mhlo.atanh(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e7, dense<0.549306> : tensor<2xf32>
    %e8 = stablehlo.custom_call @mhlo.erf(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e8, dense<0.5205> : tensor<2xf32>
    %e9 = stablehlo.custom_call @mhlo.erf_inv(%h) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e9, dense<0.476936> : tensor<2xf32>
    %two = stablehlo.constant dense<2.0> : tensor<2xf32>
    %e10 = stablehlo.custom_call @mhlo.acosh(%two) : (tensor<2xf32>) -> tensor<2xf32>
    check.expect_almost_eq_const %e10, dense<1.316958> : tensor<2xf32>
    return
  }
}
