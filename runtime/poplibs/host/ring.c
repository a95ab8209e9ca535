/* Rings of replicas. The chunk that a replica sends in a step depends on its position, which
 * only the device knows. So a step is the body of a loop, the same for all replicas. */
#include "poplibs/host/ring.h"
#include "graph/graph.h"

#include <stdlib.h>

static const pop_tensor none;

/* ---- which replicas ---- */

uint32_t ring_position_of(const ring *r, uint32_t replica)
{
  return replica / r->stride % r->size;
}

uint32_t ring_neighbour(const ring *r, uint32_t replica, uint32_t shift)
{
  uint32_t from = ring_position_of(r, replica), to = (from + shift) % r->size;
  return replica - from * r->stride + to * r->stride;
}

pop_tensor ring_calculate(const ring *r, pop_tensor a, pop_binary_op op, uint32_t by,
                          pop_tensor out)
{
  const pop_expr_node nodes[] = {
      {.kind = POP_EXPR_TENSOR, .tensor = 0},
      {.kind = POP_EXPR_CONSTANT, .value = by, .type = POP_UNSIGNED_INT},
      {.kind = POP_EXPR_BINARY, .op = op},
      {.kind = POP_EXPR_CONSTANT, .value = r->size, .type = POP_UNSIGNED_INT},
      {.kind = POP_EXPR_BINARY, .op = POP_BINARY_REMAINDER}};
  return pop_popops_map(r->graph, nodes, sizeof nodes / sizeof *nodes, &a, 1, out, r->sequence,
                        r->name);
}

void ring_find_position(ring *r)
{
  const size_t one = 1;
  if (!r->index.index) return;
  r->position = pop_graph_add_variable(r->graph, POP_UNSIGNED_INT, &one, 1, r->name);
  pop_graph_set_tile_mapping(r->graph, r->position, 0);
  ring_calculate(r, r->index, POP_BINARY_DIVIDE, r->stride, r->position);
}

bool ring_open(ring *r, const char *call, pop_graph *graph, pop_tensor data, pop_comm_group group,
               pop_program sequence, const char *name)
{
  poplibs_log(call, name, &data, 1);
  uint32_t count = pop_graph_replication_factor(graph);
  uint32_t size = group.size && group.type != POP_COMM_ALL ? group.size : count;
  *r = (ring){.graph = graph,
              .call = call,
              .name = name,
              .num_replicas = count,
              .size = size,
              .sequence = sequence,
              .position = none};
  if (pop_graph_error(graph)) return false;
  if (count % size || (group.type == POP_COMM_ALL && group.size && group.size != count)) {
    poplibs_fail(graph, POP_ERROR_INVALID_ARGUMENT,
                 "%s: groups of %u replicas; the graph has %u, and groups have to be as large as "
                 "each other",
                 call, group.size, count);
    return false;
  }
  r->stride = group.type == POP_COMM_ORTHOGONAL ? count / size : 1;
  if (size == 1) return true;
  poplibs_need_popops(graph);
  pop_tensor index = pop_graph_add_replication_index_constant(graph, name);
  pop_graph_set_tile_mapping(graph, index, 0);
  r->index = pop_tensor_flatten(index);
  return !pop_graph_error(graph);
}

/* How many consecutive positions of a group are in one link domain. All positions if that number
 * is not the same in all domains. */
static uint32_t linked_positions(const ring *r)
{
  const pop_target *target = pop_graph_get_target(r->graph);
  if (target->link_domain_ipus % target->num_ipus) return r->size;
  uint32_t replicas = target->link_domain_ipus / target->num_ipus;
  uint32_t linked = replicas % r->stride ? 1 : replicas / r->stride;
  return linked > 1 && linked < r->size && r->size % linked == 0 ? linked : r->size;
}

ring_levels ring_split(const ring *r)
{
  ring_levels l = {.within = *r, .across = *r};
  l.within.size = linked_positions(r);
  l.across.size = r->size / l.within.size;
  l.across.stride = r->stride * l.within.size;
  ring_find_position(&l.within);
  if (l.across.size > 1) ring_find_position(&l.across);
  return l;
}

/* A map from each replica to the one `shift` positions further; the caller frees it. */
static pop_replica_pair *map_of(const ring *r, uint32_t shift)
{
  pop_replica_pair *map = pop_xcalloc(r->num_replicas, sizeof *map);
  for (uint32_t i = 0; i < r->num_replicas; i++)
    map[i] = (pop_replica_pair){i, ring_neighbour(r, i, shift)};
  return map;
}

void ring_shift(const ring *r, pop_tensor from, pop_tensor to, uint32_t shift)
{
  pop_replica_pair *map = map_of(r, shift);
  pop_sequence_add(r->sequence,
                   pop_program_cross_replica_copy(from, to, map, r->num_replicas, r->name));
  free(map);
}

/* ---- variables and copies ---- */

void ring_copy(const ring *r, pop_tensor from, pop_tensor to)
{
  pop_sequence_add(r->sequence, pop_program_copy(from, to, r->name));
}

void ring_map_like(const ring *r, pop_tensor flat, pop_tensor like)
{
  spread s = spread_of(r->graph, r->call, like);
  for (size_t i = 0; i < s.count; i++)
    pop_graph_set_tile_mapping(r->graph, spread_slice(&s.parts[i], flat), s.parts[i].tile);
  spread_free(&s);
}

pop_tensor ring_clone(const ring *r, pop_tensor like)
{
  pop_tensor made = pop_graph_add_variable(r->graph, pop_tensor_element_type(like),
                                           pop_tensor_shape(like), pop_tensor_rank(like), r->name);
  ring_map_like(r, pop_tensor_flatten(made), pop_tensor_flatten(like));
  return made;
}

/* ---- chunks that go round in rows ---- */

static pop_binary_op combination(pop_collective_op op)
{
  static const pop_binary_op ops[POP_COLLECTIVE_COUNT] = {
      [POP_COLLECTIVE_ADD] = POP_BINARY_ADD,
      [POP_COLLECTIVE_MEAN] = POP_BINARY_ADD,
      [POP_COLLECTIVE_SQUARE_ADD] = POP_BINARY_ADD,
      [POP_COLLECTIVE_MUL] = POP_BINARY_MULTIPLY,
      [POP_COLLECTIVE_MIN] = POP_BINARY_MINIMUM,
      [POP_COLLECTIVE_MAX] = POP_BINARY_MAXIMUM,
      [POP_COLLECTIVE_LOGICAL_AND] = POP_BINARY_LOGICAL_AND,
      [POP_COLLECTIVE_LOGICAL_OR] = POP_BINARY_LOGICAL_OR};
  return ops[op];
}

/* The body of a loop: chunks are passed on, and `at` counts down by one chunk. */
typedef struct step {
  ring r; /* with the body's sequence */
  pop_tensor at;
} step;

static step begin_steps(const ring *r)
{
  step s = {.r = *r, .at = ring_clone(r, r->position)};
  s.r.sequence = pop_program_sequence(r->graph, r->name);
  return s;
}

static void go_on(const step *s, pop_tensor sent, pop_tensor received)
{
  ring_shift(&s->r, sent, received, 1);
  ring_calculate(&s->r, s->at, POP_BINARY_ADD, s->r.size - 1, s->at);
}

static void end_steps(const ring *r, const step *s, uint32_t times)
{
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, times, s->r.sequence, r->name));
}

pop_tensor ring_scatter(const ring *r, const chunk_table *table, pop_collective_op op)
{
  pop_tensor row = chunks_new_row(table);
  if (r->size == 1) {
    ring_copy(r, table->flat, row);
    return row;
  }
  if (op == POP_COLLECTIVE_LOCAL) {
    chunks_take(table, r->position, row, r->sequence);
    return row;
  }
  pop_tensor first = ring_calculate(r, r->position, POP_BINARY_ADD, r->size - 1, none);
  pop_tensor received = ring_clone(r, row);
  chunks_take(table, first, row, r->sequence);
  step s = begin_steps(r);
  ring_copy(r, first, s.at);
  go_on(&s, row, received);
  chunks_combine(table, combination(op), s.at, received, row, s.r.sequence);
  end_steps(r, &s, r->size - 1);
  return row;
}

/* What is received in one step is sent in the next. The two rows swap roles, so steps go in
 * pairs. */
void ring_gather(const ring *r, pop_tensor row, const chunk_table *table)
{
  if (r->size == 1) {
    ring_copy(r, row, table->flat);
    return;
  }
  pop_sequence_add(r->sequence, pop_program_write_undef(table->flat, r->name));
  chunks_put(table, r->position, row, r->sequence);
  pop_tensor other = ring_clone(r, row), swapped[] = {row, other, row};
  step s = begin_steps(r), last = s;
  last.r.sequence = r->sequence;
  ring_copy(r, r->position, s.at);
  for (int i = 0; i < 2 && r->size > 2; i++) {
    go_on(&s, swapped[i], swapped[i + 1]);
    chunks_put(table, s.at, swapped[i + 1], s.r.sequence);
  }
  if (r->size > 2) end_steps(r, &s, (r->size - 1) / 2);
  if (r->size % 2) return;
  go_on(&last, row, other);
  chunks_put(table, s.at, other, r->sequence);
}

/* ---- rings whose chunks stay in the table ----
 *
 * The machine keeps some exchanges between replicas that it has decoded (machine/global_cache.h).
 * Here each step is a different exchange, so those of large rings would never be found again.
 * Large rings use rows instead. */

enum { MOST_STAYING = 16 };

bool ring_works_in_table(const ring *r, const chunk_table *table)
{
  return r->size > 1 && r->size <= MOST_STAYING && chunks_fit_in_place(table);
}

pop_tensor ring_scatter_here(const ring *r, const chunk_table *table, pop_collective_op op)
{
  pop_tensor state = chunks_new_state(table, r->position, r->sequence), row = chunks_new_row(table);
  pop_replica_pair *map = map_of(r, 1);
  pop_program body = pop_program_sequence(r->graph, r->name);
  chunks_pass(table, state, row, map, r->num_replicas, body);
  chunks_combine_here(table, combination(op), state, row, body);
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, r->size - 1, body, r->name));
  free(map);
  return state;
}

void ring_gather_here(const ring *r, const chunk_table *table, pop_tensor state)
{
  pop_replica_pair *map = map_of(r, 1);
  pop_program body = pop_program_sequence(r->graph, r->name);
  chunks_pass(table, state, none, map, r->num_replicas, body);
  pop_sequence_add(r->sequence, pop_program_repeat(r->graph, r->size - 1, body, r->name));
  free(map);
}
