#include "engine/execution_profile.h"

#include "base/log.h"
#include <assert.h>
#include <stdlib.h>

struct execution_profile {
  execution *x;
  machine *machine;                        /* NULL: another rank has it */
  ranks *ranks;                            /* that share the profile; NULL: no other ranks */
  uint32_t owner;                          /* the rank that has the machine */
  memory_range *ranges;                    /* of all measures */
  const executable_measure *branch_record; /* NULL: there is none */
  bool enabled;
  bool runs; /* between begin and end, enabled */
  execution_run run;
  machine_counters before;
  uint64_t other_syncs; /* of this run so far: syncs of no step */
  uint32_t *branches;   /* of this run, so far */
  size_t num_branches, branches_capacity;
  bool has_warned;
};

execution_profile *execution_profile_new(machine *m, ranks *others, uint32_t owner,
                                         const pop_executable *e)
{
  if (e->cpu || !execution_is_profiled(e)) return NULL;
  execution_profile *p = pop_xcalloc(1, sizeof *p);
  p->x = execution_new(e);
  p->machine = m;
  p->ranks = others && ranks_count(others) > 1 ? others : NULL;
  p->owner = owner;
  p->enabled = true;
  p->ranges = pop_xcalloc(e->num_measures + 1, sizeof *p->ranges);
  for (size_t i = 0; i < e->num_measures; i++) {
    const executable_measure *measure = &e->measures[i];
    p->ranges[i] = (memory_range){measure->tile, measure->address, 4 * measure->words};
    if (measure->kind == MEASURE_BRANCHES) p->branch_record = measure;
  }
  return p;
}

void execution_profile_free(execution_profile *p)
{
  if (!p) return;
  execution_free(p->x);
  free(p->run.name);
  free(p->ranges);
  free(p->branches);
  free(p);
}

void execution_profile_set_parameters(execution_profile *p, const executable_option *parameters,
                                      size_t count)
{
  for (size_t i = 0; p && i < count; i++) {
    executable_option copy = {pop_xstrdup(parameters[i].key), pop_xstrdup(parameters[i].value)};
    pop_push(p->x->parameters, p->x->num_parameters, p->x->parameters_capacity, copy);
  }
}

/* ---- sharing the machine's data with all ranks ---- */

/* `error`: of the rank that has the machine. */
static pop_error *share(const execution_profile *p, pop_error *error, void *data, size_t bytes)
{
  if (!p->ranks) return error;
  return ranks_broadcast(p->ranks, "reading the execution profile", error, p->owner, data, bytes);
}

static pop_error *read_counters(const execution_profile *p, machine_counters *counters)
{
  if (p->machine) *counters = machine_get_counters(p->machine);
  return share(p, NULL, counters, sizeof *counters);
}

static pop_error *read_words(const execution_profile *p, const executable_measure *m,
                             uint32_t skipped, uint32_t *words, uint32_t count)
{
  pop_error *error = NULL;
  uint32_t bytes = count * (uint32_t)sizeof *words;
  if (p->machine) error = machine_read(p->machine, m->tile, m->address + 4 * skipped, words, bytes);
  return share(p, error, words, bytes);
}

/* Reads all measures. */
static pop_error *read_measures(const execution_profile *p)
{
  size_t count = p->x->executable->num_measures, bytes = 0;
  pop_error *error = NULL;
  for (size_t i = 0; i < count; i++) bytes += p->ranges[i].bytes;
  if (p->machine) error = machine_read_ranges(p->machine, p->ranges, count, p->x->words);
  return share(p, error, p->x->words, bytes);
}

/* ---- runs ---- */

pop_error *execution_profile_begin_run(execution_profile *p, size_t program, const char *run_name)
{
  if (!p) return NULL;
  p->runs = p->enabled;
  POP_TRY(read_counters(p, &p->before));
  free(p->run.name); /* of a run that was not recorded */
  p->run = (execution_run){.program = (uint32_t)program, .from = p->before.cycles};
  if (run_name && *run_name) p->run.name = pop_xstrdup(run_name);
  p->num_branches = 0;
  p->other_syncs = 0;
  return NULL;
}

void execution_profile_note_sync(execution_profile *p)
{
  if (p) p->other_syncs++;
}

/* The first word of the record is the number of words that follow. */
pop_error *execution_profile_note_branches(execution_profile *p)
{
  if (!p || !p->runs || !p->branch_record) return NULL;
  const executable_measure *m = p->branch_record;
  uint32_t count = 0;
  POP_TRY(read_words(p, m, 0, &count, 1));
  if (count >= m->words) count = m->words - 1; /* a damaged image */
  pop_reserve(p->branches, p->num_branches + count, p->branches_capacity);
  POP_TRY(read_words(p, m, 1, p->branches + p->num_branches, count));
  p->num_branches += count;
  return NULL;
}

/* Reads each buffer into the words of its measure. The first two words, its fill level, are set to
 * 0. */
pop_error *execution_profile_empty_blocks(execution_profile *p)
{
  static const uint32_t empty[2];
  if (!p || !p->x->executable->instrumentation.blocks) return NULL;
  const pop_executable *e = p->x->executable;
  machine_counters now = {0};
  POP_TRY(read_counters(p, &now));
  for (size_t i = 0; i < e->num_measures; i++) {
    const executable_measure *m = &e->measures[i];
    if (m->kind != MEASURE_BLOCKS) continue;
    uint32_t *words = p->x->words + p->x->first_word[i];
    POP_TRY(read_words(p, m, 0, words, m->words));
    if (words[0] == 0 && words[1] == 0) continue;
    if (p->machine) POP_TRY(machine_write(p->machine, m->tile, m->address, empty, sizeof empty));
    if (p->runs) timed_blocks_take(&p->x->timed, m, words, now.cycles);
  }
  return NULL;
}

static void warn_of_dropped(execution_profile *p)
{
  if (p->has_warned || !execution_is_instrumented(p->x->executable) ||
      p->x->num_trace < EXECUTION_MAX_TRACED)
    return;
  p->has_warned = true;
  log_write(LOG_WARN, "ENGINE",
            "the execution profile's program trace ends after %d steps: reset the profile between "
            "runs, or "
            "profile fewer of them",
            EXECUTION_MAX_TRACED);
}

/* Cycles of a vertex; of one on a single worker, in the worker's own cycles. */
static uint64_t taken_cycles(const execution_profile *p, const executable_work *work,
                             const executable_vertex *v)
{
  uint32_t contexts = p->x->executable->target.num_worker_contexts;
  uint64_t cycles =
      machine_vertex_cycles(p->machine, work->tile, work->state_address + v->state_offset);
  return v->worker < contexts ? (cycles + contexts - 1) / contexts : cycles;
}

static pop_error *note_taken_cycles(execution_profile *p)
{
  const pop_executable *e = p->x->executable;
  if (!p->x->taken) return NULL;
  for (size_t w = 0; w < e->num_works && p->machine; w++) {
    const executable_row *row = &e->vertex_rows[e->works[w].row];
    uint64_t *taken = execution_taken(p->x, w);
    for (uint32_t i = 0; i < row->count; i++)
      if (!e->vertices[row->first + i].cycles)
        taken[i] = taken_cycles(p, &e->works[w], &e->vertices[row->first + i]);
  }
  return share(p, NULL, p->x->taken, p->x->first_taken[e->num_works] * sizeof *p->x->taken);
}

/* Notes why the run has failed. */
static void note_fault(execution_profile *p, const machine_counters *after, const char *message)
{
  const machine_fault *at = machine_get_fault(p->machine);
  execution_fault *fault = &p->run.fault;
  *fault = (execution_fault){.message = pop_xstrdup(message),
                             .compute_set = EXECUTABLE_NONE,
                             .cycle = after->cycles,
                             .superstep = after->supersteps,
                             .syncs = after->supersteps - p->before.supersteps - p->other_syncs};
  if (at->kind == MACHINE_FAULT_NONE) return;
  executable_found_vertex found;
  uint64_t synced = machine_cycles_passed(p->machine);
  fault->kind = machine_fault_name(at->kind);
  fault->tile = at->tile;
  fault->cycle = at->cycle;
  fault->superstep = at->superstep;
  if (at->vertex_state &&
      executable_find_vertex(p->x->executable, at->tile, at->context, at->vertex_state, &found))
    fault->compute_set = found.set;
  if (fault->compute_set == EXECUTABLE_NONE) return;
  fault->cycles = execution_end_measure(p->x, found.set, at->tile, at->cycle,
                                        at->cycle > synced ? at->cycle - synced : 0);
}

/* `message`: of the error that ended the run; NULL: it is complete. */
static pop_error *end_run(execution_profile *p, const char *message)
{
  POP_TRY(execution_profile_note_branches(p));
  POP_TRY(execution_profile_empty_blocks(p));
  machine_counters after = {0};
  POP_TRY(read_counters(p, &after));
  timed_blocks_end_run(&p->x->timed, after.cycles);
  POP_TRY(read_measures(p));
  POP_TRY(note_taken_cycles(p));
  assert(after.cycles >= p->run.from && after.instructions >= p->before.instructions);
  if (message) note_fault(p, &after, message);
  p->run.to = after.cycles;
  p->run.instructions = after.instructions - p->before.instructions;
  p->run.supersteps = after.supersteps - p->before.supersteps;
  p->runs = false;
  if (p->x->num_runs == EXECUTION_MAX_RUNS) {
    p->x->num_dropped_runs++;
    free(p->run.fault.message);
    p->run.fault.message = NULL;
    return NULL;
  }
  trace_program(p->x, &p->run, p->branches, p->num_branches);
  pop_push(p->x->runs, p->x->num_runs, p->x->runs_capacity, p->run);
  p->run.name = p->run.fault.message = NULL; /* owned by the execution now */
  warn_of_dropped(p);
  return NULL;
}

pop_error *execution_profile_end_run(execution_profile *p)
{
  return p && p->runs ? end_run(p, NULL) : execution_profile_empty_blocks(p);
}

pop_error *execution_profile_end_faulted_run(execution_profile *p, const char *message)
{
  return p && p->runs && !p->ranks ? end_run(p, message) : NULL;
}

void execution_profile_enable(execution_profile *p, bool enable)
{
  if (p) p->enabled = enable;
}

pop_error *execution_profile_reset(execution_profile *p, bool loaded)
{
  if (!p) return NULL;
  execution_reset(p->x);
  if (!loaded || !p->machine) return NULL;
  return machine_write_ranges(p->machine, p->ranges, p->x->executable->num_measures, p->x->words);
}

const execution *execution_profile_get(const execution_profile *p)
{
  return p->x;
}
