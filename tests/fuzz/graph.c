/* Fuzz target of whole graphs. A random graph of variables, views, copies, vertices, streams,
 * remote buffers, loops and branches must compute what the model on the host computes
 * (support/random_check.h), to the bit.
 *
 *   byte 0: the engine; the other bytes decide what the graph is; after them random numbers do
 */
#include "fuzz.h"
#include "support/random_check.h"

#include <populus/file.h>

#include <fcntl.h>

static char codelets[64];

static void remove_codelets(void)
{
  char *folder = pop_xstrdup(codelets);
  *strrchr(folder, '/') = '\0';
  unlink(codelets);
  rmdir(folder);
  free(folder);
}

static void compile_once(void)
{
  if (*codelets) return;
  char folder[] = "/tmp/fuzz-graph-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  snprintf(codelets, sizeof codelets, "%s/random.gp", folder);
  compile_random_codelets(codelets);
  atexit(remove_codelets);
  setenv("POPULUS_VERIFY", "1", 1); /* what each pass has made */
}

/* The translator is chosen rarely, as native code takes long to make. */
static const char *choose_engine(uint8_t choice, bool *on_cpu)
{
  *on_cpu = choice % 8 >= 5 && choice % 8 < 7;
  return choice % 8 == 7 ? "translator" : "interpreter";
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  bool on_cpu = false;
  compile_once();
  if (size == 0) return 0;
  setenv("POPULUS_TILE_ENGINE", choose_engine(bytes[0], &on_cpu), 1);
  random_graph *g = new_random_graph(size, codelets);
  g->m.choices = bytes + 1;
  g->m.num_choices = size - 1;
  check_graph(g, on_cpu);
  return 0;
}
