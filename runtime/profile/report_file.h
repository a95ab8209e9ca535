/* Reports that appear only when they are complete. */
#ifndef PROFILE_REPORT_FILE_H
#define PROFILE_REPORT_FILE_H

#include <populus/arena.h>
#include <populus/error.h>
#include <stdint.h>
#include <stdio.h>

/* Calls `write` with a stream for the file. If `write` and all output succeed, the file is
 * replaced; otherwise it stays as it was. Errors: those of `write`; SYSTEM with the path. */
POP_MUST_CHECK pop_error *report_file_write(const char *path,
                                            pop_error *(*write)(FILE *stream, const void *context),
                                            const void *context);
/* The same with a limit. A report of more than `max_bytes` sets *too_large and writes no file; that
 * is not an error. */
POP_MUST_CHECK pop_error *report_file_write_at_most(const char *path, uint64_t max_bytes,
                                                    pop_error *(*write)(FILE *stream,
                                                                        const void *context),
                                                    const void *context, bool *too_large);
/* The same to memory. Appends to `text`, which may have a part of the report after a failure. */
POP_MUST_CHECK pop_error *report_text_write(uint64_t max_bytes,
                                            pop_error *(*write)(FILE *stream, const void *context),
                                            const void *context, pop_bytes *text, bool *too_large);

#endif
