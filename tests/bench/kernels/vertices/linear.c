/* Dense linear algebra: what PolyBench has of it, on n x n matrices of rows. */
#include "kernel.h"

#include <math.h>

/* B = A1 * A2 */
KERNEL(matrix_product, float, float, float)
{
  unsigned n = vertex->n;
  const float *x = vertex->a.data, *y = x + n * n;
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++) {
      float sum = 0;
      for (unsigned k = 0; k < n; k++) sum += x[i * n + k] * y[k * n + j];
      vertex->b.data[i * n + j] = sum;
    }
  return true;
}

/* The same, in the order of loops that vectorises. */
KERNEL(matrix_product_rows, float, float, float)
{
  unsigned n = vertex->n;
  for (unsigned i = 0; i < n; i++) {
    for (unsigned j = 0; j < n; j++) vertex->b.data[i * n + j] = 0;
    for (unsigned k = 0; k < n; k++) {
      float factor = vertex->a.data[i * n + k];
      for (unsigned j = 0; j < n; j++)
        vertex->b.data[i * n + j] += factor * vertex->a.data[n * n + k * n + j];
    }
  }
  return true;
}

/* b = A^T * (A * x); c is A * x. */
KERNEL(atax, float, float, float)
{
  unsigned n = vertex->n;
  const float *x = vertex->a.data + n * n;
  for (unsigned j = 0; j < n; j++) vertex->b.data[j] = 0;
  for (unsigned i = 0; i < n; i++) {
    const float *row = vertex->a.data + i * n;
    float sum = 0;
    for (unsigned j = 0; j < n; j++) sum += row[j] * x[j];
    vertex->c.data[i] = sum;
    for (unsigned j = 0; j < n; j++) vertex->b.data[j] += row[j] * sum;
  }
  return true;
}

/* Solves L * b = x, where L is the lower triangle of A. */
KERNEL(triangular_solve, float, float, float)
{
  unsigned n = vertex->n;
  const float *x = vertex->a.data + n * n;
  for (unsigned i = 0; i < n; i++) {
    float rest = x[i];
    for (unsigned j = 0; j < i; j++) rest -= 0.01f * vertex->a.data[i * n + j] * vertex->b.data[j];
    vertex->b.data[i] = rest / (vertex->a.data[i * n + i] + 1.0f);
  }
  return true;
}

static void copy_with_diagonal(float *to, const float *from, unsigned n)
{
  for (unsigned i = 0; i < n * n; i++) to[i] = from[i];
  for (unsigned i = 0; i < n; i++) to[i * n + i] += (float)n;
}

/* B becomes L and U of A. */
KERNEL(lu, float, float, float)
{
  unsigned n = vertex->n;
  float *m = vertex->b.data;
  copy_with_diagonal(m, vertex->a.data, n);
  for (unsigned k = 0; k < n; k++)
    for (unsigned i = k + 1; i < n; i++) {
      float factor = m[i * n + k] /= m[k * n + k];
      for (unsigned j = k + 1; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
    }
  return true;
}

KERNEL(cholesky, float, float, float)
{
  unsigned n = vertex->n;
  float *m = vertex->b.data;
  copy_with_diagonal(m, vertex->a.data, n);
  for (unsigned i = 0; i < n; i++) {
    for (unsigned j = 0; j < i; j++) {
      float sum = m[i * n + j];
      for (unsigned k = 0; k < j; k++) sum -= m[i * n + k] * m[j * n + k];
      m[i * n + j] = sum / m[j * n + j];
    }
    float sum = m[i * n + i];
    for (unsigned k = 0; k < i; k++) sum -= m[i * n + k] * m[i * n + k];
    m[i * n + i] = sqrtf(sum);
  }
  return true;
}

/* Of the columns of A; c has their means. */
KERNEL(covariance, float, float, float)
{
  unsigned n = vertex->n;
  const float *x = vertex->a.data;
  float *mean = vertex->c.data;
  for (unsigned j = 0; j < n; j++) {
    mean[j] = 0;
    for (unsigned i = 0; i < n; i++) mean[j] += x[i * n + j];
    mean[j] /= (float)n;
  }
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = i; j < n; j++) {
      float sum = 0;
      for (unsigned k = 0; k < n; k++) sum += (x[k * n + i] - mean[i]) * (x[k * n + j] - mean[j]);
      vertex->b.data[i * n + j] = vertex->b.data[j * n + i] = sum / ((float)n - 1.0f);
    }
  return true;
}

/* Layer of a network: b = max(0, A * x + bias), rows unrolled by four as codelets do it. */
KERNEL(dense_relu, float, float, float)
{
  unsigned n = vertex->n;
  const float *w = vertex->a.data, *x = w + n * n;
  for (unsigned i = 0; i < n; i++, w += n) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    unsigned j = 0;
    for (; j + 4 <= n; j += 4) {
      s0 += w[j] * x[j];
      s1 += w[j + 1] * x[j + 1];
      s2 += w[j + 2] * x[j + 2];
      s3 += w[j + 3] * x[j + 3];
    }
    for (; j < n; j++) s0 += w[j] * x[j];
    float sum = s0 + s1 + s2 + s3 + vertex->c.data[i];
    vertex->b.data[i] = sum > 0 ? sum : 0;
  }
  return true;
}
