/* 64-bit and fixed-point arithmetic. */
#include "kernel.h"

/* Filter with 16 taps in Q15, sums in 64 bits; the taps are in c. */
KERNEL(fixed_fir, int, int, int)
{
  for (unsigned i = 0; i + 16 <= vertex->n; i++) {
    long long sum = 0;
    for (unsigned j = 0; j < 16; j++) sum += (long long)vertex->a.data[i + j] * vertex->c.data[j];
    vertex->b.data[i] = (int)(sum >> 31);
  }
  return true;
}

/* Powers modulo a 31-bit prime. */
KERNEL(modular_power, unsigned, unsigned, unsigned)
{
  const dword prime = 2147483647u;
  for (unsigned i = 0; i < vertex->n; i++) {
    dword base = vertex->a.data[i] % prime, result = 1;
    for (unsigned e = 65537; e; e >>= 1) {
      if (e & 1) {
        result *= base;
        result = (result & prime) + (result >> 31);
        if (result >= prime) result -= prime;
      }
      base *= base;
      base = (base & prime) + (base >> 31);
      if (base >= prime) base -= prime;
    }
    vertex->b.data[i] = (unsigned)result;
  }
  return true;
}

/* Generator of 64 bits (splitmix), and sums of what it makes. */
KERNEL(splitmix, dword, dword, dword)
{
  dword state = vertex->a.data[0], sum = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    dword z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    vertex->b.data[i] = z ^ z >> 31;
    sum += z;
  }
  vertex->c.data[0] = sum;
  return true;
}

/* Numbers of n words: b = a1 * a2, schoolbook. */
KERNEL(big_product, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n;
  const unsigned *x = vertex->a.data, *y = x + n;
  for (unsigned i = 0; i < 2 * n; i++) vertex->b.data[i] = 0;
  for (unsigned i = 0; i < n; i++) {
    dword carry = 0;
    for (unsigned j = 0; j < n; j++) {
      carry += (dword)x[i] * y[j] + vertex->b.data[i + j];
      vertex->b.data[i + j] = (unsigned)carry;
      carry >>= 32;
    }
    vertex->b.data[i + n] = (unsigned)carry;
  }
  return true;
}

/* Two biquads in Q28, one behind the other. */
KERNEL(fixed_iir, int, int, int)
{
  long long x1 = 0, x2 = 0, y1 = 0, y2 = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    long long x = vertex->a.data[i] >> 4;
    long long y =
        (61000000 * x + 122000000 * x1 + 61000000 * x2 + 240000000 * y1 - 90000000 * y2) >> 28;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    vertex->b.data[i] = (int)y;
  }
  return true;
}

/* Rotations by shifts and additions. */
KERNEL(cordic, int, int, int)
{
  for (unsigned i = 0; i < vertex->n; i++) {
    int x = 163008218, y = 0, angle = vertex->a.data[i] >> 3;
    for (int k = 0; k < 24; k++) {
      int dx = x >> k, dy = y >> k, turn = 210828714 >> k;
      if (angle >= 0) {
        x -= dy;
        y += dx;
        angle -= turn;
      } else {
        x += dy;
        y -= dx;
        angle += turn;
      }
    }
    vertex->b.data[i] = x ^ y;
  }
  return true;
}
