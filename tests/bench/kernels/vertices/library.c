/* Mathematics of the C library over vectors. */
#include "kernel.h"

#include <math.h>

KERNEL(softmax, float, float, float)
{
  unsigned n = vertex->n;
  float most = vertex->a.data[0], sum = 0;
  for (unsigned i = 1; i < n; i++) most = fmaxf(most, vertex->a.data[i]);
  for (unsigned i = 0; i < n; i++) sum += vertex->b.data[i] = expf(vertex->a.data[i] - most);
  for (unsigned i = 0; i < n; i++) vertex->b.data[i] /= sum;
  return true;
}

KERNEL(entropy, float, float, float)
{
  float sum = 0;
  for (unsigned i = 0; i < vertex->n; i++) {
    float p = vertex->a.data[i];
    sum -= p * logf(p);
  }
  vertex->b.data[0] = sum;
  return true;
}

KERNEL(gelu, float, float, float)
{
  for (unsigned i = 0; i < vertex->n; i++) {
    float x = vertex->a.data[i];
    vertex->b.data[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
  return true;
}

KERNEL(rotary, float, float, float)
{
  for (unsigned i = 0; i + 2 <= vertex->n; i += 2) {
    float angle = vertex->a.data[i] * (float)(i & 63), s = sinf(angle), c = cosf(angle);
    vertex->b.data[i] = vertex->a.data[i] * c - vertex->a.data[i + 1] * s;
    vertex->b.data[i + 1] = vertex->a.data[i] * s + vertex->a.data[i + 1] * c;
  }
  return true;
}

KERNEL(gamma_curve, float, float, float)
{
  for (unsigned i = 0; i < vertex->n; i++) vertex->b.data[i] = powf(vertex->a.data[i], 2.2f);
  return true;
}

KERNEL(normal_distribution, float, float, float)
{
  for (unsigned i = 0; i < vertex->n; i++)
    vertex->b.data[i] = 0.5f * (1.0f + erff(vertex->a.data[i] * 0.70710678f));
  return true;
}

/* Mean, variance and what becomes of each element: square roots and divisions. */
KERNEL(layer_norm, float, float, float)
{
  float sum = 0, squares = 0, n = (float)vertex->n;
  for (unsigned i = 0; i < vertex->n; i++) {
    sum += vertex->a.data[i];
    squares += vertex->a.data[i] * vertex->a.data[i];
  }
  float mean = sum / n, scale = 1.0f / sqrtf(squares / n - mean * mean + 1e-5f);
  for (unsigned i = 0; i < vertex->n; i++) vertex->b.data[i] = (vertex->a.data[i] - mean) * scale;
  return true;
}
