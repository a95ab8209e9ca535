#include <populus/same_file.h>

#include <string.h>
#include <sys/stat.h>

bool pop_is_same_file(const char *a, const char *b)
{
  struct stat of_a, of_b;
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
  bool is_a = stat(a, &of_a) == 0, is_b = stat(b, &of_b) == 0;
  if (!is_a || !is_b) return is_a == is_b && strcmp(a, b) == 0;
  return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}
