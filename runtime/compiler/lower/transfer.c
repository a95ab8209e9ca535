/* Turns transfers into exchange messages and copies.
 *
 *     both ends on one tile    a copy. Few words, if there is an exchange anyway: a message of the
 *                              tile to itself
 *     words to words           a message
 *     strided words, or the same words many times
 *                              a message of contiguous rows to a buffer, then copies (rows.c)
 *     anything else            a message of the words around the source to a staging buffer on the
 *                              destination's tile, and a copy of the bytes after the exchange
 *
 * Transfers to another IPU are messages of the global exchange, which comes first.
 *
 * Words that several tiles need are sent once (multicast). All requests for words of one block are
 * sorted by source. Requests that overlap form a cluster. The cluster is cut at each beginning and
 * end of a request, and equal parts become one message with several receivers. Where that would
 * make too many pieces (many long requests, each shifted a little), only equal requests are
 * joined. */
#include "base/order.h"
#include "compiler/lower/constants.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/rows.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, MAX_PIECES_PER_REQUEST = 4, FREE_PIECES = 64 };

/* Words that a tile needs from another one. */
typedef struct request {
  uint32_t source_tile, tile;
  place source, destination;
  uint32_t bytes;
} request;

typedef struct request_list {
  request *items;
  size_t count, capacity;
} request_list;

static uint32_t word_floor(uint32_t bytes)
{
  return bytes & ~3u;
}

static uint32_t word_ceiling(uint64_t bytes)
{
  return (uint32_t)((bytes + 3) & ~(uint64_t)3);
}

static bool is_whole_words(const transfer *t)
{
  return ((t->source.offset | t->destination.offset | t->bytes) % WORD) == 0;
}

/* ---- transfers that are not words: through a staging buffer ---- */

typedef struct staging {
  lowering *l;
  const char *name;
  pop_memory_category category; /* of the buffers */
  request_list *requests;
  copy_list *copies;
  uint32_t tile, buffer; /* the buffer being filled */
  request last;          /* its last words, not in `requests` yet; bytes 0: none */
} staging;

static void flush_staging(staging *s)
{
  if (s->last.bytes == 0) return;
  pop_push(s->requests->items, s->requests->count, s->requests->capacity, s->last);
  s->last.bytes = 0;
}

/* Where the words around the source will be in the buffer. Words that overlap or follow the last
 * ones are merged with them. */
static place place_of_words(staging *s, const transfer *t)
{
  compilation *c = s->l->c;
  uint32_t begin = word_floor(t->source.offset);
  uint32_t end = word_ceiling((uint64_t)t->source.offset + t->bytes);
  request *last = &s->last;
  if (last->bytes > 0 && last->source.block == t->source.block && begin >= last->source.offset &&
      begin <= last->source.offset + last->bytes) {
    uint32_t have = last->source.offset + last->bytes;
    if (end > have) {
      c->blocks[s->buffer].size += end - have;
      last->bytes += end - have;
    }
    return (place){s->buffer, last->destination.offset + (begin - last->source.offset)};
  }
  flush_staging(s);
  uint32_t used = c->blocks[s->buffer].size;
  c->blocks[s->buffer].size += end - begin;
  *last = (request){.source_tile = t->source_tile,
                    .tile = t->destination_tile,
                    .source = {t->source.block, begin},
                    .destination = {s->buffer, used},
                    .bytes = end - begin};
  return last->destination;
}

static void stage_transfer(staging *s, const transfer *t)
{
  if (s->buffer == COMPILER_NONE || s->tile != t->destination_tile) {
    flush_staging(s);
    s->tile = t->destination_tile;
    s->buffer = add_buffer(s->l, s->tile, WORD, 8, s->category, 0, s->name);
    s->l->c->blocks[s->buffer].size = 0;
  }
  place words = place_of_words(s, t);
  words.offset += t->source.offset % WORD;
  append_copy(s->copies, plain_copy(t->destination_tile, words, t->destination, t->bytes));
}

/* Transfers between tiles, within IPUs or between them. */
typedef struct off_tile_transfers {
  exchange_zone zone;
  const uint32_t *replica_map; /* BETWEEN_REPLICAS */
  const tile_headers *headers; /* likewise, or NULL */
  size_t num_headers;
  request_list requests;
  request_list own; /* from a tile to itself: apart, so that other messages keep equal receivers */
  keyed *unaligned; /* transfers that are not words, by destination tile */
  size_t num_unaligned, unaligned_capacity;
} off_tile_transfers;

static void stage_transfers(lowering *l, const transfer_list *transfers, const char *name,
                            off_tile_transfers *all, copy_list *copies)
{
  staging s = {.l = l,
               .name = name,
               .category = all->zone == EXCHANGE_WITHIN_IPUS ? POP_MEMORY_MESSAGE
                                                             : POP_MEMORY_GLOBAL_MESSAGE,
               .requests = &all->requests,
               .copies = copies,
               .buffer = COMPILER_NONE};
  sort_keyed(all->unaligned, all->num_unaligned);
  for (size_t i = 0; i < all->num_unaligned; i++)
    stage_transfer(&s, &transfers->items[all->unaligned[i].index]);
  flush_staging(&s);
  free(all->unaligned);
}

/* Are all transfers within a tile whole words, and is there an exchange anyway? */
static bool is_beside_exchange(const transfer_list *transfers, const off_tile_transfers *within)
{
  if (within->requests.count == 0) return false;
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    if (t->source_tile == t->destination_tile && !is_whole_words(t)) return false;
  }
  return true;
}

/* Most bytes that a tile may send to itself. It must have sent all of them, and have had a slot for
 * the address, when the first one arrives. */
static uint64_t most_local_bytes(const pop_target *target)
{
  enum { SEND_AND_ADDRESS = 4 };
  uint32_t latency = target->exchange_latency_cycles;
  return latency > SEND_AND_ADDRESS ? (latency - SEND_AND_ADDRESS) * WORD : 0;
}

/* Transfers within a tile become copies by vertices, which cost some hundred cycles to start. If
 * each tile has few words of them, they become messages. The transfers of a tile are not always
 * contiguous in the list. */
static void take_local_transfers(lowering *l, const transfer_list *transfers,
                                 off_tile_transfers *within, copy_list *copies)
{
  uint64_t most = 0;
  uint32_t num_tiles = pop_target_num_tiles(&l->c->target);
  uint64_t *bytes = pop_xcalloc(num_tiles, sizeof *bytes);
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    if (t->source_tile != t->destination_tile) continue;
    bytes[t->source_tile] += t->bytes;
    if (bytes[t->source_tile] > most) most = bytes[t->source_tile];
  }
  bool send = most <= most_local_bytes(&l->c->target) && is_beside_exchange(transfers, within);
  for (size_t i = 0; i < transfers->count && most > 0; i++) {
    const transfer *t = &transfers->items[i];
    if (t->source_tile != t->destination_tile) continue;
    if (send)
      pop_push(within->own.items, within->own.count, within->own.capacity,
               (request){t->source_tile, t->destination_tile, t->source, t->destination, t->bytes});
    else
      pop_push(copies->items, copies->count, copies->capacity,
               plain_copy(t->source_tile, t->source, t->destination, t->bytes));
  }
  free(bytes);
}

static void classify_transfers(lowering *l, const transfer_list *transfers,
                               off_tile_transfers *within, off_tile_transfers *between,
                               copy_list *copies)
{
  uint32_t per_ipu = l->c->target.tiles_per_ipu;
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    bool global = t->source_tile / per_ipu != t->destination_tile / per_ipu;
    off_tile_transfers *all = global ? between : within;
    if (t->source_tile == t->destination_tile) continue;
    if (is_whole_words(t))
      pop_push(all->requests.items, all->requests.count, all->requests.capacity,
               (request){t->source_tile, t->destination_tile, t->source, t->destination, t->bytes});
    else
      pop_push(all->unaligned, all->num_unaligned, all->unaligned_capacity,
               (keyed){.key = t->destination_tile, .index = (uint32_t)i});
  }
  take_local_transfers(l, transfers, within, copies);
}

/* ---- requests to messages ---- */

/* A part of a request: bytes from `source` on. */
typedef struct part {
  uint32_t source; /* offset */
  uint32_t bytes;
  uint32_t request;
} part;

typedef struct messaging {
  compilation *c;
  const request_list *requests;
  keyed *order; /* requests by source */
  part *parts;  /* of the current cluster */
  size_t num_parts, parts_capacity;
  uint32_t *edges; /* beginnings and ends of requests, ascending */
  size_t num_edges, edges_capacity;
  keyed *sorted; /* parts by source and length, or the receivers of a message by tile */
  size_t num_sorted, sorted_capacity;
  size_t first_message;
} messaging;

static const request *request_at(const messaging *m, size_t position)
{
  return &m->requests->items[m->order[position].index];
}

static uint32_t source_end(const request *w)
{
  return w->source.offset + w->bytes;
}

static void sort_edges(messaging *m, size_t first, size_t end)
{
  m->num_sorted = 0;
  for (size_t i = first; i < end; i++) {
    const request *w = request_at(m, i);
    pop_push(m->sorted, m->num_sorted, m->sorted_capacity, (keyed){.key = w->source.offset});
    pop_push(m->sorted, m->num_sorted, m->sorted_capacity, (keyed){.key = source_end(w)});
  }
  sort_keyed(m->sorted, m->num_sorted);
  m->num_edges = 0;
  for (size_t i = 0; i < m->num_sorted; i++)
    if (i == 0 || m->sorted[i].key != m->sorted[i - 1].key)
      pop_push(m->edges, m->num_edges, m->edges_capacity, (uint32_t)m->sorted[i].key);
}

static size_t edge_at(const messaging *m, uint32_t offset)
{
  size_t low = 0, high = m->num_edges;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (m->edges[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bool is_cheap_to_cut(const messaging *m, size_t first, size_t end)
{
  size_t pieces = 0, limit = MAX_PIECES_PER_REQUEST * (end - first) + FREE_PIECES;
  for (size_t i = first; i < end && pieces <= limit; i++)
    pieces +=
        edge_at(m, source_end(request_at(m, i))) - edge_at(m, request_at(m, i)->source.offset);
  return pieces <= limit;
}

/* Cuts the requests of a cluster into parts that are equal or disjoint, or leaves them whole if
 * that is too many. */
static void make_parts(messaging *m, size_t first, size_t end)
{
  m->num_parts = 0;
  sort_edges(m, first, end);
  bool cut = is_cheap_to_cut(m, first, end);
  for (size_t i = first; i < end; i++) {
    const request *w = request_at(m, i);
    uint32_t begin = w->source.offset;
    for (size_t e = edge_at(m, begin) + 1; cut && m->edges[e] < source_end(w); e++) {
      pop_push(m->parts, m->num_parts, m->parts_capacity,
               (part){begin, m->edges[e] - begin, m->order[i].index});
      begin = m->edges[e];
    }
    pop_push(m->parts, m->num_parts, m->parts_capacity,
             (part){begin, source_end(w) - begin, m->order[i].index});
  }
}

static bool same_receivers_follow(const compilation *c, const message *a, const message *b)
{
  if (a->num_receivers != b->num_receivers) return false;
  for (size_t i = 0; i < a->num_receivers; i++) {
    const receiver *before = &c->receivers[a->first_receiver + i];
    const receiver *after = &c->receivers[b->first_receiver + i];
    if (before->tile != after->tile || before->destination.block != after->destination.block ||
        before->destination.offset + a->num_words * WORD != after->destination.offset)
      return false;
  }
  return true;
}

/* Merges the newest message into the one before it if it continues that one. */
static void join_with_previous(messaging *m)
{
  compilation *c = m->c;
  if (c->num_messages - m->first_message < 2) return;
  message *previous = &c->messages[c->num_messages - 2];
  const message *newest = &c->messages[c->num_messages - 1];
  if (previous->source.block != newest->source.block ||
      previous->source.offset + previous->num_words * WORD != newest->source.offset ||
      !same_receivers_follow(c, previous, newest))
    return;
  previous->num_words += newest->num_words;
  c->num_receivers = newest->first_receiver;
  c->num_messages--;
}

/* Adds messages for the equal parts sorted[first] … sorted[end - 1]. A tile hears a word once, so a
 * tile that needs it in two places gets two messages: the n-th request of each tile is in the n-th
 * message. */
static void add_messages(messaging *m, size_t first, size_t end)
{
  compilation *c = m->c;
  const part *sample = &m->parts[m->sorted[first].index];
  const request *any = &m->requests->items[sample->request];
  size_t count = end - first;
  keyed *by_tile = pop_xrealloc(NULL, count, sizeof *by_tile);
  for (size_t i = 0; i < count; i++) {
    uint32_t part_number = m->sorted[first + i].index;
    by_tile[i] = (keyed){.key = m->requests->items[m->parts[part_number].request].tile,
                         .index = part_number};
  }
  sort_keyed(by_tile, count);
  for (size_t left = count; left > 0;) {
    message added = {.source_tile = any->source_tile,
                     .num_words = sample->bytes / WORD,
                     .source = {any->source.block, sample->source},
                     .first_receiver = c->num_receivers};
    size_t kept = 0;
    for (size_t i = 0; i < left; i++) {
      if (i > 0 && by_tile[i].key == c->receivers[c->num_receivers - 1].tile) {
        by_tile[kept++] = by_tile[i];
        continue;
      }
      const part *p = &m->parts[by_tile[i].index];
      const request *w = &m->requests->items[p->request];
      place destination = {w->destination.block,
                           w->destination.offset + (p->source - w->source.offset)};
      pop_push(c->receivers, c->num_receivers, c->receivers_capacity,
               (receiver){.tile = w->tile, .destination = destination});
    }
    left = kept;
    added.num_receivers = (uint32_t)(c->num_receivers - added.first_receiver);
    pop_push(c->messages, c->num_messages, c->messages_capacity, added);
    join_with_previous(m);
  }
  free(by_tile);
}

/* Adds the message of words that only one tile needs: most of what copies move. */
static void add_message_of_one(messaging *m, const request *w)
{
  compilation *c = m->c;
  message added = {.source_tile = w->source_tile,
                   .num_words = w->bytes / WORD,
                   .source = w->source,
                   .first_receiver = c->num_receivers,
                   .num_receivers = 1};
  pop_push(c->receivers, c->num_receivers, c->receivers_capacity,
           (receiver){.tile = w->tile, .destination = w->destination});
  pop_push(c->messages, c->num_messages, c->messages_capacity, added);
  join_with_previous(m);
}

static void add_cluster(messaging *m, size_t first, size_t end)
{
  if (end - first == 1) {
    add_message_of_one(m, request_at(m, first));
    return;
  }
  make_parts(m, first, end);
  m->num_sorted = 0;
  for (size_t i = 0; i < m->num_parts; i++)
    pop_push(m->sorted, m->num_sorted, m->sorted_capacity,
             (keyed){.key = (uint64_t)m->parts[i].source << 32 | m->parts[i].bytes,
                     .index = (uint32_t)i});
  sort_keyed(m->sorted, m->num_sorted);
  for (size_t i = 0, next; i < m->num_sorted; i = next) {
    for (next = i + 1; next < m->num_sorted && m->sorted[next].key == m->sorted[i].key;) next++;
    add_messages(m, i, next);
  }
}

static void add_all_messages(compilation *c, const request_list *requests)
{
  messaging m = {.c = c,
                 .requests = requests,
                 .order = pop_xrealloc(NULL, requests->count, sizeof(keyed)),
                 .first_message = c->num_messages};
  for (size_t i = 0; i < requests->count; i++)
    m.order[i] = (keyed){.key = (uint64_t)requests->items[i].source.block << 32 |
                                requests->items[i].source.offset,
                         .index = (uint32_t)i};
  sort_keyed(m.order, requests->count);
  for (size_t first = 0, end; first < requests->count; first = end) {
    uint32_t block_number = request_at(&m, first)->source.block;
    uint32_t reach_of_cluster = source_end(request_at(&m, first));
    for (end = first + 1; end < requests->count; end++) {
      const request *w = request_at(&m, end);
      if (w->source.block != block_number || w->source.offset >= reach_of_cluster) break;
      if (source_end(w) > reach_of_cluster) reach_of_cluster = source_end(w);
    }
    add_cluster(&m, first, end);
  }
  free(m.order);
  free(m.parts);
  free(m.edges);
  free(m.sorted);
}

/* A replica that does not receive keeps what it had. */
static bool skips_some_replica(const compilation *c, const exchange *x)
{
  for (uint32_t i = 0; x->replica_map && i < c->num_replicas; i++)
    if (x->replica_map[i] == COMPILER_NONE) return true;
  return false;
}

static void record_messages(lowering *l, const exchange *x, uint32_t step_number)
{
  const compilation *c = l->c;
  begin_accesses(l, step_number);
  for (size_t i = 0; i < x->num_headers; i++) record_read(l, x->headers[i].at.block);
  for (size_t i = 0; i < x->num_messages; i++) {
    const message *sent = &c->messages[x->first_message + i];
    record_read(l, sent->source.block);
    for (size_t j = 0; j < sent->num_receivers; j++) {
      if (skips_some_replica(c, x))
        record_read(l, c->receivers[sent->first_receiver + j].destination.block);
      record_write(l, c->receivers[sent->first_receiver + j].destination.block,
                   sent->num_words * WORD);
    }
  }
  end_accesses(l, step_number);
}

static void lower_requests(lowering *l, off_tile_transfers *all, const char *name,
                           const char *all_names, step_list *steps)
{
  compilation *c = l->c;
  if (all->requests.count > 0) {
    exchange x = {.name = name,
                  .all_names = all_names,
                  .zone = all->zone,
                  .replica_map = all->replica_map,
                  .headers = all->headers,
                  .num_headers = all->num_headers,
                  .first_message = c->num_messages};
    add_all_messages(c, &all->requests);
    if (all->own.count > 0) add_all_messages(c, &all->own);
    x.num_messages = c->num_messages - x.first_message;
    uint32_t step_number = add_step(l, STEP_EXCHANGE, name, (uint32_t)c->num_exchanges);
    pop_push(c->exchanges, c->num_exchanges, c->exchanges_capacity, x);
    record_messages(l, &x, step_number);
    pop_push(steps->items, steps->count, steps->capacity, step_number);
  }
  free(all->requests.items);
  free(all->own.items);
}

/* "mulCS/ExchangePre" is "mulCS/GlobalPre/GlobalExchange" between IPUs. */
static const char *global_name(const compilation *c, const char *name)
{
  const char *last = strrchr(name, '/');
  static const char exchange_word[] = "/Exchange";
  if (!last || strncmp(last, exchange_word, strlen(exchange_word)) != 0)
    return pop_arena_printf(c->arena, "%s/GlobalExchange", name);
  return pop_arena_printf(c->arena, "%.*s/Global%s/GlobalExchange", (int)(last - name), name,
                          last + strlen(exchange_word));
}

pop_error *lower_staged_transfers(lowering *l, const transfer_list *transfers, copy_list *copies,
                                  const transfer_names *names, step_list *steps)
{
  off_tile_transfers within = {0}, between = {.zone = EXCHANGE_BETWEEN_IPUS};
  classify_transfers(l, transfers, &within, &between, copies);
  stage_transfers(l, transfers, names->exchange, &within, copies);
  stage_transfers(l, transfers, names->exchange, &between, copies);
  if (between.requests.count > 0)
    lower_requests(l, &between, global_name(l->c, names->exchange), names->all.global_exchange,
                   steps);
  lower_requests(l, &within, names->exchange,
                 within.own.count > 0 ? names->all.exchange_of_all : names->all.exchange, steps);
  return lower_copies(l, copies, names->copy, names->all.copy, steps);
}

/* Sorted by destination tile; transfers to a tile keep their order. */
static void stage_all_rows(row_staging *s, const transfer_list *transfers)
{
  keyed *order = pop_xrealloc(NULL, transfers->count, sizeof *order);
  for (size_t i = 0; i < transfers->count; i++)
    order[i] = (keyed){transfers->items[i].destination_tile, (uint32_t)i};
  sort_keyed(order, transfers->count);
  for (size_t i = 0; i < transfers->count; i++) stage_rows(s, &transfers->items[order[i].index]);
  end_rows(s);
  free(order);
}

static bool have_uniform(const compilation *c, const transfer_list *transfers)
{
  for (size_t i = 0; i < transfers->count; i++)
    if (is_of_uniform(c, &transfers->items[i])) return true;
  return false;
}

static pop_error *lower_all(lowering *l, const transfer_list *transfers,
                            const transfer_names *names, step_list *steps)
{
  row_staging s = {.l = l, .name = names->exchange};
  bool staged = has_columns(l, transfers);
  if (staged) stage_all_rows(&s, transfers);
  pop_error *error =
      lower_staged_transfers(l, staged ? &s.transfers : transfers, &s.copies, names, steps);
  row_staging_free(&s);
  return error;
}

pop_error *lower_transfers(lowering *l, const transfer_list *transfers, const transfer_names *names,
                           step_list *steps)
{
  if (!have_uniform(l->c, transfers)) return lower_all(l, transfers, names, steps);
  transfer_list local = {0};
  for (size_t i = 0; i < transfers->count; i++) add_localized(l->c, &transfers->items[i], &local);
  pop_error *error = lower_all(l, &local, names, steps);
  free(local.items);
  return error;
}

void lower_replica_transfers(lowering *l, const transfer_list *transfers, const uint32_t *map,
                             const tile_headers *headers, const char *name, step_list *steps)
{
  off_tile_transfers all = {.zone = EXCHANGE_BETWEEN_REPLICAS,
                            .replica_map = map,
                            .headers = headers,
                            .num_headers = headers ? transfers->count : 0};
  for (size_t i = 0; i < transfers->count; i++) {
    const transfer *t = &transfers->items[i];
    pop_push(all.requests.items, all.requests.count, all.requests.capacity,
             (request){t->source_tile, t->destination_tile, t->source, t->destination, t->bytes});
  }
  lower_requests(l, &all, name, NULL, steps);
}
