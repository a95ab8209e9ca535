#include "profile/variable_report.h"

#include "base/json.h"
#include <stdlib.h>
#include <string.h>

static int compare_symbols(const void *left, const void *right)
{
  const pop_image_symbol *const *a = left, *const *b = right;
  if ((*a)->address != (*b)->address) return (*a)->address < (*b)->address ? -1 : 1;
  if ((*a)->size != (*b)->size) return (*a)->size < (*b)->size ? -1 : 1;
  return strcmp((*a)->name, (*b)->name);
}

static void put_variable(json_writer *json, const pop_image_symbol *symbol)
{
  json_begin_object(json, NULL);
  json_put_string(json, "name", symbol->name);
  json_put_string(json, "category", pop_memory_category_key((pop_memory_category)symbol->category));
  if (symbol->type) json_put_string(json, "type", symbol->type);
  json_put_number(json, "address", symbol->address);
  json_put_number(json, "bytes", symbol->size);
  json_end_object(json);
}

static void put_variables(json_writer *json, const pop_image *image)
{
  const pop_image_symbol **sorted = pop_xcalloc(image->num_symbols + 1, sizeof *sorted);
  size_t count = 0;
  for (size_t i = 0; i < image->num_symbols; i++)
    if (image->symbols[i].kind == POP_SYMBOL_OBJECT) sorted[count++] = &image->symbols[i];
  qsort(sorted, count, sizeof *sorted, compare_symbols);
  for (size_t i = 0; i < count; i++) put_variable(json, sorted[i]);
  free(sorted);
}

static pop_error *put_tile(json_writer *json, const pop_executable *e, uint32_t tile,
                           pop_bytes *elf)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  pop_error *error = executable_image(e, tile, POP_IMAGE_SYMBOLS, elf, arena, &image);
  if (!error) {
    json_begin_object(json, NULL);
    json_put_number(json, "tile", tile);
    json_put_number(json, "memoryBytes", image.size);
    json_begin_list(json, "variables");
    put_variables(json, &image);
    json_end_list(json);
    json_end_object(json);
  }
  pop_arena_free(arena);
  return error;
}

pop_error *write_variables(FILE *stream, const pop_executable *e)
{
  json_writer json = {.stream = stream};
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  pop_bytes elf = {0};
  pop_error *error = NULL;
  json_begin_object(&json, NULL);
  json_put_string(&json, "target", e->target.name);
  json_put_number(&json, "memoryBase", e->target.memory_base);
  json_put_number(&json, "memoryBytesPerTile", e->target.memory_bytes);
  json_begin_list(&json, "tiles");
  for (uint32_t tile = 0; tile < num_tiles && !error; tile++)
    error = put_tile(&json, e, tile, &elf);
  json_end_list(&json);
  json_end_object(&json);
  pop_bytes_free(&elf);
  return error;
}
