// A small convolutional network: two convolutions with a maximum of 2 x 2 between them, the mean over the image, and three
// classes.
//
//     pophlo --run --in image=image.npy --out out0=classes.npy convolutional.mlir
module @convolutional {
  func.func private @first() -> tensor<3x3x1x4xf32> {
    %i = stablehlo.iota dim = 0 : tensor<36xf32>
    %k = stablehlo.constant dense<0.9> : tensor<36xf32>
    %scale = stablehlo.constant dense<0.5> : tensor<36xf32>
    %angle = stablehlo.multiply %i, %k : tensor<36xf32>
    %sine = stablehlo.sine %angle : tensor<36xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<36xf32>
    %w = stablehlo.reshape %scaled : (tensor<36xf32>) -> tensor<3x3x1x4xf32>
    return %w : tensor<3x3x1x4xf32>
  }
  func.func private @second() -> tensor<3x3x4x8xf32> {
    %i = stablehlo.iota dim = 0 : tensor<288xf32>
    %k = stablehlo.constant dense<1.1> : tensor<288xf32>
    %scale = stablehlo.constant dense<0.4> : tensor<288xf32>
    %angle = stablehlo.multiply %i, %k : tensor<288xf32>
    %sine = stablehlo.sine %angle : tensor<288xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<288xf32>
    %w = stablehlo.reshape %scaled : (tensor<288xf32>) -> tensor<3x3x4x8xf32>
    return %w : tensor<3x3x4x8xf32>
  }
  func.func private @last() -> tensor<8x3xf32> {
    %i = stablehlo.iota dim = 0 : tensor<24xf32>
    %k = stablehlo.constant dense<0.6> : tensor<24xf32>
    %scale = stablehlo.constant dense<1.0> : tensor<24xf32>
    %angle = stablehlo.multiply %i, %k : tensor<24xf32>
    %sine = stablehlo.sine %angle : tensor<24xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<24xf32>
    %w = stablehlo.reshape %scaled : (tensor<24xf32>) -> tensor<8x3xf32>
    return %w : tensor<8x3xf32>
  }

  func.func public @main(%image: tensor<2x8x8x1xf32>) -> tensor<2x3xf32> {
    %k1 = call @first() : () -> tensor<3x3x1x4xf32>
    %k2 = call @second() : () -> tensor<3x3x4x8xf32>
    %w = call @last() : () -> tensor<8x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>

    // 8 x 8: a convolution that keeps the size, and what is positive
    %c1 = stablehlo.convolution(%image, %k1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x1xf32>, tensor<3x3x1x4xf32>) -> tensor<2x8x8x4xf32>
    %zeros1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x8x8x4xf32>
    %r1 = stablehlo.maximum %c1, %zeros1 : tensor<2x8x8x4xf32>

    // 4 x 4: the largest of 2 x 2
    %pool = "stablehlo.reduce_window"(%r1, %lowest) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x8x8x4xf32>, tensor<f32>) -> tensor<2x4x4x4xf32>

    // 2 x 2: a convolution with steps of 2
    %c2 = stablehlo.convolution(%pool, %k2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x2x2x8xf32>
    %zeros2 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x2x2x8xf32>
    %r2 = stablehlo.maximum %c2, %zeros2 : tensor<2x2x2x8xf32>

    // classes
    %sum = stablehlo.reduce(%r2 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x2x2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %four = stablehlo.constant dense<4.0> : tensor<2x8xf32>
    %mean = stablehlo.divide %sum, %four : tensor<2x8xf32>
    %z = stablehlo.dot_general %mean, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
    %e = stablehlo.exponential %z : tensor<2x3xf32>
    %total = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %totals = stablehlo.broadcast_in_dim %total, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %p = stablehlo.divide %e, %totals : tensor<2x3xf32>
    return %p : tensor<2x3xf32>
  }
}
