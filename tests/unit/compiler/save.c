/* runtime/compiler/image/save.c: archives made by any number of threads, and what can fail. */
#include "save_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(save, .init = enter_fresh_folder);

enum { TILES = 100 };

static void read_file(const char *path, uint8_t **bytes, size_t *size)
{
  expect_ok(pop_file_read(path, SIZE_MAX, bytes, size));
}

Test(save, any_number_of_threads_makes_the_same_bytes)
{
  static const char *const counts[] = {"1", "2", "3", "8", "1024", "0"};
  uint8_t *first = NULL;
  size_t first_size = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    pop_engine *engine = new_engine(TILES, counts[i]);
    expect_ok(pop_engine_save_archive(engine, "archive.a"));
    pop_engine_free(engine);
    uint8_t *bytes;
    size_t size;
    read_file("archive.a", &bytes, &size);
    if (!first) {
      first = bytes;
      first_size = size;
      continue;
    }
    cr_assert_eq(size, first_size, "%s threads: %zu bytes, not %zu", counts[i], size, first_size);
    cr_assert(memcmp(bytes, first, size) == 0, "%s threads", counts[i]);
    free(bytes);
  }
  free(first);
}

Test(save, members_are_the_tiles_in_order_the_metadata_and_the_profile)
{
  pop_engine *engine = new_engine(TILES, "2");
  expect_ok(pop_engine_save_archive(engine, "archive.a"));
  pop_engine_free(engine);
  pop_archive *archive;
  expect_ok(pop_archive_open("archive.a", &archive));
  cr_assert_eq(pop_archive_num_members(archive), TILES + 2);
  cr_assert_str_eq(pop_archive_get_member(archive, TILES)->name, EXECUTABLE_METADATA_MEMBER);
  cr_assert_str_eq(pop_archive_get_member(archive, TILES + 1)->name, EXECUTABLE_PROFILE_MEMBER);
  for (uint32_t tile = 0; tile < TILES; tile++) {
    uint32_t number;
    cr_assert(pop_archive_tile_number(pop_archive_get_member(archive, tile)->name, &number));
    cr_assert_eq(number, tile);
  }
  pop_archive_close(archive);
  struct stat status;
  cr_assert_eq(stat("archive.a", &status), 0);
  cr_assert_lt(status.st_blocks * 512, status.st_size / 2, "40,000 B of each tile are zero");
}

/* A file size limit stands for a full disk: in the first batch, in a later one, at the end. */
Test(save, D01_a_full_disk_leaves_the_old_archive_whatever_the_threads)
{
  static const char *const counts[] = {"1", "2", "8"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    pop_engine *engine = new_engine(TILES, counts[i]);
    FILE *old = fopen("archive.a", "wb");
    cr_assert_not_null(old);
    fputs("old", old);
    fclose(old);
    for (rlim_t limit = 0; limit < 4000000; limit += 654321) {
      struct rlimit before;
      getrlimit(RLIMIT_FSIZE, &before);
      setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, before.rlim_max});
      pop_error *error = pop_engine_save_archive(engine, "archive.a");
      setrlimit(RLIMIT_FSIZE, &before);
      expect_error(error, POP_ERROR_SYSTEM, "cannot write 'archive.a': File too large", counts[i]);
    }
    uint8_t *bytes;
    size_t size;
    read_file("archive.a", &bytes, &size);
    cr_assert_eq(size, 3);
    free(bytes);
    pop_engine_free(engine);
  }
}
