/* Codelets of ranges of a result (range.h). */
#include "models/range.h"

#include <stdlib.h>

bool range_add_field(range_codelet *c, const operation *op, const char *stem, size_t number,
                     const value *of, bool output)
{
  if (c->num_fields == sizeof c->fields / sizeof *c->fields)
    return lowering_fail(c->e.l, op, "%s has too many operands", op->name);
  range_field *f = &c->fields[c->num_fields++];
  snprintf(f->name, sizeof f->name, "%s%zu", stem, number);
  f->of = of;
  f->output = output;
  return true;
}

/* Declares pointers of the fields' names. */
static void add_pointers(text *t, const range_codelet *c)
{
  for (size_t i = 0; i < c->num_fields; ++i)
    text_add(t, "  %s%s *restrict %s = vertex->%s.data;\n", c->fields[i].output ? "" : "const ",
             element_infos[c->fields[i].of->type->element].field, c->fields[i].name,
             c->fields[i].name);
}

/* The source: the struct, then the body with its pointers, base and size (of the first output). */
uint32_t range_finish(range_codelet *c, const operation *op)
{
  static const char *const entries[] = {[RANGE_WORKER] = "COMPUTE",
                                        [RANGE_ALL_WORKERS] = "MULTI_COMPUTE",
                                        [RANGE_SUPERVISOR] = "SUPERVISOR_COMPUTE"};
  lowering *l = c->e.l;
  text t = {0};
  text_add(&t, "typedef struct {\n");
  const char *size = "", *aligned = c->kind == RANGE_WORKER ? "" : ", SPAN, 4";
  for (size_t i = 0; i < c->num_fields; ++i) {
    bool output = c->fields[i].output;
    text_add(&t, "  %s(VECTOR(%s%s)) %s;\n",
             c->fields[i].updated ? "INOUT"
             : output             ? "OUTPUT"
                                  : "INPUT",
             element_infos[c->fields[i].of->type->element].field, output ? aligned : "",
             c->fields[i].name);
    if (c->fields[i].boxed) box_add_fields(&t, i, c->fields[i].of->type->rank);
    if (output && !*size) size = c->fields[i].name;
  }
  text_add(&t, "  unsigned base;\n} NAME;\n%s\n%s(NAME)\n{\n",
           c->e.functions.data ? c->e.functions.data : "", entries[c->kind]);
  if (c->kind == RANGE_WORKER) add_pointers(&t, c);
  text_add(&t,
           "  const unsigned base = vertex->base, size = vertex->%s.size;\n"
           "  (void)base, (void)size;\n%s"
           "  return true;\n}\n",
           size, c->e.body.data ? c->e.body.data : "");
  uint32_t codelet = lowering_add_codelet(l, t.data, op_infos[op->code].name);
  text_free(&t);
  return codelet;
}

void range_free(range_codelet *c)
{
  emitter_free(&c->e);
}

void range_add_vertices(lowering *l, const operation *op, const range_codelet *c, uint32_t codelet,
                        const spread_plan *plan, const pop_tensor *tensors, const bool *sliced)
{
  pop_compute_set set = pop_graph_add_compute_set(l->graph, lowering_name(l, op));
  size_t max_fields = c->num_fields + 1;
  for (size_t i = 0; i < c->num_fields; ++i)
    if (c->fields[i].boxed) max_fields += 2 * (size_t)c->fields[i].of->type->rank;
  for (uint64_t begin = 0, end; begin < plan->elements; begin = end) {
    end = plan_end(plan, begin);
    for (size_t i = 0; i < c->num_fields; ++i)
      if (c->fields[i].boxed && plan->grain == 1) end = box_cut(l, op, i, begin, end);
    size_t tile = plan_tile(l, plan, begin / plan->per_vertex);
    planned_vertex *v = lowering_add_vertex(l, set, codelet, tile, max_fields);
    vertex_set(v, "base", (int64_t)(begin * plan->grain));
    for (size_t i = 0; i < c->num_fields; ++i) {
      if (c->fields[i].boxed) {
        box b = box_needed(l, op, i, begin * plan->grain, end * plan->grain);
        box_connect(v, c->fields[i].name, i, tensors[i], &b);
        continue;
      }
      uint64_t all = pop_tensor_num_elements(tensors[i]);
      uint64_t unit = plan->elements ? all / plan->elements : 0;
      pop_tensor t = pop_tensor_flatten(tensors[i]);
      vertex_connect(v, c->fields[i].name,
                     sliced[i] ? pop_tensor_slice(t, begin * unit, end * unit, 0) : t);
    }
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
}

pop_tensor range_map(lowering *l, const operation *op, pop_tensor t, element_type from,
                     element_type to, const char *body)
{
  range_codelet c = {.e.l = l};
  int64_t elements = (int64_t)pop_tensor_num_elements(t);
  const model_type types[2] = {{.rank = 1, .dims = &elements, .element = from},
                               {.rank = 1, .dims = &elements, .element = to}};
  const value in = {.type = &types[0]}, out = {.type = &types[1]};
  static const bool sliced[2] = {true, true};
  spread_plan plan = lowering_plan(l, (uint64_t)elements, 4, 1);
  const pop_tensor tensors[2] = {t, lowering_variable(l, &types[1], &plan, lowering_name(l, op))};
  if (range_add_field(&c, op, "in", 0, &in, false) &&
      range_add_field(&c, op, "out", 0, &out, true)) {
    text_add(&c.e.body, "  for (unsigned i = 0; i < size; ++i) {\n    %s\n  }\n", body);
    range_add_vertices(l, op, &c, range_finish(&c, op), &plan, tensors, sliced);
  }
  range_free(&c);
  size_t shape[MODEL_MAX_RANK] = {0}, rank = pop_tensor_rank(t);
  for (size_t d = 0; d < rank; ++d) shape[d] = pop_tensor_dim(t, d);
  return pop_tensor_reshape(tensors[1], shape, rank);
}
