/* Files of elements, checked against the tensors that they are for. */
#include "tensor_file.h"

#include <errno.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_npy(const char *file)
{
  size_t length = strlen(file);
  return length > 4 && strcmp(file + length - 4, ".npy") == 0;
}

static char *show_shape(const size_t *shape, size_t rank)
{
  char *text = pop_xstrdup("[");
  for (size_t i = 0; i < rank; ++i) {
    char *longer = pop_xasprintf("%s%s%zu", text, i ? "," : "", shape[i]);
    free(text);
    text = longer;
  }
  char *whole = pop_xasprintf("%s]", text);
  free(text);
  return whole;
}

char *tensor_type_and_shape(pop_type type, const size_t *shape, size_t rank)
{
  char *sizes = show_shape(shape, rank);
  char *text = pop_xasprintf("%s%s", pop_type_name(type), rank ? sizes : "");
  free(sizes);
  return text;
}

/* ---- reading ---- */

static bool has_shape(const npy_header *header, const tensor_use *use)
{
  if (use->repeats) return true;
  uint32_t first = use->parts > 1 && header->rank + 1 == use->rank;
  if (header->rank + first != use->rank) return false;
  for (size_t i = 0; i < header->rank; ++i)
    if (header->shape[i] != use->shape[first + i]) return false;
  return true;
}

/* "float[4,300]", and ", or float[300] for each of 4 replicas"; the caller frees. */
static char *show_wanted(const tensor_use *use)
{
  char *whole = tensor_type_and_shape(use->type, use->shape, use->rank);
  if (use->parts < 2) return whole;
  char *part = tensor_type_and_shape(use->type, use->shape + 1, use->rank - 1);
  char *both = pop_xasprintf("%s, or %s for each of %u replicas", whole, part, use->parts);
  free(whole);
  free(part);
  return both;
}

/* How to make it fit, in NumPy's words; "" if only the shape differs. */
static const char *conversion_hint(const npy_header *header, pop_type type)
{
  const char *wanted = npy_descr(type);
  if (npy_is_type(header->descr, type)) return "";
  if (header->descr[0] == '>' && strcmp(header->descr + 1, wanted + 1) == 0)
    return "; its bytes are in the other order, array.astype turns them";
  /* Types that tiles do not have are kept as their bits: f64 as <u8, bf16 as <u2. */
  if (wanted[1] == 'u' && strchr("fcV", header->descr[1]) &&
      strcmp(header->descr + 2, wanted + 2) == 0)
    return "; for such numbers by their bits, array.view has the same bytes in that type";
  return "; array.astype converts it";
}

static pop_error *check_header(const npy_header *header, const tensor_use *use)
{
  bool one_dimension = header->rank < 2; /* either order is the same */
  if (header->fortran_order && !one_dimension)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "its elements are in Fortran order: save numpy.ascontiguousarray of it");
  if (npy_is_type(header->descr, use->type) && has_shape(header, use)) return NULL;
  char *shape = show_shape(header->shape, header->rank);
  char *wanted = show_wanted(use);
  pop_error *error = pop_error_new(
      POP_ERROR_FILE_LOAD, "it has elements '%s' and shape %s, but %s '%s' is %s, which is '%s'%s",
      header->descr, shape, use->what, use->name, wanted, npy_descr(use->type),
      conversion_hint(header, use->type));
  free(shape);
  free(wanted);
  return error;
}

static pop_error *check_size(size_t bytes, const tensor_use *use)
{
  bool many = use->repeats && use->bytes; /* copies of nothing are nothing */
  if (many ? bytes && bytes % use->bytes == 0 : bytes == use->bytes) return NULL;
  if (use->parts > 1 && bytes == use->bytes / use->parts) return NULL;
  char *wanted = show_wanted(use);
  pop_error *error =
      pop_error_new(POP_ERROR_FILE_LOAD, "it has %zu bytes of elements, but %s '%s' is %s: %s%zu",
                    bytes, use->what, use->name, wanted, many ? "a multiple of " : "", use->bytes);
  free(wanted);
  return error;
}

static pop_error *find_elements(const char *file, const tensor_use *use, const uint8_t *bytes,
                                size_t size, size_t *start)
{
  *start = 0;
  if (is_npy(file)) {
    npy_header header;
    POP_TRY(npy_read_header(bytes, size, &header));
    POP_TRY(check_header(&header, use));
    *start = header.data;
  }
  return check_size(size - *start, use);
}

static bool is_standard(const char *file)
{
  return strcmp(file, "-") == 0;
}

/* Reads to the end, but at most one byte more than the wanted size, if there is one. */
static pop_error *read_standard_input(const tensor_use *use, uint8_t **bytes, size_t *size)
{
  enum { STEP = 1 << 16 };
  pop_bytes read = {0};
  size_t got = 1;
  while (got && (use->repeats || read.size <= use->bytes)) {
    if (!pop_bytes_try_reserve(&read, STEP)) {
      pop_bytes_free(&read);
      return pop_error_new(POP_ERROR_MEMORY, "no memory for what standard input brings");
    }
    got = fread(read.data + read.size, 1, STEP, stdin);
    read.size += got;
  }
  if (ferror(stdin)) {
    pop_bytes_free(&read);
    return pop_error_errno(errno, "cannot read standard input");
  }
  *bytes = read.data;
  *size = read.size;
  return NULL;
}

pop_error *tensor_file_read(const char *file, const tensor_use *use, uint8_t **bytes, size_t *start,
                            size_t *size)
{
  POP_TRY(is_standard(file) ? read_standard_input(use, bytes, size)
                            : pop_file_read(file, SIZE_MAX, bytes, size));
  pop_error *error = find_elements(file, use, *bytes, *size, start);
  if (error) free(*bytes);
  return pop_error_prefix(error, "'%s'", file);
}

/* ---- writing ---- */

static void put_header(const tensor_use *use, size_t size, pop_bytes *header)
{
  size_t *shape = pop_xcalloc(use->rank + 1, sizeof *shape);
  size_t more = use->repeats ? 1 : 0;
  if (more && use->bytes) shape[0] = size / use->bytes;
  for (size_t i = 0; i < use->rank; ++i) shape[more + i] = use->shape[i];
  npy_put_header(use->type, shape, more + use->rank, header);
  free(shape);
}

pop_error *tensor_file_write(const char *file, const tensor_use *use, const void *data, size_t size)
{
  pop_output *output;
  pop_bytes header = {0};
  POP_TRY(pop_output_open(is_standard(file) ? "/dev/stdout" : file, &output));
  if (is_npy(file)) put_header(use, size, &header);
  pop_error *error = pop_output_write(output, header.data, header.size);
  if (!error) error = pop_output_write(output, data, size);
  pop_bytes_free(&header);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}
