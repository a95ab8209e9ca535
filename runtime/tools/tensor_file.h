/* Files of elements. A name that ends in .npy means a .npy file, any other the bare elements as
 * they are in tile memory; - means bare elements on standard input or output. */
#ifndef TOOLS_TENSOR_FILE_H
#define TOOLS_TENSOR_FILE_H

#include "npy.h"

/* The tensor that a file's elements are for. */
typedef struct tensor_use {
  const char *what, *name; /* "handle" or "stream", and its name */
  pop_type type;
  uint32_t rank;
  const size_t *shape;
  size_t bytes;
  uint32_t
      parts; /* if more than 1, the file may also have one part, an index of the first dimension */
  bool repeats; /* any number of such tensors is fine, in any shape; at least one */
} tensor_use;

/* Reads a file that fits; its elements are (*bytes)[*start] to the end of *size bytes. The caller
 * frees *bytes. Errors: FILE_LOAD with file, name, type and shape. */
POP_MUST_CHECK pop_error *tensor_file_read(const char *file, const tensor_use *use, uint8_t **bytes,
                                           size_t *start, size_t *size);
/* Writes `size` bytes: one tensor or, if it repeats, as many as there are, with one
 * more dimension. */
POP_MUST_CHECK pop_error *tensor_file_write(const char *file, const tensor_use *use,
                                            const void *data, size_t size);
/* "float[300,40]"; the caller frees. */
char *tensor_type_and_shape(pop_type type, const size_t *shape, size_t rank);

#endif
