/* Fuzz target of files of tensors: those of pop_graph_save_tensors (the first byte is even) and the
 * header of .npy files (odd). After a refused file the graph is as before: without an error, and
 * able to take more. Accepted tensors can be saved and loaded again. */
#include "fuzz.h"
#include "use.h"

#include "tools/npy.h"

#include <populus/populus.h>

#include <stdio.h>
#include <stdlib.h>

enum { NUM_TILES = 4 };

static pop_graph *new_graph(void)
{
  pop_target target;
  if (!forget(pop_target_create("ipu2", 1, &target))) abort();
  target.tiles_per_ipu = NUM_TILES;
  return pop_graph_create(&target);
}

/* The list of `count` tensors of one graph, by way of a file, in another. */
static void save_and_load(pop_tensor *tensors, size_t count)
{
  char *bytes = NULL;
  size_t size, num_loaded = 0;
  pop_tensor *loaded = NULL;
  FILE *stream = open_memstream(&bytes, &size);
  if (!stream || !forget(pop_graph_save_tensors(tensors[0].graph, tensors, count, stream)) ||
      fclose(stream) != 0)
    abort();
  pop_graph *graph = new_graph();
  if (!forget(pop_graph_load_tensors(graph, bytes, size, &loaded, &num_loaded)) ||
      num_loaded != count || pop_graph_error(graph))
    abort();
  for (size_t i = 0; i < count; ++i)
    if (pop_tensor_num_elements(loaded[i]) != pop_tensor_num_elements(tensors[i])) abort();
  free(loaded);
  free(bytes);
  pop_graph_free(graph);
}

static void load(const uint8_t *bytes, size_t size)
{
  pop_tensor *tensors;
  size_t count;
  pop_graph *graph = new_graph();
  bool is_good = forget(pop_graph_load_tensors(graph, bytes, size, &tensors, &count));
  if (pop_graph_error(graph) || (!is_good && (tensors || count))) abort();
  if (is_good && count) save_and_load(tensors, count);
  free(tensors);
  pop_graph_free(graph);
}

static void read_npy(const uint8_t *bytes, size_t size)
{
  npy_header header;
  if (!forget(npy_read_header(bytes, size, &header))) return;
  if (header.data > size || header.rank > NPY_MAX_RANK) abort();
  touch_text(header.descr);
  for (int type = 0; type < POP_TYPE_COUNT; ++type) npy_is_type(header.descr, (pop_type)type);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  if (!size) return 0;
  if (bytes[0] % 2)
    read_npy(bytes + 1, size - 1);
  else
    load(bytes + 1, size - 1);
  return 0;
}
