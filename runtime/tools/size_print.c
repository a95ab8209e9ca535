/* Rows as text with bars, as CSV, as JSON; and the differences between the rows of two archives. */
#include "size_report.h"
#include "values.h"

#include <inttypes.h>
#include <populus/names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { NAME_WIDTH = 28, BAR_WIDTH = 30, BAR_COLUMN = 74, HISTOGRAM_ROWS = 8 };

static const struct {
  const char *csv, *json, *title, *counts;
} kinds[] = {
#define SIZE_KIND(id, csv, json, title, counts) {csv, json, title, counts},
    SIZE_KINDS(SIZE_KIND)
#undef SIZE_KIND
};

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
  return (a > b) - (a < b);
}

/* By kind, then by what is largest first. */
static int compare_by_bytes(const void *left, const void *right)
{
  const size_row *a = left, *b = right;
  if (a->kind != b->kind) return compare_numbers(a->kind, b->kind);
  if (a->kind == SIZE_TOTAL || a->kind == SIZE_PLACE) return compare_numbers(a->order, b->order);
  if (a->bytes != b->bytes) return compare_numbers(b->bytes, a->bytes);
  return compare_numbers(a->order, b->order);
}

static int compare_by_count(const void *left, const void *right)
{
  const size_row *a = left, *b = right;
  if (a->kind == b->kind && a->kind != SIZE_TOTAL && a->kind != SIZE_PLACE && a->count != b->count)
    return compare_numbers(b->count, a->count);
  return compare_by_bytes(left, right);
}

static int compare_by_name(const void *left, const void *right)
{
  const size_row *a = left, *b = right;
  int names = strcmp(a->name, b->name);
  if (a->kind == SIZE_TILE && b->kind == SIZE_TILE) return compare_numbers(a->order, b->order);
  if (a->kind == b->kind && a->kind != SIZE_TOTAL && a->kind != SIZE_PLACE && names) return names;
  return compare_by_bytes(left, right);
}

static void sort(size_report *r, size_sort by)
{
  static int (*const compare[])(const void *, const void *) = {[SIZE_BY_BYTES] = compare_by_bytes,
                                                               [SIZE_BY_NAME] = compare_by_name,
                                                               [SIZE_BY_COUNT] = compare_by_count};
  if (r->num_rows) qsort(r->rows, r->num_rows, sizeof *r->rows, compare[by]);
}

/* ---- text ---- */

/* The width that is left beside the rows on a narrow terminal, so that they do not wrap. COLUMNS
 * gives it if there is no terminal. */
static int bar_width(void)
{
  struct winsize size;
  const char *said = getenv("COLUMNS");
  long columns = said ? strtol(said, NULL, 10) : 0;
  if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col) columns = size.ws_col;
  if (columns <= 0 || columns >= BAR_COLUMN + BAR_WIDTH) return BAR_WIDTH;
  return columns > BAR_COLUMN ? (int)columns - BAR_COLUMN : 0;
}

/* Returns its width. */
static int print_bar(uint64_t part, uint64_t whole)
{
  int width = whole ? (int)(((double)part / (double)whole) * bar_width() + 0.5) : 0;
  for (int i = 0; i < width; ++i) putchar('#');
  return width;
}

static void print_note(const size_row *row, const char *separator)
{
  if (row->note) fputs(separator, stdout);
  if (row->note) pop_write_name(row->note, stdout);
  putchar('\n');
}

static void print_text_row(const size_row *row, uint64_t whole)
{
  double share = whole ? 100.0 * (double)row->bytes / (double)whole : 0;
  if (row->kind == SIZE_PLACE) {
    printf("  0x%05" PRIx64 " %10" PRIu64 "  ", row->order, row->bytes);
    pop_write_name(row->name, stdout);
    print_note(row, "  ");
    return;
  }
  printf("  %14" PRIu64 " %5.1f%% %8" PRIu64 " %10" PRIu64 "  ", row->bytes, share, row->count,
         row->most);
  pop_write_name_in_column(row->name, NAME_WIDTH, stdout);
  putchar(' ');
  int width = print_bar(row->bytes, whole);
  print_note(row, width ? " " : "");
}

/* The number of tiles by the number of their bytes. */
static void print_histogram(const size_row *rows, size_t count)
{
  uint64_t least = UINT64_MAX, most = 0, tiles[HISTOGRAM_ROWS] = {0}, highest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (rows[i].bytes < least) least = rows[i].bytes;
    if (rows[i].bytes > most) most = rows[i].bytes;
  }
  uint64_t step = (most - least) / HISTOGRAM_ROWS + 1;
  for (size_t i = 0; i < count; ++i) ++tiles[(rows[i].bytes - least) / step];
  for (int i = 0; i < HISTOGRAM_ROWS; ++i) highest = tiles[i] > highest ? tiles[i] : highest;
  printf("\nTiles by size:\n");
  for (int i = 0; i < HISTOGRAM_ROWS; ++i) {
    uint64_t from = least + (uint64_t)i * step;
    if (from > most) break;
    printf("  %8" PRIu64 " - %8" PRIu64 "  %8" PRIu64 "  ", from, from + step - 1, tiles[i]);
    print_bar(tiles[i], highest);
    putchar('\n');
  }
}

/* How many of the rows are shown. */
static size_t shown_of(size_kind kind, size_t count, size_t most_rows)
{
  bool limited = kind != SIZE_TOTAL && kind != SIZE_REGION && kind != SIZE_CATEGORY &&
                 kind != SIZE_PLACE && most_rows;
  return limited && most_rows < count ? most_rows : count;
}

static void print_hidden(size_t count)
{
  if (count) printf("  … and %zu more: --top 0 shows all\n", count);
}

static void print_text_kind(const size_row *rows, size_t count, uint64_t whole, size_t most_rows)
{
  size_kind kind = rows->kind;
  size_t shown = shown_of(kind, count, most_rows);
  if (kind == SIZE_TILE && count > 1) print_histogram(rows, count);
  printf("\n%s:\n", kinds[kind].title);
  if (kind == SIZE_PLACE)
    printf("  address      bytes\n");
  else
    printf("  %14s %6s %8s %10s\n", "bytes", "", kinds[kind].counts, "most");
  for (size_t i = 0; i < shown; ++i) print_text_row(&rows[i], whole);
  print_hidden(count - shown);
}

static size_t count_kind(const size_report *r, size_t first)
{
  size_t end = first;
  while (end < r->num_rows && r->rows[end].kind == r->rows[first].kind) ++end;
  return end - first;
}

static uint64_t whole_of(const size_report *r)
{
  for (size_t i = 0; i < r->num_rows; ++i)
    if (r->rows[i].kind == SIZE_TOTAL) return r->rows[i].bytes; /* including gaps: the first */
  return 0;
}

static void print_text(const size_report *r, size_t most_rows)
{
  pop_write_name(r->archive, stdout);
  printf(": %" PRIu64 " tile%s of %s\n", r->num_tiles, r->num_tiles == 1 ? "" : "s", r->target);
  if (!r->has_metadata)
    printf(
        "no metadata that this version reads: categories are those of symbols, what has none is a "
        "gap\n");
  if (!r->has_symbols) printf("no symbols: neither variables, vertices nor code are known\n");
  for (size_t i = 0, count; i < r->num_rows; i += count) {
    count = count_kind(r, i);
    print_text_kind(&r->rows[i], count, whole_of(r), most_rows);
  }
}

/* ---- CSV, JSON ---- */

/* Rows may be looked at, too: control characters in names are escaped. */
static void print_csv_text(const char *text)
{
  bool quoted = strpbrk(text, ",\"\n\r");
  if (quoted) putchar('"');
  for (size_t length; *text; text += length) {
    length = strcspn(text + 1, "\"") + 1; /* up to the next quote */
    if (*text == '"') putchar('"');
    pop_write_printable(text, length, stdout);
  }
  if (quoted) putchar('"');
}

static void print_csv(const size_report *r)
{
  puts("kind,name,bytes,count,most,note");
  for (size_t i = 0; i < r->num_rows; ++i) {
    const size_row *row = &r->rows[i];
    printf("%s,", kinds[row->kind].csv);
    print_csv_text(row->name);
    printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->bytes, row->count, row->most);
    if (row->note) print_csv_text(row->note);
    putchar('\n');
  }
}

static void put_row(values *v, const size_row *row)
{
  values_begin_map(v, NULL);
  values_put_text(v, "name", row->name);
  if (row->kind == SIZE_PLACE) values_put_count(v, "address", row->order);
  values_put_count(v, "bytes", row->bytes);
  if (row->kind != SIZE_PLACE) {
    values_put_count(v, kinds[row->kind].counts, row->count);
    values_put_count(v, "most", row->most);
  }
  if (row->note) values_put_text(v, "note", row->note);
  values_end(v);
}

static void put_archive(values *v, const char *key, const size_report *r)
{
  values_begin_map(v, key);
  values_put_text(v, "archive", r->archive);
  values_put_text(v, "target", r->target);
  values_put_count(v, "numTiles", r->num_tiles);
}

static pop_error *print_json(const size_report *r, bool pretty)
{
  values v = {0};
  put_archive(&v, NULL, r);
  values_put_bool(&v, "metadata", r->has_metadata);
  for (size_t i = 0, count; i < r->num_rows; i += count) {
    count = count_kind(r, i);
    values_begin_list(&v, kinds[r->rows[i].kind].json);
    for (size_t j = i; j < i + count; ++j) put_row(&v, &r->rows[j]);
    values_end(&v);
  }
  values_end(&v);
  return values_print(&v, pretty);
}

pop_error *size_print(size_report *r, const size_style *style)
{
  sort(r, style->sort);
  if (style->format == SIZE_JSON) return print_json(r, style->pretty);
  if (style->format == SIZE_CSV)
    print_csv(r);
  else
    print_text(r, style->most_rows);
  return NULL;
}

/* ---- differences ---- */

typedef struct change {
  const size_row *row; /* of either */
  uint64_t before, after;
  bool is_new, is_gone;
} change;

static char *key_of(const size_row *row)
{
  return pop_xasprintf("%d %s %s", (int)row->kind, row->note ? row->note : "", row->name);
}

static uint64_t distance(const change *c)
{
  return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static int compare_changes(const void *left, const void *right)
{
  const change *a = left, *b = right;
  if (a->row->kind != b->row->kind) return compare_numbers(a->row->kind, b->row->kind);
  if (a->row->kind == SIZE_TOTAL) return compare_numbers(a->row->order, b->row->order);
  if (distance(a) != distance(b)) return compare_numbers(distance(b), distance(a));
  return strcmp(a->row->name, b->row->name);
}

static change *find_changes(const size_report *before, const size_report *after, pop_arena *arena,
                            size_t *count)
{
  pop_name_table names = {0};
  change *changes = pop_xcalloc(before->num_rows + after->num_rows + 1, sizeof *changes);
  *count = 0;
  for (size_t i = 0; i < before->num_rows; ++i) {
    char *key = key_of(&before->rows[i]);
    pop_name_table_add(&names, pop_arena_strdup(arena, key), (uint32_t)*count);
    free(key);
    changes[(*count)++] = (change){&before->rows[i], before->rows[i].bytes, 0, false, true};
  }
  for (size_t i = 0; i < after->num_rows; ++i) {
    char *key = key_of(&after->rows[i]);
    uint32_t found = pop_name_table_find(&names, key);
    free(key);
    if (found == POP_NAME_NONE) {
      changes[(*count)++] = (change){&after->rows[i], 0, after->rows[i].bytes, true, false};
    } else {
      changes[found].after = after->rows[i].bytes;
      changes[found].is_gone = false;
    }
  }
  pop_name_table_free(&names);
  return changes;
}

/* Places are not shown, as they move. What they hold is in the other rows. */
static bool is_shown(const change *c)
{
  return c->row->kind != SIZE_PLACE && (c->row->kind == SIZE_TOTAL || c->before != c->after);
}

static void print_change(const change *c, const size_style *style)
{
  const char *sign = c->after < c->before ? "-" : "+";
  if (style->format == SIZE_CSV) {
    printf("%s,", kinds[c->row->kind].csv);
    print_csv_text(c->row->name);
    printf(",%" PRIu64 ",%" PRIu64 ",%s%" PRIu64 "\n", c->before, c->after,
           c->after < c->before ? "-" : "", distance(c));
    return;
  }
  double percent = c->before ? 100.0 * (double)distance(c) / (double)c->before : 0;
  if (c->after < c->before) percent = -percent;
  printf("  %14" PRIu64 " %14" PRIu64 "   %s%-12" PRIu64, c->before, c->after, sign, distance(c));
  if (c->is_gone || (!c->before && c->after)) /* nothing has no percentage */
    printf(" %9s", c->is_gone ? "gone" : "new");
  else
    printf(" %+8.2f%%", percent);
  fputs("  ", stdout);
  pop_write_name(c->row->name, stdout);
  putchar('\n');
}

/* Only those that are shown are kept. */
static size_t drop_hidden(change *changes, size_t count)
{
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i)
    if (is_shown(&changes[i])) changes[kept++] = changes[i];
  return kept;
}

static void print_changes(const change *changes, size_t count, const size_style *style)
{
  for (size_t i = 0, end; i < count; i = end) {
    size_kind kind = changes[i].row->kind;
    for (end = i + 1; end < count && changes[end].row->kind == kind;) ++end;
    size_t shown = end - i;
    if (style->format == SIZE_TEXT) {
      shown = shown_of(kind, end - i, style->most_rows);
      printf("\n%s:\n  %14s %14s   difference\n", kinds[kind].title, "before", "after");
    }
    for (size_t j = i; j < i + shown; ++j) print_change(&changes[j], style);
    print_hidden(end - i - shown);
  }
}

static pop_error *print_json_changes(const size_report *before, const size_report *after,
                                     const change *changes, size_t count, bool pretty)
{
  values v = {0};
  values_begin_map(&v, NULL);
  put_archive(&v, "before", before);
  values_end(&v);
  put_archive(&v, "after", after);
  values_end(&v);
  values_begin_list(&v, "changes");
  for (size_t i = 0; i < count; ++i) {
    values_begin_map(&v, NULL);
    values_put_text(&v, "kind", kinds[changes[i].row->kind].csv);
    values_put_text(&v, "name", changes[i].row->name);
    values_put_count(&v, "before", changes[i].before);
    values_put_count(&v, "after", changes[i].after);
    values_end(&v);
  }
  values_end(&v);
  values_end(&v);
  return values_print(&v, pretty);
}

static void print_titles(const size_report *before, const size_report *after)
{
  pop_write_name(before->archive, stdout);
  fputs(" -> ", stdout);
  pop_write_name(after->archive, stdout);
  putchar('\n');
  if (before->num_tiles != after->num_tiles || strcmp(before->target, after->target) != 0)
    printf("%" PRIu64 " tile%s of %s -> %" PRIu64 " tile%s of %s\n", before->num_tiles,
           before->num_tiles == 1 ? "" : "s", before->target, after->num_tiles,
           after->num_tiles == 1 ? "" : "s", after->target);
}

pop_error *size_print_difference(size_report *before, size_report *after, const size_style *style)
{
  pop_arena *arena = pop_arena_new();
  pop_error *error = NULL;
  size_t count;
  change *changes = find_changes(before, after, arena, &count);
  count = drop_hidden(changes, count);
  if (count) qsort(changes, count, sizeof *changes, compare_changes);
  if (style->format == SIZE_TEXT) print_titles(before, after);
  if (style->format == SIZE_CSV) puts("kind,name,before,after,difference");
  if (style->format == SIZE_JSON)
    error = print_json_changes(before, after, changes, count, style->pretty);
  else
    print_changes(changes, count, style);
  free(changes);
  pop_arena_free(arena);
  return error;
}
