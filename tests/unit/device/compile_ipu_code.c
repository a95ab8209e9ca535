/* Memory profiles of an IPUModel: without code, or with an IPU's code if it is compiled. */
#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/engine.h>
#include <populus/memory.h>
#include <populus/popops.h>
#include <populus/profile.h>
#include <stdlib.h>
#include <string.h>

TestSuite(compile_ipu_code, .init = enter_fresh_folder);

enum { TILES = 4, ELEMENTS = 400 };

static pop_device *new_model(bool compile_ipu_code)
{
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  cr_assert_not(model.compile_ipu_code);
  model.tiles_per_ipu = TILES;
  model.compile_ipu_code = compile_ipu_code;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  return device;
}

/* A sum with inputs from other tiles, and a stream: all kinds of code of one IPU. */
static pop_engine *new_engine(const pop_target *target)
{
  const size_t count = ELEMENTS;
  pop_graph *graph = pop_graph_create(target);
  pop_popops_add_codelets(graph);
  pop_tensor a = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "a");
  pop_tensor b = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "b");
  pop_graph_map_linearly(graph, a, 1, 1);
  pop_graph_set_tile_mapping(graph, b, 0);
  pop_program main = pop_program_sequence(graph, "main");
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_FLOAT, count);
  pop_sequence_add(main, pop_program_copy_from_stream(in, a, "read"));
  pop_popops_binary(graph, POP_BINARY_ADD, a, b, a, main, "sum");
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  return engine;
}

static int64_t by_tile(pop_profile_value profile, const char *key, size_t tile)
{
  char path[64];
  snprintf(path, sizeof path, "memory.byTile.%s", key);
  return pop_profile_as_int(pop_profile_at(pop_profile_find(profile, path), tile));
}

static int64_t in_category(pop_profile_value profile, int category, size_t tile)
{
  char path[64];
  snprintf(path, sizeof path, "memory.byCategory.%s.total",
           pop_memory_category_key((pop_memory_category)category));
  return pop_profile_as_int(pop_profile_at(pop_profile_find(profile, path), tile));
}

static char *json_of(pop_profile_value value)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_profile_write(value, POP_PROFILE_JSON, stream));
  fclose(stream);
  return text;
}

typedef struct profiled {
  pop_device *device;
  pop_engine *engine;
  pop_profile *profile;
  pop_profile_value root;
} profiled;

static profiled profile_of(pop_device *device)
{
  pop_target ipu;
  profiled p = {.device = device};
  expect_ok(pop_target_create("ipu2", 1, &ipu));
  ipu.tiles_per_ipu = TILES;
  p.engine = new_engine(device ? pop_device_target(device) : &ipu);
  expect_ok(pop_engine_graph_profile(p.engine, &p.profile));
  p.root = pop_profile_root(p.profile);
  return p;
}

static void free_profiled(profiled *p)
{
  pop_profile_free(p->profile);
  pop_engine_free(p->engine);
  if (p->device) pop_device_free(p->device);
}

Test(compile_ipu_code, memory_is_that_of_an_ipu)
{
  profiled ipu = profile_of(NULL), model = profile_of(new_model(true));
  char *expected = json_of(pop_profile_get(ipu.root, "memory"));
  char *actual = json_of(pop_profile_get(model.root, "memory"));
  cr_assert_str_eq(actual, expected);
  free(expected);
  free(actual);
  free_profiled(&ipu);
  free_profiled(&model);
}

/* Every other category is as on an IPU. Each total is smaller by the code. */
Test(compile_ipu_code, without_it_memory_has_no_code)
{
  static const char *const sums[] = {"total",          "totalIncludingGaps",
                                     "nonInterleaved", "nonInterleavedIncludingGaps",
                                     "mostLive",       "leastIncludingGaps"};
  profiled ipu = profile_of(NULL), model = profile_of(new_model(false));
  int64_t all_code = 0, exchange_code = 0;
  for (size_t tile = 0; tile < TILES; tile++) {
    int64_t code = 0;
    for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; c++) {
      bool is_code = strstr(pop_memory_category_key((pop_memory_category)c), "Code") != NULL;
      int64_t bytes = in_category(ipu.root, c, tile);
      cr_assert_eq(in_category(model.root, c, tile), is_code ? 0 : bytes, "%s, tile %zu",
                   pop_memory_category_key((pop_memory_category)c), tile);
      code += is_code ? bytes : 0;
    }
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
      cr_assert_eq(by_tile(model.root, sums[i], tile), by_tile(ipu.root, sums[i], tile) - code,
                   "%s, tile %zu", sums[i], tile);
    all_code += code;
    exchange_code += in_category(ipu.root, POP_MEMORY_INTERNAL_EXCHANGE_CODE, tile);
  }
  cr_assert_gt(exchange_code, 0);
  static const char live[] = "memory.liveness.alwaysLive.bytes",
                    most[] = "memory.liveness.maxBytes";
  for (const char *const *path = (const char *const[]){live, most, NULL}; *path; path++)
    cr_assert_eq(pop_profile_as_int(pop_profile_find(model.root, *path)),
                 pop_profile_as_int(pop_profile_find(ipu.root, *path)) - all_code, "%s", *path);
  free_profiled(&ipu);
  free_profiled(&model);
}

Test(compile_ipu_code, without_it_vertices_and_summary_have_no_code)
{
  char *text = NULL;
  size_t size;
  profiled model = profile_of(new_model(false));
  char *sets = json_of(pop_profile_find(model.root, "memory.byComputeSet.codeBytes"));
  char *types = json_of(pop_profile_find(model.root, "memory.byVertexType.codeBytes"));
  cr_assert_null(strpbrk(sets, "123456789"), "%s", sets);
  cr_assert_null(strpbrk(types, "123456789"), "%s", types);
  FILE *stream = open_memstream(&text, &size);
  expect_ok(pop_engine_print_memory(model.engine, stream));
  fclose(stream);
  cr_assert_not_null(strstr(text, "Stack:"));
  cr_assert_null(strstr(text, "Code"), "%s", text);
  free(sets);
  free(types);
  free(text);
  free_profiled(&model);
}

static int64_t sum_of_list(pop_profile_value list)
{
  int64_t sum = 0;
  for (size_t i = 0; i < pop_profile_count(list); i++)
    sum += pop_profile_as_int(pop_profile_at(list, i));
  return sum;
}

/* The figures of programs and of what is live are those of the categories. */
Test(compile_ipu_code, without_it_exchanges_and_liveness_have_no_code)
{
  profiled ipu = profile_of(NULL), model = profile_of(new_model(false));
  static const char path[] = "memory.liveness.variables.bytes";
  char *of_ipu = json_of(pop_profile_get(ipu.root, "programs"));
  char *programs = json_of(pop_profile_get(model.root, "programs"));
  int64_t code = 0;
  for (int c = 0; c < POP_MEMORY_CATEGORY_COUNT; c++)
    for (size_t tile = 0; tile < TILES; tile++)
      code += in_category(ipu.root, c, tile) - in_category(model.root, c, tile);
  cr_assert_null(strstr(of_ipu, "\"total\":0}"), "%s", of_ipu);
  cr_assert_not_null(strstr(programs, "\"total\":0}"), "%s", programs);
  cr_assert_gt(code, 0);
  cr_assert_eq(sum_of_list(pop_profile_find(model.root, path)),
               sum_of_list(pop_profile_find(ipu.root, path)) - code);
  free(of_ipu);
  free(programs);
  free_profiled(&ipu);
  free_profiled(&model);
}

/* The loaded image has the code all the same. */
Test(compile_ipu_code, images_have_code_all_the_same)
{
  profiled model = profile_of(new_model(false));
  pop_tile_memory memory;
  expect_ok(pop_engine_tile_memory(model.engine, 0, &memory));
  cr_assert_gt(memory.not_overlapped[POP_MEMORY_VERTEX_CODE][POP_REGION_NON_INTERLEAVED], 0);
  expect_ok(pop_engine_load_device(model.engine, model.device));
  cr_assert_eq(pop_engine_loaded_bytes(model.engine, 0), memory.total_including_gaps);
  cr_assert_gt(memory.total_including_gaps, by_tile(model.root, "totalIncludingGaps", 0));
  free_profiled(&model);
}
