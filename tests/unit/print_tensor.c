/* PrintTensor's text. */
#include "engine/engine_private.h"

#include <criterion/criterion.h>
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
}
