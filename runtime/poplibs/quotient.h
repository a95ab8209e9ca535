/* Integer quotients for codelets in C and C++. The chip has no integer division, and a function
 * for one takes some 270 slots. By way of floats, which are exact up to 2^24, it takes a dozen. */
#ifndef POPLIBS_QUOTIENT_H
#define POPLIBS_QUOTIENT_H

/* a / b; b is not 0, and floats are rounded to nearest. Below 2^24 a quotient that is not whole
 * is further from the next whole number than neighbouring floats are from each other. So none is
 * rounded up to it. */
static inline unsigned quotient(unsigned a, unsigned b)
{
  if ((a | b) >> 24) return a / b; /* tiles never hold that many elements; the CPU device may */
  return (unsigned)((float)a / (float)b);
}

#endif
