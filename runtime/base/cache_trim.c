#include "base/cache_trim.h"

#include "base/log.h"
#include <populus/cache_folder.h>

static void say_removed(const char *what, const char *path, uint64_t max_bytes)
{
  log_write(LOG_INFO, "ENGINE", "Removed cached %s %s: the cache may have %llu bytes", what, path,
            (unsigned long long)max_bytes);
}

void cache_trim(const char *folder, uint64_t max_bytes)
{
  pop_cache_folder_trim(folder, max_bytes, say_removed);
}
