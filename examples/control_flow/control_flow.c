/* A loop whose end is decided on the device: RepeatWhileTrue. Each tile improves its square roots and
 * says how much they changed; one vertex looks at all changes and says whether to go on; the tile that
 * holds that answer tells all others. */
#include "../example.h"

#include <math.h>
#include <stdlib.h>

typedef struct arrays {
  pop_tensor numbers, roots, changes, more, steps;
} arrays;

static arrays add_variables(pop_graph *graph, size_t count)
{
  static const size_t one[] = {1};
  arrays a = {
      .numbers = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "numbers"),
      .roots = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "roots"),
      .changes = pop_graph_add_variable(graph, POP_FLOAT, &count, 1, "changes"),
      .more = pop_graph_add_variable(graph, POP_BOOL, one, 1, "more"),
      .steps = pop_graph_add_variable(graph, POP_UNSIGNED_INT, one, 1, "steps"),
  };
  pop_graph_map_linearly(graph, a.numbers, 1, 1);
  pop_graph_map_linearly(graph, a.roots, 1, 1);
  pop_graph_map_linearly(graph, a.changes, 1, 1);
  pop_graph_set_tile_mapping(graph, a.more, 0);
  pop_graph_set_tile_mapping(graph, a.steps, 0);
  pop_graph_create_host_write(graph, "numbers", a.numbers);
  pop_graph_create_host_read(graph, "roots", a.roots);
  pop_graph_create_host_read(graph, "steps", a.steps);
  return a;
}

static pop_program add_newton_step(pop_graph *graph, const arrays *a, size_t count)
{
  size_t num_tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  size_t per_tile = (count + num_tiles - 1) / num_tiles;
  pop_compute_set set = pop_graph_add_compute_set(graph, "newton");
  for (size_t tile = 0, begin = 0; begin < count; ++tile, begin += per_tile) {
    size_t end = begin + per_tile < count ? begin + per_tile : count;
    pop_vertex v = pop_graph_add_vertex(graph, set, "NewtonStep");
    pop_graph_connect(graph, v, "numbers", pop_tensor_slice(a->numbers, begin, end, 0));
    pop_graph_connect(graph, v, "roots", pop_tensor_slice(a->roots, begin, end, 0));
    pop_graph_connect(graph, v, "change", pop_tensor_index(a->changes, begin));
    pop_graph_set_vertex_tile(graph, v, tile);
  }
  return pop_program_execute(graph, set, "newton");
}

static pop_program add_decision(pop_graph *graph, const arrays *a)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "any above");
  pop_vertex v = pop_graph_add_vertex(graph, set, "AnyAbove");
  pop_graph_connect(graph, v, "changes", a->changes);
  pop_graph_connect(graph, v, "more", pop_tensor_index(a->more, 0));
  pop_graph_connect(graph, v, "steps", pop_tensor_index(a->steps, 0));
  pop_graph_set_field_float(graph, v, "limit", 1e-6);
  pop_graph_set_vertex_tile(graph, v, 0);
  return pop_program_execute(graph, set, "any above");
}

static pop_program build(pop_graph *graph, const arrays *a, size_t count)
{
  pop_program step = pop_program_sequence(graph, "step");
  pop_sequence_add(step, add_newton_step(graph, a, count));
  pop_sequence_add(step, add_decision(graph, a));
  pop_program main = pop_program_sequence(graph, "main");
  pop_sequence_add(main, pop_program_copy(a->numbers, a->roots, "first guess"));
  pop_sequence_add(main, pop_program_repeat_while_true(step, a->more, (pop_program){0}, "improve"));
  return main;
}

static const char usage[] = EXAMPLE_DEVICE " [POSITIVE-NUMBER]...";

int main(int argc, char **argv)
{
  example_help(argc, argv, usage);
  pop_device *device = example_device(&argc, argv, 1);
  static char *const usual[] = {"2", "10", "1000000"};
  char *const *words = argc > 1 ? argv + 1 : usual;
  size_t count = argc > 1 ? (size_t)argc - 1 : sizeof usual / sizeof *usual;
  float *numbers = example_alloc(2 * count, sizeof *numbers), *roots = numbers + count;
  for (size_t i = 0; i < count; ++i) {
    char *end;
    numbers[i] = strtof(words[i], &end);
    if (*end || !(numbers[i] > 0 && isfinite(numbers[i]))) {
      fprintf(stderr, "error: '%s' is no positive number; usage: control_flow %s\n", words[i],
              usage);
      free(numbers);
      return 2;
    }
  }
  pop_graph *graph = pop_graph_create(pop_device_target(device));
  pop_graph_add_codelets(graph, EXAMPLE_CODELET_DIR "/newton_codelets.gp", NULL);
  arrays a = add_variables(graph, count);
  pop_program main_program = build(graph, &a, count);
  pop_engine *engine;
  example_check(pop_engine_create(graph, &main_program, 1, NULL, 0, &engine));
  example_check(pop_engine_load_device(engine, device));
  example_check(pop_engine_write_tensor(engine, "numbers", numbers, count * sizeof *numbers));
  example_check(pop_engine_run(engine, 0));
  unsigned steps;
  example_check(pop_engine_read_tensor(engine, "roots", roots, count * sizeof *roots));
  example_check(pop_engine_read_tensor(engine, "steps", &steps, sizeof steps));
  for (size_t i = 0; i < count; ++i)
    printf("sqrt(%g) = %g\n", (double)numbers[i], (double)roots[i]);
  printf("%u steps, %llu cycles\n", steps, (unsigned long long)pop_engine_cycles(engine));
  pop_engine_free(engine);
  pop_graph_free(graph);
  pop_device_free(device);
  free(numbers);
  return example_end(0);
}
