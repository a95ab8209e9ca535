/* The summary of a graph profile against the samples in the published documents. With the numbers
 * of a sample, the summary has the sample's lines, and its sections in their order. */
#include "profile/graph_profile.h"

#include "support/expect.h"
#include <stdlib.h>
#include <string.h>

/* An executable that only has the memory of `tiles`. */
static pop_executable *new_executable(const pop_tile_memory *tiles, uint32_t count)
{
  pop_executable *e = executable_new();
  expect_ok(pop_target_create("ipu1", 1, &e->target));
  e->target.tiles_per_ipu = count;
  e->tiles = pop_xcalloc(count, sizeof *e->tiles);
  for (uint32_t t = 0; t < count; ++t) {
    e->tiles[t].memory = t;
    pop_push(e->memory_rows, e->num_memory_rows, e->memory_rows_capacity, tiles[t]);
  }
  return e;
}

static const pop_option var_storage = {"showVarStorage", "true"};

/* The summary of the executable and of `p`, which is freed. */
static char *summary_with(pop_executable *e, executable_profile *p, const pop_option *options,
                          size_t num_options)
{
  graph_profile g = {.e = e, .p = p, .numbers = exchange_numbers_new(e)};
  pop_profile *profile = emit_to_values(emit_graph_profile, &g);
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  cr_assert_not_null(stream);
  expect_ok(
      pop_profile_print_graph_summary(pop_profile_root(profile), options, num_options, stream));
  fclose(stream);
  pop_profile_free(profile);
  graph_profile_close(&g);
  pop_executable_free(e);
  return text;
}

static char *summary(const pop_tile_memory *tiles, uint32_t count)
{
  return summary_with(new_executable(tiles, count), executable_profile_new(), NULL, 0);
}

/* Returns what follows the line. */
static const char *expect_line(const char *text, const char *line)
{
  const char *found = strstr(text, line);
  cr_assert_not_null(found, "no line '%s' in:\n%s", line, text);
  return found ? found + strlen(line) : text;
}

/* The tiles of the guide's sample. */
static pop_tile_memory *sample_tiles(void)
{
  static const struct {
    size_t tiles;
    uint32_t kilobytes;
  } rows[] = {{824, 3}, {168, 7}, {44, 8}, {126, 9}, {30, 10},
              {16, 11}, {2, 14},  {2, 15}, {3, 16},  {1, 19}};
  pop_tile_memory *tiles = pop_xcalloc(1216, sizeof *tiles);
  size_t tile = 1216;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r)
    for (size_t i = 0; i < rows[r].tiles; ++i) {
      --tile;
      tiles[tile].total = rows[r].kilobytes * 1024 + 500;
      tiles[tile].total_including_gaps = tiles[tile].total;
    }
  tiles[0].total = 20294;
  tiles[0].total_including_gaps = 131608;
  tiles[0].not_overlapped[POP_MEMORY_CONTROL_CODE][POP_REGION_NON_INTERLEAVED] = 467696;
  tiles[1].not_overlapped[POP_MEMORY_STACK][POP_REGION_INTERLEAVED] = 3852288;
  tiles[2].overlapped[POP_MEMORY_VARIABLE][POP_REGION_NON_INTERLEAVED] = 340056;
  return tiles;
}

Test(graph_summary, target_and_graph_as_in_the_guides_sample)
{
  pop_tile_memory *tiles = sample_tiles();
  executable_profile *p = executable_profile_new();
  p->num_vertices = 5564;
  p->num_edges = 18564;
  p->num_variables = 47973;
  char *text = summary_with(new_executable(tiles, 1216), p, NULL, 0);
  expect_line(text, "Target:\n"
                    "  Number of IPUs:         1\n"
                    "  Tiles per IPU:          1,216\n"
                    "  Total Tiles:            1,216\n"
                    "  Memory Per-Tile:        256.0 kB\n"
                    "  Total Memory:           304.0 MB\n"
                    "  Clock Speed (approx):   1,600.0 MHz\n"
                    "  Number of Replicas:     1\n"
                    "  IPUs per Replica:       1\n"
                    "  Tiles per Replica:      1,216\n"
                    "  Memory per Replica:     304.0 MB\n\n");
  expect_line(text, "Graph:\n"
                    "  Number of vertices:            5,564\n"
                    "  Number of edges:              18,564\n"
                    "  Number of variables:          47,973\n"
                    "  Number of compute sets:            0\n\n");
  free(text);
  free(tiles);
}

Test(graph_summary, sections_are_in_the_order_of_the_guides_sample)
{
  static const char *const lines[] = {
      "Target:\n",
      "Graph:\n",
      "Memory on all IPUs:\nMemory Usage:\n  Total:\n",
      "    Including Gaps:",
      "    Excluding Gaps:\n      By Memory Region:\n",
      "        Non-interleaved:",
      "        Interleaved:",
      "        Overflowed:                  0 B\n",
      "      Total:",
      "      By Data Type:\n        Not Overlapped\n",
      "            Stack:                                3,852,288 B\n",
      "            Control Code:                           467,696 B\n",
      "          Total:                                  4,319,984 B\n",
      "        Overlapped\n",
      "            Variables:                              340,056 B\n",
      "          Total:",
      "          Total After Overlapping:",
      "      Vertex Data (0B):\n        By Category:\n",
      "          Internal vertex state:              0 B\n",
      "          Edge pointers:",
      "          Copy pointers:",
      "          Padding:",
      "          Descriptors:",
      "        By Type:\n",
      "\n  By Tile (Excluding Gaps):\n",
      "    Maximum (Including Gaps): 131,608 (128.5 K) on tile 0\n",
      "    0 tile(s) out of memory\n"};
  pop_tile_memory *tiles = sample_tiles();
  char *text = summary(tiles, 1216);
  const char *rest = text;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) rest = expect_line(rest, lines[i]);
  cr_assert_null(strstr(text, "Vertex Code"));
  cr_assert_null(strstr(text, "Liveness"));
  free(text);
  free(tiles);
}

Test(graph_summary, histogram_of_the_guides_sample)
{
  pop_tile_memory *tiles = sample_tiles();
  char *text = summary(tiles, 1216);
  expect_line(text, "\n  By Tile (Excluding Gaps):\n"
                    "    Range (KB) Histogram (Excluding Gaps)               Count (tiles)\n");
  expect_line(text, " 3 -   4 ****************************************    824\n");
  expect_line(text, " 7 -   8 ********                                    168\n");
  expect_line(text, " 8 -   9 ***                                          44\n");
  expect_line(text, " 9 -  10 ******                                      126\n");
  expect_line(text, "10 -  11 **                                           30\n");
  expect_line(text, "12 -  13                                               0\n");
  expect_line(text, "19 -  20 *                                             1\n");
  expect_line(text, "    Maximum (Including Gaps): 131,608 (128.5 K) on tile 0\n"
                    "    Maximum (Excluding Gaps): 20,294 (19.8 K) on tile 0\n"
                    "    0 tile(s) out of memory\n");
  free(text);
  free(tiles);
}

Test(graph_summary, rows_grow_and_long_gaps_are_left_out)
{
  pop_tile_memory tiles[3] = {{.total = 5000, .total_including_gaps = 5000},
                              {.total = 510 * 1024, .total_including_gaps = 510 * 1024},
                              {.total = 834339, .total_including_gaps = 834416}};
  tiles[2].by_region[POP_REGION_OVERFLOWED] = 580387;
  char *text = summary(tiles, 3);
  expect_line(text, "  0 -   8 *");
  expect_line(text, "504 - 512 *");
  expect_line(text, "808 - 816 *");
  cr_assert_null(strstr(text, "400 - 408"));
  expect_line(text, "Maximum (Including Gaps): 834,416 (814.9 K) on tile 2\n");
  expect_line(text, "    2 tile(s) out of memory\n");
  free(text);
}

/* The five fullest tiles in descending order, whether they are too full or not. */
Test(graph_summary, five_fullest_tiles_are_shown_when_one_is_out_of_memory)
{
  pop_tile_memory tiles[7] = {{0}};
  for (uint32_t t = 0; t < 7; ++t) {
    tiles[t].total = tiles[t].total_including_gaps = 1000 + 10 * t;
    tiles[t].not_overlapped[POP_MEMORY_CONSTANT][POP_REGION_NON_INTERLEAVED] = 1000 + 10 * t;
  }
  tiles[3].total = tiles[3].total_including_gaps = 834416;
  tiles[3].by_region[POP_REGION_OVERFLOWED] = 580387;
  char *text = summary(tiles, 7);
  static const int order[] = {3, 6, 5, 4, 2};
  const char *rest = expect_line(text, "    1 tile(s) out of memory\n");
  for (size_t i = 0; i < 5; ++i) {
    char line[96];
    snprintf(line, sizeof line,
             "Tile # %d memory usage:\nMemory Usage:\n    Including Gaps:", order[i]);
    rest = expect_line(rest, line);
  }
  cr_assert_null(strstr(rest, "Tile # "));
  rest = expect_line(text, "Tile # 3 memory usage:\n");
  rest = expect_line(rest, "        Overflowed:            580,387 B\n");
  expect_line(rest, "            Constants:                                1,030 B\n");
  free(text);
}

/* ---- liveness ---- */

static void add_live(executable_profile *p, uint32_t name, uint32_t first, uint32_t last,
                     uint64_t bytes)
{
  pop_push(p->lives, p->num_lives, p->lives_capacity,
           (profile_live){name, POP_MEMORY_VARIABLE, first, last, bytes});
}

static void add_step(pop_executable *e, executable_step_kind kind, uint32_t position,
                     uint32_t num_children)
{
  pop_push(e->steps, e->num_steps, e->steps_capacity,
           (executable_step){.kind = kind,
                             .name = kind == EXECUTABLE_STEP_WRITE_UNDEF ? "forget" : "",
                             .position = position,
                             .first_child = 0,
                             .num_children = num_children});
}

Test(graph_summary, liveness_is_a_tree_of_programs)
{
  static const char *const names[] = {"weights", "stack", "<anon>"};
  pop_tile_memory tile = {.total = 100, .total_including_gaps = 100};
  pop_executable *e = new_executable(&tile, 1);
  executable_profile *p = executable_profile_new();
  for (size_t i = 0; i < 3; ++i) pop_push(p->names, p->num_names, p->names_capacity, names[i]);
  add_live(p, 1, EXECUTABLE_NONE, EXECUTABLE_NONE, 3852288);
  add_live(p, 0, 1, 2, 94080);
  add_live(p, 0, 2, 2, 1200);
  add_live(p, 2, 2, 2, 12);
  add_step(e, EXECUTABLE_STEP_SEQUENCE, 0, 2);
  add_step(e, EXECUTABLE_STEP_WRITE_UNDEF, 1, 0);
  add_step(e, EXECUTABLE_STEP_ABORT, 2, 0);
  for (uint32_t child = 1; child < 3; ++child)
    pop_push(e->step_children, e->num_step_children, e->step_children_capacity, child);
  pop_push(e->control_steps, e->num_control_steps, e->control_steps_capacity, 0);
  char *text = summary_with(e, p, &var_storage, 1);
  expect_line(text, "  Variable Storage Liveness: All tiles\n"
                    "\n"
                    "    Always-live bytes: 3,852,288\n"
                    "    Always-live variables:\n"
                    "      stack     3,852,288\n"
                    "\n"
                    "    Maximum live bytes (including always-live): 3,947,580\n"
                    "\n"
                    "    Sequence\n"
                    "      WriteUndef: forget\n"
                    "        Live Bytes (excluding always-live): 94,080\n"
                    "        Live Vars (excluding always-live):\n"
                    "          weights        94,080\n"
                    "      Abort\n"
                    "        Live Bytes (excluding always-live): 95,292\n"
                    "        Live Vars (excluding always-live):\n"
                    "          <anon>             12\n"
                    "          weights        95,280\n");
  free(text);
}

/* A function that is called twice: its steps appear in each of the two call stacks. */
Test(graph_summary, liveness_follows_calls)
{
  static const char *const names[] = {"weights"};
  static const uint32_t children[] = {1, 2, 4};
  pop_tile_memory tile = {.total = 100, .total_including_gaps = 100};
  pop_executable *e = new_executable(&tile, 1);
  executable_profile *p = executable_profile_new();
  pop_push(p->names, p->num_names, p->names_capacity, names[0]);
  add_live(p, 0, 1, 3, 94080);
  add_step(e, EXECUTABLE_STEP_SEQUENCE, 0, 2);
  add_step(e, EXECUTABLE_STEP_CALL, 1, 0);
  add_step(e, EXECUTABLE_STEP_CALL, 2, 0);
  add_step(e, EXECUTABLE_STEP_SEQUENCE, 3, 1);
  add_step(e, EXECUTABLE_STEP_WRITE_UNDEF, 3, 0);
  e->steps[3].first_child = 2;
  for (size_t i = 0; i < 3; ++i)
    pop_push(e->step_children, e->num_step_children, e->step_children_capacity, children[i]);
  pop_push(e->control_steps, e->num_control_steps, e->control_steps_capacity, 0);
  pop_push(e->functions, e->num_functions, e->functions_capacity, 3);
  char *text = summary_with(e, p, &var_storage, 1);
#define CALLED                                                                                     \
  "      Call\n"                                                                                   \
  "        Live Bytes (excluding always-live): 94,080\n"                                           \
  "        Live Vars (excluding always-live):\n"                                                   \
  "          weights        94,080\n"                                                              \
  "        Sequence\n"                                                                             \
  "          WriteUndef: forget\n"                                                                 \
  "            Live Bytes (excluding always-live): 94,080\n"                                       \
  "            Live Vars (excluding always-live):\n"                                               \
  "              weights        94,080\n"
  expect_line(text, "    Sequence\n" CALLED CALLED);
  cr_assert_null(strstr(text, "Function 0:"));
  free(text);
}

/* Each of 40 functions calls the next one twice. 2^40 call stacks are not written. */
Test(graph_summary, liveness_of_too_many_call_stacks_is_by_function)
{
  enum { FUNCTIONS = 40 };
  pop_tile_memory tile = {.total = 100, .total_including_gaps = 100};
  pop_executable *e = new_executable(&tile, 1);
  executable_profile *p = executable_profile_new();
  for (uint32_t f = 0; f < FUNCTIONS; ++f) {
    add_step(e, EXECUTABLE_STEP_SEQUENCE, f, 2);
    e->steps[3 * f].first_child = 2 * f;
    for (uint32_t call = 1; call <= 2; ++call) {
      bool last = f + 1 == FUNCTIONS;
      add_step(e, last ? EXECUTABLE_STEP_WRITE_UNDEF : EXECUTABLE_STEP_CALL, f, 0);
      e->steps[3 * f + call].index = last ? 0 : f;
      pop_push(e->step_children, e->num_step_children, e->step_children_capacity, 3 * f + call);
    }
    if (f > 0) pop_push(e->functions, e->num_functions, e->functions_capacity, 3 * f);
  }
  pop_push(e->control_steps, e->num_control_steps, e->control_steps_capacity, 0);
  char *text = summary_with(e, p, &var_storage, 1);
  expect_line(text, "    Function 38:\n    Sequence\n");
  free(text);
}

/* ---- options ---- */

static bool has_colours(const char *option)
{
  pop_tile_memory tile = {.total = 100, .total_including_gaps = 100};
  const pop_option colours = {"colours", option};
  char *text =
      summary_with(new_executable(&tile, 1), executable_profile_new(), &colours, option != NULL);
  bool found = strchr(text, '\x1b') != NULL;
  free(text);
  return found;
}

Test(graph_summary, colours_by_option_and_environment)
{
  unsetenv("CLICOLOR");
  unsetenv("CLICOLOR_FORCE");
  cr_assert(!has_colours(NULL), "it is no terminal");
  cr_assert(has_colours("true"));
  cr_assert(!has_colours("false"));
  setenv("CLICOLOR", "0", 1);
  cr_assert(!has_colours("true"), "CLICOLOR wins over the option");
  setenv("CLICOLOR_FORCE", "1", 1);
  cr_assert(has_colours("false"), "CLICOLOR_FORCE wins over both");
  setenv("CLICOLOR_FORCE", "0", 1);
  setenv("CLICOLOR", "1", 1);
  cr_assert(!has_colours("false"));
}

Test(graph_summary, each_ipu_and_metrics_when_they_are_asked_for)
{
  static const pop_option options[] = {{"showPerIpuMemoryUsage", "true"},
                                       {"showOptimizations", "true"},
                                       {"showExchangeInstructionBreakdown", "true"}};
  pop_tile_memory tiles[4] = {{0}};
  for (uint32_t t = 0; t < 4; ++t) tiles[t].total = tiles[t].total_including_gaps = 100 + t;
  pop_executable *e = new_executable(tiles, 4);
  e->target.num_ipus = 2;
  e->target.tiles_per_ipu = 2;
  executable_profile *p = executable_profile_new();
  pop_push(p->names, p->num_names, p->names_capacity, "codeGroups");
  pop_push(p->metrics, p->num_metrics, p->metrics_capacity, (profile_metric){0, 2.5});
  char *text = summary_with(e, p, options, 3);
  expect_line(text, "Optimizations:\n  codeGroups                           2.5\n");
  expect_line(text, "Memory on IPU 0:\nMemory Usage:\n  Total:\n"
                    "    Including Gaps:                201 B\n");
  expect_line(text, "Memory on IPU 1:\nMemory Usage:\n  Total:\n"
                    "    Including Gaps:                205 B\n");
  expect_line(text, "Internal Exchange Code by Instruction:\n");
  free(text);
}

Test(graph_summary, what_is_no_option_or_no_profile_is_refused)
{
  static const struct {
    pop_option option;
    const char *words;
  } rows[] = {{{"showVarStorag", "true"}, "did you mean 'showVarStorage'"},
              {{"colours", "yes"}, "cannot be 'yes'"}};
  const pop_profile_value none = {0};
  for (size_t i = 0; i < 2; ++i)
    expect_error(pop_profile_print_graph_summary(none, &rows[i].option, 1, stdout),
                 POP_ERROR_INVALID_OPTION, rows[i].words, rows[i].option.key);
  expect_error(pop_profile_print_graph_summary(none, NULL, 0, stdout), POP_ERROR_INVALID_ARGUMENT,
               "no graph profile", "no value");
}

/* Files are not trusted. What is no name has none; an IPU does not have more tiles than there are;
 * and each program is twice in the one before it, so that there would be 2^100 of the last. */
static void emit_damaged(const emitter *to, const void *what)
{
  enum { PROGRAMS = 100 };
  (void)what;
  emit_begin_map(to, NULL);
  emit_begin_map(to, "target");
  emit_int(to, "numReplicas", 1);
  emit_int(to, "tilesPerIPU", INT64_MAX);
  emit_end_map(to);
  emit_begin_vector(to, "controlPrograms");
  emit_int(to, NULL, 0);
  emit_end_vector(to);
  emit_begin_vector(to, "programs");
  for (int i = 1; i <= PROGRAMS; ++i) {
    emit_begin_map(to, NULL);
    emit_begin_vector(to, "children");
    emit_int(to, NULL, i);
    emit_int(to, NULL, i);
    emit_end_vector(to);
    emit_end_map(to);
  }
  emit_end_vector(to);
  emit_begin_map(to, "vertexTypes");
  emit_begin_vector(to, "names");
  for (int i = 0; i < 3; ++i) emit_int(to, NULL, i);
  emit_end_vector(to);
  emit_end_map(to);
  emit_begin_map(to, "memory");
  emit_begin_map(to, "byTile");
  emit_begin_vector(to, "total");
  emit_int(to, NULL, 0);
  emit_end_vector(to);
  emit_end_map(to);
  emit_end_map(to);
  emit_end_map(to);
}

Test(graph_summary, a_damaged_profile_has_a_summary_that_ends)
{
  static const pop_option options[] = {{"showPerIpuMemoryUsage", "true"},
                                       {"showVarStorage", "true"}};
  pop_profile *profile = emit_to_values(emit_damaged, NULL);
  FILE *nowhere = fopen("/dev/null", "w");
  cr_assert_not_null(nowhere);
  expect_ok(pop_profile_print_graph_summary(pop_profile_root(profile), options, 2, nowhere));
  fclose(nowhere);
  pop_profile_free(profile);
}
