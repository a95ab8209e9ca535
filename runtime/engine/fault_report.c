/* A device fault in the user's words: which vertex of which compute set did what, and where.
 *
 * The machine knows numbers: tile, context, program counter, the address of the vertex state. Their
 * names come from the executable (vertex, compute set), from the image's symbols (function; a
 * stripped image has none), and from debug information (source line).
 */
#include "engine/engine_private.h"

#include <stdlib.h>
#include <string.h>

typedef struct fault_names {
  bool in_vertex;
  executable_found_vertex vertex;
  char function[256];    /* "compute+0x10", or "" */
  char source_line[512]; /* "codelets.cpp:12", or "" */
  char there[256];       /* "in 'table.main'", "8 bytes behind the end of 'matrix'", or "" */
} fault_names;

/* The function at `pc`. If identical functions share the code, also its next name. */
static void name_function(const pop_image *image, uint32_t pc, char *text, size_t size)
{
  const pop_image_symbol *found = NULL;
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *symbol = &image->symbols[i];
    if (symbol->kind == POP_SYMBOL_OBJECT || pc - symbol->address >= symbol->size) continue;
    if (!found) {
      found = symbol;
      snprintf(text, size, "%s+0x%x", symbol->name, pc - symbol->address);
    } else if (symbol->address == found->address) {
      snprintf(text, size, "%s+0x%x (the same code as %s)", found->name, pc - found->address,
               symbol->name);
      return;
    }
  }
}

/* Names what is at an address that may not be written. For an address in tile memory without
 * contents, names what is before it: a read past the end of a vector goes there. */
static void name_there(const pop_executable *e, const pop_image *image, uint32_t address,
                       char *text, size_t size)
{
  const pop_image_symbol *nearest = NULL;
  if (address - image->base >= e->target.memory_bytes) return;
  for (size_t i = 0; i < image->num_symbols; ++i) {
    const pop_image_symbol *symbol = &image->symbols[i];
    if (symbol->address > address) continue;
    if (symbol->size > address - symbol->address) {
      snprintf(text, size, "which is in '%s'", symbol->name);
      return;
    }
    if (symbol->kind != POP_SYMBOL_OBJECT) continue;
    if (!nearest || symbol->address + symbol->size > nearest->address + nearest->size)
      nearest = symbol;
  }
  if (nearest)
    snprintf(text, size, "%u bytes behind the end of '%s'",
             address - (nearest->address + nearest->size), nearest->name);
}

static void find_symbols(const pop_executable *e, const machine_fault *fault, fault_names *names)
{
  pop_arena *arena = pop_arena_new();
  pop_bytes elf = {0};
  pop_image image;
  pop_error *error = executable_image(e, fault->tile, POP_IMAGE_SYMBOLS, &elf, arena, &image);
  if (!error) name_function(&image, fault->pc, names->function, sizeof names->function);
  if (!error && fault->kind == MACHINE_FAULT_INVALID_ADDRESS)
    name_there(e, &image, fault->address, names->there, sizeof names->there);
  pop_error_free(error);
  pop_bytes_free(&elf);
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
  if (fault->kind == MACHINE_FAULT_STOPPED)
    append(text, "the run was stopped (pop_engine_stop)");
  else
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

static void append_where(char **text, const machine_fault *fault, const fault_names *names)
{
  if (names->in_vertex) {
    append(text, ", in vertex %s", names->vertex.type);
    if (names->vertex.number != EXECUTABLE_NONE)
      append(text, " (number %u of the graph)", names->vertex.number);
    append(text, " of compute set '%s'", names->vertex.compute_set);
  }
  append(text, ", pc 0x%x", fault->pc);
  if (*names->function) append(text, " in %s", names->function);
  if (*names->source_line) append(text, ", %s", names->source_line);
}

pop_error *engine_fault_report(const pop_engine *engine, uint32_t replica)
{
  const pop_executable *e = engine->executable;
  const machine_fault *fault = machine_get_fault(engine->replicas[replica].machine);
  fault_names names = {0};
  if (fault->vertex_state)
    names.in_vertex =
        executable_find_vertex(e, fault->tile, fault->context, fault->vertex_state, &names.vertex);
  find_symbols(e, fault, &names);
  executable_find_line(e, fault->tile, fault->pc, names.source_line, sizeof names.source_line);

  char *text = pop_xstrdup("");
  append_what(&text, fault);
  if (engine->num_replicas > 1) append(&text, " of replica %u", replica);
  append_where(&text, fault, &names);
  if (*names.there) append(&text, ": %s", names.there);
  if (*fault->detail) append(&text, ": %s", fault->detail);
  append(&text, "; superstep %llu, cycle %llu", (unsigned long long)fault->superstep,
         (unsigned long long)fault->cycle);
  if (fault->num_faults > 1 && fault->kind != MACHINE_FAULT_STOPPED)
    append(&text, "; %u more tiles faulted in the same superstep", fault->num_faults - 1);
  if (fault->kind == MACHINE_FAULT_OUT_OF_CYCLES)
    append(&text, "; the limit is option debug.maxCyclesPerRun");
  if (fault->kind == MACHINE_FAULT_STACK_OVERFLOW)
    append(&text, "; option debug.%sStackSizeInBytes makes the stack larger",
           fault->context == MACHINE_SUPERVISOR ? "supervisor" : "worker");
  bool internal = fault->kind == MACHINE_FAULT_INTERNAL;
  if (internal)
    append(&text, "; this is a bug of Populus, not of the program: please report it. With option "
                  "target.tileEngine=interpreter the program runs without native code");
  pop_error *error = pop_error_new(internal ? POP_ERROR_INTERNAL : POP_ERROR_RUNTIME, "%s", text);
  free(text);
  return error;
}
