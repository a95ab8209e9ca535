/* From settings to a `.gp`: popc_run reads as the list of steps. */
#include "popc_internal.h"

#include <populus/out_of_memory.h>
#include <populus/same_file.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a run collects. */
typedef struct run {
  popc_settings *settings;
  pop_gp_builder *builder;
  popc_file_list dependencies;
  popc_source *sources; /* that were compiled, with their texts */
  size_t num_sources, sources_capacity;
  uint8_t **bytes; /* of the .gp, if it is for memory */
  size_t *size;
  const char *present; /* targets of the .gp files among the inputs, for messages */
} run;

/* Adds only the parts for the targets that the command line names. */
static pop_error *add_chosen_parts(run *r, pop_gp *gp)
{
  const popc_settings *settings = r->settings;
  for (size_t i = 0; i < settings->num_variants; ++i)
    if (pop_gp_has_target(gp, settings->variants[i].name))
      POP_TRY(pop_gp_builder_add_gp_for(r->builder, gp, settings->variants[i].name));
  return NULL;
}

static pop_error *add_gp(run *r, const popc_input *input)
{
  pop_gp *gp;
  if (!strcmp(input->path, "-"))
    return pop_error_new(POP_ERROR_USAGE, "a .gp cannot come from standard input: name its file");
  POP_TRY(pop_gp_read(input->path, &gp));
  popc_add_dependency(&r->dependencies, popc_quote_for_make(r->settings->arena, input->path));
  char *targets = pop_gp_targets(gp);
  r->present =
      pop_arena_printf(r->settings->arena, "%s%s%s", r->present, *r->present ? "; " : "", targets);
  free(targets);
  pop_error *error =
      r->settings->targets_chosen ? add_chosen_parts(r, gp) : pop_gp_builder_add_gp(r->builder, gp);
  pop_gp_free(gp);
  return error;
}

static void write_all(int fd, const pop_bytes *text)
{
  for (size_t done = 0; done < text->size;) {
    ssize_t n = write(fd, text->data + done, text->size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += (size_t)n;
  }
}

/* clang escapes lines of sources, but not names of files. */
static void write_diagnostics(const popc_settings *settings, const pop_bytes *diagnostics)
{
  pop_bytes shown = {0};
  popc_append_printable(&shown, diagnostics->data, diagnostics->size, settings->colour);
  write_all(settings->diagnostics_fd, &shown);
  pop_bytes_free(&shown);
}

/* If diagnostics have no descriptor, they become the error's message. */
static pop_error *report(popc_settings *settings, pop_error *error, const pop_bytes *diagnostics)
{
  if (settings->diagnostics_fd >= 0) {
    if (diagnostics->size) pop_progress_hide(settings->line);
    write_diagnostics(settings, diagnostics);
    settings->diagnostics_said |= error && popc_hold_error(diagnostics);
    return error;
  }
  if (!error || !diagnostics->size || pop_error_get_code(error) != POP_ERROR_CODELET_COMPILE)
    return error;
  pop_error *full = pop_error_new(POP_ERROR_CODELET_COMPILE, "%s:\n%.*s", pop_error_message(error),
                                  (int)diagnostics->size, (const char *)diagnostics->data);
  pop_error_free(error);
  return full;
}

static pop_error *add_source(run *r, const popc_source *source)
{
  pop_bytes diagnostics = {0};
  pop_error *error =
      popc_build_source(r->settings, source, r->builder, &r->dependencies, &diagnostics);
  error = report(r->settings, error, &diagnostics);
  pop_bytes_free(&diagnostics);
  return error;
}

static pop_error *add_input(run *r, const popc_input *input)
{
  popc_language language;
  bool named = input->language ? popc_language_named(input->language, &language)
                               : popc_language_of(input->path, &language);
  if (!input->text && named && language == POPC_GP_FILE) return add_gp(r, input);
  popc_source source;
  POP_TRY(popc_read_source(input, &source));
  pop_push(r->sources, r->num_sources, r->sources_capacity, source);
  return add_source(r, &source);
}

/* No output may be an input, by whatever name. */
static pop_error *check_not_input(const popc_settings *settings, const char *output,
                                  const char *option)
{
  for (size_t i = 0; i < settings->num_inputs; ++i)
    if (!settings->inputs[i].text && pop_is_same_file(output, settings->inputs[i].path))
      return pop_error_new(POP_ERROR_USAGE,
                           "the output '%s' is the same file as the input '%s': %s names another",
                           output, settings->inputs[i].path, option);
  return NULL;
}

/* The outputs of one run are files of their own. */
static pop_error *check_others(const popc_settings *settings)
{
  const struct {
    const char *path, *option;
  } outputs[] = {{settings->output, "-o"},
                 {popc_dependency_path(settings), "-MF"},
                 {settings->database_file, "-MJ"}};
  for (size_t i = 1; i < sizeof outputs / sizeof *outputs; ++i) {
    if (!outputs[i].path) continue;
    POP_TRY(check_not_input(settings, outputs[i].path, outputs[i].option));
    for (size_t j = 0; j < i; ++j)
      if (outputs[j].path && pop_is_same_file(outputs[j].path, outputs[i].path))
        return pop_error_new(POP_ERROR_USAGE,
                             "two outputs would be the file '%s': %s or %s names another",
                             outputs[i].path, outputs[j].option, outputs[i].option);
  }
  return NULL;
}

/* Reports before compiling what would otherwise fail when the output is written. */
static pop_error *check_output(const popc_settings *settings)
{
  if (!settings->output || popc_is_standard_output(settings->output)) return NULL;
  POP_TRY(check_not_input(settings, settings->output, "-o"));
  struct stat status;
  if (stat(settings->output, &status) == 0 && S_ISDIR(status.st_mode))
    return pop_error_new(POP_ERROR_SYSTEM, "cannot write '%s': it is a folder", settings->output);
  /* These are written to, not replaced: their folder does not matter. */
  bool exists = stat(settings->output, &status) == 0;
  if (exists && (!S_ISREG(status.st_mode) || !strncmp(settings->output, "/dev/", 5))) return NULL;
  const char *slash = strrchr(settings->output, '/');
  const char *folder = !slash ? "."
                       : slash == settings->output
                           ? "/"
                           : pop_arena_printf(settings->arena, "%.*s",
                                              (int)(slash - settings->output), settings->output);
  if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
    errno = ENOTDIR;
  else if (access(folder, W_OK | X_OK) == 0)
    return NULL;
  return pop_error_errno(errno, "cannot write '%s' into the folder '%s'", settings->output, folder);
}

/* Builds the .gp once in memory, to see it as a reader will. */
static pop_error *put_together(pop_gp_builder *builder, pop_gp **gp)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_gp_builder_write(builder, NULL, &bytes, &size));
  pop_error *error = pop_gp_read_memory(bytes, size, "popc's output", gp);
  free(bytes);
  return error;
}

/* Each target is handled separately, as each may have its own version of a vertex. */
static pop_error *add_library_for_targets(run *r, pop_gp *gp, char *targets, pop_bytes *warnings)
{
  pop_error *error = NULL;
  for (char *target; !error && (target = strsep(&targets, ","));) {
    if (!*target || !strcmp(target, POP_GP_HOST_TARGET)) continue;
    pop_gp *part;
    POP_TRY(pop_gp_for_target(gp, target, &part));
    popc_origin origin = {r->settings, r->sources, r->num_sources, target};
    error = popc_add_runtime_library(part, &origin, r->builder, warnings);
    pop_gp_free(part);
  }
  return error;
}

bool popc_no_warnings(const popc_settings *settings)
{
  for (size_t i = 0; i < settings->num_clang; ++i)
    if (!strcmp(settings->clang[i], "-w")) return true;
  return false;
}

/* The inputs are sources only, and without a vertex: no graph can use the output. */
static void warn_of_no_vertices(const run *r, const pop_gp *gp, pop_bytes *warnings)
{
  if (pop_gp_num_vertex_types(gp) || !pop_gp_num_tile_objects(gp)) return;
  if (r->num_sources < r->settings->num_inputs) return;
  for (size_t i = 0; i < r->num_sources; ++i)
    if (!popc_is_codelet_language(r->sources[i].language)) return;
  popc_print_diagnostic(
      warnings, r->settings->colour, POPC_WARNING, &(popc_place){.path = "popc"},
      "no vertices in the sources: a vertex is a class derived from poplar::Vertex, or a struct "
      "behind COMPUTE; a class template is none before 'template class Name<float>;' instantiates "
      "it");
}

static int compare_names(const void *a, const void *b)
{
  const pop_vertex_type *const *x = a, *const *y = b;
  int names = strcmp((*x)->name, (*y)->name);
  return names ? names : strcmp((*x)->source, (*y)->source);
}

static pop_error *check_host_part(const pop_gp *part)
{
  size_t count = pop_gp_num_vertex_types(part);
  const pop_vertex_type **types = pop_xcalloc(count + 1, sizeof *types);
  for (size_t i = 0; i < count; ++i) types[i] = pop_gp_vertex_type(part, i);
  qsort(types, count, sizeof *types, compare_names);
  pop_error *error = NULL;
  for (size_t i = 1; i < count && !error; ++i)
    if (!strcmp(types[i - 1]->name, types[i]->name))
      error = pop_error_new(POP_ERROR_CODELET_COMPILE,
                            "vertex '%s' is defined twice for the host (%s and %s): rename one",
                            types[i]->name, types[i - 1]->source, types[i]->source);
  free(types);
  return error;
}

/* The builder compares vertices for tiles. Host objects are bytes for it, of which it leaves out
 * those that it has already. */
static pop_error *check_host_vertices(pop_gp *gp)
{
  pop_gp *part;
  if (pop_gp_num_host_objects(gp) < 2) return NULL;
  POP_TRY(pop_gp_for_target(gp, POP_GP_HOST_TARGET, &part));
  pop_error *error = check_host_part(part);
  pop_gp_free(part);
  return error;
}

/* Adds the members of the device library that the objects need. */
static pop_error *add_library(run *r)
{
  pop_gp *gp;
  POP_TRY(put_together(r->builder, &gp));
  char *targets = pop_gp_targets(gp);
  pop_bytes warnings = {0};
  warn_of_no_vertices(r, gp, &warnings);
  pop_error *error = check_host_vertices(gp);
  if (!error) error = add_library_for_targets(r, gp, targets, &warnings);
  if (!error && !popc_no_warnings(r->settings)) error = report(r->settings, NULL, &warnings);
  pop_bytes_free(&warnings);
  free(targets);
  pop_gp_free(gp);
  return error;
}

/* G11: each target that was asked for must have an object. The host lacks nothing if all inputs are
 * assembly that leaves nothing for tiles, as the chip's does. */
static pop_error *check_targets(const run *r)
{
  pop_gp *gp;
  if (r->settings->num_empty == r->settings->num_inputs) return NULL;
  POP_TRY(put_together(r->builder, &gp));
  pop_error *error = NULL;
  for (size_t i = 0; i < r->settings->num_variants && !error; ++i) {
    const char *target = r->settings->variants[i].name;
    if (pop_gp_has_target(gp, target)) continue;
    error =
        *r->present
            ? pop_error_new(POP_ERROR_FILE_LOAD,
                            "the inputs hold nothing for target '%s', they were compiled for %s",
                            target, r->present)
            : pop_error_new(POP_ERROR_FILE_LOAD,
                            "the inputs hold nothing for target '%s': assembly is for tiles, "
                            "LLVM IR for what its target triple names",
                            target);
  }
  pop_gp_free(gp);
  return error;
}

static pop_error *write_gp(run *r, uint8_t **bytes, size_t *size)
{
  const char *output = r->settings->output;
  if (!output || !popc_is_standard_output(output))
    return pop_gp_builder_write(r->builder, output, bytes, size);
  uint8_t *content;
  size_t content_size;
  POP_TRY(pop_gp_builder_write(r->builder, NULL, &content, &content_size));
  pop_error *error = popc_write_file(output, content, content_size);
  free(content);
  return error;
}

static pop_error *list(run *r)
{
  pop_gp *gp;
  char *text = NULL;
  POP_TRY(put_together(r->builder, &gp));
  pop_error *error = popc_list_vertices(gp, r->settings->json, r->settings->pretty, &text);
  if (!error) error = popc_write_file(r->settings->output, text, strlen(text));
  free(text);
  pop_gp_free(gp);
  return error;
}

/* What cannot be an entry is reported before anything is written. */
static pop_error *write_with_database(run *r, uint8_t **bytes, size_t *size)
{
  pop_bytes text = {0};
  pop_error *error = NULL;
  for (size_t i = 0; i < r->num_sources && !error; ++i)
    error = popc_put_database_entry(r->settings, &r->sources[i], &text);
  if (!error) error = write_gp(r, bytes, size);
  if (!error) error = popc_write_file(r->settings->database_file, text.data, text.size);
  pop_bytes_free(&text);
  return error;
}

static pop_error *build(run *r, uint8_t **bytes, size_t *size)
{
  popc_settings *settings = r->settings;
  for (size_t i = 0; i < settings->num_inputs; ++i) {
    atomic_store(&settings->num_begun, i + 1);
    POP_TRY(add_input(r, &settings->inputs[i]));
  }
  if (settings->dry_run) return NULL;
  if (settings->targets_chosen) POP_TRY(check_targets(r));
  POP_TRY(add_library(r));
  bool only_reads = settings->product == POPC_NOTHING || settings->product == POPC_VERTEX_LIST;
  if (settings->product == POPC_VERTEX_LIST) POP_TRY(list(r));
  if (only_reads && settings->dependencies)
    return popc_write_rule(settings, popc_default_output(settings, "gp"), &r->dependencies);
  if (only_reads) return NULL;
  POP_TRY(settings->database_file ? write_with_database(r, bytes, size) : write_gp(r, bytes, size));
  return settings->dependencies ? popc_write_dependencies(settings, &r->dependencies) : NULL;
}

/* -E, -S, -emit-llvm: one text for one source and one target. */

static pop_error *make_text_of(run *r, const popc_source *source)
{
  popc_settings *settings = r->settings;
  const popc_variant *variant = settings->variants;
  popc_result result = {0};
  pop_bytes diagnostics = {0};
  pop_error *error = popc_compile_with_remedies(settings, source, settings->product, &variant, 1,
                                                &result, &diagnostics);
  error = report(settings, error, &diagnostics);
  popc_add_dependencies_of(settings, source, &result.dependencies, &r->dependencies);
  if (!error && !settings->dry_run)
    error = popc_write_file(settings->output, result.bytes, result.size);
  popc_results_free(&result, 1);
  pop_bytes_free(&diagnostics);
  return error;
}

static pop_error *make_text(run *r)
{
  popc_settings *settings = r->settings;
  if (settings->num_inputs > 1)
    return pop_error_new(POP_ERROR_USAGE, "-E, -S and -emit-llvm take one source at a time");
  popc_source source;
  POP_TRY(popc_read_source(settings->inputs, &source));
  pop_error *error =
      source.language == POPC_GP_FILE
          ? pop_error_new(POP_ERROR_USAGE, "'%s' is compiled already: objdump -d shows its code",
                          source.path)
          : make_text_of(r, &source);
  popc_source_free(&source);
  if (error || settings->dry_run || !settings->dependencies) return error;
  return popc_write_dependencies(settings, &r->dependencies);
}

/* -M, -MM: what all targets read, in one rule. */

static bool includes_files(popc_language language)
{
  return popc_is_codelet_language(language) || language == POPC_ASSEMBLER_CPP;
}

static pop_error *add_files_of(run *r, const popc_source *source)
{
  popc_settings *settings = r->settings;
  const popc_variant *variants[POPC_MAX_JOBS];
  pop_error *error = NULL;
  pop_bytes diagnostics = {0};
  for (size_t done = 0, count; done < settings->num_variants && !error; done += count) {
    popc_result results[POPC_MAX_JOBS] = {{0}};
    for (count = 0; count < POPC_MAX_JOBS && done + count < settings->num_variants; ++count)
      variants[count] = &settings->variants[done + count];
    error = popc_compile_source(settings, source, settings->product, variants, count, results,
                                &diagnostics);
    for (size_t i = 0; i < count && !error; ++i) {
      pop_bytes rule = {.data = results[i].bytes, .size = results[i].size};
      popc_add_dependencies_of(settings, source, &rule, &r->dependencies);
    }
    popc_results_free(results, count);
  }
  error = report(settings, error, &diagnostics);
  pop_bytes_free(&diagnostics);
  return error;
}

static pop_error *add_files(run *r, const popc_input *input)
{
  popc_source source;
  POP_TRY(popc_read_source(input, &source));
  pop_error *error = NULL;
  if (includes_files(source.language))
    error = add_files_of(r, &source);
  else
    popc_add_dependency(&r->dependencies, popc_quote_for_make(r->settings->arena, input->path));
  popc_source_free(&source);
  return error;
}

static pop_error *make_rule(run *r)
{
  popc_settings *settings = r->settings;
  for (size_t i = 0; i < settings->num_inputs; ++i) POP_TRY(add_files(r, &settings->inputs[i]));
  if (settings->dry_run) return NULL;
  return popc_write_rule(settings, popc_default_output(settings, "gp"), &r->dependencies);
}

/* SOURCE_DATE_EPOCH fixes __DATE__. clang would not notice a wrong value if no source mentions
 * __DATE__. */
static pop_error *check_source_date(void)
{
  const char *text = getenv("SOURCE_DATE_EPOCH");
  if (!text) return NULL;
  errno = 0;
  char *end;
  unsigned long long seconds = strtoull(text, &end, 10);
  if (isdigit((unsigned char)*text) && !*end && !errno && seconds <= 253402300799ull) return NULL;
  return pop_error_new(POP_ERROR_USAGE,
                       "the environment variable SOURCE_DATE_EPOCH is '%s': it must be the number "
                       "of seconds since 1970, up to the year 9999",
                       text);
}

static pop_error *make_product(void *context)
{
  run *r = context;
  uint8_t **bytes = r->bytes;
  size_t *size = r->size;
  switch (r->settings->product) {
  case POPC_GP:
  case POPC_VERTEX_LIST:
  case POPC_NOTHING:
    return build(r, bytes, size);
  case POPC_RULE:
  case POPC_USER_RULE:
    return make_rule(r);
  default:
    return make_text(r);
  }
}

/* Standard input is read once: a second time it would be empty. */
static pop_error *check_streams(const popc_settings *settings)
{
  size_t count = 0;
  for (size_t i = 0; i < settings->num_inputs; ++i)
    count += !settings->inputs[i].text && !strcmp(settings->inputs[i].path, "-");
  if (count < 2) return NULL;
  return pop_error_new(POP_ERROR_USAGE, "standard input can be an input only once");
}

pop_error *popc_run(popc_settings *settings, uint8_t **bytes, size_t *size)
{
  if (!settings->num_inputs) return pop_error_new(POP_ERROR_USAGE, "no input files");
  POP_TRY(check_streams(settings));
  if (settings->product == POPC_PROGRAM) {
    POP_TRY(check_output(settings));
    return popc_link(settings);
  }
  POP_TRY(check_source_date());
  POP_TRY(popc_default_targets(settings));
  POP_TRY(check_output(settings));
  POP_TRY(check_others(settings));
  run r = {.settings = settings,
           .builder = pop_gp_builder_new(),
           .bytes = bytes,
           .size = size,
           .present = ""};
  pop_error *error = pop_with_memory("compiling codelets", make_product, &r);
  pop_gp_builder_free(r.builder);
  popc_file_list_free(&r.dependencies);
  for (size_t i = 0; i < r.num_sources; ++i) popc_source_free(&r.sources[i]);
  free(r.sources);
  return error;
}

static pop_error *take_options(popc_settings *settings, const popc_options *options)
{
  if (options->size != sizeof *options)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "popc_options.size is %zu instead of %zu",
                         options->size, sizeof *options);
  const char **flags;
  size_t num_flags;
  POP_TRY(popc_expand_arguments(settings->arena, options->num_flags, options->flags, &flags,
                                &num_flags));
  POP_TRY(popc_parse_options(settings, num_flags, flags, false));
  if (settings->output)
    return pop_error_new(POP_ERROR_USAGE, "'-o' is not among the flags: popc_options.output is");
  if (settings->product != POPC_GP || settings->answer || settings->dry_run)
    return pop_error_new(POP_ERROR_USAGE, "the flags ask for something else than a .gp");
  if ((settings->dependencies || settings->database_file) && !options->output)
    return pop_error_new(POP_ERROR_USAGE, "-MD and -MJ need a file as output");
  for (size_t i = 0; i < options->num_inputs; ++i) {
    popc_input input = {options->inputs[i], NULL, NULL};
    pop_push(settings->inputs, settings->num_inputs, settings->inputs_capacity, input);
  }
  for (size_t i = 0; i < options->num_texts; ++i) {
    popc_input input = {options->texts[i].name, NULL, &options->texts[i]};
    pop_push(settings->inputs, settings->num_inputs, settings->inputs_capacity, input);
  }
  settings->output = options->output;
  settings->verbose |= options->verbose != 0;
  settings->diagnostics_fd = options->diagnostics_fd;
  return NULL;
}

pop_error *popc_compile(const popc_options *options, uint8_t **bytes, size_t *size)
{
  popc_settings *settings = popc_settings_new();
  pop_error *error = take_options(settings, options);
  if (!error) error = popc_run(settings, bytes, size);
  popc_settings_free(settings);
  return error;
}
