/* Executables from archives: the metadata member is read at once, images when they are needed.
 *
 * Members are found by name: one `metadata.elf`, and one `tile-<number>.elf` for each tile of the
 * target that it names. Other members are ignored, except after a fault: then the debug information
 * that an image names is read.
 */
#include "executable/executable.h"

#include <inttypes.h>
#include <populus/archive.h>
#include <populus/link.h>
#include <populus/out_of_memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct archive_images {
  pop_archive *archive;
  size_t *members; /* by tile */
} archive_images;

static void free_images(void *context)
{
  archive_images *images = context;
  pop_archive_close(images->archive);
  free(images->members);
  free(images);
}

/* Reads the whole member at once, into the caller's buffer. For an archive in memory that is
 * cheaper than reading in pieces, since a reused buffer costs no new pages. */
static pop_error *read_image(const pop_executable *e, uint32_t tile, unsigned parts, pop_bytes *elf,
                             pop_arena *arena, pop_image *image)
{
  const archive_images *images = e->images.context;
  size_t member = images->members[tile];
  const pop_archive_member *found = pop_archive_get_member(images->archive, member);
  bool overflowed;
  if (!(parts & POP_IMAGE_MEMORY))
    return pop_image_read_member(images->archive, member, parts, &e->target, arena, image,
                                 &overflowed);
  elf->size = 0;
  if (!pop_bytes_try_reserve(elf, (size_t)found->size))
    return pop_error_new(POP_ERROR_MEMORY, "no memory for the %llu bytes of '%s'",
                         (unsigned long long)found->size, found->name);
  POP_TRY(pop_archive_read_part(images->archive, member, 0, elf->data, (size_t)found->size));
  return pop_error_prefix(pop_image_read(elf->data, (size_t)found->size, found->name, &e->target,
                                         arena, image, &overflowed),
                          "'%s'", e->file);
}

static pop_error *copy_member(const pop_archive *archive, size_t index, pop_archive_writer *writer)
{
  uint8_t *bytes = NULL;
  size_t size = 0;
  POP_TRY(pop_archive_read_member(archive, index, &bytes, &size));
  pop_error *error =
      pop_archive_writer_add(writer, pop_archive_get_member(archive, index)->name, bytes, size);
  free(bytes);
  return error;
}

/* Metadata are written anew, without what the cache has added to them. */
static pop_error *save_member(const archive_images *images, const pop_executable *executable,
                              size_t index, pop_archive_writer *writer)
{
  const char *name = pop_archive_get_member(images->archive, index)->name;
  if (strcmp(name, EXECUTABLE_METADATA_MEMBER) == 0)
    return executable_save_metadata(executable, executable->digests, writer);
  return copy_member(images->archive, index, writer);
}

static pop_error *save(void *context, const pop_executable *executable, pop_archive_writer *writer)
{
  const archive_images *images = context;
  size_t count = pop_archive_num_members(images->archive);
  for (size_t i = 0; i < count; ++i) POP_TRY(save_member(images, executable, i, writer));
  return NULL;
}

/* ---- source lines: damaged debug information only makes a message shorter ---- */

/* More than the linker ever writes. */
#define MAX_DEBUG_FILE_BYTES (UINT32_C(3) << 29)

static bool read_debug_file(const archive_images *images, size_t index, pop_bytes *file)
{
  const pop_archive_member *member = pop_archive_get_member(images->archive, index);
  if (member->size > MAX_DEBUG_FILE_BYTES || !pop_bytes_try_reserve(file, (size_t)member->size))
    return false;
  pop_error *error =
      pop_archive_read_part(images->archive, index, 0, file->data, (size_t)member->size);
  if (!error) file->size = (size_t)member->size;
  pop_error_free(error);
  return !error;
}

/* The debug file that the image names, if its checksum matches; otherwise NULL. */
static pop_debug_info *open_debug_file(const archive_images *images, const pop_image *image)
{
  pop_bytes file = {0};
  pop_debug_info *info = NULL;
  size_t count = pop_archive_num_members(images->archive);
  for (size_t i = 0; image->debug_file && i < count; ++i) {
    if (strcmp(pop_archive_get_member(images->archive, i)->name, image->debug_file) != 0) continue;
    if (read_debug_file(images, i, &file) &&
        pop_image_debug_crc(file.data, file.size) == image->debug_crc)
      info = pop_debug_info_open_file(&file);
    break;
  }
  pop_bytes_free(&file);
  return info;
}

/* The lines of a tile are in its file with debug information. */
static executable_lines *open_lines(const pop_executable *e, uint32_t tile)
{
  const archive_images *images = e->images.context;
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  pop_debug_info *info = NULL;
  pop_error *error =
      pop_image_read_member(images->archive, images->members[tile], POP_IMAGE_DEBUG_LINK,
                            &e->target, arena, &image, &overflowed);
  if (!error) info = open_debug_file(images, &image);
  pop_error_free(error);
  pop_arena_free(arena);
  return (executable_lines *)info;
}

static bool find_line(executable_lines *lines, uint32_t pc, pop_arena *arena,
                      pop_source_place *place)
{
  return pop_debug_info_line((const pop_debug_info *)lines, pc, arena, place);
}

static void close_lines(executable_lines *lines)
{
  pop_debug_info_free((pop_debug_info *)lines);
}

/* ---- the profile, on request ---- */

static pop_error *read_profile(const pop_executable *e, executable_profile *profile)
{
  const pop_archive *archive = ((const archive_images *)e->images.context)->archive;
  size_t count = pop_archive_num_members(archive), member = 0, size = 0;
  uint8_t *bytes = NULL;
  while (member < count &&
         strcmp(pop_archive_get_member(archive, member)->name, EXECUTABLE_PROFILE_MEMBER) != 0)
    ++member;
  if (member == count)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' has no member '%s', which graph profiles are made from: another "
                         "tool has left it out; save the archive again",
                         e->file, EXECUTABLE_PROFILE_MEMBER);
  POP_TRY(pop_archive_read_member(archive, member, &bytes, &size));
  pop_error *error = executable_read_profile(bytes, size, e, profile);
  free(bytes);
  return pop_error_prefix(error, "'%s(%s)'", e->file, EXECUTABLE_PROFILE_MEMBER);
}

/* ---- opening ---- */

static pop_error *find_metadata(const pop_archive *archive, size_t *found)
{
  size_t count = pop_archive_num_members(archive), matches = 0, objects = 0;
  for (size_t i = 0; i < count; ++i) {
    const char *name = pop_archive_get_member(archive, i)->name;
    uint32_t tile;
    objects += !pop_archive_tile_number(name, &tile);
    if (strcmp(name, EXECUTABLE_METADATA_MEMBER) != 0) continue;
    *found = i;
    ++matches;
  }
  if (matches == 1) return NULL;
  if (matches > 1)
    return pop_error_new(POP_ERROR_FILE_LOAD, "member '%s' is there %zu times",
                         EXECUTABLE_METADATA_MEMBER, matches);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "it has no member '%s'%s: it takes an archive that target.saveArchive or "
                       "pop_executable_save has written",
                       EXECUTABLE_METADATA_MEMBER,
                       objects ? ", but others that are no tile images" : "");
}

static pop_error *read_metadata(const pop_archive *archive, pop_executable *e)
{
  size_t member = 0, size = 0;
  uint8_t *bytes = NULL;
  POP_TRY(pop_error_prefix(find_metadata(archive, &member), "'%s'", pop_archive_name(archive)));
  POP_TRY(pop_archive_read_member(archive, member, &bytes, &size));
  pop_error *error = executable_read_metadata(bytes, size, e);
  free(bytes);
  return pop_error_prefix(error, "'%s(%s)'", pop_archive_name(archive), EXECUTABLE_METADATA_MEMBER);
}

static pop_error *note_member(archive_images *images, size_t index, uint32_t num_tiles)
{
  const char *name = pop_archive_get_member(images->archive, index)->name;
  uint32_t tile;
  if (!pop_archive_tile_number(name, &tile)) return NULL;
  if (tile >= num_tiles)
    return pop_error_new(POP_ERROR_FILE_LOAD, "member '%s': the metadata are about %u tiles", name,
                         num_tiles);
  if (images->members[tile] != SIZE_MAX)
    return pop_error_new(POP_ERROR_FILE_LOAD, "member '%s' is there twice", name);
  images->members[tile] = index;
  return NULL;
}

static pop_error *check_complete(const archive_images *images, uint32_t num_tiles)
{
  uint32_t missing = 0, first = 0;
  for (uint32_t tile = num_tiles; tile-- > 0;)
    if (images->members[tile] == SIZE_MAX) {
      ++missing;
      first = tile;
    }
  if (!missing) return NULL;
  char name[16];
  pop_archive_tile_name(first, name);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "%" PRIu32 " of %" PRIu32 " tile images are missing, '%s' is the first",
                       missing, num_tiles, name);
}

static pop_error *find_images(archive_images *images, uint32_t num_tiles)
{
  images->members = pop_xmalloc(num_tiles * sizeof *images->members);
  memset(images->members, 0xff, num_tiles * sizeof *images->members);
  size_t count = pop_archive_num_members(images->archive);
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) error = note_member(images, i, num_tiles);
  if (!error) error = check_complete(images, num_tiles);
  return pop_error_prefix(error, "'%s'", pop_archive_name(images->archive));
}

/* Reads the file's contents into `e`, which owns its images. */
static pop_error *read_all(void *context)
{
  pop_executable *e = context;
  archive_images *images = e->images.context;
  POP_TRY(read_metadata(images->archive, e));
  return find_images(images, pop_target_num_tiles(&e->target));
}

static pop_error *from_archive(pop_archive *archive, const char *name, pop_executable **executable)
{
  archive_images *images = pop_xcalloc(1, sizeof *images);
  pop_executable *e = executable_new();
  images->archive = archive;
  e->file = pop_xstrdup(name);
  e->images = (executable_images){read_image,  save,         open_lines,  find_line,
                                  close_lines, read_profile, free_images, images};
  pop_error *error = pop_with_memory("loading an executable", read_all, e);
  if (error) {
    pop_executable_free(e);
    return error;
  }
  *executable = e;
  return NULL;
}

pop_error *pop_executable_load(const char *path, pop_executable **executable)
{
  POP_TRY(object_check_argument(executable, "the executable to make", __func__));
  *executable = NULL;
  POP_TRY(object_check_argument(path, "the path", __func__));
  pop_archive *archive;
  POP_TRY(pop_archive_open(path, &archive));
  return from_archive(archive, path, executable);
}

pop_error *pop_executable_load_part(const char *path, uint64_t offset, uint64_t size,
                                    const char *name, pop_executable **executable)
{
  POP_TRY(object_check_argument(executable, "the executable to make", __func__));
  *executable = NULL;
  POP_TRY(object_check_argument(path, "the path", __func__));
  POP_TRY(object_check_argument(name, "the name", __func__));
  pop_archive *archive;
  POP_TRY(pop_archive_open_part(path, offset, size, name, &archive));
  return from_archive(archive, name, executable);
}

pop_error *pop_executable_load_memory(const void *bytes, size_t size, const char *name,
                                      pop_executable **executable)
{
  POP_TRY(object_check_argument(executable, "the executable to make", __func__));
  *executable = NULL;
  POP_TRY(object_check_list(bytes, size, "bytes", __func__));
  POP_TRY(object_check_argument(name, "the name", __func__));
  pop_archive *archive;
  POP_TRY(pop_archive_open_memory(bytes, size, name, &archive));
  return from_archive(archive, name, executable);
}
