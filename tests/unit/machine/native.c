/* Native code in the process and in the cache folder. It is made once for all machines of the
 * process and for later processes. Code that is damaged, another user's, or for another processor
 * is not used. */
#include "support/rig.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <machine/native.h>
#include <populus/file.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(native, .init = enter_fresh_folder);

enum { NUM_CODELETS = 3 };

/* Worker 0 runs one of the codelets. The result is in the tile's first word of data. */
static void put_program(assembler *a, uint32_t codelet, uint32_t rounds)
{
  enum { SUPERVISOR_WORDS = 12 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T2, RIG_DATA);
  asm_li(a, T0, rounds);
  uint32_t again = asm_here(a);
  asm_addi(a, A0, A0, (int32_t)codelet + 1);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  asm_store(a, ASM_SW, A0, T2, 0);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

enum { ROUNDS = 1000 };

/* Runs two tiles for each codelet. */
static void run_codelets(machine_options options, uint32_t rounds)
{
  rig r = rig_create_with(2 * NUM_CODELETS, options);
  for (uint32_t i = 0; i < r.num_tiles; i++) put_program(&r.code[i], i / 2, rounds);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 5);
  for (uint32_t i = 0; i < r.num_tiles; i++)
    cr_assert_eq(rig_word(&r, i, RIG_DATA), rounds * (i / 2 + 1));
  rig_free(&r);
}

static machine_options with_folder(const char *folder)
{
  return (machine_options){.engine = MACHINE_TRANSLATOR, .num_threads = 1, .native_folder = folder};
}

static void expect_counters(native_counters found, uint64_t compiled, uint64_t loaded,
                            uint64_t saved, uint64_t refused)
{
  cr_assert(found.compiled == compiled && found.loaded == loaded && found.saved == saved &&
                found.refused == refused,
            "compiled %d, loaded %d, saved %d, refused %d", (int)found.compiled, (int)found.loaded,
            (int)found.saved, (int)found.refused);
}

/* The counters of a separate process that runs the codelets. */
static native_counters run_process(machine_options options)
{
  int ends[2], status;
  native_counters counters;
  cr_assert_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    run_codelets(options, ROUNDS);
    counters = native_get_counters();
    _exit(write(ends[1], &counters, sizeof counters) == sizeof counters ? 0 : 1);
  }
  cr_assert_eq(read(ends[0], &counters, sizeof counters), sizeof counters);
  cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  close(ends[0]);
  close(ends[1]);
  return counters;
}

static void expect_process(uint64_t compiled, uint64_t loaded, uint64_t saved, uint64_t refused)
{
  expect_counters(run_process(with_folder("cache")), compiled, loaded, saved, refused);
}

/* Lists the files in the folder of native code, and returns their number. */
static size_t list_files(char paths[][512], size_t capacity)
{
  char folder[256];
  snprintf(folder, sizeof folder, "cache/native-%ld", (long)geteuid());
  DIR *dir = opendir(folder);
  size_t count = 0;
  for (const struct dirent *entry; dir && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    if (count < capacity) snprintf(paths[count], 512, "%s/%s", folder, entry->d_name);
    count++;
  }
  if (dir) closedir(dir);
  return count;
}

Test(native, machines_of_one_process_share_it)
{
  run_codelets(with_folder(NULL), ROUNDS);
  expect_counters(native_get_counters(), NUM_CODELETS, 0, 0, 0);
  run_codelets(with_folder(NULL), ROUNDS);
  expect_counters(native_get_counters(), NUM_CODELETS, 0, 0, 0);
}

static void *run_many(void *unused)
{
  for (int i = 0; i < 10; i++) run_codelets(with_folder("cache"), ROUNDS);
  return unused;
}

Test(native, T02_machines_in_many_threads_share_it)
{
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) cr_assert_eq(pthread_create(&threads[i], NULL, run_many, NULL), 0);
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
  expect_counters(native_get_counters(), NUM_CODELETS, 0, NUM_CODELETS, 0);
}

Test(native, the_next_process_compiles_nothing)
{
  char paths[NUM_CODELETS][512];
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
  cr_assert_eq(list_files(paths, NUM_CODELETS), NUM_CODELETS);
  expect_process(0, NUM_CODELETS, 0, 0);
}

/* POPULUS_TRANSLATOR_EFFORT: code with another effort has other names in the folder. */
Test(native, code_of_another_effort_is_not_used)
{
  setenv("POPULUS_TRANSLATOR_EFFORT", "least", 1);
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
  expect_process(0, NUM_CODELETS, 0, 0);
  unsetenv("POPULUS_TRANSLATOR_EFFORT");
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
}

/* With the engine auto, the translator's thread looks into the folder. */
Test(native, auto_takes_what_is_there)
{
  const char *error;
  machine_options options = with_folder("cache");
  expect_counters(run_process(options), NUM_CODELETS, 0, NUM_CODELETS, 0);
  options.engine = MACHINE_AUTO;
  options.warm_up = 1000;
  cr_assert(native_module_load(&error), "%s", error);
  rig r = rig_create_with(2 * NUM_CODELETS, options);
  for (uint32_t i = 0; i < r.num_tiles; i++) put_program(&r.code[i], i / 2, ROUNDS);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 5);
  for (int i = 0; native_get_counters().loaded < NUM_CODELETS - 1;
       i++) { /* the first tile's was cold */
    cr_assert_lt(i, 6000);
    usleep(10000);
  }
  rig_free(&r);
  cr_assert_eq(native_get_counters().compiled, 0);
}

/* An unused folder has no native code. LLVM takes longer to load than the interpreter needs for so
 * little. */
Test(native, auto_does_not_look_into_a_folder_that_nobody_has_used)
{
  enum { MORE_THAN_PAYS_TO_LOOK = 16000000 /* rounds of 3 instructions */ };
  rig r = rig_create_with(
      1, (machine_options){.engine = MACHINE_AUTO, .num_threads = 1, .native_folder = "cache"});
  put_program(&r.code[0], 0, MORE_THAN_PAYS_TO_LOOK);
  rig_load(&r);
  cr_assert_eq(rig_run(&r), 5);
  usleep(400000); /* for the translator's thread, if there were one */
  cr_assert_null(native_module_identity());
  rig_free(&r);
}

static void flip_byte(const char *path, off_t at)
{
  uint8_t byte;
  int fd = open(path, O_RDWR);
  cr_assert_geq(fd, 0);
  cr_assert_eq(pread(fd, &byte, 1, at), 1);
  byte ^= 4;
  cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}

/* Worker 0 runs three times. Its code leaves by an address from memory for a loop that nothing else
 * leads to. */
static void put_jump(assembler *a)
{
  enum { LOOP_WORD = 20, ENTRY_WORD = 24, NUM_RUNS = 3 };
  asm_li(a, T0, RIG_CODE + 4 * ENTRY_WORD);
  asm_li(a, T1, NUM_RUNS);
  uint32_t again = asm_here(a);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  asm_addi(a, T1, T1, -1);
  asm_branch(a, ASM_BNE, T1, ZERO, again);
  rig_report(a, 5);
  asm_nops(a, LOOP_WORD - (uint32_t)a->count);
  uint32_t loop = asm_here(a);
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, loop);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
  asm_nops(a, ENTRY_WORD - (uint32_t)a->count);
  asm_li(a, T2, RIG_DATA);
  asm_li(a, T1, loop);
  asm_store(a, ASM_SW, T1, T2, 0);
  asm_load(a, ASM_LW, T1, T2, 0);
  asm_li(a, T0, ROUNDS);
  asm_jalr(a, ZERO, T1, 0);
}

/* Otherwise a loop that native code leaves to call it again would be interpreted to its end. */
Test(native, auto_goes_on_where_native_code_ends)
{
  enum { TRIES = 1000 };
  for (int i = 0; i < TRIES && native_get_counters().compiled < 2; i++) {
    rig r = rig_create_with(1, (machine_options){.engine = MACHINE_AUTO, .warm_up = 1});
    put_jump(&r.code[0]);
    rig_load(&r);
    cr_assert_eq(rig_run(&r), 5);
    rig_free(&r);
    usleep(10000);
  }
  cr_assert_geq(native_get_counters().compiled, 2, "the loop stayed with the interpreter");
}

/* A run longer than the time that native code is given at once: it asks for more. Otherwise the
 * interpreter would continue, and new native code would be made for the place where it is then. */
Test(native, a_long_loop_stays_native)
{
  enum { MANY_ROUNDS = 40000000 };
  run_codelets((machine_options){.engine = MACHINE_TRANSLATOR}, MANY_ROUNDS);
  expect_counters(native_get_counters(), NUM_CODELETS, 0, 0, 0);
}

Test(native, H01_damaged_entries_are_made_again)
{
  char paths[NUM_CODELETS][512];
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
  cr_assert_eq(list_files(paths, NUM_CODELETS), NUM_CODELETS);
  struct stat status;
  cr_assert_eq(stat(paths[0], &status), 0);
  for (off_t at = 0; at < status.st_size; at += status.st_size / 9) { /* one byte flipped */
    flip_byte(paths[0], at);
    expect_process(1, NUM_CODELETS - 1, 1, 1);
  }
  static const int sizes[] = {0, 1, 63, 64, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    cr_assert_eq(truncate(paths[1], sizes[i]), 0);
    expect_process(1, NUM_CODELETS - 1, 1, 1);
  }
  cr_assert(!unlink(paths[2]) && !rename(paths[1], paths[2])); /* the code of another codelet */
  expect_process(2, NUM_CODELETS - 2, 2, 1);
  cr_assert(!unlink(paths[2]) && !mkdir(paths[2], 0700));
  expect_process(1, NUM_CODELETS - 1, 0, 1);
  cr_assert(!rmdir(paths[2]) && !unlink(paths[0]) && !symlink("/dev/zero", paths[0]));
  expect_process(2, NUM_CODELETS - 2, 2, 1);
}

/* The entry of another processor replaces ours. */
Test(native, H08_code_for_another_processor_is_not_used)
{
  char paths[NUM_CODELETS][512];
  uint8_t *bytes;
  size_t size;
  const char *error;
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
  cr_assert_eq(list_files(paths, NUM_CODELETS), NUM_CODELETS);
  expect_ok(pop_file_read(paths[0], SIZE_MAX, &bytes, &size));
  uint8_t *features = memmem(bytes, size, "+f16c", 5);
  cr_assert_not_null(features);
  features[0] = '-';
  pid_t child = fork(); /* this process stays without LLVM */
  if (child == 0) {
    if (!native_module_load(&error) || !native_module_enter(false)) _exit(1);
    native_module_digest(bytes, size - TRANSLATOR_DIGEST_BYTES,
                         bytes + size - TRANSLATOR_DIGEST_BYTES);
    native_module_leave();
    pop_output *output;
    pop_error *failed = pop_output_open(paths[0], &output);
    if (!failed) failed = pop_output_write(output, bytes, size);
    if (!failed) failed = pop_output_commit(output);
    _exit(failed ? 1 : 0);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && status == 0);
  free(bytes);
  expect_process(1, NUM_CODELETS - 1, 1, 1);
  expect_process(0, NUM_CODELETS, 0, 0);
}

/* A copy of the module with another contract than this machine's. */
static void make_foreign_module(const char *folder)
{
  uint8_t *bytes;
  size_t size;
  char *from = pop_xasprintf("%s/populus-translator.so", getenv("POPULUS_DATA_DIR"));
  void *library = dlopen(from, RTLD_NOW | RTLD_LOCAL);
  const translator_interface *ours = library ? dlsym(library, "translator_module") : NULL;
  cr_assert_not_null(ours);
  char *to = pop_xasprintf("%s/populus-translator.so", folder);
  expect_ok(pop_file_read(from, SIZE_MAX, &bytes, &size));
  char *found = memmem(bytes, size, ours->contract, strlen(ours->contract));
  cr_assert_not_null(found);
  found[0] ^= 1;
  pop_output *output;
  expect_ok(pop_output_open(to, &output));
  expect_ok(pop_output_write(output, bytes, size));
  expect_ok(pop_output_commit(output));
  free(bytes);
  free(from);
  free(to);
}

static void name_unit(const code_unit *unit, char name[NATIVE_NAME_BYTES])
{
  pop_bytes material = {0};
  native_file_material(unit, &material);
  native_file_name(&material, name);
  pop_bytes_free(&material);
}

static void expect_other_name(const code_unit *unit, const char *name, const char *what)
{
  char other[NATIVE_NAME_BYTES];
  name_unit(unit, other);
  cr_assert_str_neq(other, name, "%s", what);
}

/* Every input of the translator is in the name: code with the same name counts as the same. */
Test(native, what_is_compiled_is_in_its_name)
{
  code_function function = {0};
  code_block block = {.num_targets = 1};
  code_op op = {.id = OP_ADDI};
  int32_t target = 0;
  const code_unit unit = {.functions = &function,
                          .num_functions = 1,
                          .blocks = &block,
                          .num_blocks = 1,
                          .ops = &op,
                          .num_ops = 1,
                          .targets = &target,
                          .num_targets = 1};
  char name[NATIVE_NAME_BYTES];
  cr_assert(native_module_enter(false));
  name_unit(&unit, name);
  uint32_t *const words[] = {&function.entry, &function.first_block, &function.num_blocks,
                             &block.pc,       &block.pc_end,         &block.first_op,
                             &block.num_ops,  &block.first_target,   &block.num_targets,
                             &op.cost,        (uint32_t *)&op.imm,   (uint32_t *)&target};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    ++*words[i];
    expect_other_name(&unit, name, "a number of the code");
    --*words[i];
  }
  code_unit other = unit;
  uint32_t *const fields[] = {&other.checked,           &other.num_starts,
                              &other.readable_is_moved, &other.writable_is_moved,
                              &other.readable.start,    &other.readable.bytes,
                              &other.writable.start,    &other.writable.bytes};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    *fields[i] = 1;
    expect_other_name(&other, name, "a number of the unit");
    other = unit;
  }
  native_module_leave();
}

Test(native, a_module_of_another_build_is_refused)
{
  machine *m;
  pop_target target;
  make_foreign_module(".");
  cr_assert_eq(setenv("POPULUS_DATA_DIR", ".", 1), 0);
  expect_ok(pop_target_create("ipu2", 1, &target));
  expect_error(
      machine_create(&target, &(machine_options){.engine = MACHINE_TRANSLATOR}, &m),
      POP_ERROR_SYSTEM,
      "tile code cannot be translated: ./populus-translator.so belongs to another build of "
      "Populus: install it together with what uses it",
      "translator");
  run_codelets((machine_options){.engine = MACHINE_AUTO, .warm_up = 1}, ROUNDS);
  expect_counters(native_get_counters(), 0, 0, 0, 0);
}

Test(native, H04_what_others_may_write_is_not_used)
{
  char paths[NUM_CODELETS][512], folder[256];
  snprintf(folder, sizeof folder, "cache/native-%ld", (long)geteuid());
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
  cr_assert_eq(list_files(paths, NUM_CODELETS), NUM_CODELETS);
  cr_assert_eq(chmod(paths[0], 0620), 0);
  expect_process(1, NUM_CODELETS - 1, 1, 1);
  expect_process(0, NUM_CODELETS, 0, 0);
  cr_assert_eq(chmod(folder, 0770), 0);
  expect_process(NUM_CODELETS, 0, 0, 0);
  cr_assert_eq(chmod(folder, 0700), 0);
  expect_process(0, NUM_CODELETS, 0, 0);
  if (geteuid() != 0) return; /* only root can give files away */
  cr_assert_eq(chown(paths[0], 12345, (gid_t)-1), 0);
  expect_process(1, NUM_CODELETS - 1, 1, 1);
}

Test(native, H04_a_folder_that_cannot_be_is_done_without)
{
  FILE *file = fopen("file", "wb");
  cr_assert(file && !fclose(file));
  expect_counters(run_process(with_folder("file/cache")), NUM_CODELETS, 0, 0, 0);
}

Test(native, H05_D01_a_full_disk_leaves_nothing_behind)
{
  char paths[1][512];
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = 500;
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expect_process(NUM_CODELETS, 0, 0, 0);
  cr_assert_eq(list_files(paths, 1), 0);
  limit.rlim_cur = limit.rlim_max;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expect_process(NUM_CODELETS, 0, NUM_CODELETS, 0);
}

Test(native, H09_the_least_recently_used_goes)
{
  char paths[NUM_CODELETS][512];
  machine_options options = with_folder("cache");
  options.native_folder_max_bytes = 1;
  expect_counters(run_process(options), NUM_CODELETS, 0, NUM_CODELETS, 0);
  cr_assert_eq(list_files(paths, NUM_CODELETS), 1);
}

/* A child has no thread that could compile. It does without LLVM if the parent was using it. */
Test(native, T04_a_child_of_a_process_that_translates)
{
  run_codelets(with_folder(NULL), ROUNDS);
  pid_t child = fork();
  if (child == 0) {
    run_codelets(with_folder(NULL), ROUNDS);
    run_codelets(with_folder(NULL), ROUNDS + 1);
    run_codelets((machine_options){.engine = MACHINE_AUTO}, ROUNDS + 2);
    exit(native_get_counters().compiled == 2 * NUM_CODELETS ? 0 : 1);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Worker 0 of tile i runs a loop of its own that takes some time to compile. */
static void put_long_loop(assembler *a, uint32_t tile)
{
  enum { SUPERVISOR_WORDS = 12, LOOP_WORDS = 60, NUM_ROUNDS = 10000 };
  asm_li(a, T0, RIG_CODE + 4 * SUPERVISOR_WORDS);
  asm_tile(a, TILE_RUN, 0, T0, ZERO);
  asm_tile(a, TILE_WAIT, 0, 0, 0);
  rig_report(a, 5);
  asm_nops(a, SUPERVISOR_WORDS - (uint32_t)a->count);
  asm_li(a, T2, RIG_DATA);
  asm_li(a, T0, NUM_ROUNDS);
  uint32_t again = asm_here(a);
  for (uint32_t i = 0; i < LOOP_WORDS / 3; i++) {
    asm_load(a, ASM_LW, A0, T2, (int32_t)(4 * (i + tile)));
    asm_add(a, A0, A0, T0);
    asm_store(a, ASM_SW, A0, T2, (int32_t)(8 * i));
  }
  asm_addi(a, T0, T0, -1);
  asm_branch(a, ASM_BNE, T0, ZERO, again);
  asm_tile(a, TILE_EXIT, 0, 0, 0);
}

#if defined(__SANITIZE_THREAD__)
enum { LONG_TILES = 8, NUM_EXITS = 4 };
#else
enum { LONG_TILES = 8, NUM_EXITS = 10 };
#endif

/* LLVM's exit handlers run before this one, which gives threads inside of LLVM the time to
 * crash. */
static void end_slowly(void)
{
  usleep(400000);
}

static void exit_while_compiling(unsigned milliseconds, bool is_loaded)
{
  const char *error;
  atexit(end_slowly);
  if (is_loaded && !native_module_load(&error)) _exit(1);
  rig r = rig_create_with(LONG_TILES, (machine_options){.engine = MACHINE_AUTO, .warm_up = 1000});
  for (uint32_t i = 0; i < LONG_TILES; i++) put_long_loop(&r.code[i], i);
  rig_load(&r);
  rig_run(&r);
  usleep(1000 * milliseconds);
  exit(0);
}

/* The translator's thread is loading LLVM, is at work in it, or waits, as in a stream's
 * callback. */
Test(native, E09_the_process_may_end_at_any_time)
{
  for (unsigned i = 0; i < NUM_EXITS; i++) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) exit_while_compiling(i * i, i % 4);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "after %u ms: status 0x%x", i * i,
              (unsigned)status);
  }
}
