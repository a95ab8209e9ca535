/* Control programs. A program consists of programs that exist already. Only pop_sequence_add
 * could make a cycle, and it refuses to. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/copy_order.h"
#include "graph/describe.h"
#include "graph/metadata.h"
#include "graph/print_format.h"
#include "graph/replicated.h"

#include <stdlib.h>

pop_program add_program(pop_graph *graph, const char *call, program p, const char *name)
{
  if (graph->error) return (pop_program){graph, 0}; /* an error while its tensors were made */
  if (!check_room(graph, call, graph->num_programs, "programs")) return (pop_program){graph, 0};
  p.name = name && *name ? pop_arena_strdup(graph->arena, name) : "";
  pop_push(graph->programs, graph->num_programs, graph->programs_capacity, p);
  return (pop_program){graph, (uint32_t)graph->num_programs};
}

void add_child(pop_program parent, pop_program child)
{
  program *p = &parent.graph->programs[parent.index - 1];
  pop_push(p->children, p->num_children, p->children_capacity, child.index - 1);
  program *c = &parent.graph->programs[child.index - 1];
  c->has_others |= c->has_parent && c->parent != parent.index - 1;
  c->has_parent = true;
  c->parent = parent.index - 1;
}

pop_program pop_program_sequence(pop_graph *graph, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return (pop_program){graph, 0};
  return add_program(graph, "pop_program_sequence", (program){.kind = PROGRAM_SEQUENCE}, name);
}

/* Does `from` contain `wanted`, at any depth? Nesting may be arbitrarily deep, so the search
 * uses a worklist, not recursion. */
static bool holds(pop_graph *graph, uint32_t from, uint32_t wanted)
{
  uint32_t *open = NULL;
  size_t num_open = 0, capacity = 0;
  bool found = false;
  uint64_t visit = ++graph->program_visit;
  graph->programs[from].visit = visit;
  pop_push(open, num_open, capacity, from);
  while (num_open && !found) {
    uint32_t index = open[--num_open];
    const program *p = &graph->programs[index];
    found = index == wanted;
    for (size_t i = 0; i < p->num_children; i++) {
      program *child = &graph->programs[p->children[i]];
      if (child->visit == visit) continue;
      child->visit = visit;
      pop_push(open, num_open, capacity, p->children[i]);
    }
  }
  free(open);
  return found;
}

/* Would `sequence` contain itself with `child` in it? Most programs are inside one other, and not
 * deep: then what contains the sequence is soon known. Otherwise everything in the child is looked
 * at. */
static bool makes_ring(pop_graph *graph, uint32_t sequence, uint32_t child)
{
  enum { NOT_DEEP = 64 };
  if (sequence == child) return true;
  if (graph->programs[child].num_children == 0) return false;
  const program *p = &graph->programs[sequence];
  for (int i = 0; i < NOT_DEEP && !p->has_others; i++) {
    if (!p->has_parent) return false;
    if (p->parent == child) return true;
    p = &graph->programs[p->parent];
  }
  return holds(graph, child, sequence);
}

void pop_sequence_add(pop_program sequence, pop_program child)
{
  GRAPH_TURN(sequence.graph);
  static const char call[] = "pop_sequence_add";
  pop_graph *graph = sequence.graph ? sequence.graph : child.graph;
  if (!graph_usable(graph, __func__)) return;
  program *parent = check_program(graph, call, sequence);
  program *added = parent ? check_program(graph, call, child) : NULL;
  if (!added) return;
  if (parent->kind != PROGRAM_SEQUENCE)
    graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
                "%s: program %s is not a sequence; make one with pop_program_sequence", call,
                say_name(graph, parent->name));
  else if (makes_ring(graph, sequence.index - 1, child.index - 1))
    graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
                "%s: sequence %s would contain itself, by way of %s; programs cannot be recursive",
                call, say_name(graph, parent->name), say_name(graph, added->name));
  else
    add_child(sequence, child);
}

pop_program pop_program_execute(pop_graph *graph, pop_compute_set compute_set, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_program_execute";
  if (!graph_enter(&graph, __func__) || !check_compute_set(graph, call, compute_set))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_EXECUTE, .compute_set = compute_set.index - 1};
  return add_program(graph, call, p, name);
}

pop_program pop_program_repeat(pop_graph *graph, uint32_t count, pop_program body, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_program_repeat";
  if (!graph_enter(&graph, __func__) || !check_program(graph, call, body))
    return (pop_program){graph, 0};
  pop_program handle =
      add_program(graph, call, (program){.kind = PROGRAM_REPEAT, .count = count}, name);
  if (handle.index) add_child(handle, body);
  return handle;
}

bool check_copy(pop_graph *graph, const char *call, const char *name, pop_tensor source,
                pop_tensor destination)
{
  const tensor *from = check_tensor(graph, call, source);
  const tensor *to = from ? check_tensor(graph, call, destination) : NULL;
  if (!to) return false;
  const char *wrong = NULL;
  pop_error_code code = POP_ERROR_TENSOR;
  if (from->type != to->type)
    wrong = "the element types must be the same", code = POP_ERROR_TYPE;
  else if (from->num_elements != to->num_elements)
    wrong = "they must have the same number of elements";
  else if (pop_tensor_contains_constant(destination))
    wrong = "a constant cannot be written";
  else if (pop_tensor_contains_aliases(destination))
    wrong = "the destination holds some element twice, so that it would be written twice";
  if (!wrong) return check_replication(graph, call, to, from->replication);
  graph_failf(graph, code, "%s %s: from the %s to the %s: %s", call, say_name(graph, name),
              say_tensor(graph, from), say_tensor(graph, to), wrong);
  return false;
}

static pop_program add_copy(pop_graph *graph, const char *call, pop_tensor source,
                            pop_tensor destination, const char *name)
{
  order_copy(graph, &source, &destination);
  program p = {.kind = PROGRAM_COPY,
               .source = tensor_of_all_replicas(graph, call, source).index,
               .destination = tensor_of_all_replicas(graph, call, destination).index};
  return add_program(graph, call, p, name);
}

/* A copy of quarters preserves their meaning if it copies the metadata, too. So the source's
 * metadata, if all its quarters have the same, are copied to the destination's, unless those are
 * a constant. */
static pop_program add_copy_of_quarters(pop_graph *graph, const char *call, pop_tensor source,
                                        pop_tensor destination, const char *name)
{
  pop_program copy = add_copy(graph, call, source, destination, name);
  pop_tensor from = graph_metadata(graph, call, &graph->tensors[source.index], false);
  pop_tensor to = graph_metadata(graph, call, &graph->tensors[destination.index], false);
  if (graph->error || !from.index || !to.index || pop_tensor_equal(from, to) ||
      pop_tensor_contains_constant(to))
    return copy;
  pop_program both = pop_program_sequence(graph, name);
  pop_sequence_add(both, copy);
  pop_sequence_add(both, add_copy(graph, call, from, to, name));
  return both;
}

pop_program pop_program_copy(pop_tensor source, pop_tensor destination, const char *name)
{
  GRAPH_TURN(source.graph ? source.graph : destination.graph);
  static const char call[] = "pop_program_copy";
  pop_graph *graph = source.graph ? source.graph : destination.graph;
  if (!graph_usable(graph, __func__) || !check_copy(graph, call, name, source, destination))
    return (pop_program){graph, 0};
  return graph->tensors[source.index].type == POP_QUARTER
             ? add_copy_of_quarters(graph, call, source, destination, name)
             : add_copy(graph, call, source, destination, name);
}

pop_program pop_program_write_undef(pop_tensor tensor, const char *name)
{
  GRAPH_TURN(tensor.graph);
  static const char call[] = "pop_program_write_undef";
  pop_graph *graph = tensor.graph;
  if (!graph_usable(graph, __func__) || !check_tensor(graph, call, tensor))
    return (pop_program){graph, 0};
  if (pop_tensor_contains_constant(tensor)) {
    graph_failf(graph, POP_ERROR_TENSOR, "%s %s: a constant cannot be written", call,
                say_name(graph, name));
    return (pop_program){graph, 0};
  }
  program p = {.kind = PROGRAM_WRITE_UNDEF,
               .source = tensor_of_all_replicas(graph, call, tensor).index};
  return add_program(graph, call, p, name);
}

pop_program pop_program_sync(pop_graph *graph, pop_sync_type type, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_program_sync";
  if (!graph_enter(&graph, __func__)) return (pop_program){graph, 0};
  if ((unsigned)type > POP_SYNC_GLOBAL) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s %s: there is no sync type %d: POP_SYNC_INTERNAL, POP_SYNC_EXTERNAL or "
                "POP_SYNC_GLOBAL",
                call, say_name(graph, name), (int)type);
    return (pop_program){graph, 0};
  }
  return add_program(graph, call, (program){.kind = PROGRAM_SYNC, .count = type}, name);
}

pop_program pop_program_nop(pop_graph *graph, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return (pop_program){graph, 0};
  return add_program(graph, "pop_program_nop", (program){.kind = PROGRAM_NOP}, name);
}

pop_program pop_program_block(pop_graph *graph, pop_program body, const char *name)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_program_block";
  if (!graph_enter(&graph, __func__) || !check_program(graph, call, body))
    return (pop_program){graph, 0};
  if (!name || !*name) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the block has no name; profiles show it by that", call);
    return (pop_program){graph, 0};
  }
  pop_program handle = add_program(graph, call, (program){.kind = PROGRAM_BLOCK}, name);
  if (handle.index) add_child(handle, body);
  return handle;
}

pop_program add_for_each_replica(pop_graph *graph, const char *call, program p, pop_tensor tensor,
                                 add_for_replica *add, const char *name)
{
  uint32_t count = tensor_replicas(tensor);
  if (!graph->tensors[tensor.index].replication) return add(graph, call, p, GRAPH_NONE, name);
  pop_program all = add_program(graph, call, (program){.kind = PROGRAM_SEQUENCE}, name);
  for (uint32_t r = 0; r < count && all.index; r++) {
    p.source = tensor_of_replica(graph, call, tensor, r).index;
    pop_program one = add(graph, call, p, r, name);
    if (!one.index) return one;
    add_child(all, one);
  }
  return all;
}

static pop_program add_print(pop_graph *graph, const char *call, program p, uint32_t replica,
                             const char *title)
{
  if (replica != GRAPH_NONE)
    title = pop_arena_printf(graph->arena, "%s (replica %u)", title ? title : "", replica);
  return add_program(graph, call, p, title);
}

static pop_program print_as(const char *call, pop_tensor tensor, const char *format,
                            const char *title)
{
  pop_graph *graph = tensor.graph;
  if (!graph_usable(graph, call) || !check_tensor(graph, call, tensor))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_PRINT_TENSOR, .source = tensor.index, .message = format};
  return add_for_each_replica(graph, call, p, tensor, add_print, title);
}

pop_program pop_program_print_tensor(pop_tensor tensor, const char *title)
{
  GRAPH_TURN(tensor.graph);
  return print_as("pop_program_print_tensor", tensor, "", title);
}

pop_program pop_program_print_tensor_formatted(pop_tensor tensor, const char *title,
                                               const pop_print_format *format)
{
  GRAPH_TURN(tensor.graph);
  static const char call[] = "pop_program_print_tensor_formatted";
  pop_graph *graph = tensor.graph;
  if (!graph_usable(graph, __func__)) return (pop_program){graph, 0};
  char text[PRINT_FORMAT_SIZE];
  if (!format || !print_format_write(format, text)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: the format cannot be: 1 to %u digits, a float format, and characters that can "
                "be printed are needed",
                call, PRINT_FORMAT_MAX_DIGITS);
    return (pop_program){graph, 0};
  }
  return print_as(call, tensor, pop_arena_strdup(graph->arena, text), title);
}
