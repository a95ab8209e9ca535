// Rows of a table by number: populus/popops_slice.h. `table` has the tile's columns of `rows` rows,
// row by row; its first row has number `first`. Each slice is `size` rows; slices are consecutive.
// Workers share the columns of the slices, so that no two of them write one element.
#include "../quotient.h"
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace popops
{

// row % rows; usually `row` is below `rows` already.
inline unsigned wrapped(unsigned row, unsigned rows)
{
  if (row < rows) return row;
  row -= rows;
  return row < rows ? row : row % rows;
}

// T is an unsigned integer of the elements' size: elements are only copied.
template <typename T> class Slice : public MultiVertex
{
public:
  Input<Vector<T>> table;
  Input<Vector<unsigned>> offsets;
  Output<Vector<T>> out;
  unsigned rows, size, first;
  unsigned wrap; // number of rows after which they wrap around; 0: rows out of range are zeros

  bool compute(unsigned worker)
  {
    unsigned columns = quotient(table.size(), rows);
    unsigned slice = 0, line = 0, column = worker; // of the slice's rows; of the row
    for (unsigned i = worker; i < out.size(); i += numWorkers(), column += numWorkers()) {
      for (; column >= columns; column -= columns)
        if (++line == size) line = 0, ++slice;
      unsigned offset = offsets[slice];
      if (wrap) offset = wrapped(offset, wrap);
      unsigned row = offset + line;
      bool there = row >= offset; // no overflow
      if (wrap) row = wrapped(row, wrap);
      row -= first;
      out[i] = there && row < rows ? table[row * columns + column] : T(0);
    }
    return true;
  }
};

// Joins the slices of several tables that have different rows of the same columns. Each table has
// zeros for rows that it lacks.
template <typename T> class JoinSlices : public MultiVertex
{
public:
  Input<Vector<T>> in; // one part behind the other
  Output<Vector<T>> out;
  unsigned parts;

  bool compute(unsigned worker)
  {
    unsigned size = out.size();
    for (unsigned i = worker; i < size; i += numWorkers()) {
      T joined = 0;
      for (unsigned part = 0, at = i; part < parts; ++part, at += size) joined |= in[at];
      out[i] = joined;
    }
    return true;
  }
};

template <typename T> class Update : public MultiVertex
{
public:
  InOut<Vector<T>> table;
  Input<Vector<unsigned>> offsets;
  Input<Vector<T>> slices;
  unsigned rows, size, first;
  unsigned wrap; // number of rows after which they wrap around; 0: rows out of range are ignored

  bool compute(unsigned worker)
  {
    unsigned columns = quotient(table.size(), rows);
    for (unsigned column = worker; column < columns; column += numWorkers()) {
      unsigned at = column; // in slices
      for (unsigned offset : offsets) {
        if (wrap) offset = wrapped(offset, wrap);
        for (unsigned line = 0; line < size; ++line, at += columns) {
          unsigned row = offset + line;
          if (row < offset) continue;
          if (wrap) row = wrapped(row, wrap);
          row -= first;
          if (row < rows) table[row * columns + column] = slices[at];
        }
      }
    }
    return true;
  }
};

#define INSTANTIATE_BITS(T)                                                                        \
  template class Slice<T>;                                                                         \
  template class JoinSlices<T>;                                                                    \
  template class Update<T>;
INSTANTIATE_BITS(unsigned char)
INSTANTIATE_BITS(unsigned short)
INSTANTIATE_BITS(unsigned int)
INSTANTIATE_BITS(unsigned long long)

enum class UpdateOp { SET, ADD, MAX, MUL };

template <UpdateOp op, typename T> class UpdateBy : public MultiVertex
{
public:
  InOut<Vector<T>> table;
  Input<Vector<unsigned>> offsets;
  Input<Vector<T>> slices;
  Input<T> scale; // of ADD
  unsigned rows, size, first;

  bool compute(unsigned worker)
  {
    using Wide = typename std::conditional<std::is_same<T, half>::value, float, T>::type;
    unsigned columns = quotient(table.size(), rows);
    for (unsigned column = worker; column < columns; column += numWorkers()) {
      unsigned at = column; // in slices
      for (unsigned offset : offsets)
        for (unsigned line = 0; line < size; ++line, at += columns) {
          unsigned row = offset + line;
          if (row < offset || row - first >= rows) continue;
          T &element = table[(row - first) * columns + column];
          Wide old = element, by = slices[at];
          element = static_cast<T>(op == UpdateOp::ADD   ? old + Wide(*scale) * by
                                   : op == UpdateOp::MUL ? old * by
                                   : old < by            ? by
                                                         : old);
        }
    }
    return true;
  }
};

#define INSTANTIATE_UPDATES(op)                                                                    \
  template class UpdateBy<op, float>;                                                              \
  template class UpdateBy<op, half>;                                                               \
  template class UpdateBy<op, int>;                                                                \
  template class UpdateBy<op, unsigned int>;
INSTANTIATE_UPDATES(UpdateOp::ADD)
INSTANTIATE_UPDATES(UpdateOp::MAX)
INSTANTIATE_UPDATES(UpdateOp::MUL)

// Where windows lie in a table whose rows are the positions of several dimensions: for each vector
// of indices, the numbers of the window's rows. A window that begins outside is moved in (`moved`),
// or its rows get a number that no row has.
template <typename T> class WindowRows : public MultiVertex
{
public:
  Input<Vector<T>> vectors;        // consecutive vectors
  Input<Vector<unsigned>> extents; // the dimensions' sizes, then the window's
  Output<Vector<unsigned>> rows;
  unsigned window; // rows
  bool moved;

  bool compute(unsigned worker)
  {
    unsigned count = extents.size() / 2;
    for (unsigned i = worker; i < rows.size(); i += numWorkers()) {
      unsigned vector = quotient(i, window), rest = i - vector * window, row = 0, stride = 1;
      bool there = true;
      for (unsigned d = count; d-- > 0;) {
        unsigned size = extents[d], inside = extents[count + d], last = size - inside;
        T index = vectors[vector * count + d];
        unsigned begin = index < T(0) ? 0 : unsigned(index) > last ? last : unsigned(index);
        there &= T(begin) == index;
        unsigned outer = quotient(rest, inside);
        row += (begin + (rest - outer * inside)) * stride;
        stride *= size;
        rest = outer;
      }
      rows[i] = moved || there ? row : ~0u;
    }
    return true;
  }
};
template class WindowRows<int>;
template class WindowRows<unsigned int>;

} // namespace popops
