/* How many tiles a module is worth. That follows from its largest value, in elements, and from the
 * largest number of multiplications and additions of an operation. With more tiles, each has less
 * work and there is more exchange. Below a certain amount for each tile, exchange takes most of the
 * time. */
#include "models/worth.h"

enum { ELEMENTS_OF_A_TILE = 1024, MULTIPLY_ADDS_OF_A_TILE = 8192 };

/* Multiply-adds for each element of a product. */
static double terms_of_product(const module *m, const operation *op)
{
  const model_type *a = op->operands[0]->type;
  if (op->code == OP_DOT) return a->rank ? (double)a->dims[a->rank - 1] : 1;
  size_t count;
  const attribute *numbers = op_attribute(op, "dot_dimension_numbers");
  const int64_t *contracting = dict_int_list(m, numbers, "lhs_contracting_dimensions", &count);
  double terms = 1;
  for (size_t i = 0; i < count; ++i) terms *= (double)a->dims[contracting[i]];
  return terms;
}

static double terms_of_convolution(const module *m, const operation *op)
{
  enum { OUTPUT_FEATURES = -2 };
  const model_type *kernel = op->operands[1]->type;
  size_t rank;
  const int64_t *roles = dict_int_list(m, op_attribute(op, "dimension_numbers"), "kernel", &rank);
  double terms = 1;
  for (size_t d = 0; d < rank; ++d)
    if (roles[d] != OUTPUT_FEATURES) terms *= (double)kernel->dims[d];
  return terms;
}

static double terms_of_window(const module *m, const operation *op)
{
  uint32_t rank = op->operands[0]->type->rank;
  const int64_t *window = op_ints(m, op, "window_dimensions", rank, 1);
  double terms = 1;
  for (uint32_t d = 0; d < rank; ++d) terms *= (double)window[d];
  return terms;
}

/* A complex product counts as four real ones. */
static double terms_of_transform(const module *m, const operation *op)
{
  size_t count;
  const int64_t *length = op_int_list(m, op, "fft_length", &count);
  double terms = 4;
  for (size_t i = 0; i < count; ++i) terms *= (double)length[i];
  return terms;
}

static double terms_of(const module *m, const operation *op)
{
  switch (op->code) {
  case OP_DOT:
  case OP_DOT_GENERAL:
    return terms_of_product(m, op);
  case OP_CONVOLUTION:
    return terms_of_convolution(m, op);
  case OP_FFT:
    return terms_of_transform(m, op);
  case OP_REDUCE_WINDOW:
    return terms_of_window(m, op);
  default:
    return 0;
  }
}

static double elements_of(const value *v)
{
  uint64_t elements = v->type->kind == TYPE_TENSOR ? type_elements(v->type) : 0;
  return elements == UINT64_MAX ? 0 : (double)elements;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

/* Arguments count, too: a reduction may have small results only. */
static double tiles_of(const module *m, const block *b)
{
  double tiles = 0;
  for (size_t i = 0; i < b->num_arguments; ++i)
    tiles = larger(tiles, elements_of(b->arguments[i]) / ELEMENTS_OF_A_TILE);
  for (const operation *op = b->first; op; op = op->next) {
    double terms = terms_of(m, op);
    for (size_t i = 0; i < op->num_results; ++i) {
      double elements = elements_of(op->results[i]);
      tiles = larger(tiles, elements / ELEMENTS_OF_A_TILE);
      tiles = larger(tiles, elements * terms / MULTIPLY_ADDS_OF_A_TILE);
    }
    for (size_t i = 0; i < op->num_regions; ++i)
      tiles = larger(tiles, tiles_of(m, &op->regions[i]));
  }
  return tiles;
}

uint64_t tiles_worth_using(const module *m, const function *f)
{
  double tiles = tiles_of(m, &f->body);
  return tiles < 1 ? 1 : tiles < UINT32_MAX ? (uint64_t)tiles : UINT32_MAX;
}
