#include <populus/same_file.h>

#include <populus/arena.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The path's folder, and its name in it. False: there is no such folder. */
static bool look_at_folder(const char *path, struct stat *folder, const char **name)
{
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  char *text = slash ? pop_xasprintf("%.*s/", (int)(slash - path), path) : pop_xstrdup(".");
  bool is_there = stat(text, folder) == 0;
  free(text);
  return is_there;
}

/* Two files that are not there yet have one name in one folder, however that is spelt. */
static bool would_be_same(const char *a, const char *b)
{
  struct stat folder_a, folder_b;
  const char *name_a, *name_b;
  if (strcmp(a, b) == 0) return true;
  return look_at_folder(a, &folder_a, &name_a) && look_at_folder(b, &folder_b, &name_b) &&
         strcmp(name_a, name_b) == 0 && is_same_inode(&folder_a, &folder_b);
}

bool pop_is_same_file(const char *a, const char *b)
{
  struct stat of_a, of_b;
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
  bool is_a = stat(a, &of_a) == 0, is_b = stat(b, &of_b) == 0;
  if (!is_a && !is_b) return would_be_same(a, b);
  return is_a && is_b && S_ISREG(of_a.st_mode) && is_same_inode(&of_a, &of_b);
}
