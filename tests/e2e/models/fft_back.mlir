// Transforms that are made in steps (runtime/models/expand_fft.c), there and back, of few elements.
// fft_long.mlir has more of them, and takes long on both engines. One is added before the
// comparison, because signs of zeros differ.
module @fft_back {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<72xf32>
    %one = stablehlo.constant dense<1.0> : tensor<72xf32>
    %i = stablehlo.iota dim = 0 : tensor<72xf32>
    %want = stablehlo.add %i, %one : tensor<72xf32>
    %c = stablehlo.complex %i, %zero : tensor<72xcomplex<f32>>
    %f = stablehlo.fft %c, type = FFT, length = [72] : (tensor<72xcomplex<f32>>) -> tensor<72xcomplex<f32>>
    %g = stablehlo.fft %f, type = IFFT, length = [72] : (tensor<72xcomplex<f32>>) -> tensor<72xcomplex<f32>>
    %r = stablehlo.real %g : (tensor<72xcomplex<f32>>) -> tensor<72xf32>
    %a = stablehlo.add %r, %one : tensor<72xf32>
    check.expect_almost_eq %a, %want : tensor<72xf32>, tensor<72xf32>
    %h = stablehlo.fft %i, type = RFFT, length = [72] : (tensor<72xf32>) -> tensor<37xcomplex<f32>>
    %b = stablehlo.fft %h, type = IRFFT, length = [72] : (tensor<37xcomplex<f32>>) -> tensor<72xf32>
    %d = stablehlo.add %b, %one : tensor<72xf32>
    check.expect_almost_eq %d, %want : tensor<72xf32>, tensor<72xf32>
    return
  }
}
