/* Reads a source. Its bytes are read once; all later steps use these. */
#include "compile_internal.h"

#include <populus/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SOURCE_BYTES ((size_t)64 << 20)
#define STANDARD_INPUT "<stdin>"

static pop_error *read_standard_input(popc_source *source)
{
  pop_bytes text = {0};
  char buffer[65536];
  for (;;) {
    ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      pop_bytes_free(&text);
      return pop_error_errno(errno, "cannot read standard input");
    }
    if (n == 0) break;
    if (text.size + (size_t)n > MAX_SOURCE_BYTES) {
      pop_bytes_free(&text);
      return pop_error_new(POP_ERROR_FILE_LOAD, "standard input is longer than %zu MiB",
                           MAX_SOURCE_BYTES >> 20);
    }
    pop_bytes_append(&text, buffer, (size_t)n);
  }
  pop_bytes_append(&text, "", 1);
  source->path = STANDARD_INPUT;
  source->is_stream = true;
  source->text = text.data;
  source->size = text.size - 1;
  return NULL;
}

static pop_error *find_language(const popc_input *input, popc_language *language)
{
  if (input->language) {
    popc_language_named(input->language, language); /* checked with the option */
    return NULL;
  }
  if (!strcmp(input->path, "-"))
    return pop_error_new(POP_ERROR_USAGE,
                         "say which language standard input is in: -x c, -x c++, …");
  struct stat status;
  bool is_file = stat(input->path, &status) == 0 && S_ISREG(status.st_mode);
  if (!popc_language_of(input->path, language) && is_file)
    return pop_error_new(POP_ERROR_USAGE,
                         "'%s' is no input for popc: it takes .c, .cpp, .cc, .cxx, .S, .s, .ll, "
                         ".bc and .gp files; -x names the language of others",
                         input->path);
  return NULL; /* reading it reports what is not a file */
}

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

/* The compiler reads a stream. The stream's first line names the source. A byte order mark is none
 * behind another line. */
static void name_in_text(popc_source *source)
{
  static const char mark[] = "\xef\xbb\xbf";
  size_t marked = source->size >= sizeof mark - 1 && !memcmp(source->text, mark, sizeof mark - 1)
                      ? sizeof mark - 1
                      : 0;
  pop_bytes text = {0};
  char *name = quoted(source->path), *line = pop_xasprintf("# 1 \"%s\"\n", name);
  free(name);
  pop_bytes_append(&text, line, strlen(line));
  pop_bytes_append(&text, source->text + marked, source->size + 1 - marked);
  free(line);
  free((void *)source->text);
  source->text = text.data;
  source->size = text.size - 1;
}

static pop_error *take_text(const popc_input *input, popc_source *source)
{
  const popc_text *text = input->text;
  if (!text->language || !popc_language_named(text->language, &source->language) ||
      source->language == POPC_GP_FILE)
    return pop_error_new(POP_ERROR_USAGE,
                         "'%s' is no language of a source in memory: there are c, "
                         "c++, assembler, assembler-with-cpp and ir",
                         text->language ? text->language : "NULL");
  pop_bytes copy = {0};
  if (text->size) pop_bytes_append(&copy, text->text, text->size);
  pop_bytes_append(&copy, "", 1);
  source->text = copy.data;
  source->size = text->size;
  source->is_stream = true;
  name_in_text(source);
  return NULL;
}

bool popc_descriptors_have_names(void)
{
  return access("/proc/self/fd", X_OK) == 0;
}

/* Without /proc, -remap-file cannot put our text in the file's place (launch.c). */
static void treat_as_stream(popc_source *source)
{
  const char *slash = strrchr(source->path, '/');
  source->folder =
      slash ? pop_xasprintf("%.*s/", (int)(slash - source->path), source->path) : pop_xstrdup(".");
  name_in_text(source);
}

pop_error *popc_read_source(const popc_input *input, popc_source *source)
{
  *source = (popc_source){.path = input->path};
  if (input->text) return take_text(input, source);
  POP_TRY(find_language(input, &source->language));
  if (!strcmp(input->path, "-")) {
    POP_TRY(read_standard_input(source));
  } else {
    uint8_t *text;
    POP_TRY(pop_file_read(input->path, MAX_SOURCE_BYTES, &text, &source->size));
    source->text = text;
  }
  if (source->language == POPC_ASSEMBLER) name_in_text(source);
  if (popc_is_read_by_name(source) && !popc_descriptors_have_names()) treat_as_stream(source);
  return NULL;
}

void popc_source_free(popc_source *source)
{
  free((void *)source->text);
  free(source->folder);
}
