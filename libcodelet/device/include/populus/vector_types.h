/* The short vectors of codelets: float2, half4, uchar4, …
 *
 * They are GCC's vectors, as programs have always known them: arithmetic, comparisons and shifts work
 * element by element, `v[i]` is an element, a scalar operand is meant for every element, and a cast
 * to another vector of the same size keeps the bits.
 *
 * A vector is aligned to its size: the address of a float2 or half4 is a multiple of 8, which popc relies on when it computes
 * these two 64 bits at a time (isa.h: packed instructions). A field whose elements are read as such vectors says so, by
 * Vector<float, VectorLayout::SPAN, 8>. Without that an address that is a multiple of 4 alone works on these tiles, and does
 * not on the chip. For data aligned to less there are types of one's own, with __attribute__((aligned(4))), which are
 * computed one element after another, as all other vectors are.
 *
 * Repeating one of the typedefs in a program is no error.
 */
#ifndef POPULUS_VECTOR_TYPES_H
#define POPULUS_VECTOR_TYPES_H

typedef _Float16 half;

#define POPULUS_VECTOR(type, name, count)                                                          \
  typedef type name __attribute__((__vector_size__(count * sizeof(type))));

POPULUS_VECTOR(_Float16, half2, 2)
POPULUS_VECTOR(_Float16, half4, 4)
POPULUS_VECTOR(_Float16, half8, 8)
POPULUS_VECTOR(float, float2, 2)
POPULUS_VECTOR(float, float4, 4)
POPULUS_VECTOR(char, char2, 2)
POPULUS_VECTOR(char, char4, 4)
POPULUS_VECTOR(char, char8, 8)
POPULUS_VECTOR(signed char, schar2, 2)
POPULUS_VECTOR(signed char, schar4, 4)
POPULUS_VECTOR(unsigned char, uchar2, 2)
POPULUS_VECTOR(unsigned char, uchar4, 4)
POPULUS_VECTOR(unsigned char, uchar8, 8)
POPULUS_VECTOR(short, short2, 2)
POPULUS_VECTOR(short, short4, 4)
POPULUS_VECTOR(unsigned short, ushort2, 2)
POPULUS_VECTOR(unsigned short, ushort4, 4)
POPULUS_VECTOR(int, int2, 2)
POPULUS_VECTOR(int, int4, 4)
POPULUS_VECTOR(unsigned, uint2, 2)
POPULUS_VECTOR(unsigned, uint4, 4)
POPULUS_VECTOR(long, long2, 2)
POPULUS_VECTOR(long, long4, 4)
POPULUS_VECTOR(long long, longlong2, 2)
POPULUS_VECTOR(long long, longlong4, 4)

#undef POPULUS_VECTOR

#endif
