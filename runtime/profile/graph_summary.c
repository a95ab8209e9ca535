#include "profile/graph_summary.h"

#include "base/c_locale.h"
#include "base/object.h"
#include "profile/grouped.h"
#include <errno.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

/* X(key, field) */
#define SUMMARY_OPTIONS(X)                                                                         \
  X("colours", colours)                                                                            \
  X("showVarStorage", var_storage)                                                                 \
  X("showOptimizations", optimizations)                                                            \
  X("showExchangeInstructionBreakdown", exchange_instructions)                                     \
  X("showExecutionSteps", execution_steps)                                                         \
  X("showPerIpuMemoryUsage", per_ipu)

static bool is_terminal_with_colours(FILE *stream)
{
  const char *terminal = getenv("TERM");
  int file = fileno(stream);
  return file >= 0 && isatty(file) && terminal && strcmp(terminal, "dumb") != 0 &&
         !getenv("NO_COLOR");
}

static bool variable_is(const char *name, const char *value)
{
  const char *set = getenv(name);
  return set && strcmp(set, value) == 0;
}

static pop_error *take_option(const pop_option *option, summary_style *style)
{
#define OPTION_KEY(key, field) key,
  static const char *const keys[] = {SUMMARY_OPTIONS(OPTION_KEY)};
#undef OPTION_KEY
#define OPTION_FIELD(key, field) &style->field,
  bool *const fields[] = {SUMMARY_OPTIONS(OPTION_FIELD)};
#undef OPTION_FIELD
  enum { NUM_KEYS = sizeof keys / sizeof *keys };
  if (!option->key || !option->value)
    return pop_error_new(POP_ERROR_INVALID_OPTION, "an option of the profile summary has no %s",
                         option->key ? "value" : "key");
  for (size_t i = 0; i < NUM_KEYS; ++i) {
    if (strcmp(option->key, keys[i]) != 0) continue;
    *fields[i] = strcmp(option->value, "true") == 0;
    if (*fields[i] || strcmp(option->value, "false") == 0) return NULL;
    return pop_error_new(POP_ERROR_INVALID_OPTION,
                         "option '%s' of the profile summary cannot be '%s': it is true or false",
                         option->key, option->value);
  }
  const char *near = pop_nearest_name(option->key, keys, NUM_KEYS);
  return pop_error_new(POP_ERROR_INVALID_OPTION, "the profile summary has no option '%s'%s%s%s",
                       option->key, near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
}

pop_error *summary_style_parse(const pop_option *options, size_t num_options, FILE *stream,
                               summary_style *style)
{
  *style = (summary_style){.stream = stream, .colours = is_terminal_with_colours(stream)};
  for (size_t i = 0; i < num_options; ++i) POP_TRY(take_option(&options[i], style));
  if (variable_is("CLICOLOR", "0")) style->colours = false;
  if (variable_is("CLICOLOR_FORCE", "1")) style->colours = true;
  return NULL;
}

pop_error *summary_end(FILE *stream)
{
  return fflush(stream) == 0 && !ferror(stream)
             ? NULL
             : pop_error_errno(errno, "cannot write the profile summary");
}

/* ---- lines ---- */

void summary_heading(const summary_style *style, int indent, const char *text, bool warns)
{
  const char *colour = !style->colours ? "" : warns ? "\x1b[1;31m" : "\x1b[1m";
  fprintf(style->stream, "%*s%s%s%s\n", indent, "", colour, text, style->colours ? "\x1b[0m" : "");
}

void summary_bytes(const summary_style *style, int indent, const char *label, uint64_t bytes,
                   int width)
{
  char number[32];
  int column = indent + (int)strlen(label) + 1;
  fprintf(style->stream, "%*s%s:%*s B\n", indent, "", label, width > column ? width - column : 1,
          grouped(bytes, number));
}

void summary_rows(const summary_style *style, int indent, const summary_row *rows, size_t count,
                  int width, const char *unit)
{
  size_t longest = 0;
  char number[32];
  for (size_t i = 0; i < count; ++i)
    if (rows[i].number && pop_write_name(rows[i].name, NULL) > longest)
      longest = pop_write_name(rows[i].name, NULL);
  for (size_t i = 0; i < count; ++i) {
    if (!rows[i].number) continue;
    fprintf(style->stream, "%*s", indent, "");
    pop_write_name_in_column(rows[i].name, longest, style->stream);
    fprintf(style->stream, "%*s%s\n", width, grouped(rows[i].number, number), unit);
  }
}

/* ---- target, graph ---- */

enum { TARGET_COLUMN = 24, GRAPH_COLUMN = 38, KILO = 1024, MHZ = 1000000 };

static int64_t int_at(pop_profile_value map, const char *path)
{
  return pop_profile_as_int(pop_profile_find(map, path));
}

static void print_count(const summary_style *style, const char *label, int64_t count)
{
  char number[32];
  fprintf(style->stream, "  %-*s%s\n", TARGET_COLUMN, label, grouped((uint64_t)count, number));
}

/* With one decimal place. */
static void print_tenths(const summary_style *style, const char *label, double value,
                         const char *unit)
{
  char number[32];
  uint64_t tenths = (uint64_t)(value * 10 + 0.5);
  fprintf(style->stream, "  %-*s%s.%u %s\n", TARGET_COLUMN, label, grouped(tenths / 10, number),
          (unsigned)(tenths % 10), unit);
}

static void print_target(const summary_style *style, pop_profile_value profile)
{
  pop_profile_value t = pop_profile_get(profile, "target");
  int64_t replicas = int_at(t, "numReplicas"), tiles = int_at(t, "numTiles");
  double memory = (double)int_at(t, "totalMemory") / KILO / KILO;
  summary_heading(style, 0, "Target:", false);
  print_count(style, "Number of IPUs:", int_at(t, "numIPUs"));
  print_count(style, "Tiles per IPU:", int_at(t, "tilesPerIPU"));
  print_count(style, "Total Tiles:", tiles);
  print_tenths(style, "Memory Per-Tile:", (double)int_at(t, "bytesPerTile") / KILO, "kB");
  print_tenths(style, "Total Memory:", memory, "MB");
  print_tenths(style, "Clock Speed (approx):",
               pop_profile_as_double(pop_profile_get(t, "clockFrequency")) / MHZ, "MHz");
  print_count(style, "Number of Replicas:", replicas);
  print_count(style, "IPUs per Replica:", int_at(t, "numIPUs") / replicas);
  print_count(style, "Tiles per Replica:", tiles / replicas);
  print_tenths(style, "Memory per Replica:", memory / (double)replicas, "MB");
  fputc('\n', style->stream);
}

static void print_graph(const summary_style *style, pop_profile_value profile)
{
  static const struct {
    const char *label, *key;
  } rows[] = {{"Number of vertices:", "numVertices"},
              {"Number of edges:", "numEdges"},
              {"Number of variables:", "numVars"},
              {"Number of compute sets:", "numComputeSets"}};
  pop_profile_value graph = pop_profile_get(profile, "graph");
  char number[32];
  summary_heading(style, 0, "Graph:", false);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    fprintf(style->stream, "  %s%*s\n", rows[i].label,
            GRAPH_COLUMN - 2 - (int)strlen(rows[i].label),
            grouped((uint64_t)int_at(graph, rows[i].key), number));
  fputc('\n', style->stream);
}

static void print_optimizations(const summary_style *style, pop_profile_value profile)
{
  pop_profile_value info = pop_profile_get(profile, "optimizationInfo");
  summary_heading(style, 0, "Optimizations:", false);
  for (size_t i = 0; i < pop_profile_count(info); ++i)
    fprintf(style->stream, "  %-28s%12.10g\n", pop_profile_key(info, i),
            pop_profile_as_double(pop_profile_at(info, i)));
  fputc('\n', style->stream);
}

/* ---- exchange instructions ---- */

/* Over all exchanges. The code of an exchange exists once, however many programs use it. */
static void print_exchange_instructions(const summary_style *style, pop_profile_value profile)
{
  pop_profile_value programs = pop_profile_get(profile, "programs"), first = {0};
  size_t count = pop_profile_count(programs);
  bool *known = pop_xcalloc(count + 1, sizeof *known); /* not fewer than exchanges */
  summary_row rows[16] = {{0}};
  size_t num_rows = 0;
  for (size_t i = 0; i < count; ++i) {
    pop_profile_value program = pop_profile_at(programs, i);
    pop_profile_value bytes = pop_profile_get(program, "memoryByInstruction");
    size_t exchange = (size_t)int_at(program, "exchange");
    if (!bytes.node || exchange >= count || known[exchange]) continue;
    known[exchange] = true;
    first = bytes;
    for (num_rows = 0; num_rows < pop_profile_count(first) && num_rows < 16; ++num_rows) {
      rows[num_rows].name = pop_profile_key(bytes, num_rows);
      rows[num_rows].number += (uint64_t)pop_profile_as_int(pop_profile_at(bytes, num_rows));
    }
  }
  summary_heading(style, 0, "Internal Exchange Code by Instruction:", false);
  summary_rows(style, 2, rows, num_rows, 15, " B");
  fputc('\n', style->stream);
  free(known);
}

/* ---- the whole ---- */

static void print_memory_of_ipus(const summary_style *style, pop_profile_value profile)
{
  size_t tiles = (size_t)int_at(profile, "target.tilesPerIPU");
  size_t count = pop_profile_count(pop_profile_find(profile, "memory.byTile.total"));
  for (size_t first = 0, end; tiles && first < count; first = end) {
    end = tiles < count - first ? first + tiles : count;
    char *title = pop_xasprintf("Memory on IPU %zu:", first / tiles);
    summary_heading(style, 0, title, false);
    summary_memory_usage(style, profile, (tile_range){first, end}, true);
    fputc('\n', style->stream);
    free(title);
  }
}

void summary_memory(const summary_style *style, pop_profile_value profile)
{
  size_t count = pop_profile_count(pop_profile_find(profile, "memory.byTile.total"));
  summary_memory_usage(style, profile, (tile_range){0, count}, true);
  fputc('\n', style->stream);
  summary_by_tile(style, profile);
}

pop_error *pop_profile_print_graph_summary(pop_profile_value profile, const pop_option *options,
                                           size_t num_options, FILE *stream)
{
  C_LOCALE;
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  summary_style style;
  POP_TRY(summary_style_parse(options, num_options, stream, &style));
  if (!pop_profile_find(profile, "memory.byTile.total").node ||
      int_at(profile, "target.numReplicas") < 1)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "pop_profile_print_graph_summary: the value is no graph profile");
  print_target(&style, profile);
  if (style.optimizations) print_optimizations(&style, profile);
  print_graph(&style, profile);
  summary_heading(&style, 0,
                  int_at(profile, "target.numReplicas") > 1 ? "Memory on all IPUs of a replica:"
                                                            : "Memory on all IPUs:",
                  false);
  summary_memory(&style, profile);
  if (style.per_ipu) print_memory_of_ipus(&style, profile);
  if (style.exchange_instructions) print_exchange_instructions(&style, profile);
  if (style.var_storage) summary_liveness(&style, profile);
  summary_plan(&style, profile);
  return summary_end(stream);
}
