/* Engines from the executable cache while others use, change or remove it.
 * tests/e2e/executable_cache.sh tests whole processes. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <dirent.h>
#include <populus/populus.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

TestSuite(cached, .init = enter_fresh_folder);

enum { NUM_TILES = 3, NUM_PROCESSES = 100 };

/* An engine that copies `value` from tile 0 to tile 2. */
static pop_engine *new_engine(int value)
{
  static const pop_option option = {"target.executableCachePath", "cache"};
  const size_t one = 1;
  pop_graph *graph = new_graph_with_tiles(NUM_TILES);
  pop_tensor from = pop_graph_add_variable(graph, POP_INT, &one, 1, "from");
  pop_tensor to = pop_graph_add_variable(graph, POP_INT, &one, 1, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 2);
  pop_graph_set_initial_value(graph, from, &value);
  pop_graph_create_host_read(graph, "to", to);
  pop_program main = pop_program_copy(from, to, "main");
  assert_no_error(graph);
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, &option, 1, &engine));
  pop_graph_free(graph);
  return engine;
}

static bool was_compiled(const pop_engine *engine)
{
  size_t phases;
  pop_engine_phase_times(engine, &phases);
  return phases > 0;
}

static void expect_value(pop_engine *engine, int value)
{
  int seen;
  expect_ok(pop_engine_load(engine));
  expect_ok(pop_engine_run(engine, 0));
  expect_ok(pop_engine_read_tensor(engine, "to", &seen, sizeof seen));
  cr_assert_eq(seen, value);
}

/* The number of files in the folder. `path` gets the path of the last one. */
static int count_files(char path[512])
{
  DIR *folder = opendir("cache");
  int count = 0;
  if (!folder) return 0;
  for (const struct dirent *found; (found = readdir(folder));)
    if (*found->d_name != '.' || strlen(found->d_name) > 2) {
      snprintf(path, 512, "cache/%s", found->d_name);
      count++;
    }
  closedir(folder);
  return count;
}

static pid_t start_process(void)
{
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child) return child;
  pop_engine *engine = new_engine(41);
  expect_value(engine, 41);
  pop_engine_free(engine);
  _exit(0);
}

Test(cached, H02_a_hundred_processes_make_one_entry)
{
  pid_t children[NUM_PROCESSES];
  char path[512];
  for (int i = 0; i < NUM_PROCESSES; i++) children[i] = start_process();
  for (int i = 0; i < NUM_PROCESSES; i++) {
    int status;
    cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
    cr_assert_eq(status, 0, "process %d: %d", i, status);
  }
  cr_assert_eq(count_files(path), 1, "also %s", path);
  pop_engine *engine = new_engine(41);
  cr_assert_not(was_compiled(engine), "the entry is not found");
  expect_value(engine, 41);
  pop_engine_free(engine);
}

/* An entry that was found stays open: the engine reads its images when it is loaded. */
Test(cached, H03_an_entry_that_goes_while_it_is_used)
{
  char path[512];
  pop_engine_free(new_engine(5));
  for (int damage = 0; damage < 3; damage++) {
    pop_engine *engine = new_engine(5);
    cr_assert_eq(was_compiled(engine), damage > 0, "damage %d", damage - 1);
    cr_assert_eq(count_files(path), 1);
    if (damage == 0) cr_assert_eq(remove(path), 0);
    if (damage == 1) cr_assert_eq(rename("cache", "elsewhere"), 0); /* the folder goes away */
    expect_value(engine, 5);
    pop_engine_free(engine);
  }
}

Test(cached, H03_an_entry_of_another_program_in_its_place)
{
  char mine[512], other[512];
  pop_engine_free(new_engine(5));
  cr_assert_eq(count_files(mine), 1);
  pop_engine *engine = new_engine(5);
  cr_assert_not(was_compiled(engine));
  cr_assert_eq(rename(mine, "kept"), 0);
  pop_engine_free(new_engine(6));
  cr_assert_eq(count_files(other), 1);
  cr_assert_str_neq(mine, other);
  cr_assert_eq(rename(other, mine), 0);
  expect_value(engine, 5); /* from the entry that was found */
  pop_engine_free(engine);
  engine = new_engine(5); /* the entry is now a complete archive of another program */
  cr_assert(was_compiled(engine));
  expect_value(engine, 5);
  pop_engine_free(engine);
  engine = new_engine(5);
  cr_assert_not(was_compiled(engine), "the entry is not replaced");
  pop_engine_free(engine);
}

Test(cached, H05_D01_D06_no_room_for_an_entry)
{
  char path[512];
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = 2000;
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  for (int i = 0; i < 2; i++) {
    pop_engine *engine = new_engine(8);
    cr_assert(was_compiled(engine));
    expect_value(engine, 8);
    pop_engine_free(engine);
    cr_assert_eq(count_files(path), 0, "%s", path);
  }
}

/* Not even root can write there. */
Test(cached, H04_a_folder_that_cannot_be_written)
{
  if (access("/proc/self", X_OK) != 0) cr_skip_test("there is no /proc");
  cr_assert_eq(symlink("/proc/self", "cache"), 0);
  for (int i = 0; i < 2; i++) {
    pop_engine *engine = new_engine(8);
    cr_assert(was_compiled(engine));
    expect_value(engine, 8);
    pop_engine_free(engine);
  }
}
