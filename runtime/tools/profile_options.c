#include "profile_options.h"

#include "values.h"

#include <errno.h>
#include <populus/data_dir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char folder_key[] = "autoReport.directory";

/* A build without the viewer has no page among its reports. */
static bool has_viewer(void)
{
  char *path = pop_xasprintf("%s/viewer.js", pop_data_dir());
  bool has = access(path, R_OK) == 0;
  free(path);
  return has;
}

static bool has_key(const pop_option *options, size_t count, const char *key)
{
  for (size_t i = 0; i < count; ++i)
    if (strcmp(options[i].key, key) == 0) return true;
  return false;
}

/* ---- the environment ---- */

/* A JSON object of the options but for the folder; the caller frees. */
static pop_error *write_rest(const pop_option *options, size_t count, char **text)
{
  values v = {0};
  size_t size;
  FILE *stream = open_memstream(text, &size);
  if (!stream) return pop_error_errno(errno, "cannot change engine options");
  values_begin_map(&v, NULL);
  for (size_t i = 0; i < count; ++i)
    if (strcmp(options[i].key, folder_key) != 0)
      values_put_text(&v, options[i].key, options[i].value);
  values_end(&v);
  pop_error *error = values_write(&v, false, stream);
  if (fclose(stream) != 0 && !error) error = pop_error_errno(errno, "cannot change engine options");
  return error;
}

/* If it is no JSON object, the engine says so. */
static pop_error *remove_folder(const char *variable)
{
  const char *said = secure_getenv(variable);
  pop_option *options = NULL;
  size_t count = 0;
  char *rest = NULL;
  if (!said || !*said) return NULL;
  pop_error_free(pop_options_read_json(said, strlen(said), &options, &count));
  pop_error *error = NULL;
  if (has_key(options, count, folder_key)) {
    error = write_rest(options, count, &rest);
    if (!error && setenv(variable, rest, 1) != 0)
      error = pop_error_errno(errno, "cannot change %s", variable);
  }
  free(rest);
  free(options);
  return error;
}

/* ---- all ---- */

pop_error *profile_options(const arguments *a, pop_option **options, size_t *count)
{
  const pop_option reports[] = {
      {folder_key, a->profile},
      {"autoReport.outputGraphProfile", "true"},
      {"autoReport.outputExecutionProfile", "true"},
      {"autoReport.outputLoweredVars", "true"},
      {"autoReport.outputDebugInfo", "true"},
      {"autoReport.outputCode", "true"},
      {"autoReport.outputViewer", has_viewer() ? "true" : "false"},
      {"autoReport.executionProfileProgramRunCount", "0"}}; /* once, not after each of many runs */
  enum { NUM_REPORTS = sizeof reports / sizeof *reports };
  if (a->profile && has_key(a->options, a->num_options, folder_key))
    return pop_error_new(POP_ERROR_USAGE, "--profile names the folder: there can be no --option %s",
                         folder_key);
  if (a->profile) POP_TRY(remove_folder("POPLAR_ENGINE_OPTIONS"));
  if (a->profile) POP_TRY(remove_folder("POPLAR_RUNTIME_OPTIONS"));
  *options = pop_xcalloc(a->num_options + NUM_REPORTS, sizeof **options);
  *count = a->num_options;
  for (size_t i = 0; i < a->num_options; ++i) (*options)[i] = a->options[i];
  for (size_t i = 0; a->profile && i < NUM_REPORTS; ++i)
    if (!has_key(a->options, a->num_options, reports[i].key)) (*options)[(*count)++] = reports[i];
  return NULL;
}
