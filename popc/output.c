/* Output other than a `.gp`: to a file, or to standard output for "-". */
#include "popc_internal.h"

#include <populus/file.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static pop_error *write_out(const char *bytes, size_t size)
{
  for (size_t done = 0; done < size;) {
    ssize_t n = write(STDOUT_FILENO, bytes + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return pop_error_errno(errno, "cannot write to standard output");
    done += (size_t)n;
  }
  return NULL;
}

bool popc_is_standard_output(const char *path)
{
  return !strcmp(path, "-");
}

pop_error *popc_write_file(const char *path, const void *bytes, size_t size)
{
  if (popc_is_standard_output(path)) return write_out(bytes, size);
  pop_output *output;
  POP_TRY(pop_output_open(path, &output));
  pop_error *error = pop_output_write(output, bytes, size);
  if (!error) return pop_output_commit(output);
  pop_output_abort(output);
  return error;
}

const char *popc_default_output(const popc_settings *settings, const char *extension)
{
  const char *input = settings->inputs[0].path, *slash = strrchr(input, '/');
  const char *file = slash ? slash + 1 : input, *dot = strrchr(file, '.');
  int stem = dot && dot > file ? (int)(dot - file) : (int)strlen(file);
  if (!extension) return pop_arena_printf(settings->arena, "%.*s", stem, file);
  return pop_arena_printf(settings->arena, "%.*s.%s", stem, file, extension);
}
