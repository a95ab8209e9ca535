/* rank_memory: rank 0 has no memory for what rank 1 sends, and makes a further call. Prints the
 * errors of both calls. */
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LARGE = 1 << 28, LITTLE = 1 << 26 };

/* What this process has mapped. */
static rlim_t mapped_bytes(void)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file || fscanf(file, "%lu", &pages) != 1) exit(1);
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static pop_error *pass_large(ranks *r)
{
  struct rlimit before, little;
  ranks_part sent[2] = {{0}}, received[2] = {{0}};
  getrlimit(RLIMIT_AS, &before);
  little = before;
  little.rlim_cur = mapped_bytes() + LITTLE;
  if (ranks_own(r) == 1)
    sent[0] = (ranks_part){.data = calloc(LARGE, 1), .bytes = LARGE};
  else
    setrlimit(RLIMIT_AS, &little);
  pop_error *error = ranks_exchange(r, "large", NULL, sent, received);
  setrlimit(RLIMIT_AS, &before);
  free(sent[0].data);
  return error;
}

static int report(pop_error *error)
{
  int status = pop_error_exit_status(error);
  if (error) fprintf(stderr, "error: %s\n", pop_error_message(error));
  pop_error_free(error);
  return status;
}

int main(void)
{
  ranks *r;
  uint32_t all[2] = {0};
  if (report(ranks_open(&r)) != 0) return 1;
  const uint32_t own = ranks_own(r);
  (void)report(pass_large(r));
  int status = report(ranks_gather(r, "further", NULL, &own, sizeof own, all));
  ranks_close(r);
  return status;
}
