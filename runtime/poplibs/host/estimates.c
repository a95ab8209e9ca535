/* What the chip takes for library vertices: on an IPU_MODEL these cycles, not those of our code, unless an engine is told otherwise
 * (profiler.libraryCycleEstimates). The figures are chip_cycles.h's; here is what its formulae do with them, for vertices whose
 * workers share the elements. Library vertices without a formula there take what their code takes. */
#include "graph/graph.h"
#include "poplibs/host/chip_cycles.h"
#include "poplibs/host/spread.h"

#include <populus/popops.h>

enum {
  SUPERVISOR_CYCLES = 11, /* to begin a vertex whose workers are all in it */
  UNARY_MORE_CYCLES = 9,
  SINGLE_OPERAND_SLOTS = 20 /* of a worker beside its loop, when one operand is a single element */
};

/* Of a worker's loop: `slots` for as many elements at a time. */
typedef struct loop {
  uint32_t slots, elements;
} loop;

typedef struct formula {
  const char *type;    /* of vertices */
  uint32_t worker;     /* slots beside the loop */
  uint32_t supervisor; /* cycles beside the workers' */
  loop each,
      same; /* all operands have all elements, one has a single one; of unary ones `each` alone */
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

static uint64_t divide_up(uint64_t a, uint64_t b)
{
  return (a + b - 1) / b;
}

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

void poplibs_add_estimates(pop_graph *graph)
{
  for (size_t i = 0; i < sizeof formulae / sizeof *formulae; i++)
    graph_add_library_estimator(graph, formulae[i].type, estimate, (void *)&formulae[i]);
}
