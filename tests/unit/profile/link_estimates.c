/* The estimated cycles of exchanges between IPUs and between replicas, which an execution
 * profile has before anything is measured, equal the cycles of their runs: within a link
 * domain, and through gateways. */
#include "engine/engine_private.h"
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

enum { TILES = 3, MAX_TILES = 64, MAX_PAIRS = 4 };

/* Words of tile from[i] go to tile to[i] of the replica that the map gives, or of the same replica
 * if there is one. */
typedef struct layout {
  const char *what;
  uint32_t replicas, ipus, domain; /* IPUs: of each replica */
  size_t words, from[2], to[2];
  pop_replica_pair map[MAX_PAIRS];
  size_t num_pairs;
  uint64_t gateway_bytes; /* of the IPU with most bytes */
  uint64_t cycles;        /* computed by hand; 0: not checked */
} layout;

/* Code: map, send or receive, end. Two packets have a header of 4 words each. Links take 5 bytes a
 * cycle, gateways 3. */
static const layout layouts[] = {
    {"within", 4, 1, 2, 3, {0, 1}, {1, 2}, {{0, 1}}, 1, 0, 0},
    {"across", 4, 1, 2, 3, {0, 1}, {1, 2}, {{1, 2}}, 1, 56, 4 + 3300 + 19},
    {"a ring", 4, 1, 2, 300, {0, 1}, {2, 0}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 4, 2432, 0},
    {"far, but linked", 4, 1, 4, 300, {0, 1}, {2, 2}, {{0, 3}}, 1, 0, 0},
    {"long, on the links", 4, 2, 64, 500, {0, 1}, {3, 4}, {{3, 0}}, 1, 0, 3 + 800 + 807},
    {"nobody", 4, 1, 2, 3, {0, 1}, {1, 2}, {{0, 0}}, 0, 0, 0},
    /* IPUs 2 and 3 are those of replica 1. One packet stays in the first domain, the other one
     * leaves it. */
    {"a replica in two domains", 4, 2, 3, 20, {0, 1}, {0, 4}, {{0, 1}}, 1, 96, 0},
    {"both leave", 4, 2, 3, 20, {0, 1}, {1, 2}, {{0, 3}}, 1, 192, 0},
    {"one replica, linked", 1, 4, 2, 50, {0, 1}, {3, 4}, {{0, 0}}, 0, 0, 0},
    {"one replica, IPU 1 to 2", 1, 4, 2, 50, {3, 4}, {6, 8}, {{0, 0}}, 0, 432, 2 + 3300 + 144},
    {"one replica, both ways", 1, 4, 2, 50, {0, 10}, {9, 1}, {{0, 0}}, 0, 216, 0},
};
enum { NUM_LAYOUTS = sizeof layouts / sizeof *layouts };

static pop_tensor on_tiles(pop_graph *graph, size_t words, const size_t *tiles, const char *name)
{
  pop_tensor parts[2];
  for (size_t i = 0; i < 2; i++) {
    parts[i] = pop_graph_add_variable(graph, POP_INT, &words, 1, name);
    pop_graph_set_tile_mapping(graph, parts[i], tiles[i]);
  }
  return pop_concat(parts, 2, 0);
}

static pop_executable *compile(const layout *l)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", l->replicas * l->ipus, &target));
  target.tiles_per_ipu = TILES;
  target.link_domain_ipus = l->domain;
  target.global_bytes_per_cycle = 5;
  target.gateway_bytes_per_cycle = 3;
  pop_graph *graph = l->replicas > 1 ? pop_graph_create_replicated(&target, l->replicas)
                                     : pop_graph_create(&target);
  pop_tensor from = on_tiles(graph, l->words, l->from, "from"),
             to = on_tiles(graph, l->words, l->to, "to");
  pop_program main = l->replicas > 1
                         ? pop_program_cross_replica_copy(from, to, l->map, l->num_pairs, "copy")
                         : pop_program_copy(from, to, "copy");
  pop_graph_create_host_write(graph, "from", from);
  pop_graph_create_host_read(graph, "to", to);
  assert_no_error(graph);
  const pop_option verify = {"debug.verify", "true"};
  pop_executable *executable;
  expect_ok(pop_compile_graph(graph, &main, 1, &verify, 1, &executable));
  pop_graph_free(graph);
  return executable;
}

/* The only exchange between IPUs or replicas. */
static uint32_t find_global(const pop_executable *e)
{
  uint32_t found = EXECUTABLE_NONE;
  for (uint32_t i = 0; i < e->num_exchanges; i++) {
    if (e->exchanges[i].zone == ISA_SYNC_INTERNAL) continue;
    cr_assert_eq(found, EXECUTABLE_NONE);
    found = i;
  }
  cr_assert_neq(found, EXECUTABLE_NONE);
  return found;
}

/* The machine's cycles for each of its tiles; 0: the tile takes no part. */
typedef struct heard {
  uint64_t cycles[MAX_TILES];
  size_t count;
} heard;

static void hear(void *context, const machine_trace_event *event)
{
  heard *h = context;
  if (event->kind != MACHINE_TRACE_GLOBAL_EXCHANGE) return;
  h->cycles[event->tile] = event->to - event->from;
  h->count++;
}

/* The graph profile has the same estimates. */
static void compare_with_graph_profile(const char *what, const pop_executable *e, const char *key,
                                       const tile_cost *costs, size_t count)
{
  pop_profile *profile;
  expect_ok(pop_executable_graph_profile(e, &profile));
  pop_profile_value exchanges = pop_profile_find(pop_profile_root(profile), key);
  cr_assert_eq(pop_profile_count(exchanges), 1);
  pop_profile_value by_tile = pop_profile_at(exchanges, 0);
  for (size_t tile = 0, i = 0; tile < pop_profile_count(by_tile); tile++) {
    uint64_t cycles = i < count && costs[i].tile == tile ? costs[i++].cycles : 0;
    cr_assert_eq(pop_profile_as_int(pop_profile_at(by_tile, tile)), cycles, "%s, tile %zu", what,
                 tile);
  }
  pop_profile_free(profile);
}

static void compare_with_run(const layout *l, pop_executable *e)
{
  uint32_t exchange = find_global(e);
  tile_cost costs[MAX_TILES];
  execution *x = execution_new(e);
  size_t count = execution_exchange_costs(x, exchange, costs);
  execution_free(x);
  cr_assert_gt(count, 0);
  compare_with_graph_profile(l->what, e, "externalExchanges.estimatedCyclesByTile", costs, count);
  pop_engine *engine;
  expect_ok(pop_engine_create_from_executable(e, NULL, 0, &engine));
  expect_ok(pop_engine_load(engine));
  for (uint32_t again = 0; again < 2; again++) {
    heard h = {0};
    machine_set_trace(engine->replicas[0].machine, hear, &h);
    expect_ok(pop_engine_run(engine, 0));
    cr_assert_eq(h.count, count, "%s: %zu tiles, not %zu", l->what, h.count, count);
    for (size_t i = 0; i < count; i++) {
      uint64_t ran = h.cycles[costs[i].tile];
      cr_assert_eq(costs[i].cycles, ran, "%s, tile %u: estimated %llu cycles, taken %llu", l->what,
                   costs[i].tile, (unsigned long long)costs[i].cycles, (unsigned long long)ran);
      if (l->cycles) cr_assert_eq(ran, l->cycles, "%s: %llu", l->what, (unsigned long long)ran);
    }
  }
  pop_engine_free(engine);
}

Test(link_estimates, estimates_are_what_runs_take)
{
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    pop_executable *e = compile(&layouts[i]);
    compare_with_run(&layouts[i], e);
    pop_executable_free(e);
  }
}

/* IPU 0 gets 900 words and IPU 1 gets 100: the tiles of both wait for those of IPU 0. */
Test(link_estimates, exchanges_with_the_host_take_what_the_fullest_IPU_takes)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 2, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_tensor parts[] = {pop_graph_add_variable(graph, POP_INT, (size_t[]){900}, 1, "much"),
                        pop_graph_add_variable(graph, POP_INT, (size_t[]){100}, 1, "little")};
  pop_graph_set_tile_mapping(graph, parts[0], 1);
  pop_graph_set_tile_mapping(graph, parts[1], TILES + 2);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 1000);
  pop_program main = pop_program_copy_from_stream(in, pop_concat(parts, 2, 0), "in");
  assert_no_error(graph);
  pop_executable *e;
  expect_ok(pop_compile_graph(graph, &main, 1, NULL, 0, &e));
  pop_graph_free(graph);
  cr_assert_eq(e->num_events, 1);
  tile_cost costs[MAX_TILES];
  execution *x = execution_new(e);
  size_t count = execution_host_costs(x, 0, costs);
  execution_free(x);
  cr_assert_eq(count, 2);
  cr_assert_gt(costs[1].cycles, 3600 / target.host_bytes_per_cycle);
  compare_with_graph_profile("host", e, "hostExchanges.estimatedCyclesByTile", costs, count);
  pop_executable_free(e);
}

Test(link_estimates, archives_say_what_goes_through_gateways, .init = enter_fresh_folder)
{
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const layout *l = &layouts[i];
    pop_executable *compiled = compile(l), *loaded;
    expect_ok(pop_executable_save(compiled, "archive.a"));
    expect_ok(pop_executable_load("archive.a", &loaded));
    const executable_exchange *x = &compiled->exchanges[find_global(compiled)],
                              *y = &loaded->exchanges[find_global(loaded)];
    cr_assert_eq(x->gateway_bytes, l->gateway_bytes, "%s: %llu", l->what,
                 (unsigned long long)x->gateway_bytes);
    cr_assert_geq(x->link_bytes, x->gateway_bytes);
    bool some_send = l->replicas == 1 || l->num_pairs > 0;
    cr_assert_eq(x->link_bytes > 0, some_send, "%s", l->what);
    cr_assert_eq(y->link_bytes, x->link_bytes);
    cr_assert_eq(y->gateway_bytes, x->gateway_bytes);
    compare_with_run(l, loaded);
    pop_executable_free(loaded);
    pop_executable_free(compiled);
  }
}

/* ---- impossible metadata ---- */

static void more_gateway_than_link(executable_exchange *x)
{
  x->gateway_bytes = x->link_bytes + 1;
}

static void endless(executable_exchange *x)
{
  x->link_bytes = UINT64_MAX;
}

static void links_within_an_ipu(executable_exchange *x)
{
  x->zone = ISA_SYNC_INTERNAL;
  x->link_bytes = 1;
}

Test(link_estimates, bytes_that_cannot_be_are_refused)
{
  static const struct {
    void (*spoil)(executable_exchange *x);
    const char *message;
  } cases[] = {
      {more_gateway_than_link, "key 'gateway_bytes': 57, but 56 is the greatest"},
      {endless, "key 'link_bytes': 18446744073709551615, but 1152921504606846976 is the greatest"},
      {links_within_an_ipu, "key 'link_bytes': 1, but 0 is the greatest"},
  };
  static const uint64_t digests[TILES] = {1, 2, 3};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_executable *compiled = compile(&layouts[1]), *decoded = executable_new(),
                   *spoilt = executable_new();
    pop_bytes cbor = {0};
    executable_encode(compiled, digests, &cbor);
    expect_ok(executable_decode(cbor.data, cbor.size, spoilt));
    pop_bytes_free(&cbor);
    cases[i].spoil(&spoilt->exchanges[find_global(spoilt)]);
    executable_encode(spoilt, digests, &cbor);
    expect_error(executable_decode(cbor.data, cbor.size, decoded), POP_ERROR_FILE_LOAD,
                 cases[i].message, "key 'exchanges'");
    pop_bytes_free(&cbor);
    pop_executable_free(decoded);
    pop_executable_free(spoilt);
    pop_executable_free(compiled);
  }
}
