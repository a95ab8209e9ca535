/* Sorting and searching. */
#include "kernel.h"

static void copy_words(unsigned *to, const unsigned *from, unsigned n)
{
  for (unsigned i = 0; i < n; i++) to[i] = from[i];
}

STACK(1024, quick)
__attribute__((noinline)) static void quick(unsigned *x, int low, int high)
{
  while (low < high) {
    unsigned pivot = x[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (x[j] > pivot) j--;
      if (i > j) break;
      unsigned t = x[i];
      x[i++] = x[j];
      x[j--] = t;
    }
    if (j - low < high - i) {
      quick(x, low, j);
      low = i;
    } else {
      quick(x, i, high);
      high = j;
    }
  }
}

KERNEL(quick_sort, unsigned, unsigned, unsigned)
{
  copy_words(vertex->b.data, vertex->a.data, vertex->n);
  quick(vertex->b.data, 0, (int)vertex->n - 1);
  return true;
}

KERNEL(heap_sort, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n, *x = vertex->b.data;
  copy_words(x, vertex->a.data, n);
  for (unsigned start = n / 2, end = n; end > 1;) {
    unsigned value;
    if (start > 0) {
      value = x[--start];
    } else {
      value = x[--end];
      x[end] = x[0];
    }
    unsigned at = start, child = 2 * at + 1;
    for (; child < end; at = child, child = 2 * at + 1) {
      if (child + 1 < end && x[child + 1] > x[child]) child++;
      if (x[child] <= value) break;
      x[at] = x[child];
    }
    x[at] = value;
  }
  return true;
}

typedef bool (*before)(unsigned x, unsigned y);

static bool is_less(unsigned x, unsigned y)
{
  return x < y;
}

static bool has_less_low_bits(unsigned x, unsigned y)
{
  return (x & 0xffff) < (y & 0xffff);
}

/* Bottom up, by a function that the caller chooses. */
STACK(256, merge_passes)
__attribute__((noinline)) static void merge_passes(unsigned *x, unsigned *room, unsigned n,
                                                   before is_before)
{
  for (unsigned width = 1; width < n; width *= 2) {
    for (unsigned start = 0; start < n; start += 2 * width) {
      unsigned middle = start + width < n ? start + width : n;
      unsigned end = start + 2 * width < n ? start + 2 * width : n;
      for (unsigned i = start, j = middle, to = start; to < end; to++)
        room[to] = i < middle && (j >= end || !is_before(x[j], x[i])) ? x[i++] : x[j++];
    }
    copy_words(x, room, n);
  }
}

KERNEL(merge_sort_by, unsigned, unsigned, unsigned)
{
  before order = vertex->a.data[0] == 0 ? is_less : has_less_low_bits;
  copy_words(vertex->b.data, vertex->a.data, vertex->n);
  merge_passes(vertex->b.data, vertex->c.data, vertex->n, order);
  return true;
}

KERNEL(insertion_sort, unsigned, unsigned, unsigned)
{
  for (unsigned i = 0; i < vertex->n; i++) {
    unsigned key = vertex->a.data[i], j = i;
    for (; j > 0 && vertex->b.data[j - 1] > key; j--) vertex->b.data[j] = vertex->b.data[j - 1];
    vertex->b.data[j] = key;
  }
  return true;
}

/* In a table of multiples of 16 of n/2 words in c, each word of a. */
KERNEL(binary_search, unsigned, unsigned, unsigned)
{
  unsigned size = vertex->n / 2;
  for (unsigned i = 0; i < size; i++) vertex->c.data[i] = i * 16;
  for (unsigned i = 0; i < vertex->n; i++) {
    unsigned key = vertex->a.data[i] % (size * 16), low = 0, high = size;
    while (low < high) {
      unsigned middle = (low + high) / 2;
      if (vertex->c.data[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    vertex->b.data[i] = low;
  }
  return true;
}

/* Least significant digit first, four passes of bytes. */
KERNEL(radix_sort, unsigned, unsigned, unsigned)
{
  unsigned n = vertex->n, *from = vertex->b.data, *to = vertex->c.data;
  copy_words(from, vertex->a.data, n);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    unsigned start[256] = {0}, sum = 0;
    for (unsigned i = 0; i < n; i++) start[from[i] >> shift & 255]++;
    for (unsigned i = 0; i < 256; i++) {
      unsigned count = start[i];
      start[i] = sum;
      sum += count;
    }
    for (unsigned i = 0; i < n; i++) to[start[from[i] >> shift & 255]++] = from[i];
    unsigned *other = from;
    from = to;
    to = other;
  }
  return true;
}
