/* The macros of Criterion that our tests use, for builds in which Criterion does not
 * start: under ThreadSanitizer. Each test is a process of its own here, too, and ends
 * by exit(), so that exit handlers are tested as well. clang-tidy, too, reads the tests
 * with this header (cmake/tidy-file.sh).
 *
 *   program [--filter suite/test]    patterns as of a shell; other options are Criterion's and ignored */
#ifndef PLAIN_CRITERION_H
#define PLAIN_CRITERION_H

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wc23-extensions" /* assertions without a message */
#endif

typedef struct plain_test {
  const char *suite, *name; /* name NULL: options for all tests of the suite */
  void (*run)(void);
  void (*init)(void);
  void (*fini)(void);
  int exit_code, signal;
  struct plain_test *next;
} plain_test;

enum { PLAIN_FAILED = 99, PLAIN_SKIPPED = 98 };

static plain_test *plain_first;

static inline void plain_add(plain_test *test)
{
  plain_test **last = &plain_first;
  while (*last) last = &(*last)->next;
  *last = test;
}

#define PLAIN_TEST(suite_, name_, ...)                                                             \
  static void plain_run_##suite_##_##name_(void);                                                  \
  __attribute__((constructor)) static void plain_add_##suite_##_##name_(void)                      \
  {                                                                                                \
    static plain_test test = {                                                                     \
        .suite = #suite_, .name = #name_, .run = plain_run_##suite_##_##name_, __VA_ARGS__};       \
    plain_add(&test);                                                                              \
  }                                                                                                \
  static void plain_run_##suite_##_##name_(void)
#define Test(...) PLAIN_TEST(__VA_ARGS__, )

#define TestSuite(suite_, ...)                                                                     \
  __attribute__((constructor)) static void plain_add_suite_##suite_(void)                          \
  {                                                                                                \
    static plain_test suite = {.suite = #suite_, __VA_ARGS__};                                     \
    plain_add(&suite);                                                                             \
  }                                                                                                \
  struct plain_test

__attribute__((format(printf, 4, 5))) static inline void plain_say(const char *file, int line,
                                                                   const char *what,
                                                                   const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: %s: ", file, line, what);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

#define PLAIN_ASSERT(holds, what, ...)                                                             \
  do {                                                                                             \
    if (!(holds)) {                                                                                \
      plain_say(__FILE__, __LINE__, what, " " __VA_ARGS__);                                        \
      exit(PLAIN_FAILED);                                                                          \
    }                                                                                              \
  } while (0)

#define cr_assert(holds, ...) PLAIN_ASSERT(holds, #holds, __VA_ARGS__)
#define cr_assert_not(holds, ...) PLAIN_ASSERT(!(holds), "not " #holds, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) PLAIN_ASSERT((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) PLAIN_ASSERT((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) PLAIN_ASSERT((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) PLAIN_ASSERT((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) PLAIN_ASSERT((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) PLAIN_ASSERT((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_null(a, ...) PLAIN_ASSERT(!(a), #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) PLAIN_ASSERT(a, #a " is not NULL", __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) PLAIN_ASSERT(!strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) PLAIN_ASSERT(strcmp(a, b), #a " is not " #b, __VA_ARGS__)
#define cr_assert_str_empty(a, ...) PLAIN_ASSERT(!*(a), #a " is empty", __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)                                                          \
  PLAIN_ASSERT(!memcmp(a, b, size), #a " holds " #b, __VA_ARGS__)
#define cr_assert_arr_neq(a, b, size, ...)                                                         \
  PLAIN_ASSERT(memcmp(a, b, size), #a " holds other than " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...)                                                     \
  PLAIN_ASSERT(fabs((double)(a) - (double)(b)) <= (epsilon), #a " is about " #b, __VA_ARGS__)
#define cr_assert_fail(...) PLAIN_ASSERT(false, "fails", __VA_ARGS__)
#define cr_expect(...) cr_assert(__VA_ARGS__)
#define cr_expect_eq(...) cr_assert_eq(__VA_ARGS__)
#define cr_expect_neq(...) cr_assert_neq(__VA_ARGS__)
#define cr_expect_leq(...) cr_assert_leq(__VA_ARGS__)
#define cr_expect_geq(...) cr_assert_geq(__VA_ARGS__)
#define cr_expect_str_eq(...) cr_assert_str_eq(__VA_ARGS__)
#define cr_expect_not_null(...) cr_assert_not_null(__VA_ARGS__)
#define cr_log_info(...) plain_say(__FILE__, __LINE__, "info", __VA_ARGS__)
#define cr_log_error(...) plain_say(__FILE__, __LINE__, "error", __VA_ARGS__)
#define cr_skip_test(...)                                                                          \
  do {                                                                                             \
    plain_say(__FILE__, __LINE__, "skipped", " " __VA_ARGS__);                                     \
    exit(PLAIN_SKIPPED);                                                                           \
  } while (0)

static inline void plain_run(const plain_test *test)
{
  for (const plain_test *suite = plain_first; suite; suite = suite->next)
    if (!suite->name && !strcmp(suite->suite, test->suite) && suite->init) suite->init();
  if (test->init) test->init();
  test->run();
  if (test->fini) test->fini();
  exit(0);
}

/* False, and says so, if it fails. */
static inline bool plain_passes(const plain_test *test)
{
  int status = 0;
  pid_t child = fork();
  if (child == 0) plain_run(test);
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (test->signal && WIFSIGNALED(status) && WTERMSIG(status) == test->signal) return true;
  if (!test->signal && WIFEXITED(status) &&
      (WEXITSTATUS(status) == test->exit_code || WEXITSTATUS(status) == PLAIN_SKIPPED))
    return true;
  fprintf(stderr, "[FAIL] %s::%s (status 0x%x)\n", test->suite, test->name, (unsigned)status);
  return false;
}

int main(int argc, char **argv)
{
  const char *filter = "*";
  unsigned tested = 0, failed = 0;
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], "--filter")) filter = argv[i + 1];
  for (const plain_test *test = plain_first; test; test = test->next) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s", test->suite, test->name ? test->name : "");
    if (!test->name || fnmatch(filter, name, 0)) continue;
    tested++;
    failed += !plain_passes(test);
  }
  printf("Tested: %u | Failing: %u\n", tested, failed);
  return failed > 0;
}

#endif
