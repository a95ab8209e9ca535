func.func @sum(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>) {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  %1 = stablehlo.replica_id : tensor<ui32>
  return %0, %1 : tensor<2xi64>, tensor<ui32>
}
func.func @main() {
  %a = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
  %b = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  %0:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>, tensor<2xi64>, tensor<ui32>)
  check.expect_eq_const %0#0, dense<[4, 7]> : tensor<2xi64>
  check.expect_eq_const %0#3, dense<1> : tensor<ui32>
  return
}
