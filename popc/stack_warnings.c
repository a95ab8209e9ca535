/* Warnings about stacks, from the compiled code:
 *
 *   - vertices whose stack is unknown: recursion, calls through pointers, alloca. They get a
 *     default when a graph is compiled, which may be too small. There is one warning for each
 *     function that is the reason, with the call chain to it and what its author can state;
 *   - functions whose stated stack is smaller than their own frame.
 *
 * runtime_library.c handles undefined functions. */
#include "popc_internal.h"

#include <populus/names.h>
#include <populus/stack.h>

#include <stdlib.h>
#include <string.h>

typedef struct warner {
  popc_source_places *places;
  bool colour;
  pop_arena *arena;
  pop_bytes *out;
} warner;

/* The debug information around an instruction, and its place, as far as they are known. */
static const pop_debug_info *look_up(warner *w, const pop_object *object, uint32_t section,
                                     uint32_t offset, popc_place *place)
{
  const pop_debug_info *info = popc_find_debug_info(w->places, object, &section);
  pop_source_place found;
  if (!info || !pop_debug_info_place(info, section, offset, w->arena, &found)) return info;
  *place = (popc_place){.path = found.path, .line = found.line, .column = found.column};
  popc_find_text(w->places, place);
  return info;
}

/* The call chain in the names of the source. */
static const char *explain(const warner *w, const pop_vertex_type *type, const pop_stack_use *use,
                           const pop_debug_info *info)
{
  const char **names = pop_arena_alloc(w->arena, use->chain_length * sizeof *names);
  for (size_t i = 0; i < use->chain_length; ++i) {
    const char *name = info ? pop_debug_info_name(info, use->chain[i]) : NULL;
    if (!strcmp(use->chain[i], type->symbol)) name = type->name;
    names[i] = name ? name : use->chain[i];
  }
  pop_stack_use named = *use;
  named.chain = names;
  return pop_stack_explain(&named, w->arena);
}

/* What the author can state about the function that is the reason. */
static const char *advice(const warner *w, const pop_stack_use *use)
{
  const char *function = use->chain[use->chain_length - 1], *also = "";
  bool calls_itself = use->reason == POP_STACK_RECURSION && use->chain_length >= 2 &&
                      !strcmp(function, use->chain[use->chain_length - 2]);
  if (calls_itself)
    also = pop_arena_printf(w->arena, "DEF_RECURSION_LEVELS(levels, %s) or ", function);
  if (use->reason == POP_STACK_INDIRECT_CALL)
    also = pop_arena_printf(w->arena, "DEF_FUNC_CALL_PTRS(%s, \"callee,callee\") or ", function);
  return pop_arena_printf(w->arena,
                          "state it with %sDEF_STACK_USAGE(bytes, %s) of "
                          "<poplar/StackSizeDefs.hpp>",
                          also, function);
}

static void warn_of_unknown(warner *w, const pop_vertex_type *type, const pop_stack_use *use)
{
  popc_place vertex = popc_vertex_place(type, w->arena), place = vertex;
  const pop_debug_info *info = NULL;
  if (use->object) info = look_up(w, use->object, use->section, use->offset, &place);
  const char *text = pop_arena_printf(w->arena, "how much stack vertex '%s' needs is unknown: %s",
                                      type->name, explain(w, type, use, info));
  popc_print_diagnostic(w->out, w->colour, POPC_WARNING, &place, text);
  popc_print_diagnostic(w->out, w->colour, POPC_NOTE, &vertex, advice(w, use));
}

static void warn_of_understatement(void *context, const pop_stack_understatement *what)
{
  warner *w = context;
  popc_place place = {.path = pop_object_name(what->object)};
  const pop_debug_info *info = look_up(w, what->object, what->section, what->offset, &place);
  const char *name = info ? pop_debug_info_name(info, what->function) : NULL;
  const char *text = pop_arena_printf(
      w->arena, "DEF_STACK_USAGE states %u bytes of stack for '%s', whose own frame takes %u",
      what->stated_bytes, name ? name : what->function, what->frame_bytes);
  popc_print_diagnostic(w->out, w->colour, POPC_WARNING, &place, text);
}

static void warn_of_vertices(warner *w, pop_stack_analysis *analysis, const pop_gp *gp)
{
  pop_name_table said = {0};
  for (size_t i = 0; i < pop_gp_num_vertex_types(gp); ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(gp, i);
    pop_stack_use use = pop_stack_analyse(analysis, type->symbol, w->arena);
    if (use.reason == POP_STACK_KNOWN || use.reason == POP_STACK_UNDEFINED) continue;
    const char *culprit = use.chain[use.chain_length - 1];
    if (pop_name_table_find(&said, culprit) != POP_NAME_NONE) continue;
    pop_name_table_add(&said, culprit, (uint32_t)i);
    warn_of_unknown(w, type, &use);
  }
  pop_name_table_free(&said);
}

pop_error *popc_warn_of_stacks(const pop_link_set *set, const pop_gp *gp, const popc_origin *origin,
                               pop_bytes *out)
{
  pop_stack_analysis *analysis;
  POP_TRY(pop_stack_analysis_new(set, &analysis));
  warner w = {popc_source_places_new(origin), origin->settings->colour, pop_arena_new(), out};
  warn_of_vertices(&w, analysis, gp);
  pop_stack_understatements(analysis, warn_of_understatement, &w);
  popc_source_places_free(w.places);
  pop_arena_free(w.arena);
  pop_stack_analysis_free(analysis);
  return NULL;
}
