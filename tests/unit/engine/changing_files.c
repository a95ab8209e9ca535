/* A file that is cut, replaced or overwritten while it is read (G12). Reading gives an error or the
 * old content, and never SIGBUS or a mixture of both.
 *
 * pread is defined here, in place of the C library's. It reads in pieces, and the file changes
 * before a chosen read. */
#include "support/expect.h"

#include <fcntl.h>
#include <populus/file.h>
#include <populus/gp.h>
#include <populus/popc.h>
#include <populus/populus.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

TestSuite(changing_files, .init = enter_fresh_folder);

typedef enum change { CUT_TO_HALF, CUT_TO_NOTHING, REPLACED, WRITTEN_OVER, CHANGE_COUNT } change;

static struct {
  const char *path, *other; /* the other file is sound too */
  change change;
  long call; /* the change happens before this call, counted from 1; 0: never */
  long calls;
} hook;

static void copy_file(const char *from, const char *to, int flags)
{
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_file_read(from, SIZE_MAX, &bytes, &size));
  int fd = open(to, O_WRONLY | O_CREAT | flags, 0666);
  cr_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
  free(bytes);
}

static void change_file(void)
{
  struct stat status;
  cr_assert_eq(stat(hook.path, &status), 0);
  hook.call = 0;
  switch (hook.change) {
  case CUT_TO_HALF:
    cr_assert_eq(truncate(hook.path, status.st_size / 2), 0);
    return;
  case CUT_TO_NOTHING:
    cr_assert_eq(truncate(hook.path, 0), 0);
    return;
  case REPLACED:
    copy_file(hook.other, "new", O_TRUNC);
    cr_assert_eq(rename("new", hook.path), 0);
    return;
  default:
    copy_file(hook.other, hook.path, 0);
  }
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
  enum { MOST = 200 };
  if (hook.path && ++hook.calls == hook.call) change_file();
  return syscall(SYS_pread64, fd, bytes, hook.path && size > MOST ? MOST : size, offset);
}

/* Returns what is in the file, or NULL and an error. */
typedef const char *user(const char *path, pop_error **error);

/* Runs `use` with the change before its n-th read. A user that has not yet read any difference
 * between the files may get the new one. */
static void try_change(user *use, change how, long call, const char *sound, const char *other,
                       size_t *refused)
{
  pop_error *error = NULL;
  copy_file("sound", "file", O_TRUNC);
  hook.path = "file";
  hook.calls = 0;
  hook.change = how;
  hook.call = call;
  const char *got = use("file", &error);
  hook.path = NULL;
  if (error) {
    cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD, "change %d before read %ld: %s",
                 how, call, pop_error_message(error));
    cr_assert(strstr(pop_error_message(error), "file"), "%s", pop_error_message(error));
    pop_error_free(error);
    ++*refused;
  } else {
    bool is_sound = strcmp(got, sound) == 0 || (how == WRITTEN_OVER && strcmp(got, other) == 0);
    cr_assert(is_sound, "change %d before read %ld: %s", how, call, got);
  }
}

static void try_all(user *use, const char *sound, const char *other)
{
  enum { MOST_CALLS = 60 };
  pop_error *error = NULL;
  hook.other = "other";
  hook.path = "sound";
  hook.call = hook.calls = 0;
  cr_assert_str_eq(use("sound", &error), sound);
  long calls = hook.calls, step = calls / MOST_CALLS + 1;
  cr_assert_gt(calls, 10, "%ld reads", calls);
  for (int how = 0; how < CHANGE_COUNT; how++) {
    size_t refused = 0;
    for (long call = 2; call <= calls; call += step)
      try_change(use, (change)how, call, sound, other, &refused);
    if (how == REPLACED)
      cr_assert_eq(refused, 0, "who has a file open keeps it");
    else
      cr_assert_gt(refused, 0, "change %d", how);
  }
}

/* ---- .gp ---- */

static void compile(const char *output, const char *name, int value)
{
  char text[400];
  int size = snprintf(text, sizeof text,
                      "#include <populus/vertex.h>\n"
                      "typedef struct { OUTPUT(int) out; } %s;\n"
                      "COMPUTE(%s) { *vertex->out = %d; return true; }\n",
                      name, name, value);
  const popc_text source = {"source.c", "c", text, (size_t)size};
  const popc_options options = {.size = sizeof options,
                                .texts = &source,
                                .num_texts = 1,
                                .output = output,
                                .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

static const char *read_gp(const char *path, pop_error **error)
{
  static char name[40];
  pop_gp *gp;
  if ((*error = pop_gp_read(path, &gp))) return NULL;
  snprintf(name, sizeof name, "%s", pop_gp_vertex_type(gp, 0)->name);
  pop_gp_free(gp);
  return name;
}

Test(changing_files, G12_a_gp_that_changes_while_it_is_read)
{
  compile("sound", "First", 1);
  compile("other", "Other", 2);
  try_all(read_gp, "First", "Other");
}

/* ---- archives ---- */

/* A vertex on each of these tiles: images mixed from both files would give a result of neither. */
enum { TILES = 3 };

static void save(const char *gp, const char *vertex, const char *output)
{
  static const size_t count = TILES;
  pop_target target;
  pop_executable *executable;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, gp, NULL);
  pop_tensor out = pop_graph_add_variable(graph, POP_INT, &count, 1, "out");
  pop_graph_create_host_read(graph, "out", out);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  for (size_t tile = 0; tile < TILES; tile++) {
    pop_vertex v = pop_graph_add_vertex(graph, set, vertex);
    pop_graph_set_tile_mapping(graph, pop_tensor_index(out, tile), tile);
    pop_graph_connect(graph, v, "out", pop_tensor_index(out, tile));
    pop_graph_set_vertex_tile(graph, v, tile);
  }
  pop_program main = pop_program_execute(graph, set, "run");
  expect_ok(pop_compile_graph(graph, &main, 1, NULL, 0, &executable));
  expect_ok(pop_executable_save(executable, output));
  pop_executable_free(executable);
  pop_graph_free(graph);
}

static pop_error *run(pop_engine *engine, int *out)
{
  POP_TRY(pop_engine_load(engine));
  POP_TRY(pop_engine_run(engine, 0));
  return pop_engine_read_tensor(engine, "out", out, TILES * sizeof *out);
}

/* The result of a run of the archive. */
static const char *run_archive(const char *path, pop_error **error)
{
  static const pop_option option = {"target.tileEngine", "interpreter"};
  static char text[40];
  pop_executable *executable;
  pop_engine *engine;
  int out[TILES] = {0};
  if ((*error = pop_executable_load(path, &executable))) return NULL;
  *error = pop_engine_create_from_executable(executable, &option, 1, &engine);
  if (!*error) {
    *error = run(engine, out);
    pop_engine_free(engine);
  }
  pop_executable_free(executable);
  snprintf(text, sizeof text, "%d %d %d", out[0], out[1], out[2]);
  return *error ? NULL : text;
}

Test(changing_files, G12_an_archive_that_changes_while_it_is_loaded)
{
  compile("one.gp", "V", 1);
  compile("two.gp", "V", 2);
  save("one.gp", "V", "sound");
  save("two.gp", "V", "other");
  try_all(run_archive, "1 1 1", "2 2 2");
}
