module @i64 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<[0, 1, -1, 9223372036854775807, -9223372036854775808, 123456789012345, -987654321, 4294967296, -4294967295]> : tensor<9xi64>
    %k2 = stablehlo.constant dense<[3, -7, 2, 4611686018427387904, -1, -1000003, 65537, 8589934592, 5]> : tensor<9xi64>
    %oadd = stablehlo.add %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %oadd, dense<[3, -6, 1, -4611686018427387905, 9223372036854775807, 123456788012342, -987588784, 12884901888, -4294967290]> : tensor<9xi64>
    %omultiply = stablehlo.multiply %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %omultiply, dense<[0, -7, -2, -4611686018427387904, -9223372036854775808, 5670049133254824277, -64727901235377, 0, -21474836475]> : tensor<9xi64>
    %osubtract = stablehlo.subtract %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %osubtract, dense<[-3, 8, -3, 4611686018427387903, -9223372036854775807, 123456790012348, -987719858, -4294967296, -4294967300]> : tensor<9xi64>
    %odivide = stablehlo.divide %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %odivide, dense<[0, 0, 0, 1, -9223372036854775808, -123456418, -15070, 0, -858993459]> : tensor<9xi64>
    %oremainder = stablehlo.remainder %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %oremainder, dense<[0, 1, -1, 4611686018427387903, 0, 643091, -11731, 4294967296, 0]> : tensor<9xi64>
    %omaximum = stablehlo.maximum %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %omaximum, dense<[3, 1, 2, 9223372036854775807, -1, 123456789012345, 65537, 8589934592, 5]> : tensor<9xi64>
    %oxor = stablehlo.xor %k1, %k2 : tensor<9xi64>
    check.expect_eq_const %oxor, dense<[3, -8, -3, 4611686018427387903, 9223372036854775807, -123456788274492, -987719858, 12884901888, -4294967292]> : tensor<9xi64>
    %k3 = stablehlo.constant dense<[0, 1, 63, 64, 31, 32, 33, 100, -1]> : tensor<9xi64>
    %hshift_left = stablehlo.shift_left %k1, %k3 : tensor<9xi64>
    check.expect_eq_const %hshift_left, dense<[0, 2, -9223372036854775808, 0, 0, -8787121587145932800, -8483886016896172032, 0, 0]> : tensor<9xi64>
    %hshift_right_logical = stablehlo.shift_right_logical %k1, %k3 : tensor<9xi64>
    check.expect_eq_const %hshift_right_logical, dense<[0, 0, 1, 0, 4294967296, 28744, 2147483647, 0, 0]> : tensor<9xi64>
    %hshift_right_arithmetic = stablehlo.shift_right_arithmetic %k1, %k3 : tensor<9xi64>
    check.expect_eq_const %hshift_right_arithmetic, dense<[0, 0, -1, 0, -4294967296, 28744, -1, 0, -1]> : tensor<9xi64>
    %pc = stablehlo.popcnt %k1 : tensor<9xi64>
    check.expect_eq_const %pc, dense<[0, 1, 64, 63, 1, 23, 48, 1, 33]> : tensor<9xi64>
    %cl = stablehlo.count_leading_zeros %k1 : tensor<9xi64>
    check.expect_eq_const %cl, dense<[64, 63, 0, 1, 0, 17, 0, 31, 0]> : tensor<9xi64>
    %sg = stablehlo.sign %k1 : tensor<9xi64>
    check.expect_eq_const %sg, dense<[0, 1, -1, 1, -1, 1, -1, 1, -1]> : tensor<9xi64>
    %tof = stablehlo.convert %k1 : (tensor<9xi64>) -> tensor<9xf32>
    check.expect_eq_const %tof, dense<[0.000000000e+00, 1.000000000e+00, -1.000000000e+00, 9.223372037e+18, -9.223372037e+18, 1.234567881e+14, -9.876543360e+08, 4.294967296e+09, -4.294967296e+09]> : tensor<9xf32>
    %tod = stablehlo.convert %k1 : (tensor<9xi64>) -> tensor<9xf64>
    check.expect_eq_const %tod, dense<[0.00000000000000000e+00, 1.00000000000000000e+00, -1.00000000000000000e+00, 9.22337203685477581e+18, -9.22337203685477581e+18, 1.23456789012345000e+14, -9.87654321000000000e+08, 4.29496729600000000e+09, -4.29496729500000000e+09]> : tensor<9xf64>
    %to32 = stablehlo.convert %k1 : (tensor<9xi64>) -> tensor<9xi32>
    check.expect_eq_const %to32, dense<[0, 1, -1, -1, 0, -2045911175, -987654321, 0, 1]> : tensor<9xi32>
    %tou = stablehlo.bitcast_convert %k1 : (tensor<9xi64>) -> tensor<9x2xui32>
    check.expect_eq_const %tou, dense<[[0, 0], [1, 0], [4294967295, 4294967295], [4294967295, 2147483647], [0, 2147483648], [2249056121, 28744], [3307312975, 4294967295], [0, 1], [1, 4294967295]]> : tensor<9x2xui32>
    %k4 = stablehlo.constant dense<[1.500000000e+00, -2.500000000e+00, 9.999999843e+17, -9.999999843e+17, 4.611686018e+18, -7.500000000e-01, 7.000000000e+09]> : tensor<7xf32>
    %fromf = stablehlo.convert %k4 : (tensor<7xf32>) -> tensor<7xi64>
    check.expect_eq_const %fromf, dense<[1, -2, 999999984306749440, -999999984306749440, 4611686018427387904, 0, 7000000000]> : tensor<7xi64>
    %k5 = stablehlo.constant dense<[5, 3, 40, 2, 7, 3, 4, 2, 27]> : tensor<9xi64>
    %pw = stablehlo.power %k2, %k5 : tensor<9xi64>
    check.expect_eq_const %pw, dense<[243, -343, 1099511627776, 0, -1, -1000009000027000027, 1125925676908545, 0, 7450580596923828125]> : tensor<9xi64>
    %k6 = stablehlo.constant dense<[[482069666594, -939852964536, 1091551556316, 710281297841], [166382822658, -947255981258, 169469170181, -1038430209896], [-8431177283, -695227084952, 742124881371, 368611463769]]> : tensor<3x4xi64>
    %k7 = stablehlo.constant dense<[[264236462960, 753549824826], [371205537921, -352345842992], [-455539740901, 671680658674], [16392631042, -13726592455]]> : tensor<4x2xi64>
    %dt = stablehlo.dot %k6, %k7 : (tensor<3x4xi64>, tensor<4x2xi64>) -> tensor<3x2xi64>
    check.expect_eq_const %dt, dense<[[618274573620832702, 5928063503083932309], [-4036294125387495475, 7522151472109493990], [119243595221049315, -3934123175168649943]]> : tensor<3x2xi64>
    return
  }
}
