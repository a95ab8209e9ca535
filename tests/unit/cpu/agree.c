/* Codelets compute the same on a tile and on the host, to the last bit. Every vertex of
 * tests/codelets/agree.cpp runs once through the engine and once as the host object of its
 * `.gp`, which cc links into a shared object. The object's own vertex table gives the
 * host's field offsets. */
#include "support/expect.h"

#include <populus/engine.h>
#include <populus/gp.h>
#include <populus/graph.h>
#include <populus/popc.h>

#include <dlfcn.h>
#include <gelf.h>
#include <jansson.h>
#include <stdio.h>

TestSuite(agree, .init = enter_fresh_folder);

enum { WORDS = 64, ROUNDS = 12, LEAST_VERTICES = 20 };

/* ---- inputs ---- */

static uint32_t random_word(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 16);
}

/* Every second round starts with words that are special as an integer, as a float or as two
 * halves. */
static void make_input(uint64_t *state, unsigned round, uint32_t *words)
{
  static const uint32_t special[] = {
      0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000, 0xbf800000,
      0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff,
      0x3f000000, 0x4b000001, 0x4f000000, 0xcf000000, 0x5f000000, 0x7c007bff, 0x04000001,
      0x3c003c01, 0xfc007e00, 0x43800000, 0x477fe000, 0x33800000, 0x387fc000};
  for (unsigned i = 0; i < WORDS; ++i) {
    words[i] = random_word(state);
    /* Floats near 1, so that not all sums and products overflow or vanish. */
    if (round % 3 == 1) words[i] = (words[i] & 0x81ffffff) | 0x3e000000;
    /* Halves near 1. */
    if (round % 3 == 2) words[i] = (words[i] & 0x8fff8fff) | 0x30003000;
  }
  if (round % 2) return;
  for (unsigned i = 0; i < sizeof special / sizeof *special; ++i)
    words[(i * 5 + round) % WORDS] = special[i];
}

/* ---- the host ---- */

typedef struct host {
  void *library;
  uint8_t *object;
  size_t object_size;
  json_t *table;
} host;

static json_t *read_table(host *host)
{
  cr_assert_neq(elf_version(EV_CURRENT), EV_NONE);
  Elf *elf = elf_memory((char *)host->object, host->object_size);
  size_t names;
  cr_assert(elf && elf_getshdrstrndx(elf, &names) == 0);
  json_t *table = NULL;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    cr_assert_not_null(gelf_getshdr(section, &header));
    if (strcmp(elf_strptr(elf, names, header.sh_name), ".populus.vertices") != 0) continue;
    Elf_Data *data = elf_rawdata(section, NULL);
    table = json_loadb(data->d_buf, data->d_size, 0, NULL);
  }
  elf_end(elf);
  cr_assert_not_null(table);
  return table;
}

static void load_host(const pop_gp *gp, host *host)
{
  cr_assert_eq(pop_gp_num_host_objects(gp), 1);
  const void *object = pop_gp_host_object(gp, 0, &host->object_size);
  host->object = malloc(host->object_size);
  cr_assert_not_null(host->object);
  memcpy(host->object, object, host->object_size);
  host->table = read_table(host);
  FILE *file = fopen("host.o", "w");
  cr_assert(file && fwrite(object, host->object_size, 1, file) == 1 && fclose(file) == 0);
  cr_assert_eq(system("cc -shared host.o -o ./host.so -lm"), 0);
  host->library = dlopen("./host.so", RTLD_NOW | RTLD_LOCAL);
  cr_assert_not_null(host->library, "%s", dlerror());
}

static void unload_host(host *host)
{
  dlclose(host->library);
  json_decref(host->table);
  free(host->object);
}

static const json_t *find_named(const json_t *list, const char *name)
{
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const json_t *item = json_array_get(list, i);
    if (!strcmp(json_string_value(json_object_get(item, "name")), name)) return item;
  }
  cr_assert_fail("the host's table has no '%s'", name);
  return NULL;
}

static void set_span(uint8_t *state, const json_t *vertex, const char *field, uint32_t *words)
{
  const json_t *found = find_named(json_object_get(vertex, "fields"), field);
  size_t offset = (size_t)json_integer_value(json_object_get(found, "offset"));
  unsigned count = WORDS;
  memcpy(state + offset, &words, sizeof words);
  memcpy(state + offset + sizeof words, &count, sizeof count);
}

static void run_on_host(const host *host, const pop_vertex_type *type, uint32_t *in, uint32_t *out)
{
  const json_t *vertex = find_named(json_object_get(host->table, "vertices"), type->name);
  size_t size = (size_t)json_integer_value(json_object_get(vertex, "size"));
  uint8_t *state = calloc(1, size);
  cr_assert_not_null(state);
  set_span(state, vertex, "in", in);
  set_span(state, vertex, "out", out);
  bool (*entry)(void *);
  *(void **)&entry = dlsym(host->library, type->symbol);
  cr_assert_not_null(entry, "the host's object has no %s", type->symbol);
  cr_assert(entry(state), "%s", type->name);
  free(state);
}

/* ---- the tile ---- */

/* One vertex of each type in one compute set, with one input. */
static pop_engine *build_engine(const pop_gp *gp)
{
  pop_target target;
  expect_ok(pop_target_create("ipu2", 1, &target));
  target.tiles_per_ipu = 2;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, "agree.gp", NULL);
  size_t shape = WORDS;
  pop_tensor in = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &shape, 1, "in");
  pop_graph_set_tile_mapping(graph, in, 1);
  pop_graph_create_host_write(graph, "in", in);
  pop_compute_set set = pop_graph_add_compute_set(graph, "all");
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    const char *name = pop_gp_vertex_type(gp, i)->name;
    pop_tensor out = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &shape, 1, name);
    pop_graph_set_tile_mapping(graph, out, 1);
    pop_graph_create_host_read(graph, name, out);
    pop_vertex vertex = pop_graph_add_vertex(graph, set, name);
    pop_graph_set_vertex_tile(graph, vertex, 1);
    pop_graph_connect(graph, vertex, "in", in);
    pop_graph_connect(graph, vertex, "out", out);
  }
  pop_program program = pop_program_execute(graph, set, "run");
  pop_engine *engine;
  expect_ok(pop_engine_create(graph, &program, 1, NULL, 0, &engine));
  pop_graph_free(graph);
  expect_ok(pop_engine_load(engine));
  return engine;
}

/* ---- comparison ---- */

/* The number of words that differ. Logs the first one. */
static size_t compare(const char *name, unsigned round, const uint32_t *tile, const uint32_t *hosts)
{
  size_t differing = 0;
  for (unsigned i = 0; i < WORDS; ++i) {
    if (tile[i] == hosts[i]) continue;
    if (!differing++)
      cr_log_error("%s, round %u, word %u: 0x%08x on the tile, 0x%08x on the host", name, round, i,
                   tile[i], hosts[i]);
  }
  return differing;
}

static size_t compare_all(pop_engine *engine, const pop_gp *gp, const host *host, unsigned round,
                          uint32_t *in)
{
  size_t differing = 0;
  expect_ok(pop_engine_write_tensor(engine, "in", in, WORDS * sizeof *in));
  expect_ok(pop_engine_run(engine, 0));
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(gp, i);
    uint32_t on_tile[WORDS], on_host[WORDS] = {0};
    expect_ok(pop_engine_read_tensor(engine, type->name, on_tile, sizeof on_tile));
    run_on_host(host, type, in, on_host);
    differing += compare(type->name, round, on_tile, on_host);
  }
  return differing;
}

static void compile(const char *level)
{
  char source[4096];
  const char *input = source;
  snprintf(source, sizeof source, "%s/tests/codelets/agree.cpp", getenv("POPULUS_SOURCE_DIR"));
  popc_options options = {.size = sizeof options,
                          .inputs = &input,
                          .num_inputs = 1,
                          .output = "agree.gp",
                          .flags = &level,
                          .num_flags = 1,
                          .diagnostics_fd = -1};
  expect_ok(popc_compile(&options, NULL, NULL));
}

static void expect_agreement(const char *level)
{
  compile(level);
  pop_gp *gp;
  host host = {0};
  uint64_t state = 0x9e3779b97f4a7c15;
  expect_ok(pop_gp_read("agree.gp", &gp));
  cr_assert_geq(pop_gp_num_vertex_types(gp), LEAST_VERTICES);
  load_host(gp, &host);
  pop_engine *engine = build_engine(gp);
  size_t differing = 0;
  for (unsigned round = 0; round < ROUNDS; ++round) {
    uint32_t in[WORDS];
    make_input(&state, round, in);
    differing += compare_all(engine, gp, &host, round, in);
  }
  cr_assert_eq(differing, 0, "%zu words differ at %s", differing, level);
  pop_engine_free(engine);
  unload_host(&host);
  pop_gp_free(gp);
}

Test(agree, tile_and_host_compute_the_same)
{
  expect_agreement("-O2");
}

/* Without optimization, tile and host use other instructions and library calls. */
Test(agree, tile_and_host_compute_the_same_without_optimisation)
{
  expect_agreement("-O0");
}
