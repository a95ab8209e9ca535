/* Fuzz target of the archive reader: whole members, parts of them, tile numbers. The archive is
 * also written again, and must then hold the same.
 */
#include "fuzz.h"
#include "use.h"

#include <populus/archive.h>

#include <stdlib.h>

static void read_parts(const pop_archive *archive, size_t index, const uint8_t *content,
                       uint64_t size)
{
  const uint64_t offsets[] = {0, size / 2, size, size + 1, UINT64_MAX};
  uint8_t part[16];
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
    if (!forget(pop_archive_read_part(archive, index, offsets[i], part, sizeof part))) continue;
    if (memcmp(part, content + offsets[i], sizeof part) != 0) abort();
  }
}

/* Names that the writer does not take are not written again. */
static bool read_member(const pop_archive *archive, size_t index, pop_bytes *again)
{
  const pop_archive_member *member = pop_archive_get_member(archive, index);
  uint8_t *content;
  size_t size, start;
  uint32_t tile;
  touch_text(member->name);
  (void)pop_archive_tile_number(member->name, &tile);
  if (!forget(pop_archive_read_member(archive, index, &content, &size))) abort();
  touch(content, size);
  read_parts(archive, index, content, size);
  size_t before = again->size;
  if (!forget(pop_archive_begin_member(again, &start))) abort();
  pop_bytes_append(again, content, size);
  bool taken = forget(pop_archive_end_member(again, start, member->name));
  if (!taken) again->size = before;
  free(content);
  return taken;
}

static void read_again(const pop_bytes *members, size_t count)
{
  pop_archive_writer *writer;
  pop_archive *archive;
  uint8_t *bytes;
  size_t size;
  if (!forget(pop_archive_writer_open(NULL, &writer))) abort();
  if (!forget(pop_archive_writer_add_members(writer, members))) abort();
  pop_archive_writer_take(writer, &bytes, &size);
  if (!forget(pop_archive_open_memory(bytes, size, "again.a", &archive))) abort();
  if (pop_archive_num_members(archive) != count) abort();
  pop_archive_close(archive);
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  pop_archive *archive;
  if (!forget(pop_archive_open_memory(bytes, size, "input.a", &archive))) return 0;
  pop_bytes again = {0};
  size_t count = 0;
  for (size_t i = 0; i < pop_archive_num_members(archive); ++i)
    count += read_member(archive, i, &again);
  read_again(&again, count);
  pop_bytes_free(&again);
  pop_archive_close(archive);
  return 0;
}
