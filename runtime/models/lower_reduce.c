/* Reduces of large operands to few elements. They take two steps, so that all workers take part.
 *
 * The operand is seen as a matrix with a row for each element of the result:
 *
 *   [outs, length] -> [outs, pieces] -> [outs]
 *
 * In the first step each vertex combines a piece of some rows, starting with the piece's first
 * element. In the second step the initial value is put in front of the pieces' results. So each
 * element, and the initial value, is combined exactly once, in the operand's order. */
#include "models/lowering.h"

#include "poplibs/host/reduce_cut.h"

#include <stdlib.h>

#define PRINT(...) pop_arena_printf(l->m->arena, __VA_ARGS__)

typedef struct reduction {
  lowering *l;
  const operation *op;
  size_t inputs, outs, length;
  bool by_rows; /* elements of a row are adjacent in memory */
  uint32_t codelet;
} reduction;

/* ---- where the matrix is cut ---- */

static reduce_cut find_cut(const lowering *l, size_t outs, size_t length)
{
  enum { SECOND_STEP = 256 };
  return reduce_find_cut(outs, length, l->num_tiles * l->num_workers, SECOND_STEP);
}

static size_t length_of(const operation *op)
{
  size_t outs = (size_t)type_elements(op->results[0]->type);
  return outs ? (size_t)type_elements(op->operands[0]->type) / outs : 0;
}

bool reduce_is_planned(const lowering *l, const operation *op)
{
  if (op->code != OP_REDUCE) return false;
  bool fits = true;
  for (size_t i = 0; i < op->num_operands / 2; ++i) fits = fits && fits_whole(l, op->operands[i]);
  return !fits &&
         find_cut(l, (size_t)type_elements(op->results[0]->type), length_of(op)).pieces > 1;
}

/* ---- the codelet ---- */

/* The codelet for inputs of the types of `from`. Element r of the vertex's row o is in[o * row_step
 * + r * step], with r < `length`. */
static bool make_codelet(reduction *r, value *const *from)
{
  lowering *l = r->l;
  emitter e = {.l = l};
  text t = {0}, step = {0};
  const char *region = emit_region(&e, r->op, 0);
  const char **acc = pop_arena_alloc(l->m->arena, 2 * r->inputs * sizeof *acc);
  if (region) {
    text_add(&t, "typedef struct {\n");
    for (size_t i = 0; i < r->inputs; ++i) {
      text_add(&t, "  INPUT(VECTOR(%s)) in%zu;\n  OUTPUT(VECTOR(%s)) out%zu;\n",
               element_infos[from[i]->type->element].field, i,
               element_infos[r->op->results[i]->type->element].field, i);
      acc[i] = PRINT("a%zu", i);
      acc[r->inputs + i] = PRINT("hlo_load_%s(vertex->in%zu.data[at])", suffix_of(from[i]), i);
    }
    text_add(&t, "  unsigned length, row_step, step;\n} NAME;\n%s\nCOMPUTE(NAME)\n{\n",
             e.functions.data);
    text_add(&t, "  for (unsigned o = 0; o < vertex->out0.size; ++o) {\n"
                 "    unsigned at = o * vertex->row_step;\n");
    for (size_t i = 0; i < r->inputs; ++i)
      text_add(&t, "    %s a%zu = %s;\n", c_type_of(r->op->results[i]), i, acc[r->inputs + i]);
    emit_region_call(&e, &step, &r->op->regions[0], region, acc, acc);
    text_add(&t,
             "    for (unsigned n = vertex->length; --n > 0;) {\n      at += vertex->step;\n"
             "      %s    }\n",
             step.data);
    for (size_t i = 0; i < r->inputs; ++i)
      text_add(&t, "    vertex->out%zu.data[o] = hlo_store_%s(a%zu);\n", i,
               suffix_of(r->op->results[i]), i);
    text_add(&t, "  }\n  return true;\n}\n");
    r->codelet = lowering_add_codelet(l, t.data, "reduce");
  }
  text_free(&t);
  text_free(&step);
  emitter_free(&e);
  return region != NULL;
}

/* A vertex for the parts [rows, elements] of the matrices. */
static void add_vertex(const reduction *r, pop_compute_set set, size_t tile,
                       const pop_tensor *parts, const pop_tensor *outs)
{
  size_t rows = pop_tensor_dim(parts[0], 0), length = pop_tensor_dim(parts[0], 1);
  planned_vertex *v = lowering_add_vertex(r->l, set, r->codelet, tile, 2 * r->inputs + 3);
  for (size_t i = 0; i < r->inputs; ++i) {
    char field[24];
    snprintf(field, sizeof field, "in%zu", i);
    vertex_connect(v, field,
                   pop_tensor_flatten(r->by_rows ? parts[i] : pop_tensor_transpose(parts[i])));
    snprintf(field, sizeof field, "out%zu", i);
    vertex_connect(v, field, outs[i]);
  }
  vertex_set(v, "length", (int64_t)length);
  vertex_set(v, "row_step", (int64_t)(r->by_rows ? length : 1));
  vertex_set(v, "step", (int64_t)(r->by_rows ? 1 : rows));
}

/* ---- the first step ---- */

static void note_tile(void *context, size_t tile, size_t begin, size_t end)
{
  (void)begin;
  (void)end;
  *(size_t *)context = tile;
}

/* The tile of the part's first element if it has a free worker; otherwise the next tile that has
 * one. */
static size_t take_tile(const reduction *r, size_t *taken, size_t *next, pop_tensor part)
{
  size_t tile = SIZE_MAX;
  pop_graph_visit_tile_mapping(
      r->l->graph,
      pop_tensor_flatten(pop_tensor_slice_nd(part, (size_t[]){0, 0}, (size_t[]){1, 1}, 2)),
      note_tile, &tile);
  if (tile >= r->l->num_tiles || taken[tile] == r->l->num_workers) {
    while (taken[*next] == r->l->num_workers) ++*next;
    tile = *next;
  }
  ++taken[tile];
  return tile;
}

/* matrices[i] becomes [outs, pieces]. */
static void combine_parts(reduction *r, reduce_cut c, pop_tensor *matrices)
{
  lowering *l = r->l;
  const char *name = lowering_name(l, r->op);
  pop_compute_set set = pop_graph_add_compute_set(l->graph, name);
  pop_tensor *all = pop_xcalloc(3 * r->inputs, sizeof *all), *parts = all + r->inputs,
             *outs = parts + r->inputs;
  size_t *taken = pop_xcalloc(l->num_tiles, sizeof *taken), next = 0;
  for (size_t i = 0; i < r->inputs; ++i)
    all[i] = pop_graph_add_variable(l->graph, element_infos[r->op->results[i]->type->element].type,
                                    (size_t[]){c.pieces, r->outs}, 2, name);
  for (size_t p = 0; p < c.pieces; ++p)
    for (size_t o = 0; o < c.outs; ++o) {
      size_t begin = o * r->outs / c.outs, end = (o + 1) * r->outs / c.outs;
      size_t from = p * r->length / c.pieces, to = (p + 1) * r->length / c.pieces, tile = 0;
      for (size_t i = 0; i < r->inputs; ++i) {
        parts[i] =
            pop_tensor_slice_nd(matrices[i], (size_t[]){begin, from}, (size_t[]){end, to}, 2);
        if (i == 0) tile = take_tile(r, taken, &next, parts[i]);
        outs[i] = pop_tensor_slice(pop_tensor_index(all[i], p), begin, end, 0);
        pop_graph_set_tile_mapping(l->graph, outs[i], tile);
      }
      add_vertex(r, set, tile, parts, outs);
    }
  for (size_t i = 0; i < r->inputs; ++i) matrices[i] = pop_tensor_transpose(all[i]);
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
  free(taken);
  free(all);
}

/* ---- the second step ---- */

static void combine_pieces(reduction *r, const pop_tensor *matrices)
{
  lowering *l = r->l;
  const char *name = lowering_name(l, r->op);
  size_t length = pop_tensor_dim(matrices[0], 1) + 1;
  spread_plan plan = lowering_plan(l, r->outs, length, 1);
  pop_compute_set set = pop_graph_add_compute_set(l->graph, name);
  pop_tensor *all = pop_xcalloc(4 * r->inputs, sizeof *all), *results = all + r->inputs;
  pop_tensor *parts = results + r->inputs, *outs = parts + r->inputs;
  r->by_rows = false;
  for (size_t i = 0; i < r->inputs; ++i) {
    pop_tensor initial = pop_tensor_flatten(lowering_tensor(l, r->op->operands[r->inputs + i]));
    initial =
        pop_tensor_reshape(pop_tensor_broadcast(initial, r->outs, 0), (size_t[]){r->outs, 1}, 2);
    all[i] = pop_concat((pop_tensor[]){initial, matrices[i]}, 2, 1);
    pop_tensor result = lowering_variable(l, r->op->results[i]->type, &plan, name);
    lowering_set_tensor(l, r->op->results[i], result);
    results[i] = pop_tensor_flatten(result);
  }
  for (uint64_t n = 0; n < plan.num_vertices && !l->error; ++n) {
    size_t begin = (size_t)(n * plan.per_vertex), end = begin + (size_t)plan.per_vertex;
    if (end > r->outs) end = r->outs;
    for (size_t i = 0; i < r->inputs; ++i) {
      parts[i] = pop_tensor_slice(all[i], begin, end, 0);
      outs[i] = pop_tensor_slice(results[i], begin, end, 0);
    }
    add_vertex(r, set, plan_tile(l, &plan, n), parts, outs);
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
  free(all);
}

bool lower_reduce(lowering *l, const operation *op)
{
  reduction r = {.l = l, .op = op, .inputs = op->num_operands / 2, .length = length_of(op)};
  const model_type *type = op->operands[0]->type;
  size_t order[MODEL_MAX_RANK] = {0};
  r.outs = (size_t)type_elements(op->results[0]->type);
  reduce_order(l, op, order);
  r.by_rows = true;
  for (size_t d = 0; d < op->results[0]->type->rank; ++d)
    if (order[d] == type->rank - 1) r.by_rows = false;
  pop_tensor *matrices = pop_xcalloc(r.inputs, sizeof *matrices);
  for (size_t i = 0; i < r.inputs; ++i)
    matrices[i] = pop_tensor_reshape(
        pop_tensor_dim_shuffle(lowering_tensor(l, op->operands[i]), order, type->rank),
        (size_t[]){r.outs, r.length}, 2);
  bool good = !l->error && make_codelet(&r, op->operands);
  if (good) combine_parts(&r, find_cut(l, r.outs, r.length), matrices);
  good = good && make_codelet(&r, op->results);
  if (good) combine_pieces(&r, matrices);
  free(matrices);
  return good && !l->error;
}
