/* pophlo: modules of StableHLO become archives of tile images, are run, or are checked.
 *
 *   command line -> pophlo_arguments -> one module: compile, run, save
 *                                    -> many: check, each by itself, on several threads
 */
#include "pophlo.h"
#include "run_line.h"
#include "step_line.h"
#include "tensor_file.h"

#include <populus/file.h>
#include <populus/model.h>
#include <populus/populus.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one module ---- */

typedef struct built {
  pop_model *model;
  pop_graph *graph;
  pop_engine *engine;
  pophlo_feeds *feeds;
} built;

static void built_free(built *b)
{
  pop_engine_free(b->engine);
  pophlo_feeds_free(b->feeds);
  pop_graph_free(b->graph);
  pop_model_free(b->model);
}

static pop_error *choose_target(const pophlo_arguments *a, const pop_model *model,
                                pop_target *target)
{
  if (a->device == DEVICE_CPU) {
    pop_target_create_cpu(target);
    return NULL;
  }
  POP_TRY(pop_target_create(a->target, a->replicas ? a->replicas : 1, target));
  if (a->device == DEVICE_IPU_MODEL) target->type = POP_TARGET_IPU_MODEL;
  uint32_t tiles = a->tiles ? a->tiles : (uint32_t)pop_model_suggested_tiles(model);
  if (a->tiles || tiles < target->tiles_per_ipu) target->tiles_per_ipu = tiles;
  return pop_target_validate(target);
}

/* What no consumer has is nothing to copy from or to. */
static bool is_tensor(pop_model_value v)
{
  return v.type != POP_TYPE_COUNT;
}

static void name_tensors(const built *b)
{
  for (size_t i = 0; i < pop_model_num_inputs(b->model); ++i) {
    pop_model_value v = pop_model_input(b->model, i);
    if (is_tensor(v))
      pop_graph_create_host_write(b->graph, v.name, pop_model_input_tensor(b->model, i));
  }
  for (size_t i = 0; i < pop_model_num_outputs(b->model); ++i) {
    pop_model_value v = pop_model_output(b->model, i);
    if (is_tensor(v))
      pop_graph_create_host_read(b->graph, v.name, pop_model_output_tensor(b->model, i));
  }
}

/* Without an engine. */
static pop_error *lower(const pophlo_arguments *a, bool named, built *b, pop_program *program)
{
  pop_target target;
  POP_TRY(choose_target(a, b->model, &target));
  b->graph = a->replicas > 1 ? pop_graph_create_replicated(&target, a->replicas)
                             : pop_graph_create(&target);
  POP_TRY(pop_model_lower(b->model, b->graph, program));
  if (a->dump) POP_TRY(pop_model_dump(b->model, a->dump));
  if (named) name_tensors(b);
  return NULL;
}

static void show_step(void *line, unsigned done, unsigned total)
{
  step_line_is_at(line, done, total);
}

static pop_error *build(const pophlo_arguments *a, bool named, step_line *line, built *b)
{
  pop_program program;
  POP_TRY(lower(a, named, b, &program));
  pop_graph_set_progress(b->graph, show_step, line);
  return pop_engine_create(b->graph, &program, 1, a->options, a->num_options, &b->engine);
}

/* ---- --check ---- */

typedef struct check_list {
  const pophlo_arguments *a;
  char **messages; /* by file: NULL if all holds */
  int *statuses;
  size_t next, num_checks, num_held;
  pthread_mutex_t lock;
  step_line line;
} check_list;

/* Runs the program and judges what it says of itself. `engine`: NULL is what the options say. */
static pop_error *check_run(const pophlo_arguments *a, built *b, const pop_program *program,
                            const char *engine)
{
  pop_option *options = pop_xcalloc(a->num_options + 1, sizeof *options);
  if (a->num_options) memcpy(options, a->options, a->num_options * sizeof *options);
  options[a->num_options] = (pop_option){"target.tileEngine", engine};
  pop_error *error = pop_engine_create(b->graph, program, 1, options,
                                       a->num_options + (engine ? 1 : 0), &b->engine);
  free(options);
  if (!error) error = pop_engine_load(b->engine);
  if (!error) error = pop_engine_run(b->engine, 0);
  if (!error) error = pop_model_judge(b->model, b->engine);
  if (error && engine) error = pop_error_prefix(error, "%s", engine);
  pop_engine_free(b->engine);
  b->engine = NULL;
  return error;
}

static pop_error *check_part(const pophlo_arguments *a, const char *text, size_t size,
                             const char *file, size_t part, size_t *checks)
{
  built b = {0};
  pop_program program;
  pop_error *error =
      pop_model_parse_replicated(text, size, file, part, a->replicas ? a->replicas : 1, &b.model);
  if (!error) error = lower(a, false, &b, &program);
  if (!error) error = check_run(a, &b, &program, a->both_engines ? "translator" : NULL);
  if (!error && a->both_engines) error = check_run(a, &b, &program, "interpreter");
  if (!error) *checks += pop_model_num_checks(b.model);
  built_free(&b);
  return error;
}

static pop_error *check_file(const pophlo_arguments *a, const char *file, size_t *checks)
{
  enum { MAX_BYTES = 1 << 30 };
  uint8_t *text;
  size_t size;
  POP_TRY(pop_file_read(file, MAX_BYTES, &text, &size));
  pop_error *error = NULL;
  size_t parts = pop_model_count_parts((const char *)text, size);
  for (size_t i = 0; i < parts && !error; ++i)
    error = check_part(a, (const char *)text, size, file, i, checks);
  free(text);
  return error;
}

static void *check_files(void *context)
{
  check_list *list = context;
  for (;;) {
    pthread_mutex_lock(&list->lock);
    size_t i = list->next++;
    step_line_is_at(&list->line, i, list->a->num_files);
    pthread_mutex_unlock(&list->lock);
    if (i >= list->a->num_files) return NULL;
    size_t checks = 0;
    pop_error *error = check_file(list->a, list->a->files[i], &checks);
    if (error) {
      list->messages[i] = pop_xstrdup(pop_error_message(error));
      list->statuses[i] =
          pop_error_get_code(error) == POP_ERROR_RUNTIME ? 1 : pop_error_exit_status(error);
      pop_error_free(error);
    }
    pthread_mutex_lock(&list->lock);
    list->num_checks += checks;
    pthread_mutex_unlock(&list->lock);
  }
}

/* All files are checked whatever one of them says; the status is the gravest. */
static int check_all(const pophlo_arguments *a)
{
  enum { MAX_JOBS = 64 };
  check_list list = {.a = a, .lock = PTHREAD_MUTEX_INITIALIZER};
  list.messages = pop_xcalloc(a->num_files, sizeof *list.messages);
  list.statuses = pop_xcalloc(a->num_files, sizeof *list.statuses);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t jobs = a->jobs ? a->jobs : cores > 0 ? (size_t)cores : 1, started = 0;
  if (jobs > MAX_JOBS) jobs = MAX_JOBS;
  if (jobs > a->num_files) jobs = a->num_files;
  pthread_t threads[MAX_JOBS];
  step_line_start(&list.line, a->quiet, "checking");
  while (started + 1 < jobs && pthread_create(&threads[started], NULL, check_files, &list) == 0)
    started++;
  check_files(&list);
  for (size_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  step_line_end(&list.line);
  int status = 0;
  size_t good = 0;
  for (size_t i = 0; i < a->num_files; ++i) {
    if (list.messages[i]) {
      fprintf(stderr, "%s\n", list.messages[i]);
      if (a->verbose) printf("FAIL %s\n", a->files[i]);
    } else {
      good++;
      if (a->verbose) printf("pass %s\n", a->files[i]);
    }
    if (list.statuses[i] > status) status = list.statuses[i];
    free(list.messages[i]);
  }
  printf("%zu of %zu files hold, with %zu checks\n", good, a->num_files, list.num_checks);
  free(list.messages);
  free(list.statuses);
  return status;
}

/* ---- one module: compile, run ---- */

/* Of several replicas: one behind the other; what goes in may also be the same for all. `shape` has room for one dimension
 * more than the value has. */
static tensor_use use_of(const pophlo_arguments *a, pop_model_value v, size_t *shape)
{
  uint32_t replicas = a->replicas ? a->replicas : 1, first = replicas > 1;
  tensor_use use = {.what = "tensor",
                    .name = v.name,
                    .type = v.type,
                    .rank = (uint32_t)v.rank + first,
                    .shape = shape,
                    .bytes = pop_type_bytes(v.type) * replicas,
                    .parts = replicas};
  shape[0] = replicas;
  for (size_t d = 0; d < v.rank; ++d) {
    shape[d + first] = v.shape[d];
    use.bytes *= v.shape[d];
  }
  return use;
}
enum { MAX_DIMENSIONS = 17 };

static bool is_feed(const pop_model *model, const char *name, bool output)
{
  for (size_t i = 0; i < pop_model_num_feeds(model); ++i) {
    bool in;
    if (strcmp(pop_model_feed(model, i, &in).name, name) == 0 && in != output) return true;
  }
  return false;
}

/* The value that an --in or --out names. */
static pop_error *find_value(const pop_model *model, const char *name, bool output,
                             pop_model_value *found)
{
  size_t count = output ? pop_model_num_outputs(model) : pop_model_num_inputs(model);
  for (size_t i = 0; i < count; ++i) {
    *found = output ? pop_model_output(model, i) : pop_model_input(model, i);
    if (strcmp(found->name, name) == 0 && is_tensor(*found)) return NULL;
  }
  return pop_error_new(POP_ERROR_UNKNOWN_HANDLE,
                       "the module has no %s '%s'; --list shows what there is",
                       output ? "output" : "input", name);
}

static pop_error *check_names(const pophlo_arguments *a, const pop_model *model)
{
  pop_model_value v;
  for (size_t i = 0; i < a->num_ins; ++i)
    if (!is_feed(model, a->ins[i].name, false))
      POP_TRY(find_value(model, a->ins[i].name, false, &v));
  for (size_t i = 0; i < a->num_outs; ++i)
    if (!is_feed(model, a->outs[i].name, true))
      POP_TRY(find_value(model, a->outs[i].name, true, &v));
  if (!a->run) return NULL;
  for (size_t i = 0; i < pop_model_num_inputs(model); ++i) {
    bool given = !is_tensor(pop_model_input(model, i));
    for (size_t k = 0; k < a->num_ins; ++k)
      given = given || strcmp(a->ins[k].name, pop_model_input(model, i).name) == 0;
    if (!given)
      return pop_error_new(POP_ERROR_USAGE, "--run needs all inputs: --in %s=FILE is missing",
                           pop_model_input(model, i).name);
  }
  return NULL;
}

static pop_error *write_input(const pophlo_arguments *a, const built *b, const pophlo_file *in)
{
  pop_model_value v;
  size_t shape[MAX_DIMENSIONS];
  uint8_t *bytes;
  size_t start, size;
  POP_TRY(find_value(b->model, in->name, false, &v));
  tensor_use use = use_of(a, v, shape);
  POP_TRY(tensor_file_read(in->file, &use, &bytes, &start, &size));
  pop_error *error = pop_engine_write_tensor(b->engine, v.name, bytes + start, size - start);
  free(bytes);
  return error;
}

static pop_error *read_output(const pophlo_arguments *a, const built *b, const pophlo_file *out)
{
  pop_model_value v;
  size_t shape[MAX_DIMENSIONS];
  POP_TRY(find_value(b->model, out->name, true, &v));
  tensor_use use = use_of(a, v, shape);
  uint8_t *bytes = pop_xmalloc(use.bytes + 1);
  pop_error *error = pop_engine_read_tensor(b->engine, v.name, bytes, use.bytes);
  if (!error) error = tensor_file_write(out->file, &use, bytes, use.bytes);
  free(bytes);
  return error;
}

static pop_error *run(const pophlo_arguments *a, built *b)
{
  POP_TRY(pop_engine_load(b->engine));
  POP_TRY(pophlo_feeds_connect(a, b->model, b->engine, &b->feeds));
  for (size_t i = 0; i < a->num_ins; ++i)
    if (!is_feed(b->model, a->ins[i].name, false)) POP_TRY(write_input(a, b, &a->ins[i]));
  run_line *line = run_line_start(b->engine, 1, a->quiet);
  pop_error *error = pop_engine_run(b->engine, 0);
  run_line_end(line);
  if (error) return error;
  for (size_t i = 0; i < a->num_outs; ++i)
    if (!is_feed(b->model, a->outs[i].name, true)) POP_TRY(read_output(a, b, &a->outs[i]));
  POP_TRY(pophlo_feeds_write(b->feeds));
  if (a->cycles) printf("cycles: %llu\n", (unsigned long long)pop_engine_cycles(b->engine));
  if (a->memory) POP_TRY(pop_engine_print_memory(b->engine, stdout));
  return pop_model_judge(b->model, b->engine);
}

static pop_error *handle_module(const pophlo_arguments *a, built *b)
{
  POP_TRY(
      pop_model_load_replicated(a->files[0], a->part, a->replicas ? a->replicas : 1, &b->model));
  if (a->list) POP_TRY(pophlo_list(a, b->model));
  POP_TRY(check_names(a, b->model));
  if (!a->run && !a->output && !a->codelets && !a->dump) return NULL;
  step_line line;
  step_line_start(&line, a->quiet, "compiling");
  pop_error *error = build(a, true, &line, b);
  step_line_end(&line);
  if (error) return error;
  if (a->codelets) {
    char *source = pop_model_codelet_source(b->model);
    fputs(source, stdout);
    free(source);
  }
  if (a->output) POP_TRY(pop_engine_save_archive(b->engine, a->output));
  return a->run ? run(a, b) : NULL;
}

static int report(pop_error *error)
{
  if (!error) return 0;
  int status = pop_error_exit_status(error);
  fprintf(stderr, "pophlo: error: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}

int main(int argc, char **argv)
{
  pophlo_arguments a = {0};
  bool done = false;
  int status = report(pophlo_parse(argc, argv, &a, &done));
  if (status == 0 && !done) {
    if (a.check) {
      status = check_all(&a);
    } else {
      built b = {0};
      status = report(handle_module(&a, &b));
      built_free(&b);
    }
  }
  pophlo_arguments_free(&a);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "pophlo: error: cannot write to standard output\n");
    return 4;
  }
  return status;
}
