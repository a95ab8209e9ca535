/* From settings to a `.gp`: popc_run reads as the list of steps. */
#include "popc_internal.h"

#include <populus/file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SOURCE_BYTES ((size_t)64 << 20)

static bool is_gp(const char *path)
{
  const char *dot = strrchr(path, '.');
  return dot && !strcmp(dot, ".gp");
}

static pop_error *add_gp(pop_gp_builder *builder, const char *path)
{
  pop_gp *gp;
  POP_TRY(pop_gp_read(path, &gp));
  pop_error *error = pop_gp_builder_add_gp(builder, gp);
  pop_gp_free(gp);
  return error;
}

static void write_diagnostics(int fd, const pop_bytes *diagnostics)
{
  for (size_t done = 0; done < diagnostics->size;) {
    ssize_t n = write(fd, diagnostics->data + done, diagnostics->size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += (size_t)n;
  }
}

/* With nowhere to write to, what clang said becomes the error's message. */
static pop_error *report(popc_settings *settings, pop_error *error, const pop_bytes *diagnostics)
{
  if (settings->diagnostics_fd >= 0) {
    write_diagnostics(settings->diagnostics_fd, diagnostics);
    settings->diagnostics_said |= error && diagnostics->size;
    return error;
  }
  if (!error || !diagnostics->size || pop_error_get_code(error) != POP_ERROR_CODELET_COMPILE)
    return error;
  pop_error *full = pop_error_new(POP_ERROR_CODELET_COMPILE, "%s:\n%.*s", pop_error_message(error),
                                  (int)diagnostics->size, (const char *)diagnostics->data);
  pop_error_free(error);
  return full;
}

static pop_error *add_objects(pop_gp_builder *builder, const popc_objects *objects,
                              const char *path)
{
  POP_TRY(pop_gp_builder_add_tile(builder, "ipu1,ipu2,ipu21", objects->bytes[POPC_TILE],
                                  objects->size[POPC_TILE], path));
  return pop_gp_builder_add_host(builder, objects->bytes[POPC_HOST], objects->size[POPC_HOST],
                                 path);
}

static pop_error *add_source(popc_settings *settings, pop_gp_builder *builder,
                             const popc_source *source)
{
  popc_objects objects = {0};
  pop_error *error = popc_compile_source(settings, source, &objects);
  error = report(settings, error, &objects.diagnostics);
  if (!error) error = add_objects(builder, &objects, source->path);
  popc_objects_free(&objects);
  return error;
}

static pop_error *add_input(popc_settings *settings, pop_gp_builder *builder, const char *path)
{
  if (is_gp(path)) return add_gp(builder, path);
  popc_source source = {.path = path};
  struct stat status;
  bool is_file = stat(path, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && !popc_language_of(path, &source.language))
    return pop_error_new(POP_ERROR_USAGE,
                         "'%s' is no input for popc: it takes .c, .cpp, .cc, .cxx and .gp files",
                         path);
  uint8_t *text;
  POP_TRY(pop_file_read(path, MAX_SOURCE_BYTES, &text, &source.size));
  source.text = text;
  pop_error *error = add_source(settings, builder, &source);
  free(text);
  return error;
}

/* The output must not be an input, by whatever name. */
static pop_error *check_not_input(const popc_settings *settings)
{
  struct stat output, input;
  if (stat(settings->output, &output) != 0 || !S_ISREG(output.st_mode)) return NULL;
  for (size_t i = 0; i < settings->num_inputs; ++i)
    if (stat(settings->inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
        input.st_ino == output.st_ino)
      return pop_error_new(POP_ERROR_USAGE, "the output '%s' is the same file as the input '%s'",
                           settings->output, settings->inputs[i]);
  return NULL;
}

/* Tells early, before anything is compiled, what writing would tell late. */
static pop_error *check_output(const popc_settings *settings)
{
  if (!settings->output) return NULL;
  POP_TRY(check_not_input(settings));
  struct stat status;
  if (stat(settings->output, &status) == 0 && S_ISDIR(status.st_mode))
    return pop_error_new(POP_ERROR_SYSTEM, "cannot write '%s': it is a folder", settings->output);
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

/* Puts the objects together once in memory, to see them as a reader will, and adds what they lack
 * of the device library. */
static pop_error *add_library(pop_gp_builder *builder)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_gp_builder_write(builder, NULL, &bytes, &size));
  pop_gp *gp;
  pop_error *error = pop_gp_read_memory(bytes, size, "popc's output", &gp);
  free(bytes);
  if (error) return error;
  error = popc_add_runtime_library(gp, builder);
  pop_gp_free(gp);
  return error;
}

static pop_error *build(popc_settings *settings, pop_gp_builder *builder, uint8_t **bytes,
                        size_t *size)
{
  POP_TRY(check_output(settings));
  for (size_t i = 0; i < settings->num_inputs; ++i)
    POP_TRY(add_input(settings, builder, settings->inputs[i]));
  POP_TRY(add_library(builder));
  return pop_gp_builder_write(builder, settings->output, bytes, size);
}

pop_error *popc_run(popc_settings *settings, uint8_t **bytes, size_t *size)
{
  if (!settings->num_inputs) return pop_error_new(POP_ERROR_USAGE, "no input files");
  pop_gp_builder *builder = pop_gp_builder_new();
  pop_error *error = build(settings, builder, bytes, size);
  pop_gp_builder_free(builder);
  return error;
}

static pop_error *take_options(popc_settings *settings, const popc_options *options)
{
  if (options->size != sizeof *options)
    return pop_error_new(POP_ERROR_INVALID_ARGUMENT, "popc_options.size is %zu instead of %zu",
                         options->size, sizeof *options);
  POP_TRY(popc_parse_options(settings, options->num_flags, options->flags, false));
  if (settings->output)
    return pop_error_new(POP_ERROR_USAGE, "'-o' is not among the flags: popc_options.output is");
  for (size_t i = 0; i < options->num_inputs; ++i)
    pop_push(settings->inputs, settings->num_inputs, settings->inputs_capacity, options->inputs[i]);
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
