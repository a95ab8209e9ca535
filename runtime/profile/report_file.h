/* A file that appears under its name when it is whole, as a stream. */
#ifndef PROFILE_REPORT_FILE_H
#define PROFILE_REPORT_FILE_H

#include <populus/error.h>
#include <stdio.h>

/* Calls `write` with a stream for the file; if it and all writing succeed the file is there, otherwise
 * what was there before stays. Errors: those of `write`; SYSTEM with the path. */
POP_MUST_CHECK pop_error *report_file_write(const char *path,
                                            pop_error *(*write)(FILE *stream, const void *context),
                                            const void *context);

#endif
