/* Fuzz target of an archive's metadata: as the member `metadata.elf`, and as the CBOR inside it, as
 * the member's digest stops changes. Accepted metadata are read completely and written again, and
 * must then read as the same.
 */
#include "executable/executable.h"
#include "fuzz.h"
#include "use.h"

#include <populus/executable.h>

#include <stdlib.h>

static void read_names(const pop_executable *e)
{
  for (size_t i = 0; i < pop_executable_num_programs(e); ++i)
    touch_text(pop_executable_program_name(e, i));
  for (size_t i = 0; i < pop_executable_num_handles(e); ++i) {
    pop_handle_info handle;
    if (!forget(pop_executable_handle(e, i, &handle))) abort();
    touch_text(handle.name);
    touch(handle.shape, handle.rank * sizeof *handle.shape);
  }
  for (size_t i = 0; i < pop_executable_num_streams(e); ++i) {
    pop_stream_info stream;
    if (!forget(pop_executable_stream(e, i, &stream))) abort();
    touch_text(stream.name);
  }
}

/* Rows, runs and intervals lie inside their arrays. */
static void read_tables(const pop_executable *e)
{
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  for (uint32_t tile = 0; tile < num_tiles; ++tile) {
    touch(&e->memory_rows[e->tiles[tile].memory], sizeof *e->memory_rows);
    touch(&e->stack_rows[e->tiles[tile].stacks], sizeof *e->stack_rows);
  }
  touch(e->digests, num_tiles * sizeof *e->digests);
  for (size_t i = 0; i < e->num_tensors; ++i)
    touch(e->runs + e->tensors[i].first_run, e->tensors[i].num_runs * sizeof *e->runs);
  for (size_t i = 0; i < e->num_variables; ++i)
    touch(e->intervals + e->variables[i].first_interval,
          e->variables[i].num_intervals * sizeof *e->intervals);
  for (size_t i = 0; i < e->num_events; ++i) {
    touch_text(e->events[i].name);
    touch_text(e->events[i].message);
    touch(e->windows + e->events[i].first_window, e->events[i].num_windows * sizeof *e->windows);
    if (e->events[i].kind == EXECUTABLE_EVENT_PRINT)
      touch_text(e->tensors[e->events[i].tensor].name);
  }
  for (size_t i = 0; i < e->num_blocks; ++i) touch_text(e->blocks[i]);
  for (size_t i = 0; i < e->num_remote_buffers; ++i) touch_text(e->remote_buffers[i].name);
  for (size_t i = 0; i < e->num_windows; ++i)
    touch_text(e->windows[i].remote ? e->remote_buffers[e->windows[i].object].name
                                    : e->streams[e->windows[i].object].name);
}

static void find_vertices(const pop_executable *e)
{
  for (size_t i = 0; i < e->num_works; ++i) {
    const executable_work *work = &e->works[i];
    const executable_row *row = &e->vertex_rows[work->row];
    for (uint32_t j = 0; j < row->count && j < 8; ++j) {
      const executable_vertex *vertex = &e->vertices[row->first + j];
      executable_found_vertex found;
      if (!executable_find_vertex(e, work->tile, vertex->worker & 0xff,
                                  work->state_address + vertex->state_offset, &found))
        continue;
      touch_text(found.type);
      touch_text(found.compute_set);
    }
    if (i == 64) break; /* each search goes through all compute sets */
  }
}

static void write_again(const pop_executable *e)
{
  pop_bytes first = {0}, second = {0};
  executable_encode(e, e->digests, &first);
  pop_executable *again = executable_new();
  if (!forget(executable_decode(first.data, first.size, again))) abort();
  executable_encode(again, again->digests, &second);
  if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0) abort();
  pop_executable_free(again);
  pop_bytes_free(&first);
  pop_bytes_free(&second);
}

static void use(const uint8_t *bytes, size_t size,
                pop_error *(*read)(const uint8_t *bytes, size_t size, pop_executable *executable))
{
  pop_executable *e = executable_new();
  if (forget(read(bytes, size, e))) {
    read_names(e);
    read_tables(e);
    find_vertices(e);
    write_again(e);
  }
  pop_executable_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  use(bytes, size, executable_read_metadata);
  use(bytes, size, executable_decode);
  return 0;
}
