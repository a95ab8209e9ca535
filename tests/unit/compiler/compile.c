/* The graph compiler as a whole. Compiled programs run on the software IPU, and their results are
 * compared with the same computation in C. Images are compared with the memory report and with what
 * the loader finds. */
#include "support/compiled.h"
#include "support/graph_test.h"
#include "support/random.h"

#include <populus/image.h>
#include <stdlib.h>

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(int) value; int by; } Add;\n"
    "COMPUTE(Add) { *vertex->value = *vertex->value * 3 + vertex->by; return true; }\n"
    /* a variable for each worker, one for the tile, and a constant table */
    "_Thread_local int worker_calls = 5;\n"
    "_Thread_local int worker_zero;\n"
    "int tile_calls = 100;\n"
    "int tile_zero;\n"
    "static const int table[] = {7, 11, 13, 17, 19, 23};\n"
    "typedef struct { OUTPUT(VECTOR(int)) out; } Variables;\n"
    "COMPUTE(Variables)\n"
    "{\n"
    "  vertex->out.data[0] = ++worker_calls;\n"
    "  vertex->out.data[1] = ++worker_zero;\n"
    "  vertex->out.data[2] = ++tile_calls;\n"
    "  vertex->out.data[3] = ++tile_zero;\n"
    "  vertex->out.data[4] = table[worker_calls % 6];\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  int sum = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) sum += vertex->in.data[i];\n"
    "  *vertex->out = sum;\n"
    "  return true;\n"
    "}\n";

/* 96 KiB of constants. */
static const char large_codelet[] =
    "#include <populus/vertex.h>\n"
    "#define T4(x) x, x + 1, x + 2, x + 3\n"
    "#define T16(x) T4(x), T4(x + 4), T4(x + 8), T4(x + 12)\n"
    "#define T64(x) T16(x), T16(x + 16), T16(x + 32), T16(x + 48)\n"
    "#define T256(x) T64(x), T64(x + 64), T64(x + 128), T64(x + 192)\n"
    "#define T1024(x) T256(x), T256(x + 256), T256(x + 512), T256(x + 768)\n"
    "#define T4096(x) T1024(x), T1024(x + 1024), T1024(x + 2048), T1024(x + 3072)\n"
    "static const int large[24576] = {T4096(0), T4096(4096), T4096(8192), T4096(12288),\n"
    "                                 T4096(16384), T4096(20480)};\n"
    "typedef struct { INPUT(int) at; OUTPUT(int) out; } Lookup;\n"
    "COMPUTE(Lookup) { *vertex->out = large[*vertex->at]; return true; }\n";

/* ---- small graphs ---- */

static pop_graph *new_ipu1(uint32_t tiles)
{
  pop_target target;
  cr_assert_null(pop_target_create("ipu1", 1, &target));
  target.tiles_per_ipu = tiles;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "codelets.c", NULL);
  assert_no_error(graph);
  return graph;
}

static pop_tensor add_ints(pop_graph *graph, size_t count, size_t tile, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

static pop_engine *new_engine(pop_graph *graph, const pop_program *programs, size_t count,
                              const pop_option *options, size_t num_options)
{
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, programs, count, options, num_options, &engine);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  return engine;
}

static void load(pop_engine *engine)
{
  pop_error *error = pop_engine_load(engine);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void run(pop_engine *engine, size_t program)
{
  pop_error *error = pop_engine_run(engine, program);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void read_ints(pop_engine *engine, const char *handle, int *out, size_t count)
{
  pop_error *error = pop_engine_read_tensor(engine, handle, out, count * sizeof *out);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

/* value = value * 3 + by on the tile of `element`, as a program. */
static pop_program add_step_program(pop_graph *graph, pop_tensor element, size_t tile, int by)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "add");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Add");
  pop_graph_connect(graph, vertex, "value", element);
  pop_graph_set_field_int(graph, vertex, "by", by);
  pop_graph_set_vertex_tile(graph, vertex, tile);
  return pop_program_execute(graph, set, "add");
}

/* ---- control flow ---- */

/* Programs over two values on two tiles, as trees: run by the IPU, and by run_node in C. */
typedef struct node {
  enum { ADD_0, ADD_1, COPY_0_TO_1, COPY_1_TO_0, SEQUENCE, REPEAT } kind;
  int by;
  unsigned count;
  struct node *children[4];
  size_t num_children;
  pop_program program; /* shared by all uses of the node */
} node;

static void run_node(const node *n, unsigned values[2])
{
  switch (n->kind) {
  case ADD_0:
  case ADD_1:
    values[n->kind] = values[n->kind] * 3 + (unsigned)n->by;
    return;
  case COPY_0_TO_1:
    values[1] = values[0];
    return;
  case COPY_1_TO_0:
    values[0] = values[1];
    return;
  case SEQUENCE:
  case REPEAT:
    for (unsigned pass = 0; pass < n->count; pass++)
      for (size_t i = 0; i < n->num_children; i++) run_node(n->children[i], values);
  }
}

/* A node that uses earlier nodes, so that a node may have several uses. */
static void make_node(pop_graph *graph, node *nodes, size_t at, const pop_tensor values[2],
                      uint64_t *seed)
{
  node *n = &nodes[at];
  n->count = 1;
  n->by = (int)random_below(seed, 100);
  n->kind = at < 2 ? (at == 0 ? ADD_0 : ADD_1) : random_below(seed, 6);
  n->num_children = n->kind >= SEQUENCE ? random_below(seed, 5) : 0;
  for (size_t i = 0; i < n->num_children; i++)
    n->children[i] = &nodes[random_below(seed, (uint32_t)at)];
  switch (n->kind) {
  case ADD_0:
  case ADD_1:
    n->program = add_step_program(graph, pop_tensor_index(values[n->kind], 0), n->kind, n->by);
    return;
  case COPY_0_TO_1:
    n->program = pop_program_copy(values[0], values[1], "copy");
    return;
  case COPY_1_TO_0:
    n->program = pop_program_copy(values[1], values[0], "copy");
    return;
  default:
    break;
  }
  n->program = pop_program_sequence(graph, "sequence");
  for (size_t i = 0; i < n->num_children; i++)
    pop_sequence_add(n->program, n->children[i]->program);
  if (n->kind == REPEAT) {
    n->count = random_below(seed, 4);
    n->program = pop_program_repeat(graph, n->count, n->program, "repeat");
  }
}

static uint64_t num_runs_of(const node *n)
{
  uint64_t runs = 1;
  for (size_t i = 0; i < n->num_children; i++) runs += num_runs_of(n->children[i]);
  return runs * n->count;
}

Test(compile, random_control_programs_do_what_they_say)
{
  enum { NUM_NODES = 24, NUM_PROGRAMS = 3 };
  size_t num_run = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    uint64_t state = seed;
    pop_graph *graph = new_ipu1(3);
    pop_tensor values[2] = {add_ints(graph, 1, 0, "a"), add_ints(graph, 1, 1, "b")};
    pop_tensor both = pop_concat(values, 2, 0);
    pop_graph_create_host_read(graph, "out", both);
    node *nodes = pop_xcalloc(NUM_NODES, sizeof *nodes);
    pop_program programs[NUM_PROGRAMS];
    for (size_t i = 0; i < NUM_NODES; i++) make_node(graph, nodes, i, values, &state);
    for (size_t p = 0; p < NUM_PROGRAMS; p++) programs[p] = nodes[NUM_NODES - 1 - p].program;
    pop_engine *engine = new_engine(graph, programs, NUM_PROGRAMS, NULL, 0);
    load(engine);
    unsigned expected[2] = {0, 0};
    for (int i = 0; i < 6; i++) {
      size_t p = random_below(&state, NUM_PROGRAMS);
      if (num_runs_of(&nodes[NUM_NODES - 1 - p]) > 3000) continue;
      int out[2];
      run_node(&nodes[NUM_NODES - 1 - p], expected);
      run(engine, p);
      read_ints(engine, "out", out, 2);
      cr_assert_eq((unsigned)out[0], expected[0], "seed %d, run %d", (int)seed, i);
      cr_assert_eq((unsigned)out[1], expected[1], "seed %d, run %d", (int)seed, i);
      num_run++;
    }
    pop_engine_free(engine);
    pop_graph_free(graph);
    free(nodes);
  }
  cr_assert_geq(num_run, 40, "only %zu programs were short enough", num_run);
}

/* 14 nested loops: more than there are registers for counters. Each level is also used
 * elsewhere. */
Test(compile, loops_beyond_the_counter_registers_count_on_the_stack)
{
  enum { DEPTH = 14 };
  pop_graph *graph = new_ipu1(2);
  pop_tensor value = add_ints(graph, 1, 0, "value"), other = add_ints(graph, 1, 1, "other");
  pop_tensor both = pop_concat((const pop_tensor[]){value, other}, 2, 0);
  pop_graph_create_host_read(graph, "out", both);
  unsigned expected[2] = {0, 0};
  pop_program body = add_step_program(graph, pop_tensor_index(value, 0), 0, 1);
  for (int i = 0; i < DEPTH; i++) {
    pop_program sequence = pop_program_sequence(graph, "level");
    pop_sequence_add(sequence, body);
    pop_sequence_add(sequence, pop_program_copy(value, other, "copy"));
    body = pop_program_repeat(graph, 2, sequence, "loop");
  }
  for (int i = 0; i < 1 << DEPTH; i++) expected[0] = expected[0] * 3 + 1;
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, body);
  pop_engine *engine = new_engine(graph, &main, 1, NULL, 0);
  load(engine);
  run(engine, 0);
  int out[2];
  read_ints(engine, "out", out, 2);
  cr_assert_eq((unsigned)out[0], expected[0]);
  cr_assert_eq((unsigned)out[1], expected[0]);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(compile, X01_nothing_to_do_is_legal)
{
  pop_graph *graph = new_ipu1(2);
  pop_tensor value = add_ints(graph, 1, 1, "value");
  pop_graph_create_host_read(graph, "out", value);
  pop_program add = add_step_program(graph, pop_tensor_index(value, 0), 1, 1);
  pop_program empty = pop_program_sequence(graph, "empty");
  pop_program programs[] = {empty, pop_program_repeat(graph, 0, add, "never"),
                            pop_program_repeat(graph, UINT32_MAX, empty, "nothing, often")};
  pop_engine *engine = new_engine(graph, programs, 3, NULL, 0);
  load(engine);
  int out;
  for (size_t p = 0; p < 3; p++) run(engine, p);
  read_ints(engine, "out", &out, 1);
  cr_assert_eq(out, 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(compile, X02_100000_programs_one_in_another)
{
  pop_graph *graph = new_ipu1(2);
  pop_tensor value = add_ints(graph, 1, 1, "value");
  pop_graph_create_host_read(graph, "out", value);
  pop_program program = add_step_program(graph, pop_tensor_index(value, 0), 1, 7);
  for (int i = 0; i < 100000; i++) {
    if (i % 2) {
      program = pop_program_repeat(graph, 1, program, "once");
    } else {
      pop_program sequence = pop_program_sequence(graph, "level");
      pop_sequence_add(sequence, program);
      program = sequence;
    }
  }
  pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
  load(engine);
  run(engine, 0);
  int out;
  read_ints(engine, "out", &out, 1);
  cr_assert_eq(out, 7);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- linked code ---- */

/* One vertex on each worker of two tiles. The workers of a tile share tile_calls, but not
 * worker_calls. */
Test(compile, codelets_have_their_variables_per_worker_and_per_tile)
{
  enum { TILES = 2, WORKERS = 6, FIELDS = 5 };
  pop_graph *graph = new_ipu1(TILES);
  pop_compute_set set = pop_graph_add_compute_set(graph, "variables");
  pop_tensor parts[TILES * WORKERS];
  for (size_t i = 0; i < TILES * WORKERS; i++) {
    parts[i] = add_ints(graph, FIELDS, i / WORKERS, "out");
    pop_vertex vertex = pop_graph_add_vertex(graph, set, "Variables");
    pop_graph_connect(graph, vertex, "out", parts[i]);
    pop_graph_set_vertex_tile(graph, vertex, i / WORKERS);
  }
  pop_graph_create_host_read(graph, "out", pop_concat(parts, TILES * WORKERS, 0));
  pop_program program = pop_program_execute(graph, set, "variables");
  pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
  load(engine);
  int out[TILES * WORKERS][FIELDS];
  static const int table[] = {7, 11, 13, 17, 19, 23};
  for (int round = 1; round <= 2; round++) {
    run(engine, 0);
    read_ints(engine, "out", out[0], TILES * WORKERS * FIELDS);
    int tile_sum = 0, zero_sum = 0;
    for (int i = 0; i < TILES * WORKERS; i++) {
      cr_assert_eq(out[i][0], 5 + round);
      cr_assert_eq(out[i][1], round);
      cr_assert_eq(out[i][4], table[(5 + round) % 6]);
      tile_sum += out[i][2];
      zero_sum += out[i][3];
    }
    int first = (round - 1) * WORKERS + 1, sum = WORKERS * first + WORKERS * (WORKERS - 1) / 2;
    cr_assert_eq(tile_sum, TILES * (sum + WORKERS * 100));
    cr_assert_eq(zero_sum, TILES * sum);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static pop_program add_lookup(pop_graph *graph, size_t tile, pop_tensor at, pop_tensor out)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "lookup");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Lookup");
  pop_graph_connect(graph, vertex, "at", pop_tensor_index(at, 0));
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(out, 0));
  pop_graph_set_vertex_tile(graph, vertex, tile);
  return pop_program_execute(graph, set, "lookup");
}

/* 96 KiB of constants and 48 KiB of stacks do not both fit into region 0: the stacks are placed
 * after it. */
Test(compile, stacks_make_way_for_code)
{
  pop_graph *graph = new_ipu1(2);
  pop_graph_add_codelets_source(graph, "c", large_codelet, "large.c", NULL);
  pop_tensor at = add_ints(graph, 1, 1, "at"), out = add_ints(graph, 1, 1, "out");
  pop_graph_create_host_write(graph, "at", at);
  pop_graph_create_host_read(graph, "out", out);
  pop_program program = add_lookup(graph, 1, at, out);
  pop_engine *engine =
      new_engine(graph, &program, 1, &(pop_option){"debug.workerStackSizeInBytes", "8192"}, 1);
  load(engine);
  for (int i = 0; i < 24576; i += 5000) {
    int found;
    cr_assert_null(pop_engine_write_tensor(engine, "at", &i, sizeof i));
    run(engine, 0);
    read_ints(engine, "out", &found, 1);
    cr_assert_eq(found, i);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static uint32_t address_of_code(const pop_engine *engine, uint32_t tile)
{
  const compilation *c = engine_compilation(engine);
  return c->blocks[c->tiles[tile].linked_blocks[POP_LINK_CODE]].address;
}

/* Two tiles with the same vertices, one with more control code. With some stack sizes, only the
 * other tile has room for stacks before the code (at lower addresses). */
Test(compile, tiles_with_equal_vertices_may_have_them_at_different_addresses)
{
  pop_graph *graph = new_ipu1(2);
  pop_graph_add_codelets_source(graph, "c", large_codelet, "large.c", NULL);
  pop_program program = pop_program_sequence(graph, "main");
  pop_tensor at[2], out[2];
  for (size_t t = 0; t < 2; t++) {
    at[t] = add_ints(graph, 1, t, "at");
    out[t] = add_ints(graph, 1, t, "out");
    for (int i = 0; i < (t == 0 ? 1 : 20); i++)
      pop_sequence_add(program, add_lookup(graph, t, at[t], out[t]));
  }
  pop_graph_create_host_write(graph, "at", pop_concat(at, 2, 0));
  pop_graph_create_host_read(graph, "out", pop_concat(out, 2, 0));
  int num_different = 0;
  for (int stack = 3808; stack <= 4096; stack += 32) {
    char bytes[16];
    snprintf(bytes, sizeof bytes, "%d", stack);
    pop_engine *engine =
        new_engine(graph, &program, 1, &(pop_option){"debug.workerStackSizeInBytes", bytes}, 1);
    if (address_of_code(engine, 0) != address_of_code(engine, 1)) {
      const int expected[2] = {12345, 24000};
      int found[2];
      num_different++;
      load(engine);
      cr_assert_null(pop_engine_write_tensor(engine, "at", expected, sizeof expected));
      run(engine, 0);
      read_ints(engine, "out", found, 2);
      cr_assert_eq(memcmp(found, expected, sizeof found), 0);
    }
    pop_engine_free(engine);
  }
  cr_assert_geq(num_different, 1);
  pop_graph_free(graph);
}

/* Two tiles have a vertex whose instructions contain the addresses of its constants, and one of the
 * tiles has other code, too. The constants have the same addresses on both. So the vertex is the
 * same code, and is translated once. */
Test(compile, constants_are_where_they_are_on_tiles_with_other_code)
{
  static const char other[] = "#include <populus/vertex.h>\n"
                              "typedef struct { OUTPUT(int) out; } Other;\n"
                              "COMPUTE(Other) { *vertex->out = 7; return true; }\n";
  pop_graph *graph = new_ipu1(2);
  pop_graph_add_codelets_source(graph, "c", large_codelet, "large.c", NULL);
  pop_graph_add_codelets_source(graph, "c", other, "other.c", NULL);
  pop_program program = pop_program_sequence(graph, "main");
  for (size_t t = 0; t < 2; t++)
    pop_sequence_add(
        program, add_lookup(graph, t, add_ints(graph, 1, t, "at"), add_ints(graph, 1, t, "out")));
  pop_compute_set set = pop_graph_add_compute_set(graph, "other");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Other");
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(add_ints(graph, 1, 1, "more"), 0));
  pop_graph_set_vertex_tile(graph, vertex, 1);
  pop_sequence_add(program, pop_program_execute(graph, set, "other"));
  pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
  const compilation *c = engine_compilation(engine);
  const block *constants[2], *code[2];
  for (size_t t = 0; t < 2; t++) {
    constants[t] = &c->blocks[c->tiles[t].linked_blocks[POP_LINK_RODATA]];
    code[t] = &c->blocks[c->tiles[t].linked_blocks[POP_LINK_CODE]];
  }
  cr_assert_neq(code[0]->size, code[1]->size);
  cr_assert_eq(constants[0]->address, constants[1]->address);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- images ---- */

/* Sums over neighbours on 5 of 6 tiles, in a loop. */
static pop_program make_busy_graph(pop_graph *graph)
{
  enum { TILES = 5, EACH = 9 };
  pop_tensor parts[TILES], sums[TILES];
  for (size_t t = 0; t < TILES; t++) {
    parts[t] = add_ints(graph, EACH, t, "part");
    sums[t] = add_ints(graph, 1, t, "sum");
  }
  pop_compute_set set = pop_graph_add_compute_set(graph, "sums");
  for (size_t t = 0; t < TILES; t++) {
    pop_vertex vertex = pop_graph_add_vertex(graph, set, "Sum");
    const pop_tensor two[] = {parts[t], parts[(t + 1) % TILES]};
    pop_graph_connect(graph, vertex, "in", pop_concat(two, 2, 0));
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(sums[t], 0));
    pop_graph_set_vertex_tile(graph, vertex, t);
  }
  pop_graph_create_host_write(graph, "in", pop_concat(parts, TILES, 0));
  pop_graph_create_host_read(graph, "out", pop_concat(sums, TILES, 0));
  return pop_program_repeat(graph, 3, pop_program_execute(graph, set, "sums"), "loop");
}

Test(compile, image_report_and_loader_agree_on_every_tile)
{
  pop_graph *graph = new_ipu1(6);
  pop_program program = make_busy_graph(graph);
  pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
  load(engine);
  for (uint32_t tile = 0; tile < 6; tile++) {
    pop_arena *arena = pop_arena_new();
    pop_image image;
    pop_tile_memory memory;
    cr_assert_null(compilation_tile_image(engine_compilation(engine), tile, arena, &image));
    cr_assert_null(pop_engine_tile_memory(engine, tile, &memory));
    cr_assert_eq(image.size, memory.total_including_gaps);
    cr_assert_eq(image.size, pop_engine_loaded_bytes(engine, tile));
    uint32_t end = image.base;
    for (size_t i = 0; i < image.num_segments; i++) {
      cr_assert_eq(image.segments[i].start, end, "segments leave no gap");
      end += image.segments[i].size;
    }
    cr_assert_eq(end, image.base + image.size);
    pop_arena_free(arena);
  }
  pop_engine_free(engine);
  pop_graph_free(graph);
}

static const pop_image_symbol *find_symbol(const pop_image *image, const char *name)
{
  for (size_t i = 0; i < image->num_symbols; i++)
    if (strcmp(image->symbols[i].name, name) == 0) return &image->symbols[i];
  return NULL;
}

Test(compile, tiles_with_equal_vertices_have_equal_code_and_only_what_they_need)
{
  pop_graph *graph = new_ipu1(6);
  pop_program program = make_busy_graph(graph);
  pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
  pop_arena *arena = pop_arena_new();
  pop_image images[6];
  for (uint32_t t = 0; t < 6; t++)
    cr_assert_null(compilation_tile_image(engine_compilation(engine), t, arena, &images[t]));
  const pop_image_symbol *first = find_symbol(&images[0], "__runCodelet_Sum");
  cr_assert_not_null(first);
  for (uint32_t t = 1; t < 5; t++) {
    const pop_image_symbol *same = find_symbol(&images[t], first->name);
    cr_assert_not_null(same);
    cr_assert_eq(same->address, first->address);
    uint32_t offset = first->address - images[0].base;
    cr_assert_eq(memcmp(images[0].bytes + offset, images[t].bytes + offset, first->size), 0);
    cr_assert_null(find_symbol(&images[t], "__runCodelet_Lookup"));
  }
  cr_assert_null(find_symbol(&images[5], "__runCodelet_Sum"));
  cr_assert_null(find_symbol(&images[5], "stack.worker0"), "tile 5 runs no worker");
  static const char *const names[] = {"control",    "worker.stub",      "stack.worker5",
                                      "part",       "stack.supervisor", "sum",
                                      "table.sums", "vertex.sums.Sum.0"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    cr_assert_not_null(find_symbol(&images[0], names[i]), "no symbol %s", names[i]);
  pop_arena_free(arena);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

Test(compile, the_same_graph_gives_the_same_images)
{
  pop_bytes files[2][6];
  memset(files, 0, sizeof files);
  for (int i = 0; i < 2; i++) {
    pop_graph *graph = new_ipu1(6);
    pop_program program = make_busy_graph(graph);
    pop_engine *engine = new_engine(graph, &program, 1, NULL, 0);
    for (uint32_t tile = 0; tile < 6; tile++) {
      pop_arena *arena = pop_arena_new();
      pop_image image;
      cr_assert_null(compilation_tile_image(engine_compilation(engine), tile, arena, &image));
      cr_assert_null(pop_image_write(&image, &files[i][tile]));
      pop_arena_free(arena);
    }
    pop_engine_free(engine);
    pop_graph_free(graph);
  }
  for (uint32_t tile = 0; tile < 6; tile++) {
    cr_assert_eq(files[0][tile].size, files[1][tile].size);
    cr_assert_eq(memcmp(files[0][tile].data, files[1][tile].data, files[0][tile].size), 0);
    pop_bytes_free(&files[0][tile]);
    pop_bytes_free(&files[1][tile]);
  }
}

/* ---- out of memory ---- */

/* A graph with `count` bytes of data and a program on tile 1. */
static pop_error *compile_with_data(size_t count, bool allow, pop_engine **engine)
{
  pop_graph *graph = new_ipu1(2);
  pop_tensor value = add_ints(graph, 1, 1, "value");
  pop_tensor data = pop_graph_add_variable(graph, POP_CHAR, &count, 1, "data");
  pop_graph_set_tile_mapping(graph, data, 1);
  pop_graph_create_host_write(graph, "data", data);
  pop_program program = add_step_program(graph, pop_tensor_index(value, 0), 1, 7);
  const pop_option option = {"debug.allowOutOfMemory", allow ? "true" : "false"};
  pop_error *error = pop_engine_create(graph, &program, 1, &option, 1, engine);
  pop_graph_free(graph);
  return error;
}

static uint32_t bytes_on_tile_1(const pop_engine *engine)
{
  pop_tile_memory memory;
  cr_assert_null(pop_engine_tile_memory(engine, 1, &memory));
  return memory.total_including_gaps;
}

/* Offsets behind its last bytes do not fit 32 bits. */
Test(compile, Z01_a_variable_of_nearly_4_gib_on_a_tile_is_refused)
{
  pop_graph *graph = new_graph_with_tiles(2);
  const size_t count = UINT32_MAX - 3, few = 4;
  pop_tensor large = pop_graph_add_variable(graph, POP_CHAR, &count, 1, "large");
  pop_tensor small = pop_graph_add_variable(graph, POP_CHAR, &few, 1, "small");
  pop_graph_set_tile_mapping(graph, large, 0);
  pop_graph_set_tile_mapping(graph, small, 1);
  pop_program copy =
      pop_program_copy(pop_tensor_slice(large, count - few, count, 0), small, "copy");
  assert_no_error(graph);
  pop_engine *engine;
  pop_error *error = pop_engine_create(graph, &copy, 1, NULL, 0, &engine);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_MEMORY, "%s", pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}

/* It was never checked, and is not looked at element by element. */
Test(compile, a_vertex_that_no_program_runs_may_read_a_huge_broadcast)
{
  pop_graph *graph = new_ipu1(2);
  pop_tensor one = add_ints(graph, 1, 0, "one"), out = add_ints(graph, 1, 1, "out");
  pop_compute_set idle = pop_graph_add_compute_set(graph, "idle");
  pop_vertex v = pop_graph_add_vertex(graph, idle, "Sum");
  pop_graph_connect(graph, v, "in", pop_tensor_broadcast(one, (size_t)1 << 60, 0));
  pop_graph_connect(graph, v, "out", pop_tensor_index(out, 0));
  pop_program copy = pop_program_copy(one, out, "copy");
  pop_engine_free(new_engine(graph, &copy, 1, NULL, 0));
  pop_graph_free(graph);
}

Test(compile, Z01_a_full_tile_runs_and_one_byte_more_is_refused)
{
  pop_engine *engine;
  const size_t tile_bytes = 256 * 1024, probe = 8192;
  cr_assert_null(compile_with_data(probe, false, &engine));
  size_t fits = tile_bytes - bytes_on_tile_1(engine) + probe;
  pop_engine_free(engine);
  cr_assert_null(compile_with_data(fits, false, &engine));
  cr_assert_eq(bytes_on_tile_1(engine), tile_bytes);
  load(engine);
  run(engine, 0);
  pop_engine_free(engine);
  pop_error *error = compile_with_data(fits + 1, false, &engine);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_MEMORY);
  /* Variables start and end at words. allocate.c tests the limit to the byte. */
  const char *lacking = strstr(pop_error_message(error), "1 of 2 tiles out of memory, tile 1 by ");
  cr_assert_not_null(lacking, "%s", pop_error_message(error));
  long bytes = strtol(strstr(lacking, " by ") + 4, NULL, 10);
  cr_assert(bytes >= 1 && bytes <= 8, "%s", lacking);
  pop_error_free(error);
}

Test(compile, E06_out_of_memory_that_is_allowed_gives_images_and_no_run)
{
  pop_engine *engine;
  cr_assert_null(compile_with_data(1000 * 1000, true, &engine));
  pop_arena *arena = pop_arena_new();
  pop_image image;
  cr_assert_null(compilation_tile_image(engine_compilation(engine), 1, arena, &image));
  cr_assert_eq(image.size, bytes_on_tile_1(engine));
  cr_assert_gt(image.size, 1000 * 1000);
  pop_arena_free(arena);
  pop_error *error = pop_engine_load(engine);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_GRAPH_MEMORY);
  pop_error_free(error);
  pop_engine_free(engine);
}
