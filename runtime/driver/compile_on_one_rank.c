/* compile_on_one_rank.h. An executable that is too large for its tiles has no archive that could be
 * loaded, so it is not sent: each rank compiles it itself. */
#include "driver/compile_on_one_rank.h"

#include "base/log.h"
#include <errno.h>
#include <inttypes.h>
#include <populus/executable.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct source_hash {
  uint64_t words[2];
} source_hash;

static pop_error *check_same(ranks *r, const uint64_t source[2])
{
  uint32_t count = ranks_count(r);
  source_hash mine = {{source[0], source[1]}}, *all = pop_xcalloc(count, sizeof *all);
  pop_error *error = ranks_gather(r, "the compilation of a graph", NULL, &mine, sizeof mine, all);
  for (uint32_t i = 1; i < count && !error; i++) {
    if (all[i].words[0] == all[0].words[0] && all[i].words[1] == all[0].words[1]) continue;
    char first[128], other[128];
    ranks_say(r, 0, first, sizeof first);
    ranks_say(r, i, other, sizeof other);
    error = pop_error_new(POP_ERROR_RUNTIME,
                          "%s has made another graph than %s, or has other options: their hashes "
                          "are %016" PRIx64 " and %016" PRIx64
                          "; all instances have to make the same graph",
                          other, first, all[i].words[0], all[0].words[0]);
  }
  free(all);
  return error;
}

/* *bytes is NULL if it has no archive. */
static pop_error *archive_of(const pop_executable *e, char **bytes, size_t *size)
{
  *bytes = NULL;
  *size = 0;
  if (e->out_of_memory) return NULL;
  FILE *stream = open_memstream(bytes, size);
  if (!stream) return pop_error_errno(errno, "no memory for an archive");
  pop_error *error = pop_executable_write(e, stream);
  bool written = fclose(stream) == 0;
  return error || written ? error : pop_error_errno(ENOMEM, "no memory for an archive");
}

static pop_error *send(ranks *r, pop_error *error, pop_executable *e)
{
  char *bytes = NULL;
  size_t size = 0;
  if (!error) error = archive_of(e, &bytes, &size);
  uint64_t told = size;
  error = ranks_broadcast(r, "a compiled graph", error, 0, &told, sizeof told);
  if (!error && size) error = ranks_broadcast(r, "its archive", NULL, 0, bytes, size);
  free(bytes);
  return error;
}

static pop_error *receive(ranks *r, pop_executable **executable)
{
  uint64_t size = 0;
  POP_TRY(ranks_broadcast(r, "a compiled graph", NULL, 0, &size, sizeof size));
  if (size == 0) return NULL;
  uint8_t *bytes = malloc(size);
  pop_error *error = NULL;
  if (!bytes)
    error = pop_error_new(POP_ERROR_MEMORY, "no memory for an archive of %" PRIu64 " bytes", size);
  error = ranks_broadcast(r, "its archive", error, 0, bytes, size);
  if (!error)
    error = pop_executable_load_memory(bytes, size, "what instance 0 has compiled", executable);
  if (error)
    free(bytes);
  else
    (*executable)->owned_archive = bytes;
  return error;
}

pop_error *compile_on_one_rank(ranks *r, const uint64_t source[2], compile_call compile,
                               void *context, pop_executable **executable)
{
  *executable = NULL;
  if (ranks_count(r) == 1) return compile(context, executable);
  pop_error *error = check_same(r, source);
  ranks_set_no_timeout(r, true); /* a large graph may take longer than anything else */
  if (!error && ranks_own(r) == 0) {
    error = compile(context, executable);
    error = send(r, error, *executable);
  } else if (!error) {
    log_write(LOG_INFO, "ENGINE", "Instance 0 compiles (Hash 0x%016" PRIx64 ")", source[0]);
    error = receive(r, executable);
    if (!error && !*executable) error = compile(context, executable);
  }
  ranks_set_no_timeout(r, false);
  if (error) {
    pop_executable_free(*executable);
    *executable = NULL;
  }
  return error;
}
