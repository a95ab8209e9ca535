// Losses of rows of activations, and their gradients. populus/popnn.h defines them.
#include "../quotient.h"
#include <cmath>
#include <limits>
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace popnn
{

// Rows with this label are ignored: MASKED_LABEL_CODE.
constexpr unsigned masked = 0xffffffff;

template <bool crossEntropy> class Loss : public Vertex
{
public:
  Input<Vector<float>> activations; // row by row
  Input<Vector<unsigned>> labels;   // one a row
  Output<Vector<float>> loss;
  Output<Vector<float>> gradient;

  bool compute()
  {
    unsigned classes = quotient(activations.size(), labels.size());
    for (unsigned row = 0; row < labels.size(); ++row) {
      unsigned label = labels[row];
      float sum = 0;
      if (label == masked) {
        for (unsigned i = 0; i < classes; ++i) gradient[row * classes + i] = 0;
        loss[row] = 0;
        continue;
      }
      for (unsigned i = 0; i < classes; ++i) {
        float expected = i == label ? 1 : 0, x = activations[row * classes + i];
        if (!crossEntropy)
          sum += (x - expected) * (x - expected) / 2;
        else if (expected != 0)
          sum =
              -std::log(x + std::numeric_limits<float>::min()); // as in the original: finite for 0
        gradient[row * classes + i] = x - expected;
      }
      loss[row] = sum;
    }
    return true;
  }
};
template class Loss<false>;
template class Loss<true>;

// Counts the rows whose largest activation is at their label.
class CountCorrect : public Vertex
{
public:
  Input<Vector<float>> activations;
  Input<Vector<unsigned>> labels;
  InOut<unsigned> count;

  bool compute()
  {
    unsigned classes = quotient(activations.size(), labels.size());
    for (unsigned row = 0; row < labels.size(); ++row) {
      unsigned best = 0;
      for (unsigned i = 1; i < classes; ++i)
        if (activations[row * classes + i] > activations[row * classes + best]) best = i;
      *count = *count + (best == labels[row]);
    }
    return true;
  }
};

} // namespace popnn
