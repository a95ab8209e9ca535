/* The source lines that a report refers to. */
#ifndef PROFILE_SOURCE_TEXT_H
#define PROFILE_SOURCE_TEXT_H

#include "base/json.h"
#include <populus/link.h>

typedef struct source_file {
  char *name; /* as passed to the compiler; of an absolute path, the last two parts */
  char *file; /* where it is */
  uint32_t *lines;
  size_t num_lines, capacity; /* in any order, several times */
} source_file;

typedef struct source_files {
  source_file *items;
  size_t count, capacity;
} source_files;

/* Notes the place's line. Returns the number of its file. */
size_t source_files_note(source_files *files, const pop_source_place *place);
/* Writes the list `key`: {name, parts?: [first line, text, …], missing?: why}. With `with_text` it
 * has the noted lines and some around them, from C, C++ and assembly sources only, and not more
 * than a page can hold. */
void source_files_write(source_files *files, bool with_text, json_writer *json, const char *key);
void source_files_free(source_files *files);

#endif
