/* The user's own codelets: a custom_call of @populus.vertex is one vertex.
 *
 *   %y = stablehlo.custom_call @populus.vertex(%a, %b) {backend_config = {
 *          vertex = "Scale", codelets = "scale.c", tile = 3 : i64, factor = 2.0 : f32}} : (…) -> …
 *
 * `codelets` names a source file or a .gp; relative paths start at the module's folder. Operands
 * are connected to the fields in0, in1, … and results to out0, out1, … as vectors of their elements
 * in row-major order. `tile` defaults to 0. Every other entry sets the field of that name to its
 * number. The dictionary may be called mhlo.backend_config, as jax.ffi writes it. */
#include "models/lowering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const attribute *entry_of(const attribute *config, const char *name)
{
  return attribute_find(config->items, config->num_items, name);
}

static char *codelet_path(lowering *l, const char *given)
{
  const char *slash = strrchr(l->m->file, '/');
  if (*given == '/' || !slash) return pop_arena_strdup(l->m->arena, given);
  return pop_arena_printf(l->m->arena, "%.*s/%s", (int)(slash - l->m->file), l->m->file, given);
}

static void set_fields(lowering *l, const attribute *config, pop_vertex v)
{
  static const char *const ours[] = {"vertex", "codelets", "tile"};
  for (size_t i = 0; i < config->num_items; ++i) {
    const attribute *a = &config->items[i];
    bool is_ours = false;
    for (size_t k = 0; k < sizeof ours / sizeof *ours; ++k)
      is_ours |= strcmp(ours[k], a->name) == 0;
    if (is_ours) continue;
    if (a->kind == ATTRIBUTE_FLOAT)
      pop_graph_set_field_float(l->graph, v, a->name, a->number);
    else
      pop_graph_set_field_int(l->graph, v, a->name, a->integer);
  }
}

/* A variable for the result, on the vertex's tile; returns it flattened. */
static pop_tensor result_on_tile(lowering *l, const operation *op, const value *v, size_t tile)
{
  size_t shape[MODEL_MAX_RANK + 1] = {0};
  for (uint32_t d = 0; d < v->type->rank; ++d) shape[d] = (size_t)v->type->dims[d];
  pop_tensor t = pop_graph_add_variable(l->graph, element_infos[v->type->element].type, shape,
                                        v->type->rank, lowering_name(l, op));
  pop_graph_set_tile_mapping(l->graph, t, tile);
  lowering_set_tensor(l, v, t);
  return pop_tensor_flatten(t);
}

bool lower_custom_call(lowering *l, const operation *op)
{
  if (strcmp(op_word(op, "call_target_name"), "shape_assertion") == 0) return true; /* it holds */
  const attribute *config = custom_config(op), *tile = entry_of(config, "tile");
  size_t on = tile ? (size_t)tile->integer : 0;
  if (on >= l->num_tiles)
    return lowering_fail(l, op, "custom_call: there is no tile %zu, only %zu tiles", on,
                         l->num_tiles);
  pop_graph_add_codelets(l->graph, codelet_path(l, entry_of(config, "codelets")->text), "-O2");
  pop_compute_set set = pop_graph_add_compute_set(l->graph, lowering_name(l, op));
  pop_vertex v = pop_graph_add_vertex(l->graph, set, entry_of(config, "vertex")->text);
  char field[24];
  for (size_t i = 0; i < op->num_operands; ++i) {
    pop_tensor t = lowering_tensor(l, op->operands[i]);
    if (l->error) return false;
    snprintf(field, sizeof field, "in%zu", i);
    pop_graph_connect(l->graph, v, field, pop_tensor_flatten(t));
  }
  for (size_t i = 0; i < op->num_results; ++i) {
    snprintf(field, sizeof field, "out%zu", i);
    pop_graph_connect(l->graph, v, field, result_on_tile(l, op, op->results[i], on));
  }
  set_fields(l, config, v);
  pop_graph_set_vertex_tile(l->graph, v, on);
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
  pop_error *error = pop_graph_take_error(l->graph);
  if (!error) return true;
  char *place = model_place(l->m, op->offset);
  l->error = pop_error_prefix(error, "%s: custom_call", place);
  free(place);
  return false;
}
