#include <poplar/Vertex.hpp>

class Step : public poplar::Vertex
{
public:
  poplar::InOut<int> value;
  int last;
  bool compute()
  {
    int count = *value + 1;
    *value = count;
    if (count == last) *reinterpret_cast<volatile int *>(16) = count; // nobody may
    return true;
  }
};

class Scale : public poplar::Vertex
{
public:
  poplar::InOut<int> value;
  bool compute()
  {
    int sum = 0;
    for (int i = 0; i < 40; ++i) sum += *value * i % 7;
    if (sum < 0) *value = sum;
    return true;
  }
};
