// Codelets in C++ that tests and examples share: reductions, in-place work, constants, and one
// vertex for each element type. basic.c holds the same in C.
#include <poplar/Vertex.hpp>

using namespace poplar;

class SumVertex : public Vertex
{
public:
  Input<Vector<float>> in;
  Output<float> out;

  bool compute()
  {
    *out = 0;
    for (const auto &v : in) {
      *out += v;
    }
    return true;
  }
};

class DotProductVertex : public Vertex
{
public:
  Input<Vector<float>> a;
  Input<Vector<float>> b;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    *out = sum;
    return true;
  }
};

class ReduceVertex : public Vertex
{
public:
  Input<Vector<float>> in;
  Output<float> out;

  bool compute()
  {
    float sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
    *out = sum;
    return true;
  }
};

class AddOne : public Vertex
{
public:
  InOut<Vector<int>> x;

  bool compute()
  {
    for (int &v : x) ++v;
    return true;
  }
};

class Scale : public Vertex
{
public:
  Input<Vector<half>> in;
  Output<Vector<half>> out;
  const float k;

  bool compute()
  {
    for (unsigned i = 0; i < in.size(); ++i)
      out[i] = static_cast<half>(static_cast<float>(in[i]) * k);
    return true;
  }
};

// out[i] = a + in[i] + k, with every kind of field of one type.
template <typename T> class Add
{
public:
  Input<T> a;
  Input<Vector<T>> in;
  Output<Vector<T, VectorLayout::ONE_PTR>> out;
  T k;

  bool compute()
  {
    for (unsigned i = 0; i < in.size(); ++i) out[i] = static_cast<T>(*a + in[i] + k);
    return true;
  }
};

class AddBool : public Vertex, public Add<bool>
{
};
class AddChar : public Vertex, public Add<char>
{
};
class AddSignedChar : public Vertex, public Add<signed char>
{
};
class AddUnsignedChar : public Vertex, public Add<unsigned char>
{
};
class AddShort : public Vertex, public Add<short>
{
};
class AddUnsignedShort : public Vertex, public Add<unsigned short>
{
};
class AddInt : public Vertex, public Add<int>
{
};
class AddUnsigned : public Vertex, public Add<unsigned>
{
};
class AddLongLong : public Vertex, public Add<long long>
{
};
class AddUnsignedLongLong : public Vertex, public Add<unsigned long long>
{
};
class AddHalf : public Vertex, public Add<half>
{
};
class AddFloat : public Vertex, public Add<float>
{
};
