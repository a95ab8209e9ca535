module @branches attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() {
    %k1 = stablehlo.constant dense<-1> : tensor<i32>
    %k2 = stablehlo.constant dense<[2.875000000e+00, 2.125000000e+00, 3.750000000e+00, 2.125000000e+00]> : tensor<4xf32>
    %q2:2 = "stablehlo.case"(%k1) ({
      %1 = stablehlo.abs %k2 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k2 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k2 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k2, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q2#0, dense<[2.875000000e+00, 2.125000000e+00, 3.750000000e+00, 2.125000000e+00]> : tensor<4xf32>
    check.expect_eq_const %q2#1, dense<0> : tensor<i64>
    %k3 = stablehlo.constant dense<0> : tensor<i32>
    %k4 = stablehlo.constant dense<[-8.750000000e-01, -7.500000000e-01, 1.750000000e+00, -1.875000000e+00]> : tensor<4xf32>
    %q4:2 = "stablehlo.case"(%k3) ({
      %1 = stablehlo.abs %k4 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k4 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k4 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k4, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q4#0, dense<[8.750000000e-01, 7.500000000e-01, 1.750000000e+00, 1.875000000e+00]> : tensor<4xf32>
    check.expect_eq_const %q4#1, dense<7> : tensor<i64>
    %k5 = stablehlo.constant dense<1> : tensor<i32>
    %k6 = stablehlo.constant dense<[2.875000000e+00, 3.250000000e+00, 2.125000000e+00, 1.250000000e-01]> : tensor<4xf32>
    %q6:2 = "stablehlo.case"(%k5) ({
      %1 = stablehlo.abs %k6 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k6 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k6 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k6, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q6#0, dense<[-2.875000000e+00, -3.250000000e+00, -2.125000000e+00, -1.250000000e-01]> : tensor<4xf32>
    check.expect_eq_const %q6#1, dense<-9000000000> : tensor<i64>
    %k7 = stablehlo.constant dense<2> : tensor<i32>
    %k8 = stablehlo.constant dense<[-2.625000000e+00, -1.625000000e+00, -1.750000000e+00, -1.375000000e+00]> : tensor<4xf32>
    %q8:2 = "stablehlo.case"(%k7) ({
      %1 = stablehlo.abs %k8 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k8 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k8 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k8, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q8#0, dense<[-2.625000000e+00, -1.625000000e+00, -1.750000000e+00, -1.375000000e+00]> : tensor<4xf32>
    check.expect_eq_const %q8#1, dense<0> : tensor<i64>
    %k9 = stablehlo.constant dense<3> : tensor<i32>
    %k10 = stablehlo.constant dense<[-3.750000000e-01, 3.750000000e-01, -2.250000000e+00, 2.375000000e+00]> : tensor<4xf32>
    %q10:2 = "stablehlo.case"(%k9) ({
      %1 = stablehlo.abs %k10 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k10 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k10 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k10, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q10#0, dense<[-3.750000000e-01, 3.750000000e-01, -2.250000000e+00, 2.375000000e+00]> : tensor<4xf32>
    check.expect_eq_const %q10#1, dense<0> : tensor<i64>
    %k11 = stablehlo.constant dense<2147483647> : tensor<i32>
    %k12 = stablehlo.constant dense<[1.875000000e+00, 2.750000000e+00, -1.875000000e+00, 8.750000000e-01]> : tensor<4xf32>
    %q12:2 = "stablehlo.case"(%k11) ({
      %1 = stablehlo.abs %k12 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k12 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k12 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k12, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q12#0, dense<[1.875000000e+00, 2.750000000e+00, -1.875000000e+00, 8.750000000e-01]> : tensor<4xf32>
    check.expect_eq_const %q12#1, dense<0> : tensor<i64>
    %k13 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %k14 = stablehlo.constant dense<[1.250000000e+00, -8.750000000e-01, -7.500000000e-01, 2.500000000e+00]> : tensor<4xf32>
    %q14:2 = "stablehlo.case"(%k13) ({
      %1 = stablehlo.abs %k14 : tensor<4xf32>
      %c = stablehlo.constant dense<7> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %p = stablehlo.constant dense<true> : tensor<i1>
      %1 = "stablehlo.if"(%p) ({
        %2 = stablehlo.negate %k14 : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %k14 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      %c = stablehlo.constant dense<-9000000000> : tensor<i64>
      stablehlo.return %1, %c : tensor<4xf32>, tensor<i64>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i64>
      stablehlo.return %k14, %c : tensor<4xf32>, tensor<i64>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i64>)
    check.expect_eq_const %q14#0, dense<[1.250000000e+00, -8.750000000e-01, -7.500000000e-01, 2.500000000e+00]> : tensor<4xf32>
    check.expect_eq_const %q14#1, dense<0> : tensor<i64>
    return
  }
}
