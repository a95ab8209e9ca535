/* Whole quotients of what a tile holds, for codelets in C and C++. The chip has no division of ints, and a function for one takes some
 * 270 slots; by way of floats, which are exact up to 2^24, it is a dozen. */
#ifndef POPLIBS_QUOTIENT_H
#define POPLIBS_QUOTIENT_H

/* a / b, where floats are rounded to nearest; b is not 0. Below 2^24 a quotient that is not whole lies further from the next whole number than floats do from each
 * other, so none is rounded up to it. */
static inline unsigned quotient(unsigned a, unsigned b)
{
  if ((a | b) >> 24) return a / b; /* the CPU device has room for that many elements */
  return (unsigned)((float)a / (float)b);
}

#endif
