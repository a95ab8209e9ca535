/* Writes an executable's metadata as CBOR: one map, with `format`, `version`, then METADATA_KEYS in
 * their order. Every length is definite. The same executable makes the same bytes.
 */
#include "executable/executable.h"
#include "executable/metadata.h"

typedef struct encoder {
  const pop_executable *e;
  const uint64_t *digests;
  pop_bytes *out;
} encoder;

static void put_u32s(pop_bytes *out, const uint32_t *values, size_t count)
{
  for (size_t i = 0; i < count; ++i) metadata_put_uint(out, values[i]);
}

static void put_number(pop_bytes *out, const char *key, uint64_t value)
{
  metadata_put_text(out, key);
  metadata_put_uint(out, value);
}

static void put_costs(pop_bytes *out, const pop_target *target)
{
#define COST_NAME(id, name) name,
  static const char *const names[] = {POP_COST_CLASSES(COST_NAME)};
#undef COST_NAME
  metadata_put_text(out, "cost");
  metadata_put_map(out, POP_COST_CLASS_COUNT);
  for (size_t i = 0; i < POP_COST_CLASS_COUNT; ++i) put_number(out, names[i], target->cost[i]);
}

static void put_source(encoder *x)
{
  metadata_put_array(x->out, 2);
  for (int i = 0; i < 2; ++i) metadata_put_uint(x->out, x->e->source[i]);
}

static void put_target(encoder *x)
{
  const pop_target *target = &x->e->target;
  metadata_put_map(x->out, METADATA_NUM_TARGET_KEYS);
  metadata_put_text(x->out, "name");
  metadata_put_text(x->out, target->name);
  put_number(x->out, "type", target->type);
#define PUT_FIELD(field) put_number(x->out, #field, target->field);
  METADATA_TARGET_NUMBERS(PUT_FIELD)
#undef PUT_FIELD
  metadata_put_text(x->out, "clock_hz");
  metadata_put_double(x->out, target->clock_hz);
  put_costs(x->out, target);
}

static void put_options(encoder *x)
{
  metadata_put_map(x->out, x->e->num_options);
  for (size_t i = 0; i < x->e->num_options; ++i) {
    metadata_put_text(x->out, x->e->options[i].key);
    metadata_put_text(x->out, x->e->options[i].value);
  }
}

static void put_replicas(encoder *x)
{
  metadata_put_uint(x->out, x->e->num_replicas);
}

static void put_out_of_memory(encoder *x)
{
  if (x->e->out_of_memory)
    metadata_put_text(x->out, x->e->out_of_memory);
  else
    metadata_put_null(x->out);
}

static void put_names(pop_bytes *out, const char *const *names, size_t count)
{
  metadata_put_array(out, count);
  for (size_t i = 0; i < count; ++i) metadata_put_text(out, names[i]);
}

static void put_needs(encoder *x)
{
  put_names(x->out, x->e->needs, x->e->num_needs);
}

static void put_programs(encoder *x)
{
  put_names(x->out, x->e->programs, x->e->num_programs);
}

static void put_vertex_types(encoder *x)
{
  put_names(x->out, x->e->vertex_types, x->e->num_vertex_types);
}

static void put_chip_estimates(encoder *x)
{
  metadata_put_array(x->out, x->e->num_chip_estimates);
  put_u32s(x->out, x->e->chip_estimates, x->e->num_chip_estimates);
}

static void put_our_estimates(encoder *x)
{
  metadata_put_array(x->out, x->e->num_our_estimates);
  put_u32s(x->out, x->e->our_estimates, x->e->num_our_estimates);
}

static void put_categories(encoder *x)
{
  metadata_put_array(x->out, POP_MEMORY_CATEGORY_COUNT);
  for (int i = 0; i < POP_MEMORY_CATEGORY_COUNT; ++i)
    metadata_put_text(x->out, pop_memory_category_key((pop_memory_category)i));
}

/* Cells of a category and region without bytes are left out. */
static void put_memory_row(pop_bytes *out, const pop_tile_memory *m)
{
  size_t cells = 0;
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    for (int r = 0; r < POP_REGION_COUNT; ++r)
      cells += m->not_overlapped[c][r] || m->overlapped[c][r];
  metadata_put_array(out, METADATA_MEMORY_HEAD + METADATA_MEMORY_CELL * cells);
  metadata_put_uint(out, m->total);
  metadata_put_uint(out, m->total_including_gaps);
  metadata_put_uint(out, m->most_live);
  metadata_put_uint(out, m->least_including_gaps);
  put_u32s(out, m->by_region, POP_REGION_COUNT);
  put_u32s(out, m->by_region_including_gaps, POP_REGION_COUNT);
  for (uint32_t c = 0; c < POP_MEMORY_CATEGORY_COUNT; ++c)
    for (uint32_t r = 0; r < POP_REGION_COUNT; ++r)
      if (m->not_overlapped[c][r] || m->overlapped[c][r])
        put_u32s(out, (uint32_t[]){c, r, m->not_overlapped[c][r], m->overlapped[c][r]},
                 METADATA_MEMORY_CELL);
}

static void put_memory(encoder *x)
{
  metadata_put_array(x->out, x->e->num_memory_rows);
  for (size_t i = 0; i < x->e->num_memory_rows; ++i) put_memory_row(x->out, &x->e->memory_rows[i]);
}

static void put_stacks(encoder *x)
{
  metadata_put_array(x->out, x->e->num_stack_rows);
  for (size_t i = 0; i < x->e->num_stack_rows; ++i) {
    const tile_stack *of = x->e->stack_rows[i].of;
    metadata_put_array(x->out, (size_t)2 * NUM_TILE_STACKS);
    for (size_t j = 0; j < NUM_TILE_STACKS; ++j)
      put_u32s(x->out, (uint32_t[]){of[j].start, of[j].size}, 2);
  }
}

/* The end of the run of equal tiles that starts at `tile`. */
static uint32_t end_of_equal_tiles(const pop_executable *e, uint32_t tile, uint32_t num_tiles)
{
  const executable_tile *first = &e->tiles[tile];
  while (tile < num_tiles && e->tiles[tile].memory == first->memory &&
         e->tiles[tile].stacks == first->stacks)
    ++tile;
  return tile;
}

static void put_tiles(encoder *x)
{
  const pop_executable *e = x->e;
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  size_t num_runs = 0;
  for (uint32_t t = 0; t < num_tiles; t = end_of_equal_tiles(e, t, num_tiles)) ++num_runs;
  metadata_put_array(x->out, 3 * num_runs);
  for (uint32_t t = 0, end; t < num_tiles; t = end) {
    end = end_of_equal_tiles(e, t, num_tiles);
    put_u32s(x->out, (uint32_t[]){end - t, e->tiles[t].memory, e->tiles[t].stacks}, 3);
  }
}

static void put_digests(encoder *x)
{
  uint32_t num_tiles = pop_target_num_tiles(&x->e->target);
  pop_bytes bytes = {0};
  for (uint32_t t = 0; t < num_tiles; ++t)
    for (unsigned i = 0; i < METADATA_DIGEST_BYTES; ++i)
      pop_bytes_append(&bytes, &(uint8_t){(uint8_t)(x->digests[t] >> 8 * i)}, 1);
  metadata_put_bytes(x->out, bytes.data, bytes.size);
  pop_bytes_free(&bytes);
}

static void put_shape(pop_bytes *out, const size_t *shape, size_t rank)
{
  metadata_put_text(out, "shape");
  metadata_put_array(out, rank);
  for (size_t i = 0; i < rank; ++i) metadata_put_uint(out, shape[i]);
}

static void put_tensor(const pop_executable *e, const executable_tensor *tensor, pop_bytes *out)
{
  metadata_put_map(out, 6);
  metadata_put_text(out, "name");
  metadata_put_text(out, tensor->name);
  metadata_put_text(out, "kind");
  metadata_put_text(out, executable_tensor_kind_name(tensor->kind));
  metadata_put_text(out, "type");
  metadata_put_text(out, pop_type_name(tensor->type));
  put_shape(out, tensor->shape, tensor->rank);
  put_number(out, "replicas", tensor->num_replicas);
  metadata_put_text(out, "runs");
  metadata_put_array(out, 3 * tensor->num_runs);
  for (size_t i = 0; i < tensor->num_runs; ++i) {
    const memory_range *run = &e->runs[tensor->first_run + i];
    uint32_t offset = run->address - e->target.memory_base;
    put_u32s(out, (uint32_t[]){run->tile, offset, run->bytes}, 3);
  }
}

static void put_tensors(encoder *x)
{
  metadata_put_array(x->out, x->e->num_tensors);
  for (size_t i = 0; i < x->e->num_tensors; ++i) put_tensor(x->e, &x->e->tensors[i], x->out);
}

static void put_parts(encoder *x, size_t first, size_t count)
{
  metadata_put_text(x->out, "parts");
  metadata_put_array(x->out, 4 * count);
  for (size_t i = first; i < first + count; ++i) {
    const executable_exchange_part *part = &x->e->exchange_parts[i];
    put_u32s(x->out, (uint32_t[]){part->tile, part->cycles}, 2);
    metadata_put_uint(x->out, part->bytes_sent);
    metadata_put_uint(x->out, part->bytes_received);
  }
}

static void put_events(encoder *x)
{
  metadata_put_array(x->out, x->e->num_events);
  for (size_t i = 0; i < x->e->num_events; ++i) {
    const executable_event *event = &x->e->events[i];
    metadata_put_map(x->out, 7);
    metadata_put_text(x->out, "kind");
    metadata_put_text(x->out, executable_event_kind_name(event->kind));
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, event->name);
    metadata_put_text(x->out, "message");
    metadata_put_text(x->out, event->message);
    put_number(x->out, "tensor", event->tensor);
    put_number(x->out, "tile", event->tile == EXECUTABLE_NONE ? 0 : event->tile + (uint64_t)1);
    put_number(x->out, "windows", event->num_windows);
    put_parts(x, event->first_part, event->num_parts);
  }
}

static void put_blocks(encoder *x)
{
  put_names(x->out, x->e->blocks, x->e->num_blocks);
}

static void put_replica(pop_bytes *out, uint32_t replica, uint32_t num_replicas)
{
  put_number(out, "replica", replica);
  put_number(out, "replicas", num_replicas);
}

static void put_streams(encoder *x)
{
  metadata_put_array(x->out, x->e->num_streams);
  for (size_t i = 0; i < x->e->num_streams; ++i) {
    const executable_stream *stream = &x->e->streams[i];
    metadata_put_map(x->out, 9);
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, stream->name);
    metadata_put_text(x->out, "type");
    metadata_put_text(x->out, pop_type_name(stream->type));
    put_number(x->out, "elements", stream->num_elements);
    metadata_put_text(x->out, "to_device");
    metadata_put_bool(x->out, stream->to_device);
    metadata_put_text(x->out, "used");
    metadata_put_bool(x->out, stream->is_used);
    metadata_put_text(x->out, "broadcast");
    metadata_put_bool(x->out, stream->broadcast);
    put_number(x->out, "depth", stream->depth);
    put_replica(x->out, stream->replica, stream->num_replicas);
  }
}

static void put_remote_buffers(encoder *x)
{
  metadata_put_array(x->out, x->e->num_remote_buffers);
  for (size_t i = 0; i < x->e->num_remote_buffers; ++i) {
    const executable_remote_buffer *buffer = &x->e->remote_buffers[i];
    metadata_put_map(x->out, 7);
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, buffer->name);
    metadata_put_text(x->out, "type");
    metadata_put_text(x->out, pop_type_name(buffer->type));
    put_number(x->out, "elements", buffer->num_elements);
    put_number(x->out, "repeats", buffer->repeats);
    metadata_put_text(x->out, "used");
    metadata_put_bool(x->out, buffer->is_used);
    put_replica(x->out, buffer->replica, buffer->num_replicas);
  }
}

static void put_windows(encoder *x)
{
  metadata_put_array(x->out, 5 * x->e->num_windows);
  for (size_t i = 0; i < x->e->num_windows; ++i) {
    const executable_window *w = &x->e->windows[i];
    metadata_put_uint(x->out, w->remote);
    metadata_put_uint(x->out, w->object);
    metadata_put_uint(x->out, w->begin);
    metadata_put_uint(x->out, w->bytes);
    metadata_put_uint(x->out, w->records);
  }
}

static void put_variable(const pop_executable *e, const executable_variable *v, pop_bytes *out)
{
  metadata_put_map(out, 5);
  metadata_put_text(out, "name");
  metadata_put_text(out, v->name);
  metadata_put_text(out, "type");
  metadata_put_text(out, pop_type_name(v->type));
  put_shape(out, v->shape, v->rank);
  metadata_put_text(out, "constant");
  metadata_put_bool(out, v->constant);
  metadata_put_text(out, "intervals");
  metadata_put_array(out, 4 * v->num_intervals);
  uint64_t end = 0;
  for (size_t i = 0; i < v->num_intervals; ++i) {
    const executable_interval *interval = &e->intervals[v->first_interval + i];
    metadata_put_uint(out, interval->begin - end);
    metadata_put_uint(out, interval->end - interval->begin);
    put_u32s(out, (uint32_t[]){interval->tile, interval->address - e->target.memory_base}, 2);
    end = interval->end;
  }
}

static void put_variables(encoder *x)
{
  metadata_put_array(x->out, x->e->num_variables);
  for (size_t i = 0; i < x->e->num_variables; ++i) put_variable(x->e, &x->e->variables[i], x->out);
}

static void put_vertex_rows(encoder *x)
{
  metadata_put_array(x->out, x->e->num_vertex_rows);
  for (size_t i = 0; i < x->e->num_vertex_rows; ++i) {
    const executable_row *row = &x->e->vertex_rows[i];
    metadata_put_array(x->out, 6 * (size_t)row->count);
    for (size_t j = 0; j < row->count; ++j) {
      const executable_vertex *v = &x->e->vertices[row->first + j];
      uint32_t number = v->number == EXECUTABLE_NONE ? 0 : v->number + 1;
      put_u32s(x->out, (uint32_t[]){v->type, v->state_offset, v->worker, number}, 4);
      metadata_put_uint(x->out, v->cycles);
      metadata_put_uint(x->out, v->flops);
    }
  }
}

static void put_compute_sets(encoder *x)
{
  metadata_put_array(x->out, x->e->num_compute_sets);
  for (size_t i = 0; i < x->e->num_compute_sets; ++i) {
    const executable_compute_set *set = &x->e->compute_sets[i];
    metadata_put_map(x->out, 2);
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, set->name);
    metadata_put_text(x->out, "works");
    metadata_put_array(x->out, 4 * set->num_works);
    for (size_t j = 0; j < set->num_works; ++j) {
      const executable_work *w = &x->e->works[set->first_work + j];
      put_u32s(x->out, (uint32_t[]){w->tile, w->state_address, w->first_number, w->row}, 4);
    }
  }
}

static void put_exchanges(encoder *x)
{
  metadata_put_array(x->out, x->e->num_exchanges);
  for (size_t i = 0; i < x->e->num_exchanges; ++i) {
    const executable_exchange *exchange = &x->e->exchanges[i];
    metadata_put_map(x->out, 5);
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, exchange->name);
    put_number(x->out, "zone", exchange->zone);
    put_number(x->out, "link_bytes", exchange->link_bytes);
    put_number(x->out, "gateway_bytes", exchange->gateway_bytes);
    put_parts(x, exchange->first_part, exchange->num_parts);
  }
}

static void put_numbers(pop_bytes *out, const uint32_t *numbers, size_t count)
{
  metadata_put_array(out, count);
  put_u32s(out, numbers, count);
}

static void put_children(encoder *x, const executable_step *step)
{
  const uint32_t *children = step->num_children ? x->e->step_children + step->first_child : NULL;
  metadata_put_text(x->out, "children");
  put_numbers(x->out, children, step->num_children);
}

static void put_steps(encoder *x)
{
  metadata_put_array(x->out, x->e->num_steps);
  for (size_t i = 0; i < x->e->num_steps; ++i) {
    const executable_step *step = &x->e->steps[i];
    metadata_put_map(x->out, 6);
    metadata_put_text(x->out, "kind");
    metadata_put_text(x->out, executable_step_tag(step->kind));
    metadata_put_text(x->out, "name");
    metadata_put_text(x->out, step->name);
    put_number(x->out, "index", step->index);
    put_number(x->out, "count", step->count);
    put_number(x->out, "position", step->position);
    put_children(x, step);
  }
}

static void put_control_steps(encoder *x)
{
  put_numbers(x->out, x->e->control_steps, x->e->num_control_steps);
}

static void put_functions(encoder *x)
{
  put_numbers(x->out, x->e->functions, x->e->num_functions);
}

static void put_instrumentation(encoder *x)
{
  const instrumentation *in = &x->e->instrumentation;
  put_numbers(x->out,
              (uint32_t[]){in->compute, in->control_flow, in->external_exchange, in->blocks}, 4);
}

static void put_measures(encoder *x)
{
  metadata_put_array(x->out, 6 * x->e->num_measures);
  for (size_t i = 0; i < x->e->num_measures; ++i) {
    const executable_measure *m = &x->e->measures[i];
    uint32_t offset = m->address - x->e->target.memory_base;
    put_u32s(x->out, (uint32_t[]){m->kind, m->index, m->tile, offset, m->words, m->overhead}, 6);
  }
}

static void put_acknowledged(encoder *x)
{
  metadata_put_array(x->out, 4 * x->e->num_acknowledged);
  for (size_t i = 0; i < x->e->num_acknowledged; ++i) {
    const executable_acknowledged *a = &x->e->acknowledged[i];
    put_u32s(x->out, (uint32_t[]){a->first, a->last, a->first_tile, a->num_tiles}, 4);
  }
}

void executable_encode(const pop_executable *executable, const uint64_t *digests, pop_bytes *cbor)
{
  static const struct {
    const char *key;
    void (*put)(encoder *x);
  } keys[] = {
#define METADATA_PUT(key, what) {#key, put_##key},
      METADATA_KEYS(METADATA_PUT)
#undef METADATA_PUT
  };
  encoder x = {.e = executable, .digests = digests, .out = cbor};
  size_t count = sizeof keys / sizeof *keys;
  metadata_put_map(cbor, 2 + count);
  put_number(cbor, "format", EXECUTABLE_FORMAT);
  metadata_put_text(cbor, "version");
  metadata_put_text(cbor, executable->version);
  for (size_t i = 0; i < count; ++i) {
    metadata_put_text(cbor, keys[i].key);
    keys[i].put(&x);
  }
}
