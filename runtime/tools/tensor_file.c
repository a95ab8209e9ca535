/* Files of elements, checked against what they are for. */
#include "tensor_file.h"

#include <populus/file.h>
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
  if (header->rank != use->rank) return false;
  for (size_t i = 0; i < header->rank; ++i)
    if (header->shape[i] != use->shape[i]) return false;
  return true;
}

static pop_error *check_header(const npy_header *header, const tensor_use *use)
{
  if (header->fortran_order)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "its elements are in Fortran order: save numpy.ascontiguousarray of it");
  if (npy_is_type(header->descr, use->type) && has_shape(header, use)) return NULL;
  char *shape = show_shape(header->shape, header->rank);
  char *wanted = tensor_type_and_shape(use->type, use->shape, use->rank);
  pop_error *error = pop_error_new(
      POP_ERROR_FILE_LOAD, "it has elements '%s' and shape %s, but %s '%s' is %s, which is '%s'",
      header->descr, shape, use->what, use->name, wanted, npy_descr(use->type));
  free(shape);
  free(wanted);
  return error;
}

static pop_error *check_size(size_t bytes, const tensor_use *use)
{
  if (use->repeats ? bytes && bytes % use->bytes == 0 : bytes == use->bytes) return NULL;
  char *wanted = tensor_type_and_shape(use->type, use->shape, use->rank);
  pop_error *error = pop_error_new(
      POP_ERROR_FILE_LOAD, "it has %zu bytes of elements, but %s '%s' is %s: %s%zu", bytes,
      use->what, use->name, wanted, use->repeats ? "a multiple of " : "", use->bytes);
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

pop_error *tensor_file_read(const char *file, const tensor_use *use, uint8_t **bytes, size_t *start,
                            size_t *size)
{
  POP_TRY(pop_file_read(file, SIZE_MAX, bytes, size));
  pop_error *error = find_elements(file, use, *bytes, *size, start);
  if (error) free(*bytes);
  return pop_error_prefix(error, "'%s'", file);
}

/* ---- writing ---- */

static void put_header(const tensor_use *use, size_t size, pop_bytes *header)
{
  size_t *shape = pop_xcalloc(use->rank + 1, sizeof *shape);
  size_t more = use->repeats ? 1 : 0;
  if (more) shape[0] = size / use->bytes;
  for (size_t i = 0; i < use->rank; ++i) shape[more + i] = use->shape[i];
  npy_put_header(use->type, shape, more + use->rank, header);
  free(shape);
}

pop_error *tensor_file_write(const char *file, const tensor_use *use, const void *data, size_t size)
{
  pop_output *output;
  pop_bytes header = {0};
  POP_TRY(pop_output_open(file, &output));
  if (is_npy(file)) put_header(use, size, &header);
  pop_error *error = pop_output_write(output, header.data, header.size);
  if (!error) error = pop_output_write(output, data, size);
  pop_bytes_free(&header);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}
