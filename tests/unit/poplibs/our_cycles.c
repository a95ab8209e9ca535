/* The stated cycles of library vertices against those of their code on the software IPU: all
 * types, with random shapes and data to which the table of runtime/poplibs/host/our_cycles.h
 * was not fitted. */
#include "poplibs/host/our_cycles.h"
#include "support/expect.h"
#include "support/library_vertices.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(our_cycles, .init = enter_fresh_folder);

enum { SHAPES = 10, SEED = 5000 /* the table has the seeds from 1 on */ };

Test(our_cycles, every_library_vertex_has_an_estimator_and_is_tested)
{
  pop_graph *graph = lv_new_graph();
  size_t checked = 0, missing = 0;
  for (size_t i = 0; i < graph->num_vertex_types; i++) {
    const char *type = graph->vertex_types[i].type->name;
    if (lv_is_of_compiler(type)) continue;
    checked++;
    if (our_cycles_of_type(type) && lv_family_of(type)) continue;
    missing++;
    cr_log_error("%s: %s", type,
                 lv_family_of(type) ? "no row: run fit_library_cycles"
                                    : "no family in our_cycles.c and library_vertices.h");
  }
  cr_assert_gt(checked, 500);
  cr_assert_eq(missing, 0, "%zu of %zu types", missing, checked);
  pop_graph_free(graph);
}

/* A program's own vertex with such a name is not a library vertex. */
Test(our_cycles, a_codelet_of_the_programs_own_has_none)
{
  static const char source[] =
      "#include <poplar/Vertex.hpp>\n"
      "namespace popops { class HeadChunk : public poplar::Vertex { public:\n"
      "  poplar::Output<unsigned> out; bool compute() { *out = 1; return true; } }; }\n";
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets_source(graph, "c++", source, "own.cpp", NULL);
  pop_vertex v =
      pop_graph_add_vertex(graph, pop_graph_add_compute_set(graph, "set"), "popops::HeadChunk");
  cr_assert_null(pop_graph_error(graph));
  our_cycles_add_estimators(graph);
  graph_estimate_vertices(graph, ESTIMATE_CHIP);
  cr_assert_eq(pop_graph_perf_estimate(graph, v).cycles, 0);
  pop_graph_free(graph);
}

/* Invalid sizes, which reach the estimators before any check. */
Test(our_cycles, fields_of_no_sense_are_estimated_all_the_same)
{
  static const int32_t axes[15] = {1, 1, 1,  0,  0,  INT32_MAX, INT32_MAX, 1,
                                   1, 1, -1, -1, -1, -1,        -1};
  pop_graph *graph = lv_new_graph();
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex pool = pop_graph_add_vertex(graph, set, "popnn::Pool<float,0>");
  pop_graph_connect(graph, pool, "axes",
                    pop_graph_add_constant(graph, POP_INT, (size_t[]){15}, 1, axes, "axes"));
  pop_vertex product =
      pop_graph_add_vertex(graph, set, "poplin::MatMulBlock<float,float,1,1,true,true>");
  pop_graph_set_field_int(graph, product, "rows", UINT32_MAX);
  pop_graph_set_field_int(graph, product, "columns", UINT32_MAX);
  pop_graph_set_field_int(graph, product, "length", UINT32_MAX);
  cr_assert_null(pop_graph_error(graph));
  our_cycles_add_estimators(graph);
  graph_estimate_vertices(graph, ESTIMATE_OURS);
  cr_assert_gt(pop_graph_perf_estimate(graph, pool).cycles, 0);
  cr_assert_leq(pop_graph_perf_estimate(graph, product).cycles, INT32_MAX);
  pop_graph_free(graph);
}

static bool is_within_a_tenth(uint64_t estimate, uint64_t cycles)
{
  return fabs((double)estimate - (double)cycles) <= .1 * (double)cycles;
}

Test(our_cycles, estimates_are_within_a_tenth_of_what_the_code_takes)
{
  pop_graph *graph = lv_new_graph();
  pop_program main = lv_add_vertices(graph, "", SHAPES, SEED, true);
  uint64_t *cycles = lv_measure(graph, main);
  cr_assert_not_null(cycles);
  cr_assert_gt(graph->num_vertices, 500 * SHAPES);
  our_cycles_add_estimators(graph);
  graph_estimate_vertices(graph, ESTIMATE_OURS);
  size_t wrong = 0;
  for (size_t i = 0; i < graph->num_vertices; i++) {
    const vertex *v = &graph->vertices[i];
    if (is_within_a_tenth(v->cycle_estimate, cycles[i])) continue;
    wrong++;
    cr_log_error("shape %u of %s: %llu cycles, %llu are said", v->compute_set,
                 graph->vertex_types[v->type].type->name, (unsigned long long)cycles[i],
                 (unsigned long long)v->cycle_estimate);
  }
  cr_assert_eq(
      wrong, 0,
      "%zu of %zu vertices: if codelets have changed, build/tests/support/fit_library_cycles "
      ">runtime/poplibs/host/our_cycles.def",
      wrong, graph->num_vertices);
  pop_graph_free(graph);
  free(cycles);
}
