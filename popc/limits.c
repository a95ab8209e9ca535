/* Limits for the processes that popc starts, far above what a codelet needs: POPC_TIME_LIMIT in
 * seconds, POPC_MEMORY_LIMIT in MiB. */
#include "compile_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

rlim_t popc_limit_from(const char *variable, rlim_t otherwise)
{
  const char *text = secure_getenv(variable);
  char *end;
  unsigned long value = text ? strtoul(text, &end, 10) : 0;
  return text && *text && !*end && value > 0 && value < 1u << 30 ? (rlim_t)value : otherwise;
}

limits popc_get_limits(void)
{
  return (limits){popc_limit_from("POPC_TIME_LIMIT", 600),
                  popc_limit_from("POPC_MEMORY_LIMIT", 4096) * MIB};
}

void popc_limit(int resource, rlim_t value)
{
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) return;
  if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
  now.rlim_cur = value;
  setrlimit(resource, &now);
}

rlim_t popc_mapped_bytes(void)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}
