/* Fuzz target of damaged archives that run: loader and engine must withstand any
 * metadata and images.
 *
 * An archive finds damage by its digests, so changed bytes of one would never get far. Here a sound
 * executable is compiled once. The input says what is changed in its metadata and images, with
 * digests that fit the changes. Each change has six bytes, until the input ends:
 *
 *   which: 0 the metadata (CBOR), else an image (ELF); where: 3 bytes; how: byte set,
 *          xor, word added; value
 *
 * Then the executable is decoded and loaded, every program is run, and every handle is used.
 */
#include "fuzz.h"
#include "use.h"

#include "engine/engine_private.h"
#include <populus/archive.h>
#include <populus/populus.h>
#include <populus/remote_buffer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  NUM_TILES = 3,
  CHANGE_BYTES = 6,
  MOST_BYTES = 1 << 22, /* limit of streams and remote buffers, whose sizes are not tested here */
  MOST_TILES = 64,
  MOST_CYCLES = 20000
};

typedef struct sound {
  pop_bytes cbor, images[NUM_TILES];
  FILE *nowhere;
} sound;

/* ---- what is damaged ---- */

static pop_tensor new_tensor(pop_graph *graph, pop_type type, size_t count, const char *name)
{
  pop_tensor t = pop_graph_add_variable(graph, type, &count, 1, name);
  pop_graph_map_linearly(graph, t, 3, 1);
  return t;
}

/* All ways in which tiles and host communicate. */
static pop_program add_programs(pop_graph *graph)
{
  pop_tensor data = new_tensor(graph, POP_INT, 8, "data"),
             other = new_tensor(graph, POP_INT, 8, "other");
  pop_tensor number = new_tensor(graph, POP_UNSIGNED_INT, 1, "number");
  pop_remote_buffer store = pop_graph_add_remote_buffer(graph, "store", POP_INT, 8, 3);
  pop_stream in = pop_graph_add_host_to_device_fifo(graph, "in", POP_INT, 8);
  pop_stream more = pop_graph_add_host_to_device_fifo(graph, "more", POP_INT, 8);
  pop_stream out = pop_graph_add_device_to_host_fifo(graph, "out", POP_INT, 8);
  pop_stream_set_option(in, "splitLimit", "20");
  pop_graph_create_host_write(graph, "write", number);
  pop_graph_create_host_read(graph, "read", data);
  const pop_program parts[] = {
      pop_program_copy_from_stream(in, data, "in"),
      pop_program_copy_from_stream(more, other, "more"),
      pop_program_copy_to_stream(data, out, "out"),
      pop_program_copy_to_remote_buffer(data, store, number, "store"),
      pop_program_copy(data, pop_tensor_reverse(other, 0), "copy"),
      pop_program_copy_from_remote_buffer(store, data, number, "fetch"),
      pop_program_print_tensor(other, "other"),
      pop_program_abort_on_condition(number, "number", "abort"),
      pop_program_sync(graph, POP_SYNC_EXTERNAL, "sync"),
  };
  pop_program all = pop_program_sequence(graph, "all");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) pop_sequence_add(all, parts[i]);
  return pop_program_block(graph, pop_program_repeat(graph, 2, all, "loop"), "block");
}

static void keep_image(sound *s, const pop_executable *e, uint32_t tile)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  if (!forget(executable_image(e, tile, POP_IMAGE_MEMORY, &s->images[tile], arena, &image)))
    abort();
  pop_arena_free(arena);
}

static const sound *compile(void)
{
  static sound made;
  const uint64_t digests[NUM_TILES] = {0};
  if (made.cbor.size) return &made;
  pop_target target;
  pop_executable *e;
  if (!forget(pop_target_create("ipu2", 1, &target))) abort();
  target.tiles_per_ipu = NUM_TILES;
  pop_graph *graph = pop_graph_create(&target);
  pop_program main = add_programs(graph);
  if (!forget(pop_compile_graph(graph, &main, 1, NULL, 0, &e))) abort();
  executable_encode(e, digests, &made.cbor);
  for (uint32_t tile = 0; tile < NUM_TILES; ++tile) keep_image(&made, e, tile);
  made.nowhere = fopen("/dev/null", "w");
  pop_executable_free(e);
  pop_graph_free(graph);
  return &made;
}

/* ---- damage ---- */

static void change(pop_bytes *bytes, const uint8_t *how)
{
  uint32_t where =
      (how[1] | (uint32_t)how[2] << 8 | (uint32_t)how[3] << 16) % (uint32_t)bytes->size;
  switch (how[4] % 3) {
  case 0:
    bytes->data[where] = how[5];
    return;
  case 1:
    bytes->data[where] ^= how[5];
    return;
  default:
    for (size_t i = where, carry = how[5]; i < bytes->size && i < where + (size_t)4; ++i) {
      carry += bytes->data[i];
      bytes->data[i] = (uint8_t)carry;
      carry >>= 8;
    }
  }
}

static sound damage(const sound *from, const uint8_t *how, size_t size)
{
  sound copy = {.nowhere = from->nowhere};
  pop_bytes_append(&copy.cbor, from->cbor.data, from->cbor.size);
  for (size_t i = 0; i < NUM_TILES; ++i)
    pop_bytes_append(&copy.images[i], from->images[i].data, from->images[i].size);
  for (; size >= CHANGE_BYTES; how += CHANGE_BYTES, size -= CHANGE_BYTES) {
    uint32_t which = how[0] % (NUM_TILES + 1);
    change(which ? &copy.images[which - 1] : &copy.cbor, how);
  }
  return copy;
}

static void free_sound(sound *s)
{
  pop_bytes_free(&s->cbor);
  for (size_t i = 0; i < NUM_TILES; ++i) pop_bytes_free(&s->images[i]);
}

/* ---- an executable of it ---- */

static pop_error *read_image(const pop_executable *e, uint32_t tile, unsigned parts, pop_bytes *elf,
                             pop_arena *arena, pop_image *image)
{
  const sound *s = e->images.context;
  bool overflowed;
  (void)parts;
  if (tile >= NUM_TILES) return pop_error_new(POP_ERROR_FILE_LOAD, "there is no image %u", tile);
  elf->size = 0;
  pop_bytes_append(elf, s->images[tile].data, s->images[tile].size);
  return pop_image_read(elf->data, elf->size, "image", &e->target, arena, image, &overflowed);
}

static bool asks_for_little(const pop_executable *e)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < e->num_streams && bytes < MOST_BYTES; ++i)
    bytes +=
        e->streams[i].num_elements < MOST_BYTES
            ? e->streams[i].num_elements * pop_type_bytes(e->streams[i].type) * e->streams[i].depth
            : MOST_BYTES;
  for (size_t i = 0; i < e->num_remote_buffers && bytes < MOST_BYTES; ++i)
    bytes += e->remote_buffers[i].num_elements * pop_type_bytes(e->remote_buffers[i].type) *
             e->remote_buffers[i].repeats;
  return bytes < MOST_BYTES && pop_target_num_tiles(&e->target) <= MOST_TILES;
}

/* ---- use ---- */

static int use_data(void *context, void *data)
{
  touch(data, *(size_t *)context);
  return 0;
}
static bool have_data(void *context, void *data)
{
  memset(data, 1, *(size_t *)context);
  return true;
}

static void use_handles(pop_engine *engine, const pop_executable *e)
{
  for (size_t i = 0; i < e->num_tensors; ++i) {
    const executable_tensor *t = &e->tensors[i];
    size_t bytes = (size_t)t->num_elements * pop_type_bytes(t->type);
    if (bytes > MOST_BYTES) continue;
    uint8_t *data = calloc(bytes + 1, 1);
    if (t->kind == EXECUTABLE_WRITE)
      (void)forget(pop_engine_write_tensor(engine, t->name, data, bytes));
    else
      (void)forget(pop_engine_read_tensor(engine, t->name, data, bytes));
    free(data);
  }
  for (size_t i = 0; i < e->num_remote_buffers; ++i) {
    const executable_remote_buffer *b = &e->remote_buffers[i];
    size_t bytes = (size_t)b->num_elements * pop_type_bytes(b->type);
    uint8_t *data = calloc(bytes, 1);
    (void)forget(pop_engine_copy_to_remote_buffer(engine, b->name, b->repeats - 1, 0, data, bytes));
    free(data);
  }
}

static void run(pop_engine *engine, const pop_executable *e, size_t *stream_bytes)
{
  for (size_t i = 0; i < e->num_streams; ++i) {
    stream_bytes[i] = (size_t)e->streams[i].num_elements * pop_type_bytes(e->streams[i].type);
    pop_stream_callback callback = {
        .fetch = use_data, .prefetch = have_data, .context = &stream_bytes[i]};
    (void)forget(pop_engine_connect_stream_callback(engine, e->streams[i].name, &callback));
  }
  if (!forget(pop_engine_load(engine))) return;
  use_handles(engine, e);
  for (size_t i = 0; i < e->num_programs && i < 4; ++i) {
    if (!forget(pop_engine_run(engine, i))) break;
    use_handles(engine, e);
  }
}

static void use(sound *damaged)
{
  const run_options options = {.machine = {.max_cycles_per_run = MOST_CYCLES,
                                           .engine = MACHINE_INTERPRETER,
                                           .num_threads = 1},
                               .prefetch = true};
  pop_executable *e = executable_new();
  pop_engine *engine = NULL;
  if (forget(executable_decode(damaged->cbor.data, damaged->cbor.size, e)) && asks_for_little(e)) {
    size_t *stream_bytes = pop_xcalloc(e->num_streams + 1, sizeof *stream_bytes);
    free(e->digests);
    e->digests = NULL;
    e->images = (executable_images){.read = read_image, .context = damaged};
    if (forget(engine_new(e, &options, &engine))) {
      pop_engine_set_print_stream(engine, damaged->nowhere);
      run(engine, e, stream_bytes);
    }
    pop_engine_free(engine);
    free(stream_bytes);
  }
  pop_executable_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  sound damaged = damage(compile(), bytes, size);
  use(&damaged);
  free_sound(&damaged);
  return 0;
}
