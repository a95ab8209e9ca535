/* half, and vectors as codelets write them. */
#include "kernel.h"

typedef float float2 __attribute__((vector_size(8)));
typedef half half4 __attribute__((vector_size(8)));

/* n pairs: complex products. */
KERNEL(complex_product, float, float, float)
{
  const float2 *x = (const float2 *)(const void *)vertex->a.data, *y = x + vertex->n;
  float2 *to = (float2 *)(void *)vertex->b.data;
  for (unsigned i = 0; i < vertex->n; i++) {
    float2 u = x[i], v = y[i];
    to[i] = (float2){u[0] * v[0] - u[1] * v[1], u[0] * v[1] + u[1] * v[0]};
  }
  return true;
}

KERNEL(float2_axpy, float, float, float)
{
  const float2 *x = (const float2 *)(const void *)vertex->a.data, *y = x + vertex->n / 2;
  float2 *to = (float2 *)(void *)vertex->b.data, factor = {1.25f, 1.25f};
  for (unsigned i = 0; i < vertex->n / 2; i++) to[i] = factor * x[i] + y[i];
  return true;
}

KERNEL(half_axpy, half, half, half)
{
  half factor = (half)1.25f;
  for (unsigned i = 0; i < vertex->n; i++)
    vertex->b.data[i] = factor * vertex->a.data[i] + vertex->a.data[vertex->n + i];
  return true;
}

KERNEL(half_dot, half, float, half)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->n; i++)
    sum += (float)vertex->a.data[i] * (float)vertex->a.data[vertex->n + i];
  vertex->b.data[0] = sum;
  return true;
}

KERNEL(half4_relu, half, half, half)
{
  const half4 *x = (const half4 *)(const void *)vertex->a.data;
  half4 *to = (half4 *)(void *)vertex->b.data, bias = {(half)-1, (half)-1, (half)-1, (half)-1};
  for (unsigned i = 0; i < vertex->n / 4; i++) {
    half4 sum = x[i] + bias;
    for (unsigned k = 0; k < 4; k++) sum[k] = sum[k] > 0 ? sum[k] : 0;
    to[i] = sum;
  }
  return true;
}
