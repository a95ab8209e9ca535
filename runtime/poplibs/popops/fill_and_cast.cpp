// Elements that get one value, and elements that become those of another type.
#include "vectors.hpp"

using namespace poplar;

namespace popops
{

// T is an unsigned integer of the elements' size: the value's bits are what counts.
template <typename T> class Fill : public MultiVertex
{
public:
  Output<Vector<T>> out;
  T value;

  bool compute(unsigned worker)
  {
    T *to = &out[0];
    const T with = value;
    forWorker(
        worker, out.size(), [=](unsigned) { return with; },
        [=](unsigned i, auto value) { to[i] = value; });
    return true;
  }
};
template class Fill<unsigned char>;
template class Fill<unsigned short>;
template class Fill<unsigned int>;
template class Fill<unsigned long long>;

// As C++ converts; bool is whether the element is not zero.
template <typename From, typename To> class Cast : public MultiVertex
{
public:
  Input<Vector<From>> a;
  Output<Vector<To>> out;

  bool compute(unsigned worker)
  {
    const From *from = &a[0];
    To *to = &out[0];
    forWorker(
        worker, out.size(), [=](unsigned i) { return static_cast<To>(from[i]); },
        [=](unsigned i, To value) { to[i] = value; });
    return true;
  }
};

#define CASTS_FROM(From)                                                                           \
  template class Cast<From, float>;                                                                \
  template class Cast<From, half>;                                                                 \
  template class Cast<From, int>;                                                                  \
  template class Cast<From, unsigned int>;                                                         \
  template class Cast<From, short>;                                                                \
  template class Cast<From, unsigned short>;                                                       \
  template class Cast<From, char>;                                                                 \
  template class Cast<From, signed char>;                                                          \
  template class Cast<From, unsigned char>;                                                        \
  template class Cast<From, bool>;
CASTS_FROM(float)
CASTS_FROM(half)
CASTS_FROM(int)
CASTS_FROM(unsigned int)
CASTS_FROM(short)
CASTS_FROM(unsigned short)
CASTS_FROM(char)
CASTS_FROM(signed char)
CASTS_FROM(unsigned char)
CASTS_FROM(bool)

} // namespace popops
