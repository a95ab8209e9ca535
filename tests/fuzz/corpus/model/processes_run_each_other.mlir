func.func @p() {
"interpreter.run_parallel"() {programs = [[@q]]} : () -> ()
return }
func.func @q() {
"interpreter.run_parallel"() {programs = [[@p]]} : () -> ()
return }
func.func @main() {
"interpreter.run_parallel"() {programs = [[@p]]} : () -> ()
return }
