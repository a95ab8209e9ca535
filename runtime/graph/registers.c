/* Programs that use control registers: <populus/registers.h>. They run vertices of
 * ../poplibs/registers.cpp, so they cost what those take. */
#include "graph/check.h"
#include "graph/describe.h"

#include <populus/registers.h>
#include <stdlib.h>

enum { SEED_WORDS = 4 };

static const char out_field[] = "out";

/* Checks the graph and the sequence, and adds the vertex types. */
static bool begin(const pop_graph *view, const char *call, pop_program sequence)
{
  if (!graph_lives(view, call) || !graph_usable(view->top, call)) return false;
  pop_graph *graph = view->top;
  const program *p = check_program(graph, call, sequence);
  if (!p) return false;
  if (p->kind != PROGRAM_SEQUENCE) {
    graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
                "%s: program %s is not a sequence; make one with pop_program_sequence", call,
                say_name(graph, p->name));
    return false;
  }
  return graph_add_built_in_codelets(graph, call);
}

static const char *name_part(pop_graph *graph, const char *name, const char *part)
{
  return name && *name ? pop_arena_printf(graph->top->arena, "%s/%s", name, part) : part;
}

static pop_vertex add_vertex(pop_graph *graph, pop_compute_set set, const char *type, size_t tile)
{
  pop_vertex v = pop_graph_add_vertex(graph, set, type);
  pop_graph_set_vertex_tile(graph, v, tile);
  return v;
}

static void add_execute(pop_graph *graph, pop_program sequence, pop_compute_set set,
                        const char *name)
{
  pop_sequence_add(sequence, pop_program_execute(graph, set, name));
}

/* ---- cycles ---- */

static bool begin_cycles(const pop_graph *view, const char *call, pop_program sequence)
{
  if (!begin(view, call, sequence)) return false;
  if (view->top->target.type != POP_TARGET_CPU) return true;
  graph_failf(view->top, POP_ERROR_INVALID_ARGUMENT,
              "%s: the graph is for the CPU, which counts no cycles; compile it for an IPU target",
              call);
  return false;
}

/* A row of two words for each tile. */
static pop_tensor add_stamps(pop_graph *graph, pop_program sequence, const size_t *tiles,
                             size_t count, pop_sync_type sync, const char *name)
{
  const size_t shape[] = {count, 2};
  pop_tensor stamps = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 2, name);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t i = 0; i < count; ++i) {
    pop_tensor stamp = pop_tensor_index(stamps, i);
    pop_graph_set_tile_mapping(graph, stamp, tiles[i]);
    pop_graph_connect(graph, add_vertex(graph, set, "poplar_rt::CycleStamp", tiles[i]), out_field,
                      stamp);
  }
  pop_sequence_add(sequence, pop_program_sync(graph, sync, name));
  add_execute(graph, sequence, set, name);
  return stamps;
}

static pop_tensor add_stamp(pop_graph *graph, pop_program sequence, size_t tile, pop_sync_type sync,
                            const char *name)
{
  return pop_tensor_index(add_stamps(graph, sequence, &tile, 1, sync, name), 0);
}

pop_tensor pop_graph_cycle_stamp(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name)
{
  GRAPH_TURN(graph);
  if (!begin_cycles(graph, "pop_graph_cycle_stamp", sequence)) return (pop_tensor){graph, 0};
  return add_stamp(graph, sequence, tile, sync, name_part(graph, name, "cycleStamp"));
}

pop_tensor pop_graph_cycle_stamps(pop_graph *graph, pop_program sequence, const size_t *tiles,
                                  size_t count, pop_sync_type sync, const char *name)
{
  GRAPH_TURN(graph);
  const char *call = "pop_graph_cycle_stamps";
  if (!begin_cycles(graph, call, sequence)) return (pop_tensor){graph, 0};
  if (!tiles && count) {
    graph_failf(graph->top, POP_ERROR_INVALID_ARGUMENT, "%s: the list of %zu tiles is NULL", call,
                count);
    return (pop_tensor){graph, 0};
  }
  return add_stamps(graph, sequence, tiles, count, sync, name_part(graph, name, "cycleStamp"));
}

/* Moves the programs of a sequence to another one, which has none. */
static void move_content(pop_program sequence, pop_program to)
{
  program *from = &sequence.graph->programs[sequence.index - 1];
  program *into = &sequence.graph->programs[to.index - 1];
  free(into->children);
  into->children = from->children;
  into->num_children = from->num_children;
  into->children_capacity = from->children_capacity;
  from->children = NULL;
  from->num_children = from->children_capacity = 0;
}

/* Puts stamps before the content of the sequence and after it. Returns the difference. */
static pop_tensor add_count(pop_graph *graph, pop_program sequence, pop_program content,
                            size_t tile, pop_sync_type sync, const char *name)
{
  pop_tensor start = add_stamp(graph, sequence, tile, sync, name_part(graph, name, "cycleStart"));
  pop_sequence_add(sequence, content);
  pop_tensor end = add_stamp(graph, sequence, tile, sync, name_part(graph, name, "cycleCount"));
  const char *difference = name_part(graph, name, "cycleDifference");
  pop_compute_set set = pop_graph_add_compute_set(graph, difference);
  pop_vertex v = add_vertex(graph, set, "poplar_rt::CycleDifference", tile);
  pop_graph_connect(graph, v, "start", start);
  pop_graph_connect(graph, v, "end", end);
  add_execute(graph, sequence, set, difference);
  return end;
}

/* After an error the sequence is as it was. */
pop_tensor pop_graph_cycle_count(pop_graph *graph, pop_program sequence, size_t tile,
                                 pop_sync_type sync, const char *name)
{
  GRAPH_TURN(graph);
  if (!begin_cycles(graph, "pop_graph_cycle_count", sequence)) return (pop_tensor){graph, 0};
  pop_program content = pop_program_sequence(graph, name);
  if (!content.index) return (pop_tensor){graph, 0};
  move_content(sequence, content);
  pop_tensor count = add_count(graph, sequence, content, tile, sync, name);
  if (!graph->top->error) return count;
  move_content(content, sequence);
  return (pop_tensor){graph, 0};
}

/* ---- floating point ---- */

static bool check_behaviour(pop_graph *graph, const char *call, uint32_t bits)
{
  if (!(bits & ~(uint32_t)POP_FP_ALL)) return true;
  graph_failf(
      graph->top, POP_ERROR_INVALID_ARGUMENT,
      "%s: 0x%x is no set of pop_floating_point_behaviour: it has 0x%x, which are not in it", call,
      bits, bits & ~(uint32_t)POP_FP_ALL);
  return false;
}

/* The register's new value: the same for all tiles, or an element for each. */
typedef struct float_setting {
  uint32_t keep, set;
  const pop_tensor *sets; /* NULL: `set` */
} float_setting;

static pop_tensor add_float_control(pop_graph *graph, pop_program sequence,
                                    const float_setting *setting, const char *name)
{
  const size_t tiles = pop_graph_num_tiles(graph);
  pop_tensor before = pop_graph_add_variable(graph, POP_UNSIGNED_INT, &tiles, 1, name);
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  for (size_t tile = 0; tile < tiles && graph_usable(graph->top, __func__); tile++) {
    pop_vertex v = add_vertex(graph, set, "poplar_rt::FloatControl", tile);
    pop_tensor element = pop_tensor_index(before, tile);
    pop_graph_set_tile_mapping(graph, element, tile);
    pop_graph_connect(graph, v, "before", element);
    pop_graph_connect_value(graph, v, "keep", POP_UNSIGNED_INT, &setting->keep, 1);
    if (setting->sets)
      pop_graph_connect(graph, v, "set", pop_tensor_index(*setting->sets, tile));
    else
      pop_graph_connect_value(graph, v, "set", POP_UNSIGNED_INT, &setting->set, 1);
  }
  add_execute(graph, sequence, set, name);
  return before;
}

void pop_graph_set_floating_point_behaviour(pop_graph *graph, pop_program sequence, uint32_t set,
                                            const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_floating_point_behaviour";
  if (!begin(graph, call, sequence) || !check_behaviour(graph, call, set)) return;
  const float_setting setting = {.keep = ~(uint32_t)POP_FP_ALL, .set = set};
  add_float_control(graph, sequence, &setting, name_part(graph, name, "setFloatingPointBehaviour"));
}

pop_tensor pop_graph_modify_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                     uint32_t clear, uint32_t set, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_modify_floating_point_behaviour";
  if (!begin(graph, call, sequence) || !check_behaviour(graph, call, clear | set))
    return (pop_tensor){graph, 0};
  const float_setting setting = {.keep = ~clear, .set = set};
  return add_float_control(graph, sequence, &setting,
                           name_part(graph, name, "modifyFloatingPointBehaviour"));
}

void pop_graph_restore_floating_point_behaviour(pop_graph *graph, pop_program sequence,
                                                pop_tensor behaviour, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_restore_floating_point_behaviour";
  if (!begin(graph, call, sequence)) return;
  const tensor *t = check_tensor(graph->top, call, behaviour);
  if (!t) return;
  size_t tiles = pop_graph_num_tiles(graph);
  if (t->type != POP_UNSIGNED_INT || t->rank != 1 || t->num_elements != tiles) {
    graph_failf(graph->top, POP_ERROR_TENSOR,
                "%s: the %s should be a vector of unsigned int with an element for each of the %zu "
                "tiles, as pop_graph_modify_floating_point_behaviour makes it",
                call, say_tensor(graph->top, t), tiles);
    return;
  }
  const float_setting setting = {.keep = ~(uint32_t)POP_FP_ALL, .sets = &behaviour};
  add_float_control(graph, sequence, &setting,
                    name_part(graph, name, "restoreFloatingPointBehaviour"));
}

void pop_graph_set_stochastic_rounding(pop_graph *graph, pop_program sequence, bool enable,
                                       const char *name)
{
  GRAPH_TURN(graph);
  const uint32_t bit = POP_FP_STOCHASTIC_ROUNDING;
  if (!begin(graph, "pop_graph_set_stochastic_rounding", sequence)) return;
  const float_setting setting = {.keep = ~bit, .set = enable ? bit : 0};
  add_float_control(graph, sequence, &setting, name_part(graph, name, "setStochasticRounding"));
}

/* ---- random numbers ---- */

/* A vertex on each tile with its part of the seeds. */
static void add_seed_vertices(pop_graph *graph, pop_program sequence, const char *type,
                              pop_tensor seeds, const char *name)
{
  pop_compute_set set = pop_graph_add_compute_set(graph, name);
  size_t tiles = pop_graph_num_tiles(graph);
  for (size_t tile = 0; tile < tiles && graph_usable(graph->top, __func__); tile++)
    pop_graph_connect(graph, add_vertex(graph, set, type, tile), "seeds",
                      pop_tensor_flatten(pop_tensor_index(seeds, tile)));
  add_execute(graph, sequence, set, name);
}

pop_tensor pop_graph_get_hw_seeds(pop_graph *graph, pop_program sequence, const char *name)
{
  GRAPH_TURN(graph);
  if (!begin(graph, "pop_graph_get_hw_seeds", sequence)) return (pop_tensor){graph, 0};
  const size_t shape[] = {pop_graph_num_tiles(graph), graph->top->target.num_worker_contexts,
                          SEED_WORDS};
  name = name_part(graph, name, "getHwSeeds");
  pop_tensor seeds = pop_graph_add_variable(graph, POP_UNSIGNED_INT, shape, 3, name);
  for (size_t tile = 0; tile < shape[0]; tile++)
    pop_graph_set_tile_mapping(graph, pop_tensor_index(seeds, tile), tile);
  add_seed_vertices(graph, sequence, "poplar_rt::GetSeeds", seeds, name);
  return seeds;
}

void pop_graph_set_hw_seeds(pop_graph *graph, pop_program sequence, pop_tensor seeds,
                            const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_set_hw_seeds";
  if (!begin(graph, call, sequence)) return;
  const tensor *t = check_tensor(graph->top, call, seeds);
  if (!t) return;
  size_t tiles = pop_graph_num_tiles(graph), workers = graph->top->target.num_worker_contexts;
  if (t->type != POP_UNSIGNED_INT || t->rank != 3 || t->shape[0] != tiles ||
      t->shape[1] != workers || t->shape[2] != SEED_WORDS) {
    graph_failf(graph->top, POP_ERROR_TENSOR,
                "%s: the %s should be of unsigned int and of shape {%zu,%zu,%d}, as "
                "pop_graph_get_hw_seeds makes it",
                call, say_tensor(graph->top, t), tiles, workers, SEED_WORDS);
    return;
  }
  add_seed_vertices(graph, sequence, "poplar_rt::SetSeeds", seeds,
                    name_part(graph, name, "setHwSeeds"));
}
