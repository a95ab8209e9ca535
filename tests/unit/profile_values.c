/* Values of profiles: what goes in by an emitter comes out of the values, of JSON and of CBOR. */
#include "profile/emitter.h"
#include "profile/json.h"

#include <cbor.h>
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t ints[] = {0, -128, 127, -32768, INT32_MAX, INT64_MIN, INT64_MAX, 7};
enum { NUM_INTS = sizeof ints / sizeof *ints };

/* Vectors of the first 1, 2, … ints, so that each width is the widest once. */
static void emit_sample(const emitter *to, const void *what)
{
  (void)what;
  emit_begin_map(to, NULL);
  emit_begin_vector(to, "ints");
  for (int n = 0; n <= NUM_INTS; ++n) {
    emit_begin_vector(to, NULL);
    for (int i = 0; i < n; ++i) emit_int(to, NULL, ints[i]);
    emit_end_vector(to);
  }
  emit_end_vector(to);
  emit_begin_vector(to, "equal");
  for (int i = 0; i < 1000; ++i) emit_int(to, NULL, -5);
  emit_end_vector(to);
  emit_begin_vector(to, "mixed");
  emit_int(to, NULL, 3);
  emit_int(to, NULL, 4);
  emit_double(to, NULL, 0.1);
  emit_begin_map(to, NULL);
  emit_end_map(to);
  emit_end_vector(to);
  emit_begin_map(to, "inner");
  emit_begin_map(to, "deep");
  emit_int(to, "number", 42);
  emit_bool(to, "yes", true);
  emit_string(to, "text", "a\"b\"\n\xff\xc3\xa9");
  emit_end_map(to);
  emit_end_map(to);
  emit_double(to, "half", 0.5);
  emit_end_map(to);
}

static char *written(pop_profile_value value, pop_profile_format format, size_t *size)
{
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  cr_assert_not_null(stream);
  cr_assert_null(pop_profile_write(value, format, stream));
  fclose(stream);
  return text;
}

Test(profile_values, ints_of_every_width_come_back)
{
  pop_profile *profile = emit_to_values(emit_sample, NULL);
  pop_profile_value rows = pop_profile_get(pop_profile_root(profile), "ints");
  cr_assert_eq(pop_profile_count(rows), NUM_INTS + 1);
  for (size_t n = 0; n <= NUM_INTS; ++n) {
    pop_profile_value row = pop_profile_at(rows, n);
    cr_assert_eq(pop_profile_kind_of(row), POP_PROFILE_VECTOR);
    cr_assert_eq(pop_profile_count(row), n);
    for (size_t i = 0; i < n; ++i) {
      cr_assert_eq(pop_profile_kind_of(pop_profile_at(row, i)), POP_PROFILE_INT);
      cr_assert_eq(pop_profile_as_int(pop_profile_at(row, i)), ints[i]);
    }
    cr_assert_eq(pop_profile_kind_of(pop_profile_at(row, n)), POP_PROFILE_NONE);
  }
  pop_profile_value equal = pop_profile_get(pop_profile_root(profile), "equal");
  cr_assert_eq(pop_profile_count(equal), 1000);
  cr_assert_eq(pop_profile_as_int(pop_profile_at(equal, 999)), -5);
  pop_profile_free(profile);
}

Test(profile_values, maps_are_looked_up_by_key_path_and_number)
{
  pop_profile *profile = emit_to_values(emit_sample, NULL);
  pop_profile_value root = pop_profile_root(profile);
  cr_assert_str_eq(pop_profile_key(root, 0), "ints");
  cr_assert_str_eq(pop_profile_key(root, 4), "half");
  cr_assert_null(pop_profile_key(root, 5));
  cr_assert_eq(pop_profile_as_int(pop_profile_find(root, "inner.deep.number")), 42);
  cr_assert(pop_profile_as_bool(pop_profile_find(root, "inner.deep.yes")));
  cr_assert_float_eq(pop_profile_as_double(pop_profile_find(root, "half")), 0.5, 0);
  cr_assert_null(pop_profile_find(root, "inner.dee.number").node);
  cr_assert_null(pop_profile_find(root, "inner.deep.number.more").node);
  cr_assert_null(pop_profile_get(root, "hal").node);
  cr_assert_null(pop_profile_as_string(root));
  cr_assert_eq(pop_profile_count(pop_profile_find(root, "half")), 0);
  pop_profile_value mixed = pop_profile_get(root, "mixed");
  cr_assert_eq(pop_profile_count(mixed), 4);
  cr_assert_eq(pop_profile_as_int(pop_profile_at(mixed, 1)), 4);
  cr_assert_eq(pop_profile_kind_of(pop_profile_at(mixed, 2)), POP_PROFILE_DOUBLE);
  cr_assert_eq(pop_profile_kind_of(pop_profile_at(mixed, 3)), POP_PROFILE_MAP);
  pop_profile_free(profile);
}

Test(profile_values, both_layouts_of_json_say_the_same_and_streaming_equals_values)
{
  pop_profile *profile = emit_to_values(emit_sample, NULL);
  size_t sizes[2];
  char *texts[2] = {written(pop_profile_root(profile), POP_PROFILE_JSON, &sizes[0]),
                    written(pop_profile_root(profile), POP_PROFILE_JSON_PRETTY, &sizes[1])};
  json_t *dense = json_loads(texts[0], JSON_ALLOW_NUL, NULL);
  json_t *pretty = json_loads(texts[1], JSON_ALLOW_NUL, NULL);
  cr_assert_not_null(dense);
  cr_assert_not_null(pretty);
  cr_assert(json_equal(dense, pretty));
  cr_assert_null(memchr(texts[0], ' ', strcspn(texts[0], "\\")), "dense JSON has no spaces");
  cr_assert_not_null(strstr(texts[1], "{\n  \"ints\": [\n    [],\n    [0],\n    [0, -128],\n"));
  cr_assert_not_null(strstr(texts[1], "      \"number\": 42,\n      \"yes\": true,\n"));
  json_t *text = json_object_get(json_object_get(json_object_get(dense, "inner"), "deep"), "text");
  cr_assert_str_eq(json_string_value(text), "a\"b\"\n\xef\xbf\xbd\xc3\xa9");
  char *streamed = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&streamed, &size);
  cr_assert_null(emit_to_stream(emit_sample, NULL, POP_PROFILE_JSON, stream));
  fclose(stream);
  cr_assert_str_eq(streamed, texts[0]);
  json_decref(dense);
  json_decref(pretty);
  free(streamed);
  free(texts[0]);
  free(texts[1]);
  pop_profile_free(profile);
}

Test(profile_values, cbor_is_read_by_libcbor)
{
  pop_profile *profile = emit_to_values(emit_sample, NULL);
  size_t size;
  char *bytes = written(pop_profile_root(profile), POP_PROFILE_CBOR, &size);
  struct cbor_load_result result;
  cbor_item_t *item = cbor_load((const unsigned char *)bytes, size, &result);
  cr_assert_not_null(item);
  cr_assert_eq(result.read, size);
  cr_assert(cbor_isa_map(item));
  cr_assert_eq(cbor_map_size(item), 5);
  const struct cbor_pair *pairs = cbor_map_handle(item);
  cr_assert_eq(cbor_array_size(pairs[0].value), NUM_INTS + 1);
  cbor_item_t *row = cbor_array_get(pairs[0].value, NUM_INTS);
  cbor_item_t *least = cbor_array_get(row, 5), *most = cbor_array_get(row, 6);
  cr_assert(cbor_isa_negint(least));
  cr_assert_eq(cbor_get_int(least), (uint64_t)INT64_MAX); /* -1 - that */
  cr_assert_eq(cbor_get_int(most), (uint64_t)INT64_MAX);
  cr_assert_float_eq(cbor_float_get_float(pairs[4].value), 0.5, 0);
  cbor_decref(&least);
  cbor_decref(&most);
  cbor_decref(&row);
  cbor_decref(&item);
  free(bytes);
  pop_profile_free(profile);
}

static void emit_odd_doubles(const emitter *to, const void *what)
{
  (void)what;
  emit_begin_vector(to, NULL);
  emit_double(to, NULL, NAN);
  emit_double(to, NULL, 1e300);
  emit_double(to, NULL, -1e300);
  emit_double(to, NULL, 0.1);
  emit_end_vector(to);
}

Test(profile_values, doubles_that_json_has_no_words_for)
{
  pop_profile *profile = emit_to_values(emit_odd_doubles, NULL);
  pop_profile_value root = pop_profile_root(profile);
  cr_assert_eq(pop_profile_as_int(pop_profile_at(root, 0)), 0);
  cr_assert_eq(pop_profile_as_int(pop_profile_at(root, 1)), INT64_MAX);
  cr_assert_eq(pop_profile_as_int(pop_profile_at(root, 2)), INT64_MIN);
  size_t size;
  char *text = written(root, POP_PROFILE_JSON, &size);
  json_t *json = json_loads(text, 0, NULL);
  cr_assert(json_is_null(json_array_get(json, 0)));
  cr_assert(json_real_value(json_array_get(json, 3)) == 0.1);
  json_decref(json);
  free(text);
  pop_error *error = pop_profile_write((pop_profile_value){0}, POP_PROFILE_JSON, stdout);
  cr_assert_not_null(error);
  pop_error_free(error);
  pop_profile_free(profile);
}
