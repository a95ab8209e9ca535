/* What every example needs: stop with the library's own sentence when something failed. */
#ifndef EXAMPLES_EXAMPLE_H
#define EXAMPLES_EXAMPLE_H

#include <populus/populus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the compiled codelets are; the build of Populus says where it has them. */
#ifndef EXAMPLE_CODELET_DIR
#define EXAMPLE_CODELET_DIR "."
#endif

/* Ends the program with the error's message and exit status, if there is an error. */
static inline void example_check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  int status = pop_error_exit_status(error);
  pop_error_free(error);
  exit(status);
}

/* The same for the first error of a graph. pop_engine_create reports it too: this is for programs that
 * calculate with what the graph says (after an error its tensors have no elements). */
static inline void example_check_graph(const pop_graph *graph)
{
  const pop_error *error = pop_graph_error(graph);
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  exit(pop_error_exit_status(error));
}

/* A device by the name of its kind: "ipu" (the first software IPU that nobody else has), "ipumodel" (a model
 * of `version`, "ipu2" if NULL), both of `num_ipus`, or "cpu". Ends the program when there is none. */
static inline pop_device *example_open_device(const char *kind, const char *version,
                                              uint32_t num_ipus)
{
  pop_device *device = NULL;
  if (strcmp(kind, "cpu") == 0) return pop_device_create_cpu();
  if (strcmp(kind, "ipumodel") == 0) {
    pop_ipu_model model;
    example_check(pop_ipu_model_init(&model, version));
    model.num_ipus = num_ipus;
    example_check(pop_ipu_model_create_device(&model, &device));
  } else if (strcmp(kind, "ipu") == 0) {
    pop_device_manager *manager;
    example_check(pop_device_manager_create(&manager));
    example_check(pop_device_manager_acquire(manager, num_ipus, &device));
    pop_device_manager_free(manager);
  } else {
    fprintf(stderr, "error: there is no device '%s': it is one of ipu, ipumodel and cpu\n", kind);
    exit(2);
  }
  return device;
}

/* What example_device takes, for `usage`. */
#define EXAMPLE_DEVICE "[--device ipu|ipumodel|cpu]"

/* Takes `--device KIND` out of the arguments, if it is there: "ipu" otherwise. An IPU or model has `num_ipus`. */
static inline pop_device *example_device(int *argc, char **argv, uint32_t num_ipus)
{
  const char *kind = "ipu";
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    if (strcmp(argv[i], "--device") != 0)
      argv[kept++] = argv[i];
    else if (++i < *argc)
      kind = argv[i];
    else {
      fprintf(stderr, "error: --device takes ipu, ipumodel or cpu\n");
      exit(2);
    }
  }
  *argc = kept;
  argv[kept] = NULL;
  return example_open_device(kind, NULL, num_ipus);
}

/* What `main` returns: `status`, or 4 when what the program has printed could not be written, as to a full disk. */
static inline int example_end(int status)
{
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  fprintf(stderr, "error: standard output cannot be written\n");
  return 4;
}

/* --help prints how the program is called, and ends it. `usage`: its arguments. */
static inline void example_help(int argc, char **argv, const char *usage)
{
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
    printf("usage: %s %s\n", argv[0], usage);
    exit(example_end(0));
  }
}

/* Ends the program when there are more arguments than `most`, or one that looks like an option. */
static inline void example_check_arguments(int argc, char **argv, int most, const char *usage)
{
  int wrong = most + 1;
  for (int i = argc - 1; i > 0; --i)
    if (argv[i][0] == '-') wrong = i;
  if (wrong >= argc) return;
  fprintf(stderr, "error: '%s' is not an argument; usage: %s %s\n", argv[wrong], argv[0], usage);
  exit(2);
}

/* Like malloc, for host buffers; ends the program when there is no memory. */
static inline void *example_alloc(size_t count, size_t bytes)
{
  void *memory = calloc(count ? count : 1, bytes);
  if (!memory) {
    fprintf(stderr, "error: no memory for %zu host elements\n", count);
    exit(4);
  }
  return memory;
}

#endif
