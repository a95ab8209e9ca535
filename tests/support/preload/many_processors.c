/* A library for LD_PRELOAD: the process may use 128 processors, however many there are (D09). */
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSORS = 128 };

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
  (void)pid;
  memset(set, 0, size);
  for (int i = 0; i < PROCESSORS; i++) CPU_SET_S(i, size, set);
  return 0;
}
