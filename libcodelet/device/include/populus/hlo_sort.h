/* Sorting by merging, for codelets that runtime/models/ generates: by one worker, or by all of a tile.
 *
 * Who calls says what the order is. It may be any answers at all (comparisons of NaNs contradict each other): each function
 * ends, stays within its elements, and takes each of them once. */
#ifndef POPULUS_HLO_SORT_H
#define POPULUS_HLO_SORT_H

#include <populus/hlo_values.h>
#include <populus/workers.h>

/* May element i, which is in front of element j, stay there? */
typedef bool (*hlo_sort_order)(const void *elements, unsigned i, unsigned j);

/* ---- one worker ---- */

/* Two sorted sequences of places, [left, middle) and [right, end) of `from`, become one in `to`. */
HLO void hlo_merge(hlo_sort_order order, const void *elements, const unsigned *from, unsigned left,
                   unsigned middle, unsigned right, unsigned end, unsigned *to)
{
  while (left < middle && right < end) {
    const unsigned a = from[left], b = from[right];
    const bool stays = order(elements, a, b);
    *to++ = stays ? a : b;
    left += stays;
    right += !stays;
  }
  while (left < middle) *to++ = from[left++];
  while (right < end) *to++ = from[right++];
}

/* Places first, first + 1, … become sorted ones; they are in the result, which is `from` or `to`. */
HLO unsigned *hlo_sort_places(hlo_sort_order order, const void *elements, unsigned first,
                              unsigned n, unsigned *from, unsigned *to)
{
  for (unsigned i = 0; i < n; ++i) from[i] = first + i;
  for (unsigned run = 1; run < n; run *= 2) {
    for (unsigned i = 0; i < n; i += 2 * run) {
      const unsigned middle = n - i < run ? n : i + run, end = n - middle < run ? n : middle + run;
      hlo_merge(order, elements, from, i, middle, middle, end, to + i);
    }
    unsigned *const merged = to;
    to = from;
    from = merged;
  }
  return from;
}

/* ---- all workers ---- */

/* Of two sorted sequences, [i, end_i) in front and [j, end_j), which become one from element `to` on. */
typedef struct hlo_pair {
  unsigned i, end_i, j, end_j, to;
} hlo_pair;

/* What becomes the first `at` elements, or the rest. Of the sequence in front, element i is one of the first if it may stay
 * in front of the one that would be the last of them in its stead: so it is found by halves. With `places`, these are what
 * is in order. */
HLO void hlo_cut(hlo_sort_order order, const void *elements, const unsigned *places, hlo_pair *p,
                 unsigned at, bool rest)
{
  const unsigned num_i = p->end_i - p->i, num_j = p->end_j - p->j;
  unsigned low = at > num_j ? at - num_j : 0, high = at < num_i ? at : num_i;
  while (low < high) {
    const unsigned middle = (low + high) / 2, i = p->i + middle, j = p->j + at - 1 - middle;
    if (order(elements, places ? places[i] : i, places ? places[j] : j))
      low = middle + 1;
    else
      high = middle;
  }
  if (rest) {
    p->i += low;
    p->j += at - low;
    p->to += at;
  } else {
    p->end_i = p->i + low;
    p->end_j = p->j + at - low;
  }
}

/* Parts of workers begin with a word of memory each, since no two may write to the same. */
HLO unsigned hlo_whole_words(unsigned n)
{
  return n & ~3u;
}

/* A worker's part. Six workers cut by half, three at a third, and two by half, so that all make the same cuts. */
HLO void hlo_share(hlo_sort_order order, const void *elements, const unsigned *places, hlo_pair *p,
                   unsigned worker)
{
  for (unsigned count = POPULUS_NUM_WORKERS; count > 1;) {
    const unsigned half = count / 2, n = p->end_i - p->i + (p->end_j - p->j);
    const bool rest = worker >= half;
    hlo_cut(order, elements, places, p, hlo_whole_words(count == 3 ? n / 3 : n / 2), rest);
    worker -= rest ? half : 0;
    count = rest ? count - half : half;
  }
}

/* A supervisor has workers sort n elements: each a run, then all of them pairs of runs, till there is one run, in `from`. */
typedef struct hlo_sorting {
  void *elements;
  unsigned *from, *to, n, run;
} hlo_sorting;

HLO hlo_sorting hlo_sort_begin(void *elements, unsigned n, unsigned *from, unsigned *to)
{
  const unsigned run = (n + POPULUS_NUM_WORKERS - 1) / POPULUS_NUM_WORKERS;
  return (hlo_sorting){elements, from, to, n, run};
}

HLO void hlo_sort_run(hlo_sort_order order, const hlo_sorting *s, unsigned worker)
{
  const unsigned begin = worker * s->run, rest = begin < s->n ? s->n - begin : 0;
  const unsigned n = rest < s->run ? rest : s->run;
  if (!n) return;
  unsigned *const sorted =
      hlo_sort_places(order, s->elements, begin, n, s->from + begin, s->to + begin);
  if (sorted != s->from + begin)
    for (unsigned i = 0; i < n; ++i) s->from[begin + i] = sorted[i];
}

HLO void hlo_sort_merge(hlo_sort_order order, const hlo_sorting *s, unsigned worker)
{
  const unsigned n = s->n, run = s->run;
  for (unsigned i = 0; i < n; i += 2 * run) {
    const unsigned middle = n - i < run ? n : i + run, end = n - middle < run ? n : middle + run;
    hlo_pair p = {i, middle, middle, end, i};
    hlo_share(order, s->elements, s->from, &p, worker);
    hlo_merge(order, s->elements, s->from, p.i, p.end_i, p.j, p.end_j, s->to + p.to);
  }
}

/* When all have merged. */
HLO void hlo_sort_next(hlo_sorting *s)
{
  unsigned *const merged = s->to;
  s->to = s->from;
  s->from = merged;
  s->run *= 2;
}

#endif
