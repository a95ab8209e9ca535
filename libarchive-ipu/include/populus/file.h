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
 * behind the end that *size does not count) and the caller frees it. Refuses folders and anything
 * else that is not a regular file, and anything larger than max_bytes. Does not hang on a FIFO
 * without a writer. Errors: FILE_LOAD, with the path and the system's reason; SYSTEM when the
 * process or the system has no descriptor left; MEMORY. */
POP_MUST_CHECK pop_error *pop_file_read(const char *path, size_t max_bytes, uint8_t **bytes,
                                        size_t *size);

/* The same for files that only this user can have written. A file that somebody other than the
 * effective user owns, or that group or others may write, is FILE_LOAD. */
POP_MUST_CHECK pop_error *pop_file_read_own(const char *path, size_t max_bytes, uint8_t **bytes,
                                            size_t *size);

/* An output file. What is not a regular file (a pipe, a device) is written directly, and so are
 * /dev/stdout, /dev/stderr and /dev/fd/N. Links are followed; a file that is replaced keeps its
 * mode. A process may have 256 outputs open. One thread at a time per output. Errors: SYSTEM with
 * the path. */
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
/* fsync, rename to the final name, close. Frees the output, also on failure; then nothing is left
 * of it, except what was written directly. */
POP_MUST_CHECK pop_error *pop_output_commit(pop_output *output);
/* Removes the temporary file and frees. NULL is fine. */
void pop_output_abort(pop_output *output);

/* "a JPEG image", "an ELF file", "empty", …: what some first bytes look like, for messages about
 * files that are not what they should be. */
const char *pop_file_kind(const void *bytes, size_t size);

/* The program of this process. `path` gets its absolute name; false if it has none, or none that
 * fits `size`. If /proc is not mounted, the name by which the program was started is used; a
 * relative one counts from the current folder, so it is right only until that is changed. */
bool pop_own_program_path(char *path, size_t size);
/* A name under which it can be opened for reading: /proc/self/exe or, without /proc, as above. */
const char *pop_own_program_to_open(void);

/* Removes the temporary files of all open outputs: async-signal-safe, for a SIGINT handler. */
void pop_output_remove_all_temporaries(void);

#ifdef __cplusplus
}
#endif
#endif
