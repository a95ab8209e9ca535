/* Values of profiles: emitted data are read back from the values, from JSON and from CBOR. */
#include "base/emitter.h"
#include "base/json.h"
#include "profile/value.h"

#include <cbor.h>
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <populus/debug_stream.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t ints[] = {0, -128, 127, -32768, INT32_MAX, INT64_MIN, INT64_MAX, 7};
enum { NUM_INTS = sizeof ints / sizeof *ints };

/* Vectors of the first 1, 2, … ints, so that each width is the largest one once. */
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

static bool same(pop_profile_value a, pop_profile_value b)
{
  if (pop_profile_kind_of(a) != pop_profile_kind_of(b) ||
      pop_profile_count(a) != pop_profile_count(b))
    return false;
  const char *text = pop_profile_as_string(a);
  if (text && strcmp(text, pop_profile_as_string(b)) != 0) return false;
  if (pop_profile_as_int(a) != pop_profile_as_int(b)) return false;
  if (pop_profile_as_double(a) != pop_profile_as_double(b)) return false;
  for (size_t i = 0; i < pop_profile_count(a); ++i) {
    const char *key = pop_profile_key(a, i);
    if (key && strcmp(key, pop_profile_key(b, i)) != 0) return false;
    if (!same(pop_profile_at(a, i), pop_profile_at(b, i))) return false;
  }
  return true;
}

/* Texts become valid UTF-8 when they are first written, so the second copy must be equal. */
Test(profile_values, cbor_is_read_back_and_damage_is_found)
{
  pop_profile *profile = emit_to_values(emit_sample, NULL), *first, *second;
  size_t size, size_of_copy;
  char *bytes = written(pop_profile_root(profile), POP_PROFILE_CBOR, &size);
  cr_assert_gt(size, 0);
  cr_assert_null(profile_from_cbor(bytes, size, &first));
  char *copy = written(pop_profile_root(first), POP_PROFILE_CBOR, &size_of_copy);
  cr_assert(size_of_copy == size && memcmp(bytes, copy, size) == 0);
  cr_assert_null(profile_from_cbor(copy, size, &second));
  cr_assert(same(pop_profile_root(first), pop_profile_root(second)));
  cr_assert_eq(pop_profile_as_int(pop_profile_at(
                   pop_profile_at(pop_profile_find(pop_profile_root(first), "ints"), NUM_INTS), 5)),
               INT64_MIN);
  /* Every shorter one is refused, and a changed byte does no harm. */
  for (size_t cut = 0; cut < size; ++cut) {
    pop_profile *none;
    pop_error *error = profile_from_cbor(bytes, cut, &none);
    cr_assert_not_null(error, "cut at %zu", cut);
    cr_assert(pop_error_get_code(error) == POP_ERROR_FILE_LOAD && !none);
    pop_error_free(error);
  }
  for (size_t i = 0; i < 500; ++i) {
    size_t at = i * 2654435761u % size;
    char before = bytes[at];
    bytes[at] ^= (char)(1u << i % 8);
    pop_profile *damaged;
    pop_error_free(profile_from_cbor(bytes, size, &damaged));
    pop_profile_free(damaged);
    bytes[at] = before;
  }
  free(bytes);
  free(copy);
  pop_profile_free(profile);
  pop_profile_free(first);
  pop_profile_free(second);
}

Test(profile_values, cbor_of_others_is_read_as_far_as_profiles_have_words_for_it)
{
  static const struct {
    const char *bytes;
    size_t size;
    const char *json; /* NULL: refused */
    const char *words;
  } cases[] = {
      {"\xa1\x61k\x82\x01\x20", 6, "{\"k\":[1,-1]}", ""},  /* definite lengths */
      {"\x82\xf5\xfa\x3f\x80\x00\x00", 7, "[true,1]", ""}, /* a single float */
      {"\x9f\x9f\xff\xff", 4, "[[]]", ""},
      {"\x81", 1, NULL, "ends too early"},
      {"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, NULL, "ends too early"},
      {"\x7b\xff\xff\xff\xff\xff\xff\xff\xff", 9, NULL, "a text ends too late"},
      {"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", 9, NULL, "more than 64 bits"},
      {"\xa1\x01\x01", 3, NULL, "where a text should be"},
      {"\x41\x00", 2, NULL, "profiles have not"}, /* bytes */
      {"\xc0\x00", 2, NULL, "profiles have not"}, /* a tag */
      {"\xff", 1, NULL, "profiles have not"},     /* a break without a container */
      {"\x1c", 1, NULL, "of no meaning"},
      {"\x1f", 1, NULL, "without an end"},
      {"\x00\x00", 2, NULL, "behind the end"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    pop_profile *profile;
    pop_error *error = profile_from_cbor(cases[i].bytes, cases[i].size, &profile);
    cr_assert_eq(!error, cases[i].json != NULL, "case %zu", i);
    if (error) {
      cr_assert_not_null(strstr(pop_error_message(error), cases[i].words), "%s",
                         pop_error_message(error));
      pop_error_free(error);
      continue;
    }
    size_t size;
    char *text = written(pop_profile_root(profile), POP_PROFILE_JSON, &size);
    text[strcspn(text, "\n")] = '\0';
    cr_assert_str_eq(text, cases[i].json);
    free(text);
    pop_profile_free(profile);
  }
  char deep[200];
  memset(deep, 0x81, sizeof deep);
  pop_profile *profile;
  pop_error *error = profile_from_cbor(deep, sizeof deep, &profile);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "more levels"));
  pop_error_free(error);
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

/* ---- the stream of debug information ---- */

Test(profile_values, what_the_debug_stream_refuses_leaves_no_trace_in_it)
{
  char name[] = "/tmp/populus-values-XXXXXX";
  int file = mkstemp(name);
  cr_assert_geq(file, 0);
  pop_profile *profile = emit_to_values(emit_sample, NULL);
  cr_assert_null(pop_debug_stream_open(name, POP_PROFILE_JSON));
  for (int i = 0; i < 2; i++) {
    pop_error *error = pop_debug_stream_add((pop_profile_value){0});
    cr_assert_not_null(error);
    cr_assert_eq(pop_error_get_code(error), POP_ERROR_INVALID_ARGUMENT);
    pop_error_free(error);
    cr_assert_null(pop_debug_stream_add(pop_profile_root(profile)));
  }
  cr_assert_null(pop_debug_stream_close());
  json_t *json = json_load_file(name, 0, NULL);
  unlink(name);
  close(file);
  cr_assert_eq(json_array_size(json_object_get(json, "contexts")), 2);
  json_decref(json);
  pop_profile_free(profile);
}
