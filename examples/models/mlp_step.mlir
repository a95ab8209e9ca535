// One step of training: a perceptron with a hidden layer of 16, softmax and cross entropy, its gradients, and new weights.
//
//     pophlo --run --in x=x.npy --in y=y.npy --out out0=loss.npy mlp_step.mlir
module @mlp_step {
  func.func private @first() -> tensor<4x16xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64xf32>
    %k = stablehlo.constant dense<0.7> : tensor<64xf32>
    %scale = stablehlo.constant dense<0.5> : tensor<64xf32>
    %angle = stablehlo.multiply %i, %k : tensor<64xf32>
    %sine = stablehlo.sine %angle : tensor<64xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<64xf32>
    %w = stablehlo.reshape %scaled : (tensor<64xf32>) -> tensor<4x16xf32>
    return %w : tensor<4x16xf32>
  }
  func.func private @second() -> tensor<16x3xf32> {
    %i = stablehlo.iota dim = 0 : tensor<48xf32>
    %k = stablehlo.constant dense<1.3> : tensor<48xf32>
    %scale = stablehlo.constant dense<0.5> : tensor<48xf32>
    %angle = stablehlo.multiply %i, %k : tensor<48xf32>
    %sine = stablehlo.sine %angle : tensor<48xf32>
    %scaled = stablehlo.multiply %sine, %scale : tensor<48xf32>
    %w = stablehlo.reshape %scaled : (tensor<48xf32>) -> tensor<16x3xf32>
    return %w : tensor<16x3xf32>
  }

  // x: 8 examples; y: which of three classes each is, one-hot. Results: loss, weights and offsets after the step.
  func.func public @main(%x: tensor<8x4xf32>, %y: tensor<8x3xf32>)
      -> (tensor<f32>, tensor<4x16xf32>, tensor<16xf32>, tensor<16x3xf32>, tensor<3xf32>) {
    %w1 = call @first() : () -> tensor<4x16xf32>
    %w2 = call @second() : () -> tensor<16x3xf32>
    %b1 = stablehlo.constant dense<0.1> : tensor<16xf32>
    %b2 = stablehlo.constant dense<-0.1> : tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>

    // forward
    %xw = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    %b1s = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
    %a = stablehlo.add %xw, %b1s : tensor<8x16xf32>
    %h = stablehlo.tanh %a : tensor<8x16xf32>
    %hw = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>
    %b2s = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<3xf32>) -> tensor<8x3xf32>
    %z = stablehlo.add %hw, %b2s : tensor<8x3xf32>
    %most = stablehlo.reduce(%z init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<8xf32>
    %mosts = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<8xf32>) -> tensor<8x3xf32>
    %shifted = stablehlo.subtract %z, %mosts : tensor<8x3xf32>
    %e = stablehlo.exponential %shifted : tensor<8x3xf32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<8xf32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<8xf32>) -> tensor<8x3xf32>
    %p = stablehlo.divide %e, %sums : tensor<8x3xf32>
    %logs = stablehlo.log %sums : tensor<8x3xf32>
    %logp = stablehlo.subtract %shifted, %logs : tensor<8x3xf32>
    %ylogp = stablehlo.multiply %y, %logp : tensor<8x3xf32>
    %total = stablehlo.reduce(%ylogp init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
    %minus8 = stablehlo.constant dense<-8.0> : tensor<f32>
    %loss = stablehlo.divide %total, %minus8 : tensor<f32>

    // gradients
    %eight = stablehlo.constant dense<8.0> : tensor<8x3xf32>
    %py = stablehlo.subtract %p, %y : tensor<8x3xf32>
    %dz = stablehlo.divide %py, %eight : tensor<8x3xf32>
    %dw2 = stablehlo.dot_general %h, %dz, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
    %db2 = stablehlo.reduce(%dz init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
    %dh = stablehlo.dot_general %dz, %w2, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<16x3xf32>) -> tensor<8x16xf32>
    %hh = stablehlo.multiply %h, %h : tensor<8x16xf32>
    %one = stablehlo.constant dense<1.0> : tensor<8x16xf32>
    %slope = stablehlo.subtract %one, %hh : tensor<8x16xf32>
    %da = stablehlo.multiply %dh, %slope : tensor<8x16xf32>
    %dw1 = stablehlo.dot_general %x, %da, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %db1 = stablehlo.reduce(%da init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>

    // the step
    %rate = stablehlo.constant dense<0.5> : tensor<f32>
    %rate.w1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %step.w1 = stablehlo.multiply %rate.w1, %dw1 : tensor<4x16xf32>
    %new.w1 = stablehlo.subtract %w1, %step.w1 : tensor<4x16xf32>
    %rate.b1 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %step.b1 = stablehlo.multiply %rate.b1, %db1 : tensor<16xf32>
    %new.b1 = stablehlo.subtract %b1, %step.b1 : tensor<16xf32>
    %rate.w2 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
    %step.w2 = stablehlo.multiply %rate.w2, %dw2 : tensor<16x3xf32>
    %new.w2 = stablehlo.subtract %w2, %step.w2 : tensor<16x3xf32>
    %rate.b2 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %step.b2 = stablehlo.multiply %rate.b2, %db2 : tensor<3xf32>
    %new.b2 = stablehlo.subtract %b2, %step.b2 : tensor<3xf32>
    return %loss, %new.w1, %new.b1, %new.w2, %new.b2 : tensor<f32>, tensor<4x16xf32>, tensor<16xf32>, tensor<16x3xf32>, tensor<3xf32>
  }
}
