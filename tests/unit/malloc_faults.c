/* Each allocation on the way from a graph to a result fails in turn. The caller gets an error, or
 * the allocation was not needed. The process never crashes or ends, and no incomplete archive is
 * left.
 *
 * The allocator's functions are defined here, in place of the C library's, for all libraries. They
 * count, and fail from the chosen call on, or for that call only. */
#include "support/graph_test.h"

#include "support/expect.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <populus/file.h>
#include <populus/popc.h>
#include <populus/populus.h>
#include <stdatomic.h>
#include <sys/wait.h>

static atomic_long calls_made;
static long fails_from; /* of the calls, counted from 1; 0: none */

/* With a sanitizer, its allocator must stay. Then there is only the run without faults. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_FAIL 0
#else
#define CAN_FAIL 1

static long fails_to; /* the first call after the failing ones */

static bool fails(void)
{
  long call = atomic_fetch_add(&calls_made, 1) + 1;
  bool failing = fails_from && call >= fails_from && call < fails_to;
  if (failing) errno = ENOMEM;
  return failing;
}

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size),
    *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
  return fails() ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
  return fails() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size)
{
  return fails() ? NULL : __libc_realloc(old, size);
}

#endif

static const char codelets[] =
    "#include <populus/vertex.h>\n"
    "typedef struct { INPUT(VECTOR(int)) in; OUTPUT(int) out; } Sum;\n"
    "COMPUTE(Sum)\n"
    "{\n"
    "  *vertex->out = 0;\n"
    "  for (unsigned i = 0; i < vertex->in.size; ++i) *vertex->out += vertex->in.data[i];\n"
    "  return true;\n"
    "}\n";

static void prepare(void)
{
  static const char *const input = "sum.c";
  enter_fresh_folder();
  FILE *file = fopen(input, "wb");
  cr_assert(file && fputs(codelets, file) >= 0 && fclose(file) == 0);
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "sum.gp",
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

/* ---- the operations ---- */

enum { NUM_TILES = 3, COUNT = 5, DONE = 0, REFUSED = 60, WRONG = 61 };
static const int values[COUNT] = {1, 2, 3, 4, 5};

static pop_error *build(pop_graph **out, pop_program *main)
{
  static const size_t count = COUNT, one = 1;
  pop_target target;
  POP_TRY(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = NUM_TILES;
  pop_graph *graph = *out = pop_graph_create(&target);
  pop_graph_add_codelets(graph, "sum.gp", NULL);
  pop_tensor in = pop_graph_add_variable(graph, POP_INT, &count, 1, "in");
  pop_tensor sum = pop_graph_add_variable(graph, POP_INT, &one, 1, "sum");
  pop_graph_map_linearly(graph, in, 0, 0);
  pop_graph_set_tile_mapping(graph, sum, 2);
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_vertex vertex = pop_graph_add_vertex(graph, set, "Sum");
  pop_graph_connect(graph, vertex, "in", in);
  pop_graph_connect(graph, vertex, "out", pop_tensor_index(sum, 0));
  pop_graph_set_vertex_tile(graph, vertex, 1);
  pop_stream stream = pop_graph_add_host_to_device_fifo(graph, "values", POP_INT, COUNT);
  pop_graph_create_host_read(graph, "sum", sum);
  *main = pop_program_sequence(graph, "main");
  pop_sequence_add(*main, pop_program_copy_from_stream(stream, in, "receive"));
  pop_sequence_add(*main, pop_program_execute(graph, set, "sum up"));
  return NULL;
}

static pop_error *run(pop_engine *engine, int *sum)
{
  int buffer[COUNT];
  memcpy(buffer, values, sizeof buffer);
  POP_TRY(pop_engine_load(engine));
  POP_TRY(pop_engine_connect_stream(engine, "values", buffer, buffer + COUNT));
  POP_TRY(pop_engine_run(engine, 0));
  return pop_engine_read_tensor(engine, "sum", sum, sizeof *sum);
}

/* Compiles the graph, saves and loads the archive, and runs it for a sum. */
static pop_error *do_all(int *sum)
{
  static const pop_option options[] = {{"target.saveArchive", "archive.a"},
                                       {"target.tileEngine", "interpreter"}};
  pop_graph *graph = NULL;
  pop_engine *engine = NULL;
  pop_executable *executable = NULL;
  pop_program main;
  pop_error *error = build(&graph, &main);
  if (!error) error = pop_engine_create(graph, &main, 1, options, 2, &engine);
  pop_engine_free(engine);
  pop_graph_free(graph);
  engine = NULL;
  if (!error) error = pop_executable_load("archive.a", &executable);
  if (!error) error = pop_engine_create_from_executable(executable, options + 1, 1, &engine);
  if (!error) error = run(engine, sum);
  pop_engine_free(engine);
  pop_executable_free(executable);
  return error;
}

/* ---- processes ---- */

static int do_all_in_process(void)
{
  int sum = 0;
  atomic_store(&calls_made, 0);
  pop_error *error = do_all(&sum);
  fails_from = 0;
  if (error) {
    fprintf(stderr, "%s\n", pop_error_message(error));
    return pop_error_get_code(error) == POP_ERROR_INTERNAL ? WRONG : REFUSED;
  }
  return sum == 15 ? DONE : WRONG;
}

#if CAN_FAIL
/* The exit status of a process in which the calls [from, to) fail. Its output is in the file
 * "said". */
static int status_of(long from, long to)
{
  fflush(NULL);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    int said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (said < 0 || dup2(said, STDERR_FILENO) < 0) _exit(WRONG);
    fails_from = from;
    fails_to = to;
    _exit(do_all_in_process());
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  return status;
}

static const char *said(void)
{
  static char text[500];
  FILE *file = fopen("said", "rb");
  cr_assert_not_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static uint8_t *whole;
static size_t whole_size;

static void check_archive(long call)
{
  uint8_t *bytes = NULL;
  size_t size;
  if (access("archive.a", F_OK) != 0) return;
  expect_ok(pop_file_read("archive.a", SIZE_MAX, &bytes, &size));
  cr_assert(size == whole_size && memcmp(bytes, whole, size) == 0, "call %ld: half an archive",
            call);
  free(bytes);
}

static void check_end(int status, long call)
{
  cr_assert(WIFEXITED(status), "call %ld: signal %d: %s", call, WTERMSIG(status), said());
  int code = WEXITSTATUS(status);
  cr_assert(code == REFUSED || code == DONE, "call %ld: status %d: %s", call, code, said());
  if (code == REFUSED)
    cr_assert_not_null(strstr(said(), "memory"), "call %ld: the message is %s", call, said());
}

static long count_calls(void)
{
  int ends[2];
  long calls = 0;
  cr_assert_eq(pipe(ends), 0);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    int code = do_all_in_process();
    calls = atomic_load(&calls_made);
    _exit(write(ends[1], &calls, sizeof calls) == sizeof calls ? code : WRONG);
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0, "without faults: %d", status);
  cr_assert_eq(read(ends[0], &calls, sizeof calls), (ssize_t)sizeof calls);
  close(ends[0]);
  close(ends[1]);
  expect_ok(pop_file_read("archive.a", SIZE_MAX, &whole, &whole_size));
  return calls;
}

/* Lets each call fail in turn; with `and_later`, also all calls after it. */
static void fail_each(bool and_later)
{
  long calls = count_calls();
  cr_assert_gt(calls, 100, "%ld calls", calls);
  for (long call = 1; call <= calls; call++) {
    remove("archive.a");
    check_end(status_of(call, and_later ? LONG_MAX : call + 1), call);
    check_archive(call);
  }
  free(whole);
}

Test(malloc_faults, D04_every_allocation_fails_once, .init = prepare)
{
  fail_each(false);
}

Test(malloc_faults, D04_from_any_allocation_on_all_fail, .init = prepare)
{
  fail_each(true);
}

#endif

Test(malloc_faults, without_faults_all_is_done, .init = prepare)
{
  cr_assert_eq(do_all_in_process(), DONE);
}
