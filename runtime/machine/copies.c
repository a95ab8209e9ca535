/* Lists of copies: made once, run often. */
#include "copies.h"

#include <populus/arena.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void copy_list_add(copy_list *list, copy_run run)
{
  pop_push(list->runs, list->num_runs, list->runs_capacity, run);
}

static bool continues(const copy_run *run, const uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  if (run->bytes != bytes) return false;
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

/* Chunks are some microseconds of work. */
void copy_list_finish(copy_list *list, const uint32_t *owners)
{
  enum { CHUNK_COST = 32768, COPY_COST = 32 };
  uint64_t cost = CHUNK_COST;
  list->bytes = 0;
  for (size_t i = 0; i < list->num_runs; i++) {
    bool follows = owners && i && owners[i] == owners[i - 1];
    if (cost >= CHUNK_COST && !follows) {
      pop_push(list->chunks, list->num_chunks, list->chunks_capacity, i);
      cost = 0;
    }
    list->bytes += (uint64_t)list->runs[i].count * list->runs[i].bytes;
    cost += (uint64_t)list->runs[i].count * ((uint64_t)list->runs[i].bytes + COPY_COST);
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

/* The copies go from anywhere to anywhere: where they begin, the host's own prefetching does not help. It
 * finds the rest of a block soon enough if that is in some cache; what is in memory it does not. Measured
 * with tests/bench/supersteps.c: 0.23 -> 0.40 of memcpy's bandwidth for 1.5 MB when only beginnings are
 * prefetched, 0.46 -> 0.43 for 12 MB. */
typedef struct prefetching {
  size_t ahead;   /* runs */
  uint32_t bytes; /* of each */
} prefetching;

enum { LINE = 64, CACHED_BYTES = 4 << 20 };
static const prefetching of_beginnings = {8, LINE}, of_blocks = {2, 1024};

static void prefetch(const copy_run *run, uint32_t most)
{
  uint32_t bytes = run->bytes < most ? run->bytes : most;
  for (uint32_t at = 0; at < bytes; at += LINE) {
    __builtin_prefetch(run->from + at, 0);
    __builtin_prefetch(run->to + at, 1);
  }
}

static void copy_blocks(const copy_run *run)
{
  uint8_t *to = run->to;
  const uint8_t *from = run->from;
  if (run->bytes == 4) {
    for (uint32_t i = 0; i < run->count; i++, to += run->to_step, from += run->from_step)
      memcpy(to, from, 4);
  } else {
    for (uint32_t i = 0; i < run->count; i++, to += run->to_step, from += run->from_step)
      memcpy(to, from, run->bytes);
  }
}

static void copy_chunk(const copy_list *list, size_t number)
{
  prefetching how = list->bytes <= CACHED_BYTES ? of_beginnings : of_blocks;
  for (size_t i = list->chunks[number]; i < list->chunks[number + 1]; i++) {
    if (i + how.ahead < list->num_runs) prefetch(&list->runs[i + how.ahead], how.bytes);
    copy_blocks(&list->runs[i]);
  }
}

static uint64_t run_chunk(void *context, uint32_t number)
{
  enum { INSTRUCTIONS = 10000 }; /* that take as long */
  copy_chunk(context, number);
  return INSTRUCTIONS;
}

void copy_list_run(copy_list *list, crew *crew)
{
  if (crew)
    crew_run(crew, &(crew_work){.run = run_chunk,
                                .context = list,
                                .num_items = (uint32_t)list->num_chunks,
                                .take = 1});
  else
    for (size_t i = 0; i < list->num_chunks; i++) copy_chunk(list, i);
}
