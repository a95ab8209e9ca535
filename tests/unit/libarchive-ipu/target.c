/* libarchive-ipu/target.c and memory.c: targets and their memory. */
#include "support/expect.h"

#include <populus/memory.h>
#include <populus/target.h>

#include <math.h>

static pop_target ipu(const char *name)
{
  pop_target target;
  expect_ok(pop_target_create(name, 1, &target));
  return target;
}

Test(target, figures_of_the_design)
{
  static const struct {
    const char *name;
    uint32_t tiles, base, interleaved, end;
    double clock_hz;
  } cases[] = {
      {"ipu1", 1216, 0x40000, 0x60000, 0x80000, 1.6e9},
      {"ipu2", 1472, 0x4c000, 0x80000, 0xe8000, 1.325e9},
      {"ipu21", 1472, 0x4c000, 0x80000, 0xe8000, 1.85e9},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_target target = ipu(cases[i].name);
    cr_assert_str_eq(target.name, cases[i].name);
    cr_assert_str_eq(pop_target_names()[i], cases[i].name);
    cr_assert_eq(target.tiles_per_ipu, cases[i].tiles);
    cr_assert_eq(target.memory_base, cases[i].base);
    cr_assert_eq(target.interleaved_base, cases[i].interleaved);
    cr_assert_eq(pop_target_memory_end(&target), cases[i].end);
    cr_assert_eq(target.clock_hz, cases[i].clock_hz);
    cr_assert_eq(target.num_worker_contexts, 6);
    cr_assert_eq(target.exchange_bytes_per_cycle, 4);
    expect_ok(pop_target_validate(&target));
  }
  cr_assert_null(pop_target_names()[3]);
}

/* The guide's overfull tile: region 0 without the system's part has 122,880 B. */
Test(target, region_0_of_ipu1_has_122880_bytes_for_programs)
{
  pop_target target = ipu("ipu1");
  cr_assert_eq(target.interleaved_base - target.memory_base - target.system_bytes, 122880);
}

Test(target, default_is_ipu2_and_ipus_multiply)
{
  pop_target target;
  expect_ok(pop_target_create(NULL, 64, &target));
  cr_assert_str_eq(target.name, "ipu2");
  cr_assert_eq(pop_target_num_tiles(&target), 94208);
  expect_ok(pop_target_validate(&target));
  expect_ok(pop_target_create(NULL, POP_TARGET_MAX_IPUS, &target));
  cr_assert_eq(pop_target_num_tiles(&target), 1507328);
  expect_ok(pop_target_validate(&target));
}

Test(target, unknown_names_and_counts_are_refused)
{
  pop_target target;
  expect_error(pop_target_create("ipu3", 1, &target), POP_ERROR_INVALID_ARGUMENT,
               "'ipu3': the targets are ipu1, ipu2 and ipu21", "name");
  expect_error(pop_target_create("ipu2", 0, &target), POP_ERROR_INVALID_ARGUMENT, "1 to 1024", "0");
  expect_error(pop_target_create("ipu2", 1025, &target), POP_ERROR_INVALID_ARGUMENT, "1 to 1024",
               "1025");
}

/* One field is wrong, and the message names it. */
#define WITH(statement, fragment)                                                                  \
  do {                                                                                             \
    pop_target target = ipu("ipu2");                                                               \
    target.statement;                                                                              \
    expect_error(pop_target_validate(&target), POP_ERROR_INVALID_ARGUMENT, fragment, #statement);  \
  } while (0)

Test(target, validate_names_the_wrong_field)
{
  WITH(num_ipus = 0, "num_ipus is 0");
  WITH(tiles_per_ipu = 0, "tiles_per_ipu");
  WITH(tiles_per_ipu = 65537, "from 1 to 65536");
  WITH(num_worker_contexts = 0, "num_worker_contexts");
  WITH(memory_base = 0xfffffffc, "memory_base");
  WITH(memory_base = 0x4c002, "memory_base is 311298, but must be a multiple of 4");
  WITH(memory_bytes = 0, "memory_bytes");
  WITH(interleaved_base = 0x4bffc, "interleaved_base");
  WITH(interleaved_base = 0xe8004, "interleaved_base");
  WITH(system_bytes = 0x34004, "system_bytes");
  WITH(memory_element_bytes = 0, "memory_element_bytes");
  WITH(exchange_bytes_per_cycle = 0, "exchange_bytes_per_cycle");
  WITH(exchange_bytes_per_cycle = 6, "exchange_bytes_per_cycle");
  WITH(exchange_latency_cycles = 1000001, "exchange_latency_cycles");
  WITH(sync_cycles = UINT32_MAX, "sync_cycles");
  WITH(host_sync_cycles = UINT32_MAX, "host_sync_cycles");
  WITH(host_bytes_per_cycle = 0, "host_bytes_per_cycle");
  WITH(global_bytes_per_cycle = 0, "global_bytes_per_cycle");
  WITH(global_latency_cycles = 1000001, "global_latency_cycles");
  WITH(link_domain_ipus = 0, "link_domain_ipus is 0, but must be from 1 to 1024");
  WITH(gateway_latency_cycles = 1000001, "gateway_latency_cycles");
  WITH(gateway_bytes_per_cycle = 0, "gateway_bytes_per_cycle");
  WITH(clock_hz = 0, "clock_hz");
  WITH(clock_hz = NAN, "clock_hz");
  WITH(cost[POP_COST_MUL] = 0, "cost of class 'mul'");
  WITH(cost[POP_COST_DIV] = POP_TARGET_MAX_COST + 1, "cost of class 'div'");

  pop_target target = ipu("ipu2");
  memset(target.name, 'x', sizeof target.name);
  expect_error(pop_target_validate(&target), POP_ERROR_INVALID_ARGUMENT, "name is longer", "name");
  target = ipu("ipu2");
  target.num_ipus = 64;
  target.tiles_per_ipu = 65536;
  expect_error(pop_target_validate(&target), POP_ERROR_INVALID_ARGUMENT, "num_ipus * tiles_per_ipu",
               "tiles");
}

Test(target, custom_targets_are_possible)
{
  pop_target target = ipu("ipu2");
  target.tiles_per_ipu = 3;
  target.memory_base = 0;
  target.memory_bytes = 0x10000;
  target.interleaved_base = 0x10000; /* no interleaved memory */
  target.system_bytes = 0;
  expect_ok(pop_target_validate(&target));
  cr_assert_eq(pop_memory_region_of(&target, 0xfffc), POP_REGION_NON_INTERLEAVED);
  cr_assert_eq(pop_memory_region_of(&target, 0x10000), POP_REGION_OVERFLOWED);
}

Test(target, regions)
{
  static const struct {
    uint32_t address;
    pop_memory_region region;
  } cases[] = {
      {0x4c000, POP_REGION_NON_INTERLEAVED}, {0x7ffff, POP_REGION_NON_INTERLEAVED},
      {0x80000, POP_REGION_INTERLEAVED},     {0xe7fff, POP_REGION_INTERLEAVED},
      {0xe8000, POP_REGION_OVERFLOWED},      {0xffffffff, POP_REGION_OVERFLOWED},
  };
  pop_target target = ipu("ipu2");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_eq(pop_memory_region_of(&target, cases[i].address), cases[i].region, "0x%x",
                 cases[i].address);
}

Test(target, memory_categories_have_the_guides_keys)
{
  cr_assert_str_eq(pop_memory_category_key(POP_MEMORY_VERTEX_CODE), "vertexCode");
  cr_assert_str_eq(pop_memory_category_label(POP_MEMORY_VERTEX_CODE), "Vertex Code");
  for (unsigned i = 0; i < POP_MEMORY_CATEGORY_COUNT; i++)
    for (unsigned j = 0; j < i; j++)
      cr_assert_str_neq(pop_memory_category_key(i), pop_memory_category_key(j));
  cr_assert_str_eq(pop_memory_category_key(POP_MEMORY_CATEGORY_COUNT), "?");
}
