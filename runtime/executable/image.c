/* A tile's image on its way to the machine: an ELF file is read, whichever way it came. */
#include "executable/executable.h"

#include <populus/archive.h>

static pop_error *check_digest(const pop_executable *e, uint32_t tile, const pop_image *image)
{
  uint64_t digest = pop_image_digest(image);
  if (!e->digests || digest == e->digests[tile]) return NULL;
  return pop_error_new(
      POP_ERROR_FILE_LOAD,
      "the memory of tile %u has digest %016llx, but the metadata are for %016llx: "
      "it is damaged, or from another archive",
      tile, (unsigned long long)digest, (unsigned long long)e->digests[tile]);
}

static pop_error *read_image(const pop_executable *e, uint32_t tile, pop_bytes *elf,
                             pop_arena *arena, pop_image *image)
{
  char name[16];
  bool overflowed;
  pop_archive_tile_name(tile, name);
  POP_TRY(e->images.read(e->images.context, tile, elf));
  POP_TRY(pop_image_read(elf->data, elf->size, name, &e->target, arena, image, &overflowed));
  image->tile = tile;
  return pop_error_prefix(check_digest(e, tile, image), "'%s'", name);
}

pop_error *executable_image(const pop_executable *e, uint32_t tile, pop_bytes *elf,
                            pop_arena *arena, pop_image *image)
{
  pop_error *error = read_image(e, tile, elf, arena, image);
  return error && e->file ? pop_error_prefix(error, "'%s'", e->file) : error;
}
