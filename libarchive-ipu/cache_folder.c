#include <populus/cache_folder.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <populus/arena.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The form of an entry's name: a number of hexadecimal digits and a suffix. */
typedef struct entry_kind {
  size_t digits;
  const char *suffix, *what;
} entry_kind;
static const entry_kind executables = {16, ".a", "executable"}, natives = {32, ".o", "native code"},
                        codelets = {32, ".codelet", "codelet"};

enum { STAT_BLOCK_BYTES = 512 };

/* ---- making ---- */

pop_error *pop_cache_folder_make(const char *folder)
{
  char *path = pop_xstrdup(folder);
  bool made = true;
  for (char *slash = path; made && slash;) {
    slash = strchr(slash + 1, '/');
    if (slash) *slash = '\0';
    made = mkdir(path, 0777) == 0 || errno == EEXIST;
    if (slash) *slash = '/';
  }
  int reason = errno;
  free(path);
  return made ? NULL : pop_error_errno(reason, "cannot make the folder '%s'", folder);
}

char *pop_cache_folder_native(const char *folder)
{
  return pop_xasprintf("%s/native-%ld", folder, (long)geteuid());
}

static pop_error *check_private(const char *path)
{
  struct stat status;
  if (lstat(path, &status) != 0) return pop_error_errno(errno, "cannot look at '%s'", path);
  if (!S_ISDIR(status.st_mode))
    return pop_error_new(POP_ERROR_SYSTEM, "'%s' is not a folder", path);
  if (status.st_uid != geteuid())
    return pop_error_new(POP_ERROR_SYSTEM, "the folder '%s' belongs to user %ld", path,
                         (long)status.st_uid);
  if (status.st_mode & (S_IRWXG | S_IRWXO))
    return pop_error_new(POP_ERROR_SYSTEM, "others may use the folder '%s' (mode %03o, not 700)",
                         path, (unsigned)status.st_mode & 0777);
  return NULL;
}

pop_error *pop_cache_folder_make_native(const char *folder)
{
  POP_TRY(pop_cache_folder_make(folder));
  char *path = pop_cache_folder_native(folder);
  pop_error *error = NULL;
  if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST)
    error = pop_error_errno(errno, "cannot make the folder '%s'", path);
  else
    error = check_private(path);
  free(path);
  return error;
}

pop_error *pop_cache_folder_check_native(const char *folder)
{
  char *path = pop_cache_folder_native(folder);
  pop_error *error = check_private(path);
  free(path);
  return error;
}

static bool is_missing(void)
{
  return errno == ENOENT || errno == ENOTDIR;
}

pop_error *pop_cache_folder_check(const char *folder)
{
  struct stat status;
  if (stat(folder, &status) != 0)
    return is_missing() ? NULL : pop_error_errno(errno, "cannot look at '%s'", folder);
  if (!S_ISDIR(status.st_mode))
    return pop_error_new(POP_ERROR_SYSTEM, "'%s' is not a folder", folder);
  if (status.st_mode & S_IWGRP && !(status.st_mode & S_ISVTX) && status.st_gid != getegid())
    return pop_error_new(
        POP_ERROR_SYSTEM,
        "group %ld may change what is in the folder '%s' (mode %03o): take that right away, or "
        "set the sticky bit",
        (long)status.st_gid, folder, (unsigned)status.st_mode & 0777);
  if (status.st_mode & S_IWOTH && !(status.st_mode & S_ISVTX))
    return pop_error_new(
        POP_ERROR_SYSTEM,
        "anybody may change what is in the folder '%s' (mode %03o): take that right away, or "
        "set the sticky bit",
        folder, (unsigned)status.st_mode & 0777);
  return NULL;
}

pop_error *pop_cache_folder_check_entry(const char *folder, const char *path)
{
  struct stat around, status;
  if (stat(folder, &around) != 0 || lstat(path, &status) != 0)
    return is_missing() ? NULL : pop_error_errno(errno, "cannot look at '%s'", path);
  if (!S_ISREG(status.st_mode)) return pop_error_new(POP_ERROR_SYSTEM, "it is not a file");
  if (status.st_mode & S_IWOTH) return pop_error_new(POP_ERROR_SYSTEM, "anybody may write it");
  if (around.st_mode & S_IWOTH && status.st_uid != geteuid() && status.st_uid != 0)
    return pop_error_new(POP_ERROR_SYSTEM,
                         "it belongs to user %ld, and anybody may put files into the folder '%s'",
                         (long)status.st_uid, folder);
  return NULL;
}

void pop_cache_folder_touch(const char *path)
{
  utimensat(AT_FDCWD, path, NULL, 0);
}

/* ---- removing ---- */

typedef struct entry {
  const entry_kind *kind;
  char *path;
  uint64_t bytes;
  struct timespec used;
} entry;

typedef struct entry_list {
  entry *entries;
  size_t count, capacity;
  uint64_t bytes;
} entry_list;

static bool is_entry_name(const entry_kind *kind, const char *name)
{
  return strspn(name, "0123456789abcdef") == kind->digits &&
         strcmp(name + kind->digits, kind->suffix) == 0;
}

static void list_entry(const char *folder, const entry_kind *kind, const char *name,
                       entry_list *list)
{
  struct stat status;
  char *path = pop_xasprintf("%s/%s", folder, name);
  if (stat(path, &status) != 0) {
    free(path);
    return;
  }
  /* Counts blocks, as files may have holes. */
  entry e = {kind, path, (uint64_t)status.st_blocks * STAT_BLOCK_BYTES, status.st_mtim};
  list->bytes += e.bytes;
  pop_push(list->entries, list->count, list->capacity, e);
}

static void list_entries(const char *folder, const entry_kind *kind, entry_list *list)
{
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (const struct dirent *found; (found = readdir(dir));)
    if (is_entry_name(kind, found->d_name)) list_entry(folder, kind, found->d_name, list);
  closedir(dir);
}

static int compare_use(const void *left, const void *right)
{
  const entry *a = left, *b = right;
  if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
  if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
  return strcmp(a->path, b->path);
}

void pop_cache_folder_trim(const char *folder, uint64_t max_bytes, pop_cache_removed *removed)
{
  if (!max_bytes) return;
  entry_list list = {0};
  char *native = pop_cache_folder_native(folder);
  list_entries(folder, &executables, &list);
  list_entries(native, &natives, &list);
  list_entries(native, &codelets, &list);
  free(native);
  if (list.count) qsort(list.entries, list.count, sizeof *list.entries, compare_use);
  for (size_t i = 0; i + 1 < list.count && list.bytes > max_bytes; ++i) {
    const entry *e = &list.entries[i];
    if (unlink(e->path) == 0 && removed) removed(e->kind->what, e->path, max_bytes);
    list.bytes -= e->bytes;
  }
  for (size_t i = 0; i < list.count; ++i) free(list.entries[i].path);
  free(list.entries);
}
