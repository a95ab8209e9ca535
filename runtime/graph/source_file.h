/* Source text from memory as a file for the compiler. */
#ifndef GRAPH_SOURCE_FILE_H
#define GRAPH_SOURCE_FILE_H

#include <populus/error.h>

typedef struct source_file {
  char *folder, *path; /* NULL: not there */
} source_file;

/* Writes `text` to a file with `extension` (".c") in a folder of its own; messages about it name
 * `name`. Remove it also after an error. */
POP_MUST_CHECK pop_error *source_file_create(source_file *file, const char *text, const char *name,
                                             const char *extension);
void source_file_remove(source_file *file);

#endif
