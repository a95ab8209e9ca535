/* A vertex whose run time is an argument: Count adds 1 to `n`, `rounds` times. */
#ifndef TESTS_COUNT_CODELET_H
#define TESTS_COUNT_CODELET_H

#define COUNT_CODELET                                                                              \
  "#include <populus/vertex.h>\n"                                                                  \
  "typedef struct { INOUT(int) n; unsigned rounds; } Count;\n"                                     \
  "COMPUTE(Count)\n"                                                                               \
  "{\n"                                                                                            \
  "  for (unsigned i = 0; i < vertex->rounds; ++i) *(volatile int *)vertex->n += 1;\n"             \
  "  return true;\n"                                                                               \
  "}\n"

#endif
