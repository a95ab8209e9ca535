/* Names of the tile images in an archive: tile-00000.elf, tile-00001.elf, … in tile order.
 *
 * Five digits, because 64 IPUs have 94,208 tiles, and so that names sort as tiles do. The names do
 * not contain "text", because users find sections with grep -e ".text". */
#include <populus/archive.h>
#include <populus/target.h>

#include <stdio.h>
#include <string.h>

void pop_archive_tile_name(uint32_t tile, char name[16])
{
  name[0] = '\0';
  if (tile < POP_TARGET_MAX_IMAGES)
    snprintf(name, 16, "tile-%05u.elf", tile % POP_TARGET_MAX_IMAGES);
}

bool pop_archive_tile_number(const char *name, uint32_t *tile)
{
  static const char prefix[] = "tile-";
  if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
  const char *digits = name + sizeof prefix - 1;
  size_t length = strspn(digits, "0123456789");
  if (length < 5 || length > 6 || (length > 5 && *digits == '0')) return false;
  if (strcmp(digits + length, ".elf") != 0) return false;
  *tile = 0;
  for (size_t i = 0; i < length; i++) *tile = 10 * *tile + (uint32_t)(digits[i] - '0');
  return true;
}
