/* Fuzz target of the machine's engines: programs of the shape that compilers make, interpreted and translated
 * (support/random_kernel.h says what the input's bytes decide).
 *
 * Built for libFuzzer by the preset `fuzz`, and by every other into `replay`, which the tests run
 * over the corpus.
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
