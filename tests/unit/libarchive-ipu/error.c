/* libarchive-ipu/error.c: the error type. */
#include "support/expect.h"

#include <errno.h>
#include <sys/resource.h>

Test(error, carries_code_name_and_exit_status)
{
  static const struct {
    pop_error_code code;
    const char *name;
    int exit_status;
  } cases[] = {
      {POP_ERROR_INVALID_ARGUMENT, "invalid_argument", 1},
      {POP_ERROR_FILE_LOAD, "file_load_error", 1},
      {POP_ERROR_GRAPH_MEMORY, "graph_memory_allocation_error", 1},
      {POP_ERROR_INVALID_OPTION, "invalid_option", 2},
      {POP_ERROR_RUNTIME, "application_runtime_error", 3},
      {POP_ERROR_SYSTEM, "system_error", 4},
      {POP_ERROR_MEMORY, "memory_error", 4},
      {POP_ERROR_INTERNAL, "internal_error", 70},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_error *error = pop_error_new(cases[i].code, "case %zu", i);
    cr_assert_eq(pop_error_get_code(error), cases[i].code);
    cr_assert_str_eq(pop_error_code_name(cases[i].code), cases[i].name);
    cr_assert_eq(pop_error_exit_status(error), cases[i].exit_status);
    pop_error_free(error);
  }
  cr_assert_eq(pop_error_exit_status(NULL), 0);
}

Test(error, prefix_goes_in_front_and_keeps_the_code)
{
  pop_error *error = pop_error_new(POP_ERROR_LINK, "undefined symbol '%s'", "f");
  error = pop_error_prefix(error, "tile %d", 7);
  cr_assert_str_eq(pop_error_message(error), "tile 7: undefined symbol 'f'");
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_LINK);
  pop_error_free(error);
  cr_assert_null(pop_error_prefix(NULL, "nothing went wrong"));
}

Test(error, errno_text_is_at_the_end)
{
  expect_error(pop_error_errno(ENOSPC, "cannot write '%s'", "x"), POP_ERROR_SYSTEM,
               "cannot write 'x': No space left on device", "ENOSPC");
}

Test(error, C15_what_is_no_utf8_is_escaped_and_what_is_stays)
{
  pop_error *error = pop_error_new(POP_ERROR_LINK, "raw \x9b"
                                                   "31m, cut \xe2\x82, overlong \xc0\x80, é €");
  cr_assert_str_eq(pop_error_message(error),
                   "raw \\x9b31m, cut \\xe2\\x82, overlong \\xc0\\x80, é €");
  pop_error_free(error);
}

/* C15: control characters in a name do not reach the terminal. */
Test(error, C15_control_characters_are_escaped)
{
  pop_error *error = pop_error_new(POP_ERROR_LINK, "symbol '%s'",
                                   "a\x1b[31mb\x07\xc2\x9b"
                                   "c\x7f\r");
  cr_assert_str_eq(pop_error_message(error), "symbol 'a\\x1b[31mb\\x07\\xc2\\x9bc\\x7f\\x0d'");
  error = pop_error_prefix(error, "%s", "p\x01");
  cr_assert_str_eq(pop_error_message(error),
                   "p\\x01: symbol 'a\\x1b[31mb\\x07\\xc2\\x9bc\\x7f\\x0d'");
  pop_error_free(error);

  error = pop_error_new(POP_ERROR_LINK, "%s",
                        "lines\n\tand gr\xc3\xbc\xc3\x9f"
                        "e stay");
  cr_assert_str_eq(pop_error_message(error), "lines\n\tand gr\xc3\xbc\xc3\x9f"
                                             "e stay");
  pop_error_free(error);
}

/* The macro returns the error of the expression, and the statements after it do not run. */
static pop_error *try_twice(pop_error *first, int *steps)
{
  ++*steps;
  POP_TRY(first);
  ++*steps;
  return NULL;
}

Test(error, try_returns_the_first_error)
{
  int steps = 0;
  expect_ok(try_twice(NULL, &steps));
  cr_assert_eq(steps, 2);
  expect_error(try_twice(pop_error_new(POP_ERROR_TYPE, "no"), &steps), POP_ERROR_TYPE, "no", "try");
  cr_assert_eq(steps, 3);
}
