/* Stack: how much stack the workers and the supervisor of each tile need.
 *
 * The stack use of a vertex is found in its machine code (populus/stack.h). Each worker of a tile
 * gets what the neediest vertex there needs, because any worker may run any vertex. The worker stub
 * and tile.call need no stack. Some stack use cannot be known: recursion, calls through pointers,
 * alloca, and the workers that a supervisor vertex may start itself. These get what the engine
 * option says, or a default. popc has warned, and the machine notices a stack that is too small.
 *
 * Needs:   the link set.
 * Adds:    the stack of vertex types, of workers and of supervisor vertices.
 * Then:    the sizes of stacks are final.
 */
#include "compiler/compilation.h"

#include "base/log.h"
#include <populus/stack.h>

enum { DEFAULT_BYTES = 2048, ALIGN_BYTES = 16 };

static uint32_t round_up(uint32_t bytes)
{
  return (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

static uint32_t unless_zero(uint32_t bytes, uint32_t otherwise)
{
  return bytes ? bytes : otherwise;
}

static uint32_t default_bytes(const compilation *c, pop_vertex_kind kind)
{
  uint32_t asked = kind == POP_VERTEX_SUPERVISOR ? c->options.supervisor_stack_bytes
                                                 : c->options.worker_stack_bytes;
  return unless_zero(asked, DEFAULT_BYTES);
}

static void analyse_type(const compilation *c, pop_stack_analysis *analysis, pop_arena *scratch,
                         used_vertex_type *used)
{
  const pop_vertex_type *type = used->type;
  pop_stack_use use = pop_stack_analyse(analysis, type->symbol, scratch);
  if (use.reason == POP_STACK_KNOWN) {
    used->stack_bytes = round_up(use.bytes);
    if (c->options.log_stack_sizes)
      log_write(LOG_INFO, "COMPILER", "vertex %s needs %u bytes of stack", type->name, use.bytes);
    return;
  }
  used->stack_bytes = default_bytes(c, type->kind);
  log_write(LOG_WARN, "COMPILER", "vertex %s gets %u bytes of stack; what it needs is unknown: %s",
            type->name, used->stack_bytes, pop_stack_explain(&use, scratch));
}

static pop_error *analyse_types(compilation *c)
{
  pop_stack_analysis *analysis;
  POP_TRY(pop_stack_analysis_new(c->link_set, &analysis));
  pop_arena *scratch = pop_arena_new();
  for (size_t i = 0; i < c->num_vertex_types; i++)
    if (c->vertex_types[i].num_instances) analyse_type(c, analysis, scratch, &c->vertex_types[i]);
  pop_arena_free(scratch);
  pop_stack_analysis_free(analysis);
  return NULL;
}

static void raise_to(uint32_t *maximum, uint32_t value)
{
  if (value > *maximum) *maximum = value;
}

static void account_vertex(const compilation *c, const used_vertex_type *used, tile_layout *layout)
{
  if (used->type->kind == POP_VERTEX_SUPERVISOR) {
    raise_to(&layout->supervisor_vertex_stack_bytes, used->stack_bytes);
    raise_to(&layout->worker_stack_bytes, default_bytes(c, POP_VERTEX_WORKER));
  } else {
    raise_to(&layout->worker_stack_bytes, used->stack_bytes);
  }
}

pop_error *pass_stack(compilation *c)
{
  POP_TRY(analyse_types(c));
  for (size_t w = 0; w < c->num_works; w++) {
    const tile_work *work = &c->works[w];
    tile_layout *layout = &c->tiles[work->tile];
    raise_to(&layout->worker_stack_bytes, unless_zero(c->options.worker_stack_bytes, ALIGN_BYTES));
    for (uint32_t v = 0; v < work->num_vertices; v++)
      account_vertex(c, &c->vertex_types[c->vertices[work->first_vertex + v].type], layout);
  }
  return NULL;
}
