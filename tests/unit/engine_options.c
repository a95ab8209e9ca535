/* Engine options: defaults, the call, the environment, and everything that can be wrong with them. */
#include "engine/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static pop_error *parse(const char *environment, const pop_option *options, size_t count,
                        engine_options *parsed)
{
  if (environment)
    setenv("POPLAR_ENGINE_OPTIONS", environment, 1);
  else
    unsetenv("POPLAR_ENGINE_OPTIONS");
  return engine_options_parse(options, count, ON_COMPILE | ON_SAVE | ON_RUN, parsed);
}

/* The message of the error that these options must give; checks the code. */
static void expect_error(const char *environment, const pop_option *options, size_t count,
                         const char *fragment)
{
  engine_options parsed;
  pop_error *error = parse(environment, options, count, &parsed);
  cr_assert_not_null(error, "no error for %s", environment ? environment : "the call's options");
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_INVALID_OPTION);
  cr_assert_eq(pop_error_exit_status(error), 2);
  cr_assert_not_null(strstr(pop_error_message(error), fragment), "'%s' lacks '%s'",
                     pop_error_message(error), fragment);
  pop_error_free(error);
}

Test(engine_options, defaults)
{
  engine_options parsed;
  cr_assert_null(parse(NULL, NULL, 0, &parsed));
  cr_assert_null(parsed.save_archive);
  cr_assert(!parsed.allow_out_of_memory);
  cr_assert(!parsed.keep_duplicate_code);
  cr_assert_eq(parsed.worker_stack_bytes, 0);
  engine_options_free(&parsed);
}

Test(engine_options, O04_the_environment_wins_over_the_call)
{
  const pop_option given[] = {{"target.saveArchive", "call.a"}, {"debug.allowOutOfMemory", "true"}};
  engine_options parsed;
  cr_assert_null(parse("{\"target.saveArchive\":\"environment.a\"}", given, 2, &parsed));
  cr_assert_str_eq(parsed.save_archive, "environment.a");
  cr_assert(parsed.allow_out_of_memory);
  engine_options_free(&parsed);
}

static void set_variables(const char *engine, const char *threads)
{
  setenv("POPULUS_TILE_ENGINE", engine, 1);
  setenv("POPULUS_TILE_THREADS", threads, 1);
}

Test(engine_options, O04_variables_for_one_option_stand_between_the_call_and_the_environment)
{
  const pop_option given[] = {{"target.tileEngine", "auto"}, {"target.tileEngineThreads", "3"}};
  engine_options parsed;
  set_variables("interpreter", "0x7");
  cr_assert_null(parse(NULL, given, 2, &parsed));
  cr_assert_eq(parsed.run.machine.engine, MACHINE_INTERPRETER);
  cr_assert_eq(parsed.run.machine.num_threads, 7);
  engine_options_free(&parsed);
  cr_assert_null(parse("{\"target.tileEngine\":\"translator\"}", given, 2, &parsed));
  cr_assert_eq(parsed.run.machine.engine, MACHINE_TRANSLATOR);
  cr_assert_eq(parsed.run.machine.num_threads, 7);
  engine_options_free(&parsed);
  set_variables("", "");
  cr_assert_null(parse(NULL, given, 2, &parsed));
  cr_assert_eq(parsed.run.machine.engine, MACHINE_AUTO);
  cr_assert_eq(parsed.run.machine.num_threads, 3);
  engine_options_free(&parsed);
}

Test(engine_options, O03_a_bad_value_of_a_variable_names_it)
{
  set_variables("interpretor", "");
  expect_error(NULL, NULL, 0, "POPULUS_TILE_ENGINE: option 'target.tileEngine' cannot be");
  set_variables("auto", "many");
  expect_error(NULL, NULL, 0, "POPULUS_TILE_THREADS: option 'target.tileEngineThreads' cannot be");
}

Test(engine_options, O03_strings_and_JSON_scalars_are_both_taken)
{
  static const char *const spellings[] = {
      "{\"debug.allowOutOfMemory\":true,\"debug.workerStackSizeInBytes\":4096}",
      "{\"debug.allowOutOfMemory\":\"true\",\"debug.workerStackSizeInBytes\":\"4096\"}",
      "{\"debug.allowOutOfMemory\":\"true\",\"debug.workerStackSizeInBytes\":\"0x1000\"}",
  };
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; ++i) {
    engine_options parsed;
    cr_assert_null(parse(spellings[i], NULL, 0, &parsed));
    cr_assert(parsed.allow_out_of_memory);
    cr_assert_eq(parsed.worker_stack_bytes, 4096);
    engine_options_free(&parsed);
  }
}

Test(engine_options, O03_values_out_of_range_and_keys_given_twice)
{
  expect_error("{\"debug.allowOutOfMemory\":\"yes\"}", NULL, 0, "true or false");
  expect_error("{\"debug.workerStackSizeInBytes\":\"100\"}", NULL, 0, "multiple of 16");
  expect_error("{\"debug.workerStackSizeInBytes\":-16}", NULL, 0, "multiple of 16");
  expect_error("{\"debug.workerStackSizeInBytes\":\"16 bytes\"}", NULL, 0, "multiple of 16");
  expect_error("{\"debug.maxCyclesPerRun\":\"99999999999999999999999\"}", NULL, 0, "cycles");
  expect_error("{\"target.saveArchive\":null}", NULL, 0, "a string, a number or a boolean");
  expect_error("{\"target.saveArchive\":\"a\",\"target.saveArchive\":\"b\"}", NULL, 0, "byte");
  const pop_option twice[] = {{"target.saveArchive", "a"}, {"target.saveArchive", "b"}};
  expect_error(NULL, twice, 2, "given twice");
}

Test(engine_options, O02_an_unknown_key_names_its_nearest)
{
  const pop_option near[] = {{"target.savearchive", "a"}};
  expect_error(NULL, near, 1, "did you mean 'target.saveArchive'?");
  const pop_option far[] = {{"colour of the sky", "blue"}};
  expect_error(NULL, far, 1, "debug.allowOutOfMemory");
  expect_error("{\"debug.alowOutOfMemory\":true}", NULL, 0, "'debug.allowOutOfMemory'?");
}

Test(engine_options, O01_an_environment_that_is_not_a_JSON_object)
{
  expect_error("target.saveArchive=archive.a", NULL, 0, "is not JSON");
  expect_error("{\"target.saveArchive\":\"a\"} trailing", NULL, 0, "at byte");
  expect_error("[\"target.saveArchive\"]", NULL, 0, "not an object");
  expect_error("{\"target.saveArchive\":{\"a\":1}}", NULL, 0, "a string, a number or a boolean");
  char *deep = malloc(1000001);
  memset(deep, '[', 1000000);
  deep[1000000] = '\0';
  expect_error(deep, NULL, 0, "is not JSON");
  free(deep);
}

Test(engine_options, every_option_of_the_table_takes_its_default)
{
  size_t count;
  const pop_option_info *table = pop_engine_option_table(&count);
  cr_assert_gt(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const pop_option option = {table[i].key, table[i].default_value};
    engine_options parsed;
    pop_error *error = parse(NULL, &option, 1, &parsed);
    cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
    engine_options_free(&parsed);
  }
}

Test(engine_options,
     an_option_of_another_stage_is_an_error_in_the_call_and_left_out_of_the_environment)
{
  const pop_option compile = {"debug.workerStackSizeInBytes", "4096"};
  const pop_option run = {"debug.maxCyclesPerRun", "7"};
  engine_options parsed;
  unsetenv("POPLAR_ENGINE_OPTIONS");
  pop_error *error = engine_options_parse(&compile, 1, ON_RUN, &parsed);
  cr_assert_not_null(error);
  cr_assert_not_null(
      strstr(pop_error_message(error), "'debug.workerStackSizeInBytes' is about comp"));
  pop_error_free(error);
  error = engine_options_parse(&run, 1, ON_COMPILE | ON_SAVE, &parsed);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "'debug.maxCyclesPerRun' is about running"));
  pop_error_free(error);
  setenv("POPLAR_ENGINE_OPTIONS",
         "{\"debug.workerStackSizeInBytes\":4096,\"debug.maxCyclesPerRun\":7}", 1);
  cr_assert_null(engine_options_parse(NULL, 0, ON_RUN, &parsed));
  cr_assert_eq(parsed.worker_stack_bytes, 0);
  cr_assert_eq(parsed.run.machine.max_cycles_per_run, 7);
  engine_options_free(&parsed);
}
