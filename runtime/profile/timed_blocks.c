#include "profile/timed_blocks.h"

#include <stdlib.h>
#include <string.h>

const char *timed_block_kind_name(timed_block_kind kind)
{
#define TIMED_BLOCK_NAME(id, name) [id] = (name),
  static const char *const names[] = {TIMED_BLOCK_KINDS(TIMED_BLOCK_NAME)};
#undef TIMED_BLOCK_NAME
  return names[kind];
}

const char *timed_block_name(const pop_executable *e, const timed_block *b)
{
  if (b->kind == TIMED_COMMON) return e->blocks[b->index];
  bool streams = b->kind >= TIMED_STREAM_BEGIN && b->kind <= TIMED_STREAM_END;
  return streams ? e->events[b->index].name : "";
}

/* ---- from marks to blocks ---- */

static void keep(timed_blocks *t, timed_block b)
{
  if (t->num_blocks == TIMED_BLOCKS_MAX)
    t->num_dropped++;
  else
    pop_push(t->blocks, t->num_blocks, t->blocks_capacity, b);
}

/* What a mark's number is about. TIMED_UNKNOWN if the number is invalid, in a damaged image. */
static timed_block block_of(const timed_blocks *t, uint32_t tile, uint32_t number)
{
  const pop_executable *e = t->executable;
  timed_block b = {.tile = tile, .kind = TIMED_UNKNOWN};
  if (number == MARK_OF_FLUSH) {
    b.kind = TIMED_FLUSH;
  } else if (number < MARK_OF_STREAM(e->num_blocks, 0)) {
    b.kind = TIMED_COMMON;
    b.index = number - MARK_OF_BLOCK(0);
  } else if (number < MARK_OF_STREAM(e->num_blocks, e->num_events)) {
    uint32_t of = number - MARK_OF_STREAM(e->num_blocks, 0);
    b.kind = TIMED_STREAM_BEGIN + of % STREAM_MARKS;
    b.index = of / STREAM_MARKS;
  }
  return b;
}

static void end_open(timed_blocks *t, size_t at, uint64_t cycle, bool has_end)
{
  const open_mark *m = &t->open[at];
  timed_block b = block_of(t, m->tile, m->number);
  b.from = m->cycle;
  b.to = cycle;
  b.has_end = has_end;
  keep(t, b);
  memmove(t->open + at, t->open + at + 1, (--t->num_open - at) * sizeof *t->open);
}

/* The tile's innermost open beginning with this number; num_open if there is none. */
static size_t find_open(const timed_blocks *t, uint32_t tile, uint32_t number)
{
  for (size_t i = t->num_open; i-- > 0;)
    if (t->open[i].tile == tile && t->open[i].number == number) return i;
  return t->num_open;
}

static void take_begin(timed_blocks *t, uint32_t tile, uint32_t number, uint64_t cycle)
{
  timed_block b = block_of(t, tile, number);
  if (b.kind == TIMED_STREAM_MID) {
    size_t waiting = find_open(t, tile, number - 1);
    if (waiting < t->num_open) end_open(t, waiting, cycle, true);
  }
  pop_push(t->open, t->num_open, t->open_capacity, (open_mark){tile, number, cycle});
}

/* When the tile's last overflow began; 0 if it had none. */
static uint64_t last_overflow(const timed_blocks *t, uint32_t tile)
{
  for (size_t i = t->num_blocks; i-- > 0;)
    if (t->blocks[i].tile == tile && t->blocks[i].kind == TIMED_OVERFLOW) return t->blocks[i].from;
  return 0;
}

/* Blocks that began inside this one and are still open ended in an overflow. */
static void take_end(timed_blocks *t, uint32_t tile, uint32_t number, uint64_t cycle)
{
  size_t at = find_open(t, tile, number);
  if (at == t->num_open) {
    keep(t, (timed_block){.kind = TIMED_UNKNOWN,
                          .tile = tile,
                          .from = last_overflow(t, tile),
                          .to = cycle,
                          .has_end = true});
    return;
  }
  for (size_t i = t->num_open; i-- > at + 1;)
    if (t->open[i].tile == tile) end_open(t, i, cycle, false);
  end_open(t, at, cycle, true);
  if (block_of(t, tile, number).kind == TIMED_STREAM_MID) take_begin(t, tile, number + 1, cycle);
}

void timed_blocks_take(timed_blocks *t, const executable_measure *buffer, const uint32_t *words,
                       uint64_t now)
{
  uint32_t capacity = buffer->words / 2 - 1;
  uint32_t count = words[0] < capacity ? words[0] : capacity;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t *mark = words + 2 + 2 * (size_t)i;
    uint64_t cycle = now - (uint32_t)((uint32_t)now - mark[1]);
    if (mark[0] & 1)
      take_end(t, buffer->tile, mark[0] >> 1, cycle);
    else
      take_begin(t, buffer->tile, mark[0] >> 1, cycle);
  }
  if (words[1])
    keep(t, (timed_block){.kind = TIMED_OVERFLOW,
                          .tile = buffer->tile,
                          .from = now - (uint32_t)((uint32_t)now - words[1]),
                          .to = now,
                          .has_end = true});
}

void timed_blocks_end_run(timed_blocks *t, uint64_t now)
{
  while (t->num_open) end_open(t, t->num_open - 1, now, false);
}

void timed_blocks_reset(timed_blocks *t)
{
  t->num_blocks = t->num_open = 0;
  t->num_dropped = 0;
}

void timed_blocks_free(timed_blocks *t)
{
  free(t->blocks);
  free(t->open);
  *t = (timed_blocks){0};
}

/* ---- as the guide has them ---- */

/* By tile, then beginning; outer blocks before inner ones. */
static int compare_blocks(const void *a, const void *b)
{
  const timed_block *x = a, *y = b;
  if (x->tile != y->tile) return x->tile < y->tile ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to < y->to) - (x->to > y->to);
}

static void emit_block(const emitter *to, const pop_executable *e, const timed_block *b)
{
  const char *name = timed_block_name(e, b);
  emit_begin_map(to, NULL);
  emit_string(to, "type", timed_block_kind_name(b->kind));
  if (*name) emit_string(to, "name", name);
  emit_int(to, "cyclesFrom", (int64_t)b->from);
  emit_int(to, "cyclesTo", (int64_t)b->to);
  if (!b->has_end) emit_bool(to, "endUnknown", true);
  if (b->kind == TIMED_STREAM_MID) {
    const executable_event *event = &e->events[b->index];
    emit_string(to, "category", executable_event_category(e, b->index));
    emit_begin_vector(to, "tiles"); /* all tiles that take part, in parallel */
    for (size_t i = 0; i < event->num_parts; i++)
      emit_int(to, NULL, e->exchange_parts[event->first_part + i].tile);
    emit_end_vector(to);
  }
  emit_end_map(to);
}

timed_block *timed_blocks_sorted(const timed_blocks *t)
{
  timed_block *sorted = pop_xcalloc(t->num_blocks + 1, sizeof *sorted);
  if (t->num_blocks) memcpy(sorted, t->blocks, t->num_blocks * sizeof *sorted);
  qsort(sorted, t->num_blocks, sizeof *sorted, compare_blocks);
  return sorted;
}

void emit_timed_blocks(const emitter *to, const timed_blocks *t)
{
  timed_block *sorted = timed_blocks_sorted(t);
  emit_begin_map(to, "lightweightProfile");
  emit_int(to, "droppedBlocks", (int64_t)t->num_dropped);
  emit_begin_vector(to, "tiles");
  for (size_t i = 0; i < t->num_blocks;) {
    uint32_t tile = sorted[i].tile;
    emit_begin_map(to, NULL);
    emit_int(to, "tile", tile);
    emit_begin_vector(to, "blocks");
    for (; i < t->num_blocks && sorted[i].tile == tile; i++)
      emit_block(to, t->executable, &sorted[i]);
    emit_end_vector(to);
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_end_map(to);
  free(sorted);
}
