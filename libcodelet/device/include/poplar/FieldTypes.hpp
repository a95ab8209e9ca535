// Layouts of the fields of a vertex, and the classes that stand for their data.
//
// A field is a pointer into the memory of the tile, written there by the graph compiler before the
// vertex runs; a codelet never makes one. popc reads the template arguments of a field's type.
#ifndef POPLAR_FIELD_TYPES_HPP
#define POPLAR_FIELD_TYPES_HPP

namespace poplar
{

enum class VectorLayout {
  SPAN,   // pointer, then number of elements
  ONE_PTR // pointer only: the codelet knows the number of elements from elsewhere
};

namespace populus_detail
{

// What the two layouts have in common; E is const for inputs.
template <typename E> struct Pointer {
  E *pointer;

  E &operator[](unsigned i) const { return pointer[i]; }
  E &operator*() const { return *pointer; }
  E *begin() const { return pointer; }
  E *data() const { return pointer; }
};

template <typename E, VectorLayout L> struct Elements;

template <typename E> struct Elements<E, VectorLayout::SPAN> : Pointer<E> {
  unsigned count;

  unsigned size() const { return count; }
  bool empty() const { return count == 0; }
  E *end() const { return this->pointer + count; }
};

template <typename E> struct Elements<E, VectorLayout::ONE_PTR> : Pointer<E> {
};

} // namespace populus_detail

// ALIGN: bytes that the data must be aligned to, at least. INTERLEAVED: the data must lie in the
// interleaved memory of the tile.
template <typename T, VectorLayout L = VectorLayout::SPAN, unsigned ALIGN = alignof(T),
          bool INTERLEAVED = false>
class Vector : public populus_detail::Elements<T, L>
{
};

} // namespace poplar

#endif
