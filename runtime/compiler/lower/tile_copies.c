/* Copies within tiles, as vertices.
 *
 * A copy vertex works through a list of descriptors (words in a block of its own):
 *
 *     plain      source, destination, bytes
 *     strided    source, destination, bytes, count, source stride, destination stride
 *
 * Consecutive copies at equal distances become one strided descriptor. The copies of a tile are
 * shared equally among its workers; descriptors are split for that. */
#include "base/order.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/vertex_bytes.h"
#include "isa/isa.h"

#include <populus/data_dir.h>
#include <stdlib.h>
#include <string.h>

/* Costs in issue slots: a descriptor without its bytes (machine, isa/isa.h; the loop of
 * poplibs/copy.cpp); the least share that is worth a worker; the least part that is worth another
 * descriptor. */
enum { DESCRIPTOR_COST = 2, MIN_SHARE = 32, MIN_PART = 12 };

static const struct {
  const char *vertex_type;
  uint32_t words; /* of a descriptor */
} copy_kinds[COPY_KIND_COUNT] = {
    [COPY_PLAIN] = {"poplar_rt::Memcpy", 3},
    [COPY_STRIDED] = {"poplar_rt::StridedCopy", 6},
};

typedef struct copying {
  lowering *l;
  const char *name;
  uint32_t num_workers;
  copy_list list; /* of the current tile: one descriptor each */
} copying;

static copy_kind kind_of(const copy *d)
{
  return d->count > 1 ? COPY_STRIDED : COPY_PLAIN;
}

/* ---- the vertex types ---- */

static const pop_vertex_type *find_type(const pop_gp *gp, const char *name)
{
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); i++)
    if (strcmp(pop_gp_vertex_type(gp, i)->name, name) == 0) return pop_gp_vertex_type(gp, i);
  return NULL;
}

static pop_error *load_copy_types(lowering *l)
{
  compilation *c = l->c;
  char *path = pop_xasprintf("%s/poplibs.gp", pop_data_dir());
  pop_gp *gp;
  pop_error *error = pop_gp_read(path, &gp);
  free(path);
  if (error) return pop_error_prefix(error, "built-in copy vertices");
  pop_push(c->codelets, c->num_codelets, c->codelets_capacity, gp);
  for (copy_kind kind = 0; kind < COPY_KIND_COUNT; kind++) {
    const pop_vertex_type *type = find_type(gp, copy_kinds[kind].vertex_type);
    if (!type || type->num_fields != 1 || type->fields[0].layout != POP_LAYOUT_SPAN)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "%s: vertex %s is not there, or not as this version of Populus has it: "
                           "install Populus again",
                           pop_gp_name(gp), copy_kinds[kind].vertex_type);
    l->copy_types[kind] = type;
  }
  return NULL;
}

/* Index in c->vertex_types, which has only types that are used. */
static uint32_t used_copy_type(lowering *l, copy_kind kind)
{
  uint32_t *used = &l->used_copy_types[kind];
  if (*used == COMPILER_NONE) *used = use_vertex_type(l->c, l->copy_types[kind]);
  return *used;
}

/* ---- copies to descriptors ---- */

static bool follows(place before, int64_t distance, place after)
{
  return before.block == after.block && before.offset + distance == after.offset;
}

static bool extend(copy *d, const copy *next)
{
  if (d->source.block != next->source.block || d->destination.block != next->destination.block ||
      next->count > 1)
    return false;
  if (d->count == 1 && follows(d->source, d->bytes, next->source) &&
      follows(d->destination, d->bytes, next->destination)) {
    d->bytes += next->bytes;
    return true;
  }
  if (d->bytes != next->bytes) return false;
  if (d->count == 1) {
    d->source_stride = (int32_t)(next->source.offset - d->source.offset);
    d->destination_stride = (int32_t)(next->destination.offset - d->destination.offset);
    d->count = 2;
    return true;
  }
  if (!follows(d->source, (int64_t)d->source_stride * d->count, next->source) ||
      !follows(d->destination, (int64_t)d->destination_stride * d->count, next->destination))
    return false;
  d->count++;
  return true;
}

void append_copy(copy_list *list, copy next)
{
  if (list->count > 0 && extend(&list->items[list->count - 1], &next)) return;
  pop_push(list->items, list->count, list->capacity, next);
}

/* ---- sharing the work ---- */

/* Units of memory that a run reads or writes, if its block begins at a unit; otherwise it may be
 * one more. */
static uint64_t units_of(uint32_t offset, uint32_t bytes)
{
  return (offset % ISA_COPY_UNIT_BYTES + bytes + ISA_COPY_UNIT_BYTES - 1) / ISA_COPY_UNIT_BYTES;
}

/* The alignment of rows in units repeats after as many rows as a unit has bytes. */
static uint64_t cost_of(const copy *d)
{
  uint64_t cost = DESCRIPTOR_COST;
  for (uint32_t row = 0; row < d->count && row < ISA_COPY_UNIT_BYTES; row++) {
    uint64_t like_it = (d->count - row + ISA_COPY_UNIT_BYTES - 1) / ISA_COPY_UNIT_BYTES;
    cost += like_it *
            (units_of(d->source.offset + row * (uint32_t)d->source_stride, d->bytes) +
             units_of(d->destination.offset + row * (uint32_t)d->destination_stride, d->bytes));
  }
  return cost;
}

/* Splits off the first `rows` rows. */
static copy take_rows(copy *d, uint32_t rows)
{
  copy first = *d;
  first.count = rows;
  d->count -= rows;
  d->source.offset += (uint32_t)((int64_t)rows * d->source_stride);
  d->destination.offset += (uint32_t)((int64_t)rows * d->destination_stride);
  return first;
}

/* Splits off the first bytes of a plain copy. */
static copy take_bytes(copy *d, uint32_t bytes)
{
  copy first = *d;
  first.bytes = bytes;
  d->bytes -= bytes;
  d->source.offset += bytes;
  d->destination.offset += bytes;
  return first;
}

/* Splits off a part of about `slots` slots, if that is worth a descriptor. The rest begins at a
 * whole unit of the destination's block. */
static bool cut(copy *d, uint64_t slots, copy *first)
{
  uint64_t whole = cost_of(d), run = (whole - DESCRIPTOR_COST) / d->count;
  if (slots < MIN_PART || whole < slots + MIN_PART) return false;
  if (d->count > 1) {
    uint64_t rows = (slots - DESCRIPTOR_COST) / run;
    if (rows == 0 || rows >= d->count) return false;
    *first = take_rows(d, (uint32_t)rows);
    return true;
  }
  uint64_t bytes = (slots - DESCRIPTOR_COST) / 2 * ISA_COPY_UNIT_BYTES;
  bytes -= d->destination.offset % ISA_COPY_UNIT_BYTES;
  if (bytes >= d->bytes) return false;
  *first = take_bytes(d, (uint32_t)bytes);
  return true;
}

static uint64_t total_cost(const copying *k)
{
  uint64_t total = 0;
  for (size_t i = 0; i < k->list.count; i++) total += cost_of(&k->list.items[i]);
  return total;
}

static void put(copying *k, copy d)
{
  pop_push(k->list.items, k->list.count, k->list.capacity, d);
}

/* Turns a strided copy of long rows into plain copies, which can be split anywhere. */
static void separate_long_rows(copying *k)
{
  uint64_t long_row = total_cost(k) / k->num_workers / 4;
  size_t count = k->list.count;
  for (size_t i = 0; i < count; i++) {
    copy d = k->list.items[i];
    if (d.count == 1 || cost_of(&d) / d.count < long_row || cost_of(&d) / d.count < MIN_SHARE)
      continue;
    k->list.items[i] = take_rows(&d, 1);
    while (d.count > 1) put(k, take_rows(&d, 1));
    put(k, d);
  }
}

/* Stable sort: plain copies first. */
static void sort_by_kind(copying *k)
{
  keyed *order = pop_xrealloc(NULL, k->list.count, sizeof *order);
  for (size_t i = 0; i < k->list.count; i++)
    order[i] = (keyed){.key = kind_of(&k->list.items[i]), .index = (uint32_t)i};
  sort_keyed(order, k->list.count);
  copy *sorted = pop_xrealloc(NULL, k->list.count, sizeof *sorted);
  for (size_t i = 0; i < k->list.count; i++) sorted[i] = k->list.items[order[i].index];
  memcpy(k->list.items, sorted, k->list.count * sizeof *sorted);
  free(sorted);
  free(order);
}

/* Gives each worker an equal share, in the order of the list. A copy that crosses a border is
 * split. */
static void share_among_workers(copying *k)
{
  separate_long_rows(k);
  sort_by_kind(k);
  uint64_t total = total_cost(k), workers = (total + MIN_SHARE - 1) / MIN_SHARE, done = 0;
  if (workers > k->num_workers) workers = k->num_workers;
  copy *whole = k->list.items;
  size_t count = k->list.count;
  k->list.items = NULL;
  k->list.count = k->list.capacity = 0;
  uint32_t worker = 0;
  for (size_t i = 0; i < count;) {
    uint64_t end = total * (worker + 1) / workers;
    copy first, *d = &whole[i];
    bool is_last = worker + 1 == workers;
    bool is_cut = !is_last && done < end && cut(d, end - done, &first);
    if (!is_cut) first = whole[i++];
    bool is_too_much = done + cost_of(&first) / 2 > end;
    bool has_some = k->list.count > 0 && k->list.items[k->list.count - 1].worker == worker;
    if (!is_last && is_too_much && has_some) worker++;
    first.worker = worker;
    done += cost_of(&first);
    put(k, first);
    if (worker + 1 < workers && !is_too_much && (is_cut || done + MIN_PART > end)) worker++;
  }
  free(whole);
}

/* ---- the tile's memory ---- */

static void put_word(compilation *c, uint32_t content_number, uint32_t at, uint32_t word)
{
  memcpy(c->bytes + c->contents[content_number].first_byte + at, &word, sizeof word);
}

static uint32_t write_descriptor(compilation *c, uint32_t content_number, uint32_t at,
                                 const copy *d)
{
  add_fixup(c, content_number, at, d->source);
  add_fixup(c, content_number, at + 4, d->destination);
  put_word(c, content_number, at + 8, d->bytes);
  if (kind_of(d) == COPY_STRIDED) {
    put_word(c, content_number, at + 12, d->count);
    put_word(c, content_number, at + 16, (uint32_t)d->source_stride);
    put_word(c, content_number, at + 20, (uint32_t)d->destination_stride);
  }
  return 4 * copy_kinds[kind_of(d)].words;
}

static uint32_t add_descriptor_block(copying *k, uint32_t tile)
{
  compilation *c = k->l->c;
  uint32_t bytes = 0, at = 0;
  for (size_t i = 0; i < k->list.count; i++)
    bytes += 4 * copy_kinds[kind_of(&k->list.items[i])].words;
  uint32_t content_number = begin_content(c, bytes);
  for (size_t i = 0; i < k->list.count; i++)
    at += write_descriptor(c, content_number, at, &k->list.items[i]);
  return add_block(c, &(block){.tile = tile,
                               .size = bytes,
                               .align = 4,
                               .category = POP_MEMORY_COPY_DESCRIPTOR,
                               .flags = BLOCK_ALWAYS_LIVE | BLOCK_TABLE,
                               .name = k->name,
                               .content = content_number});
}

/* Descriptors first … end - 1 are of one worker and one kind. */
static size_t group_end(const copying *k, size_t first)
{
  size_t end = first + 1;
  while (end < k->list.count && k->list.items[end].worker == k->list.items[first].worker &&
         kind_of(&k->list.items[end]) == kind_of(&k->list.items[first]))
    end++;
  return end;
}

static uint32_t state_bytes(const lowering *l, const copy *d)
{
  return (l->copy_types[kind_of(d)]->state_size + 3) & ~3u;
}

/* The tile's copy vertices, one per worker and kind, with their states. */
static void add_copy_vertices(copying *k, uint32_t tile, uint32_t descriptor_block)
{
  compilation *c = k->l->c;
  tile_work work = {.tile = tile, .first_vertex = c->num_vertices};
  uint32_t bytes = 0, state = 0, at = 0;
  for (size_t i = 0; i < k->list.count; i = group_end(k, i))
    bytes += state_bytes(k->l, &k->list.items[i]);
  uint32_t content_number = begin_content(c, bytes);
  begin_vertex_uses(c, &work);
  for (size_t i = 0, end; i < k->list.count; i = end) {
    end = group_end(k, i);
    uint32_t type = used_copy_type(k->l, kind_of(&k->list.items[i]));
    profile_vertex_use use = {.type = type};
    const pop_field *field = &c->vertex_types[type].type->fields[0];
    uint32_t words = (uint32_t)(end - i) * copy_kinds[kind_of(&k->list.items[i])].words;
    add_fixup(c, content_number, state + field->offset, (place){descriptor_block, at});
    put_word(c, content_number, state + field->offset + 4, words);
    pop_push(c->vertices, c->num_vertices, c->vertices_capacity,
             (lowered_vertex){.type = type,
                              .graph_vertex = COMPILER_NONE,
                              .state_offset = state,
                              .worker = k->list.items[i].worker});
    c->vertex_types[type].num_instances++;
    use.bytes[PROFILE_DESCRIPTORS] = 4 * words;
    use.bytes[PROFILE_PADDING] =
        state_bytes(k->l, &k->list.items[i]) - c->vertex_types[type].type->state_size;
    add_state_bytes(&use, c->vertex_types[type].type, true);
    add_vertex_use(c, &work, &use);
    state += state_bytes(k->l, &k->list.items[i]);
    at += 4 * words;
  }
  work.num_vertices = (uint32_t)(c->num_vertices - work.first_vertex);
  work.state_block = add_block(c, &(block){.tile = tile,
                                           .size = bytes,
                                           .align = 4,
                                           .category = POP_MEMORY_VERTEX_INSTANCE_STATE,
                                           .flags = BLOCK_ALWAYS_LIVE | BLOCK_STATES,
                                           .name = k->name,
                                           .content = content_number});
  pop_push(c->works, c->num_works, c->works_capacity, work);
}

static void finish_tile(copying *k, uint32_t tile)
{
  share_among_workers(k);
  add_copy_vertices(k, tile, add_descriptor_block(k, tile));
  k->list.count = 0;
}

pop_error *lower_copies(lowering *l, const copy_list *copies, const char *name,
                        const char *all_names, step_list *steps)
{
  compilation *c = l->c;
  if (copies->count == 0) return NULL;
  if (!l->copy_types[0]) POP_TRY(load_copy_types(l));
  keyed *order = pop_xrealloc(NULL, copies->count, sizeof *order);
  for (size_t i = 0; i < copies->count; i++)
    order[i] = (keyed){.key = copies->items[i].tile, .index = (uint32_t)i};
  sort_keyed(order, copies->count);

  uint32_t step_number = add_step(l, STEP_EXECUTE, name, (uint32_t)c->num_compute_sets);
  lowered_compute_set set = {.name = name,
                             .all_names = all_names,
                             .graph_compute_set = COMPILER_NONE,
                             .first_work = c->num_works};
  copying k = {.l = l, .name = name, .num_workers = c->target.num_worker_contexts};
  begin_accesses(l, step_number);
  for (size_t i = 0; i < copies->count; i++) {
    const copy *next = &copies->items[order[i].index];
    record_read(l, next->source.block);
    record_write(l, next->destination.block, next->bytes * next->count);
    append_copy(&k.list, *next);
    if (i + 1 == copies->count || order[i + 1].key != next->tile) finish_tile(&k, next->tile);
  }
  end_accesses(l, step_number);
  set.num_works = c->num_works - set.first_work;
  pop_push(c->compute_sets, c->num_compute_sets, c->compute_sets_capacity, set);
  pop_push(steps->items, steps->count, steps->capacity, step_number);
  free(k.list.items);
  free(order);
  return NULL;
}
