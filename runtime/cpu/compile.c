/* Compiles a graph to a cpu_program. */
#include "cpu/cpu_private.h"

#include <stdlib.h>
#include <string.h>

/* The alignment of variables. Fields may ask for up to a cache line. */
enum { VARIABLE_ALIGN = 64 };

uint64_t cpu_reserve(cpu_program *p, uint64_t bytes, uint64_t align)
{
  uint64_t at = (p->memory_bytes + align - 1) / align * align;
  p->memory_bytes = at + bytes;
  return at;
}

void cpu_put(cpu_program *p, uint64_t at, const void *bytes, uint64_t size)
{
  if (!size) return;
  cpu_content content = {at, size, p->num_bytes};
  if (p->num_bytes + size > p->bytes_capacity) {
    p->bytes_capacity = 2 * (p->num_bytes + size);
    p->bytes = pop_xrealloc(p->bytes, p->bytes_capacity, 1);
  }
  memcpy(p->bytes + p->num_bytes, bytes, size);
  p->num_bytes += size;
  pop_push(p->contents, p->num_contents, p->contents_capacity, content);
}

static void place_variables(cpu_compilation *c)
{
  for (size_t i = 0; i < c->graph->num_variables; i++) {
    const variable *v = &c->graph->variables[i];
    uint64_t bytes = v->num_elements * pop_type_bytes(v->type);
    c->variables[i] = cpu_reserve(c->p, bytes, VARIABLE_ALIGN);
    if (v->initial) cpu_put(c->p, c->variables[i], v->initial, bytes);
  }
}

static void sort_vertices(cpu_compilation *c)
{
  const pop_graph *graph = c->graph;
  size_t *first = pop_xcalloc(graph->num_compute_sets + 2, sizeof *first);
  uint32_t *sorted = pop_xcalloc(graph->num_vertices + 1, sizeof *sorted);
  for (size_t i = 0; i < graph->num_vertices; i++) first[graph->vertices[i].compute_set + 2]++;
  for (size_t i = 2; i < graph->num_compute_sets + 2; i++) first[i] += first[i - 1];
  for (size_t i = 0; i < graph->num_vertices; i++)
    sorted[first[graph->vertices[i].compute_set + 1]++] = (uint32_t)i;
  c->vertices = sorted;
  c->first_vertex = first;
}

static void lower_compute_sets(cpu_compilation *c)
{
  const size_t *first = c->first_vertex;
  for (uint32_t i = 0; i < c->graph->num_compute_sets; i++)
    if (c->reach.compute_set_uses[i])
      cpu_lower_compute_set(c, i, c->vertices + first[i], first[i + 1] - first[i]);
}

/* Checks the graph by the same pass as for tiles. */
static pop_error *check(cpu_compilation *c, const uint32_t *programs, size_t num_programs)
{
  compilation checked = {.graph = c->graph,
                         .target = c->graph->target,
                         .control_programs = (uint32_t *)programs,
                         .num_control_programs = num_programs};
  POP_TRY(pass_check(&checked));
  return reach_programs(&checked, &c->reach);
}

static void keep_codelets(cpu_compilation *c)
{
  for (size_t i = 0; i < c->graph->num_codelets; i++)
    pop_push(c->p->codelets, c->p->num_codelets, c->p->codelets_capacity,
             pop_gp_retain(c->graph->codelets[i]));
}

static uint32_t *new_numbers(size_t count)
{
  uint32_t *numbers = pop_xcalloc(count + 1, sizeof *numbers);
  memset(numbers, 0xff, (count + 1) * sizeof *numbers);
  return numbers;
}

static pop_error *lower(cpu_compilation *c, const uint32_t *programs, size_t num_programs)
{
  place_variables(c);
  sort_vertices(c);
  lower_compute_sets(c);
  cpu_lower_handles(c);
  return cpu_lower_programs(c, programs, num_programs);
}

pop_error *cpu_compile(pop_graph *graph, const uint32_t *programs, size_t num_programs,
                       const cpu_compile_options *options, cpu_program **out)
{
  cpu_compilation c = {.graph = graph, .options = *options};
  POP_TRY(check(&c, programs, num_programs));
  c.p = pop_xcalloc(1, sizeof *c.p);
  c.p->arena = pop_arena_new();
  c.p->target = graph->target;
  c.p->num_replicas = graph->num_replicas;
  c.variables = pop_xcalloc(graph->num_variables + 1, sizeof *c.variables);
  c.views = new_numbers(graph->num_tensors);
  c.compute_sets = new_numbers(graph->num_compute_sets);
  c.entries = new_numbers(graph->num_vertex_types);
  keep_codelets(&c);
  pop_error *error = lower(&c, programs, num_programs);
  reach_free(&c.reach);
  free(c.vertices);
  free(c.first_vertex);
  free(c.variables);
  free(c.views);
  free(c.compute_sets);
  free(c.entries);
  if (error) {
    cpu_program_free(c.p);
    return error;
  }
  *out = c.p;
  return NULL;
}

void cpu_program_free(cpu_program *p)
{
  if (!p) return;
  for (size_t i = 0; i < p->num_codelets; i++) pop_gp_free(p->codelets[i]);
  void *const arrays[] = {p->codelets,     p->entries,      p->bytes,          p->contents,
                          p->pointers,     p->dims,         p->pieces,         p->views,
                          p->edges,        p->vertices,     p->steps,          p->compute_sets,
                          p->children,     p->host_tensors, p->values,         p->events,
                          p->windows,      p->streams,      p->remote_buffers, p->programs,
                          p->program_names};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  pop_arena_free(p->arena);
  free(p);
}
