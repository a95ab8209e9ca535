// Random bits. The words are the known answers of the generators' authors (Random123), for counters
// and keys of zeros, of ones and of digits of pi. A model in another language shows how they become
// elements of 32 bits.
func.func @main() {
  %zero3 = stablehlo.constant dense<0> : tensor<3xui64>
  %s0, %r0 = stablehlo.rng_bit_generator %zero3, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  check.expect_eq_const %s0, dense<[0, 1, 0]> : tensor<3xui64>
  check.expect_eq_const %r0, dense<[1713891541, 3781805453, 3159862348, 2600524760]> : tensor<4xui32>

  // All ones: both halves of the counter wrap around.
  %ones = stablehlo.constant dense<18446744073709551615> : tensor<3xui64>
  %s1, %r1 = stablehlo.rng_bit_generator %ones, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xui32>)
  check.expect_eq_const %s1, dense<[18446744073709551615, 0, 0]> : tensor<3xui64>
  check.expect_eq_const %r1, dense<[[1083123565, 1103641358], [2718681030, 1834242557]]> : tensor<2x2xui32>

  // With a state of two words, the key is also in the counter. Elements of 64 bits, and the first
  // one of the next counter.
  %two = stablehlo.constant dense<[0, 0]> : tensor<2xui64>
  %s2, %r2 = stablehlo.rng_bit_generator %two, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>)
  check.expect_eq_const %s2, dense<[0, 1]> : tensor<2xui64>
  check.expect_eq_const %r2, dense<[16242730742183356629, 11169168799798111308]> : tensor<2xui64>

  %pi = stablehlo.constant dense<[247824715720788526, 9629550131187509896]> : tensor<2xui64>
  %s3, %r3 = stablehlo.rng_bit_generator %pi, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui64>)
  check.expect_eq_const %s3, dense<[247824715720788526, 9629550131187509897]> : tensor<2xui64>
  check.expect_eq_const %r3, dense<5205589014174907036> : tensor<ui64>

  // Neighbours along the first even dimension, or else the longest, share a counter.
  %seven = stablehlo.constant dense<[81985529216486895, 7]> : tensor<2xui64>
  %s4, %r4 = stablehlo.rng_bit_generator %seven, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x3xui32>)
  check.expect_eq_const %s4, dense<[81985529216486895, 13]> : tensor<2xui64>
  check.expect_eq_const %r4, dense<[[3356640791, 3039885333, 2516300363], [544688494, 3989734403, 2731057536], [3933500718, 3928695743, 957681320]]> : tensor<3x3xui32>
  %s5, %r5 = stablehlo.rng_bit_generator %seven, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x2xui32>)
  check.expect_eq_const %s5, dense<[81985529216486895, 10]> : tensor<2xui64>
  check.expect_eq_const %r5, dense<[[3356640791, 544688494], [3039885333, 3989734403], [2516300363, 2731057536]]> : tensor<3x2xui32>

  // The counter wraps around in the middle.
  %last = stablehlo.constant dense<[81985529216486895, 18446744073709551614]> : tensor<2xui64>
  %s6, %r6 = stablehlo.rng_bit_generator %last, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %s6, dense<[81985529216486895, 1]> : tensor<2xui64>
  check.expect_eq_const %r6, dense<[2968789339, 3784990900, 188576916, 2901984476, 2862930057]> : tensor<5xui32>

  // Narrow types get the low bits.
  %five = stablehlo.constant dense<[5, 0]> : tensor<2xui64>
  %s7, %r7 = stablehlo.rng_bit_generator %five, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui8>)
  check.expect_eq_const %r7, dense<[99, 219, 94, 67]> : tensor<4xui8>
  return
}
// -----
// Numbers in [1, 2) are less than 2, also where the largest would be rounded to it.
func.func @main() {
  %a = stablehlo.constant dense<1.0> : tensor<bf16>
  %b = stablehlo.constant dense<2.0> : tensor<bf16>
  %s = stablehlo.constant dense<[64, 64]> : tensor<2xi64>
  %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<bf16>, tensor<bf16>, tensor<2xi64>) -> tensor<64x64xbf16>
  %most = stablehlo.reduce(%r init: %a) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x64xbf16>, tensor<bf16>) -> tensor<bf16>
  %least = stablehlo.reduce(%r init: %b) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<64x64xbf16>, tensor<bf16>) -> tensor<bf16>
  check.expect_eq_const %most, dense<1.9921875> : tensor<bf16>
  check.expect_eq_const %least, dense<1.0> : tensor<bf16>
  return
}
