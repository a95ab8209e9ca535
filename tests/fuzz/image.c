/* Fuzz target of the image reader. It reads from memory and, piece by piece, a member
 * of an archive, which must give the same. The image is also written again, and must
 * then read as the same.
 */
#include "fuzz.h"
#include "use.h"

#include <populus/image.h>

#include <stdlib.h>

static void read_all(const pop_image *image)
{
  touch(image->bytes, image->size);
  touch(image->segments, image->num_segments * sizeof *image->segments);
  touch(image->mappings, image->num_mappings * sizeof *image->mappings);
  if (image->debug_file) touch_text(image->debug_file);
  for (size_t i = 0; i < image->num_symbols; ++i) {
    touch_text(image->symbols[i].name);
    if (image->symbols[i].type) touch_text(image->symbols[i].type);
  }
}

static void expect_same(const pop_image *a, const pop_image *b)
{
  if (a->base != b->base || a->size != b->size || a->entry != b->entry) abort();
  if (a->num_segments != b->num_segments || a->num_symbols != b->num_symbols) abort();
  if (!a->debug_file != !b->debug_file || a->debug_crc != b->debug_crc) abort();
  if (a->debug_file && strcmp(a->debug_file, b->debug_file) != 0) abort();
  if (a->num_mappings != b->num_mappings || memcmp(a->bytes, b->bytes, a->size) != 0) abort();
}

/* `expected` NULL: it cannot be read. */
static void read_from_archive(const uint8_t *bytes, size_t size, const pop_target *target,
                              const pop_image *expected)
{
  pop_archive_writer *writer;
  pop_archive *archive;
  uint8_t *file;
  size_t file_size;
  if (!forget(pop_archive_writer_open(NULL, &writer))) abort();
  if (!forget(pop_archive_writer_add(writer, "input", bytes, size))) abort();
  pop_archive_writer_take(writer, &file, &file_size);
  if (!forget(pop_archive_open_memory(file, file_size, "input.a", &archive))) abort();
  pop_arena *arena = pop_arena_new();
  for (unsigned parts = 0; parts <= POP_IMAGE_ALL; ++parts) {
    pop_image image;
    bool overflowed;
    bool read =
        forget(pop_image_read_member(archive, 0, parts, target, arena, &image, &overflowed));
    if (expected && !read) abort();
    if (parts != POP_IMAGE_ALL) continue;
    if (!expected && read) abort();
    if (read) expect_same(&image, expected);
  }
  pop_arena_free(arena);
  pop_archive_close(archive);
  free(file);
}

static void write_again(const pop_image *image, const pop_target *target)
{
  pop_bytes file = {0};
  pop_arena *arena = pop_arena_new();
  pop_image again;
  bool overflowed;
  if (!forget(pop_image_write(image, &file))) abort();
  if (!forget(pop_image_read(file.data, file.size, "again", target, arena, &again, &overflowed)))
    abort();
  expect_same(image, &again);
  pop_arena_free(arena);
  pop_bytes_free(&file);
}

static void use_image(const uint8_t *bytes, size_t size, const char *target_name)
{
  pop_target target;
  if (!forget(pop_target_create(target_name, 1, &target))) abort();
  pop_arena *arena = pop_arena_new();
  pop_image image;
  bool overflowed;
  bool read = forget(pop_image_read(bytes, size, "input", &target, arena, &image, &overflowed));
  if (read) {
    read_all(&image);
    write_again(&image, &target);
  }
  read_from_archive(bytes, size, &target, read ? &image : NULL);
  pop_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  use_image(bytes, size, "ipu1");
  use_image(bytes, size, "ipu2");
  return 0;
}
