#include "profile/execution_summary.h"

#include "base/c_locale.h"
#include "base/object.h"
#include "profile/graph_summary.h"
#include "profile/grouped.h"
#include "profile/simulation.h"
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

/* Prints an execution or, if there is none, the values of both profiles. */
typedef struct summary {
  FILE *stream;
  const execution *x; /* NULL: from values */
  pop_profile_value graph, profile;
  double clock_hz;
  uint32_t num_tiles;
  size_t num_types;
  bool knows_vertices; /* cycles of single vertices are measured or estimated */
  bool steps;          /* are printed */
  type_cost *by_type;  /* sums over all steps, by vertex type; instances: those executed at all */
  type_cost *of_step;  /* of the current one */
  bool *executed;      /* by compute set */
} summary;

static const char *type_name(const summary *s, size_t type)
{
  if (s->x) return s->x->executable->vertex_types[type];
  pop_profile_value names = pop_profile_find(s->graph, "vertexTypes.names");
  const char *name = pop_profile_as_string(pop_profile_at(names, type));
  return name ? name : "?";
}

/* ---- vertex types ---- */

void add_vertex_costs(const execution *x, uint32_t set, type_cost *costs)
{
  const pop_executable *e = x->executable;
  for (size_t w = 0; w < e->compute_sets[set].num_works; w++) {
    size_t work = e->compute_sets[set].first_work + w;
    const executable_row *row = &e->vertex_rows[e->works[work].row];
    for (uint32_t v = 0; v < row->count; v++) {
      type_cost *cost = &costs[e->vertices[row->first + v].type];
      cost->cycles += execution_cycles_of_vertex(x, work, v);
      cost->instances++;
    }
  }
}

static size_t number_at(pop_profile_value list, size_t i)
{
  return (size_t)pop_profile_as_int(pop_profile_at(list, i));
}

/* Adds the vertices of a compute set's last execution. */
static void add_vertices(const summary *s, uint32_t set, type_cost *costs)
{
  if (s->x) {
    add_vertex_costs(s->x, set, costs);
    return;
  }
  pop_profile_value sets = pop_profile_find(s->profile, "simulation.costs.vertexTypes");
  pop_profile_value cost = pop_profile_at(sets, set), types = pop_profile_get(cost, "types");
  for (size_t i = 0; i < pop_profile_count(types); i++) {
    size_t type = number_at(types, i);
    if (type >= s->num_types) continue;
    costs[type].instances += number_at(pop_profile_get(cost, "instances"), i);
    costs[type].cycles += number_at(pop_profile_get(cost, "cycles"), i);
  }
}

static size_t num_compute_sets(const summary *s)
{
  return s->x ? s->x->executable->num_compute_sets
              : pop_profile_count(pop_profile_find(s->profile, "simulation.costs.vertexTypes"));
}

static int compare_costs(const void *a, const void *b)
{
  const type_cost *x = a, *y = b;
  if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
  return x->type < y->type ? -1 : 1;
}

/* Most expensive first. Types that were not executed are left out. */
static void print_types(const summary *s, const type_cost *costs, int indent)
{
  size_t count = 0, longest = 0;
  type_cost *sorted = pop_xcalloc(s->num_types + 1, sizeof *sorted);
  for (uint32_t t = 0; t < s->num_types; t++) {
    if (costs[t].cycles == 0) continue;
    sorted[count++] = (type_cost){t, costs[t].instances, costs[t].cycles};
    if (pop_write_name(type_name(s, t), NULL) > longest)
      longest = pop_write_name(type_name(s, t), NULL);
  }
  qsort(sorted, count, sizeof *sorted, compare_costs);
  for (size_t i = 0; i < count; i++) {
    char cycles[32], instances[48];
    snprintf(instances, sizeof instances,
             "(%llu instances):", (unsigned long long)sorted[i].instances);
    fprintf(s->stream, "%*s", indent, "");
    pop_write_name_in_column(type_name(s, sorted[i].type), longest, s->stream);
    fprintf(s->stream, " %24s %12s\n", instances, grouped(sorted[i].cycles, cycles));
  }
  free(sorted);
}

bool *find_types_without_estimate(const execution *x)
{
  const pop_executable *e = x->executable;
  bool *has_none = pop_xcalloc(e->num_vertex_types + 1, sizeof *has_none);
  if (!execution_is_on_model(e)) return has_none;
  for (size_t i = 0; i < e->num_vertices; i++)
    if (!e->vertices[i].cycles) has_none[e->vertices[i].type] = true;
  return has_none;
}

/* The types that a list in a profile names. */
static bool *types_of_list(const summary *s, const char *key)
{
  bool *named = pop_xcalloc(s->num_types + 1, sizeof *named);
  pop_profile_value types = pop_profile_get(s->profile, key);
  for (size_t i = 0; i < pop_profile_count(types); i++)
    if (number_at(types, i) < s->num_types) named[number_at(types, i)] = true;
  return named;
}

static bool *types_without_estimate(const summary *s)
{
  return s->x ? find_types_without_estimate(s->x) : types_of_list(s, "measuredVertexTypes");
}

/* `types` of an execution on a model, or those in the profile's list `key`. */
static bool *estimated_types(const summary *s, const char *key, const uint32_t *types, size_t count)
{
  if (!s->x) return types_of_list(s, key);
  bool *named = pop_xcalloc(s->num_types + 1, sizeof *named);
  if (!execution_is_on_model(s->x->executable)) return named;
  for (size_t i = 0; i < count; i++) named[types[i]] = true;
  return named;
}

/* Frees `named`. */
static void print_named_types(const summary *s, const char *title, bool *named)
{
  bool is_first = true;
  for (size_t t = 0; t < s->num_types; t++) {
    if (!named[t]) continue;
    if (is_first) fprintf(s->stream, "\n  %s:\n", title);
    is_first = false;
    fputs("    ", s->stream);
    pop_write_name(type_name(s, t), s->stream);
    fputc('\n', s->stream);
  }
  free(named);
}

/* On a model: the vertex types whose cycles are not the program's own estimates. */
static void print_sources_of_cycles(const summary *s)
{
  static const pop_executable nothing;
  const pop_executable *e = s->x ? s->x->executable : &nothing;
  print_named_types(
      s, "With the cycles that their library's formulae say of the chip",
      estimated_types(s, "libraryEstimateVertexTypes", e->chip_estimates, e->num_chip_estimates));
  print_named_types(
      s, "With the cycles that their library's estimators say of our code",
      estimated_types(s, "ourEstimateVertexTypes", e->our_estimates, e->num_our_estimates));
  print_named_types(s, "Without an estimate, as their code was measured",
                    types_without_estimate(s));
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
          grouped(s->num_tiles, all));
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
  char from[32], to[32], data[32], tiles[32];
  if (step->phase == PHASE_END) return; /* the guide's sample has only a sync and the copy */
  if (step->phase == PHASE_ANS) {
    fprintf(s->stream, "  --- SyncAns (cycles %s - %s): %s / %s tiles acknowledged %u syncs ---\n",
            grouped(step->from, from), grouped(step->to, to), grouped(step->num_costs, data),
            grouped(s->num_tiles, tiles), step->syncs);
    return;
  }
  if (step->kind == EXECUTABLE_STEP_SYNC) {
    fprintf(s->stream, "  --- %s Sync ---\n",
            step->index == ISA_SYNC_INTERNAL ? "Internal" : "External");
    return;
  }
  fprintf(s->stream, "  %s (cycles %s - %s)%s", executable_step_tag(step->kind),
          grouped(step->from, from), grouped(step->to, to), *step->name ? ": " : "");
  pop_write_name(step->name, s->stream);
  fputc('\n', s->stream);
  print_cycles(s, step);
  print_active_tiles(s, step);
  if (step->knows_threads) print_percent(s, "Thread Balance:", step->thread_balance);
  print_percent(s, "Tile Balance:", step->tile_balance);
  print_percent(s, "Active Tile Balance:", step->active_tile_balance);
  if (step->kind != EXECUTABLE_STEP_EXECUTE) {
    fprintf(s->stream, "    %-36s%s\n", "Total Data:", grouped(step->total_data, data));
    fprintf(s->stream, "    Data Balance (mean / max data per tile): %.1f%%\n",
            100 * step->data_balance);
  } else if (s->knows_vertices) {
    fputs("    By vertex type:\n", s->stream);
    print_types(s, s->of_step, 6);
  }
}

static void add_step(void *context, const simulated_step *step)
{
  summary *s = context;
  if (step->kind == EXECUTABLE_STEP_EXECUTE) {
    memset(s->of_step, 0, s->num_types * sizeof *s->of_step);
    add_vertices(s, step->index, s->of_step);
    bool again = step->index < num_compute_sets(s) && s->executed[step->index];
    if (step->index < num_compute_sets(s)) s->executed[step->index] = true;
    for (size_t t = 0; t < s->num_types; t++) {
      s->by_type[t].cycles += s->of_step[t].cycles;
      if (!again) s->by_type[t].instances += s->of_step[t].instances;
    }
  }
  if (s->steps) print_step(s, step);
}

/* ---- steps and totals from values ---- */

static uint64_t count_of(pop_profile_value map, const char *key)
{
  return (uint64_t)pop_profile_as_int(pop_profile_get(map, key));
}

static double share_of(pop_profile_value map, const char *key)
{
  return pop_profile_as_double(pop_profile_get(map, key));
}

/* False if there is no such type of step. */
static bool kind_of(const char *tag, executable_step_kind *kind)
{
  for (int k = 0; tag && k < EXECUTABLE_STEP_KINDS; k++)
    if (strcmp(tag, executable_step_tag((executable_step_kind)k)) == 0) {
      *kind = (executable_step_kind)k;
      return true;
    }
  return false;
}

static void take_value(summary *s, pop_profile_value value)
{
  const char *name = pop_profile_as_string(pop_profile_get(value, "name"));
  const char *sync = pop_profile_as_string(pop_profile_get(value, "syncType"));
  simulated_step step = {.name = name ? name : "",
                         .index = (uint32_t)count_of(value, "computeSet"),
                         .from = count_of(value, "cyclesFrom"),
                         .to = count_of(value, "cyclesTo"),
                         .cycles = count_of(value, "cycles"),
                         .overlapped = count_of(value, "cyclesOverlapped"),
                         .num_costs = count_of(value, "activeTiles"),
                         .total_data = count_of(value, "totalData"),
                         .tile_balance = share_of(value, "tileBalance"),
                         .active_tile_balance = share_of(value, "activeTileBalance"),
                         .data_balance = share_of(value, "dataBalance"),
                         .knows_threads = pop_profile_get(value, "threadBalance").node,
                         .thread_balance = share_of(value, "threadBalance")};
  const char *type = pop_profile_as_string(pop_profile_get(value, "type"));
  if (type && strcmp(type, "SyncAns") == 0) {
    step.kind = EXECUTABLE_STEP_SYNC;
    step.phase = PHASE_ANS;
    step.syncs = (uint32_t)count_of(value, "syncs");
  } else if (type && strcmp(type, "StreamCopyBegin") == 0) {
    step.kind = EXECUTABLE_STEP_SYNC; /* an external one */
    step.phase = PHASE_BEGIN;
  } else if (!kind_of(type, &step.kind)) {
    return;
  }
  if (step.kind == EXECUTABLE_STEP_SYNC)
    step.index = sync && strcmp(sync, "Internal") == 0 ? ISA_SYNC_INTERNAL : ISA_SYNC_EXTERNAL;
  add_step(s, &step);
}

static void visit_steps(summary *s, simulation_totals *totals)
{
  if (s->x) {
    simulate(s->x, &(simulation_visitor){.step = add_step, .context = s}, totals);
    return;
  }
  pop_profile_value simulation = pop_profile_get(s->profile, "simulation");
  pop_profile_value steps = pop_profile_get(simulation, "steps");
  pop_profile_value tiles = pop_profile_get(simulation, "tileCycles");
  *totals = (simulation_totals){.cycles = count_of(simulation, "cycles"),
                                .knows_threads = pop_profile_get(tiles, "activeCompute").node,
                                .active_compute = share_of(tiles, "activeCompute"),
                                .compute = count_of(tiles, "compute"),
                                .do_exchange = count_of(tiles, "doExchange"),
                                .global_exchange = count_of(tiles, "globalExchange"),
                                .stream_copy = count_of(tiles, "streamCopy"),
                                .sync = count_of(tiles, "sync")};
  for (size_t i = 0; i < pop_profile_count(steps); i++) take_value(s, pop_profile_at(steps, i));
}

/* ---- the whole ---- */

static void print_total(FILE *stream, const char *label, uint64_t cycles)
{
  char number[32];
  fprintf(stream, "  %-47s%s\n", label, grouped(cycles, number));
}

static void print_totals(const summary *s, const simulation_totals *t)
{
  char cycles[32];
  double tile_cycles = (double)t->cycles * s->num_tiles;
  fprintf(s->stream, "  %-47s%s (approx %.1f microseconds)\n",
          "Total cycles:", grouped(t->cycles, cycles),
          s->clock_hz > 0 ? (double)t->cycles / s->clock_hz * 1e6 : 0);
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

static void print_cycles_by_type(const summary *s)
{
  fputs("\n  Cycles by vertex type:\n", s->stream);
  print_types(s, s->by_type, 4);
  print_sources_of_cycles(s);
}

static void print_fault(const summary *s, size_t run, const char *message)
{
  if (message) fprintf(s->stream, "\n  Run %zu ended in an error: %s\n", run + 1, message);
}

static void print_faults(const summary *s)
{
  pop_profile_value runs = pop_profile_get(s->profile, "runs");
  for (size_t i = 0; s->x && i < s->x->num_runs; i++)
    print_fault(s, i, s->x->runs[i].fault.message);
  for (size_t i = 0; !s->x && i < pop_profile_count(runs); i++)
    print_fault(s, i,
                pop_profile_as_string(pop_profile_find(pop_profile_at(runs, i), "fault.message")));
}

/* Simulates twice, because totals come first. */
static void print_summary(summary *s, bool is_whole, bool steps)
{
  simulation_totals totals;
  s->by_type = pop_xcalloc(s->num_types + 1, sizeof *s->by_type);
  s->of_step = pop_xcalloc(s->num_types + 1, sizeof *s->of_step);
  s->executed = pop_xcalloc(num_compute_sets(s) + 1, sizeof *s->executed);
  visit_steps(s, &totals);
  fputs("Execution:\n\n", s->stream);
  print_totals(s, &totals);
  if (!is_whole)
    fputs("\n  Not all that was executed is known: see debug.instrumentControlFlow.\n", s->stream);
  print_faults(s);
  if (s->knows_vertices) print_cycles_by_type(s);
  if (steps) {
    fputs("\nSteps\n", s->stream);
    s->steps = true;
    visit_steps(s, &totals);
  }
  free(s->by_type);
  free(s->of_step);
  free(s->executed);
}

bool execution_knows_vertices(const pop_executable *e)
{
  return e->instrumentation.compute == INSTRUMENT_VERTICES || execution_is_on_model(e);
}

void print_execution_summary(FILE *stream, const execution *x, bool steps)
{
  C_LOCALE;
  const pop_executable *e = x->executable;
  print_summary(&(summary){.stream = stream,
                           .x = x,
                           .clock_hz = e->target.clock_hz,
                           .num_tiles = pop_target_num_tiles(&e->target),
                           .num_types = e->num_vertex_types,
                           .knows_vertices = execution_knows_vertices(e)},
                execution_is_whole(x), steps);
}

pop_error *pop_profile_print_execution_summary(pop_profile_value graph, pop_profile_value profile,
                                               const pop_option *options, size_t num_options,
                                               FILE *stream)
{
  C_LOCALE;
  POP_TRY(object_check_list(options, num_options, "options", __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  summary_style style;
  POP_TRY(summary_style_parse(options, num_options, stream, &style));
  if (!pop_profile_find(graph, "target.numTiles").node ||
      !pop_profile_as_string(pop_profile_get(profile, "profilerMode")))
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT,
                         "pop_profile_print_execution_summary: a graph profile and an execution "
                         "profile of it are needed");
  pop_profile_value replicas = pop_profile_find(graph, "target.numReplicas");
  uint64_t num_replicas = replicas.node ? (uint64_t)pop_profile_as_int(replicas) : 1;
  pop_profile_value whole = pop_profile_get(profile, "programTraceComplete");
  summary s = {.stream = stream,
               .graph = graph,
               .profile = profile,
               .clock_hz = pop_profile_as_double(pop_profile_find(graph, "target.clockFrequency")),
               .num_types = pop_profile_count(pop_profile_find(graph, "vertexTypes.names")),
               .knows_vertices =
                   pop_profile_find(profile, "simulation.costs.vertexTypes").node != NULL};
  s.num_tiles = (uint32_t)(count_of(pop_profile_get(graph, "target"), "numTiles") /
                           (num_replicas ? num_replicas : 1));
  print_summary(&s, !whole.node || pop_profile_as_bool(whole), style.execution_steps);
  return summary_end(stream);
}

pop_error *pop_profile_print_summary(pop_profile_value graph, pop_profile_value profile,
                                     const pop_option *options, size_t num_options, FILE *stream)
{
  POP_TRY(pop_profile_print_graph_summary(graph, options, num_options, stream));
  return profile.node
             ? pop_profile_print_execution_summary(graph, profile, options, num_options, stream)
             : NULL;
}
