/* Variable storage liveness in the summary: the variables that are always live, then the tree of
 * programs with what is live at each. A Call is followed by the programs that it calls, so all call
 * stacks are shown. If there are too many of them, functions follow the control programs
 * instead. */
#include "profile/graph_summary.h"
#include "profile/grouped.h"

#include <populus/arena.h>
#include <populus/names.h>
#include <stdlib.h>
#include <string.h>

enum {
  NUMBER_WIDTH = 14,
  INDENT = 2,
  MAX_INDENT = 80, /* nesting of programs is not limited */
  MOST_PROGRAMS = 20000
};

typedef struct liveness_printer {
  const summary_style *style;
  pop_profile_value names, bytes; /* of variables */
  pop_profile_value programs, lives;
  pop_profile_value *live_of; /* by program: its entry of `lives`, or a null value */
  pop_profile_value functions;
  bool follow_calls;
  summary_row *rows; /* of the current list */
  size_t rows_capacity;
} liveness_printer;

static int compare_names(const void *a, const void *b)
{
  return strcmp(((const summary_row *)a)->name, ((const summary_row *)b)->name);
}

/* Variables with the same name share a line. */
static void print_variables(liveness_printer *p, int indent, pop_profile_value variables)
{
  size_t count = pop_profile_count(variables), kept = 0;
  pop_reserve(p->rows, count + 1, p->rows_capacity);
  for (size_t i = 0; i < count; ++i) {
    size_t variable = (size_t)pop_profile_as_int(pop_profile_at(variables, i));
    const char *name = pop_profile_as_string(pop_profile_at(p->names, variable));
    p->rows[i] = (summary_row){name ? name : "?",
                               (uint64_t)pop_profile_as_int(pop_profile_at(p->bytes, variable))};
  }
  qsort(p->rows, count, sizeof *p->rows, compare_names);
  for (size_t i = 0; i < count; ++i)
    if (kept && strcmp(p->rows[kept - 1].name, p->rows[i].name) == 0)
      p->rows[kept - 1].number += p->rows[i].number;
    else
      p->rows[kept++] = p->rows[i];
  summary_rows(p->style, indent, p->rows, kept, NUMBER_WIDTH, "");
}

static void print_program(liveness_printer *p, size_t number, int indent)
{
  pop_profile_value program = pop_profile_at(p->programs, number), live = p->live_of[number];
  const char *name = pop_profile_as_string(pop_profile_get(program, "name"));
  const char *type = pop_profile_as_string(pop_profile_get(program, "type"));
  char count[32];
  fprintf(p->style->stream, "%*s%s%s", indent, "", type ? type : "?", name ? ": " : "");
  pop_write_name(name ? name : "", p->style->stream);
  fputc('\n', p->style->stream);
  if (!live.node) return;
  fprintf(p->style->stream, "%*sLive Bytes (excluding always-live): %s\n", indent + INDENT, "",
          grouped((uint64_t)pop_profile_as_int(pop_profile_get(live, "bytes")), count));
  if (!pop_profile_count(pop_profile_get(live, "variables"))) return;
  fprintf(p->style->stream, "%*sLive Vars (excluding always-live):\n", indent + INDENT, "");
  print_variables(p, indent + 2 * INDENT, pop_profile_get(live, "variables"));
}

/* A stack of its own, because programs may be nested deeper than the host's stack allows. */
typedef struct waiting {
  size_t program;
  int indent;
} waiting;

typedef struct waiting_list {
  waiting *items;
  size_t count, capacity;
} waiting_list;

/* Pushes what follows the program: the program that it calls, or its children, the first on top. */
static void push_children(const liveness_printer *p, waiting at, waiting_list *stack)
{
  pop_profile_value program = pop_profile_at(p->programs, at.program);
  const char *type = pop_profile_as_string(pop_profile_get(program, "type"));
  int indent = at.indent < MAX_INDENT ? at.indent + INDENT : at.indent;
  if (p->follow_calls && type && strcmp(type, "Call") == 0) {
    size_t function = (size_t)pop_profile_as_int(pop_profile_get(program, "target"));
    if (function >= pop_profile_count(p->functions)) return;
    size_t root = (size_t)pop_profile_as_int(pop_profile_at(p->functions, function));
    pop_push(stack->items, stack->count, stack->capacity, (waiting){root, indent});
    return;
  }
  pop_profile_value children = pop_profile_get(program, "children");
  for (size_t i = pop_profile_count(children); i-- > 0;) {
    size_t child = (size_t)pop_profile_as_int(pop_profile_at(children, i));
    if (child > at.program) /* guarantees termination */
      pop_push(stack->items, stack->count, stack->capacity, (waiting){child, indent});
  }
}

/* The number of programs in the tree, at most `limit`. Prints them if `prints`. */
static size_t walk_tree(liveness_printer *p, size_t root, int indent, bool prints, size_t limit)
{
  waiting_list stack = {0};
  size_t visited = 0;
  pop_push(stack.items, stack.count, stack.capacity, (waiting){root, indent});
  while (stack.count > 0 && visited < limit) {
    waiting next = stack.items[--stack.count];
    if (next.program >= pop_profile_count(p->programs)) continue;
    visited++;
    if (prints) print_program(p, next.program, next.indent);
    push_children(p, next, &stack);
  }
  free(stack.items);
  return visited;
}

/* Are there few enough call stacks to print all of them? */
static bool may_follow_calls(liveness_printer *p, pop_profile_value roots)
{
  size_t most = MOST_PROGRAMS + pop_profile_count(p->programs), visited = 0;
  p->follow_calls = true;
  for (size_t i = 0; i < pop_profile_count(roots) && visited < most; ++i)
    visited += walk_tree(p, (size_t)pop_profile_as_int(pop_profile_at(roots, i)), 0, false,
                         most - visited);
  return visited < most;
}

/* In a file that is damaged, a program may be in several others, and the tree be without end. */
static void print_trees(liveness_printer *p, pop_profile_value roots, const char *title)
{
  size_t left = MOST_PROGRAMS + pop_profile_count(p->programs);
  for (size_t i = 0; i < pop_profile_count(roots); ++i) {
    if (title) fprintf(p->style->stream, "\n    %s %zu:\n", title, i);
    left -= walk_tree(p, (size_t)pop_profile_as_int(pop_profile_at(roots, i)), 4, true, left);
  }
}

void summary_liveness(const summary_style *style, pop_profile_value profile)
{
  pop_profile_value liveness = pop_profile_find(profile, "memory.liveness");
  liveness_printer p = {.style = style,
                        .names = pop_profile_find(liveness, "variables.names"),
                        .bytes = pop_profile_find(liveness, "variables.bytes"),
                        .programs = pop_profile_get(profile, "programs"),
                        .lives = pop_profile_get(liveness, "programs"),
                        .functions = pop_profile_get(profile, "functionPrograms")};
  size_t num_programs = pop_profile_count(p.programs);
  char number[32];
  p.live_of = pop_xcalloc(num_programs + 1, sizeof *p.live_of);
  for (size_t i = 0; i < pop_profile_count(p.lives); ++i) {
    pop_profile_value live = pop_profile_at(p.lives, i);
    size_t program = (size_t)pop_profile_as_int(pop_profile_get(live, "program"));
    if (program < num_programs) p.live_of[program] = live;
  }
  summary_heading(style, 2, "Variable Storage Liveness: All tiles", false);
  fprintf(style->stream, "\n    Always-live bytes: %s\n    Always-live variables:\n",
          grouped((uint64_t)pop_profile_as_int(pop_profile_find(liveness, "alwaysLive.bytes")),
                  number));
  print_variables(&p, 6, pop_profile_find(liveness, "alwaysLive.variables"));
  fprintf(style->stream, "\n    Maximum live bytes (including always-live): %s\n\n",
          grouped((uint64_t)pop_profile_as_int(pop_profile_get(liveness, "maxBytes")), number));
  pop_profile_value roots = pop_profile_get(profile, "controlPrograms");
  p.follow_calls = may_follow_calls(&p, roots);
  print_trees(&p, roots, NULL);
  if (!p.follow_calls) print_trees(&p, p.functions, "Function");
  fputc('\n', style->stream);
  free(p.live_of);
  free(p.rows);
}
