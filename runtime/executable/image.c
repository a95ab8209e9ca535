/* Reads images of tiles from ELF files, for the machine, wherever the files come from. */
#include "base/thread_pool.h"
#include "executable/executable.h"

#include <populus/archive.h>
#include <pthread.h>

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

/* Compares the image with its digest, unless all images have been compared already. */
pop_error *executable_image(const pop_executable *e, uint32_t tile, unsigned parts, pop_bytes *elf,
                            pop_arena *arena, pop_image *image)
{
  POP_TRY(e->images.read(e, tile, parts, elf, arena, image));
  image->tile = tile;
  return parts & POP_IMAGE_MEMORY && !e->images_checked ? check_digest(e, tile, image) : NULL;
}

/* ---- all images ---- */

/* An item of work is several tiles, which share one buffer and one arena. */
enum { TILES_PER_ITEM = 16, WEIGHT_OF_ITEM = 1000000 /* it is worth while to wake others */ };

typedef struct visit {
  const pop_executable *executable;
  executable_image_visitor *visitor;
  void *context;
  uint32_t num_tiles;
  pthread_mutex_t lock; /* of what follows */
  pop_error *error;     /* of the lowest tile that has one */
  uint32_t error_tile;
} visit;

static void keep_error(visit *v, uint32_t tile, pop_error *error)
{
  pthread_mutex_lock(&v->lock);
  if (!v->error || tile < v->error_tile) {
    pop_error_free(v->error);
    v->error = error;
    v->error_tile = tile;
    error = NULL;
  }
  pthread_mutex_unlock(&v->lock);
  pop_error_free(error);
}

/* Is the result settled, whatever this tile's result would be? */
static bool is_settled(visit *v, uint32_t tile)
{
  pthread_mutex_lock(&v->lock);
  bool settled = v->error && v->error_tile < tile;
  pthread_mutex_unlock(&v->lock);
  return settled;
}

static pop_error *visit_tile(const visit *v, uint32_t tile, pop_bytes *elf)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  pop_error *error = executable_image(v->executable, tile, POP_IMAGE_MEMORY, elf, arena, &image);
  if (!error && v->visitor) error = v->visitor(v->context, &image);
  pop_arena_free(arena);
  return error;
}

static uint64_t visit_item(void *context, uint32_t item)
{
  visit *v = context;
  pop_bytes elf = {0};
  uint32_t tile = item * TILES_PER_ITEM, end = tile + TILES_PER_ITEM;
  pop_error *error = NULL;
  for (; tile < end && tile < v->num_tiles && !error && !is_settled(v, tile); ++tile) {
    error = visit_tile(v, tile, &elf);
    if (error) keep_error(v, tile, error);
  }
  pop_bytes_free(&elf);
  return WEIGHT_OF_ITEM;
}

pop_error *executable_visit_images(const pop_executable *e, uint32_t num_threads,
                                   executable_image_visitor *visitor, void *context)
{
  visit v = {.executable = e,
             .visitor = visitor,
             .context = context,
             .num_tiles = pop_target_num_tiles(&e->target),
             .lock = PTHREAD_MUTEX_INITIALIZER};
  uint32_t num_items = (v.num_tiles + TILES_PER_ITEM - 1) / TILES_PER_ITEM;
  thread_pool *pool = thread_pool_new(num_threads);
  thread_pool_run(pool, &(thread_pool_work){
                            .run = visit_item, .context = &v, .num_items = num_items, .take = 1});
  thread_pool_free(pool);
  pthread_mutex_destroy(&v.lock);
  return v.error;
}

pop_error *executable_check_images(pop_executable *e, uint32_t num_threads)
{
  POP_TRY(executable_visit_images(e, num_threads, NULL, NULL));
  e->images_checked = true;
  return NULL;
}
