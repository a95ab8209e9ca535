/* The graph profile of executables that are made by hand, with cases that the example programs do
 * not have, and of vertices whose bytes are known. */
#include "profile/graph_profile.h"

#include "support/expect.h"
#include "support/graph_test.h"

#include <populus/populus.h>

/* One compute set on tile 1: vertices on workers 0, 0 and 1, a supervisor vertex, and a vertex of
 * all workers. */
static pop_executable *new_executable(pop_target_type type)
{
  static const executable_vertex vertices[] = {
      {.type = 0, .worker = 0, .cycles = 100, .flops = 3},
      {.type = 1, .worker = 0, .cycles = 50},
      {.type = 0, .worker = 1, .cycles = 120, .flops = 40},
      {.type = 1, .worker = EXECUTABLE_ON_SUPERVISOR, .cycles = 7, .flops = (uint64_t)5 << 40},
      {.type = 1, .worker = EXECUTABLE_ON_ALL_WORKERS, .cycles = 11}};
  enum { NUM_VERTICES = sizeof vertices / sizeof *vertices };
  pop_executable *e = executable_new();
  expect_ok(pop_target_create("ipu2", 1, &e->target));
  e->target.type = type;
  e->target.tiles_per_ipu = 3;
  e->tiles = pop_xcalloc(3, sizeof *e->tiles);
  pop_push(e->memory_rows, e->num_memory_rows, e->memory_rows_capacity, (pop_tile_memory){0});
  for (int i = 0; i < 2; ++i)
    pop_push(e->vertex_types, e->num_vertex_types, e->vertex_types_capacity, i ? "B" : "A");
  for (int i = 0; i < NUM_VERTICES; ++i)
    pop_push(e->vertices, e->num_vertices, e->vertices_capacity, vertices[i]);
  pop_push(e->vertex_rows, e->num_vertex_rows, e->vertex_rows_capacity,
           (executable_row){0, NUM_VERTICES});
  pop_push(e->works, e->num_works, e->works_capacity, (executable_work){.tile = 1});
  pop_push(e->compute_sets, e->num_compute_sets, e->compute_sets_capacity,
           (executable_compute_set){.name = "set", .num_works = 1});
  return e;
}

static executable_profile *new_profile(void)
{
  executable_profile *p = executable_profile_new();
  pop_push(p->vertex_types, p->num_vertex_types, p->vertex_types_capacity,
           (profile_vertex_type){8, 100});
  pop_push(p->vertex_types, p->num_vertex_types, p->vertex_types_capacity,
           (profile_vertex_type){12, 200});
  pop_push(p->uses, p->num_uses, p->uses_capacity, (profile_vertex_use){0, 2, {1, 2, 3, 4, 5}});
  pop_push(p->uses, p->num_uses, p->uses_capacity,
           (profile_vertex_use){1, 3, {10, 20, 30, 40, 50}});
  pop_push(p->work_rows, p->num_work_rows, p->work_rows_capacity, (profile_work_row){250, 0, 2});
  pop_push(p->works, p->num_works, p->works_capacity, 0);
  return p;
}

static pop_profile *profile_of(pop_executable *e)
{
  graph_profile g = {.e = e, .p = new_profile(), .numbers = exchange_numbers_new(e)};
  pop_profile *profile = emit_to_values(emit_graph_profile, &g);
  graph_profile_close(&g);
  return profile;
}

static int64_t cell(const pop_profile *profile, const char *path, size_t row, size_t column)
{
  pop_profile_value table = pop_profile_find(pop_profile_root(profile), path);
  pop_profile_value found = pop_profile_at(pop_profile_at(table, row), column);
  cr_assert_eq(pop_profile_kind_of(found), POP_PROFILE_INT, "%s[%zu][%zu]", path, row, column);
  return pop_profile_as_int(found);
}

/* Workers run at the same time, each in one of six slots. The other vertices run alone. */
Test(graph_profile, estimates_are_taken_over_the_schedule_of_workers)
{
  pop_executable *e = new_executable(POP_TARGET_IPU_MODEL);
  pop_profile *profile = profile_of(e);
  static const char by_tile[] = "computeSets.cycleEstimates.activeCyclesByTile";
  static const char by_type[] = "computeSets.cycleEstimates.activeCyclesByVertexType";
  static const char cycles[] = "computeSets.cycleEstimates.cyclesByTile";
  cr_assert_eq(cell(profile, by_tile, 0, 0), 0);
  cr_assert_eq(cell(profile, by_tile, 0, 1), 100 + 50 + 120 + 7 + 11);
  cr_assert_eq(cell(profile, by_tile, 0, 2), 0);
  cr_assert_eq(cell(profile, by_type, 0, 0), 100 + 120);
  cr_assert_eq(cell(profile, by_type, 0, 1), 50 + 7 + 11);
  cr_assert_eq(cell(profile, cycles, 0, 1), 7 + 11 + 6 * (100 + 50));
  pop_profile_free(profile);
  pop_executable_free(e);
}

Test(graph_profile, estimates_are_there_for_models_or_when_they_are_asked_for)
{
  static const char path[] = "computeSets.cycleEstimates";
  pop_executable *e = new_executable(POP_TARGET_IPU);
  pop_profile *profile = profile_of(e);
  cr_assert_null(pop_profile_find(pop_profile_root(profile), path).node);
  pop_profile_free(profile);
  pop_push(e->options, e->num_options, e->options_capacity,
           (executable_option){"profiler.includeCycleEstimates", "true"});
  profile = profile_of(e);
  cr_assert_eq(pop_profile_count(pop_profile_find(pop_profile_root(profile), path)), 3);
  pop_profile_free(profile);
  pop_executable_free(e);
}

Test(graph_profile, operations_are_there_when_they_are_asked_for)
{
  static const char path[] = "computeSets.flopEstimates";
  pop_executable *e = new_executable(POP_TARGET_IPU_MODEL);
  pop_profile *profile = profile_of(e);
  cr_assert_null(pop_profile_find(pop_profile_root(profile), path).node);
  pop_profile_free(profile);
  pop_push(e->options, e->num_options, e->options_capacity,
           (executable_option){"profiler.includeFlopEstimates", "true"});
  profile = profile_of(e);
  static const char by_tile[] = "computeSets.flopEstimates.flopsByTile";
  static const char by_type[] = "computeSets.flopEstimates.flopsByVertexType";
  cr_assert_eq(pop_profile_count(pop_profile_find(pop_profile_root(profile), path)), 2);
  cr_assert_eq(cell(profile, by_tile, 0, 0), 0);
  cr_assert_eq(cell(profile, by_tile, 0, 1), 43 + ((int64_t)5 << 40));
  cr_assert_eq(cell(profile, by_tile, 0, 2), 0);
  cr_assert_eq(cell(profile, by_type, 0, 0), 43);
  cr_assert_eq(cell(profile, by_type, 0, 1), (int64_t)5 << 40);
  pop_profile_free(profile);
  pop_executable_free(e);
}

Test(graph_profile, vertices_are_counted_by_type_and_their_bytes_by_part)
{
  pop_executable *e = new_executable(POP_TARGET_IPU);
  pop_profile *profile = profile_of(e);
  cr_assert_eq(cell(profile, "computeSets.vertexCounts", 0, 0), 2);
  cr_assert_eq(cell(profile, "computeSets.vertexCounts", 0, 1), 3);
  cr_assert_eq(cell(profile, "computeSets.vertexTypes", 0, 1), 1);
  static const char *const keys[PROFILE_VERTEX_PART_COUNT] = {
      "vertexDataBytes", "edgePtrBytes", "copyPtrBytes", "paddingBytes", "descriptorBytes"};
  for (int p = 0; p < PROFILE_VERTEX_PART_COUNT; ++p) {
    char path[64];
    snprintf(path, sizeof path, "memory.byVertexType.%s", keys[p]);
    cr_assert_eq(cell(profile, path, 0, 1), p + 1, "%s", path);
    cr_assert_eq(cell(profile, path, 1, 1), 10 * (p + 1), "%s", path);
    cr_assert_eq(cell(profile, path, 1, 2), 0);
    snprintf(path, sizeof path, "memory.byComputeSet.%s", keys[p]);
    cr_assert_eq(cell(profile, path, 0, 1), 11 * (p + 1), "%s", path);
  }
  cr_assert_eq(cell(profile, "memory.byVertexType.codeBytes", 1, 1), 200);
  cr_assert_eq(cell(profile, "memory.byVertexType.totalBytes", 1, 1), 200 + 150);
  cr_assert_eq(cell(profile, "memory.byComputeSet.codeBytes", 0, 1), 250);
  cr_assert_eq(cell(profile, "memory.byComputeSet.totalBytes", 0, 1), 250 + 165);
  cr_assert_eq(cell(profile, "memory.byComputeSet.totalBytes", 0, 0), 0);
  pop_profile_free(profile);
  pop_executable_free(e);
}

/* On tile 1: two vertices of a type with a pointer and a size, a pointer, an unsigned, a char and
 * its padding; and the compiler's vertices of a copy. */
static pop_engine *compile_vertices(void)
{
  static const char codelet[] =
      "#include <populus/vertex.h>\n"
      "typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) out; unsigned n; char c; } Parts;\n"
      "COMPUTE(Parts) { *vertex->out = vertex->in.data[vertex->n] + vertex->c; return true; }\n";
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c", codelet, "parts.c", NULL);
  pop_tensor in = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){8}, 1, "in"),
             to = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){8}, 1, "to"),
             out = pop_graph_add_variable(graph, POP_FLOAT, (size_t[]){2}, 1, "out");
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_graph_set_tile_mapping(graph, in, 1);
  pop_graph_set_tile_mapping(graph, to, 1);
  pop_graph_set_tile_mapping(graph, out, 1);
  for (size_t i = 0; i < 2; ++i) {
    pop_vertex v = pop_graph_add_vertex(graph, set, "Parts");
    pop_graph_set_vertex_tile(graph, v, 1);
    pop_graph_connect(graph, v, "in", in);
    pop_graph_connect(graph, v, "out", pop_tensor_index(out, i));
    pop_graph_set_field_int(graph, v, "n", (int64_t)i);
    pop_graph_set_field_int(graph, v, "c", 1);
  }
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_execute(graph, set, NULL));
  pop_sequence_add(main, pop_program_copy(in, to, "copy"));
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  return engine;
}

Test(graph_profile, bytes_of_vertices_are_those_of_their_fields, .init = enter_fresh_folder)
{
  pop_engine *engine = compile_vertices();
  pop_profile *profile;
  expect_ok(pop_engine_graph_profile(engine, &profile));
  pop_profile_value names = pop_profile_find(pop_profile_root(profile), "vertexTypes.names");
  size_t copies = 0;
  for (size_t t = 0; t < pop_profile_count(names); ++t) {
    bool parts = strcmp(pop_profile_as_string(pop_profile_at(names, t)), "Parts") == 0;
    int64_t copied = cell(profile, "memory.byVertexType.copyPtrBytes", t, 1);
    cr_assert_eq(cell(profile, "memory.byVertexType.vertexDataBytes", t, 1), parts ? 2 * 5 : 0);
    cr_assert_eq(cell(profile, "memory.byVertexType.edgePtrBytes", t, 1), parts ? 2 * 12 : 0);
    cr_assert_eq(cell(profile, "memory.byVertexType.paddingBytes", t, 1), parts ? 2 * 3 : 0);
    cr_assert_eq(copied > 0, !parts, "%s: %d", pop_profile_as_string(pop_profile_at(names, t)),
                 (int)copied);
    copies += !parts;
  }
  cr_assert_gt(copies, 0);
  pop_profile_free(profile);
  pop_engine_free(engine);
}

/* ---- the profile in the archive ---- */

static pop_bytes encoded(void)
{
  executable_profile *p = new_profile();
  pop_bytes cbor = {0};
  pop_push(p->names, p->num_names, p->names_capacity, "x");
  pop_push(p->lives, p->num_lives, p->lives_capacity,
           (profile_live){0, POP_MEMORY_VARIABLE, 1, 2, UINT64_C(1) << 40});
  pop_push(p->metrics, p->num_metrics, p->metrics_capacity, (profile_metric){0, 0.25});
  executable_profile_encode(p, &cbor);
  executable_profile_free(p);
  return cbor;
}

Test(graph_profile, what_is_encoded_is_decoded)
{
  pop_executable *e = new_executable(POP_TARGET_IPU);
  pop_bytes cbor = encoded(), again = {0};
  executable_profile *p = executable_profile_new();
  expect_ok(executable_profile_decode(cbor.data, cbor.size, e, p));
  cr_assert_eq(p->lives[0].bytes, UINT64_C(1) << 40);
  cr_assert_str_eq(p->names[p->metrics[0].name], "x");
  executable_profile_encode(p, &again);
  cr_assert_eq(again.size, cbor.size);
  cr_assert_arr_eq(again.data, cbor.data, cbor.size);
  executable_profile_free(p);
  pop_bytes_free(&cbor);
  pop_bytes_free(&again);
  pop_executable_free(e);
}

/* Damaged data must not lead out of the tables: an accepted profile can be emitted. */
Test(graph_profile, damaged_profiles_are_refused_or_harmless)
{
  pop_executable *e = new_executable(POP_TARGET_IPU);
  pop_bytes cbor = encoded();
  size_t refused = 0;
  for (size_t at = 0; at < cbor.size; ++at)
    for (unsigned change = 1; change < 256; change += 37) {
      executable_profile *p = executable_profile_new();
      cbor.data[at] ^= (uint8_t)change;
      pop_error *error = executable_profile_decode(cbor.data, cbor.size, e, p);
      cbor.data[at] ^= (uint8_t)change;
      if (error) {
        cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD);
        ++refused;
        pop_error_free(error);
        executable_profile_free(p);
        continue;
      }
      graph_profile g = {.e = e, .p = p, .numbers = exchange_numbers_new(e)};
      pop_profile_free(emit_to_values(emit_graph_profile, &g));
      graph_profile_close(&g);
    }
  for (size_t size = 0; size < cbor.size; ++size) {
    executable_profile *p = executable_profile_new();
    expect_error(executable_profile_decode(cbor.data, size, e, p), POP_ERROR_FILE_LOAD, "",
                 "short");
    executable_profile_free(p);
  }
  cr_assert_gt(refused, cbor.size, "keys and tables are checked");
  pop_bytes_free(&cbor);
  pop_executable_free(e);
}
