/* The codelet compiler as a library: what the program `popc` calls, and what a graph calls when it
 * is given codelet source. */
#ifndef POPULUS_POPC_H
#define POPULUS_POPC_H

#include <populus/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source that is in memory. */
typedef struct popc_text {
  const char *name;     /* in messages and debug information; need not be that of a file */
  const char *language; /* as -x takes it: "c", "c++", … */
  const char *text;
  size_t size;
} popc_text;

typedef struct popc_options {
  size_t size;               /* sizeof(popc_options), for later extension */
  const char *const *inputs; /* paths of .c, .cpp, .cc, .cxx, .S, .s, .ll, .bc or .gp files */
  size_t num_inputs;
  const char *output;       /* path, or "-": standard output; NULL: to memory */
  const char *const *flags; /* popc command-line options (-O3, -DN=4, -I dir …), no inputs, no -o */
  size_t num_flags;
  int verbose;        /* show the commands on standard error */
  int diagnostics_fd; /* where clang's diagnostics go; -1: into the error's message */
  /* Further inputs. What they include in quotes is looked for in the current folder. */
  const popc_text *texts;
  size_t num_texts;
} popc_options;

/* Compiles. At least one input or text is needed. With output NULL, *bytes (malloc'ed, caller
 * frees) and *bytes_size receive the .gp; otherwise both may be NULL. If it succeeds and
 * diagnostics_fd is -1, warnings are dropped.
 *
 * Errors: CODELET_COMPILE when a codelet does not compile (with diagnostics_fd -1 the message holds
 * clang's diagnostics as clang writes them), or a vertex is defined twice; USAGE for a flag that
 * does not exist (with the nearest one) or asks for something else than a .gp, and for no input;
 * FILE_LOAD for inputs; SYSTEM when clang is missing or a limit was hit, the output folder does not
 * exist, the disk is full; INVALID_ARGUMENT for another options->size; MEMORY. Nothing is left at
 * `output` unless NULL is returned.
 *
 * Several threads may compile at the same time. */
POP_MUST_CHECK pop_error *popc_compile(const popc_options *options, uint8_t **bytes,
                                       size_t *bytes_size);

/* The program: returns its exit status. Prints. */
int popc_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
