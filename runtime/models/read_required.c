/* Checks that an operation has its required attributes. Without one, or with a misspelt name, it
 * would silently do something else: a reverse of no dimensions, a solve with the other triangle.
 *
 * The attributes in plain braces may have any names, because frameworks add some. Those between <{
 * and }> must be the operation's own. */
#include "models/reader.h"

#include <string.h>

typedef enum wanted {
  WANTED_FLAG,
  WANTED_INT,
  WANTED_NUMBER,
  WANTED_LIST,
  WANTED_WORD,
  WANTED_DICT
} wanted;

static const char *const wanted_words[] = {
    "true or false", "an integer", "a number", "a list", "an enumerator", "attributes with names"};

typedef struct requirement {
  op_code code;
  const char *name;
  wanted how;
  bool optional;
} requirement;

/* Attributes that the verifier (verify.h) would not miss, or that expand.c needs before it. */
static const requirement requirements[] = {
    {OP_ALL_GATHER, "all_gather_dim", WANTED_INT, false},
    {OP_ALL_TO_ALL, "concat_dimension", WANTED_INT, false},
    {OP_ALL_TO_ALL, "split_dimension", WANTED_INT, false},
    {OP_BATCH_NORM_GRAD, "epsilon", WANTED_NUMBER, false},
    {OP_BATCH_NORM_GRAD, "feature_index", WANTED_INT, false},
    {OP_BATCH_NORM_INFERENCE, "epsilon", WANTED_NUMBER, false},
    {OP_BATCH_NORM_INFERENCE, "feature_index", WANTED_INT, false},
    {OP_BATCH_NORM_TRAINING, "epsilon", WANTED_NUMBER, false},
    {OP_BATCH_NORM_TRAINING, "feature_index", WANTED_INT, false},
    {OP_CHOLESKY, "lower", WANTED_FLAG, true},
    {OP_CONVOLUTION, "dimension_numbers", WANTED_DICT, false},
    {OP_DOT_GENERAL, "dot_dimension_numbers", WANTED_DICT, false},
    {OP_MAP, "dimensions", WANTED_LIST, false},
    {OP_PAD, "edge_padding_high", WANTED_LIST, false},
    {OP_PAD, "edge_padding_low", WANTED_LIST, false},
    {OP_PAD, "interior_padding", WANTED_LIST, false},
    {OP_REDUCE, "dimensions", WANTED_LIST, false},
    {OP_REDUCE_SCATTER, "scatter_dimension", WANTED_INT, false},
    {OP_REVERSE, "dimensions", WANTED_LIST, false},
    {OP_SLICE, "limit_indices", WANTED_LIST, false},
    {OP_SLICE, "start_indices", WANTED_LIST, false},
    {OP_SLICE, "strides", WANTED_LIST, false},
    {OP_SORT, "dimension", WANTED_INT, true},
    {OP_TRIANGULAR_SOLVE, "left_side", WANTED_FLAG, false},
    {OP_TRIANGULAR_SOLVE, "lower", WANTED_FLAG, false},
    {OP_TRIANGULAR_SOLVE, "transpose_a", WANTED_WORD, false},
    {OP_TRIANGULAR_SOLVE, "unit_diagonal", WANTED_FLAG, false},
};

static bool is_wanted(const attribute *a, wanted how)
{
  switch (how) {
  case WANTED_FLAG:
    return a->kind == ATTRIBUTE_BOOL || a->kind == ATTRIBUTE_UNIT;
  case WANTED_INT:
    return a->kind == ATTRIBUTE_INT;
  case WANTED_NUMBER:
    return a->kind == ATTRIBUTE_FLOAT || a->kind == ATTRIBUTE_INT;
  case WANTED_LIST:
    return a->kind == ATTRIBUTE_ARRAY || a->kind == ATTRIBUTE_DENSE;
  case WANTED_WORD:
    return a->kind == ATTRIBUTE_WORD || a->kind == ATTRIBUTE_STRING;
  case WANTED_DICT:
    return a->kind == ATTRIBUTE_DICT;
  }
  return false;
}

bool read_check_required(reader *r, const operation *op)
{
  for (size_t i = 0; i < sizeof requirements / sizeof *requirements; ++i) {
    const requirement *q = &requirements[i];
    if (q->code != op->code) continue;
    const attribute *a = op_attribute(op, q->name);
    if (!a && !q->optional)
      return reader_fail_at(r, op->offset, "%s has no '%s': %s is expected", op->name, q->name,
                            wanted_words[q->how]);
    if (a && !is_wanted(a, q->how))
      return reader_fail_at(r, op->offset, "%s: '%s' is to be %s", op->name, q->name,
                            wanted_words[q->how]);
  }
  return true;
}

/* ---- names ---- */

/* The properties of all operations together. A name that no operation has is misspelt. */
static const char *const properties[] = {"algorithm",
                                         "all_gather_dim",
                                         "api_version",
                                         "backend_config",
                                         "base_dilations",
                                         "batch_dims",
                                         "batch_group_count",
                                         "broadcast_dimensions",
                                         "broadcast_sizes",
                                         "call_target_name",
                                         "called_computations",
                                         "channel_handle",
                                         "channel_id",
                                         "compare_type",
                                         "comparison_direction",
                                         "composite_attributes",
                                         "concat_dimension",
                                         "custom_call_schedule",
                                         "decomposition",
                                         "dim",
                                         "dimension",
                                         "dimension_numbers",
                                         "dimensions",
                                         "dot_dimension_numbers",
                                         "edge_padding_high",
                                         "edge_padding_low",
                                         "einsum_config",
                                         "epsilon",
                                         "exponent_bits",
                                         "feature_group_count",
                                         "feature_index",
                                         "fft_length",
                                         "fft_type",
                                         "has_dynamic_root",
                                         "has_side_effect",
                                         "index",
                                         "indices_are_sorted",
                                         "infeed_config",
                                         "interior_padding",
                                         "iota_dimension",
                                         "is_host_transfer",
                                         "is_stable",
                                         "k",
                                         "known_expanding_dimensions",
                                         "known_nonexpanding_dimensions",
                                         "largest",
                                         "layout",
                                         "left_side",
                                         "lhs_dilation",
                                         "limit_indices",
                                         "lower",
                                         "mantissa_bits",
                                         "name",
                                         "operand_layouts",
                                         "outfeed_config",
                                         "output_operand_aliases",
                                         "padding",
                                         "permutation",
                                         "precision_config",
                                         "replica_groups",
                                         "result_accuracy",
                                         "result_layouts",
                                         "rhs_dilation",
                                         "rng_algorithm",
                                         "rng_distribution",
                                         "scatter_dimension",
                                         "scatter_dimension_numbers",
                                         "slice_sizes",
                                         "source_target_pairs",
                                         "split_count",
                                         "split_dimension",
                                         "start_indices",
                                         "strides",
                                         "transpose_a",
                                         "unique_indices",
                                         "unit_diagonal",
                                         "use_global_device_ids",
                                         "value",
                                         "version",
                                         "window_dilations",
                                         "window_dimensions",
                                         "window_reversal",
                                         "window_strides"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Names of other dialects contain a dot. */
static bool is_property(const char *name)
{
  return strchr(name, '.') || is_one_of(name, properties, sizeof properties / sizeof *properties);
}

bool read_check_properties(reader *r, const operation *op)
{
  if (strncmp(op->name, "stablehlo.", 10) != 0) return true;
  for (size_t i = 0; i < op->num_attributes; ++i)
    if (!is_property(op->attributes[i].name))
      return reader_fail_at(r, op->attributes[i].offset, "%s has no property '%s'", op->name,
                            op->attributes[i].name);
  return true;
}

/* The fields in dimension numbers of dot_general, gather and scatter. */
static const char *const dimension_numbers[] = {"collapsed_slice_dims",
                                                "index_vector_dim",
                                                "input_batching_dims",
                                                "inserted_window_dims",
                                                "lhs_batching_dimensions",
                                                "lhs_contracting_dimensions",
                                                "offset_dims",
                                                "operand_batching_dims",
                                                "rhs_batching_dimensions",
                                                "rhs_contracting_dimensions",
                                                "scatter_dims_to_operand_dims",
                                                "scatter_indices_batching_dims",
                                                "start_index_map",
                                                "start_indices_batching_dims",
                                                "update_window_dims"};

bool read_check_numbers(reader *r, const char *attribute_name, const attribute *a)
{
  static const char *const of[] = {".dot", ".gather", ".scatter"};
  const char *dot = strchr(attribute_name, '.');
  if (!dot || !is_one_of(dot, of, sizeof of / sizeof *of)) return true;
  for (size_t i = 0; i < a->num_items; ++i)
    if (!is_one_of(a->items[i].name, dimension_numbers,
                   sizeof dimension_numbers / sizeof *dimension_numbers))
      return reader_fail_at(r, a->items[i].offset, "%s has no '%s'", attribute_name,
                            a->items[i].name);
  return true;
}
