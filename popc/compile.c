/* One source, an object for each target: turns the outputs and messages of the processes (jobs.c)
 * into the result. */
#include "cache.h"

#include <populus/data_dir.h>
#include <populus/out_of_memory.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_DIAGNOSTICS ((size_t)32 << 10) /* how much is shown of too many diagnostics */

static pop_error *take_file(int file, uint8_t **bytes, size_t *size)
{
  struct stat status;
  if (fstat(file, &status) != 0) return pop_error_errno(errno, "cannot read an object");
  *size = (size_t)status.st_size;
  *bytes = malloc(*size + 1);
  if (!*bytes)
    return pop_error_new(POP_ERROR_MEMORY, "no memory for an object of %zu bytes", *size);
  for (size_t done = 0; done < *size;) {
    ssize_t n = pread(file, *bytes + done, *size - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return pop_error_errno(errno, "cannot read an object");
    done += (size_t)n;
  }
  return NULL;
}

/* A job whose warnings are errors here has failed. */
static pop_error *filter_warnings(job *job, const popc_source *source)
{
  popc_compile_outcome outcome = {job->target, job->promotions_are_errors, NULL, 0};
  uint8_t *product = NULL;
  if (!job->status && job->target == POPC_TILE)
    POP_TRY(take_file(job->object, &product, &outcome.size));
  outcome.product = product;
  if (popc_filter_warnings(source, &outcome, &job->diagnostics) && !job->status)
    job->status = W_EXITCODE(STATUS_AT_FAULT, 0);
  free(product);
  return NULL;
}

/* Are the texts equal but for line numbers in clang's own list of macros? One target's
 * is longer. */
static bool same_text(const pop_bytes *a, const pop_bytes *b)
{
  static const char builtin[] = "<built-in>:";
  size_t i = 0, j = 0, length = sizeof builtin - 1;
  while (i < a->size && j < b->size && a->data[i] == b->data[j]) {
    bool skip = i + 1 >= length && !memcmp(a->data + i + 1 - length, builtin, length);
    ++i;
    ++j;
    while (skip && i < a->size && isdigit(a->data[i])) ++i;
    while (skip && j < b->size && isdigit(b->data[j])) ++j;
  }
  return i == a->size && j == b->size;
}

/* All compilations see the same mistakes. So each text is shown once, and none after the first that
 * failed. */
static void collect_diagnostics(const job *jobs, size_t count, pop_bytes *out)
{
  for (size_t i = 0; i < count; ++i) {
    const pop_bytes *text = &jobs[i].diagnostics;
    bool shown = false;
    for (size_t j = 0; j < i && !shown; ++j) shown = same_text(&jobs[j].diagnostics, text);
    if (text->size && !shown) pop_bytes_append(out, text->data, text->size);
    if (jobs[i].status) return;
  }
}

/* The first whole lines, if there are too many diagnostics. */
static void collect_first_diagnostics(const job *job, const popc_source *source, pop_bytes *out)
{
  if (job->diagnostics.size < POPC_MAX_DIAGNOSTICS) return;
  const uint8_t *text = job->diagnostics.data;
  const uint8_t *last = memrchr(text, '\n', FIRST_DIAGNOSTICS);
  if (last) pop_bytes_append(out, text, (size_t)(last + 1 - text));
  char *note =
      pop_xasprintf("popc: note: '%s' has more diagnostics than anybody reads\n", source->path);
  pop_bytes_append(out, note, strlen(note));
  free(note);
}

static pop_error *take_result(const job *job, popc_result *result)
{
  POP_TRY(take_file(job->object, &result->bytes, &result->size));
  if (job->dependencies < 0) return NULL;
  POP_TRY(take_file(job->dependencies, &result->dependencies.data, &result->dependencies.size));
  result->dependencies.capacity = result->dependencies.size;
  return NULL;
}

/* The outcome of popc-reflect. If libclang found errors, clang got the source as it is and reports
 * them. It is an internal error if clang then accepts the source. */
static pop_error *check_reflection(const job *reflector, bool compiled, const popc_source *source,
                                   const limits *limits, pop_bytes *diagnostics)
{
  const pop_bytes *said = &reflector->diagnostics;
  POP_TRY(popc_check_limits(reflector, source, limits));
  if (WIFEXITED(reflector->status) && WEXITSTATUS(reflector->status) == STATUS_NOT_PARSED) {
    if (!compiled) return NULL;
    return pop_error_new(POP_ERROR_INTERNAL,
                         "libclang does not read '%s', which clang compiles:\n%.*s", source->path,
                         (int)said->size, (const char *)said->data);
  }
  POP_TRY(popc_check_exit(reflector, source, limits));
  if (!reflector->status) return NULL;
  if (said->size) pop_bytes_append(diagnostics, said->data, said->size);
  return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", source->path);
}

static pop_error *finish(const job *jobs, size_t count, bool reflected, const popc_source *source,
                         const limits *limits, popc_result *results, pop_bytes *diagnostics)
{
  bool compiled = true;
  for (size_t i = 0; i < count; ++i) compiled &= jobs[i].status == 0;
  if (reflected) POP_TRY(check_reflection(&jobs[count], compiled, source, limits, diagnostics));
  for (size_t i = 0; i < count; ++i) {
    collect_first_diagnostics(&jobs[i], source, diagnostics);
    POP_TRY(popc_check_exit(&jobs[i], source, limits));
  }
  collect_diagnostics(jobs, count, diagnostics);
  if (!compiled)
    return pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", source->path);
  for (size_t i = 0; i < count; ++i) POP_TRY(take_result(&jobs[i], &results[i]));
  return NULL;
}

/* As a shell reads it. */
static void show_word(const char *word)
{
  fputs(" '", stderr);
  for (; *word; ++word) {
    if (*word == '\'')
      fputs("'\\''", stderr);
    else
      fputc(*word, stderr);
  }
  fputs("'", stderr);
}

/* The arguments by which clang makes each product. */
const char *const *popc_product_arguments(popc_product product)
{
  static const char *const products[][3] = {
      [POPC_GP] = {"-c", NULL},
      [POPC_PREPROCESSED] = {"-E", POPC_REFLECTS, NULL},
      [POPC_ASSEMBLY] = {"-S", NULL},
      [POPC_IR] = {"-S", "-emit-llvm", NULL},
      [POPC_BITCODE] = {"-c", "-emit-llvm", NULL},
      [POPC_VERTEX_LIST] = {"-c", NULL},
      [POPC_RULE] = {"-M", NULL},
      [POPC_USER_RULE] = {"-MM", NULL},
      [POPC_NOTHING] = {"-c", NULL},
      [POPC_PAIRS] = {NULL},
  };
  return products[product];
}

static void show(const job *job, const popc_source *source)
{
  for (size_t i = 0; i < job->arguments.count; ++i) show_word(job->arguments.items[i]);
  for (const char *const *word = popc_product_arguments(job->product); *word; ++word)
    show_word(*word);
  show_word(source->path);
  fputc('\n', stderr);
}

/* Is it the output of -E? That begins with populus/builtins.h. */
static bool has_builtins(const popc_source *source)
{
  static const char sign[] = "typedef _Float16 populus_half;";
  return popc_is_codelet_language(source->language) &&
         memmem(source->text, source->size, sign, sizeof sign - 1);
}

static void prepare(popc_settings *settings, const popc_source *source, const char *clang,
                    const popc_variant *variant, job *job)
{
  job->target = variant->target;
  job->wanted_dependencies =
      settings->dependencies & POPC_DEPENDENCIES ? settings->dependencies : 0;
  popc_add_argument(&job->arguments, clang);
  job->resources = popc_resource_folder(settings->arena, clang);
  if (job->resources) {
    popc_add_argument(&job->arguments, "-resource-dir");
    popc_add_argument(&job->arguments, job->resources);
  }
  if (source->folder) {
    const char *slash = strrchr(source->path, '/');
    popc_add_argument(&job->arguments, "-iquote");
    popc_add_argument(&job->arguments, source->folder);
    popc_add_argument(&job->arguments, "-Xclang");
    popc_add_argument(&job->arguments, "-main-file-name");
    popc_add_argument(&job->arguments, "-Xclang");
    popc_add_argument(&job->arguments, slash ? slash + 1 : source->path);
  }
  if (has_builtins(source)) popc_add_argument(&job->arguments, "-DPOPULUS_BUILTINS_H");
  popc_make_arguments(settings, source->language, variant, settings->arena, &job->arguments);
  job->promotions_are_errors = popc_add_warning_flags(&job->arguments, variant->target);
  popc_add_argument(&job->arguments,
                    settings->colour ? "-fcolor-diagnostics" : "-fno-color-diagnostics");
  popc_add_argument(&job->arguments, "-fno-crash-diagnostics");
  if (settings->dependencies & POPC_MISSING_DEPENDENCIES) popc_add_argument(&job->arguments, "-MG");
  if (settings->verbose) show(job, source);
}

static void prepare_reflector(popc_settings *settings, job *job)
{
  popc_add_argument(&job->arguments,
                    pop_arena_printf(settings->arena, "%s/popc-reflect", pop_data_dir()));
}

static pop_error *take_pairs(job *job, const popc_source *bitcode, const limits *limits,
                             popc_result *result)
{
  POP_TRY(popc_check_exit(job, bitcode, limits));
  if (!job->status) return take_result(job, result);
  return pop_error_new(POP_ERROR_INTERNAL, "'%s' does not compile: %.*s", bitcode->path,
                       (int)job->diagnostics.size, (const char *)job->diagnostics.data);
}

pop_error *popc_run_pairs(const popc_settings *settings, const popc_source *bitcode,
                          popc_result *result)
{
  limits limits = popc_get_limits();
  job job = popc_new_job(POPC_PAIRS);
  popc_add_argument(&job.arguments,
                    pop_arena_printf(settings->arena, "%s/popc-pairs", pop_data_dir()));
  if (settings->vectors == POPC_DIVISIONS_ONLY)
    popc_add_argument(&job.arguments, POPC_PAIRS_DIVISIONS);
  if (settings->verbose) show(&job, bitcode);
  pop_error *error = popc_start_jobs(&job, 1, false, bitcode, &limits, settings->arena);
  if (error) popc_stop_jobs(&job, 1);
  popc_watch_jobs(&job, 1, &limits);
  if (!error) error = take_pairs(&job, bitcode, &limits, result);
  popc_release_job(&job);
  return error;
}

/* Compiles the source again by way of bitcode, and replaces the result. */
static pop_error *compile_for_pairs(const popc_settings *settings, const popc_source *source,
                                    popc_product product, const popc_variant *variant,
                                    popc_when when, popc_result *result)
{
  popc_settings own = *settings;
  own.vectors = when;
  own.no_cache = true;
  own.dependencies = 0;
  popc_result packed = {0};
  pop_bytes said_already = {0};
  pop_error *error =
      popc_compile_source(&own, source, product, &variant, 1, &packed, &said_already);
  if (!error) {
    free(result->bytes);
    result->bytes = packed.bytes;
    result->size = packed.size;
    packed.bytes = NULL;
  }
  popc_results_free(&packed, 1);
  pop_bytes_free(&said_already);
  return error;
}

/* Turns clang's outputs into the wanted product; after an error no result is left. `refused`: clang
 * did not accept the code that popc-pairs had made of its output. */
static pop_error *complete(const popc_settings *settings, const popc_source *source,
                           popc_product product, const popc_variant *const *variants,
                           const job *jobs, size_t count, popc_result *results, bool *refused,
                           pop_bytes *diagnostics)
{
  pop_error *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    if (jobs[i].product != product) {
      error = popc_pack_vectors(settings, source, product, variants[i], &results[i], diagnostics);
      *refused = error && pop_error_get_code(error) == POP_ERROR_CODELET_COMPILE;
      continue;
    }
    popc_when missed = popc_missed_pairs(settings, product, variants[i], &results[i]);
    if (missed != POPC_NEVER)
      error = compile_for_pairs(settings, source, product, variants[i], missed, &results[i]);
  }
  if (!error) return NULL;
  popc_results_free(results, count);
  memset(results, 0, count * sizeof *results);
  return error;
}

static pop_error *compile_once(popc_settings *settings, const popc_source *source,
                               popc_product product, const popc_variant *const *variants,
                               size_t count, popc_result *results, bool *refused,
                               pop_bytes *diagnostics)
{
  const char *clang;
  POP_TRY(popc_find_clang(settings->arena, &clang));
  limits limits = popc_get_limits();
  if (settings->dependencies & POPC_DEPENDENCIES && !popc_descriptors_have_names())
    return pop_error_new(POP_ERROR_SYSTEM,
                         "-MD and -MMD need /proc, which is not mounted: use -M or -MM");
  bool reflected = popc_is_codelet_language(source->language) && product != POPC_PREPROCESSED &&
                   !popc_makes_rule(product);
  job jobs[POPC_MAX_JOBS + 1];
  size_t all = count + reflected;
  for (size_t i = 0; i < all; ++i) {
    bool packs = i < count && popc_goes_through_pairs(settings, source, product, variants[i]);
    jobs[i] = popc_new_job(packs ? POPC_BITCODE : product);
  }
  for (size_t i = 0; i < count; ++i) prepare(settings, source, clang, variants[i], &jobs[i]);
  if (reflected) prepare_reflector(settings, &jobs[count]);
  if (count > 1 && popc_is_read_by_name(source))
    jobs[0].fork_library = popc_fork_library(settings->arena, clang);

  popc_cache cache = popc_cache_open(settings, source, product, clang, jobs, count);
  bool found = popc_cache_find(&cache, results, diagnostics);
  size_t before = diagnostics->size;
  pop_error *error = NULL;
  if (!settings->dry_run && !found) {
    for (size_t i = 0; i < count && cache.path; ++i)
      jobs[i].wanted_dependencies |= POPC_DEPENDENCIES;
    error = popc_start_jobs(jobs, count, reflected, source, &limits, settings->arena);
    if (error) popc_stop_jobs(jobs, all);
    popc_watch_jobs(jobs, all, &limits);
    for (size_t i = 0; i < count && !error; ++i) error = filter_warnings(&jobs[i], source);
    if (!error) error = finish(jobs, count, reflected, source, &limits, results, diagnostics);
    if (!error)
      error =
          complete(settings, source, product, variants, jobs, count, results, refused, diagnostics);
    if (!error) popc_cache_put(&cache, results, diagnostics, before);
  }
  const popc_variant *crashed = variants[0];
  for (size_t i = count; i-- > 0;)
    if (jobs[i].status) crashed = variants[i];
  for (size_t i = 0; i < all; ++i) popc_release_job(&jobs[i]);
  bool compiles = product != POPC_PREPROCESSED && !popc_makes_rule(product);
  if (compiles && error && pop_error_get_code(error) == POP_ERROR_INTERNAL)
    error = popc_add_reproducer(settings, source, crashed, error);
  return error;
}

void popc_results_free(popc_result *results, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    free(results[i].bytes);
    pop_bytes_free(&results[i].dependencies);
  }
}

/* It is not the source's fault, as the source compiles without vectors. */
static void warn_of_refusal(const popc_settings *settings, const popc_source *source,
                            pop_bytes *diagnostics)
{
  if (popc_no_warnings(settings)) return;
  popc_print_diagnostic(
      diagnostics, settings->colour, POPC_WARNING, &(popc_place){.path = source->path},
      "clang does not take what popc-pairs made of its vectors: they are computed "
      "one element after another");
}

static pop_error *compile_source(popc_settings *settings, const popc_source *source,
                                 popc_product product, const popc_variant *const *variants,
                                 size_t count, popc_result *results, pop_bytes *diagnostics)
{
  bool refused = false;
  size_t before = diagnostics->size;
  pop_error *error =
      compile_once(settings, source, product, variants, count, results, &refused, diagnostics);
  if (!refused) return error;
  pop_error_free(error);
  diagnostics->size = before;
  popc_settings own = *settings;
  own.vectors = POPC_NEVER;
  error = compile_once(&own, source, product, variants, count, results, &refused, diagnostics);
  if (!error) warn_of_refusal(settings, source, diagnostics);
  return error;
}

/* Processes and pipes are in local variables. */
pop_error *popc_compile_source(popc_settings *settings, const popc_source *source,
                               popc_product product, const popc_variant *const *variants,
                               size_t count, popc_result *results, pop_bytes *diagnostics)
{
  pop_memory_hold();
  pop_error *error =
      compile_source(settings, source, product, variants, count, results, diagnostics);
  pop_memory_release();
  return error;
}
