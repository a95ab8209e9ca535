// Operands that are too large for a copy on each tile. The expected values follow from the indices,
// element by element.
func.func @main() {
  // All elements are reduced to one, and to one with its position.
  %r0 = stablehlo.iota dim = 0 : tensor<50000xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r1 = stablehlo.reduce(%r0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<50000xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %r1, dense<1249975000> : tensor<i32>
  %r2 = stablehlo.constant dense<17> : tensor<50000xi32>
  %r3 = stablehlo.constant dense<50000> : tensor<50000xi32>
  %r4 = stablehlo.multiply %r0, %r2 : tensor<50000xi32>
  %r5 = stablehlo.remainder %r4, %r3 : tensor<50000xi32>
  %r6:2 = stablehlo.reduce(%r5 init: %zero), (%r0 init: %zero) across dimensions = [0] : (tensor<50000xi32>, tensor<50000xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
   reducer(%a: tensor<i32>, %c: tensor<i32>) (%b: tensor<i32>, %d: tensor<i32>) {
    %g = stablehlo.compare GE, %a, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %g, %a, %c : tensor<i1>, tensor<i32>
    %t = stablehlo.select %g, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %s, %t : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r6#0, dense<49999> : tensor<i32>
  check.expect_eq_const %r6#1, dense<17647> : tensor<i32>
  // Rows with few elements, and columns.
  %r7 = stablehlo.reshape %r0 : (tensor<50000xi32>) -> tensor<5x2000x5xi32>
  %r8 = stablehlo.reduce(%r7 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<5x2000x5xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %r8, dense<[49995, 49996, 49997, 49998, 49999]> : tensor<5xi32>
  %r9 = stablehlo.reduce(%r7 init: %zero) applies stablehlo.minimum across dimensions = [1, 2] : (tensor<5x2000x5xi32>, tensor<i32>) -> tensor<5xi32>
  %r10 = stablehlo.constant dense<1> : tensor<i32>
  %r11 = stablehlo.reduce(%r7 init: %r10) applies stablehlo.minimum across dimensions = [1, 2] : (tensor<5x2000x5xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %r9, dense<0> : tensor<5xi32>
  check.expect_eq_const %r11, dense<[0, 1, 1, 1, 1]> : tensor<5xi32>
  // Padding before, after and between elements. Negative padding removes elements.
  %p0 = stablehlo.iota dim = 0 : tensor<6000xi32>
  %p1 = stablehlo.reshape %p0 : (tensor<6000xi32>) -> tensor<100x60xi32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %p2 = stablehlo.pad %p1, %seven, low = [2, -1], high = [-3, 4], interior = [1, 2] : (tensor<100x60xi32>, tensor<i32>) -> tensor<198x181xi32>
  %p3 = stablehlo.iota dim = 0 : tensor<198x181xi32>
  %p4 = stablehlo.iota dim = 1 : tensor<198x181xi32>
  %p5 = stablehlo.constant dense<2> : tensor<198x181xi32>
  %p6 = stablehlo.constant dense<1> : tensor<198x181xi32>
  %p7 = stablehlo.constant dense<3> : tensor<198x181xi32>
  %p8 = stablehlo.constant dense<0> : tensor<198x181xi32>
  %p9 = stablehlo.constant dense<60> : tensor<198x181xi32>
  %p10 = stablehlo.constant dense<7> : tensor<198x181xi32>
  %p11 = stablehlo.constant dense<198> : tensor<198x181xi32>
  %p12 = stablehlo.constant dense<177> : tensor<198x181xi32>
  %p13 = stablehlo.subtract %p3, %p5 : tensor<198x181xi32>
  %p14 = stablehlo.add %p4, %p6 : tensor<198x181xi32>
  %p15 = stablehlo.remainder %p13, %p5 : tensor<198x181xi32>
  %p16 = stablehlo.remainder %p14, %p7 : tensor<198x181xi32>
  %p17 = stablehlo.compare EQ, %p15, %p8 : (tensor<198x181xi32>, tensor<198x181xi32>) -> tensor<198x181xi1>
  %p18 = stablehlo.compare EQ, %p16, %p8 : (tensor<198x181xi32>, tensor<198x181xi32>) -> tensor<198x181xi1>
  %p19 = stablehlo.compare GE, %p13, %p8 : (tensor<198x181xi32>, tensor<198x181xi32>) -> tensor<198x181xi1>
  %p20 = stablehlo.compare LE, %p13, %p11 : (tensor<198x181xi32>, tensor<198x181xi32>) -> tensor<198x181xi1>
  %p21 = stablehlo.compare LE, %p14, %p12 : (tensor<198x181xi32>, tensor<198x181xi32>) -> tensor<198x181xi1>
  %p22 = stablehlo.and %p17, %p18 : tensor<198x181xi1>
  %p23 = stablehlo.and %p19, %p20 : tensor<198x181xi1>
  %p24 = stablehlo.and %p22, %p23 : tensor<198x181xi1>
  %p25 = stablehlo.and %p24, %p21 : tensor<198x181xi1>
  %p26 = stablehlo.divide %p13, %p5 : tensor<198x181xi32>
  %p27 = stablehlo.divide %p14, %p7 : tensor<198x181xi32>
  %p28 = stablehlo.multiply %p26, %p9 : tensor<198x181xi32>
  %p29 = stablehlo.add %p28, %p27 : tensor<198x181xi32>
  %p30 = stablehlo.select %p25, %p29, %p10 : tensor<198x181xi1>, tensor<198x181xi32>
  check.expect_eq %p2, %p30 : tensor<198x181xi32>
  // Windows over an image, and their gradient.
  %w0 = stablehlo.iota dim = 0 : tensor<12800xi32>
  %w1 = stablehlo.reshape %w0 : (tensor<12800xi32>) -> tensor<1x40x40x8xi32>
  %w2 = "stablehlo.reduce_window"(%w1, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>} : (tensor<1x40x40x8xi32>, tensor<i32>) -> tensor<1x20x20x8xi32>
  %w3 = stablehlo.iota dim = 1 : tensor<1x20x20x8xi32>
  %w4 = stablehlo.iota dim = 2 : tensor<1x20x20x8xi32>
  %w5 = stablehlo.iota dim = 3 : tensor<1x20x20x8xi32>
  %w6 = stablehlo.constant dense<2> : tensor<1x20x20x8xi32>
  %w7 = stablehlo.constant dense<39> : tensor<1x20x20x8xi32>
  %w8 = stablehlo.constant dense<40> : tensor<1x20x20x8xi32>
  %w9 = stablehlo.constant dense<8> : tensor<1x20x20x8xi32>
  %w10 = stablehlo.multiply %w3, %w6 : tensor<1x20x20x8xi32>
  %w11 = stablehlo.add %w10, %w6 : tensor<1x20x20x8xi32>
  %w12 = stablehlo.minimum %w11, %w7 : tensor<1x20x20x8xi32>
  %w13 = stablehlo.multiply %w4, %w6 : tensor<1x20x20x8xi32>
  %w14 = stablehlo.add %w13, %w6 : tensor<1x20x20x8xi32>
  %w15 = stablehlo.minimum %w14, %w7 : tensor<1x20x20x8xi32>
  %w16 = stablehlo.multiply %w12, %w8 : tensor<1x20x20x8xi32>
  %w17 = stablehlo.add %w16, %w15 : tensor<1x20x20x8xi32>
  %w18 = stablehlo.multiply %w17, %w9 : tensor<1x20x20x8xi32>
  %w19 = stablehlo.add %w18, %w5 : tensor<1x20x20x8xi32>
  check.expect_eq %w2, %w19 : tensor<1x20x20x8xi32>
  %w20 = "stablehlo.select_and_scatter"(%w1, %w2, %zero) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
  }, {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x40x40x8xi32>, tensor<1x20x20x8xi32>, tensor<i32>) -> tensor<1x40x40x8xi32>
  %w21 = stablehlo.pad %w2, %zero, low = [0, 1, 1, 0], high = [0, 0, 0, 0], interior = [0, 1, 1, 0] : (tensor<1x20x20x8xi32>, tensor<i32>) -> tensor<1x40x40x8xi32>
  check.expect_eq %w20, %w21 : tensor<1x40x40x8xi32>
  // Rows of a table by 64-bit indices, clamped into range; one element from each row of a batch.
  %g0 = stablehlo.iota dim = 0 : tensor<100000xi32>
  %g1 = stablehlo.reshape %g0 : (tensor<100000xi32>) -> tensor<5000x20xi32>
  %g2 = stablehlo.constant dense<[4999, 0, -7, 5000, 9223372036854775807, 1234, 1234]> : tensor<7xi64>
  %g3 = "stablehlo.gather"(%g1, %g2) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 20>} : (tensor<5000x20xi32>, tensor<7xi64>) -> tensor<7x20xi32>
  %g4 = stablehlo.constant dense<[99980, 0, 0, 99980, 99980, 24680, 24680]> : tensor<7xi32>
  %g5 = stablehlo.broadcast_in_dim %g4, dims = [0] : (tensor<7xi32>) -> tensor<7x20xi32>
  %g6 = stablehlo.iota dim = 1 : tensor<7x20xi32>
  %g7 = stablehlo.add %g5, %g6 : tensor<7x20xi32>
  check.expect_eq %g3, %g7 : tensor<7x20xi32>
  // More rows than a tile can hold at once.
  %m0 = stablehlo.iota dim = 0 : tensor<5000xi32>
  %m1 = stablehlo.constant dense<3> : tensor<5000xi32>
  %m2 = stablehlo.constant dense<5000> : tensor<5000xi32>
  %m3 = stablehlo.multiply %m0, %m1 : tensor<5000xi32>
  %m4 = stablehlo.remainder %m3, %m2 : tensor<5000xi32>
  %m5 = "stablehlo.gather"(%g1, %m4) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 20>} : (tensor<5000x20xi32>, tensor<5000xi32>) -> tensor<5000x20xi32>
  %m6 = stablehlo.broadcast_in_dim %m4, dims = [0] : (tensor<5000xi32>) -> tensor<5000x20xi32>
  %m7 = stablehlo.constant dense<20> : tensor<5000x20xi32>
  %m8 = stablehlo.multiply %m6, %m7 : tensor<5000x20xi32>
  %m9 = stablehlo.iota dim = 1 : tensor<5000x20xi32>
  %m10 = stablehlo.add %m8, %m9 : tensor<5000x20xi32>
  check.expect_eq %m5, %m10 : tensor<5000x20xi32>
  %g8 = stablehlo.reshape %g0 : (tensor<100000xi32>) -> tensor<50x2000xi32>
  %g9 = stablehlo.iota dim = 0 : tensor<50x1xi32>
  %g10 = stablehlo.constant dense<41> : tensor<50x1xi32>
  %g11 = stablehlo.multiply %g9, %g10 : tensor<50x1xi32>
  %g12 = "stablehlo.gather"(%g8, %g11) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>} : (tensor<50x2000xi32>, tensor<50x1xi32>) -> tensor<50x1xi32>
  %g13 = stablehlo.constant dense<1999> : tensor<50x1xi32>
  %g14 = stablehlo.constant dense<2000> : tensor<50x1xi32>
  %g15 = stablehlo.minimum %g11, %g13 : tensor<50x1xi32>
  %g16 = stablehlo.multiply %g9, %g14 : tensor<50x1xi32>
  %g17 = stablehlo.add %g15, %g16 : tensor<50x1xi32>
  check.expect_eq %g12, %g17 : tensor<50x1xi32>
  // A slice that would end outside begins earlier, and so does an update.
  %d0 = stablehlo.constant dense<4990> : tensor<ui32>
  %d1 = stablehlo.constant dense<3> : tensor<ui32>
  %d2 = stablehlo.dynamic_slice %g1, %d0, %d1, sizes = [16, 10] : (tensor<5000x20xi32>, tensor<ui32>, tensor<ui32>) -> tensor<16x10xi32>
  %d3 = stablehlo.slice %g1 [4984:5000, 3:13] : (tensor<5000x20xi32>) -> tensor<16x10xi32>
  check.expect_eq %d2, %d3 : tensor<16x10xi32>
  %d4 = stablehlo.constant dense<-1> : tensor<16x10xi32>
  %d5 = stablehlo.dynamic_update_slice %g1, %d4, %d0, %d1 : (tensor<5000x20xi32>, tensor<16x10xi32>, tensor<ui32>, tensor<ui32>) -> tensor<5000x20xi32>
  %d6 = stablehlo.iota dim = 0 : tensor<5000x20xi32>
  %d7 = stablehlo.iota dim = 1 : tensor<5000x20xi32>
  %d8 = stablehlo.constant dense<4984> : tensor<5000x20xi32>
  %d9 = stablehlo.constant dense<3> : tensor<5000x20xi32>
  %d10 = stablehlo.constant dense<13> : tensor<5000x20xi32>
  %d11 = stablehlo.constant dense<-1> : tensor<5000x20xi32>
  %d12 = stablehlo.compare GE, %d6, %d8 : (tensor<5000x20xi32>, tensor<5000x20xi32>) -> tensor<5000x20xi1>
  %d13 = stablehlo.compare GE, %d7, %d9 : (tensor<5000x20xi32>, tensor<5000x20xi32>) -> tensor<5000x20xi1>
  %d14 = stablehlo.compare LT, %d7, %d10 : (tensor<5000x20xi32>, tensor<5000x20xi32>) -> tensor<5000x20xi1>
  %d15 = stablehlo.and %d12, %d13 : tensor<5000x20xi1>
  %d16 = stablehlo.and %d15, %d14 : tensor<5000x20xi1>
  %d17 = stablehlo.select %d16, %d11, %g1 : tensor<5000x20xi1>, tensor<5000x20xi32>
  check.expect_eq %d5, %d17 : tensor<5000x20xi32>
  // Update i goes to row 7 i mod 53, if that is one of the 50 rows; 38 is the inverse of 7.
  %s0 = stablehlo.constant dense<0> : tensor<50x16xi32>
  %s1 = stablehlo.iota dim = 0 : tensor<5000x1xi32>
  %s2 = stablehlo.constant dense<7> : tensor<5000x1xi32>
  %s3 = stablehlo.constant dense<53> : tensor<5000x1xi32>
  %s4 = stablehlo.multiply %s1, %s2 : tensor<5000x1xi32>
  %s5 = stablehlo.remainder %s4, %s3 : tensor<5000x1xi32>
  %s6 = stablehlo.constant dense<1> : tensor<5000x16xi32>
  %s7 = stablehlo.iota dim = 0 : tensor<5000x16xi32>
  %s8 = "stablehlo.scatter"(%s0, %s5, %s6) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<50x16xi32>, tensor<5000x1xi32>, tensor<5000x16xi32>) -> tensor<50x16xi32>
  %s9 = "stablehlo.scatter"(%s0, %s5, %s7) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %m : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<50x16xi32>, tensor<5000x1xi32>, tensor<5000x16xi32>) -> tensor<50x16xi32>
  %s10 = stablehlo.iota dim = 0 : tensor<50x16xi32>
  %s11 = stablehlo.constant dense<38> : tensor<50x16xi32>
  %s12 = stablehlo.constant dense<53> : tensor<50x16xi32>
  %s13 = stablehlo.constant dense<4999> : tensor<50x16xi32>
  %s14 = stablehlo.constant dense<1> : tensor<50x16xi32>
  %s15 = stablehlo.multiply %s10, %s11 : tensor<50x16xi32>
  %s16 = stablehlo.remainder %s15, %s12 : tensor<50x16xi32>
  %s17 = stablehlo.subtract %s13, %s16 : tensor<50x16xi32>
  %s18 = stablehlo.divide %s17, %s12 : tensor<50x16xi32>
  %s19 = stablehlo.add %s18, %s14 : tensor<50x16xi32>
  check.expect_eq %s8, %s19 : tensor<50x16xi32>
  %s20 = stablehlo.multiply %s18, %s12 : tensor<50x16xi32>
  %s21 = stablehlo.add %s20, %s16 : tensor<50x16xi32>
  check.expect_eq %s9, %s21 : tensor<50x16xi32>
  // along a batch that the indices have in another order: x[a, (a + c + j) % 16, c] at [c, j, a]
  %bx = stablehlo.iota dim = 0 : tensor<24960xi32>
  %b0 = stablehlo.reshape %bx : (tensor<24960xi32>) -> tensor<12x16x130xi32>
  %b1 = stablehlo.reshape %bx : (tensor<24960xi32>) -> tensor<130x16x12xi32>
  %ba = stablehlo.iota dim = 2 : tensor<130x16x12xi32>
  %bj = stablehlo.iota dim = 1 : tensor<130x16x12xi32>
  %bc = stablehlo.iota dim = 0 : tensor<130x16x12xi32>
  %b2 = stablehlo.constant dense<16> : tensor<130x16x12xi32>
  %b3 = stablehlo.add %ba, %bj : tensor<130x16x12xi32>
  %b4 = stablehlo.add %b3, %bc : tensor<130x16x12xi32>
  %b5 = stablehlo.remainder %b4, %b2 : tensor<130x16x12xi32>
  %b6 = "stablehlo.gather"(%b0, %b5) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0, 2], start_indices_batching_dims = [2, 0], start_index_map = [1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 1>} : (tensor<12x16x130xi32>, tensor<130x16x12xi32>) -> tensor<130x16x12xi32>
  %b7 = stablehlo.multiply %ba, %b2 : tensor<130x16x12xi32>
  %b8 = stablehlo.add %b7, %b5 : tensor<130x16x12xi32>
  %b9 = stablehlo.constant dense<130> : tensor<130x16x12xi32>
  %b10 = stablehlo.multiply %b8, %b9 : tensor<130x16x12xi32>
  %b11 = stablehlo.add %b10, %bc : tensor<130x16x12xi32>
  check.expect_eq %b6, %b11 : tensor<130x16x12xi32>
  // scattered there, with two operands and a region whose order matters: 2 x + u, and whether u was
  // larger
  %b12:2 = "stablehlo.scatter"(%b0, %b0, %b5, %b1, %b1) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
    %1 = stablehlo.add %p, %p : tensor<i32>
    %2 = stablehlo.add %1, %u : tensor<i32>
    %3 = stablehlo.compare GT, %u, %p : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.convert %3 : (tensor<i1>) -> tensor<i32>
    stablehlo.return %2, %4 : tensor<i32>, tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0, 2], scatter_indices_batching_dims = [2, 0], scatter_dims_to_operand_dims = [1], index_vector_dim = 3>} : (tensor<12x16x130xi32>, tensor<12x16x130xi32>, tensor<130x16x12xi32>, tensor<130x16x12xi32>, tensor<130x16x12xi32>) -> (tensor<12x16x130xi32>, tensor<12x16x130xi32>)
  %b13 = stablehlo.iota dim = 1 : tensor<12x16x130xi32>
  %b14 = stablehlo.iota dim = 0 : tensor<12x16x130xi32>
  %b15 = stablehlo.iota dim = 2 : tensor<12x16x130xi32>
  %b16 = stablehlo.subtract %b13, %b14 : tensor<12x16x130xi32>
  %b17 = stablehlo.subtract %b16, %b15 : tensor<12x16x130xi32>
  %b18 = stablehlo.constant dense<15> : tensor<12x16x130xi32>
  %b19 = stablehlo.and %b17, %b18 : tensor<12x16x130xi32>
  %b20 = stablehlo.constant dense<192> : tensor<12x16x130xi32>
  %b21 = stablehlo.multiply %b15, %b20 : tensor<12x16x130xi32>
  %b22 = stablehlo.constant dense<12> : tensor<12x16x130xi32>
  %b23 = stablehlo.multiply %b19, %b22 : tensor<12x16x130xi32>
  %b24 = stablehlo.add %b21, %b23 : tensor<12x16x130xi32>
  %b25 = stablehlo.add %b24, %b14 : tensor<12x16x130xi32>
  %b26 = stablehlo.add %b0, %b0 : tensor<12x16x130xi32>
  %b27 = stablehlo.add %b26, %b25 : tensor<12x16x130xi32>
  check.expect_eq %b12#0, %b27 : tensor<12x16x130xi32>
  %b28 = stablehlo.compare GT, %b25, %b0 : (tensor<12x16x130xi32>, tensor<12x16x130xi32>) -> tensor<12x16x130xi1>
  %b29 = stablehlo.convert %b28 : (tensor<12x16x130xi1>) -> tensor<12x16x130xi32>
  check.expect_eq %b12#1, %b29 : tensor<12x16x130xi32>
  // a tile has no room for four of these matrices
  %l0 = stablehlo.iota dim = 0 : tensor<208x208xf32>
  %l1 = stablehlo.iota dim = 1 : tensor<208x208xf32>
  %l2 = stablehlo.compare EQ, %l0, %l1 : (tensor<208x208xf32>, tensor<208x208xf32>) -> tensor<208x208xi1>
  %l3 = stablehlo.constant dense<4.0> : tensor<208x208xf32>
  %l4 = stablehlo.constant dense<0.0> : tensor<208x208xf32>
  %l5 = stablehlo.select %l2, %l3, %l4 : tensor<208x208xi1>, tensor<208x208xf32>
  %l6 = stablehlo.cholesky %l5, lower = true : tensor<208x208xf32>
  %l7 = stablehlo.iota dim = 0 : tensor<208x16xf32>
  %l8 = "stablehlo.triangular_solve"(%l6, %l7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<208x208xf32>, tensor<208x16xf32>) -> tensor<208x16xf32>
  %l9 = stablehlo.constant dense<0.5> : tensor<208x16xf32>
  %l10 = stablehlo.multiply %l7, %l9 : tensor<208x16xf32>
  check.expect_eq %l8, %l10 : tensor<208x16xf32>
  // A carried value may be changed in place, but only after all of its uses.
  %ux = stablehlo.constant dense<5> : tensor<20000xi32>
  %u0 = stablehlo.constant dense<0> : tensor<i32>
  %u2 = stablehlo.constant dense<1> : tensor<i32>
  %u3 = stablehlo.constant dense<9> : tensor<i32>
  %u4:3 = stablehlo.while(%i = %u0, %sum = %u0, %a = %ux) : tensor<i32>, tensor<i32>, tensor<20000xi32> cond {
    %1 = stablehlo.compare LT, %i, %u3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %next = stablehlo.add %i, %u2 : tensor<i32>
    %ones = stablehlo.constant dense<1> : tensor<1xi32>
    %old = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<20000xi32>, tensor<i32>) -> tensor<1xi32>
    %b = stablehlo.dynamic_update_slice %a, %ones, %i : (tensor<20000xi32>, tensor<1xi32>, tensor<i32>) -> tensor<20000xi32>
    %2 = stablehlo.reshape %old : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.add %sum, %2 : tensor<i32>
    stablehlo.return %next, %3, %b : tensor<i32>, tensor<i32>, tensor<20000xi32>
  }
  %u5:3 = stablehlo.while(%i = %u0, %sum = %u0, %a = %ux) : tensor<i32>, tensor<i32>, tensor<20000xi32> cond {
    %1 = stablehlo.compare LT, %i, %u3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %next = stablehlo.add %i, %u2 : tensor<i32>
    %ones = stablehlo.constant dense<1> : tensor<1xi32>
    %b = stablehlo.dynamic_update_slice %a, %ones, %i : (tensor<20000xi32>, tensor<1xi32>, tensor<i32>) -> tensor<20000xi32>
    %old = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<20000xi32>, tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %old : (tensor<1xi32>) -> tensor<i32>
    %3 = stablehlo.add %sum, %2 : tensor<i32>
    stablehlo.return %next, %3, %b : tensor<i32>, tensor<i32>, tensor<20000xi32>
  }
  check.expect_eq_const %u4#1, dense<45> : tensor<i32>
  check.expect_eq_const %u5#1, dense<45> : tensor<i32>
  %u6 = stablehlo.iota dim = 0 : tensor<20000xi32>
  %u7 = stablehlo.constant dense<9> : tensor<20000xi32>
  %u8 = stablehlo.compare LT, %u6, %u7 : (tensor<20000xi32>, tensor<20000xi32>) -> tensor<20000xi1>
  %u9 = stablehlo.constant dense<1> : tensor<20000xi32>
  %u10 = stablehlo.select %u8, %u9, %ux : tensor<20000xi1>, tensor<20000xi32>
  check.expect_eq %u4#2, %u10 : tensor<20000xi32>
  check.expect_eq %u5#2, %u10 : tensor<20000xi32>
  return
}
