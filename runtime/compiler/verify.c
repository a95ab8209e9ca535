/* Checks that the results of the passes hold to compilation.h. With debug.verify, and in all tests,
 * it runs after each pass: so a pass that breaks a rule is found right away, not by a wrong result
 * on some tile.
 *
 * It does not depend on how a pass works. What it finds is a mistake of the compiler:
 * POP_ERROR_INTERNAL. */
#include "compiler/verify.h"
#include "compiler/exchange/exchange.h"
#include "compiler/script.h"

#include <stdlib.h>

static pop_error *broken(const char *format, ...) POP_PRINTF(1, 2);
static pop_error *broken(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_INTERNAL, format, args);
  va_end(args);
  return error;
}

/* Is [first, first + count) within `size` items? */
static bool is_range(size_t first, size_t count, size_t size)
{
  return first <= size && count <= size - first;
}

/* Is the place in a block on `tile`, with room for `bytes` bytes? */
static bool is_place(const compilation *c, place p, uint64_t bytes, uint32_t tile)
{
  return p.block < c->num_blocks && c->blocks[p.block].tile == tile &&
         is_range(p.offset, bytes, c->blocks[p.block].size);
}

/* ---- blocks and contents ---- */

static pop_error *verify_block(const compilation *c, uint32_t number)
{
  const block *b = &c->blocks[number];
  const char *name = b->name ? b->name : "(null)";
  if (b->tile >= pop_target_num_tiles(&c->target))
    return broken("block %u ('%s') is on tile %u, which is not there", number, name, b->tile);
  if (!b->name || b->size == 0 || b->align < 4 || (b->align & (b->align - 1)) ||
      b->category >= POP_MEMORY_CATEGORY_COUNT)
    return broken("block %u ('%s') has %u bytes, alignment %u and category %u", number, name,
                  b->size, b->align, b->category);
  if (b->content == COMPILER_NONE) return NULL;
  if (b->content >= c->num_contents || c->contents[b->content].size > b->size)
    return broken("block %u ('%s') of %u bytes has content %u, which is larger or not there",
                  number, name, b->size, b->content);
  return NULL;
}

/* Bytes and addresses belong to one content each: contents are consecutive. */
static pop_error *verify_contents(const compilation *c)
{
  size_t byte = 0, next = 0;
  for (size_t i = 0; i < c->num_contents; i++) {
    const content *content = &c->contents[i];
    if (content->first_byte < byte || !is_range(content->first_byte, content->size, c->num_bytes))
      return broken("content %zu has bytes of another one, or that are not there", i);
    if (content->num_fixups &&
        (content->first_fixup < next ||
         !is_range(content->first_fixup, content->num_fixups, c->num_fixups)))
      return broken("content %zu has addresses of another one, or that are not there", i);
    byte = content->first_byte + content->size;
    if (content->num_fixups) next = content->first_fixup + content->num_fixups;
    for (size_t k = 0; k < content->num_fixups; k++) {
      const fixup *f = &c->fixups[content->first_fixup + k];
      uint32_t bytes = f->form == ADDRESS_WORD ? 4 : 2;
      if (f->form >= ADDRESS_FORM_COUNT || !is_range(f->at, bytes, content->size))
        return broken("content %zu has an address at byte %u of %u", i, f->at, content->size);
      if (f->target.block >= c->num_blocks || f->target.offset > c->blocks[f->target.block].size)
        return broken("content %zu has the address of byte %u of block %u, which is not there", i,
                      f->target.offset, f->target.block);
    }
  }
  return NULL;
}

/* Several blocks may share a content that was made for all of them. It must have no addresses,
 * since an address belongs to one tile. */
static pop_error *verify_owners(const compilation *c)
{
  uint32_t *owners = pop_xcalloc(c->num_contents + 1, sizeof *owners);
  pop_error *error = NULL;
  for (uint32_t i = 0; i < c->num_blocks && !error; i++) {
    const block *b = &c->blocks[i];
    if (b->content == COMPILER_NONE) continue;
    const content *content = &c->contents[b->content];
    if (owners[b->content]++ && content->num_fixups)
      error = broken("content %u has addresses, and block %u ('%s') is the second that has it",
                     b->content, i, b->name);
    for (size_t k = 0; k < content->num_fixups && !error; k++) {
      const place target = c->fixups[content->first_fixup + k].target;
      if (c->blocks[target.block].tile != b->tile)
        error = broken("block %u ('%s') of tile %u has an address of tile %u", i, b->name, b->tile,
                       c->blocks[target.block].tile);
    }
  }
  free(owners);
  return error;
}

static pop_error *verify_blocks(const compilation *c)
{
  for (uint32_t i = 0; i < c->num_blocks; i++) POP_TRY(verify_block(c, i));
  POP_TRY(verify_contents(c));
  return verify_owners(c);
}

/* ---- place ---- */

static pop_error *verify_intervals(const compilation *c)
{
  for (size_t v = 0; v < c->num_variables; v++) {
    const placed_variable *variable = &c->variables[v];
    uint64_t element_bytes = pop_type_bytes(variable->element_type), next = 0;
    if (!is_range(variable->first_interval, variable->num_intervals, c->num_intervals))
      return broken("variable '%s' has intervals that are not there", variable->name);
    for (size_t i = 0; i < variable->num_intervals; i++) {
      const placed_interval *interval = &c->intervals[variable->first_interval + i];
      if (interval->begin < next || interval->end <= interval->begin)
        return broken("elements [%llu, %llu) of variable '%s' are there twice or out of order",
                      (unsigned long long)interval->begin, (unsigned long long)interval->end,
                      variable->name);
      next = interval->end;
      if (!is_place(c, interval->at, (interval->end - interval->begin) * element_bytes,
                    interval->tile))
        return broken("elements [%llu, %llu) of variable '%s' are not on tile %u",
                      (unsigned long long)interval->begin, (unsigned long long)interval->end,
                      variable->name, interval->tile);
    }
  }
  return NULL;
}

/* ---- lower ---- */

static pop_error *verify_work(const compilation *c, const tile_work *work)
{
  if (!is_range(work->first_vertex, work->num_vertices, c->num_vertices) ||
      !is_range(work->first_use, work->num_uses, c->num_vertex_uses))
    return broken("the work of tile %u has vertices that are not there", work->tile);
  if (!is_place(c, (place){work->state_block, 0}, 1, work->tile))
    return broken("the states of vertices of tile %u are not there", work->tile);
  for (size_t i = 0; i < work->num_vertices; i++) {
    const lowered_vertex *v = &c->vertices[work->first_vertex + i];
    bool is_worker = v->worker < c->target.num_worker_contexts || v->worker == ON_SUPERVISOR ||
                     v->worker == ON_ALL_WORKERS;
    if (v->type >= c->num_vertex_types || !is_worker ||
        v->state_offset > c->blocks[work->state_block].size) /* a vertex may have no state */
      return broken("vertex %zu of the work of tile %u has type %u, worker %u and state at %u", i,
                    work->tile, v->type, v->worker, v->state_offset);
  }
  return NULL;
}

static pop_error *verify_compute_sets(const compilation *c)
{
  for (size_t s = 0; s < c->num_compute_sets; s++) {
    const lowered_compute_set *set = &c->compute_sets[s];
    if (!is_range(set->first_work, set->num_works, c->num_works))
      return broken("compute set '%s' has works that are not there", set->name);
    for (size_t i = 0; i < set->num_works; i++) {
      const tile_work *work = &c->works[set->first_work + i];
      if (i && work->tile <= work[-1].tile)
        return broken("compute set '%s' has work of tile %u twice or out of order", set->name,
                      work->tile);
      POP_TRY(verify_work(c, work));
    }
  }
  return NULL;
}

static pop_error *verify_messages(const compilation *c)
{
  for (size_t i = 0; i < c->num_messages; i++) {
    const message *m = &c->messages[i];
    if (!is_range(m->first_receiver, m->num_receivers, c->num_receivers) || m->source.offset % 4 ||
        !is_place(c, m->source, 4ull * m->num_words, m->source_tile))
      return broken("message %zu of %u words is not on tile %u", i, m->num_words, m->source_tile);
    for (size_t r = 0; r < m->num_receivers; r++) {
      const receiver *to = &c->receivers[m->first_receiver + r];
      if (to->destination.offset % 4 ||
          !is_place(c, to->destination, 4ull * m->num_words, to->tile))
        return broken("message %zu of %u words has no room on tile %u", i, m->num_words, to->tile);
    }
  }
  return NULL;
}

static pop_error *verify_step(const compilation *c, size_t number)
{
  const step *s = &c->steps[number];
  if (!is_range(s->first_child, s->num_children, c->num_children) ||
      !is_range(s->first_access, s->num_accesses, c->num_accesses))
    return broken("step %zu ('%s') has children or accesses that are not there", number, s->name);
  for (size_t i = 0; i < s->num_children; i++)
    if (c->children[s->first_child + i] >= c->num_steps)
      return broken("step %zu ('%s') has a child that is not there", number, s->name);
  for (size_t i = 0; i < s->num_accesses; i++) {
    const block_access *a = &c->accesses[s->first_access + i];
    if (a->block >= c->num_blocks || a->bytes_written > c->blocks[a->block].size)
      return broken("step %zu ('%s') writes %u bytes of block %u", number, s->name,
                    a->bytes_written, a->block);
  }
  return NULL;
}

static pop_error *verify_steps(const compilation *c)
{
  for (size_t i = 0; i < c->num_steps; i++) POP_TRY(verify_step(c, i));
  for (size_t i = 0; i < c->num_control_programs; i++)
    if (c->control_programs[i] >= c->num_steps)
      return broken("program %zu is step %u, which is not there", i, c->control_programs[i]);
  for (size_t i = 0; i < c->num_host_tensors; i++) {
    const host_tensor *t = &c->host_tensors[i];
    uint64_t bytes = 0;
    if (!is_range(t->first_run, t->num_runs, c->num_host_runs))
      return broken("host tensor '%s' has runs that are not there", t->name);
    for (size_t k = 0; k < t->num_runs; k++) {
      const host_run *run = &c->host_runs[t->first_run + k];
      if (!is_place(c, run->at, run->bytes, run->tile))
        return broken("run %zu of host tensor '%s' is not on tile %u", k, t->name, run->tile);
      bytes += run->bytes;
    }
    if (bytes != t->num_elements * pop_type_bytes(t->type))
      return broken("host tensor '%s' has runs of %llu bytes", t->name, (unsigned long long)bytes);
  }
  return NULL;
}

static pop_error *verify_lowered(const compilation *c)
{
  POP_TRY(verify_compute_sets(c));
  POP_TRY(verify_messages(c));
  return verify_steps(c);
}

/* ---- exchange ---- */

static pop_error *verify_exchanges(const compilation *c)
{
  for (size_t i = 0; i < c->num_exchanges; i++) {
    pop_error *error = verify_exchange(c, &c->exchanges[i]);
    if (error)
      return pop_error_prefix(error, "the plan of exchange '%s' is wrong", c->exchanges[i].name);
  }
  return NULL;
}

/* ---- liveness ---- */

/* Each use of a block is inside its live range. */
static pop_error *verify_live_ranges(const compilation *c, const script *s)
{
  for (uint32_t i = 0; i < c->num_blocks; i++) {
    const block *b = &c->blocks[i];
    if (b->flags & BLOCK_ALWAYS_LIVE) continue;
    if (b->first_step > b->last_step || b->last_step >= s->num_ops)
      return broken("block %u ('%s') lives from step %u to %u of %zu", i, b->name, b->first_step,
                    b->last_step, s->num_ops);
    if (b->content != COMPILER_NONE)
      return broken("block %u ('%s') has a content and does not always live", i, b->name);
  }
  for (uint32_t op = 0; op < s->num_ops; op++) {
    const step *user = script_accesses(c, s, op);
    for (size_t i = 0; user && i < user->num_accesses; i++) {
      uint32_t number = c->accesses[user->first_access + i].block;
      const block *b = &c->blocks[number];
      if (!(b->flags & BLOCK_ALWAYS_LIVE) && (op < b->first_step || op > b->last_step))
        return broken("step %u ('%s') uses block %u ('%s'), which lives from step %u to %u", op,
                      user->name, number, b->name, b->first_step, b->last_step);
    }
  }
  return NULL;
}

static pop_error *verify_liveness(const compilation *c)
{
  script s = {0};
  script_build(c, &s);
  pop_error *error = verify_live_ranges(c, &s);
  script_free(&s);
  return error;
}

/* ---- emit ---- */

static pop_error *verify_code(const compilation *c)
{
  for (uint32_t t = 0; t < pop_target_num_tiles(&c->target); t++) {
    const tile_layout *layout = &c->tiles[t];
    if (!is_place(c, (place){layout->control_code, 0}, 4, t) ||
        !(c->blocks[layout->control_code].flags & BLOCK_CODE))
      return broken("tile %u has no control code", t);
    if (!is_range(layout->first_patch, layout->num_patches, c->num_code_patches))
      return broken("tile %u has code patches that are not there", t);
    for (size_t i = 0; i < layout->num_patches; i++) {
      const code_patch *p = &c->code_patches[layout->first_patch + i];
      if (!is_place(c, p->at, p->kind == PATCH_LUI_ADDI ? 8 : 4, t) ||
          !is_place(c, p->target, 0, t))
        return broken("code of tile %u has the address of byte %u of block %u, which is not there",
                      t, p->target.offset, p->target.block);
    }
  }
  return NULL;
}

static bool has_part(const compilation *c, const exchange *x, const acknowledged_row *row)
{
  for (size_t i = 0; i < x->num_tiles; i++)
    if (c->tile_exchanges[x->first_tile + i].tile - row->first_tile < row->num_tiles) return true;
  return false;
}

static bool has_work(const compilation *c, const lowered_compute_set *set,
                     const acknowledged_row *row)
{
  for (size_t i = 0; i < set->num_works; i++) {
    const tile_work *work = &c->works[set->first_work + i];
    if (work->tile - row->first_tile < row->num_tiles && work->num_vertices) return true;
  }
  return false;
}

/* May the op happen without the tiles of the row? */
static bool is_skipped_by(const compilation *c, const script_op *op, const acknowledged_row *row,
                          uint32_t zone)
{
  uint32_t index = c->steps[op->step].index;
  if (op->kind == SCRIPT_WRITE_UNDEF) return true;
  if (op->kind == SCRIPT_EXECUTE) return !has_work(c, &c->compute_sets[index], row);
  return op->kind == SCRIPT_EXCHANGE && c->exchanges[index].zone == zone &&
         !has_part(c, &c->exchanges[index], row);
}

/* Tiles that acknowledge exchanges in advance have no part in them, and nothing to do until the
 * last has happened. */
static pop_error *verify_rows(const compilation *c, const script *s)
{
  for (size_t i = 0; i < c->num_acknowledged; i++) {
    const acknowledged_row *row = &c->acknowledged[i];
    if (row->first >= row->last || row->last >= s->num_ops ||
        s->ops[row->first].kind != SCRIPT_EXCHANGE || s->ops[row->last].kind != SCRIPT_EXCHANGE ||
        !is_range(row->first_tile, row->num_tiles, pop_target_num_tiles(&c->target)))
      return broken("tiles acknowledge steps %u to %u, which are no row of exchanges", row->first,
                    row->last);
    uint32_t zone = c->exchanges[c->steps[s->ops[row->first].step].index].zone;
    for (uint32_t op = row->first; op <= row->last; op++)
      if (!is_skipped_by(c, &s->ops[op], row, zone))
        return broken("%u tiles from tile %u on acknowledge steps %u to %u, and have a part in %u",
                      row->num_tiles, row->first_tile, row->first, row->last, op);
  }
  return NULL;
}

static pop_error *verify_acknowledged(const compilation *c)
{
  script s = {0};
  script_build(c, &s);
  pop_error *error = verify_rows(c, &s);
  script_free(&s);
  return error;
}

/* ---- allocate ---- */

static bool live_together(const block *a, const block *b)
{
  return ((a->flags | b->flags) & BLOCK_ALWAYS_LIVE) ||
         (a->first_step <= b->last_step && b->first_step <= a->last_step);
}

static pop_error *verify_address(const compilation *c, const block *b, uint32_t end)
{
  uint64_t behind = (uint64_t)b->address + b->size;
  bool in_place =
      b->address >= c->target.memory_base && b->address % b->align == 0 && behind <= end;
  if ((b->flags & BLOCK_CODE) && behind > c->target.interleaved_base) in_place = false;
  if ((b->flags & BLOCK_INTERLEAVED) && b->address < c->target.interleaved_base) in_place = false;
  if (in_place) return NULL;
  return broken("block '%s' of tile %u, %u bytes aligned to %u, cannot be at 0x%x", b->name,
                b->tile, b->size, b->align, b->address);
}

/* `active`: scratch with room for all blocks of the tile: blocks that extend past the address of
 * the next one. */
static pop_error *verify_tile(const compilation *c, uint32_t tile, uint32_t *active)
{
  const tile_layout *layout = &c->tiles[tile];
  const uint32_t *numbers = c->blocks_by_tile + layout->first_block;
  size_t num_active = 0;
  for (size_t i = 0; i < layout->num_blocks; i++) {
    const block *b = &c->blocks[numbers[i]];
    size_t kept = 0;
    if (b->tile != tile || (i && b->address < c->blocks[numbers[i - 1]].address))
      return broken("the blocks of tile %u are not in the order of their addresses", tile);
    POP_TRY(verify_address(c, b, layout->end));
    for (size_t k = 0; k < num_active; k++) {
      const block *other = &c->blocks[active[k]];
      if ((uint64_t)other->address + other->size <= b->address) continue;
      if (live_together(b, other))
        return broken("blocks '%s' and '%s' of tile %u are both at 0x%x at the same time",
                      other->name, b->name, tile, b->address);
      active[kept++] = active[k];
    }
    num_active = kept;
    active[num_active++] = numbers[i];
  }
  return NULL;
}

/* Overfull tiles are skipped: their blocks have addresses, but some are out of place. */
static pop_error *verify_addresses(const compilation *c)
{
  uint32_t *active = pop_xcalloc(c->num_blocks + 1, sizeof *active);
  size_t known = 0;
  pop_error *error = NULL;
  for (uint32_t t = 0; t < pop_target_num_tiles(&c->target) && !error; t++) {
    const tile_layout *layout = &c->tiles[t];
    known += layout->num_blocks;
    if (!is_range(layout->first_block, layout->num_blocks, c->num_blocks))
      error = broken("tile %u has blocks that are not there", t);
    else if (layout->shortage == 0)
      error = verify_tile(c, t, active);
  }
  free(active);
  if (!error && known != c->num_blocks)
    error = broken("%zu of %zu blocks have addresses", known, c->num_blocks);
  return error;
}

/* ---- account ---- */

static pop_error *verify_account(const compilation *c)
{
  for (uint32_t t = 0; t < pop_target_num_tiles(&c->target); t++) {
    const pop_tile_memory *memory = &c->memory[t];
    if (memory->total_including_gaps != c->tiles[t].end - c->target.memory_base ||
        memory->total > memory->total_including_gaps || memory->most_live > memory->total)
      return broken("tile %u is said to have %u bytes, %u with gaps, %u live", t, memory->total,
                    memory->total_including_gaps, memory->most_live);
  }
  return NULL;
}

pop_error *verify_compilation(const compilation *c, compile_pass last)
{
  if (last >= COMPILE_PLACE) POP_TRY(verify_blocks(c));
  if (last >= COMPILE_PLACE) POP_TRY(verify_intervals(c));
  if (last >= COMPILE_LOWER) POP_TRY(verify_lowered(c));
  if (last == COMPILE_EXCHANGE) POP_TRY(verify_exchanges(c));
  if (last >= COMPILE_LIVENESS) POP_TRY(verify_liveness(c));
  if (last >= COMPILE_EMIT) POP_TRY(verify_code(c));
  if (last == COMPILE_EMIT) POP_TRY(verify_acknowledged(c));
  if (last >= COMPILE_ALLOCATE) POP_TRY(verify_addresses(c));
  if (last >= COMPILE_ACCOUNT) POP_TRY(verify_account(c));
  return NULL;
}
