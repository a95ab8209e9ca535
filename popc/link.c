/* --link: an archive of tile images becomes a program or, with -c, an object and a header for a
 * user's program. Nothing is compiled.
 *
 * The program is a copy of popexec with the archive inside. popexec itself is asked whether it can
 * run the archive: what it would refuse later is refused now, in the same words.
 */
#include "popc_internal.h"

#include <populus/data_dir.h>
#include <populus/embed.h>
#include <populus/file.h>
#include <populus/same_file.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- popexec ---- */

static bool is_program(const char *path)
{
  return access(path, X_OK) == 0;
}

/* Beside popc. If only the library is used: where popexec was installed with the data. */
static pop_error *find_popexec(pop_arena *arena, const char **path)
{
  char self[PATH_MAX];
  if (pop_own_program_path(self, sizeof self)) {
    *strrchr(self, '/') = '\0';
    *path = pop_arena_printf(arena, "%s/popexec", self);
    if (is_program(*path)) return NULL;
  }
  *path = pop_arena_printf(arena, "%s/../../bin/popexec", pop_data_dir());
  if (is_program(*path)) return NULL;
  return pop_error_new(
      POP_ERROR_SYSTEM,
      "cannot find popexec, of which --link makes a copy: neither beside popc nor as "
      "'%s'",
      *path);
}

/* ---- asking it ---- */

/* The text from `fd`, at most one line. */
static void read_message(int fd, char *text, size_t size)
{
  size_t used = 0;
  char rest[512];
  for (;;) {
    bool full = used == size - 1;
    ssize_t n = read(fd, full ? rest : text + used, full ? sizeof rest : size - 1 - used);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (!full) used += (size_t)n;
  }
  text[used] = '\0';
  text[strcspn(text, "\n")] = '\0';
}

/* Starts popexec --list; its standard error can be read from *messages. */
static pop_error *start_list(const char *popexec, const char *archive, pid_t *child, int *messages)
{
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return pop_error_errno(errno, "cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  char *const command[] = {(char *)popexec, "--list", "--", (char *)archive, NULL};
  int failed = posix_spawn(child, popexec, &actions, NULL, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  *messages = ends[0];
  if (!failed) return NULL;
  close(ends[0]);
  return pop_error_errno(failed, "cannot run '%s'", popexec);
}

static pop_error *check_archive(const char *popexec, const char *archive)
{
  pid_t child;
  int messages, status;
  char text[1024];
  POP_TRY(start_list(popexec, archive, &child, &messages));
  read_message(messages, text, sizeof text);
  close(messages);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
  static const char prefix[] = "popexec: ";
  const char *message = strncmp(text, prefix, sizeof prefix - 1) ? text : text + sizeof prefix - 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    return pop_error_new(POP_ERROR_FILE_LOAD, "%s", message);
  return pop_error_new(POP_ERROR_SYSTEM, "popexec cannot list '%s': %s", archive,
                       *message ? message : "it was ended");
}

/* ---- names ---- */

static const char *last_part(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "folder/matvec-2.o" -> "pop_archive_matvec_2" */
static const char *symbol_of(pop_arena *arena, const char *output)
{
  const char *file = last_part(output), *dot = strrchr(file, '.');
  size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
  char *symbol = pop_arena_alloc(arena, sizeof "pop_archive_" + length);
  size_t at = (size_t)sprintf(symbol, "pop_archive_");
  for (size_t i = 0; i < length; ++i)
    symbol[at++] = isascii(file[i]) && isalnum((unsigned char)file[i]) ? file[i] : '_';
  symbol[at] = '\0';
  return symbol;
}

static const char *guard_of(pop_arena *arena, const char *symbol)
{
  char *guard = pop_arena_printf(arena, "%s_H", symbol);
  for (char *p = guard; *p; ++p) *p = (char)toupper((unsigned char)*p);
  return guard;
}

/* Beside the object: "folder/matvec.o" -> "folder/matvec.h" */
static const char *header_of(const popc_settings *settings)
{
  const char *output = settings->output, *file = last_part(output), *dot = strrchr(file, '.');
  int stem = dot && dot > file ? (int)(dot - output) : (int)strlen(output);
  return pop_arena_printf(settings->arena, "%.*s.h", stem, output);
}

static pop_error *write_header(const popc_settings *settings, const char *symbol)
{
  const char *guard = guard_of(settings->arena, symbol), *path = header_of(settings);
  const char *text = pop_arena_printf(
      settings->arena,
      "/* An archive of tile images, for pop_engine_create_from_memory: popc --link -c made %s\n"
      " * of %s. */\n"
      "#ifndef %s\n#define %s\n\n#include <stddef.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "extern const unsigned char *const %s;\nextern const size_t %s_size;\n\n"
      "#ifdef __cplusplus\n}\n#endif\n#endif\n",
      last_part(settings->output), last_part(settings->inputs[0].path), guard, guard, symbol,
      symbol);
  return popc_write_file(path, text, strlen(text));
}

/* ---- the command line ---- */

/* Refuses options for compilers, which would be ignored. */
static pop_error *check_settings(const popc_settings *settings)
{
  const char *idle = NULL;
  if (settings->num_clang) idle = settings->clang[0];
  if (settings->num_clang_tile) idle = settings->clang_tile[0];
  if (settings->targets_chosen) idle = "--target";
  if (settings->dependencies || settings->dependency_file || settings->dependency_targets)
    idle = "-MD";
  if (settings->save_temps) idle = "--save-temps";
  if (settings->language) idle = "-x";
  if (idle)
    return pop_error_new(POP_ERROR_USAGE, "--link compiles nothing: '%s' is of no use to it", idle);
  if (settings->num_inputs != 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "--link takes one archive of tile images, and not %zu files",
                         settings->num_inputs);
  if (!strcmp(settings->inputs[0].path, "-") || popc_is_standard_output(settings->output))
    return pop_error_new(POP_ERROR_USAGE, "--link takes a file and makes a file: '-' is none");
  if (settings->compile_only && pop_is_same_file(header_of(settings), settings->output))
    return pop_error_new(POP_ERROR_USAGE, "the header would be '%s', too: -o names the object",
                         settings->output);
  if (settings->compile_only && pop_is_same_file(header_of(settings), settings->inputs[0].path))
    return pop_error_new(POP_ERROR_USAGE, "the header would be the archive: -o names another");
  return NULL;
}

static pop_error *make(const popc_settings *settings, const char *popexec)
{
  const char *archive = settings->inputs[0].path;
  if (!settings->compile_only)
    return pop_embed_in_program(popexec, archive, pop_data_dir(), settings->output);
  const char *symbol = symbol_of(settings->arena, settings->output);
  POP_TRY(pop_embed_in_object(archive, symbol, settings->output));
  return write_header(settings, symbol);
}

pop_error *popc_link(const popc_settings *settings)
{
  const char *popexec, *archive = settings->inputs[0].path;
  POP_TRY(check_settings(settings));
  POP_TRY(find_popexec(settings->arena, &popexec));
  if (settings->verbose)
    dprintf(settings->diagnostics_fd, " '%s' '--list' '--' '%s'\n", popexec, archive);
  if (settings->dry_run) return NULL;
  POP_TRY(check_archive(popexec, archive));
  return make(settings, popexec);
}
