/* Dynamic programming. */
#include "kernel.h"

/* Of two strings of n bytes; c is a row. */
KERNEL(edit_distance, byte, unsigned, unsigned)
{
  const byte *x = vertex->a.data, *y = x + vertex->n;
  unsigned *row = vertex->c.data, n = vertex->n;
  for (unsigned j = 0; j <= n; j++) row[j] = j;
  for (unsigned i = 1; i <= n; i++) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (unsigned j = 1; j <= n; j++) {
      unsigned change = diagonal + ((x[i - 1] & 3) != (y[j - 1] & 3));
      diagonal = row[j];
      unsigned insert = row[j] + 1, remove = row[j - 1] + 1;
      unsigned least = insert < remove ? insert : remove;
      row[j] = change < least ? change : least;
    }
  }
  vertex->b.data[0] = row[n];
  return true;
}

/* Best local alignment, all scores kept. */
KERNEL(smith_waterman, byte, int, int)
{
  unsigned n = vertex->n, width = n + 1;
  const byte *x = vertex->a.data, *y = x + n;
  int *score = vertex->c.data, best = 0;
  for (unsigned i = 0; i <= n; i++) score[i] = score[i * width] = 0;
  for (unsigned i = 1; i <= n; i++)
    for (unsigned j = 1; j <= n; j++) {
      int here = score[(i - 1) * width + j - 1] + ((x[i - 1] & 3) == (y[j - 1] & 3) ? 2 : -1);
      int up = score[(i - 1) * width + j] - 1, left = score[i * width + j - 1] - 1;
      if (up > here) here = up;
      if (left > here) here = left;
      if (here < 0) here = 0;
      score[i * width + j] = here;
      if (here > best) best = here;
    }
  vertex->b.data[0] = best;
  return true;
}

/* Each item once: values in a's low bits, weights in bits from 8 on; b is the best for each capacity. */
KERNEL(knapsack, unsigned, unsigned, unsigned)
{
  unsigned capacity = vertex->n;
  for (unsigned w = 0; w <= capacity; w++) vertex->b.data[w] = 0;
  for (unsigned i = 0; i < 32; i++) {
    unsigned value = vertex->a.data[i] & 255, weight = (vertex->a.data[i] >> 8 & 63) + 1;
    for (unsigned w = capacity; w >= weight; w--) {
      unsigned with = vertex->b.data[w - weight] + value;
      if (with > vertex->b.data[w]) vertex->b.data[w] = with;
    }
  }
  return true;
}

/* Shortest ways between all pairs of n places. */
KERNEL(floyd_warshall, float, float, float)
{
  unsigned n = vertex->n;
  float *d = vertex->b.data;
  for (unsigned i = 0; i < n * n; i++) d[i] = vertex->a.data[i];
  for (unsigned k = 0; k < n; k++)
    for (unsigned i = 0; i < n; i++)
      for (unsigned j = 0; j < n; j++) {
        float way = d[i * n + k] + d[k * n + j];
        if (way < d[i * n + j]) d[i * n + j] = way;
      }
  return true;
}

/* Viterbi over 16 states. */
KERNEL(viterbi, float, unsigned, float)
{
  enum { STATES = 16 };
  float *now = vertex->c.data, *next = now + STATES;
  unsigned sum = 0;
  for (unsigned s = 0; s < STATES; s++) now[s] = vertex->a.data[s];
  for (unsigned t = 0; t < vertex->n; t++) {
    unsigned last = 0;
    for (unsigned s = 0; s < STATES; s++) {
      float best = -1e30f;
      for (unsigned p = 0; p < STATES; p++) {
        float value = now[p] + vertex->a.data[p * STATES + s];
        if (value > best) {
          best = value;
          last = p;
        }
      }
      next[s] = best - 1.0f;
    }
    sum += last;
    float *other = now;
    now = next;
    next = other;
  }
  vertex->b.data[0] = sum;
  return true;
}
