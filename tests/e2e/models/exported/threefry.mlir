module @threefry attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[0, 42]> : tensor<2xui32>
    %0 = call @_uniform(%k1) : (tensor<2xui32>) -> tensor<9xui32>
    check.expect_eq_const %0, dense<[2765691542, 1385194879, 831049250, 3807460095, 3616728933, 824333390, 1482326074, 1083977345, 2713995981]> : tensor<9xui32>
    %c9 = stablehlo.constant dense<9> : tensor<ui32>
    %b9 = stablehlo.broadcast_in_dim %c9, dims = [] : (tensor<ui32>) -> tensor<9xui32>
    %1 = stablehlo.shift_right_logical %0, %b9 : tensor<9xui32>
    %co = stablehlo.constant dense<1065353216> : tensor<9xui32>
    %2 = stablehlo.or %1, %co : tensor<9xui32>
    %3 = stablehlo.bitcast_convert %2 : (tensor<9xui32>) -> tensor<9xf32>
    %one = stablehlo.constant dense<1.0> : tensor<9xf32>
    %4 = stablehlo.subtract %3, %one : tensor<9xf32>
    check.expect_eq_const %4, dense<[6.439377069e-01, 3.225157261e-01, 1.934937239e-01, 8.864933252e-01, 8.420852423e-01, 1.919300556e-01, 3.451309204e-01, 2.523831129e-01, 6.319013834e-01]> : tensor<9xf32>
    return
  }
  func.func private @_uniform(%arg0: tensor<2xui32>) -> tensor<9xui32> {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.iota dim = 0 : tensor<9xui32>
    %c = stablehlo.constant dense<9> : tensor<ui32>
    %p = stablehlo.pad %4, %c, low = [0], high = [1], interior = [0] : (tensor<9xui32>, tensor<ui32>) -> tensor<10xui32>
    %5 = stablehlo.slice %p [0:5] : (tensor<10xui32>) -> tensor<5xui32>
    %6 = stablehlo.slice %p [5:10] : (tensor<10xui32>) -> tensor<5xui32>
    %7:2 = call @threefry2x32(%1, %3, %5, %6) : (tensor<ui32>, tensor<ui32>, tensor<5xui32>, tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>)
    %8 = stablehlo.concatenate %7#0, %7#1, dim = 0 : (tensor<5xui32>, tensor<5xui32>) -> tensor<10xui32>
    %9 = stablehlo.slice %8 [0:9] : (tensor<10xui32>) -> tensor<9xui32>
    return %9 : tensor<9xui32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<5xui32>, %arg3: tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<5xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<5xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
     cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i64>
      %7 = stablehlo.compare  LT, %iterArg, %c_12,  SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i64>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<5xui32>, tensor<5xui32>
  }
  func.func private @closed_call(%arg0: tensor<i64>, %arg1: tensor<5xui32>, %arg2: tensor<5xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg0, %c : tensor<i64>
    %r0 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %s0 = stablehlo.reshape %r0 : (tensor<1xui32>) -> tensor<ui32>
    %a0 = stablehlo.add %arg1, %arg2 : tensor<5xui32>
    %b0 = stablehlo.broadcast_in_dim %s0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %l0 = stablehlo.shift_left %arg2, %b0 : tensor<5xui32>
    %t0 = stablehlo.constant dense<32> : tensor<ui32>
    %m0 = stablehlo.subtract %t0, %s0 : tensor<ui32>
    %n0 = stablehlo.broadcast_in_dim %m0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %q0 = stablehlo.shift_right_logical %arg2, %n0 : tensor<5xui32>
    %o0 = stablehlo.or %l0, %q0 : tensor<5xui32>
    %x0 = stablehlo.xor %a0, %o0 : tensor<5xui32>
    %r1 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %s1 = stablehlo.reshape %r1 : (tensor<1xui32>) -> tensor<ui32>
    %a1 = stablehlo.add %a0, %x0 : tensor<5xui32>
    %b1 = stablehlo.broadcast_in_dim %s1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %l1 = stablehlo.shift_left %x0, %b1 : tensor<5xui32>
    %t1 = stablehlo.constant dense<32> : tensor<ui32>
    %m1 = stablehlo.subtract %t1, %s1 : tensor<ui32>
    %n1 = stablehlo.broadcast_in_dim %m1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %q1 = stablehlo.shift_right_logical %x0, %n1 : tensor<5xui32>
    %o1 = stablehlo.or %l1, %q1 : tensor<5xui32>
    %x1 = stablehlo.xor %a1, %o1 : tensor<5xui32>
    %r2 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %s2 = stablehlo.reshape %r2 : (tensor<1xui32>) -> tensor<ui32>
    %a2 = stablehlo.add %a1, %x1 : tensor<5xui32>
    %b2 = stablehlo.broadcast_in_dim %s2, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %l2 = stablehlo.shift_left %x1, %b2 : tensor<5xui32>
    %t2 = stablehlo.constant dense<32> : tensor<ui32>
    %m2 = stablehlo.subtract %t2, %s2 : tensor<ui32>
    %n2 = stablehlo.broadcast_in_dim %m2, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %q2 = stablehlo.shift_right_logical %x1, %n2 : tensor<5xui32>
    %o2 = stablehlo.or %l2, %q2 : tensor<5xui32>
    %x2 = stablehlo.xor %a2, %o2 : tensor<5xui32>
    %r3 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %s3 = stablehlo.reshape %r3 : (tensor<1xui32>) -> tensor<ui32>
    %a3 = stablehlo.add %a2, %x2 : tensor<5xui32>
    %b3 = stablehlo.broadcast_in_dim %s3, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %l3 = stablehlo.shift_left %x2, %b3 : tensor<5xui32>
    %t3 = stablehlo.constant dense<32> : tensor<ui32>
    %m3 = stablehlo.subtract %t3, %s3 : tensor<ui32>
    %n3 = stablehlo.broadcast_in_dim %m3, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %q3 = stablehlo.shift_right_logical %x2, %n3 : tensor<5xui32>
    %o3 = stablehlo.or %l3, %q3 : tensor<5xui32>
    %x3 = stablehlo.xor %a3, %o3 : tensor<5xui32>
    %k0 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %e0 = stablehlo.add %a3, %k0 : tensor<5xui32>
    %k1 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %e1 = stablehlo.add %x3, %k1 : tensor<5xui32>
    %cv = stablehlo.convert %0 : (tensor<i64>) -> tensor<ui32>
    %k2 = stablehlo.broadcast_in_dim %cv, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %e2 = stablehlo.add %e1, %k2 : tensor<5xui32>
    return %0, %e0, %e2, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
}
