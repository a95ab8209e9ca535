// Sorts rows of keys, and the values that belong to them, in ascending or descending order. Merge
// sort from runs of one element upwards; passes alternate between the row and a scratch row.
#include <poplar/Vertex.hpp>
#include <type_traits>

using namespace poplar;

namespace popops
{

// Does b, which comes after a, have to be before it? NaN is behind all numbers: tiles that merge the
// same two blocks must agree on the order, or elements are lost.
template <bool descending, typename K> bool swapped(K a, K b)
{
  if (descending ? a < b : b < a) return true;
  return !std::is_integral<K>::value && a != a && b == b;
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

// Returns whether the sorted row is in `keys`; otherwise it is in `scratch`.
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

// Sorts a block of a row. Its first element has position `first` in the row. keys, keyScratch,
// places and placeScratch have the same size. sortedValues are the values in the keys' order; both
// may be empty.
template <typename K, typename V, bool descending> class SortBlock : public Vertex
{
public:
  InOut<Vector<K>> keys;
  Output<Vector<K>> keyScratch;
  Output<Vector<unsigned>> places, placeScratch;
  Input<Vector<V>> values;
  Output<Vector<V>> sortedValues;
  unsigned first;

  bool compute()
  {
    K *a = &keys[0], *b = &keyScratch[0];
    unsigned *ap = &places[0], *bp = &placeScratch[0];
    unsigned n = keys.size();
    auto to = [=](unsigned i, unsigned from) {
      b[i] = a[from];
      bp[i] = ap[from];
    };
    auto back = [=](unsigned i, unsigned from) {
      a[i] = b[from];
      ap[i] = bp[from];
    };
    for (unsigned i = 0; i < n; ++i) ap[i] = first + i;
    if (!sortRow<descending>(a, b, n, to, back))
      for (unsigned i = 0; i < n; ++i) back(i, i);
    for (unsigned i = 0; i < values.size(); ++i) sortedValues[i] = values[ap[i] - first];
    return true;
  }
};

// Merges two sorted blocks of a row. Keeps the elements that come first (`front`) or last, as many
// as `keys` has.
template <typename K, typename V, bool descending> class MergeBlocks : public Vertex
{
public:
  Input<Vector<K>> keys, otherKeys;
  Input<Vector<unsigned>> places, otherPlaces;
  Input<Vector<V>> values, otherValues;
  Output<Vector<K>> keptKeys;
  Output<Vector<unsigned>> keptPlaces;
  Output<Vector<V>> keptValues;
  bool front;

  static bool otherFirst(K key, unsigned place, K otherKey, unsigned otherPlace)
  {
    return swapped<descending>(key, otherKey) ||
           (!swapped<descending>(otherKey, key) && otherPlace < place);
  }

  // Takes elements of both blocks one by one, from their fronts or from their ends.
  template <bool fromFront, bool hasValues> void merge()
  {
    const K *key = &keys[0], *otherKey = &otherKeys[0];
    const unsigned *place = &places[0], *otherPlace = &otherPlaces[0];
    K *keptKey = &keptKeys[0];
    unsigned *keptPlace = &keptPlaces[0], left = otherKeys.size();
    const int step = fromFront ? 1 : -1;
    unsigned to = fromFront ? 0 : keys.size() - 1, i = to, j = fromFront ? 0 : left - 1;
    for (unsigned count = keys.size(); count > 0; --count, to += step)
      if (left == 0 || otherFirst(key[i], place[i], otherKey[j], otherPlace[j]) != fromFront) {
        keptKey[to] = key[i];
        keptPlace[to] = place[i];
        if (hasValues) keptValues[to] = values[i];
        i += step;
      } else {
        keptKey[to] = otherKey[j];
        keptPlace[to] = otherPlace[j];
        if (hasValues) keptValues[to] = otherValues[j];
        j += step;
        --left;
      }
  }

  bool compute()
  {
    if (front)
      values.size() ? merge<true, true>() : merge<true, false>();
    else
      values.size() ? merge<false, true>() : merge<false, false>();
    return true;
  }
};

#define INSTANTIATE_BLOCKS(K, V)                                                                   \
  template class SortBlock<K, V, false>;                                                           \
  template class SortBlock<K, V, true>;                                                            \
  template class MergeBlocks<K, V, false>;                                                         \
  template class MergeBlocks<K, V, true>;

#define INSTANTIATE(K)                                                                             \
  INSTANTIATE_BLOCKS(K, unsigned short)                                                            \
  INSTANTIATE_BLOCKS(K, unsigned int)                                                              \
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
