/* Engine options: defaults, the call, the environment, and all kinds of mistakes in them. */
#include "options/options.h"
#include "options/option_table.h"
#include "support/comma_locale.h"

#include <criterion/criterion.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <stdlib.h>
#include <string.h>

static pop_error *parse(const char *environment, const pop_option *options, size_t count,
                        engine_options *parsed)
{
  if (environment)
    setenv("POPLAR_ENGINE_OPTIONS", environment, 1);
  else
    unsetenv("POPLAR_ENGINE_OPTIONS");
  return engine_options_parse(options, count, ON_ALL_STAGES, NULL, parsed);
}

/* These options must give an error with this fragment. Also checks the code. */
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
  unsetenv("POPULUS_STRICT_LOADS"); /* our tests set it */
  cr_assert_null(parse(NULL, NULL, 0, &parsed));
  cr_assert_str_empty(parsed.save_archive);
  cr_assert(!parsed.allow_out_of_memory);
  cr_assert(!parsed.keep_duplicate_code);
  cr_assert_eq(parsed.worker_stack_bytes, 0);
  cr_assert_eq(parsed.run.machine.engine, MACHINE_AUTO);
  cr_assert_eq(parsed.run.machine.max_cycles_per_run, 1000000000000);
  for (option_stage stage = ON_COMPILE; stage <= ON_RUN; stage += ON_RUN - ON_COMPILE) {
    size_t count;
    options_given(&parsed, stage, &count);
    cr_assert_eq(count, 0);
  }
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
      "{\"debug.allowOutOfMemory\":\"true\",\"debug.workerStackSizeInBytes\":\"04096\"}",
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

Test(engine_options, O03_seconds_and_choices)
{
  engine_options parsed;
  cr_assert_null(parse("{\"target.hostSyncTimeout\":\"300.00\"}", NULL, 0, &parsed));
  cr_assert_eq(parsed.run.host_sync_timeout, 300);
  engine_options_free(&parsed);
  cr_assert_null(parse("{\"target.hostSyncTimeout\":0.25}", NULL, 0, &parsed));
  cr_assert_eq(parsed.run.host_sync_timeout, 0.25);
  engine_options_free(&parsed);
  static const char *const bad[] = {"-1", "1e3", "1.2.3", "", ".", "inf", "99999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    const pop_option option = {"target.hostSyncTimeout", bad[i]};
    expect_error(NULL, &option, 1, "it takes seconds");
  }
  const pop_option choice = {"target.syncMethod", "Polling"};
  expect_error(NULL, &choice, 1, "default, polling or hybrid");
}

Test(engine_options, O03_the_locale_of_the_program_does_not_matter)
{
  engine_options parsed;
  if (!use_comma_locale()) cr_skip_test("there is no localedef");
  cr_assert_null(parse("{\"target.hostSyncTimeout\":0.25}", NULL, 0, &parsed));
  cr_assert_eq(parsed.run.host_sync_timeout, 0.25);
  engine_options_free(&parsed);
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

/* An executable that was compiled with this option. */
static pop_executable *compiled_with(const char *key, const char *value)
{
  pop_executable *e = executable_new();
  pop_push(e->options, e->num_options, e->options_capacity, (executable_option){key, value});
  return e;
}

Test(engine_options, an_option_about_compiling_must_be_what_the_executable_was_compiled_with)
{
  pop_executable *e = compiled_with("debug.workerStackSizeInBytes", "4096");
  const pop_option same[] = {{"debug.workerStackSizeInBytes", "0x1000"},
                             {"debug.allowOutOfMemory", "false"}};
  const pop_option other = {"debug.workerStackSizeInBytes", "64"};
  const pop_option not_default = {"debug.allowOutOfMemory", "true"};
  engine_options parsed;
  unsetenv("POPLAR_ENGINE_OPTIONS");
  cr_assert_null(engine_options_parse(same, 2, ON_RUN, e, &parsed));
  engine_options_free(&parsed);
  pop_error *error = engine_options_parse(&other, 1, ON_RUN, e, &parsed);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "with '4096', not '64'"), "%s",
                     pop_error_message(error));
  pop_error_free(error);
  error = engine_options_parse(&not_default, 1, ON_RUN, e, &parsed);
  cr_assert_not_null(error);
  cr_assert_not_null(strstr(pop_error_message(error), "with 'false', not 'true'"));
  pop_error_free(error);
  pop_executable_free(e);
}

Test(engine_options,
     an_option_about_running_that_was_given_to_the_compilation_is_the_engines_default)
{
  const pop_option run = {"debug.maxCyclesPerRun", "0x10"}, later = {"debug.maxCyclesPerRun", "9"};
  engine_options parsed;
  size_t count;
  unsetenv("POPLAR_ENGINE_OPTIONS");
  cr_assert_null(engine_options_parse(&run, 1, ON_COMPILE | ON_SAVE, NULL, &parsed));
  const executable_option *given = options_given(&parsed, ON_RUN, &count);
  cr_assert_eq(count, 1);
  cr_assert_str_eq(given[0].value, "16");
  engine_options_free(&parsed);
  const pop_option wrong = {"debug.maxCyclesPerRun", "many"};
  pop_error *error = engine_options_parse(&wrong, 1, ON_COMPILE | ON_SAVE, NULL, &parsed);
  cr_assert_not_null(error);
  pop_error_free(error);

  pop_executable *e = executable_new();
  pop_push(e->run_options, e->num_run_options, e->run_options_capacity,
           (executable_option){"debug.maxCyclesPerRun", "16"});
  cr_assert_null(engine_options_parse(NULL, 0, ON_RUN, e, &parsed));
  cr_assert_eq(parsed.run.machine.max_cycles_per_run, 16);
  engine_options_free(&parsed);
  cr_assert_null(engine_options_parse(&later, 1, ON_RUN, e, &parsed));
  cr_assert_eq(parsed.run.machine.max_cycles_per_run, 9);
  engine_options_free(&parsed);
  pop_executable_free(e);
}

Test(engine_options, options_of_another_stage_are_left_out_of_the_environment)
{
  engine_options parsed;
  setenv("POPLAR_ENGINE_OPTIONS",
         "{\"debug.workerStackSizeInBytes\":4096,\"debug.maxCyclesPerRun\":7}", 1);
  cr_assert_null(engine_options_parse(NULL, 0, ON_RUN, NULL, &parsed));
  cr_assert_eq(parsed.worker_stack_bytes, 0);
  cr_assert_eq(parsed.run.machine.max_cycles_per_run, 7);
  engine_options_free(&parsed);
  setenv("POPLAR_ENGINE_OPTIONS", "{\"debug.workerStackSizeInBytes\":-4096}", 1);
  pop_error *error = engine_options_parse(NULL, 0, ON_RUN, NULL, &parsed);
  cr_assert_not_null(error);
  pop_error_free(error);
}

Test(engine_options, given_options_are_those_that_are_not_the_default_in_the_order_of_the_table)
{
  const pop_option options[] = {{"debug.supervisorStackSizeInBytes", "0x40"},
                                {"debug.keepDuplicateCode", "false"},
                                {"target.archiveSections", "byCategory"},
                                {"target.saveArchive", "a"}};
  engine_options parsed;
  size_t count;
  cr_assert_null(parse(NULL, options, 4, &parsed));
  const executable_option *given = options_given(&parsed, ON_COMPILE, &count);
  cr_assert_eq(count, 2);
  cr_assert_str_eq(given[0].key, "target.archiveSections");
  cr_assert_str_eq(given[1].key, "debug.supervisorStackSizeInBytes");
  cr_assert_str_eq(given[1].value, "64");
  engine_options_free(&parsed);
}

/* The value of debug.maxCyclesPerRun; each of the three variables may be NULL. */
static uint64_t max_cycles(const char *engine, const char *runtime, const char *simulator)
{
  const char *const names[] = {"POPLAR_ENGINE_OPTIONS", "POPLAR_RUNTIME_OPTIONS",
                               "POPLAR_SIMULATOR_OPTIONS"};
  const char *const values[] = {engine, runtime, simulator};
  const pop_option call = {"debug.maxCyclesPerRun", "1"};
  for (size_t i = 0; i < 3; ++i)
    if (values[i])
      setenv(names[i], values[i], 1);
    else
      unsetenv(names[i]);
  engine_options parsed;
  pop_error *error = engine_options_parse(&call, 1, ON_ALL_STAGES, NULL, &parsed);
  cr_assert_null(error, "%s", error ? pop_error_message(error) : "");
  uint64_t value = parsed.run.machine.max_cycles_per_run;
  engine_options_free(&parsed);
  return value;
}

Test(engine_options, O04_of_the_environments_variables_the_more_special_wins)
{
  const char *two = "{\"debug.maxCyclesPerRun\":2}", *three = "{\"debug.maxCyclesPerRun\":3}",
             *four = "{\"debug.maxCyclesPerRun\":4}";
  cr_assert_eq(max_cycles(NULL, NULL, NULL), 1);
  cr_assert_eq(max_cycles(two, NULL, NULL), 2);
  cr_assert_eq(max_cycles(two, three, NULL), 3);
  cr_assert_eq(max_cycles(two, three, four), 4);
  cr_assert_eq(max_cycles(two, NULL, four), 4);
}

Test(engine_options, O02_each_variable_of_the_environment_has_its_keys)
{
  setenv("POPLAR_RUNTIME_OPTIONS", "{\"target.saveArchive\":\"a\"}", 1);
  expect_error(NULL, NULL, 0,
               "POPLAR_RUNTIME_OPTIONS: option 'target.saveArchive' is not about "
               "running: put it into POPLAR_ENGINE_OPTIONS");
  setenv("POPLAR_RUNTIME_OPTIONS", "{\"target.tileEngin\":\"auto\"}", 1);
  expect_error(NULL, NULL, 0, "did you mean 'target.tileEngine'?");
  unsetenv("POPLAR_RUNTIME_OPTIONS");
  setenv("POPLAR_SIMULATOR_OPTIONS", "{\"exchange.enablePrefetch\":true}", 1);
  expect_error(NULL, NULL, 0, "'exchange.enablePrefetch' is not about the software IPU");
  setenv("POPLAR_SIMULATOR_OPTIONS", "7", 1);
  expect_error(NULL, NULL, 0, "POPLAR_SIMULATOR_OPTIONS: it is");
}

/* runtime/README.md has this table for users. */
Test(engine_options, the_table_in_the_README_is_the_table)
{
  char *path = pop_xasprintf("%s/runtime/README.md", getenv("POPULUS_SOURCE_DIR"));
  uint8_t *text = NULL;
  size_t size = 0, count;
  cr_assert_null(pop_file_read(path, 1 << 20, &text, &size));
  const pop_option_info *table = pop_engine_option_table(&count);
  const char *at = strstr((char *)text, "| key | values | default | effect |\n|---|---|---|---|\n");
  cr_assert_not_null(at);
  at = strchr(strchr(at, '\n') + 1, '\n') + 1;
  for (size_t i = 0; i < count; ++i) {
    const char *preset = table[i].default_value;
    char *row = pop_xasprintf("| `%s` | %s | %s%s%s | %s |\n", table[i].key, table[i].values,
                              *preset ? "`" : "", preset, *preset ? "`" : "", table[i].effect);
    cr_assert(strncmp(at, row, strlen(row)) == 0, "runtime/README.md should have here:\n%s", row);
    at += strlen(row);
    free(row);
  }
  cr_assert_neq(*at, '|', "runtime/README.md has options that do not exist");
  char *simulator = pop_xstrdup("those about the software IPU:");
  const option_entry *entries = option_table(&count);
  for (size_t i = 0; i < count; ++i) {
    if (!entries[i].simulator) continue;
    char *longer = pop_xasprintf("%s%s `%s`", simulator, strchr(simulator, '`') ? "," : "",
                                 entries[i].info.key);
    free(simulator);
    simulator = longer;
  }
  cr_assert_not_null(strstr((char *)text, simulator), "runtime/README.md should have: %s",
                     simulator);
  free(simulator);
  free(text);
  free(path);
}
