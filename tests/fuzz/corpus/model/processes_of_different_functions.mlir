
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
