/* The compiler reads files: text from memory is put in one, in a new folder in TMPDIR. A #line
 * directive gives it the name that the caller gave it, in messages and in debug information, so that
 * neither depends on where the file is. */
#include "graph/source_file.h"

#include <errno.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `name` as the inside of a string literal. */
static char *quoted(const char *name)
{
  char *text = pop_xmalloc(4 * strlen(name) + 1), *out = text;
  for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
    if (*p == '"' || *p == '\\')
      out += sprintf(out, "\\%c", *p);
    else if (*p < 0x20)
      out += sprintf(out, "\\%03o", *p);
    else
      *out++ = (char)*p;
  }
  *out = '\0';
  return text;
}

static pop_error *write_source(const char *path, const char *text, const char *name)
{
  char *literal = quoted(name), *line = pop_xasprintf("#line 1 \"%s\"\n", literal);
  pop_output *output = NULL;
  pop_error *error = pop_output_open(path, &output);
  if (!error) error = pop_output_write(output, line, strlen(line));
  if (!error) error = pop_output_write(output, text, strlen(text));
  if (!error)
    error = pop_output_commit(output);
  else
    pop_output_abort(output);
  free(line);
  free(literal);
  return error;
}

pop_error *source_file_create(source_file *file, const char *text, const char *name,
                              const char *extension)
{
  const char *tmpdir = getenv("TMPDIR");
  if (!tmpdir || !*tmpdir) tmpdir = "/tmp";
  *file = (source_file){.folder = pop_xasprintf("%s/populus-XXXXXX", tmpdir)};
  if (!mkdtemp(file->folder)) {
    pop_error *error = pop_error_errno(
        errno, "cannot make a folder in %s for the source (TMPDIR names another place)", tmpdir);
    free(file->folder);
    file->folder = NULL;
    return error;
  }
  file->path = pop_xasprintf("%s/codelets%s", file->folder, extension);
  return write_source(file->path, text, name);
}

void source_file_remove(source_file *file)
{
  if (file->path) unlink(file->path);
  if (file->folder) rmdir(file->folder);
  free(file->path);
  free(file->folder);
  *file = (source_file){0};
}
