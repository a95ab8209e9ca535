/* Describes a compilation as an executable: what an engine needs to know (executable/executable.h).
 *
 * Tiles that are alike share rows. A row is added at the end of its array. If a row with the same
 * bytes exists already, the new one is dropped.
 */
#include "compiler/describe/describe.h"

#include <populus/gp.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- rows by their content ---- */

/* A hash table of the rows of one array. `slots` holds row numbers. */
typedef struct row_index {
  executable_row *rows;
  size_t num_rows, rows_capacity;
  uint32_t *slots; /* a power of two; EXECUTABLE_NONE: free */
  size_t num_slots;
} row_index;

static size_t slot_of(const row_index *x, const uint8_t *items, size_t item_bytes,
                      const executable_row *row)
{
  const uint8_t *bytes = items + row->first * item_bytes;
  size_t size = row->count * item_bytes, slot = XXH3_64bits(bytes, size) & (x->num_slots - 1);
  for (; x->slots[slot] != EXECUTABLE_NONE; slot = (slot + 1) & (x->num_slots - 1)) {
    const executable_row *other = &x->rows[x->slots[slot]];
    if (other->count == row->count && memcmp(items + other->first * item_bytes, bytes, size) == 0)
      break;
  }
  return slot;
}

static void grow_slots(row_index *x, const void *items, size_t item_bytes)
{
  if (x->num_rows < x->num_slots / 2) return;
  x->num_slots = x->num_slots ? 2 * x->num_slots : 64;
  x->slots = pop_xrealloc(x->slots, x->num_slots, sizeof *x->slots);
  memset(x->slots, 0xff, x->num_slots * sizeof *x->slots);
  for (uint32_t i = 0; i < x->num_rows; i++)
    x->slots[slot_of(x, items, item_bytes, &x->rows[i])] = i;
}

/* The number of the row with the content of `row`, which is at the end of `items`. If that row
 * exists already, *num_items is reset to drop the new one. */
static uint32_t row_number(row_index *x, const void *items, size_t item_bytes, executable_row row,
                           size_t *num_items)
{
  grow_slots(x, items, item_bytes);
  size_t slot = slot_of(x, items, item_bytes, &row);
  if (x->slots[slot] == EXECUTABLE_NONE) {
    x->slots[slot] = (uint32_t)x->num_rows;
    pop_push(x->rows, x->num_rows, x->rows_capacity, row);
  } else {
    *num_items = row.first;
  }
  return x->slots[slot];
}

static void free_index(row_index *x)
{
  free(x->rows);
  free(x->slots);
}

/* ---- host ---- */

static executable_tensor_kind tensor_kind(const host_tensor *tensor)
{
  static const executable_tensor_kind kinds[] = {
      [HOST_WRITE] = EXECUTABLE_WRITE,
      [HOST_READ] = EXECUTABLE_READ,
      [HOST_PRINT] = EXECUTABLE_PRINT,
      [HOST_COMPARE] = EXECUTABLE_COMPARE,
      [HOST_REPLICA_INDEX] = EXECUTABLE_REPLICA_INDEX,
  };
  return kinds[tensor->kind];
}

static const size_t *copy_shape(pop_executable *e, const size_t *from, uint32_t rank)
{
  size_t bytes = rank * sizeof *from;
  size_t *shape = executable_new_shape(e, rank);
  if (bytes) memcpy(shape, from, bytes);
  return shape;
}

static void describe_tensor(const compilation *c, const host_tensor *tensor, pop_executable *e)
{
  executable_tensor described = {.name = pop_arena_strdup(e->arena, tensor->name),
                                 .kind = tensor_kind(tensor),
                                 .type = tensor->type,
                                 .rank = tensor->rank,
                                 .shape = copy_shape(e, tensor->shape, tensor->rank),
                                 .num_elements = tensor->num_elements,
                                 .num_replicas = tensor->num_replicas,
                                 .first_run = e->num_runs,
                                 .num_runs = tensor->num_runs};
  for (size_t i = 0; i < tensor->num_runs; i++) {
    const host_run *run = &c->host_runs[tensor->first_run + i];
    pop_push(e->runs, e->num_runs, e->runs_capacity,
             (memory_range){run->tile, place_address(c, run->at), run->bytes});
  }
  pop_push(e->tensors, e->num_tensors, e->tensors_capacity, described);
}

static void describe_stream(const stream_info *stream, pop_executable *e)
{
  pop_push(e->streams, e->num_streams, e->streams_capacity,
           (executable_stream){.name = pop_arena_strdup(e->arena, stream->name),
                               .type = stream->type,
                               .to_device = stream->to_device,
                               .is_used = stream->is_used,
                               .broadcast = stream->mode == POP_STREAM_BROADCAST,
                               .num_elements = stream->num_elements,
                               .depth = stream->depth,
                               .replica = stream->replica,
                               .num_replicas = stream->num_replicas});
}

static void describe_remote_buffer(const remote_info *buffer, pop_executable *e)
{
  pop_push(e->remote_buffers, e->num_remote_buffers, e->remote_buffers_capacity,
           (executable_remote_buffer){.name = pop_arena_strdup(e->arena, buffer->name),
                                      .type = buffer->type,
                                      .is_used = buffer->is_used,
                                      .num_elements = buffer->num_elements,
                                      .repeats = buffer->repeats,
                                      .replica = buffer->replica,
                                      .num_replicas = buffer->num_replicas});
}

static void describe_windows(const compilation *c, uint32_t exchange, pop_executable *e)
{
  const host_exchange *of = &c->host_exchanges[exchange];
  for (size_t i = 0; i < of->num_windows; i++) {
    const host_window *w = &c->host_windows[of->first_window + i];
    pop_push(e->windows, e->num_windows, e->windows_capacity,
             (executable_window){w->remote, w->object, w->begin, w->bytes, w->records});
  }
}

static void describe_event(const compilation *c, const host_event *event, pop_executable *e)
{
  executable_event described = {.kind = EXECUTABLE_EVENT_PRINT,
                                .name = pop_arena_strdup(e->arena, event->name),
                                .message = event->kind == HOST_EVENT_TRACE ? EXECUTABLE_TRACE : "",
                                .tensor = event->index,
                                .tile = EXECUTABLE_NONE,
                                .first_window = e->num_windows};
  if (event->kind == HOST_EVENT_PRINT)
    described.message = pop_arena_strdup(e->arena, event->message);
  if (event->kind == HOST_EVENT_ASSUME_EQUAL) described.kind = EXECUTABLE_EVENT_ASSUME_EQUAL;
  if (event->kind == HOST_EVENT_ABORT) {
    described.kind = EXECUTABLE_EVENT_ABORT;
    described.message = pop_arena_strdup(e->arena, event->message);
    described.tensor = 0;
    described.tile = event->index;
  }
  if (event->kind == HOST_EVENT_BRANCHES) {
    described.kind = EXECUTABLE_EVENT_BRANCHES;
    described.tensor = 0;
  }
  if (event->kind == HOST_EVENT_FLUSH) {
    described.kind = EXECUTABLE_EVENT_FLUSH;
    described.tensor = 0;
  }
  if (event->kind == HOST_EVENT_EXCHANGE) {
    described.kind = EXECUTABLE_EVENT_EXCHANGE;
    described.tensor = 0;
    describe_windows(c, event->index, e);
    described.num_windows = e->num_windows - described.first_window;
    describe_host_parts(c, &c->host_exchanges[event->index], &described, e);
  }
  pop_push(e->events, e->num_events, e->events_capacity, described);
}

static void describe_host(const compilation *c, pop_executable *e)
{
  for (size_t i = 0; i < c->num_program_names; i++)
    pop_push(e->programs, e->num_programs, e->programs_capacity,
             pop_arena_strdup(e->arena, c->program_names[i]));
  for (size_t i = 0; i < c->num_host_tensors; i++) describe_tensor(c, &c->host_tensors[i], e);
  for (size_t i = 0; i < c->num_host_events; i++) describe_event(c, &c->host_events[i], e);
  for (size_t i = 0; i < c->num_profile_blocks; i++)
    pop_push(e->blocks, e->num_blocks, e->blocks_capacity,
             pop_arena_strdup(e->arena, c->profile_blocks[i]));
  for (size_t i = 0; i < c->num_streams; i++) describe_stream(&c->streams[i], e);
  for (size_t i = 0; i < c->num_remote_buffers; i++)
    describe_remote_buffer(&c->remote_buffers[i], e);
}

static void describe_variable(const compilation *c, const placed_variable *v, pop_executable *e)
{
  pop_push(e->variables, e->num_variables, e->variables_capacity,
           (executable_variable){.name = pop_arena_strdup(e->arena, v->name),
                                 .type = v->element_type,
                                 .constant = v->constant,
                                 .rank = v->rank,
                                 .shape = copy_shape(e, v->shape, v->rank),
                                 .first_interval = e->num_intervals,
                                 .num_intervals = v->num_intervals});
  for (size_t i = 0; i < v->num_intervals; i++) {
    const placed_interval *at = &c->intervals[v->first_interval + i];
    pop_push(e->intervals, e->num_intervals, e->intervals_capacity,
             (executable_interval){at->begin, at->end, at->tile, place_address(c, at->at)});
  }
}

/* ---- vertices ---- */

static uint32_t first_number(const compilation *c, const tile_work *work)
{
  uint32_t first = EXECUTABLE_NONE;
  for (size_t i = 0; i < work->num_vertices; i++) {
    uint32_t number = c->vertices[work->first_vertex + i].graph_vertex;
    if (number < first) first = number;
  }
  return first == EXECUTABLE_NONE ? 0 : first;
}

static uint32_t vertex_row(const compilation *c, const tile_work *work, uint32_t first,
                           row_index *rows, pop_executable *e)
{
  executable_row row = {e->num_vertices, work->num_vertices};
  for (size_t i = 0; i < work->num_vertices; i++) {
    const lowered_vertex *v = &c->vertices[work->first_vertex + i];
    bool copies = v->graph_vertex == COMPILER_NONE;
    pop_push(e->vertices, e->num_vertices, e->vertices_capacity,
             (executable_vertex){.type = v->type,
                                 .state_offset = v->state_offset,
                                 .worker = v->worker,
                                 .number = copies ? EXECUTABLE_NONE : v->graph_vertex - first,
                                 .cycles = copies ? 0 : v->cycles,
                                 .flops = copies ? 0 : v->flops});
  }
  return row_number(rows, e->vertices, sizeof *e->vertices, row, &e->num_vertices);
}

static void describe_compute_set(const compilation *c, const lowered_compute_set *set,
                                 row_index *rows, pop_executable *e)
{
  pop_push(e->compute_sets, e->num_compute_sets, e->compute_sets_capacity,
           (executable_compute_set){.name = pop_arena_strdup(e->arena, profiled_set_name(set)),
                                    .first_work = e->num_works,
                                    .num_works = set->num_works});
  for (size_t i = 0; i < set->num_works; i++) {
    const tile_work *work = &c->works[set->first_work + i];
    uint32_t first = first_number(c, work);
    pop_push(e->works, e->num_works, e->works_capacity,
             (executable_work){.tile = work->tile,
                               .state_address = c->blocks[work->state_block].address,
                               .first_number = first,
                               .row = vertex_row(c, work, first, rows, e)});
  }
}

static void describe_vertices(const compilation *c, pop_executable *e)
{
  _Static_assert((int)ON_SUPERVISOR == (int)EXECUTABLE_ON_SUPERVISOR &&
                     (int)ON_ALL_WORKERS == (int)EXECUTABLE_ON_ALL_WORKERS,
                 "workers are named alike");
  row_index rows = {0};
  for (size_t i = 0; i < c->num_vertex_types; i++)
    pop_push(e->vertex_types, e->num_vertex_types, e->vertex_types_capacity,
             pop_arena_strdup(e->arena, c->vertex_types[i].type->name));
  for (uint32_t i = 0; i < c->num_vertex_types; i++)
    if (c->vertex_types[i].estimated_by == ESTIMATE_CHIP)
      pop_push(e->chip_estimates, e->num_chip_estimates, e->chip_estimates_capacity, i);
    else if (c->vertex_types[i].estimated_by == ESTIMATE_OURS)
      pop_push(e->our_estimates, e->num_our_estimates, e->our_estimates_capacity, i);
  for (size_t i = 0; i < c->num_compute_sets; i++)
    describe_compute_set(c, &c->compute_sets[i], &rows, e);
  e->vertex_rows = rows.rows;
  e->num_vertex_rows = rows.num_rows;
  free(rows.slots);
}

/* ---- what the code needs of tiles ---- */

/* Adds names, each of which ends with a zero byte (populus/gp.h). */
static void add_needs(void *context, const void *bytes, size_t size)
{
  pop_executable *e = context;
  for (const char *need = bytes, *end = need + size; need < end;) {
    size_t length = strnlen(need, (size_t)(end - need)), known = 0;
    while (known < e->num_needs &&
           (strlen(e->needs[known]) != length || memcmp(e->needs[known], need, length) != 0))
      known++;
    if (known == e->num_needs)
      pop_push(e->needs, e->num_needs, e->needs_capacity,
               pop_arena_printf(e->arena, "%.*s", (int)length, need));
    need += length + 1;
  }
}

static void describe_needs(const compilation *c, pop_executable *e)
{
  for (size_t i = 0; i < c->num_code_groups; i++)
    pop_live_sections_notes(c->code_groups[i].live, POP_GP_NEEDS_SECTION, add_needs, e);
}

/* ---- tiles ---- */

static tile_stack stack_of(const compilation *c, uint32_t block)
{
  return (tile_stack){c->blocks[block].address, c->blocks[block].size};
}

/* A tile without vertices has no workers' stacks. */
static executable_stacks stacks_of(const compilation *c, uint32_t tile)
{
  const tile_layout *t = &c->tiles[tile];
  uint32_t num_workers = c->target.num_worker_contexts;
  executable_stacks stacks = {0};
  stacks.of[TILE_SUPERVISOR] = stack_of(c, t->stack_blocks[num_workers]);
  for (uint32_t w = 0; w < num_workers && t->code_group != COMPILER_NONE; w++)
    stacks.of[w] = stack_of(c, t->stack_blocks[w]);
  return stacks;
}

static void describe_tiles(const compilation *c, pop_executable *e)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->target);
  row_index memory = {0}, stacks = {0};
  e->tiles = pop_xcalloc(num_tiles, sizeof *e->tiles);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    executable_row memory_row = {e->num_memory_rows, 1}, stack_row = {e->num_stack_rows, 1};
    pop_push(e->memory_rows, e->num_memory_rows, e->memory_rows_capacity, c->memory[tile]);
    pop_push(e->stack_rows, e->num_stack_rows, e->stack_rows_capacity, stacks_of(c, tile));
    e->tiles[tile] = (executable_tile){
        .memory = row_number(&memory, e->memory_rows, sizeof *e->memory_rows, memory_row,
                             &e->num_memory_rows),
        .stacks = row_number(&stacks, e->stack_rows, sizeof *e->stack_rows, stack_row,
                             &e->num_stack_rows),
    };
  }
  free_index(&memory);
  free_index(&stacks);
}

void compilation_describe(const compilation *c, pop_executable *e)
{
  e->version = POPULUS_VERSION;
  e->target = c->target;
  e->num_replicas = c->num_replicas;
  if (c->out_of_memory)
    e->out_of_memory = pop_arena_strdup(e->arena, pop_error_message(c->out_of_memory));
  describe_host(c, e);
  for (size_t i = 0; i < c->num_variables; i++) describe_variable(c, &c->variables[i], e);
  describe_needs(c, e);
  describe_vertices(c, e);
  describe_exchanges(c, e);
  describe_steps(c, e);
  describe_measures(c, e);
  describe_acknowledged(c, e);
  describe_tiles(c, e);
  for (size_t i = 0; i < c->num_phase_times; i++)
    pop_push(e->phase_times, e->num_phase_times, e->phase_times_capacity, c->phase_times[i]);
}
