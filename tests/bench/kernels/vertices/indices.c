/* Kernels: places that are known by their size only. Columns, indices below a mask, queues. */
#include "kernel.h"

/* A product by the definition: one of the two is walked down its columns. */
KERNEL(strided_columns, float, float, float)
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

/* Rows of a sparse matrix of ones, eight in each, n a power of two. */
KERNEL(masked_rows, unsigned, float, float)
{
  enum { IN_ROW = 8 };
  unsigned n = vertex->n;
  const unsigned *columns = vertex->a.data;
  for (unsigned i = 0; i < n; i++) vertex->c.data[i] = (float)(i & 63);
  for (unsigned i = 0; i < n; i++) {
    float sum = 0;
    for (unsigned k = 0; k < IN_ROW; k++) sum += vertex->c.data[columns[i * IN_ROW + k] & (n - 1)];
    vertex->b.data[i] = sum;
  }
  return true;
}

/* How many edges a node is from the first: b; in c the queue. n is a power of two. */
KERNEL(queue_levels, unsigned, unsigned, unsigned)
{
  enum { EDGES = 8, UNSEEN = -1 };
  unsigned n = vertex->n, head = 0, tail = 1;
  const unsigned *edges = vertex->a.data;
  unsigned *level = vertex->b.data, *queue = vertex->c.data;
  for (unsigned i = 0; i < n; i++) level[i] = (unsigned)UNSEEN;
  level[0] = queue[0] = 0;
  while (head < tail) {
    unsigned node = queue[head++];
    for (unsigned e = 0; e < EDGES; e++) {
      unsigned to = edges[node * EDGES + e] & (n - 1);
      if (level[to] != (unsigned)UNSEEN) continue;
      level[to] = level[node] + 1;
      queue[tail++] = to;
    }
  }
  while (tail < n) queue[tail++] = 0;
  return true;
}
