/* Headers of .npy files: a Python dictionary. Only the form that NumPy writes is read. */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, PREFIX_BYTES = 10, ALIGN_BYTES = 64, MAX_HEADER_BYTES = 1 << 16 };

static const char *const descrs[POP_TYPE_COUNT] = {
    [POP_BOOL] = "|b1",        [POP_CHAR] = "|i1",
    [POP_SIGNED_CHAR] = "|i1", [POP_UNSIGNED_CHAR] = "|u1",
    [POP_SHORT] = "<i2",       [POP_UNSIGNED_SHORT] = "<u2",
    [POP_INT] = "<i4",         [POP_UNSIGNED_INT] = "<u4",
    [POP_LONGLONG] = "<i8",    [POP_UNSIGNED_LONGLONG] = "<u8",
    [POP_HALF] = "<f2",        [POP_FLOAT] = "<f4",
    [POP_QUARTER] = "|u1", /* its code */
};

const char *npy_descr(pop_type type)
{
  return descrs[type];
}

bool npy_is_type(const char *descr, pop_type type)
{
  /* Byte order says nothing about one byte. */
  const char *wanted = descrs[type];
  if (strlen(descr) != strlen(wanted) || strcmp(descr + 1, wanted + 1) != 0) return false;
  return descr[0] == wanted[0] || descr[0] == '=' ||
         (pop_type_bytes(type) == 1 && strchr("<>|", descr[0]));
}

/* ---- reading ---- */

static pop_error *malformed(const char *what)
{
  return pop_error_new(POP_ERROR_FILE_LOAD, "the .npy header %s", what);
}

/* Where the value of the key begins; NULL if the key is not there. */
static const char *find_value(const char *dictionary, const char *key)
{
  const char *at = strstr(dictionary, key);
  if (!at) return NULL;
  at += strlen(key);
  at += strspn(at, " ");
  if (*at++ != ':') return NULL;
  return at + strspn(at, " ");
}

static pop_error *read_descr(const char *dictionary, npy_header *header)
{
  const char *at = find_value(dictionary, "'descr'");
  if (!at || *at != '\'') return malformed("has no simple 'descr'");
  size_t length = strcspn(++at, "'");
  if (!at[length] || length >= sizeof header->descr || length < 2)
    return malformed("has a 'descr' that is no name of a number type");
  memcpy(header->descr, at, length);
  header->descr[length] = '\0';
  return NULL;
}

static pop_error *read_order(const char *dictionary, npy_header *header)
{
  const char *at = find_value(dictionary, "'fortran_order'");
  header->fortran_order = at && strncmp(at, "True", 4) == 0;
  if (!header->fortran_order && (!at || strncmp(at, "False", 5) != 0))
    return malformed("does not say 'fortran_order': True or False");
  return NULL;
}

/* "(300, 40)", "(3,)", "()" */
static pop_error *read_shape(const char *dictionary, npy_header *header)
{
  const char *at = find_value(dictionary, "'shape'");
  if (!at || *at != '(') return malformed("has no 'shape'");
  ++at;
  for (at += strspn(at, " "); *at != ')'; at += strspn(at, ", ")) {
    if (*at < '0' || *at > '9' || header->rank == NPY_MAX_RANK)
      return malformed("has a 'shape' that is no list of sizes");
    char *end;
    header->shape[header->rank++] = strtoull(at, &end, 10);
    at = end;
  }
  return NULL;
}

static pop_error *read_dictionary(const char *dictionary, npy_header *header)
{
  POP_TRY(read_descr(dictionary, header));
  POP_TRY(read_order(dictionary, header));
  return read_shape(dictionary, header);
}

pop_error *npy_read_header(const uint8_t *bytes, size_t size, npy_header *header)
{
  *header = (npy_header){0};
  if (size < PREFIX_BYTES + 2 || memcmp(bytes, magic, MAGIC_BYTES) != 0)
    return pop_error_new(POP_ERROR_FILE_LOAD, "it does not begin as a .npy file does");
  unsigned version = bytes[MAGIC_BYTES];
  if (version < 1 || version > 3)
    return pop_error_new(POP_ERROR_FILE_LOAD, ".npy version %u: there are 1 to 3", version);
  size_t start = version == 1 ? PREFIX_BYTES : PREFIX_BYTES + 2, length = 0;
  for (size_t i = start; i-- > MAGIC_BYTES + 2;) length = length << 8 | bytes[i];
  if (length > MAX_HEADER_BYTES || length > size - start) return malformed("is truncated");
  char *dictionary = pop_xcalloc(length + 1, 1);
  memcpy(dictionary, bytes + start, length);
  pop_error *error = read_dictionary(dictionary, header);
  free(dictionary);
  header->data = start + length;
  return error;
}

/* ---- writing ---- */

void npy_put_header(pop_type type, const size_t *shape, size_t rank, pop_bytes *out)
{
  char *sizes = pop_xstrdup("");
  for (size_t i = 0; i < rank; ++i) {
    char *longer = pop_xasprintf("%s%zu%s", sizes, shape[i],
                                 rank == 1      ? ","
                                 : i + 1 < rank ? ", "
                                                : "");
    free(sizes);
    sizes = longer;
  }
  char *text = pop_xasprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                             npy_descr(type), sizes);
  size_t used = PREFIX_BYTES + strlen(text) + 1;
  size_t blanks = (ALIGN_BYTES - used % ALIGN_BYTES) % ALIGN_BYTES;
  size_t length = strlen(text) + blanks + 1;
  const uint8_t prefix[] = {1, 0, (uint8_t)length, (uint8_t)(length >> 8)};
  pop_bytes_append(out, magic, MAGIC_BYTES);
  pop_bytes_append(out, prefix, sizeof prefix);
  pop_bytes_append(out, text, strlen(text));
  for (size_t i = 0; i < blanks; ++i) pop_bytes_append(out, " ", 1);
  pop_bytes_append(out, "\n", 1);
  free(sizes);
  free(text);
}
