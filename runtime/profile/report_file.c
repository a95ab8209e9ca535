#include "profile/report_file.h"

#include <errno.h>
#include <populus/file.h>

typedef struct report_file {
  pop_output *output;
  pop_error *error; /* the first */
} report_file;

static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
  report_file *file = cookie;
  if (!file->error) file->error = pop_output_write(file->output, bytes, size);
  return file->error ? 0 : (ssize_t)size;
}

static pop_error *write_all(report_file *file, const char *path,
                            pop_error *(*write)(FILE *stream, const void *context),
                            const void *context)
{
  FILE *stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_bytes});
  if (!stream) return pop_error_errno(errno, "cannot write '%s'", path);
  pop_error *error = write(stream, context);
  if (fclose(stream) != 0 && !error && !file->error)
    error = pop_error_errno(errno, "cannot write '%s'", path);
  if (!error) return file->error;
  pop_error_free(file->error);
  return error;
}

pop_error *report_file_write(const char *path,
                             pop_error *(*write)(FILE *stream, const void *context),
                             const void *context)
{
  report_file file = {0};
  POP_TRY(pop_output_open(path, &file.output));
  pop_error *error = write_all(&file, path, write, context);
  if (!error) return pop_output_commit(file.output);
  pop_output_abort(file.output);
  return error;
}
