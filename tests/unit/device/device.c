/* Devices: which exist, who may attach to them (also with other processes), and engines on them. */
#include "support/expect.h"

#include <populus/populus.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void in_fresh_folder(void)
{
  enter_fresh_folder();
  cr_assert_eq(mkdir("run", 0700), 0);
  cr_assert_eq(setenv("POPULUS_RUN_DIR", "run", 1), 0);
}

static pop_device_manager *new_manager(const char *devices)
{
  pop_device_manager *manager;
  if (devices) setenv("POPULUS_DEVICES", devices, 1);
  expect_ok(pop_device_manager_create(&manager));
  return manager;
}

static pop_device *get(const pop_device_manager *manager, size_t id)
{
  pop_device *device;
  expect_ok(pop_device_manager_get_device(manager, id, &device));
  return device;
}

/* ---- existing devices ---- */

Test(device, nothing_configured_is_64_ipus_and_their_groups, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager(NULL);
  cr_assert_eq(pop_device_manager_num_devices(manager), 64 + 32 + 16 + 8 + 4 + 2 + 1);
  pop_device *list[64];
  cr_assert_eq(pop_device_manager_get_devices(manager, POP_TARGET_IPU, 1, list, 64), 64);
  cr_assert_eq(pop_device_id(list[63]), 63);
  cr_assert_eq(pop_device_manager_get_devices(manager, POP_TARGET_IPU, 64, list, 1), 1);
  cr_assert_eq(pop_device_manager_get_devices(manager, POP_TARGET_IPU, 3, list, 64), 0);
  cr_assert_eq(pop_device_manager_get_devices(manager, POP_TARGET_CPU, 1, list, 64), 0);
  cr_assert_eq(pop_device_manager_get_devices(manager, POP_TARGET_IPU, 4, list, 2), 16);
  const pop_target *target = pop_device_target(list[1]);
  cr_assert_str_eq(target->name, "ipu2");
  cr_assert_eq(target->type, POP_TARGET_IPU);
  cr_assert_eq(pop_target_num_tiles(target), 4 * 1472);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(pop_device_driver_ids(list[1])[i], 4 + i);
  cr_assert_eq(get(manager, pop_device_id(list[1])), list[1]);
  pop_device *none;
  expect_error(pop_device_manager_get_device(manager, 127, &none), POP_ERROR_INDEX,
               "there is no device 127: there are 127", "past the end");
  pop_device_manager_free(manager);
}

Test(device, configuration_as_text_and_as_file, .init = in_fresh_folder)
{
  static const char text[] =
      " [{\"target\":\"ipu1\",\"ipus\":3}, {\"name\":\"my-own_2\",\"tilesPerIPU\":16}]";
  FILE *file = fopen("devices.json", "w");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
  const char *const sources[] = {text, "devices.json"};
  for (size_t i = 0; i < 2; i++) {
    pop_device_manager *manager = new_manager(sources[i]);
    cr_assert_eq(pop_device_manager_num_devices(manager), 3 + 1 + 1);
    cr_assert_eq(pop_device_target(get(manager, 2))->tiles_per_ipu, 1216);
    cr_assert_str_eq(pop_device_partition(get(manager, 3)), "ipu1");
    cr_assert_eq(pop_device_target(get(manager, 3))->num_ipus, 2);
    cr_assert_str_eq(pop_device_partition(get(manager, 4)), "my-own_2");
    cr_assert_eq(pop_target_num_tiles(pop_device_target(get(manager, 4))), 16);
    cr_assert_eq(pop_device_driver_ids(get(manager, 4))[0], 0);
    pop_device_manager_free(manager);
  }
}

Test(device, configuration_errors_say_where, .init = in_fresh_folder)
{
  static const struct {
    const char *text, *words;
    pop_error_code code;
  } cases[] = {
      {"[{\"ipus\":4},\n {\"ipus\" 4}]", "line 2, column 10", POP_ERROR_INVALID_OPTION},
      {"{\"ipus\":4}", "not an array such as [{\"target\"", POP_ERROR_INVALID_OPTION},
      {"[{\"ipus\":4}, 5]", "entry 1: an object such as", POP_ERROR_INVALID_OPTION},
      {"[{\"ipu\":4}]", "entry 0: there is no key 'ipu': did you mean 'ipus'?",
       POP_ERROR_INVALID_OPTION},
      {"[{\"ipus\":1025}]", "'ipus' must be a whole number from 1 to 1024",
       POP_ERROR_INVALID_OPTION},
      {"[{\"ipus\":0}]", "from 1 to 1024", POP_ERROR_INVALID_OPTION},
      {"[{\"ipus\":\"4\"}]", "from 1 to 1024", POP_ERROR_INVALID_OPTION},
      {"[{\"tilesPerIPU\":65536,\"ipus\":64}]", "num_ipus * tiles_per_ipu",
       POP_ERROR_INVALID_OPTION},
      {"[{\"target\":\"ipu3\"}]", "the targets are ipu1, ipu2 and ipu21", POP_ERROR_INVALID_OPTION},
      {"[{\"target\":2}]", "'target' must be a string", POP_ERROR_INVALID_OPTION},
      {"[{\"name\":\"a/b\"}]", "letters, digits, - and _", POP_ERROR_INVALID_OPTION},
      {"[{\"name\":\"abcdefghijabcdefghijabcdefghijabc\"}]", "1 to 32", POP_ERROR_INVALID_OPTION},
      {"[{},{}]", "entry 0 is called 'ipu2', too", POP_ERROR_INVALID_OPTION},
      {"[{\"ipus\":1,\"ipus\":2}]", "duplicate", POP_ERROR_INVALID_OPTION},
      {"there-is-no-such-file", "neither JSON such as", POP_ERROR_FILE_LOAD},
      {".", "neither JSON such as", POP_ERROR_FILE_LOAD},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pop_device_manager *manager;
    setenv("POPULUS_DEVICES", cases[i].text, 1);
    expect_error(pop_device_manager_create(&manager), cases[i].code, cases[i].words, cases[i].text);
    cr_assert_null(manager);
  }
}

Test(device, no_devices_at_all, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[]");
  pop_device *device;
  cr_assert_eq(pop_device_manager_num_devices(manager), 0);
  expect_error(pop_device_manager_acquire(manager, 1, &device), POP_ERROR_INVALID_ARGUMENT,
               "POPULUS_DEVICES is an empty array", "acquire");
  pop_device_manager_free(manager);
}

/* ---- who may attach ---- */

Test(device, a_group_excludes_its_parts_and_the_other_way_round, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[{\"ipus\":4}]"); /* 0-3, 4: {0,1}, 5: {2,3}, 6 */
  pop_device_manager *other = new_manager(NULL);
  expect_ok(pop_device_attach(get(manager, 4)));
  expect_ok(pop_device_attach(get(manager, 4)));
  char words[96];
  snprintf(words, sizeof words, "device 1: its IPU 1 of 'ipu2' is taken by this process");
  expect_error(pop_device_attach(get(manager, 1)), POP_ERROR_SYSTEM, words, "a part");
  expect_error(pop_device_attach(get(other, 4)), POP_ERROR_SYSTEM, "device 4: its IPU 0", "itself");
  expect_error(pop_device_attach(get(manager, 6)), POP_ERROR_SYSTEM, "device 6: its IPU 0",
               "whole");
  cr_assert(!pop_device_is_attached(get(manager, 6)));
  expect_ok(pop_device_attach(get(other, 2)));
  expect_error(pop_device_attach(get(manager, 5)), POP_ERROR_SYSTEM, "its IPU 2", "a whole");
  pop_device_detach(get(other, 2));
  expect_ok(pop_device_attach(get(manager, 5))); /* the failed call left no lock */
  pop_device_detach(get(manager, 4));
  pop_device_detach(get(manager, 4));
  expect_ok(pop_device_attach(get(manager, 1)));
  pop_device_manager_free(manager);
  expect_ok(pop_device_attach(get(other, 6))); /* the end of the manager detaches */
  pop_device_manager_free(other);
}

Test(device, acquire_takes_the_first_that_is_free, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[{\"ipus\":2}]");
  pop_device *a, *b, *c;
  expect_ok(pop_device_manager_acquire(manager, 1, &a));
  expect_ok(pop_device_manager_acquire(manager, 1, &b));
  cr_assert_eq(pop_device_id(a), 0);
  cr_assert_eq(pop_device_id(b), 0, "attached by this manager's device: the same");
  pop_device_manager *other = new_manager(NULL);
  expect_ok(pop_device_manager_acquire(other, 1, &c));
  cr_assert_eq(pop_device_id(c), 1);
  pop_device_manager *third = new_manager(NULL);
  pop_device *none;
  expect_error(pop_device_manager_acquire(third, 1, &none), POP_ERROR_SYSTEM,
               "none of 2 devices with 1 IPU is free: cannot attach to device 0", "all taken");
  cr_assert_null(none);
  expect_error(pop_device_manager_acquire(third, 4, &none), POP_ERROR_INVALID_ARGUMENT,
               "no device with 4 IPUs: there are devices with 1, 2 ", "too large");
  pop_device_manager_free(manager);
  pop_device_manager_free(other);
  cr_assert(pop_device_is_attached(a));
  pop_device_free(a);
  pop_device_free(b);
  pop_device_free(c);
  expect_ok(pop_device_manager_acquire(third, 2, &none));
  pop_device_free(none);
  pop_device_manager_free(third);
}

/* Starts a process that attaches to a device and reports it. Returns the process id. */
static pid_t start_holder(size_t id)
{
  int told[2];
  cr_assert_eq(pipe(told), 0);
  pid_t child = fork();
  if (child == 0) {
    pop_device_manager *manager = NULL;
    pop_device *device = NULL;
    pop_error *error = pop_device_manager_create(&manager);
    if (!error) error = pop_device_manager_get_device(manager, id, &device);
    if (!error) error = pop_device_attach(device);
    char answer = error ? 'n' : 'y';
    if (write(told[1], &answer, 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  char answer = 0;
  cr_assert_eq(read(told[0], &answer, 1), 1);
  cr_assert_eq(answer, 'y');
  close(told[0]);
  close(told[1]);
  return child;
}

/* H06: a process that dies leaves no lock. */
Test(device, another_process_is_named_and_its_death_frees, .init = in_fresh_folder)
{
  pid_t holder = start_holder(64 + 1); /* IPUs 2 and 3 */
  pop_device_manager *manager = new_manager(NULL);
  char words[64];
  snprintf(words, sizeof words, "is taken by process %ld", (long)holder);
  expect_error(pop_device_attach(get(manager, 3)), POP_ERROR_SYSTEM, words, "part of another's");
  pop_device_attribute list[32];
  size_t count = pop_device_get_attributes(get(manager, 2), list, 32);
  bool found = false;
  snprintf(words, sizeof words, "%ld", (long)holder);
  for (size_t i = 0; i < count; i++)
    found |= strcmp(list[i].key, "user process id") == 0 && strcmp(list[i].value, words) == 0;
  cr_assert(found);
  pop_device *device;
  expect_ok(pop_device_manager_acquire(manager, 4, &device));
  cr_assert_eq(pop_device_id(device), 64 + 32 + 1, "the first four have a part that is taken");
  pop_device_free(device);
  cr_assert_eq(kill(holder, SIGKILL), 0);
  cr_assert_eq(waitpid(holder, NULL, 0), holder);
  expect_ok(pop_device_attach(get(manager, 3)));
  pop_device_manager_free(manager);
}

Test(device, many_processes_get_a_device_each, .init = in_fresh_folder)
{
  enum { PROCESSES = 16 };
  pop_device_manager_free(new_manager("[{\"ipus\":16}]")); /* for the children */
  int told[2];
  cr_assert_eq(pipe(told), 0);
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    pop_device_manager *manager = NULL;
    pop_device *device = NULL;
    pop_error *error = pop_device_manager_create(&manager);
    if (!error) error = pop_device_manager_acquire(manager, 1, &device);
    char id = error ? (char)-1 : (char)pop_device_id(device);
    if (write(told[1], &id, 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  unsigned seen = 0;
  for (int i = 0; i < PROCESSES; i++) {
    char id;
    cr_assert_eq(read(told[0], &id, 1), 1);
    cr_assert(id >= 0 && id < PROCESSES, "a process got none");
    cr_assert(!(seen >> id & 1), "device %d twice", id);
    seen |= 1u << id;
  }
  for (int i = 0; i < PROCESSES; i++) {
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
  }
}

Test(device, a_device_of_many_ipus_takes_few_open_files, .init = in_fresh_folder)
{
  enum { FEW = 100 };
  struct rlimit files;
  pop_device_manager *manager = new_manager("[{\"ipus\":1024,\"tilesPerIPU\":2}]");
  pop_device *all;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = FEW;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
  expect_ok(pop_device_manager_acquire(manager, 1024, &all));
  pop_device_manager *other = new_manager(NULL);
  expect_error(pop_device_attach(get(other, 1023)), POP_ERROR_SYSTEM, "by this process", "a part");
  pop_device_free(all);
  pop_device_manager_free(manager);
  expect_ok(pop_device_attach(get(other, 1023)));
  pop_device_manager_free(other);
}

Test(device, folders_of_locks_that_are_no_good, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager(NULL);
  setenv("POPULUS_RUN_DIR", "run/a/b", 1);
  expect_error(pop_device_attach(get(manager, 0)), POP_ERROR_SYSTEM,
               "cannot make the folder 'run/a/b'", "nothing there");
  cr_assert_eq(mkdir("open", 0700), 0);
  cr_assert_eq(chmod("open", 0777), 0);
  setenv("POPULUS_RUN_DIR", "open", 1);
  expect_error(pop_device_attach(get(manager, 0)), POP_ERROR_SYSTEM, "others may write to it",
               "open");
  cr_assert_eq(symlink("run", "link"), 0);
  setenv("POPULUS_RUN_DIR", "link", 1);
  expect_error(pop_device_attach(get(manager, 0)), POP_ERROR_SYSTEM, "'link'", "a link");
  cr_assert(!pop_device_is_attached(get(manager, 0)));
  pop_device_manager_free(manager);
}

/* ---- other devices ---- */

Test(device, virtual_devices_have_fewer_tiles, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager(NULL);
  pop_device *part, *none;
  expect_ok(pop_device_create_virtual(get(manager, 64), 8, &part));
  cr_assert_eq(pop_target_num_tiles(pop_device_target(part)), 16);
  expect_ok(pop_device_attach(part));
  cr_assert(pop_device_is_attached(get(manager, 64)));
  expect_error(pop_device_attach(get(manager, 0)), POP_ERROR_SYSTEM, "this process",
               "the same IPU");
  pop_device_detach(get(manager, 64));
  cr_assert(!pop_device_is_attached(part));
  expect_error(pop_device_create_virtual(part, 9, &none), POP_ERROR_INVALID_ARGUMENT, "1 to 8",
               "9");
  expect_error(pop_device_create_virtual(part, 0, &none), POP_ERROR_INVALID_ARGUMENT, "1 to 8",
               "0");
  pop_device_free(part);
  pop_device_manager_free(manager);
}

Test(device, models_have_their_own_figures, .init = in_fresh_folder)
{
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, NULL));
  cr_assert_str_eq(model.ipu_version, "ipu2");
  cr_assert_eq(model.tiles_per_ipu, 1472);
  cr_assert_eq(model.interleaved_memory_element_index, 13);
  model.num_ipus = 2;
  model.tiles_per_ipu = 4;
  model.memory_bytes_per_tile = 65536;
  model.min_ipu_sync_delay = 50;
  model.tile_clock_frequency = 1e9;
  model.global_sync_cycles = 777;
  model.global_bytes_per_cycle = 9;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  const pop_target *t = pop_device_target(device);
  cr_assert_eq(t->type, POP_TARGET_IPU_MODEL);
  cr_assert_eq(t->host_sync_cycles, 777);
  cr_assert_eq(t->global_bytes_per_cycle, 9);
  cr_assert_eq(pop_target_num_tiles(t), 8);
  cr_assert_eq(t->interleaved_base, pop_target_memory_end(t), "the 13th element is past the end");
  cr_assert_eq(t->sync_cycles, 50);
  cr_assert_eq(pop_device_id(device), UINT32_MAX);
  cr_assert_null(pop_device_driver_ids(device));
  pop_device_free(device);
  model.exchange_bytes_per_cycle = 6;
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "exchange_bytes_per_cycle is 6", "6 bytes");
  model.exchange_bytes_per_cycle = 4;
  model.memory_bytes_per_tile = 4096;
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "memory_bytes_per_tile is 4096, but must be at least 8192", "4096 bytes");
  model.memory_bytes_per_tile = UINT32_MAX - 3;
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "memory_bytes_per_tile is not possible", "4 GiB");
  model.memory_bytes_per_tile = 65536;
  model.interleaved_memory_element_index = 0;
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "interleaved_memory_element_index is 0, but must be at least 1", "all of it");
  model.interleaved_memory_element_index = 1;
  model.min_ipu_sync_delay = UINT32_MAX;
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "min_ipu_sync_delay is not possible: ", "a sync");
  expect_error(pop_ipu_model_init(&model, "ipu9"), POP_ERROR_INVALID_ARGUMENT, "no target 'ipu9'",
               "version");
  memset(&model, 'x', sizeof model);
  expect_error(pop_ipu_model_create_device(&model, &device), POP_ERROR_INVALID_ARGUMENT,
               "pop_ipu_model_init first", "not filled");
}

Test(device, the_host_is_always_free, .init = in_fresh_folder)
{
  pop_device *cpu = pop_device_create_cpu();
  expect_ok(pop_target_validate(pop_device_target(cpu)));
  cr_assert_eq(pop_device_target(cpu)->type, POP_TARGET_CPU);
  cr_assert_eq(pop_target_num_tiles(pop_device_target(cpu)), 1);
  expect_ok(pop_device_attach(cpu));
  cr_assert(pop_device_is_attached(cpu));
  cr_assert(pop_device_supports_remote_buffers(cpu));
  pop_device_free(cpu);
}

/* ---- engines ---- */

static const int seven = 7;

/* Copies a constant to a variable that the host reads. */
static pop_engine *new_engine(const pop_target *target)
{
  static const size_t one[] = {1};
  pop_graph *graph = pop_graph_create(target);
  pop_tensor from = pop_graph_add_constant(graph, POP_INT, one, 1, &seven, "from");
  pop_tensor to = pop_graph_add_variable(graph, POP_INT, one, 1, "to");
  pop_graph_set_tile_mapping(graph, from, 0);
  pop_graph_set_tile_mapping(graph, to, 0);
  pop_graph_create_host_read(graph, "to", to);
  pop_program main = pop_program_copy(from, to, "copy");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &main, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  return engine;
}

static int read_to(pop_engine *engine)
{
  int value = 0;
  expect_ok(pop_engine_read_tensor(engine, "to", &value, sizeof value));
  return value;
}

/* E01: two engines on one device. */
Test(device, an_engine_loses_its_device_to_another, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[{\"tilesPerIPU\":2}]");
  pop_device *device = get(manager, 0);
  pop_engine *first = new_engine(pop_device_target(device));
  pop_engine *second = new_engine(pop_device_target(device));
  expect_error(pop_engine_load_device(first, device), POP_ERROR_RUNTIME,
               "device 0 is not attached; call pop_device_attach", "not attached");
  expect_error(pop_engine_run(first, 0), POP_ERROR_RUNTIME, "is not loaded", "run before load");
  expect_ok(pop_device_attach(device));
  expect_ok(pop_engine_load_device(first, device));
  expect_ok(pop_engine_run(first, 0));
  cr_assert_eq(read_to(first), 7);
  expect_ok(pop_engine_load_device(second, device));
  expect_error(pop_engine_run(first, 0), POP_ERROR_RUNTIME, "another engine was loaded on it",
               "run");
  int value;
  expect_error(pop_engine_read_tensor(first, "to", &value, sizeof value), POP_ERROR_RUNTIME,
               "not loaded any more", "read");
  expect_ok(pop_engine_run(second, 0));
  expect_ok(pop_engine_load(first)); /* on the same device */
  expect_ok(pop_engine_run(first, 0));
  expect_error(pop_engine_run(second, 0), POP_ERROR_RUNTIME, "not loaded any more", "the other");
  pop_engine_free(second);
  expect_ok(pop_engine_run(first, 0));
  pop_device_reset(device);
  expect_error(pop_engine_run(first, 0), POP_ERROR_RUNTIME, "reset", "after reset");
  expect_ok(pop_engine_load(first));
  pop_device_detach(device);
  expect_error(pop_engine_run(first, 0), POP_ERROR_RUNTIME, "detached", "after detach");
  pop_engine_free(first);
  pop_device_manager_free(manager);
}

Test(device, an_engine_keeps_its_device, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[{\"tilesPerIPU\":2}]");
  pop_device *device;
  expect_ok(pop_device_manager_acquire(manager, 1, &device));
  pop_engine *engine = new_engine(pop_device_target(device));
  expect_ok(pop_engine_load_device(engine, device));
  pop_device_free(device);
  pop_device_manager_free(manager);
  expect_ok(pop_engine_run(engine, 0));
  cr_assert_eq(read_to(engine), 7);
  pop_engine_free(engine);
  manager = new_manager(NULL);
  expect_ok(pop_device_manager_acquire(manager, 1, &device)); /* it is free again */
  pop_device_free(device);
  pop_device_manager_free(manager);
}

Test(device, executable_and_device_must_agree, .init = in_fresh_folder)
{
  pop_device_manager *manager = new_manager("[{\"tilesPerIPU\":2},{\"target\":\"ipu1\"}]");
  pop_engine *engine = new_engine(pop_device_target(get(manager, 0)));
  expect_error(
      pop_engine_load_device(engine, get(manager, 1)), POP_ERROR_INVALID_ARGUMENT,
      "compiled for ipu2 of type IPU with 1 IPU of 2 tiles, the device is ipu1 of type IPU "
      "with 1 IPU of 1216 tiles",
      "another target");
  pop_ipu_model model;
  pop_device *device;
  expect_ok(pop_ipu_model_init(&model, "ipu2"));
  model.tiles_per_ipu = 2;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  expect_error(pop_engine_load_device(engine, device), POP_ERROR_INVALID_ARGUMENT,
               "the device is ipu2 of type IPU_MODEL", "another type");
  pop_engine *on_model = new_engine(pop_device_target(device));
  expect_ok(pop_engine_load_device(on_model, device)); /* without attaching */
  pop_device_detach(device);                           /* does nothing */
  expect_ok(pop_engine_run(on_model, 0));
  cr_assert_eq(read_to(on_model), 7);
  pop_device_free(device);
  model.min_ipu_sync_delay = 1;
  expect_ok(pop_ipu_model_create_device(&model, &device));
  expect_error(pop_engine_load_device(on_model, device), POP_ERROR_INVALID_ARGUMENT,
               "with another sync_cycles", "a figure");
  expect_error(pop_engine_load_device(on_model, NULL), POP_ERROR_INVALID_ARGUMENT, "is NULL",
               "NULL");
  expect_ok(pop_engine_run(on_model, 0)); /* the failed call has changed nothing */
  pop_device_free(device);
  pop_engine_free(engine);
  pop_engine_free(on_model);
  pop_device_manager_free(manager);
}
