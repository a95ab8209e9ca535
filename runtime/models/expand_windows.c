/* reduce_window with long, overlapping windows (cumulative sums, moving averages). Calculated
 * directly, each result takes as many steps as its window has elements: a cumulative sum of 8 x
 * 8,192 floats took 7.9 million cycles.
 *
 * If the body is one associative and commutative operation, windows can be doubled: those of 2, 4,
 * 8, … elements are made of two half as long, and the wanted window of some of these. That takes at
 * most two operations on all elements for each bit of the window's length. */
#include "models/inline.h"

#include <inttypes.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(m->arena, __VA_ARGS__)

enum { LONG = 32 }; /* least length that is expanded */

typedef struct long_window {
  uint32_t rank, dimension;
  int64_t length;
  const int64_t *padding;
  const operation *by;
} long_window;

static bool is_in_any_order(op_code code)
{
  return code == OP_ADD || code == OP_MULTIPLY || code == OP_MAXIMUM || code == OP_MINIMUM ||
         code == OP_AND || code == OP_OR;
}

/* The body's only operation, on both arguments. NULL if there is more. */
static const operation *only_operation(const block *body)
{
  if (body->num_arguments != 2 || !body->last || body->last->num_operands != 1) return NULL;
  const operation *by = body->last->operands[0]->op;
  if (!by || by != body->first || by->num_operands != 2 || !is_in_any_order(by->code)) return NULL;
  const value *a = body->arguments[0], *b = body->arguments[1];
  bool both = (by->operands[0] == a && by->operands[1] == b) ||
              (by->operands[0] == b && by->operands[1] == a);
  return both ? by : NULL;
}

static bool are_all(const int64_t *values, size_t count, int64_t wanted)
{
  for (size_t i = 0; values && i < count; ++i)
    if (values[i] != wanted) return false;
  return values;
}

static uint32_t bits_of(int64_t length)
{
  uint32_t bits = 0;
  while (length >> bits) ++bits;
  return bits;
}

/* The operation is verified only later, so nothing about it may be assumed. */
static bool find_long_window(const module *m, const operation *op, long_window *w)
{
  if (op->num_operands != 2 || op->num_results != 1 || op->num_regions != 1) return false;
  const model_type *t = op->operands[0]->type, *to = op->results[0]->type;
  if (!t || !to || t->rank != to->rank || t->rank > MODEL_MAX_RANK || t->element != to->element)
    return false;
  *w = (long_window){.rank = t->rank, .by = only_operation(&op->regions[0])};
  const int64_t *window = op_ints(m, op, "window_dimensions", w->rank, 1);
  w->padding = op_ints(m, op, "padding", 2 * (size_t)w->rank, 0);
  if (!w->by || !window || !w->padding ||
      !are_all(op_ints(m, op, "window_strides", w->rank, 1), w->rank, 1) ||
      !are_all(op_ints(m, op, "base_dilations", w->rank, 1), w->rank, 1) ||
      !are_all(op_ints(m, op, "window_dilations", w->rank, 1), w->rank, 1))
    return false;
  for (uint32_t d = 0; d < w->rank; ++d) {
    if (window[d] > 1 && w->length) return false;
    if (window[d] > 1) {
      w->dimension = d;
      w->length = window[d];
    }
  }
  for (uint32_t i = 0; i < 2 * w->rank; ++i)
    if (w->padding[i] < 0 || w->padding[i] > INT32_MAX) return false;
  int64_t from =
      t->dims[w->dimension] + w->padding[2 * w->dimension] + w->padding[2 * w->dimension + 1];
  int64_t results = to->dims[w->dimension];
  if (w->length < LONG || w->length > INT32_MAX || results > INT32_MAX || from > INT32_MAX)
    return false;
  return w->length * results > 8 * (int64_t)bits_of(w->length) * from;
}

bool windows_are_long(const module *m, const operation *op)
{
  long_window w;
  return op->code == OP_REDUCE_WINDOW && find_long_window(m, op, &w);
}

typedef struct writer {
  module *m;
  const long_window *w;
  const model_type *like;       /* with padding */
  int64_t dims[MODEL_MAX_RANK]; /* of the whole, with padding */
  char *text;
} writer;

/* The type with this many elements in the window's dimension. */
static char *type_of_length(writer *o, int64_t length)
{
  int64_t dims[MODEL_MAX_RANK];
  memcpy(dims, o->dims, sizeof dims);
  dims[o->w->dimension] = length;
  return expand_type(o->m, o->like, dims, o->w->rank, o->like->element);
}

/* Defines %to as `length` elements of %of from `begin` on. %of has `from` elements. */
static void put_slice(writer *o, const char *to, const char *of, int64_t from, int64_t begin,
                      int64_t length)
{
  module *m = o->m;
  char *ranges = PRINT("%s", "");
  for (uint32_t d = 0; d < o->w->rank; ++d) {
    bool cut = d == o->w->dimension;
    ranges = PRINT("%s%s%" PRId64 ":%" PRId64, ranges, d ? ", " : "", cut ? begin : 0,
                   cut ? begin + length : o->dims[d]);
  }
  o->text = PRINT("%s%s = stablehlo.slice %s [%s] : (%s) -> %s\n", o->text, to, of, ranges,
                  type_of_length(o, from), type_of_length(o, length));
}

/* Defines %to as `length` windows: each of %a joined with the one of %b that begins `apart`
 * elements further on. */
static void put_both(writer *o, const char *to, const char *a, int64_t from_a, const char *b,
                     int64_t from_b, int64_t apart, int64_t length)
{
  module *m = o->m;
  char *first = PRINT("%s_a", to), *second = PRINT("%s_b", to);
  put_slice(o, first, a, from_a, 0, length);
  put_slice(o, second, b, from_b, apart, length);
  o->text = PRINT("%s%s = %s %s, %s : %s\n", o->text, to, o->w->by->name, first, second,
                  type_of_length(o, length));
}

/* Builds windows of the wanted length and returns their name. `doubled` has windows of 1 << bit
 * elements; `all` those of the lower bits of the length. */
static char *put_windows(writer *o, int64_t padded)
{
  module *m = o->m;
  char *doubled = "%p", *all = NULL;
  int64_t num_doubled = padded, num_all = 0, length = 0;
  for (uint32_t bit = 0; o->w->length >> bit; ++bit) {
    int64_t own = (int64_t)1 << bit;
    if (o->w->length & own) {
      char *more = PRINT("%%w%u", bit);
      if (all)
        put_both(o, more, all, num_all, doubled, num_doubled, length, padded - length - own + 1);
      all = all ? more : doubled;
      length += own;
      num_all = padded - length + 1;
    }
    if (!(o->w->length >> bit >> 1)) break;
    char *next = PRINT("%%d%u", bit);
    put_both(o, next, doubled, num_doubled, doubled, num_doubled, own, num_doubled - own);
    doubled = next;
    num_doubled -= own;
  }
  return all;
}

/* Padding has the initial value. Each window is then combined with the initial value once more, as
 * the operation requires. */
char *windows_expand(module *m, const operation *op)
{
  long_window w;
  if (!find_long_window(m, op, &w)) return NULL;
  const model_type *t = op->operands[0]->type;
  writer o = {.m = m, .w = &w, .like = t};
  int64_t low[MODEL_MAX_RANK], high[MODEL_MAX_RANK], none[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < w.rank; ++d) {
    low[d] = w.padding[2 * d];
    high[d] = w.padding[2 * d + 1];
    o.dims[d] = low[d] + t->dims[d] + high[d];
  }
  int64_t padded = o.dims[w.dimension];
  const char *x = type_text(m->arena, t), *z = type_text(m->arena, op->operands[1]->type);
  const char *y = type_text(m->arena, op->results[0]->type);
  o.text =
      PRINT("func.func private @f(%%x: %s, %%z: %s) -> %s {\n"
            "%%p = stablehlo.pad %%x, %%z, low = %s, high = %s, interior = %s : (%s, %s) -> %s\n",
            x, z, y, expand_list(m, low, w.rank), expand_list(m, high, w.rank),
            expand_list(m, none, w.rank), x, z, type_of_length(&o, padded));
  char *all = put_windows(&o, padded);
  return PRINT("%s%%i = stablehlo.broadcast_in_dim %%z, dims = [] : (%s) -> %s\n"
               "%%y = %s %%i, %s : %s\nreturn %%y : %s\n}\n",
               o.text, z, y, w.by->name, all, y, y);
}
