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

template <typename __T> class Input;
template <typename __T> class Output;
template <typename __T> class InOut;
template <typename __T, VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED> class Vector;

namespace populus_detail
{

// How a pointer to __E, and the number of elements if the layout has one, lie in memory.
template <typename __E, VectorLayout __L> struct Packed;

template <typename __E> struct Packed<__E, VectorLayout::SPAN> {
  __E *pointer;
  unsigned count;
  __E *address() const { return pointer; }
  unsigned elements() const { return count; }
};
template <typename __E> struct Packed<__E, VectorLayout::ONE_PTR> {
  __E *pointer;
  __E *address() const { return pointer; }
};

#ifdef __riscv

template <typename __E> inline __E *from_base(unsigned offset)
{
  return reinterpret_cast<__E *>(reinterpret_cast<std::uintptr_t>(__tile_memory_base) + offset);
}

template <typename __E> struct Packed<__E, VectorLayout::SHORT_SPAN> {
  std::uint32_t bits;
  __E *address() const { return reinterpret_cast<__E *>(bits & 0xfffff); }
  unsigned elements() const { return bits >> 20; }
};
template <typename __E, unsigned __BYTES> struct Scaled {
  std::uint16_t scaled;
  __E *address() const { return from_base<__E>(scaled * __BYTES); }
};
template <typename __E> struct Packed<__E, VectorLayout::SCALED_PTR32> : Scaled<__E, 4> {
};
template <typename __E> struct Packed<__E, VectorLayout::SCALED_PTR64> : Scaled<__E, 8> {
};
template <typename __E> struct Packed<__E, VectorLayout::SCALED_PTR128> : Scaled<__E, 16> {
};

#else

template <typename __E>
struct Packed<__E, VectorLayout::SHORT_SPAN> : Packed<__E, VectorLayout::SPAN> {
};
template <typename __E>
struct Packed<__E, VectorLayout::SCALED_PTR32> : Packed<__E, VectorLayout::ONE_PTR> {
};
template <typename __E>
struct Packed<__E, VectorLayout::SCALED_PTR64> : Packed<__E, VectorLayout::ONE_PTR> {
};
template <typename __E>
struct Packed<__E, VectorLayout::SCALED_PTR128> : Packed<__E, VectorLayout::ONE_PTR> {
};

#endif

// Follows the pointer of a field of quarters: where their format and scale are, packed
// as in QuarterFloat.hpp. There is one for all rows of a field. popc makes a field of
// it: see popc/fields.c.
template <typename __E> struct Metadata {
};
template <> struct Metadata<quarter> {
  const unsigned char *metadata;
  const unsigned char *getMetadata() const { return metadata; }
};
template <typename __E> struct Metadata<const __E> : Metadata<__E> {
};
template <typename __T> struct Metadata<Input<__T>> : Metadata<__T> {
};
template <typename __T> struct Metadata<Output<__T>> : Metadata<__T> {
};
template <typename __T> struct Metadata<InOut<__T>> : Metadata<__T> {
};
template <typename __T, VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>
struct Metadata<Vector<__T, __L, __ALIGN, __INTERLEAVED>> : Metadata<__T> {
};

// Access to elements; __E is const for inputs, and itself a field for vectors of fields.
template <typename __E, VectorLayout __L> struct Pointer : Packed<__E, __L> {
  __E &operator[](unsigned __i) const { return this->address()[__i]; }
  __E &operator*() const { return *this->address(); }
  __E *begin() const { return this->address(); }
  __E *data() const { return this->address(); }
};

template <typename __E, VectorLayout __L> struct Elements : Pointer<__E, __L> {
};

template <typename __E, VectorLayout __L> struct Counted : Pointer<__E, __L> {
  unsigned size() const { return this->elements(); }
  bool empty() const { return size() == 0; }
  __E *end() const { return this->address() + size(); }
};
template <typename __E>
struct Elements<__E, VectorLayout::SPAN> : Counted<__E, VectorLayout::SPAN> {
};
template <typename __E>
struct Elements<__E, VectorLayout::SHORT_SPAN> : Counted<__E, VectorLayout::SHORT_SPAN> {
};

// An entry of a table of rows of quarters. Other tables hold fields.
template <typename __E, VectorLayout __L> struct QuarterRow : Elements<__E, __L> {
  const QuarterRow *operator->() const { return this; }
};
template <typename __E> struct QuarterPointer {
  __E *pointer;
  __E &operator*() const { return *pointer; }
  operator __E &() const { return *pointer; }
  __E &operator=(const quarter &value) { return *pointer = value; }
  QuarterPointer &operator=(const QuarterPointer &other)
  {
    *pointer = *other.pointer;
    return *this;
  }
};
template <typename __T> struct Stored {
  using type = __T;
};
template <VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>
struct Stored<Input<Vector<quarter, __L, __ALIGN, __INTERLEAVED>>> {
#ifdef POPULUS_MUTABLE_INPUTS
  using type = QuarterRow<quarter, __L>;
#else
  using type = QuarterRow<const quarter, __L>;
#endif
};
template <VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>
struct Stored<Output<Vector<quarter, __L, __ALIGN, __INTERLEAVED>>> {
  using type = QuarterRow<quarter, __L>;
};
template <VectorLayout __L, unsigned __ALIGN, bool __INTERLEAVED>
struct Stored<InOut<Vector<quarter, __L, __ALIGN, __INTERLEAVED>>> {
  using type = QuarterRow<quarter, __L>;
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
template <typename __E> struct Row : Elements<__E, VectorLayout::SPAN> {
  const Row *operator->() const { return this; }
};
template <typename __E> inline Row<__E> make_row(__E *pointer, unsigned count)
{
  Row<__E> row;
  row.pointer = pointer;
  row.count = count;
  return row;
}

#ifdef __riscv

template <typename __E, VectorListLayout __L> struct PackedList;

template <typename __E> struct PackedList<__E, VectorListLayout::DELTAN> {
  std::uint16_t low, high, table;
  unsigned rows() const { return high >> 4; }
  Row<__E> row(unsigned __i) const
  {
    std::uint32_t entry = from_base<const std::uint32_t>(table * 4u)[__i];
    std::uint32_t base = low | (high & 0xfu) << 16;
    return make_row(reinterpret_cast<__E *>(base + (entry & 0x3ffff)), entry >> 18);
  }
};

template <typename __E> struct PackedList<__E, VectorListLayout::DELTANELEMENTS> {
  static constexpr unsigned bits = sizeof(__E) == 1   ? 21
                                   : sizeof(__E) == 2 ? 20
                                   : sizeof(__E) == 4 ? 19
                                                      : 18;
  std::uint32_t first, second;
  unsigned rows() const { return first >> 24 | second >> 24 << 8; }
  Row<__E> row(unsigned __i) const
  {
    std::uint32_t entry = reinterpret_cast<const std::uint32_t *>(second & 0xffffff)[__i];
    __E *base = reinterpret_cast<__E *>(first & 0xffffff);
    return make_row(base + (entry & ((1u << bits) - 1)), entry >> bits);
  }
};

#else

template <typename __E, VectorListLayout __L> struct PackedList {
  const Row<__E> *table;
  unsigned count;
  unsigned rows() const { return count; }
  Row<__E> row(unsigned __i) const { return table[__i]; }
};

#endif

// Access to rows.
template <typename __E, VectorListLayout __L> struct List : PackedList<__E, __L>, Metadata<__E> {
  class iterator
  {
    const List *list;
    unsigned at;

  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Row<__E>;
    using difference_type = int;
    using pointer = const Row<__E> *;
    using reference = Row<__E>;

    iterator() : list(nullptr), at(0) {}
    iterator(const List *list_, unsigned at_) : list(list_), at(at_) {}
    Row<__E> operator*() const { return list->row(at); }
    Row<__E> operator->() const { return list->row(at); }
    iterator &operator++()
    {
      ++at;
      return *this;
    }
    iterator operator++(int) { return iterator(list, at++); }
    bool operator==(const iterator &other) const { return at == other.at; }
    bool operator!=(const iterator &other) const { return at != other.at; }
  };

  Row<__E> operator[](unsigned __i) const { return this->row(__i); }
  unsigned size() const { return this->rows(); }
  bool empty() const { return size() == 0; }
  iterator begin() const { return iterator(this, 0); }
  iterator end() const { return iterator(this, size()); }
};

template <typename __E> struct RowPointers {
  __E *const *table;
};
template <typename __E>
struct List<__E, VectorListLayout::ONE_PTR> : RowPointers<__E>, Metadata<__E> {
  __E *operator[](unsigned __i) const { return this->table[__i]; }
};

} // namespace populus_detail

// __ALIGN: the least alignment of the data in bytes. __INTERLEAVED: the data must lie in the
// interleaved memory of the tile.
//
//   Input<Vector<T>>           data that the graph connects
//   Vector<Input<Vector<T>>>   several of them: rows
//   Vector<T>                  data of the vertex itself
template <typename __T, VectorLayout __L = VectorLayout::SPAN, unsigned __ALIGN = alignof(__T),
          bool __INTERLEAVED = false>
class Vector : public populus_detail::Elements<typename populus_detail::Stored<__T>::type, __L>,
               public populus_detail::Metadata<__T>
{
};

// Only inside Input, Output and InOut: rows, packed.
template <typename __T, VectorListLayout __L = VectorListLayout::COMPACT_DELTAN,
          unsigned __ALIGN = alignof(__T), bool __INTERLEAVED = false>
class VectorList : public populus_detail::List<__T, __L>
{
};

} // namespace poplar

#endif
