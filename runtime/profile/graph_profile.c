#include "profile/graph_profile.h"

#include "base/c_locale.h"
#include "profile/estimated_cycles.h"
#include "profile/graph_summary.h"
#include <stdlib.h>
#include <string.h>

static const char *type_name(pop_target_type type)
{
  static const char *const names[] = {
      [POP_TARGET_IPU] = "IPU", [POP_TARGET_IPU_MODEL] = "IPU_MODEL", [POP_TARGET_CPU] = "CPU"};
  return names[type];
}

/* All tiles are released at the same time (isa/isa.h), so delays are equal: sync_cycles after the
 * last request. */
static void emit_target(const emitter *to, const pop_executable *e)
{
  const pop_target *t = &e->target;
  int64_t num_ipus = (int64_t)t->num_ipus * e->num_replicas;
  int64_t bytes_per_ipu = (int64_t)t->memory_bytes * t->tiles_per_ipu;
  emit_begin_map(to, "target");
  emit_string(to, "type", type_name(t->type));
  emit_string(to, "architecture", t->name);
  emit_int(to, "bytesPerIPU", bytes_per_ipu);
  emit_int(to, "bytesPerTile", t->memory_bytes);
  emit_double(to, "clockFrequency", t->clock_hz);
  emit_int(to, "systemBytesPerTile", t->system_bytes);
  emit_int(to, "numIPUs", num_ipus);
  emit_int(to, "numReplicas", e->num_replicas);
  emit_int(to, "tilesPerIPU", t->tiles_per_ipu);
  emit_int(to, "numTiles", num_ipus * t->tiles_per_ipu);
  emit_int(to, "totalMemory", num_ipus * bytes_per_ipu);
  emit_begin_vector(to, "relativeSyncDelayByTile");
  for (uint32_t i = 0; i < t->tiles_per_ipu; ++i) emit_int(to, NULL, 0);
  emit_end_vector(to);
  emit_int(to, "minSyncDelay", t->sync_cycles);
  emit_end_map(to);
}

static void emit_optimization(const emitter *to, const executable_profile *p)
{
  emit_begin_map(to, "optimizationInfo");
  for (size_t i = 0; i < p->num_metrics; ++i)
    emit_double(to, p->names[p->metrics[i].name], p->metrics[i].value);
  emit_end_map(to);
}

static void emit_graph(const emitter *to, const graph_profile *g)
{
  emit_begin_map(to, "graph");
  emit_int(to, "numComputeSets", (int64_t)g->e->num_compute_sets);
  emit_int(to, "numEdges", (int64_t)g->p->num_edges);
  emit_int(to, "numVars", (int64_t)g->p->num_variables);
  emit_int(to, "numVertices", (int64_t)g->p->num_vertices);
  emit_end_map(to);
}

static void emit_vertex_types(const emitter *to, const graph_profile *g)
{
  emit_begin_map(to, "vertexTypes");
  emit_begin_vector(to, "names");
  for (size_t i = 0; i < g->e->num_vertex_types; ++i) emit_string(to, NULL, g->e->vertex_types[i]);
  emit_end_vector(to);
  emit_begin_vector(to, "sizes");
  for (size_t i = 0; i < g->p->num_vertex_types; ++i)
    emit_int(to, NULL, g->p->vertex_types[i].state_bytes);
  emit_end_vector(to);
  emit_end_map(to);
}

/* ---- compute sets ---- */

/* Adds the compute set's vertices to counts[type]. */
static void count_vertices(const graph_profile *g, const executable_compute_set *set,
                           uint64_t *counts)
{
  const executable_profile *p = g->p;
  memset(counts, 0, p->num_vertex_types * sizeof *counts);
  for (size_t w = 0; w < set->num_works; ++w) {
    const profile_work_row *row = &p->work_rows[p->works[set->first_work + w]];
    for (uint32_t u = 0; u < row->num_uses; ++u)
      counts[p->uses[row->first_use + u].type] += p->uses[row->first_use + u].count;
  }
}

/* By compute set: its vertex types, or how many vertices of each. */
static void emit_by_type(const emitter *to, const char *key, const graph_profile *g, bool types)
{
  uint64_t *counts = pop_xcalloc(g->p->num_vertex_types + 1, sizeof *counts);
  emit_begin_vector(to, key);
  for (size_t s = 0; s < g->e->num_compute_sets; ++s) {
    count_vertices(g, &g->e->compute_sets[s], counts);
    emit_begin_vector(to, NULL);
    for (size_t t = 0; t < g->p->num_vertex_types; ++t)
      if (counts[t]) emit_int(to, NULL, (int64_t)(types ? t : counts[t]));
    emit_end_vector(to);
  }
  emit_end_vector(to);
  free(counts);
}

/* ---- estimates: the cycles and operations that vertices are said to take ---- */

static bool is_asked_for(const pop_executable *e, const char *option)
{
  for (size_t i = 0; i < e->num_options; ++i)
    if (strcmp(e->options[i].key, option) == 0) return strcmp(e->options[i].value, "true") == 0;
  return false;
}

static void emit_estimates_by_tile(const emitter *to, const char *key, const pop_executable *e,
                                   uint64_t (*estimate_of)(const pop_executable *,
                                                           const executable_work *))
{
  emit_begin_vector(to, key);
  for (size_t s = 0; s < e->num_compute_sets; ++s) {
    const executable_work *work = e->works + e->compute_sets[s].first_work;
    const executable_work *end = work + e->compute_sets[s].num_works;
    emit_begin_vector(to, NULL);
    for (uint32_t t = 0; t < pop_target_num_tiles(&e->target); ++t)
      emit_int(to, NULL, work < end && work->tile == t ? (int64_t)estimate_of(e, work++) : 0);
    emit_end_vector(to);
  }
  emit_end_vector(to);
}

static uint64_t cycles_of_vertex(const executable_vertex *v)
{
  return v->cycles;
}

static uint64_t flops_of_vertex(const executable_vertex *v)
{
  return v->flops;
}

static uint64_t flops_of_work(const pop_executable *e, const executable_work *work)
{
  const executable_row *row = &e->vertex_rows[work->row];
  uint64_t flops = 0;
  for (uint32_t i = 0; i < row->count; ++i) flops += e->vertices[row->first + i].flops;
  return flops;
}

static void emit_estimates_by_type(const emitter *to, const char *key, const pop_executable *e,
                                   uint64_t (*estimate_of)(const executable_vertex *))
{
  uint64_t *sums = pop_xcalloc(e->num_vertex_types + 1, sizeof *sums);
  emit_begin_vector(to, key);
  for (size_t s = 0; s < e->num_compute_sets; ++s) {
    memset(sums, 0, e->num_vertex_types * sizeof *sums);
    for (size_t w = 0; w < e->compute_sets[s].num_works; ++w) {
      const executable_row *row = &e->vertex_rows[e->works[e->compute_sets[s].first_work + w].row];
      for (uint32_t i = 0; i < row->count; ++i)
        sums[e->vertices[row->first + i].type] += estimate_of(&e->vertices[row->first + i]);
    }
    emit_begin_vector(to, NULL);
    for (size_t t = 0; t < e->num_vertex_types; ++t) emit_int(to, NULL, (int64_t)sums[t]);
    emit_end_vector(to);
  }
  emit_end_vector(to);
  free(sums);
}

static uint64_t active_cycles_of_work(const pop_executable *e, const executable_work *work)
{
  return estimated_active_cycles(e, work, NULL);
}

static uint64_t cycles_of_work(const pop_executable *e, const executable_work *work)
{
  return estimated_cycles(e, work, NULL);
}

static void emit_cycle_estimates(const emitter *to, const pop_executable *e)
{
  emit_begin_map(to, "cycleEstimates");
  emit_estimates_by_tile(to, "activeCyclesByTile", e, active_cycles_of_work);
  emit_estimates_by_type(to, "activeCyclesByVertexType", e, cycles_of_vertex);
  emit_estimates_by_tile(to, "cyclesByTile", e, cycles_of_work);
  emit_end_map(to);
}

static void emit_flop_estimates(const emitter *to, const pop_executable *e)
{
  emit_begin_map(to, "flopEstimates");
  emit_estimates_by_tile(to, "flopsByTile", e, flops_of_work);
  emit_estimates_by_type(to, "flopsByVertexType", e, flops_of_vertex);
  emit_end_map(to);
}

static void emit_compute_sets(const emitter *to, const graph_profile *g)
{
  emit_begin_map(to, "computeSets");
  emit_begin_vector(to, "names");
  for (size_t i = 0; i < g->e->num_compute_sets; ++i)
    emit_string(to, NULL, g->e->compute_sets[i].name);
  emit_end_vector(to);
  emit_by_type(to, "vertexCounts", g, false);
  emit_by_type(to, "vertexTypes", g, true);
  bool is_model = g->e->target.type == POP_TARGET_IPU_MODEL;
  if (is_model || is_asked_for(g->e, "profiler.includeCycleEstimates"))
    emit_cycle_estimates(to, g->e);
  if (is_asked_for(g->e, "profiler.includeFlopEstimates")) emit_flop_estimates(to, g->e);
  emit_end_map(to);
}

void emit_graph_profile(const emitter *to, const void *what)
{
  emit_graph_profile_as(to, NULL, what);
}

void emit_graph_profile_as(const emitter *to, const char *key, const graph_profile *g)
{
  emit_begin_map(to, key);
  emit_target(to, g->e);
  emit_optimization(to, g->p);
  emit_graph(to, g);
  emit_vertex_types(to, g);
  if (!g->for_summary) {
    emit_compute_sets(to, g);
    emit_exchanges(to, g);
  }
  emit_programs(to, g);
  emit_memory(to, g);
  emit_end_map(to);
}

pop_error *graph_profile_open(const pop_executable *e, graph_profile *g)
{
  *g = (graph_profile){.e = e};
  POP_TRY(executable_profile_get(e, &g->p));
  g->numbers = exchange_numbers_new(e);
  return NULL;
}

void graph_profile_close(graph_profile *g)
{
  exchange_numbers_free(&g->numbers);
  executable_profile_free(g->p);
}

pop_error *pop_executable_graph_profile(const pop_executable *executable, pop_profile **profile)
{
  POP_TRY(object_check_argument(profile, "the profile to make", __func__));
  *profile = NULL;
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  graph_profile g;
  *profile = NULL;
  POP_TRY(graph_profile_open(executable, &g));
  *profile = emit_to_values(emit_graph_profile, &g);
  graph_profile_close(&g);
  return NULL;
}

pop_error *pop_executable_write_graph_profile(const pop_executable *executable,
                                              pop_profile_format format, FILE *stream)
{
  POP_TRY(object_check(executable, OBJECT_EXECUTABLE, __func__));
  POP_TRY(object_check_argument(stream, "the stream", __func__));
  graph_profile g;
  POP_TRY(graph_profile_open(executable, &g));
  pop_error *error = emit_to_stream(emit_graph_profile, &g, format, stream);
  graph_profile_close(&g);
  return error;
}

static pop_error *values_for_summary(const pop_executable *e, pop_profile **profile)
{
  graph_profile g;
  POP_TRY(graph_profile_open(e, &g));
  g.for_summary = true;
  *profile = emit_to_values(emit_graph_profile, &g);
  graph_profile_close(&g);
  return NULL;
}

pop_error *graph_summary_print(const pop_executable *e, const pop_option *options,
                               size_t num_options, FILE *stream)
{
  pop_profile *profile;
  POP_TRY(values_for_summary(e, &profile));
  pop_error *error =
      pop_profile_print_graph_summary(pop_profile_root(profile), options, num_options, stream);
  pop_profile_free(profile);
  return error;
}

pop_error *memory_summary_print(const pop_executable *e, FILE *stream)
{
  C_LOCALE;
  pop_profile *profile;
  summary_style style;
  POP_TRY(summary_style_parse(NULL, 0, stream, &style));
  POP_TRY(values_for_summary(e, &profile));
  summary_memory(&style, pop_profile_root(profile));
  pop_profile_free(profile);
  return NULL;
}
