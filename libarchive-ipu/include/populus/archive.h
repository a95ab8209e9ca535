/* `ar` archives, GNU format: of tile images (`target.saveArchive`) and of codelet objects (`.gp`).
 *
 * The writer is deterministic (time, owner and group 0, mode 644) and streams. The reader reads
 * with pread, checks every header against the file, and never uses a member's name as a path.
 *
 * One thread at a time may use a writer. An open archive does not change: several threads may read
 * from it. */
#ifndef POPULUS_ARCHIVE_H
#define POPULUS_ARCHIVE_H

#include <populus/error.h>
#include <populus/file.h>
#include <populus/storage.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pop_archive_writer pop_archive_writer;
/* Creates the temporary file beside `path`; fails with SYSTEM naming the path (folder missing, not
 * writable, …). With path NULL the archive is built in memory (pop_archive_writer_take). The caller
 * ends the writer by commit, take or abort; after any error, by abort. */
POP_MUST_CHECK pop_error *pop_archive_writer_open(const char *path, pop_archive_writer **writer);
/* `name`: 1 to 15 printable ASCII characters without '/' (longer ones are refused), not "#1". It
 * need not be new. A member has at most 9,999,999,999 bytes. Long runs of zeros in large members
 * become holes of the file. Errors: INVALID_ARGUMENT for another name or size; SYSTEM; MEMORY. */
POP_MUST_CHECK pop_error *pop_archive_writer_add(pop_archive_writer *writer, const char *name,
                                                 const void *bytes, size_t size);
/* The same in parts, so that threads can make members while one of them writes.
 * pop_archive_begin_member appends room for a header to `members`, the caller appends the content,
 * pop_archive_end_member fills in the header. Any number of members follow one another; then all of
 * them go into the archive at once. Errors as above. */
POP_MUST_CHECK pop_error *pop_archive_begin_member(pop_bytes *members, size_t *start);
POP_MUST_CHECK pop_error *pop_archive_end_member(pop_bytes *members, size_t start,
                                                 const char *name);
POP_MUST_CHECK pop_error *pop_archive_writer_add_members(pop_archive_writer *writer,
                                                         const pop_bytes *members);
/* Gives the file its final name and frees the writer, also on failure: SYSTEM. */
POP_MUST_CHECK pop_error *pop_archive_writer_commit(pop_archive_writer *writer);
/* In-memory archives: hands the bytes over (caller frees) and frees the writer. */
void pop_archive_writer_take(pop_archive_writer *writer, uint8_t **bytes, size_t *size);
void pop_archive_writer_abort(pop_archive_writer *writer); /* NULL is fine */

typedef struct pop_archive_member {
  const char *name; /* without the format's trailing '/'; lives as long as the archive */
  uint64_t offset;  /* of the content in the file */
  uint64_t size;
} pop_archive_member;

typedef struct pop_archive pop_archive;
/* Opens and reads all member headers. Errors: FILE_LOAD: the file cannot be read, is not an archive
 * (says what the first bytes look like), a thin archive or truncated; a size is not a decimal
 * number or past the end; a name is past the name table or stored in BSD's way. SYSTEM or MEMORY as
 * for pop_file_read. */
POP_MUST_CHECK pop_error *pop_archive_open(const char *path, pop_archive **archive);
/* The same of a part of a file: `size` bytes from `offset` on; FILE_LOAD if these are not there.
 * `name` is for messages. */
POP_MUST_CHECK pop_error *pop_archive_open_part(const char *path, uint64_t offset, uint64_t size,
                                                const char *name, pop_archive **archive);
/* The same over memory, which must outlive the archive. */
POP_MUST_CHECK pop_error *pop_archive_open_memory(const void *bytes, size_t size, const char *name,
                                                  pop_archive **archive);
void pop_archive_close(pop_archive *archive);             /* NULL is fine */
const char *pop_archive_name(const pop_archive *archive); /* its path, or the name given */
/* Members in file order, index < number of members; the symbol index and the name table are not
 * members. */
size_t pop_archive_num_members(const pop_archive *archive);
const pop_archive_member *pop_archive_get_member(const pop_archive *archive, size_t index);
/* Content of a member: malloc'ed, never NULL, caller frees. INDEX, FILE_LOAD, MEMORY. */
POP_MUST_CHECK pop_error *pop_archive_read_member(const pop_archive *archive, size_t index,
                                                  uint8_t **bytes, size_t *size);
/* `size` bytes from `offset` of a member's content on. INDEX if there is no such member, or not so
 * many bytes; FILE_LOAD. */
POP_MUST_CHECK pop_error *pop_archive_read_part(const pop_archive *archive, size_t index,
                                                uint64_t offset, void *bytes, size_t size);

/* "tile-00042.elf". For a tile beyond 999,999, which no target has: "", which is no
 * member's name. */
void pop_archive_tile_name(uint32_t tile, char name[16]);
/* The tile number of a member's name; false if it is not such a name. Then *tile is unchanged. */
bool pop_archive_tile_number(const char *name, uint32_t *tile);

#ifdef __cplusplus
}
#endif
#endif
