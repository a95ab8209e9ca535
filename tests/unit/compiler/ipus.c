/* Programs on several IPUs, compiled and run. Data cross between IPUs in a global exchange, which
 * has the costs of isa/isa.h and memory categories of its own. */
#include "support/graph_test.h"

#include <populus/engine.h>
#include <stdlib.h>

enum { SLOT = 6 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  *vertex->out = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) *vertex->out += vertex->in.data[i];\n"
    "  return true;\n"
    "}\n"
    "typedef struct { INOUT(int) n; OUTPUT(bool) more; } Countdown;\n"
    "COMPUTE(Countdown) { *vertex->more = --*vertex->n > 0; return true; }\n";

static void ok(pop_error *error)
{
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static pop_graph *new_machine(uint32_t ipus, uint32_t tiles)
{
  pop_target target;
  ok(pop_target_create("ipu2", ipus, &target));
  target.tiles_per_ipu = tiles;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelets, "ipus.c", NULL);
  return graph;
}

static pop_tensor mapped(pop_graph *graph, size_t count, size_t tile, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, POP_INT, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

static pop_engine *start(pop_graph *graph, const pop_program *programs, size_t count)
{
  assert_no_error(graph);
  pop_engine *engine;
  ok(pop_engine_create(graph, programs, count, NULL, 0, &engine));
  ok(pop_engine_load(engine));
  return engine;
}

static uint64_t cycles_of(pop_engine *engine, size_t program)
{
  uint64_t before = pop_engine_cycles(engine);
  ok(pop_engine_run(engine, program));
  return pop_engine_cycles(engine) - before;
}

static uint32_t category_bytes(const pop_engine *engine, uint32_t tile,
                               pop_memory_category category)
{
  pop_tile_memory memory;
  ok(pop_engine_tile_memory(engine, tile, &memory));
  uint32_t bytes = 0;
  for (size_t i = 0; i < POP_REGION_COUNT; i++)
    bytes += memory.not_overlapped[category][i] + memory.overlapped[category][i];
  return bytes;
}

/* The program has only the exchange. The expected cycles are computed by hand. */
Test(ipus, a_copy_takes_the_links_time)
{
  enum { WORDS = 1000 };
  pop_graph *graph = new_machine(3, 2);
  pop_tensor from = mapped(graph, WORDS, 1, "from"), near = mapped(graph, WORDS, 3, "near");
  pop_tensor both = pop_graph_add_variable(graph, POP_INT, (const size_t[]){2, WORDS}, 2, "both");
  pop_graph_set_tile_mapping(graph, pop_tensor_index(both, 0), 2);
  pop_graph_set_tile_mapping(graph, pop_tensor_index(both, 1), 5);
  pop_program programs[] = {
      pop_program_sequence(graph, "nothing"),
      pop_program_copy(from, near, "one"),
      pop_program_copy(pop_tensor_broadcast(from, 2, 0), pop_tensor_flatten(both), "two"),
  };
  pop_graph_create_host_write(graph, "from", from);
  pop_graph_create_host_read(graph, "near", near);
  pop_graph_create_host_read(graph, "both", both);
  pop_engine *engine = start(graph, programs, 3);
  const pop_target *t = pop_graph_get_target(graph);
  int values[WORDS], found[2 * WORDS];
  for (int i = 0; i < WORDS; i++) values[i] = 7 * i + 1;
  ok(pop_engine_write_tensor(engine, "from", values, sizeof values));
  uint64_t nothing = cycles_of(engine, 0), one = cycles_of(engine, 1), two = cycles_of(engine, 2);
  /* lui, addi, exchange; the sync; send or receive, end; the latency; 4 bytes a cycle out of the
   * tile */
  cr_assert_eq(one - nothing, 3 * SLOT + t->host_sync_cycles + 2 + t->global_latency_cycles + WORDS,
               "%llu", (unsigned long long)(one - nothing));
  /* a packet of 1004 words to two IPUs is twice on its links, at 96 bytes a cycle: still less than
   * the 1000 cycles */
  cr_assert_eq(two, one);
  ok(pop_engine_read_tensor(engine, "near", found, sizeof values));
  cr_assert_arr_eq(found, values, sizeof values);
  ok(pop_engine_read_tensor(engine, "both", found, sizeof found));
  cr_assert_arr_eq(found, values, sizeof values);
  cr_assert_arr_eq(found + WORDS, values, sizeof values);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* Thirty tiles of an IPU send at once: now the links set the time. */
Test(ipus, the_tiles_of_an_ipu_share_its_links)
{
  enum { TILES = 30, WORDS = 1000 };
  pop_graph *graph = new_machine(2, TILES);
  const size_t shape[] = {TILES, WORDS};
  pop_tensor from = pop_graph_add_variable(graph, POP_INT, shape, 2, "from");
  pop_tensor to = pop_graph_add_variable(graph, POP_INT, shape, 2, "to");
  pop_graph_map_linearly(pop_graph_create_virtual_graph_by_ipus(graph, 0, 1), from, WORDS, WORDS);
  pop_graph_map_linearly(pop_graph_create_virtual_graph_by_ipus(graph, 1, 2), to, WORDS, WORDS);
  pop_program programs[] = {pop_program_sequence(graph, "nothing"),
                            pop_program_copy(from, to, "all")};
  pop_engine *engine = start(graph, programs, 2);
  const pop_target *t = pop_graph_get_target(graph);
  uint64_t links =
      (TILES * (WORDS + 4) * 4 + t->global_bytes_per_cycle - 1) / t->global_bytes_per_cycle;
  cr_assert_gt(links, WORDS);
  uint64_t nothing = cycles_of(engine, 0);
  cr_assert_eq(cycles_of(engine, 1) - nothing,
               3 * SLOT + t->host_sync_cycles + 2 + t->global_latency_cycles + links);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* A vertex whose input has parts on its tile, on its IPU and on another IPU. */
Test(ipus, inputs_from_another_ipu_are_global_messages)
{
  enum { PART = 5 };
  pop_graph *graph = new_machine(2, 2);
  pop_tensor parts[] = {mapped(graph, PART, 2, "here"), mapped(graph, PART, 3, "near"),
                        mapped(graph, PART, 0, "far")};
  pop_tensor all = pop_concat(parts, 3, 0), sums[2];
  pop_compute_set set = pop_graph_add_compute_set(graph, "sum");
  for (size_t i = 0; i < 2; i++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Sum");
    sums[i] = mapped(graph, 1, 2 * i, "sum");
    pop_graph_connect(graph, v, "in", all);
    pop_graph_connect(graph, v, "out", pop_tensor_index(sums[i], 0));
    pop_graph_set_vertex_tile(graph, v, 2 * (1 - i)); /* the outputs change the IPU too */
  }
  pop_graph_create_host_write(graph, "in", all);
  pop_graph_create_host_read(graph, "out", pop_concat(sums, 2, 0));
  pop_program main = pop_program_execute(graph, set, "sum");
  pop_engine *engine = start(graph, &main, 1);
  int values[3 * PART], expected = 0, found[2];
  for (int i = 0; i < 3 * PART; i++) expected += values[i] = 1 << (2 * i);
  ok(pop_engine_write_tensor(engine, "in", values, sizeof values));
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "out", found, sizeof found));
  cr_assert_eq(found[0], expected);
  cr_assert_eq(found[1], expected);
  for (uint32_t tile = 0; tile < 4; tile++) {
    bool works = tile % 2 == 0;
    /* the last tile sends to both others */
    cr_assert_eq(category_bytes(engine, tile, POP_MEMORY_GLOBAL_EXCHANGE_CODE) > 0,
                 works || tile == 3, "tile %u", tile);
    cr_assert_eq(category_bytes(engine, tile, POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER) > 0,
                 works || tile == 3, "tile %u", tile);
    cr_assert_eq(category_bytes(engine, tile, POP_MEMORY_GLOBAL_MESSAGE), works ? 60 : 0, "tile %u",
                 tile);
    cr_assert_eq(category_bytes(engine, tile, POP_MEMORY_MESSAGE), 0, "tile %u", tile);
  }
  cr_assert_gt(category_bytes(engine, 2, POP_MEMORY_INTERNAL_EXCHANGE_CODE), 0);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* An input has left the tile when the next one comes. So many inputs may follow one another,
 * although only two fit at once. */
Test(ipus, what_came_from_another_ipu_makes_room_for_what_comes_next)
{
  enum { STEPS = 4, COUNT = 60000 };
  pop_graph *graph = new_machine(2, STEPS);
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor inputs[STEPS], sums = mapped(graph, STEPS, STEPS, "sums");
  for (size_t i = 0; i < STEPS; i++) {
    inputs[i] = mapped(graph, COUNT, i, "in");
    pop_compute_set set = pop_graph_add_compute_set(graph, "sum");
    pop_vertex v = pop_graph_add_vertex(graph, set, "Sum");
    pop_graph_connect(graph, v, "in", inputs[i]);
    pop_graph_connect(graph, v, "out", pop_tensor_index(sums, i));
    pop_graph_set_vertex_tile(graph, v, STEPS);
    pop_sequence_add(main, pop_program_execute(graph, set, "sum"));
  }
  pop_graph_create_host_write(graph, "in", pop_concat(inputs, STEPS, 0));
  pop_graph_create_host_read(graph, "out", sums);
  pop_engine *engine = start(graph, &main, 1);
  int *values = pop_xcalloc(STEPS * COUNT, sizeof *values), found[STEPS];
  for (int i = 0; i < STEPS * COUNT; i++) values[i] = 1 + i / COUNT;
  ok(pop_engine_write_tensor(engine, "in", values, STEPS * COUNT * sizeof *values));
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "out", found, sizeof found));
  for (int i = 0; i < STEPS; i++) cr_assert_eq(found[i], (1 + i) * COUNT, "sum %d", i);
  free(values);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* A predicate on one IPU is sent to all IPUs. */
Test(ipus, predicates_are_told_to_all_ipus)
{
  pop_graph *graph = new_machine(4, 3);
  const size_t one = 1;
  pop_tensor n = mapped(graph, 1, 7, "n"),
             more = pop_graph_add_variable(graph, POP_BOOL, &one, 1, "more");
  pop_graph_set_tile_mapping(graph, more, 8);
  pop_tensor steps = pop_graph_add_variable(graph, POP_INT, (const size_t[]){12}, 1, "steps");
  pop_graph_map_linearly(graph, steps, 0, 0);
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Countdown");
  pop_graph_connect(graph, v, "n", pop_tensor_index(n, 0));
  pop_graph_connect(graph, v, "more", pop_tensor_index(more, 0));
  pop_graph_set_vertex_tile(graph, v, 2);
  pop_compute_set each = pop_graph_add_compute_set(graph, "each");
  for (size_t i = 0; i < 12; i++) {
    pop_vertex step = pop_graph_add_vertex(graph, each, "Countdown");
    pop_tensor flag = pop_graph_add_variable(graph, POP_BOOL, &one, 1, "unused");
    pop_graph_set_tile_mapping(graph, flag, i);
    pop_graph_connect(graph, step, "n", pop_tensor_index(steps, i));
    pop_graph_connect(graph, step, "more", pop_tensor_index(flag, 0));
    pop_graph_set_vertex_tile(graph, step, i);
  }
  pop_program main =
      pop_program_repeat_while_true(pop_program_execute(graph, set, "count"), more,
                                    pop_program_execute(graph, each, "each"), "while");
  pop_graph_create_host_write(graph, "n", n);
  pop_graph_create_host_read(graph, "steps", steps);
  pop_engine *engine = start(graph, &main, 1);
  int rounds = 6, found[12];
  ok(pop_engine_write_tensor(engine, "n", &rounds, sizeof rounds));
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "steps", found, sizeof found));
  for (size_t i = 0; i < 12; i++) cr_assert_eq(found[i], -5, "tile %zu: %d", i, found[i]);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* ---- more IPUs than a word has bits ---- */

enum { MANY = 130 };

static pop_program sum_on(pop_graph *graph, pop_tensor in, pop_tensor out, size_t tile)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "sum");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Sum");
  pop_graph_connect(graph, v, "in", in);
  pop_graph_connect(graph, v, "out", pop_tensor_index(out, 0));
  pop_graph_set_vertex_tile(graph, v, tile);
  return pop_program_execute(graph, set, "far");
}

Test(ipus, words_go_to_any_of_130)
{
  enum { WORDS = 7 };
  static const size_t tiles[] = {1, 31, 32, 63, 64, 100, 129};
  enum { RECEIVERS = sizeof tiles / sizeof *tiles };
  pop_graph *graph = new_machine(MANY, 1);
  pop_tensor from = mapped(graph, WORDS, 0, "from"), back = mapped(graph, 1, 3, "back"),
             sum = mapped(graph, 1, 129, "sum"), to[RECEIVERS];
  for (size_t i = 0; i < RECEIVERS; i++) to[i] = mapped(graph, WORDS, tiles[i], "to");
  pop_tensor all = pop_concat(to, RECEIVERS, 0);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy(pop_tensor_broadcast(from, RECEIVERS, 0), all, "out"));
  pop_sequence_add(main, sum_on(graph, all, sum, 129));
  pop_sequence_add(main, pop_program_copy(sum, back, "back"));
  pop_graph_create_host_write(graph, "from", from);
  pop_graph_create_host_read(graph, "all", all);
  pop_graph_create_host_read(graph, "back", back);
  pop_engine *engine = start(graph, &main, 1);
  int values[WORDS], found[RECEIVERS][WORDS], total = 0, expected = 0;
  for (int i = 0; i < WORDS; i++) expected += RECEIVERS * (values[i] = 5 * i + 3);
  ok(pop_engine_write_tensor(engine, "from", values, sizeof values));
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "all", found, sizeof found));
  ok(pop_engine_read_tensor(engine, "back", &total, sizeof total));
  for (size_t i = 0; i < RECEIVERS; i++) cr_assert_arr_eq(found[i], values, sizeof values);
  cr_assert_eq(total, expected);
  /* IPUs 1 and 31, 32 and 63, 64, 100, 129: packets to IPUs in five groups of 32. One goes to tile
   * 3. */
  enum { HEADER = 16 };
  cr_assert_eq(category_bytes(engine, 0, POP_MEMORY_GLOBAL_EXCHANGE_PACKET_HEADER), 5 * HEADER);
  pop_engine_free(engine);
  pop_graph_free(graph);
}

/* Names of images have six digits. A device for replicas has more tiles. */
Test(ipus, more_tiles_than_images_have_names_for)
{
  pop_target target;
  pop_engine *engine;
  ok(pop_target_create("ipu2", POP_TARGET_MAX_IPUS, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_program main = pop_program_sequence(graph, "main");
  pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "make replicas of fewer IPUs"), "%s",
                     pop_error_message(error));
  pop_error_free(error);
  pop_graph_free(graph);
}
