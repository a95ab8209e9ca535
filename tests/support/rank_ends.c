/* rank_ends: main returns while a thread of rank 0 waits for rank 1, which ends, too. */
#include "ranks/ranks.h"

#include <pthread.h>
#include <unistd.h>

static ranks *both;

static void *wait_in_thread(void *unused)
{
  uint32_t own = 0, all[2];
  pop_error_free(ranks_gather(both, "what rank 1 does not do", NULL, &own, sizeof own, all));
  for (;;) pause();
  return unused;
}

int main(void)
{
  pthread_t thread;
  if (ranks_open(&both) != NULL) return 1;
  if (ranks_own(both) == 1)
    usleep(300000);
  else if (pthread_create(&thread, NULL, wait_in_thread, NULL) == 0)
    usleep(100000);
  return 0;
}
