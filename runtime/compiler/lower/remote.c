/* Copies from and to remote buffers: a host exchange whose window has the buffer's rows as records.
 *
 * If rows are chosen by offsets, each tile with a part of a row needs the row's number in its own
 * memory, because hostRecord reads it there. So the numbers are first sent to the tiles, as
 * messages (category hostMessage) that are live only that long. A tile that holds the numbers
 * itself reads them in place. */
#include "compiler/lower/remote.h"
#include "compiler/segments.h"

#include <stdlib.h>

enum { WORD = 4 };

/* Elements of a row that are contiguous on a tile. */
typedef struct part {
  segment at;
  uint32_t row, host_offset;
  uint32_t number; /* in numbers; COMPILER_NONE: there are no offsets */
} part;

/* The number of a row, on a tile that needs it. */
typedef struct row_number {
  uint32_t tile, row;
  place at;
} row_number;

typedef struct remote_copy {
  part *parts;
  size_t num_parts, parts_capacity;
  row_number *numbers;
  size_t num_numbers, numbers_capacity;
  segment *offsets; /* by row */
} remote_copy;

void lower_remote_buffers(compilation *c)
{
  const pop_graph *graph = c->graph;
  for (size_t i = 0; i < graph->num_remote_buffers; i++) {
    const remote_buffer *b = &graph->remote_buffers[i];
    pop_push(c->remote_buffers, c->num_remote_buffers, c->remote_buffers_capacity,
             (remote_info){.name = pop_arena_strdup(c->arena, b->name),
                           .type = b->type,
                           .num_elements = b->num_elements,
                           .repeats = b->repeats,
                           .replica = b->replica,
                           .num_replicas = b->num_replicas});
  }
}

/* Splits the tensor's elements at the ends of rows. */
static void find_parts(remote_copy *r, const compilation *c, uint32_t tensor, uint64_t row_bytes)
{
  segment_walk walk;
  segment found;
  uint64_t at = 0;
  segment_walk_start(&walk, c, tensor);
  while (segment_walk_next(&walk, &found))
    while (found.bytes) {
      uint64_t left = row_bytes - at % row_bytes;
      part p = {.at = found,
                .row = (uint32_t)(at / row_bytes),
                .host_offset = (uint32_t)(at % row_bytes),
                .number = COMPILER_NONE};
      if (p.at.bytes > left) p.at.bytes = (uint32_t)left;
      pop_push(r->parts, r->num_parts, r->parts_capacity, p);
      at += p.at.bytes;
      found.at.offset += p.at.bytes;
      found.bytes -= p.at.bytes;
    }
}

/* Finds which tile needs which numbers. Rows come in order, so only the tile's last one has to be
 * known. */
static void find_numbers(remote_copy *r, const compilation *c)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  uint32_t *last = pop_xrealloc(NULL, num_tiles, sizeof *last);
  for (uint32_t t = 0; t < num_tiles; t++) last[t] = COMPILER_NONE;
  for (size_t i = 0; i < r->num_parts; i++) {
    part *p = &r->parts[i];
    uint32_t *of_tile = &last[p->at.tile];
    if (*of_tile == COMPILER_NONE || r->numbers[*of_tile].row != p->row) {
      *of_tile = (uint32_t)r->num_numbers;
      pop_push(r->numbers, r->num_numbers, r->numbers_capacity,
               (row_number){.tile = p->at.tile, .row = p->row});
    }
    p->number = *of_tile;
  }
  free(last);
}

static void find_offsets(remote_copy *r, const compilation *c, uint32_t tensor, uint64_t count)
{
  segment_walk walk;
  segment found;
  size_t row = 0;
  r->offsets = pop_xcalloc(count + 1, sizeof *r->offsets);
  segment_walk_start(&walk, c, tensor);
  while (segment_walk_next(&walk, &found))
    for (uint32_t i = 0; i < found.bytes; i += WORD)
      r->offsets[row++] = (segment){found.tile, {found.at.block, found.at.offset + i}, WORD};
}

/* Gives each number a place on its tile. Each tile has one buffer, which grows. */
static transfer_list place_numbers(remote_copy *r, lowering *l, const char *name)
{
  compilation *c = l->c;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  uint32_t *buffers = pop_xrealloc(NULL, num_tiles, sizeof *buffers);
  uint32_t *used = pop_xcalloc(num_tiles, sizeof *used);
  transfer_list transfers = {0};
  for (uint32_t t = 0; t < num_tiles; t++) buffers[t] = COMPILER_NONE;
  for (size_t i = 0; i < r->num_numbers; i++) {
    row_number *n = &r->numbers[i];
    const segment *from = &r->offsets[n->row];
    n->at = from->at;
    if (from->tile == n->tile) continue;
    uint32_t *buffer = &buffers[n->tile];
    if (*buffer == COMPILER_NONE)
      *buffer = add_buffer(l, n->tile, WORD, WORD, POP_MEMORY_HOST_MESSAGE, 0, name);
    n->at = (place){*buffer, used[n->tile]};
    used[n->tile] += WORD;
    c->blocks[*buffer].size = used[n->tile];
    pop_push(transfers.items, transfers.count, transfers.capacity,
             (transfer){from->tile, n->tile, from->at, n->at, WORD});
  }
  free(buffers);
  free(used);
  return transfers;
}

static pop_error *lower_row_numbers(remote_copy *r, lowering *l, uint32_t offsets, uint64_t count,
                                    const char *name, step_list *steps)
{
  pop_arena *arena = l->c->arena;
  find_numbers(r, l->c);
  find_offsets(r, l->c, offsets, count);
  const char *own = pop_arena_printf(arena, "%s/Offsets", name);
  transfer_list transfers = place_numbers(r, l, own);
  const transfer_names names = {.exchange = pop_arena_printf(arena, "%s/ExchangePre", own),
                                .copy = own};
  pop_error *error = lower_transfers(l, &transfers, &names, steps);
  free(transfers.items);
  return error;
}

/* The window of a row in a buffer without offsets. The last row may be shorter. */
static host_window window_of_row(const host_window *first, uint32_t row, uint64_t total_bytes)
{
  host_window of_row = *first;
  of_row.begin = row * first->bytes;
  if (of_row.bytes > total_bytes - of_row.begin) of_row.bytes = total_bytes - of_row.begin;
  return of_row;
}

/* `window`: with offsets, the whole buffer, whose rows hostRecord chooses from. Without offsets,
 * the first row, of `row_bytes`; the others follow it. */
static void exchange_parts(const remote_copy *r, lowering *l, const host_window *window,
                           uint64_t total_bytes, const char *name, bool to_device, step_list *steps)
{
  uint32_t row = COMPILER_NONE;
  host_draft draft = {0};
  draft_start(&draft, l->c);
  for (size_t i = 0; i < r->num_parts; i++) {
    const part *p = &r->parts[i];
    if (!draft_has_room(&draft, l->c, &p->at)) draft_keep(l, &draft, steps);
    bool fixed = p->number == COMPILER_NONE;
    if (draft.num_windows == 0 || (fixed && p->row != row)) {
      host_window of_row = fixed ? window_of_row(window, p->row, total_bytes) : *window;
      draft.name = name;
      draft_add_window(&draft, &of_row);
      row = p->row;
    }
    place record = {COMPILER_NONE, 0};
    if (p->number != COMPILER_NONE) record = r->numbers[p->number].at;
    draft_add_row(&draft, l->c, &p->at, p->host_offset, record, to_device);
  }
  draft_keep(l, &draft, steps);
  draft_free(&draft);
}

pop_error *lower_remote_copy(lowering *l, const program *copied, step_list *steps)
{
  compilation *c = l->c;
  remote_info *info = &c->remote_buffers[copied->stream];
  const char *name = *copied->name ? pop_arena_strdup(c->arena, copied->name) : info->name;
  const tensor *t = &c->graph->tensors[copied->source];
  uint64_t row_bytes = info->num_elements * pop_type_bytes(info->type);
  uint64_t rows = t->num_elements / info->num_elements, total_bytes = rows * row_bytes;
  bool chosen = copied->destination != 0;
  /* Without offsets the rows follow each other: as many as fit are treated as one. */
  if (!chosen) row_bytes *= rows < UINT32_MAX / row_bytes ? rows : UINT32_MAX / row_bytes;
  host_window window = {.remote = true,
                        .object = copied->stream,
                        .bytes = row_bytes,
                        .records = chosen ? info->repeats : 1};
  remote_copy r = {0};
  pop_error *error = NULL;
  find_parts(&r, c, copied->source, row_bytes);
  if (chosen) error = lower_row_numbers(&r, l, copied->destination, rows, name, steps);
  if (!error) exchange_parts(&r, l, &window, total_bytes, name, copied->to_device, steps);
  info->is_used = true;
  free(r.parts);
  free(r.numbers);
  free(r.offsets);
  return error;
}
