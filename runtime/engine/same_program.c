/* All ranks must have loaded the same program, compiled from the same codelets by the same
 * compiler. A hash of the tiles' contents shows that; on the CPU, which has none, a hash of the
 * names and sizes of what the program has. */
#include "engine/engine_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void engine_note_image(pop_engine *engine, const pop_image *image)
{
  atomic_fetch_add(&engine->images, XXH3_64bits_withSeed(image->bytes, image->size, image->tile));
}

static void add(uint64_t *hash, const char *name, uint64_t size)
{
  *hash = XXH3_64bits_withSeed(name, strlen(name), *hash + size);
}

/* The names are hashed for tiles, too, whose images do not have them. */
static uint64_t hash_names(const pop_executable *e)
{
  uint64_t hash = 0;
  for (size_t i = 0; i < e->num_programs; i++) add(&hash, e->programs[i], e->num_programs);
  for (size_t i = 0; i < e->num_tensors; i++)
    add(&hash, e->tensors[i].name, executable_tensor_bytes(&e->tensors[i]));
  for (size_t i = 0; i < e->num_streams; i++)
    add(&hash, e->streams[i].name, e->streams[i].num_elements);
  if (e->cpu) add(&hash, "memory", cpu_memory_bytes(e->cpu));
  return hash;
}

static pop_error *compare(const pop_engine *engine, const uint64_t *all)
{
  char first[128], other[128];
  for (uint32_t i = 1; i < ranks_count(engine->ranks); i++) {
    if (all[i] == all[0]) continue;
    ranks_say(engine->ranks, 0, first, sizeof first);
    ranks_say(engine->ranks, i, other, sizeof other);
    return pop_error_new(POP_ERROR_RUNTIME,
                         "%s has loaded another program than %s: their tiles have the hashes "
                         "%016" PRIx64 " and %016" PRIx64
                         "; all instances have to compile the same graph, or load the same archive",
                         other, first, all[i], all[0]);
  }
  return NULL;
}

pop_error *engine_check_same(pop_engine *engine, pop_error *own)
{
  if (!engine->ranks) return own;
  uint64_t mine = atomic_load(&engine->images) + hash_names(engine->executable);
  uint64_t *all = pop_xcalloc(ranks_count(engine->ranks), sizeof *all);
  pop_error *error =
      ranks_gather(engine->ranks, "the loading of an engine", own, &mine, sizeof mine, all);
  if (!error) error = compare(engine, all);
  free(all);
  return error;
}
