/* Files in and out. In: whole, by pread, into memory that we own (never mmap: a file that shrinks
 * would be SIGBUS). Out: under a temporary name in the same folder, every write checked, fsync,
 * rename; nothing partial is ever left under the final name. */
#ifndef POPULUS_FILE_H
#define POPULUS_FILE_H

#include <populus/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads all of `path` ("-" is not special). On success *bytes is malloc'ed (never NULL, one NUL
 * behind the end that *size does not count) and the caller frees it. Refuses folders and
 * anything else that is not a regular file, anything larger than max_bytes; does not hang on a FIFO
 * without a writer. Errors: FILE_LOAD, with the path and the system's reason; SYSTEM or MEMORY when
 * the process has no descriptor or memory left. */
POP_MUST_CHECK pop_error *pop_file_read(const char *path, size_t max_bytes, uint8_t **bytes,
                                        size_t *size);

/* The same for files that only this user can have written. A file that somebody other than the
 * effective user owns, or that group or others may write, is FILE_LOAD. */
POP_MUST_CHECK pop_error *pop_file_read_own(const char *path, size_t max_bytes, uint8_t **bytes,
                                            size_t *size);

/* An output file. Write-through for targets that are not regular files (/dev/stdout, a pipe). Links
 * are followed; a file that is replaced keeps its mode. Errors: SYSTEM with the path. */
typedef struct pop_output pop_output;
POP_MUST_CHECK pop_error *pop_output_open(const char *path, pop_output **output);
POP_MUST_CHECK pop_error *pop_output_write(pop_output *output, const void *bytes, size_t size);
/* Like a write of `size` zero bytes; leaves a hole in a regular file. */
POP_MUST_CHECK pop_error *pop_output_skip(pop_output *output, uint64_t size);
/* Like a write; long runs of zeros become holes of a regular file. It is not buffered: use it
 * for large writes. */
POP_MUST_CHECK pop_error *pop_output_write_sparse(pop_output *output, const void *bytes,
                                                  size_t size);
uint64_t pop_output_position(const pop_output *output);
/* fsync, rename to the final name, close. Frees the output, also on failure (then nothing is left). */
POP_MUST_CHECK pop_error *pop_output_commit(pop_output *output);
/* Removes the temporary file and frees. NULL is fine. */
void pop_output_abort(pop_output *output);

/* "a JPEG image", "an ELF file", "empty", …: what some first bytes look like, for messages about
 * files that are not what they should be. */
const char *pop_file_kind(const void *bytes, size_t size);

/* The program of this process. If /proc is not mounted, a relative name is taken as one of
 * the folder in which the process started. `path` gets its absolute name; false if it has
 * none that fits `size`. */
bool pop_own_program_path(char *path, size_t size);
/* A name under which it can be read. */
const char *pop_own_program_to_open(void);

/* Removes the temporary files of all open outputs: async-signal-safe, for a SIGINT handler. */
void pop_output_remove_all_temporaries(void);

#ifdef __cplusplus
}
#endif
#endif
