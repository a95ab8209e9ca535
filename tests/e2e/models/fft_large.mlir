// Long Fourier transforms of several rows. Row r has a 1 at position r, so its transform is cosines
// and sines. A vertex that makes elements of two rows must not need both rows. Ten is added before
// the comparison, because signs of zeros differ.
module @fft_large {
  func.func public @main() {
    %r = stablehlo.iota dim = 0 : tensor<16x8192xi32>
    %k = stablehlo.iota dim = 1 : tensor<16x8192xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<16x8192xf32>
    %one = stablehlo.constant dense<1.0> : tensor<16x8192xf32>
    %ten = stablehlo.constant dense<10.0> : tensor<16x8192xf32>
    %is = stablehlo.compare EQ, %k, %r : (tensor<16x8192xi32>, tensor<16x8192xi32>) -> tensor<16x8192xi1>
    %x = stablehlo.select %is, %one, %zero : tensor<16x8192xi1>, tensor<16x8192xf32>
    %z = stablehlo.complex %x, %zero : tensor<16x8192xcomplex<f32>>
    %f = stablehlo.fft %z, type = FFT, length = [8192] : (tensor<16x8192xcomplex<f32>>) -> tensor<16x8192xcomplex<f32>>
    %n = stablehlo.constant dense<8192> : tensor<16x8192xi32>
    %unit = stablehlo.constant dense<-7.6699039394282062e-4> : tensor<16x8192xf32>
    %a0 = stablehlo.multiply %k, %r : tensor<16x8192xi32>
    %a1 = stablehlo.remainder %a0, %n : tensor<16x8192xi32>
    %a2 = stablehlo.convert %a1 : (tensor<16x8192xi32>) -> tensor<16x8192xf32>
    %a = stablehlo.multiply %a2, %unit : tensor<16x8192xf32>
    %c = stablehlo.cosine %a : tensor<16x8192xf32>
    %s = stablehlo.sine %a : tensor<16x8192xf32>
    %fr = stablehlo.real %f : (tensor<16x8192xcomplex<f32>>) -> tensor<16x8192xf32>
    %fi = stablehlo.imag %f : (tensor<16x8192xcomplex<f32>>) -> tensor<16x8192xf32>
    %fr10 = stablehlo.add %fr, %ten : tensor<16x8192xf32>
    %fi10 = stablehlo.add %fi, %ten : tensor<16x8192xf32>
    %c10 = stablehlo.add %c, %ten : tensor<16x8192xf32>
    %s10 = stablehlo.add %s, %ten : tensor<16x8192xf32>
    check.expect_almost_eq %fr10, %c10 : tensor<16x8192xf32>, tensor<16x8192xf32>
    check.expect_almost_eq %fi10, %s10 : tensor<16x8192xf32>, tensor<16x8192xf32>
    return
  }
}
