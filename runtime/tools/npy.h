/* .npy files: an array of numbers with its type and shape, as NumPy saves and loads it.
 *
 *   "\x93NUMPY" major minor | header length (2 bytes; 4 from version 2 on) | header | elements
 *   header: {'descr': '<f4', 'fortran_order': False, 'shape': (300, 40), } blanks newline
 *
 * Format: NumPy's documentation, "numpy.lib.format", versions 1.0 to 3.0.
 */
#ifndef TOOLS_NPY_H
#define TOOLS_NPY_H

#include <populus/arena.h>
#include <populus/error.h>
#include <populus/types.h>

enum { NPY_MAX_RANK = 32 };

typedef struct npy_header {
  char descr[16]; /* "<f4" */
  bool fortran_order;
  size_t rank, shape[NPY_MAX_RANK];
  size_t data; /* where the elements begin in the file */
} npy_header;

/* Reads the header of a file that is in memory. Errors: FILE_LOAD. */
POP_MUST_CHECK pop_error *npy_read_header(const uint8_t *bytes, size_t size, npy_header *header);
/* NumPy's name of the type on this machine: "<f4", "|i1", … */
const char *npy_descr(pop_type type);
/* Is it a name for elements of the type? Those of one byte have several. */
bool npy_is_type(const char *descr, pop_type type);
/* Appends the header of version 1.0 for such an array. */
void npy_put_header(pop_type type, const size_t *shape, size_t rank, pop_bytes *out);

#endif
