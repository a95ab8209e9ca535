/* Reads programs and exchanges of metadata. The checks here make sure that a walk of the programs
 * ends: every step is the child of an earlier one, and functions call only earlier functions. */
#include "executable/decode.h"

#include <stdlib.h>
#include <string.h>

pop_error *decode_parts(decoder *d, size_t *first, size_t *num)
{
  pop_executable *e = d->e;
  size_t count = 0;
  POP_TRY(metadata_read_key(&d->r, 1, "parts"));
  POP_TRY(metadata_read_array(&d->r, 4, &count));
  *first = e->num_exchange_parts;
  *num = count / 4;
  for (size_t i = 0; i < *num; ++i) {
    executable_exchange_part part;
    POP_TRY(metadata_read_u32(&d->r, d->num_tiles - 1, &part.tile));
    POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &part.cycles));
    POP_TRY(metadata_read_uint(&d->r, INT64_MAX, &part.bytes_sent));
    POP_TRY(metadata_read_uint(&d->r, INT64_MAX, &part.bytes_received));
    if (i && part.tile <= e->exchange_parts[e->num_exchange_parts - 1].tile)
      return metadata_error(&d->r, "tile %u is out of order", part.tile);
    pop_push(e->exchange_parts, e->num_exchange_parts, e->exchange_parts_capacity, part);
  }
  return NULL;
}

/* Gateway bytes are part of link bytes, and exchanges within an IPU have neither. The limit is far
 * above what a valid executable has; it keeps cycle counts made from it from overflowing. */
static pop_error *read_links(decoder *d, executable_exchange *exchange)
{
  static const uint64_t most = (uint64_t)1 << 60;
  POP_TRY(metadata_read_key(&d->r, 1, "link_bytes"));
  POP_TRY(metadata_read_uint(&d->r, exchange->zone ? most : 0, &exchange->link_bytes));
  POP_TRY(metadata_read_key(&d->r, 1, "gateway_bytes"));
  return metadata_read_uint(&d->r, exchange->link_bytes, &exchange->gateway_bytes);
}

pop_error *read_exchanges(decoder *d)
{
  enum { MAX_ZONE = 2 };
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  for (size_t i = 0; i < count; ++i) {
    executable_exchange exchange = {0};
    d->r.entry = i;
    POP_TRY(metadata_read_map_of(&d->r, 5));
    POP_TRY(decode_name(&d->r, &exchange.name));
    POP_TRY(metadata_read_key(&d->r, 1, "zone"));
    POP_TRY(metadata_read_u32(&d->r, MAX_ZONE, &exchange.zone));
    POP_TRY(read_links(d, &exchange));
    POP_TRY(decode_parts(d, &exchange.first_part, &exchange.num_parts));
    d->r.keys[1] = NULL;
    pop_push(d->e->exchanges, d->e->num_exchanges, d->e->exchanges_capacity, exchange);
  }
  return NULL;
}

/* ---- steps ---- */

/* The number of things that a step's index counts. Functions are checked by read_functions. */
static size_t num_indices(const pop_executable *e, executable_step_kind kind)
{
  switch (kind) {
  case EXECUTABLE_STEP_BLOCK:
    return e->num_blocks;
  case EXECUTABLE_STEP_EXECUTE:
    return e->num_compute_sets;
  case EXECUTABLE_STEP_EXCHANGE:
  case EXECUTABLE_STEP_GLOBAL_EXCHANGE:
    return e->num_exchanges;
  case EXECUTABLE_STEP_STREAM_COPY:
  case EXECUTABLE_STEP_ABORT:
    return e->num_events;
  default:
    return SIZE_MAX;
  }
}

static bool has_right_children(const executable_step *step)
{
  switch (step->kind) {
  case EXECUTABLE_STEP_SEQUENCE:
    return true;
  case EXECUTABLE_STEP_REPEAT:
  case EXECUTABLE_STEP_BLOCK:
    return step->num_children == 1;
  case EXECUTABLE_STEP_WHILE_TRUE:
  case EXECUTABLE_STEP_WHILE_FALSE:
  case EXECUTABLE_STEP_IF:
    return step->num_children == 2;
  case EXECUTABLE_STEP_SWITCH:
    return step->num_children >= 1;
  default:
    return step->num_children == 0;
  }
}

static pop_error *read_kind(metadata_reader *r, executable_step_kind *kind)
{
  const char *tag = "";
  POP_TRY(metadata_read_key(r, 1, "kind"));
  POP_TRY(metadata_read_text(r, &tag));
  for (int k = 0; k < EXECUTABLE_STEP_KINDS; ++k) {
    *kind = (executable_step_kind)k;
    if (strcmp(executable_step_tag(*kind), tag) == 0) return NULL;
  }
  return metadata_error(r, "there is no kind '%s'", tag);
}

static pop_error *read_children(decoder *d, executable_step *step, size_t num_steps,
                                bool *has_parent)
{
  pop_executable *e = d->e;
  size_t count = 0;
  POP_TRY(metadata_read_key(&d->r, 1, "children"));
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  step->first_child = e->num_step_children;
  step->num_children = (uint32_t)count; /* at most num_steps: each step has one parent */
  for (size_t i = 0; i < count; ++i) {
    uint32_t child = 0;
    POP_TRY(metadata_read_u32(&d->r, (uint32_t)num_steps - 1, &child));
    if (child <= e->num_steps || has_parent[child])
      return metadata_error(&d->r, "step %u cannot be a child of step %zu", child, e->num_steps);
    has_parent[child] = true;
    pop_push(e->step_children, e->num_step_children, e->step_children_capacity, child);
  }
  return NULL;
}

static pop_error *read_step(decoder *d, size_t num_steps, bool *has_parent)
{
  pop_executable *e = d->e;
  executable_step step = {0};
  POP_TRY(metadata_read_map_of(&d->r, 6));
  POP_TRY(read_kind(&d->r, &step.kind));
  POP_TRY(decode_name(&d->r, &step.name));
  POP_TRY(metadata_read_key(&d->r, 1, "index"));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &step.index));
  if (step.index >= num_indices(e, step.kind))
    return metadata_error(&d->r, "there is no number %u", step.index);
  POP_TRY(metadata_read_key(&d->r, 1, "count"));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &step.count));
  POP_TRY(metadata_read_key(&d->r, 1, "position"));
  POP_TRY(metadata_read_u32(&d->r, UINT32_MAX, &step.position));
  POP_TRY(read_children(d, &step, num_steps, has_parent));
  if (!has_right_children(&step))
    return metadata_error(&d->r, "%u children of a %s", step.num_children,
                          executable_step_tag(step.kind));
  pop_push(e->steps, e->num_steps, e->steps_capacity, step);
  return NULL;
}

pop_error *read_steps(decoder *d)
{
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count >= INT32_MAX) return metadata_error(&d->r, "%zu steps", count);
  bool *has_parent = pop_xcalloc(count + 1, sizeof *has_parent);
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    d->r.entry = i;
    error = read_step(d, count, has_parent);
    if (!error) d->r.keys[1] = NULL;
  }
  free(has_parent);
  return error;
}

/* Reads a list of step numbers. */
static pop_error *read_roots(decoder *d, uint32_t **list, size_t *num, size_t *capacity)
{
  size_t count = 0;
  uint32_t most = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count) POP_TRY(decode_greatest_number(&d->r, d->e->num_steps, "step", &most));
  for (size_t i = 0; i < count; ++i) {
    uint32_t root = 0;
    d->r.entry = i;
    POP_TRY(metadata_read_u32(&d->r, most, &root));
    pop_push(*list, *num, *capacity, root);
  }
  return NULL;
}

pop_error *read_control_steps(decoder *d)
{
  pop_executable *e = d->e;
  POP_TRY(read_roots(d, &e->control_steps, &e->num_control_steps, &e->control_steps_capacity));
  if (e->num_control_steps == e->num_programs) return NULL;
  return metadata_error(&d->r, "%zu steps for %zu programs", e->num_control_steps, e->num_programs);
}

/* For each step: the first function that contains it; num_functions if none does. */
static uint32_t *find_owners(const pop_executable *e)
{
  uint32_t *owner = pop_xcalloc(e->num_steps + 1, sizeof *owner);
  for (size_t i = 0; i < e->num_steps; ++i) owner[i] = (uint32_t)e->num_functions;
  for (uint32_t f = 0; f < e->num_functions; ++f)
    if (owner[e->functions[f]] > f) owner[e->functions[f]] = f;
  for (size_t i = 0; i < e->num_steps; ++i)
    for (uint32_t c = 0; c < e->steps[i].num_children; ++c) {
      uint32_t child = e->step_children[e->steps[i].first_child + c];
      if (owner[i] < owner[child]) owner[child] = owner[i];
    }
  return owner;
}

pop_error *read_functions(decoder *d)
{
  pop_executable *e = d->e;
  POP_TRY(read_roots(d, &e->functions, &e->num_functions, &e->functions_capacity));
  uint32_t *owner = find_owners(e);
  pop_error *error = NULL;
  for (size_t i = 0; i < e->num_steps && !error; ++i)
    if (e->steps[i].kind == EXECUTABLE_STEP_CALL && e->steps[i].index >= owner[i])
      error = metadata_error(&d->r, "step %zu calls function %u, which is not before it", i,
                             e->steps[i].index);
  free(owner);
  return error;
}

/* ---- what is acknowledged ---- */

static int compare_acknowledged(const executable_acknowledged *a, const executable_acknowledged *b)
{
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->last != b->last) return a->last < b->last ? -1 : 1;
  return a->first_tile < b->first_tile ? -1 : a->first_tile > b->first_tile;
}

/* Profiles have room for each tile once. `b` comes after `a`. */
static bool overlap(const executable_acknowledged *a, const executable_acknowledged *b)
{
  return a->first == b->first && a->last == b->last && b->first_tile - a->first_tile < a->num_tiles;
}

pop_error *read_acknowledged(decoder *d)
{
  pop_executable *e = d->e;
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 4, &count));
  for (size_t i = 0; i < count / 4; ++i) {
    const uint32_t most[] = {UINT32_MAX, UINT32_MAX, d->num_tiles - 1, d->num_tiles};
    uint32_t v[4];
    d->r.entry = i;
    POP_TRY(decode_u32s(&d->r, most, v, 4));
    executable_acknowledged a = {v[0], v[1], v[2], v[3]};
    if (a.first >= a.last || !a.num_tiles || a.num_tiles > d->num_tiles - a.first_tile)
      return metadata_error(&d->r, "%u tiles from %u on, steps %u to %u", v[3], v[2], v[0], v[1]);
    if (i && compare_acknowledged(&e->acknowledged[i - 1], &a) >= 0)
      return metadata_error(&d->r, "it is out of order");
    if (i && overlap(&e->acknowledged[i - 1], &a))
      return metadata_error(&d->r, "tile %u acknowledges the same steps twice", a.first_tile);
    pop_push(e->acknowledged, e->num_acknowledged, e->acknowledged_capacity, a);
  }
  return NULL;
}

/* ---- what is measured ---- */

pop_error *read_instrumentation(decoder *d)
{
  static const uint32_t most[] = {INSTRUMENTATION_LEVELS - 1, 1, 1, 1};
  instrumentation *in = &d->e->instrumentation;
  uint32_t values[4];
  size_t count = 0;
  POP_TRY(metadata_read_array(&d->r, 1, &count));
  if (count != 4) return metadata_error(&d->r, "%zu numbers, not 4", count);
  POP_TRY(decode_u32s(&d->r, most, values, 4));
  in->compute = (instrumentation_level)values[0];
  in->control_flow = values[1] == 1;
  in->external_exchange = values[2] == 1;
  in->blocks = values[3] == 1;
  return NULL;
}

/* Has the measure as many words as its readers expect? */
static bool has_right_words(const pop_executable *e, const executable_measure *m)
{
  if (m->kind == MEASURE_BRANCHES) return m->words >= 2;
  if (m->kind == MEASURE_BLOCKS) return m->words >= 4 && m->words % 2 == 0;
  if (m->kind != MEASURE_VERTICES) return m->words == 2;
  return m->words == executable_num_calls(e, &e->works[m->index]);
}

static pop_error *read_measure(decoder *d, executable_measure *m)
{
  const uint32_t most[] = {MEASURE_KINDS - 1, UINT32_MAX, d->num_tiles - 1,
                           UINT32_MAX,        UINT32_MAX, UINT32_MAX};
  uint32_t v[6];
  POP_TRY(decode_u32s(&d->r, most, v, 6));
  *m = (executable_measure){
      .kind = v[0], .index = v[1], .tile = v[2], .words = v[4], .overhead = v[5]};
  if (m->index >= executable_num_measurable(d->e, (measure_kind)m->kind))
    return metadata_error(&d->r, "there is no number %u", m->index);
  if (!has_right_words(d->e, m)) return metadata_error(&d->r, "%u words", m->words);
  return decode_address(d, v[3], 4 * (uint64_t)m->words, &m->address);
}

/* A tile measures a thing once, and tiles come in their order: profiles have room for one measure
 * of each tile. `next`: by kind, then thing, the first tile that may follow. */
static pop_error *check_order(const decoder *d, const executable_measure *m,
                              uint32_t *const next[MEASURE_KINDS])
{
  uint32_t *of = &next[m->kind][m->index];
  if (m->tile < *of)
    return metadata_error(&d->r, "tile %u measures what tile %u has measured", m->tile, *of - 1);
  *of = m->tile + 1;
  return NULL;
}

static pop_error *read_in_order(decoder *d, size_t count, uint32_t *const next[MEASURE_KINDS])
{
  pop_executable *e = d->e;
  for (size_t i = 0; i < count; ++i) {
    executable_measure m;
    d->r.entry = i;
    POP_TRY(read_measure(d, &m));
    POP_TRY(check_order(d, &m, next));
    pop_push(e->measures, e->num_measures, e->measures_capacity, m);
  }
  return NULL;
}

pop_error *read_measures(decoder *d)
{
  size_t count = 0;
  uint32_t *next[MEASURE_KINDS];
  POP_TRY(metadata_read_array(&d->r, 6, &count));
  for (int k = 0; k < MEASURE_KINDS; ++k)
    next[k] = pop_xcalloc(executable_num_measurable(d->e, (measure_kind)k) + 1, sizeof *next[k]);
  pop_error *error = read_in_order(d, count / 6, next);
  for (int k = 0; k < MEASURE_KINDS; ++k) free(next[k]);
  return error;
}
