/* A program with a compiled graph inside: no graph is built, nothing is compiled, no file is read.
 *
 * The archive is that of the example control_flow, square roots of three numbers, which the build has
 * run once; examples/CMakeLists.txt has the commands:
 *
 *   POPLAR_ENGINE_OPTIONS='{"target.saveArchive":"square_roots.a"}' control_flow
 *   popc --link -c square_roots.a -o square_roots.o          also makes square_roots.h
 *
 * usage: linked_executable [NUMBER NUMBER NUMBER] */
#include "../example.h"
#include "square_roots.h"

#include <math.h>

enum { COUNT = 3 };

static const char usage[] = "[NUMBER NUMBER NUMBER]";

static void read_numbers(int argc, char **argv, float numbers[COUNT])
{
  for (int i = 0; i < COUNT && argc > 1; ++i) {
    char *end = "";
    if (argc == COUNT + 1) numbers[i] = strtof(argv[i + 1], &end);
    if (argc == COUNT + 1 && !*end && numbers[i] > 0 && isfinite(numbers[i])) continue;
    fprintf(stderr, "error: three positive numbers are wanted; usage: linked_executable %s\n",
            usage);
    exit(2);
  }
}

int main(int argc, char **argv)
{
  float numbers[COUNT] = {2, 10, 1000000}, roots[COUNT];
  example_help(argc, argv, usage);
  read_numbers(argc, argv, numbers);
  pop_engine *engine;
  example_check(pop_engine_create_from_memory(
      pop_archive_square_roots, pop_archive_square_roots_size, "square_roots", NULL, 0, &engine));
  example_check(pop_engine_load(engine));
  example_check(pop_engine_write_tensor(engine, "numbers", numbers, sizeof numbers));
  example_check(pop_engine_run(engine, 0));
  example_check(pop_engine_read_tensor(engine, "roots", roots, sizeof roots));
  for (int i = 0; i < COUNT; ++i) printf("sqrt(%g) = %g\n", (double)numbers[i], (double)roots[i]);
  pop_engine_free(engine);
  return example_end(0);
}
