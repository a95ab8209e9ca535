/* Reports, written to a stream, that are there when they are whole. */
#ifndef PROFILE_REPORT_FILE_H
#define PROFILE_REPORT_FILE_H

#include <populus/arena.h>
#include <populus/error.h>
#include <stdint.h>
#include <stdio.h>

/* Calls `write` with a stream for the file; if it and all writing succeed the file is there, otherwise
 * what was there before stays. Errors: those of `write`; SYSTEM with the path. */
POP_MUST_CHECK pop_error *report_file_write(const char *path,
                                            pop_error *(*write)(FILE *stream, const void *context),
                                            const void *context);
/* The same; with more than `max_bytes` no file is written, which is no error: `*too_large` is true then. */
POP_MUST_CHECK pop_error *report_file_write_at_most(const char *path, uint64_t max_bytes,
                                                    pop_error *(*write)(FILE *stream,
                                                                        const void *context),
                                                    const void *context, bool *too_large);
/* The same into memory: appended to `text`, of which something may be there if it fails. */
POP_MUST_CHECK pop_error *report_text_write(uint64_t max_bytes,
                                            pop_error *(*write)(FILE *stream, const void *context),
                                            const void *context, pop_bytes *text, bool *too_large);

#endif
