/* Merge sort, for codelets that runtime/models/ generates: by one worker, or by all workers of a
 * tile.
 *
 * hlo_sort_… sort places, that is, indices of elements. The elements do not move. hlo_cut and
 * hlo_share also serve callers that merge the elements themselves.
 *
 * The caller gives the order. If it lets equal elements stay, the sort is stable. The order may be
 * inconsistent (comparisons with NaNs contradict each other). Each function still ends, stays
 * within its elements, and takes each of them once. */
#ifndef POPULUS_HLO_SORT_H
#define POPULUS_HLO_SORT_H

#include <populus/hlo_values.h>
#include <populus/workers.h>

/* May element i, which is before element j, stay there? */
typedef bool (*hlo_sort_order)(const void *elements, unsigned i, unsigned j);

/* ---- one worker ---- */

/* Merges two sorted sequences of places, [left, middle) and [right, end) of `from`, into `to`. */
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

/* Sorts the n places first, first + 1, … Both `from` and `to` have room for n places. The result is
 * one of them. */
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

/* Two sorted sequences, [i, end_i) and then [j, end_j), which are merged from element `to` on. */
typedef struct hlo_pair {
  unsigned i, end_i, j, end_j, to;
} hlo_pair;

/* Narrows the pair to what becomes the first `at` elements of the merged sequence, or to the rest.
 * Element i of the first sequence is one of these if it may stay before the element that would
 * otherwise be the last of them: a binary search finds the cut. If `places` is given, the sequences
 * are those of places. */
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

/* Rounds down to a multiple of 4 elements. So each worker's part begins at a word, also if an
 * element is a byte: no two workers may write to the same word. */
HLO unsigned hlo_whole_words(unsigned n)
{
  return n & ~3u;
}

/* A worker's part of the merge. The sequence of six workers is cut in half. That of three is cut at
 * a third, and the rest of it in half. Workers that share a sequence compute the same cut of it. */
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

/* A supervisor has its workers sort n elements. Each worker sorts a run (hlo_sort_run). Then all
 * workers merge pairs of runs (hlo_sort_merge) until one run is left, in `from`. Both `from` and
 * `to` have room for n places. */
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

/* After all workers have merged: the result is in `from`, and its runs are twice as long. */
HLO void hlo_sort_next(hlo_sorting *s)
{
  unsigned *const merged = s->to;
  s->to = s->from;
  s->from = merged;
  s->run *= 2;
}

#endif
