/* Random numbers: populus/poprand.h. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <float.h>
#include <math.h>
#include <populus/introspection.h>
#include <populus/poprand.h>
#include <populus/registers.h>
#include <stdlib.h>

void pop_poprand_add_codelets(pop_graph *graph)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_add_codelets(graph, __func__, "poprand");
}

static const char *const kind_names[POP_DISTRIBUTION_COUNT] = {"UNIFORM", "NORMAL",
                                                               "TRUNCATED_NORMAL", "BERNOULLI"};

typedef struct drawing {
  pop_graph *graph;
  const char *call, *name;
  pop_tensor seed; /* a constant of zeros if the caller has none */
  bool seeded;
  uint32_t modifier;
} drawing;

/* False after an error. */
static bool begin(drawing *d, pop_graph *graph, const char *call, pop_random_source source,
                  const char *name)
{
  if (pop_graph_error(graph)) return false;
  *d = (drawing){
      graph, call, name, pop_tensor_flatten(source.seed), source.seed.index != 0, source.modifier};
  if (!d->seeded) {
    d->seed =
        pop_graph_add_constant(graph, POP_UNSIGNED_INT, (size_t[]){2}, 1, (uint32_t[2]){0}, name);
    pop_graph_set_tile_mapping(graph, d->seed, 0);
  }
  if (pop_tensor_num_elements(d->seed) != 2 ||
      pop_tensor_element_type(d->seed) != POP_UNSIGNED_INT) {
    poplibs_fail(graph, POP_ERROR_TENSOR,
                 "%s: a seed is two elements of type unsigned int, not %zu of type %s", call,
                 pop_tensor_num_elements(d->seed), pop_type_name(pop_tensor_element_type(d->seed)));
    return false;
  }
  if (pop_graph_has_vertex_type(graph, "poprand::Seeds")) return true;
  poplibs_fail(graph, POP_ERROR_UNKNOWN_VERTEX_TYPE,
               "%s: the graph has no codelets for it: call pop_poprand_add_codelets "
               "(poprand::addCodelets) first",
               call);
  return false;
}

/* Fails the graph with `what` if `holds` is false. */
static bool need(const drawing *d, bool holds, const char *what)
{
  if (!holds) poplibs_fail(d->graph, POP_ERROR_INVALID_ARGUMENT, "%s: %s", d->call, what);
  return holds;
}

static void connect_source(const drawing *d, pop_vertex v, const spread_part *part)
{
  uint32_t *runs = pop_xcalloc(2 * part->count, sizeof *runs);
  for (size_t i = 0; i < part->count; i++) {
    runs[2 * i] = (uint32_t)part->intervals[i].begin;
    runs[2 * i + 1] = (uint32_t)part->intervals[i].end;
  }
  pop_graph_connect_value(d->graph, v, "runs", POP_UNSIGNED_INT, runs, 2 * part->count);
  free(runs);
  pop_graph_connect(d->graph, v, "seed", d->seed);
  pop_graph_set_field_int(d->graph, v, "modifier", d->modifier);
  pop_graph_set_field_int(d->graph, v, "seeded", d->seeded);
}

static void set_parameters(const drawing *d, pop_vertex v, const pop_distribution *how,
                           pop_type type)
{
  if (how->kind == POP_UNIFORM && type == POP_INT) {
    int64_t lowest = (int64_t)ceil(how->a), largest = (int64_t)floor(how->b);
    pop_graph_set_field_int(d->graph, v, "lowest", lowest);
    pop_graph_set_field_int(d->graph, v, "range", (int64_t)(uint32_t)(largest - lowest + 1));
    return;
  }
  pop_graph_set_field_float(d->graph, v, "a", how->a);
  pop_graph_set_field_float(d->graph, v, "b", how->b);
  pop_graph_set_field_float(d->graph, v, "c", how->c);
}

/* Is the number finite when it is rounded to the type? */
static bool is_finite_as(pop_type type, double x)
{
  return isfinite(type == POP_HALF ? pop_half_to_float(pop_half_from_double(x)) : (float)x);
}

static bool check_mean(const drawing *d, const pop_distribution *how, pop_type type)
{
  return need(d, is_finite_as(type, how->a) && is_finite_as(type, how->b),
              "the mean and the standard deviation must be finite, also as elements of the type");
}

static bool check_distribution(const drawing *d, const pop_distribution *how, pop_type type)
{
  switch (how->kind) {
  case POP_UNIFORM:
    if (type == POP_INT)
      return need(d, how->a >= INT32_MIN && how->b <= INT32_MAX && ceil(how->a) <= floor(how->b),
                  "there is no int between the bounds");
    return need(d, how->a < how->b, "the lower bound must be less than the upper one") &&
           need(d, (float)how->b - (float)how->a <= FLT_MAX,
                "the difference of the bounds must be a finite float") &&
           need(d, is_finite_as(type, how->a) && is_finite_as(type, how->b),
                "the bounds must be finite, also as elements of the type");
  case POP_NORMAL:
    return need(d, how->b >= 0, "the standard deviation must not be negative") &&
           check_mean(d, how, type);
  case POP_TRUNCATED_NORMAL:
    return need(d, how->b >= 0 && how->c >= 0.25,
                "the standard deviation must not be negative, and at least 0.25 of it around the "
                "mean must be left") &&
           check_mean(d, how, type);
  case POP_BERNOULLI:
    return need(d, how->a >= 0 && how->a <= 1, "a probability is from 0 to 1");
  default:
    return need(d, false, "there is no such distribution");
  }
}

pop_tensor pop_poprand_draw(pop_graph *graph, pop_random_source source, pop_tensor reference,
                            pop_type type, pop_distribution distribution, pop_program sequence,
                            const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){reference}, 1);
  static const char call[] = "pop_poprand_draw";
  drawing d;
  pop_tensor none = {graph->top, 0};
  if (!begin(&d, graph, call, source, name) || !check_distribution(&d, &distribution, type))
    return none;
  const char *vertex =
      distribution.kind == POP_UNIFORM && type == POP_INT
          ? "poprand::DrawInteger"
          : pop_arena_printf(graph->top->arena, "poprand::Draw<poprand::Kind::%s,%s>",
                             kind_names[distribution.kind], pop_type_name(type));
  if (!pop_graph_has_vertex_type(graph, vertex)) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: there is no %s distribution for elements of type %s",
                 call, kind_names[distribution.kind], pop_type_name(type));
    return none;
  }
  pop_tensor out = poplibs_result(graph, call, none, type, pop_tensor_shape(reference),
                                  pop_tensor_rank(reference), &reference, 1, name);
  pop_tensor flat = pop_tensor_flatten(out);
  spread s = spread_of(graph, call, flat);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex v = poplibs_add_vertex(graph, set, s.parts[p].tile, "%s", vertex);
    connect_source(&d, v, &s.parts[p]);
    set_parameters(&d, v, &distribution, type);
    pop_graph_connect(graph, v, "out", spread_slice(&s.parts[p], flat));
  }
  spread_free(&s);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
  return out;
}

pop_tensor pop_poprand_dropout(pop_graph *graph, pop_random_source source, pop_tensor input,
                               double keep, double scale, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){input}, 1);
  static const char call[] = "pop_poprand_dropout";
  drawing d;
  pop_tensor none = {graph->top, 0};
  pop_type type = pop_tensor_element_type(input);
  if (!begin(&d, graph, call, source, name) ||
      !need(&d, keep >= 0 && keep <= 1, "a probability is from 0 to 1"))
    return none;
  if (type != POP_FLOAT && type != POP_HALF) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: elements are float or half, not %s", call,
                 pop_type_name(type));
    return none;
  }
  pop_tensor out = poplibs_result(graph, call, none, type, pop_tensor_shape(input),
                                  pop_tensor_rank(input), &input, 1, name);
  pop_tensor flat = pop_tensor_flatten(out), flat_in = pop_tensor_flatten(input);
  spread s = spread_of(graph, call, flat);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex v = poplibs_add_vertex(graph, set, s.parts[p].tile, "poprand::Dropout<%s>",
                                      pop_type_name(type));
    connect_source(&d, v, &s.parts[p]);
    pop_graph_set_field_float(graph, v, "a", keep);
    pop_graph_set_field_float(graph, v, "scale", scale);
    pop_graph_connect(graph, v, "in", spread_slice(&s.parts[p], flat_in));
    pop_graph_connect(graph, v, "out", spread_slice(&s.parts[p], flat));
  }
  spread_free(&s);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
  return out;
}

void pop_poprand_set_seed(pop_graph *graph, pop_random_source source, pop_program sequence,
                          const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, NULL, 0);
  enum { WORDS = 4 };
  static const char call[] = "pop_poprand_set_seed";
  drawing d;
  if (!begin(&d, graph, call, source, name) || !need(&d, d.seeded, "a seed is needed")) return;
  size_t tiles = pop_graph_num_tiles(graph),
         workers = pop_graph_get_target(graph)->num_worker_contexts;
  pop_tensor words =
      pop_graph_add_variable(graph, POP_UNSIGNED_INT, (size_t[]){tiles, workers, WORDS}, 3, name);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t tile = 0; tile < tiles && !pop_graph_error(graph); tile++) {
    pop_tensor of_tile = pop_tensor_flatten(pop_tensor_index(words, tile));
    pop_graph_set_tile_mapping(graph, of_tile, tile);
    pop_vertex v = poplibs_add_vertex(graph, set, tile, "poprand::Seeds");
    pop_graph_connect(graph, v, "seed", d.seed);
    pop_graph_connect(graph, v, "out", of_tile);
    pop_graph_set_field_int(graph, v, "modifier", d.modifier);
    pop_graph_set_field_int(graph, v, "first", (int64_t)(tile * workers * WORDS));
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
  pop_graph_set_hw_seeds(graph, sequence, words, name);
}
