/* --check: several threads check files, each a batch at a time.
 *
 *   batch of files -> modules, each for one or two devices -> graphs, whose codelets
 *   are compiled together
 *                  -> one after the other: engine, run, judge; a module that does not fit once
 *                  more, alone, on all tiles
 *
 * The compiler's start takes longer than compiling a small module, so a batch costs little more
 * than one module. */
#include "pophlo.h"
#include "step_line.h"

#include <populus/file.h>
#include <populus/names.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64, BATCH_FILES = 32, BATCH_BYTES = 1 << 20 };

typedef struct check_list {
  const pophlo_arguments *a;
  size_t jobs;
  char **messages; /* by file: NULL if all holds */
  int *statuses;
  size_t next, done, num_checks;
  pthread_mutex_t lock;
  step_line line;
} check_list;

/* One module on one device. */
typedef struct checked {
  built b;
  size_t file, part;
  pophlo_device device;
} checked;

typedef struct batch {
  check_list *list;
  checked *items;
  size_t count, capacity;
} batch;

/* Only the first error of a file counts. */
static void failed(check_list *list, size_t file, pop_error *error)
{
  if (!error) return;
  if (!list->messages[file]) {
    list->messages[file] = pop_xstrdup(pop_error_message(error));
    list->statuses[file] = pop_error_exit_status(error);
  }
  pop_error_free(error);
}

/* ---- files to modules ---- */

static pop_error *add_part(batch *b, const char *text, size_t size, size_t file, size_t part,
                           pophlo_device device)
{
  const pophlo_arguments *a = b->list->a;
  checked c = {.file = file, .part = part, .device = device};
  POP_TRY(pop_model_parse_replicated(text, size, a->files[file], part,
                                     a->replicas ? a->replicas : 1, &c.b.model));
  pop_error *error = built_add_graph(a, device, &c.b);
  if (error)
    built_free(&c.b);
  else
    pop_push(b->items, b->count, b->capacity, c);
  return error;
}

static pop_error *add_file(batch *b, size_t file, size_t *bytes)
{
  enum { MAX_BYTES = 1 << 30 };
  const pophlo_arguments *a = b->list->a;
  uint8_t *text;
  size_t size;
  POP_TRY(pop_file_read(a->files[file], MAX_BYTES, &text, &size));
  pop_error *error = NULL;
  size_t parts = pop_model_count_parts((const char *)text, size);
  for (size_t i = 0; i < parts && !error; ++i) {
    error = add_part(b, (const char *)text, size, file, i, a->device);
    if (!error && a->everywhere) error = add_part(b, (const char *)text, size, file, i, DEVICE_CPU);
  }
  free(text);
  *bytes += size;
  return error;
}

/* Takes the next file. Batches get smaller when few files are left, so that no thread takes
 * all of them. */
static bool take_file(check_list *list, size_t taken, size_t *file)
{
  pthread_mutex_lock(&list->lock);
  size_t left = list->a->num_files - list->next;
  bool there = left && (taken == 0 || taken <= left / list->jobs);
  if (there) *file = list->next++;
  pthread_mutex_unlock(&list->lock);
  return there;
}

/* How many files. */
static size_t add_files(batch *b)
{
  size_t bytes = 0, taken = 0, file;
  for (; taken < BATCH_FILES && bytes < BATCH_BYTES && take_file(b->list, taken, &file); ++taken)
    failed(b->list, file, add_file(b, file, &bytes));
  return taken;
}

/* ---- modules to graphs ---- */

static void lower(batch *b, pop_program *programs)
{
  pop_model **models = pop_xcalloc(b->count, sizeof *models);
  pop_graph **graphs = pop_xcalloc(b->count, sizeof *graphs);
  pop_error **errors = pop_xcalloc(b->count, sizeof *errors);
  for (size_t i = 0; i < b->count; ++i) {
    models[i] = b->items[i].b.model;
    graphs[i] = b->items[i].b.graph;
  }
  pop_error *error = pop_model_lower_all(models, graphs, b->count, programs, errors);
  for (size_t i = 0; i < b->count; ++i) {
    const char *dump = b->list->a->dump;
    if (!error && !errors[i] && dump) errors[i] = pop_model_dump(models[i], dump);
    failed(b->list, b->items[i].file, errors[i]);
  }
  pop_error_free(error); /* nothing that it refuses is given */
  free(models);
  free(graphs);
  free(errors);
}

/* ---- graphs to results ---- */

/* `engine`: NULL is what the options say. */
static pop_error *run_on(const pophlo_arguments *a, checked *c, const pop_program *program,
                         const char *engine)
{
  built *b = &c->b;
  pop_option *options = pop_xcalloc(a->num_options + 1, sizeof *options);
  if (a->num_options) memcpy(options, a->options, a->num_options * sizeof *options);
  options[a->num_options] = (pop_option){"target.tileEngine", engine};
  pop_error *error = pop_engine_create(b->graph, program, 1, options,
                                       a->num_options + (engine ? 1 : 0), &b->engine);
  free(options);
  if (!error) error = pop_engine_load(b->engine);
  if (!error) error = pop_engine_run(b->engine, 0);
  if (!error) error = built_judge(b);
  pop_engine_free(b->engine);
  b->engine = NULL;
  if (error && engine) error = pop_error_prefix(error, "%s", engine);
  if (error && a->everywhere && c->device == DEVICE_CPU)
    error = pop_error_prefix(error, "the CPU device");
  return error;
}

static pop_error *run(const pophlo_arguments *a, checked *c, const pop_program *program)
{
  bool both = (a->both_engines || a->everywhere) && c->device != DEVICE_CPU;
  POP_TRY(run_on(a, c, program, both ? "translator" : NULL));
  return both ? run_on(a, c, program, "interpreter") : NULL;
}

/* Builds and runs the module alone. */
static pop_error *build_and_run(const pophlo_arguments *a, checked *c)
{
  pop_program program;
  built_free(&c->b);
  c->b = (built){0};
  POP_TRY(pop_model_load_replicated(a->files[c->file], c->part, a->replicas ? a->replicas : 1,
                                    &c->b.model));
  POP_TRY(built_add_graph(a, c->device, &c->b));
  POP_TRY(pop_model_lower(c->b.model, c->b.graph, &program));
  return run(a, c, &program);
}

/* Runs on as many tiles as the module is worth or, if it does not fit there, on all. */
static pop_error *run_where_it_fits(const pophlo_arguments *a, checked *c,
                                    const pop_program *program)
{
  pophlo_arguments all;
  pop_error *error = run(a, c, program);
  if (!error || !built_wants_all_tiles(a, c->device, c->b.model, error, a->files[c->file], &all))
    return error;
  pop_error_free(error);
  return build_and_run(&all, c);
}

static void run_all(batch *b, const pop_program *programs)
{
  check_list *list = b->list;
  size_t num_checks = 0;
  for (size_t i = 0; i < b->count; ++i) {
    checked *c = &b->items[i];
    if (!list->messages[c->file])
      failed(list, c->file, run_where_it_fits(list->a, c, &programs[i]));
    if (!list->messages[c->file] && c->device == list->a->device)
      num_checks += pop_model_num_checks(c->b.model);
    built_free(&c->b);
  }
  pthread_mutex_lock(&list->lock);
  list->num_checks += num_checks;
  pthread_mutex_unlock(&list->lock);
}

static void *check_files(void *context)
{
  batch b = {.list = context};
  size_t taken;
  while ((taken = add_files(&b)) > 0) {
    pop_program *programs = pop_xcalloc(b.count + 1, sizeof *programs);
    lower(&b, programs);
    run_all(&b, programs);
    free(programs);
    b.count = 0;
    pthread_mutex_lock(&b.list->lock);
    b.list->done += taken;
    step_line_is_at(&b.list->line, b.list->done, b.list->a->num_files);
    pthread_mutex_unlock(&b.list->lock);
  }
  free(b.items);
  return NULL;
}

/* ---- all ---- */

/* Prints the results; returns the gravest status. */
static int report(const check_list *list)
{
  const pophlo_arguments *a = list->a;
  int status = 0;
  size_t good = 0;
  for (size_t i = 0; i < a->num_files; ++i) {
    if (list->messages[i]) fprintf(stderr, "%s\n", list->messages[i]);
    if (a->verbose) {
      fputs(list->messages[i] ? "FAIL " : "pass ", stdout);
      pop_write_name(a->files[i], stdout);
      putchar('\n');
    }
    good += !list->messages[i];
    if (list->statuses[i] > status) status = list->statuses[i];
  }
  printf("%zu of %zu files hold, with %zu checks\n", good, a->num_files, list->num_checks);
  return status;
}

/* All files are checked, even if one fails. */
int pophlo_check(const pophlo_arguments *a)
{
  check_list list = {.a = a, .lock = PTHREAD_MUTEX_INITIALIZER};
  list.messages = pop_xcalloc(a->num_files, sizeof *list.messages);
  list.statuses = pop_xcalloc(a->num_files, sizeof *list.statuses);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t jobs = a->jobs ? a->jobs : cores > 0 ? (size_t)cores : 1, started = 0;
  if (jobs > MAX_JOBS) jobs = MAX_JOBS;
  if (jobs > a->num_files) jobs = a->num_files;
  list.jobs = jobs;
  pthread_t threads[MAX_JOBS];
  step_line_start(&list.line, a->quiet, "checking");
  while (started + 1 < jobs && pthread_create(&threads[started], NULL, check_files, &list) == 0)
    started++;
  check_files(&list);
  for (size_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  step_line_end(&list.line);
  int status = report(&list);
  for (size_t i = 0; i < a->num_files; ++i) free(list.messages[i]);
  free(list.messages);
  free(list.statuses);
  return status;
}
