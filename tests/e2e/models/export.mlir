// The output of jax.export: attributes of frameworks, shardings, locations, resources.
#loc1 = loc("x")
!matrix = tensor<2x2xf32>
!pair = tuple<!matrix, tensor<f32>>
#loc2 = loc("jit(f)/jit(main)/dot_general"(#loc1))
module @jit_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  sdy.mesh @mesh = <["x"=2, "y"=1]>
  sdy.mesh @empty_mesh = <[]> loc(#loc)
  func.func public @main() {
    %x = stablehlo.constant dense<[[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]> : tensor<2x3xf32> loc(#loc3)
    %w = stablehlo.constant dense_resource<w> : tensor<3x2xf32>
    %0 = call @f(%x, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    check.expect_eq_const %0, dense<30.0> : tensor<2x2xf32>
    return
  }
  func.func public @f(%arg0: tensor<2x3xf32> {mhlo.layout_mode = "default", jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"), %arg1: tensor<3x2xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}", tf.aliasing_output = 0 : i32} loc(#loc1)) -> (tensor<2x2xf32> {jax.result_info = "result[0]", mhlo.layout_mode = "default"}) attributes {execution_thread = "main", xla_entry_computation_parameter_layouts = [dense<[1, 0]> : tensor<2xindex>]} {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(#loc2)
    %s = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<2x3xf32>
    %1 = stablehlo.dot_general %s, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc(#loc2)
    %2 = call @relu(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32> loc(#loc)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc)
    %3 = call @closed_call(%2, %cst) {mhlo.frontend_attributes = {a = "b"}} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %4 = stablehlo.add %3, %3 {mhlo.frontend_attributes = {_xla = "1"}, mhlo.sharding = "{replicated}"} : tensor<2x2xf32>
    %5 = stablehlo.custom_call @annotate_device_placement(%4) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a0 = stablehlo.custom_call @SPMDFullToShardShape(%5) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a1 = stablehlo.custom_call @SPMDShardToFullShape(%a0) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a1) {has_side_effect = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a3 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%a2) {has_side_effect = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a4 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%a3) {has_side_effect = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a5 = stablehlo.custom_call @MoveToHost(%a4) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a6 = stablehlo.custom_call @MoveToDevice(%a5) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a7 = stablehlo.custom_call @PinToDevice(%a6) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %a8 = stablehlo.get_dimension_size %a7, dim = 0 : (tensor<2x2xf32>) -> tensor<i32>
    %a9 = stablehlo.constant dense<1> : tensor<i32>
    %a10 = stablehlo.compare GE, %a8, %a9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%a10, %a8) {api_version = 2 : i32, error_message = "{0} is less than 1", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %6 = stablehlo.optimization_barrier %a7 : tensor<2x2xf32>
    return %6 : tensor<2x2xf32> loc(#loc)
  } loc(#loc)
  func.func private @elsewhere(tensor<3xf32> {jax.result_info = "x"}, !matrix) -> (tensor<3xf32>, !pair) attributes {a = 1 : i32}
  func.func private @nothing() loc(#loc)
  func.func private @relu(%arg0: !matrix {mhlo.layout_mode = "default"} loc(unknown)) -> (!matrix {mhlo.layout_mode = "default"}) {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> !matrix
    %1 = stablehlo.maximum %arg0, %0 : !matrix
    return %1 : !matrix
  }
  func.func private @closed_call(%arg0: tensor<2x2xf32>, %arg1: tensor<f32>) -> tensor<2x2xf32> {
    %0 = "stablehlo.reduce"(%arg0, %arg1) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<f32> loc("a"("/tmp/x.py":3:1 to :5)), %arg3: tensor<f32> loc(callsite(#loc1 at #loc2))):
      %9 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(#loc)
      stablehlo.return %9 : tensor<f32> loc(#loc)
    }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32> loc(#loc)
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc3 = loc("/home/u/f.py":12:8)
#loc4 = loc(fused<"meta">[#loc1, #loc3])
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F000080BF000000400000803F00008040"
    }
  }
#-}
