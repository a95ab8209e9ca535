/* Numbers in JSON. Numbers in thousandths are written in their shortest form. Every number that is
 * written is read back as the same. */
#include "base/json.h"
#include "support/comma_locale.h"
#include "support/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* The text that the JSON writer makes of the value. */
static const char *said(double value, char text[64])
{
  FILE *stream = fmemopen(text, 64, "w");
  cr_assert_not_null(stream);
  json_writer json = {.stream = stream, .layout = JSON_DENSE};
  json_put_double(&json, NULL, value);
  fclose(stream);
  return text;
}

Test(base_json, thousandths_are_written_as_such)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {0.1, "0.1"},
               {0.29, "0.29"},
               {0.001, "0.001"},
               {0.01, "0.01"},
               {12.345, "12.345"},
               {100.05, "100.05"},
               {70.999, "70.999"},
               {999999999999.999, "999999999999.999"},
               {1e11, "100000000000"},
               {1e17, "1e+17"},
               {1e300, "1.0000000000000001e+300"},
               {-0.5, "-0.5"},
               {0.0005, "0.00050000000000000001"},
               {NAN, "null"},
               {INFINITY, "null"}};
  char text[64];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    cr_assert_str_eq(said(cases[i].value, text), cases[i].text, "%s, not %s", text, cases[i].text);
}

/* Thousandths and their neighbouring numbers, of any magnitude. */
Test(base_json, what_is_written_is_read_as_the_same_number)
{
  uint64_t state = 1;
  for (int i = 0; i < 30000; ++i) {
    uint64_t bits = (uint64_t)random_next(&state) << 31 | random_next(&state);
    double value = (double)(bits >> random_below(&state, 62)) / 1000;
    if (i % 3 == 1) value = nextafter(value, 0);
    if (i % 3 == 2) value = nextafter(value, INFINITY);
    char text[64], *end;
    double read = strtod(said(value, text), &end);
    cr_assert_eq(*end, '\0', "%s", text);
    cr_assert(read == value, "%.17g is written as %s", value, text);
  }
}

Test(base_json, a_locale_with_another_decimal_point_changes_nothing)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {{-0.5, "-0.5"},
               {0.0005, "0.00050000000000000001"},
               {1e17, "1e+17"},
               {-1.5e-300, "-1.5000000000000001e-300"},
               {-1.7976931348623157e308, "-1.7976931348623157e+308"}};
  char text[64];
  if (!use_comma_locale()) cr_skip_test("there is no localedef");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    cr_assert_str_eq(said(cases[i].value, text), cases[i].text, "%s, not %s", text, cases[i].text);
}
