/* kernels [<kernel>...]: ordinary vertices on the software IPU beside the host.
 *
 * kernels.sh makes the content of the working folder from kernels/vertices: kernels.gp, host_o2.so,
 * host_o3.so (-O3 -march=native), kernels.linux. Every entry of the table `rivals` runs a kernel in
 * rotation, ROUNDS times. Its figure is the least processor time of one over that of another. The
 * number of runs of a vertex in one go is calibrated on the host, so that they take about
 * HOST_SECONDS. The memory that all rivals leave is compared.
 *
 * Three programs: one vertex alone on a tile; six, one for each worker; 48 small ones,
 * eight for each.
 *
 * Half of the kernels, by a hash of their names, are a training set: developers may look at why
 * they are slow and at what would make them faster. The others are only reported, and the means are
 * theirs. All rivals run on one thread, as one tile has no work for more.
 *
 * kernels first <kernel> <engine> <rounds>: wall time in seconds of a round of a first run in a new
 * process (for the program's own use), with an empty executable cache. */
#include "kernels/vertices/data.h"
#include "kernels/vertices/list.h"

#include <dlfcn.h>
#include <math.h>
#include <populus/arena.h>
#include <populus/populus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, QEMU_ROUNDS = 2, NUM_FIELDS = 3, MAX_VERTICES = 48 };
enum { INTERPRETER_SHARE = 16, QEMU_SHARE = 8 }; /* these rivals run so many times fewer rounds */
static const double HOST_SECONDS = 8e-3;

typedef struct kernel {
  const char *family, *name;
  uint32_t n[2]; /* large, small */
  uint32_t (*size)(uint32_t n, unsigned field);
  uint8_t types[NUM_FIELDS], how;
} kernel;

#define SIZES(family, name, large, small, ta, a, tb, b, tc, c, how)                                \
  static uint32_t size_##name(uint32_t n, unsigned which)                                          \
  {                                                                                                \
    uint32_t sizes[] = {(a), (b), (c)};                                                            \
    (void)n;                                                                                       \
    return sizes[which];                                                                           \
  }
KERNELS(SIZES)

static const kernel kernels[] = {
#define ROW(family, name, large, small, ta, a, tb, b, tc, c, how)                                  \
  {#family, #name, {large, small}, size_##name, {ta, tb, tc}, how},
    KERNELS(ROW)
#undef ROW
};

enum { NUM_KERNELS = sizeof kernels / sizeof kernels[0] };

static const pop_type graph_types[] = {
    [FLOAT] = POP_FLOAT,        [UNSIGNED] = POP_UNSIGNED_INT,   [INT] = POP_INT,
    [BYTE] = POP_UNSIGNED_CHAR, [DWORD] = POP_UNSIGNED_LONGLONG, [HALF] = POP_HALF};

/* A hash decides, so that nobody can choose which kernels are only reported. */
static bool is_only_reported(const kernel *k)
{
  return hash_data(2166136261u, (const uint8_t *)k->name, (uint32_t)strlen(k->name)) >> 16 & 1;
}

typedef struct layout {
  const char *name; /* in the names of figures */
  uint32_t num_vertices;
  bool small;
} layout;

static const layout layouts[] = {
    {"", 1, false}, {"six_", 6, false}, {"small_", MAX_VERTICES, true}};
enum { NUM_LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* The same layout as the vertex's struct on the host. */
typedef struct field {
  void *data;
  uint32_t size;
} field;

typedef struct host_state {
  field fields[NUM_FIELDS];
  uint32_t n;
} host_state;

/* A kernel in a layout. */
typedef struct trial {
  const kernel *k;
  const layout *l;
  uint32_t n, sizes[NUM_FIELDS], rounds;
  host_state states[MAX_VERTICES];
} trial;

static uint32_t field_bytes(const trial *t, unsigned field)
{
  return t->sizes[field] * element_bytes[t->k->types[field]];
}

static void fill_field(const trial *t, uint32_t vertex, unsigned field, void *to)
{
  fill_data(to, t->k->types[field], t->sizes[field], t->k->how, 1 + field + 16 * vertex);
}

static double seconds_of(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "kernels: %s\n", pop_error_message(error));
  exit(1);
}

static void fail(const kernel *k, const char *what)
{
  fprintf(stderr, "kernels: %s: %s\n", k->name, what);
  exit(1);
}

/* The host */

typedef bool (*host_code)(void *state);

static host_code find_host_code(const kernel *k, const char *library)
{
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  char *symbol = pop_xasprintf("__runCodelet_%s", k->name);
  union {
    void *address;
    host_code code;
  } found = {.address = handle ? dlsym(handle, symbol) : NULL};
  free(symbol);
  if (!found.address) fail(k, dlerror());
  return found.code;
}

static void make_trial(trial *t, const kernel *k, const layout *l)
{
  *t = (trial){.k = k, .l = l, .n = k->n[l->small]};
  for (unsigned f = 0; f < NUM_FIELDS; f++) t->sizes[f] = k->size(t->n, f);
  for (uint32_t v = 0; v < l->num_vertices; v++) {
    t->states[v].n = t->n;
    for (unsigned f = 0; f < NUM_FIELDS; f++) {
      t->states[v].fields[f] = (field){pop_xmalloc(field_bytes(t, f)), t->sizes[f]};
      fill_field(t, v, f, t->states[v].fields[f].data);
    }
  }
}

static void free_trial(trial *t)
{
  for (uint32_t v = 0; v < t->l->num_vertices; v++)
    for (unsigned f = 0; f < NUM_FIELDS; f++) free(t->states[v].fields[f].data);
}

static double time_host(trial *t, host_code code, uint32_t rounds)
{
  double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t v = 0; v < t->l->num_vertices; v++) code(&t->states[v]);
  return seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void choose_rounds(trial *t, host_code code)
{
  double seconds = 0;
  time_host(t, code, 1);
  for (t->rounds = 1; t->rounds < 1u << 20; t->rounds *= 2) {
    seconds = time_host(t, code, t->rounds);
    if (seconds > HOST_SECONDS / 8) break;
  }
  t->rounds = (uint32_t)fmax(1, (double)t->rounds * HOST_SECONDS / seconds);
}

/* Engines */

static char *tensor_name(uint32_t vertex, unsigned field)
{
  return pop_xasprintf("%c%u", 'a' + field, vertex);
}

static void add_vertex(pop_graph *graph, pop_compute_set set, const trial *t, uint32_t v)
{
  pop_vertex vertex = pop_graph_add_vertex(graph, set, t->k->name);
  pop_graph_set_vertex_tile(graph, vertex, 0);
  pop_graph_set_field_int(graph, vertex, "n", t->n);
  for (unsigned f = 0; f < NUM_FIELDS; f++) {
    char *name = tensor_name(v, f), field[] = {(char)('a' + f), 0};
    const size_t shape[] = {t->sizes[f]};
    pop_tensor tensor = pop_graph_add_variable(graph, graph_types[t->k->types[f]], shape, 1, name);
    void *data = pop_xmalloc(field_bytes(t, f));
    fill_field(t, v, f, data);
    pop_graph_set_initial_value(graph, tensor, data);
    free(data);
    pop_graph_set_tile_mapping(graph, tensor, 0);
    pop_graph_create_host_read(graph, name, tensor);
    pop_graph_connect(graph, vertex, field, tensor);
    free(name);
  }
}

/* engine NULL: the CPU device. */
static pop_engine *make_engine(const trial *t, const char *engine_name, uint32_t rounds)
{
  pop_target target;
  pop_device *device = NULL;
  if (engine_name) {
    check(pop_target_create("ipu2", 1, &target));
    target.tiles_per_ipu = 1;
  } else {
    device = pop_device_create_cpu();
  }
  pop_graph *graph = pop_graph_create(device ? pop_device_target(device) : &target);
  pop_graph_add_codelets(graph, "kernels.gp", NULL);
  pop_compute_set set = pop_graph_add_compute_set(graph, t->k->name);
  for (uint32_t v = 0; v < t->l->num_vertices; v++) add_vertex(graph, set, t, v);
  pop_program program = pop_program_execute(graph, set, t->k->name);
  program = pop_program_repeat(graph, rounds ? rounds : 1, program, "rounds");
  const pop_option options[] = {{"target.tileEngine", engine_name},
                                {"target.tileEngineThreads", "1"}};
  pop_engine *engine;
  check(pop_engine_create(graph, &program, 1, options, engine_name ? 2 : 0, &engine));
  check(pop_engine_load(engine));
  pop_graph_free(graph);
  pop_device_free(device);
  return engine;
}

static double time_engine(pop_engine *engine)
{
  double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  check(pop_engine_run(engine, 0));
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static bool is_close(const void *a, const void *b, uint32_t count)
{
  const float *x = a, *y = b;
  for (uint32_t i = 0; i < count; i++)
    if (!(fabsf(x[i] - y[i]) <= 1e-6f + 1e-5f * fabsf(x[i]))) return false;
  return true;
}

static void compare_with_host(const trial *t, pop_engine *engine, const char *who)
{
  for (uint32_t v = 0; v < t->l->num_vertices; v++)
    for (unsigned f = 1; f < NUM_FIELDS; f++) {
      uint32_t bytes = field_bytes(t, f);
      void *data = pop_xmalloc(bytes);
      char *name = tensor_name(v, f);
      check(pop_engine_read_tensor(engine, name, data, bytes));
      const void *expected = t->states[v].fields[f].data;
      bool same = t->k->how & CLOSE ? is_close(expected, data, t->sizes[f])
                                    : !memcmp(expected, data, bytes);
      free(name);
      free(data);
      if (!same) fail(t->k, pop_xasprintf("field %c is other with the %s", 'a' + f, who));
    }
}

/* qemu */

static uint32_t hash_engine(const trial *t, pop_engine *engine)
{
  uint32_t hash = 2166136261u;
  for (unsigned f = 1; f < NUM_FIELDS; f++) {
    uint32_t bytes = field_bytes(t, f);
    void *data = pop_xmalloc(bytes);
    char *name = tensor_name(0, f);
    check(pop_engine_read_tensor(engine, name, data, bytes));
    hash = hash_data(hash, data, bytes);
    free(name);
    free(data);
  }
  return hash;
}

static double time_qemu(const trial *t, uint32_t rounds, uint32_t hash)
{
  char *command =
      pop_xasprintf("qemu-riscv32 -cpu rv32,Zfh=true,zba=true,zbb=true ./kernels.linux %s %u",
                    t->k->name, rounds);
  FILE *output = popen(command, "r");
  unsigned got_hash = 0;
  unsigned long long nanoseconds = 0;
  int got = output ? fscanf(output, "%u %llu", &got_hash, &nanoseconds) : 0;
  if (!output || pclose(output) || got != 2) fail(t->k, "qemu-riscv32 did not end well");
  if (got_hash != hash) fail(t->k, "the result is other with qemu-riscv32");
  free(command);
  return (double)nanoseconds * 1e-9;
}

/* Measuring: seconds of one round */

enum { HOST_O2, HOST_O3, TRANSLATOR, CPU_DEVICE, INTERPRETER, QEMU, NUM_RIVALS };

/* Keys of figures beside the host's -O2; NULL: no figure. */
static const char *const rival_keys[NUM_RIVALS] = {[TRANSLATOR] = "",
                                                   [CPU_DEVICE] = "cpu_device_",
                                                   [INTERPRETER] = "interpreter_",
                                                   [QEMU] = "qemu_"};

typedef struct times {
  double of[NUM_RIVALS];
} times;

static void keep_least(double *least, double seconds)
{
  if (*least == 0 || seconds < *least) *least = seconds;
}

static times measure(const kernel *k, const layout *l)
{
  trial t;
  times out = {{0}};
  host_code o2 = find_host_code(k, "./host_o2.so"), o3 = find_host_code(k, "./host_o3.so");
  bool alone = l == &layouts[0];
  make_trial(&t, k, l);
  choose_rounds(&t, o2);
  uint32_t few = t.rounds / INTERPRETER_SHARE + 1, some = t.rounds / QEMU_SHARE + 1;
  pop_engine *translator = make_engine(&t, "translator", t.rounds),
             *interpreter = alone ? make_engine(&t, "interpreter", few) : NULL,
             *cpu = alone ? make_engine(&t, NULL, t.rounds) : NULL;
  time_engine(translator); /* and translates */
  compare_with_host(&t, translator, "translator");
  uint32_t hash = hash_engine(&t, translator);
  if (cpu) time_engine(cpu);
  for (int round = 0; round < ROUNDS; round++) {
    keep_least(&out.of[HOST_O2], time_host(&t, o2, t.rounds) / t.rounds);
    keep_least(&out.of[TRANSLATOR], time_engine(translator) / t.rounds);
    keep_least(&out.of[HOST_O3], time_host(&t, o3, t.rounds) / t.rounds);
    if (!alone) continue;
    keep_least(&out.of[CPU_DEVICE], time_engine(cpu) / t.rounds);
    keep_least(&out.of[INTERPRETER], time_engine(interpreter) / few);
    if (round < QEMU_ROUNDS) keep_least(&out.of[QEMU], time_qemu(&t, some, hash) / some);
  }
  if (alone) {
    compare_with_host(&t, interpreter, "interpreter");
    compare_with_host(&t, cpu, "CPU device");
  }
  pop_engine_free(translator);
  pop_engine_free(interpreter);
  pop_engine_free(cpu);
  free_trial(&t);
  return out;
}

/* First runs: one tenth of a second of the interpreter. */

static uint32_t rounds_of_first_run(const kernel *k)
{
  static const double length = 0.1, interpreter_ratio = 20;
  trial t;
  make_trial(&t, k, &layouts[0]);
  choose_rounds(&t, find_host_code(k, "./host_o2.so"));
  free_trial(&t);
  return (uint32_t)(t.rounds * length / (HOST_SECONDS * interpreter_ratio)) + 1;
}

static double first_run(const kernel *k, const char *engine_name, uint32_t rounds)
{
  trial t;
  make_trial(&t, k, &layouts[0]);
  pop_engine *engine = make_engine(&t, engine_name, rounds);
  double start = seconds_of(CLOCK_MONOTONIC);
  check(pop_engine_run(engine, 0));
  double seconds = (seconds_of(CLOCK_MONOTONIC) - start) / rounds;
  pop_engine_free(engine);
  free_trial(&t);
  return seconds;
}

static double time_first_run(const char *self, const kernel *k, const char *engine_name,
                             uint32_t rounds)
{
  char *command = pop_xasprintf(
      "rm -rf first_cache; POPLAR_EXECUTABLE_CACHE_DIR=first_cache exec %s first %s %s %u", self,
      k->name, engine_name, rounds);
  FILE *output = popen(command, "r");
  double seconds = 0;
  if (!output || fscanf(output, "%lf", &seconds) != 1 || pclose(output))
    fail(k, "its first run did not end well");
  free(command);
  return seconds;
}

/* The least of several, in rotation: a first run is short, and other work of the machine would
 * affect it. (On a quiet virtual machine the interpreter alone takes half as long again in one or
 * two runs of ten, sometimes in several in a row. The least of three was 1.3 for other kernels each
 * time.) */
static double compare_first_runs(const char *self, const kernel *k)
{
  enum { FIRST_RUNS = 6 };
  double alone = 0, both = 0;
  uint32_t rounds = rounds_of_first_run(k);
  for (int i = 0; i < FIRST_RUNS; i++) {
    keep_least(&alone, time_first_run(self, k, "interpreter", rounds));
    keep_least(&both, time_first_run(self, k, "auto", rounds));
  }
  return both / alone;
}

/* Figures */

/* Over kernels. */
typedef struct mean {
  double logs, worst;
  int count;
} mean;

static void add_to(mean *m, double ratio)
{
  m->logs += log(ratio);
  m->worst = fmax(m->worst, ratio);
  m->count++;
}

static void print_figure(const char *name, double value, const char *unit)
{
  printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name, value, unit);
  fflush(stdout);
}

static void print_mean(const char *key, const char *set, const mean *m, const char *unit)
{
  if (!m->count) return;
  char *name = pop_xasprintf("kernels_%s%s", set, key),
       *worst = pop_xasprintf("kernels_%sworst_%s", set, key);
  print_figure(name, exp(m->logs / m->count), unit);
  print_figure(worst, m->worst, unit);
  free(name);
  free(worst);
}

static const char o2_unit[] = "x host -O2", o3_unit[] = "x host -O3 -march=native";

/* By set: kernels that are only reported, kernels that may be looked at. */
static const char *const set_keys[2] = {"looked_at_", ""};

typedef struct figures {
  mean o2[NUM_LAYOUTS][NUM_RIVALS], o3[NUM_LAYOUTS], first;
} figures;

static void add_kernel(figures *to, const kernel *k, size_t layout, const times *t)
{
  double host = t->of[HOST_O2];
  char *name = pop_xasprintf("kernels_%s%s%s", layouts[layout].name,
                             is_only_reported(k) ? "" : "looked_at_", k->name);
  bool halves = k->how & HALVES;
  print_figure(name, t->of[TRANSLATOR] / (halves ? t->of[HOST_O3] : host),
               halves ? o3_unit : o2_unit);
  free(name);
  add_to(&to->o3[layout], t->of[TRANSLATOR] / t->of[HOST_O3]);
  for (int r = 0; r < NUM_RIVALS && !halves; r++)
    if (rival_keys[r] && t->of[r] > 0) add_to(&to->o2[layout][r], t->of[r] / host);
}

static void print_set(const figures *f, const char *set)
{
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    char *key = pop_xasprintf("%s%s", set, layouts[i].name);
    for (int r = 0; r < NUM_RIVALS; r++) {
      if (!rival_keys[r]) continue;
      char *whole = pop_xasprintf("%s%s", key, rival_keys[r]);
      print_mean("vs_host_o2", whole, &f->o2[i][r], o2_unit);
      free(whole);
    }
    print_mean("vs_host_o3_native", key, &f->o3[i], o3_unit);
    free(key);
  }
  print_mean("first_run", set, &f->first, "x interpreter alone");
}

static const kernel *find_kernel(const char *name)
{
  for (size_t i = 0; i < NUM_KERNELS; i++)
    if (!strcmp(kernels[i].name, name)) return &kernels[i];
  fprintf(stderr, "kernels: there is no kernel '%s'\n", name);
  exit(2);
}

static void run_kernel(const char *self, const kernel *k, figures *to)
{
  add_to(&to->first, compare_first_runs(self, k));
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    times t = measure(k, &layouts[i]);
    add_kernel(to, k, i, &t);
  }
}

int main(int argc, char **argv)
{
  static figures sets[2];
  if (argc == 5 && !strcmp(argv[1], "first")) {
    printf("%.9f\n",
           first_run(find_kernel(argv[2]), argv[3], (uint32_t)strtoul(argv[4], NULL, 10)));
    return 0;
  }
  for (int i = 1; i < argc; i++) {
    const kernel *k = find_kernel(argv[i]);
    run_kernel(argv[0], k, &sets[is_only_reported(k)]);
  }
  for (size_t i = 0; i < NUM_KERNELS && argc == 1; i++)
    run_kernel(argv[0], &kernels[i], &sets[is_only_reported(&kernels[i])]);
  for (int set = 0; set < 2; set++) print_set(&sets[set], set_keys[set]);
  return 0;
}
