/* Instructions that become one operation each: its name, attributes and regions. */
#include "models/hlo_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(h->m->arena, __VA_ARGS__)

char *hlo_type_text(const hlo_module *h, const hlo_type *t)
{
  if (t->token) return pop_arena_strdup(h->m->arena, "!stablehlo.token");
  char *all = pop_arena_strdup(h->m->arena, "tensor<");
  for (uint32_t d = 0; d < t->rank; ++d) all = PRINT("%s%" PRId64 "x", all, t->dims[d]);
  return PRINT("%s%s>", all, t->element);
}

/* ---- lists ---- */

/* "{1, 0}" becomes "[1, 0]"; NULL becomes "[]". */
static char *brackets(const hlo_module *h, const char *braces)
{
  char *copy = pop_arena_strdup(h->m->arena, braces ? braces : "{}");
  for (char *p = copy; *p; ++p) *p = *p == '{' ? '[' : *p == '}' ? ']' : *p;
  return copy;
}

/* A list of `count` numbers from text such as "3x3". Missing ones are `fallback`. */
static char *numbers_of(const hlo_module *h, const char *text, int64_t fallback, uint32_t count)
{
  char *all = pop_arena_strdup(h->m->arena, "[");
  for (uint32_t d = 0; d < count; ++d) {
    char *end = (char *)text;
    int64_t n = text && *text ? strtoll(text, &end, 10) : fallback;
    if (text) text = *end == 'x' ? end + 1 : end;
    all = PRINT("%s%s%" PRId64, all, d ? ", " : "", n);
  }
  return PRINT("%s]", all);
}

/* The value of a key in text such as "size=3x3 stride=2x2". NULL if it is not there. */
static const char *window_part(const hlo_module *h, const char *window, const char *key)
{
  size_t n = strlen(key);
  for (const char *at = window; at && (at = strstr(at, key)); at += n) {
    bool begins = at == window || at[-1] == '{' || at[-1] == ' ';
    if (!begins || at[n] != '=') continue;
    const char *end = at + n + 1;
    while (*end && *end != ' ' && *end != '}') end++;
    return PRINT("%.*s", (int)(end - at - (ptrdiff_t)n - 1), at + n + 1);
  }
  return NULL;
}

/* "1_2x0_1" as lists: low [1, 0], high [2, 1], pairs [[1, 2], [0, 1]]. `interior` has each third
 * number. */
typedef struct pad_lists {
  char *low, *high, *interior, *pairs;
} pad_lists;

static pad_lists read_padding(const hlo_module *h, const char *text, uint32_t count)
{
  pad_lists p = {PRINT("["), PRINT("["), PRINT("["), PRINT("[")};
  for (uint32_t d = 0; d < count; ++d) {
    int64_t n[3] = {0, 0, 0};
    for (int k = 0; k < 3 && text && *text && *text != 'x'; ++k) {
      char *end;
      n[k] = strtoll(text, &end, 10);
      text = *end == '_' ? end + 1 : end;
      if (end == text && *end != 'x' && *end) text = NULL;
    }
    if (text && *text == 'x') text++;
    const char *comma = d ? ", " : "";
    p.low = PRINT("%s%s%" PRId64, p.low, comma, n[0]);
    p.high = PRINT("%s%s%" PRId64, p.high, comma, n[1]);
    p.interior = PRINT("%s%s%" PRId64, p.interior, comma, n[2]);
    p.pairs = PRINT("%s%s[%" PRId64 ", %" PRId64 "]", p.pairs, comma, n[0], n[1]);
  }
  return (pad_lists){PRINT("%s]", p.low), PRINT("%s]", p.high), PRINT("%s]", p.interior),
                     PRINT("%s]", p.pairs)};
}

/* ---- attributes of a name and a value ---- */

typedef enum value_kind { LIST, FIRST, INT, BOOL, WORD } value_kind;

/* Attributes that have another name, or that must be there. An operation may have several rows. */
static const struct {
  const char *opcode, *key, *name;
  value_kind kind;
  const char *fallback;
} simple[] = {
    {"broadcast", "dimensions", "broadcast_dimensions", LIST, "{}"},
    {"transpose", "dimensions", "permutation", LIST, "{}"},
    {"reverse", "dimensions", "dimensions", LIST, NULL},
    {"concatenate", "dimensions", "dimension", FIRST, NULL},
    {"iota", "iota_dimension", "iota_dimension", INT, "0"},
    {"dynamic-slice", "dynamic_slice_sizes", "slice_sizes", LIST, "{}"},
    {"reduce", "dimensions", "dimensions", LIST, "{}"},
    {"map", "dimensions", "dimensions", LIST, "{}"},
    {"sort", "dimensions", "dimension", FIRST, "{0}"},
    {"sort", "is_stable", "is_stable", BOOL, "false"},
    {"get-dimension-size", "dimensions", "dimension", FIRST, "{0}"},
    {"compare", "direction", "comparison_direction", WORD, NULL},
    {"compare", "type", "compare_type", WORD, NULL},
    {"reduce-precision", "exponent_bits", "exponent_bits", INT, "8"},
    {"reduce-precision", "mantissa_bits", "mantissa_bits", INT, "23"},
    {"cholesky", "lower", "lower", BOOL, "false"},
    {"triangular-solve", "left_side", "left_side", BOOL, "false"},
    {"triangular-solve", "lower", "lower", BOOL, "false"},
    {"triangular-solve", "unit_diagonal", "unit_diagonal", BOOL, "false"},
    {"triangular-solve", "transpose_a", "transpose_a", WORD, "NO_TRANSPOSE"},
    {"fft", "fft_type", "fft_type", WORD, NULL},
    {"fft", "fft_length", "fft_length", LIST, "{}"},
    {"topk", "k", "k", INT, NULL},
    {"topk", "largest", "largest", BOOL, "true"},
    {"gather", "slice_sizes", "slice_sizes", LIST, "{}"},
    {"custom-call", "custom_call_target", "call_target_name", WORD, "\"\""},
    {"all-gather", "dimensions", "all_gather_dim", FIRST, "{0}"},
    {"reduce-scatter", "dimensions", "scatter_dimension", FIRST, "{0}"},
    {"all-to-all", "dimensions", "split_dimension", FIRST, "{0}"},
    {"all-to-all", "dimensions", "concat_dimension", FIRST, "{0}"},
    {"batch-norm-training", "feature_index", "feature_index", INT, "0"},
    {"batch-norm-inference", "feature_index", "feature_index", INT, "0"},
    {"batch-norm-grad", "feature_index", "feature_index", INT, "0"},
};

static char *join(const hlo_module *h, char *all, const char *one)
{
  return PRINT("%s%s%s", all, *all ? ", " : "", one);
}

static char *simple_attributes(const hlo_module *h, const hlo_instruction *i, char *all)
{
  for (size_t k = 0; k < sizeof simple / sizeof *simple; ++k) {
    if (strcmp(simple[k].opcode, i->opcode) != 0) continue;
    const char *value = hlo_attribute_value(i, simple[k].key), *text = NULL;
    if (!value) value = simple[k].fallback;
    if (!value) continue;
    if (simple[k].kind == LIST) {
      const char *list = brackets(h, value);
      text = PRINT("%s = %s", simple[k].name, list);
    } else if (simple[k].kind == FIRST) {
      text = PRINT("%s = %lld : i64", simple[k].name,
                   strtoll(value + strcspn(value, "0123456789"), NULL, 10));
    } else if (simple[k].kind == INT) {
      text = PRINT("%s = %s : i64", simple[k].name, value);
    } else if (simple[k].kind == WORD && *value != '"') {
      text = PRINT("%s = #stablehlo<word %s>", simple[k].name, value);
    } else {
      text = PRINT("%s = %s", simple[k].name, value);
    }
    all = join(h, all, text);
  }
  return all;
}

/* ---- attributes with a notation of their own ---- */

/* "name<key = [list], …>" with the keys that are there. */
static char *dictionary(const hlo_module *h, const hlo_instruction *i, const char *name,
                        const char *const keys[][2], size_t count)
{
  char *all = PRINT("%s", "");
  for (size_t k = 0; k < count; ++k) {
    const char *value = hlo_attribute_value(i, keys[k][0]);
    if (value && *value == '{')
      all = join(h, all, PRINT("%s = %s", keys[k][1], brackets(h, value)));
    else if (value)
      all = join(h, all, PRINT("%s = %s", keys[k][1], value));
  }
  return PRINT("%s<%s>", name, all);
}

static char *dot_attributes(const hlo_module *h, const hlo_instruction *i)
{
  static const char *const keys[][2] = {{"lhs_batch_dims", "lhs_batching_dimensions"},
                                        {"rhs_batch_dims", "rhs_batching_dimensions"},
                                        {"lhs_contracting_dims", "lhs_contracting_dimensions"},
                                        {"rhs_contracting_dims", "rhs_contracting_dimensions"}};
  return PRINT("dot_dimension_numbers = %s", dictionary(h, i, "#stablehlo.dot", keys, 4));
}

static char *gather_attributes(const hlo_module *h, const hlo_instruction *i)
{
  static const char *const keys[][2] = {
      {"offset_dims", "offset_dims"},
      {"collapsed_slice_dims", "collapsed_slice_dims"},
      {"start_index_map", "start_index_map"},
      {"operand_batching_dims", "operand_batching_dims"},
      {"start_indices_batching_dims", "start_indices_batching_dims"},
      {"index_vector_dim", "index_vector_dim"}};
  return PRINT("dimension_numbers = %s", dictionary(h, i, "#stablehlo.gather", keys, 6));
}

static char *scatter_attributes(const hlo_module *h, const hlo_instruction *i)
{
  static const char *const keys[][2] = {
      {"update_window_dims", "update_window_dims"},
      {"inserted_window_dims", "inserted_window_dims"},
      {"scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"},
      {"input_batching_dims", "input_batching_dims"},
      {"scatter_indices_batching_dims", "scatter_indices_batching_dims"},
      {"index_vector_dim", "index_vector_dim"}};
  return PRINT("scatter_dimension_numbers = %s", dictionary(h, i, "#stablehlo.scatter", keys, 6));
}

/* slice={[0:2:1], [1:5]} */
static char *slice_attributes(const hlo_module *h, const hlo_instruction *i)
{
  char *lists[3] = {PRINT("["), PRINT("["), PRINT("[")};
  const char *at = hlo_attribute_value(i, "slice");
  for (bool first = true; at && (at = strchr(at, '[')); first = false) {
    int64_t n[3] = {0, 0, 1};
    for (int k = 0; k < 3 && *at != ']' && *at; ++k) {
      char *end;
      n[k] = strtoll(at + 1, &end, 10);
      if (end == at + 1) break;
      at = end;
    }
    for (int k = 0; k < 3; ++k) lists[k] = PRINT("%s%s%" PRId64, lists[k], first ? "" : ", ", n[k]);
  }
  return PRINT("start_indices = %s], limit_indices = %s], strides = %s]", lists[0], lists[1],
               lists[2]);
}

/* A list of pairs as a tensor, even if it is empty. */
static char *rows_attribute(const hlo_module *h, const char *name, const char *pairs, uint32_t rows)
{
  return rows ? PRINT("%s = dense<%s> : tensor<%ux2xi64>", name, pairs, rows)
              : PRINT("%s = dense<> : tensor<0x2xi64>", name);
}

static char *window_attributes(const hlo_module *h, const hlo_instruction *i, uint32_t rank)
{
  const char *window = hlo_attribute_value(i, "window");
  const char *pairs = read_padding(h, window_part(h, window, "pad"), rank).pairs;
  return PRINT(
      "window_dimensions = %s, window_strides = %s, base_dilations = %s, window_dilations = %s, %s",
      numbers_of(h, window_part(h, window, "size"), 1, rank),
      numbers_of(h, window_part(h, window, "stride"), 1, rank),
      numbers_of(h, window_part(h, window, "lhs_dilate"), 1, rank),
      numbers_of(h, window_part(h, window, "rhs_dilate"), 1, rank),
      rows_attribute(h, "padding", pairs, rank));
}

/* b01f_01io->b01f */
static char *labels(const hlo_module *h, const char *text)
{
  char *all = PRINT("[");
  for (const char *p = text; *p; ++p) {
    if (*p == '_') {
      all = PRINT("%s]x[", all);
    } else if (p[0] == '-' && p[1] == '>') {
      all = PRINT("%s]->[", all);
      p++;
    } else {
      all = PRINT("%s%s%c", all, all[strlen(all) - 1] == '[' ? "" : ", ", *p);
    }
  }
  return PRINT("%s]", all);
}

static char *convolution_attributes(const hlo_module *h, const hlo_instruction *i, uint32_t rank)
{
  const char *window = hlo_attribute_value(i, "window"), *at = hlo_attribute_value(i, "dim_labels");
  const char *features = hlo_attribute_value(i, "feature_group_count");
  const char *batches = hlo_attribute_value(i, "batch_group_count");
  const char *reversal = numbers_of(h, window_part(h, window, "rhs_reversal"), 0, rank);
  char *flags = PRINT("array<i1");
  for (const char *p = reversal; *p; ++p)
    if (isdigit((unsigned char)*p))
      flags = PRINT("%s%s %s", flags, strchr(flags, ':') ? "," : ":", *p == '1' ? "true" : "false");
  return PRINT(
      "window_strides = %s, lhs_dilation = %s, rhs_dilation = %s, window_reversal = %s>, %s, "
      "dimension_numbers = #stablehlo.conv<%s>, feature_group_count = %s : i64, "
      "batch_group_count = %s : i64",
      numbers_of(h, window_part(h, window, "stride"), 1, rank),
      numbers_of(h, window_part(h, window, "lhs_dilate"), 1, rank),
      numbers_of(h, window_part(h, window, "rhs_dilate"), 1, rank), flags,
      rows_attribute(h, "padding", read_padding(h, window_part(h, window, "pad"), rank).pairs,
                     rank),
      labels(h, at ? at : ""), features ? features : "1", batches ? batches : "1");
}

static char *special_attributes(const hlo_module *h, const hlo_instruction *i)
{
  const char *o = i->opcode;
  uint32_t rank = i->num_operands ? hlo_leaf(&i->operands[0]->type, 0)->rank : 0;
  if (strcmp(o, "dot") == 0) return dot_attributes(h, i);
  if (strcmp(o, "gather") == 0) return gather_attributes(h, i);
  if (strcmp(o, "scatter") == 0) return scatter_attributes(h, i);
  if (strcmp(o, "slice") == 0) return slice_attributes(h, i);
  if (strcmp(o, "reduce-window") == 0 || strcmp(o, "select-and-scatter") == 0)
    return window_attributes(h, i, rank);
  if (strcmp(o, "convolution") == 0) return convolution_attributes(h, i, rank < 2 ? 0 : rank - 2);
  if (strcmp(o, "pad") == 0 && hlo_attribute_value(i, "padding")) {
    pad_lists p = read_padding(h, hlo_attribute_value(i, "padding"), rank);
    return PRINT("edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s", p.low,
                 p.high, p.interior);
  }
  if (strcmp(o, "rng-bit-generator") == 0) {
    const char *a = hlo_attribute_value(i, "algorithm");
    return PRINT("rng_algorithm = #stablehlo<rng_algorithm %s>",
                 a && strcmp(a, "rng_three_fry") == 0 ? "THREE_FRY"
                 : a && strcmp(a, "rng_philox") == 0  ? "PHILOX"
                                                      : "DEFAULT");
  }
  if (strcmp(o, "rng") == 0) {
    const char *d = hlo_attribute_value(i, "distribution");
    return PRINT("rng_distribution = #stablehlo<rng_distribution %s>",
                 d && strcmp(d, "rng_normal") == 0 ? "NORMAL" : "UNIFORM");
  }
  const char *e = hlo_attribute_value(i, "epsilon");
  if (strncmp(o, "batch-norm-", 11) == 0 && e)
    return PRINT("epsilon = %.17e : f32", strtod(e, NULL));
  return PRINT("%s", "");
}

/* ---- names ---- */

static const char *operation_name(const hlo_module *h, const char *opcode)
{
  static const char *const others[][2] = {{"broadcast", "broadcast_in_dim"},
                                          {"dot", "dot_general"},
                                          {"opt-barrier", "optimization_barrier"},
                                          {"topk", "top_k"},
                                          {"popcnt", "popcnt"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    if (strcmp(others[i][0], opcode) == 0) return PRINT("stablehlo.%s", others[i][1]);
  char *name = pop_arena_strdup(h->m->arena, opcode);
  for (char *p = name; *p; ++p)
    if (*p == '-') *p = '_';
  /* An unknown opcode keeps its name from the dump; the verifier reports it. */
  return op_find(name) == OP_COUNT ? PRINT("hlo.%s", opcode) : PRINT("stablehlo.%s", name);
}

pop_error *hlo_describe(const hlo_module *h, const hlo_instruction *i, hlo_operation *op)
{
  static const char *const keys[] = {"to_apply", "select", "scatter"};
  *op = (hlo_operation){.name = operation_name(h, i->opcode)};
  char *all = simple_attributes(h, i, special_attributes(h, i)), *groups = NULL;
  if (strcmp(i->opcode, "collective-permute") == 0)
    POP_TRY(hlo_groups(h, i, "source_target_pairs", &groups));
  else if (hlo_attribute_value(i, "replica_groups"))
    POP_TRY(hlo_groups(h, i, "replica_groups", &groups));
  if (groups) all = join(h, all, groups);
  op->attributes = *all ? PRINT(" {%s}", all) : "";
  for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k) {
    const char *name = hlo_attribute_value(i, keys[k]);
    if (!name || op->num_regions == 2) continue;
    op->regions[op->num_regions] = hlo_find_computation(h, name);
    if (!op->regions[op->num_regions++]) return hlo_error(h, i, "there is no computation %s", name);
  }
  return NULL;
}
