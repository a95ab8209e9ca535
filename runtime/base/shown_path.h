#ifndef BASE_SHOWN_PATH_H
#define BASE_SHOWN_PATH_H

/* What a report says of a path: the path as given; of an absolute one only the last two parts.
 * Reports are handed on, and should not tell where this machine keeps its files. */
static inline const char *shown_path(const char *path)
{
  const char *name = path, *before = path;
  if (*path != '/') return path;
  for (const char *c = path; *c; ++c) {
    if (*c != '/' || !c[1]) continue;
    before = name;
    name = c + 1;
  }
  return before == path ? name : before;
}

#endif
