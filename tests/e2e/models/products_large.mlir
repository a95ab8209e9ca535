// Products of each kind of type whose operands are too large for a copy on each tile. Where stated,
// the sum over k < 301 of (i + k) * (j + 3 k) is 301 i j + 45150 (3 i + j) + 27135150. Otherwise
// the same result is calculated in another way.
func.func @main() {
  %li = stablehlo.iota dim = 0 : tensor<61x301xi32>
  %lk = stablehlo.iota dim = 1 : tensor<61x301xi32>
  %left = stablehlo.add %li, %lk : tensor<61x301xi32>
  %rk = stablehlo.iota dim = 0 : tensor<301x5xi32>
  %rj = stablehlo.iota dim = 1 : tensor<301x5xi32>
  %three = stablehlo.constant dense<3> : tensor<301x5xi32>
  %rk3 = stablehlo.multiply %rk, %three : tensor<301x5xi32>
  %right = stablehlo.add %rk3, %rj : tensor<301x5xi32>
  %oi = stablehlo.iota dim = 0 : tensor<61x5xi32>
  %oj = stablehlo.iota dim = 1 : tensor<61x5xi32>
  %o3 = stablehlo.constant dense<3> : tensor<61x5xi32>
  %o301 = stablehlo.constant dense<301> : tensor<61x5xi32>
  %s1 = stablehlo.constant dense<45150> : tensor<61x5xi32>
  %s2 = stablehlo.constant dense<27135150> : tensor<61x5xi32>
  %e0 = stablehlo.multiply %oi, %oj : tensor<61x5xi32>
  %e1 = stablehlo.multiply %e0, %o301 : tensor<61x5xi32>
  %e2 = stablehlo.multiply %oi, %o3 : tensor<61x5xi32>
  %e3 = stablehlo.add %e2, %oj : tensor<61x5xi32>
  %e4 = stablehlo.multiply %e3, %s1 : tensor<61x5xi32>
  %e5 = stablehlo.add %e1, %e4 : tensor<61x5xi32>
  %sum = stablehlo.add %e5, %s2 : tensor<61x5xi32>

  // Integers keep the low bits.
  %dot = stablehlo.dot %left, %right : (tensor<61x301xi32>, tensor<301x5xi32>) -> tensor<61x5xi32>
  check.expect_eq %dot, %sum : tensor<61x5xi32>
  %l_i8 = stablehlo.convert %left : (tensor<61x301xi32>) -> tensor<61x301xi8>
  %r_i8 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xi8>
  %p_i8 = stablehlo.dot_general %l_i8, %r_i8, contracting_dims = [1] x [0] : (tensor<61x301xi8>, tensor<301x5xi8>) -> tensor<61x5xi8>
  %e_i8 = stablehlo.convert %sum : (tensor<61x5xi32>) -> tensor<61x5xi8>
  check.expect_eq %p_i8, %e_i8 : tensor<61x5xi8>
  %l_ui8 = stablehlo.convert %left : (tensor<61x301xi32>) -> tensor<61x301xui8>
  %r_ui8 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xui8>
  %p_ui8 = stablehlo.dot_general %l_ui8, %r_ui8, contracting_dims = [1] x [0] : (tensor<61x301xui8>, tensor<301x5xui8>) -> tensor<61x5xui8>
  %e_ui8 = stablehlo.convert %sum : (tensor<61x5xi32>) -> tensor<61x5xui8>
  check.expect_eq %p_ui8, %e_ui8 : tensor<61x5xui8>
  %l_i16 = stablehlo.convert %left : (tensor<61x301xi32>) -> tensor<61x301xi16>
  %r_i16 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xi16>
  %p_i16 = stablehlo.dot_general %l_i16, %r_i16, contracting_dims = [1] x [0] : (tensor<61x301xi16>, tensor<301x5xi16>) -> tensor<61x5xi16>
  %e_i16 = stablehlo.convert %sum : (tensor<61x5xi32>) -> tensor<61x5xi16>
  check.expect_eq %p_i16, %e_i16 : tensor<61x5xi16>
  %l_ui32 = stablehlo.convert %left : (tensor<61x301xi32>) -> tensor<61x301xui32>
  %r_ui32 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xui32>
  %p_ui32 = stablehlo.dot_general %l_ui32, %r_ui32, contracting_dims = [1] x [0] : (tensor<61x301xui32>, tensor<301x5xui32>) -> tensor<61x5xui32>
  %e_ui32 = stablehlo.convert %sum : (tensor<61x5xi32>) -> tensor<61x5xui32>
  check.expect_eq %p_ui32, %e_ui32 : tensor<61x5xui32>
  %low = stablehlo.dot_general %left, %right, contracting_dims = [1] x [0] : (tensor<61x301xi32>, tensor<301x5xi32>) -> tensor<61x5xi8>
  check.expect_eq %low, %e_i8 : tensor<61x5xi8>

  // More than 32 bits, and more than a float holds.
  %l0_i64 = stablehlo.convert %left : (tensor<61x301xi32>) -> tensor<61x301xi64>
  %r_i64 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xi64>
  %lf_i64 = stablehlo.constant dense<1000000007> : tensor<61x301xi64>
  %l_i64 = stablehlo.multiply %l0_i64, %lf_i64 : tensor<61x301xi64>
  %p_i64 = stablehlo.dot_general %l_i64, %r_i64, contracting_dims = [1] x [0] : (tensor<61x301xi64>, tensor<301x5xi64>) -> tensor<61x5xi64>
  %e0_i64 = stablehlo.convert %sum : (tensor<61x5xi32>) -> tensor<61x5xi64>
  %ef_i64 = stablehlo.constant dense<1000000007> : tensor<61x5xi64>
  %e_i64 = stablehlo.multiply %e0_i64, %ef_i64 : tensor<61x5xi64>
  check.expect_eq %p_i64, %e_i64 : tensor<61x5xi64>
  %left8 = stablehlo.slice %left [0:8, 0:301] : (tensor<61x301xi32>) -> tensor<8x301xi32>
  %sum8 = stablehlo.slice %sum [0:8, 0:5] : (tensor<61x5xi32>) -> tensor<8x5xi32>
  %l0_f64 = stablehlo.convert %left8 : (tensor<8x301xi32>) -> tensor<8x301xf64>
  %r_f64 = stablehlo.convert %right : (tensor<301x5xi32>) -> tensor<301x5xf64>
  %lf_f64 = stablehlo.constant dense<0.5> : tensor<8x301xf64>
  %l_f64 = stablehlo.multiply %l0_f64, %lf_f64 : tensor<8x301xf64>
  %p_f64 = stablehlo.dot_general %l_f64, %r_f64, contracting_dims = [1] x [0] : (tensor<8x301xf64>, tensor<301x5xf64>) -> tensor<8x5xf64>
  %e0_f64 = stablehlo.convert %sum8 : (tensor<8x5xi32>) -> tensor<8x5xf64>
  %ef_f64 = stablehlo.constant dense<0.5> : tensor<8x5xf64>
  %e_f64 = stablehlo.multiply %e0_f64, %ef_f64 : tensor<8x5xf64>
  check.expect_eq %p_f64, %e_f64 : tensor<8x5xf64>

  // Of i + k I and 1 + j I: 301 i - 45150 j, 301 i j + 45150.
  %lre = stablehlo.iota dim = 0 : tensor<61x301xf32>
  %lim = stablehlo.iota dim = 1 : tensor<61x301xf32>
  %rre = stablehlo.constant dense<1.0> : tensor<301x5xf32>
  %rim = stablehlo.iota dim = 1 : tensor<301x5xf32>
  %lc = stablehlo.complex %lre, %lim : tensor<61x301xcomplex<f32>>
  %rc = stablehlo.complex %rre, %rim : tensor<301x5xcomplex<f32>>
  %pc = stablehlo.dot_general %lc, %rc, contracting_dims = [1] x [0] : (tensor<61x301xcomplex<f32>>, tensor<301x5xcomplex<f32>>) -> tensor<61x5xcomplex<f32>>
  %c0 = stablehlo.multiply %oi, %o301 : tensor<61x5xi32>
  %c1 = stablehlo.multiply %oj, %s1 : tensor<61x5xi32>
  %c2 = stablehlo.subtract %c0, %c1 : tensor<61x5xi32>
  %c3 = stablehlo.add %e1, %s1 : tensor<61x5xi32>
  %cre = stablehlo.convert %c2 : (tensor<61x5xi32>) -> tensor<61x5xf32>
  %cim = stablehlo.convert %c3 : (tensor<61x5xi32>) -> tensor<61x5xf32>
  %ec = stablehlo.complex %cre, %cim : tensor<61x5xcomplex<f32>>
  check.expect_eq %pc, %ec : tensor<61x5xcomplex<f32>>

  // k = 5 i, and 3 divides k + j.
  %l5 = stablehlo.constant dense<5> : tensor<61x301xi32>
  %l5i = stablehlo.multiply %li, %l5 : tensor<61x301xi32>
  %lb = stablehlo.compare EQ, %lk, %l5i : (tensor<61x301xi32>, tensor<61x301xi32>) -> tensor<61x301xi1>
  %rkj = stablehlo.add %rk, %rj : tensor<301x5xi32>
  %rkj3 = stablehlo.remainder %rkj, %three : tensor<301x5xi32>
  %r0 = stablehlo.constant dense<0> : tensor<301x5xi32>
  %rb = stablehlo.compare EQ, %rkj3, %r0 : (tensor<301x5xi32>, tensor<301x5xi32>) -> tensor<301x5xi1>
  %pb = stablehlo.dot_general %lb, %rb, contracting_dims = [1] x [0] : (tensor<61x301xi1>, tensor<301x5xi1>) -> tensor<61x5xi1>
  %o5 = stablehlo.constant dense<5> : tensor<61x5xi32>
  %o0 = stablehlo.constant dense<0> : tensor<61x5xi32>
  %b0 = stablehlo.multiply %oi, %o5 : tensor<61x5xi32>
  %b1 = stablehlo.add %b0, %oj : tensor<61x5xi32>
  %b2 = stablehlo.remainder %b1, %o3 : tensor<61x5xi32>
  %eb = stablehlo.compare EQ, %b2, %o0 : (tensor<61x5xi32>, tensor<61x5xi32>) -> tensor<61x5xi1>
  check.expect_eq %pb, %eb : tensor<61x5xi1>

  // Floats of 16 bits have the sums of integers, rounded once.
  %lm0 = stablehlo.remainder %left, %l5 : tensor<61x301xi32>
  %l2 = stablehlo.constant dense<2> : tensor<61x301xi32>
  %lm = stablehlo.subtract %lm0, %l2 : tensor<61x301xi32>
  %small = stablehlo.dot_general %lm, %rkj3, contracting_dims = [1] x [0] : (tensor<61x301xi32>, tensor<301x5xi32>) -> tensor<61x5xi32>
  %small_f32 = stablehlo.convert %small : (tensor<61x5xi32>) -> tensor<61x5xf32>
  %l_bf16 = stablehlo.convert %lm : (tensor<61x301xi32>) -> tensor<61x301xbf16>
  %r_bf16 = stablehlo.convert %rkj3 : (tensor<301x5xi32>) -> tensor<301x5xbf16>
  %p_bf16 = stablehlo.dot_general %l_bf16, %r_bf16, contracting_dims = [1] x [0] : (tensor<61x301xbf16>, tensor<301x5xbf16>) -> tensor<61x5xbf16>
  %e_bf16 = stablehlo.convert %small_f32 : (tensor<61x5xf32>) -> tensor<61x5xbf16>
  check.expect_eq %p_bf16, %e_bf16 : tensor<61x5xbf16>
  %q_bf16 = stablehlo.dot_general %l_bf16, %r_bf16, contracting_dims = [1] x [0] : (tensor<61x301xbf16>, tensor<301x5xbf16>) -> tensor<61x5xf32>
  check.expect_eq %q_bf16, %small_f32 : tensor<61x5xf32>
  %l_f16 = stablehlo.convert %lm : (tensor<61x301xi32>) -> tensor<61x301xf16>
  %r_f16 = stablehlo.convert %rkj3 : (tensor<301x5xi32>) -> tensor<301x5xf16>
  %p_f16 = stablehlo.dot_general %l_f16, %r_f16, contracting_dims = [1] x [0] : (tensor<61x301xf16>, tensor<301x5xf16>) -> tensor<61x5xf16>
  %e_f16 = stablehlo.convert %small_f32 : (tensor<61x5xf32>) -> tensor<61x5xf16>
  check.expect_eq %p_f16, %e_f16 : tensor<61x5xf16>
  %q_f16 = stablehlo.dot_general %l_f16, %r_f16, contracting_dims = [1] x [0] : (tensor<61x301xf16>, tensor<301x5xf16>) -> tensor<61x5xf32>
  check.expect_eq %q_f16, %small_f32 : tensor<61x5xf32>

  // Numbers of 8 bits with a sum of 32 bits, which a reduce adds up.
  %rsq = stablehlo.multiply %right, %right : tensor<301x5xi32>
  %r8 = stablehlo.convert %rsq : (tensor<301x5xi32>) -> tensor<301x5xi8>
  %p832 = stablehlo.dot_general %l_i8, %r8, contracting_dims = [1] x [0] : (tensor<61x301xi8>, tensor<301x5xi8>) -> tensor<61x5xi32>
  %l832 = stablehlo.convert %l_i8 : (tensor<61x301xi8>) -> tensor<61x301xi32>
  %r832 = stablehlo.convert %r8 : (tensor<301x5xi8>) -> tensor<301x5xi32>
  %lall = stablehlo.broadcast_in_dim %l832, dims = [0, 2] : (tensor<61x301xi32>) -> tensor<61x5x301xi32>
  %rall = stablehlo.broadcast_in_dim %r832, dims = [2, 1] : (tensor<301x5xi32>) -> tensor<61x5x301xi32>
  %products = stablehlo.multiply %lall, %rall : tensor<61x5x301xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %e832 = stablehlo.reduce(%products init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<61x5x301xi32>, tensor<i32>) -> tensor<61x5xi32>
  check.expect_eq %p832, %e832 : tensor<61x5xi32>

  // Batches, and two contracted dimensions, in any order.
  %x0 = stablehlo.iota dim = 0 : tensor<7x3x43x20xi32>
  %x1 = stablehlo.iota dim = 1 : tensor<7x3x43x20xi32>
  %x2 = stablehlo.iota dim = 2 : tensor<7x3x43x20xi32>
  %x3 = stablehlo.iota dim = 3 : tensor<7x3x43x20xi32>
  %x4 = stablehlo.multiply %x0, %x3 : tensor<7x3x43x20xi32>
  %x5 = stablehlo.add %x4, %x1 : tensor<7x3x43x20xi32>
  %x6 = stablehlo.multiply %x5, %x2 : tensor<7x3x43x20xi32>
  %x = stablehlo.subtract %x6, %x3 : tensor<7x3x43x20xi32>
  %y0 = stablehlo.iota dim = 0 : tensor<20x2x3x7xi32>
  %y1 = stablehlo.iota dim = 1 : tensor<20x2x3x7xi32>
  %y2 = stablehlo.iota dim = 2 : tensor<20x2x3x7xi32>
  %y3 = stablehlo.iota dim = 3 : tensor<20x2x3x7xi32>
  %y4 = stablehlo.multiply %y1, %y3 : tensor<20x2x3x7xi32>
  %y5 = stablehlo.subtract %y4, %y0 : tensor<20x2x3x7xi32>
  %y = stablehlo.add %y5, %y2 : tensor<20x2x3x7xi32>
  %z = stablehlo.dot_general %x, %y, batching_dims = [1] x [2], contracting_dims = [0, 3] x [3, 0] : (tensor<7x3x43x20xi32>, tensor<20x2x3x7xi32>) -> tensor<3x43x2xi32>
  %xall = stablehlo.broadcast_in_dim %x, dims = [3, 0, 1, 4] : (tensor<7x3x43x20xi32>) -> tensor<3x43x2x7x20xi32>
  %yall = stablehlo.broadcast_in_dim %y, dims = [4, 2, 0, 3] : (tensor<20x2x3x7xi32>) -> tensor<3x43x2x7x20xi32>
  %xy = stablehlo.multiply %xall, %yall : tensor<3x43x2x7x20xi32>
  %ez = stablehlo.reduce(%xy init: %zero) applies stablehlo.add across dimensions = [3, 4] : (tensor<3x43x2x7x20xi32>, tensor<i32>) -> tensor<3x43x2xi32>
  check.expect_eq %z, %ez : tensor<3x43x2xi32>

  // A long sum with few results is cut into parts: of k (k + 1) over k < 9001.
  %p0 = stablehlo.iota dim = 1 : tensor<1x9001xi64>
  %q0 = stablehlo.iota dim = 0 : tensor<9001x1xi64>
  %q1 = stablehlo.constant dense<1> : tensor<9001x1xi64>
  %q = stablehlo.add %q0, %q1 : tensor<9001x1xi64>
  %long = stablehlo.dot_general %p0, %q, contracting_dims = [1] x [0] : (tensor<1x9001xi64>, tensor<9001x1xi64>) -> tensor<1x1xi64>
  check.expect_eq_const %long, dense<243081006000> : tensor<1x1xi64>

  // A sum of no terms, and no rows.
  %n0 = stablehlo.constant dense<1> : tensor<5x0xi32>
  %n1 = stablehlo.constant dense<1> : tensor<0x3xi32>
  %n = stablehlo.dot_general %n0, %n1, contracting_dims = [1] x [0] : (tensor<5x0xi32>, tensor<0x3xi32>) -> tensor<5x3xi32>
  check.expect_eq_const %n, dense<0> : tensor<5x3xi32>
  %m0 = stablehlo.constant dense<1> : tensor<0x301xi32>
  %m = stablehlo.dot_general %m0, %right, contracting_dims = [1] x [0] : (tensor<0x301xi32>, tensor<301x5xi32>) -> tensor<0x5xi32>
  check.expect_eq_const %m, dense<> : tensor<0x5xi32>

  // A convolution of bf16 equals one of f32, rounded.
  %f0 = stablehlo.iota dim = 1 : tensor<1x10x10x96xi32>
  %f1 = stablehlo.iota dim = 3 : tensor<1x10x10x96xi32>
  %f2 = stablehlo.multiply %f0, %f1 : tensor<1x10x10x96xi32>
  %f3 = stablehlo.constant dense<7> : tensor<1x10x10x96xi32>
  %f4 = stablehlo.remainder %f2, %f3 : tensor<1x10x10x96xi32>
  %g0 = stablehlo.iota dim = 0 : tensor<2x2x96x2xi32>
  %g1 = stablehlo.iota dim = 2 : tensor<2x2x96x2xi32>
  %g2 = stablehlo.iota dim = 3 : tensor<2x2x96x2xi32>
  %g3 = stablehlo.add %g0, %g1 : tensor<2x2x96x2xi32>
  %g4 = stablehlo.multiply %g3, %g2 : tensor<2x2x96x2xi32>
  %f_bf16 = stablehlo.convert %f4 : (tensor<1x10x10x96xi32>) -> tensor<1x10x10x96xbf16>
  %g_bf16 = stablehlo.convert %g4 : (tensor<2x2x96x2xi32>) -> tensor<2x2x96x2xbf16>
  %h_bf16 = stablehlo.convolution(%f_bf16, %g_bf16) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x96xbf16>, tensor<2x2x96x2xbf16>) -> tensor<1x9x9x2xbf16>
  %f_f32 = stablehlo.convert %f4 : (tensor<1x10x10x96xi32>) -> tensor<1x10x10x96xf32>
  %g_f32 = stablehlo.convert %g4 : (tensor<2x2x96x2xi32>) -> tensor<2x2x96x2xf32>
  %h_f32 = stablehlo.convolution(%f_f32, %g_f32) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x96xf32>, tensor<2x2x96x2xf32>) -> tensor<1x9x9x2xf32>
  %h = stablehlo.convert %h_f32 : (tensor<1x9x9x2xf32>) -> tensor<1x9x9x2xbf16>
  check.expect_eq %h_bf16, %h : tensor<1x9x9x2xbf16>
  return
}
