/* Lists of copies: made once, run often. */
#include "copies.h"

#include <populus/arena.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void copy_list_add(copy_list *list, copy_run run)
{
  pop_push(list->runs, list->num_runs, list->runs_capacity, run);
}

/* Chunks are some microseconds of work, and have whole runs. */
enum { CHUNK_COST = 32768, COPY_COST = 32 };

static uint64_t cost_of(const copy_run *run)
{
  return (uint64_t)run->count * ((uint64_t)run->bytes + COPY_COST);
}

static bool continues(const copy_run *run, const uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  if (run->bytes != bytes || cost_of(run) >= CHUNK_COST) return false;
  ptrdiff_t to_step = to - run->to, from_step = from - run->from;
  return run->count == 1 ||
         (to_step == run->count * run->to_step && from_step == run->count * run->from_step);
}

void copy_list_join(copy_list *list, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  copy_run *last = list->num_runs ? &list->runs[list->num_runs - 1] : NULL;
  if (last && last->count == 1 && last->to + last->bytes == to &&
      last->from + last->bytes == from && last->bytes <= UINT32_MAX - bytes) {
    last->bytes += bytes;
  } else if (last && continues(last, to, from, bytes)) {
    if (last->count == 1) {
      last->to_step = to - last->to;
      last->from_step = from - last->from;
    }
    last->count++;
  } else {
    copy_list_add(list, (copy_run){.to = to, .from = from, .bytes = bytes, .count = 1});
  }
}

void copy_list_finish(copy_list *list, const uint32_t *owners)
{
  uint64_t cost = CHUNK_COST;
  list->bytes = 0;
  for (size_t i = 0; i < list->num_runs; i++) {
    bool follows = owners && i && owners[i] == owners[i - 1];
    if (cost >= CHUNK_COST && !follows) {
      pop_push(list->chunks, list->num_chunks, list->chunks_capacity, i);
      cost = 0;
    }
    list->bytes += (uint64_t)list->runs[i].count * list->runs[i].bytes;
    cost += cost_of(&list->runs[i]);
  }
  size_t num_chunks = list->num_chunks;
  pop_push(list->chunks, list->num_chunks, list->chunks_capacity, list->num_runs);
  list->num_chunks = num_chunks;
}

void copy_list_free(copy_list *list)
{
  free(list->runs);
  free(list->chunks);
  *list = (copy_list){0};
}

/* How a list of copies is prefetched. The copies go from anywhere to anywhere, so the host's own
 * prefetching does not help at the start of a block. It finds the rest of a block in time if that
 * is in some cache, but not if it is in memory. Copies that are too large for the caches are stored
 * past them (non-temporal stores). Then the destination need not be read before it is overwritten,
 * and does not evict the sources of the next copies.
 *
 * Measured with tests/bench/supersteps.c, blocks of 1 KiB, as parts of memcpy's bandwidth: 1.5 MB
 * 0.23 -> 0.40 if only the starts are prefetched; 12 MB 0.46 -> 0.43 then, and 0.43 -> 0.60 past
 * the caches. That pays from 8 MB on, even if all of it is read next. */
typedef struct copy_method {
  size_t ahead;   /* prefetches this many runs ahead */
  uint32_t bytes; /* of the first block of each */
  bool past_caches;
} copy_method;

enum { LINE = 64, CACHED_BYTES = 4 << 20, STREAMED_BYTES = 8 << 20 };
static const copy_method in_caches = {8, LINE, false}, in_memory = {2, 1024, false},
                         past_caches = {2, 1024, true};

static const copy_method *choose_method(const copy_list *list)
{
  if (list->bytes <= CACHED_BYTES) return &in_caches;
  return list->bytes <= STREAMED_BYTES ? &in_memory : &past_caches;
}

static void prefetch(const copy_run *run, const copy_method *how)
{
  uint32_t bytes = run->bytes < how->bytes ? run->bytes : how->bytes;
  if (how->past_caches) {
    const uint8_t *line = run->from - (uintptr_t)run->from % LINE;
    for (; line < run->from + bytes; line += LINE) __builtin_prefetch(line, 0);
    return;
  }
  for (uint32_t at = 0; at < bytes; at += LINE) {
    __builtin_prefetch(run->from + at, 0);
    __builtin_prefetch(run->to + at, 1);
  }
}

#ifdef __SSE2__
static void stream_word(uint8_t *to, const uint8_t *from)
{
  int word;
  memcpy(&word, from, sizeof word);
  _mm_stream_si32((int *)(void *)to, word);
}

/* Stores words up to the first aligned vector and behind the last line, vectors in between. Two
 * consecutive blocks that share a line are combined in the host's write buffers. Small blocks would
 * consist of nothing but such parts. */
static void copy_past_caches(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  enum { WORD = 4, VECTOR = sizeof(__m128i), SMALL = 256 };
  const uint8_t *end = from + bytes;
  if (bytes < SMALL || ((uintptr_t)to | bytes) % WORD) {
    memcpy(to, from, bytes);
    return;
  }
  for (; from < end && (uintptr_t)to % VECTOR; from += WORD, to += WORD) stream_word(to, from);
  for (; end - from >= LINE; from += LINE, to += LINE) {
    const __m128i *in = (const void *)from;
    __m128i *out = (void *)to;
    __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  for (; from < end; from += WORD, to += WORD) stream_word(to, from);
}

/* Non-temporal stores are not ordered with others. To be called before anything tells other threads
 * of them. */
static void finish_past_caches(void)
{
  _mm_sfence();
}
#else
static void copy_past_caches(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  memcpy(to, from, bytes);
}

static void finish_past_caches(void) {}
#endif

static void copy_blocks(const copy_run *run, const copy_method *how)
{
  uint8_t *to = run->to;
  const uint8_t *from = run->from;
  if (run->bytes == 4) {
    for (uint32_t i = 0; i < run->count; i++, to += run->to_step, from += run->from_step)
      memcpy(to, from, 4);
  } else if (how->past_caches) {
    for (uint32_t i = 0; i < run->count; i++, to += run->to_step, from += run->from_step)
      copy_past_caches(to, from, run->bytes);
  } else {
    for (uint32_t i = 0; i < run->count; i++, to += run->to_step, from += run->from_step)
      memcpy(to, from, run->bytes);
  }
}

static void copy_chunk(const copy_list *list, size_t number)
{
  const copy_method *how = choose_method(list);
  for (size_t i = list->chunks[number]; i < list->chunks[number + 1]; i++) {
    if (i + how->ahead < list->num_runs) prefetch(&list->runs[i + how->ahead], how);
    copy_blocks(&list->runs[i], how);
  }
  if (how->past_caches) finish_past_caches();
}

static uint64_t run_chunk(void *context, uint32_t number)
{
  enum { INSTRUCTIONS = 10000 }; /* that take about as long */
  copy_chunk(context, number);
  return INSTRUCTIONS;
}

void copy_list_run(copy_list *list, thread_pool *pool)
{
  if (pool)
    thread_pool_run(pool, &(thread_pool_work){.run = run_chunk,
                                              .context = list,
                                              .num_items = (uint32_t)list->num_chunks,
                                              .take = 1});
  else
    for (size_t i = 0; i < list->num_chunks; i++) copy_chunk(list, i);
}
