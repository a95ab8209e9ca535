// Rows of keys, with or without values that follow them, in ascending or descending order: merge sort from runs of one
// element upwards, to and fro between the row and a scratch row.
#include <poplar/Vertex.hpp>

using namespace poplar;

namespace popops
{

// Does b have to be in front of a, which is in front of it?
template <bool descending, typename K> bool swapped(K a, K b)
{
  return descending ? a < b : b < a;
}

// Merges [begin, middle) and [middle, end); move(to, from) moves an element.
template <bool descending, typename K, typename Move>
void merge(const K *keys, unsigned begin, unsigned middle, unsigned end, Move move)
{
  unsigned left = begin, right = middle;
  for (unsigned to = begin; to < end; ++to) {
    bool takeRight =
        left == middle || (right < end && swapped<descending>(keys[left], keys[right]));
    move(to, takeRight ? right++ : left++);
  }
}

// False: the sorted row is in the scratch row.
template <bool descending, typename K, typename MoveTo, typename MoveBack>
bool sortRow(K *keys, K *scratch, unsigned n, MoveTo moveTo, MoveBack moveBack)
{
  bool here = true;
  for (unsigned run = 1; run < n; run *= 2, here = !here)
    for (unsigned begin = 0; begin < n; begin += 2 * run) {
      unsigned middle = begin + run < n ? begin + run : n,
               end = middle + run < n ? middle + run : n;
      if (here)
        merge<descending>(keys, begin, middle, end, moveTo);
      else
        merge<descending>(scratch, begin, middle, end, moveBack);
    }
  return here;
}

template <typename K, bool descending> class Sort : public Vertex
{
public:
  InOut<Vector<K>> keys;
  Output<Vector<K>> scratch;

  bool compute()
  {
    K *a = &keys[0], *b = &scratch[0];
    unsigned n = keys.size();
    auto to = [=](unsigned i, unsigned from) { b[i] = a[from]; };
    auto back = [=](unsigned i, unsigned from) { a[i] = b[from]; };
    if (!sortRow<descending>(a, b, n, to, back))
      for (unsigned i = 0; i < n; ++i) back(i, i);
    return true;
  }
};

// V is an unsigned integer of the values' size.
template <typename K, typename V, bool descending> class SortWithValues : public Vertex
{
public:
  InOut<Vector<K>> keys;
  InOut<Vector<V>> values;
  Output<Vector<K>> scratch;
  Output<Vector<V>> valueScratch;

  bool compute()
  {
    K *a = &keys[0], *b = &scratch[0];
    V *av = &values[0], *bv = &valueScratch[0];
    unsigned n = keys.size();
    auto to = [=](unsigned i, unsigned from) {
      b[i] = a[from];
      bv[i] = av[from];
    };
    auto back = [=](unsigned i, unsigned from) {
      a[i] = b[from];
      av[i] = bv[from];
    };
    if (!sortRow<descending>(a, b, n, to, back))
      for (unsigned i = 0; i < n; ++i) back(i, i);
    return true;
  }
};

#define INSTANTIATE(K)                                                                             \
  template class Sort<K, false>;                                                                   \
  template class Sort<K, true>;                                                                    \
  template class SortWithValues<K, unsigned short, false>;                                         \
  template class SortWithValues<K, unsigned short, true>;                                          \
  template class SortWithValues<K, unsigned int, false>;                                           \
  template class SortWithValues<K, unsigned int, true>;
INSTANTIATE(float)
INSTANTIATE(half)
INSTANTIATE(int)
INSTANTIATE(unsigned int)

} // namespace popops
