/* Control programs: their contents, programs that contain themselves, nesting, and calls that give
 * errors. */
#include "support/graph_test.h"

#include <stdlib.h>

static const program *inside(pop_program p)
{
  return &p.graph->programs[p.index - 1];
}

static pop_tensor vector(pop_graph *graph, pop_type type, size_t size, const char *name)
{
  return pop_graph_add_variable(graph, type, &size, 1, name);
}

Test(program, X01_programs_hold_what_they_were_made_of)
{
  pop_graph *graph = new_graph();
  pop_compute_set set = pop_graph_add_compute_set(graph, "set");
  pop_tensor a = vector(graph, POP_INT, 4, "a"), b = vector(graph, POP_INT, 4, "b");
  pop_program main = pop_program_sequence(graph, "main");
  pop_program empty = pop_program_sequence(graph, NULL);
  pop_program parts[] = {pop_program_execute(graph, set, "run"),
                         pop_program_copy(a, pop_tensor_reshape(b, (const size_t[]){2, 2}, 2), "c"),
                         pop_program_print_tensor(a, "a"),
                         pop_program_repeat(graph, 0, empty, "never"),
                         pop_program_repeat(graph, UINT32_MAX, empty, "long"),
                         empty};
  const program_kind kinds[] = {PROGRAM_EXECUTE, PROGRAM_COPY,   PROGRAM_PRINT_TENSOR,
                                PROGRAM_REPEAT,  PROGRAM_REPEAT, PROGRAM_SEQUENCE};
  for (size_t i = 0; i < 6; i++) pop_sequence_add(main, parts[i]);
  pop_sequence_add(main, parts[0]); /* the same part again */
  assert_no_error(graph);
  cr_assert_eq(inside(main)->num_children, 7);
  for (size_t i = 0; i < 6; i++) {
    cr_assert_eq(inside(main)->children[i], parts[i].index - 1);
    cr_assert_eq(inside(parts[i])->kind, kinds[i], "program %zu", i);
  }
  cr_assert_eq(inside(main)->children[6], parts[0].index - 1);
  cr_assert_str_eq(inside(main)->name, "main");
  cr_assert_str_eq(inside(empty)->name, "");
  cr_assert_str_eq(inside(parts[2])->name, "a");
  cr_assert_eq(inside(parts[0])->compute_set, 0);
  cr_assert_eq(inside(parts[1])->source, a.index);
  cr_assert_eq(inside(parts[3])->count, 0);
  cr_assert_eq(inside(parts[4])->count, UINT32_MAX);
  cr_assert_eq(inside(parts[4])->num_children, 1);
  pop_graph_free(graph);
}

Test(program, overlapping_copies_and_copies_of_nothing_are_legal)
{
  pop_graph *graph = new_graph();
  pop_tensor v = vector(graph, POP_HALF, 8, "v"), none = vector(graph, POP_HALF, 0, "none");
  pop_program_copy(pop_tensor_slice(v, 0, 6, 0), pop_tensor_slice(v, 2, 8, 0), NULL);
  pop_program_copy(none, pop_tensor_slice(v, 3, 3, 0), NULL);
  pop_program_copy(pop_tensor_broadcast(pop_tensor_slice(v, 0, 1, 0), 8, 0), v, NULL);
  assert_no_error(graph);
  pop_graph_free(graph);
}

/* ---- rings and depth ---- */

/* A ring of `length` sequences, closed by the last call. */
static void make_ring(pop_graph *graph, size_t length, bool through_repeat)
{
  pop_program first = pop_program_sequence(graph, "outer"), last = first;
  for (size_t i = 1; i < length; i++) {
    pop_program next = pop_program_sequence(graph, "inner");
    pop_program child = through_repeat ? pop_program_repeat(graph, 2, next, "loop") : next;
    pop_sequence_add(last, child);
    last = next;
  }
  assert_no_error(graph);
  pop_sequence_add(last, first);
}

Test(program, X03_a_sequence_cannot_hold_itself)
{
  for (size_t length = 1; length <= 64; length *= 2)
    for (int through_repeat = 0; through_repeat < 2; through_repeat++) {
      pop_graph *graph = new_graph();
      make_ring(graph, length, through_repeat);
      assert_error(graph, POP_ERROR_CONTROL_PROGRAM,
                   (const char *[5]){"pop_sequence_add", length == 1 ? "'outer'" : "'inner'",
                                     "itself", "'outer'"},
                   "ring");
      pop_graph_free(graph);
    }
}

Test(program, X03_a_shared_part_is_not_a_ring)
{
  pop_graph *graph = new_graph();
  pop_program shared = pop_program_sequence(graph, "shared");
  pop_program left = pop_program_sequence(graph, "left"),
              right = pop_program_sequence(graph, "right");
  pop_program top = pop_program_sequence(graph, "top");
  pop_sequence_add(top, left);
  pop_sequence_add(top, right);
  pop_sequence_add(left, shared);
  pop_sequence_add(right, shared);
  pop_sequence_add(left, right);
  assert_no_error(graph);
  pop_sequence_add(shared, left); /* this call closes the ring */
  cr_assert_not_null(pop_graph_error(graph));
  pop_graph_free(graph);
}

Test(program, X02_depth_of_100000_in_either_direction)
{
  enum { DEPTH = 100000 };
  pop_graph *graph = new_graph();
  pop_program inner = pop_program_sequence(graph, "innermost");
  for (int i = 0; i < DEPTH; i++) { /* from the inside out */
    pop_program outer = pop_program_sequence(graph, NULL);
    pop_sequence_add(outer, i % 2 ? pop_program_repeat(graph, 1, inner, NULL) : inner);
    inner = outer;
  }
  pop_program top = inner;
  for (int i = 0; i < DEPTH; i++) { /* from the outside in */
    pop_program below = pop_program_sequence(graph, NULL);
    pop_sequence_add(top, below);
    top = below;
  }
  assert_no_error(graph);
  pop_sequence_add(top, inner); /* closes a ring through the whole second part */
  cr_assert_not_null(pop_graph_error(graph));
  pop_graph_free(graph);
}

/* A search through all parts in each call would take 10^11 steps. */
/* Each call would look at the whole function again: 10^10 steps. */
Test(program, calls_of_a_long_function_are_added_in_linear_time)
{
  enum { MANY = 100000 };
  pop_graph *graph = new_graph();
  pop_program body = pop_program_sequence(graph, "body");
  for (int i = 0; i < MANY; i++) pop_sequence_add(body, pop_program_nop(graph, ""));
  pop_function function = pop_graph_add_function(graph, body);
  pop_program whole = pop_program_sequence(graph, "whole"), part = pop_program_sequence(graph, "");
  pop_sequence_add(whole, part);
  for (int i = 0; i < MANY; i++) pop_sequence_add(part, pop_program_call(function, ""));
  assert_no_error(graph);
  pop_sequence_add(body, whole);
  cr_assert_eq(pop_error_get_code(pop_graph_error(graph)), POP_ERROR_CONTROL_PROGRAM);
  pop_graph_free(graph);
}

/* Comparing each case with each other one would be 10^11 steps. */
Test(program, a_switch_may_have_many_cases)
{
  enum { MANY = 300000 };
  pop_graph *graph = new_graph();
  pop_tensor control = pop_graph_add_variable(graph, POP_INT, NULL, 0, "control");
  pop_switch_case *cases = pop_xcalloc(MANY, sizeof *cases);
  for (int i = 0; i < MANY; i++) cases[i].value = MANY - i;
  pop_program_switch(control, cases, MANY, (pop_program){0}, "many");
  assert_no_error(graph);
  cases[MANY - 1].value = cases[7].value;
  cases[9].value = cases[7].value;
  pop_program_switch(control, cases, MANY, (pop_program){0}, "equal");
  assert_error(graph, POP_ERROR_CONTROL_PROGRAM, (const char *const[5]){"cases 7 and 9 "}, "equal");
  free(cases);
  pop_graph_free(graph);
}

Test(program, a_long_program_of_long_programs_is_built_in_linear_time)
{
  enum { PARTS = 300000 };
  pop_graph *graph = new_graph();
  pop_program main = pop_program_sequence(graph, "main"), around = pop_program_sequence(graph, "a");
  pop_sequence_add(around, main);
  pop_program step = pop_program_execute(graph, pop_graph_add_compute_set(graph, "set"), NULL);
  for (int i = 0; i < PARTS; i++) {
    pop_program part = pop_program_sequence(graph, NULL);
    pop_sequence_add(part, step);
    pop_sequence_add(main, part);
  }
  assert_no_error(graph);
  cr_assert_eq(inside(main)->num_children, PARTS);
  pop_graph_free(graph);
}

/* ---- refused calls ---- */

static void copy_sizes(pop_graph *g)
{
  pop_program_copy(vector(g, POP_INT, 4, "a"), vector(g, POP_INT, 5, "b"), "step");
}
static void copy_types(pop_graph *g)
{
  pop_program_copy(vector(g, POP_INT, 4, "a"), vector(g, POP_FLOAT, 4, "b"), "step");
}
static void copy_to_constant(pop_graph *g)
{
  const int32_t ones[] = {1, 1};
  pop_tensor c = pop_graph_add_constant(g, POP_INT, (const size_t[]){2}, 1, ones, "c");
  pop_program_copy(vector(g, POP_INT, 2, "a"), c, "step");
}
static void copy_to_alias(pop_graph *g)
{
  pop_tensor b = vector(g, POP_INT, 2, "b");
  pop_program_copy(vector(g, POP_INT, 4, "a"), pop_tensor_broadcast(b, 2, 0), "step");
}
static void copy_null(pop_graph *g)
{
  pop_program_copy((pop_tensor){0}, vector(g, POP_INT, 2, "b"), "step");
}
static void add_to_execute(pop_graph *g)
{
  pop_program p = pop_program_execute(g, pop_graph_add_compute_set(g, "s"), "run");
  pop_sequence_add(p, p);
}
static void add_null(pop_graph *g)
{
  pop_sequence_add(pop_program_sequence(g, "main"), (pop_program){0});
}
static void repeat_null(pop_graph *g)
{
  pop_program_repeat(g, 1, (pop_program){0}, "loop");
}
static void execute_null(pop_graph *g)
{
  pop_program_execute(g, (pop_compute_set){0}, "run");
}
static void print_null(pop_graph *g)
{
  pop_program_print_tensor((pop_tensor){g, 0}, "title");
}
static void if_many(pop_graph *g)
{
  pop_program_if(vector(g, POP_INT, 2, "p"), pop_program_sequence(g, "s"), (pop_program){0},
                 "choice");
}
static void if_float(pop_graph *g)
{
  pop_program_if(vector(g, POP_FLOAT, 1, "p"), pop_program_sequence(g, "s"), (pop_program){0},
                 "choice");
}
static void if_null(pop_graph *g)
{
  pop_program_if((pop_tensor){g, 0}, pop_program_sequence(g, "s"), (pop_program){0}, "choice");
}
static void switch_bool(pop_graph *g)
{
  pop_program_switch(vector(g, POP_BOOL, 1, "p"), NULL, 0, (pop_program){0}, "choice");
}
static void switch_twice(pop_graph *g)
{
  pop_switch_case cases[] = {{7, {0}}, {8, {0}}, {7, {0}}};
  pop_program_switch(vector(g, POP_INT, 1, "p"), cases, 3, (pop_program){0}, "choice");
}
static void switch_too_large(pop_graph *g)
{
  pop_switch_case cases[] = {{255, {0}}, {256, {0}}};
  pop_program_switch(vector(g, POP_UNSIGNED_CHAR, 1, "p"), cases, 2, (pop_program){0}, "choice");
}
static void switch_too_small(pop_graph *g)
{
  pop_switch_case cases[] = {{-32768, {0}}, {-32769, {0}}};
  pop_program_switch(vector(g, POP_SHORT, 1, "p"), cases, 2, (pop_program){0}, "choice");
}
static void while_wide(pop_graph *g)
{
  pop_program_repeat_while_true((pop_program){0}, vector(g, POP_LONGLONG, 1, "p"), (pop_program){0},
                                "loop");
}
static void while_ring(pop_graph *g)
{
  pop_program main = pop_program_sequence(g, "main");
  pop_sequence_add(main, pop_program_repeat_while_false((pop_program){0},
                                                        vector(g, POP_BOOL, 1, "p"), main, "loop"));
}
static void call_ring(pop_graph *g)
{
  pop_program main = pop_program_sequence(g, "main");
  pop_sequence_add(main, pop_program_call(pop_graph_add_function(g, main), "call"));
}
static void call_null(pop_graph *g)
{
  pop_program_call((pop_function){g, 0}, "call");
}
static void undef_constant(pop_graph *g)
{
  const int32_t ones[] = {1, 1};
  pop_program_write_undef(pop_graph_add_constant(g, POP_INT, (const size_t[]){2}, 1, ones, "c"),
                          "gone");
}
static void abort_float(pop_graph *g)
{
  pop_program_abort_on_condition(vector(g, POP_FLOAT, 1, "p"), "bad", "check");
}
static void abort_many(pop_graph *g)
{
  pop_program_abort_on_condition(vector(g, POP_BOOL, 3, "p"), "bad", "check");
}
static void sync_unknown(pop_graph *g)
{
  const unsigned unknown = 3; /* not by a cast: clang-tidy checks the enumerators */
  pop_sync_type type;
  memcpy(&type, &unknown, sizeof type);
  pop_program_sync(g, type, "wait");
}
static void block_nameless(pop_graph *g)
{
  pop_program_block(g, pop_program_sequence(g, "s"), "");
}
static void block_null(pop_graph *g)
{
  pop_program_block(g, (pop_program){0}, "part");
}
static void execute_foreign(pop_graph *g)
{
  pop_graph *other = new_graph();
  pop_program_execute(g, pop_graph_add_compute_set(other, "s"), "run");
  pop_graph_free(other);
}

Test(program, X03_X04_X05_X07_P01_P10_bad_programs_say_what_is_wrong)
{
  static const bad_call cases[] = {
      {copy_sizes, POP_ERROR_TENSOR, {"'step'", "{4} of 'a'", "{5} of 'b'", "same number"}},
      {copy_types, POP_ERROR_TYPE, {"int tensor {4} of 'a'", "float tensor {4} of 'b'"}},
      {copy_to_constant, POP_ERROR_TENSOR, {"'c'", "constant"}},
      {copy_to_alias, POP_ERROR_TENSOR, {"{4} of 'b'", "twice"}},
      {copy_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_copy", "tensor is null"}},
      {add_to_execute, POP_ERROR_CONTROL_PROGRAM, {"'run'", "not a sequence"}},
      {add_null, POP_ERROR_INVALID_ARGUMENT, {"pop_sequence_add", "program is null"}},
      {repeat_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_repeat", "program is null"}},
      {execute_null, POP_ERROR_INVALID_ARGUMENT, {"compute set is null"}},
      {print_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_print_tensor", "null"}},
      {execute_foreign, POP_ERROR_INVALID_ARGUMENT, {"compute set", "another graph"}},
      {if_many, POP_ERROR_TENSOR, {"pop_program_if 'choice'", "{2} of 'p'", "one element"}},
      {if_float, POP_ERROR_TYPE, {"'choice'", "float tensor", "bool, int"}},
      {if_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_if", "tensor is null"}},
      {switch_bool, POP_ERROR_TYPE, {"control", "bool tensor", "must be int"}},
      {switch_twice, POP_ERROR_CONTROL_PROGRAM, {"cases 0 and 2", "value 7"}},
      {switch_too_large, POP_ERROR_CONTROL_PROGRAM, {"case 1", "256", "unsigned char"}},
      {switch_too_small, POP_ERROR_CONTROL_PROGRAM, {"case 1", "-32769", "short"}},
      {while_wide, POP_ERROR_TYPE, {"pop_program_repeat_while_true 'loop'", "32 bits"}},
      {while_ring, POP_ERROR_CONTROL_PROGRAM, {"'main'", "itself"}},
      {call_ring, POP_ERROR_CONTROL_PROGRAM, {"'main'", "itself"}},
      {call_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_call", "null"}},
      {abort_float, POP_ERROR_TYPE, {"pop_program_abort_on_condition 'check'", "float", "bool"}},
      {abort_many, POP_ERROR_TENSOR, {"'check'", "{3} of 'p'", "one element"}},
      {sync_unknown, POP_ERROR_INVALID_ARGUMENT, {"'wait'", "sync type 3", "POP_SYNC_GLOBAL"}},
      {block_nameless, POP_ERROR_INVALID_ARGUMENT, {"pop_program_block", "no name"}},
      {block_null, POP_ERROR_INVALID_ARGUMENT, {"pop_program_block", "program is null"}},
      {undef_constant, POP_ERROR_TENSOR, {"'gone'", "constant"}},
  };
  assert_bad_calls(cases, sizeof cases / sizeof *cases);
}

Test(program, after_an_error_calls_do_nothing)
{
  pop_graph *graph = new_graph();
  pop_program main = pop_program_sequence(graph, "main");
  pop_tensor v = vector(graph, POP_INT, 4, "v");
  pop_tensor_index(v, 4);
  const char *message = pop_error_message(pop_graph_error(graph));
  pop_sequence_add(main, main);
  cr_assert_eq(pop_program_copy(v, v, NULL).index, 0);
  cr_assert_eq(pop_program_sequence(graph, "other").index, 0);
  cr_assert_eq(graph->num_programs, 1);
  cr_assert_str_eq(pop_error_message(pop_graph_error(graph)), message);
  pop_graph_free(graph);
}
