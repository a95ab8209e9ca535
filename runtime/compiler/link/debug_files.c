/* Debug information of linked code. It is not in every image, but once for all tiles that have the
 * same code at the same addresses, as a member of the archive after the images:
 *
 *   tile-00000.elf ─┐ .gnu_debuglink: name, CRC
 *   tile-00001.elf ─┴─> code-00000.dbg
 *   tile-00002.elf ───> code-00001.dbg      other live sections, or the same ones elsewhere
 *
 * gdb, addr2line and llvm-symbolizer look for that file beside the image, so they work after `ar x`
 * of the archive. The checksum must be in the images before the file is in the archive. So each
 * file is made twice instead of being kept: memory use does not grow with the number of files.
 */
#include "compiler/link/debug_files.h"
#include "compiler/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct debug_file {
  uint32_t code_group;
  pop_link_addresses addresses;
  uint32_t crc;
  char name[24];
} debug_file;

struct debug_files {
  const compilation *c;
  debug_file *files;
  size_t num_files, files_capacity;
  uint32_t *of_tile; /* COMPILER_NONE: none */
};

/* A tile's code, as a sort key: tiles with equal code become neighbours. */
typedef struct tile_code {
  uint32_t code_group, tile;
  pop_link_addresses addresses;
} tile_code;

static int compare_addresses(const pop_link_addresses *a, const pop_link_addresses *b)
{
  for (int g = 0; g < POP_LINK_GROUP_COUNT; g++)
    if (a->start[g] != b->start[g]) return a->start[g] < b->start[g] ? -1 : 1;
  return 0;
}

static int compare_codes(const void *left, const void *right)
{
  const tile_code *a = left, *b = right;
  if (a->code_group != b->code_group) return a->code_group < b->code_group ? -1 : 1;
  int order = compare_addresses(&a->addresses, &b->addresses);
  return order ? order : (a->tile > b->tile) - (a->tile < b->tile);
}

/* The tiles whose code has debug information. */
static tile_code *collect(const compilation *c, size_t *count)
{
  bool *has_debug = pop_xcalloc(c->num_code_groups + 1, sizeof *has_debug);
  for (size_t i = 0; i < c->num_code_groups && !c->options.drop_debug_information; i++)
    has_debug[i] = pop_live_sections_has_debug(c->code_groups[i].live);
  tile_code *codes = NULL;
  size_t capacity = 0;
  *count = 0;
  for (uint32_t tile = 0; tile < pop_target_num_tiles(&c->target); tile++) {
    uint32_t group = c->tiles[tile].code_group;
    if (group == COMPILER_NONE || !has_debug[group]) continue;
    pop_push(codes, *count, capacity, (tile_code){group, tile, linked_addresses(c, tile)});
  }
  free(has_debug);
  if (*count) qsort(codes, *count, sizeof *codes, compare_codes);
  return codes;
}

void debug_files_name(uint32_t index, char name[24])
{
  snprintf(name, 24, "code-%05u.dbg", index);
}

pop_error *debug_files_make(const debug_files *files, uint32_t index, pop_bytes *elf)
{
  const debug_file *file = &files->files[index];
  return pop_live_sections_debug_file(files->c->code_groups[file->code_group].live,
                                      &file->addresses, elf);
}

static pop_error *find_checksum(debug_files *files, uint32_t index, pop_bytes *scratch)
{
  scratch->size = 0;
  POP_TRY(debug_files_make(files, index, scratch));
  files->files[index].crc = pop_image_debug_crc(scratch->data, scratch->size);
  debug_files_name(index, files->files[index].name);
  return NULL;
}

static void add_files(debug_files *files)
{
  size_t count;
  tile_code *codes = collect(files->c, &count);
  for (size_t i = 0; i < count; i++) {
    const tile_code *code = &codes[i];
    bool same = i > 0 && codes[i - 1].code_group == code->code_group &&
                compare_addresses(&codes[i - 1].addresses, &code->addresses) == 0;
    if (!same) {
      pop_push(files->files, files->num_files, files->files_capacity,
               (debug_file){.code_group = code->code_group, .addresses = code->addresses});
    }
    files->of_tile[code->tile] = (uint32_t)files->num_files - 1;
  }
  free(codes);
}

pop_error *debug_files_new(const compilation *c, debug_files **files)
{
  debug_files *made = pop_xcalloc(1, sizeof *made);
  size_t num_tiles = pop_target_num_tiles(&c->target);
  made->c = c;
  made->of_tile = pop_xcalloc(num_tiles, sizeof *made->of_tile);
  memset(made->of_tile, 0xff, num_tiles * sizeof *made->of_tile);
  add_files(made);
  pop_bytes scratch = {0};
  pop_error *error = NULL;
  for (uint32_t i = 0; i < made->num_files && !error; i++) error = find_checksum(made, i, &scratch);
  pop_bytes_free(&scratch);
  if (error) {
    debug_files_free(made);
    return error;
  }
  *files = made;
  return NULL;
}

void debug_files_free(debug_files *files)
{
  if (!files) return;
  free(files->files);
  free(files->of_tile);
  free(files);
}

uint32_t debug_files_count(const debug_files *files)
{
  return (uint32_t)files->num_files;
}

void debug_files_link(const debug_files *files, uint32_t tile, pop_image *image)
{
  uint32_t index = files->of_tile[tile];
  if (index == COMPILER_NONE) return;
  image->debug_file = files->files[index].name;
  image->debug_crc = files->files[index].crc;
}
