/* pophlo: modules of StableHLO are compiled to archives of tile images, run, or checked.
 *
 *   command line -> pophlo_arguments -> one module: compile, run, save
 *                                    -> many: pophlo_check
 */
#include "pophlo.h"
#include "run_line.h"
#include "step_line.h"
#include "tensor_file.h"

#include <populus/model.h>
#include <populus/names.h>
#include <populus/populus.h>
#include <populus/standard_streams.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a graph, of one module or of those that are checked ---- */

void built_free(built *b)
{
  pop_engine_free(b->engine);
  pophlo_feeds_free(b->feeds);
  pop_graph_free(b->graph);
  pop_model_free(b->model);
}

pop_error *built_judge(const built *b)
{
  pop_error *error = pop_model_judge(b->model, b->engine);
  if (!error || pop_error_get_code(error) != POP_ERROR_RUNTIME) return error;
  pop_error *module = pop_error_new(POP_ERROR_FILE_LOAD, "%s", pop_error_message(error));
  pop_error_free(error);
  return module;
}

static pop_error *choose_target(const pophlo_arguments *a, pophlo_device device,
                                const pop_model *model, pop_target *target)
{
  if (device == DEVICE_CPU) {
    pop_target_create_cpu(target);
    return NULL;
  }
  POP_TRY(pop_target_create(a->target, a->replicas ? a->replicas : 1, target));
  if (device == DEVICE_IPU_MODEL) target->type = POP_TARGET_IPU_MODEL;
  uint32_t tiles = a->tiles ? a->tiles : (uint32_t)pop_model_suggested_tiles(model);
  if (a->tiles || tiles < target->tiles_per_ipu) target->tiles_per_ipu = tiles;
  return pop_target_validate(target);
}

pop_error *built_add_graph(const pophlo_arguments *a, pophlo_device device, built *b)
{
  pop_target target;
  POP_TRY(choose_target(a, device, b->model, &target));
  b->graph = a->replicas > 1 ? pop_graph_create_replicated(&target, a->replicas)
                             : pop_graph_create(&target);
  return pop_model_set_copy_limit(b->model, a->copy_limit);
}

/* ---- one module ---- */

/* A value without consumers has nothing to copy from or to. */
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

static void show_step(void *line, unsigned done, unsigned total)
{
  step_line_is_at(line, done, total);
}

static pop_error *build(const pophlo_arguments *a, step_line *line, built *b)
{
  pop_program program;
  POP_TRY(built_add_graph(a, a->device, b));
  POP_TRY(pop_model_lower(b->model, b->graph, &program));
  if (a->dump) POP_TRY(pop_model_dump(b->model, a->dump));
  name_tensors(b);
  pop_graph_set_progress(b->graph, show_step, line);
  return pop_engine_create(b->graph, &program, 1, a->options, a->num_options, &b->engine);
}

static pop_error *load_model(const pophlo_arguments *a, built *b)
{
  return pop_model_load_replicated(a->files[0], a->part, a->replicas ? a->replicas : 1, &b->model);
}

bool built_wants_all_tiles(const pophlo_arguments *a, pophlo_device device, const pop_model *model,
                           const pop_error *error, const char *what, pophlo_arguments *all)
{
  if (a->tiles || device == DEVICE_CPU || pop_error_get_code(error) != POP_ERROR_GRAPH_MEMORY)
    return false;
  pop_target few = {0}, whole = {0};
  pop_error_free(choose_target(a, device, model, &few)); /* it has been good before */
  pop_error_free(pop_target_create(a->target, 1, &whole));
  if (few.tiles_per_ipu >= whole.tiles_per_ipu) return false;
  *all = *a;
  all->tiles = whole.tiles_per_ipu;
  if (a->quiet) return true;
  fputs("pophlo: ", stderr);
  pop_write_name(what, stderr);
  fprintf(stderr, " does not fit on %u tile%s: trying all %u\n", few.tiles_per_ipu,
          few.tiles_per_ipu == 1 ? "" : "s", all->tiles);
  return true;
}

/* Builds for as many tiles as the module is worth or, if it does not fit there, for all. */
static pop_error *build_where_it_fits(const pophlo_arguments *a, step_line *line, built *b)
{
  pophlo_arguments all;
  pop_error *error = build(a, line, b);
  if (!error || !built_wants_all_tiles(a, a->device, b->model, error, "the module", &all))
    return error;
  pop_error_free(error);
  built_free(b);
  *b = (built){0};
  POP_TRY(load_model(a, b));
  return build(&all, line, b);
}

/* The tensor of several replicas has theirs one after the other. An input may also be the same for
 * all. `shape` has room for one dimension more than the value has. */
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

/* What goes in, and what a stream brings, is in one file. */
static pop_error *check_once(const pop_model *model, const pophlo_file *files, size_t count,
                             bool output)
{
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < i; ++k)
      if (strcmp(files[i].name, files[k].name) == 0 &&
          (!output || is_feed(model, files[i].name, true)))
        return pop_error_new(POP_ERROR_USAGE, "--%s %s=%s: it has the file '%s' already",
                             output ? "out" : "in", files[i].name, files[i].file, files[k].file);
  return NULL;
}

static pop_error *check_names(const pophlo_arguments *a, const pop_model *model)
{
  pop_model_value v;
  POP_TRY(check_once(model, a->ins, a->num_ins, false));
  POP_TRY(check_once(model, a->outs, a->num_outs, true));
  for (size_t i = 0; i < a->num_ins; ++i)
    if (!is_feed(model, a->ins[i].name, false))
      POP_TRY(find_value(model, a->ins[i].name, false, &v));
  for (size_t i = 0; i < a->num_outs; ++i)
    if (!is_feed(model, a->outs[i].name, true))
      POP_TRY(find_value(model, a->outs[i].name, true, &v));
  if (!a->run) return NULL;
  for (size_t i = 0; i < pop_model_num_inputs(model); ++i) {
    bool given = !is_tensor(pop_model_input(model, i));
    if (is_feed(model, pop_model_input(model, i).name, false))
      return pop_error_new(POP_ERROR_FILE_LOAD,
                           "%s: the argument '%s' has the name of a stream, so --in could be for "
                           "either",
                           a->files[0], pop_model_input(model, i).name);
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
  return built_judge(b);
}

static pop_error *handle_module(const pophlo_arguments *a, built *b)
{
  POP_TRY(load_model(a, b));
  if (a->list) POP_TRY(pophlo_list(a, b->model));
  POP_TRY(check_names(a, b->model));
  if (!a->run && !a->output && !a->codelets && !a->dump) return NULL;
  step_line line;
  step_line_start(&line, a->quiet, "compiling");
  pop_error *error = build_where_it_fits(a, &line, b);
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
  pophlo_arguments a = {.copy_limit = POP_MODEL_COPY_LIMIT};
  bool done = false;
  int status = report(pop_standard_streams_open());
  if (status == 0) status = report(pophlo_parse(argc, argv, &a, &done));
  if (status == 0 && !done) {
    if (a.check) {
      status = pophlo_check(&a);
    } else {
      built b = {0};
      status = report(handle_module(&a, &b));
      built_free(&b);
    }
  }
  pophlo_arguments_free(&a);
  int unwritten = report(pop_standard_output_flush());
  return unwritten ? unwritten : status;
}
