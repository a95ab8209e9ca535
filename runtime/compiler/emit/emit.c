/* Emit: turns steps into words. Adds these blocks for each tile:
 *
 *   stack.supervisor, stack.worker0 …   (tiles without vertices: only the supervisor's)
 *   worker.stub     what tile.runall starts: sets up the worker, calls its vertices one by one
 *   worker.list_stub   the same for workers that a supervisor vertex starts by tile.run
 *   table.<compute set>   for each worker that has vertices: the address of its list and the end of
 *                   its stack; then the lists: (function, state) …, 0. Multi vertices come first in
 *                   each worker's list. Workers with no other vertices share one list. If vertices
 *                   are measured, each worker has a list of its own, which begins with the address
 *                   for their cycles
 *   <exchange>      exchange code of the tile
 *   control         the supervisor's code
 *
 * Addresses are still open: tables refer to functions and states by fixups, code by patches
 * (relocations).
 *
 * Needs:   the steps, the exchange instructions, the code groups and the sizes of stacks.
 * Adds:    the blocks above, code_patches, block_marks, measures, acknowledged.
 * Then:    no block is added, and all sizes are final.
 */
#include "compiler/emit/blocks.h"
#include "compiler/emit/instrument.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

uint32_t emitter_add_code(emitter *e, assembler *code, pop_memory_category category,
                          const char *name)
{
  compilation *c = e->c;
  uint32_t size = (uint32_t)code->num_words * 4;
  block b = {.tile = e->tile,
             .size = size,
             .align = 4,
             .category = (uint8_t)category,
             .flags = BLOCK_CODE | BLOCK_ALWAYS_LIVE,
             .name = name,
             .content = begin_content(c, size)};
  memcpy(c->bytes + c->contents[b.content].first_byte, code->words, size);
  uint32_t index = add_block(c, &b);
  for (size_t i = 0; i < code->num_patches; i++) {
    code_patch patch = code->patches[i];
    patch.at.block = index;
    pop_push(c->code_patches, c->num_code_patches, c->code_patches_capacity, patch);
  }
  free(code->words);
  free(code->patches);
  *code = (assembler){0};
  return index;
}

/* The supervisor's stack comes first: an overflow of worker 0's runs into it and is noticed. */
static void add_stacks(emitter *e)
{
  static const char *const names[] = {"stack.worker0", "stack.worker1", "stack.worker2",
                                      "stack.worker3", "stack.worker4", "stack.worker5"};
  compilation *c = e->c;
  tile_layout *layout = &c->tiles[e->tile];
  uint32_t num_workers = c->target.num_worker_contexts;
  assert(num_workers <= sizeof names / sizeof *names); /* compile() checks the target */
  block b = {.tile = e->tile,
             .size = e->supervisor_stack_bytes + layout->supervisor_vertex_stack_bytes,
             .align = 16,
             .category = POP_MEMORY_STACK,
             .flags = BLOCK_ALWAYS_LIVE,
             .name = "stack.supervisor",
             .content = COMPILER_NONE};
  layout->stack_blocks[num_workers] = add_block(c, &b);
  if (layout->code_group == COMPILER_NONE) return;
  b.size = layout->worker_stack_bytes;
  for (uint32_t w = 0; w < num_workers; w++) {
    b.name = names[w];
    layout->stack_blocks[w] = add_block(c, &b);
  }
}

/* reg = start + s1 * stride bytes */
static void put_share_of_context(assembler *a, uint32_t reg, place start, uint32_t stride)
{
  put_constant(a, T1, stride);
  put(a, rv_mul(T1, S1, T1));
  put_address(a, reg, start);
  put(a, rv_add(reg, reg, T1));
}

static void put_thread_pointer(emitter *e, assembler *a)
{
  const tile_layout *layout = &e->c->tiles[e->tile];
  uint32_t tls = layout->linked_blocks[POP_LINK_TLS];
  if (tls != COMPILER_NONE)
    put_share_of_context(a, TP, (place){tls, 0},
                         tls_stride_bytes(e->c->code_groups[layout->code_group].live));
}

static place stack_end(const emitter *e, uint32_t worker)
{
  const tile_layout *layout = &e->c->tiles[e->tile];
  return (place){layout->stack_blocks[worker], layout->worker_stack_bytes};
}

/* Calls the vertices of the list in s0, then exits. A function gets its state in a0 and the
 * worker's number (from s1) in a1. Measured: the cycles of the calls are stored where s2 points. */
static void put_worker_calls(assembler *a, bool measured)
{
  put(a, rv_lw(T0, S0, 0));
  size_t loop = a->num_words;
  put(a, rv_lw(T1, S0, 4));
  put(a, rv_addi(S0, S0, 8));
  put(a, rv_addi(A1, S1, 0));
  if (measured) put(a, rv_rdcycle(S3));
  put_tile_op(a, TILE_CALL, 0, T0, T1);
  if (measured) {
    put(a, rv_rdcycle(T0));
    put(a, rv_sub(T0, T0, S3));
    put(a, rv_sw(T0, S2, 0));
    put(a, rv_addi(S2, S2, 4));
  }
  put(a, rv_lw(T0, S0, 0));
  put(a, rv_branch(OP_BNE, T0, ZERO, ((int32_t)loop - (int32_t)a->num_words) * 4));
  put_tile_op(a, TILE_EXIT, 0, 0, 0);
}

/* On entry a0 = the worker's row of a control table. */
static void add_worker_stub(emitter *e)
{
  assembler a = {0};
  bool measured = instruments_vertices(e->c);
  put_tile_op(&a, TILE_CONTEXT, S1, 0, 0);
  put(&a, rv_lw(S0, A0, 0));
  put(&a, rv_lw(SP, A0, 4));
  put_thread_pointer(e, &a);
  if (measured) {
    put(&a, rv_lw(S2, S0, 0));
    put(&a, rv_addi(S0, S0, 4));
  }
  put_worker_calls(&a, measured);
  e->stub = emitter_add_code(e, &a, POP_MEMORY_CONTROL_CODE, "worker.stub");
}

/* On entry a0 = a list that a vertex has made (populus/workers.h). The cycles of that vertex
 * include those of its workers. */
uint32_t emitter_list_stub(emitter *e)
{
  if (e->list_stub != COMPILER_NONE) return e->list_stub;
  assembler a = {0};
  put_tile_op(&a, TILE_CONTEXT, S1, 0, 0);
  put_share_of_context(&a, SP, stack_end(e, 0), e->c->tiles[e->tile].worker_stack_bytes);
  put_thread_pointer(e, &a);
  put(&a, rv_addi(S0, A0, 0));
  put_worker_calls(&a, false);
  e->list_stub = emitter_add_code(e, &a, POP_MEMORY_CONTROL_CODE, "worker.list_stub");
  return e->list_stub;
}

/* ---- control tables ---- */

const tile_work *emitter_find_work(emitter *e, uint32_t compute_set)
{
  const compilation *c = e->c;
  const lowered_compute_set *set = &c->compute_sets[compute_set];
  size_t *next = &e->next_work[compute_set];
  while (*next < set->num_works && c->works[set->first_work + *next].tile < e->tile) ++*next;
  if (*next == set->num_works || c->works[set->first_work + *next].tile != e->tile) return NULL;
  return &c->works[set->first_work + *next];
}

/* The entry of a vertex type in the code block of the tile. */
static place entry_of(emitter *e, uint32_t type)
{
  const compilation *c = e->c;
  uint32_t group = c->tiles[e->tile].code_group;
  if (e->entries_of != group) {
    memset(e->entry_offsets, 0xff, c->num_vertex_types * sizeof *e->entry_offsets);
    e->entries_of = group;
  }
  if (e->entry_offsets[type] == COMPILER_NONE) {
    const pop_link_addresses from_zero = {{0}};
    uint32_t size;
    bool found = pop_live_sections_symbol(c->code_groups[group].live, &from_zero,
                                          c->vertex_types[type].type->symbol,
                                          &e->entry_offsets[type], &size);
    assert(found); /* it was a root of the live sections */
    (void)found;
  }
  return (place){c->tiles[e->tile].linked_blocks[POP_LINK_CODE], e->entry_offsets[type]};
}

vertex_call emitter_call(emitter *e, const tile_work *work, uint32_t position)
{
  const lowered_vertex *v = &e->c->vertices[work->first_vertex + position];
  return (vertex_call){entry_of(e, v->type), {work->state_block, v->state_offset}};
}

static uint32_t count_from(const compilation *c, const tile_work *work, uint32_t position,
                           uint32_t worker)
{
  uint32_t end = position;
  while (end < work->num_vertices && c->vertices[work->first_vertex + end].worker == worker) end++;
  return end - position;
}

work_shares share_work(const compilation *c, const tile_work *work)
{
  work_shares s = {.measured = instruments_vertices(c)};
  s.num_supervisor = count_from(c, work, 0, ON_SUPERVISOR);
  s.num_all = count_from(c, work, s.num_supervisor, ON_ALL_WORKERS);
  uint32_t next = s.num_supervisor + s.num_all;
  for (uint32_t w = 0; w < c->target.num_worker_contexts; w++)
    next += s.num_own[w] = count_from(c, work, next, w);
  assert(next == work->num_vertices);
  return s;
}

static uint32_t num_calls(const work_shares *shares)
{
  uint32_t calls = shares->num_supervisor;
  for (uint32_t w = 0; w < MAX_WORKER_CONTEXTS; w++) calls += list_calls(shares, w);
  return calls;
}

place emitter_vertex_cycles(emitter *e, uint32_t compute_set, const tile_work *work)
{
  instrumented *done = &e->instrumented[MEASURE_VERTICES];
  if (done->stamp[compute_set] != e->tile + 1) {
    work_shares shares = share_work(e->c, work);
    done->stamp[compute_set] = e->tile + 1;
    done->offset[compute_set] = instrument_vertices(e, work, num_calls(&shares)).offset;
  }
  return (place){e->results, done->offset[compute_set]};
}

uint32_t num_started(const work_shares *shares)
{
  uint32_t count = 0;
  while (count < MAX_WORKER_CONTEXTS && list_calls(shares, count)) count++;
  for (uint32_t w = count; w < MAX_WORKER_CONTEXTS; w++)
    assert(list_calls(shares, w) == 0); /* lowering gives vertices to the first workers */
  return count;
}

/* Does the worker share the list of the one before it? The first workers have vertices of their
 * own. */
static bool shares_list(const work_shares *shares, uint32_t worker)
{
  return worker > 0 && !shares->measured && !shares->num_own[worker] &&
         !shares->num_own[worker - 1];
}

static uint32_t table_bytes(const work_shares *shares)
{
  uint32_t bytes = 0, count = num_started(shares);
  for (uint32_t w = 0; w < count; w++)
    bytes += 8 + (shares_list(shares, w) ? 0 : list_bytes(shares, w));
  return bytes;
}

static const char *table_name(emitter *e, uint32_t compute_set)
{
  if (!e->table_names[compute_set])
    e->table_names[compute_set] =
        pop_arena_printf(e->c->arena, "table.%s", e->c->compute_sets[compute_set].name);
  return e->table_names[compute_set];
}

/* Returns where the next entry goes. */
static uint32_t add_entries(emitter *e, const tile_work *work, uint32_t first, uint32_t count,
                            uint32_t content, uint32_t at)
{
  for (uint32_t i = 0; i < count; i++, at += 8) {
    vertex_call call = emitter_call(e, work, first + i);
    add_fixup(e->c, content, at, call.entry);
    add_fixup(e->c, content, at + 4, call.state);
  }
  return at;
}

static uint32_t add_control_table(emitter *e, uint32_t compute_set, const tile_work *work)
{
  compilation *c = e->c;
  work_shares shares = share_work(c, work);
  block b = {.tile = e->tile,
             .size = table_bytes(&shares),
             .align = 4,
             .category = POP_MEMORY_CONTROL_TABLE,
             .flags = BLOCK_ALWAYS_LIVE | BLOCK_TABLE,
             .name = table_name(e, compute_set)};
  b.content = begin_content(c, b.size);
  uint32_t count = num_started(&shares), own = shares.num_supervisor + shares.num_all;
  uint32_t at = 8 * count, lists[MAX_WORKER_CONTEXTS];
  place cycles = {0};
  if (shares.measured) {
    cycles = emitter_vertex_cycles(e, compute_set, work);
    cycles.offset += 4 * shares.num_supervisor;
  }
  for (uint32_t w = 0; w < count; own += shares.num_own[w], w++) {
    lists[w] = shares_list(&shares, w) ? lists[w - 1] : at;
    if (lists[w] != at) continue;
    if (shares.measured) {
      add_fixup(c, b.content, at, cycles);
      cycles.offset += 4 * list_calls(&shares, w);
      at += 4;
    }
    at = add_entries(e, work, shares.num_supervisor, shares.num_all, b.content, at);
    at = add_entries(e, work, own, shares.num_own[w], b.content, at);
    at += 4; /* the zero that ends a list */
  }
  uint32_t table = add_block(c, &b);
  for (uint32_t w = 0; w < count; w++) {
    add_fixup(c, b.content, 8 * w, (place){table, lists[w]});
    add_fixup(c, b.content, 8 * w + 4, stack_end(e, w));
  }
  return table;
}

uint32_t emitter_control_table(emitter *e, uint32_t compute_set, const tile_work *work)
{
  if (e->table_stamp[compute_set] != e->tile + 1) {
    e->table_stamp[compute_set] = e->tile + 1;
    e->control_table[compute_set] = add_control_table(e, compute_set, work);
  }
  return e->control_table[compute_set];
}

/* ---- the pass ---- */

static pop_error *emit_tile(emitter *e)
{
  compilation *c = e->c;
  tile_layout *layout = &c->tiles[e->tile];
  layout->first_patch = c->num_code_patches;
  layout->first_mark = c->num_block_marks;
  add_stacks(e);
  e->stub = e->list_stub = COMPILER_NONE;
  if (layout->code_group != COMPILER_NONE) add_worker_stub(e);
  POP_TRY(emit_control_code(e));
  end_instrumentation(e);
  layout->control_code = emitter_add_code(e, &e->code, POP_MEMORY_CONTROL_CODE, "control");
  layout->num_patches = c->num_code_patches - layout->first_patch;
  layout->num_marks = c->num_block_marks - layout->first_mark;
  return NULL;
}

static void start_emitter(emitter *e)
{
  const compilation *c = e->c;
  script_build(c, &e->script);
  e->next_work = pop_xcalloc(c->num_compute_sets + 1, sizeof *e->next_work);
  e->control_table = pop_xcalloc(c->num_compute_sets + 1, sizeof *e->control_table);
  e->table_stamp = pop_xcalloc(c->num_compute_sets + 1, sizeof *e->table_stamp);
  e->table_names = pop_xcalloc(c->num_compute_sets + 1, sizeof *e->table_names);
  e->next_exchange = pop_xcalloc(c->num_exchanges + 1, sizeof *e->next_exchange);
  e->exchange_code = pop_xcalloc(c->num_exchanges + 1, sizeof *e->exchange_code);
  e->exchange_stamp = pop_xcalloc(c->num_exchanges + 1, sizeof *e->exchange_stamp);
  e->next_packet = pop_xcalloc(c->num_host_exchanges + 1, sizeof *e->next_packet);
  e->host_code = pop_xcalloc(c->num_host_exchanges + 1, sizeof *e->host_code);
  e->host_stamp = pop_xcalloc(c->num_host_exchanges + 1, sizeof *e->host_stamp);
  e->entry_offsets = pop_xcalloc(c->num_vertex_types + 1, sizeof *e->entry_offsets);
  e->entries_of = COMPILER_NONE;
  e->shared_at = pop_xcalloc(e->script.num_ops + 1, sizeof *e->shared_at);
  e->last_row = pop_xcalloc(e->script.num_ops + 1, sizeof *e->last_row);
  start_instrumentation(e);
  start_blocks(e);
  uint32_t needed = (script_stack_bytes(&e->script) + 15) / 16 * 16;
  uint32_t asked = c->options.supervisor_stack_bytes;
  e->supervisor_stack_bytes = needed > asked ? needed : asked;
  if (e->supervisor_stack_bytes == 0) e->supervisor_stack_bytes = 16;
}

static void free_emitter(emitter *e)
{
  script_free(&e->script);
  free(e->code.words);
  free(e->code.patches);
  free(e->next_work);
  free(e->control_table);
  free(e->table_stamp);
  free(e->table_names);
  free(e->next_exchange);
  free(e->exchange_code);
  free(e->exchange_stamp);
  free(e->next_packet);
  free(e->host_code);
  free(e->host_stamp);
  free(e->entry_offsets);
  free(e->shared_at);
  free(e->last_row);
  free_instrumentation(e);
  free_blocks(e);
}

pop_error *pass_emit(compilation *c)
{
  emitter e = {.c = c};
  start_emitter(&e);
  pop_error *error = NULL;
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  for (e.tile = 0; e.tile < num_tiles && !error; e.tile++) error = emit_tile(&e);
  free_emitter(&e);
  return error;
}
