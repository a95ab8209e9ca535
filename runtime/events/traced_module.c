#include "events/traced_module.h"

#include "base/log.h"
#include "profile/report_file.h"
#include <errno.h>
#include <populus/cache_folder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct traced_module {
  pop_event_trace *trace;
  char *name;
  pthread_mutex_t lock; /* for the fields below: several engines may share an executable */
  char *folder;         /* of the reports; NULL until the first one */
  uint64_t executions;
};

traced_module *traced_module_new(pop_event_trace *trace, const char *name)
{
  traced_module *module = pop_xcalloc(1, sizeof *module);
  module->trace = event_trace_retain(trace);
  module->name = pop_xstrdup(name);
  pthread_mutex_init(&module->lock, NULL);
  return module;
}

void traced_module_free(traced_module *module)
{
  if (!module) return;
  event_trace_release(module->trace);
  pthread_mutex_destroy(&module->lock);
  free(module->folder);
  free(module->name);
  free(module);
}

pop_event_trace *traced_module_trace(const traced_module *module)
{
  return module->trace;
}

const char *traced_module_name(const traced_module *module)
{
  return module->name;
}

bool traced_module_count_execution(traced_module *module)
{
  uint64_t every = event_trace_options(module->trace)->report_every;
  pthread_mutex_lock(&module->lock);
  uint64_t number = module->executions++;
  pthread_mutex_unlock(&module->lock);
  return every == 0 || number % every == 0;
}

/* ---- the folder ---- */

/* A name that is a single part of a path on every system, and not hidden. */
static char *folder_name(const char *module_name)
{
  enum { MAX_LENGTH = 100 };
  char *name = pop_xasprintf("%.*s", MAX_LENGTH, *module_name ? module_name : "module");
  for (char *c = name; *c; c++) {
    bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || (*c == '.' && c != name);
    if (!is_plain) *c = '_';
  }
  return name;
}

/* mkdir fails if the folder exists, also if another process makes it at the same time. */
static pop_error *make_folder(const char *directory, const char *module_name, char **made)
{
  enum { MAX_COMPILATIONS = 1000000 };
  char *name = folder_name(module_name), *path = NULL;
  int failure = EEXIST;
  for (unsigned i = 0; i < MAX_COMPILATIONS && failure == EEXIST; i++) {
    free(path);
    path =
        i ? pop_xasprintf("%s/%s_%u", directory, name, i) : pop_xasprintf("%s/%s", directory, name);
    failure = mkdir(path, 0777) == 0 ? 0 : errno;
  }
  free(name);
  if (failure == 0) {
    *made = path;
    return NULL;
  }
  pop_error *error = pop_error_errno(failure, "cannot make the report folder '%s'", path);
  free(path);
  return error;
}

static pop_error *find_folder(traced_module *module, const char **folder)
{
  const char *directory = event_trace_options(module->trace)->report_directory;
  pop_error *error = NULL;
  pthread_mutex_lock(&module->lock);
  if (!module->folder) {
    error = pop_cache_folder_make(directory);
    if (!error) error = make_folder(directory, module->name, &module->folder);
  }
  *folder = module->folder;
  pthread_mutex_unlock(&module->lock);
  return error;
}

/* ---- reports ---- */

/* Limit of texts that are not reports: the largest event has 2 GiB. */
static const uint64_t most_text_bytes = (uint64_t)1 << 30;

static void warn_of_size(const traced_module *module, const char *name, const char *limit,
                         uint64_t most)
{
  log_write(LOG_WARN, "ENGINE",
            "event trace: %s of module '%s' is discarded: it is larger than %s, %llu bytes", name,
            module->name, limit, (unsigned long long)most);
}

static pop_error *write_text(const traced_module *module, const char *name, const char *limit,
                             uint64_t most, pop_error *(*write)(FILE *stream, const void *context),
                             const void *context, pop_trace_text *text)
{
  pop_bytes bytes = {0};
  bool too_large;
  pop_error *error = report_text_write(most, write, context, &bytes, &too_large);
  if (error || too_large) {
    pop_bytes_free(&bytes);
    if (too_large) warn_of_size(module, name, limit, most);
    return error;
  }
  event_take_bytes(text, &bytes);
  return NULL;
}

pop_error *traced_module_text(const traced_module *module, const char *name,
                              pop_error *(*write)(FILE *stream, const void *context),
                              const void *context, pop_trace_text *text)
{
  return write_text(module, name, "an event can hold", most_text_bytes, write, context, text);
}

pop_error *traced_module_report(traced_module *module, const char *name,
                                pop_error *(*write)(FILE *stream, const void *context),
                                const void *context, pop_trace_text *text)
{
  const trace_options *options = event_trace_options(module->trace);
  uint64_t most = options->max_report_bytes;
  if (!options->report_directory)
    return write_text(module, name, "max_report_size", most, write, context, text);
  const char *folder;
  POP_TRY(find_folder(module, &folder));
  char *path = pop_xasprintf("%s/%s", folder, name);
  bool too_large;
  pop_error *error = report_file_write_at_most(path, most, write, context, &too_large);
  if (too_large) warn_of_size(module, path, "max_report_size", most);
  if (!error && !too_large) {
    event_set_text(&text->data, path);
    text->size = strlen(path);
  }
  free(path);
  return error;
}
