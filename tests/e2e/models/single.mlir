// Collectives of a module that runs as one process: each has only that process.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %n = stablehlo.negate %x : tensor<2xf32>
  %sum = "stablehlo.all_reduce"(%n) <{replica_groups = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %all = "stablehlo.all_gather"(%sum) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  %p = "stablehlo.collective_permute"(%all) <{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %p, dense<[-1.0, -2.0]> : tensor<2xf32>
  %replica = stablehlo.replica_id : tensor<ui32>
  %partition = "stablehlo.partition_id"() : () -> tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %both = stablehlo.add %replica, %partition : tensor<ui32>
  %next = stablehlo.add %both, %one : tensor<ui32>
  check.expect_eq_const %next, dense<1> : tensor<ui32>
  check.expect_eq_const %replica, dense<0> : tensor<ui32>
  return
}
