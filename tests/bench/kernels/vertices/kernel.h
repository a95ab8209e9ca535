/* The form of a kernel of tests/bench/kernels.sh: a vertex like any other.
 *
 * Its data are in three fields and its size in a fourth: `a` is only read, `b` is the result,
 * `c` is room to work in (or another result). A second run of a kernel leaves the same in `b`
 * and `c`, so any number of rounds can be compared. popc compiles the source for tiles and the
 * CPU device, clang for the host and for qemu. The struct has the same layout everywhere, and
 * the code is in __runCodelet_<name>. */
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

/* States the tile's stack for a function that calls itself or calls through a pointer. */
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
