/* Walks over graphs of n nodes with 8 edges each: edge e of a node goes to a[8 * node + e] % n. */
#include "kernel.h"

enum { DEGREE = 8 };

/* Distances from node 0; c is the queue. */
KERNEL(breadth_first, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n, *distance = vertex->b.data, *queue = vertex->c.data, head = 0, tail = 0;
  for (unsigned i = 0; i < n; i++) distance[i] = ~0u;
  distance[0] = 0;
  queue[tail++] = 0;
  while (head < tail) {
    unsigned node = queue[head++];
    for (unsigned e = 0; e < DEGREE; e++) {
      unsigned to = vertex->a.data[DEGREE * node + e] & (n - 1);
      if (distance[to] != ~0u) continue;
      distance[to] = distance[node] + 1;
      queue[tail++] = to;
    }
  }
  return true;
}

KERNEL(page_rank, unsigned, float, float)
{
  unsigned n = vertex->n;
  float *rank = vertex->b.data, *next = vertex->c.data;
  for (unsigned i = 0; i < n; i++) rank[i] = 1.0f;
  for (unsigned step = 0; step < 4; step++) {
    for (unsigned i = 0; i < n; i++) {
      float sum = 0;
      for (unsigned e = 0; e < DEGREE; e++)
        sum += rank[vertex->a.data[DEGREE * i + e] & (n - 1)] * (1.0f / DEGREE);
      next[i] = 0.15f + 0.85f * sum;
    }
    for (unsigned i = 0; i < n; i++) rank[i] = next[i];
  }
  return true;
}

static unsigned find_root(unsigned *parent, unsigned node)
{
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

/* Sets joined by the edges whose words have bit 16; b is the number of the set's least... of its root. */
KERNEL(union_find, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n, *parent = vertex->c.data;
  for (unsigned i = 0; i < n; i++) parent[i] = i;
  for (unsigned i = 0; i < DEGREE * n; i++) {
    unsigned edge = vertex->a.data[i];
    if (!(edge & 1u << 16)) continue;
    unsigned x = find_root(parent, i / DEGREE), y = find_root(parent, edge & (n - 1));
    parent[x > y ? x : y] = x > y ? y : x;
  }
  for (unsigned i = 0; i < n; i++) vertex->b.data[i] = find_root(parent, i);
  return true;
}

/* Follows a list through all of memory: each load waits for the one before it. */
KERNEL(linked_list, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n, *next = vertex->c.data, sum = 0, at = 0;
  for (unsigned i = 0; i < n; i++) next[i] = (i * 5 + 1) & (n - 1);
  for (unsigned i = 0; i < 4 * n; i++) {
    sum += vertex->a.data[at] ^ i;
    at = next[at];
  }
  vertex->b.data[0] = sum;
  return true;
}

/* Rows of a sparse matrix (values from the words themselves) times a vector in c. */
KERNEL(sparse_product, unsigned, float, float)
{
  unsigned n = vertex->n;
  for (unsigned i = 0; i < n; i++) vertex->c.data[i] = (float)(i & 15);
  for (unsigned i = 0; i < n; i++) {
    float sum = 0;
    unsigned degree = vertex->a.data[DEGREE * i] >> 29;
    for (unsigned e = 0; e < degree; e++) {
      unsigned word = vertex->a.data[DEGREE * i + e];
      sum += (float)(int)(word >> 20) * vertex->c.data[word & (n - 1)];
    }
    vertex->b.data[i] = sum;
  }
  return true;
}
