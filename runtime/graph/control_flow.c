/* Programs that decide on the device what runs: If, Switch, RepeatWhile, Abort, calls of
 * functions.
 *
 * An If is a Switch whose only case is 0, the else branch; the default is the then branch. A
 * missing branch is an empty sequence. So a Switch has a child for each case and one for the
 * default, and a While has two. */
#include "base/order.h"
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"
#include "graph/replicated.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CONTROL_BYTES = 4 };

static bool is_control_type(pop_type type)
{
  return pop_type_is_integer(type) && pop_type_bytes(type) <= MAX_CONTROL_BYTES;
}

/* `what`: "predicate" or "control". */
static bool check_control(pop_graph *graph, const char *call, const char *name, const char *what,
                          pop_tensor control)
{
  const tensor *t = check_tensor(graph, call, control);
  if (!t) return false;
  bool predicate = strcmp(what, "predicate") == 0;
  if (t->num_elements != 1)
    graph_failf(graph, POP_ERROR_TENSOR, "%s %s: the %s is the %s: it must have one element", call,
                say_name(graph, name), what, say_tensor(graph, t));
  else if (!is_control_type(t->type) && !(predicate && t->type == POP_BOOL))
    graph_failf(graph, POP_ERROR_TYPE,
                "%s %s: the %s is the %s: its type must be %sint or another "
                "integer of up to 32 bits",
                call, say_name(graph, name), what, say_tensor(graph, t), predicate ? "bool, " : "");
  return !graph->error;
}

/* Checks a control that decides for all tiles. */
static bool check_decision(pop_graph *graph, const char *call, const char *name, const char *what,
                           pop_tensor control)
{
  if (!check_control(graph, call, name, what, control)) return false;
  const tensor *t = &graph->tensors[control.index];
  if (!t->replication) return true;
  graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
              "%s %s: the %s is the %s, of %s: replicas of a graph run its programs in step and "
              "cannot go different ways; give the %s of one of them, which is an index of "
              "pop_graph_get_non_replicated_tensor, or let pop_graph_create_replicated make the "
              "graph",
              call, say_name(graph, name), what, say_tensor(graph, t),
              say_replication(graph, t->replication), what);
  return false;
}

static bool check_branch(pop_graph *graph, const char *call, pop_program branch)
{
  return branch.index == 0 || check_program(graph, call, branch);
}

static void add_branch(pop_program parent, pop_program branch, const char *call)
{
  pop_graph *graph = parent.graph;
  if (branch.index == 0) branch = add_program(graph, call, (program){.kind = PROGRAM_SEQUENCE}, "");
  if (branch.index) add_child(parent, branch);
}

pop_program pop_program_if(pop_tensor predicate, pop_program then_body, pop_program else_body,
                           const char *name)
{
  GRAPH_TURN(predicate.graph);
  static const char call[] = "pop_program_if";
  pop_graph *graph = predicate.graph;
  if (!graph_usable(graph, __func__) ||
      !check_decision(graph, call, name, "predicate", predicate) ||
      !check_branch(graph, call, then_body) || !check_branch(graph, call, else_body))
    return (pop_program){graph, 0};
  uint32_t *values = pop_arena_alloc(graph->arena, sizeof *values);
  values[0] = 0;
  program p = {
      .kind = PROGRAM_SWITCH, .count = 1, .source = predicate.index, .case_values = values};
  pop_program handle = add_program(graph, call, p, name);
  if (handle.index) {
    add_branch(handle, else_body, call);
    add_branch(handle, then_body, call);
  }
  return handle;
}

/* Whether a control of this type can have the value. */
static bool can_hold(pop_type type, int64_t value)
{
  uint32_t bits = pop_type_bytes(type) * 8;
  bool is_signed = pop_type_is_signed_integer(type);
  int64_t least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
  int64_t most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  return least <= value && value <= most;
}

/* Of cases with equal values the first ones that come: the second of them, and the first in
 * *first. `num_cases` if all are different. */
static size_t find_equal_cases(const pop_switch_case *cases, size_t num_cases, size_t *first)
{
  size_t second = num_cases;
  keyed *order = pop_xcalloc(num_cases + 1, sizeof *order);
  for (size_t i = 0; i < num_cases; i++) order[i] = (keyed){(uint64_t)cases[i].value, (uint32_t)i};
  sort_keyed(order, num_cases); /* stable */
  for (size_t i = 1; i < num_cases; i++) {
    if (order[i].key != order[i - 1].key || order[i].index >= second) continue;
    second = order[i].index;
    *first = order[i - 1].index;
  }
  free(order);
  return second;
}

static bool check_cases(pop_graph *graph, const char *call, const char *name, pop_type type,
                        const pop_switch_case *cases, size_t num_cases)
{
  size_t first = 0, second = find_equal_cases(cases, num_cases, &first);
  for (size_t i = 0; i < num_cases; i++) {
    if (!can_hold(type, cases[i].value))
      graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
                  "%s %s: case %zu is for the value %lld, which a control of type %s cannot have",
                  call, say_name(graph, name), i, (long long)cases[i].value, pop_type_name(type));
    if (i == second && !graph->error)
      graph_failf(graph, POP_ERROR_CONTROL_PROGRAM,
                  "%s %s: cases %zu and %zu are both for the value %lld; each value can have one",
                  call, say_name(graph, name), first, i, (long long)cases[i].value);
    if (graph->error || !check_branch(graph, call, cases[i].body)) return false;
  }
  return true;
}

pop_program pop_program_switch(pop_tensor control, const pop_switch_case *cases, size_t num_cases,
                               pop_program default_body, const char *name)
{
  GRAPH_TURN(control.graph);
  static const char call[] = "pop_program_switch";
  pop_graph *graph = control.graph;
  if (!graph_usable(graph, __func__) || !check_decision(graph, call, name, "control", control) ||
      !check_cases(graph, call, name, pop_tensor_element_type(control), cases, num_cases) ||
      !check_branch(graph, call, default_body))
    return (pop_program){graph, 0};
  uint32_t *values = pop_arena_alloc(graph->arena, (num_cases + 1) * sizeof *values);
  for (size_t i = 0; i < num_cases; i++) values[i] = (uint32_t)cases[i].value;
  program p = {.kind = PROGRAM_SWITCH, .source = control.index, .case_values = values};
  pop_program handle = add_program(graph, call, p, name);
  for (size_t i = 0; i < num_cases && handle.index; i++) add_branch(handle, cases[i].body, call);
  if (handle.index) add_branch(handle, default_body, call);
  return handle;
}

static pop_program repeat_while(const char *call, bool sense, pop_program condition,
                                pop_tensor predicate, pop_program body, const char *name)
{
  pop_graph *graph = predicate.graph;
  if (!graph_usable(graph, call) || !check_decision(graph, call, name, "predicate", predicate) ||
      !check_branch(graph, call, condition) || !check_branch(graph, call, body))
    return (pop_program){graph, 0};
  program p = {.kind = PROGRAM_WHILE, .source = predicate.index, .count = sense};
  pop_program handle = add_program(graph, call, p, name);
  if (handle.index) {
    add_branch(handle, condition, call);
    add_branch(handle, body, call);
  }
  return handle;
}

pop_program pop_program_repeat_while_true(pop_program condition, pop_tensor predicate,
                                          pop_program body, const char *name)
{
  GRAPH_TURN(predicate.graph);
  return repeat_while("pop_program_repeat_while_true", true, condition, predicate, body, name);
}

pop_program pop_program_repeat_while_false(pop_program condition, pop_tensor predicate,
                                           pop_program body, const char *name)
{
  GRAPH_TURN(predicate.graph);
  return repeat_while("pop_program_repeat_while_false", false, condition, predicate, body, name);
}

static pop_program add_abort(pop_graph *graph, const char *call, uint32_t predicate,
                             const char *message, const char *name)
{
  program p = {.kind = PROGRAM_ABORT,
               .source = predicate,
               .message = message ? pop_arena_strdup(graph->arena, message) : ""};
  return add_program(graph, call, p, name);
}

pop_program pop_program_abort(pop_graph *graph, const char *message, const char *name)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__)) return (pop_program){graph, 0};
  return add_abort(graph, "pop_program_abort", 0, message, name);
}

static pop_program add_condition(pop_graph *graph, const char *call, program p, uint32_t replica,
                                 const char *name)
{
  (void)replica;
  return add_abort(graph, call, p.source, p.message, name);
}

pop_program pop_program_abort_on_condition(pop_tensor predicate, const char *message,
                                           const char *name)
{
  GRAPH_TURN(predicate.graph);
  static const char call[] = "pop_program_abort_on_condition";
  pop_graph *graph = predicate.graph;
  if (!graph_usable(graph, __func__) || !check_control(graph, call, name, "predicate", predicate))
    return (pop_program){graph, 0};
  program p = {.source = predicate.index, .message = message};
  return add_for_each_replica(graph, call, p, predicate, add_condition, name);
}

pop_function pop_graph_add_function(pop_graph *graph, pop_program body)
{
  GRAPH_TURN(graph);
  if (!graph_enter(&graph, __func__) || !check_program(graph, "pop_graph_add_function", body))
    return (pop_function){graph, 0};
  return (pop_function){graph, body.index};
}

/* A function is a program that several calls share: the compiler lowers it once (lower.c). */
pop_program pop_program_call(pop_function function, const char *name)
{
  GRAPH_TURN(function.graph);
  static const char call[] = "pop_program_call";
  pop_graph *graph = function.graph;
  pop_program body = {graph, function.index};
  if (!graph_usable(graph, __func__) || !check_program(graph, call, body))
    return (pop_program){graph, 0};
  pop_program handle = add_program(graph, call, (program){.kind = PROGRAM_CALL}, name);
  if (handle.index) add_child(handle, body);
  return handle;
}
