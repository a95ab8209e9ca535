/* The text of PrintTensor. */
#include "engine/engine_private.h"
#include "graph/print_format.h"
#include "support/comma_locale.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *text, const char *title, pop_type type, const size_t *shape,
                   uint32_t rank, const void *data)
{
  char *printed = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&printed, &size);
  print_tensor(stream, title, type, shape, rank, data);
  fclose(stream);
  cr_assert_str_eq(printed, text);
  free(printed);
}

Test(print_tensor, the_guides_samples)
{
  const float v1[] = {1, 1.5f, 2, 2.5f}, v3[] = {5, 4.5f, 4, 3.5f};
  expect("v1-debug: {1,1.5,2,2.5}\n", "v1-debug", POP_FLOAT, (size_t[]){4}, 1, v1);
  expect("v3: {\n {5,4.5},\n {4,3.5}\n}\n", "v3", POP_FLOAT, (size_t[]){2, 2}, 2, v3);
}

Test(print_tensor, a_locale_with_a_decimal_comma_leaves_elements_apart)
{
  const float halves[] = {1.5f, 2.5f};
  if (!use_comma_locale()) cr_skip_test("there is no localedef");
  expect("x: {1.5,2.5}\n", "x", POP_FLOAT, (size_t[]){2}, 1, halves);
}

Test(print_tensor, ranks_0_and_3_and_no_elements)
{
  const int values[] = {1, 2, 3, 4};
  expect("x: 1\n", "x", POP_INT, NULL, 0, values);
  expect("x: {\n {\n  {1,2}\n },\n {\n  {3,4}\n }\n}\n", "x", POP_INT, (size_t[]){2, 1, 2}, 3,
         values);
  expect("x: {}\n", "x", POP_INT, (size_t[]){0}, 1, values);
  expect("x: {}\n", "x", POP_INT, (size_t[]){0, 3}, 2, values);
  expect("x: {\n {},\n {}\n}\n", "x", POP_INT, (size_t[]){2, 0}, 2, values);
}

Test(print_tensor, every_type)
{
  const int8_t chars[] = {-1, 127};
  const uint16_t halves[] = {0x3c00, 0xfc00};
  const uint32_t words[] = {0xffffffff, 7};
  const int64_t longs[] = {INT64_MIN, 1};
  expect("t: {-1,127}\n", "t", POP_CHAR, (size_t[]){2}, 1, chars);
  expect("t: {-1,127}\n", "t", POP_SIGNED_CHAR, (size_t[]){2}, 1, chars);
  expect("t: {255,127}\n", "t", POP_UNSIGNED_CHAR, (size_t[]){2}, 1, chars);
  expect("t: {255,127}\n", "t", POP_QUARTER, (size_t[]){2}, 1, chars);
  expect("t: {1,0}\n", "t", POP_BOOL, (size_t[]){2}, 1, "\1\0");
  expect("t: {1,-inf}\n", "t", POP_HALF, (size_t[]){2}, 1, halves);
  expect("t: {15360,-1024}\n", "t", POP_SHORT, (size_t[]){2}, 1, halves);
  expect("t: {15360,64512}\n", "t", POP_UNSIGNED_SHORT, (size_t[]){2}, 1, halves);
  expect("t: {-1,7}\n", "t", POP_INT, (size_t[]){2}, 1, words);
  expect("t: {4294967295,7}\n", "t", POP_UNSIGNED_INT, (size_t[]){2}, 1, words);
  expect("t: {-9223372036854775808,1}\n", "t", POP_LONGLONG, (size_t[]){2}, 1, longs);
  expect("t: {9223372036854775808,1}\n", "t", POP_UNSIGNED_LONGLONG, (size_t[]){2}, 1, longs);
}

Test(print_tensor, P12_control_characters_in_a_title_do_not_reach_the_terminal)
{
  expect("a\\x1b[31m\\x0ab: {}\n", "a\033[31m\nb", POP_INT, (size_t[]){0}, 1, "");
  expect("a\\xc2\\x9b31m\\x9b\u00e9: {}\n",
         "a\xc2\x9b"
         "31m\x9b\u00e9",
         POP_INT, (size_t[]){0}, 1, "");
}

/* ---- with a format ---- */

static void expect_formatted(const char *text, const pop_print_format *format, pop_type type,
                             const size_t *shape, uint32_t rank, const void *data)
{
  char *printed = NULL, written[PRINT_FORMAT_SIZE];
  size_t size = 0;
  pop_print_format read;
  cr_assert(print_format_write(format, written));
  cr_assert(print_format_read(written, &read));
  FILE *stream = open_memstream(&printed, &size);
  print_tensor_formatted(stream, "t", &read, type, shape, rank, data);
  fclose(stream);
  cr_assert_not_null(printed);
  cr_assert_str_eq(printed, text, "%s", printed);
  free(printed);
}

Test(print_tensor, format_as_the_tutorials_show_it)
{
  pop_print_format f = pop_print_format_default();
  const float v1[] = {1, 1.5f, 2, 2.5f}, large[] = {-12.5f, 0, 1e6f, INFINITY};
  const uint16_t halves[] = {0x3c00, 0x3555};
  expect_formatted("t: [1.0000000 1.5000000 2.0000000 2.5000000]\n", &f, POP_FLOAT, (size_t[]){4},
                   1, v1);
  expect_formatted("t: [[1.0000000 1.5000000]\n [2.0000000 2.5000000]]\n", &f, POP_FLOAT,
                   (size_t[]){2, 2}, 2, v1);
  expect_formatted("t: [    -12.5       0.0 1000000.0       inf]\n", &f, POP_FLOAT, (size_t[]){4},
                   1, large);
  expect_formatted("t: [1.0000000 0.3332520]\n", &f, POP_HALF, (size_t[]){2}, 1, halves);
  expect_formatted("t: 1.0000000\n", &f, POP_FLOAT, NULL, 0, v1);
  expect_formatted("t: []\n", &f, POP_FLOAT, (size_t[]){0}, 1, v1);
}

Test(print_tensor, floats_as_a_format_says)
{
  pop_print_format f = pop_print_format_default();
  const float small[] = {1, 1e-6f}, wide[] = {1e9f, 2};
  f.digits = 3;
  expect_formatted("t: [1.00e+00 1.00e-06]\n", &f, POP_FLOAT, (size_t[]){2}, 1, small);
  expect_formatted("t: [1.00e+09 2.00e+00]\n", &f, POP_FLOAT, (size_t[]){2}, 1, wide);
  f.float_format = POP_FLOAT_FIXED;
  expect_formatted("t: [1.00 0.00]\n", &f, POP_FLOAT, (size_t[]){2}, 1, small);
  f.float_format = POP_FLOAT_SCIENTIFIC;
  expect_formatted("t: [2.00e+00]\n", &f, POP_FLOAT, (size_t[]){1}, 1, wide + 1);
  f.float_format = POP_FLOAT_NONE;
  expect_formatted("t: [1 1e-06]\n", &f, POP_FLOAT, (size_t[]){2}, 1, small);
}

Test(print_tensor, format_with_other_characters_few_elements_and_short_lines)
{
  pop_print_format f = pop_print_format_default();
  int values[27];
  for (int i = 0; i < 27; ++i) values[i] = i;
  f.max_line_width = 20;
  expect_formatted("t: [ 0  1  2  3  4\n  5  6  7  8  9 10]\n", &f, POP_INT, (size_t[]){11}, 1,
                   values);
  f.max_line_width = 0;
  f.separator = ',';
  f.open_bracket = '{';
  f.close_bracket = '}';
  expect_formatted("t: {{0,1},\n {2,3}}\n", &f, POP_INT, (size_t[]){2, 2}, 2, values);
  expect_formatted("t: {{{0},\n  {1}},\n\n {{2},\n  {3}}}\n", &f, POP_INT, (size_t[]){2, 2, 1}, 3,
                   values);
  f.summarise_threshold = 26;
  f.edge_items = 1;
  f.separator = ' ';
  expect_formatted("t: {{ 0 ...  2}\n ...\n {24 ... 26}}\n", &f, POP_INT, (size_t[]){9, 3}, 2,
                   values);
  f.edge_items = 0;
  expect_formatted("t: {...}\n", &f, POP_INT, (size_t[]){27}, 1, values);
  f.summarise_threshold = 27;
  expect_formatted("t: {0 1 2}\n", &f, POP_INT, (size_t[]){3}, 1, values);
}

Test(print_tensor, texts_that_are_no_formats)
{
  static const char *const texts[] = {"1000 3 75 0 0 20 5b 5d",   "1000 3 75 18 0 20 5b 5d",
                                      "1000 3 75 8 4 20 5b 5d",   "1000 3 75 8 0 1f 5b 5d",
                                      "1000 3 75 8 0 20 5b 7f",   "1000 3 75 8 0 20 5b",
                                      "1000 3 75 8 0 20 5b 5d 1", "x"};
  pop_print_format f;
  cr_assert(print_format_read("1000 3 75 17 3 20 5b 5d", &f));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_assert_not(print_format_read(texts[i], &f), "%s", texts[i]);
  f = pop_print_format_default();
  f.separator = '\n';
  char text[PRINT_FORMAT_SIZE];
  cr_assert_not(print_format_write(&f, text));
}
