/* Transforms, bodies, Monte Carlo. */
#include "kernel.h"

#include <math.h>

/* Radix 2, in place in b (real, imaginary), with roots from a; n complex numbers. */
KERNEL(fft, float, float, float)
{
  unsigned n = vertex->n;
  float *x = vertex->b.data;
  for (unsigned i = 0, j = 0; i < n; i++) { /* in the order of reversed bits */
    x[2 * j] = vertex->a.data[2 * i];
    x[2 * j + 1] = vertex->a.data[2 * i + 1];
    unsigned bit = n / 2;
    for (; bit && j & bit; bit /= 2) j ^= bit;
    j ^= bit;
  }
  for (unsigned half_size = 1; half_size < n; half_size *= 2)
    for (unsigned start = 0; start < n; start += 2 * half_size)
      for (unsigned k = 0; k < half_size; k++) {
        const float *root = vertex->c.data + 2 * (k * (n / 2 / half_size));
        float *p = x + 2 * (start + k), *q = p + 2 * half_size;
        float re = q[0] * root[0] - q[1] * root[1], im = q[0] * root[1] + q[1] * root[0];
        q[0] = p[0] - re;
        q[1] = p[1] - im;
        p[0] += re;
        p[1] += im;
      }
  return true;
}

KERNEL(walsh_hadamard, int, int, int)
{
  unsigned n = vertex->n;
  for (unsigned i = 0; i < n; i++) vertex->b.data[i] = vertex->a.data[i] >> 16;
  for (unsigned width = 1; width < n; width *= 2)
    for (unsigned i = 0; i < n; i += 2 * width)
      for (unsigned j = i; j < i + width; j++) {
        int x = vertex->b.data[j], y = vertex->b.data[j + width];
        vertex->b.data[j] = x + y;
        vertex->b.data[j + width] = x - y;
      }
  return true;
}

/* Discrete cosine transform of rows of 8, by its matrix in c. */
KERNEL(dct, float, float, float)
{
  for (unsigned i = 0; i + 8 <= vertex->n; i += 8)
    for (unsigned k = 0; k < 8; k++) {
      float sum = 0;
      for (unsigned j = 0; j < 8; j++) sum += vertex->a.data[i + j] * vertex->c.data[8 * k + j];
      vertex->b.data[i + k] = sum;
    }
  return true;
}

/* Accelerations of n bodies (x, y, z, mass). */
KERNEL(n_body, float, float, float)
{
  for (unsigned i = 0; i < vertex->n; i++) {
    const float *p = vertex->a.data + 4 * i;
    float x = 0, y = 0, z = 0;
    for (unsigned j = 0; j < vertex->n; j++) {
      const float *q = vertex->a.data + 4 * j;
      float dx = q[0] - p[0], dy = q[1] - p[1], dz = q[2] - p[2];
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float factor = q[3] / (square * sqrtf(square));
      x += dx * factor;
      y += dy * factor;
      z += dz * factor;
    }
    vertex->b.data[3 * i] = x;
    vertex->b.data[3 * i + 1] = y;
    vertex->b.data[3 * i + 2] = z;
  }
  return true;
}

/* Lennard-Jones energy of pairs that are near enough. */
KERNEL(pair_energy, float, float, float)
{
  float energy = 0;
  for (unsigned i = 0; i < vertex->n; i++)
    for (unsigned j = i + 1; j < vertex->n; j++) {
      const float *p = vertex->a.data + 4 * i, *q = vertex->a.data + 4 * j;
      float dx = q[0] - p[0], dy = q[1] - p[1], dz = q[2] - p[2];
      float square = dx * dx + dy * dy + dz * dz;
      if (square > 0.25f || square < 0.01f) continue;
      float inverse = 0.04f / square, six = inverse * inverse * inverse;
      energy += 4.0f * (six * six - six);
    }
  vertex->b.data[0] = energy;
  return true;
}

KERNEL(monte_carlo_pi, unsigned, unsigned, unsigned)
{
  unsigned x = vertex->a.data[0] | 1, inside = 0;
  for (unsigned i = 0; i < 4 * vertex->n; i++) {
    x = next_random(x);
    float u = (float)(x >> 8) * (1.0f / 16777216.0f);
    x = next_random(x);
    float v = (float)(x >> 8) * (1.0f / 16777216.0f);
    inside += u * u + v * v < 1.0f;
  }
  vertex->b.data[0] = inside;
  return true;
}

/* Spins of an n x n lattice of bytes in c, one sweep by Metropolis with a table of chances. */
KERNEL(ising, unsigned, unsigned, byte)
{
  static const unsigned chance[5] = {~0u, ~0u, 2147483648u, 580000000u, 80000000u};
  unsigned n = vertex->n, random = vertex->a.data[0] | 1, up = 0;
  byte *s = vertex->c.data;
  for (unsigned i = 0; i < n * n; i++) s[i] = vertex->a.data[i & 15] >> (i & 31) & 1;
  for (unsigned y = 0; y < n; y++)
    for (unsigned x = 0; x < n; x++) {
      unsigned sum = s[y * n + (x + 1) % n] + s[y * n + (x + n - 1) % n] + s[(y + 1) % n * n + x] +
                     s[(y + n - 1) % n * n + x];
      random = next_random(random);
      unsigned alike = s[y * n + x] ? sum : 4 - sum;
      if (random <= chance[alike]) s[y * n + x] ^= 1;
    }
  for (unsigned i = 0; i < n * n; i++) up += s[i];
  vertex->b.data[0] = up;
  return true;
}
