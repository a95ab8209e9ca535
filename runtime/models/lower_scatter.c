/* Scatters with any region. Each vertex has one range of the result. It goes through the updates in
 * order and applies those that fall into its range.
 *
 * A vertex gets only the columns of the updates that its range needs. If all updates are too many
 * for a tile, they are processed in steps of some indices each. If there is a batch, the result is
 * stored batch by batch, whatever the order of its dimensions, and a vertex gets only the updates
 * of its part of the batch. */
#include "models/range.h"

#include <inttypes.h>
#include <string.h>

#define PRINT(...) pop_arena_printf(l->m->arena, __VA_ARGS__)

typedef struct scatter {
  lowering *l;
  const operation *op;
  size_t inputs;
  size_t order[MODEL_MAX_RANK]; /* the operand's dimensions, those of the batch first */
  const model_type *type;       /* the operand's, in that order; so are all fields below */
  uint64_t of_batch;            /* elements for one index of the batch */
  const model_type *indices, *updates;
  int64_t vector;
  int64_t map[MODEL_MAX_RANK];
  size_t num_map;
  /* For each dimension of the operand: the updates' window dimension, and the indices' batch
   * dimension; -1 for none. */
  int64_t column[MODEL_MAX_RANK], batch[MODEL_MAX_RANK];
  bool mapped[MODEL_MAX_RANK];         /* dimensions that an index addresses */
  uint32_t of_indices[MODEL_MAX_RANK]; /* for each dimension of the indices, that of the updates */
  uint32_t cut;                        /* dimension of the updates that steps divide */
  /* Updates are so long that it pays to send vertices only their columns. */
  bool by_columns;
} scatter;

/* The dimensions of the batch first, then the others. */
static void find_order(scatter *s, const int64_t *batch, size_t num_batch)
{
  const model_type *from = s->op->operands[0]->type;
  model_type *type = pop_arena_alloc(s->l->m->arena, sizeof *type);
  size_t next = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (uint32_t d = 0; d < from->rank; ++d)
      if (ints_have(batch, num_batch, d) == (pass == 0)) s->order[next++] = d;
  *type = *from;
  type->dims = pop_arena_alloc(s->l->m->arena, (from->rank + 1) * sizeof *type->dims);
  s->of_batch = 1;
  for (uint32_t i = 0; i < from->rank; ++i) {
    type->dims[i] = from->dims[s->order[i]];
    if (i >= num_batch) s->of_batch *= (uint64_t)type->dims[i];
  }
  s->type = type;
}

/* The position of the operand's dimension d in `order`. */
static uint32_t place_of(const scatter *s, int64_t d)
{
  uint32_t i = 0;
  while ((int64_t)s->order[i] != d) ++i;
  return i;
}

/* Chooses `cut`: of the updates' dimensions that are also the indices', without those of the batch,
 * the longest. */
static void find_cut(scatter *s, const int64_t *window, size_t num_window, const int64_t *of,
                     size_t num_of)
{
  int64_t next = 0;
  s->cut = MODEL_MAX_RANK;
  for (uint32_t d = 0; d < s->updates->rank; ++d) {
    if (ints_have(window, num_window, d)) continue;
    if (next == s->vector) ++next;
    s->of_indices[next] = d;
    if (!ints_have(of, num_of, next++) &&
        (s->cut == MODEL_MAX_RANK || s->updates->dims[d] > s->updates->dims[s->cut]))
      s->cut = d;
  }
}

static scatter scatter_of(lowering *l, const operation *op)
{
  const attribute *dn = op_attribute(op, "scatter_dimension_numbers");
  scatter s = {.l = l, .op = op, .inputs = op->num_operands / 2};
  size_t num_window, num_inserted, num_batch, num_of, next = 0;
  const int64_t *window = dict_int_list(l->m, dn, "update_window_dims", &num_window);
  const int64_t *inserted = dict_int_list(l->m, dn, "inserted_window_dims", &num_inserted);
  const int64_t *batch = dict_int_list(l->m, dn, "input_batching_dims", &num_batch);
  const int64_t *of = dict_int_list(l->m, dn, "scatter_indices_batching_dims", &num_of);
  const int64_t *map = dict_int_list(l->m, dn, "scatter_dims_to_operand_dims", &s.num_map);
  find_order(&s, batch, num_batch);
  s.indices = op->operands[s.inputs]->type;
  s.updates = op->operands[s.inputs + 1]->type;
  s.vector = dict_int(dn, "index_vector_dim", 0);
  for (size_t k = 0; k < s.num_map; ++k) s.map[k] = place_of(&s, map[k]);
  for (uint32_t d = 0; d < s.type->rank; ++d) {
    uint32_t i = place_of(&s, d);
    s.batch[i] = s.column[i] = -1;
    s.mapped[i] = ints_have(map, s.num_map, d);
    for (size_t k = 0; k < num_batch; ++k)
      if (batch[k] == d) s.batch[i] = of[k];
    if (s.batch[i] < 0 && !ints_have(inserted, num_inserted, d)) s.column[i] = window[next++];
  }
  enum { LONG_BYTES = 1024 };
  uint64_t bytes = element_bytes(s.type->element);
  for (size_t k = 0; k < num_window; ++k) bytes *= (uint64_t)s.updates->dims[window[k]];
  s.by_columns = bytes > LONG_BYTES;
  find_cut(&s, window, num_window, of, num_of);
  return s;
}

/* ---- the codelet ---- */

/* Fields: the indices, the updates, the results. Boxes have the numbers of these fields. */
enum { INDICES, UPDATES };

/* For each vector of indices: o<d>, where its update begins in dimension d of the operand. */
static void emit_begin(const scatter *s, text *to)
{
  lowering *l = s->l;
  const char *at[MODEL_MAX_RANK] = {0};
  size_t results = UPDATES + s->inputs;
  for (uint32_t d = 0; d < s->indices->rank; ++d)
    if (d != s->vector) at[d] = PRINT("x%u", s->of_indices[d]);
  for (size_t k = 0; k < s->num_map; ++k) {
    if (s->vector < s->indices->rank) at[s->vector] = PRINT("%zu", k);
    /* An unsigned index of 64 bits may have the bits of a negative one. */
    bool wide = s->indices->element == ELEMENT_U64;
    text_add(to, "    const %s s%zu = where0[%s];\n", wide ? "unsigned long long" : "long long", k,
             box_index(l->m->arena, INDICES, s->indices->rank, at));
    text_add(to, "    if (%ss%zu > 0x7fffffff) continue;\n",
             wide ? "" : PRINT("s%zu < -0x7fffffff || ", k), k);
  }
  for (uint32_t d = 0; d < s->type->rank; ++d) {
    const char *begin = "0";
    for (size_t k = 0; k < s->num_map; ++k)
      if (s->map[k] == d) begin = PRINT("(int)s%zu", k);
    if (s->batch[d] >= 0) begin = PRINT("x%u", s->of_indices[s->batch[d]]);
    text_add(to, "    const int o%u = %s;\n", d, begin);
    if (s->column[d] < 0) /* one element wide: is it the vertex's? */
      text_add(
          to,
          "    if ((unsigned)(o%u - (int)vertex->begin%zu_%u) >= vertex->size%zu_%u) continue;\n",
          d, results, d, results, d);
  }
}

/* Loops over the part of the update that is in the vertex's box. */
static void emit_columns(const scatter *s, text *to)
{
  size_t results = UPDATES + s->inputs;
  for (uint32_t d = 0; d < s->type->rank; ++d) {
    if (s->column[d] < 0) continue;
    unsigned u = (unsigned)s->column[d];
    text_add(to,
             "    int x%u = (int)vertex->begin%zu_%u - o%u, e%u = x%u + (int)vertex->size%zu_%u;\n"
             "    if (x%u < (int)vertex->begin%d_%u) x%u = (int)vertex->begin%d_%u;\n"
             "    if (e%u > (int)(vertex->begin%d_%u + vertex->size%d_%u)) e%u = "
             "(int)(vertex->begin%d_%u + vertex->size%d_%u);\n"
             "    for (; x%u < e%u; ++x%u) {\n",
             u, results, d, d, u, u, results, d, u, UPDATES, u, u, UPDATES, u, u, UPDATES, u,
             UPDATES, u, u, UPDATES, u, UPDATES, u, u, u, u);
  }
}

static void emit_body(const scatter *s, range_codelet *c, const char *region)
{
  lowering *l = s->l;
  text *to = &c->e.body;
  const char *x[MODEL_MAX_RANK] = {0}, *y[MODEL_MAX_RANK] = {0};
  for (uint32_t d = 0; d < s->updates->rank; ++d) {
    bool window = false;
    x[d] = PRINT("x%u", d);
    for (uint32_t k = 0; k < s->type->rank; ++k) window = window || s->column[k] == d;
    if (!window)
      text_add(to,
               "  for (int x%u = (int)vertex->begin%d_%u, e%u = x%u + (int)vertex->size%d_%u; x%u "
               "< e%u; ++x%u)\n",
               d, UPDATES, d, d, d, UPDATES, d, d, d, d);
  }
  /* Runs once; it is there for `continue`, in case there is no loop around it. */
  text_add(to, "  do {\n");
  emit_begin(s, to);
  emit_columns(s, to);
  for (uint32_t d = 0; d < s->type->rank; ++d)
    y[d] = s->column[d] < 0 ? PRINT("o%u", d) : PRINT("(o%u + x%" PRId64 ")", d, s->column[d]);
  text_add(to, "    const unsigned i = (unsigned)(%s) - base;\n    if (i < size) {\n",
           emit_linear_index(&c->e, y, s->type));
  text_add(to, "    const unsigned update = %s;\n",
           box_index(l->m->arena, UPDATES, s->updates->rank, x));
  const char **arguments = pop_arena_alloc(l->m->arena, 2 * s->inputs * sizeof *arguments);
  const char **results = pop_arena_alloc(l->m->arena, s->inputs * sizeof *results);
  for (size_t k = 0; k < s->inputs; ++k) {
    const char *suffix = suffix_of(s->op->operands[k]);
    arguments[k] = PRINT("hlo_load_%s(out%zu[i])", suffix, k);
    arguments[s->inputs + k] = PRINT("hlo_load_%s(update%zu[update])", suffix, k);
    results[k] = PRINT("r%zu", k);
    text_add(to, "    %s r%zu;\n", c_type_of(s->op->operands[k]), k);
  }
  text_add(to, "    ");
  emit_region_call(&c->e, to, &s->op->regions[0], region, arguments, results);
  for (size_t k = 0; k < s->inputs; ++k)
    text_add(to, "    out%zu[i] = hlo_store_%s(r%zu);\n", k, suffix_of(s->op->operands[k]), k);
  text_add(to, "    }\n");
  for (uint32_t d = 0; d < s->type->rank; ++d)
    if (s->column[d] >= 0) text_add(to, "    }\n");
  text_add(to, "  } while (0);\n");
}

static bool add_fields(const scatter *s, range_codelet *c)
{
  const operation *op = s->op;
  bool good = range_add_field(c, op, "where", 0, op->operands[s->inputs], false);
  for (size_t i = 0; i < s->inputs && good; ++i)
    good = range_add_field(c, op, "update", i, op->operands[s->inputs + 1 + i], false);
  for (size_t i = 0; i < s->inputs && good; ++i) {
    good = range_add_field(c, op, "out", i, op->results[i], true);
    if (good) c->fields[UPDATES + s->inputs + i].updated = true;
  }
  if (good)
    c->fields[INDICES].boxed = c->fields[UPDATES].boxed = c->fields[UPDATES + s->inputs].boxed =
        true;
  return good;
}

/* ---- vertices ---- */

/* The updates and indices that elements `r` of the result need, in step [begin, end) of dimension
 * `cut`. */
static void needed(const scatter *s, const box *r, int64_t begin, int64_t end, box *updates,
                   box *indices)
{
  *updates = *indices = (box){{0}, {0}};
  memcpy(updates->end, s->updates->dims, s->updates->rank * sizeof *updates->end);
  for (uint32_t d = 0; d < s->type->rank; ++d) {
    int64_t u = s->column[d];
    if (u < 0 || s->mapped[d] || !s->by_columns) continue;
    int64_t size = s->updates->dims[u];
    updates->end[u] = r->end[d] < size ? r->end[d] : size;
    updates->begin[u] = r->begin[d] < updates->end[u] ? r->begin[d] : updates->end[u] - 1;
  }
  for (uint32_t d = 0; d < s->type->rank; ++d)
    if (s->batch[d] >= 0) {
      updates->begin[s->of_indices[s->batch[d]]] = r->begin[d];
      updates->end[s->of_indices[s->batch[d]]] = r->end[d];
    }
  if (s->cut < MODEL_MAX_RANK) {
    updates->begin[s->cut] = begin;
    updates->end[s->cut] = end;
  }
  for (uint32_t d = 0; d < s->indices->rank; ++d) {
    indices->begin[d] = d == s->vector ? 0 : updates->begin[s->of_indices[d]];
    indices->end[d] = d == s->vector ? s->indices->dims[d] : updates->end[s->of_indices[d]];
  }
}

/* How many indices of dimension `cut` a vertex takes in a step. */
static int64_t step_of(const scatter *s, const spread_plan *plan)
{
  enum { STEP_BYTES = 65536 };
  box updates, indices, r = box_of_range(s->type, 0, plan->per_vertex * plan->grain);
  if (s->cut == MODEL_MAX_RANK) return 1;
  needed(s, &r, 0, 1, &updates, &indices);
  uint64_t bytes = element_bytes(s->indices->element), count = 1;
  for (uint32_t d = 0; d < s->indices->rank; ++d)
    bytes *= (uint64_t)(indices.end[d] - indices.begin[d]);
  for (uint32_t d = 0; d < s->updates->rank; ++d)
    count *= (uint64_t)(updates.end[d] - updates.begin[d]);
  for (size_t i = 0; i < s->inputs; ++i)
    bytes += count * element_bytes(s->op->operands[i]->type->element);
  return bytes < STEP_BYTES ? (int64_t)(STEP_BYTES / bytes) : 1;
}

static void add_step(const scatter *s, const range_codelet *c, uint32_t codelet,
                     const spread_plan *plan, const pop_tensor *tensors, int64_t from, int64_t to)
{
  lowering *l = s->l;
  size_t max_fields = c->num_fields + 1;
  max_fields += 2 * (size_t)(s->indices->rank + s->updates->rank + s->type->rank);
  pop_compute_set set = pop_graph_add_compute_set(l->graph, lowering_name(l, s->op));
  for (uint64_t n = 0; n < plan->num_vertices; ++n) {
    uint64_t begin = n * plan->per_vertex * plan->grain;
    uint64_t end = begin + plan->per_vertex * plan->grain;
    if (end > type_elements(s->type)) end = type_elements(s->type);
    box r = box_of_range(s->type, begin, end), updates, indices;
    needed(s, &r, from, to, &updates, &indices);
    planned_vertex *v = lowering_add_vertex(l, set, codelet, plan_tile(l, plan, n), max_fields);
    vertex_set(v, "base", (int64_t)begin);
    box_connect(v, c->fields[INDICES].name, INDICES, tensors[INDICES], &indices);
    box_connect(v, c->fields[UPDATES].name, UPDATES, tensors[UPDATES], &updates);
    for (size_t i = 1; i < s->inputs; ++i)
      vertex_connect(v, c->fields[UPDATES + i].name, box_of_tensor(tensors[UPDATES + i], &updates));
    box_set(v, UPDATES + s->inputs, s->type->rank, &r);
    for (size_t i = UPDATES + s->inputs; i < c->num_fields; ++i)
      vertex_connect(
          v, c->fields[i].name,
          pop_tensor_slice(pop_tensor_flatten(tensors[i]), (size_t)begin, (size_t)end, 0));
  }
  pop_sequence_add(l->sequence, pop_program_execute(l->graph, set, ""));
}

static bool make_results(const scatter *s, const range_codelet *c, const spread_plan *plan,
                         pop_tensor *tensors)
{
  lowering *l = s->l;
  size_t rank = s->type->rank, back[MODEL_MAX_RANK] = {0};
  for (size_t i = 0; i < rank; ++i) back[s->order[i]] = i;
  for (size_t i = 0; i < UPDATES + s->inputs; ++i)
    tensors[i] = lowering_tensor(l, s->op->operands[s->inputs + i]);
  for (size_t i = UPDATES + s->inputs; i < c->num_fields && !l->error; ++i) {
    const value *result = s->op->results[i - UPDATES - s->inputs];
    pop_tensor from = lowering_tensor(l, s->op->operands[i - UPDATES - s->inputs]);
    model_type type = *s->type;
    type.element = result->type->element;
    tensors[i] = lowering_variable(l, &type, plan, lowering_name(l, s->op));
    lowering_set_tensor(l, result, pop_tensor_dim_shuffle(tensors[i], back, rank));
    if (plan->elements)
      pop_sequence_add(l->sequence, pop_program_copy(pop_tensor_dim_shuffle(from, s->order, rank),
                                                     tensors[i], ""));
  }
  return !l->error;
}

/* If there are enough batch indices for all tiles, ranges are whole ones: no update is needed on
 * several tiles. */
static spread_plan plan_of(const scatter *s)
{
  uint64_t elements = type_elements(s->type), updates = type_elements(s->updates);
  uint64_t cost = 2 + updates / (elements + 1);
  uint64_t each = s->of_batch && elements / s->of_batch >= s->l->num_tiles ? s->of_batch : 1;
  return lowering_plan(s->l, elements / each, cost * each, each);
}

bool lower_scatter(lowering *l, const operation *op)
{
  range_codelet c = {.e.l = l};
  scatter s = scatter_of(l, op);
  const char *region = emit_region(&c.e, op, 0);
  bool good = region && add_fields(&s, &c);
  if (good) {
    spread_plan plan = plan_of(&s);
    pop_tensor *tensors = pop_arena_alloc(l->m->arena, c.num_fields * sizeof *tensors);
    good = make_results(&s, &c, &plan, tensors);
    if (good && type_elements(s.type) && type_elements(s.updates)) {
      emit_body(&s, &c, region);
      uint32_t codelet = range_finish(&c, op);
      int64_t all = s.cut < MODEL_MAX_RANK ? s.updates->dims[s.cut] : 1, step = step_of(&s, &plan);
      for (int64_t from = 0; from < all; from += step)
        add_step(&s, &c, codelet, &plan, tensors, from, from + step < all ? from + step : all);
    }
  }
  range_free(&c);
  return good;
}
