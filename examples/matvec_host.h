/* The host's side of the two matrix-vector examples: sample data, the expected result, and the
 * command line, which both share. */
#ifndef EXAMPLES_MATVEC_HOST_H
#define EXAMPLES_MATVEC_HOST_H

#include "example.h"
#include <math.h>

typedef struct matvec_arguments {
  size_t rows, columns;
  const char *target;      /* --target; NULL: ipu2 */
  const char *device;      /* --device; NULL: a software IPU of the program's own */
  const char *codelets;    /* --codelets */
  const char *tile_memory; /* --tile-memory */
  bool memory;             /* --memory */
} matvec_arguments;

static inline size_t matvec_size(const char *program, const char *text)
{
  char *end;
  unsigned long size = strtoul(text, &end, 10);
  if (*text >= '1' && *text <= '9' && !*end && size <= 1000000) return size;
  fprintf(stderr, "%s: '%s' is not a number of rows or columns (1 to 1000000)\n", program, text);
  exit(2);
}

static inline void matvec_usage(FILE *stream, const char *program)
{
  fprintf(stream,
          "usage: %s [options] ROWS COLUMNS\n"
          "Multiplies a ROWS x COLUMNS matrix by a vector on the software IPU.\n"
          "  --target NAME        ipu1, ipu2 (default) or ipu21; not with --device ipu or cpu\n"
          "  --device KIND        ipu, ipumodel or cpu; without it a software IPU of the program's "
          "own\n"
          "  --codelets FILE      a .gp file, or source that is compiled now\n"
          "  --memory             print the memory summary of all tiles\n"
          "  --tile-memory FILE   write a line per tile: bytes reported, bytes loaded\n"
          "The environment's POPLAR_ENGINE_OPTIONS is taken, for example\n"
          "  '{\"target.saveArchive\":\"archive.a\"}'\n",
          program);
}

static inline matvec_arguments matvec_parse(int argc, char **argv, const char *codelets)
{
  matvec_arguments arguments = {.codelets = codelets};
  const struct {
    const char *name, **value;
  } options[] = {{"--target", &arguments.target},
                 {"--device", &arguments.device},
                 {"--codelets", &arguments.codelets},
                 {"--tile-memory", &arguments.tile_memory}};
  size_t *sizes[] = {&arguments.rows, &arguments.columns};
  size_t num_sizes = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      matvec_usage(stdout, argv[0]);
      exit(example_end(0));
    }
    if (strcmp(argv[i], "--memory") == 0) {
      arguments.memory = true;
      continue;
    }
    bool taken = false;
    for (size_t o = 0; o < sizeof options / sizeof *options && !taken; ++o)
      if (strcmp(argv[i], options[o].name) == 0 && i + 1 < argc) {
        *options[o].value = argv[++i];
        taken = true;
      }
    if (taken) continue;
    if (argv[i][0] == '-' || num_sizes == 2) {
      fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[i]);
      matvec_usage(stderr, argv[0]);
      exit(2);
    }
    *sizes[num_sizes++] = matvec_size(argv[0], argv[i]);
  }
  if (num_sizes != 2) {
    matvec_usage(stderr, argv[0]);
    exit(2);
  }
  const char *device = arguments.device ? arguments.device : "";
  if (arguments.target && (strcmp(device, "ipu") == 0 || strcmp(device, "cpu") == 0)) {
    fprintf(stderr,
            "%s: --device %s has its own target: --target is for ipumodel, or without --device\n",
            argv[0], device);
    exit(2);
  }
  return arguments;
}

typedef struct matvec_data {
  float *matrix, *input, *output;
} matvec_data;

/* Sample data of moderate size, different in every row and column. */
static inline matvec_data matvec_make_data(size_t rows, size_t columns)
{
  matvec_data data = {.matrix = example_alloc(rows * columns, sizeof(float)),
                      .input = example_alloc(columns, sizeof(float)),
                      .output = example_alloc(rows, sizeof(float))};
  for (size_t c = 0; c < columns; ++c) data.input[c] = (float)(c % 89 + 1);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      data.matrix[r * columns + c] = (float)((r * 7 + c * 3) % 101) / 8;
  return data;
}

static inline void matvec_free_data(matvec_data *data)
{
  free(data->matrix);
  free(data->input);
  free(data->output);
}

/* 0 if every element of the output is the host's within rounding; says which one is not. */
static inline int matvec_check_result(const matvec_data *data, size_t rows, size_t columns)
{
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (size_t c = 0; c < columns; ++c)
      sum += (double)data->matrix[r * columns + c] * (double)data->input[c];
    if (!(fabs(sum - (double)data->output[r]) <= 1e-5 * fabs(sum))) { /* NaN is wrong, too */
      printf("ERROR: output %zu: expected=%g, actual=%g\n", r, sum, (double)data->output[r]);
      return 1;
    }
  }
  printf("Multiplication result OK\n");
  return 0;
}

/* What the run has taken: of a model by its simulation, as the guide's; elsewhere by the tiles' clocks. The CPU counts none: 0. */
static inline uint64_t matvec_cycles(const pop_engine *engine, const pop_device *device,
                                     uint64_t begin)
{
  if (!device || pop_device_target(device)->type != POP_TARGET_IPU_MODEL)
    return pop_engine_cycles(engine) - begin;
  pop_profile *profile;
  example_check(pop_engine_execution_profile(engine, &profile));
  int64_t cycles =
      pop_profile_as_int(pop_profile_find(pop_profile_root(profile), "simulation.cycles"));
  pop_profile_free(profile);
  return (uint64_t)cycles;
}

/* Loads and runs program 0 with the handles "matrix", "inputVector" and "outputVector". */
static inline int matvec_run(pop_engine *engine, const matvec_arguments *arguments,
                             pop_device *device)
{
  size_t rows = arguments->rows, columns = arguments->columns;
  matvec_data data = matvec_make_data(rows, columns);
  example_check(device ? pop_engine_load_device(engine, device) : pop_engine_load(engine));
  size_t matrix_bytes = rows * columns * sizeof(float);
  example_check(pop_engine_write_tensor(engine, "matrix", data.matrix, matrix_bytes));
  example_check(
      pop_engine_write_tensor(engine, "inputVector", data.input, columns * sizeof(float)));
  printf("Running graph program to multiply matrix by vector\n");
  uint64_t before = pop_engine_cycles(engine);
  example_check(pop_engine_run(engine, 0));
  uint64_t cycles = matvec_cycles(engine, device, before);
  example_check(pop_engine_read_tensor(engine, "outputVector", data.output, rows * sizeof(float)));
  int status = matvec_check_result(&data, rows, columns);
  matvec_free_data(&data);
  if (cycles) printf("Program cycles: %llu\n", (unsigned long long)cycles);
  return status;
}

/* A line per tile: what the memory report says and what the loader put in the tile. */
static inline void matvec_write_tile_memory(const pop_engine *engine, const pop_target *target,
                                            const char *path)
{
  FILE *stream = fopen(path, "w");
  if (!stream) {
    perror(path);
    exit(4);
  }
  for (uint32_t tile = 0; tile < pop_target_num_tiles(target); ++tile) {
    pop_tile_memory memory;
    example_check(pop_engine_tile_memory(engine, tile, &memory));
    fprintf(stream, "%u %u\n", memory.total_including_gaps, pop_engine_loaded_bytes(engine, tile));
  }
  if (fclose(stream) != 0) {
    perror(path);
    exit(4);
  }
}

/* What the options ask for after a run. */
static inline void matvec_report(const pop_engine *engine, const pop_target *target,
                                 const matvec_arguments *arguments)
{
  if (arguments->memory) example_check(pop_engine_print_memory(engine, stdout));
  if (arguments->tile_memory) matvec_write_tile_memory(engine, target, arguments->tile_memory);
}

/* Adds the vertices and says how to run them; maps all three tensors. */
typedef pop_program matvec_builder(pop_graph *graph, pop_tensor matrix, pop_tensor input,
                                   pop_tensor output);

static inline pop_engine *matvec_compile(const matvec_arguments *arguments,
                                         const pop_target *target, matvec_builder *build)
{
  printf("Creating environment (compiling vertex programs)\n");
  pop_graph *graph = pop_graph_create(target);
  pop_graph_add_codelets(graph, arguments->codelets, NULL);

  printf("Constructing compute graph and control program\n");
  const size_t rows = arguments->rows, columns = arguments->columns;
  const size_t matrix_shape[] = {rows, columns};
  pop_tensor matrix = pop_graph_add_variable(graph, POP_FLOAT, matrix_shape, 2, "matrix");
  pop_tensor input = pop_graph_add_variable(graph, POP_FLOAT, &columns, 1, "inputVector");
  pop_tensor output = pop_graph_add_variable(graph, POP_FLOAT, &rows, 1, "outputVector");
  pop_graph_create_host_write(graph, "matrix", matrix);
  pop_graph_create_host_write(graph, "inputVector", input);
  pop_graph_create_host_read(graph, "outputVector", output);
  example_check_graph(graph);
  pop_program program = build(graph, matrix, input, output);

  pop_engine *engine;
  example_check(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  return engine;
}

static inline int matvec_main(int argc, char **argv, const char *codelets, matvec_builder *build)
{
  matvec_arguments arguments = matvec_parse(argc, argv, codelets);
  pop_target target;
  pop_device *device = NULL;
  if (arguments.device) {
    device = example_open_device(arguments.device, arguments.target, 1);
    target = *pop_device_target(device);
  } else {
    example_check(pop_target_create(arguments.target, 1, &target));
  }
  printf("Multiplying matrix of size %zux%zu by vector of size %zu\n", arguments.rows,
         arguments.columns, arguments.columns);
  pop_engine *engine = matvec_compile(&arguments, &target, build);
  int status = matvec_run(engine, &arguments, device);
  matvec_report(engine, &target, &arguments);
  pop_engine_free(engine);
  pop_device_free(device);
  return example_end(status);
}

#endif
