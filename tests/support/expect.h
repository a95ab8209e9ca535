/* Assertions on pop_error for Criterion tests, and a folder of its own for each test. */
#ifndef POPULUS_TEST_EXPECT_H
#define POPULUS_TEST_EXPECT_H

#include <populus/error.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checks that there is an error with this code whose message holds `fragment`. Frees it. `what`
 * names the case. */
static inline void expect_error(pop_error *error, pop_error_code code, const char *fragment,
                                const char *what)
{
  cr_assert_not_null(error, "%s: no error, expected '%s'", what, fragment);
  cr_assert_eq(pop_error_get_code(error), code, "%s: %s: %s", what,
               pop_error_code_name(pop_error_get_code(error)), pop_error_message(error));
  cr_assert_not_null(strstr(pop_error_message(error), fragment), "%s: '%s' is not in '%s'", what,
                     fragment, pop_error_message(error));
  pop_error_free(error);
}

static inline void expect_ok(pop_error *error)
{
  cr_assert_null(error, "unexpected: %s", error ? pop_error_message(error) : "");
}

/* For .init: Criterion runs each test in a process of its own, so it may change the folder. */
static inline void enter_fresh_folder(void)
{
  char name[] = "unit-XXXXXX";
  cr_assert_not_null(mkdtemp(name));
  cr_assert_eq(chdir(name), 0);
}

#endif
