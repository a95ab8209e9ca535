// Fills and casts.
#include "../registers.hpp"
#include "vectors.hpp"

#include <poplar/QuarterFloat.hpp>

using namespace poplar;

namespace popops
{

// T is an unsigned integer of the elements' size: only the value's bits matter. (`Fill` is the name
// of the original libraries' vertex, which a graph may have, too.)
template <typename T> class FillWords : public MultiVertex
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
template class FillWords<unsigned char>;
template class FillWords<unsigned short>;
template class FillWords<unsigned int>;
template class FillWords<unsigned long long>;

// Reads elements of a field as numbers; quarters by the field's format and scale.
template <typename T> struct Reader {
  const T *from;
  template <typename Field> explicit Reader(const Field &field) : from(&field[0]) {}
  T operator[](unsigned i) const { return from[i]; }
};
template <> struct Reader<quarter> {
  const quarter *from;
  quarter_metadata metadata;
  template <typename Field>
  explicit Reader(const Field &field)
      : from(&field[0]), metadata(unpackMetadata(field.getMetadata()))
  {
  }
  float operator[](unsigned i) const { return toFloat(from[i], metadata); }
};

// Converts numbers as C++ does; to bool: is it not zero? To quarter: the tile's control register
// decides what a value that is too large becomes.
template <typename T> struct Converter {
  template <typename Field> explicit Converter(const Field &) {}
  template <typename From> T operator()(From value) const { return static_cast<T>(value); }
};
template <> struct Converter<quarter> {
  quarter_metadata metadata;
  bool nanOnOverflow;
  template <typename Field>
  explicit Converter(const Field &field) : metadata(unpackMetadata(field.getMetadata()))
  {
    unsigned control;
    READ_REGISTER(0x801, control);
    nanOnOverflow = control >> CSR_W_FP_CTL__NANOO__SHIFT & CSR_W_FP_CTL__NANOO__MASK;
  }
  template <typename From> quarter operator()(From value) const
  {
    return toQuarter(static_cast<float>(value), metadata, nanOnOverflow);
  }
};

template <typename From, typename To> class Cast : public MultiVertex
{
public:
  Input<Vector<From>> a;
  Output<Vector<To>> out;

  bool compute(unsigned worker)
  {
    const Reader<From> from(a);
    const Converter<To> convert(out);
    To *to = &out[0];
    forWorker(
        worker, out.size(), [=](unsigned i) { return convert(from[i]); },
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
  template class Cast<From, bool>;                                                                 \
  template class Cast<From, quarter>;
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
CASTS_FROM(quarter)

} // namespace popops
