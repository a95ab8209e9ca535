/* Keeps the cache folder (populus/cache_folder.h) small, and logs what it removes. */
#ifndef BASE_CACHE_TRIM_H
#define BASE_CACHE_TRIM_H

#include <stdint.h>

/* pop_cache_folder_trim, and a line for each entry that it removes. */
void cache_trim(const char *folder, uint64_t max_bytes);

#endif
