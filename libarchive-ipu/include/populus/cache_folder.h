/* A folder of what has been compiled before, which any number of processes use at the same time:
 *
 *   0123456789abcdef.a           executables (driver/executable_cache.c)
 *   native-1000/                 of user 1000, for nobody else to read or write: machine code
 *     0123…32 digits….o          native code of tile code (machine/native_file.c)
 *
 * Entries appear by rename, whole; whoever finds one sets its time; when all together are larger than
 * they may be, those go first that were used longest ago. An entry that goes while another process
 * reads it stays readable for that process, as it is open. */
#ifndef BASE_CACHE_FOLDER_H
#define BASE_CACHE_FOLDER_H

#include <populus/error.h>
#include <stdint.h>

/* The folder and those above it, as far as they are missing. SYSTEM, naming it. */
POP_MUST_CHECK pop_error *cache_folder_make(const char *folder);
/* "<folder>/native-<user>", to be freed. */
char *cache_folder_native(const char *folder);
/* The folder of native code and those above it; SYSTEM if there is something else of that name, or
 * a folder that others may use. */
POP_MUST_CHECK pop_error *cache_folder_make_native(const char *folder);
/* Machine code that somebody else could have put there must not run: the same error, before reading. */
POP_MUST_CHECK pop_error *cache_folder_check_native(const char *folder);

/* Executables: anybody may share a folder that its owner (or a group) writes. One that is not a folder, or in which
 * anybody may take the place of an entry, is refused; NULL if there is nothing of that name yet. */
POP_MUST_CHECK pop_error *cache_folder_check(const char *folder);
/* An entry must be a file that not everybody may write; where anybody may make files, as in /tmp, it must
 * also be the user's own, or root's. NULL if it is not there. */
POP_MUST_CHECK pop_error *cache_folder_check_entry(const char *folder, const char *path);

/* `path` has been used now. In a folder of others' its time stays as it is. */
void cache_folder_touch(const char *path);
/* Puts out the oldest entries until all have max_bytes at most (0: no limit). The newest stays whatever its size:
 * it has just been put in. */
void cache_folder_trim(const char *folder, uint64_t max_bytes);

#endif
