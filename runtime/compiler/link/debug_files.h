/* Files with debug information, as members of the archive: debug_files.c. */
#ifndef COMPILER_LINK_DEBUG_FILES_H
#define COMPILER_LINK_DEBUG_FILES_H

#include "compiler/compilation.h"

typedef struct debug_files debug_files;

/* Finds out which tiles share a file, and makes each file once for its checksum. Without debug
 * information there are 0 files, and next to no work. Errors: those of
 * pop_live_sections_debug_file. */
POP_MUST_CHECK pop_error *debug_files_new(const compilation *c, debug_files **files);
void debug_files_free(debug_files *files); /* NULL is fine */
uint32_t debug_files_count(const debug_files *files);
/* "code-00042.dbg" */
void debug_files_name(uint32_t index, char name[24]);
/* Appends the file to `elf`. */
POP_MUST_CHECK pop_error *debug_files_make(const debug_files *files, uint32_t index,
                                           pop_bytes *elf);
/* Puts name and checksum of the tile's file into its image, if there is one. */
void debug_files_link(const debug_files *files, uint32_t tile, pop_image *image);

#endif
