/* A tile's image on its way to the machine: an ELF file is read, whichever way it came. */
#include "executable/executable.h"

#include <populus/archive.h>

static pop_error *check_digest(const pop_executable *e, uint32_t tile, const pop_image *image)
{
  uint64_t digest = pop_image_digest(image);
  if (!e->digests || digest == e->digests[tile]) return NULL;
  char name[16];
  pop_archive_tile_name(tile, name);
  return pop_error_new(
      POP_ERROR_FILE_LOAD,
      "'%s(%s)': the memory of tile %u has digest %016llx, but the metadata are for "
      "%016llx: it is damaged, or from another archive",
      e->file, name, tile, (unsigned long long)digest, (unsigned long long)e->digests[tile]);
}

pop_error *executable_image(const pop_executable *e, uint32_t tile, unsigned parts, pop_bytes *elf,
                            pop_arena *arena, pop_image *image)
{
  POP_TRY(e->images.read(e, tile, parts, elf, arena, image));
  image->tile = tile;
  return parts & POP_IMAGE_MEMORY ? check_digest(e, tile, image) : NULL;
}

pop_error *executable_check_images(const pop_executable *e)
{
  uint32_t num_tiles = pop_target_num_tiles(&e->target);
  pop_bytes elf = {0};
  pop_error *error = NULL;
  for (uint32_t tile = 0; tile < num_tiles && !error; ++tile) {
    pop_arena *arena = pop_arena_new();
    pop_image image;
    error = executable_image(e, tile, POP_IMAGE_MEMORY, &elf, arena, &image);
    pop_arena_free(arena);
  }
  pop_bytes_free(&elf);
  return error;
}
