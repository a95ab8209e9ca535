/* What a kernel of tests/bench/kernels.sh is: a vertex like any other.
 *
 * Its data come through three fields and its size through a fourth: `a` is only read, `b` is the result, `c` is room to
 * work in (or another result). A kernel run again leaves the same in `b` and `c`, so that any number of rounds can be
 * compared. The same source is compiled by popc for tiles and the CPU device, by clang for the host and for qemu: the struct is
 * laid out alike, and its code is in __runCodelet_<name>. */
#ifndef POPULUS_BENCH_KERNEL_H
#define POPULUS_BENCH_KERNEL_H

#include <populus/vertex.h>

typedef unsigned char byte;
typedef unsigned long long dword;

#define KERNEL(name, type_a, type_b, type_c)                                                       \
  typedef struct {                                                                                 \
    INPUT(VECTOR(type_a)) a;                                                                       \
    INOUT(VECTOR(type_b)) b;                                                                       \
    INOUT(VECTOR(type_c)) c;                                                                       \
    unsigned n;                                                                                    \
  } name;                                                                                          \
  COMPUTE(name)

/* What a function that calls itself, or through a pointer, needs of a tile's stack. */
#ifdef __IPU__
#include <poplar/StackSizeDefs.hpp>
#define STACK(bytes, function) DEF_STACK_USAGE(bytes, function);
#else
#define STACK(bytes, function)
#endif

static inline unsigned next_random(unsigned x)
{
  x ^= x << 13;
  x ^= x >> 17;
  return x ^ x << 5;
}

#endif
