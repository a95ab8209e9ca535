/* rank_program CODELETS cpu|ipu [FAULT INSTANCE [ARCHIVE]]: a graph of four replicas with
 * everything that replicas do together and with the host. Prints what the host sees of it as text,
 * which is the same in one process and in any number of ranks. The program knows nothing of ranks.
 *
 * FAULT is what goes wrong in one instance of poprun:
 *
 *   killed, hangs, callback it is killed, hangs, or a callback fails, in the second
 *   copy of a stream
 *   other     it makes another graph
 *   vertex    a vertex stores to an invalid address (in the instance's first replica)
 *   ends      it returns from main before the run
 *   memory    it has no memory to load
 *   aborts    pop_engine_stop stops it
 *   disk      it cannot write the archive, which all write after the runs if there is an ARCHIVE
 *   stops     all run for ever, and a signal soon stops the instance
 *   second    all make a second engine, before which it hangs
 *
 * With `own-mpi` instead all start and end MPI themselves. */
#include <populus/populus.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { REPLICAS = 4, COUNT = 5, ROWS = 3, LARGE = 1 << 22, RUNS = 2 };

static const char *fault = "";
static pop_engine *engine;
static int copies;
static bool large_store; /* 80 MiB for each replica */

static bool is(const char *what)
{
  return strcmp(fault, what) == 0;
}

static void ok(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  exit(pop_error_exit_status(error));
}

/* ---- the graph ---- */

typedef struct tensors {
  pop_tensor x, y, index, left, more, wild, offset;
} tensors;

static pop_tensor add(pop_graph *graph, pop_type type, size_t count, const char *name, size_t tile)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_set_tile_mapping(graph, t, tile);
  char to[32];
  snprintf(to, sizeof to, ">%s", name);
  pop_graph_create_host_write(graph, to, t);
  pop_graph_create_host_read(graph, name, t);
  return t;
}

static pop_program mix(pop_graph *graph, const tensors *t)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "mix");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Mix");
  pop_graph_connect(graph, v, "x", t->x);
  pop_graph_connect(graph, v, "y", t->y);
  pop_graph_connect(graph, v, "index", t->index);
  pop_graph_set_vertex_tile(graph, v, 0);
  return pop_program_execute(graph, set, "mix");
}

static pop_program count_down(pop_graph *graph, const tensors *t)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, "count");
  pop_vertex v = pop_graph_add_vertex(graph, set, "Count");
  pop_graph_connect(graph, v, "left", pop_tensor_index(t->left, 0));
  pop_graph_connect(graph, v, "more", pop_tensor_index(t->more, 0));
  pop_graph_connect(graph, v, "wild", pop_tensor_index(t->wild, 0));
  pop_graph_connect(graph, v, "index", t->index);
  pop_graph_set_vertex_tile(graph, v, 1);
  return pop_program_execute(graph, set, "count");
}

/* Copies around the ring and back, and from some to some, across the borders of ranks. */
static pop_program cross(pop_graph *graph, const tensors *t)
{
  static const pop_replica_pair ring[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                                some[] = {{3, 0}, {1, 1}};
  pop_program p = pop_program_sequence(graph, "cross");
  pop_sequence_add(p, pop_program_cross_replica_copy(t->x, t->y, ring, 4, "ring"));
  pop_sequence_add(p, pop_program_cross_replica_copy(pop_tensor_slice(t->x, 1, 3, 0),
                                                     pop_tensor_slice(t->x, 2, 4, 0), some, 2,
                                                     "some"));
  return p;
}

static void add_to(pop_program sequence, pop_program next)
{
  pop_sequence_add(sequence, next);
}

static pop_program build(pop_graph *graph)
{
  tensors t = {.x = add(graph, POP_FLOAT, COUNT, "x", 0),
               .y = add(graph, POP_FLOAT, COUNT, "y", 2),
               .left = add(graph, POP_UNSIGNED_INT, 1, "left", 1),
               .wild = add(graph, POP_UNSIGNED_INT, 1, "wild", 1),
               .more = add(graph, POP_BOOL, 1, "more", 1),
               .offset = add(graph, POP_UNSIGNED_INT, 1, "offset", 2)};
  t.index = pop_graph_add_replication_index_constant(graph, "index");
  pop_graph_set_tile_mapping(graph, t.index, 0);
  pop_stream each = pop_graph_add_host_to_device_fifo(graph, "each", POP_FLOAT, COUNT);
  pop_stream same = pop_graph_add_host_to_device_fifo(graph, "same", POP_FLOAT, COUNT);
  pop_stream_set_replicated_mode(same, POP_STREAM_BROADCAST);
  pop_stream seen = pop_graph_add_device_to_host_fifo(graph, "seen", POP_FLOAT, COUNT);
  pop_stream kept = pop_graph_add_device_to_host_fifo(graph, "kept", POP_FLOAT, COUNT);
  pop_remote_buffer store =
      pop_graph_add_remote_buffer(graph, "store", POP_FLOAT, COUNT, large_store ? LARGE : ROWS);
  pop_program body = pop_program_sequence(graph, "body"),
              main = pop_program_sequence(graph, "main");
  add_to(body, pop_program_copy_from_stream(each, t.y, "each"));
  add_to(body, mix(graph, &t));
  add_to(body, cross(graph, &t));
  add_to(body, mix(graph, &t));
  pop_gcl_all_reduce(graph, t.x, POP_COLLECTIVE_MEAN, (pop_comm_group){POP_COMM_ORTHOGONAL, 2}, t.x,
                     body, "mean");
  pop_gcl_all_reduce(graph, t.y, POP_COLLECTIVE_ADD, (pop_comm_group){POP_COMM_ALL, 0}, t.y, body,
                     "sum");
  add_to(body, pop_program_copy_to_stream(t.x, seen, "seen"));
  add_to(main, pop_program_copy_from_stream(same, t.x, "same"));
  add_to(main, pop_program_repeat_while_true(count_down(graph, &t), pop_tensor_index(t.more, 0),
                                             body, "while"));
  add_to(main, pop_program_copy_to_remote_buffer(t.x, store, t.offset, "save"));
  add_to(main, pop_program_print_tensor(t.x, "x"));
  add_to(main, pop_program_copy_to_stream(t.y, kept, "kept"));
  if (is("other")) add_to(main, cross(graph, &t));
  return main;
}

/* ---- the host's side ---- */

static int feed(void *context, void *buffer)
{
  (void)context;
  copies++;
  if (copies > REPLICAS && is("killed")) raise(SIGKILL);
  if (copies > REPLICAS && is("hangs")) sleep(1000);
  if (copies > REPLICAS && is("callback")) return 17;
  if (copies > REPLICAS && is("aborts")) pop_engine_stop(engine);
  for (int i = 0; i < COUNT; i++) ((float *)buffer)[i] = (float)copies + (float)i / 7;
  return 0;
}

static int see(void *context, void *buffer)
{
  (void)context;
  printf("seen:");
  for (int i = 0; i < COUNT; i++) printf(" %a", (double)((float *)buffer)[i]);
  printf("\n");
  return 0;
}

static void show(const char *handle)
{
  float all[REPLICAS][COUNT], one[COUNT];
  ok(pop_engine_read_tensor(engine, handle, all, sizeof all));
  ok(pop_engine_read_replica_tensor(engine, handle, 2, one, sizeof one));
  printf("%s:", handle);
  for (int i = 0; i < REPLICAS * COUNT; i++) printf(" %a", (double)all[i / COUNT][i % COUNT]);
  bool same = true;
  for (int i = 0; i < COUNT; i++) same &= one[i] == all[2][i];
  printf(", of replica 2 %s\n", same ? "the same" : "OTHERS");
}

static void show_store(void)
{
  float row[COUNT];
  for (uint32_t r = 0; r < REPLICAS; r++)
    for (size_t i = 0; i < ROWS; i++) {
      ok(pop_engine_copy_from_remote_buffer(engine, "store", i, r, row, sizeof row));
      printf("store %u %zu: %a %a\n", r, i, (double)row[0], (double)row[COUNT - 1]);
    }
}

static void run(void)
{
  static float same[2 * COUNT], kept[RUNS][REPLICAS][COUNT];
  uint32_t three[] = {3}, offsets[] = {0, 2, 1, 2}, wild[REPLICAS] = {0};
  const pop_stream_callback fed = {.fetch = feed}, seen = {.fetch = see};
  for (int i = 0; i < 2 * COUNT; i++) same[i] = (float)i;
  ok(pop_engine_connect_stream(engine, "same", same, same + 2 * COUNT));
  ok(pop_engine_connect_stream_callback(engine, "each", &fed));
  ok(pop_engine_connect_stream_callback(engine, "seen", &seen));
  ok(pop_engine_connect_stream(engine, "kept", kept, kept + RUNS));
  for (int i = 0; i < RUNS; i++) {
    ok(pop_engine_write_tensor(engine, ">left", three, sizeof three));
    ok(pop_engine_write_tensor(engine, ">offset", offsets, sizeof offsets));
    for (uint32_t r = 0; r < REPLICAS; r++) wild[r] = is("vertex") ? r + 1 : 0;
    ok(pop_engine_write_tensor(engine, ">wild", wild, sizeof wild));
    ok(pop_engine_copy_to_remote_buffer(engine, "store", 0, (uint32_t)i, same, sizeof same / 2));
    ok(pop_engine_run(engine, 0));
    printf("run %d: %llu cycles, the last sync in %llu, %llu instructions\n", i,
           (unsigned long long)pop_engine_cycles(engine),
           (unsigned long long)pop_engine_cycles_passed(engine),
           (unsigned long long)pop_engine_instructions(engine));
  }
  show("x");
  show("y");
  show_store();
  for (int i = 0; i < RUNS * REPLICAS * COUNT; i++)
    printf("%s%a", i ? " " : "kept: ", (double)(&kept[0][0][0])[i]);
  printf("\n");
}

static void stop_here(int signal_number)
{
  (void)signal_number;
  raise(SIGSTOP);
}

/* Until one stops in the middle of something. */
static void run_for_ever(void)
{
  const struct itimerval soon = {.it_value = {.tv_usec = 300000}};
  if (is("stops")) {
    signal(SIGALRM, stop_here);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  for (;;) run();
}

/* A call of the MPI that poprun uses, which has no arguments or null pointers. */
static void call_mpi(const char *name)
{
  const char *kind = getenv("POPULUS_RANKS");
  bool is_mpich = kind && strcmp(kind, "mpich") == 0;
  void *mpi = dlopen(is_mpich ? "libmpich.so.12" : "libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  int (*call)(void *, void *) = NULL;
  if (mpi) *(void **)(void *)&call = dlsym(mpi, name);
  if (call && call(NULL, NULL) == 0) return;
  fprintf(stderr, "error: %s: %s\n", name, mpi ? "it has failed" : dlerror());
  exit(1);
}

static void limit(int what)
{
  const struct rlimit little = {1 << 12, 1 << 12};
  setrlimit(what, &little);
}

int main(int argc, char **argv)
{
  const char *index = getenv("POPDIST_INSTANCE_INDEX");
  bool on_cpu = argc > 2 && strcmp(argv[2], "cpu") == 0;
  if (argc > 4 && index && strcmp(index, argv[4]) == 0) fault = argv[3];
  large_store = argc > 3 && strcmp(argv[3], "memory") == 0;
  bool own_mpi = argc > 3 && strcmp(argv[3], "own-mpi") == 0;
  if (own_mpi) call_mpi("MPI_Init");
  pop_target target;
  ok(pop_target_create("ipu2", 2 * REPLICAS, &target));
  target.tiles_per_ipu = 3;
  if (on_cpu) pop_target_create_cpu(&target);
  pop_graph *graph = pop_graph_create_replicated(&target, REPLICAS);
  pop_popops_add_codelets(graph);
  pop_graph_add_codelets(graph, argc > 1 ? argv[1] : "", NULL);
  pop_program main = build(graph);
  const pop_option options[] = {{"profiler.replicaToProfile", "3"},
                                {"debug.instrument", on_cpu ? "false" : "true"}};
  ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  if (is("memory")) limit(RLIMIT_AS);
  ok(pop_engine_load(engine));
  if (is("ends")) return 0;
  pop_engine_set_print_stream(engine, stdout);
  if (argc > 3 && strcmp(argv[3], "stops") == 0) run_for_ever();
  if (is("second")) pause();
  if (argc > 3 && strcmp(argv[3], "second") == 0) {
    pop_engine_free(engine);
    ok(pop_engine_create(graph, &main, 1, options, 2, &engine));
  }
  run();
  signal(SIGXFSZ, SIG_IGN);
  if (is("disk")) limit(RLIMIT_FSIZE);
  if (argc > 5) ok(pop_engine_save_archive(engine, argv[5]));
  if (!on_cpu) ok(pop_engine_print_execution_summary(engine, true, stdout));
  pop_engine_free(engine);
  pop_graph_free(graph);
  if (own_mpi) call_mpi("MPI_Finalize");
  return 0;
}
