func.func @p() {
%0 = stablehlo.create_token : !stablehlo.token
%1 = "stablehlo.infeed"(%0) : (!stablehlo.token) -> !stablehlo.token
return }
func.func @main() {
"interpreter.run_parallel"() {programs = [[@p]], infeed = [@main]} : () -> ()
return }
