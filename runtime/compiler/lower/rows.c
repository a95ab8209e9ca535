/* A transposing copy wants single words, here and there, of each tile. Sent in that order, each
 * word takes an instruction of its sender. A tile that gets many such pieces gets the words in the
 * order of the senders' memory instead, into a buffer. Strided copies on the tile then put them
 * where they belong:
 *
 *     at the senders    a0 a1 a2   b0 b1 b2   c0 c1 c2
 *     as wanted         a0 | b0 | c0 | a1 | b1 | c1 | a2 | b2 | c2
 *     in rows           a0 a1 a2 | b0 b1 b2 | c0 c1 c2
 *     copies            for each column: 3 times 1 word, 12 bytes apart, to consecutive words
 *
 * The cost is a buffer, which is live from the exchange to the copies, and the time of the copies.
 * So this is only for a tile that would otherwise get thousands of pieces, or the same words again
 * and again, as of a scalar that a copy broadcasts. In that case the buffer is small, and copies
 * take less time than pieces. */
#include "compiler/lower/rows.h"
#include "base/order.h"

#include <stdlib.h>

enum {
  WORD = 4,
  BUFFER_ALIGN = 8,
  MIN_PIECES = 4096,           /* 16 KiB of instructions */
  MIN_PIECES_FOR_MEMORY = 256, /* where memory is what counts */
  MIN_REPEATS = 64,            /* pieces at least, of words that are each wanted … */
  MIN_TIMES = 8,               /* … this often on average */
  DESCRIPTOR_WORDS = 6,        /* of a strided copy (tile_copies.c) */
  MIN_GAIN = 2                 /* pieces for each instruction and descriptor word */
};

static size_t least_pieces(const lowering *l)
{
  return l->c->options.exchange_target == EXCHANGE_FOR_MEMORY ? MIN_PIECES_FOR_MEMORY : MIN_PIECES;
}

static void keep(row_staging *s, const transfer *t)
{
  pop_push(s->transfers.items, s->transfers.count, s->transfers.capacity, *t);
}

/* Finds the words around all pieces, in the order of the senders' memory, as transfers to a buffer
 * that does not exist yet. at[i]: offset of piece i in the buffer. Returns the buffer's size. */
static uint32_t find_rows(row_staging *s, const transfer_list *pieces, uint32_t *at)
{
  keyed *order = pop_xrealloc(NULL, pieces->count, sizeof *order);
  for (size_t i = 0; i < pieces->count; i++) {
    place source = pieces->items[i].source;
    order[i] = (keyed){(uint64_t)source.block << 32 | source.offset, (uint32_t)i};
  }
  sort_keyed(order, pieces->count);
  uint32_t used = 0;
  s->rows.count = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const transfer *t = &pieces->items[order[i].index];
    uint32_t begin = t->source.offset / WORD * WORD;
    uint32_t end = (t->source.offset + t->bytes + WORD - 1) / WORD * WORD;
    transfer *last = s->rows.count > 0 ? &s->rows.items[s->rows.count - 1] : NULL;
    if (!last || last->source.block != t->source.block ||
        begin > last->source.offset + last->bytes) {
      const transfer row = {.source_tile = t->source_tile,
                            .destination_tile = t->destination_tile,
                            .source = {t->source.block, begin},
                            .destination = {COMPILER_NONE, used}};
      pop_push(s->rows.items, s->rows.count, s->rows.capacity, row);
      last = &s->rows.items[s->rows.count - 1];
    }
    if (end > last->source.offset + last->bytes) {
      used += end - (last->source.offset + last->bytes);
      last->bytes = end - last->source.offset;
    }
    at[order[i].index] = last->destination.offset + (t->source.offset - last->source.offset);
  }
  free(order);
  return used;
}

static void find_columns(row_staging *s, const transfer_list *pieces, const uint32_t *at)
{
  s->columns.count = 0;
  for (size_t i = 0; i < pieces->count; i++) {
    const transfer *t = &pieces->items[i];
    append_copy(&s->columns, plain_copy(t->destination_tile, (place){COMPILER_NONE, at[i]},
                                        t->destination, t->bytes));
  }
}

static bool is_worth_it(const row_staging *s, const transfer_list *pieces)
{
  uint64_t instead = s->rows.count + (uint64_t)DESCRIPTOR_WORDS * s->columns.count;
  return pieces->count >= MIN_GAIN * instead;
}

static void use_rows(row_staging *s, uint32_t bytes, pop_memory_category category)
{
  uint32_t tile = s->rows.items[0].destination_tile;
  uint32_t buffer = add_buffer(s->l, tile, bytes, BUFFER_ALIGN, category, 0, s->name);
  for (size_t i = 0; i < s->rows.count; i++) {
    s->rows.items[i].destination.block = buffer;
    keep(s, &s->rows.items[i]);
  }
  for (size_t i = 0; i < s->columns.count; i++) {
    s->columns.items[i].source.block = buffer;
    pop_push(s->copies.items, s->copies.count, s->copies.capacity, s->columns.items[i]);
  }
}

static bool repeats(const transfer_list *pieces, uint32_t bytes_of_rows)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < pieces->count; i++) bytes += pieces->items[i].bytes;
  return bytes >= (uint64_t)MIN_TIMES * bytes_of_rows;
}

/* Takes all pieces that a tile gets in one exchange. */
static void take_pieces(row_staging *s, transfer_list *pieces, pop_memory_category category)
{
  bool many = pieces->count >= least_pieces(s->l), used = false;
  if (pieces->count >= MIN_REPEATS) {
    uint32_t *at = pop_xrealloc(NULL, pieces->count, sizeof *at);
    uint32_t bytes = find_rows(s, pieces, at);
    find_columns(s, pieces, at);
    used = is_worth_it(s, pieces) && (many || repeats(pieces, bytes));
    if (used) use_rows(s, bytes, category);
    free(at);
  }
  for (size_t i = 0; !used && i < pieces->count; i++) keep(s, &pieces->items[i]);
  pieces->count = 0;
}

static bool is_of_tile(const transfer_list *pieces, uint32_t tile)
{
  return pieces->count == 0 || pieces->items[0].destination_tile == tile;
}

void stage_rows(row_staging *s, const transfer *t)
{
  uint32_t per_ipu = s->l->c->target.tiles_per_ipu, tile = t->destination_tile;
  if (!is_of_tile(&s->within, tile) || !is_of_tile(&s->between, tile)) end_rows(s);
  if (t->source_tile == tile) {
    keep(s, t);
    return;
  }
  transfer_list *pieces = t->source_tile / per_ipu == tile / per_ipu ? &s->within : &s->between;
  pop_push(pieces->items, pieces->count, pieces->capacity, *t);
}

void end_rows(row_staging *s)
{
  take_pieces(s, &s->within, POP_MEMORY_MESSAGE);
  take_pieces(s, &s->between, POP_MEMORY_GLOBAL_MESSAGE);
}

void row_staging_free(row_staging *s)
{
  free(s->transfers.items);
  free(s->copies.items);
  free(s->within.items);
  free(s->between.items);
  free(s->rows.items);
  free(s->columns.items);
}

typedef struct piece_count {
  size_t pieces, repeats; /* repeats: pieces with the same words as the one before */
  place last;
} piece_count;

bool has_columns(const lowering *l, const transfer_list *transfers)
{
  size_t least = least_pieces(l);
  bool found = false;
  if (transfers->count < MIN_REPEATS) return false;
  piece_count *counts = pop_xcalloc(pop_target_num_tiles(&l->c->target), sizeof *counts);
  for (size_t i = 0; i < transfers->count && !found; i++) {
    const transfer *t = &transfers->items[i];
    piece_count *of = &counts[t->destination_tile];
    if (t->source_tile == t->destination_tile) continue;
    if (of->pieces++ > 0 && of->last.block == t->source.block &&
        of->last.offset == t->source.offset)
      of->repeats++;
    of->last = t->source;
    found = of->pieces >= least || of->repeats >= MIN_REPEATS;
  }
  free(counts);
  return found;
}
