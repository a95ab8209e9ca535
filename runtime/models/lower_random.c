/* Random bits. They depend only on the state, not on how many tiles there are (hlo_random.h). */
#include "models/range.h"

#include <inttypes.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(l->m->arena, __VA_ARGS__)

typedef struct generator {
  bool threefry;
  bool wide;         /* elements of 64 bits */
  uint32_t words;    /* of the state */
  uint64_t counters; /* that one operation uses up */
  /* Threefry of 32 bits: in this dimension pairs of elements share a counter. */
  uint64_t size, inner;
} generator;

/* The first even dimension; otherwise the longest, the first of equals. */
static uint32_t paired_dimension(const model_type *t)
{
  uint32_t best = 0;
  for (uint32_t d = 0; d < t->rank; ++d)
    if (t->dims[d] % 2 == 0) return d;
  for (uint32_t d = 1; d < t->rank; ++d)
    if (t->dims[d] > t->dims[best]) best = d;
  return best;
}

static generator generator_of(const operation *op)
{
  const model_type *t = op->results[1]->type;
  uint64_t elements = type_elements(t);
  generator g = {.threefry = strcmp(op_word(op, "rng_algorithm"), "THREE_FRY") == 0,
                 .wide = element_bits(t->element) == 64,
                 .words = (uint32_t)op->operands[0]->type->dims[0],
                 .counters = elements,
                 .size = 1,
                 .inner = 1};
  if (!g.threefry) {
    g.counters = (elements * (g.wide ? 2 : 1) + 3) / 4;
  } else if (!g.wide && t->rank) {
    uint32_t d = paired_dimension(t);
    g.size = (uint64_t)t->dims[d];
    for (uint32_t i = d + 1; i < t->rank; ++i) g.inner *= (uint64_t)t->dims[i];
    g.counters = g.size ? elements / g.size * ((g.size + 1) / 2) : 0;
  }
  return g;
}

static const char *bits_of(lowering *l, const generator *g)
{
  if (g->threefry)
    return g->wide ? "hlo_threefry_64(state0, base + i)"
                   : PRINT("hlo_threefry_32(state0, base + i, %" PRIu64 ", %" PRIu64 ")", g->size,
                           g->inner);
  return PRINT("hlo_philox_%d(state0, %u, base + i)", g->wide ? 64 : 32, g->words);
}

/* Adds a codelet with `body` from the state to one result, and its vertices. */
static bool add_part(lowering *l, const operation *op, const value *result, spread_plan plan,
                     const char *body)
{
  static const bool sliced[2] = {false, true};
  range_codelet c = {.e.l = l};
  bool good = range_add_field(&c, op, "state", 0, op->operands[0], false) &&
              range_add_field(&c, op, "out", 0, result, true);
  text_add(&c.e.functions, "#include <populus/hlo_random.h>\n");
  text_add(&c.e.body, "%s", body);
  pop_tensor tensors[2] = {lowering_tensor(l, op->operands[0]),
                           lowering_variable(l, result->type, &plan, lowering_name(l, op))};
  lowering_set_tensor(l, result, tensors[1]);
  good = good && !l->error;
  if (good && plan.elements)
    range_add_vertices(l, op, &c, range_finish(&c, op), &plan, tensors, sliced);
  range_free(&c);
  return good;
}

bool lower_rng_bit_generator(lowering *l, const operation *op)
{
  const value *next = op->results[0], *out = op->results[1];
  const generator g = generator_of(op);
  const char *fill = PRINT("  for (unsigned i = 0; i < size; ++i) out0[i] = (%s)%s;\n",
                           element_infos[out->type->element].field, bits_of(l, &g));
  const char *advance =
      PRINT("  (void)size;\n  hlo_advance(state0, out0, %u, %" PRIu64 "u);\n", g.words, g.counters);
  return add_part(l, op, out, lowering_plan(l, type_elements(out->type), 64, 1), fill) &&
         add_part(l, op, next, lowering_plan(l, 1, 1, g.words), advance);
}

/* ---- a state that stays in the model ---- */

/* Each operation has its own key; the counter begins at 0 when an engine is loaded. */
bool lower_rng_state(lowering *l, const operation *op)
{
  if (op->code == OP_RNG_KEEP) {
    pop_tensor next = lowering_tensor(l, op->operands[1]);
    if (l->error) return false;
    pop_sequence_add(l->sequence,
                     pop_program_copy(next, state_of(l, op->operands[0])->tensor, "rng_keep"));
    return true;
  }
  uint64_t initial[2] = {++l->num_rng_states, 0};
  spread_plan plan = lowering_plan(l, 1, 1, 2);
  pop_tensor t = lowering_variable(l, op->results[0]->type, &plan, lowering_name(l, op));
  pop_graph_set_initial_value(l->graph, t, initial);
  lowering_set_tensor(l, op->results[0], t);
  return true;
}
