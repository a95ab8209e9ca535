/* Archives inside ELF files of the host: what `popc --link` makes.
 *
 *   program: a copy of popexec | archive, as section .populus.archive | section headers
 *   object:  .rodata with the archive | .data.rel.ro with a pointer to it and its size | symbols
 *
 * Neither needs a compiler or a linker. The section of a program is in none of its segments. So
 * nothing maps it, and the program reads what it needs of its own file by pread. The section has a
 * header like any other, so GNU strip and objcopy keep it, wherever they move it. (llvm-strip and
 * eu-strip remove it unless they get --keep-section; the program then says so.)
 */
#ifndef POPULUS_EMBED_H
#define POPULUS_EMBED_H

#include <populus/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POP_EMBED_ARCHIVE_SECTION ".populus.archive"
#define POP_EMBED_RECORD_SECTION ".populus.embed"
#define POP_EMBED_MAGIC "populus embed 1"
enum { POP_EMBED_DATA_DIR_BYTES = 1008 };

/* A program that can take an archive has one such record, alone in POP_EMBED_RECORD_SECTION. */
typedef struct pop_embed_record {
  char magic[16]; /* POP_EMBED_MAGIC */
  uint8_t has_archive;
  char data_dir[POP_EMBED_DATA_DIR_BYTES - 1]; /* of the Populus that it was made with, or "" */
} pop_embed_record;

/* Writes to `output` a copy of `program`, which has a pop_embed_record, with the archive in it.
 * `data_dir` goes into the record if it fits there. Everybody who may read the copy may execute it.
 * If `program` looks for shared libraries relative to its own place, the copy looks in the same
 * folders. The content of the archive is not checked.
 *
 * Errors: SYSTEM: `program` is not one that can take an archive, or has one already; there is no
 * file `archive`; the output cannot be written. FILE_LOAD: `program` or `archive` cannot be read,
 * or `archive` changes meanwhile. */
POP_MUST_CHECK pop_error *pop_embed_in_program(const char *program, const char *archive,
                                               const char *data_dir, const char *output);

/* Writes to `output` an object for the host's linker with two constants,
 *
 *   const unsigned char *const <symbol>; const size_t <symbol>_size;
 *
 * which any code of the program can name, wherever the linker puts an archive of gigabytes.
 * `symbol` is a C identifier, which is not checked. Errors as above for `archive` and `output`;
 * FILE_LOAD for more than 2 GiB on AArch64, whose code does not reach across more. */
POP_MUST_CHECK pop_error *pop_embed_in_object(const char *archive, const char *symbol,
                                              const char *output);

/* Where in the file of a program its archive is. If it has none, *found is false, and *offset and
 * *size mean nothing. Errors: FILE_LOAD: it cannot be read, or is no program of this host, or is
 * damaged. */
POP_MUST_CHECK pop_error *pop_embed_find(const char *program, bool *found, uint64_t *offset,
                                         uint64_t *size);

#ifdef __cplusplus
}
#endif
#endif
