/* libarchive-ipu/archive_*.c: ar archives made by us, by GNU ar and by llvm-ar, and damaged
 * ones. */
#include "support/expect.h"

#include <populus/archive.h>
#include <populus/arena.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

TestSuite(archive, .init = enter_fresh_folder);

static void expect_member(const pop_archive *archive, size_t index, const char *name,
                          const void *bytes, size_t size)
{
  cr_assert_lt(index, pop_archive_num_members(archive));
  const pop_archive_member *member = pop_archive_get_member(archive, index);
  cr_assert_str_eq(member->name, name);
  cr_assert_eq(member->size, size, "%s has %" PRIu64 " bytes", name, member->size);
  uint8_t *content;
  size_t read;
  expect_ok(pop_archive_read_member(archive, index, &content, &read));
  cr_assert_eq(read, size);
  cr_assert(memcmp(content, bytes, size) == 0, "%s", name);
  free(content);
}

static void write_sample(pop_archive_writer *writer)
{
  expect_ok(pop_archive_writer_add(writer, "tile-00000.elf", "even", 4));
  expect_ok(pop_archive_writer_add(writer, "empty", "", 0));
  expect_ok(pop_archive_writer_add(writer, "fifteen-chars.o", "odd", 3));
  expect_ok(pop_archive_writer_add(writer, "a b.o", "`\n!<arch>\n", 10));
}

static void expect_sample(pop_archive *archive)
{
  cr_assert_eq(pop_archive_num_members(archive), 4);
  expect_member(archive, 0, "tile-00000.elf", "even", 4);
  expect_member(archive, 1, "empty", "", 0);
  expect_member(archive, 2, "fifteen-chars.o", "odd", 3);
  expect_member(archive, 3, "a b.o", "`\n!<arch>\n", 10);
}

static void sample_bytes(uint8_t **bytes, size_t *size)
{
  pop_archive_writer *writer;
  expect_ok(pop_archive_writer_open(NULL, &writer));
  write_sample(writer);
  pop_archive_writer_take(writer, bytes, size);
}

Test(archive, what_is_written_is_read)
{
  uint8_t *bytes;
  size_t size;
  pop_archive *archive;
  sample_bytes(&bytes, &size);
  expect_ok(pop_archive_open_memory(bytes, size, "sample", &archive));
  expect_sample(archive);
  pop_archive_close(archive);

  pop_archive_writer *writer;
  expect_ok(pop_archive_writer_open("sample.a", &writer));
  write_sample(writer);
  expect_ok(pop_archive_writer_commit(writer));
  expect_ok(pop_archive_open("sample.a", &archive));
  expect_sample(archive);
  expect_error(pop_archive_read_member(archive, 4, &bytes, &size), POP_ERROR_INDEX,
               "has 4 members: there is no member 4", "index");
  pop_archive_close(archive);

  uint8_t *file;
  size_t file_size;
  expect_ok(pop_file_read("sample.a", SIZE_MAX, &file, &file_size));
  cr_assert_eq(file_size, size);
  cr_assert(memcmp(file, bytes, size) == 0, "the same bytes in memory and in a file, each time");
  free(file);
  free(bytes);
}

Test(archive, an_archive_without_members)
{
  pop_archive_writer *writer;
  pop_archive *archive;
  expect_ok(pop_archive_writer_open("empty.a", &writer));
  expect_ok(pop_archive_writer_commit(writer));
  expect_ok(pop_archive_open("empty.a", &archive));
  cr_assert_eq(pop_archive_num_members(archive), 0);
  pop_archive_close(archive);
}

Test(archive, names_that_the_writer_refuses)
{
  static const char *const names[] = {"", "sixteen-chars.oo", "a/b", "a\nb", "\xc3\xbc", "/"};
  pop_archive_writer *writer;
  expect_ok(pop_archive_writer_open(NULL, &writer));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    expect_error(pop_archive_writer_add(writer, names[i], "", 0), POP_ERROR_INVALID_ARGUMENT,
                 "possible", names[i]);
  expect_error(pop_archive_writer_add(writer, "#1", "", 0), POP_ERROR_INVALID_ARGUMENT,
               "another meaning", "a long name in BSD's way");
  pop_archive_writer_abort(writer);
  pop_archive_writer_abort(NULL);
}

Test(archive, C05_A13_places_that_cannot_be_written)
{
  pop_archive_writer *writer;
  expect_error(pop_archive_writer_open("no/a.a", &writer), POP_ERROR_SYSTEM, "no folder 'no/'",
               "folder");
  expect_ok(pop_archive_writer_open("aborted.a", &writer));
  write_sample(writer);
  pop_archive_writer_abort(writer);
  cr_assert_neq(access("aborted.a", F_OK), 0);

  expect_ok(pop_archive_writer_open("/dev/full", &writer));
  write_sample(writer);
  expect_error(pop_archive_writer_commit(writer), POP_ERROR_SYSTEM, "No space left", "full");
}

static void put(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* An archive by another tool, with a long name and a symbol index. */
static void expect_archive_by(const char *command)
{
  char line[200];
  put("short.o", "odd", 3);
  put("a-name-of-more-than-fifteen-characters.o", "content!", 8);
  cr_assert_eq(system("cp -L /proc/self/exe program.o"), 0);
  remove("tool.a");
  snprintf(line, sizeof line,
           "%s tool.a short.o program.o a-name-of-more-than-fifteen-characters.o", command);
  cr_assert_eq(system(line), 0, "%s", line);

  pop_archive *archive;
  uint8_t *program;
  size_t size;
  expect_ok(pop_file_read("program.o", SIZE_MAX, &program, &size));
  expect_ok(pop_archive_open("tool.a", &archive));
  cr_assert_eq(pop_archive_num_members(archive), 3, "the index and the table are not members");
  expect_member(archive, 0, "short.o", "odd", 3);
  expect_member(archive, 1, "program.o", program, size);
  expect_member(archive, 2, "a-name-of-more-than-fifteen-characters.o", "content!", 8);
  pop_archive_close(archive);
  free(program);
}

Test(archive, made_by_gnu_ar)
{
  if (system("ar --version >version 2>&1") != 0) cr_skip_test("there is no ar");
  expect_archive_by("ar rcs");
  expect_archive_by("ar rcU");
}

Test(archive, made_by_llvm_ar)
{
  if (system("llvm-ar-19 --version >version 2>&1") != 0) cr_skip_test("there is no llvm-ar-19");
  expect_archive_by("llvm-ar-19 rcs");
  expect_archive_by("SYM64_THRESHOLD=0 llvm-ar-19 rcs"); /* index /SYM64/ */
}

/* A member header. `size` is text, so that it can be wrong. */
#define HEADER(name, size) name "0           0     0     644     " size "`\n"
#define A_NAME "a.o/            "
#define LONG_NAMES "//              "
#define INDEX "/               "
#define SIZE_0 "0         "
#define SIZE_3 "3         "
#define SIZE_4 "4         "
#define MAGIC "!<arch>\n"

#define ARCHIVE(text) text, sizeof text - 1

typedef struct broken_case {
  const char *id;
  const char *bytes;
  size_t size;
  const char *fragment;
} broken_case;

static const broken_case broken_cases[] = {
    {"A01 empty", ARCHIVE(""), "is empty, not an ar archive"},
    {"A01 JPEG", ARCHIVE("\xff\xd8\xff\xe0 JFIF"), "is a JPEG image, not an ar archive"},
    {"A01 ELF",
     ARCHIVE("\x7f"
             "ELF\1\1\1"),
     "is an ELF file, not an ar archive"},
    {"A01 text", ARCHIVE("#include <stdio.h>\n"), "is a text file, not"},
    {"A01 thin", ARCHIVE("!<thin>\n"), "is a thin archive"},
    {"G01 magic", ARCHIVE("!<arc"), "truncated archive: it ends at byte 5"},
    {"A02 text", ARCHIVE(MAGIC HEADER(A_NAME, "4x        ") "abcd"), "not a decimal number"},
    {"A02 negative", ARCHIVE(MAGIC HEADER(A_NAME, "-4        ") "abcd"), "not a decimal number"},
    {"A02 blank", ARCHIVE(MAGIC HEADER(A_NAME, "          ") "abcd"), "not a decimal number"},
    {"A02 leading space", ARCHIVE(MAGIC HEADER(A_NAME, " 4        ") "abcd"), "not a decimal"},
    {"A02 past the end", ARCHIVE(MAGIC HEADER(A_NAME, "5         ") "abcd"),
     "member 0 (header at byte 8) is malformed: the file is truncated"},
    {"A02 10 digits", ARCHIVE(MAGIC HEADER(A_NAME, "9999999999") "abcd"), "the file is truncated"},
    {"A02 second", ARCHIVE(MAGIC HEADER(A_NAME, SIZE_4) "abcd" HEADER(A_NAME, "x         ")),
     "member 1 (header at byte 72)"},
    {"A02 header end", ARCHIVE(MAGIC A_NAME "0           0     0     644     4         ??abcd"),
     "does not end as a header must"},
    {"A03 no table", ARCHIVE(MAGIC HEADER("/0              ", SIZE_0)), "there is no table"},
    {"A03 past the table",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "ab/\n" HEADER("/99999          ", SIZE_0)),
     "past the table of long names"},
    {"A03 no end",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "abcd" HEADER("/0              ", SIZE_0)),
     "has no end"},
    {"A03 no slash",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "abc\n" HEADER("/0              ", SIZE_0)),
     "has no end"},
    {"A03 at the newline",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "ab/\n" HEADER("/3              ", SIZE_0)),
     "has no end"},
    {"A03 no number", ARCHIVE(MAGIC HEADER("/x              ", SIZE_0)), "'/' and no number"},
    {"A03 huge number",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "ab/\n" HEADER("/999999999999999", SIZE_0)),
     "past the table of long names"},
    {"A03 two tables",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, SIZE_4) "ab/\n" HEADER(LONG_NAMES, SIZE_4) "cd/\n"),
     "second table"},
    {"A03 BSD", ARCHIVE(MAGIC HEADER("#1/4            ", SIZE_4) "name"), "BSD's way"},
    {"A04 NUL", ARCHIVE(MAGIC HEADER("a\0b/            ", SIZE_0)), "NUL in its name"},
    {"A10 garbage", ARCHIVE(MAGIC HEADER(A_NAME, SIZE_4) "abcdgarbage"), "ends inside the header"},
    {"A10 no padding in the middle",
     ARCHIVE(MAGIC HEADER(A_NAME, SIZE_3) "abc" HEADER(A_NAME, SIZE_0)), "ends inside the header"},
};

/* The copy has exactly its size, so that AddressSanitizer finds a read after its end. */
static pop_error *open_copy(const void *bytes, size_t size, uint8_t **copy, pop_archive **archive)
{
  *copy = malloc(size ? size : 1);
  memcpy(*copy, bytes, size);
  return pop_archive_open_memory(*copy, size, "broken.a", archive);
}

Test(archive, A01_A02_A03_A04_A10_broken_archives_are_refused)
{
  for (size_t i = 0; i < sizeof broken_cases / sizeof *broken_cases; i++) {
    const broken_case *c = &broken_cases[i];
    uint8_t *copy;
    pop_archive *archive;
    expect_error(open_copy(c->bytes, c->size, &copy, &archive), POP_ERROR_FILE_LOAD, c->fragment,
                 c->id);
    free(copy);
    put("broken.a", c->bytes, c->size);
    expect_error(pop_archive_open("broken.a", &archive), POP_ERROR_FILE_LOAD, c->fragment, c->id);
  }
}

static const struct {
  const char *id;
  const char *bytes;
  size_t size;
  const char *name; /* name of the only member, whose content is "abc" */
} accepted_cases[] = {
    {"A10 no padding behind the last", ARCHIVE(MAGIC HEADER(A_NAME, SIZE_3) "abc"), "a.o"},
    {"A04 parent", ARCHIVE(MAGIC HEADER("../../x         ", SIZE_3) "abc\n"), ".."},
    {"A04 long absolute",
     ARCHIVE(MAGIC HEADER(LONG_NAMES, "10        ") "/etc/x.o/\n" HEADER("/0              ",
                                                                         SIZE_3) "abc\n"),
     "/etc/x.o"},
    {"A04 empty", ARCHIVE(MAGIC HEADER("                ", SIZE_3) "abc\n"), ""},
    {"A05 broken index",
     ARCHIVE(MAGIC HEADER(INDEX, SIZE_4) "\xff\xff\xff\xff" HEADER(A_NAME, SIZE_3) "abc\n"), "a.o"},
    {"A05 broken 64-bit index",
     ARCHIVE(MAGIC HEADER("/SYM64/         ", SIZE_4) "\xff\xff\xff\xff" HEADER(A_NAME,
                                                                                SIZE_3) "abc\n"),
     "a.o"},
    {"name without a slash", ARCHIVE(MAGIC HEADER("a b.o           ", SIZE_3) "abc\n"), "a b.o"},
    {"name of 16", ARCHIVE(MAGIC HEADER("0123456789abcdef", SIZE_3) "abc\n"), "0123456789abcdef"},
};

Test(archive, A04_A05_A10_odd_but_sound_archives_are_read)
{
  for (size_t i = 0; i < sizeof accepted_cases / sizeof *accepted_cases; i++) {
    uint8_t *copy;
    pop_archive *archive;
    expect_ok(open_copy(accepted_cases[i].bytes, accepted_cases[i].size, &copy, &archive));
    cr_assert_eq(pop_archive_num_members(archive), 1, "%s", accepted_cases[i].id);
    expect_member(archive, 0, accepted_cases[i].name, "abc", 3);
    pop_archive_close(archive);
    free(copy);
  }
}

/* A member that is an archive itself is an ordinary member. */
Test(archive, A10_nested_archive)
{
  uint8_t *inner, *outer;
  size_t inner_size, outer_size;
  pop_archive_writer *writer;
  pop_archive *archive;
  sample_bytes(&inner, &inner_size);
  expect_ok(pop_archive_writer_open(NULL, &writer));
  expect_ok(pop_archive_writer_add(writer, "inner.a", inner, inner_size));
  pop_archive_writer_take(writer, &outer, &outer_size);
  expect_ok(pop_archive_open_memory(outer, outer_size, "outer", &archive));
  cr_assert_eq(pop_archive_num_members(archive), 1);
  expect_member(archive, 0, "inner.a", inner, inner_size);
  pop_archive_close(archive);
  free(inner);
  free(outer);
}

/* What opens must be readable to the last byte and lie within the file. */
static void read_everything(const pop_archive *archive, size_t file_size)
{
  for (size_t i = 0; i < pop_archive_num_members(archive); i++) {
    const pop_archive_member *member = pop_archive_get_member(archive, i);
    cr_assert_leq(member->offset + member->size, file_size);
    cr_assert_leq(strlen(member->name), file_size);
    uint8_t *bytes;
    size_t size;
    expect_ok(pop_archive_read_member(archive, i, &bytes, &size));
    free(bytes);
  }
}

/* The sample, preceded by an index and a table of long names. */
static void long_sample(pop_bytes *out)
{
  static const char head[] = MAGIC HEADER(INDEX, SIZE_4) "\0\0\0\1" HEADER(
      LONG_NAMES, "22        ") "first-long-name.obj/\n\n" HEADER("/0              ",
                                                                  SIZE_3) "xyz\n";
  uint8_t *sample;
  size_t size;
  sample_bytes(&sample, &size);
  pop_bytes_append(out, head, sizeof head - 1);
  pop_bytes_append(out, sample + 8, size - 8);
  free(sample);
}

Test(archive, G01_cut_at_every_offset)
{
  pop_bytes whole = {0};
  long_sample(&whole);
  for (size_t size = 0; size < whole.size; size++) {
    uint8_t *copy;
    pop_archive *archive;
    pop_error *error = open_copy(whole.data, size, &copy, &archive);
    if (error) {
      cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD);
      pop_error_free(error);
    } else { /* cut between two members: fewer members, or only the last padding is missing */
      read_everything(archive, size);
      pop_archive_close(archive);
    }
    free(copy);
  }
  pop_bytes_free(&whole);
}

Test(archive, G02_every_byte_changed)
{
  static const uint8_t masks[] = {0x01, 0x10, 0x20, 0x80, 0xff};
  pop_bytes whole = {0};
  long_sample(&whole);
  size_t refused = 0;
  for (size_t at = 0; at < whole.size; at++) {
    for (size_t m = 0; m < sizeof masks; m++) {
      uint8_t *copy;
      pop_archive *archive;
      whole.data[at] ^= masks[m];
      pop_error *error = open_copy(whole.data, whole.size, &copy, &archive);
      whole.data[at] ^= masks[m];
      refused += error != NULL;
      if (!error) {
        read_everything(archive, whole.size);
        pop_archive_close(archive);
      }
      pop_error_free(error);
      free(copy);
    }
  }
  cr_assert_gt(refused, 8 * sizeof masks, "at least each change of the magic is refused");
  pop_bytes_free(&whole);
}

Test(archive, G12_a_file_cut_after_opening_is_an_error)
{
  pop_archive_writer *writer;
  pop_archive *archive;
  uint8_t *bytes;
  size_t size;
  expect_ok(pop_archive_writer_open("cut.a", &writer));
  write_sample(writer);
  expect_ok(pop_archive_writer_commit(writer));
  expect_ok(pop_archive_open("cut.a", &archive));
  cr_assert_eq(truncate("cut.a", 70), 0);
  expect_error(pop_archive_read_member(archive, 0, &bytes, &size), POP_ERROR_FILE_LOAD,
               "cut while it was read: it ends at byte 70", "cut");
  pop_archive_close(archive);
}

/* 64 IPUs: a second member after 5 GB of the first one, in a sparse file. */
Test(archive, A11_offsets_beyond_4_gib)
{
  static const char first[] = MAGIC HEADER("first/          ", "5000000000");
  static const char second[] = HEADER("second/         ", SIZE_4) "here";
  int fd = open("large.a", O_WRONLY | O_CREAT, 0666);
  cr_assert_eq(pwrite(fd, first, sizeof first - 1, 0), sizeof first - 1);
  cr_assert_eq(pwrite(fd, second, sizeof second - 1, 5000000068), sizeof second - 1);
  close(fd);
  pop_archive *archive;
  expect_ok(pop_archive_open("large.a", &archive));
  cr_assert_eq(pop_archive_num_members(archive), 2);
  cr_assert_eq(pop_archive_get_member(archive, 0)->size, UINT64_C(5000000000));
  expect_member(archive, 1, "second", "here", 4);
  pop_archive_close(archive);
  unlink("large.a");
}

Test(archive, G13_what_is_not_a_file)
{
  pop_archive *archive;
  cr_assert_eq(mkfifo("fifo", 0666), 0);
  expect_error(pop_archive_open(".", &archive), POP_ERROR_FILE_LOAD, "it is a folder", "folder");
  expect_error(pop_archive_open("fifo", &archive), POP_ERROR_FILE_LOAD, "it is a pipe", "fifo");
  expect_error(pop_archive_open("none", &archive), POP_ERROR_FILE_LOAD, "No such file", "none");
}

static void append_member(pop_bytes *members, const char *name, const char *content)
{
  size_t start;
  expect_ok(pop_archive_begin_member(members, &start));
  pop_bytes_append(members, content, strlen(content));
  expect_ok(pop_archive_end_member(members, start, name));
}

Test(archive, members_made_in_parts_are_the_same)
{
  uint8_t *expected, *bytes;
  size_t expected_size, size;
  sample_bytes(&expected, &expected_size);
  pop_bytes first = {0}, second = {0};
  append_member(&first, "tile-00000.elf", "even");
  append_member(&first, "empty", "");
  append_member(&first, "fifteen-chars.o", "odd");
  append_member(&second, "a b.o", "`\n!<arch>\n");
  pop_archive_writer *writer;
  expect_ok(pop_archive_writer_open(NULL, &writer));
  expect_ok(pop_archive_writer_add_members(writer, &first));
  expect_ok(pop_archive_writer_add_members(writer, &second));
  pop_archive_writer_take(writer, &bytes, &size);
  cr_assert_eq(size, expected_size);
  cr_assert(memcmp(bytes, expected, size) == 0);
  size_t start;
  expect_ok(pop_archive_begin_member(&second, &start));
  expect_error(pop_archive_end_member(&second, start, "sixteen-chars.oo"),
               POP_ERROR_INVALID_ARGUMENT, "16 characters", "name");
  pop_bytes_free(&first);
  pop_bytes_free(&second);
  free(expected);
  free(bytes);
}

Test(archive, zeros_in_large_members_are_holes)
{
  enum { SIZE = 1 << 20 };
  pop_archive_writer *writer;
  pop_archive *archive;
  struct stat status;
  uint8_t *bytes = pop_xcalloc(1, SIZE);
  memset(bytes, 0xa5, 5000);
  bytes[SIZE - 1] = 1;
  expect_ok(pop_archive_writer_open("holes.a", &writer));
  expect_ok(pop_archive_writer_add(writer, "small", "odd", 3));
  expect_ok(pop_archive_writer_add(writer, "large", bytes, SIZE));
  expect_ok(pop_archive_writer_add(writer, "last", "here", 4));
  expect_ok(pop_archive_writer_commit(writer));
  cr_assert_eq(stat("holes.a", &status), 0);
  cr_assert_lt(status.st_blocks * 512, SIZE / 8);
  expect_ok(pop_archive_open("holes.a", &archive));
  expect_member(archive, 0, "small", "odd", 3);
  expect_member(archive, 1, "large", bytes, SIZE);
  expect_member(archive, 2, "last", "here", 4);
  pop_archive_close(archive);
  free(bytes);
}

/* 64 IPUs: members of zeros, which take no space on the disk. */
Test(archive, A11_writing_beyond_4_gib)
{
  enum { MEMBER_BYTES = 1 << 26, COUNT = 66 };
  pop_archive_writer *writer;
  pop_archive *archive;
  pop_bytes member = {0};
  size_t start;
  expect_ok(pop_archive_begin_member(&member, &start));
  cr_assert(pop_bytes_try_reserve(&member, MEMBER_BYTES));
  memset(member.data + member.size, 0, MEMBER_BYTES);
  member.size += MEMBER_BYTES;
  expect_ok(pop_archive_end_member(&member, start, "large"));
  expect_ok(pop_archive_writer_open("large.a", &writer));
  for (int i = 0; i < COUNT; i++) expect_ok(pop_archive_writer_add_members(writer, &member));
  pop_bytes_free(&member);
  expect_ok(pop_archive_writer_add(writer, "last", "here", 4));
  expect_ok(pop_archive_writer_commit(writer));
  expect_ok(pop_archive_open("large.a", &archive));
  cr_assert_eq(pop_archive_num_members(archive), COUNT + 1);
  cr_assert_gt(pop_archive_get_member(archive, COUNT)->offset, UINT32_MAX);
  expect_member(archive, COUNT, "last", "here", 4);
  pop_archive_close(archive);
  unlink("large.a");
}

Test(archive, tile_names)
{
  static const uint32_t tiles[] = {0, 42, 1471, 94207, 99999, 100000, 999999};
  char name[16], last[16] = "";
  uint32_t tile;
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
    pop_archive_tile_name(tiles[i], name);
    cr_assert(pop_archive_tile_number(name, &tile), "%s", name);
    cr_assert_eq(tile, tiles[i]);
    if (tiles[i] < 100000) cr_assert_gt(strcmp(name, last), 0, "names sort as tiles do");
    strcpy(last, name);
  }
  pop_archive_tile_name(42, name);
  cr_assert_str_eq(name, "tile-00042.elf");

  pop_archive_tile_name(1000000, name);
  cr_assert_str_empty(name, "no target has that tile, no member this name");

  static const char *const others[] = {"tile-42.elf",         "tile-00042",     "tile-00042.elf2",
                                       "tile-000042.elf",     "tile-0x042.elf", "tile--0042.elf",
                                       "Tile-00042.elf",      "metadata",       "",
                                       "tile-99999999999.elf"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_assert_not(pop_archive_tile_number(others[i], &tile), "%s", others[i]);
}
