/* .gp files: what is written is read back. Damaged, malicious and other files are refused. */
#include <populus/archive.h>
#include <populus/file.h>
#include <populus/gp.h>
#include <populus/names.h>
#include <populus/popc.h>

#include "support/expect.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(gp, .init = enter_fresh_folder);

typedef struct bytes {
  uint8_t *data;
  size_t size;
} bytes;

static void write_file(const char *path, const void *data, size_t size)
{
  FILE *file = fopen(path, "w");
  cr_assert(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static bytes compile(const char *path, const char *text)
{
  write_file(path, text, strlen(text));
  popc_options options = {
      .size = sizeof options, .inputs = &path, .num_inputs = 1, .diagnostics_fd = -1};
  bytes gp;
  expect_ok(popc_compile(&options, &gp.data, &gp.size));
  return gp;
}

#define HEADER "#include <populus/vertex.h>\n"
#define FIRST                                                                                      \
  HEADER "typedef struct { INPUT(VECTOR(float)) in; OUTPUT(float) out; int k; } First;\n"          \
         "COMPUTE(First) { *vertex->out = vertex->in.data[vertex->k]; return true; }\n"
#define FIRST_OTHERWISE                                                                            \
  HEADER "typedef struct { OUTPUT(float) out; } First;\n"                                          \
         "COMPUTE(First) { *vertex->out = 2; return true; }\n"
#define SECOND                                                                                     \
  HEADER "typedef struct { INOUT(VECTOR(half, ONE_PTR, 8, 1)) x; } Second;\n"                      \
         "COMPUTE(Second) { vertex->x[0] = 1; return true; }\n"

static pop_gp *read_bytes(bytes gp)
{
  pop_gp *read = NULL;
  expect_ok(pop_gp_read_memory(gp.data, gp.size, "sample.gp", &read));
  return read;
}

/* The message of the error that reading must give. It is valid until the next call. */
static const char *refusal(const void *data, size_t size)
{
  static char message[1024];
  pop_gp *gp = NULL;
  pop_error *error = pop_gp_read_memory(data, size, "sample.gp", &gp);
  cr_assert_not_null(error, "%zu bytes were accepted", size);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD);
  snprintf(message, sizeof message, "%s", pop_error_message(error));
  pop_error_free(error);
  cr_assert(strstr(message, "sample.gp"), "'%s' does not name the file", message);
  return message;
}

Test(gp, holds_vertex_types_as_the_source_has_them)
{
  bytes compiled = compile("second.c", SECOND);
  pop_gp *gp = read_bytes(compiled);
  cr_assert_eq(pop_gp_num_vertex_types(gp), 1);
  const pop_vertex_type *type = pop_gp_vertex_type(gp, 0);
  cr_assert_str_eq(type->name, "Second");
  cr_assert_str_eq(type->symbol, "__runCodelet_Second");
  cr_assert_str_eq(type->source, "second.c:2");
  cr_assert_eq(type->state_size, 4);
  const pop_field *x = pop_vertex_type_find_field(type, "x");
  cr_assert_not_null(x);
  cr_assert_eq(x->kind, POP_FIELD_INOUT);
  cr_assert_eq(x->layout, POP_LAYOUT_ONE_PTR);
  cr_assert_eq(x->type, POP_HALF);
  cr_assert_eq(x->alignment, 8);
  cr_assert(x->interleaved);
  cr_assert_null(pop_vertex_type_find_field(type, "y"));
  cr_assert_eq(pop_gp_num_host_objects(gp), 1);
  size_t size;
  cr_assert_arr_eq(pop_gp_host_object(gp, 0, &size), "\177ELF\2", 5);
  pop_gp_free(gp);
  free(compiled.data);
}

Test(gp, G01_cut_at_every_offset_is_refused)
{
  bytes whole = compile("first.c", FIRST);
  for (size_t size = 0; size < whole.size; ++size) {
    uint8_t *cut = malloc(size + 1); /* a copy of its own, so that a read after its end is found */
    memcpy(cut, whole.data, size);
    refusal(cut, size);
    free(cut);
  }
  free(whole.data);
}

Test(gp, G02_every_changed_byte_is_found_or_harmless)
{
  bytes whole = compile("first.c", FIRST);
  pop_gp *original = read_bytes(whole);
  size_t found = 0;
  for (size_t at = 0; at < whole.size; ++at) {
    for (int bit = 1; bit <= 128; bit *= 16) {
      whole.data[at] ^= (uint8_t)bit;
      pop_gp *gp = NULL;
      pop_error *error = pop_gp_read_memory(whole.data, whole.size, "sample.gp", &gp);
      if (error) {
        ++found;
        pop_error_free(error);
      } else {
        pop_gp_digest a = pop_gp_get_digest(gp), b = pop_gp_get_digest(original);
        cr_assert_arr_eq(a.bytes, b.bytes, sizeof a.bytes, "byte %zu changes the content", at);
        pop_gp_free(gp);
      }
      whole.data[at] ^= (uint8_t)bit;
    }
  }
  /* Changes of dates, owners and padding in the headers of the three members do no harm. */
  cr_assert_gt(found, 2 * (whole.size - 3 * 60));
  pop_gp_free(original);
  free(whole.data);
}

Test(gp, other_files_are_named_for_what_they_are)
{
  static const struct {
    const char *start, *named;
  } cases[] = {
      {"\xff\xd8\xff\xe0 and so on", "JPEG"},
      {"\x89PNG\r\n\x1a\n", "PNG"},
      {"\177ELF\2\1\1", "ELF"},
      {"#include <stdio.h>\n", "text"},
      {"!<arch>\nfile.o/         0           0     0     644     4         `\nabcd", "file.o"},
      {"!<arch>\n", "nothing"},
      {"!<ar", "truncated"},
      {"", "empty"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *message = refusal(cases[i].start, strlen(cases[i].start));
    cr_assert(strstr(message, cases[i].named), "'%s' does not say '%s'", message, cases[i].named);
  }
}

Test(gp, G03_other_version_is_named)
{
  bytes whole = compile("first.c", FIRST);
  static const char owner[] = "Populus";
  uint8_t *note = memmem(whole.data, whole.size, owner, sizeof owner);
  cr_assert_not_null(note);
  note[sizeof owner] = 7;
  const char *message = refusal(whole.data, whole.size);
  cr_assert(strstr(message, "version 7") && strstr(message, "version 2"), "%s", message);
  free(whole.data);
}

/* Anyone who computes the digest can put anything into a .gp, as the builder does. */

static pop_error *add_tile(const void *data, size_t size)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  pop_error *error = pop_gp_builder_add_tile(builder, "ipu2", data, size, "sample.c");
  pop_gp_builder_free(builder);
  return error;
}

/* A copy of the member `name` of an archive. */
static bytes member_of(bytes gp, const char *name)
{
  pop_archive *archive;
  expect_ok(pop_archive_open_memory(gp.data, gp.size, "sample.gp", &archive));
  bytes member = {0};
  for (size_t i = 0; i < pop_archive_num_members(archive); ++i)
    if (!strcmp(pop_archive_get_member(archive, i)->name, name))
      expect_ok(pop_archive_read_member(archive, i, &member.data, &member.size));
  pop_archive_close(archive);
  cr_assert_not_null(member.data);
  return member;
}

Test(gp, G04_to_G09_damaged_objects_are_refused_or_harmless)
{
  bytes gp = compile("first.c", FIRST), tile = member_of(gp, "tile-0.o");
  expect_ok(add_tile(tile.data, tile.size));
  size_t refused = 0;
  for (size_t at = 0; at < tile.size; ++at) {
    uint8_t before = tile.data[at];
    static const uint8_t values[] = {0x00, 0xff, 0x80};
    for (size_t i = 0; i < sizeof values; ++i) {
      tile.data[at] = values[i];
      pop_error *error = add_tile(tile.data, tile.size);
      refused += error != NULL;
      pop_error_free(error);
    }
    tile.data[at] = before;
  }
  cr_assert_gt(refused, 0);
  free(tile.data);
  free(gp.data);
}

Test(gp, G05_objects_of_another_kind_are_refused)
{
  bytes gp = compile("first.c", FIRST), tile = member_of(gp, "tile-0.o");
  static const struct {
    size_t offset;
    uint8_t value;
  } cases[] = {{4, 2}, {5, 2}, {16, 2}, {18, 62}}; /* 64-bit, big-endian, ET_EXEC, x86-64 */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    uint8_t before = tile.data[cases[i].offset];
    tile.data[cases[i].offset] = cases[i].value;
    pop_error *error = add_tile(tile.data, tile.size);
    cr_assert_not_null(error, "case %zu", i);
    cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD);
    pop_error_free(error);
    tile.data[cases[i].offset] = before;
  }
  pop_error *error = add_tile("BC\xc0\xde and so on", 15); /* G15 */
  cr_assert(error && strstr(pop_error_message(error), "bitcode"));
  pop_error_free(error);
  free(tile.data);
  free(gp.data);
}

/* Replaces a part of the vertex table by one of the same length. */
static const char *refusal_with(const char *from, const char *to)
{
  static char message[1024];
  bytes gp = compile("first.c", FIRST), tile = member_of(gp, "tile-0.o");
  uint8_t *at = memmem(tile.data, tile.size, from, strlen(from));
  cr_assert(at && strlen(from) == strlen(to), "%s", from);
  memcpy(at, to, strlen(from));
  pop_error *error = add_tile(tile.data, tile.size);
  cr_assert_not_null(error, "'%s' was accepted", to);
  snprintf(message, sizeof message, "%s", pop_error_message(error));
  pop_error_free(error);
  free(tile.data);
  free(gp.data);
  return message;
}

Test(gp, G10_tables_that_do_not_fit_the_code_are_refused)
{
  static const struct {
    const char *from, *to, *named;
  } cases[] = {
      {"\"offset\":12", "\"offset\":99", "past the end"},
      {"\"offset\":12", "\"offset\":10", "not a multiple"},
      {"\"offset\":12", "\"offset\": 0", "overlap"},
      {"\"offset\":12", "\"offset\":-1", "not an integer"},
      {"\"name\":\"First\"", "\"nome\":\"First\"", "no text"},
      {"\"symbol\":\"__runCodelet_First", "\"symbol\":\"__runCodelet_Worst", "absent"},
      {"\"layout\":\"span\"", "\"layout\":\"spam\"", "unknown layout"},
      {"\"type\":\"float\"", "\"type\":\"flout\"", "unknown type"},
      {"\"kind\":\"worker\"", "\"kind\":\"walker\"", "unknown kind"},
      {"{\"version\":1", "{\"version\":9", "version 9"},
      {"{\"version\":1", "[\"version\":1", "not JSON"},
      {"\"align\":4", "\"align\":3", "power of two"},
      {"\"name\":\"in\"", "\"name\":\"k\" ", "two fields"},
      {"\"size\":8,", "\"size\":4,", "takes 4 bytes instead of 8"},
      {"\"size\":8,\"align\":4", "\"size\":8,\"align\":1", "alignment 1 is less than"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *message = refusal_with(cases[i].from, cases[i].to);
    cr_assert(strstr(message, cases[i].named), "'%s' does not say '%s'", message, cases[i].named);
    cr_assert(strstr(message, "sample.c"), "'%s' does not name the object", message);
  }
}

Test(gp, G13_what_is_no_file_is_refused)
{
  cr_assert_eq(mkfifo("fifo.gp", 0600), 0);
  cr_assert_eq(symlink("loop.gp", "loop.gp"), 0);
  static const char *const paths[] = {".", "fifo.gp", "loop.gp", "/dev/zero", "absent.gp"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    pop_gp *gp = NULL;
    pop_error *error = pop_gp_read(paths[i], &gp);
    cr_assert(error && strstr(pop_error_message(error), paths[i]), "%s", paths[i]);
    cr_assert_eq(pop_error_get_code(error), POP_ERROR_FILE_LOAD);
    pop_error_free(error);
  }
}

static pop_error *merge(bytes a, bytes b, bytes *merged)
{
  pop_gp_builder *builder = pop_gp_builder_new();
  pop_gp *first = NULL, *second = NULL;
  expect_ok(pop_gp_read_memory(a.data, a.size, "a.gp", &first));
  expect_ok(pop_gp_read_memory(b.data, b.size, "b.gp", &second));
  pop_error *error = pop_gp_builder_add_gp(builder, first);
  if (!error) error = pop_gp_builder_add_gp(builder, second);
  if (!error) error = pop_gp_builder_write(builder, NULL, &merged->data, &merged->size);
  pop_gp_free(first);
  pop_gp_free(second);
  pop_gp_builder_free(builder);
  return error;
}

Test(gp, merging_keeps_all_vertices_and_their_order)
{
  bytes a = compile("first.c", FIRST), b = compile("second.c", SECOND), merged = {0};
  expect_ok(merge(a, b, &merged));
  pop_gp *gp = read_bytes(merged);
  cr_assert_eq(pop_gp_num_vertex_types(gp), 2);
  cr_assert_str_eq(pop_gp_vertex_type(gp, 0)->name, "First");
  cr_assert_str_eq(pop_gp_vertex_type(gp, 1)->name, "Second");
  cr_assert_eq(pop_gp_num_host_objects(gp), 2);
  pop_gp_free(gp);
  free(a.data);
  free(b.data);
  free(merged.data);
}

/* They differ in the ELF header's address of the entry, which objects do not use. */
Test(gp, ten_thousand_library_objects_of_one_name_get_names_that_differ)
{
  enum { COUNT = 10001, ENTRY = 24 };
  bytes gp = compile("first.c", FIRST), tile = member_of(gp, "tile-0.o"), all = {0};
  pop_gp_builder *builder = pop_gp_builder_new();
  for (uint32_t i = 0; i < COUNT; ++i) {
    memcpy(tile.data + ENTRY, &i, sizeof i);
    expect_ok(pop_gp_builder_add_library(builder, "libc_string_strlen.o", tile.data, tile.size));
  }
  expect_ok(pop_gp_builder_write(builder, NULL, &all.data, &all.size));
  pop_gp_builder_free(builder);
  pop_gp *read = read_bytes(all);
  cr_assert_eq(pop_gp_num_tile_objects(read), COUNT);
  pop_archive *archive;
  pop_name_table names = {0};
  expect_ok(pop_archive_open_memory(all.data, all.size, "all.gp", &archive));
  for (size_t i = 0; i < pop_archive_num_members(archive); ++i) {
    const char *name = pop_archive_get_member(archive, i)->name;
    cr_assert_eq(pop_name_table_find(&names, name), POP_NAME_NONE, "two members are %s", name);
    pop_name_table_add(&names, name, 0);
  }
  pop_name_table_free(&names);
  pop_archive_close(archive);
  pop_gp_free(read);
  free(all.data);
  free(tile.data);
  free(gp.data);
}

Test(gp, G14_the_same_codelets_twice_are_taken_once)
{
  bytes a = compile("first.c", FIRST), merged = {0};
  expect_ok(merge(a, a, &merged));
  cr_assert_eq(merged.size, a.size);
  cr_assert_arr_eq(merged.data, a.data, a.size);
  free(a.data);
  free(merged.data);
}

Test(gp, G14_one_name_with_other_code_names_both_files)
{
  bytes a = compile("first.c", FIRST), b = compile("other.c", FIRST_OTHERWISE), merged = {0};
  pop_error *error = merge(a, b, &merged);
  cr_assert_not_null(error);
  static const char *const words[] = {"'First'", "a.gp", "b.gp", "first.c:2", "other.c:2"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    cr_assert(strstr(pop_error_message(error), words[i]), "%s", pop_error_message(error));
  pop_error_free(error);
  free(a.data);
  free(b.data);
}

Test(gp, compiling_twice_gives_the_same_bytes)
{
  bytes a = compile("first.c", FIRST), b = compile("first.c", FIRST);
  cr_assert_eq(a.size, b.size);
  cr_assert_arr_eq(a.data, b.data, a.size);
  free(a.data);
  free(b.data);
}

Test(gp, a_codelet_that_does_not_compile_gives_clangs_words)
{
  const char *path = "wrong.c";
  write_file(path, "int x = y;\n", 11);
  popc_options options = {
      .size = sizeof options, .inputs = &path, .num_inputs = 1, .diagnostics_fd = -1};
  bytes gp = {0};
  pop_error *error = popc_compile(&options, &gp.data, &gp.size);
  cr_assert_not_null(error);
  cr_assert_eq(pop_error_get_code(error), POP_ERROR_CODELET_COMPILE);
  cr_assert(strstr(pop_error_message(error),
                   "wrong.c:1:9: error: use of undeclared identifier 'y'\n    1 | int x = y;"),
            "%s", pop_error_message(error));
  cr_assert_null(gp.data);
  pop_error_free(error);
}

/* Without the compiler's exit status nobody knows what its output is. */
Test(gp, a_host_that_ignores_the_ends_of_children_gets_no_codelets)
{
  const char *path = "first.c", *flag = "--no-cache";
  write_file(path, FIRST, strlen(FIRST));
  popc_options options = {.size = sizeof options,
                          .inputs = &path,
                          .num_inputs = 1,
                          .flags = &flag,
                          .num_flags = 1,
                          .diagnostics_fd = -1};
  bytes gp = {0};
  signal(SIGCHLD, SIG_IGN);
  expect_error(popc_compile(&options, &gp.data, &gp.size), POP_ERROR_SYSTEM,
               "cannot tell whether 'first.c' compiles: this process ignores SIGCHLD", "SIGCHLD");
  cr_assert_null(gp.data);
}

/* A daemon has closed its standard streams, and children get theirs of it. */
Test(gp, C09_a_host_without_standard_streams_compiles)
{
  static const char text[] = FIRST;
  const char *path = "both.c", *flag = "--no-cache";
  write_file(path, text, sizeof text - 1);
  popc_options options = {.size = sizeof options,
                          .inputs = &path,
                          .num_inputs = 1,
                          .flags = &flag,
                          .num_flags = 1,
                          .diagnostics_fd = -1};
  bytes with = {0}, without = {0};
  expect_ok(popc_compile(&options, &with.data, &with.size));
  int saved[3];
  for (int i = 0; i < 3; ++i) cr_assert_geq(saved[i] = dup(i), 0);
  for (int i = 0; i < 3; ++i) close(i);
  pop_error *error = popc_compile(&options, &without.data, &without.size);
  for (int i = 0; i < 3; ++i) dup2(saved[i], i);
  expect_ok(error);
  cr_assert_eq(with.size, without.size);
  cr_assert_arr_eq(with.data, without.data, with.size);
  free(with.data);
  free(without.data);
}
