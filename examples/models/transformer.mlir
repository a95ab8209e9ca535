// A block of a transformer: six words of width 8, two heads, a hidden layer of 16; norms in front of both halves.
//
//     pophlo --run --in words=words.npy --out out0=out.npy transformer.mlir
module @transformer {
  func.func private @queries() -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64xf32>
    %k = stablehlo.constant dense<0.7> : tensor<64xf32>
    %scale = stablehlo.constant dense<0.4> : tensor<64xf32>
    %angle = stablehlo.multiply %i, %k : tensor<64xf32>
    %sine = stablehlo.sine %angle : tensor<64xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<64xf32>
    %w = stablehlo.reshape %scaled : (tensor<64xf32>) -> tensor<8x8xf32>
    return %w : tensor<8x8xf32>
  }
  func.func private @keys() -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64xf32>
    %k = stablehlo.constant dense<1.1> : tensor<64xf32>
    %scale = stablehlo.constant dense<0.4> : tensor<64xf32>
    %angle = stablehlo.multiply %i, %k : tensor<64xf32>
    %sine = stablehlo.sine %angle : tensor<64xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<64xf32>
    %w = stablehlo.reshape %scaled : (tensor<64xf32>) -> tensor<8x8xf32>
    return %w : tensor<8x8xf32>
  }
  func.func private @values() -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64xf32>
    %k = stablehlo.constant dense<1.7> : tensor<64xf32>
    %scale = stablehlo.constant dense<0.4> : tensor<64xf32>
    %angle = stablehlo.multiply %i, %k : tensor<64xf32>
    %sine = stablehlo.sine %angle : tensor<64xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<64xf32>
    %w = stablehlo.reshape %scaled : (tensor<64xf32>) -> tensor<8x8xf32>
    return %w : tensor<8x8xf32>
  }
  func.func private @joined() -> tensor<8x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64xf32>
    %k = stablehlo.constant dense<2.3> : tensor<64xf32>
    %scale = stablehlo.constant dense<0.4> : tensor<64xf32>
    %angle = stablehlo.multiply %i, %k : tensor<64xf32>
    %sine = stablehlo.sine %angle : tensor<64xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<64xf32>
    %w = stablehlo.reshape %scaled : (tensor<64xf32>) -> tensor<8x8xf32>
    return %w : tensor<8x8xf32>
  }
  func.func private @wide() -> tensor<8x16xf32> {
    %i = stablehlo.iota dim = 0 : tensor<128xf32>
    %k = stablehlo.constant dense<0.9> : tensor<128xf32>
    %scale = stablehlo.constant dense<0.3> : tensor<128xf32>
    %angle = stablehlo.multiply %i, %k : tensor<128xf32>
    %sine = stablehlo.sine %angle : tensor<128xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<128xf32>
    %w = stablehlo.reshape %scaled : (tensor<128xf32>) -> tensor<8x16xf32>
    return %w : tensor<8x16xf32>
  }
  func.func private @narrow() -> tensor<16x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<128xf32>
    %k = stablehlo.constant dense<1.9> : tensor<128xf32>
    %scale = stablehlo.constant dense<0.3> : tensor<128xf32>
    %angle = stablehlo.multiply %i, %k : tensor<128xf32>
    %sine = stablehlo.sine %angle : tensor<128xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<128xf32>
    %w = stablehlo.reshape %scaled : (tensor<128xf32>) -> tensor<16x8xf32>
    return %w : tensor<16x8xf32>
  }

  func.func public @main(%words: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %width = stablehlo.constant dense<8.0> : tensor<6xf32>
    %small = stablehlo.constant dense<1.0e-05> : tensor<6xf32>

    // attention: each word asks all others
    %sum1 = stablehlo.reduce(%words init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %mean1 = stablehlo.divide %sum1, %width : tensor<6xf32>
    %means1 = stablehlo.broadcast_in_dim %mean1, dims = [0] : (tensor<6xf32>) -> tensor<6x8xf32>
    %centred1 = stablehlo.subtract %words, %means1 : tensor<6x8xf32>
    %squares1 = stablehlo.multiply %centred1, %centred1 : tensor<6x8xf32>
    %spread1 = stablehlo.reduce(%squares1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %variance1 = stablehlo.divide %spread1, %width : tensor<6xf32>
    %shifted1 = stablehlo.add %variance1, %small : tensor<6xf32>
    %inverse1 = stablehlo.rsqrt %shifted1 : tensor<6xf32>
    %inverses1 = stablehlo.broadcast_in_dim %inverse1, dims = [0] : (tensor<6xf32>) -> tensor<6x8xf32>
    %n1 = stablehlo.multiply %centred1, %inverses1 : tensor<6x8xf32>
    %wq = call @queries() : () -> tensor<8x8xf32>
    %q = stablehlo.dot_general %n1, %wq, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %qh = stablehlo.reshape %q : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %wk = call @keys() : () -> tensor<8x8xf32>
    %k = stablehlo.dot_general %n1, %wk, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %kh = stablehlo.reshape %k : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %wv = call @values() : () -> tensor<8x8xf32>
    %v = stablehlo.dot_general %n1, %wv, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %vh = stablehlo.reshape %v : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %scores = stablehlo.dot_general %qh, %kh, batching_dims = [1] x [1], contracting_dims = [2] x [2] : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<2x6x6xf32>
    %half = stablehlo.constant dense<0.5> : tensor<2x6x6xf32>
    %scaled = stablehlo.multiply %scores, %half : tensor<2x6x6xf32>
    %most = stablehlo.reduce(%scaled init: %lowest) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %mosts = stablehlo.broadcast_in_dim %most, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x6xf32>
    %below = stablehlo.subtract %scaled, %mosts : tensor<2x6x6xf32>
    %e = stablehlo.exponential %below : tensor<2x6x6xf32>
    %total = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %totals = stablehlo.broadcast_in_dim %total, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x6xf32>
    %p = stablehlo.divide %e, %totals : tensor<2x6x6xf32>
    %mixed = stablehlo.dot_general %p, %vh, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x6x6xf32>, tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
    %turned = stablehlo.transpose %mixed, dims = [1, 0, 2] : (tensor<2x6x4xf32>) -> tensor<6x2x4xf32>
    %flat = stablehlo.reshape %turned : (tensor<6x2x4xf32>) -> tensor<6x8xf32>
    %wj = call @joined() : () -> tensor<8x8xf32>
    %joined = stablehlo.dot_general %flat, %wj, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %middle = stablehlo.add %words, %joined : tensor<6x8xf32>

    // each word by itself: a hidden layer with x (1 + erf(x / sqrt 2)) / 2
    %sum2 = stablehlo.reduce(%middle init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %mean2 = stablehlo.divide %sum2, %width : tensor<6xf32>
    %means2 = stablehlo.broadcast_in_dim %mean2, dims = [0] : (tensor<6xf32>) -> tensor<6x8xf32>
    %centred2 = stablehlo.subtract %middle, %means2 : tensor<6x8xf32>
    %squares2 = stablehlo.multiply %centred2, %centred2 : tensor<6x8xf32>
    %spread2 = stablehlo.reduce(%squares2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
    %variance2 = stablehlo.divide %spread2, %width : tensor<6xf32>
    %shifted2 = stablehlo.add %variance2, %small : tensor<6xf32>
    %inverse2 = stablehlo.rsqrt %shifted2 : tensor<6xf32>
    %inverses2 = stablehlo.broadcast_in_dim %inverse2, dims = [0] : (tensor<6xf32>) -> tensor<6x8xf32>
    %n2 = stablehlo.multiply %centred2, %inverses2 : tensor<6x8xf32>
    %wa = call @wide() : () -> tensor<8x16xf32>
    %a = stablehlo.dot_general %n2, %wa, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
    %root = stablehlo.constant dense<0.707106769> : tensor<6x16xf32>
    %ar = stablehlo.multiply %a, %root : tensor<6x16xf32>
    %erf = chlo.erf %ar : tensor<6x16xf32> -> tensor<6x16xf32>
    %one = stablehlo.constant dense<1.0> : tensor<6x16xf32>
    %above = stablehlo.add %erf, %one : tensor<6x16xf32>
    %halves = stablehlo.constant dense<0.5> : tensor<6x16xf32>
    %gate = stablehlo.multiply %above, %halves : tensor<6x16xf32>
    %hidden = stablehlo.multiply %a, %gate : tensor<6x16xf32>
    %wb = call @narrow() : () -> tensor<16x8xf32>
    %back = stablehlo.dot_general %hidden, %wb, contracting_dims = [1] x [0] : (tensor<6x16xf32>, tensor<16x8xf32>) -> tensor<6x8xf32>
    %out = stablehlo.add %middle, %back : tensor<6x8xf32>
    return %out : tensor<6x8xf32>
  }
}
