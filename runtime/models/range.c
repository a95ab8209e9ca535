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

/* Pointers by the fields' names. */
static void add_pointers(text *t, const range_codelet *c)
{
  for (size_t i = 0; i < c->num_fields; ++i)
    text_add(t, "  %s%s *restrict %s = vertex->%s.data;\n", c->fields[i].output ? "" : "const ",
             element_infos[c->fields[i].of->type->element].field, c->fields[i].name,
             c->fields[i].name);
}

/* The struct, the body with pointers, base and size (of the first output). */
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
  for (uint64_t n = 0; n < plan->num_vertices; ++n) {
    uint64_t begin = n * plan->per_vertex, end = begin + plan->per_vertex;
    if (end > plan->elements) end = plan->elements;
    planned_vertex *v = lowering_add_vertex(l, set, codelet, plan_tile(l, plan, n), max_fields);
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
