/* Running: an interpreter runs the steps; the vertices of a compute set run on the host's threads.
 *
 * The steps that are being run are on a stack, each with its position. So a program may be nested
 * as deep as its author likes, and can stop anywhere for the host. A vertex of a compute set does
 * not touch what another one writes (the graph was checked for that). So vertices may run in any
 * order, and buffers can be emptied to their places at once. */
#include "cpu/cpu_private.h"

#include <fenv.h>
#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

cpu *cpu_new(const cpu_program *program, uint32_t num_threads)
{
  cpu *c = pop_xcalloc(1, sizeof *c);
  c->program = program;
  c->pool = thread_pool_new(num_threads);
  c->waiting = CPU_NONE;
  return c;
}

cpu *cpu_new_replica(cpu *first)
{
  cpu *c = pop_xcalloc(1, sizeof *c);
  c->program = first->program;
  c->pool = first->pool;
  c->shares_pool = true;
  c->waiting = CPU_NONE;
  return c;
}

void cpu_free(cpu *c)
{
  if (!c) return;
  cpu_unlink(c);
  cpu_free_memory(c);
  if (!c->shares_pool) thread_pool_free(c->pool);
  free(c->stack);
  free(c);
}

pop_error *cpu_load(cpu *c)
{
  cpu_unlink(c);
  cpu_free_memory(c);
  c->depth = 0;
  atomic_store(&c->has_printed, false);
  c->waiting = CPU_NONE;
  POP_TRY(cpu_make_memory(c));
  return cpu_link(c);
}

/* ---- compute sets ---- */

static void gather_edge(const cpu *c, const cpu_edge *edge)
{
  cpu_gather(c->program, &c->program->views[edge->view], c->memory, c->memory + edge->buffer);
}

/* A supervisor's entry also takes the address of code for workers, which has no meaning here. All
 * calling conventions in use allow more arguments than the function knows. */
static void call(const cpu *c, const cpu_vertex *v)
{
  cpu_entry entry = c->entries[v->entry];
  void *state = c->memory + v->state;
  if (v->calls == 1)
    entry.supervisor(state, NULL);
  else
    for (uint32_t worker = 0; worker < v->calls; worker++) entry.multi(state, worker);
}

/* A compute set that is being run. */
typedef struct running_set {
  cpu *c;
  const cpu_compute_set *set;
} running_set;

static uint64_t run_vertex(void *context, uint32_t number)
{
  const running_set *running = context;
  cpu *c = running->c;
  if (atomic_load_explicit(&c->stopped, memory_order_relaxed)) return 0;
  const cpu_program *p = c->program;
  const cpu_vertex *v = &p->vertices[running->set->first_vertex + number];
  const cpu_edge *edges = v->num_edges ? p->edges + v->first_edge : NULL;
  cpu_library_set_print(c->print_stream);
  for (uint32_t i = 0; i < v->num_edges; i++) gather_edge(c, &edges[i]);
  call(c, v);
  if (cpu_library_end_print()) atomic_store(&c->has_printed, true);
  for (uint32_t i = 0; i < v->num_edges; i++)
    cpu_scatter(p, &p->views[edges[i].view], c->memory, c->memory + edges[i].buffer);
  return v->work;
}

static uint64_t fill_shared(void *context, uint32_t number)
{
  const running_set *running = context;
  const cpu *c = running->c;
  const cpu_edge *edge = &c->program->edges[running->set->first_edge + number];
  gather_edge(c, edge);
  return c->program->views[edge->view].bytes / 4;
}

static void execute(cpu *c, const cpu_compute_set *set)
{
  enum { SHARES = 64, MOST = 64 };
  running_set running = {c, set};
  uint32_t count = (uint32_t)set->num_vertices, take = count / SHARES;
  if (set->num_edges)
    thread_pool_run(c->pool, &(thread_pool_work){.run = fill_shared,
                                                 .context = &running,
                                                 .num_items = (uint32_t)set->num_edges,
                                                 .take = 1});
  thread_pool_run_known(c->pool,
                        &(thread_pool_work){.run = run_vertex,
                                            .context = &running,
                                            .num_items = count,
                                            .take = take < 1      ? 1
                                                    : take < MOST ? take
                                                                  : MOST},
                        set->work);
}

/* ---- steps ---- */

/* The value of the control, sign-extended like the values of cases. */
static uint32_t read_control(const cpu *c, const cpu_step *step)
{
  const uint8_t *at = c->memory + step->control;
  uint32_t bytes = pop_type_bytes(step->type), value = 0;
  memcpy(&value, at, bytes);
  if (bytes == sizeof value || !pop_type_is_signed_integer(step->type)) return value;
  uint32_t sign = 1u << (8 * bytes - 1);
  return (value ^ sign) - sign;
}

static void push(cpu *c, uint32_t step)
{
  pop_push(c->stack, c->depth, c->stack_capacity, (cpu_frame){step, 0});
}

static void push_child(cpu *c, const cpu_step *step, size_t child)
{
  push(c, c->program->children[step->first_child + child]);
}

static void enter_case(cpu *c, const cpu_step *step)
{
  uint32_t value = read_control(c, step);
  size_t found = 0, num_cases = step->num_children - 1;
  while (found < num_cases && c->program->values[step->first_value + found] != value) found++;
  push_child(c, step, found);
}

/* Positions of a While: 0 the condition is run, 1 the predicate is tested. */
static bool step_while(cpu *c, const cpu_step *step, cpu_frame *top)
{
  if (top->position == 0) {
    top->position = 1;
    push_child(c, step, 0);
    return true;
  }
  if ((read_control(c, step) != 0) != (step->count != 0)) return false;
  top->position = 0;
  push_child(c, step, 1);
  return true;
}

/* Does the next part of the step on top of the stack, and pops it when it is done. Returns an
 * event, or 0. */
static uint32_t advance(cpu *c)
{
  const cpu_program *p = c->program;
  cpu_frame *top = &c->stack[c->depth - 1];
  uint32_t number = top->step;
  const cpu_step *step = &p->steps[number];
  switch (step->kind) {
  case CPU_SEQUENCE:
    if (top->position < step->num_children)
      push_child(c, step, top->position++);
    else
      c->depth--;
    return 0;
  case CPU_REPEAT:
    if (top->position++ < step->count && step->num_children)
      push_child(c, step, 0);
    else
      c->depth--;
    return 0;
  case CPU_WHILE:
    if (!step_while(c, step, top)) c->depth--;
    return 0;
  case CPU_SWITCH:
    c->depth--;
    enter_case(c, step);
    return 0;
  case CPU_EXECUTE:
    c->depth--;
    execute(c, &p->compute_sets[step->index]);
    return 0;
  case CPU_COPY:
    c->depth--;
    cpu_copy(p, &p->views[step->index], &p->views[step->other], c->memory);
    return 0;
  case CPU_EVENT:
    c->depth--;
    return step->index;
  case CPU_EVENT_IF:
    c->depth--;
    return read_control(c, step) != 0 ? step->index : 0;
  case CPU_HOST_EXCHANGE:
    c->depth--;
    c->waiting = number;
    return step->index;
  case CPU_REPLICA_COPY:
    c->depth--;
    c->waiting = number;
    return MACHINE_REPLICA_SYNC;
  }
  return 0;
}

void cpu_start(cpu *c, size_t program)
{
  c->depth = 0;
  atomic_store(&c->has_printed, false);
  push(c, c->program->programs[program]);
}

static double now_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Is a loop on top? Only there the clock is read: a program that never ends is in a loop. */
static bool is_in_loop(const cpu *c)
{
  cpu_step_kind kind = c->program->steps[c->stack[c->depth - 1].step].kind;
  return kind == CPU_REPEAT || kind == CPU_WHILE;
}

pop_error *cpu_run(cpu *c, FILE *print_stream, double seconds, uint32_t *event)
{
  c->print_stream = print_stream;
  *event = 0;
  c->waiting = CPU_NONE;
  bool late = false;
  double end = seconds ? now_seconds() + seconds : 0;
  fenv_t host;
  feholdexcept(&host);
  fesetenv(FE_DFL_ENV);
  while (c->depth && !*event && !late && !atomic_load(&c->stopped)) {
    late = seconds && is_in_loop(c) && now_seconds() > end;
    *event = advance(c);
  }
  fesetenv(&host);
  if (atomic_load(&c->stopped))
    return pop_error_new(POP_ERROR_RUNTIME, "the run was stopped (pop_engine_stop)");
  if (!late) return NULL;
  return pop_error_new(
      POP_ERROR_RUNTIME,
      "the program has run for more than %g s, which is target.hostSyncTimeout, and "
      "come to no host sync",
      seconds);
}

bool cpu_has_printed(const cpu *c)
{
  return atomic_load(&c->has_printed);
}

void cpu_stop(cpu *c)
{
  atomic_store(&c->stopped, true);
}

void cpu_clear_stop(cpu *c)
{
  atomic_store(&c->stopped, false);
}

/* ---- the host ---- */

static void move_in_order(cpu *c, const cpu_step *step, uint8_t *memory)
{
  const cpu_view *view = &c->program->views[step->other];
  if (step->to_device)
    cpu_scatter(c->program, view, c->memory, memory);
  else
    cpu_gather(c->program, view, c->memory, memory);
}

static pop_error *check_rows(const machine_window *w, const uint32_t *rows, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (rows[i] >= w->num_records)
      return pop_error_new(POP_ERROR_RUNTIME, "offset %d in %s, which has offsets 0 to %llu",
                           (int)rows[i], w->name, (unsigned long long)w->num_records - 1);
  return NULL;
}

/* Moves rows through `linear`, which has them in the tensor's order. */
static void move_rows(cpu *c, const cpu_step *step, const machine_window *w, const uint32_t *rows,
                      size_t count, uint8_t *linear)
{
  if (!step->to_device) move_in_order(c, step, linear);
  for (size_t i = 0; i < count; i++) {
    uint8_t *in_buffer = w->memory + rows[i] * w->record_bytes;
    uint8_t *in_tensor = linear + i * w->record_bytes;
    memcpy(step->to_device ? in_tensor : in_buffer, step->to_device ? in_buffer : in_tensor,
           w->record_bytes);
  }
  if (step->to_device) move_in_order(c, step, linear);
}

pop_error *cpu_host_exchange(cpu *c, const machine_window *windows, size_t num_windows)
{
  const cpu_program *p = c->program;
  if (c->waiting == CPU_NONE || num_windows != 1)
    return pop_error_new(POP_ERROR_INTERNAL, "a host exchange that no step waits for");
  const cpu_step *step = &p->steps[c->waiting];
  if (step->rows == CPU_NONE) {
    move_in_order(c, step, windows[0].memory);
    return NULL;
  }
  size_t count = p->views[step->rows].bytes / sizeof(uint32_t);
  uint32_t *rows = pop_xcalloc(count + 1, sizeof *rows);
  cpu_gather(p, &p->views[step->rows], c->memory, (uint8_t *)rows);
  pop_error *error = check_rows(&windows[0], rows, count);
  if (!error) {
    uint8_t *linear = pop_xmalloc(p->views[step->other].bytes + 1);
    move_rows(c, step, &windows[0], rows, count, linear);
    free(linear);
  }
  free(rows);
  return error;
}

void cpu_read(const cpu *c, size_t host_tensor, void *data)
{
  const cpu_program *p = c->program;
  cpu_gather(p, &p->views[p->host_tensors[host_tensor].view], c->memory, data);
}

void cpu_write(cpu *c, size_t host_tensor, const void *data)
{
  const cpu_program *p = c->program;
  cpu_scatter(p, &p->views[p->host_tensors[host_tensor].view], c->memory, data);
}
