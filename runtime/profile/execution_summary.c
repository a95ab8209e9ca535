#include "profile/execution_summary.h"

#include "profile/grouped.h"
#include "profile/simulation.h"
#include <stdlib.h>
#include <string.h>

typedef struct type_cost {
  uint32_t type;
  uint64_t instances, cycles;
} type_cost;

typedef struct summary {
  FILE *stream;
  const execution *x;
  bool steps;         /* are printed */
  type_cost *by_type; /* of all steps, by vertex type */
  type_cost *of_step; /* of the current one */
} summary;

/* ---- vertex types ---- */

/* Adds the cycles of the vertices of a compute set's last execution. */
static void add_vertices(const execution *x, uint32_t set, type_cost *costs, bool instances)
{
  const pop_executable *e = x->executable;
  for (size_t w = 0; w < e->compute_sets[set].num_works; w++) {
    size_t work = e->compute_sets[set].first_work + w;
    const executable_row *row = &e->vertex_rows[e->works[work].row];
    for (uint32_t v = 0; v < row->count; v++) {
      type_cost *cost = &costs[e->vertices[row->first + v].type];
      cost->cycles += execution_cycles_of_vertex(x, work, v);
      cost->instances += instances;
    }
  }
}

static int compare_costs(const void *a, const void *b)
{
  const type_cost *x = a, *y = b;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
  return x->type < y->type ? -1 : 1;
}

/* The most expensive first; types that were not executed are left out. */
static void print_types(const summary *s, const type_cost *costs, int indent)
{
  const pop_executable *e = s->x->executable;
  size_t count = 0, longest = 0;
  type_cost *sorted = pop_xcalloc(e->num_vertex_types + 1, sizeof *sorted);
  for (uint32_t t = 0; t < e->num_vertex_types; t++) {
    if (costs[t].cycles == 0) continue;
    sorted[count++] = (type_cost){t, costs[t].instances, costs[t].cycles};
    if (strlen(e->vertex_types[t]) > longest) longest = strlen(e->vertex_types[t]);
  }
  qsort(sorted, count, sizeof *sorted, compare_costs);
  for (size_t i = 0; i < count; i++) {
    char cycles[32], instances[48];
    snprintf(instances, sizeof instances,
             "(%llu instances):", (unsigned long long)sorted[i].instances);
    fprintf(s->stream, "%*s%-*s %24s %12s\n", indent, "", (int)longest,
            e->vertex_types[sorted[i].type], instances, grouped(sorted[i].cycles, cycles));
  }
  free(sorted);
}

/* Vertices are measured, or are said to take so much. */
static bool knows_vertices(const pop_executable *e)
{
  return e->instrumentation.compute == INSTRUMENT_VERTICES || execution_is_on_model(e);
}

/* On a model: those of which nothing is said, which took what their code took. */
static void print_types_without_estimate(const summary *s)
{
  const pop_executable *e = s->x->executable;
  if (!execution_is_on_model(e) || e->instrumentation.compute == INSTRUMENT_VERTICES) return;
  bool *has_none = pop_xcalloc(e->num_vertex_types + 1, sizeof *has_none);
  bool is_first = true;
  for (size_t i = 0; i < e->num_vertices; i++)
    if (!e->vertices[i].cycles) has_none[e->vertices[i].type] = true;
  for (size_t t = 0; t < e->num_vertex_types; t++) {
    if (!has_none[t]) continue;
    if (is_first) fputs("\n  Without an estimate, as their code was measured:\n", s->stream);
    is_first = false;
    fprintf(s->stream, "    %s\n", e->vertex_types[t]);
  }
  free(has_none);
}

/* ---- steps ---- */

static void print_percent(const summary *s, const char *label, double share)
{
  fprintf(s->stream, "    %-36s%.1f%%\n", label, 100 * share);
}

static void print_active_tiles(const summary *s, const simulated_step *step)
{
  char active[32], all[32];
  fprintf(s->stream, "    %-36s%s / %s\n", "Active Tiles:", grouped(step->num_costs, active),
          grouped(pop_target_num_tiles(&s->x->executable->target), all));
}

static void print_cycles(const summary *s, const simulated_step *step)
{
  char cycles[32], overlapped[32];
  bool overlaps = step->kind == EXECUTABLE_STEP_EXECUTE || step->kind == EXECUTABLE_STEP_EXCHANGE;
  fprintf(s->stream, "    %-36s%s", "Cycles:", grouped(step->cycles, cycles));
  if (overlaps)
    fprintf(s->stream, " (%s overlapped with previous)", grouped(step->overlapped, overlapped));
  fputs("\n", s->stream);
}

static void print_step(const summary *s, const simulated_step *step)
{
  char from[32], to[32], data[32];
  if (step->phase == PHASE_END) return; /* the guide's sample has a sync, then the copy */
  if (step->kind == EXECUTABLE_STEP_SYNC) {
    fprintf(s->stream, "  --- %s Sync ---\n",
            step->index == ISA_SYNC_INTERNAL ? "Internal" : "External");
    return;
  }
  fprintf(s->stream, "  %s (cycles %s - %s)%s%s\n", executable_step_tag(step->kind),
          grouped(step->from, from), grouped(step->to, to), *step->name ? ": " : "", step->name);
  print_cycles(s, step);
  print_active_tiles(s, step);
  if (step->knows_threads) print_percent(s, "Thread Balance:", step->thread_balance);
  print_percent(s, "Tile Balance:", step->tile_balance);
  print_percent(s, "Active Tile Balance:", step->active_tile_balance);
  if (step->kind != EXECUTABLE_STEP_EXECUTE) {
    fprintf(s->stream, "    %-36s%s\n", "Total Data:", grouped(step->total_data, data));
    fprintf(s->stream, "    Data Balance (mean / max data per tile): %.1f%%\n",
            100 * step->data_balance);
  } else if (knows_vertices(s->x->executable)) {
    fputs("    By vertex type:\n", s->stream);
    print_types(s, s->of_step, 6);
  }
}

static void take_step(void *context, const simulated_step *step)
{
  summary *s = context;
  size_t num_types = s->x->executable->num_vertex_types;
  if (step->kind == EXECUTABLE_STEP_EXECUTE) {
    memset(s->of_step, 0, num_types * sizeof *s->of_step);
    add_vertices(s->x, step->index, s->of_step, true);
    for (size_t t = 0; t < num_types; t++) s->by_type[t].cycles += s->of_step[t].cycles;
  }
  if (s->steps) print_step(s, step);
}

/* ---- the whole ---- */

static void print_total(FILE *stream, const char *label, uint64_t cycles)
{
  char number[32];
  fprintf(stream, "  %-47s%s\n", label, grouped(cycles, number));
}

static void print_totals(const summary *s, const simulation_totals *t)
{
  const pop_target *target = &s->x->executable->target;
  char cycles[32];
  double tile_cycles = (double)t->cycles * pop_target_num_tiles(target);
  fprintf(s->stream, "  %-47s%s (approx %.1f microseconds)\n",
          "Total cycles:", grouped(t->cycles, cycles), (double)t->cycles / target->clock_hz * 1e6);
  print_total(s->stream, "Total compute cycles (including idle threads):", t->compute);
  if (t->knows_threads)
    print_total(s->stream, "Total compute cycles (excluding idle threads):",
                (uint64_t)(t->active_compute + 0.5));
  print_total(s->stream, "Total IPU exchange cycles:", t->do_exchange);
  print_total(s->stream, "Total global exchange cycles:", t->global_exchange);
  print_total(s->stream, "Total host exchange cycles:", t->stream_copy);
  print_total(s->stream, "Total shared structure copy cycles:", 0); /* there are none */
  print_total(s->stream, "Total sync cycles:", t->sync);
  fprintf(s->stream, "  %-47s%.1f%%\n",
          "Total tile balance:", tile_cycles > 0 ? 100 * (double)t->compute / tile_cycles : 0);
  if (t->knows_threads)
    fprintf(s->stream, "  %-47s%.1f%%\n",
            "Total thread balance:", t->compute ? 100 * t->active_compute / (double)t->compute : 0);
}

/* Steps are gone through twice: totals come first. */
void print_execution_summary(FILE *stream, const execution *x, bool steps)
{
  const pop_executable *e = x->executable;
  simulation_totals totals;
  summary s = {.stream = stream,
               .x = x,
               .by_type = pop_xcalloc(e->num_vertex_types + 1, sizeof *s.by_type),
               .of_step = pop_xcalloc(e->num_vertex_types + 1, sizeof *s.of_step)};
  simulation_visitor visitor = {.step = take_step, .context = &s};
  simulate(x, &visitor, &totals);
  fputs("Execution:\n\n", stream);
  print_totals(&s, &totals);
  if (!execution_is_whole(x))
    fputs("\n  Not all that was executed is known: see debug.instrumentControlFlow.\n", stream);
  if (knows_vertices(e)) {
    type_cost *all = pop_xcalloc(e->num_vertex_types + 1, sizeof *all);
    for (uint32_t i = 0; i < e->num_compute_sets; i++) add_vertices(x, i, all, true);
    for (size_t t = 0; t < e->num_vertex_types; t++) all[t].cycles = s.by_type[t].cycles;
    fputs("\n  Cycles by vertex type:\n", stream);
    print_types(&s, all, 4);
    free(all);
    print_types_without_estimate(&s);
  }
  if (steps) {
    fputs("\nSteps\n", stream);
    s.steps = true;
    simulate(x, &visitor, &totals);
  }
  free(s.by_type);
  free(s.of_step);
}
