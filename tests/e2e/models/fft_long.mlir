// Fourier transforms of lengths that are made in steps (runtime/models/expand_fft.c): of inputs
// with a known closed form, there and back, and of several dimensions in sequence. Ten is added
// before the comparison, because signs of zeros differ.
module @fft_long {
  func.func private @compare(%a: tensor<2x96xcomplex<f32>>, %b: tensor<2x96xcomplex<f32>>) {
    %ten = stablehlo.constant dense<10.0> : tensor<2x96xf32>
    %ar = stablehlo.real %a : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xf32>
    %br = stablehlo.real %b : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xf32>
    %ar10 = stablehlo.add %ar, %ten : tensor<2x96xf32>
    %br10 = stablehlo.add %br, %ten : tensor<2x96xf32>
    check.expect_almost_eq %ar10, %br10 : tensor<2x96xf32>, tensor<2x96xf32>
    %ai = stablehlo.imag %a : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xf32>
    %bi = stablehlo.imag %b : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xf32>
    %ai10 = stablehlo.add %ai, %ten : tensor<2x96xf32>
    %bi10 = stablehlo.add %bi, %ten : tensor<2x96xf32>
    check.expect_almost_eq %ai10, %bi10 : tensor<2x96xf32>, tensor<2x96xf32>
    return
  }
  func.func public @main() {
    // 1 at position p and 2 at position q, of 96: cosines and sines. The other row has other
    // positions.
    %i = stablehlo.iota dim = 1 : tensor<2x96xi32>
    %p = stablehlo.constant dense<[[5], [31]]> : tensor<2x1xi32>
    %q = stablehlo.constant dense<[[50], [90]]> : tensor<2x1xi32>
    %ps = stablehlo.broadcast_in_dim %p, dims = [0, 1] : (tensor<2x1xi32>) -> tensor<2x96xi32>
    %qs = stablehlo.broadcast_in_dim %q, dims = [0, 1] : (tensor<2x1xi32>) -> tensor<2x96xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<2x96xf32>
    %one = stablehlo.constant dense<1.0> : tensor<2x96xf32>
    %two = stablehlo.constant dense<2.0> : tensor<2x96xf32>
    %isp = stablehlo.compare EQ, %i, %ps : (tensor<2x96xi32>, tensor<2x96xi32>) -> tensor<2x96xi1>
    %isq = stablehlo.compare EQ, %i, %qs : (tensor<2x96xi32>, tensor<2x96xi32>) -> tensor<2x96xi1>
    %xp = stablehlo.select %isp, %one, %zero : tensor<2x96xi1>, tensor<2x96xf32>
    %x = stablehlo.select %isq, %two, %xp : tensor<2x96xi1>, tensor<2x96xf32>
    %z = stablehlo.complex %x, %zero : tensor<2x96xcomplex<f32>>
    %n = stablehlo.constant dense<96> : tensor<2x96xi32>
    %unit = stablehlo.constant dense<0.065449846949787352> : tensor<2x96xf32>
    %a0 = stablehlo.multiply %i, %ps : tensor<2x96xi32>
    %a1 = stablehlo.remainder %a0, %n : tensor<2x96xi32>
    %a2 = stablehlo.convert %a1 : (tensor<2x96xi32>) -> tensor<2x96xf32>
    %a = stablehlo.multiply %a2, %unit : tensor<2x96xf32>
    %b0 = stablehlo.multiply %i, %qs : tensor<2x96xi32>
    %b1 = stablehlo.remainder %b0, %n : tensor<2x96xi32>
    %b2 = stablehlo.convert %b1 : (tensor<2x96xi32>) -> tensor<2x96xf32>
    %b = stablehlo.multiply %b2, %unit : tensor<2x96xf32>
    %ca = stablehlo.cosine %a : tensor<2x96xf32>
    %cb = stablehlo.cosine %b : tensor<2x96xf32>
    %cb2 = stablehlo.multiply %cb, %two : tensor<2x96xf32>
    %re = stablehlo.add %ca, %cb2 : tensor<2x96xf32>
    %sa = stablehlo.sine %a : tensor<2x96xf32>
    %sb = stablehlo.sine %b : tensor<2x96xf32>
    %sb2 = stablehlo.multiply %sb, %two : tensor<2x96xf32>
    %s = stablehlo.add %sa, %sb2 : tensor<2x96xf32>
    %im = stablehlo.negate %s : tensor<2x96xf32>
    %expected = stablehlo.complex %re, %im : tensor<2x96xcomplex<f32>>
    %f = stablehlo.fft %z, type = FFT, length = [96] : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xcomplex<f32>>
    call @compare(%f, %expected) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()
    %back = stablehlo.fft %f, type = IFFT, length = [96] : (tensor<2x96xcomplex<f32>>) -> tensor<2x96xcomplex<f32>>
    call @compare(%back, %z) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()

    // Transforms of real numbers have half of the elements; and back, also of an odd length.
    %half = stablehlo.fft %x, type = RFFT, length = [96] : (tensor<2x96xf32>) -> tensor<2x49xcomplex<f32>>
    %again = stablehlo.fft %half, type = IRFFT, length = [96] : (tensor<2x49xcomplex<f32>>) -> tensor<2x96xf32>
    %again2 = stablehlo.complex %again, %zero : tensor<2x96xcomplex<f32>>
    call @compare(%again2, %z) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()
    %tail = stablehlo.slice %expected [0:2, 49:96] : (tensor<2x96xcomplex<f32>>) -> tensor<2x47xcomplex<f32>>
    %whole = stablehlo.concatenate %half, %tail, dim = 1 : (tensor<2x49xcomplex<f32>>, tensor<2x47xcomplex<f32>>) -> tensor<2x96xcomplex<f32>>
    call @compare(%whole, %expected) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()
    %odd = stablehlo.reshape %x : (tensor<2x96xf32>) -> tensor<192xf32>
    %odd1 = stablehlo.slice %odd [0:189] : (tensor<192xf32>) -> tensor<189xf32>
    %odd2 = stablehlo.fft %odd1, type = RFFT, length = [189] : (tensor<189xf32>) -> tensor<95xcomplex<f32>>
    %odd3 = stablehlo.fft %odd2, type = IRFFT, length = [189] : (tensor<95xcomplex<f32>>) -> tensor<189xf32>
    %three = stablehlo.slice %odd [189:192] : (tensor<192xf32>) -> tensor<3xf32>
    %odd4 = stablehlo.concatenate %odd3, %three, dim = 0 : (tensor<189xf32>, tensor<3xf32>) -> tensor<192xf32>
    %odd5 = stablehlo.reshape %odd4 : (tensor<192xf32>) -> tensor<2x96xf32>
    %odd6 = stablehlo.complex %odd5, %zero : tensor<2x96xcomplex<f32>>
    call @compare(%odd6, %z) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()

    // Two dimensions are transformed one after the other. Short transforms are the sum of the
    // definition.
    %m = stablehlo.reshape %expected : (tensor<2x96xcomplex<f32>>) -> tensor<2x8x12xcomplex<f32>>
    %m2 = stablehlo.fft %m, type = IFFT, length = [8, 12] : (tensor<2x8x12xcomplex<f32>>) -> tensor<2x8x12xcomplex<f32>>
    %m3 = stablehlo.reshape %m2 : (tensor<2x8x12xcomplex<f32>>) -> tensor<2x96xcomplex<f32>>
    %o1 = stablehlo.fft %m, type = IFFT, length = [12] : (tensor<2x8x12xcomplex<f32>>) -> tensor<2x8x12xcomplex<f32>>
    %o2 = stablehlo.transpose %o1, dims = [0, 2, 1] : (tensor<2x8x12xcomplex<f32>>) -> tensor<2x12x8xcomplex<f32>>
    %o3 = stablehlo.fft %o2, type = IFFT, length = [8] : (tensor<2x12x8xcomplex<f32>>) -> tensor<2x12x8xcomplex<f32>>
    %o4 = stablehlo.transpose %o3, dims = [0, 2, 1] : (tensor<2x12x8xcomplex<f32>>) -> tensor<2x8x12xcomplex<f32>>
    %o5 = stablehlo.reshape %o4 : (tensor<2x8x12xcomplex<f32>>) -> tensor<2x96xcomplex<f32>>
    call @compare(%m3, %o5) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()
    %t = stablehlo.reshape %x : (tensor<2x96xf32>) -> tensor<2x4x3x8xf32>
    %t2 = stablehlo.fft %t, type = RFFT, length = [4, 3, 8] : (tensor<2x4x3x8xf32>) -> tensor<2x4x3x5xcomplex<f32>>
    %t3 = stablehlo.fft %t2, type = IRFFT, length = [4, 3, 8] : (tensor<2x4x3x5xcomplex<f32>>) -> tensor<2x4x3x8xf32>
    %t4 = stablehlo.reshape %t3 : (tensor<2x4x3x8xf32>) -> tensor<2x96xf32>
    %t5 = stablehlo.complex %t4, %zero : tensor<2x96xcomplex<f32>>
    call @compare(%t5, %z) : (tensor<2x96xcomplex<f32>>, tensor<2x96xcomplex<f32>>) -> ()
    return
  }
}
