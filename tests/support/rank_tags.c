/* rank_tags N: opens and closes N communicators of two ranks. While a call of the first one waits in
 * a thread, messages of the last ones reach those for whom they are, whatever the tag. */
#include "ranks/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAST_ONES = 16 };

static ranks *first;

static void ok(pop_error *error)
{
  if (!error) return;
  fprintf(stderr, "error: %s\n", pop_error_message(error));
  exit(pop_error_exit_status(error));
}

static void gather(ranks *r, const char *label)
{
  uint32_t own = ranks_own(r), all[2] = {9, 9};
  ok(ranks_gather(r, label, NULL, &own, sizeof own, all));
  if (all[0] == 0 && all[1] == 1) return;
  fprintf(stderr, "%s: %u %u\n", label, all[0], all[1]);
  exit(1);
}

/* Rank 1 comes when it has made the other calls. */
static void *wait_in_thread(void *unused)
{
  gather(first, "the long call");
  return unused;
}

int main(int argc, char **argv)
{
  pthread_t thread = 0;
  unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  ok(ranks_open(&first));
  if (ranks_own(first) == 0 && pthread_create(&thread, NULL, wait_in_thread, NULL) != 0) return 1;
  for (unsigned long i = 0; i < count; i++) {
    ranks *r;
    ok(ranks_open(&r));
    if (i + LAST_ONES >= count) {
      if (ranks_own(r) == 0) usleep(50000); /* the message is there before its receiver */
      gather(r, "a short call");
    }
    ranks_close(r);
  }
  if (ranks_own(first) == 0)
    pthread_join(thread, NULL);
  else
    gather(first, "the long call");
  ranks_close(first);
  return 0;
}
