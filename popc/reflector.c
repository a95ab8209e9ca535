/* popc-reflect: the program that popc starts to read a source with libclang.
 *
 *   popc-reflect path {--job target descriptor arguments}...  <source
 *
 * For each job it writes the source and then the entries of the vertices to the pipe that is the
 * input of that job's clang. clang starts at the same time and loads itself meanwhile, which is
 * more than half of its time for a small source. libclang is loaded only here, and once for all
 * targets; that saves as much again.
 *
 * A source that libclang does not accept goes to clang unchanged, and clang reports the errors.
 *
 * Exit status: 0 done; STATUS_AT_FAULT, a vertex is at fault, and standard error says how;
 * STATUS_NOT_PARSED, libclang found errors, which standard error names.
 */
#include "compile_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes to a pipe. If the reader has gone, the parent reports how that process ended. */
static void write_all(int fd, const pop_bytes *bytes)
{
  for (size_t done = 0; done < bytes->size;) {
    ssize_t n = write(fd, bytes->data + done, bytes->size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += (size_t)n;
  }
}

static bool read_all(int fd, pop_bytes *bytes)
{
  static char buffer[1 << 16];
  for (;;) {
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    pop_bytes_append(bytes, buffer, (size_t)n);
  }
}

/* The job's words: target, descriptor, clang's arguments. */
static int reflect_job(const char *path, const pop_bytes *text, char **words, size_t count)
{
  popc_source source = {.path = path, .text = text->data, .size = text->size};
  popc_target target = (popc_target)atoi(words[0]);
  int input = atoi(words[1]);
  pop_bytes out = {0};
  popc_reflection result =
      popc_reflect(&source, target, (const char *const *)words + 2, count - 2, &out);
  if (result != POPC_REFLECTED) write_all(STDERR_FILENO, &out);
  if (result != POPC_VERTEX_AT_FAULT) write_all(input, text);
  if (result == POPC_REFLECTED) write_all(input, &out);
  close(input);
  pop_bytes_free(&out);
  static const int statuses[] = {[POPC_REFLECTED] = 0,
                                 [POPC_NOT_PARSED] = STATUS_NOT_PARSED,
                                 [POPC_VERTEX_AT_FAULT] = STATUS_AT_FAULT};
  return statuses[result];
}

static int reflect(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN);
  limits limits = popc_get_limits();
  popc_limit(RLIMIT_AS, popc_mapped_bytes() + limits.memory_bytes);
  pop_bytes text = {0};
  if (argc < 2 || !read_all(STDIN_FILENO, &text)) return STATUS_NO_CLANG;
  int status = 0;
  for (int i = 2; i < argc && status != STATUS_AT_FAULT;) {
    int end = ++i;
    while (end < argc && strcmp(argv[end], POPC_JOB_WORD) != 0) ++end;
    if (end - i < 2) return STATUS_NO_CLANG;
    int job_status = reflect_job(argv[1], &text, argv + i, (size_t)(end - i));
    if (job_status) status = job_status;
    i = end;
  }
  pop_bytes_free(&text);
  return status;
}

/* AddressSanitizer calls it, if present. What libclang keeps until the process ends is no leak of
 * ours, and the search for leaks would exceed the memory limit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "detect_leaks=0";
}

/* The process ends without freeing that, which would only take time. */
int main(int argc, char **argv)
{
  /* Otherwise libclang reads each source in a new thread, whose memory grows page by page. */
  setenv("LIBCLANG_NOTHREADS", "1", true);
  _exit(reflect(argc, argv));
}
