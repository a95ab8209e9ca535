#include "page/report_pieces.h"

#include <errno.h>
#include <jansson.h>
#include <populus/engine.h>
#include <populus/file.h>
#include <populus/profile.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Larger ones would not be shown by a browser. */
enum { MAX_JSON_BYTES = 1 << 29 };

/* What may be in a report's folder, and what of it a page shows. */
static const struct {
  const char *name;
  const char *key; /* in the page; NULL: it is not read */
} known_files[] = {
    {"profile.pop", NULL},
    {"graph.json", "graph"},
    {"graph.cbor", "graph"},
    {"execution.json", "execution"},
    {"execution.cbor", "execution"},
    {"vars.json", "vars"},
    {"debug.json", "debug"},
    {"archive.a", NULL},
    {"graph.txt", NULL},
    {"execution.txt", NULL},
    {"execution_trace.json", NULL},
    {"execution_stacks.folded", NULL},
    {"serialized_graph.json", NULL},
};
enum { NUM_KNOWN = sizeof known_files / sizeof *known_files };

/* Of a report as it is written. */
typedef struct pieces {
  FILE *stream;
  const char *folder;            /* NULL: one file */
  const char *status[NUM_KNOWN]; /* NULL: it is not there */
  bool has_graph, has_execution;
} pieces;

/* As JSON; bytes that are no UTF-8 become '?'. */
static void put_string(FILE *stream, const char *text)
{
  json_t *string = json_string(text);
  if (!string) {
    char *ascii = strdup(text);
    for (char *c = ascii; c && *c; ++c)
      if (*c & 0x80) *c = '?';
    string = json_string(ascii ? ascii : "");
    free(ascii);
  }
  json_dumpf(string, stream, JSON_ENCODE_ANY);
  json_decref(string);
}

static pop_error *check_stream(FILE *stream)
{
  return ferror(stream) ? pop_error_errno(errno, "cannot write the page") : NULL;
}

/* ---- pieces ---- */

static pop_error *put_value(pieces *p, const char *key, pop_profile_value value)
{
  fprintf(p->stream, ",\"%s\":", key);
  return pop_profile_write(value, POP_PROFILE_JSON, p->stream);
}

static pop_error *put_report(pieces *p, const char *path)
{
  pop_profile *profile;
  POP_TRY(pop_report_read(path, &profile));
  pop_profile_value root = pop_profile_root(profile),
                    execution = pop_profile_get(root, "execution");
  fputs(",\"version\":", p->stream);
  put_string(p->stream, pop_profile_as_string(pop_profile_get(root, "version")));
  pop_error *error = put_value(p, "graph", pop_profile_get(root, "graph"));
  p->has_graph = true;
  if (!error && pop_profile_kind_of(execution) == POP_PROFILE_MAP) {
    error = put_value(p, "execution", execution);
    p->has_execution = true;
  }
  pop_profile_free(profile);
  return error;
}

static pop_error *put_cbor(pieces *p, const char *path, const char *key)
{
  pop_profile *profile;
  POP_TRY(pop_profile_read(path, &profile));
  pop_error *error = put_value(p, key, pop_profile_root(profile));
  pop_profile_free(profile);
  return error;
}

/* Read whole and written again: what comes into the page is JSON, whatever was in the file. */
static pop_error *put_json(pieces *p, const char *path, const char *key)
{
  uint8_t *bytes;
  size_t size;
  json_error_t where;
  POP_TRY(pop_file_read(path, MAX_JSON_BYTES, &bytes, &size));
  json_t *value = json_loadb((const char *)bytes, size, 0, &where);
  free(bytes);
  if (!json_is_object(value)) {
    json_decref(value);
    return value ? pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is JSON, but no object", path)
                 : pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is no JSON: line %d: %s", path,
                                 where.line, where.text);
  }
  fprintf(p->stream, ",\"%s\":", key);
  json_dumpf(value, p->stream, JSON_COMPACT);
  json_decref(value);
  return NULL;
}

static bool ends_with(const char *text, const char *end)
{
  size_t size = strlen(text), of = strlen(end);
  return size >= of && strcmp(text + size - of, end) == 0;
}

static pop_error *put_profile(pieces *p, const char *path, const char *key)
{
  return ends_with(path, ".cbor") ? put_cbor(p, path, key) : put_json(p, path, key);
}

static pop_error *put_archive(pieces *p, const char *path)
{
  pop_executable *executable;
  pop_profile *profile = NULL;
  POP_TRY(pop_executable_load(path, &executable));
  pop_error *error = pop_executable_graph_profile(executable, &profile);
  if (!error) error = put_value(p, "graph", pop_profile_root(profile));
  p->has_graph = true;
  pop_profile_free(profile);
  pop_executable_free(executable);
  return error;
}

/* ---- folders ---- */

static char *path_in(const char *folder, const char *name)
{
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
  return path;
}

/* Is it the first file for its key that is there? profile.pop has graph and execution already. */
static bool is_wanted(const pieces *p, size_t file)
{
  const char *key = known_files[file].key;
  if (!key || (strcmp(key, "graph") == 0 && p->has_graph) ||
      (strcmp(key, "execution") == 0 && p->has_execution))
    return false;
  return true;
}

/* A file beside others that is damaged does not keep the others from being shown. */
static void take_file(pieces *p, size_t file)
{
  const char *key = known_files[file].key;
  char *path = path_in(p->folder, known_files[file].name);
  struct stat s;
  if (stat(path, &s) == 0) {
    p->status[file] = "there, not needed for this page";
    if (is_wanted(p, file)) {
      pop_error *error = put_profile(p, path, key);
      p->status[file] = error ? "damaged, or no such file" : "read";
      if (!error && strcmp(key, "graph") == 0) p->has_graph = true;
      if (!error && strcmp(key, "execution") == 0) p->has_execution = true;
      pop_error_free(error);
    }
  }
  free(path);
}

static pop_error *put_folder(pieces *p)
{
  char *report = path_in(p->folder, known_files[0].name),
       *archive = path_in(p->folder, "archive.a");
  pop_error *error = NULL;
  struct stat s;
  if (stat(report, &s) == 0) {
    error = put_report(p, report);
    p->status[0] = "read";
  }
  for (size_t i = 1; i < NUM_KNOWN && !error; ++i) take_file(p, i);
  if (!error && !p->has_graph && !p->has_execution && stat(archive, &s) == 0) {
    error = put_archive(p, archive);
    p->status[7] = "read";
  }
  if (!error && !p->has_graph && !p->has_execution)
    error =
        pop_error_new(POP_ERROR_FILE_LOAD,
                      "there is no report in '%s': programs write profile.pop, graph.json and "
                      "execution.json into "
                      "autoReport.directory, with autoReport.all or autoReport.output...Profile",
                      p->folder);
  free(report);
  free(archive);
  return error;
}

/* ---- all ---- */

static pop_error *put_file(pieces *p, const char *path)
{
  char magic[8] = "";
  FILE *file = fopen(path, "rb");
  if (file) {
    if (fread(magic, 1, sizeof magic, file) < sizeof magic) magic[0] = '\0';
    fclose(file);
  }
  if (memcmp(magic, "!<arch>\n", 8) == 0) return put_archive(p, path);
  if (ends_with(path, ".json")) return put_json(p, path, "graph");
  return put_report(p, path);
}

static void put_files(const pieces *p, const char *path)
{
  const char *separator = "";
  fputs(",\"files\":[", p->stream);
  for (size_t i = 0; p->folder && i < NUM_KNOWN; ++i) {
    if (!p->status[i]) continue;
    fprintf(p->stream, "%s{\"name\":\"%s\",\"status\":\"%s\"}", separator, known_files[i].name,
            p->status[i]);
    separator = ",";
  }
  if (!p->folder) {
    fputs("{\"name\":", p->stream);
    put_string(p->stream, path);
    fputs(",\"status\":\"read\"}", p->stream);
  }
  fputs("]}", p->stream);
}

static void put_date(FILE *stream, time_t written)
{
  char text[32];
  struct tm utc;
  if (gmtime_r(&written, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc))
    fprintf(stream, ",\"written\":\"%s\"", text);
}

pop_error *report_pieces_write(const char *path, FILE *stream)
{
  struct stat s;
  pieces p = {.stream = stream};
  if (stat(path, &s) != 0)
    return pop_error_new(POP_ERROR_FILE_LOAD, "cannot open '%s': %s", path, strerror(errno));
  fputs("{\"name\":", stream);
  put_string(stream, path);
  if (S_ISDIR(s.st_mode)) {
    char *report = path_in(path, known_files[0].name);
    p.folder = path;
    if (stat(report, &s) != 0) (void)!stat(path, &s);
    free(report);
    put_date(stream, s.st_mtime);
    POP_TRY(put_folder(&p));
  } else {
    put_date(stream, s.st_mtime);
    POP_TRY(put_file(&p, path));
  }
  put_files(&p, path);
  return check_stream(stream);
}
