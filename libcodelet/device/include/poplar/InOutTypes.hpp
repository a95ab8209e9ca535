// Input, Output, InOut: fields that the graph connects to tensors.
#ifndef POPLAR_IN_OUT_TYPES_HPP
#define POPLAR_IN_OUT_TYPES_HPP

#include <poplar/Constraint.hpp>
#include <poplar/FieldTypes.hpp>

namespace poplar
{

namespace populus_detail
{

// A field of one element: `*out = x`, and an input converts to its value.
template <typename E> struct OnePointer {
  E *pointer;
};
template <typename E, bool IS_HALF = __is_same(E, _Float16) || __is_same(E, const _Float16)>
struct One : OnePointer<E>, Metadata<E> {
  E &operator*() const { return *this->pointer; }
  operator E &() const { return *this->pointer; }
};

} // namespace populus_detail
} // namespace poplar

#include <populus/half_field.h>

namespace poplar
{

template <typename T> class Input : public populus_detail::One<const T>
{
};
// `out = other` writes the element, also if `other` is a field of the same type.
template <typename T> class Output : public populus_detail::One<T>
{
public:
  T &operator=(const T &value) { return *this->pointer = value; }
  Output &operator=(const Output &other)
  {
    *this->pointer = *other.pointer;
    return *this;
  }
};
template <typename T> class InOut : public populus_detail::One<T>
{
public:
  T &operator=(const T &value) { return *this->pointer = value; }
  InOut &operator=(const InOut &other)
  {
    *this->pointer = *other.pointer;
    return *this;
  }
};

// Fields of many elements are vectors; those of inputs have const elements.
// `in->size()` and `in.size()` are the same, as both are in use. The elements of inputs
// are const since November 2021. popc compiles older codelets, which cast that away
// implicitly, with POPULUS_MUTABLE_INPUTS (--mutable-inputs).
#ifdef POPULUS_MUTABLE_INPUTS
#define POPULUS_INPUT_ELEMENT(T) T
#else
#define POPULUS_INPUT_ELEMENT(T) const T
#endif

#define POPULUS_VECTOR_FIELD(Field, E)                                                             \
  template <typename T, VectorLayout L, unsigned ALIGN, bool INTERLEAVED>                          \
  class Field<Vector<T, L, ALIGN, INTERLEAVED>> : public Vector<E, L, ALIGN, INTERLEAVED>          \
  {                                                                                                \
  public:                                                                                          \
    const Field *operator->() const                                                                \
    {                                                                                              \
      return this;                                                                                 \
    }                                                                                              \
  };

#define POPULUS_LIST_FIELD(Field, E)                                                               \
  template <typename T, VectorListLayout L, unsigned ALIGN, bool INTERLEAVED>                      \
  class Field<VectorList<T, L, ALIGN, INTERLEAVED>> : public populus_detail::List<E, L>            \
  {                                                                                                \
  public:                                                                                          \
    const Field *operator->() const                                                                \
    {                                                                                              \
      return this;                                                                                 \
    }                                                                                              \
  };
POPULUS_LIST_FIELD(Input, POPULUS_INPUT_ELEMENT(T))
POPULUS_LIST_FIELD(Output, T)
POPULUS_LIST_FIELD(InOut, T)
#undef POPULUS_LIST_FIELD

#ifdef POPULUS_MUTABLE_INPUTS
POPULUS_VECTOR_FIELD(Input, T)
#else
// A codelet's function that takes `poplar::Vector<T> &` takes an input, too, as the documented
// headers allow. Both have the same layout in memory.
template <typename T, VectorLayout L, unsigned ALIGN, bool INTERLEAVED>
class Input<Vector<T, L, ALIGN, INTERLEAVED>> : public Vector<const T, L, ALIGN, INTERLEAVED>
{
  using Plain = Vector<T, L, ALIGN, INTERLEAVED>;

public:
  const Input *operator->() const { return this; }
  operator Plain &() { return *reinterpret_cast<Plain *>(this); }
  operator const Plain &() const { return *reinterpret_cast<const Plain *>(this); }
};
#endif
POPULUS_VECTOR_FIELD(Output, T)
POPULUS_VECTOR_FIELD(InOut, T)
#undef POPULUS_VECTOR_FIELD
#undef POPULUS_INPUT_ELEMENT

} // namespace poplar

#endif
