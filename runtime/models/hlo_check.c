/* Checks attributes of HLO text before it is translated. A misspelt name, or numbers in another
 * notation, would otherwise silently change the meaning.
 *
 *   window={size=3x3 stride=2x2 pad=1_1x0_0}   only parts with these names; one or two numbers each
 *   padding=0_1x0_1_2                          two numbers for each dimension, or three
 *   slice={[0:4], [1:5:2]}                     two numbers for each dimension, or three
 *   dimensions={0,1}                           numbers
 *
 * New versions of XLA add attributes. So an unknown name is an error only if it is nearly a known
 * one. */
#include "models/hlo_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Attributes that have a meaning here, and others that stand beside them. */
static const char *const known[] = {"algorithm",
                                    "batch_group_count",
                                    "branch_computations",
                                    "called_computations",
                                    "channel_id",
                                    "collapsed_slice_dims",
                                    "comparator",
                                    "condition",
                                    "constrain_layout",
                                    "custom_call_has_side_effect",
                                    "custom_call_target",
                                    "dim_labels",
                                    "dimensions",
                                    "direction",
                                    "distribution",
                                    "dynamic_slice_sizes",
                                    "epsilon",
                                    "exponent_bits",
                                    "false_computation",
                                    "feature_group_count",
                                    "feature_index",
                                    "fft_length",
                                    "fft_type",
                                    "index_vector_dim",
                                    "indices_are_sorted",
                                    "input_batching_dims",
                                    "inserted_window_dims",
                                    "iota_dimension",
                                    "is_stable",
                                    "largest",
                                    "left_side",
                                    "lhs_batch_dims",
                                    "lhs_contracting_dims",
                                    "lhs_dilate",
                                    "mantissa_bits",
                                    "offset_dims",
                                    "operand_batching_dims",
                                    "operand_precision",
                                    "padding",
                                    "replica_groups",
                                    "rhs_batch_dims",
                                    "rhs_contracting_dims",
                                    "scatter",
                                    "scatter_dims_to_operand_dims",
                                    "scatter_indices_batching_dims",
                                    "select",
                                    "slice_sizes",
                                    "source_target_pairs",
                                    "start_index_map",
                                    "start_indices_batching_dims",
                                    "to_apply",
                                    "transpose_a",
                                    "true_computation",
                                    "unique_indices",
                                    "unit_diagonal",
                                    "update_window_dims",
                                    "use_global_device_ids",
                                    "window",
                                    "slice",
                                    "lower",
                                    "index",
                                    "calls",
                                    "body",
                                    "type"};

static pop_error *fail_at(const hlo_module *h, const hlo_attribute *a, const char *format, ...)
    POP_PRINTF(3, 4);
static pop_error *fail_at(const hlo_module *h, const hlo_attribute *a, const char *format, ...)
{
  char text[256];
  const hlo_instruction at = {.offset = a->offset};
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return hlo_error(h, &at, "%s", text);
}

/* ---- names ---- */

/* Do the words differ by one letter more, less or other, or by two neighbouring letters that are
 * swapped? */
static bool is_near(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b), same = 0, behind = 0;
  size_t less = n < m ? n : m, more = n < m ? m : n;
  if (more - less > 1 || less < 4) return false;
  while (same < less && a[same] == b[same]) same++;
  while (behind < less - same && a[n - 1 - behind] == b[m - 1 - behind]) behind++;
  size_t left = more - same - behind;
  return left == 1 || (left == 2 && n == m && a[same] == b[same + 1] && a[same + 1] == b[same]);
}

static pop_error *check_name(const hlo_module *h, const hlo_instruction *i, const hlo_attribute *a)
{
  const char *meant = NULL;
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
    if (strcmp(known[k], a->key) == 0) return NULL;
    if (is_near(known[k], a->key)) meant = known[k];
  }
  return meant ? fail_at(h, a, "%s has no attribute '%s'; '%s' is one", i->opcode, a->key, meant)
               : NULL;
}

/* ---- numbers ---- */

static const char *skip_number(const char *at)
{
  if (*at == '-') at++;
  if (!isdigit((unsigned char)*at)) return NULL;
  while (isdigit((unsigned char)*at)) at++;
  return at;
}

/* From `at` to `end`: `count` dimensions separated by 'x'; each has `least` to `most` numbers
 * separated by '_'. */
static bool are_numbers(const char *at, const char *end, uint32_t count, int least, int most)
{
  for (uint32_t d = 0; d < count; ++d) {
    int numbers = 0;
    if (d && *at++ != 'x') return false;
    do {
      if (numbers && *at++ != '_') return false;
      if (!(at = skip_number(at))) return false;
    } while (++numbers < most && *at == '_');
    if (numbers < least) return false;
  }
  return at == end;
}

/* A list such as {0,1}. Other things in braces, such as computations and groups, are checked by the
 * code that reads them. */
static bool is_list(const char *at)
{
  if (*at++ != '{') return false;
  for (bool first = true;; first = false) {
    at += strspn(at, " \t\n");
    if (*at == '}') return at[1] == '\0';
    if (!first && *at++ != ',') return false;
    at += strspn(at, " \t\n");
    if (!(at = skip_number(at))) return false;
  }
}

/* {[0:4], [1:5:2]} */
static bool is_slice(const char *at, uint32_t count)
{
  if (*at++ != '{') return false;
  for (uint32_t d = 0; d < count; ++d) {
    at += strspn(at, ", \t\n");
    int numbers = 0;
    bool more = *at == '[';
    if (!more) return false;
    while (more && numbers < 3) {
      if (!(at = skip_number(at + 1))) return false;
      numbers++;
      more = *at == ':';
    }
    if (numbers < 2 || *at++ != ']') return false;
  }
  at += strspn(at, " \t\n");
  return strcmp(at, "}") == 0;
}

static pop_error *check_window(const hlo_module *h, const hlo_attribute *a, uint32_t count)
{
  static const char *const parts[] = {"size",       "stride",     "pad",
                                      "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  const char *at = a->value;
  if (*at++ != '{') return fail_at(h, a, "window=%s has no braces", a->value);
  while (*(at += strspn(at, " \t\n")) != '}') {
    size_t name = strcspn(at, "= }"), k = 0;
    while (k < 6 && (strlen(parts[k]) != name || memcmp(parts[k], at, name) != 0)) k++;
    if (k == 6 || at[name] != '=')
      return fail_at(h, a,
                     "window has no '%.*s': size, stride, pad, lhs_dilate, rhs_dilate and "
                     "rhs_reversal are its parts",
                     (int)name, at);
    const char *numbers = at + name + 1, *end = numbers + strcspn(numbers, " \t\n}");
    bool pad = strcmp(parts[k], "pad") == 0;
    if (!are_numbers(numbers, end, count, pad ? 2 : 1, pad ? 2 : 1))
      return fail_at(h, a, "window: %.*s is not %s for each of %u dimensions", (int)(end - at), at,
                     pad ? "two numbers" : "a number", count);
    at = end;
  }
  return NULL;
}

static bool is_opcode(const hlo_instruction *i, const char *opcode)
{
  return strcmp(i->opcode, opcode) == 0;
}

static pop_error *check_value(const hlo_module *h, const hlo_instruction *i, const hlo_attribute *a)
{
  static const char *const lists[] = {"dimensions",
                                      "dynamic_slice_sizes",
                                      "fft_length",
                                      "slice_sizes",
                                      "lhs_batch_dims",
                                      "lhs_contracting_dims",
                                      "rhs_batch_dims",
                                      "rhs_contracting_dims",
                                      "offset_dims",
                                      "collapsed_slice_dims",
                                      "start_index_map",
                                      "operand_batching_dims",
                                      "start_indices_batching_dims",
                                      "update_window_dims",
                                      "inserted_window_dims",
                                      "scatter_dims_to_operand_dims",
                                      "input_batching_dims",
                                      "scatter_indices_batching_dims"};
  uint32_t rank = i->num_operands ? hlo_leaf(&i->operands[0]->type, 0)->rank : 0;
  if (strcmp(a->key, "window") == 0 && is_opcode(i, "convolution"))
    return check_window(h, a, rank < 2 ? 0 : rank - 2);
  if (strcmp(a->key, "window") == 0 &&
      (is_opcode(i, "reduce-window") || is_opcode(i, "select-and-scatter")))
    return check_window(h, a, rank);
  if (strcmp(a->key, "slice") == 0 && is_opcode(i, "slice") && !is_slice(a->value, rank))
    return fail_at(h, a,
                   "slice=%s is not two or three numbers in brackets for each of %u dimensions",
                   a->value, rank);
  if (strcmp(a->key, "padding") == 0 && is_opcode(i, "pad") &&
      !are_numbers(a->value, a->value + strlen(a->value), rank, 2, 3))
    return fail_at(h, a, "padding=%s is not two or three numbers for each of %u dimensions",
                   a->value, rank);
  for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k)
    if (strcmp(a->key, lists[k]) == 0 && !is_list(a->value) && !is_opcode(i, "collective-permute"))
      return fail_at(h, a, "%s=%s is no list of numbers in braces", a->key, a->value);
  return NULL;
}

pop_error *hlo_check_attributes(const hlo_module *h, const hlo_instruction *i)
{
  for (size_t k = 0; k < i->num_attributes; ++k) {
    POP_TRY(check_name(h, i, &i->attributes[k]));
    POP_TRY(check_value(h, i, &i->attributes[k]));
  }
  return NULL;
}
