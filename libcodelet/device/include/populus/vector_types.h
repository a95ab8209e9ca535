/* The short vectors of codelets: float2, half4, uchar4, …
 *
 * They are GCC's vectors. Arithmetic, comparisons and shifts work element by element, `v[i]` is
 * an element, a scalar operand applies to every element, and a cast to another vector of the
 * same size keeps the bits.
 *
 * A vector is aligned to its size: the address of a float2 or half4 is a multiple of 8. popc relies
 * on that when it computes these two 64 bits at a time (isa.h: packed instructions). A field whose
 * elements are read as such vectors has to say so, by Vector<float, VectorLayout::SPAN, 8>.
 * Otherwise an address that is only a multiple of 4 works on these tiles and fails on the chip. For
 * data of smaller alignment a program can define types with __attribute__((aligned(4))), which are
 * computed element by element, as all other vectors are.
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
