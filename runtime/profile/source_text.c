/* The text of source lines, from the files as they are now.
 *
 * A report may be about an archive from anyone, whose debug information may name any file of this
 * machine, and reports are passed on. So only files with the name of a source are read. Of these,
 * only the lines that code comes from, and a few around them, are in the report. */
#include "profile/source_text.h"
#include "base/shown_path.h"

#include <populus/arena.h>
#include <populus/file.h>
#include <populus/vertex_type.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_FILE_BYTES = 1 << 23,
  MAX_LINE_BYTES = 300,
  MAX_TEXT_BYTES = 1 << 21, /* of all files */
  LINES_BEFORE = 4,         /* what a function begins with */
  LINES_BEHIND = 2
};

size_t source_files_note(source_files *files, const pop_source_place *place)
{
  size_t at = 0;
  while (at < files->count && strcmp(files->items[at].file, place->file) != 0) ++at;
  if (at == files->count) {
    source_file added = {.name = pop_xstrdup(shown_path(place->path)),
                         .file = pop_xstrdup(place->file)};
    pop_push(files->items, files->count, files->capacity, added);
  }
  source_file *file = &files->items[at];
  pop_push(file->lines, file->num_lines, file->capacity, place->line);
  return at;
}

static int compare_lines(const void *left, const void *right)
{
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static bool is_called_source(const char *path)
{
  static const char *const ends[] = {".c",   ".cc",  ".cpp", ".cxx", ".h",   ".hh", ".hpp",
                                     ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".S",  ".s"};
  const char *dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; ++i)
    if (strcmp(dot, ends[i]) == 0) return true;
  return false;
}

typedef struct source_lines {
  char *text;      /* of the file, with a NUL after each line */
  uint32_t *begin; /* of each line in it */
  size_t count, capacity;
} source_lines;

static void split(source_lines *lines, char *text, size_t size)
{
  uint32_t begin = 0;
  lines->text = text;
  for (size_t i = 0; i <= size; ++i) {
    if (i < size && text[i] == '\0') text[i] = '?';
    if (i < size && text[i] != '\n') continue;
    if (i > begin && text[i - 1] == '\r') text[i - 1] = '\0';
    text[i] = '\0'; /* there is one behind the end */
    if (i == size && begin == size) break;
    pop_push(lines->begin, lines->count, lines->capacity, begin);
    begin = (uint32_t)i + 1;
  }
}

static size_t put_line(json_writer *json, char *text)
{
  size_t length = strlen(text);
  if (length > MAX_LINE_BYTES) {
    length = MAX_LINE_BYTES;
    strcpy(text + length - 3, "...");
  }
  json_put_string(json, NULL, text);
  return length;
}

static void put_parts(json_writer *json, const source_file *file, const source_lines *text,
                      size_t *room)
{
  uint32_t next = 1; /* the first line that is not written yet */
  bool is_open = false;
  json_begin_list(json, "parts");
  for (size_t i = 0; i < file->num_lines && *room; ++i) {
    uint32_t line = file->lines[i];
    if (line > text->count) break;
    uint32_t first = line > LINES_BEFORE ? line - LINES_BEFORE : 1;
    if (is_open && first > next) {
      json_end_list(json);
      is_open = false;
    }
    if (first < next) first = next;
    if (!is_open) {
      json_begin_list(json, NULL);
      json_put_number(json, NULL, first);
      is_open = true;
    }
    for (next = first; next <= line + LINES_BEHIND && next <= text->count && *room; ++next) {
      size_t length = put_line(json, text->text + text->begin[next - 1]) + 1;
      *room -= length < *room ? length : *room;
    }
  }
  if (is_open) json_end_list(json);
  json_end_list(json);
}

/* NULL: `lines` has the text. */
static const char *read_lines(const source_file *file, source_lines *lines)
{
  uint8_t *bytes;
  size_t size;
  if (strcmp(file->name, POP_VERTEX_ENTRIES_SOURCE) == 0)
    return "popc has made it: what enters the vertex and calls its compute()";
  if (!is_called_source(file->file)) return "its name is not that of a C, C++ or assembly source";
  pop_error *error = pop_file_read(file->file, MAX_FILE_BYTES, &bytes, &size);
  if (error) {
    pop_error_free(error);
    return "the file could not be read when the report was written";
  }
  split(lines, (char *)bytes, size);
  return file->lines[0] <= lines->count ? NULL : "the file has been changed: it has no such lines";
}

static void put_file(json_writer *json, source_file *file, bool with_text, size_t *room)
{
  source_lines lines = {0};
  qsort(file->lines, file->num_lines, sizeof *file->lines, compare_lines);
  const char *missing = !with_text ? "sources were left out (autoReport.includeSources)"
                        : !*room   ? "there is more source than a report holds"
                                   : read_lines(file, &lines);
  json_begin_object(json, NULL);
  json_put_string(json, "name", file->name);
  if (missing)
    json_put_string(json, "missing", missing);
  else
    put_parts(json, file, &lines, room);
  json_end_object(json);
  free(lines.text);
  free(lines.begin);
}

void source_files_write(source_files *files, bool with_text, json_writer *json, const char *key)
{
  size_t room = MAX_TEXT_BYTES;
  json_begin_list(json, key);
  for (size_t i = 0; i < files->count; ++i) put_file(json, &files->items[i], with_text, &room);
  json_end_list(json);
}

void source_files_free(source_files *files)
{
  for (size_t i = 0; i < files->count; ++i) {
    free(files->items[i].name);
    free(files->items[i].file);
    free(files->items[i].lines);
  }
  free(files->items);
}
