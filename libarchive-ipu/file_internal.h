/* Shared by the files of this folder that open files. */
#ifndef POPULUS_FILE_INTERNAL_H
#define POPULUS_FILE_INTERNAL_H

#include <populus/file.h>

#include <stdbool.h>

/* Opens a regular file for reading; anything else is refused with a message that says what it is,
 * and without waiting for it. Error: FILE_LOAD; SYSTEM when the process has no more descriptors. */
POP_MUST_CHECK pop_error *file_open_regular(const char *path, int *fd, uint64_t *size);
/* pread until `size` bytes or the end of the file; `*got` says which. */
POP_MUST_CHECK pop_error *file_pread(int fd, const char *path, void *bytes, size_t size,
                                     uint64_t offset, size_t *got);

/* Everybody who may read it may run it, from the moment it has its final name. */
POP_MUST_CHECK pop_error *file_make_executable(pop_output *output);

/* A file under a temporary name beside `path`, open for writing and locked. The name is known to
 * pop_output_remove_all_temporaries until it is given up. */
typedef struct pop_temporary {
  int fd;
  int slot;   /* in the table of open temporaries */
  char *name; /* also in the table; whoever takes it out there owns it */
} pop_temporary;
POP_MUST_CHECK pop_error *temporary_create(const char *path, pop_temporary *temporary);
/* Gives it its final name. The descriptor stays open. */
POP_MUST_CHECK pop_error *temporary_rename(pop_temporary *temporary, const char *path);
/* Removes the name. The descriptor stays open. */
void temporary_remove(pop_temporary *temporary);
/* Removes and closes the temporaries that were created in the pop_with_memory `scope`, whose owners
 * no longer exist. */
void temporaries_abandon(const void *scope);
/* `scope` has ended: its open temporaries now belong to the scope around it. */
void temporaries_change_owner(const void *scope, const void *outer);

#endif
