/* Chunk tables (chunks.h). On each tile that has elements, a vertex of popops/chunks.cpp does
 * the work. */
#include "poplibs/host/chunks.h"
#include "base/divide.h"
#include "graph/graph.h"
#include "graph/replica.h"

#include <stdlib.h>

/* How many elements make a whole word. A null tensor has no type, so its elements have 0 bytes:
 * then the graph has an error already. */
static size_t grain_of(pop_type type)
{
  size_t bytes = pop_type_bytes(type);
  return bytes && bytes < sizeof(uint32_t) ? sizeof(uint32_t) / bytes : 1;
}

static void count_columns(chunk_table *t, size_t num_chunks, size_t grain)
{
  t->num_chunks = num_chunks;
  t->columns = pop_xcalloc(t->on.count + 1, sizeof *t->columns);
  for (size_t i = 0; i < t->on.count; i++) {
    size_t columns = divide_up(t->on.parts[i].num_elements, num_chunks);
    t->columns[i] = divide_up(columns, grain) * grain;
    t->all_columns += t->columns[i];
  }
}

chunk_table chunks_of(pop_graph *graph, const char *call, const char *name, pop_tensor flat,
                      size_t num_chunks)
{
  chunk_table t = {
      .graph = graph, .call = call, .name = name, .flat = flat, .on = spread_of(graph, call, flat)};
  count_columns(&t, num_chunks, grain_of(pop_tensor_element_type(flat)));
  return t;
}

/* Each tile but the last gets [num_chunks, each], the last one [num_chunks, the rest]. */
chunk_table chunks_new(pop_graph *graph, const char *call, const char *name, pop_type type,
                       size_t num_chunks, size_t columns, pop_tensor *rows)
{
  size_t tiles = pop_graph_num_tiles(graph), count = num_chunks * columns;
  size_t grain = grain_of(type), least = tiles ? divide_up(columns, tiles) : 1;
  size_t each = divide_up(least ? least : 1, grain) * grain, full = columns / each;
  pop_tensor flat = pop_graph_add_variable(graph, type, &count, 1, name);
  chunk_table t = {.graph = graph, .call = call, .name = name, .flat = flat};
  size_t behind = full * each * num_chunks;
  pop_tensor parts[] = {pop_tensor_reshape(pop_tensor_slice(flat, 0, behind, 0),
                                           (size_t[]){full, num_chunks, each}, 3),
                        pop_tensor_reshape(pop_tensor_slice(flat, behind, count, 0),
                                           (size_t[]){num_chunks, columns - full * each}, 2)};
  *rows = flat;
  if (pop_graph_error(graph)) return t;
  for (size_t i = 0; i < full; i++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(parts[0], i), i);
  if (behind < count) pop_graph_set_tile_mapping(graph, parts[1], full);
  parts[0] = pop_tensor_flatten_partial(pop_tensor_dim_roll(parts[0], 1, 0), 1, 3);
  *rows = pop_concat(parts, 2, 1);
  t.on = spread_of(graph, call, flat);
  count_columns(&t, num_chunks, 1);
  return t;
}

void chunks_free(chunk_table *t)
{
  spread_free(&t->on);
  free(t->columns);
}

bool chunks_are_runs(pop_tensor flat, const spread *on)
{
  for (size_t i = 0; i < on->count; i++) {
    view_walk walk;
    view_run run;
    pop_tensor part = spread_slice(&on->parts[i], flat);
    view_walk_start(&walk, part.graph->top, part.index);
    if (view_walk_next(&walk, &run) && run.count != on->parts[i].num_elements) return false;
  }
  return true;
}

/* ---- vertices ---- */

pop_tensor chunks_new_row(const chunk_table *t)
{
  pop_tensor row = pop_graph_add_variable(t->graph, pop_tensor_element_type(t->flat),
                                          &t->all_columns, 1, t->name);
  for (size_t i = 0, at = 0; i < t->on.count; at += t->columns[i++])
    pop_graph_set_tile_mapping(t->graph, pop_tensor_slice(row, at, at + t->columns[i], 0),
                               t->on.parts[i].tile);
  return row;
}

static const char *name_of(pop_binary_op op)
{
#define NAME(name, types, result) #name,
  static const char *const names[POP_BINARY_COUNT] = {POP_BINARY_OPS(NAME)};
#undef NAME
  return names[op];
}

static pop_type bits_of(pop_type type)
{
  static const pop_type bits[] = {[1] = POP_UNSIGNED_CHAR,
                                  [2] = POP_UNSIGNED_SHORT,
                                  [4] = POP_UNSIGNED_INT,
                                  [8] = POP_UNSIGNED_LONGLONG};
  return bits[pop_type_bytes(type)];
}

/* `received` is null for vertex types without such a field. */
static void add_vertices(const chunk_table *t, const char *vertex_type, pop_tensor flat,
                         pop_tensor at, pop_tensor received, pop_tensor row, pop_program sequence)
{
  pop_graph *graph = t->graph;
  if (!poplibs_check_vertex_type(graph, t->call, vertex_type, "collective",
                                 pop_tensor_element_type(t->flat)))
    return;
  pop_compute_set set = pop_graph_add_compute_set(graph, t->name);
  for (size_t i = 0, from = 0, to; i < t->on.count && !pop_graph_error(graph); i++, from = to) {
    to = from + t->columns[i];
    pop_vertex v = poplibs_add_vertex(graph, set, t->on.parts[i].tile, "%s", vertex_type);
    pop_graph_connect(graph, v, "table", spread_slice(&t->on.parts[i], flat));
    pop_graph_connect(graph, v, "at", pop_tensor_index(at, 0));
    if (received.index)
      pop_graph_connect(graph, v, "received", pop_tensor_slice(received, from, to, 0));
    pop_graph_connect(graph, v, "row", pop_tensor_slice(row, from, to, 0));
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, t->name));
}

/* Elements are only copied, so an unsigned type of their size will do. */
static void copy_chunk(const chunk_table *t, const char *vertex, pop_tensor at, pop_tensor row,
                       pop_program sequence)
{
  if (pop_graph_error(t->graph)) return;
  pop_type bits = bits_of(pop_tensor_element_type(t->flat));
  const char *type =
      pop_arena_printf(t->graph->top->arena, "popops::%s<%s>", vertex, pop_type_name(bits));
  add_vertices(t, type, pop_tensor_reinterpret(t->flat, bits), at, (pop_tensor){0},
               pop_tensor_reinterpret(row, bits), sequence);
}

void chunks_take(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence)
{
  copy_chunk(t, "TakeChunk", at, row, sequence);
}

void chunks_put(const chunk_table *t, pop_tensor at, pop_tensor row, pop_program sequence)
{
  copy_chunk(t, "PutChunk", at, row, sequence);
}

void chunks_combine(const chunk_table *t, pop_binary_op op, pop_tensor at, pop_tensor received,
                    pop_tensor row, pop_program sequence)
{
  if (pop_graph_error(t->graph)) return;
  const char *type = pop_arena_printf(t->graph->top->arena,
                                      "popops::CombineChunk<popops::expr::BinaryOpType::%s,%s>",
                                      name_of(op), pop_type_name(pop_tensor_element_type(t->flat)));
  add_vertices(t, type, t->flat, at, received, row, sequence);
}

/* ---- chunks that stay in the table ---- */

/* Packet headers, then the numbers of the chunk sent last and of the chunk received last. */
enum { STATE_AT = REPLICA_HEADER_WORDS, STATE_WORDS = REPLICA_HEADER_WORDS + 2 };

bool chunks_fit_in_place(const chunk_table *t)
{
  const pop_graph *top = t->graph->top;
  if (pop_graph_error(t->graph) || graph_is_for_host(top) || top->num_replicas == 1 ||
      top->tensors[t->flat.index].replication ||
      pop_type_bytes(pop_tensor_element_type(t->flat)) != sizeof(uint32_t))
    return false;
  for (size_t i = 0; i < t->on.count; i++)
    if (t->on.parts[i].num_elements <= (t->num_chunks - 1) * t->columns[i]) return false;
  return true;
}

/* Sets the words of the headers that never change: a packet goes to the tile of the same number
 * in the other replica. */
static void set_ways(const chunk_table *t, pop_tensor state)
{
  enum { IPUS = 32 }; /* IPUs for which a header word has a bit */
  uint32_t *words = pop_xcalloc(t->on.count + 1, STATE_WORDS * sizeof *words);
  for (size_t i = 0; i < t->on.count; i++) {
    uint32_t tile = (uint32_t)t->on.parts[i].tile;
    uint32_t ipu = tile / pop_graph_get_target(t->graph)->tiles_per_ipu;
    words[i * STATE_WORDS + 2] = (uint32_t)1 << ipu % IPUS;
    words[i * STATE_WORDS + 3] = ipu / IPUS;
    words[i * STATE_WORDS + 6] = tile;
  }
  pop_graph_set_initial_value(t->graph, state, words);
  free(words);
}

pop_tensor chunks_new_state(const chunk_table *t, pop_tensor at, pop_program sequence)
{
  const size_t shape[] = {t->on.count, STATE_WORDS};
  pop_tensor state = pop_graph_add_variable(t->graph, POP_UNSIGNED_INT, shape, 2, t->name);
  for (size_t i = 0; i < t->on.count; i++)
    pop_graph_set_tile_mapping(t->graph, pop_tensor_index(state, i), t->on.parts[i].tile);
  set_ways(t, state);
  pop_tensor all = pop_tensor_flatten(pop_tensor_slice(state, STATE_AT, STATE_AT + 1, 1));
  pop_sequence_add(sequence,
                   pop_program_copy(pop_tensor_broadcast(at, t->on.count, 0), all, t->name));
  return state;
}

/* A view with as many elements of each tile as a chunk has there: the first chunk's. */
static pop_tensor first_chunk(const chunk_table *t)
{
  pop_tensor *parts = pop_xcalloc(t->on.count + 1, sizeof *parts);
  for (size_t i = 0; i < t->on.count; i++)
    parts[i] = pop_tensor_slice(spread_slice(&t->on.parts[i], t->flat), 0, t->columns[i], 0);
  pop_tensor first = pop_concat(parts, t->on.count, 0);
  free(parts);
  return first;
}

static void add_heads(const chunk_table *t, pop_tensor state, pop_tensor row, pop_program sequence)
{
  pop_graph *graph = t->graph;
  pop_tensor table = pop_tensor_reinterpret(t->flat, POP_UNSIGNED_INT);
  if (row.index) row = pop_tensor_reinterpret(row, POP_UNSIGNED_INT);
  pop_compute_set set = pop_graph_add_compute_set(graph, t->name);
  for (size_t i = 0, from = 0; i < t->on.count && !pop_graph_error(graph);
       from += t->columns[i++]) {
    pop_vertex v = poplibs_add_vertex(graph, set, t->on.parts[i].tile, "popops::HeadChunk");
    pop_tensor part = spread_slice(&t->on.parts[i], table);
    pop_graph_connect(graph, v, "table", part);
    pop_graph_connect(graph, v, "to",
                      row.index ? pop_tensor_slice(row, from, from + t->columns[i], 0) : part);
    pop_graph_connect(graph, v, "state", pop_tensor_index(state, i));
    pop_graph_set_field_int(graph, v, "columns", (int64_t)t->columns[i]);
    pop_graph_set_field_int(graph, v, "numChunks", (int64_t)t->num_chunks);
    pop_graph_set_field_int(graph, v, "toRow", row.index != 0);
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, t->name));
}

void chunks_pass(const chunk_table *t, pop_tensor state, pop_tensor row,
                 const pop_replica_pair *map, size_t count, pop_program sequence)
{
  if (pop_graph_error(t->graph)) return;
  add_heads(t, state, row, sequence);
  pop_tensor first = first_chunk(t);
  pop_tensor headers = pop_tensor_slice(state, 0, REPLICA_HEADER_WORDS, 1);
  pop_sequence_add(sequence, graph_headed_replica_copy(first, row.index ? row : first, headers, map,
                                                       count, t->name));
}

void chunks_combine_here(const chunk_table *t, pop_binary_op op, pop_tensor state, pop_tensor row,
                         pop_program sequence)
{
  pop_graph *graph = t->graph;
  pop_type type = pop_tensor_element_type(t->flat);
  pop_compute_set set = pop_graph_add_compute_set(graph, t->name);
  for (size_t i = 0, from = 0; i < t->on.count && !pop_graph_error(graph);
       from += t->columns[i++]) {
    pop_vertex v = poplibs_add_vertex(graph, set, t->on.parts[i].tile,
                                      "popops::CombineHere<popops::expr::BinaryOpType::%s,%s>",
                                      name_of(op), pop_type_name(type));
    pop_graph_connect(graph, v, "table", spread_slice(&t->on.parts[i], t->flat));
    pop_graph_connect(graph, v, "state", pop_tensor_index(state, i));
    pop_graph_connect(graph, v, "received", pop_tensor_slice(row, from, from + t->columns[i], 0));
  }
  pop_sequence_add(sequence, pop_program_execute(graph, set, t->name));
}
