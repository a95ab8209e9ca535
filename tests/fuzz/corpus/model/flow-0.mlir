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
    // Fibonacci: the carried values change places.
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
