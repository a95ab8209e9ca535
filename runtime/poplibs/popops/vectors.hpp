// How a worker goes over elements: every sixth element, or every sixth 64 bits, is its own.
// Operations with packed instructions (runtime/isa/isa.h) take 64 bits at a time if all operands
// are aligned to that. Other operations, and remaining elements, go one by one. Both loops are
// unrolled by four, so that the latencies of different elements overlap.
//
// Results are the same either way. Packed instructions round each element as single ones do. Sums,
// differences and products of halves are the same whether they are rounded once from single
// precision or calculated in half.
#ifndef POPOPS_VECTORS_HPP
#define POPOPS_VECTORS_HPP

#include <poplar/VectorTypes.hpp>
#include <poplar/Vertex.hpp>
#include <type_traits>

namespace popops
{

#define POPOPS_INLINE __attribute__((always_inline)) inline

// 64 bits of elements. Types without packed instructions have 0 lanes.
template <typename T> struct Packed {
  static constexpr unsigned lanes = 0;
  using type = T;
};
#ifdef __IPU__
template <> struct Packed<float> {
  static constexpr unsigned lanes = 2;
  using type = float2;
};
template <> struct Packed<half> {
  static constexpr unsigned lanes = 4;
  using type = half4;
};
#endif
template <typename T> using PackedType = typename Packed<T>::type;

template <typename T> POPOPS_INLINE PackedType<T> inAllLanes(T value)
{
  PackedType<T> packed;
  if constexpr (Packed<T>::lanes == 0)
    packed = value;
  else
    for (unsigned lane = 0; lane < Packed<T>::lanes; ++lane) packed[lane] = value;
  return packed;
}

template <typename T> POPOPS_INLINE __UINTPTR_TYPE__ addressOf(const T *data)
{
  return reinterpret_cast<__UINTPTR_TYPE__>(data);
}

template <typename T> POPOPS_INLINE PackedType<T> *packedOf(T *data)
{
  return reinterpret_cast<PackedType<T> *>(data);
}

// An operand with an element for each of the result's (Each), or one for all (Same).
template <typename T> struct Each {
  const T *data;
  POPOPS_INLINE explicit Each(const T *begin) : data(begin) {}
  POPOPS_INLINE T at(unsigned i) const { return data[i]; }
  POPOPS_INLINE PackedType<T> packedAt(unsigned i) const
  {
    return reinterpret_cast<const PackedType<T> *>(data)[i];
  }
  POPOPS_INLINE __UINTPTR_TYPE__ address() const { return addressOf(data); }
};
template <typename T> struct Same {
  T value;
  PackedType<T> packed;
  POPOPS_INLINE explicit Same(const T *data) : value(*data), packed(inAllLanes(*data)) {}
  POPOPS_INLINE T at(unsigned) const { return value; }
  POPOPS_INLINE PackedType<T> packedAt(unsigned) const { return packed; }
  POPOPS_INLINE __UINTPTR_TYPE__ address() const { return 0; }
};

// A type for trip counts that holds a vertex's elements, of which there are at most
// SPREAD_MOST_ELEMENTS (host/spread.h). The chip has hardware loops for such counts
// (runtime/isa/isa.h, repeats).
#ifdef __IPU__
using Rounds = unsigned short;
#else
using Rounds = unsigned;
#endif

// put(i, value(i)) for a worker's numbers i below `count`, from `first` on. All four values of an
// unrolled iteration are calculated before the first one is put, so that loads, operations and
// stores overlap. So put(i) may overwrite what value(i) reads, but not what other values read.
template <typename V, typename P>
POPOPS_INLINE void forWorker(unsigned first, unsigned count, const V &value, const P &put)
{
  constexpr unsigned step = poplar::MultiVertex::numWorkers();
  const unsigned mine = first < count ? (count - first + step - 1) / step : 0;
  unsigned i = first;
  for (Rounds rounds = mine / 4; rounds != 0; --rounds, i += 4 * step) {
    const auto a = value(i), b = value(i + step), c = value(i + 2 * step), d = value(i + 3 * step);
    put(i, a);
    put(i + step, b);
    put(i + 2 * step, c);
    put(i + 3 * step, d);
  }
#pragma clang loop unroll(disable)
  for (Rounds rounds = mine % 4; rounds != 0; --rounds, i += step) put(i, value(i));
}

// Value and put of a worker's elements, 64 bits at a time or single.
template <typename V, typename P> struct Way {
  V value;
  P put;
};
template <typename V, typename P> Way(V, P) -> Way<V, P>;

// A worker's elements: 64 bits at a time if `addresses` are aligned and there is a packed
// operation; the rest one by one.
template <typename T, bool hasPacked, typename W, typename S>
POPOPS_INLINE void forElements(unsigned worker, unsigned count, __UINTPTR_TYPE__ addresses,
                               const W &packed, const S &single)
{
  unsigned first = worker;
  if constexpr (hasPacked && Packed<T>::lanes != 0) {
    constexpr unsigned lanes = Packed<T>::lanes;
    if (addresses % sizeof(PackedType<T>) == 0) {
      forWorker(worker, count / lanes, packed.value, packed.put);
      first += count / lanes * lanes;
    }
  }
  forWorker(first, count, single.value, single.put);
}

} // namespace popops

#endif
