/* The identity of a tile's memory: a hash in the order in which a machine loads it. */
#include <populus/image.h>

#include <xxhash.h>

uint64_t pop_image_digest(const pop_image *image)
{
  uint64_t where = (uint64_t)image->base << 32 | image->entry;
  return XXH3_64bits_withSeed(image->bytes, image->size, where);
}
