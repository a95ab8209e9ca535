#include "page/report_pieces.h"
#include "base/shown_path.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <populus/arena.h>
#include <populus/engine.h>
#include <populus/file.h>
#include <populus/json_text.h>
#include <populus/names.h>
#include <populus/out_of_memory.h>
#include <populus/profile.h>
#include <populus/report_page.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A browser would not show larger ones. */
enum { MAX_JSON_BYTES = 1 << 29 };

/* The files in a report's folder, and the key in the page for those that are shown. */
static const struct {
  const char *name;
  const char *key; /* in the page; NULL: it is not read */
} known_files[] = {
    {"profile.pop", NULL},
    {"archive.a", NULL},
    {"graph.json", "graph"},
    {"graph.cbor", "graph"},
    {"execution.json", "execution"},
    {"execution.cbor", "execution"},
    {"vars.json", "vars"},
    {"debug.json", "debug"},
    {"code.json", "code"},
    {"graph.txt", NULL},
    {"execution.txt", NULL},
    {"execution_trace.json", NULL},
    {"execution_stacks.folded", NULL},
    {"serialized_graph.json", NULL},
};
enum { REPORT_FILE, ARCHIVE_FILE, NUM_KNOWN = sizeof known_files / sizeof *known_files };

/* A report that is being written. */
typedef struct pieces {
  FILE *stream;
  const char *folder;            /* NULL: one file */
  const char *status[NUM_KNOWN]; /* NULL: it is not there */
  bool has_graph, has_execution, has_code;
  bool without_source;
  pop_error *damage; /* the error of the first damaged file */
} pieces;

/* A JSON string; bytes that are not UTF-8 become '?'. */
static void put_string(FILE *stream, const char *text)
{
  fputc('"', stream);
  for (const unsigned char *c = (const unsigned char *)text; *c;) {
    size_t length = pop_utf8_length(c);
    if (*c < 0x20 || *c == '"' || *c == '\\')
      fprintf(stream, "\\u%04x", *c);
    else if (length)
      fwrite(c, 1, length, stream);
    else
      fputc('?', stream);
    c += length ? length : 1;
  }
  fputc('"', stream);
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

typedef struct json_text {
  const char *path;
  uint8_t *bytes;
  size_t size;
  json_t *value;
} json_text;

static pop_error *load_json(void *context)
{
  json_text *text = context;
  json_error_t where;
  text->value = pop_json_load((const char *)text->bytes, text->size, &where);
  if (json_is_object(text->value)) return NULL;
  return text->value ? pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is JSON, but no object", text->path)
                     : pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is no JSON: line %d: %s",
                                     text->path, where.line, where.text);
}

/* The kind of profile; NULL if it is not one. */
static const char *key_of(const json_t *value)
{
  if (json_object_get(value, "profilerMode")) return "execution";
  return json_is_object(json_object_get(value, "target")) ? "graph" : NULL;
}

/* Removes source lines from code.json. Names of files stay. */
static void leave_source_out(json_t *code)
{
  json_t *files = json_object_get(code, "files"), *file;
  size_t i;
  json_array_foreach(files, i, file)
  {
    if (json_object_del(file, "parts") == 0)
      json_object_set_new(file, "missing", json_string("sources were left out (--no-source)"));
  }
}

/* Parses the file and writes it again, so that only valid JSON gets into the page. Without a key it
 * must be a profile. */
static pop_error *put_json(pieces *p, const char *path, const char *key)
{
  json_text text = {.path = path};
  POP_TRY(pop_file_read(path, MAX_JSON_BYTES, &text.bytes, &text.size));
  pop_error *error = pop_with_memory("reading a report", load_json, &text);
  free(text.bytes);
  if (!error && !key && !(key = key_of(text.value)))
    error = pop_error_new(POP_ERROR_FILE_LOAD,
                          "'%s' is neither a graph profile (graph.json) nor an execution profile "
                          "(execution.json); a page of a whole report is made of its folder",
                          path);
  if (!error) {
    if (p->without_source && strcmp(key, "code") == 0) leave_source_out(text.value);
    fprintf(p->stream, ",\"%s\":", key);
    if (json_dumpf(text.value, p->stream, JSON_COMPACT) != 0)
      error = pop_error_new(POP_ERROR_MEMORY, "'%s' cannot be written into the page", path);
  }
  json_decref(text.value);
  return error;
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
  if (!error && !p->has_code) {
    fputs(",\"code\":", p->stream);
    error = pop_executable_write_code(executable, !p->without_source, p->stream);
  }
  pop_profile_free(profile);
  pop_executable_free(executable);
  return error;
}

/* ---- folders ---- */

static char *path_in(const char *folder, const char *name)
{
  return pop_xasprintf("%s/%s", folder, name);
}

/* Is it the first file with its key? profile.pop has graph and execution already. */
static bool is_wanted(const pieces *p, size_t file)
{
  const char *key = known_files[file].key;
  if (!key || (strcmp(key, "graph") == 0 && p->has_graph) ||
      (strcmp(key, "execution") == 0 && p->has_execution))
    return false;
  return true;
}

/* A file that the system could not read may still be good. */
static bool is_damage(const pop_error *error)
{
  pop_error_code code = pop_error_get_code(error);
  return code != POP_ERROR_MEMORY && code != POP_ERROR_SYSTEM;
}

/* `error` is the file's, or NULL. Returns it if the file may be good. */
static pop_error *note_status(pieces *p, size_t file, pop_error *error)
{
  if (error && !is_damage(error)) return error;
  p->status[file] = error ? "damaged, or no such file" : "read";
  if (p->damage)
    pop_error_free(error);
  else
    p->damage = error;
  return NULL;
}

static pop_error *take_wanted(pieces *p, size_t file, const char *path)
{
  const char *key = known_files[file].key;
  pop_error *error = put_profile(p, path, key);
  if (!error && strcmp(key, "graph") == 0) p->has_graph = true;
  if (!error && strcmp(key, "execution") == 0) p->has_execution = true;
  if (!error && strcmp(key, "code") == 0) p->has_code = true;
  return note_status(p, file, error);
}

/* A damaged file does not keep the others from being shown. */
static pop_error *take_file(pieces *p, size_t file)
{
  char *path = path_in(p->folder, known_files[file].name);
  pop_error *error = NULL;
  struct stat s;
  if (stat(path, &s) == 0) {
    p->status[file] = "there, not needed for this page";
    if (is_wanted(p, file)) error = take_wanted(p, file, path);
  }
  free(path);
  return error;
}

static pop_error *put_folder(pieces *p)
{
  char *report = path_in(p->folder, known_files[REPORT_FILE].name),
       *archive = path_in(p->folder, known_files[ARCHIVE_FILE].name);
  pop_error *error = NULL;
  struct stat s;
  if (stat(report, &s) == 0) error = note_status(p, REPORT_FILE, put_report(p, report));
  for (size_t i = 1; i < NUM_KNOWN && !error; ++i) error = take_file(p, i);
  if (!error && !p->has_graph && !p->has_execution && stat(archive, &s) == 0) {
    error = put_archive(p, archive);
    p->status[ARCHIVE_FILE] = "read";
  }
  if (!error && !p->has_graph && !p->has_execution && p->damage) {
    error = p->damage;
    p->damage = NULL;
  }
  if (!error && !p->has_graph && !p->has_execution)
    error =
        pop_error_new(POP_ERROR_FILE_LOAD,
                      "there is no report in '%s': programs write profile.pop, graph.json and "
                      "execution.json into "
                      "autoReport.directory, with autoReport.all or autoReport.output...Profile",
                      p->folder);
  pop_error_free(p->damage);
  free(report);
  free(archive);
  return error;
}

/* ---- all ---- */

/* Does not wait for what is no regular file, such as a pipe: its reader then refuses it. */
static bool is_archive(const char *path)
{
  char magic[8];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  ssize_t got = read(fd, magic, sizeof magic);
  close(fd);
  return got == (ssize_t)sizeof magic && memcmp(magic, "!<arch>\n", sizeof magic) == 0;
}

static pop_error *put_file(pieces *p, const char *path)
{
  if (is_archive(path)) return put_archive(p, path);
  if (ends_with(path, ".json")) return put_json(p, path, NULL);
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
    put_string(p->stream, shown_path(path));
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

pop_error *report_pieces_write(const char *path, unsigned left_out, FILE *stream)
{
  struct stat s;
  pieces p = {.stream = stream, .without_source = left_out & POP_REPORT_WITHOUT_SOURCE};
  if (stat(path, &s) != 0)
    return pop_error_new(POP_ERROR_FILE_LOAD, "cannot open '%s': %s", path, strerror(errno));
  fputs("{\"name\":", stream);
  put_string(stream, shown_path(path));
  if (S_ISDIR(s.st_mode)) {
    char *report = path_in(path, known_files[REPORT_FILE].name);
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
