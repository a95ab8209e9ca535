/* Fuzz target of the whole way of an object to a tile. An object with crafted sections, symbols,
 * relocations and alignments (object_make.h) is put into a `.gp` whose digest fits, read, added to
 * a graph, compiled, saved, loaded and run.
 *
 *   object -> gp_parts_join -> `.gp` -> graph -> images, archive -> interpreter, for a limited time
 */
#include "fuzz.h"
#include "gp_parts.h"
#include "object_make.h"
#include "use.h"

#include <populus/populus.h>
#include <populus/vertex_table.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NUM_TILES = 2, COUNT = 5 };

/* A vertex of each kind, with a vector of ints that it may change, and a number. */
static void make_table(object_choices *choices, size_t *num_types, pop_bytes *table)
{
  static const pop_field fields[] = {{.name = "x",
                                      .kind = POP_FIELD_INOUT,
                                      .layout = POP_LAYOUT_SPAN,
                                      .type = POP_INT,
                                      .size = 8,
                                      .alignment = 4},
                                     {.name = "n",
                                      .kind = POP_FIELD_CONSTANT,
                                      .layout = POP_LAYOUT_SCALAR,
                                      .type = POP_INT,
                                      .offset = 8,
                                      .size = 4,
                                      .alignment = 4}};
  static const char *const symbols[] = {"__runCodelet_A", "__runCodelet_B"};
  static const char *const names[] = {"A", "B"};
  pop_vertex_type types[2];
  *num_types = 1 + object_choose(choices, 2);
  for (size_t i = 0; i < *num_types; ++i)
    types[i] = (pop_vertex_type){.name = names[i],
                                 .symbol = symbols[i],
                                 .kind = (pop_vertex_kind)object_choose(choices, 3),
                                 .state_size = 12,
                                 .state_alignment = 4,
                                 .fields = fields,
                                 .num_fields = 2,
                                 .source = "fuzz.s:1"};
  pop_vertex_table_write(types, *num_types, table);
}

/* The one object, in a file in memory that a graph can read. */
static int make_gp(object_choices *choices, size_t *num_types)
{
  pop_bytes table = {0}, elf = {0};
  make_table(choices, num_types, &table);
  object_make(choices, &table, &elf);
  gp_member member = {.kind = GP_TILE,
                      .name = "tile-0.o",
                      .bytes = elf.data,
                      .size = elf.size,
                      .targets = "ipu1,ipu2"};
  const gp_parts parts = {.members = &member, .count = 1};
  uint8_t *gp;
  size_t size;
  gp_parts_join(&parts, &gp, &size);
  int file = memfd_create("fuzz.gp", MFD_CLOEXEC);
  if (file < 0 || write(file, gp, size) != (ssize_t)size) abort();
  free(gp);
  pop_bytes_free(&table);
  pop_bytes_free(&elf);
  return file;
}

static pop_program add_vertices(pop_graph *graph, size_t num_types)
{
  static const char *const names[] = {"A", "B"};
  static const size_t count = COUNT;
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  for (size_t i = 0; i < num_types && i < sizeof names / sizeof *names; ++i) {
    pop_tensor x = pop_graph_add_variable(graph, POP_INT, &count, 1, names[i]);
    pop_graph_set_tile_mapping(graph, x, i);
    pop_vertex vertex = pop_graph_add_vertex(graph, set, names[i]);
    pop_graph_connect(graph, vertex, "x", x);
    pop_graph_set_field_int(graph, vertex, "n", 3);
    pop_graph_set_vertex_tile(graph, vertex, i);
  }
  return pop_program_execute(graph, set, "run");
}

static pop_graph *new_graph(const char *gp)
{
  pop_target target;
  if (!forget(pop_target_create("ipu2", 1, &target))) abort();
  target.tiles_per_ipu = NUM_TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, gp, NULL);
  return graph;
}

static void use(const char *gp, size_t num_types)
{
  static const pop_option options[] = {{"debug.maxCyclesPerRun", "20000"},
                                       {"debug.verify", "true"},
                                       {"target.tileEngine", "interpreter"}};
  static FILE *nowhere;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  pop_graph *graph = new_graph(gp);
  pop_program main = add_vertices(graph, num_types);
  pop_engine *engine = NULL;
  pop_error *error =
      pop_engine_create(graph, &main, 1, options, sizeof options / sizeof *options, &engine);
  pop_graph_free(graph);
  if (forget(error)) {
    pop_engine_set_print_stream(engine, nowhere);
    (void)forget(pop_engine_save_archive(engine, "/dev/null"));
    if (forget(pop_engine_load(engine))) (void)forget(pop_engine_run(engine, 0));
  }
  pop_engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  object_choices choices = {.bytes = bytes, .size = size};
  size_t num_types;
  int file = make_gp(&choices, &num_types);
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  use(path, num_types);
  close(file);
  return 0;
}
