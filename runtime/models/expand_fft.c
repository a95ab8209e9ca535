/* Long Fourier transforms, in steps. What remains are short transforms, which are sums as in the
 * definition.
 *
 *   several dimensions    one after the other
 *   RFFT, IRFFT           a complex transform: half of its result is taken, or its input is
 *                         completed first
 *   length a * b          Cooley and Tukey: transform the rows of a b x a table, multiply by twiddle
 *                         factors, transform the columns; a + b products for each element instead
 *                         of a * b
 *
 * The result is expanded again: a length of 4,096 becomes sums of 8. The table is transposed
 * between the steps. */
#include "models/inline.h"

#include <inttypes.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

enum { SHORT = 48 }; /* longest length that is left as a sum */

/* The largest divisor that is not above the square root. */
static int64_t divisor_of(int64_t length)
{
  int64_t found = 1;
  for (int64_t d = 2; d * d <= length; ++d)
    if (length % d == 0) found = d;
  return found;
}

static const int64_t *lengths_of(const module *m, const operation *op, size_t *count)
{
  return op->num_operands == 1 && op->num_results == 1 && op->operands[0]->type &&
                 op->results[0]->type
             ? op_int_list(m, op, "fft_length", count)
             : NULL;
}

/* The operation is verified only later, so nothing about it may be assumed. */
bool fft_is_long(const module *m, const operation *op)
{
  size_t count;
  const int64_t *length = op->code == OP_FFT ? lengths_of(m, op, &count) : NULL;
  int64_t all = 1;
  if (!length || count == 0 || count > 3 || op->operands[0]->type->rank + 1 > MODEL_MAX_RANK)
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (length[i] < 1 || length[i] > INT32_MAX) return false;
    if (all <= SHORT) all *= length[i];
  }
  return all > SHORT && (count > 1 || divisor_of(length[0]) > 1);
}

/* The tensor that is transformed: its dimensions, and the number in its current name. */
typedef struct writer {
  module *m;
  const model_type *like;
  char *text;
  int64_t dims[MODEL_MAX_RANK];
  uint32_t rank;
  unsigned name;
} writer;

static char *own_type(writer *w, element_type element)
{
  return expand_type(w->m, w->like, w->dims, w->rank, element);
}

static char *complex_type(writer *w)
{
  return own_type(w, ELEMENT_C64);
}

static void exchange(writer *w, uint32_t a, uint32_t b)
{
  module *m = w->m;
  int64_t order[MODEL_MAX_RANK], size = w->dims[a];
  char *from = complex_type(w);
  for (uint32_t d = 0; d < w->rank; ++d) order[d] = d;
  order[a] = b;
  order[b] = a;
  w->dims[a] = w->dims[b];
  w->dims[b] = size;
  w->text = PRINT("%s%%v%u = stablehlo.transpose %%v%u, dims = %s : (%s) -> %s\n", w->text,
                  w->name + 1, w->name, expand_list(m, order, w->rank), from, complex_type(w));
  w->name++;
}

static void reshape(writer *w, const int64_t *dims, uint32_t rank)
{
  module *m = w->m;
  char *from = complex_type(w);
  memcpy(w->dims, dims, rank * sizeof *dims);
  w->rank = rank;
  w->text = PRINT("%s%%v%u = stablehlo.reshape %%v%u : (%s) -> %s\n", w->text, w->name + 1, w->name,
                  from, complex_type(w));
  w->name++;
}

/* Transforms the last dimension. */
static void transform(writer *w, bool inverse)
{
  module *m = w->m;
  char *type = complex_type(w);
  w->text = PRINT("%s%%v%u = stablehlo.fft %%v%u, type = %s, length = [%" PRId64 "] : (%s) -> %s\n",
                  w->text, w->name + 1, w->name, inverse ? "IFFT" : "FFT", w->dims[w->rank - 1],
                  type, type);
  w->name++;
}

/* Multiplies by exp(-2 pi i * row * column / (rows * columns)), or its conjugate. */
static void twiddle(writer *w, bool inverse)
{
  module *m = w->m;
  int64_t rows = w->dims[w->rank - 2], columns = w->dims[w->rank - 1];
  const char *type = complex_type(w);
  const char *i = PRINT("tensor<%" PRId64 "x%" PRId64 "xi32>", rows, columns);
  const char *f = PRINT("tensor<%" PRId64 "x%" PRId64 "xf32>", rows, columns);
  const char *c = PRINT("tensor<%" PRId64 "x%" PRId64 "xcomplex<f32>>", rows, columns);
  w->text = PRINT("%s%%row = stablehlo.iota dim = 0 : %s\n%%column = stablehlo.iota dim = 1 : %s\n"
                  "%%turns = stablehlo.multiply %%row, %%column : %s\n"
                  "%%turn = stablehlo.convert %%turns : (%s) -> %s\n"
                  "%%unit = stablehlo.constant dense<%.17e> : %s\n"
                  "%%angle = stablehlo.multiply %%turn, %%unit : %s\n",
                  w->text, i, i, i, i, f,
                  (inverse ? 1 : -1) * 6.283185307179586 / (double)(rows * columns), f, f);
  w->text = PRINT("%s%%cos = stablehlo.cosine %%angle : %s\n%%sin = stablehlo.sine %%angle : %s\n"
                  "%%factor = stablehlo.complex %%cos, %%sin : %s\n"
                  "%%factors = stablehlo.broadcast_in_dim %%factor, dims = [%u, %u] : (%s) -> %s\n"
                  "%%v%u = stablehlo.multiply %%v%u, %%factors : %s\n",
                  w->text, f, f, c, w->rank - 2, w->rank - 1, c, type, w->name + 1, w->name, type);
  w->name++;
}

/* Transforms the last dimension, of length a * b. Element row * b + column is first at [..., row,
 * column]; at the end that place has element column * a + row of the result. */
static void transform_in_steps(writer *w, bool inverse)
{
  uint32_t last = w->rank - 1;
  int64_t length = w->dims[last], a = divisor_of(length), dims[MODEL_MAX_RANK];
  memcpy(dims, w->dims, sizeof dims);
  dims[last] = a;
  dims[last + 1] = length / a;
  reshape(w, dims, last + 2);
  exchange(w, last, last + 1);
  transform(w, inverse);
  twiddle(w, inverse);
  exchange(w, last, last + 1);
  transform(w, inverse);
  exchange(w, last, last + 1);
  memcpy(dims, w->dims, sizeof dims);
  dims[last] = length;
  reshape(w, dims, last + 1);
}

/* Transforms dimension d. */
static void transform_along(writer *w, uint32_t d, bool inverse)
{
  uint32_t last = w->rank - 1;
  if (d != last) exchange(w, d, last);
  transform(w, inverse);
  if (d != last) exchange(w, d, last);
}

/* Keeps the first `half` elements of the last dimension. */
static void take_half(writer *w, int64_t half)
{
  module *m = w->m;
  char *from = complex_type(w), *ranges = PRINT("%s", "");
  w->dims[w->rank - 1] = half;
  for (uint32_t d = 0; d < w->rank; ++d)
    ranges = PRINT("%s%s0:%" PRId64, ranges, d ? ", " : "", w->dims[d]);
  w->text = PRINT("%s%%v%u = stablehlo.slice %%v%u [%s] : (%s) -> %s\n", w->text, w->name + 1,
                  w->name, ranges, from, complex_type(w));
  w->name++;
}

/* Appends the missing elements of the last dimension: conjugates of those from 1 on, in reverse. */
static void complete(writer *w, int64_t length)
{
  module *m = w->m;
  uint32_t last = w->rank - 1, own = w->name;
  int64_t half = w->dims[last], rest = length - half;
  char *from = complex_type(w), *ranges = PRINT("%s", "");
  if (rest == 0) return;
  for (uint32_t d = 0; d < last; ++d) ranges = PRINT("%s0:%" PRId64 ", ", ranges, w->dims[d]);
  w->dims[last] = rest;
  const char *part = complex_type(w), *real = own_type(w, ELEMENT_F32);
  w->text = PRINT(
      "%s%%behind = stablehlo.slice %%v%u [%s1:%" PRId64 "] : (%s) -> %s\n"
      "%%back = stablehlo.reverse %%behind, dims = [%u] : %s\n"
      "%%re = stablehlo.real %%back : (%s) -> %s\n%%im = stablehlo.imag %%back : (%s) -> %s\n"
      "%%minus = stablehlo.negate %%im : %s\n%%rest = stablehlo.complex %%re, %%minus : %s\n",
      w->text, own, ranges, rest + 1, from, part, last, part, part, real, part, real, real, part);
  w->dims[last] = length;
  w->text = PRINT("%s%%v%u = stablehlo.concatenate %%v%u, %%rest, dim = %u : (%s, %s) -> %s\n",
                  w->text, own + 1, own, last, from, part, complex_type(w));
  w->name++;
}

static void begin_with_real(writer *w)
{
  module *m = w->m;
  char *real = own_type(w, ELEMENT_F32);
  w->text = PRINT("%s%%none = stablehlo.constant dense<0.0> : %s\n"
                  "%%v%u = stablehlo.complex %%v%u, %%none : %s\n",
                  w->text, real, w->name + 1, w->name, complex_type(w));
  w->name++;
}

static void end_with_real(writer *w)
{
  module *m = w->m;
  char *from = complex_type(w);
  w->text = PRINT("%s%%v%u = stablehlo.real %%v%u : (%s) -> %s\n", w->text, w->name + 1, w->name,
                  from, own_type(w, ELEMENT_F32));
  w->name++;
}

/* The last dimension is transformed first, or last for an inverse. So it is completed when all its
 * lines are halves of conjugate-symmetric ones. */
static void write_steps(writer *w, const char *kind, const int64_t *length, size_t count)
{
  bool real_in = strcmp(kind, "RFFT") == 0, real_out = strcmp(kind, "IRFFT") == 0;
  bool inverse = kind[0] == 'I';
  uint32_t first = w->rank - (uint32_t)count, last = w->rank - 1;
  if (real_in) begin_with_real(w);
  for (uint32_t d = first; d < last && inverse; ++d) transform_along(w, d, inverse);
  if (real_out) complete(w, length[count - 1]);
  if (count == 1 && divisor_of(length[0]) > 1)
    transform_in_steps(w, inverse);
  else
    transform_along(w, last, inverse);
  if (real_in) take_half(w, length[count - 1] / 2 + 1);
  for (uint32_t d = first; d < last && !inverse; ++d) transform_along(w, d, inverse);
  if (real_out) end_with_real(w);
}

char *fft_expand(module *m, const operation *op)
{
  size_t count = 0;
  const int64_t *length = lengths_of(m, op, &count);
  if (!length) return NULL;
  const model_type *t = op->operands[0]->type;
  writer w = {.m = m, .like = t, .rank = t->rank};
  memcpy(w.dims, t->dims, t->rank * sizeof *t->dims);
  const char *y = type_text(m->arena, op->results[0]->type);
  w.text = PRINT("func.func private @f(%%v0: %s) -> %s {\n", type_text(m->arena, t), y);
  write_steps(&w, op_word(op, "fft_type"), length, count);
  return PRINT("%sreturn %%v%u : %s\n}\n", w.text, w.name, y);
}
