#include "profile/report_file.h"

#include <errno.h>
#include <populus/file.h>

/* Where a stream's bytes go: to a file or to memory. */
typedef struct report_sink {
  pop_output *output; /* NULL: to `text` */
  pop_bytes *text;
  uint64_t room;    /* bytes that may still come */
  bool too_large;   /* more came */
  pop_error *error; /* the first */
} report_sink;

static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
  report_sink *sink = cookie;
  if (size > sink->room) sink->too_large = true;
  if (sink->too_large || sink->error) return 0;
  sink->room -= size;
  if (sink->output)
    sink->error = pop_output_write(sink->output, bytes, size);
  else
    pop_bytes_append(sink->text, bytes, size);
  return sink->error ? 0 : (ssize_t)size;
}

/* A report that is too large is not an error, although `write` sees a stream that fails. */
static pop_error *write_all(report_sink *sink, const char *name,
                            pop_error *(*write)(FILE *stream, const void *context),
                            const void *context)
{
  FILE *stream = fopencookie(sink, "w", (cookie_io_functions_t){.write = write_bytes});
  if (!stream) return pop_error_errno(errno, "cannot write '%s'", name);
  pop_error *error = write(stream, context);
  if (fclose(stream) != 0 && !error && !sink->error)
    error = pop_error_errno(errno, "cannot write '%s'", name);
  if (sink->too_large) {
    pop_error_free(error);
    error = NULL;
  }
  if (!sink->error) return error;
  pop_error_free(error); /* only reports that the stream failed */
  return sink->error;
}

pop_error *report_file_write_at_most(const char *path, uint64_t max_bytes,
                                     pop_error *(*write)(FILE *stream, const void *context),
                                     const void *context, bool *too_large)
{
  report_sink sink = {.room = max_bytes};
  *too_large = false;
  POP_TRY(pop_output_open(path, &sink.output));
  pop_error *error = write_all(&sink, path, write, context);
  *too_large = sink.too_large;
  if (!error && !sink.too_large) return pop_output_commit(sink.output);
  pop_output_abort(sink.output);
  return error;
}

pop_error *report_file_write(const char *path,
                             pop_error *(*write)(FILE *stream, const void *context),
                             const void *context)
{
  bool too_large;
  return report_file_write_at_most(path, UINT64_MAX, write, context, &too_large);
}

pop_error *report_text_write(uint64_t max_bytes,
                             pop_error *(*write)(FILE *stream, const void *context),
                             const void *context, pop_bytes *text, bool *too_large)
{
  report_sink sink = {.text = text, .room = max_bytes};
  pop_error *error = write_all(&sink, "a report", write, context);
  *too_large = sink.too_large;
  return error;
}
