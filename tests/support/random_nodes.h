/* The programs of random graphs: leaves (copies, prints, streams, remote buffers) and sequences,
 * loops and branches over them, both as programs of the graph and in the model. */
#ifndef POPULUS_TEST_RANDOM_NODES_H
#define POPULUS_TEST_RANDOM_NODES_H

#include "engine/engine_private.h"
#include "random_graph.h"

#include <inttypes.h>

/* ---- programs ---- */

static inline bool have_common_variable(const model_view *a, const model_view *b)
{
  bool is_of_a[MODEL_MAX_VARIABLES] = {0}, found = false;
  for (size_t i = 0; i < a->num_elements; ++i) is_of_a[a->elements[i].variable] = true;
  for (size_t i = 0; i < b->num_elements; ++i) found |= is_of_a[b->elements[i].variable];
  return found;
}

/* A sequence of WriteUndef of a view and of programs that write all of it. */
static inline pop_program behind_write_undef(random_graph *g, const model_view *to,
                                             pop_program writes)
{
  pop_program both = pop_program_sequence(g->m.graph, "anew");
  pop_sequence_add(both, pop_program_write_undef(to->tensor, "undefined"));
  pop_sequence_add(both, writes);
  return both;
}

static inline pop_program add_copy(random_graph *g, node *n)
{
  static const char *const names[] = {"copy", "another", "a third"};
  model *m = &g->m;
  pop_program none = {0};
  model_view *to = &n->destinations[n->num_copies], *from = &n->sources[n->num_copies];
  if (!model_random_writable(m, POP_TYPE_COUNT, to)) return none;
  if (!model_random_readable(m, to->type, to->num_elements, from)) return none;
  n->num_copies++;
  pop_program copy = pop_program_copy(from->tensor, to->tensor, names[model_random(m, 3)]);
  bool anew = g->has_options && model_chance(m, 3) && !have_common_variable(from, to);
  return anew ? behind_write_undef(g, to, copy) : copy;
}

/* One copy, or several in a row, which the compiler may merge. */
static inline void make_copy(random_graph *g, node *n)
{
  uint32_t count = model_chance(&g->m, 2) ? 1 : 1 + model_random(&g->m, MAX_COPIES);
  pop_program first = add_copy(g, n);
  if (!first.index) return;
  n->kind = NODE_COPY;
  n->program = first;
  if (count == 1) return;
  n->program = pop_program_sequence(g->m.graph, "copies");
  pop_sequence_add(n->program, first);
  for (uint32_t i = 1; i < count; ++i) {
    pop_program next = add_copy(g, n);
    if (next.index) pop_sequence_add(n->program, next);
  }
}

static inline void make_print(random_graph *g, node *n)
{
  n->kind = NODE_PRINT;
  n->source = model_random_view(&g->m, POP_TYPE_COUNT, true);
  n->program = pop_program_print_tensor(n->source.tensor, "printed");
}

static inline void split_sometimes(model *m, pop_stream s)
{
  char bytes[16];
  if (!model_chance(m, 3)) return;
  snprintf(bytes, sizeof bytes, "%u", 8 + model_random(m, 100));
  pop_stream_set_option(s, "splitLimit", bytes);
}

/* A stream and a copy from or to it. Data for the device are in a circular buffer; data
 * from it are collected. */
static inline void make_stream(random_graph *g, node *n)
{
  model *m = &g->m;
  char name[32];
  snprintf(name, sizeof name, "stream %td", n - g->nodes);
  if (model_chance(m, 2)) {
    n->source = model_random_view(m, POP_TYPE_COUNT, true);
    if (n->source.num_elements == 0) return;
    pop_stream s =
        pop_graph_add_device_to_host_fifo(m->graph, name, n->source.type, n->source.num_elements);
    split_sometimes(m, s);
    n->program = pop_program_copy_to_stream(n->source.tensor, s, "to stream");
  } else {
    if (!model_random_writable(m, POP_TYPE_COUNT, &n->destination) ||
        n->destination.num_elements == 0)
      return;
    pop_type type = n->destination.type;
    pop_stream s =
        pop_graph_add_host_to_device_fifo(m->graph, name, type, n->destination.num_elements);
    split_sometimes(m, s);
    n->program = pop_program_copy_from_stream(s, n->destination.tensor, "from stream");
    for (size_t i = 0; i < STREAM_COPIES * n->destination.num_elements; ++i) {
      uint8_t value[8];
      model_random_value(m, type, value);
      pop_bytes_append(&n->to_device, value, pop_type_bytes(type));
    }
  }
  n->kind = NODE_STREAM;
}

static inline void run_stream(random_graph *g, node *n)
{
  model *m = &g->m;
  const model_view *view = n->to_device.size ? &n->destination : &n->source;
  size_t bytes = view->num_elements * pop_type_bytes(view->type);
  if (n->to_device.size) {
    model_scatter(m, view, n->to_device.data + n->next_copy * bytes);
    n->next_copy = (n->next_copy + 1) % STREAM_COPIES;
    return;
  }
  uint8_t *elements = pop_xmalloc(bytes);
  model_gather(m, view, elements);
  pop_bytes_append(&n->expected, elements, bytes);
  free(elements);
}

/* ---- remote buffers ---- */

static inline size_t row_bytes(const model_remote *r)
{
  return r->num_elements * pop_type_bytes(r->type);
}

/* An existing remote buffer, if its rows have this size, or a new one. */
static inline model_remote *pick_remote(random_graph *g, pop_type type, size_t num_elements)
{
  model *m = &g->m;
  for (size_t i = 0; i < g->num_remotes; ++i)
    if (g->remotes[i].type == type && g->remotes[i].num_elements == num_elements)
      return &g->remotes[i];
  model_remote *r = &g->remotes[g->num_remotes];
  *r = (model_remote){
      .type = type, .num_elements = num_elements, .repeats = MAX_ROWS + model_random(m, 3)};
  snprintf(r->name, sizeof r->name, "remote %zu", g->num_remotes++);
  r->handle = pop_graph_add_remote_buffer(m->graph, r->name, type, num_elements, r->repeats);
  r->bytes = pop_arena_alloc(m->arena, r->repeats * row_bytes(r));
  return r;
}

static inline pop_tensor add_offsets(random_graph *g, const node *n)
{
  model *m = &g->m;
  int32_t values[MAX_ROWS];
  for (size_t i = 0; i < n->num_rows; ++i) values[i] = (int32_t)n->rows[i];
  pop_tensor t = pop_graph_add_constant(m->graph, model_chance(m, 2) ? POP_INT : POP_UNSIGNED_INT,
                                        &n->num_rows, 1, values, "offsets");
  map_in_pieces(g, t, n->num_rows);
  return t;
}

/* Random rows, each once; sometimes the first ones, without offsets. */
static inline void make_remote(random_graph *g, node *n)
{
  model *m = &g->m;
  model_view view;
  n->from_remote = model_chance(m, 2);
  if (n->from_remote ? !model_random_writable(m, POP_TYPE_COUNT, &view)
                     : (view = model_random_view(m, POP_TYPE_COUNT, true), false))
    return;
  if (view.num_elements == 0) return;
  n->num_rows = 1 + model_random(m, MAX_ROWS);
  if (view.num_elements % n->num_rows) n->num_rows = 1;
  n->remote = pick_remote(g, view.type, view.num_elements / n->num_rows);
  size_t first = model_random(m, (uint32_t)n->remote->repeats);
  for (size_t i = 0; i < n->num_rows; ++i)
    n->rows[i] = (first + i * (n->remote->repeats - 1)) % n->remote->repeats;
  pop_tensor offsets = {0};
  if (model_chance(m, 4))
    for (size_t i = 0; i < n->num_rows; ++i) n->rows[i] = i;
  else
    offsets = add_offsets(g, n);
  n->program =
      n->from_remote
          ? pop_program_copy_from_remote_buffer(n->remote->handle, view.tensor, offsets, "fetch")
          : pop_program_copy_to_remote_buffer(view.tensor, n->remote->handle, offsets, "store");
  n->source = n->destination = view;
  n->kind = NODE_REMOTE;
}

static inline void run_remote(random_graph *g, const node *n)
{
  size_t bytes = row_bytes(n->remote);
  uint8_t *elements = pop_xmalloc(n->num_rows * bytes);
  if (!n->from_remote) model_gather(&g->m, &n->source, elements);
  for (size_t i = 0; i < n->num_rows; ++i) {
    uint8_t *row = n->remote->bytes + n->rows[i] * bytes, *part = elements + i * bytes;
    memcpy(n->from_remote ? part : row, n->from_remote ? row : part, bytes);
  }
  if (n->from_remote) model_scatter(&g->m, &n->destination, elements);
  free(elements);
}

static inline void fill_remotes(random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_remotes; ++i) {
    const model_remote *r = &g->remotes[i];
    for (size_t e = 0; e < r->repeats * r->num_elements; ++e)
      model_random_value(&g->m, r->type, r->bytes + e * pop_type_bytes(r->type));
    for (size_t row = 0; row < r->repeats; ++row)
      expect_ok(pop_engine_copy_to_remote_buffer(engine, r->name, row, 0,
                                                 r->bytes + row * row_bytes(r), row_bytes(r)));
  }
}

static inline void compare_remotes(const random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_remotes; ++i) {
    const model_remote *r = &g->remotes[i];
    uint8_t *found = pop_xmalloc(row_bytes(r));
    for (size_t row = 0; row < r->repeats; ++row) {
      expect_ok(pop_engine_copy_from_remote_buffer(engine, r->name, row, 0, found, row_bytes(r)));
      cr_assert_arr_eq(found, r->bytes + row * row_bytes(r), row_bytes(r),
                       "seed %" PRIu64 ": other data in row %zu of '%s'", g->seed, row, r->name);
    }
    free(found);
  }
}

static inline int collect(void *context, void *data)
{
  node *n = context;
  pop_bytes_append(&n->found, data, n->source.num_elements * pop_type_bytes(n->source.type));
  return 0;
}

static inline void connect_streams(random_graph *g, pop_engine *engine)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    node *n = &g->nodes[i];
    if (n->kind != NODE_STREAM) continue;
    char name[32];
    snprintf(name, sizeof name, "stream %zu", i);
    pop_stream_callback callback = {.fetch = collect, .context = n};
    if (n->to_device.size)
      expect_ok(pop_engine_connect_stream(engine, name, n->to_device.data,
                                          n->to_device.data + n->to_device.size));
    else
      expect_ok(pop_engine_connect_stream_callback(engine, name, &callback));
  }
}

static inline void compare_streams(const random_graph *g)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    const node *n = &g->nodes[i];
    bool same = n->expected.size == n->found.size &&
                (n->found.size == 0 || memcmp(n->expected.data, n->found.data, n->found.size) == 0);
    cr_assert(same, "seed %" PRIu64 ": other data on stream %zu (%zu bytes, %zu expected)", g->seed,
              i, n->found.size, n->expected.size);
  }
}

static inline void free_streams(random_graph *g)
{
  for (size_t i = 0; i < g->num_nodes; ++i) {
    pop_bytes_free(&g->nodes[i].to_device);
    pop_bytes_free(&g->nodes[i].expected);
    pop_bytes_free(&g->nodes[i].found);
  }
}

/* Any earlier node, so that some are in several places. If there is one program only, mostly the
 * next node that is in no place yet, so that variables have live ranges. */
static inline node *pick_child(random_graph *g, const node *parent)
{
  size_t before = (size_t)(parent - g->nodes);
  if (g->num_programs > 1 || g->num_taken == before || model_chance(&g->m, 8))
    return &g->nodes[model_random(&g->m, (uint32_t)before)];
  return &g->nodes[g->num_taken++];
}

static inline pop_program add_child(random_graph *g, node *n)
{
  node *child = pick_child(g, n);
  n->children[n->num_children++] = child;
  return child->program;
}

static inline int64_t value_of(pop_type type, const uint8_t *bytes)
{
  uint32_t size = pop_type_bytes(type);
  uint64_t value = 0;
  memcpy(&value, bytes, size);
  bool negative = pop_type_is_signed_integer(type) && value >> (8 * size - 1);
  return negative ? (int64_t)(value | UINT64_MAX << (8 * size - 1)) : (int64_t)value;
}

static inline bool has_case(const node *n, size_t count, int64_t value)
{
  for (size_t i = 0; i < count; ++i)
    if (n->values[i] == value) return true;
  return false;
}

/* Types of controls; the first only of predicates. */
static const pop_type control_types[] = {POP_BOOL, POP_SIGNED_CHAR, POP_UNSIGNED_CHAR,
                                         POP_CHAR, POP_SHORT,       POP_UNSIGNED_SHORT,
                                         POP_INT,  POP_UNSIGNED_INT};
enum { NUM_CONTROL_TYPES = sizeof control_types / sizeof *control_types };

/* The predicate is an element of the graph; false if none has a type for predicates. */
static inline bool make_if(random_graph *g, node *n)
{
  model *m = &g->m;
  pop_type type = control_types[model_random(m, NUM_CONTROL_TYPES)];
  if (!has_type(m, type) || !model_random_readable(m, type, 1, &n->source)) return false;
  n->kind = NODE_SWITCH;
  n->values[0] = 0;
  pop_program none = {0};
  pop_program no = model_chance(m, 3) ? none : add_child(g, n);
  if (!no.index) n->children[n->num_children++] = &g->nothing;
  n->program = pop_program_if(n->source.tensor, add_child(g, n), no, "if");
  return true;
}

/* Values that the control is likely to have: 0, and what a constant of the type might be. */
static inline bool make_switch(random_graph *g, node *n)
{
  model *m = &g->m;
  pop_type type = control_types[1 + model_random(m, NUM_CONTROL_TYPES - 1)];
  if (!has_type(m, type) || !model_random_readable(m, type, 1, &n->source)) return false;
  n->kind = NODE_SWITCH;
  pop_switch_case cases[MAX_CASES];
  size_t num_cases = 0;
  for (uint32_t i = model_random(m, MAX_CASES + 1); i > 0; --i) {
    uint8_t bytes[8] = {0};
    if (i > 1) model_random_value(m, type, bytes);
    int64_t value = value_of(type, bytes);
    if (has_case(n, num_cases, value)) continue;
    n->values[num_cases] = value;
    cases[num_cases++] = (pop_switch_case){value, add_child(g, n)};
  }
  pop_program otherwise = add_child(g, n);
  n->program = pop_program_switch(n->source.tensor, cases, num_cases, otherwise, "switch");
  return true;
}

/* The condition is the first of a row of flags: as many as rounds, then the other value. Each round
 * shifts the row by one. */
static inline void make_while(random_graph *g, node *n)
{
  model *m = &g->m;
  n->kind = NODE_WHILE;
  n->count = model_random(m, MAX_WHILE_ROUNDS + 1);
  bool sense = model_chance(m, 2);
  pop_type type = control_types[model_random(m, NUM_CONTROL_TYPES)];
  uint8_t flags[(MAX_WHILE_ROUNDS + 1) * 4] = {0};
  for (uint32_t i = 0; i <= n->count; ++i)
    flags[i * pop_type_bytes(type)] = (i < n->count) == sense;
  size_t length = n->count + 1;
  pop_tensor row = pop_graph_add_variable(m->graph, type, &length, 1, "flags");
  pop_tensor start = pop_graph_add_constant(m->graph, type, &length, 1, flags, "all flags");
  pop_graph_set_tile_mapping(m->graph, row, model_random(m, g->num_tiles));
  pop_graph_set_tile_mapping(m->graph, start, model_random(m, g->num_tiles));
  pop_program condition = add_child(g, n), body = pop_program_sequence(m->graph, "body");
  pop_sequence_add(body, add_child(g, n));
  pop_sequence_add(body, pop_program_copy(pop_tensor_slice(row, 1, length, 0),
                                          pop_tensor_slice(row, 0, length - 1, 0), "next"));
  pop_tensor first = pop_tensor_slice(row, 0, 1, 0);
  n->program = pop_program_sequence(m->graph, "while");
  pop_sequence_add(n->program, pop_program_copy(start, row, "begin"));
  pop_sequence_add(n->program,
                   sense ? pop_program_repeat_while_true(condition, first, body, "while true")
                         : pop_program_repeat_while_false(condition, first, body, "while false"));
}

/* A program without an effect. */
static inline pop_program without_effect(random_graph *g)
{
  static const size_t one = 1;
  model *m = &g->m;
  switch (model_random(m, 4)) {
  case 0:
    return pop_program_sync(m->graph, (pop_sync_type)model_random(m, 3), "sync");
  case 1:
    return pop_program_nop(m->graph, "nop");
  case 2:
    return pop_program_block(m->graph, pop_program_sequence(m->graph, NULL), "empty");
  default:
    break;
  }
  pop_tensor no = pop_graph_add_constant(m->graph, POP_BOOL, &one, 1, "", "no");
  pop_graph_set_tile_mapping(m->graph, no, model_random(m, g->num_tiles));
  return pop_program_abort_on_condition(no, "never", "abort");
}

static inline void make_composite(random_graph *g, node *n)
{
  model *m = &g->m;
  uint32_t kind = model_random(m, 8);
  if ((kind == 0 && make_if(g, n)) || (kind == 1 && make_switch(g, n))) return;
  if (kind == 2) {
    make_while(g, n);
    return;
  }
  n->kind = NODE_SEQUENCE;
  n->count = 1;
  n->program = pop_program_sequence(m->graph, "sequence");
  n->num_children = model_random(m, g->num_programs == 1 ? MAX_CHILDREN + 1 : 6);
  for (size_t i = 0; i < n->num_children; ++i) {
    n->children[i] = pick_child(g, n);
    pop_sequence_add(n->program, n->children[i]->program);
    if (model_chance(m, 6)) pop_sequence_add(n->program, without_effect(g));
  }
  if (model_chance(m, 4)) n->program = pop_program_block(m->graph, n->program, "block");
  if (!model_chance(m, 2)) return;
  n->kind = NODE_REPEAT;
  n->count = model_random(m, 4);
  n->program = pop_program_repeat(m->graph, n->count, n->program, "repeat");
}

static inline void make_node(random_graph *g, node *n)
{
  if ((size_t)(n - g->nodes) >= g->num_leaves) {
    make_composite(g, n);
    return;
  }
  uint32_t kind = model_random(&g->m, 12);
  if (kind == 0)
    make_print(g, n);
  else if (kind == 9 || kind == 10)
    make_stream(g, n);
  else if (kind == 11)
    make_remote(g, n);
  else if (kind < 5)
    make_execute(g, n);
  else
    make_copy(g, n);
  if (n->kind == NODE_NOTHING) n->program = pop_program_sequence(g->m.graph, "nothing");
}

static inline uint64_t count_leaf_runs(const node *n)
{
  if (n->kind < NODE_SEQUENCE) return 1;
  if (n->kind == NODE_WHILE)
    return count_leaf_runs(n->children[0]) * (n->count + 1) +
           count_leaf_runs(n->children[1]) * n->count;
  uint64_t runs = 0;
  for (size_t i = 0; i < n->num_children; ++i) runs += count_leaf_runs(n->children[i]);
  return runs * (n->kind == NODE_SWITCH ? 1 : n->count);
}

/* The child that a Switch takes. */
static inline node *choose(const random_graph *g, const node *n)
{
  uint8_t bytes[8];
  model_gather(&g->m, &n->source, bytes);
  int64_t value = value_of(n->source.type, bytes);
  for (size_t i = 0; i + 1 < n->num_children; ++i)
    if (n->values[i] == value) return n->children[i];
  return n->children[n->num_children - 1];
}

static inline void run_copy(model *m, const model_view *from, const model_view *to)
{
  uint8_t *through = pop_xmalloc(from->num_elements * pop_type_bytes(from->type) + 1);
  model_gather(m, from, through);
  model_scatter(m, to, through);
  free(through);
}

static inline void run_node(random_graph *g, node *n)
{
  model *m = &g->m;
  if (n->kind == NODE_COPY) {
    for (size_t i = 0; i < n->num_copies; ++i) run_copy(m, &n->sources[i], &n->destinations[i]);
  } else if (n->kind == NODE_EXECUTE) {
    for (size_t i = 0; i < n->num_vertices; ++i) run_vertex(m, &n->vertices[i]);
  } else if (n->kind == NODE_STREAM) {
    run_stream(g, n);
  } else if (n->kind == NODE_REMOTE) {
    run_remote(g, n);
  } else if (n->kind == NODE_PRINT) {
    uint8_t *elements = pop_xmalloc(n->source.num_elements * pop_type_bytes(n->source.type) + 1);
    model_gather(m, &n->source, elements);
    print_tensor(g->printed, "printed", n->source.type, n->source.shape, (uint32_t)n->source.rank,
                 elements);
    free(elements);
  } else if (n->kind == NODE_SWITCH) {
    run_node(g, choose(g, n));
    return;
  } else if (n->kind == NODE_WHILE) {
    for (uint32_t pass = 0; pass < n->count; ++pass) {
      run_node(g, n->children[0]);
      run_node(g, n->children[1]);
    }
    run_node(g, n->children[0]);
    return;
  }
  for (uint32_t pass = 0; n->kind >= NODE_SEQUENCE && pass < n->count; ++pass)
    for (size_t i = 0; i < n->num_children; ++i) run_node(g, n->children[i]);
}
#endif
