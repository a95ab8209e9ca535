/* What did the user mean? Names at a small edit distance (insertions, deletions, replacements,
 * regardless of case), or names of which the user wrote a part: `Add<float>` for
 * `popops::Add<float>`. */
#include <populus/names.h>

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
  LONGEST = 128,    /* longer names are not compared: they are not typed by hand */
  SHORTEST_PART = 3 /* characters that make a part worth mentioning */
};

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

static int fold(char c)
{
  return tolower((unsigned char)c);
}

/* Levenshtein's distance, one row of the table at a time. Both lengths are at most LONGEST. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
  size_t row[LONGEST + 1];
  for (size_t j = 0; j <= b_length; ++j) row[j] = j;
  for (size_t i = 1; i <= a_length; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; ++j) {
      size_t replaced = diagonal + (fold(a[i - 1]) != fold(b[j - 1]));
      diagonal = row[j];
      row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
    }
  }
  return row[b_length];
}

/* How far `candidate` is from `name`; SIZE_MAX if it is not near. */
static size_t distance(const char *name, const char *candidate)
{
  size_t length = strnlen(name, LONGEST + 1), other = strnlen(candidate, LONGEST + 1);
  if (length > LONGEST || other > LONGEST) return SIZE_MAX;
  size_t limit = 1 + length / 4;
  size_t edits = edit_distance(name, length, candidate, other);
  if (edits <= limit) return edits;
  bool part = (length >= SHORTEST_PART && strstr(candidate, name)) ||
              (other >= SHORTEST_PART && strstr(name, candidate));
  return part ? LONGEST + edits : SIZE_MAX;
}

size_t pop_nearest_names(const char *name, const char *const *names, size_t count,
                         const char **nearest, size_t max)
{
  enum { MOST = 8 };
  size_t distances[MOST], found = 0;
  if (max > MOST) max = MOST;
  for (size_t i = 0; i < count; ++i) {
    size_t d = distance(name, names[i]);
    if (d == SIZE_MAX) continue;
    size_t at = found; /* insertion sort; of equally near names the first stays first */
    while (at > 0 && distances[at - 1] > d) at--;
    if (at == max) continue;
    if (found < max) found++;
    memmove(distances + at + 1, distances + at, (found - at - 1) * sizeof *distances);
    memmove(nearest + at + 1, nearest + at, (found - at - 1) * sizeof *nearest);
    distances[at] = d;
    nearest[at] = names[i];
  }
  return found;
}

const char *pop_nearest_name(const char *name, const char *const *names, size_t count)
{
  const char *nearest;
  return pop_nearest_names(name, names, count, &nearest, 1) ? nearest : NULL;
}
