/* What codelets print: `[tile 3 worker 1 SumVertex] text`, line by line.
 *
 *   tile.print ──> device_format ──> the context's line ──newline──> the tile's lines ──> stream
 *
 * Each tile collects its own lines, so that tiles may run on any number of threads. Lines are
 * written between runs of the machine, in the order of supersteps, then tiles: the order is always
 * the same. A line without a newline is written when the run ends.
 *
 * A runaway loop must not fill the host's memory or the user's terminal: a run prints up to
 * MAX_RUN_BYTES; anything after that is counted and dropped. A tile alone may collect no more than
 * that either, since the others' output is not known yet.
 */
#include "engine/engine_private.h"

#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUN_BYTES = 64 << 10, MAX_LINE_BYTES = 4096, NUM_CONTEXTS = MACHINE_SUPERVISOR + 1 };

typedef struct line {
  uint64_t superstep; /* of its first byte */
  uint32_t tile, context, vertex_state;
  char *text;
  size_t size;
} line;

typedef struct tile_lines {
  line open[NUM_CONTEXTS]; /* text NULL: nothing printed since the last newline */
  line *lines;
  size_t count, capacity;
  size_t bytes; /* collected in this run */
  uint64_t dropped;
} tile_lines;

struct device_print {
  machine *machine;
  tile_lines *tiles;
  uint32_t num_tiles;
  size_t written; /* bytes of this run */
  uint64_t dropped;
};

static void close_line(tile_lines *tile, line *open)
{
  pop_push(tile->lines, tile->count, tile->capacity, *open);
  *open = (line){0};
}

static void add_byte(tile_lines *tile, const machine_print *request, char c)
{
  line *open = &tile->open[request->context];
  if (tile->bytes >= MAX_RUN_BYTES) {
    ++tile->dropped;
    return;
  }
  ++tile->bytes;
  if (!open->text)
    *open = (line){request->superstep,
                   request->tile,
                   request->context,
                   request->vertex_state,
                   pop_xmalloc(MAX_LINE_BYTES),
                   0};
  if (c != '\n') open->text[open->size++] = c;
  if (c == '\n' || open->size == MAX_LINE_BYTES) close_line(tile, open);
}

static uint32_t print(void *context, const machine_print *request)
{
  device_print *print = context;
  pop_bytes text = {0};
  device_format(print->machine, request->tile, request->format, request->arguments, &text);
  for (size_t i = 0; i < text.size; ++i)
    add_byte(&print->tiles[request->tile], request, (char)text.data[i]);
  uint32_t bytes = (uint32_t)text.size;
  pop_bytes_free(&text);
  return bytes;
}

device_print *device_print_new(machine *machine, uint32_t num_tiles)
{
  device_print *made = pop_xcalloc(1, sizeof *made);
  made->machine = machine;
  made->num_tiles = num_tiles;
  made->tiles = pop_xcalloc(made->num_tiles, sizeof *made->tiles);
  machine_set_print(machine, print, made);
  return made;
}

void device_print_free(device_print *print)
{
  if (!print) return;
  for (uint32_t i = 0; i < print->num_tiles; ++i) {
    tile_lines *tile = &print->tiles[i];
    for (size_t j = 0; j < tile->count; ++j) free(tile->lines[j].text);
    for (size_t j = 0; j < NUM_CONTEXTS; ++j) free(tile->open[j].text);
    free(tile->lines);
  }
  free(print->tiles);
  free(print);
}

static void write_line(const pop_executable *executable, const line *line, FILE *stream)
{
  executable_found_vertex vertex;
  fprintf(stream, "[tile %u", line->tile);
  if (line->context == MACHINE_SUPERVISOR)
    fputs(" supervisor", stream);
  else
    fprintf(stream, " worker %u", line->context);
  if (line->vertex_state &&
      executable_find_vertex(executable, line->tile, line->context, line->vertex_state, &vertex))
    fprintf(stream, " %s", vertex.type);
  fputs("] ", stream);
  pop_write_printable(line->text, line->size, stream);
  fputc('\n', stream);
}

/* qsort is not stable: lines of one tile and superstep are compared by their position in the
 * array. */
static int compare_lines(const void *a, const void *b)
{
  const line *const *x = a, *const *y = b;
  if ((*x)->superstep != (*y)->superstep) return (*x)->superstep < (*y)->superstep ? -1 : 1;
  if ((*x)->tile != (*y)->tile) return (*x)->tile < (*y)->tile ? -1 : 1;
  return *x < *y ? -1 : *x > *y;
}

static void write_lines(device_print *print, const pop_executable *executable, FILE *stream)
{
  size_t count = 0, next = 0;
  for (uint32_t i = 0; i < print->num_tiles; ++i) count += print->tiles[i].count;
  if (!count) return;
  const line **sorted = pop_xcalloc(count, sizeof *sorted);
  for (uint32_t i = 0; i < print->num_tiles; ++i)
    for (size_t j = 0; j < print->tiles[i].count; ++j) sorted[next++] = &print->tiles[i].lines[j];
  qsort(sorted, count, sizeof *sorted, compare_lines);
  for (size_t i = 0; i < count; ++i) {
    size_t bytes = sorted[i]->size + 1;
    if (print->written + bytes <= MAX_RUN_BYTES)
      write_line(executable, sorted[i], stream);
    else
      print->dropped += bytes;
    print->written += bytes;
    free(sorted[i]->text);
  }
  free(sorted);
  for (uint32_t i = 0; i < print->num_tiles; ++i) print->tiles[i].count = 0;
}

/* Closes lines without a newline, and adds up the counts of the run. */
static void end_run(device_print *print)
{
  for (uint32_t i = 0; i < print->num_tiles; ++i) {
    tile_lines *tile = &print->tiles[i];
    for (size_t j = 0; j < NUM_CONTEXTS; ++j)
      if (tile->open[j].text) close_line(tile, &tile->open[j]);
    print->dropped += tile->dropped;
    tile->dropped = 0;
    tile->bytes = 0;
  }
}

bool device_print_flush(device_print *print, const pop_executable *executable, FILE *stream,
                        bool end)
{
  if (end) end_run(print);
  write_lines(print, executable, stream);
  if (!end) return false;
  bool has_written = print->written > 0;
  if (print->dropped)
    fprintf(stream, "codelets printed %llu bytes more, which were dropped: a run prints up to %d\n",
            (unsigned long long)print->dropped, MAX_RUN_BYTES);
  if (has_written) fflush(stream);
  print->written = 0;
  print->dropped = 0;
  return has_written;
}
