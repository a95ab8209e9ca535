/* The whole compiler and the whole machine against a model on the host.
 *
 * A seed makes a graph: variables of all types and shapes, mapped to tiles in pieces; views made of
 * random operations; copies between them; vertices on random tiles with fields of every kind;
 * PrintTensors, streams and remote buffers; sequences, loops and branches, with programs in between
 * that have no effect (Sync, Nop, Block, AbortOnCondition). The engine and the model
 * (tests/support/random_graph.h, random_nodes.h) then run it. After each run every element must be
 * equal to the bit.
 *
 * A failure names its seed. support/seeds.h explains how to run that graph alone, or more
 * graphs. */
#include "support/random_check.h"
#include "support/seeds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { NUM_GRAPHS = 100, NUM_TRANSLATED = 8, NUM_WITH_OPTIONS = 20 };
#else
enum { NUM_GRAPHS = 600, NUM_TRANSLATED = 24, NUM_WITH_OPTIONS = 60 };
#endif

static const char codelets[] = "random.gp";

/* ---- tests ---- */

static void compile_codelets(void)
{
  enter_fresh_folder();
  compile_random_codelets(codelets);
}

static void check_seeds(bool on_cpu, uint64_t num_graphs)
{
  seed_range seeds = test_seeds(1, num_graphs);
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    check_graph(new_random_graph(seed, codelets), on_cpu);
}

Test(engine_random, does_what_the_model_does, .init = compile_codelets)
{
  check_seeds(false, NUM_GRAPHS);
}

Test(engine_random, the_cpu_does_what_the_model_does, .init = compile_codelets)
{
  check_seeds(true, NUM_GRAPHS / 2);
}

/* The same with all code translated before it runs. */
Test(engine_random, translated_code_does_what_the_model_does, .init = compile_codelets)
{
  setenv("POPULUS_TILE_ENGINE", "translator", 1);
  check_seeds(false, NUM_TRANSLATED);
}

/* Options about measuring, planning of exchanges and the like do not change what
 * programs compute. */
Test(engine_random, options_do_not_change_what_is_computed, .init = compile_codelets)
{
  setenv("POPULUS_VERIFY", "1", 1);
  seed_range seeds = test_seeds(2001, 2000 + NUM_WITH_OPTIONS);
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    random_graph *g = new_random_graph(seed, codelets);
    g->has_options = true;
    check_graph(g, false);
  }
}

/* Two engines of two graphs that were built in the same way have the same images. */
Test(engine_random, same_graph_same_bytes, .init = compile_codelets)
{
  for (uint64_t seed = 1001; seed <= 1010; ++seed) {
    uint8_t *bytes[2];
    size_t sizes[2];
    for (int i = 0; i < 2; ++i) {
      random_graph *g = new_random_graph(seed, codelets);
      build(g, false);
      pop_engine *engine = compile_graph(g);
      expect_ok(pop_engine_save_archive(engine, "archive.a"));
      expect_ok(pop_file_read("archive.a", SIZE_MAX, &bytes[i], &sizes[i]));
      pop_engine_free(engine);
      free_graph(g);
      free(g);
    }
    cr_assert_eq(sizes[0], sizes[1], "seed %" PRIu64, seed);
    cr_assert_arr_eq(bytes[0], bytes[1], sizes[0], "seed %" PRIu64, seed);
    free(bytes[0]);
    free(bytes[1]);
  }
}
