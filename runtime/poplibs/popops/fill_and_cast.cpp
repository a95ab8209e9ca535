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

// C++ leaves open what a number beyond the range becomes. The tile's instructions give the nearest
// int or unsigned int, and the largest for NaN; smaller types have the low bits of that.
#ifdef __IPU__
template <typename T> T toInteger(float value)
{
  return static_cast<T>(value);
}
#else
template <typename T> T toInteger(float value)
{
  using Wide = typename std::conditional<std::is_signed<T>::value, int, unsigned>::type;
  constexpr float end = std::is_signed<T>::value ? 0x1p31f : 0x1p32f;
  constexpr Wide least = std::is_signed<T>::value ? Wide(1u << 31) : Wide(0), most = ~least;
  if (!(value < end)) return static_cast<T>(most);
  return static_cast<T>(value < static_cast<float>(least) ? least : static_cast<Wide>(value));
}
#endif

// Converts numbers as C++ does; to bool: is it not zero? To quarter: the tile's control register
// decides what a value that is too large becomes.
template <typename T> struct Converter {
  template <typename Field> explicit Converter(const Field &) {}
  template <typename From> T operator()(From value) const
  {
    constexpr bool fromReal = std::is_same<From, float>::value || std::is_same<From, half>::value,
                   toWhole = std::is_integral<T>::value && !std::is_same<T, bool>::value;
    if constexpr (fromReal && toWhole)
      return toInteger<T>(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }
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
