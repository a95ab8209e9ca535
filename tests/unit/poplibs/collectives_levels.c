/* Collectives of replicas in several link domains: rings within the domains, then across them, to
 * the bit, and the bytes through gateways. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <populus/collectives.h>
#include <populus/engine.h>
#include <populus/popops.h>
#include <stdlib.h>

enum { REPLICAS = 8, DOMAIN = 4, COUNT = 48 };

typedef struct bench {
  pop_graph *graph;
  pop_tensor data; /* COUNT floats on a tile */
  pop_program main;
} bench;

static bench new_bench(uint32_t gateway_latency)
{
  bench x;
  pop_target target;
  const size_t count = COUNT;
  expect_ok(pop_target_create("ipu2", REPLICAS, &target));
  target.tiles_per_ipu = 3;
  target.link_domain_ipus = DOMAIN;
  target.gateway_latency_cycles = gateway_latency;
  x.graph = pop_graph_create_replicated(&target, REPLICAS);
  pop_popops_add_codelets(x.graph);
  x.data = pop_graph_add_variable(x.graph, POP_FLOAT, &count, 1, "data");
  pop_graph_set_tile_mapping(x.graph, x.data, 1);
  x.main = pop_program_sequence(x.graph, "main");
  pop_graph_create_host_write(x.graph, "in", x.data);
  return x;
}

/* `out` gets `count` elements of each replica's result. Returns the cycles of the run. */
static uint64_t run(bench *x, pop_tensor result, const float *in, float *out, size_t count)
{
  pop_engine *engine;
  pop_graph_create_host_read(x->graph, "out", result);
  assert_no_error(x->graph);
  cr_assert_eq(pop_tensor_num_elements(result), count);
  const pop_option verify = {"debug.verify", "true"};
  expect_ok(pop_engine_create(x->graph, &x->main, 1, &verify, 1, &engine));
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_write_tensor(engine, "in", in, REPLICAS * COUNT * sizeof *in));
  uint64_t before = pop_engine_cycles(engine);
  expect_ok(pop_engine_run(engine, 0));
  uint64_t cycles = pop_engine_cycles(engine) - before;
  expect_ok(pop_engine_read_tensor(engine, "out", out, REPLICAS * count * sizeof *out));
  pop_engine_free(engine);
  pop_graph_free(x->graph);
  return cycles;
}

static const float *data(void)
{
  static float in[REPLICAS * COUNT];
  for (size_t i = 0; i < REPLICAS * COUNT; i++) in[i] = (float)((i * 2654435761U) % 1000) / 7 - 60;
  return in;
}

/* A group: `within` positions in each of `across` domains, replicas `stride` apart. */
typedef struct layout {
  pop_comm_group group;
  uint32_t within, across, stride;
} layout;
static const layout layouts[] = {{{POP_COMM_ALL, 0}, 4, 2, 1},
                                 {{POP_COMM_ORTHOGONAL, 4}, 2, 2, 2},
                                 {{POP_COMM_ORTHOGONAL, 2}, 2, 1, 4}, /* all across: one ring */
                                 {{POP_COMM_CONSECUTIVE, 4}, 4, 1, 1},
                                 {{POP_COMM_CONSECUTIVE, 8}, 4, 2, 1}};
enum { NUM_LAYOUTS = sizeof layouts / sizeof *layouts };

static uint32_t first_of_group(const layout *l, uint32_t replica)
{
  uint32_t size = l->within * l->across;
  return l->stride == 1 ? replica / size * size : replica % l->stride;
}

/* The sum within each domain starts after position `inner`; the sum across domains starts after
 * `outer`. */
static float sum(const layout *l, uint32_t replica, size_t element, uint32_t inner, uint32_t outer)
{
  float all = 0;
  for (uint32_t o = 1; o <= l->across; o++) {
    float of_domain = 0;
    for (uint32_t i = 1; i <= l->within; i++) {
      uint32_t position = (outer + o) % l->across * l->within + (inner + i) % l->within;
      uint32_t member = first_of_group(l, replica) + position * l->stride;
      float value = data()[member * COUNT + element];
      of_domain = i > 1 ? of_domain + value : value;
    }
    all = o > 1 ? all + of_domain : of_domain;
  }
  return all;
}

Test(collectives_levels, all_reduce_adds_within_domains_and_then_across)
{
  float out[REPLICAS * COUNT];
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const layout *l = &layouts[i];
    bench x = new_bench(0);
    pop_tensor result = pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_ADD, l->group,
                                           i % 2 ? x.data : (pop_tensor){0}, x.main, "reduce");
    run(&x, result, data(), out, COUNT);
    for (uint32_t r = 0; r < REPLICAS; r++)
      for (uint32_t e = 0; e < COUNT; e++) {
        uint32_t chunk = COUNT / l->within, part = chunk / l->across;
        float wanted = sum(l, r, e, e / chunk, e % chunk / part);
        cr_assert_eq(out[r * COUNT + e], wanted, "layout %zu, replica %u, element %u: %a, not %a",
                     i, r, e, (double)out[r * COUNT + e], (double)wanted);
      }
  }
}

Test(collectives_levels, each_position_gets_its_chunk)
{
  float out[REPLICAS * COUNT];
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const layout *l = &layouts[i];
    uint32_t size = l->within * l->across, chunk = COUNT / size;
    bench x = new_bench(0);
    pop_tensor result =
        pop_gcl_reduce_scatter(x.graph, x.data, POP_COLLECTIVE_ADD, l->group, x.main, "scatter");
    run(&x, result, data(), out, chunk);
    for (uint32_t r = 0; r < REPLICAS; r++)
      for (uint32_t e = 0; e < chunk; e++) {
        uint32_t position = (r - first_of_group(l, r)) / l->stride;
        float wanted = sum(l, r, position * chunk + e, position % l->within, position / l->within);
        cr_assert_eq(out[r * chunk + e], wanted, "layout %zu, replica %u, element %u", i, r, e);
      }
  }
}

Test(collectives_levels, all_gather_is_in_the_order_of_positions)
{
  static float out[REPLICAS * REPLICAS * COUNT];
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const layout *l = &layouts[i];
    uint32_t size = l->within * l->across;
    bench x = new_bench(0);
    pop_tensor result = pop_gcl_all_gather(x.graph, x.data, l->group, x.main, "gather");
    run(&x, result, data(), out, (size_t)size * COUNT);
    for (uint32_t r = 0; r < REPLICAS; r++)
      for (uint32_t p = 0; p < size; p++) {
        uint32_t member = first_of_group(l, r) + p * l->stride;
        cr_assert_arr_eq(out + ((size_t)r * size + p) * COUNT, data() + member * COUNT,
                         COUNT * sizeof *out, "layout %zu, replica %u, position %u", i, r, p);
      }
  }
}

/* The number of steps of an all-reduce that go through gateways. With one ring, all steps would. */
Test(collectives_levels, few_steps_go_through_gateways)
{
  enum { LATENCY = 100000 };
  static const uint64_t steps[NUM_LAYOUTS] = {2, 2, 2, 0, 2};
  float out[REPLICAS * COUNT];
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    uint64_t cycles[2];
    for (uint32_t slow = 0; slow < 2; slow++) {
      bench x = new_bench(LATENCY * (1 + slow));
      pop_tensor result = pop_gcl_all_reduce(x.graph, x.data, POP_COLLECTIVE_ADD, layouts[i].group,
                                             (pop_tensor){0}, x.main, "reduce");
      cycles[slow] = run(&x, result, data(), out, COUNT);
    }
    cr_assert_eq(cycles[1] - cycles[0], steps[i] * LATENCY, "layout %zu: %llu", i,
                 (unsigned long long)(cycles[1] - cycles[0]));
  }
}
