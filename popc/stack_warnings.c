/* Vertices whose stack nobody can know: recursion, calls through pointers, alloca. They get a default
 * when a graph is compiled, which may be too small: so the author is told, once for each function that
 * is the reason, with the way that leads there. What is not defined is runtime_library.c's subject. */
#include "popc_internal.h"

#include <populus/names.h>
#include <populus/stack.h>

#include <string.h>

static void warn(const pop_vertex_type *type, const pop_stack_use *use, pop_arena *arena,
                 pop_bytes *out)
{
  const char *text = pop_arena_printf(
      arena,
      "%s: warning: how much stack vertex '%s' needs is unknown: %s; state it with "
      "DEF_STACK_USAGE(bytes, function) of <poplar/StackSizeDefs.hpp>\n",
      type->source, type->name, pop_stack_explain(use, arena));
  pop_bytes_append(out, text, strlen(text));
}

pop_error *popc_warn_of_stacks(const pop_link_set *set, const pop_gp *gp, pop_bytes *out)
{
  pop_stack_analysis *analysis;
  POP_TRY(pop_stack_analysis_new(set, &analysis));
  pop_arena *arena = pop_arena_new();
  pop_name_table said = {0};
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(gp, i);
    pop_stack_use use = pop_stack_analyse(analysis, type->symbol, arena);
    if (use.reason == POP_STACK_KNOWN || use.reason == POP_STACK_UNDEFINED) continue;
    const char *culprit = use.chain[use.chain_length - 1];
    if (pop_name_table_find(&said, culprit) != POP_NAME_NONE) continue;
    pop_name_table_add(&said, culprit, (uint32_t)i);
    warn(type, &use, arena, out);
  }
  pop_name_table_free(&said);
  pop_arena_free(arena);
  pop_stack_analysis_free(analysis);
  return NULL;
}
