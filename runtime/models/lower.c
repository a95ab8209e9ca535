/* Lowering, operation by operation. */
#include "models/lowering.h"

#include <populus/collectives.h>
#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

bool lowering_fail(lowering *l, const operation *op, const char *format, ...)
{
  if (l->error) return false;
  va_list args;
  va_start(args, format);
  pop_error *error = pop_error_new_v(POP_ERROR_FILE_LOAD, format, args);
  va_end(args);
  char *place = model_place(l->m, op->offset);
  l->error = pop_error_prefix(error, "%s", place);
  free(place);
  return false;
}

value_state *state_of(lowering *l, const value *v)
{
  return &l->states[v->number];
}

char *lowering_name(lowering *l, const operation *op)
{
  const char *name = op->num_results && op->results[0]->name ? op->results[0]->name : "";
  return pop_arena_printf(l->m->arena, "%s%s%s", op->name, *name ? " " : "", name);
}

/* ---- tensors ---- */

static size_t *shape_of(lowering *l, const model_type *type)
{
  size_t *shape = pop_arena_alloc(l->m->arena, (type->rank + 1) * sizeof *shape);
  for (uint32_t d = 0; d < type->rank; ++d) shape[d] = (size_t)type->dims[d];
  return shape;
}

/* In costs of elements. A vertex has at least WORK_OF_A_VERTEX, so that starting it is worthwhile.
 * Vertices with more than WORK_OF_A_TILE are spread over all tiles, because much work usually means
 * much data. */
enum { WORK_OF_A_VERTEX = 128, WORK_OF_A_TILE = 4096, ELEMENTS_TOGETHER = 8 };

spread_plan lowering_plan(lowering *l, uint64_t elements, uint64_t cost, uint64_t grain)
{
  spread_plan p = {.elements = elements, .grain = grain, .num_vertices = 1};
  uint64_t most = (uint64_t)l->num_tiles * l->num_workers;
  uint64_t wanted = cost > UINT64_MAX / (elements + 1) ? most : elements * cost / WORK_OF_A_VERTEX;
  if (wanted > most) wanted = most;
  if (wanted > elements) wanted = elements;
  if (wanted < 1) wanted = 1;
  p.per_vertex = (elements + wanted - 1) / wanted;
  uint64_t together = cost > WORK_OF_A_VERTEX / 2 ? 1 : ELEMENTS_TOGETHER;
  p.per_vertex = (p.per_vertex + together - 1) / together * together;
  if (p.per_vertex == 0) p.per_vertex = 1;
  p.num_vertices = (elements + p.per_vertex - 1) / p.per_vertex;
  p.on_tile = l->num_workers;
  if (cost > WORK_OF_A_TILE / p.per_vertex) {
    p.on_tile = (p.num_vertices + l->num_tiles - 1) / l->num_tiles;
    if (p.on_tile < 1) p.on_tile = 1;
  }
  if (p.num_vertices < l->num_workers) {
    p.first_tile = l->next_tile;
    l->next_tile = (l->next_tile + 1) % l->num_tiles;
  }
  return p;
}

size_t plan_tile(const lowering *l, const spread_plan *p, uint64_t vertex)
{
  return (p->first_tile + vertex / p->on_tile) % l->num_tiles;
}

uint64_t plan_end(const spread_plan *p, uint64_t element)
{
  uint64_t end = (element / p->per_vertex + 1) * p->per_vertex;
  return end < p->elements ? end : p->elements;
}

pop_tensor lowering_variable(lowering *l, const model_type *type, const spread_plan *plan,
                             const char *name)
{
  pop_tensor t = pop_graph_add_variable(l->graph, element_infos[type->element].type,
                                        shape_of(l, type), type->rank, name);
  pop_tensor flat = pop_tensor_flatten(t);
  uint64_t per_tile = plan->per_vertex * plan->on_tile;
  for (uint64_t begin = 0; begin < plan->elements; begin += per_tile) {
    uint64_t end = begin + per_tile < plan->elements ? begin + per_tile : plan->elements;
    pop_graph_set_tile_mapping(l->graph,
                               pop_tensor_slice(flat, begin * plan->grain, end * plan->grain, 0),
                               plan_tile(l, plan, begin / plan->per_vertex));
  }
  return t;
}

pop_tensor lowering_constant(lowering *l, const model_type *type, const uint8_t *data, bool splat)
{
  size_t *shape = shape_of(l, type), one = 1;
  pop_type of = element_infos[type->element].type;
  pop_tensor t;
  if (!splat || type_elements(type) == 0) {
    t = pop_graph_add_constant(l->graph, of, shape, type->rank, data, "constant");
    spread_plan plan = lowering_plan(l, type_elements(type), 2, 1);
    place_next(l, &plan);
    uint64_t per_tile = plan.per_vertex * plan.on_tile;
    for (uint64_t begin = 0; begin < plan.elements; begin += per_tile)
      pop_graph_set_tile_mapping(
          l->graph,
          pop_tensor_slice(pop_tensor_flatten(t), begin,
                           begin + per_tile < plan.elements ? begin + per_tile : plan.elements, 0),
          plan_tile(l, &plan, begin / plan.per_vertex));
    return t;
  }
  t = pop_graph_add_constant(l->graph, of, &one, 1, data, "constant");
  pop_graph_set_tile_mapping(l->graph, t, l->next_tile);
  return pop_tensor_reshape(pop_tensor_broadcast(t, type_elements(type), 0), shape, type->rank);
}

void lowering_set_tensor(lowering *l, const value *v, pop_tensor t)
{
  value_state *s = state_of(l, v);
  s->kind = STATE_TENSOR;
  s->tensor = t;
}

bool lowering_materialise(lowering *l, const value *v)
{
  if (state_of(l, v)->kind == STATE_PENDING) return fuse_and_materialise(l, v);
  return true;
}

pop_tensor lowering_tensor(lowering *l, const value *v)
{
  value_state *s = state_of(l, v);
  if (!lowering_materialise(l, v)) return (pop_tensor){0};
  if (s->kind == STATE_SPLAT) return lowering_constant(l, v->type, s->splat, true);
  return s->tensor;
}

/* ---- dead code ---- */

static bool has_effect(const operation *op)
{
  switch (op->code) {
  case OP_RETURN:
  case OP_EXPECT_EQ:
  case OP_EXPECT_EQ_CONST:
  case OP_EXPECT_CLOSE:
  case OP_EXPECT_ALMOST_EQ:
  case OP_EXPECT_ALMOST_EQ_CONST:
  case OP_INFEED:
  case OP_OUTFEED:
  case OP_SEND:
  case OP_RECV:
  case OP_CUSTOM_CALL:
  case OP_RNG_KEEP:
    return true;
  default:
    return false;
  }
}

static bool block_has_effect(const block *b)
{
  for (const operation *op = b->first; op; op = op->next) {
    if (op->code != OP_RETURN && has_effect(op)) return true;
    for (size_t i = 0; i < op->num_regions; ++i)
      if (block_has_effect(&op->regions[i])) return true;
  }
  return false;
}

/* Counts uses by live operations. It goes from the last operation to the first, so that all uses
 * are known before the definition is reached. */
static void count_uses(lowering *l, const block *b)
{
  size_t count = 0, capacity = 0;
  const operation **ops = NULL;
  for (const operation *op = b->first; op; op = op->next) pop_push(ops, count, capacity, op);
  while (count-- > 0) {
    const operation *op = ops[count];
    bool live = has_effect(op);
    for (size_t i = 0; i < op->num_results && !live; ++i)
      live = state_of(l, op->results[i])->uses > 0;
    for (size_t i = 0; i < op->num_regions && !live; ++i) live = block_has_effect(&op->regions[i]);
    if (!live) continue;
    for (size_t i = 0; i < op->num_regions; ++i) count_uses(l, &op->regions[i]);
    for (size_t i = 0; i < op->num_operands; ++i) state_of(l, op->operands[i])->uses++;
  }
  free(ops);
}

bool lowering_is_live(lowering *l, const operation *op)
{
  if (has_effect(op)) return true;
  for (size_t i = 0; i < op->num_results; ++i)
    if (state_of(l, op->results[i])->uses) return true;
  for (size_t i = 0; i < op->num_regions; ++i)
    if (block_has_effect(&op->regions[i])) return true;
  return false;
}

/* ---- operations ---- */

static void set_splat(lowering *l, const value *v, const uint8_t *bytes)
{
  value_state *s = state_of(l, v);
  s->kind = STATE_SPLAT;
  s->splat = bytes;
}

static void lower_constant(lowering *l, const operation *op)
{
  const attribute *a = op_attribute(op, "value");
  const value *v = op->results[0];
  if ((a->splat || type_elements(v->type) == 1) && type_elements(v->type))
    set_splat(l, v, a->data);
  else
    lowering_set_tensor(l, v, lowering_constant(l, v->type, a->data, false));
}

/* Is it nearly free when it is fused into its consumer? */
static bool is_cheap(const operation *op)
{
  return op_infos[op->code].how == HOW_ELEMENT || op->code == OP_RESHAPE ||
         op->code == OP_BROADCAST_IN_DIM || op->code == OP_IOTA || op->code == OP_CONSTANT;
}

/* The most operations that are fused into one codelet. */
enum { MAX_WEIGHT = 200 };

/* Leaves the results pending. Operands that must be tensors by then are calculated now, in program
 * order. */
static bool defer_operation(lowering *l, const operation *op)
{
  uint32_t weight = 1;
  for (size_t i = 0; i < op->num_operands; ++i) {
    value_state *s = state_of(l, op->operands[i]);
    access how = index_access(l, op, i);
    if (s->kind != STATE_PENDING) continue;
    bool tensor = how == ACCESS_WHOLE || how == ACCESS_BOX ||
                  (how == ACCESS_SCALAR && !is_cheap(s->op)) || weight + s->weight > MAX_WEIGHT;
    if (tensor) {
      if (!lowering_materialise(l, op->operands[i])) return false;
    } else {
      weight += s->weight;
    }
  }
  for (size_t i = 0; i < op->num_results; ++i) {
    value_state *s = state_of(l, op->results[i]);
    s->kind = STATE_PENDING;
    s->op = op;
    s->weight = weight;
  }
  return true;
}

/* Is each element of the result an element of the first operand, whatever the other operands
 * are? */
static bool takes_from_operand(const operation *op)
{
  switch (op->code) {
  case OP_BROADCAST:
  case OP_BROADCAST_IN_DIM:
  case OP_DYNAMIC_BROADCAST_IN_DIM:
  case OP_DYNAMIC_GATHER:
  case OP_DYNAMIC_RESHAPE:
  case OP_DYNAMIC_SLICE:
  case OP_GATHER:
  case OP_REAL_DYNAMIC_SLICE:
  case OP_RESHAPE:
  case OP_REVERSE:
  case OP_SLICE:
  case OP_TRANSPOSE:
    return true;
  default:
    return false;
  }
}

static bool lower_index(lowering *l, const operation *op)
{
  if (op->code == OP_CONSTANT) return lower_constant(l, op), true;
  if (op->num_operands) {
    value_state *s = state_of(l, op->operands[0]);
    if (takes_from_operand(op) && s->kind == STATE_SPLAT)
      return set_splat(l, op->results[0], s->splat), true;
  }
  if (product_is_planned(l, op)) return lower_product(l, op);
  if (convolution_is_planned(l, op)) return lower_convolution(l, op);
  if (reduce_is_planned(l, op)) return lower_reduce(l, op);
  if (windows_are_planned(l, op)) return lower_windows(l, op);
  bool done = false;
  if (!lower_view(l, op, &done)) return false;
  return done || defer_operation(l, op);
}

/* The results are the operands: barriers, tokens. */
static bool lower_forwarding(lowering *l, const operation *op)
{
  for (size_t i = 0; i < op->num_results; ++i) {
    value_state *s = state_of(l, op->results[i]);
    if (op->results[i]->type->kind == TYPE_TOKEN) {
      s->kind = STATE_TOKEN;
      continue;
    }
    if (!lowering_materialise(l, op->operands[i])) return false;
    uint32_t uses = s->uses;
    *s = *state_of(l, op->operands[i]);
    s->uses = uses;
    s->done = 0;
    s->changes_in = NULL; /* shares the operand's tensor */
  }
  return true;
}

/* Both tensors are read after the program has run. A constant is not read from the device. */
static bool lower_check(lowering *l, const operation *op)
{
  lowered_check c = {.op = op, .type = op->operands[0]->type};
  snprintf(c.actual, sizeof c.actual, "check%zu.actual", l->num_checks);
  snprintf(c.expected, sizeof c.expected, "check%zu.expected", l->num_checks);
  pop_tensor actual = lowering_tensor(l, op->operands[0]);
  if (l->error) return false;
  pop_graph_create_host_read(l->graph, c.actual, actual);
  if (op->num_operands == 1) {
    c.literal = op_attribute(op, "value");
  } else {
    const operation *from = op->operands[1]->op;
    if (from && from->code == OP_CONSTANT)
      c.literal = op_attribute(from, "value");
    else {
      pop_tensor expected = lowering_tensor(l, op->operands[1]);
      if (l->error) return false;
      pop_graph_create_host_read(l->graph, c.expected, expected);
    }
  }
  pop_push(l->checks, l->num_checks, l->checks_capacity, c);
  return true;
}

static bool lower_everywhere(lowering *l, const operation *op)
{
  pop_tensor t = lowering_tensor(l, op->operands[0]);
  if (l->error) return false;
  pop_popops_add_codelets(l->graph);
  lowering_set_tensor(l, op->results[0],
                      pop_gcl_all_gather(l->graph, t, (pop_comm_group){POP_COMM_ALL, 0},
                                         l->sequence, lowering_name(l, op)));
  return true;
}

static bool lower_replica_id(lowering *l, const operation *op)
{
  pop_tensor id = pop_graph_add_replication_index_constant(l->graph, lowering_name(l, op));
  pop_graph_set_tile_mapping(l->graph, id, l->next_tile);
  lowering_set_tensor(l, op->results[0], pop_tensor_reshape(id, NULL, 0));
  return true;
}

static bool lower_other(lowering *l, const operation *op)
{
  static const uint8_t only_process[4] = {0}; /* the number of the only process */
  switch (op->code) {
  case OP_AFTER_ALL:
  case OP_CREATE_TOKEN:
  case OP_OPTIMIZATION_BARRIER:
    return lower_forwarding(l, op);
  case OP_ALL_GATHER: /* with one process: its own operand */
  case OP_ALL_REDUCE:
  case OP_ALL_TO_ALL:
  case OP_COLLECTIVE_BROADCAST:
  case OP_COLLECTIVE_PERMUTE:
  case OP_REDUCE_SCATTER:
    return lower_forwarding(l, op);
  case OP_EVERYWHERE:
    return lower_everywhere(l, op);
  case OP_INFEED:
    return lower_infeed(l, op);
  case OP_OUTFEED:
    return lower_outfeed(l, op);
  case OP_REPLICA_ID:
    if (l->m->replicas > 1) return lower_replica_id(l, op);
    /* fall through */
  case OP_PARTITION_ID:
    return set_splat(l, op->results[0], only_process), true;
  case OP_CUSTOM_CALL:
    return lower_custom_call(l, op);
  case OP_RNG_STATE:
  case OP_RNG_KEEP:
    return lower_rng_state(l, op);
  case OP_EXPECT_ALMOST_EQ:
  case OP_EXPECT_ALMOST_EQ_CONST:
  case OP_EXPECT_CLOSE:
  case OP_EXPECT_EQ:
  case OP_EXPECT_EQ_CONST:
    return lower_check(l, op);
  default:
    return lowering_fail(l, op, "%s is not supported", op->name);
  }
}

static bool lower_op(lowering *l, const operation *op)
{
  switch (op_infos[op->code].how) {
  case HOW_ELEMENT:
    return defer_operation(l, op);
  case HOW_INDEX:
    return lower_index(l, op);
  case HOW_RANGE:
    return lower_range(l, op);
  case HOW_FLOW:
    return lower_flow(l, op);
  default:
    return lower_other(l, op);
  }
}

/* The first operation that requires a layout for the value, which is its operand `i`. Regions are
 * searched too, since they see values from outside. */
static const operation *planned_use(const lowering *l, const block *b, const value *v, size_t *i)
{
  for (const operation *op = b->first; op; op = op->next) {
    for (*i = 0; *i < op->num_operands; ++*i)
      if (op->operands[*i] == v && product_is_planned(l, op) && product_is_poplins(op) &&
          product_takes_operand(op, *i))
        return op;
    *i = 0;
    if (op->num_operands && op->operands[0] == v && windows_are_planned(l, op)) return op;
    for (size_t r = 0; r < op->num_regions; ++r) {
      const operation *inside = planned_use(l, &op->regions[r], v, i);
      if (inside) return inside;
    }
  }
  return NULL;
}

pop_tensor lowering_argument(lowering *l, const block *b, const value *v, const char *name)
{
  size_t operand;
  const operation *op = planned_use(l, b, v, &operand);
  if (op && product_is_planned(l, op)) return product_argument(l, op, operand, name);
  if (op) {
    pop_popops_add_codelets(l->graph);
    state_of(l, v)->rows = windows_rows(l, op);
    return lowering_sliceable(l, op, name);
  }
  spread_plan plan = lowering_plan(l, type_elements(v->type), 2, 1);
  place_value(l, &plan, v);
  return lowering_variable(l, v->type, &plan, name);
}

bool lower_block(lowering *l, const block *b)
{
  const block *around = l->block;
  bool good = true;
  l->block = b;
  for (const operation *op = b->first; op != b->last && good; op = op->next)
    good = !lowering_is_live(l, op) || (lower_op(l, op) && !l->error);
  l->block = around;
  return good;
}

/* ---- the function ---- */

static bool lower_arguments(lowering *l)
{
  for (size_t i = 0; i < l->f->body.num_arguments; ++i) {
    const value *v = l->f->body.arguments[i];
    if (v->type->kind == TYPE_TOKEN)
      state_of(l, v)->kind = STATE_TOKEN;
    else
      lowering_set_tensor(l, v, lowering_argument(l, &l->f->body, v, v->name));
  }
  return true;
}

pop_error *lowering_run(lowering *l)
{
  function_number_values(l->f);
  l->states = pop_xcalloc(l->f->num_values + 1, sizeof *l->states);
  count_uses(l, &l->f->body);
  places_find(l);
  bool good = lower_arguments(l) && lower_block(l, &l->f->body);
  const operation *last = l->f->body.last;
  for (size_t i = 0; i < last->num_operands && good; ++i)
    if (last->operands[i]->type->kind == TYPE_TENSOR) {
      pop_tensor t = lowering_tensor(l, last->operands[i]);
      good = !l->error;
      if (good) lowering_set_tensor(l, last->operands[i], t);
    }
  return good ? NULL : l->error;
}

void lowering_free(lowering *l)
{
  free(l->states);
  free(l->placement_sets);
  free(l->codelets);
  free(l->vertices);
  free(l->checks);
}
