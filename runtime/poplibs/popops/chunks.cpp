// Chunks of data that go round a ring of replicas: runtime/poplibs/host/chunks.h. `table` has a
// tile's part of all chunks, one after the other. Each part has as many elements as a row; the last
// parts may be shorter, or empty. Each worker has a share of the row in whole double words, which
// suits block copies and vectors.
#include "operations.hpp"

using namespace poplar;

namespace popops
{

namespace
{

struct Share {
  unsigned begin, end;
};

template <typename T> Share shareOf(unsigned worker, unsigned columns)
{
  constexpr unsigned unit = sizeof(T) < 8 ? 8 / sizeof(T) : 1, workers = MultiVertex::numWorkers();
  unsigned each = (columns + workers * unit - 1) / (workers * unit) * unit;
  unsigned begin = worker * each < columns ? worker * each : columns;
  return {begin, columns - begin < each ? columns : begin + each};
}

// How many elements of chunk `at` the table has.
unsigned countOf(unsigned size, unsigned at, unsigned columns)
{
  unsigned begin = at * columns;
  return begin >= size ? 0 : size - begin < columns ? size - begin : columns;
}

template <typename T> void copyElements(T *to, const T *from, unsigned count)
{
#ifdef __IPU__
  unsigned descriptor[3] = {(unsigned)from, (unsigned)to, count * (unsigned)sizeof(T)}, behind;
  __asm__ volatile(".insn r 0x2b, 0, 11, %0, %1, x0" // tile.copy
                   : "=r"(behind)
                   : "r"(descriptor)
                   : "memory");
#else
  __builtin_memcpy(to, from, count * sizeof(T));
#endif
}

} // namespace

// T is an unsigned integer of the elements' size. Elements that the chunk lacks become 0.
template <typename T> class TakeChunk : public MultiVertex
{
public:
  Input<Vector<T>> table;
  Input<unsigned> at;
  Output<Vector<T>> row;

  bool compute(unsigned worker)
  {
    unsigned columns = row.size(), there = countOf(table.size(), at, columns);
    Share s = shareOf<T>(worker, columns);
    unsigned end = s.end < there ? s.end : there;
    if (s.begin < end)
      copyElements(&row[s.begin], &table[at * columns + s.begin], end - s.begin);
    else
      end = s.begin;
    for (unsigned i = end; i < s.end; ++i) row[i] = 0;
    return true;
  }
};

template <typename T> class PutChunk : public MultiVertex
{
public:
  InOut<Vector<T>> table;
  Input<unsigned> at;
  Input<Vector<T>> row;

  bool compute(unsigned worker)
  {
    unsigned columns = row.size(), there = countOf(table.size(), at, columns);
    Share s = shareOf<T>(worker, columns);
    unsigned end = s.end < there ? s.end : there;
    if (s.begin < end) copyElements(&table[at * columns + s.begin], &row[s.begin], end - s.begin);
    return true;
  }
};

#define INSTANTIATE_BITS(T)                                                                        \
  template class TakeChunk<T>;                                                                     \
  template class PutChunk<T>;
INSTANTIATE_BITS(unsigned char)
INSTANTIATE_BITS(unsigned short)
INSTANTIATE_BITS(unsigned int)
INSTANTIATE_BITS(unsigned long long)

// row = received op the chunk; elements that the chunk lacks are copied from `received`.
template <expr::BinaryOpType op, typename T> class CombineChunk : public MultiVertex
{
public:
  Input<Vector<T>> table;
  Input<unsigned> at;
  Input<Vector<T>> received;
  Output<Vector<T>> row;

  bool compute(unsigned worker)
  {
    unsigned columns = row.size(), there = countOf(table.size(), at, columns);
    Share s = shareOf<T>(worker, columns);
    unsigned end = s.end < there ? s.end : s.begin < there ? there : s.begin;
    const T *a = &received[0], *b = &table[0] + at * columns;
    T *out = &row[0];
    for (unsigned i = s.begin; i < end; ++i)
      out[i] = static_cast<T>(apply<op>(Wide<T>(a[i]), Wide<T>(b[i])));
    for (unsigned i = end; i < s.end; ++i) out[i] = a[i];
    return true;
  }
};

#ifdef __IPU__
unsigned addressOf(const unsigned *at)
{
  return (unsigned)at;
}
#else
unsigned addressOf(const unsigned *)
{
  return 0;
} // headers are for tiles only
#endif

// Goes one chunk back in the ring, and writes the packet headers of the next copy between replicas.
// That copy sends a chunk of the table. It receives the chunk before it from the neighbour, into
// the table or a row.
class HeadChunk : public Vertex
{
public:
  Input<Vector<unsigned>> table, to; // elements of one word
  InOut<Vector<unsigned>> state;     // chunks_new_state in host/chunks.c
  unsigned columns, numChunks;
  bool toRow;

  bool compute()
  {
    unsigned sent = state[8] == 0 ? numChunks - 1 : state[8] - 1;
    unsigned received = sent == 0 ? numChunks - 1 : sent - 1;
    state[0] = addressOf(&table[sent * columns]);
    state[1] = countOf(table.size(), sent, columns);
    state[4] = addressOf(&to[toRow ? 0 : received * columns]);
    state[5] = countOf(table.size(), received, columns);
    state[8] = sent;
    state[9] = received;
    return true;
  }
};

// Combines a received row with its chunk, in the table: chunk = received op chunk.
template <expr::BinaryOpType op, typename T> class CombineHere : public MultiVertex
{
public:
  InOut<Vector<T>> table;
  Input<Vector<unsigned>> state;
  Input<Vector<T>> received;

  bool compute(unsigned worker)
  {
    unsigned columns = received.size(), at = state[9];
    unsigned there = countOf(table.size(), at, columns);
    Share s = shareOf<T>(worker, columns);
    unsigned end = s.end < there ? s.end : there;
    const T *__restrict a = &received[0];
    T *__restrict chunk = &table[0] + at * columns;
    for (unsigned i = s.begin; i < end; ++i)
      chunk[i] = static_cast<T>(apply<op>(Wide<T>(a[i]), Wide<T>(chunk[i])));
    return true;
  }
};

#define INSTANTIATE_WORD(V, op)                                                                    \
  template class V<op, float>;                                                                     \
  INSTANTIATE_INTEGER(V, op)
INSTANTIATE_WORD(CombineHere, expr::BinaryOpType::ADD)
INSTANTIATE_WORD(CombineHere, expr::BinaryOpType::MULTIPLY)
INSTANTIATE_WORD(CombineHere, expr::BinaryOpType::MINIMUM)
INSTANTIATE_WORD(CombineHere, expr::BinaryOpType::MAXIMUM)

INSTANTIATE_NUMBER(CombineChunk, expr::BinaryOpType::ADD)
INSTANTIATE_NUMBER(CombineChunk, expr::BinaryOpType::MULTIPLY)
INSTANTIATE_NUMBER(CombineChunk, expr::BinaryOpType::MINIMUM)
INSTANTIATE_NUMBER(CombineChunk, expr::BinaryOpType::MAXIMUM)
INSTANTIATE_BOOL(CombineChunk, expr::BinaryOpType::LOGICAL_AND)
INSTANTIATE_BOOL(CombineChunk, expr::BinaryOpType::LOGICAL_OR)

} // namespace popops
