/* The interface of models. */
#include "models/lowering.h"

#include "base/c_locale.h"
#include "base/log.h"
#include "base/object.h"
#include "models/check_output.h"
#include "models/print.h"
#include "models/worth.h"

#include <errno.h>
#include <populus/file.h>
#include <populus/model.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

struct pop_model {
  object base;
  char *text;
  size_t size, part;
  uint32_t replicas;
  uint64_t copy_limit;
  module *m;
  function *main;
  lowering lowered;
  feed_list feeds;
  size_t **feed_shapes;
  size_t **shapes; /* inputs, then outputs */
  char **names;
};

/* ---- parts ---- */

/* Finds the line that separates modules. */
static const char *find_separator(const char *at, const char *end)
{
  static const char line[] = "// -----";
  while (at < end) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    const char *stop = next ? next : end;
    if ((size_t)(stop - at) >= sizeof line - 1 && memcmp(at, line, sizeof line - 1) == 0) return at;
    if (!next) break;
    at = next + 1;
  }
  return NULL;
}

size_t pop_model_count_parts(const char *text, size_t size)
{
  size_t count = 1;
  if (!text) return 0;
  for (const char *at = text; (at = find_separator(at, text + size)); at++) count++;
  return count;
}

static bool find_part(const char *text, size_t size, size_t part, size_t *begin, size_t *end)
{
  const char *at = text, *stop = text + size, *separator;
  while ((separator = find_separator(at, stop))) {
    if (part-- == 0) {
      *begin = (size_t)(at - text);
      *end = (size_t)(separator - text);
      return true;
    }
    at = separator + 2; /* behind the slashes of the comment */
    while (at < stop && *at != '\n') at++;
  }
  *begin = (size_t)(at - text);
  *end = size;
  return part == 0;
}

/* ---- loading ---- */

static pop_error *choose_main(module *m, function **f)
{
  *f = module_find(m, "main");
  for (size_t i = 0; i < m->num_functions && !*f; ++i)
    if (m->num_functions == 1 || !m->functions[i].is_private) {
      for (size_t k = i + 1; k < m->num_functions; ++k)
        if (!m->functions[k].is_private)
          return model_error(m, m->functions[k].offset,
                             "there is no @main, and more than one public function");
      *f = &m->functions[i];
    }
  return *f ? NULL : model_error(m, 0, "there is no function @main");
}

static size_t *copy_shape(const model_type *type)
{
  size_t *shape = pop_xcalloc(type->rank + 1, sizeof *shape);
  for (uint32_t d = 0; d < type->rank; ++d) shape[d] = (size_t)type->dims[d];
  return shape;
}

static void describe_values(pop_model *model)
{
  size_t inputs = model->main->body.num_arguments, outputs = model->main->num_results;
  model->shapes = pop_xcalloc(inputs + outputs + 1, sizeof *model->shapes);
  model->names = pop_xcalloc(inputs + outputs + 1, sizeof *model->names);
  for (size_t i = 0; i < inputs; ++i) {
    const value *v = model->main->body.arguments[i];
    model->shapes[i] = copy_shape(v->type);
    model->names[i] = pop_xstrdup(v->name ? v->name + 1 : "input");
  }
  for (size_t i = 0; i < outputs; ++i) {
    model->shapes[inputs + i] = copy_shape(model->main->results[i]);
    model->names[inputs + i] = pop_xasprintf("out%zu", i);
  }
}

static pop_error *prepare(pop_model *model, const char *name, size_t size, size_t part)
{
  size_t begin, end;
  if (!find_part(model->text, size, part, &begin, &end))
    return pop_error_new(POP_ERROR_INDEX, "%s: there is no module number %zu, only %zu", name, part,
                         pop_model_count_parts(model->text, size));
  POP_TRY(module_read(name, model->text, begin, end, &model->m));
  model->m->replicas = model->replicas;
  POP_TRY(choose_main(model->m, &model->main));
  POP_TRY(module_inline(model->m, model->main));
  POP_TRY(module_verify(model->m, model->main));
  module_flatten(model->m, model->main);
  module_promote(model->m, model->main);
  module_capture(model->m, model->main);
  module_order_batches(model->m, model->main);
  describe_values(model);
  feeds_find(model->m, &model->main->body, &model->feeds);
  model->feed_shapes = pop_xcalloc(model->feeds.count + 1, sizeof *model->feed_shapes);
  for (size_t i = 0; i < model->feeds.count; ++i)
    model->feed_shapes[i] = copy_shape(model->feeds.items[i].value->type);
  return NULL;
}

pop_error *pop_model_parse(const char *text, size_t size, const char *name, size_t part,
                           pop_model **result)
{
  return pop_model_parse_replicated(text, size, name, part, 1, result);
}

pop_error *pop_model_parse_replicated(const char *text, size_t size, const char *name, size_t part,
                                      uint32_t replicas, pop_model **result)
{
  C_LOCALE;
  enum { MAX_REPLICAS = 1024 };
  POP_TRY(object_check_argument(result, "the model to make", __func__));
  *result = NULL;
  POP_TRY(object_check_list(text, size, "bytes of text", __func__));
  POP_TRY(object_check_argument(name, "the name for messages", __func__));
  if (replicas == 0 || replicas > MAX_REPLICAS)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: %u replicas; from 1 to %d are possible",
                         name, replicas, MAX_REPLICAS);
  pop_model *model = object_new(OBJECT_MODEL, sizeof *model);
  model->size = size;
  model->part = part;
  model->replicas = replicas;
  model->copy_limit = POP_MODEL_COPY_LIMIT;
  model->text = pop_xmalloc(size + 1);
  if (size) memcpy(model->text, text, size);
  model->text[size] = '\0';
  pop_error *error = prepare(model, name, size, part);
  *result = error ? NULL : model;
  if (error) pop_model_free(model);
  return error;
}

pop_error *pop_model_load(const char *path, size_t part, pop_model **result)
{
  return pop_model_load_replicated(path, part, 1, result);
}

pop_error *pop_model_load_replicated(const char *path, size_t part, uint32_t replicas,
                                     pop_model **result)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(object_check_argument(result, "the model to make", __func__));
  *result = NULL;
  POP_TRY(object_check_argument(path, "the file's path", __func__));
  enum { MAX_BYTES = 1 << 30 };
  POP_TRY(pop_file_read(path, MAX_BYTES, &bytes, &size));
  pop_error *error =
      pop_model_parse_replicated((const char *)bytes, size, path, part, replicas, result);
  free(bytes);
  return error;
}

void pop_model_free(pop_model *model)
{
  if (!object_release(model, OBJECT_MODEL, __func__)) return;
  if (model->shapes)
    for (size_t i = 0; i < model->main->body.num_arguments + model->main->num_results; ++i) {
      free(model->shapes[i]);
      free(model->names[i]);
    }
  free(model->shapes);
  free(model->names);
  for (size_t i = 0; i < model->feeds.count; ++i) free(model->feed_shapes[i]);
  free(model->feed_shapes);
  free(model->feeds.items);
  lowering_free(&model->lowered);
  module_free(model->m);
  free(model->text);
  object_delete(&model->base);
}

/* ---- questions ---- */

const char *pop_model_name(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return NULL;
  return model->m->name;
}

size_t pop_model_num_inputs(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  return model->main->body.num_arguments;
}

size_t pop_model_num_outputs(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  return model->main->num_results;
}

static pop_model_value describe(const pop_model *model, const model_type *type, size_t at)
{
  pop_model_value v = {.name = model->names[at], .rank = type->rank, .shape = model->shapes[at]};
  bool tensor = type->kind == TYPE_TENSOR;
  v.element = tensor ? element_infos[type->element].name : "token";
  v.type = tensor ? element_infos[type->element].type : POP_TYPE_COUNT;
  return v;
}

pop_model_value pop_model_input(const pop_model *model, size_t i)
{
  if (i >= pop_model_num_inputs(model)) return (pop_model_value){.type = POP_TYPE_COUNT};
  return describe(model, model->main->body.arguments[i]->type, i);
}

pop_model_value pop_model_output(const pop_model *model, size_t i)
{
  if (i >= pop_model_num_outputs(model)) return (pop_model_value){.type = POP_TYPE_COUNT};
  return describe(model, model->main->results[i], pop_model_num_inputs(model) + i);
}

size_t pop_model_num_feeds(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  return model->feeds.count;
}

pop_model_value pop_model_feed(const pop_model *model, size_t i, bool *to_device)
{
  if (i >= pop_model_num_feeds(model)) return (pop_model_value){.type = POP_TYPE_COUNT};
  const feed *f = &model->feeds.items[i];
  if (to_device) *to_device = f->op->code == OP_INFEED;
  return (pop_model_value){.name = f->name,
                           .element = element_infos[f->value->type->element].name,
                           .type = element_infos[f->value->type->element].type,
                           .rank = f->value->type->rank,
                           .shape = model->feed_shapes[i]};
}

size_t pop_model_suggested_tiles(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  uint64_t tiles = tiles_worth_using(model->m, model->main);
  return (size_t)(tiles < 1472 ? tiles : 1472);
}

/* ---- dumps ---- */

uint64_t pop_model_hash(const pop_model *model)
{
  C_LOCALE;
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  text t = {0};
  module_print(&t, model->m, model->main, false);
  uint64_t hash = XXH3_64bits(t.data, t.size);
  text_free(&t);
  return hash;
}

/* The module as it was read. */
static pop_error *print_source(const pop_model *model, text *to)
{
  size_t begin = 0, end = 0;
  module *m;
  (void)find_part(model->text, model->size, model->part, &begin, &end);
  POP_TRY(module_read(model->m->file, model->text, begin, end, &m));
  module_print(to, m, NULL, true);
  module_free(m);
  return NULL;
}

static pop_error *write_dump(const char *folder, uint64_t hash, const char *name, const char *pass,
                             const char *data, size_t size)
{
  char *path =
      pop_xasprintf("%s/module_%016llx.%s.%s", folder, (unsigned long long)hash, name, pass);
  for (char *p = path + strlen(folder) + 1; *p; ++p)
    if (*p == '/') *p = '_';
  pop_output *output;
  pop_error *error = pop_output_open(path, &output);
  free(path);
  if (error) return error;
  error = pop_output_write(output, data, size);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

pop_error *pop_model_dump(const pop_model *model, const char *folder)
{
  C_LOCALE;
  POP_TRY(object_check(model, OBJECT_MODEL, __func__));
  POP_TRY(object_check_argument(folder, "the folder", __func__));
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return pop_error_errno(errno, "%s: the folder cannot be made", folder);
  uint64_t hash = pop_model_hash(model);
  const char *name = model->m->name;
  text t = {0};
  pop_error *error = print_source(model, &t);
  if (!error) error = write_dump(folder, hash, name, "0_read.mlir", t.data, t.size);
  text_free(&t);
  if (!error) {
    module_print(&t, model->m, model->main, true);
    error = write_dump(folder, hash, name, "1_inlined.mlir", t.data, t.size);
    text_free(&t);
  }
  if (!error && model->lowered.graph) {
    char *source = lowering_source(&model->lowered);
    error = write_dump(folder, hash, name, "2_codelets.c", source, strlen(source));
    free(source);
  }
  return error;
}

/* ---- lowering ---- */

static pop_error *check_not_lowered(const pop_model *model, const char *call)
{
  if (!model->lowered.graph) return NULL;
  return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "%s: the model '%s' has been lowered already",
                       call, model->m->name);
}

pop_error *pop_model_set_copy_limit(pop_model *model, uint64_t bytes)
{
  POP_TRY(object_check(model, OBJECT_MODEL, __func__));
  POP_TRY(check_not_lowered(model, __func__));
  model->copy_limit = bytes;
  return NULL;
}

/* Lowers everything but codelets and vertices. */
static pop_error *begin_lowering(pop_model *model, pop_graph *graph, pop_program *program)
{
  lowering *l = &model->lowered;
  POP_TRY(check_not_lowered(model, "pop_model_lower"));
  POP_TRY(pop_graph_take_error(graph)); /* an earlier one: the model can still be lowered */
  if (pop_graph_replication_factor(graph) != model->replicas)
    return pop_error_new(
        POP_ERROR_INVALID_ARGUMENT,
        "pop_model_lower: the model '%s' was loaded for %u replicas, the graph has %u",
        model->m->name, model->replicas, pop_graph_replication_factor(graph));
  const pop_target *target = pop_graph_get_target(graph);
  if (log_enabled(LOG_INFO))
    log_write(LOG_INFO, "MODEL", "Begin XLA compilation: %s (Hash 0x%016llx)", model->m->name,
              (unsigned long long)pop_model_hash(model));
  *program = pop_program_sequence(graph, model->m->name);
  *l = (lowering){.m = model->m,
                  .f = model->main,
                  .graph = graph,
                  .sequence = *program,
                  .num_tiles = pop_graph_num_tiles(graph),
                  .num_workers = target->num_worker_contexts,
                  .copy_limit = model->copy_limit,
                  .feeds = &model->feeds};
  POP_TRY(lowering_run(l));
  return pop_graph_take_error(graph);
}

static void lower_all(pop_model *const *models, pop_graph *const *graphs, size_t count,
                      pop_program *programs, pop_error **errors)
{
  lowering **good = pop_xcalloc(count + 1, sizeof *good);
  size_t num_good = 0;
  for (size_t i = 0; i < count; ++i) {
    errors[i] = begin_lowering(models[i], graphs[i], &programs[i]);
    if (!errors[i]) good[num_good++] = &models[i]->lowered;
  }
  lowering_compile(good, num_good);
  free(good);
  for (size_t i = 0; i < count; ++i) {
    if (errors[i]) continue;
    lowering_make_vertices(&models[i]->lowered);
    errors[i] = pop_graph_take_error(graphs[i]);
  }
}

pop_error *pop_model_lower(pop_model *model, pop_graph *graph, pop_program *program)
{
  C_LOCALE;
  POP_TRY(object_check(model, OBJECT_MODEL, __func__));
  POP_TRY(object_check(graph, OBJECT_GRAPH, __func__));
  POP_TRY(object_check_argument(program, "the program to make", __func__));
  pop_error *error;
  lower_all(&model, &graph, 1, program, &error);
  return error;
}

pop_error *pop_model_lower_all(pop_model *const *models, pop_graph *const *graphs, size_t count,
                               pop_program *programs, pop_error **errors)
{
  C_LOCALE;
  POP_TRY(object_check_argument(models, "the models", __func__));
  POP_TRY(object_check_argument(graphs, "the graphs", __func__));
  POP_TRY(object_check_argument(programs, "the programs to make", __func__));
  POP_TRY(object_check_argument(errors, "the errors", __func__));
  for (size_t i = 0; i < count; ++i) {
    POP_TRY(object_check(models[i], OBJECT_MODEL, __func__));
    POP_TRY(object_check(graphs[i], OBJECT_GRAPH, __func__));
  }
  lower_all(models, graphs, count, programs, errors);
  return NULL;
}

pop_tensor pop_model_input_tensor(const pop_model *model, size_t i)
{
  if (i >= pop_model_num_inputs(model)) return (pop_tensor){0};
  const lowering *l = &model->lowered;
  return l->states ? l->states[model->main->body.arguments[i]->number].tensor : (pop_tensor){0};
}

pop_tensor pop_model_output_tensor(const pop_model *model, size_t i)
{
  if (i >= pop_model_num_outputs(model)) return (pop_tensor){0};
  const lowering *l = &model->lowered;
  return l->states ? l->states[model->main->body.last->operands[i]->number].tensor
                   : (pop_tensor){0};
}

char *pop_model_codelet_source(const pop_model *model)
{
  C_LOCALE;
  if (!object_there(model, OBJECT_MODEL, __func__)) return NULL;
  return lowering_source(&model->lowered);
}

/* ---- checks ---- */

size_t pop_model_num_checks(const pop_model *model)
{
  if (!object_there(model, OBJECT_MODEL, __func__)) return 0;
  return model->lowered.num_checks;
}

pop_error *pop_model_judge(const pop_model *model, pop_engine *engine)
{
  C_LOCALE;
  POP_TRY(object_check(model, OBJECT_MODEL, __func__));
  POP_TRY(object_check(engine, OBJECT_ENGINE, __func__));
  for (size_t i = 0; i < model->lowered.num_checks; ++i)
    POP_TRY(check_output(model->m, &model->lowered.checks[i], engine));
  return NULL;
}
