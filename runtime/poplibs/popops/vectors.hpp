// How a worker goes over elements: every sixth one, or every sixth 64 bits, is its own. Operations for which the tile has packed
// instructions (runtime/isa/isa.h) are done 64 bits at a time if all operands are aligned to that, the others, and what is left
// over, one by one. Both four at a time, as control and addresses of a loop take as long as an operation.
//
// Results are the same either way: packed instructions round each element as single ones do, and sums, differences and products of
// halves are the same whether they are rounded once from single precision or calculated in half.
#ifndef POPOPS_VECTORS_HPP
#define POPOPS_VECTORS_HPP

#include <poplar/VectorTypes.hpp>
#include <poplar/Vertex.hpp>
#include <type_traits>

namespace popops
{

#define POPOPS_INLINE __attribute__((always_inline)) inline

// 64 bits of elements; types without packed instructions have none.
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

// An operand that has an element for each of the result's, and one that has a single one for all.
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

// f of a worker's numbers below `count`, from `first` on.
template <typename F> POPOPS_INLINE void forWorker(unsigned first, unsigned count, const F &f)
{
  constexpr unsigned step = poplar::MultiVertex::numWorkers();
  const unsigned end = count > 3 * step ? count - 3 * step : 0;
  unsigned i = first;
  for (; i < end; i += 4 * step) {
    f(i);
    f(i + step);
    f(i + 2 * step);
    f(i + 3 * step);
  }
#pragma clang loop unroll(disable)
  for (; i < count; i += step) f(i);
}

// The elements of a worker: packed(i) for 64 bits, if `addresses` allow that and there is a packed operation, and single(i).
template <typename T, bool hasPacked, typename P, typename S>
POPOPS_INLINE void forElements(unsigned worker, unsigned count, __UINTPTR_TYPE__ addresses,
                               const P &packed, const S &single)
{
  unsigned first = worker;
  if constexpr (hasPacked && Packed<T>::lanes != 0) {
    constexpr unsigned lanes = Packed<T>::lanes;
    if (addresses % sizeof(PackedType<T>) == 0) {
      forWorker(worker, count / lanes, packed);
      first += count / lanes * lanes;
    }
  }
  forWorker(first, count, single);
}

} // namespace popops

#endif
