func.func @f() -> tensor<f32> {
  %0 = stablehlo.iota dim = 0 : ()
  return %0 : tensor<f32>
}
