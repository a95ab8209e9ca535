/* Cycle estimates of the chip for library vertices. An IPU_MODEL uses these cycles instead of
 * those of our code, unless the engine option profiler.libraryCycleEstimates says otherwise. The
 * figures are in chip_cycles.h; this file has the formulae around them, for vertices whose
 * workers share the elements. Library vertices without such a formula are estimated by what our
 * code takes (our_cycles.h). */
#include "base/divide.h"
#include "graph/graph.h"
#include "poplibs/host/chip_cycles.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>

enum {
  SUPERVISOR_CYCLES = 11, /* to start a vertex that runs all workers */
  UNARY_MORE_CYCLES = 9,
  SINGLE_OPERAND_SLOTS = 20 /* of a worker outside its loop, when one operand is a single element */
};

/* A worker's loop: `slots` for each iteration over `elements` elements. */
typedef struct loop {
  uint32_t slots, elements;
} loop;

typedef struct formula {
  const char *type;    /* of vertices */
  uint32_t worker;     /* slots outside the loop */
  uint32_t supervisor; /* cycles in addition to the workers' */
  loop each,
      same; /* one operand has a single element; with `each`, none has. Unary ones use `each` */
  bool is_binary;
} formula;

#define UNARY_ROW(op, type, slots, elements)                                                       \
  {"popops::Unary<popops::expr::UnaryOpType::" #op "," TYPE_##type ">",                            \
   POP_UNARY_##op == POP_UNARY_EXPONENT ? 33 : 17,                                                 \
   SUPERVISOR_CYCLES + UNARY_MORE_CYCLES,                                                          \
   {slots, elements},                                                                              \
   {slots, elements},                                                                              \
   false},
#define BINARY_ROW(op, type, slots, elements, same_slots, same_elements)                           \
  {"popops::Binary<popops::expr::BinaryOpType::" #op "," TYPE_##type ">",                          \
   POP_##type == POP_FLOAT ? 29 : 26,                                                              \
   SUPERVISOR_CYCLES,                                                                              \
   {slots, elements},                                                                              \
   {same_slots, same_elements},                                                                    \
   true},
#define TYPE_FLOAT "float"
#define TYPE_HALF "half"
#define TYPE_INT "int"
#define TYPE_UNSIGNED_INT "unsigned int"
#define TYPE_BOOL "bool"
static const formula formulae[] = {CHIP_UNARY(UNARY_ROW) CHIP_BINARY(BINARY_ROW)};

static pop_perf_estimate estimate(void *context, pop_graph *graph, pop_vertex vertex)
{
  const formula *f = context;
  uint64_t elements = pop_graph_vertex_field_size(graph, vertex, "out");
  uint32_t num_workers = pop_graph_get_target(graph)->num_worker_contexts;
  bool same = f->is_binary && elements > 1 &&
              (pop_graph_vertex_field_size(graph, vertex, "a") == 1 ||
               pop_graph_vertex_field_size(graph, vertex, "b") == 1);
  const loop *l = same ? &f->same : &f->each;
  uint64_t rounds = divide_up(divide_up(elements, num_workers), l->elements);
  uint64_t slots = (same ? SINGLE_OPERAND_SLOTS : f->worker) + rounds * l->slots;
  return (pop_perf_estimate){.cycles = slots * num_workers + f->supervisor};
}

/* ---- casts and fills (graphcore/poplibs, lib/popops/PerformanceEstimation.cpp) ---- */

enum { DATA_PATH_BYTES = 8 };

typedef enum cast_loop {
  CONVERT,         /* conversion instructions between floats and halves */
  COMPILED,        /* compiled code, one element at a time */
  BYTES_TO_HALVES, /* four at a time, as the next */
  HALVES_TO_BYTES
} cast_loop;

typedef struct cast {
  const char *type;
  uint32_t from_bytes, to_bytes;
  cast_loop loop;
} cast;

#define CAST(from, from_bytes, to, to_bytes, loop)                                                 \
  {"popops::Cast<" from "," to ">", from_bytes, to_bytes, loop},
#define CASTS_TO_OTHERS(from, bytes)                                                               \
  CAST(from, bytes, "int", 4, COMPILED)                                                            \
  CAST(from, bytes, "unsigned int", 4, COMPILED)                                                   \
  CAST(from, bytes, "short", 2, COMPILED)                                                          \
  CAST(from, bytes, "unsigned short", 2, COMPILED)                                                 \
  CAST(from, bytes, "bool", 1, COMPILED)
#define CASTS_TO_BYTES(from, bytes, loop)                                                          \
  CAST(from, bytes, "char", 1, loop)                                                               \
  CAST(from, bytes, "signed char", 1, loop)                                                        \
  CAST(from, bytes, "unsigned char", 1, loop)
#define CASTS_OF_INTEGER(from, bytes)                                                              \
  CASTS_TO_OTHERS(from, bytes)                                                                     \
  CASTS_TO_BYTES(from, bytes, COMPILED)                                                            \
  CAST(from, bytes, "float", 4, COMPILED)
static const cast casts[] = {
    CASTS_TO_OTHERS("float", 4) CASTS_TO_BYTES("float", 4, COMPILED)
        CAST("float", 4, "float", 4, CONVERT) CAST("float", 4, "half", 2, CONVERT)
            CASTS_TO_OTHERS("half", 2) CASTS_TO_BYTES("half", 2, HALVES_TO_BYTES)
                CAST("half", 2, "float", 4, CONVERT) CAST("half", 2, "half", 2, CONVERT)
                    CASTS_OF_INTEGER("int", 4) CAST("int", 4, "half", 2, COMPILED) CASTS_OF_INTEGER(
                        "unsigned int", 4) CAST("unsigned int", 4, "half", 2, COMPILED)
                        CASTS_OF_INTEGER("short", 2) CAST("short", 2, "half", 2, COMPILED)
                            CASTS_OF_INTEGER("unsigned short", 2)
                                CAST("unsigned short", 2, "half", 2, COMPILED)
                                    CASTS_OF_INTEGER("char", 1) CAST("char", 1, "half", 2, COMPILED)
                                        CASTS_OF_INTEGER("signed char", 1) CAST("signed char", 1,
                                                                                "half", 2, COMPILED)
                                            CASTS_OF_INTEGER("unsigned char", 1)
                                                CAST("unsigned char", 1, "half", 2, BYTES_TO_HALVES)
                                                    CASTS_OF_INTEGER("bool", 1)
                                                        CAST("bool", 1, "half", 2, COMPILED)};

static uint32_t least(uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* A software pipeline of four elements a round: `fill` slots for prologue and epilogue, `round`
 * for each further round, and `left_over` for the remaining elements. */
static uint64_t slots_by_four(uint64_t elements, uint32_t fill, uint32_t round,
                              const uint32_t left_over[4])
{
  uint64_t rounds = elements / 4;
  return (rounds ? fill + (rounds - 1) * round : 0) + left_over[elements % 4];
}

/* A vector has as many elements as two 64-bit loads and one 64-bit store allow. A load and a
 * store share a slot. */
static uint64_t slots_by_vectors(const cast *c, uint64_t elements)
{
  uint32_t load = DATA_PATH_BYTES / c->from_bytes, store = DATA_PATH_BYTES / c->to_bytes;
  uint32_t vector = c->loop == CONVERT ? least(2 * load, store) : 1;
  uint32_t loads = vector / least(vector, load), stores = vector / least(vector, store);
  uint32_t slots = (loads > stores ? loads : stores) + (c->loop != CONVERT);
  uint64_t sum = 19 + elements / vector * slots, rest = elements % vector;
  for (uint32_t part = 1; part < vector; part *= 2) sum += rest & part ? 3 : 1;
  return sum;
}

static uint64_t cast_slots(const cast *c, uint64_t elements)
{
  static const uint32_t left_halves[] = {2, 12, 14, 22}, left_bytes[] = {2, 14, 21, 29};
  if (c->loop == BYTES_TO_HALVES) return 4 + slots_by_four(elements, 14, 9, left_halves);
  if (c->loop == HALVES_TO_BYTES) return 8 + slots_by_four(elements, 19, 16, left_bytes);
  return slots_by_vectors(c, elements);
}

static pop_perf_estimate estimate_cast(void *context, pop_graph *graph, pop_vertex vertex)
{
  enum { SUPERVISOR = 12, WORKER = 18 };
  uint32_t num_workers = pop_graph_get_target(graph)->num_worker_contexts;
  uint64_t elements = pop_graph_vertex_field_size(graph, vertex, "out");
  uint64_t slots = cast_slots(context, divide_up(elements, num_workers)) + WORKER;
  return (pop_perf_estimate){.cycles = slots * num_workers + SUPERVISOR};
}

typedef struct fill {
  const char *type;
  uint32_t bytes;
} fill;
static const fill fills[] = {{"popops::FillWords<unsigned char>", 1},
                             {"popops::FillWords<unsigned short>", 2},
                             {"popops::FillWords<unsigned int>", 4},
                             {"popops::FillWords<unsigned long long>", 8}};

static uint64_t fill_slots(uint32_t bytes, uint64_t elements)
{
  switch (bytes) {
  case 1:
    return elements < 64 ? 28 + elements / 4 : 39 + elements / 8;
  case 2:
    return elements == 1 ? 15 : elements == 2 ? 21 : 26 + elements / 4;
  case 4:
    return 23 + elements / 2 + elements % 2;
  default:
    return 5 + elements;
  }
}

/* The chip's formula has a vertex for each worker. */
static pop_perf_estimate estimate_fill(void *context, pop_graph *graph, pop_vertex vertex)
{
  const fill *f = context;
  uint32_t num_workers = pop_graph_get_target(graph)->num_worker_contexts;
  uint64_t elements = pop_graph_vertex_field_size(graph, vertex, "out");
  return (pop_perf_estimate){.cycles = num_workers *
                                       fill_slots(f->bytes, divide_up(elements, num_workers))};
}

void poplibs_add_estimates(pop_graph *graph)
{
  for (size_t i = 0; i < sizeof formulae / sizeof *formulae; i++)
    graph_add_library_estimator(graph, formulae[i].type, ESTIMATE_CHIP, estimate,
                                (void *)&formulae[i]);
  for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
    graph_add_library_estimator(graph, casts[i].type, ESTIMATE_CHIP, estimate_cast,
                                (void *)&casts[i]);
  for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
    graph_add_library_estimator(graph, fills[i].type, ESTIMATE_CHIP, estimate_fill,
                                (void *)&fills[i]);
}
