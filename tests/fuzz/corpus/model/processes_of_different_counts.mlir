func.func @one(%x: tensor<2xi64>) -> tensor<4xi64> {
%0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<4xi64>
return %0 : tensor<4xi64> }
func.func @two(%x: tensor<2xi64>) -> tensor<4xi64> {
%0:2 = "stablehlo.all_gather"(%x, %x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>)
return %0#0 : tensor<4xi64> }
func.func @main() {
%a = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
%0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@one], [@two]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>)
return }
