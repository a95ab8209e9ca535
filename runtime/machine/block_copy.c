/* Block copies within a tile.
 *
 * Mostly all runs lie in one window of the context, which is one comparison. Otherwise each run is
 * checked by the rules of memory_access. */
#include "block_copy.h"

#include <stdio.h>
#include <string.h>

static bool holds(const window *w, uint32_t start, uint32_t bytes)
{
  uint32_t offset = start - w->start;
  return offset < w->size && w->size - offset >= bytes;
}

/* Reads the descriptor's three or six words. Most descriptors lie in the context's readable window.
 * memcpy has constant sizes there; otherwise the host would wait for its own stores. */
static bool read_words(machine *m, const tile *t, context *c, uint32_t address, bool rows,
                       uint32_t words[ISA_COPY_ROWS_WORDS])
{
  uint32_t count = rows ? ISA_COPY_ROWS_WORDS : ISA_COPY_WORDS;
  if (address % 4 == 0 && holds(&c->readable, address, 4 * count)) {
    const uint8_t *at = c->readable.host + (address - c->readable.start);
    memcpy(words, at, 4 * ISA_COPY_WORDS);
    if (rows) memcpy(words, at, 4 * ISA_COPY_ROWS_WORDS);
    return true;
  }
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
  if (copy->count == 1 && holds(&c->readable, copy->source, copy->bytes) &&
      holds(&c->writable, copy->destination, copy->bytes))
    return true;
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
  if (!read_words(m, t, c, address, rows, words)) return false;
  *copy = (block_copy){.source = words[0],
                       .destination = words[1],
                       .bytes = words[2],
                       .count = words[3],
                       .source_step = words[4],
                       .destination_step = words[5],
                       .behind = address + 4 * (rows ? ISA_COPY_ROWS_WORDS : ISA_COPY_WORDS)};
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

/* With a constant size the host's compiler makes moves of registers. */
#define COPY_RUNS(size)                                                                            \
  for (uint32_t i = 0; i < copy->count; i++)                                                       \
  memmove(memory + (copy->destination + i * copy->destination_step),                               \
          memory + (copy->source + i * copy->source_step), size)
#define COPY_SIZE(size)                                                                            \
  case size:                                                                                       \
    COPY_RUNS(size);                                                                               \
    return;

void block_copy_run(const machine *m, const tile *t, const block_copy *copy)
{
  uint8_t *memory = t->memory - m->target.memory_base;
  switch (copy->bytes) {
    COPY_SIZE(2)
    COPY_SIZE(4)
    COPY_SIZE(8)
    COPY_SIZE(16)
  default:
    COPY_RUNS(copy->bytes);
    return;
  }
}

uint64_t block_copy_plain(const context *c, uint32_t address, int64_t left)
{
  uint32_t words[ISA_COPY_WORDS];
  if (address % 4 || !holds(&c->readable, address, sizeof words)) return 0;
  memcpy(words, c->readable.host + (address - c->readable.start), sizeof words);
  const uint32_t source = words[0], destination = words[1], bytes = words[2];
  if (!bytes || !holds(&c->readable, source, bytes) || !holds(&c->writable, destination, bytes))
    return 0;
  uint32_t slots = units_of(source, bytes) + units_of(destination, bytes);
  if (left < (int64_t)slots) return 0;
  uint8_t *to = c->writable.host + (destination - c->writable.start);
  const uint8_t *from = c->readable.host + (source - c->readable.start);
  if (bytes == 4)
    memmove(to, from, 4);
  else if (bytes == 8)
    memmove(to, from, 8);
  else
    memmove(to, from, bytes);
  return slots;
}
