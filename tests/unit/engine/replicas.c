/* Replicas of all kinds: compiled once and loaded for each replica, or all in one graph; on tiles
 * and on the CPU. All do the same. Copies between replicas, and what the host sees of them. */
#include "graph/replica.h"
#include "support/graph_test.h"

#include <populus/executable.h>
#include <populus/stream.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOT = 6, REPLICAS = 4 };

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INOUT(int) x; INPUT(unsigned) index; } AddIndex;\n"
    "COMPUTE(AddIndex) { *vertex->x += *vertex->index; return true; }\n"
    "typedef struct { INPUT(unsigned) index; OUTPUT(bool) is; } IsTwo;\n"
    "COMPUTE(IsTwo) { *vertex->is = *vertex->index == 2; return true; }\n";

static void ok(pop_error *error)
{
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
}

static void fails(pop_error *error, const char *words)
{
  cr_assert_not_null(error, "no error: %s", words);
  cr_assert_not_null(strstr(pop_error_message(error), words), "%s", pop_error_message(error));
  pop_error_free(error);
}

typedef enum kind {
  LOADED_FOR_EACH, /* pop_graph_create_replicated */
  IN_ONE_GRAPH,    /* pop_graph_create_replicated_graph */
  LOADED_FOR_EACH_ON_CPU,
  IN_ONE_GRAPH_ON_CPU,
  KINDS
} kind;

static bool is_loaded_for_each(kind of)
{
  return of == LOADED_FOR_EACH || of == LOADED_FOR_EACH_ON_CPU;
}

static bool is_on_cpu(kind of)
{
  return of >= LOADED_FOR_EACH_ON_CPU;
}

/* Replicas of two IPUs with three tiles each. */
static pop_graph *new_machine(kind of)
{
  pop_target target;
  ok(pop_target_create("ipu2", 2 * REPLICAS, &target));
  target.tiles_per_ipu = 3;
  if (is_on_cpu(of)) pop_target_create_cpu(&target);
  if (is_loaded_for_each(of)) return pop_graph_create_replicated(&target, REPLICAS);
  return pop_graph_create_replicated_graph(pop_graph_create(&target), REPLICAS);
}

static void free_machine(pop_graph *graph)
{
  pop_graph *parent = pop_graph_parent(graph);
  pop_graph_free(parent ? parent : graph);
}

static void add_codelets(pop_graph *graph)
{
  pop_graph_add_codelets_source(graph, "c", codelets, "replicas.c", NULL);
}

static pop_tensor mapped(pop_graph *graph, pop_type type, size_t count, size_t tile)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, "v");
  pop_graph_set_tile_mapping(graph, t, tile);
  return t;
}

static pop_engine *start_with(pop_graph *graph, const pop_program *programs, size_t count,
                              const pop_option *options, size_t num_options)
{
  assert_no_error(graph);
  pop_engine *engine;
  ok(pop_engine_create(graph, programs, count, options, num_options, &engine));
  ok(pop_engine_load(engine));
  return engine;
}

static pop_engine *start(pop_graph *graph, const pop_program *programs, size_t count)
{
  return start_with(graph, programs, count, NULL, 0);
}

static void end(pop_graph *graph, pop_engine *engine)
{
  pop_engine_free(engine);
  free_machine(graph);
}

/* x += number of the replica */
static pop_program add_index(pop_graph *graph, pop_tensor x, size_t tile)
{
  add_codelets(graph);
  pop_tensor index = pop_graph_add_replication_index_constant(graph, "index");
  pop_graph_set_tile_mapping(graph, index, tile);
  pop_compute_set set = pop_graph_add_compute_set(graph, "add");
  pop_vertex v = pop_graph_add_vertex(graph, set, "AddIndex");
  pop_graph_connect(graph, v, "x", pop_tensor_index(x, 0));
  pop_graph_connect(graph, v, "index", index);
  pop_graph_set_vertex_tile(graph, v, tile);
  return pop_program_execute(graph, set, "add");
}

Test(replicas, the_graph_is_that_of_one)
{
  pop_target target;
  ok(pop_target_create("ipu2", 8, &target));
  pop_graph *graph = pop_graph_create_replicated(&target, 4);
  cr_assert_eq(pop_graph_get_target(graph)->num_ipus, 2);
  cr_assert_eq(pop_graph_num_tiles(graph), 2 * 1472);
  cr_assert_eq(pop_graph_replication_factor(graph), 4);
  cr_assert_eq(pop_graph_replication_factor(pop_graph_create_virtual_graph(graph, 0, 5)), 4);
  assert_no_error(graph);
  cr_assert_null(pop_graph_top_level_graph(graph));
  assert_error(graph, POP_ERROR_INVALID_ARGUMENT,
               (const char *[5]){"pop_graph_top_level_graph", "pop_graph_create_replicated"},
               "top");
  pop_graph_free(graph);
  for (uint32_t factor = 0; factor < 20; factor++) {
    graph = pop_graph_create_replicated(&target, factor);
    bool good = factor == 1 || factor == 2 || factor == 4 || factor == 8;
    cr_assert_eq(pop_graph_error(graph) == NULL, good, "%u", factor);
    pop_graph_free(graph);
  }
}

static void check_own_data(kind of)
{
  pop_graph *graph = new_machine(of);
  pop_tensor x = mapped(graph, POP_INT, 3, 4);
  pop_program main = add_index(graph, x, 5);
  pop_graph_create_host_write(graph, "x", x);
  pop_graph_create_host_read(graph, "x out", x);
  pop_engine *engine = start(graph, &main, 1);
  int all[REPLICAS][3], found[REPLICAS][3];
  ok(pop_engine_write_tensor(engine, "x", (int[]){5, 6, 7}, 12)); /* one for all */
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "x out", found, sizeof found));
  for (int r = 0; r < REPLICAS; r++) {
    cr_assert_eq(found[r][0], 5 + r);
    cr_assert(found[r][1] == 6 && found[r][2] == 7);
    for (int i = 0; i < 3; i++) all[r][i] = 100 * r + i;
  }
  ok(pop_engine_write_tensor(engine, "x", all, sizeof all)); /* each its own */
  ok(pop_engine_run(engine, 0));
  ok(pop_engine_read_tensor(engine, "x out", found, sizeof found));
  for (int r = 0; r < REPLICAS; r++) cr_assert_eq(found[r][0], 101 * r);
  fails(pop_engine_read_tensor(engine, "x out", found, 12), "in each of 4 replicas");
  fails(pop_engine_write_tensor(engine, "x", found, 24), "once or for all");
  end(graph, engine);
}

Test(replicas, each_knows_its_number_and_has_its_own_data)
{
  for (kind of = 0; of < KINDS; of++) check_own_data(of);
}

/* An unmapped index is written nowhere, and not over other data. */
Test(replicas, P05_an_index_that_is_not_mapped_is_nowhere)
{
  static const int values[] = {7, 8, 9};
  for (kind of = 0; of < KINDS; of++) {
    pop_graph *graph = new_machine(of);
    pop_graph_add_replication_index_constant(graph, "index");
    pop_tensor x = mapped(graph, POP_INT, 3, 0);
    pop_graph_set_initial_value(graph, x, values);
    pop_graph_create_host_read(graph, "x", x);
    pop_program main = pop_program_sequence(graph, "main");
    pop_engine *engine = start(graph, &main, 1);
    int found[REPLICAS][3];
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "x", found, sizeof found));
    for (int r = 0; r < REPLICAS; r++)
      cr_assert_arr_eq(found[r], values, sizeof values, "kind %d, replica %d: %d %d %d", (int)of, r,
                       found[r][0], found[r][1], found[r][2]);
    end(graph, engine);
  }
}

/* ---- copies between replicas ---- */

typedef struct map_case {
  const char *what;
  pop_replica_pair pairs[REPLICAS];
  size_t count;
} map_case;

static const map_case maps[] = {
    {"ring", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 4},
    {"swap", {{1, 0}, {0, 1}, {2, 2}, {3, 3}}, 4},
    {"shift", {{0, 1}, {1, 2}, {2, 3}}, 3},
    {"one", {{3, 1}}, 1},
    {"nobody", {{0, 0}}, 0},
};

/* Copies elements of the type from `source` to `destination` by all maps, and compares them with
 * arrays. The tensors are slices of a variable of 40 bytes on tile 1 and one on `tile`, or of one
 * variable if `same`. */
static void check_copies_of(kind of, pop_type type, size_t first, size_t second, size_t count,
                            size_t tile, bool same)
{
  enum { BYTES = 40 };
  size_t size = pop_type_bytes(type), elements = BYTES / size;
  for (size_t m = 0; m < sizeof maps / sizeof *maps; m++) {
    pop_graph *graph = new_machine(of);
    pop_tensor a = mapped(graph, type, elements, 1);
    pop_tensor b = same ? a : mapped(graph, type, elements, tile);
    pop_program main = pop_program_cross_replica_copy(
        pop_tensor_slice(a, first, first + count, 0),
        pop_tensor_slice(b, second, second + count, 0), maps[m].pairs, maps[m].count, "cross");
    pop_graph_create_host_write(graph, "a", a);
    if (!same) pop_graph_create_host_write(graph, "b", b);
    pop_graph_create_host_read(graph, "a out", a);
    pop_graph_create_host_read(graph, "b out", b);
    const pop_option verify = {"debug.verify", "true"};
    pop_engine *engine = start_with(graph, &main, 1, &verify, 1);
    uint8_t from[REPLICAS][BYTES], to[REPLICAS][BYTES], expected[REPLICAS][BYTES],
        found[REPLICAS][BYTES];
    for (int r = 0; r < REPLICAS; r++)
      for (int i = 0; i < BYTES; i++) {
        from[r][i] = (uint8_t)(50 * r + i);
        to[r][i] = same ? from[r][i] : (uint8_t)(200 - 20 * r - i);
      }
    memcpy(expected, to, sizeof expected);
    for (size_t i = 0; i < maps[m].count; i++)
      memcpy(expected[maps[m].pairs[i].to] + second * size,
             from[maps[m].pairs[i].from] + first * size, count * size);
    ok(pop_engine_write_tensor(engine, "a", from, sizeof from));
    if (!same) ok(pop_engine_write_tensor(engine, "b", to, sizeof to));
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "b out", found, sizeof found));
    for (int r = 0; r < REPLICAS; r++)
      for (int i = 0; i < BYTES; i++)
        cr_assert_eq(found[r][i], expected[r][i],
                     "kind %u, %s, replica %d, byte %d: %u instead of %u", of, maps[m].what, r, i,
                     found[r][i], expected[r][i]);
    ok(pop_engine_read_tensor(engine, "a out", found, sizeof found));
    if (!same) cr_assert_arr_eq(found, from, sizeof from);
    end(graph, engine);
  }
}

static void check_copies(pop_type type, size_t first, size_t second, size_t count, size_t tile,
                         bool same)
{
  for (kind of = 0; of < KINDS; of++) check_copies_of(of, type, first, second, count, tile, same);
}

Test(replicas, words_go_from_replica_to_replica)
{
  check_copies(POP_INT, 0, 2, 8, 1, false);  /* the same tile */
  check_copies(POP_INT, 2, 0, 8, 2, false);  /* another one of the IPU */
  check_copies(POP_INT, 0, 0, 10, 5, false); /* another IPU */
}

Test(replicas, parts_of_words_too)
{
  check_copies(POP_UNSIGNED_CHAR, 1, 6, 21, 1, false);
  check_copies(POP_SHORT, 3, 4, 15, 4, false);
}

Test(replicas, source_and_destination_may_overlap)
{
  check_copies(POP_INT, 0, 0, 10, 1, true);
  check_copies(POP_INT, 1, 3, 6, 1, true);
  check_copies(POP_UNSIGNED_CHAR, 2, 5, 30, 1, true);
}

/* The cycles of a copy between a replica's two IPUs: 100 words. */
Test(replicas, a_copy_takes_the_links_time)
{
  enum { WORDS = 100 };
  pop_graph *graph = new_machine(LOADED_FOR_EACH);
  pop_tensor a = mapped(graph, POP_INT, WORDS, 1), b = mapped(graph, POP_INT, WORDS, 3);
  pop_program programs[] = {
      pop_program_sequence(graph, "nothing"),
      pop_program_cross_replica_copy(a, b, maps[0].pairs, maps[0].count, "ring")};
  pop_engine *engine = start(graph, programs, 2);
  uint64_t cycles[3];
  for (size_t i = 0; i < 2; i++) {
    cycles[i] = pop_engine_cycles(engine);
    ok(pop_engine_run(engine, i));
  }
  cycles[2] = pop_engine_cycles(engine);
  const pop_target *t = pop_graph_get_target(graph);
  /* map, send or receive, end; words at 4 bytes a cycle */
  cr_assert_eq(cycles[2] - cycles[1] - (cycles[1] - cycles[0]),
               3 * SLOT + t->host_sync_cycles + 3 + t->global_latency_cycles + WORDS);
  end(graph, engine);
}

Test(replicas, maps_are_checked)
{
  static const struct {
    pop_replica_pair pairs[2];
    const char *words[5];
  } cases[] = {
      {{{0, 4}, {1, 1}}, {"cross_replica_copy", "replica 4", "0 to 3", NULL}},
      {{{0, 1}, {0, 2}}, {"replica 0 sends twice", NULL}},
      {{{0, 1}, {2, 1}}, {"two replicas send to replica 1", NULL}},
  };
  for (size_t i = 0; i < 6; i++) {
    pop_graph *graph = new_machine(i < 3 ? LOADED_FOR_EACH : IN_ONE_GRAPH);
    pop_tensor a = mapped(graph, POP_INT, 1, 1), b = mapped(graph, POP_INT, 1, 3);
    pop_program_cross_replica_copy(a, b, cases[i % 3].pairs, 2, "x");
    assert_error(graph, POP_ERROR_CONTROL_PROGRAM, cases[i % 3].words, "map");
    free_machine(graph);
  }
}

/* Headers that a program writes itself must be where the compiler's headers are. */
Test(replicas, headers_are_beside_what_is_copied)
{
  static const size_t tiles[][2] = {{3, 8}, {1, 4}};
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
    pop_graph *graph = new_machine(LOADED_FOR_EACH);
    pop_tensor a = mapped(graph, POP_INT, 2, 1), b = mapped(graph, POP_INT, 2, 1);
    pop_tensor headers = mapped(graph, POP_UNSIGNED_INT, tiles[i][1], tiles[i][0]);
    pop_program main =
        graph_headed_replica_copy(a, b, headers, maps[0].pairs, maps[0].count, "headed");
    pop_engine *engine = NULL;
    pop_error *error = pop_engine_create(graph, &main, 1, NULL, 0, &engine);
    cr_assert_not_null(error);
    cr_assert_not_null(
        strstr(pop_error_message(error), "'headed': its headers are not on the tiles"), "%s",
        pop_error_message(error));
    pop_error_free(error);
    free_machine(graph);
  }
}

/* ---- tensors that are equal across replicas ---- */

Test(replicas, assumed_equality_is_checked_when_that_is_asked_for)
{
  for (unsigned i = 0; i < 2 * KINDS; i++) {
    unsigned asked = i % 2;
    pop_graph *graph = new_machine((kind)(i / 2));
    pop_tensor x = mapped(graph, POP_INT, 3, 2);
    pop_program main = pop_program_assume_equal_across_replicas(x, "gradients");
    pop_graph_create_host_write(graph, "x", x);
    const pop_option verify = {"debug.runtimeVerify", "true"};
    pop_engine *engine = start_with(graph, &main, 1, &verify, asked);
    int values[REPLICAS][3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    ok(pop_engine_write_tensor(engine, "x", values, sizeof values));
    ok(pop_engine_run(engine, 0));
    values[2][1] = 4;
    ok(pop_engine_write_tensor(engine, "x", values, sizeof values));
    pop_error *error = pop_engine_run(engine, 0);
    if (asked)
      fails(error,
            "'gradients' says that a tensor is equal across replicas, but element 1 of its 3 is "
            "not what it is in replica 0 in replica 2");
    else
      ok(error);
    end(graph, engine);
  }
}

/* Replicas may take different paths until they reach a program that all of them take part in. */
Test(replicas, different_ways_end_where_they_do_something_together)
{
  for (unsigned i = 0; i < 4; i++) {
    unsigned together = i % 2;
    pop_graph *graph = new_machine(i < 2 ? LOADED_FOR_EACH : LOADED_FOR_EACH_ON_CPU);
    pop_tensor x = mapped(graph, POP_INT, 1, 0), y = mapped(graph, POP_INT, 1, 5),
               two = mapped(graph, POP_BOOL, 1, 1);
    pop_tensor index = pop_graph_add_replication_index_constant(graph, "index");
    pop_graph_set_tile_mapping(graph, index, 2);
    add_codelets(graph);
    pop_compute_set set = pop_graph_add_compute_set(graph, "is two");
    pop_vertex v = pop_graph_add_vertex(graph, set, "IsTwo");
    pop_graph_connect(graph, v, "index", index);
    pop_graph_connect(graph, v, "is", pop_tensor_index(two, 0));
    pop_graph_set_vertex_tile(graph, v, 3);
    pop_program body = pop_program_sequence(graph, "body");
    pop_sequence_add(body, pop_program_copy(x, y, "only two does this"));
    if (together)
      pop_sequence_add(body, pop_program_cross_replica_copy(x, y, maps[0].pairs, 4, "all do this"));
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, pop_program_execute(graph, set, "is two"));
    pop_sequence_add(main, pop_program_if(two, body, (pop_program){0}, "if"));
    pop_graph_create_host_write(graph, "x", x);
    pop_graph_create_host_read(graph, "y", y);
    pop_engine *engine = start(graph, &main, 1);
    ok(pop_engine_write_tensor(engine, "x", &(int){9}, sizeof(int)));
    pop_error *error = pop_engine_run(engine, 0);
    int found[REPLICAS];
    if (together) {
      fails(error, "replica 0 is at the end of the program, replica 2 at a copy between replicas");
      fails(pop_engine_run(engine, 0), "pop_engine_load");
    } else {
      ok(error);
      ok(pop_engine_read_tensor(engine, "y", found, sizeof found));
      for (int r = 0; r < REPLICAS; r++) cr_assert_eq(found[r], r == 2 ? 9 : 0);
    }
    end(graph, engine);
  }
}

/* ---- streams ---- */

static int fill(void *context, void *data)
{
  int *next = context;
  for (int i = 0; i < 2; i++) ((int *)data)[i] = (*next)++;
  return 0;
}

static void check_own_streams(kind of)
{
  pop_graph *graph = new_machine(of);
  pop_tensor x = mapped(graph, POP_INT, 2, 5);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 2);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 2);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, x, "in"));
  pop_sequence_add(main, pop_program_copy_to_stream(x, out, "out"));
  pop_engine *engine = start(graph, &main, 1);
  enum { ROUNDS = 2 };
  int buffer[ROUNDS][REPLICAS][2], results[ROUNDS][REPLICAS][2] = {{{0}}}, own[2], next = 70;
  for (int i = 0; i < ROUNDS * REPLICAS * 2; i++) (&buffer[0][0][0])[i] = 1000 + i;
  fails(pop_engine_connect_stream(engine, "in", buffer, buffer[0][1]), "for each replica");
  fails(pop_engine_connect_replica_stream(engine, "in", 4, own, own + 2), "no replica 4");
  ok(pop_engine_connect_stream(engine, "in", buffer, buffer + ROUNDS));
  ok(pop_engine_connect_stream(engine, "out", results, results + ROUNDS));
  for (int i = 0; i < ROUNDS; i++) ok(pop_engine_run(engine, 0));
  cr_assert_arr_eq(results, buffer, sizeof buffer);
  ok(pop_engine_connect_replica_stream(engine, "out", 3, own, own + 2));
  ok(pop_engine_run(engine, 0)); /* the first data of both buffers again, except for replica 3 */
  cr_assert_arr_eq(own, buffer[0][3], sizeof own);
  pop_stream_callback callback = {.fetch = fill, .context = &next};
  ok(pop_engine_connect_stream_callback(engine, "in", &callback));
  ok(pop_engine_run(engine, 0));
  for (int r = 0; r < 3; r++)
    cr_assert(results[1][r][0] == 70 + 2 * r && results[1][r][1] == 71 + 2 * r, "replica %d", r);
  cr_assert_eq(own[1], 77);
  end(graph, engine);
}

Test(replicas, each_has_streams_of_its_own)
{
  for (kind of = 0; of < KINDS; of++) check_own_streams(of);
}

/* What a callback of one replica is told. */
typedef struct own_stream {
  int replica, calls, last;
} own_stream;

static int fill_own(void *context, void *data)
{
  own_stream *own = context;
  ((int *)data)[0] = 100 * own->replica;
  ((int *)data)[1] = 100 * own->replica + ++own->calls;
  return 0;
}

static int take_own(void *context, void *data)
{
  own_stream *own = context;
  own->last = ((int *)data)[1] + ((int *)data)[0];
  return own->calls++ > 1 ? 7 : 0;
}

static int fill_with_number(void *context, void *data)
{
  memcpy(data, context, sizeof(int));
  return 0;
}

static void go_on(void *context)
{
  ++*(int *)context;
}

/* The callback continues with the next number when all replicas have taken the last one. */
Test(replicas, one_callback_may_be_for_all)
{
  for (kind of = 0; of < KINDS; of++) {
    int number = 0, found[REPLICAS];
    pop_graph *graph = new_machine(of);
    pop_tensor x = mapped(graph, POP_INT, 1, 4);
    pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
    pop_program main = pop_program_copy_from_stream(in, x, "in");
    pop_graph_create_host_read(graph, "x", x);
    pop_engine *engine = start(graph, &main, 1);
    pop_stream_callback callback = {
        .fetch = fill_with_number, .complete = go_on, .context = &number};
    ok(pop_engine_connect_stream_callback(engine, "in", &callback));
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "x", found, sizeof found));
    for (int r = 0; r < REPLICAS; r++) cr_assert_eq(found[r], r, "kind %u, replica %d", of, r);
    cr_assert_eq(number, REPLICAS);
    end(graph, engine);
  }
}

/* The output stream of each replica leads to the memory that the input stream of the next replica
 * reads. The program reads first: every replica gets its input before any output overwrites it. */
Test(replicas, streams_may_lead_from_one_to_the_next)
{
  for (kind of = 0; of < KINDS; of++) {
    int memory[REPLICAS], sent[REPLICAS], found[REPLICAS];
    pop_graph *graph = new_machine(of);
    pop_tensor x = mapped(graph, POP_INT, 1, 4), y = mapped(graph, POP_INT, 1, 1);
    pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1);
    pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 1);
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, pop_program_copy_from_stream(in, x, "in"));
    pop_sequence_add(main, pop_program_copy_to_stream(y, out, "out"));
    pop_graph_create_host_read(graph, "x", x);
    pop_graph_create_host_write(graph, "y", y);
    pop_engine *engine = start(graph, &main, 1);
    for (uint32_t r = 0; r < REPLICAS; r++) {
      int *from = &memory[r], *to = &memory[(r + 1) % REPLICAS];
      *from = (int)r;
      sent[r] = 100 + (int)r;
      ok(pop_engine_connect_replica_stream(engine, "in", r, from, from + 1));
      ok(pop_engine_connect_replica_stream(engine, "out", r, to, to + 1));
    }
    ok(pop_engine_write_tensor(engine, "y", sent, sizeof sent));
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "x", found, sizeof found));
    for (int r = 0; r < REPLICAS; r++) {
      cr_assert_eq(found[r], r, "kind %u, replica %d got %d", of, r, found[r]);
      cr_assert_eq(memory[(r + 1) % REPLICAS], 100 + r, "kind %u", of);
    }
    end(graph, engine);
  }
}

Test(replicas, callbacks_may_be_each_replicas_own)
{
  for (kind of = 0; of < KINDS; of++) {
    pop_graph *graph = new_machine(of);
    pop_tensor x = mapped(graph, POP_INT, 2, 4);
    pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 2);
    pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 2);
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, pop_program_copy_from_stream(in, x, "in"));
    pop_sequence_add(main, pop_program_copy_to_stream(x, out, "out"));
    pop_engine *engine = start(graph, &main, 1);
    own_stream from[REPLICAS], to[REPLICAS];
    for (int r = 0; r < REPLICAS; r++) {
      from[r] = to[r] = (own_stream){.replica = r};
      if (r == 2) fails(pop_engine_run(engine, 0), "is not connected");
      if (r == 2) ok(pop_engine_load(engine));
      pop_stream_callback fetch = {.fetch = fill_own, .context = &from[r]};
      pop_stream_callback take = {.fetch = take_own, .context = &to[r]};
      ok(pop_engine_connect_replica_stream_callback(engine, "in", (uint32_t)r, &fetch));
      ok(pop_engine_connect_replica_stream_callback(engine, "out", (uint32_t)r, &take));
    }
    fails(pop_engine_connect_replica_stream_callback(engine, "in", REPLICAS, NULL), "no replica 4");
    for (int r = 0; r < REPLICAS; r++) from[r].calls = 0;
    for (int i = 1; i <= 2; i++) {
      ok(pop_engine_run(engine, 0));
      for (int r = 0; r < REPLICAS; r++)
        cr_assert(from[r].calls == i && to[r].calls == i && to[r].last == 200 * r + i,
                  "kind %u, round %d, replica %d: %d", of, i, r, to[r].last);
    }
    fails(pop_engine_run(engine, 0), "the callback of stream 'out' failed with 7");
    end(graph, engine);
  }
}

/* ---- broadcast streams ---- */

typedef struct feed {
  int next, fetched, prefetched, completed;
} feed;

static int fetch_next(void *context, void *data)
{
  feed *f = context;
  f->fetched++;
  for (int i = 0; i < 4; i++) ((int *)data)[i] = f->next++;
  return 0;
}

static bool prefetch_next(void *context, void *data)
{
  feed *f = context;
  if (f->next >= 40) return false;
  f->prefetched++;
  fetch_next(context, data);
  f->fetched--;
  return true;
}

static void count_completion(void *context)
{
  ((feed *)context)->completed++;
}

/* Two copies of a broadcast stream, whose sum each replica then has. Splitting turns each into
 * several host exchanges. */
static void check_broadcast(kind of, const char *split)
{
  pop_graph *graph = new_machine(of);
  pop_tensor x = mapped(graph, POP_INT, 4, 4), y = mapped(graph, POP_INT, 4, 1);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 4);
  pop_stream_set_replicated_mode(in, POP_STREAM_BROADCAST);
  if (split) pop_stream_set_option(in, "splitLimit", split);
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy_from_stream(in, x, "first"));
  pop_sequence_add(main, pop_program_copy_from_stream(in, y, "second"));
  pop_graph_create_host_read(graph, "x", x);
  pop_graph_create_host_read(graph, "y", y);
  const pop_option prefetch = {"exchange.enablePrefetch", "true"};
  pop_engine *engine = start_with(graph, &main, 1, &prefetch, 1);
  int buffer[3][4], x_found[REPLICAS][4], y_found[REPLICAS][4];
  for (int i = 0; i < 12; i++) (&buffer[0][0])[i] = 500 + i;
  fails(pop_engine_connect_stream(engine, "in", buffer, buffer[1] + 1),
        "a multiple of 16, the bytes of one copy (4");
  fails(pop_engine_connect_replica_stream(engine, "in", 1, buffer, buffer + 3),
        "is broadcast: all replicas get what replica 0 gets");
  fails(pop_engine_run(engine, 0), "is not connected");
  ok(pop_engine_load(engine));
  ok(pop_engine_connect_replica_stream(engine, "in", 0, buffer, buffer + 3));
  for (int round = 0; round < 3; round++) {
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "x", x_found, sizeof x_found));
    ok(pop_engine_read_tensor(engine, "y", y_found, sizeof y_found));
    for (int r = 0; r < REPLICAS; r++) {
      cr_assert_arr_eq(x_found[r], buffer[2 * round % 3], 16, "kind %u, replica %d", of, r);
      cr_assert_arr_eq(y_found[r], buffer[(2 * round + 1) % 3], 16, "kind %u, replica %d", of, r);
    }
  }
  feed f = {0};
  pop_stream_callback callback = {
      .fetch = fetch_next, .prefetch = prefetch_next, .complete = count_completion, .context = &f};
  ok(pop_engine_connect_stream_callback(engine, "in", &callback));
  for (int round = 0; round < 3; round++) {
    ok(pop_engine_run(engine, 0));
    ok(pop_engine_read_tensor(engine, "x", x_found, sizeof x_found));
    ok(pop_engine_read_tensor(engine, "y", y_found, sizeof y_found));
    for (int r = 0; r < REPLICAS; r++)
      for (int i = 0; i < 4; i++)
        cr_assert(x_found[r][i] == 8 * round + i && y_found[r][i] == 8 * round + 4 + i,
                  "kind %u, round %d, replica %d: %d", of, round, r, x_found[r][i]);
  }
  cr_assert_eq(f.completed, 6, "%d", f.completed); /* once for all replicas */
  cr_assert_eq(f.fetched + f.prefetched, f.next / 4);
  cr_assert_gt(f.prefetched, 0);
  end(graph, engine);
}

Test(replicas, a_broadcast_stream_gives_all_the_same)
{
  for (kind of = 0; of < KINDS; of++) {
    check_broadcast(of, NULL);
    check_broadcast(of, "8");
  }
}

/* ---- remote buffers ---- */

/* Each replica takes the row of its index, adds the index, and writes it back one row further. */
Test(replicas, each_has_the_rows_of_a_remote_buffer)
{
  enum { ROWS = 6, ROW = 3 };
  for (kind of = 0; of < KINDS; of++) {
    pop_graph *graph = new_machine(of);
    pop_tensor x = mapped(graph, POP_INT, ROW, 4);
    pop_tensor offset = mapped(graph, POP_UNSIGNED_INT, 1, 2);
    pop_remote_buffer buffer = pop_graph_add_remote_buffer(graph, "rows", POP_INT, ROW, ROWS);
    pop_program add = add_index(graph, x, 5);
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, pop_program_copy_from_remote_buffer(buffer, x, offset, "take"));
    pop_sequence_add(main, add);
    pop_sequence_add(main, pop_program_copy_to_remote_buffer(x, buffer, (pop_tensor){0}, "put"));
    pop_graph_create_host_write(graph, "offset", offset);
    pop_engine *engine = start(graph, &main, 1);
    int row[ROW];
    for (int r = 0; r < REPLICAS; r++)
      for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ROW; k++) row[k] = 1000 * r + 10 * i + k;
        ok(pop_engine_copy_to_remote_buffer(engine, "rows", (size_t)i, (uint32_t)r, row,
                                            sizeof row));
      }
    fails(pop_engine_copy_to_remote_buffer(engine, "rows", 0, REPLICAS, row, sizeof row),
          "no replica 4");
    ok(pop_engine_write_tensor(engine, "offset", (uint32_t[]){1, 2, 3, 5}, 16));
    ok(pop_engine_run(engine, 0));
    for (int r = 0; r < REPLICAS; r++) {
      static const int offsets[] = {1, 2, 3, 5};
      ok(pop_engine_copy_from_remote_buffer(engine, "rows", 0, (uint32_t)r, row, sizeof row));
      for (int k = 0; k < ROW; k++)
        cr_assert_eq(row[k], 1000 * r + 10 * offsets[r] + k + (k ? 0 : r),
                     "kind %u, replica %d: %d", of, r, row[k]);
      ok(pop_engine_copy_from_remote_buffer(engine, "rows", 5, (uint32_t)r, row, sizeof row));
      cr_assert_eq(row[1], 1000 * r + 51);
    }
    ok(pop_engine_write_tensor(engine, "offset", (uint32_t[]){1, 2, ROWS, 5}, 16));
    fails(pop_engine_run(engine, 0), "remote buffer 'rows'");
    end(graph, engine);
  }
}

/* ---- printed text ---- */

Test(replicas, each_prints_its_tensor)
{
  for (kind of = 0; of < KINDS; of++) {
    pop_graph *graph = new_machine(of);
    pop_tensor x = mapped(graph, POP_INT, 2, 4);
    pop_program main = pop_program_sequence(graph, "main");
    pop_sequence_add(main, add_index(graph, x, 5));
    pop_sequence_add(main, pop_program_print_tensor(x, "x"));
    pop_engine *engine = start(graph, &main, 1);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    cr_assert_not_null(stream);
    pop_engine_set_print_stream(engine, stream);
    ok(pop_engine_run(engine, 0));
    fclose(stream);
    cr_assert_str_eq(text,
                     "x (replica 0): {0,0}\nx (replica 1): {1,0}\nx (replica 2): {2,0}\n"
                     "x (replica 3): {3,0}\n",
                     "kind %u: %s", of, text);
    free(text);
    end(graph, engine);
  }
}

/* ---- the archive ---- */

static void check_archive(kind of)
{
  pop_graph *graph = new_machine(of);
  pop_tensor x = mapped(graph, POP_INT, 3, 4);
  pop_program main = add_index(graph, x, 5);
  pop_graph_create_host_read(graph, "x", x);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "s", POP_INT, 3);
  pop_stream_set_replicated_mode(stream, POP_STREAM_BROADCAST);
  pop_graph_add_host_to_device_fifo(graph, "t", POP_INT, 3);
  pop_graph_add_remote_buffer(graph, "r", POP_INT, 3, 2);
  pop_executable *compiled, *loaded;
  ok(pop_compile_graph(graph, &main, 1, NULL, 0, &compiled));
  ok(pop_executable_save(compiled, "replicas.a"));
  ok(pop_executable_load("replicas.a", &loaded));
  cr_assert_eq(pop_executable_num_replicas(loaded), of == IN_ONE_GRAPH ? 1 : REPLICAS);
  cr_assert_eq(pop_executable_target(loaded)->num_ipus, of == IN_ONE_GRAPH ? 2 * REPLICAS : 2);
  pop_handle_info info;
  ok(pop_executable_handle(loaded, 0, &info));
  cr_assert_eq(info.rank, 2);
  cr_assert(info.shape[0] == REPLICAS && info.shape[1] == 3);
  cr_assert_eq(info.bytes, sizeof(int) * 3 * REPLICAS);
  cr_assert_eq(info.num_replicas, REPLICAS);
  pop_stream_info streams[2];
  pop_remote_buffer_info buffer;
  cr_assert_eq(pop_executable_num_streams(loaded), 2);
  for (size_t i = 0; i < 2; i++) ok(pop_executable_stream(loaded, i, &streams[i]));
  cr_assert(strcmp(streams[0].name, "s") == 0 && streams[0].broadcast);
  cr_assert(strcmp(streams[1].name, "t") == 0 && !streams[1].broadcast);
  cr_assert_eq(streams[1].num_replicas, REPLICAS);
  cr_assert_eq(pop_executable_num_remote_buffers(loaded), 1);
  ok(pop_executable_remote_buffer(loaded, 0, &buffer));
  cr_assert_eq(buffer.num_replicas, REPLICAS);
  fails(pop_executable_stream(loaded, 2, &streams[0]), "there is no stream 2");
  fails(pop_executable_remote_buffer(loaded, 1, &buffer), "there is no remote buffer 1");
  pop_engine *engine;
  ok(pop_engine_create_from_executable(loaded, NULL, 0, &engine));
  ok(pop_engine_load(engine));
  ok(pop_engine_run(engine, 0));
  int found[REPLICAS][3];
  ok(pop_engine_read_tensor(engine, "x", found, sizeof found));
  for (int r = 0; r < REPLICAS; r++) cr_assert_eq(found[r][0], r);
  pop_executable_free(compiled);
  pop_executable_free(loaded);
  end(graph, engine);
  unlink("replicas.a");
}

Test(replicas, the_archive_knows_them)
{
  check_archive(LOADED_FOR_EACH);
  check_archive(IN_ONE_GRAPH);
}
