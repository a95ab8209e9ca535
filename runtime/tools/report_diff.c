#include "report_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <populus/arena.h>
#include <populus/names.h>
#include <populus/report_page.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of one report ---- */

/* A figure in both reports. */
typedef struct row {
  const char *key;  /* "cycles", "memory.all", or a name of steps */
  const char *text; /* as people read it */
  int64_t before, after;
  bool is_known[2];
  bool counts; /* for fail_above */
} row;

typedef struct rows {
  row *list;
  size_t count, capacity;
} rows;

typedef struct diff {
  pop_arena *arena;
  const report_diff_options *options;
  json_t *reports[2];
  rows totals, categories, names;
  bool grown;
} diff;

static const json_t *find(const json_t *of, const char *first, const char *second,
                          const char *third)
{
  of = json_object_get(of, first);
  if (second) of = json_object_get(of, second);
  return third ? json_object_get(of, third) : of;
}

/* Numbers of a report are counts. A value that is not a number counts as 0. None is above 2^53, so
 * sums of two do not overflow. */
#define LARGEST 9007199254740992

static double number_of(const json_t *value)
{
  double number = json_number_value(value);
  return isfinite(number) && number > 0 ? fmin(number, LARGEST) : 0;
}

static int64_t sum_of(const json_t *list)
{
  double sum = 0;
  size_t i;
  json_t *value;
  json_array_foreach((json_t *)list, i, value) sum += number_of(value);
  return (int64_t)fmin(sum, LARGEST);
}

static int64_t most_of(const json_t *list)
{
  double most = 0;
  size_t i;
  json_t *value;
  json_array_foreach((json_t *)list, i, value) most = fmax(most, number_of(value));
  return (int64_t)most;
}

static row *add_row(rows *to, const char *key, const char *text, bool counts)
{
  row new = {.key = key, .text = text, .counts = counts};
  pop_push(to->list, to->count, to->capacity, new);
  return &to->list[to->count - 1];
}

static void set(row *r, int side, bool is_known, int64_t value)
{
  r->is_known[side] = is_known;
  *(side ? &r->after : &r->before) = value;
}

static void take_total(diff *d, const char *key, const char *text, const json_t *values[2],
                       int64_t (*take)(const json_t *), bool counts)
{
  if (!values[0] && !values[1]) return;
  row *r = add_row(&d->totals, key, text, counts);
  for (int side = 0; side < 2; side++)
    set(r, side, values[side] != NULL, values[side] ? take(values[side]) : 0);
}

static int64_t unchanged(const json_t *value)
{
  return (int64_t)number_of(value);
}

static void take_totals(diff *d)
{
  static const struct {
    const char *key, *text, *path[4];
    int64_t (*take)(const json_t *);
    bool counts;
  } figures[] = {
      {"cycles", "Cycles", {"execution", "simulation", "cycles", NULL}, unchanged, true},
      {"memory.fullestTile",
       "Memory of the fullest tile",
       {"graph", "memory", "byTile", "totalIncludingGaps"},
       most_of,
       true},
      {"memory.allTiles",
       "Memory of all tiles",
       {"graph", "memory", "byTile", "totalIncludingGaps"},
       sum_of,
       true},
      {"memory.livePeak",
       "Peak of what is live",
       {"graph", "memory", "liveness", "maxBytes"},
       unchanged,
       true},
      {"computeSets", "Compute sets", {"graph", "graph", "numComputeSets", NULL}, unchanged, false},
      {"vertices", "Vertices", {"graph", "graph", "numVertices", NULL}, unchanged, false},
      {"variables", "Variables", {"graph", "graph", "numVars", NULL}, unchanged, false},
      {"edges", "Edges", {"graph", "graph", "numEdges", NULL}, unchanged, false},
  };
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    const json_t *values[2];
    for (int side = 0; side < 2; side++) {
      const char *const *path = figures[i].path;
      values[side] = find(d->reports[side], path[0], path[1], path[2]);
      if (path[3]) values[side] = json_object_get(values[side], path[3]);
    }
    take_total(d, figures[i].key, figures[i].text, values, figures[i].take, figures[i].counts);
  }
}

/* Of all tiles. */
static void take_categories(diff *d, pop_name_table *numbers, int side)
{
  json_t *all = (json_t *)find(d->reports[side], "graph", "memory", "byCategory"), *value;
  const char *key;
  json_object_foreach(all, key, value)
  {
    uint32_t number = pop_name_table_find(numbers, key);
    if (number == POP_NAME_NONE) {
      const char *name = pop_arena_strdup(d->arena, key);
      number = (uint32_t)d->categories.count;
      pop_name_table_add(numbers, name, number);
      add_row(&d->categories, name, name, false);
    }
    int64_t bytes = sum_of(json_object_get(value, "total"));
    set(&d->categories.list[number], side, true, bytes);
  }
}

/* Cycles of all steps of a name, or of a type for steps without one. A JSON object finds the row of
 * a name, as a sorted list would lose the order of appearance. */
static void take_names(diff *d, json_t *numbers, int side)
{
  size_t i;
  json_t *steps = (json_t *)find(d->reports[side], "execution", "simulation", "steps"), *step;
  json_array_foreach(steps, i, step)
  {
    const char *type = json_string_value(json_object_get(step, "type"));
    const char *name = json_string_value(json_object_get(step, "name"));
    const json_t *cycles = json_object_get(step, "cycles");
    if (!type || !cycles || strcmp(type, "SyncAns") == 0) continue; /* a sync */
    char *key = pop_xasprintf("%s %s", type, name ? name : "");
    json_t *known = json_object_get(numbers, key);
    if (!known) {
      json_object_set_new(numbers, key, json_integer((json_int_t)d->names.count));
      const char *kept = pop_arena_strdup(d->arena, name && *name ? key : type);
      add_row(&d->names, kept, kept, d->options->each_name);
      known = json_object_get(numbers, key);
    }
    free(key);
    row *r = &d->names.list[known ? json_integer_value(known) : 0];
    int64_t sum = (side ? r->after : r->before) + unchanged(cycles);
    set(r, side, true, sum < LARGEST ? sum : LARGEST);
  }
}

static bool has(const diff *d, int side, const char *first, const char *second)
{
  return find(d->reports[side], first, second, NULL) != NULL;
}

/* A name that one report does not have counts as 0 there. */
static void complete_names(diff *d)
{
  for (size_t i = 0; i < d->names.count; i++)
    for (int side = 0; side < 2; side++)
      d->names.list[i].is_known[side] = has(d, side, "execution", "simulation");
  for (size_t i = 0; i < d->categories.count; i++)
    for (int side = 0; side < 2; side++)
      d->categories.list[i].is_known[side] = has(d, side, "graph", "memory");
}

/* ---- the verdict ---- */

static bool has_grown(const diff *d, const row *r)
{
  if (d->options->fail_above < 0 || !r->counts || r->after <= r->before) return false;
  return (double)(r->after - r->before) > (double)r->before * d->options->fail_above;
}

static pop_error *check_comparable(const diff *d, const char *const *paths)
{
  static const struct {
    const char *first, *second, *what;
  } parts[] = {{"execution", "simulation", "execution trace"},
               {"graph", "memory", "memory of tiles"}};
  size_t known = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    bool of[2] = {has(d, 0, parts[i].first, parts[i].second),
                  has(d, 1, parts[i].first, parts[i].second)};
    known += of[0] && of[1];
    if (of[0] != of[1] && d->options->fail_above >= 0)
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "'%s' has no %s and '%s' has: whether it has grown cannot be said",
                           paths[of[0]], parts[i].what, paths[of[1]]);
  }
  if (known) return NULL;
  return pop_error_new(
      POP_ERROR_FILE_LOAD,
      "'%s' and '%s' have neither an execution trace nor memory of tiles in common", paths[0],
      paths[1]);
}

/* A watched figure that only one report has, as one of another version may, is an error: it has
 * neither grown nor stayed. */
static pop_error *check_figures(const diff *d, const char *const *paths)
{
  for (size_t i = 0; i < d->totals.count && d->options->fail_above >= 0; i++) {
    const row *r = &d->totals.list[i];
    if (r->counts && r->is_known[0] != r->is_known[1])
      return pop_error_new(
          POP_ERROR_FILE_LOAD,
          "'%s' does not say '%s' and '%s' does: whether it has grown cannot be said",
          paths[r->is_known[0]], r->text, paths[r->is_known[1]]);
  }
  return NULL;
}

/* ---- text ---- */

static void print_row(const diff *d, const row *r, FILE *to)
{
  char before[32] = "-", after[32] = "-", by[32] = "", share[32] = "";
  if (r->is_known[0]) snprintf(before, sizeof before, "%" PRId64, r->before);
  if (r->is_known[1]) snprintf(after, sizeof after, "%" PRId64, r->after);
  if (r->is_known[0] && r->is_known[1]) {
    snprintf(by, sizeof by, "%+" PRId64, r->after - r->before);
    if (r->before)
      snprintf(share, sizeof share, "%+.2f%%",
               100 * (double)(r->after - r->before) / (double)r->before);
    else if (r->after)
      snprintf(share, sizeof share, "new");
  }
  fprintf(to, "%15s %15s %15s %10s  ", before, after, by, share);
  pop_write_name(r->text, to);
  fputs(has_grown(d, r) ? "  <-- grown\n" : "\n", to);
}

static bool differs(const row *r)
{
  return r->before != r->after || r->is_known[0] != r->is_known[1];
}

static void print_rows(const diff *d, const char *title, const rows *of, bool all, FILE *to)
{
  size_t same = 0;
  fprintf(to, "%s%15s %15s %15s %10s  %s\n", all ? "" : "\n", "before", "after", "difference", "",
          title);
  for (size_t i = 0; i < of->count; i++) {
    if (all || differs(&of->list[i]))
      print_row(d, &of->list[i], to);
    else
      same++;
  }
  if (same) fprintf(to, "%58s  %zu are the same\n", "", same);
}

static void print_text(const diff *d, FILE *to)
{
  print_rows(d, "the whole", &d->totals, true, to);
  if (d->categories.count) print_rows(d, "bytes by category", &d->categories, false, to);
  if (d->names.count) print_rows(d, "cycles by name", &d->names, false, to);
}

/* ---- JSON ---- */

static json_t *json_of_rows(const diff *d, const rows *of)
{
  json_t *list = json_array();
  for (size_t i = 0; i < of->count; i++) {
    const row *r = &of->list[i];
    json_t *one = json_object();
    json_object_set_new(one, "name", json_string(r->key));
    json_object_set_new(one, "before",
                        r->is_known[0] ? json_integer((json_int_t)r->before) : json_null());
    json_object_set_new(one, "after",
                        r->is_known[1] ? json_integer((json_int_t)r->after) : json_null());
    if (r->is_known[0] && r->is_known[1])
      json_object_set_new(one, "difference", json_integer((json_int_t)(r->after - r->before)));
    json_object_set_new(one, "grown", json_boolean(has_grown(d, r)));
    json_array_append_new(list, one);
  }
  return list;
}

static void print_json(const diff *d, FILE *to)
{
  json_t *all = json_object();
  json_object_set_new(all, "format", json_string("Populus report difference"));
  for (int side = 0; side < 2; side++)
    json_object_set(all, side ? "after" : "before", json_object_get(d->reports[side], "name"));
  if (d->options->fail_above >= 0)
    json_object_set_new(all, "failAbove", json_real(d->options->fail_above));
  json_object_set_new(all, "grown", json_boolean(d->grown));
  json_object_set_new(all, "totals", json_of_rows(d, &d->totals));
  json_object_set_new(all, "bytesByCategory", json_of_rows(d, &d->categories));
  json_object_set_new(all, "cyclesByName", json_of_rows(d, &d->names));
  json_dumpf(all, to, d->options->format == REPORT_DIFF_PRETTY ? JSON_INDENT(1) : JSON_COMPACT);
  fputc('\n', to);
  json_decref(all);
}

/* ---- all ---- */

static pop_error *read_report(const char *path, json_t **report)
{
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return pop_error_errno(errno, "cannot read '%s'", path);
  pop_error *error = pop_report_write_json(&path, 1, POP_REPORT_WITHOUT_SOURCE, stream);
  if (fclose(stream) != 0 && !error) error = pop_error_errno(errno, "cannot read '%s'", path);
  json_error_t where;
  json_t *page = error ? NULL : json_loadb(text, size, 0, &where);
  *report = json_incref(json_array_get(json_object_get(page, "reports"), 0));
  json_decref(page);
  if (!error && !*report)
    error =
        pop_error_new(POP_ERROR_FILE_LOAD, "the report '%s' cannot be read: %s", path, where.text);
  free(text);
  return error;
}

static void compare(diff *d)
{
  json_t *numbers = json_object();
  pop_name_table categories = {0};
  take_totals(d);
  for (int side = 0; side < 2; side++) {
    take_categories(d, &categories, side);
    take_names(d, numbers, side);
  }
  json_decref(numbers);
  pop_name_table_free(&categories);
  complete_names(d);
  const rows *all[] = {&d->totals, &d->names};
  for (size_t l = 0; l < 2; l++)
    for (size_t i = 0; i < all[l]->count; i++)
      d->grown = d->grown || has_grown(d, &all[l]->list[i]);
}

pop_error *report_diff(const char *before, const char *after, const report_diff_options *options,
                       FILE *stream, bool *grown)
{
  const char *const paths[2] = {before, after};
  diff d = {.options = options, .arena = pop_arena_new()};
  pop_error *error = read_report(before, &d.reports[0]);
  if (!error) error = read_report(after, &d.reports[1]);
  if (!error) error = check_comparable(&d, paths);
  if (!error) compare(&d);
  if (!error) error = check_figures(&d, paths);
  if (!error) {
    if (options->format != REPORT_DIFF_TEXT)
      print_json(&d, stream);
    else
      print_text(&d, stream);
    *grown = d.grown;
    if (ferror(stream)) error = pop_error_errno(errno, "cannot print the difference");
  }
  for (int side = 0; side < 2; side++) json_decref(d.reports[side]);
  free(d.totals.list);
  free(d.categories.list);
  free(d.names.list);
  pop_arena_free(d.arena);
  return error;
}
