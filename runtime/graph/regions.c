/* Where the elements of a view are in variables. */
#include "graph/check.h"
#include "graph/describe.h"

#include <stdlib.h>

static bool check_visit(const char *call, pop_tensor t, bool is_there)
{
  if (!graph_usable(t.graph, call) || !check_tensor(t.graph, call, t)) return false;
  if (is_there) return true;
  graph_failf(t.graph, POP_ERROR_INVALID_ARGUMENT, "%s: there is no function to call", call);
  return false;
}

void pop_tensor_visit_var_regions(pop_tensor t,
                                  void (*visit)(void *context, size_t variable, size_t begin,
                                                size_t end),
                                  void *context)
{
  GRAPH_TURN(t.graph);
  view_walk walk;
  if (!check_visit("pop_tensor_visit_var_regions", t, visit)) return;
  view_walk_start(&walk, t.graph, t.index);
  for (view_run run; view_walk_next(&walk, &run);)
    visit(context, run.variable, run.begin, run.begin + run.count);
}

void pop_tensor_visit_contiguous_regions(pop_tensor t,
                                         void (*visit)(void *context, size_t begin, size_t end),
                                         void *context)
{
  GRAPH_TURN(t.graph);
  view_walk walk;
  size_t position = 0;
  if (!check_visit("pop_tensor_visit_contiguous_regions", t, visit)) return;
  view_walk_start(&walk, t.graph, t.index);
  for (view_run run; view_walk_next(&walk, &run); position += run.count)
    visit(context, position, position + run.count);
}

/* ---- sorted ---- */

/* Consecutive elements of a variable at consecutive positions of the view. */
typedef struct placed_run {
  uint32_t variable;
  uint64_t begin, count; /* elements */
  uint64_t position;     /* of the first one */
} placed_run;

typedef struct run_list {
  placed_run *items;
  size_t count, capacity;
} run_list;

static int compare_runs(const void *left, const void *right)
{
  const placed_run *a = left, *b = right;
  if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->position > b->position) - (a->position < b->position);
}

static int compare_intervals(const void *left, const void *right)
{
  const pop_interval *a = left, *b = right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

/* The runs of the view within the regions, which are sorted by begin. */
static run_list collect_runs(pop_tensor t, const pop_interval *regions, size_t num_regions)
{
  run_list runs = {0};
  uint64_t position = 0;
  size_t first = 0; /* region that does not end before `position` */
  view_walk walk;
  view_walk_start(&walk, t.graph, t.index);
  for (view_run run;; position += run.count) {
    while (first < num_regions && regions[first].end <= position) first++;
    if (first == num_regions) break;
    if (regions[first].begin > position)
      position += view_walk_skip(&walk, regions[first].begin - position);
    if (!view_walk_next(&walk, &run)) break;
    uint64_t end = position + run.count;
    for (size_t i = first; i < num_regions && regions[i].begin < end; i++) {
      uint64_t from = regions[i].begin > position ? regions[i].begin : position;
      uint64_t to = regions[i].end < end ? regions[i].end : end;
      if (from < to)
        pop_push(runs.items, runs.count, runs.capacity,
                 (placed_run){run.variable, run.begin + (from - position), to - from, from});
    }
  }
  if (runs.count) qsort(runs.items, runs.count, sizeof *runs.items, compare_runs);
  return runs;
}

/* Removes from the sorted runs the elements that an earlier run has. */
static void drop_aliases(run_list *runs)
{
  size_t kept = 0;
  for (size_t i = 0; i < runs->count; i++) {
    placed_run run = runs->items[i];
    const placed_run *last = kept ? &runs->items[kept - 1] : NULL;
    uint64_t end = last && last->variable == run.variable ? last->begin + last->count : 0;
    uint64_t common = run.begin < end ? end - run.begin : 0;
    if (common >= run.count) continue;
    run.begin += common;
    run.position += common;
    run.count -= common;
    runs->items[kept++] = run;
  }
  runs->count = kept;
}

static void show_lists(const run_list *runs,
                       void (*visit)(void *context, const pop_interval *list, size_t count),
                       void *context)
{
  pop_interval *list = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < runs->count; i++) {
    const placed_run *run = &runs->items[i], *before = i ? run - 1 : NULL;
    bool goes_on =
        before && before->variable == run->variable && before->begin + before->count == run->begin;
    if (!goes_on && count) {
      visit(context, list, count);
      count = 0;
    }
    if (count && list[count - 1].end == run->position)
      list[count - 1].end += run->count;
    else
      pop_push(list, count, capacity, (pop_interval){run->position, run->position + run->count});
  }
  if (count) visit(context, list, count);
  free(list);
}

static bool check_regions(const char *call, pop_tensor t, const pop_interval *regions, size_t count)
{
  const tensor *of = &t.graph->tensors[t.index];
  for (size_t i = 0; regions && i < count; i++) {
    if (regions[i].begin <= regions[i].end && regions[i].end <= of->num_elements) continue;
    graph_failf(t.graph, POP_ERROR_INDEX,
                "%s: region [%zu, %zu) of the %s; begin <= end <= %llu is needed", call,
                regions[i].begin, regions[i].end, say_tensor(t.graph, of),
                (unsigned long long)of->num_elements);
    return false;
  }
  return true;
}

/* The sorted runs within the regions; NULL: all. */
static run_list collect_sorted_runs(pop_tensor t, const pop_interval *regions, size_t num_regions)
{
  size_t count = regions ? num_regions : 1;
  pop_interval *sorted = pop_xcalloc(count + 1, sizeof *sorted);
  sorted[0] = (pop_interval){0, t.graph->tensors[t.index].num_elements};
  for (size_t i = 0; regions && i < count; i++) sorted[i] = regions[i];
  if (count) qsort(sorted, count, sizeof *sorted, compare_intervals);
  run_list runs = collect_runs(t, sorted, count);
  free(sorted);
  return runs;
}

void pop_tensor_visit_sorted_contiguous_regions(
    pop_tensor t, const pop_interval *regions, size_t num_regions, bool remove_aliases,
    void (*visit)(void *context, const pop_interval *list, size_t count), void *context)
{
  GRAPH_TURN(t.graph);
  static const char call[] = "pop_tensor_visit_sorted_contiguous_regions";
  if (!check_visit(call, t, visit) || !check_regions(call, t, regions, num_regions)) return;
  run_list runs = collect_sorted_runs(t, regions, num_regions);
  if (remove_aliases) drop_aliases(&runs);
  show_lists(&runs, visit, context);
  free(runs.items);
}

/* ---- sorted, with aliases ---- */

/* The begin or end of a run in its variable. */
typedef struct border {
  uint32_t variable;
  uint64_t element;
} border;

typedef struct border_list {
  border *items;
  size_t count;
} border_list;

static int compare_borders(const void *left, const void *right)
{
  const border *a = left, *b = right;
  if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
  return (a->element > b->element) - (a->element < b->element);
}

static border_list find_borders(const run_list *runs)
{
  border_list borders = {.items = pop_xcalloc(2 * runs->count + 1, sizeof *borders.items)};
  for (size_t i = 0; i < runs->count; i++) {
    const placed_run *run = &runs->items[i];
    borders.items[borders.count++] = (border){run->variable, run->begin};
    borders.items[borders.count++] = (border){run->variable, run->begin + run->count};
  }
  qsort(borders.items, borders.count, sizeof *borders.items, compare_borders);
  return borders;
}

/* The first border after the element. */
static size_t border_behind(const border_list *borders, uint32_t variable, uint64_t element)
{
  const border wanted = {variable, element};
  size_t low = 0, high = borders->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_borders(&borders->items[middle], &wanted) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Cuts runs where others begin or end, so that two runs that share an element are equal. */
static run_list cut_at_borders(const run_list *runs)
{
  run_list cut = {0};
  border_list borders = find_borders(runs);
  for (size_t i = 0; i < runs->count; i++) {
    placed_run rest = runs->items[i];
    size_t next = border_behind(&borders, rest.variable, rest.begin);
    while (rest.count > 0) {
      while (borders.items[next].element <= rest.begin) next++;
      uint64_t count = borders.items[next].element - rest.begin;
      pop_push(cut.items, cut.count, cut.capacity,
               (placed_run){rest.variable, rest.begin, count, rest.position});
      rest.begin += count;
      rest.position += count;
      rest.count -= count;
    }
  }
  free(borders.items);
  if (cut.count) qsort(cut.items, cut.count, sizeof *cut.items, compare_runs);
  return cut;
}

void pop_tensor_visit_sorted_regions_with_aliases(
    pop_tensor t, const pop_interval *regions, size_t num_regions,
    void (*visit)(void *context, const pop_interval *list, const size_t *originals, size_t count),
    void *context)
{
  GRAPH_TURN(t.graph);
  static const char call[] = "pop_tensor_visit_sorted_regions_with_aliases";
  if (!check_visit(call, t, visit) || !check_regions(call, t, regions, num_regions)) return;
  run_list whole = collect_sorted_runs(t, regions, num_regions);
  run_list runs = cut_at_borders(&whole);
  pop_interval *list = pop_xcalloc(runs.count + 1, sizeof *list);
  size_t *originals = pop_xcalloc(runs.count + 1, sizeof *originals), count = 0;
  uint64_t original = 0;
  for (size_t i = 0; i < runs.count; i++) {
    const placed_run *run = &runs.items[i], *before = i ? run - 1 : NULL;
    bool again = before && before->variable == run->variable && before->begin == run->begin;
    bool goes_on = again || (before && before->variable == run->variable &&
                             before->begin + before->count == run->begin);
    if (!again) original = run->position;
    if (!goes_on && count) {
      visit(context, list, originals, count);
      count = 0;
    }
    list[count] = (pop_interval){run->position, run->position + run->count};
    originals[count++] = original;
  }
  if (count) visit(context, list, originals, count);
  free(originals);
  free(list);
  free(runs.items);
  free(whole.items);
}
