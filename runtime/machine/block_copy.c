/* Block copies within a tile.
 *
 * All that is copied mostly lies in one window of the context, which is then one comparison for all runs; else each run
 * is looked at by the rules of memory_access. */
#include "block_copy.h"

#include <stdio.h>
#include <string.h>

static bool read_words(machine *m, const tile *t, context *c, uint32_t address, uint32_t *words,
                       uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *at = memory_access(m, t, c, address + 4 * i, 4, false, false);
    if (!at) return false;
    memcpy(&words[i], at, 4);
  }
  return true;
}

static bool refuse_size(context *c, const block_copy *copy, uint32_t memory_bytes)
{
  snprintf(c->fault.detail, sizeof c->fault.detail,
           "a copy of %u rows of %u bytes: the tile's memory has %u bytes", copy->count,
           copy->bytes, memory_bytes);
  c->fault.kind = MACHINE_FAULT_INVALID_OPERAND;
  return false;
}

/* Does the window hold all runs from `start` on? */
static bool holds_all(const window *w, const block_copy *copy, uint32_t start, uint32_t step)
{
  int64_t way = (int64_t)(int32_t)step * (copy->count - 1), first = start, low = first,
          high = first;
  if (way < 0)
    low += way;
  else
    high += way;
  return low >= w->start && high + copy->bytes <= (int64_t)w->start + w->size;
}

static bool may_load(machine *m, const tile *t, context *c, uint32_t start, uint32_t bytes)
{
  if (start + bytes > start && memory_may_load(m, t, start, bytes)) return true;
  for (uint32_t i = 0; i < bytes; i++)
    if (!memory_access(m, t, c, start + i, 1, false, false)) return false;
  return true;
}

static bool may_store(machine *m, const tile *t, context *c, uint32_t start, uint32_t bytes)
{
  if (memory_is_plain(t, start, bytes)) return true;
  for (uint32_t done = 0, step; done < bytes; done += step) {
    uint32_t at = start + done;
    step = at % 4 == 0 && bytes - done >= 4 ? 4 : 1;
    if (!memory_access(m, t, c, at, step, true, false)) return false;
  }
  return true;
}

static bool is_legal(machine *m, const tile *t, context *c, const block_copy *copy)
{
  if (!holds_all(&c->readable, copy, copy->source, copy->source_step))
    for (uint32_t i = 0; i < copy->count; i++)
      if (!may_load(m, t, c, copy->source + i * copy->source_step, copy->bytes)) return false;
  if (holds_all(&c->writable, copy, copy->destination, copy->destination_step)) return true;
  for (uint32_t i = 0; i < copy->count; i++)
    if (!may_store(m, t, c, copy->destination + i * copy->destination_step, copy->bytes))
      return false;
  return true;
}

/* Aligned units that a run of `bytes` from `start` on touches. */
static uint32_t units_of(uint32_t start, uint32_t bytes)
{
  return (start % ISA_COPY_UNIT_BYTES + bytes + ISA_COPY_UNIT_BYTES - 1) / ISA_COPY_UNIT_BYTES;
}

static uint64_t units_of_rows(const block_copy *copy, uint32_t start, uint32_t step)
{
  if (step % ISA_COPY_UNIT_BYTES == 0) return (uint64_t)copy->count * units_of(start, copy->bytes);
  uint64_t units = 0;
  for (uint32_t i = 0; i < copy->count; i++) units += units_of(start + i * step, copy->bytes);
  return units;
}

bool block_copy_read(machine *m, const tile *t, context *c, uint32_t address, bool rows,
                     block_copy *copy)
{
  uint32_t words[ISA_COPY_ROWS_WORDS] = {[3] = 1};
  uint32_t num_words = rows ? ISA_COPY_ROWS_WORDS : ISA_COPY_WORDS;
  if (!read_words(m, t, c, address, words, num_words)) return false;
  *copy = (block_copy){.source = words[0],
                       .destination = words[1],
                       .bytes = words[2],
                       .count = words[3],
                       .source_step = words[4],
                       .destination_step = words[5],
                       .behind = address + 4 * num_words};
  if (!copy->bytes || !copy->count) {
    copy->count = 0;
    return true;
  }
  if ((uint64_t)copy->bytes * copy->count > m->target.memory_bytes)
    return refuse_size(c, copy, m->target.memory_bytes);
  if (!is_legal(m, t, c, copy)) return false;
  copy->slots = units_of_rows(copy, copy->source, copy->source_step) +
                units_of_rows(copy, copy->destination, copy->destination_step);
  return true;
}

/* A constant size is what makes the host's compiler move registers. */
#define COPY_RUNS(size)                                                                            \
  for (uint32_t i = 0; i < copy->count; i++)                                                       \
  memmove(memory + (copy->destination + i * copy->destination_step),                               \
          memory + (copy->source + i * copy->source_step), size)

void block_copy_run(const machine *m, const tile *t, const block_copy *copy)
{
  uint8_t *memory = t->memory - m->target.memory_base;
  switch (copy->bytes) {
  case 2:
    COPY_RUNS(2);
    return;
  case 4:
    COPY_RUNS(4);
    return;
  case 8:
    COPY_RUNS(8);
    return;
  case 16:
    COPY_RUNS(16);
    return;
  default:
    COPY_RUNS(copy->bytes);
    return;
  }
}
