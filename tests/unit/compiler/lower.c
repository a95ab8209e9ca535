/* Lowering. The tests run the lowered steps on plain memory, with an array for each block. They
 * compare the result with that of the program on whole variables. An exchange runs as copies of its
 * messages, after its schedule has been verified. A copy vertex runs by its descriptor. The test's
 * own vertices run as C functions. */
#include "compiler/compilation.h"
#include "compiler/exchange/exchange.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORD = 4 };

/* Sum: out = sum of a; Add: io[i] += in[i]. Elements are unsigned short, two in a word. */
static const pop_field sum_fields[] = {
    {.name = "a",
     .kind = POP_FIELD_INPUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_UNSIGNED_SHORT,
     .offset = 0,
     .size = 8,
     .alignment = 2},
    {.name = "start",
     .kind = POP_FIELD_CONSTANT,
     .layout = POP_LAYOUT_SCALAR,
     .type = POP_INT,
     .offset = 8,
     .size = 4,
     .alignment = 4},
    {.name = "out",
     .kind = POP_FIELD_OUTPUT,
     .layout = POP_LAYOUT_SCALAR,
     .type = POP_UNSIGNED_SHORT,
     .offset = 12,
     .size = 4,
     .alignment = 2},
};
static const pop_field add_fields[] = {
    {.name = "in",
     .kind = POP_FIELD_INPUT,
     .layout = POP_LAYOUT_ONE_PTR,
     .type = POP_UNSIGNED_SHORT,
     .offset = 0,
     .size = 4,
     .alignment = 8},
    {.name = "io",
     .kind = POP_FIELD_INOUT,
     .layout = POP_LAYOUT_SPAN,
     .type = POP_UNSIGNED_SHORT,
     .offset = 4,
     .size = 8,
     .alignment = 4},
};
static const pop_vertex_type sum_type = {.name = "Sum",
                                         .symbol = "__runCodelet_Sum",
                                         .state_size = 16,
                                         .state_alignment = 4,
                                         .fields = sum_fields,
                                         .num_fields = 3};
static const pop_vertex_type add_type = {.name = "Add",
                                         .symbol = "__runCodelet_Add",
                                         .state_size = 12,
                                         .state_alignment = 4,
                                         .fields = add_fields,
                                         .num_fields = 2};

/* ---- compiling ---- */

static compilation *lower(pop_graph *graph, const pop_program *programs, size_t count)
{
  assert_no_error(graph);
  compilation *c = pop_xcalloc(1, sizeof *c);
  c->graph = graph;
  c->target = graph->target;
  c->arena = pop_arena_new();
  for (size_t i = 0; i < count; i++)
    pop_push(c->control_programs, c->num_control_programs, c->control_programs_capacity,
             programs[i].index - 1);
  pop_error *(*const passes[])(compilation *) = {pass_check, pass_place, pass_lower, pass_exchange};
  for (size_t i = 0; i < 4; i++) {
    pop_error *error = passes[i](c);
    cr_assert_null(error, "%s", pop_error_message(error));
  }
  for (size_t i = 0; i < c->num_exchanges; i++) {
    pop_error *error = verify_exchange(c, &c->exchanges[i]);
    cr_assert_null(error, "%s", pop_error_message(error));
  }
  return c;
}

/* ---- running ---- */

typedef struct run {
  compilation *c;
  uint8_t **memory; /* by block */
  unsigned events;
} run;

static uint8_t *at(const run *r, place p, uint32_t bytes)
{
  cr_assert(p.offset + bytes <= r->c->blocks[p.block].size, "outside of block %u", p.block);
  return r->memory[p.block] + p.offset;
}

static run start(compilation *c)
{
  run r = {.c = c, .memory = pop_xcalloc(c->num_blocks + 1, sizeof *r.memory)};
  for (size_t i = 0; i < c->num_blocks; i++) {
    const block *b = &c->blocks[i];
    r.memory[i] = pop_xcalloc(b->size, 1);
    if (b->content != COMPILER_NONE)
      memcpy(r.memory[i], c->bytes + c->contents[b->content].first_byte, b->size);
  }
  return r;
}

static void end(run *r)
{
  for (size_t i = 0; i < r->c->num_blocks; i++) free(r->memory[i]);
  free(r->memory);
}

static place address(const compilation *c, uint32_t block_number, uint32_t offset)
{
  const content *in = &c->contents[c->blocks[block_number].content];
  for (uint32_t i = 0; i < in->num_fixups; i++)
    if (c->fixups[in->first_fixup + i].at == offset) return c->fixups[in->first_fixup + i].target;
  cr_assert_fail("no address at %u of block %u", offset, block_number);
  return (place){0};
}

static uint32_t word(const run *r, uint32_t block_number, uint32_t offset)
{
  uint32_t value;
  memcpy(&value, at(r, (place){block_number, offset}, WORD), WORD);
  return value;
}

static void run_copy_vertex(run *r, const tile_work *work, const lowered_vertex *v)
{
  bool strided = strcmp(r->c->vertex_types[v->type].type->name, "poplar_rt::StridedCopy") == 0;
  uint32_t offset = v->state_offset + r->c->vertex_types[v->type].type->fields[0].offset;
  place table = address(r->c, work->state_block, offset);
  uint32_t words = word(r, work->state_block, offset + WORD), size = strided ? 6 : 3;
  for (uint32_t i = 0; i < words; i += size, table.offset += size * WORD) {
    place from = address(r->c, table.block, table.offset),
          to = address(r->c, table.block, table.offset + WORD);
    uint32_t bytes = word(r, table.block, table.offset + 8),
             count = strided ? word(r, table.block, table.offset + 12) : 1;
    cr_assert(r->c->blocks[from.block].tile == work->tile &&
              r->c->blocks[to.block].tile == work->tile);
    for (uint32_t j = 0; j < count; j++) {
      memcpy(at(r, to, bytes), at(r, from, bytes), bytes);
      if (!strided) continue;
      from.offset += word(r, table.block, table.offset + 16);
      to.offset += word(r, table.block, table.offset + 20);
    }
  }
}

static uint16_t *halves(const run *r, const tile_work *work, uint32_t offset, uint32_t count,
                        uint32_t alignment)
{
  place p = address(r->c, work->state_block, offset);
  cr_assert_eq(r->c->blocks[p.block].tile, work->tile);
  cr_assert(p.offset % alignment == 0 && r->c->blocks[p.block].align >= alignment);
  return (uint16_t *)(void *)at(r, p, 2 * count);
}

static void run_vertex(run *r, const tile_work *work, const lowered_vertex *v)
{
  uint32_t state = v->state_offset, b = work->state_block;
  const pop_vertex_type *type = r->c->vertex_types[v->type].type;
  if (type == &sum_type) {
    uint32_t count = word(r, b, state + 4), sum = word(r, b, state + 8);
    const uint16_t *a = halves(r, work, state, count, 2);
    for (uint32_t i = 0; i < count; i++) sum += a[i];
    *halves(r, work, state + 12, 1, 2) = (uint16_t)sum;
  } else if (type == &add_type) {
    uint32_t count = word(r, b, state + 8);
    const uint16_t *in = halves(r, work, state, count, 8);
    uint16_t *io = halves(r, work, state + 4, count, 4);
    for (uint32_t i = 0; i < count; i++) io[i] = (uint16_t)(io[i] + in[i]);
  } else {
    run_copy_vertex(r, work, v);
  }
}

static void run_compute_set(run *r, const lowered_compute_set *set)
{
  for (size_t i = 0; i < set->num_works; i++) {
    const tile_work *work = &r->c->works[set->first_work + i];
    cr_assert(i == 0 || work[-1].tile < work->tile, "works ascend by tile");
    for (size_t j = 0; j < work->num_vertices; j++) {
      const lowered_vertex *v = &r->c->vertices[work->first_vertex + j];
      cr_assert(j == 0 || v[-1].worker <= v->worker, "vertices ascend by worker");
      run_vertex(r, work, v);
    }
  }
}

static void run_exchange(run *r, const exchange *x)
{
  for (size_t i = 0; i < x->num_messages; i++) {
    const message *m = &r->c->messages[x->first_message + i];
    cr_assert_eq(m->source.offset % WORD, 0);
    for (size_t j = 0; j < m->num_receivers; j++) {
      const receiver *to = &r->c->receivers[m->first_receiver + j];
      cr_assert((to->tile != m->source_tile || m->num_receivers == 1) &&
                to->destination.offset % WORD == 0);
      memcpy(at(r, to->destination, m->num_words * WORD), at(r, m->source, m->num_words * WORD),
             m->num_words * WORD);
    }
  }
}

/* A control value, which must be the same on every tile. */
static uint32_t control_value(run *r, const control *decides)
{
  uint32_t size = pop_type_bytes(decides->type), value = 0;
  memcpy(&value, at(r, decides->source, size), size);
  for (uint32_t t = 0; t < pop_target_num_tiles(&r->c->target); t++) {
    place here = control_place(decides, t);
    cr_assert_eq(r->c->blocks[here.block].tile, t);
    cr_assert_eq(memcmp(at(r, here, size), &value, size), 0, "tile %u", t);
  }
  return value;
}

static uint32_t chosen_child(run *r, const step *s)
{
  const control *decides = &r->c->controls[s->index];
  uint32_t value = control_value(r, decides);
  for (uint32_t i = 0; i + 1 < s->num_children; i++)
    if (r->c->case_values[decides->first_value + i] == value) return i;
  return (uint32_t)s->num_children - 1;
}

static void run_step(run *r, uint32_t number)
{
  const step *s = &r->c->steps[number];
  switch (s->kind) {
  case STEP_SEQUENCE:
    for (size_t i = 0; i < s->num_children; i++) run_step(r, r->c->children[s->first_child + i]);
    break;
  case STEP_REPEAT:
    cr_assert_eq(s->num_children, 1);
    for (uint32_t i = 0; i < s->count; i++) run_step(r, r->c->children[s->first_child]);
    break;
  case STEP_EXECUTE:
    run_compute_set(r, &r->c->compute_sets[s->index]);
    break;
  case STEP_EXCHANGE:
    run_exchange(r, &r->c->exchanges[s->index]);
    break;
  case STEP_SWITCH:
    run_step(r, r->c->children[s->first_child + chosen_child(r, s)]);
    break;
  case STEP_WHILE:
    for (;;) {
      run_step(r, r->c->children[s->first_child]);
      if ((control_value(r, &r->c->controls[s->index]) != 0) != s->count) break;
      run_step(r, r->c->children[s->first_child + 1]);
    }
    break;
  case STEP_SYNC:
  case STEP_WRITE_UNDEF:
  case STEP_HOST_EXCHANGE: /* no graph of this file has streams */
    break;
  case STEP_BLOCK:
    run_step(r, r->c->children[s->first_child]);
    break;
  case STEP_HOST_EVENT:
    r->events++;
    break;
  }
}

/* Reads or writes the elements of a tensor with this host handle. */
static void access_tensor(run *r, const char *handle, uint16_t *data, bool write)
{
  for (size_t i = 0; i < r->c->num_host_tensors; i++) {
    const host_tensor *t = &r->c->host_tensors[i];
    if (t->kind == HOST_PRINT || strcmp(t->name, handle) != 0) continue;
    uint8_t *bytes = (uint8_t *)data;
    for (size_t j = 0; j < t->num_runs; j++) {
      const host_run *part = &r->c->host_runs[t->first_run + j];
      cr_assert_eq(r->c->blocks[part->at.block].tile, part->tile);
      if (write)
        memcpy(at(r, part->at, part->bytes), bytes, part->bytes);
      else
        memcpy(bytes, at(r, part->at, part->bytes), part->bytes);
      bytes += part->bytes;
    }
    return;
  }
  cr_assert_fail("no handle %s", handle);
}

/* ---- random views ---- */

static pop_tensor new_vector(pop_graph *graph, uint32_t count, const char *name)
{
  return pop_graph_add_variable(graph, POP_UNSIGNED_SHORT, (const size_t[]){count}, 1, name);
}

static void map_randomly(pop_graph *graph, pop_tensor v, uint32_t tiles, uint64_t *seed)
{
  size_t count = pop_tensor_num_elements(v);
  for (size_t i = 0; i < count;) {
    size_t next = i + 1 + random_below(seed, 9);
    if (next > count) next = count;
    pop_graph_set_tile_mapping(graph, pop_tensor_slice(v, i, next, 0), random_below(seed, tiles));
    i = next;
  }
}

/* Some permutation of the elements of a vector of 48, as a vector. */
static pop_tensor shuffled(pop_tensor v, uint64_t *seed)
{
  static const size_t shapes[][3] = {{48, 1, 1}, {6, 8, 1}, {12, 4, 1}, {2, 4, 6}, {24, 2, 1}};
  pop_tensor t = pop_tensor_reshape(v, shapes[random_below(seed, 5)], 3);
  if (random_below(seed, 2)) t = pop_tensor_transpose(t);
  if (random_below(seed, 3) == 0) t = pop_tensor_reverse(t, 0);
  t = pop_tensor_flatten(t);
  size_t cut = random_below(seed, 48);
  pop_tensor parts[] = {pop_tensor_slice(t, cut, 48, 0), pop_tensor_slice(t, 0, cut, 0)};
  return pop_concat(parts, 2, 0);
}

/* The positions of a view's elements in their variable. */
static size_t elements_of(pop_tensor t, uint32_t *out)
{
  size_t count = 0;
  view_walk walk;
  view_run part;
  view_walk_start(&walk, t.graph, t.index);
  while (view_walk_next(&walk, &part))
    for (uint64_t i = 0; i < part.count; i++) out[count++] = (uint32_t)(part.begin + i);
  return count;
}

/* ---- tests ---- */

enum { SIZE = 48, TILES = 5 };

static void copy_randomly(uint64_t seed, bool same_variable)
{
  pop_graph *graph = new_graph_with_tiles(TILES);
  pop_tensor a = new_vector(graph, SIZE, "a"), b = new_vector(graph, SIZE, "b");
  map_randomly(graph, a, TILES, &seed);
  map_randomly(graph, b, TILES, &seed);
  pop_tensor target = same_variable ? a : b;
  uint32_t count = 1 + random_below(&seed, SIZE - 1);
  pop_tensor source = pop_tensor_slice(shuffled(a, &seed), 0, count, 0);
  pop_tensor destination = pop_tensor_slice(shuffled(target, &seed), SIZE - count, SIZE, 0);
  pop_program program = pop_program_copy(source, destination, "copy");
  pop_graph_create_host_write(graph, "a", a);
  pop_graph_create_host_read(graph, "target", target);

  uint16_t values[SIZE], expected[SIZE] = {0}, found[SIZE];
  uint32_t from[SIZE], to[SIZE];
  for (uint32_t i = 0; i < SIZE; i++) values[i] = (uint16_t)(1000 + i);
  if (same_variable) memcpy(expected, values, sizeof expected);
  elements_of(source, from);
  elements_of(destination, to);
  for (uint32_t i = 0; i < count; i++) expected[to[i]] = values[from[i]];

  compilation *c = lower(graph, &program, 1);
  run r = start(c);
  access_tensor(&r, "a", values, true);
  run_step(&r, c->control_programs[0]);
  access_tensor(&r, "target", found, false);
  cr_assert_arr_eq(found, expected, sizeof found, "seed %llu", (unsigned long long)seed);
  end(&r);
  compilation_free(c);
  pop_graph_free(graph);
}

Test(lower, X07_copies_between_any_views_put_every_element_in_its_place)
{
  for (uint64_t seed = 1; seed <= 150; seed++) copy_randomly(seed, seed % 2 == 0);
}

static void execute_randomly(uint64_t seed)
{
  enum { SUMS = SIZE };
  pop_graph *graph = new_graph_with_tiles(TILES);
  add_vertex_type(graph, &sum_type);
  add_vertex_type(graph, &add_type);
  pop_tensor a = new_vector(graph, SIZE, "a"), b = new_vector(graph, SIZE, "b"),
             out = new_vector(graph, SUMS, "out");
  map_randomly(graph, a, TILES, &seed);
  map_randomly(graph, b, TILES, &seed);
  map_randomly(graph, out, TILES, &seed);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_tensor inputs = shuffled(a, &seed), updated = shuffled(b, &seed), sums = shuffled(out, &seed);
  uint16_t values[SIZE], others[SIZE], expected_out[SIZE] = {0}, expected_b[SIZE], found[SIZE];
  uint32_t input_at[SIZE], updated_at[SIZE], sum_at[SIZE], at_sum = 0;
  elements_of(inputs, input_at);
  elements_of(updated, updated_at);
  elements_of(sums, sum_at);
  for (uint32_t i = 0; i < SIZE; i++) {
    values[i] = (uint16_t)(1 + i * i);
    others[i] = expected_b[i] = (uint16_t)(7 * i);
  }
  for (uint32_t begin = 0; begin < SIZE;) {
    uint32_t stop = begin + 1 + random_below(&seed, 7);
    if (stop > SIZE) stop = SIZE;
    pop_vertex add = pop_graph_add_vertex(graph, set, "Add");
    pop_graph_connect(graph, add, "in", pop_tensor_slice(inputs, begin, stop, 0));
    pop_graph_connect(graph, add, "io", pop_tensor_slice(updated, begin, stop, 0));
    pop_graph_set_vertex_tile(graph, add, random_below(&seed, TILES));
    for (uint32_t i = begin; i < stop; i++)
      expected_b[updated_at[i]] = (uint16_t)(expected_b[updated_at[i]] + values[input_at[i]]);
    for (unsigned n = 0; n < 2 && at_sum < SUMS;
         n++, at_sum++) { /* two sums of the same elements */
      pop_vertex sum = pop_graph_add_vertex(graph, set, "Sum");
      pop_graph_connect(graph, sum, "a", pop_tensor_slice(inputs, begin, stop, 0));
      pop_graph_connect(graph, sum, "out", pop_tensor_index(sums, at_sum));
      pop_graph_set_field_int(graph, sum, "start", (int)at_sum);
      pop_graph_set_vertex_tile(graph, sum, random_below(&seed, TILES));
      expected_out[sum_at[at_sum]] = (uint16_t)at_sum;
      for (uint32_t i = begin; i < stop; i++)
        expected_out[sum_at[at_sum]] =
            (uint16_t)(expected_out[sum_at[at_sum]] + values[input_at[i]]);
    }
    begin = stop;
  }
  pop_graph_create_host_write(graph, "a", a);
  pop_graph_create_host_write(graph, "b", b);
  pop_graph_create_host_read(graph, "b again", b);
  pop_graph_create_host_read(graph, "out", out);
  pop_program program = pop_program_execute(graph, set, NULL);
  compilation *c = lower(graph, &program, 1);
  run r = start(c);
  access_tensor(&r, "a", values, true);
  access_tensor(&r, "b", others, true);
  run_step(&r, c->control_programs[0]);
  access_tensor(&r, "out", found, false);
  cr_assert_arr_eq(found, expected_out, sizeof found, "sums, seed %llu", (unsigned long long)seed);
  access_tensor(&r, "b again", found, false);
  cr_assert_arr_eq(found, expected_b, sizeof found, "in-outs, seed %llu", (unsigned long long)seed);
  end(&r);
  compilation_free(c);
  pop_graph_free(graph);
}

Test(lower, vertices_find_their_elements_wherever_they_are)
{
  for (uint64_t seed = 1; seed <= 100; seed++) execute_randomly(seed);
}

/* ---- the structure of steps ---- */

typedef struct fixture {
  pop_graph *graph;
  pop_tensor a, b;
  pop_compute_set set;
} fixture;

/* One vertex on tile 1 adds up `a`, on tile 0, into `b`, on tile 1. */
static fixture new_fixture(void)
{
  fixture f = {.graph = new_graph_with_tiles(3)};
  add_vertex_type(f.graph, &sum_type);
  f.a = new_vector(f.graph, 10, "a");
  f.b = new_vector(f.graph, 1, "b");
  pop_graph_set_tile_mapping(f.graph, f.a, 0);
  pop_graph_set_tile_mapping(f.graph, f.b, 1);
  f.set = pop_graph_add_compute_set(f.graph, "sum");
  pop_vertex v = pop_graph_add_vertex(f.graph, f.set, "Sum");
  pop_graph_connect(f.graph, v, "a", f.a);
  pop_graph_connect(f.graph, v, "out", pop_tensor_index(f.b, 0));
  pop_graph_set_vertex_tile(f.graph, v, 1);
  return f;
}

Test(lower, an_execute_is_an_exchange_and_a_compute_set_and_its_accesses)
{
  fixture f = new_fixture();
  pop_program program = pop_program_execute(f.graph, f.set, NULL);
  compilation *c = lower(f.graph, &program, 1);
  const step *root = &c->steps[c->control_programs[0]];
  cr_assert(root->kind == STEP_SEQUENCE && root->num_children == 2 && root->num_uses == 1);
  const step *pre = &c->steps[c->children[root->first_child]];
  const step *run_set = &c->steps[c->children[root->first_child + 1]];
  cr_assert_eq(pre->kind, STEP_EXCHANGE);
  cr_assert_str_eq(pre->name, "sum/ExchangePre");
  cr_assert_eq(run_set->kind, STEP_EXECUTE);
  cr_assert_str_eq(run_set->name, "sum");
  cr_assert_eq(pre->num_accesses, 2);
  const block_access *filled = &c->accesses[pre->first_access + 1];
  cr_assert_eq(c->blocks[filled->block].category, POP_MEMORY_MESSAGE);
  cr_assert(!filled->reads && filled->bytes_written == c->blocks[filled->block].size);
  cr_assert_eq(run_set->num_accesses, 2);
  const block_access *result = &c->accesses[run_set->first_access + 1];
  cr_assert_eq(c->blocks[result->block].category, POP_MEMORY_VARIABLE);
  cr_assert(!result->reads && result->bytes_written == c->blocks[result->block].size);
  compilation_free(c);
  pop_graph_free(f.graph);
}

Test(lower, what_is_used_twice_is_lowered_once)
{
  fixture f = new_fixture();
  pop_program main = pop_program_sequence(f.graph, "main");
  for (size_t i = 0; i < 3; i++) pop_sequence_add(main, pop_program_execute(f.graph, f.set, NULL));
  pop_program programs[] = {main, main};
  compilation *c = lower(f.graph, programs, 2);
  cr_assert_eq(c->control_programs[0], c->control_programs[1]);
  cr_assert_eq(c->num_compute_sets, 1);
  cr_assert_eq(c->num_exchanges, 1);
  const step *root = &c->steps[c->control_programs[0]];
  cr_assert_eq(root->num_uses, 2);
  cr_assert_eq(root->num_children, 3);
  const step *shared = &c->steps[c->children[root->first_child]];
  cr_assert(shared->kind == STEP_SEQUENCE && shared->num_uses == 3 && shared->num_children == 2);
  compilation_free(c);
  pop_graph_free(f.graph);
}

Test(lower, X01_what_does_nothing_disappears)
{
  fixture f = new_fixture();
  pop_program main = pop_program_sequence(f.graph, "main");
  pop_program empty = pop_program_sequence(f.graph, "empty");
  pop_sequence_add(main, empty);
  pop_sequence_add(main, pop_program_repeat(f.graph, 5, empty, NULL));
  pop_sequence_add(main,
                   pop_program_repeat(f.graph, 0, pop_program_execute(f.graph, f.set, NULL), NULL));
  pop_sequence_add(main, pop_program_copy(f.a, f.a, "to itself"));
  pop_sequence_add(main,
                   pop_program_execute(f.graph, pop_graph_add_compute_set(f.graph, "empty"), NULL));
  compilation *c = lower(f.graph, &main, 1);
  const step *root = &c->steps[c->control_programs[0]];
  cr_assert(root->kind == STEP_SEQUENCE && root->num_children == 0);
  cr_assert_eq(c->num_steps, 1);
  cr_assert_eq(c->num_vertices, 0);
  compilation_free(c);
  pop_graph_free(f.graph);
}

/* ---- independent copies ---- */

/* `x` on tile 0, `y` on tile 1: elements of 1 byte. */
typedef struct side_by_side {
  pop_graph *graph;
  pop_tensor x, y;
  pop_program main;
} side_by_side;

static side_by_side new_side_by_side(size_t bytes)
{
  side_by_side s = {.graph = new_graph_with_tiles(3)};
  s.x = pop_graph_add_variable(s.graph, POP_CHAR, &bytes, 1, "x");
  s.y = pop_graph_add_variable(s.graph, POP_CHAR, &bytes, 1, "y");
  pop_graph_set_tile_mapping(s.graph, s.x, 0);
  pop_graph_set_tile_mapping(s.graph, s.y, 1);
  s.main = pop_program_sequence(s.graph, "main");
  return s;
}

static void copy_bytes(side_by_side *s, pop_tensor from, size_t begin, pop_tensor to, size_t at,
                       size_t bytes, const char *name)
{
  pop_sequence_add(s->main, pop_program_copy(pop_tensor_slice(from, begin, begin + bytes, 0),
                                             pop_tensor_slice(to, at, at + bytes, 0), name));
}

static compilation *lower_side_by_side(side_by_side *s)
{
  compilation *c = lower(s->graph, &s->main, 1);
  pop_graph_free(s->graph);
  return c;
}

Test(lower, independent_copies_side_by_side_are_one_exchange)
{
  side_by_side s = new_side_by_side(64);
  copy_bytes(&s, s.x, 0, s.y, 0, 8, "first");
  copy_bytes(&s, s.x, 8, s.y, 8, 8, "second");
  copy_bytes(&s, s.y, 16, s.x, 16, 8, "back");
  copy_bytes(&s, s.x, 4, s.y, 24, 8, "first"); /* two may read the same */
  compilation *c = lower_side_by_side(&s);
  cr_assert_eq(c->num_exchanges, 1);
  cr_assert_str_eq(c->exchanges[0].name, "first+second+back/ExchangePre");
  cr_assert_str_eq(c->exchanges[0].all_names,
                   "first/ExchangePre+second/ExchangePre+back/ExchangePre");
  compilation_free(c);
}

Test(lower, a_copy_that_reads_or_writes_what_another_writes_comes_behind_it)
{
  static const struct {
    bool back; /* the second copy is from y to x */
    size_t begin, at;
    size_t expected; /* number of exchanges; the first copy takes bytes 8 to 15 of x to y */
  } cases[] = {{true, 8, 32, 2},  {true, 12, 32, 2}, {true, 15, 32, 2}, {true, 16, 32, 1},
               {true, 4, 32, 2},  {false, 0, 8, 2},  {false, 0, 15, 2}, {false, 0, 16, 1},
               {false, 0, 4, 2},  {true, 32, 8, 2},  {true, 32, 1, 2},  {true, 32, 0, 1},
               {true, 32, 15, 2}, {false, 8, 32, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    side_by_side s = new_side_by_side(64);
    copy_bytes(&s, s.x, 8, s.y, 8, 8, "first");
    copy_bytes(&s, cases[i].back ? s.y : s.x, cases[i].begin, cases[i].back ? s.x : s.y,
               cases[i].at, 8, "second");
    compilation *c = lower_side_by_side(&s);
    cr_assert_eq(c->num_exchanges, cases[i].expected, "case %zu", i);
    if (cases[i].expected == 2) cr_assert_null(c->exchanges[0].all_names);
    compilation_free(c);
  }
}

Test(lower, copies_with_something_between_them_stay_apart)
{
  side_by_side s = new_side_by_side(64);
  copy_bytes(&s, s.x, 0, s.y, 0, 8, "first");
  pop_sequence_add(s.main, pop_program_sync(s.graph, POP_SYNC_INTERNAL, "sync"));
  copy_bytes(&s, s.x, 8, s.y, 8, 8, "second");
  compilation *c = lower_side_by_side(&s);
  cr_assert_eq(c->num_exchanges, 2);
  compilation_free(c);
}

/* If these copies were merged, their buffers would live longer, and nothing would be gained. */
Test(lower, large_copies_stay_apart)
{
  enum { BYTES = 16 << 10 };
  side_by_side s = new_side_by_side(2 * BYTES);
  copy_bytes(&s, s.x, 0, s.y, 0, BYTES, "first");
  copy_bytes(&s, s.x, BYTES, s.y, BYTES, BYTES, "second");
  compilation *c = lower_side_by_side(&s);
  cr_assert_eq(c->num_exchanges, 2);
  cr_assert_str_eq(c->exchanges[1].name, "second/ExchangePre");
  compilation_free(c);
}

/* A profile has the names of all copies of an exchange. Its symbols, which many tiles have, get
 * a short name. */
Test(lower, many_copies_in_one_exchange_have_a_short_name_and_a_full_one)
{
  enum { COPIES = 100 };
  side_by_side s = new_side_by_side(4 * COPIES);
  for (size_t i = 0; i < COPIES; i++) {
    char name[16];
    snprintf(name, sizeof name, "copy %zu", i);
    copy_bytes(&s, s.x, 4 * i, s.y, 4 * (COPIES - 1 - i), 4, name);
  }
  compilation *c = lower_side_by_side(&s);
  cr_assert_eq(c->num_exchanges, 1);
  cr_assert_str_eq(c->exchanges[0].name, "copy 0+copy 1+copy 2+copy 3+…/ExchangePre");
  cr_assert_not_null(strstr(c->exchanges[0].all_names, "+copy 99/ExchangePre"));
  compilation_free(c);
}

Test(lower, X02_deep_nesting_is_flat)
{
  enum { DEPTH = 100000 };
  fixture f = new_fixture();
  pop_program inner = pop_program_print_tensor(f.a, "a");
  for (size_t i = 0; i < DEPTH; i++) {
    pop_program outer = i % 3 ? pop_program_sequence(f.graph, NULL)
                              : pop_program_repeat(f.graph, i == 3 ? 7 : 1, inner, NULL);
    if (i % 3) pop_sequence_add(outer, inner);
    inner = outer;
  }
  compilation *c = lower(f.graph, &inner, 1);
  cr_assert_eq(c->num_steps, 2);
  const step *root = &c->steps[c->control_programs[0]];
  cr_assert(root->kind == STEP_REPEAT && root->count == 7);
  run r = start(c);
  run_step(&r, c->control_programs[0]);
  cr_assert_eq(r.events, 7);
  end(&r);
  compilation_free(c);
  pop_graph_free(f.graph);
}

Test(lower, words_that_many_tiles_want_are_sent_once)
{
  enum { WIDE = 64 };
  pop_graph *graph = new_graph_with_tiles(WIDE);
  add_vertex_type(graph, &sum_type);
  pop_tensor x = new_vector(graph, 2 * WIDE, "x"), y = new_vector(graph, 4 * WIDE, "y");
  pop_graph_map_linearly(graph, x, 0, 2);
  pop_graph_map_linearly(graph, y, 0, 0);
  pop_compute_set set = pop_graph_add_compute_set(graph, "all");
  for (uint32_t i = 0; i < 4 * WIDE; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Sum");
    pop_graph_connect(graph, v, "a", x);
    pop_graph_connect(graph, v, "out", pop_tensor_index(y, i));
    pop_graph_set_vertex_tile(graph, v, i / 4);
  }
  pop_program program = pop_program_execute(graph, set, NULL);
  compilation *c = lower(graph, &program, 1);
  cr_assert_eq(c->num_messages, 2 * WIDE, "to all others, and to itself");
  for (size_t i = 0; i < c->num_messages; i++) {
    const message *m = &c->messages[i];
    bool own = c->receivers[m->first_receiver].tile == m->source_tile;
    cr_assert_eq(m->num_receivers, own ? 1 : WIDE - 1);
  }
  uint64_t message_bytes = 0;
  for (size_t i = 0; i < c->num_blocks; i++)
    if (c->blocks[i].category == POP_MEMORY_MESSAGE) message_bytes += c->blocks[i].size;
  cr_assert_eq(message_bytes, 4 * WIDE * WIDE, "one buffer for the four vertices of a tile");
  compilation_free(c);
  pop_graph_free(graph);
}

Test(lower, workers_share_the_vertices_evenly)
{
  fixture f = new_fixture();
  pop_compute_set set = pop_graph_add_compute_set(f.graph, "uneven");
  pop_tensor out = new_vector(f.graph, 13, "out");
  pop_graph_set_tile_mapping(f.graph, out, 2);
  for (uint32_t i = 0; i < 13; i++) {
    pop_vertex v = pop_graph_add_vertex(f.graph, set, "Sum");
    pop_graph_connect(f.graph, v, "a", f.a);
    pop_graph_connect(f.graph, v, "out", pop_tensor_index(out, i));
    pop_graph_set_cycle_estimate(f.graph, v, i == 12 ? 2000 : 1000);
    pop_graph_set_vertex_tile(f.graph, v, 2);
  }
  pop_program program = pop_program_execute(f.graph, set, NULL);
  compilation *c = lower(f.graph, &program, 1);
  uint64_t load[6] = {0};
  for (size_t i = 0; i < c->num_vertices; i++)
    load[c->vertices[i].worker] += c->vertices[i].graph_vertex == 13 ? 2000 : 1000;
  for (size_t i = 0; i < 6; i++)
    cr_assert(load[i] == 2000 || load[i] == 3000, "worker %zu: %u", i, (unsigned)load[i]);
  compilation_free(c);
  pop_graph_free(f.graph);
}
