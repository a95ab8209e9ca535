/* replay FILE|FOLDER...: runs a fuzz target over files, without libFuzzer.
 *
 * So inputs that were findings stay tests in every build, with that build's sanitizers. Exit status
 * 1 if something cannot be read or there is nothing. */
#include "fuzz.h"

#include <populus/arena.h>
#include <populus/file.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static size_t num_inputs;

static pop_error *replay_file(const char *path)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_file_read(path, (size_t)1 << 28, &bytes, &size));
  fprintf(stderr, "%s\n", path); /* the last line before a crash */
  LLVMFuzzerTestOneInput(bytes, size);
  ++num_inputs;
  free(bytes);
  return NULL;
}

static int is_visible(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static pop_error *replay(const char *path)
{
  struct dirent **entries;
  int count = scandir(path, &entries, is_visible, alphasort);
  if (count < 0) return replay_file(path);
  pop_error *error = NULL;
  for (int i = 0; i < count; ++i) {
    char *file = pop_xasprintf("%s/%s", path, entries[i]->d_name);
    if (!error) error = replay_file(file);
    free(file);
    free(entries[i]);
  }
  free(entries);
  return error;
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; ++i) {
    pop_error *error = replay(argv[i]);
    if (!error) continue;
    fprintf(stderr, "replay: %s\n", pop_error_message(error));
    pop_error_free(error);
    return 1;
  }
  printf("%zu inputs\n", num_inputs);
  return num_inputs ? 0 : 1;
}
