/* A device fault in the user's words: which vertex of which compute set did what, where.
 *
 * The machine knows numbers: tile, context, program counter, the address of the vertex state. What
 * they mean is looked up in the compilation (vertex, compute set) and in the image's symbols
 * (function), because both are still there when the fault is.
 */
#include "engine/engine_private.h"

#include "engine/source_line.h"
#include <stdlib.h>
#include <string.h>

typedef struct fault_names {
  const lowered_compute_set *compute_set; /* NULL: not in a vertex */
  const lowered_vertex *vertex;
  char function[256];    /* "compute+0x10", or "" */
  char source_line[512]; /* "codelets.cpp:12", or "" */
} fault_names;

static const tile_work *find_work(const compilation *c, const lowered_compute_set *set,
                                  uint32_t tile)
{
  for (size_t i = 0; i < set->num_works; ++i)
    if (c->works[set->first_work + i].tile == tile) return &c->works[set->first_work + i];
  return NULL;
}

/* A worker may have been started by a vertex of the supervisor. */
static bool can_run(const lowered_vertex *vertex, uint32_t context)
{
  return vertex->worker == context || vertex->worker == ON_SUPERVISOR ||
         (vertex->worker == ON_ALL_WORKERS && context != MACHINE_SUPERVISOR);
}

/* The vertex whose state the context was called with. A state may be empty: two vertices can then
 * share an address, and the one with the entry that was called is meant. */
bool engine_find_vertex(const compilation *c, uint32_t tile, uint32_t context,
                        uint32_t vertex_state, const lowered_compute_set **compute_set,
                        const lowered_vertex **found)
{
  for (size_t s = 0; s < c->num_compute_sets; ++s) {
    const lowered_compute_set *set = &c->compute_sets[s];
    const tile_work *work = find_work(c, set, tile);
    if (!work) continue;
    uint32_t offset = vertex_state - c->blocks[work->state_block].address;
    for (size_t v = 0; v < work->num_vertices; ++v) {
      const lowered_vertex *vertex = &c->vertices[work->first_vertex + v];
      if (vertex->state_offset == offset && can_run(vertex, context)) {
        *compute_set = set;
        *found = vertex;
        return true;
      }
    }
  }
  return false;
}

static void find_function(const compilation *c, const machine_fault *fault, fault_names *names)
{
  pop_arena *arena = pop_arena_new();
  pop_image image;
  pop_error *error = compilation_tile_image(c, fault->tile, arena, &image);
  for (size_t i = 0; !error && i < image.num_symbols; ++i) {
    const pop_image_symbol *symbol = &image.symbols[i];
    if (symbol->kind != POP_SYMBOL_OBJECT && fault->pc - symbol->address < symbol->size) {
      snprintf(names->function, sizeof names->function, "%s+0x%x", symbol->name,
               fault->pc - symbol->address);
      break;
    }
  }
  pop_error_free(error);
  pop_arena_free(arena);
}

static void append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char **text, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *addition = NULL;
  if (vasprintf(&addition, format, args) >= 0) {
    char *joined = pop_xasprintf("%s%s", *text, addition);
    free(addition);
    free(*text);
    *text = joined;
  }
  va_end(args);
}

static void append_what(char **text, const machine_fault *fault)
{
  append(text, "device fault %s", machine_fault_name(fault->kind));
  switch (fault->kind) {
  case MACHINE_FAULT_INVALID_ADDRESS:
  case MACHINE_FAULT_MISALIGNED:
  case MACHINE_FAULT_STACK_OVERFLOW:
    append(text, " at address 0x%x", fault->address);
    break;
  case MACHINE_FAULT_TRAP:
    append(text, " (value %u)", fault->address);
    break;
  default:
    break;
  }
  if (fault->context == MACHINE_SUPERVISOR)
    append(text, " on tile %u, supervisor", fault->tile);
  else
    append(text, " on tile %u, worker %u", fault->tile, fault->context);
}

static void append_where(const compilation *c, char **text, const machine_fault *fault,
                         const fault_names *names)
{
  if (names->vertex) {
    const pop_vertex_type *type = c->vertex_types[names->vertex->type].type;
    append(text, ", in vertex %s", type->name);
    if (names->vertex->graph_vertex != COMPILER_NONE)
      append(text, " (number %u of the graph)", names->vertex->graph_vertex);
    append(text, " of compute set '%s'", names->compute_set->name);
  }
  append(text, ", pc 0x%x", fault->pc);
  if (*names->function) append(text, " in %s", names->function);
  if (*names->source_line) append(text, ", %s", names->source_line);
}

pop_error *engine_fault_report(const pop_engine *engine)
{
  const compilation *c = engine->compilation;
  const machine_fault *fault = machine_get_fault(engine->machine);
  fault_names names = {0};
  if (fault->vertex_state)
    engine_find_vertex(c, fault->tile, fault->context, fault->vertex_state, &names.compute_set,
                       &names.vertex);
  find_function(c, fault, &names);
  find_source_line(c, fault->tile, fault->pc, names.source_line, sizeof names.source_line);

  char *text = pop_xstrdup("");
  append_what(&text, fault);
  append_where(c, &text, fault, &names);
  if (*fault->detail) append(&text, ": %s", fault->detail);
  append(&text, "; superstep %llu, cycle %llu", (unsigned long long)fault->superstep,
         (unsigned long long)fault->cycle);
  if (fault->num_faults > 1)
    append(&text, "; %u more tiles faulted in the same superstep", fault->num_faults - 1);
  if (fault->kind == MACHINE_FAULT_OUT_OF_CYCLES)
    append(&text, "; the limit is option debug.maxCyclesPerRun");
  if (fault->kind == MACHINE_FAULT_STACK_OVERFLOW)
    append(&text, "; option debug.%sStackSizeInBytes makes the stack larger",
           fault->context == MACHINE_SUPERVISOR ? "supervisor" : "worker");
  pop_error *error = pop_error_new(POP_ERROR_RUNTIME, "%s", text);
  free(text);
  return error;
}
