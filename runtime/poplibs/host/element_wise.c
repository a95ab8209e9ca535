/* Element-wise operations: populus/popops.h.
 *
 * Each operation is a compute set with one vertex for each tile that has elements of the result. */
#include "graph/graph.h"
#include "poplibs/host/spread.h"

#include <inttypes.h>
#include <math.h>
#include <populus/popops.h>
#include <stdlib.h>
#include <string.h>

/* A tensor or a constant. A constant is in `value` and, in the tile's format, in `bytes`. */
typedef struct operand {
  pop_tensor tensor;
  pop_type type;
  bool is_constant;
  double value;
  uint8_t bytes[8];
} operand;

typedef struct operation {
  const char *name;
  bool truth; /* the result is a bool */
} operation;

#define OPERATION(name, types, result) {#name, RESULT_##result},
#define RESULT_SAME false
#define RESULT_TRUTH true
static const operation unary_ops[POP_UNARY_COUNT] = {POP_UNARY_OPS(OPERATION)};
static const operation binary_ops[POP_BINARY_COUNT] = {POP_BINARY_OPS(OPERATION)};
static const operation ternary_ops[POP_TERNARY_COUNT] = {POP_TERNARY_OPS(OPERATION)};

/* NULL, and an error, if no operation has this number. Callers may pass any number. */
static const operation *operation_of(pop_graph *graph, const char *call,
                                     const operation *operations, unsigned number, unsigned count)
{
  if (number < count) return &operations[number];
  poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
               "%s: operation %u is none: they are from 0 (%s) to %u", call, number,
               operations[0].name, count - 1);
  return NULL;
}

/* ---- one operation ---- */

/* "UnaryOpType::ABSOLUTE,float" in "popops::Unary<popops::expr::…>" */
static const char *vertex_type(pop_graph *graph, size_t num_operands, const char *op, pop_type type)
{
  static const char *const arities[] = {"Unary", "Binary", "Ternary"};
  const char *arity = arities[num_operands - 1];
  return pop_arena_printf(graph->arena, "popops::%s<popops::expr::%sOpType::%s,%s>", arity, arity,
                          op, pop_type_name(type));
}

static void connect_operand(pop_graph *graph, pop_vertex vertex, const char *field,
                            const operand *o, pop_tensor flat, const spread_part *part)
{
  if (o->is_constant)
    pop_graph_connect_value(graph, vertex, field, o->type, o->bytes, 1);
  else if (pop_tensor_num_elements(o->tensor) == 1)
    pop_graph_connect(graph, vertex, field, pop_tensor_flatten(o->tensor));
  else
    pop_graph_connect(graph, vertex, field, spread_slice(part, flat));
}

/* Where vertices go: into the caller's compute set, or, if `set` is NULL, into a new one that
 * the sequence executes. */
typedef struct destination {
  const pop_compute_set *set;
  pop_program sequence;
  const char *name;
} destination;

static pop_compute_set begin_set(pop_graph *graph, const destination *to)
{
  return to->set ? *to->set : pop_graph_add_compute_set(graph, to->name);
}

static void finish_set(pop_graph *graph, const destination *to, pop_compute_set set)
{
  if (!to->set) pop_sequence_add(to->sequence, pop_program_execute(graph, set, to->name));
}

/* Vertices write the caller's `out` while they read operands. So an operand that shares elements
 * with it, but is not `out` itself, is copied first. Compute sets cannot copy. */
static void take_apart(pop_graph *graph, const char *call, operand *operands, size_t count,
                       pop_tensor out, const destination *to)
{
  const size_t *shape = pop_tensor_shape(out), rank = pop_tensor_rank(out);
  for (size_t i = 0; i < count && !to->set; i++) {
    operand *o = &operands[i];
    if (o->is_constant) continue;
    bool is_out = pop_tensor_num_elements(o->tensor) == pop_tensor_num_elements(out) &&
                  pop_tensor_equal(poplibs_broadcast(call, o->tensor, shape, rank), out);
    if (!is_out) o->tensor = poplibs_apart(graph, o->tensor, out, to->sequence, to->name);
  }
}

/* Adds a vertex of this type on each tile of `out`. Its fields are a, b, c (one for each
 * operand) and out. */
static void add_vertices(pop_graph *graph, const char *call, const char *type,
                         const operand *operands, size_t count, pop_tensor out,
                         const destination *to)
{
  static const char *const fields[] = {"a", "b", "c"};
  const size_t *shape = pop_tensor_shape(out), rank = pop_tensor_rank(out);
  pop_tensor flat[3] = {{0}}, flat_out = pop_tensor_flatten(out);
  for (size_t i = 0; i < count; i++)
    if (!operands[i].is_constant)
      flat[i] = pop_tensor_flatten(poplibs_broadcast(call, operands[i].tensor, shape, rank));
  spread s = spread_of(graph, call, flat_out);
  pop_compute_set set = begin_set(graph, to);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex vertex = poplibs_add_vertex(graph, set, s.parts[p].tile, "%s", type);
    for (size_t i = 0; i < count; i++)
      connect_operand(graph, vertex, fields[i], &operands[i], flat[i], &s.parts[p]);
    pop_graph_connect(graph, vertex, "out", spread_slice(&s.parts[p], flat_out));
  }
  spread_free(&s);
  finish_set(graph, to, set);
}

/* ---- operands ---- */

static operand operand_of_tensor(pop_tensor t)
{
  return (operand){.tensor = t, .type = pop_tensor_element_type(t)};
}

/* Does a constant fit an integer type of this width, signed or unsigned? Conversion is modulo
 * 2^bits, as in C between integers. What C leaves undefined does not fit. True for all other
 * types. */
static bool constant_fits(double value, pop_type type)
{
  double span = ldexp(1, 8 * (int)pop_type_bytes(type));
  return !pop_type_is_integer(type) || (trunc(value) >= -span / 2 && value < span);
}

static bool check_constant(pop_graph *graph, const char *call, const operand *o)
{
  if (!o->is_constant || constant_fits(o->value, o->type)) return true;
  poplibs_fail(
      graph, POP_ERROR_TYPE,
      "%s: the constant %.17g does not fit the elements of type %s that it is combined with", call,
      o->value, pop_type_name(o->type));
  return false;
}

/* Refuses 2.5 with elements of an integer type, which would silently become 2. (An explicit cast
 * may do that.) */
static bool check_whole(pop_graph *graph, const char *call, const operand *o)
{
  if (!o->is_constant || !pop_type_is_integer(o->type) || o->value == trunc(o->value)) return true;
  poplibs_fail(
      graph, POP_ERROR_TYPE,
      "%s: the constant %.17g is combined with elements of type %s, which have no fractions: "
      "cast one of the two first",
      call, o->value, pop_type_name(o->type));
  return false;
}

/* Converts as C converts a double, but integers modulo 2^bits. Halves are rounded to nearest
 * even. */
static void convert_constant(operand *o, double value, pop_type type)
{
  bool whole_fits = pop_type_is_integer(type) && constant_fits(value, type);
  int64_t whole = !whole_fits ? 0 : value < 0 ? (int64_t)value : (int64_t)(uint64_t)value;
  union {
    uint8_t u8;
    int8_t i8;
    uint16_t u16;
    int16_t i16;
    uint32_t u32;
    int32_t i32;
    int64_t i64;
    float f;
  } v = {0};
  switch (type) {
  case POP_BOOL:
    v.u8 = value != 0;
    break;
  case POP_CHAR:
  case POP_SIGNED_CHAR:
    v.i8 = (int8_t)whole;
    break;
  case POP_UNSIGNED_CHAR:
    v.u8 = (uint8_t)whole;
    break;
  case POP_SHORT:
    v.i16 = (int16_t)whole;
    break;
  case POP_UNSIGNED_SHORT:
    v.u16 = (uint16_t)whole;
    break;
  case POP_INT:
    v.i32 = (int32_t)whole;
    break;
  case POP_UNSIGNED_INT:
    v.u32 = (uint32_t)whole;
    break;
  case POP_LONGLONG:
  case POP_UNSIGNED_LONGLONG:
    v.i64 = whole;
    break;
  case POP_HALF:
    v.u16 = pop_half_from_double(value);
    break;
  case POP_QUARTER: /* with the metadata that new quarters have */
    v.u8 = pop_quarter_from_float((float)value, POP_QUARTER_USUAL, false);
    break;
  default:
    v.f = (float)value;
    break;
  }
  o->type = type;
  memcpy(o->bytes, &v, sizeof o->bytes);
}

static operand operand_of_constant(double value, pop_type type)
{
  operand o = {.is_constant = true, .value = value};
  convert_constant(&o, value, type);
  return o;
}

/* Constants take the type of the operands that they are combined with. The condition of SELECT
 * stays a bool. */
static bool unify_types(pop_graph *graph, const char *call, const char *op, operand *operands,
                        size_t count)
{
  bool select = count == 3 && strcmp(op, "SELECT") == 0;
  size_t alike = select ? 2 : count;
  pop_type type = operands[0].type;
  for (size_t i = alike; i-- > 0;)
    if (!operands[i].is_constant) type = operands[i].type;
  for (size_t i = 0; i < alike; i++)
    if (operands[i].is_constant) convert_constant(&operands[i], operands[i].value, type);
  for (size_t i = 0; i < alike; i++) {
    if (operands[i].type == type) continue;
    poplibs_fail(graph, POP_ERROR_TYPE,
                 "%s: %s of elements of type %s and %s; cast one of them first", call, op,
                 pop_type_name(type), pop_type_name(operands[i].type));
    return false;
  }
  for (size_t i = 0; i < alike; i++)
    if (!check_constant(graph, call, &operands[i]) || !check_whole(graph, call, &operands[i]))
      return false;
  if (select && operands[2].is_constant)
    convert_constant(&operands[2], operands[2].value, POP_BOOL);
  if (select && operands[2].type != POP_BOOL) {
    poplibs_fail(graph, POP_ERROR_TYPE,
                 "%s: SELECT is told by elements of type %s which to take: cast them to bool", call,
                 pop_type_name(operands[2].type));
    return false;
  }
  return true;
}

/* ---- results ---- */

/* `op` is NULL if the graph has an error already because there is no such operation. */
static pop_tensor operate(pop_graph *graph, const char *call, const operation *op,
                          operand *operands, size_t count, pop_tensor out, const destination *to)
{
  pop_graph *top = graph->top;
  pop_tensor none = {top, 0}, tensors[3];
  size_t shape[GRAPH_MAX_RANK], rank, num_tensors = 0;
  if (!op || pop_graph_error(graph) || !unify_types(graph, call, op->name, operands, count))
    return none;
  for (size_t i = 0; i < count; i++)
    if (!operands[i].is_constant) tensors[num_tensors++] = operands[i].tensor;
  if (!poplibs_common_shape(call, tensors, num_tensors, shape, &rank)) return none;
  pop_type type = operands[0].type;
  const char *vertex = vertex_type(top, count, op->name, type);
  poplibs_need_popops(graph);
  if (!poplibs_check_vertex_type(graph, call, vertex, op->name, type)) return none;
  bool is_new = !out.index;
  out = poplibs_result(graph, call, out, op->truth ? POP_BOOL : type, shape, rank, tensors,
                       num_tensors, to->name);
  if (out.index && !is_new) take_apart(graph, call, operands, count, out, to);
  if (out.index) add_vertices(graph, call, vertex, operands, count, out, to);
  return out;
}

pop_tensor pop_popops_unary(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                            pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a}, 1);
  operand operands[] = {operand_of_tensor(a)};
  const destination to = {NULL, sequence, name};
  return operate(graph, __func__, operation_of(graph, __func__, unary_ops, op, POP_UNARY_COUNT),
                 operands, 1, out, &to);
}

pop_tensor pop_popops_unary_in_set(pop_graph *graph, pop_unary_op op, pop_tensor a, pop_tensor out,
                                   pop_compute_set set, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a}, 1);
  operand operands[] = {operand_of_tensor(a)};
  const destination to = {&set, {0}, name};
  return operate(graph, __func__, operation_of(graph, __func__, unary_ops, op, POP_UNARY_COUNT),
                 operands, 1, out, &to);
}

pop_tensor pop_popops_binary(pop_graph *graph, pop_binary_op op, pop_tensor a, pop_tensor b,
                             pop_tensor out, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  operand operands[] = {operand_of_tensor(a), operand_of_tensor(b)};
  const destination to = {NULL, sequence, name};
  return operate(graph, __func__, operation_of(graph, __func__, binary_ops, op, POP_BINARY_COUNT),
                 operands, 2, out, &to);
}

/* A float as an int or unsigned int: the nearest, as the device converts it. */
static double nearest_word(double value, pop_type type)
{
  double least = pop_type_is_signed_integer(type) ? INT32_MIN : 0,
         most = pop_type_is_signed_integer(type) ? INT32_MAX : UINT32_MAX;
  return value < least ? least : value < most ? value : most; /* NaN: the largest */
}

/* The number that an integer type has for this one, modulo 2^bits. */
static double wrapped(double value, pop_type type)
{
  double span = ldexp(1, 8 * (int)pop_type_bytes(type)), whole = trunc(value);
  if (pop_type_is_signed_integer(type)) return whole < span / 2 ? whole : whole - span;
  return whole < 0 ? whole + span : whole;
}

/* A constant rounded to the type. It keeps that value whatever it is combined with. */
static operand cast_constant(pop_graph *graph, const char *call, const operand *a, pop_type type)
{
  double value = a->value;
  bool from_real = !pop_type_is_integer(a->type) && a->type != POP_BOOL;
  if (from_real && pop_type_is_integer(type) && pop_type_bytes(type) <= sizeof(int32_t))
    value = nearest_word(value, type);
  operand o = operand_of_constant(value, type);
  if (!check_constant(graph, call, &o)) return o;
  if (type == POP_BOOL)
    o.value = value != 0;
  else if (type == POP_HALF)
    o.value = pop_half_to_float(pop_half_from_double(value));
  else if (type == POP_QUARTER)
    o.value = pop_quarter_to_float(o.bytes[0], POP_QUARTER_USUAL);
  else
    o.value = type == POP_FLOAT ? (float)value : wrapped(value, type);
  return o;
}

static operand cast(pop_graph *graph, const char *call, operand a, pop_type type, pop_tensor out,
                    const destination *to)
{
  if (a.is_constant && !out.index) return cast_constant(graph, call, &a, type);
  char vertex[128];
  snprintf(vertex, sizeof vertex, "popops::Cast<%s,%s>", pop_type_name(a.type),
           pop_type_name(type));
  operand none = operand_of_tensor((pop_tensor){graph->top, 0});
  poplibs_need_popops(graph);
  if (!poplibs_check_vertex_type(graph, call, vertex, "cast to that type", a.type)) return none;
  bool is_new = !out.index;
  out = poplibs_result(graph, call, out, type, pop_tensor_shape(a.tensor),
                       pop_tensor_rank(a.tensor), &a.tensor, 1, to->name);
  if (out.index && !is_new) take_apart(graph, call, &a, 1, out, to);
  if (out.index) add_vertices(graph, call, vertex, &a, 1, out, to);
  return operand_of_tensor(out);
}

pop_tensor pop_popops_cast(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                           pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a}, 1);
  const destination to = {NULL, sequence, name};
  return cast(graph, "pop_popops_cast", operand_of_tensor(a), type, out, &to).tensor;
}

pop_tensor pop_popops_cast_in_set(pop_graph *graph, pop_tensor a, pop_type type, pop_tensor out,
                                  pop_compute_set set, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, (const pop_tensor[]){a}, 1);
  const destination to = {&set, {0}, name};
  return cast(graph, "pop_popops_cast_in_set", operand_of_tensor(a), type, out, &to).tensor;
}

/* `by`: NULL, or a tensor of one element that `scale` is multiplied by */
static void scaled_add(pop_graph *graph, const char *call, pop_tensor a, pop_tensor b,
                       const pop_tensor *by, double scale, pop_program sequence, const char *name)
{
  pop_type type = pop_tensor_element_type(a);
  char vertex_name[64], by_type[32] = "";
  if (by) snprintf(by_type, sizeof by_type, ",%s", pop_type_name(pop_tensor_element_type(*by)));
  snprintf(vertex_name, sizeof vertex_name, "popops::ScaledAdd%s<%s%s>", by ? "By" : "",
           pop_type_name(type), by_type);
  if (!poplibs_check_vertex_type(graph, call, vertex_name, "scaled addition", type)) return;
  if (pop_tensor_element_type(b) != type) {
    poplibs_fail(graph, POP_ERROR_TYPE, "%s: elements of type %s are added to some of type %s",
                 call, pop_type_name(pop_tensor_element_type(b)), pop_type_name(type));
    return;
  }
  pop_tensor flat_a = pop_tensor_flatten(a), scale_by = {graph->top, 0};
  if (by) scale_by = pop_tensor_flatten(poplibs_apart(graph, *by, a, sequence, name));
  b = poplibs_apart(graph, b, a, sequence, name);
  pop_tensor flat_b =
      pop_tensor_flatten(poplibs_broadcast(call, b, pop_tensor_shape(a), pop_tensor_rank(a)));
  spread s = spread_of(graph, call, flat_a);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex vertex = poplibs_add_vertex(graph, set, s.parts[p].tile, "%s", vertex_name);
    pop_graph_connect(graph, vertex, "out", spread_slice(&s.parts[p], flat_a));
    pop_graph_connect(graph, vertex, "b", spread_slice(&s.parts[p], flat_b));
    pop_graph_set_field_float(graph, vertex, "scale", scale);
    if (by) pop_graph_connect(graph, vertex, "by", scale_by);
  }
  spread_free(&s);
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
}

void pop_popops_scaled_add_to(pop_graph *graph, pop_tensor a, pop_tensor b, double scale,
                              pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  scaled_add(graph, "pop_popops_scaled_add_to", a, b, NULL, scale, sequence, name);
}

void pop_popops_scaled_add_by(pop_graph *graph, pop_tensor a, pop_tensor b, pop_tensor by,
                              double scale, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){a, b}, 2);
  static const char call[] = "pop_popops_scaled_add_by";
  if (pop_graph_error(graph)) return;
  if (pop_tensor_num_elements(by) != 1) {
    poplibs_fail(graph, POP_ERROR_TENSOR, "%s: the scale has %zu elements; it must have one", call,
                 pop_tensor_num_elements(by));
    return;
  }
  scaled_add(graph, call, a, b, &by, scale, sequence, name);
}

/* `tile`: where the single vertex goes; SIZE_MAX: a vertex on each tile with elements. */
static void fill(pop_graph *graph, const char *call, pop_tensor tensor, const void *value,
                 size_t tile, const destination *to)
{
  static const pop_type bits[] = {[1] = POP_UNSIGNED_CHAR,
                                  [2] = POP_UNSIGNED_SHORT,
                                  [4] = POP_UNSIGNED_INT,
                                  [8] = POP_UNSIGNED_LONGLONG};
  static const uint8_t zero[8];
  pop_type type = pop_tensor_element_type(tensor);
  if (!poplibs_check_vertex_type(graph, call, "popops::FillWords<unsigned int>", "fill", type))
    return;
  type = bits[pop_type_bytes(type)];
  pop_tensor flat = pop_tensor_flatten(pop_tensor_reinterpret(tensor, type));
  spread s = {0};
  if (tile == SIZE_MAX)
    s = spread_of(graph, call, flat);
  else if (pop_tensor_num_elements(flat))
    spread_add(&s, tile, 0, pop_tensor_num_elements(flat));
  spread_finish(&s);
  pop_compute_set set = begin_set(graph, to);
  for (size_t p = 0; p < s.count && !pop_graph_error(graph); p++) {
    pop_vertex vertex = poplibs_add_vertex(graph, set, s.parts[p].tile, "popops::FillWords<%s>",
                                           pop_type_name(type));
    pop_graph_connect(graph, vertex, "out", spread_slice(&s.parts[p], flat));
    pop_graph_set_field(graph, vertex, "value", type, value ? value : zero);
  }
  spread_free(&s);
  finish_set(graph, to, set);
}

void pop_popops_fill(pop_graph *graph, pop_tensor tensor, const void *value, pop_program sequence,
                     const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, name, (const pop_tensor[]){tensor}, 1);
  const destination to = {NULL, sequence, name};
  fill(graph, "pop_popops_fill", tensor, value, SIZE_MAX, &to);
}

void pop_popops_fill_in_set(pop_graph *graph, pop_tensor tensor, const void *value, size_t tile,
                            pop_compute_set set)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return;
  poplibs_log(__func__, NULL, (const pop_tensor[]){tensor}, 1);
  static const char call[] = "pop_popops_fill_in_set";
  if (pop_graph_error(graph)) return;
  if (tile != SIZE_MAX && tile >= graph_tile_limit(graph)) {
    poplibs_fail(graph, POP_ERROR_INVALID_TILE_MAPPING,
                 "%s: there is no tile %zu to fill on; the graph has %" PRIu32, call, tile,
                 graph_tile_limit(graph));
    return;
  }
  const destination to = {&set, {0}, NULL};
  fill(graph, call, tensor, value, tile, &to);
}

/* ---- expressions ---- */

typedef struct evaluation {
  pop_graph *graph;
  const pop_tensor *tensors;
  size_t num_tensors;
  pop_program sequence;
  const char *name;
  operand *stack;
  size_t depth;
} evaluation;

static const char map_call[] = "pop_popops_map";

static const operation *find_operation(const pop_expr_node *node, size_t *count)
{
  switch (node->kind) {
  case POP_EXPR_UNARY:
    *count = 1;
    return node->op < POP_UNARY_COUNT ? &unary_ops[node->op] : NULL;
  case POP_EXPR_BINARY:
    *count = 2;
    return node->op < POP_BINARY_COUNT ? &binary_ops[node->op] : NULL;
  case POP_EXPR_TERNARY:
    *count = 3;
    return node->op < POP_TERNARY_COUNT ? &ternary_ops[node->op] : NULL;
  default:
    *count = 1;
    return NULL;
  }
}

/* If all operands are constants, makes the first one a tensor of one element, so that the device
 * calculates. */
static void need_a_tensor(evaluation *e, operand *operands, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!operands[i].is_constant) return;
  if (!check_constant(e->graph, map_call, &operands[0])) return;
  pop_tensor constant =
      pop_graph_add_constant(e->graph, operands[0].type, NULL, 0, operands[0].bytes, e->name);
  pop_graph_set_tile_mapping(e->graph, constant, 0);
  operands[0] = operand_of_tensor(constant);
}

/* False if the expression is malformed. `out` is null except for the last node. */
static bool evaluate_node(evaluation *e, const pop_expr_node *node, pop_tensor out)
{
  if (node->kind == POP_EXPR_TENSOR) {
    if (node->tensor >= e->num_tensors) return false;
    e->stack[e->depth++] = operand_of_tensor(e->tensors[node->tensor]);
    return true;
  }
  if (node->kind == POP_EXPR_CONSTANT) {
    e->stack[e->depth++] = operand_of_constant(node->value, node->type);
    return true;
  }
  size_t count;
  const operation *op = find_operation(node, &count);
  if (e->depth < count || (!op && node->kind != POP_EXPR_CAST)) return false;
  operand *operands = &e->stack[e->depth -= count];
  if (op || out.index) need_a_tensor(e, operands, count);
  const destination to = {NULL, e->sequence, e->name};
  e->stack[e->depth++] =
      op ? operand_of_tensor(operate(e->graph, map_call, op, operands, count, out, &to))
         : cast(e->graph, map_call, operands[0], node->type, out, &to);
  return true;
}

/* The result of an expression that is a tensor or a constant only. */
static pop_tensor finish(evaluation *e, pop_tensor out)
{
  need_a_tensor(e, e->stack, 1);
  pop_tensor t = e->stack[0].tensor;
  if (!out.index)
    out = poplibs_result(e->graph, map_call, out, e->stack[0].type, pop_tensor_shape(t),
                         pop_tensor_rank(t), &t, 1, e->name);
  pop_tensor repeated = poplibs_broadcast(map_call, t, pop_tensor_shape(out), pop_tensor_rank(out));
  pop_sequence_add(e->sequence, pop_program_copy(repeated, out, e->name));
  return out;
}

pop_tensor pop_popops_map(pop_graph *graph, const pop_expr_node *nodes, size_t num_nodes,
                          const pop_tensor *tensors, size_t num_tensors, pop_tensor out,
                          pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_lives(graph, __func__)) return (pop_tensor){0};
  poplibs_log(__func__, name, tensors, num_tensors);
  pop_tensor none = {graph->top, 0};
  if (pop_graph_error(graph)) return none;
  if ((num_nodes && !nodes) || (num_tensors && !tensors)) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT, "%s: the address of the %s is NULL", map_call,
                 num_nodes && !nodes ? "nodes" : "tensors");
    return none;
  }
  evaluation e = {graph, tensors, num_tensors, sequence, name, NULL, 0};
  e.stack = pop_xcalloc(num_nodes + 1, sizeof *e.stack);
  bool good = true;
  for (size_t i = 0; i < num_nodes && good; i++)
    good = evaluate_node(&e, &nodes[i], i + 1 == num_nodes ? out : none);
  good = good && e.depth == 1;
  if (!good)
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: the expression of %zu nodes is none: operands are missing or left over, or "
                 "there is no such "
                 "tensor or operation",
                 map_call, num_nodes);
  bool trivial = good && nodes[num_nodes - 1].kind <= POP_EXPR_CONSTANT;
  pop_tensor result = !good || pop_graph_error(graph) ? none
                      : trivial                       ? finish(&e, out)
                      : e.stack[0].is_constant        ? finish(&e, out)
                                                      : e.stack[0].tensor;
  free(e.stack);
  return result;
}

pop_tensor poplibs_with_floats(pop_graph *graph, pop_binary_op op, pop_tensor a, pop_tensor b,
                               pop_tensor out, pop_program sequence, const char *name)
{
  if (pop_graph_error(graph) || pop_tensor_element_type(a) != POP_HALF)
    return pop_popops_binary(graph, op, a, b, out, sequence, name);
  const pop_expr_node nodes[] = {{.kind = POP_EXPR_TENSOR, .tensor = 0},
                                 {.kind = POP_EXPR_CAST, .type = POP_FLOAT},
                                 {.kind = POP_EXPR_TENSOR, .tensor = 1},
                                 {.kind = POP_EXPR_BINARY, .op = op},
                                 {.kind = POP_EXPR_CAST, .type = POP_HALF}};
  return pop_popops_map(graph, nodes, sizeof nodes / sizeof *nodes, (const pop_tensor[]){a, b}, 2,
                        out, sequence, name);
}
