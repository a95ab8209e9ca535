/* images <ipus> <rounds> <codelets.gp> <archive>: the cost of linking tiles and writing
 * their images.
 *
 * A graph with 1,472 tiles on each IPU whose images have about 37 KB each. Only the system's
 * memory and the stacks are zero, so the files have no holes, which makes writing as expensive
 * as possible. Each tile has vertices that read its constants, and one whose input comes from
 * the next tile. The graph is compiled once and saved `rounds` times, to a new file each time,
 * as in any user's first build.
 *
 * Prints a line "<name> <value>" for each figure; images.sh explains them:
 *
 *   link_s          passes link and allocate: which code, where, relocated
 *   save_s          images made, written, synced and renamed; once for each round
 *   memory_kib      memory that saving took in addition
 *   peak_kib        of the process
 */
#include <engine/engine_private.h>
#include <populus/arena.h>
#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VERTICES_PER_TILE = 24, FLOATS_PER_VERTEX = 256 };

static pop_tensor add_constants(pop_graph *graph, size_t tiles)
{
  const size_t shape[] = {tiles, VERTICES_PER_TILE, FLOATS_PER_VERTEX};
  size_t count = shape[0] * shape[1] * shape[2];
  float *data = pop_xmalloc(count * sizeof *data);
  for (size_t i = 0; i < count; ++i) data[i] = (float)(i % 65521 + 1) * 0.37f;
  pop_tensor constants = pop_graph_add_constant(graph, POP_FLOAT, shape, 3, data, "constants");
  free(data);
  return constants;
}

static void add_vertices(pop_graph *graph, pop_compute_set set, pop_tensor in, pop_tensor out,
                         size_t tile, size_t tiles)
{
  pop_tensor own = pop_tensor_index(in, tile);
  pop_graph_set_tile_mapping(graph, own, tile);
  pop_graph_set_tile_mapping(graph, pop_tensor_index(out, tile), tile);
  for (size_t i = 0; i < VERTICES_PER_TILE; ++i) {
    pop_tensor from = i ? own : pop_tensor_index(in, (tile + 1) % tiles);
    pop_vertex vertex = pop_graph_add_vertex(graph, set, i % 2 ? "Scale" : "Add");
    pop_tensor row = pop_tensor_index(from, i);
    if (i % 2) {
      pop_graph_connect(graph, vertex, "in", row);
    } else {
      pop_graph_connect(graph, vertex, "a", row);
      pop_graph_connect(graph, vertex, "b", row);
    }
    pop_graph_connect(graph, vertex, "out", pop_tensor_index(pop_tensor_index(out, tile), i));
    pop_graph_set_vertex_tile(graph, vertex, tile);
  }
}

static pop_program build(pop_graph *graph)
{
  size_t tiles = pop_target_num_tiles(pop_graph_get_target(graph));
  const size_t shape[] = {tiles, VERTICES_PER_TILE, 1};
  pop_tensor in = add_constants(graph, tiles);
  pop_tensor out = pop_graph_add_variable(graph, POP_FLOAT, shape, 3, "out");
  pop_compute_set set = pop_graph_add_compute_set(graph, "scale");
  for (size_t tile = 0; tile < tiles; ++tile) add_vertices(graph, set, in, out, tile, tiles);
  return pop_program_execute(graph, set, "scale");
}

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A number of /proc/self/status, in KiB. */
static long memory_kib(const char *key)
{
  char line[256];
  long value = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, key, strlen(key)) == 0) value = strtol(line + strlen(key) + 1, NULL, 10);
  if (status) fclose(status);
  return value;
}

/* Resets the peak to what is in use now. */
static void reset_peak(void)
{
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5", file);
  fclose(file);
}

static double link_seconds(const pop_engine *engine)
{
  size_t count;
  const pop_phase_time *times = pop_engine_phase_times(engine, &count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    if (strcmp(times[i].name, "live_sections") == 0 || strcmp(times[i].name, "allocate") == 0)
      sum += times[i].seconds;
  return sum;
}

static pop_error *save(const pop_engine *engine, const char *archive)
{
  unlink(archive);
  long before = memory_kib("VmRSS");
  long peak = memory_kib("VmHWM");
  reset_peak();
  double start = now_seconds();
  POP_TRY(pop_engine_save_archive(engine, archive));
  printf("save_s %.6f\n", now_seconds() - start);
  long now = memory_kib("VmHWM");
  printf("memory_kib %ld\npeak_kib %ld\n", now - before, now > peak ? now : peak);
  return NULL;
}

static pop_error *measure(uint32_t num_ipus, long rounds, const char *codelets, const char *archive)
{
  pop_target target;
  POP_TRY(pop_target_create("ipu2", num_ipus, &target));
  pop_graph *graph = pop_graph_create(&target);
  pop_graph_add_codelets(graph, codelets, NULL);
  pop_program program = build(graph);
  pop_engine *engine = NULL;
  pop_error *error = pop_engine_create(graph, &program, 1, NULL, 0, &engine);
  pop_graph_free(graph);
  if (!error) printf("link_s %.6f\n", link_seconds(engine));
  for (long round = 0; round < rounds && !error; ++round) error = save(engine, archive);
  pop_engine_free(engine);
  return error;
}

int main(int argc, char **argv)
{
  if (argc != 5) {
    fprintf(stderr, "usage: images <ipus> <rounds> <codelets.gp> <archive>\n");
    return 2;
  }
  pop_error *error =
      measure((uint32_t)strtoul(argv[1], NULL, 10), strtol(argv[2], NULL, 10), argv[3], argv[4]);
  if (error) fprintf(stderr, "images: %s\n", pop_error_message(error));
  int status = pop_error_exit_status(error);
  pop_error_free(error);
  return status;
}
