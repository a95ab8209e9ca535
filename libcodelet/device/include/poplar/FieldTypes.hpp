// Layouts of the fields of a vertex, and the classes that stand for their data.
//
// A field is a pointer into the memory of the tile. The graph compiler writes it before the vertex
// runs; a codelet never makes one. popc reads the template arguments of a field's type.
// <populus/vertex_type.h> says bit by bit what each layout has in the vertex state. The classes
// here unpack it. On a host, where pointers do not fit into these bits, every layout is a plain
// pointer and a plain number of elements. (The tile is recognised by its processor's macro, as
// __IPU__ may be undefined: see popc --portable.)
#ifndef POPLAR_FIELD_TYPES_HPP
#define POPLAR_FIELD_TYPES_HPP

#include <__config>
#include <populus/quarter.h>
#include <populus/std_names.h>

// A list needs only this name of <iterator>. All of <iterator> would take more of a small codelet's
// compile time than all our headers together.
_LIBCPP_BEGIN_NAMESPACE_STD
struct _LIBCPP_TEMPLATE_VIS input_iterator_tag;
_LIBCPP_END_NAMESPACE_STD

#ifdef __riscv
extern "C" char __tile_memory_base[]; // the address is what counts: the linker of the tile sets it
#endif

namespace poplar
{

enum class VectorLayout {
  SPAN,                 // pointer, then number of elements: 8 bytes
  ONE_PTR,              // pointer: the codelet knows the number of elements from elsewhere
  SHORT_SPAN,           // pointer and up to 4,095 elements in 4 bytes
  SCALED_PTR32,         // pointer to data aligned to 4 bytes, in 2 bytes
  SCALED_PTR64,         // to data aligned to 8 bytes
  SCALED_PTR128,        // to data aligned to 16 bytes
  COMPACT_PTR = ONE_PTR // the shortest pointer that reaches all memory of every target
};

// Vectors of different lengths, packed as a table of short offsets and lengths.
enum class VectorListLayout {
  ONE_PTR,                        // pointer to a table of pointers; no lengths
  DELTAN,                         // the table has 18 bits of offset and 14 of length
  DELTANELEMENTS,                 // offsets count elements: they reach 2 MiB
  COMPACT_DELTAN = DELTANELEMENTS // the shortest that reaches all memory of every target
};

template <typename T> class Input;
template <typename T> class Output;
template <typename T> class InOut;
template <typename T, VectorLayout L, unsigned ALIGN, bool INTERLEAVED> class Vector;

namespace populus_detail
{

// How a pointer to E, and the number of elements if the layout has one, lie in memory.
template <typename E, VectorLayout L> struct Packed;

template <typename E> struct Packed<E, VectorLayout::SPAN> {
  E *pointer;
  unsigned count;
  E *address() const { return pointer; }
  unsigned elements() const { return count; }
};
template <typename E> struct Packed<E, VectorLayout::ONE_PTR> {
  E *pointer;
  E *address() const { return pointer; }
};

#ifdef __riscv

template <typename E> inline E *from_base(unsigned offset)
{
  return reinterpret_cast<E *>(reinterpret_cast<std::uintptr_t>(__tile_memory_base) + offset);
}

template <typename E> struct Packed<E, VectorLayout::SHORT_SPAN> {
  std::uint32_t bits;
  E *address() const { return reinterpret_cast<E *>(bits & 0xfffff); }
  unsigned elements() const { return bits >> 20; }
};
template <typename E, unsigned BYTES> struct Scaled {
  std::uint16_t scaled;
  E *address() const { return from_base<E>(scaled * BYTES); }
};
template <typename E> struct Packed<E, VectorLayout::SCALED_PTR32> : Scaled<E, 4> {
};
template <typename E> struct Packed<E, VectorLayout::SCALED_PTR64> : Scaled<E, 8> {
};
template <typename E> struct Packed<E, VectorLayout::SCALED_PTR128> : Scaled<E, 16> {
};

#else

template <typename E> struct Packed<E, VectorLayout::SHORT_SPAN> : Packed<E, VectorLayout::SPAN> {
};
template <typename E>
struct Packed<E, VectorLayout::SCALED_PTR32> : Packed<E, VectorLayout::ONE_PTR> {
};
template <typename E>
struct Packed<E, VectorLayout::SCALED_PTR64> : Packed<E, VectorLayout::ONE_PTR> {
};
template <typename E>
struct Packed<E, VectorLayout::SCALED_PTR128> : Packed<E, VectorLayout::ONE_PTR> {
};

#endif

// Follows the pointer of a field of quarters: where their format and scale are, packed
// as in QuarterFloat.hpp. There is one for all rows of a field. popc makes a field of
// it: see popc/fields.c.
template <typename E> struct Metadata {
};
template <> struct Metadata<quarter> {
  const unsigned char *metadata;
  const unsigned char *getMetadata() const { return metadata; }
};
template <typename E> struct Metadata<const E> : Metadata<E> {
};
template <typename T> struct Metadata<Input<T>> : Metadata<T> {
};
template <typename T> struct Metadata<Output<T>> : Metadata<T> {
};
template <typename T> struct Metadata<InOut<T>> : Metadata<T> {
};
template <typename T, VectorLayout L, unsigned ALIGN, bool INTERLEAVED>
struct Metadata<Vector<T, L, ALIGN, INTERLEAVED>> : Metadata<T> {
};

// Access to elements; E is const for inputs, and itself a field for vectors of fields.
template <typename E, VectorLayout L> struct Pointer : Packed<E, L> {
  E &operator[](unsigned i) const { return this->address()[i]; }
  E &operator*() const { return *this->address(); }
  E *begin() const { return this->address(); }
  E *data() const { return this->address(); }
};

template <typename E, VectorLayout L> struct Elements : Pointer<E, L> {
};

template <typename E, VectorLayout L> struct Counted : Pointer<E, L> {
  unsigned size() const { return this->elements(); }
  bool empty() const { return size() == 0; }
  E *end() const { return this->address() + size(); }
};
template <typename E> struct Elements<E, VectorLayout::SPAN> : Counted<E, VectorLayout::SPAN> {
};
template <typename E>
struct Elements<E, VectorLayout::SHORT_SPAN> : Counted<E, VectorLayout::SHORT_SPAN> {
};

// An entry of a table of rows of quarters. Other tables hold fields.
template <typename E, VectorLayout L> struct QuarterRow : Elements<E, L> {
  const QuarterRow *operator->() const { return this; }
};
template <typename E> struct QuarterPointer {
  E *pointer;
  E &operator*() const { return *pointer; }
  operator E &() const { return *pointer; }
  E &operator=(const quarter &value) { return *pointer = value; }
  QuarterPointer &operator=(const QuarterPointer &other)
  {
    *pointer = *other.pointer;
    return *this;
  }
};
template <typename T> struct Stored {
  using type = T;
};
template <VectorLayout L, unsigned ALIGN, bool INTERLEAVED>
struct Stored<Input<Vector<quarter, L, ALIGN, INTERLEAVED>>> {
#ifdef POPULUS_MUTABLE_INPUTS
  using type = QuarterRow<quarter, L>;
#else
  using type = QuarterRow<const quarter, L>;
#endif
};
template <VectorLayout L, unsigned ALIGN, bool INTERLEAVED>
struct Stored<Output<Vector<quarter, L, ALIGN, INTERLEAVED>>> {
  using type = QuarterRow<quarter, L>;
};
template <VectorLayout L, unsigned ALIGN, bool INTERLEAVED>
struct Stored<InOut<Vector<quarter, L, ALIGN, INTERLEAVED>>> {
  using type = QuarterRow<quarter, L>;
};
template <> struct Stored<Input<quarter>> {
  using type = QuarterPointer<const quarter>;
};
template <> struct Stored<Output<quarter>> {
  using type = QuarterPointer<quarter>;
};
template <> struct Stored<InOut<quarter>> {
  using type = QuarterPointer<quarter>;
};

// A row of a list.
template <typename E> struct Row : Elements<E, VectorLayout::SPAN> {
  const Row *operator->() const { return this; }
};
template <typename E> inline Row<E> make_row(E *pointer, unsigned count)
{
  Row<E> row;
  row.pointer = pointer;
  row.count = count;
  return row;
}

#ifdef __riscv

template <typename E, VectorListLayout L> struct PackedList;

template <typename E> struct PackedList<E, VectorListLayout::DELTAN> {
  std::uint16_t low, high, table;
  unsigned rows() const { return high >> 4; }
  Row<E> row(unsigned i) const
  {
    std::uint32_t entry = from_base<const std::uint32_t>(table * 4u)[i];
    std::uint32_t base = low | (high & 0xfu) << 16;
    return make_row(reinterpret_cast<E *>(base + (entry & 0x3ffff)), entry >> 18);
  }
};

template <typename E> struct PackedList<E, VectorListLayout::DELTANELEMENTS> {
  static constexpr unsigned bits = sizeof(E) == 1   ? 21
                                   : sizeof(E) == 2 ? 20
                                   : sizeof(E) == 4 ? 19
                                                    : 18;
  std::uint32_t first, second;
  unsigned rows() const { return first >> 24 | second >> 24 << 8; }
  Row<E> row(unsigned i) const
  {
    std::uint32_t entry = reinterpret_cast<const std::uint32_t *>(second & 0xffffff)[i];
    E *base = reinterpret_cast<E *>(first & 0xffffff);
    return make_row(base + (entry & ((1u << bits) - 1)), entry >> bits);
  }
};

#else

template <typename E, VectorListLayout L> struct PackedList {
  const Row<E> *table;
  unsigned count;
  unsigned rows() const { return count; }
  Row<E> row(unsigned i) const { return table[i]; }
};

#endif

// Access to rows.
template <typename E, VectorListLayout L> struct List : PackedList<E, L>, Metadata<E> {
  class iterator
  {
    const List *list;
    unsigned at;

  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Row<E>;
    using difference_type = int;
    using pointer = const Row<E> *;
    using reference = Row<E>;

    iterator() : list(nullptr), at(0) {}
    iterator(const List *list_, unsigned at_) : list(list_), at(at_) {}
    Row<E> operator*() const { return list->row(at); }
    Row<E> operator->() const { return list->row(at); }
    iterator &operator++()
    {
      ++at;
      return *this;
    }
    iterator operator++(int) { return iterator(list, at++); }
    bool operator==(const iterator &other) const { return at == other.at; }
    bool operator!=(const iterator &other) const { return at != other.at; }
  };

  Row<E> operator[](unsigned i) const { return this->row(i); }
  unsigned size() const { return this->rows(); }
  bool empty() const { return size() == 0; }
  iterator begin() const { return iterator(this, 0); }
  iterator end() const { return iterator(this, size()); }
};

template <typename E> struct RowPointers {
  E *const *table;
};
template <typename E> struct List<E, VectorListLayout::ONE_PTR> : RowPointers<E>, Metadata<E> {
  E *operator[](unsigned i) const { return this->table[i]; }
};

} // namespace populus_detail

// ALIGN: the least alignment of the data in bytes. INTERLEAVED: the data must lie in the
// interleaved memory of the tile.
//
//   Input<Vector<T>>           data that the graph connects
//   Vector<Input<Vector<T>>>   several of them: rows
//   Vector<T>                  data of the vertex itself
template <typename T, VectorLayout L = VectorLayout::SPAN, unsigned ALIGN = alignof(T),
          bool INTERLEAVED = false>
class Vector : public populus_detail::Elements<typename populus_detail::Stored<T>::type, L>,
               public populus_detail::Metadata<T>
{
};

// Only inside Input, Output and InOut: rows, packed.
template <typename T, VectorListLayout L = VectorListLayout::COMPACT_DELTAN,
          unsigned ALIGN = alignof(T), bool INTERLEAVED = false>
class VectorList : public populus_detail::List<T, L>
{
};

} // namespace poplar

#endif
