/* Fuzz target of popview's readers: the input is one of the files of a report. If it is accepted,
 * the page must contain JSON that another reader accepts.
 *
 * The first byte says which file it is: in a folder of its own or, from NUM_FILES on, named
 * directly; from twice that on, the text of sources is left out.
 */
#include "fuzz.h"
#include "use.h"

#include <jansson.h>
#include <populus/report_page.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"profile.pop", "graph.cbor",     "execution.cbor",
                                    "graph.json",  "execution.json", "vars.json",
                                    "debug.json",  "archive.a",      "code.json"};
enum { NUM_FILES = sizeof files / sizeof *files };

static char folder[] = "/tmp/fuzz-report-XXXXXX";

static void remove_folder(void)
{
  rmdir(folder);
}

static void enter_folder(void)
{
  static bool made;
  if (made) return;
  if (!mkdtemp(folder)) abort();
  atexit(remove_folder);
  made = true;
}

static void check_page(const char *path, unsigned left_out)
{
  char *text = NULL;
  size_t size;
  json_error_t where;
  FILE *page = open_memstream(&text, &size);
  bool is_whole = forget(pop_report_write_json(&path, 1, left_out, page));
  fclose(page);
  json_t *value = is_whole ? json_loadb(text, size, 0, &where) : NULL;
  if (is_whole && !value) {
    fprintf(stderr, "byte %d: %s\n%.*s\n", where.position, where.text, (int)size, text);
    abort();
  }
  json_decref(value);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  if (!size) return 0;
  enter_folder();
  char path[80];
  snprintf(path, sizeof path, "%s/%s", folder, files[bytes[0] % NUM_FILES]);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes + 1, 1, size - 1, file) != size - 1 || fclose(file) != 0) abort();
  check_page(bytes[0] % (2 * NUM_FILES) < NUM_FILES ? folder : path,
             bytes[0] / (2 * NUM_FILES) % 2 ? POP_REPORT_WITHOUT_SOURCE : 0);
  unlink(path);
  return 0;
}
