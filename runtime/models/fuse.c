/* Makes one codelet of pending values: a loop over the elements of one value that calculates
 * everything it needs at the same index. If other operations also need one of these values, it
 * becomes an output, too.
 *
 *     struct { inputs, outputs, base }
 *     setup: operands of one element
 *     for i: e = base + i; v12 = …; v13 = …; out0[i] = v13
 */
#include "models/lowering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
  lowering *l;
  uint64_t elements;
  const operation **ops;
  size_t num_ops, ops_capacity;
  const value **outputs;
  size_t num_outputs, outputs_capacity;
} group;

static void take_op(group *g, const operation *op)
{
  for (size_t i = 0; i < op->num_results; ++i) state_of(g->l, op->results[i])->in_group = true;
  pop_push(g->ops, g->num_ops, g->ops_capacity, op);
}

/* Adds the pending operands that are needed at the same index, or have one element and are cheap.
 * All others have been calculated already (lower.c). */
static void collect(group *g, const operation *root)
{
  take_op(g, root);
  for (size_t next = 0; next < g->num_ops; ++next) {
    const operation *op = g->ops[next];
    for (size_t i = 0; i < op->num_operands; ++i) {
      value_state *s = state_of(g->l, op->operands[i]);
      access how = index_access(g->l, op, i);
      if (s->kind != STATE_PENDING || (how != ACCESS_SAME && how != ACCESS_SCALAR)) continue;
      s->group_uses++;
      if (!s->in_group) take_op(g, s->op);
    }
  }
}

static int by_number(const void *a, const void *b)
{
  uint32_t x = (*(const operation *const *)a)->results[0]->number;
  uint32_t y = (*(const operation *const *)b)->results[0]->number;
  return x < y ? -1 : x > y;
}

static bool in_setup(const group *g, const operation *op)
{
  return g->elements != 1 && type_elements(op->results[0]->type) == 1;
}

static void choose_outputs(group *g, const value *root)
{
  for (size_t i = 0; i < g->num_ops; ++i) {
    if (in_setup(g, g->ops[i])) continue;
    for (size_t k = 0; k < g->ops[i]->num_results; ++k) {
      const value *v = g->ops[i]->results[k];
      const value_state *s = state_of(g->l, v);
      if (v == root || s->uses > s->group_uses)
        pop_push(g->outputs, g->num_outputs, g->outputs_capacity, v);
    }
  }
}

static bool emit_op(emitter *e, const operation *op, bool setup)
{
  text *to = setup ? &e->setup : &e->body;
  e->in_setup = setup;
  if (op_infos[op->code].how != HOW_ELEMENT) return emit_index(e, to, op);
  const char *x[4] = {0};
  if (op->num_operands > 4) return lowering_fail(e->l, op, "%s has too many operands", op->name);
  for (size_t i = 0; i < op->num_operands; ++i)
    x[i] = emit_operand(e, op->operands[i], index_access(e->l, op, i), NULL);
  text_add(to, "    const %s %s = %s;\n", c_type_of(op->results[0]),
           emit_variable(e, op->results[0]), emit_element(e, op, x));
  return true;
}

static char *codelet_source(const group *g, emitter *e)
{
  text t = {0};
  text_add(&t, "typedef struct {\n");
  for (size_t i = 0; i < e->num_inputs; ++i) {
    const model_type *type = e->inputs[i].v->type;
    text_add(&t, "  INPUT(VECTOR(%s)) in%zu;\n", element_infos[type->element].field, i);
    if (e->inputs[i].how == ACCESS_BOX) box_add_fields(&t, i, type->rank);
  }
  for (size_t i = 0; i < g->num_outputs; ++i)
    text_add(&t, "  OUTPUT(VECTOR(%s)) out%zu;\n",
             element_infos[g->outputs[i]->type->element].field, i);
  text_add(&t, "  unsigned base;\n} NAME;\n%s\nCOMPUTE(NAME)\n{\n",
           e->functions.data ? e->functions.data : "");
  for (size_t i = 0; i < e->num_inputs; ++i)
    text_add(&t, "  const %s *restrict in%zu = vertex->in%zu.data;\n",
             element_infos[e->inputs[i].v->type->element].field, i, i);
  for (size_t i = 0; i < g->num_outputs; ++i)
    text_add(&t, "  %s *restrict out%zu = vertex->out%zu.data;\n",
             element_infos[g->outputs[i]->type->element].field, i, i);
  text_add(&t,
           "  const unsigned e = 0, base = vertex->base, size = vertex->out0.size;\n  (void)e;\n");
  text_add(&t,
           "%s  for (unsigned i = 0; i < size; ++i) {\n    const unsigned e = base + i;\n"
           "    (void)e;\n%s",
           e->setup.data ? e->setup.data : "", e->body.data ? e->body.data : "");
  for (size_t i = 0; i < g->num_outputs; ++i)
    text_add(&t, "    out%zu[i] = hlo_store_%s(%s);\n", i, suffix_of(g->outputs[i]),
             emit_variable(e, g->outputs[i]));
  text_add(&t, "  }\n  return true;\n}\n");
  return t.data;
}

/* Connects input number i to what elements [begin, end) of the outputs need. */
static void connect_input(const lowering *l, planned_vertex *v, const emitted_input *in, size_t i,
                          pop_tensor t, uint64_t begin, uint64_t end)
{
  char field[24];
  snprintf(field, sizeof field, "in%zu", i);
  if (in->how == ACCESS_BOX) {
    box b = box_needed(l, in->op, in->operand, begin, end);
    box_connect(v, field, i, t, &b);
  } else {
    vertex_connect(v, field, in->how == ACCESS_WHOLE ? t : pop_tensor_slice(t, begin, end, 0));
  }
}

static void add_vertices(group *g, const emitter *e, uint32_t codelet, const spread_plan *plan)
{
  lowering *l = g->l;
  pop_compute_set set =
      pop_graph_add_compute_set(l->graph, lowering_name(l, g->outputs[g->num_outputs - 1]->op));
  pop_tensor *inputs = pop_xcalloc(e->num_inputs + 1, sizeof *inputs);
  for (size_t i = 0; i < e->num_inputs; ++i) {
    inputs[i] = lowering_tensor(l, e->inputs[i].v);
    if (e->inputs[i].how != ACCESS_BOX) inputs[i] = pop_tensor_flatten(inputs[i]);
  }
  size_t max_fields = e->num_inputs + g->num_outputs + 1;
  for (size_t i = 0; i < e->num_inputs; ++i)
    if (e->inputs[i].how == ACCESS_BOX) max_fields += 2 * (size_t)e->inputs[i].v->type->rank;
  for (uint64_t begin = 0, end; begin < plan->elements; begin = end) {
    end = plan_end(plan, begin);
    for (size_t i = 0; i < e->num_inputs; ++i)
      if (e->inputs[i].how == ACCESS_BOX)
        end = box_cut(l, e->inputs[i].op, e->inputs[i].operand, begin, end);
    size_t tile = plan_tile(l, plan, begin / plan->per_vertex);
    planned_vertex *v = lowering_add_vertex(l, set, codelet, tile, max_fields);
    vertex_set(v, "base", (int64_t)begin);
    char field[24];
    for (size_t i = 0; i < e->num_inputs; ++i)
      connect_input(l, v, &e->inputs[i], i, inputs[i], begin, end);
    for (size_t i = 0; i < g->num_outputs; ++i) {
      snprintf(field, sizeof field, "out%zu", i);
      vertex_connect(
          v, field,
          pop_tensor_slice(pop_tensor_flatten(state_of(l, g->outputs[i])->tensor), begin, end, 0));
    }
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
  free(inputs);
}

static bool make_codelet(group *g, const value *root)
{
  lowering *l = g->l;
  emitter e = {.l = l};
  bool good = true;
  uint64_t cost = 0;
  for (size_t i = 0; i < g->num_ops && good; ++i) {
    good = emit_op(&e, g->ops[i], in_setup(g, g->ops[i]));
    cost += index_cost(l, g->ops[i]);
  }
  choose_outputs(g, root);
  if (good) {
    spread_plan plan = lowering_plan(l, g->elements, cost, 1);
    place_value(l, &plan, root);
    char *source = codelet_source(g, &e);
    uint32_t codelet = lowering_add_codelet(l, source, op_infos[g->ops[g->num_ops - 1]->code].name);
    free(source);
    for (size_t i = 0; i < g->num_outputs; ++i)
      lowering_set_tensor(
          l, g->outputs[i],
          lowering_variable(l, g->outputs[i]->type, &plan, lowering_name(l, g->outputs[i]->op)));
    if (g->elements) add_vertices(g, &e, codelet, &plan);
  }
  emitter_free(&e);
  return good;
}

bool fuse_and_materialise(lowering *l, const value *v)
{
  group g = {.l = l, .elements = type_elements(v->type)};
  collect(&g, state_of(l, v)->op);
  qsort(g.ops, g.num_ops, sizeof *g.ops, by_number);
  bool good = make_codelet(&g, v);
  for (size_t i = 0; i < g.num_ops; ++i)
    for (size_t k = 0; k < g.ops[i]->num_results; ++k) {
      value_state *s = state_of(l, g.ops[i]->results[k]);
      s->in_group = false;
      s->group_uses = 0;
    }
  free(g.ops);
  free(g.outputs);
  return good;
}
