/* Fuzz target of the machine's engines: programs of the form that compilers make, interpreted and
 * translated (support/random_kernel.h says what the input's bytes decide).
 *
 * The preset `fuzz` builds it for libFuzzer. Every other preset builds it into `replay`, which the
 * tests run over the corpus.
 */
#include "engines.h"
#include "fuzz.h"
#include "support/random_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static kernel k;
  kernel_make(bytes, size, &k);
  expect_engines_agree(&k.image, k.stacks, k.max_cycles);
  return 0;
}
