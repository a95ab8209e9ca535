// Transpositions of matrices on one tile: the vertices that graphcore/poplibs
// (popops/Rearrange.cpp, popsparse/HyperGraph.cpp) asks for by name. Their fields and what these
// mean are taken from there:
//
//     Transpose1D              consecutive matrices; the first workerCount workers take numTranspositions of them
//                              each, the others one less
//     Transpose1DSingleWorker  the same by one worker, numTranspositionsM1 + 1 of them
//     SplitTranspose1D         few matrices: workList has four numbers for each worker, in blocks of elements:
//                              its begin in src and in dst, its number of rows and of columns
//     Transpose2D              matrices anywhere, a row of src and of dst for each
//
// Sizes of the first three are in blocks of 4 x 4 elements; of 8 x 8 for elements of one byte.
#include <poplar/Vertex.hpp>
#include <stdint.h>

using namespace poplar;

namespace
{

// dst[c * dstStride + r] = src[r * srcStride + c]
template <typename T>
void transpose(const T *src, unsigned srcStride, T *dst, unsigned dstStride, unsigned rows,
               unsigned cols)
{
  for (unsigned c = 0; c < cols; ++c, ++src, dst += dstStride) {
    const T *from = src;
    for (unsigned r = 0; r < rows; ++r, from += srcStride) dst[r] = *from;
  }
}

// Transposes two by two elements in words. Rows, columns and strides are even; `src` and `dst` are
// aligned to words.
void transposePairs(const uint32_t *src, unsigned srcStride, uint32_t *dst, unsigned dstStride,
                    unsigned rows, unsigned cols)
{
  const unsigned srcWords = srcStride / 2, dstWords = dstStride / 2;
  for (unsigned c = 0; c < cols; c += 2, ++src, dst += 2 * dstWords) {
    const uint32_t *from = src;
    uint32_t *even = dst, *odd = dst + dstWords;
    for (unsigned r = 0; r < rows; r += 2, from += 2 * srcWords) {
      const uint32_t upper = from[0], lower = from[srcWords];
      *even++ = (upper & 0xffff) | lower << 16;
      *odd++ = upper >> 16 | (lower & 0xffff0000);
    }
  }
}

// Elements of 2 bytes are moved as bits.
template <typename T>
void transposeBlocks(const T *src, unsigned srcStride, T *dst, unsigned dstStride, unsigned rows,
                     unsigned cols)
{
  if constexpr (sizeof(T) == 2)
    transposePairs(reinterpret_cast<const uint32_t *>(src), srcStride,
                   reinterpret_cast<uint32_t *>(dst), dstStride, rows, cols);
  else
    transpose(src, srcStride, dst, dstStride, rows, cols);
}

template <typename T>
void transposeMany(const T *src, T *dst, unsigned rows, unsigned cols, unsigned count)
{
  for (; count > 0; --count, src += rows * cols, dst += rows * cols)
    transposeBlocks(src, cols, dst, rows, rows, cols);
}

template <typename T> constexpr unsigned blockSize = sizeof(T) == 1 ? 8 : 4;
constexpr unsigned wordsAlign = 4;

} // namespace

namespace poplar_rt
{

template <typename T> class Transpose1D : public MultiVertex
{
public:
  Input<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> src;
  Output<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> dst;
  const unsigned short numSrcColumnsD4Or8;
  const unsigned short numSrcRowsD4Or8;
  const unsigned short numTranspositions;
  const unsigned short workerCount;

  bool compute(unsigned worker)
  {
    const unsigned cols = numSrcColumnsD4Or8 * blockSize<T>, rows = numSrcRowsD4Or8 * blockSize<T>;
    const bool more = worker < workerCount;
    const unsigned before = worker * numTranspositions - (more ? 0 : worker - workerCount);
    transposeMany(&src[before * rows * cols], &dst[before * rows * cols], rows, cols,
                  numTranspositions - (more ? 0 : 1));
    return true;
  }
};

template <typename T> class Transpose1DSingleWorker : public Vertex
{
public:
  Input<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> src;
  Output<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> dst;
  const unsigned short numSrcColumnsD4Or8;
  const unsigned short numSrcRowsD4Or8;
  const unsigned short numTranspositionsM1;

  bool compute()
  {
    const unsigned cols = numSrcColumnsD4Or8 * blockSize<T>, rows = numSrcRowsD4Or8 * blockSize<T>;
    transposeMany(&src[0], &dst[0], rows, cols, numTranspositionsM1 + 1);
    return true;
  }
};

template <typename T> class SplitTranspose1D : public MultiVertex
{
  enum { SRC, DST, ROWS, COLUMNS, NUMBERS }; // of a worker

public:
  Input<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> src;
  Output<Vector<T, VectorLayout::ONE_PTR, wordsAlign>> dst;
  Input<Vector<unsigned short>> workList;
  const unsigned short numSrcColumnsD4Or8;
  const unsigned short numSrcRowsD4Or8;

  bool compute(unsigned worker)
  {
    if ((worker + 1) * NUMBERS > workList.size()) return true;
    const unsigned short *work = &workList[worker * NUMBERS];
    transposeBlocks(&src[work[SRC] * blockSize<T>], numSrcColumnsD4Or8 * blockSize<T>,
                    &dst[work[DST] * blockSize<T>], numSrcRowsD4Or8 * blockSize<T>,
                    work[ROWS] * blockSize<T>, work[COLUMNS] * blockSize<T>);
    return true;
  }
};

template <typename T> class Transpose2D : public Vertex
{
public:
  Vector<Input<Vector<T, VectorLayout::ONE_PTR>>> src;
  Vector<Output<Vector<T, VectorLayout::ONE_PTR>>, VectorLayout::ONE_PTR> dst;
  const unsigned short numSrcColumns;
  const unsigned short numSrcRows;

  bool compute()
  {
    for (unsigned i = 0; i < src.size(); ++i)
      transpose(&src[i][0], numSrcColumns, &dst[i][0], numSrcRows, numSrcRows, numSrcColumns);
    return true;
  }
};

#define OF_BLOCKS(T)                                                                               \
  template class Transpose1D<T>;                                                                   \
  template class Transpose1DSingleWorker<T>;                                                       \
  template class SplitTranspose1D<T>;                                                              \
  template class Transpose2D<T>
OF_BLOCKS(half);
OF_BLOCKS(short);
OF_BLOCKS(unsigned short);
OF_BLOCKS(unsigned char);
template class Transpose2D<float>;
template class Transpose2D<int>;
template class Transpose2D<unsigned>;

} // namespace poplar_rt
