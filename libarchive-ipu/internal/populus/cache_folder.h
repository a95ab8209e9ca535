/* A cache folder for results of compilations, which any number of processes use at the same time:
 *
 *   0123456789abcdef.a           executables (runtime/driver/executable_cache.c)
 *   native-1000/                 of user 1000, for nobody else to read or write: machine code
 *     0123…32 digits….o          native code of tile code (runtime/machine/native_file.c)
 *     0123…32 digits….codelet    what a codelet source was compiled to (popc/cache.c)
 *
 * Entries appear whole, by rename. A process that finds an entry sets its time. If all entries
 * together exceed the limit, those that were used longest ago are removed first. An entry that is
 * removed while another process reads it stays readable for that process, as it is open. */
#ifndef POPULUS_CACHE_FOLDER_H
#define POPULUS_CACHE_FOLDER_H

#include <populus/archive.h>
#include <populus/error.h>
#include <populus/file.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The folder and those above it, as far as they are missing. SYSTEM, naming it. */
POP_MUST_CHECK pop_error *pop_cache_folder_make(const char *folder);
/* "<folder>/native-<user>", to be freed. */
char *pop_cache_folder_native(const char *folder);
/* The folder of native code and those above it; SYSTEM if there is something else of that name, or
 * a folder that others may use. */
POP_MUST_CHECK pop_error *pop_cache_folder_make_native(const char *folder);
/* The same error, before reading: machine code that somebody else could have put there
 * must not run. */
POP_MUST_CHECK pop_error *pop_cache_folder_check_native(const char *folder);

/* Executables: anybody may share a folder that its owner (or a group) writes. Refused are a file
 * that is not a folder, and a folder in which anybody may replace an entry. NULL if there is
 * nothing of that name yet. */
POP_MUST_CHECK pop_error *pop_cache_folder_check(const char *folder);
/* An entry must be a file that not everybody may write; where anybody may make files, as in /tmp, it must
 * also be the user's own, or root's. NULL if it is not there. */
POP_MUST_CHECK pop_error *pop_cache_folder_check_entry(const char *folder, const char *path);

/* An entry to be written. Unlike pop_output_open it replaces whatever has the name, even a link: in
 * a shared folder somebody else may have made it, to any file of this user's. */
POP_MUST_CHECK pop_error *pop_cache_entry_open(const char *path, pop_output **output);
/* The same for one that only this user may read and write, whatever the umask. */
POP_MUST_CHECK pop_error *pop_cache_entry_open_own(const char *path, pop_output **output);
/* The same as an archive. */
POP_MUST_CHECK pop_error *pop_cache_entry_open_archive(const char *path,
                                                       pop_archive_writer **writer);

/* Sets the time of `path` to now, as it has been used. In a folder of other users its time
 * stays as it is. */
void pop_cache_folder_touch(const char *path);
/* Called for an entry that was removed: what it was ("executable"), where, and the limit that
 * was the reason. */
typedef void pop_cache_removed(const char *what, const char *path, uint64_t max_bytes);
/* Removes the oldest entries until all together have max_bytes at most (0: no limit). The newest
 * stays whatever its size, as it has just been added. `removed` may be NULL. */
void pop_cache_folder_trim(const char *folder, uint64_t max_bytes, pop_cache_removed *removed);

#ifdef __cplusplus
}
#endif
#endif
