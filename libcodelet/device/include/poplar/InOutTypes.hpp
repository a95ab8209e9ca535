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
template <typename __E> struct OnePointer {
  __E *pointer;
};
template <typename __E, bool __IS_HALF = __is_same(__E, _Float16) || __is_same(__E, const _Float16)>
struct One : OnePointer<__E>, Metadata<__E> {
  __E &operator*() const { return *this->pointer; }
  operator __E &() const { return *this->pointer; }
};

} // namespace populus_detail
} // namespace poplar

#include <populus/half_field.h>

namespace poplar
{

template <typename __T> class Input : public populus_detail::One<const __T>
{
};
// `out = other` writes the element, also if `other` is a field of the same type.
template <typename __T> class Output : public populus_detail::One<__T>
{
public:
  __T &operator=(const __T &value) { return *this->pointer = value; }
  Output &operator=(const Output &other)
  {
    *this->pointer = *other.pointer;
    return *this;
  }
};
template <typename __T> class InOut : public populus_detail::One<__T>
{
public:
  __T &operator=(const __T &value) { return *this->pointer = value; }
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
  template <typename __T, VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>                  \
  class Field<Vector<__T, __L, __ALIGN, __INTERLEAVED>>                                            \
      : public Vector<E, __L, __ALIGN, __INTERLEAVED>                                              \
  {                                                                                                \
  public:                                                                                          \
    const Field *operator->() const                                                                \
    {                                                                                              \
      return this;                                                                                 \
    }                                                                                              \
  };

#define POPULUS_LIST_FIELD(Field, E)                                                               \
  template <typename __T, VectorListLayout __L, unsigned __ALIGN, bool __INTERLEAVED>              \
  class Field<VectorList<__T, __L, __ALIGN, __INTERLEAVED>> : public populus_detail::List<E, __L>  \
  {                                                                                                \
  public:                                                                                          \
    const Field *operator->() const                                                                \
    {                                                                                              \
      return this;                                                                                 \
    }                                                                                              \
  };
POPULUS_LIST_FIELD(Input, POPULUS_INPUT_ELEMENT(__T))
POPULUS_LIST_FIELD(Output, __T)
POPULUS_LIST_FIELD(InOut, __T)
#undef POPULUS_LIST_FIELD

#ifdef POPULUS_MUTABLE_INPUTS
POPULUS_VECTOR_FIELD(Input, __T)
#else
// A codelet's function that takes `poplar::Vector<T> &` takes an input, too, as the documented
// headers allow. Both have the same layout in memory.
template <typename __T, VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>
class Input<Vector<__T, __L, __ALIGN, __INTERLEAVED>>
    : public Vector<const __T, __L, __ALIGN, __INTERLEAVED>
{
  using Plain = Vector<__T, __L, __ALIGN, __INTERLEAVED>;

public:
  const Input *operator->() const { return this; }
  operator Plain &() { return *reinterpret_cast<Plain *>(this); }
  operator const Plain &() const { return *reinterpret_cast<const Plain *>(this); }
};
#endif
POPULUS_VECTOR_FIELD(Output, __T)
POPULUS_VECTOR_FIELD(InOut, __T)
#undef POPULUS_VECTOR_FIELD
#undef POPULUS_INPUT_ELEMENT

} // namespace poplar

#endif
