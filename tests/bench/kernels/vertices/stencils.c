/* Stencils on grids: each point from its neighbours. */
#include "kernel.h"

enum { STEPS = 4 };

KERNEL(jacobi_1d, float, float, float)
{
  unsigned n = vertex->n;
  float *x = vertex->b.data, *y = vertex->c.data;
  for (unsigned i = 0; i < n; i++) x[i] = y[i] = vertex->a.data[i];
  for (unsigned step = 0; step < STEPS; step++) {
    for (unsigned i = 1; i + 1 < n; i++) y[i] = 0.33333f * (x[i - 1] + x[i] + x[i + 1]);
    for (unsigned i = 1; i + 1 < n; i++) x[i] = 0.33333f * (y[i - 1] + y[i] + y[i + 1]);
  }
  return true;
}

KERNEL(jacobi_2d, float, float, float)
{
  unsigned n = vertex->n;
  for (unsigned y = 1; y + 1 < n; y++)
    for (unsigned x = 1; x + 1 < n; x++)
      vertex->b.data[y * n + x] =
          0.2f * (vertex->a.data[y * n + x] + vertex->a.data[y * n + x - 1] +
                  vertex->a.data[y * n + x + 1] + vertex->a.data[(y - 1) * n + x] +
                  vertex->a.data[(y + 1) * n + x]);
  return true;
}

/* In place: each point waits for the one before it. */
KERNEL(gauss_seidel, float, float, float)
{
  unsigned n = vertex->n;
  float *g = vertex->b.data;
  for (unsigned i = 0; i < n * n; i++) g[i] = vertex->a.data[i];
  for (unsigned y = 1; y + 1 < n; y++)
    for (unsigned x = 1; x + 1 < n; x++)
      g[y * n + x] = (g[(y - 1) * n + x - 1] + g[(y - 1) * n + x] + g[(y - 1) * n + x + 1] +
                      g[y * n + x - 1] + g[y * n + x] + g[y * n + x + 1] + g[(y + 1) * n + x - 1] +
                      g[(y + 1) * n + x] + g[(y + 1) * n + x + 1]) *
                     0.11111f;
  return true;
}

KERNEL(heat_3d, float, float, float)
{
  unsigned n = vertex->n, row = n, plane = n * n;
  const float *from = vertex->a.data;
  float *to = vertex->b.data;
  for (unsigned z = 1; z + 1 < n; z++)
    for (unsigned y = 1; y + 1 < n; y++)
      for (unsigned x = 1; x + 1 < n; x++) {
        const float *p = from + z * plane + y * row + x;
        to[z * plane + y * row + x] = 0.125f * (p[plane] - 2.0f * p[0] + p[-(int)plane]) +
                                      0.125f * (p[row] - 2.0f * p[0] + p[-(int)row]) +
                                      0.125f * (p[1] - 2.0f * p[0] + p[-1]) + p[0];
      }
  return true;
}

/* Conway's, a byte for each cell, which wraps around. */
KERNEL(life, byte, byte, byte)
{
  unsigned n = vertex->n;
  for (unsigned y = 0; y < n; y++) {
    const byte *up = vertex->a.data + (y ? y - 1 : n - 1) * n, *at = vertex->a.data + y * n;
    const byte *down = vertex->a.data + (y + 1 < n ? y + 1 : 0) * n;
    for (unsigned x = 0; x < n; x++) {
      unsigned l = x ? x - 1 : n - 1, r = x + 1 < n ? x + 1 : 0;
      unsigned count = (up[l] & 1) + (up[x] & 1) + (up[r] & 1) + (at[l] & 1) + (at[r] & 1) +
                       (down[l] & 1) + (down[x] & 1) + (down[r] & 1);
      vertex->b.data[y * n + x] = count == 3 || (count == 2 && (at[x] & 1));
    }
  }
  return true;
}

/* 3 x 3 over an image of bytes, the sum cut to a byte. */
KERNEL(sharpen, byte, byte, byte)
{
  unsigned n = vertex->n;
  for (unsigned y = 1; y + 1 < n; y++)
    for (unsigned x = 1; x + 1 < n; x++) {
      const byte *p = vertex->a.data + y * n + x;
      int sum = 5 * p[0] - p[1] - p[-1] - p[n] - p[-(int)n];
      vertex->b.data[y * n + x] = (byte)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
  return true;
}
