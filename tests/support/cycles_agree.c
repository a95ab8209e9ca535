/* cycles_agree <archive>: compares the execution profile's cycles of compute sets and vertices with
 * the clock of the machine that runs them: for every compute set, tile and vertex, on the
 * interpreter and on the translator.
 *
 * The archive is instrumented: by tile or vertex, or on one tile. All its programs are run, one
 * after the other; streams bring zeros. The machine's trace does not know compute sets. The states
 * of the vertices that workers ran tell which ones they computed.
 *
 * Standard output: `compute_sets`, `vertices` and how many numbers were compared. Differences, of
 * one cycle or more, go to standard error, with exit status 1. */
#include "engine/engine_private.h"

#include <populus/populus.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = MACHINE_SUPERVISOR + 1, NOWHERE = -1 };

/* Cycles of the control code around calls of the supervisor's vertices
 * (runtime/compiler/emit/control.c, runtime/compiler/emit/instrument.c): eleven
 * instructions up to the end of the first tile.call, and one after the last. If each call
 * is measured, four and seven more. If no supervisor vertex is called, three up to the
 * first instruction of the first worker. */
enum { SLOT = 6, BEFORE_CALL = 11 * SLOT, BEHIND_CALL = SLOT, BEFORE_WORKER = 3 * SLOT };
enum { MEASURED_BEFORE_CALL = 4 * SLOT, MEASURED_BEHIND_CALL = 7 * SLOT };

/* A vertex of a work at its state's address, and the cycles of its last call there on
 * each context. */
typedef struct vertex_at {
  uint32_t tile, state;
  size_t work, number; /* the vertex's in all works, as in the profile */
  bool is_first;       /* of the work */
  uint64_t cycles[CONTEXTS];
} vertex_at;

typedef struct compute_at {
  bool calls_supervisor, starts_workers;
  uint64_t first_call, last_return; /* of the supervisor's vertices */
  uint64_t from, to;                /* of the workers */
} compute_at;

typedef struct checker {
  const pop_executable *e;
  pop_engine *engine;
  vertex_at *vertices; /* by tile, then state */
  size_t num_vertices;
  ptrdiff_t *work_of_tile;     /* that its workers' vertices since the last COMPUTE event are of */
  struct compute_at *computes; /* by work: its last execution */
  const char *engine_name;
  void **buffers; /* of streams */
  size_t num_compared, num_vertices_compared, num_differences;
} checker;

__attribute__((format(printf, 4, 5))) static void compare(checker *c, uint64_t is,
                                                          uint64_t should_be, const char *format,
                                                          ...)
{
  enum { SHOWN = 10 };
  if (is == should_be || c->num_differences++ >= SHOWN) return;
  va_list arguments;
  fprintf(stderr, "%s: ", c->engine_name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, ": the profile says %" PRIu64 " cycles, the machine %" PRIu64 "\n", is,
          should_be);
  va_end(arguments);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("cycles_agree: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

/* ---- what the machine says ---- */

static int compare_places(const void *a, const void *b)
{
  const vertex_at *x = a, *y = b;
  if (x->tile != y->tile) return x->tile < y->tile ? -1 : 1;
  return (x->state > y->state) - (x->state < y->state);
}

static void list_vertices(checker *c)
{
  const pop_executable *e = c->e;
  size_t capacity = 0, number = 0;
  for (size_t s = 0; s < e->num_compute_sets; s++)
    for (size_t i = 0; i < e->compute_sets[s].num_works; i++) {
      size_t work = e->compute_sets[s].first_work + i;
      const executable_row *row = &e->vertex_rows[e->works[work].row];
      for (uint32_t v = 0; v < row->count; v++, number++) {
        uint32_t offset = e->vertices[row->first + v].state_offset;
        vertex_at at = {.tile = e->works[work].tile,
                        .state = e->works[work].state_address + offset,
                        .work = work,
                        .is_first = v == 0,
                        .number = number};
        pop_push(c->vertices, c->num_vertices, capacity, at);
      }
    }
  if (c->num_vertices) qsort(c->vertices, c->num_vertices, sizeof *c->vertices, compare_places);
  for (size_t i = 1; i < c->num_vertices; i++)
    if (compare_places(&c->vertices[i - 1], &c->vertices[i]) == 0)
      fail("two vertices of tile %u have their state at 0x%x", c->vertices[i].tile,
           c->vertices[i].state);
}

static void hear_vertex(checker *c, const machine_trace_event *event)
{
  vertex_at key = {.tile = event->tile, .state = event->argument};
  vertex_at *v = NULL;
  if (c->num_vertices) v = bsearch(&key, c->vertices, c->num_vertices, sizeof key, compare_places);
  if (!v)
    fail("tile %u calls a vertex with its state at 0x%x: there is none", event->tile,
         event->argument);
  v->cycles[event->context] = event->to - event->from;
  if (event->context == MACHINE_SUPERVISOR) {
    compute_at *at = &c->computes[v->work];
    if (v->is_first) *at = (compute_at){.calls_supervisor = true, .first_call = event->from};
    at->last_return = event->to;
    return;
  }
  ptrdiff_t *current = &c->work_of_tile[event->tile];
  if (*current != NOWHERE && *current != (ptrdiff_t)v->work)
    fail("tile %u computes vertices of two compute sets at once", event->tile);
  *current = (ptrdiff_t)v->work;
}

static void hear(void *context, const machine_trace_event *event)
{
  checker *c = context;
  if (event->kind == MACHINE_TRACE_VERTEX) hear_vertex(c, event);
  if (event->kind != MACHINE_TRACE_COMPUTE) return;
  ptrdiff_t *current = &c->work_of_tile[event->tile];
  if (*current == NOWHERE) fail("tile %u computes and calls no vertex", event->tile);
  compute_at *at = &c->computes[*current];
  at->starts_workers = true;
  at->from = event->from;
  at->to = event->to;
  *current = NOWHERE;
}

/* ---- what the profile says ---- */

static uint64_t number_of(pop_profile_value value, const char *what)
{
  if (pop_profile_kind_of(value) != POP_PROFILE_INT) fail("the profile has no %s", what);
  return (uint64_t)pop_profile_as_int(value);
}

/* The cycles of a work in its last execution: from its first vertex on, or with the code before
 * all of them. */
static uint64_t cycles_of_work(const checker *c, size_t work)
{
  const compute_at *at = &c->computes[work];
  bool measured = c->e->instrumentation.compute == INSTRUMENT_VERTICES;
  if (!at->calls_supervisor) return at->to - at->from;
  uint64_t end = at->last_return + BEHIND_CALL + (measured ? MEASURED_BEHIND_CALL : 0);
  if (at->starts_workers) end = at->to;
  return end - at->first_call + BEFORE_CALL + (measured ? MEASURED_BEFORE_CALL : 0);
}

static void check_compute_set(checker *c, size_t set, pop_profile_value by_tile)
{
  const executable_compute_set *s = &c->e->compute_sets[set];
  uint32_t num_tiles = pop_target_num_tiles(&c->e->target);
  for (uint32_t tile = 0, i = 0; tile < num_tiles; tile++) {
    uint64_t is = number_of(pop_profile_at(by_tile, tile), "computeSetCyclesByTile of the tile");
    uint64_t machine = 0;
    if (i < s->num_works && c->e->works[s->first_work + i].tile == tile) {
      machine = cycles_of_work(c, s->first_work + i++);
    }
    compare(c, is, machine, "compute set %zu '%s' on tile %u", set, s->name, tile);
    c->num_compared++;
  }
}

static void check_slowest(checker *c, size_t set, pop_profile_value cycles)
{
  const executable_compute_set *s = &c->e->compute_sets[set];
  uint64_t slowest = 0;
  bool calls_supervisor = false;
  for (size_t w = s->first_work; w < s->first_work + s->num_works; w++)
    calls_supervisor |= c->computes[w].calls_supervisor;
  for (size_t w = s->first_work; w < s->first_work + s->num_works; w++) {
    uint64_t cycles = cycles_of_work(c, w);
    if (calls_supervisor && !c->computes[w].calls_supervisor) cycles += BEFORE_WORKER;
    if (cycles > slowest) slowest = cycles;
  }
  compare(c, number_of(cycles, "computeSetCycles of the set"), slowest,
          "compute set %zu '%s' on its slowest tile", set, s->name);
  c->num_compared++;
}

static void check_vertices(checker *c, pop_profile_value cycles)
{
  if (pop_profile_count(cycles) != c->num_vertices)
    fail("the profile has %zu vertices, the works %zu", pop_profile_count(cycles), c->num_vertices);
  for (size_t i = 0; i < c->num_vertices; i++) {
    const vertex_at *v = &c->vertices[i];
    uint64_t most = 0;
    for (int w = 0; w < CONTEXTS; w++)
      if (v->cycles[w] > most) most = v->cycles[w];
    compare(c, number_of(pop_profile_at(cycles, v->number), "vertexCycles of the vertex"), most,
            "vertex %zu on tile %u, state at 0x%x", v->number, v->tile, v->state);
    c->num_vertices_compared++;
  }
}

static pop_error *check_profile(checker *c)
{
  pop_profile *profile;
  POP_TRY(pop_engine_execution_profile(c->engine, &profile));
  pop_profile_value root = pop_profile_root(profile);
  pop_profile_value by_tile = pop_profile_get(root, "computeSetCyclesByTile"),
                    slowest = pop_profile_get(root, "computeSetCycles"),
                    vertices = pop_profile_get(root, "vertexCycles");
  for (size_t s = 0; s < c->e->num_compute_sets; s++) {
    if (pop_profile_count(by_tile)) check_compute_set(c, s, pop_profile_at(by_tile, s));
    if (pop_profile_count(slowest)) check_slowest(c, s, pop_profile_at(slowest, s));
  }
  if (pop_profile_count(vertices)) check_vertices(c, vertices);
  pop_profile_free(profile);
  return NULL;
}

/* ---- running ---- */

static pop_error *connect_streams(checker *c)
{
  size_t count = pop_executable_num_streams(c->e);
  c->buffers = pop_xcalloc(count + 1, sizeof *c->buffers);
  for (size_t i = 0; i < count; i++) {
    pop_stream_info info;
    POP_TRY(pop_executable_stream(c->e, i, &info));
    if (!info.is_used) continue;
    size_t bytes = info.num_elements * pop_type_bytes(info.type) * info.num_replicas;
    c->buffers[i] = pop_xcalloc(bytes, 1);
    POP_TRY(pop_engine_connect_stream(c->engine, info.name, c->buffers[i],
                                      (uint8_t *)c->buffers[i] + bytes));
  }
  return NULL;
}

static pop_error *run_programs(checker *c, const char *threads)
{
  const pop_option options[] = {{"target.tileEngine", c->engine_name},
                                {"target.tileEngineThreads", threads}};
  POP_TRY(pop_engine_create_from_executable((pop_executable *)c->e, options, 2, &c->engine));
  machine_set_trace(c->engine->replicas[0].machine, hear, c);
  machine_trace_vertices(c->engine->replicas[0].machine);
  POP_TRY(pop_engine_load(c->engine));
  POP_TRY(connect_streams(c));
  for (size_t p = 0; p < pop_executable_num_programs(c->e); p++) {
    POP_TRY(pop_engine_run(c->engine, p));
    POP_TRY(check_profile(c));
  }
  return NULL;
}

static pop_error *check_engine(checker *c, const char *engine, const char *threads)
{
  uint32_t num_tiles = pop_target_num_tiles(&c->e->target);
  c->engine_name = engine;
  list_vertices(c);
  c->work_of_tile = pop_xcalloc(num_tiles, sizeof *c->work_of_tile);
  for (uint32_t t = 0; t < num_tiles; t++) c->work_of_tile[t] = NOWHERE;
  c->computes = pop_xcalloc(c->e->num_works + 1, sizeof *c->computes);
  pop_error *error = run_programs(c, threads);
  pop_engine_free(c->engine);
  for (size_t i = 0; c->buffers && i < pop_executable_num_streams(c->e); i++) free(c->buffers[i]);
  free(c->buffers);
  free(c->vertices);
  free(c->work_of_tile);
  free(c->computes);
  return error;
}

int main(int argc, char **argv)
{
  static const char *const engines[][2] = {{"interpreter", "1"}, {"translator", "2"}};
  pop_executable *executable = NULL;
  size_t compared = 0, vertices = 0, differences = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: cycles_agree ARCHIVE\n");
    return 2;
  }
  pop_error *error = pop_executable_load(argv[1], &executable);
  for (size_t i = 0; i < 2 && !error; i++) {
    checker c = {.e = executable};
    error = check_engine(&c, engines[i][0], engines[i][1]);
    compared += c.num_compared;
    vertices += c.num_vertices_compared;
    differences += c.num_differences;
  }
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "cycles_agree: %s\n", pop_error_message(error));
  if (status == 0 && differences) status = 1;
  printf("compute_sets %zu\nvertices %zu\n", compared, vertices);
  pop_error_free(error);
  pop_executable_free(executable);
  return status;
}
