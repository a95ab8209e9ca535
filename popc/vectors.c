/* May a text have vectors of 64 bits, or loops that the chip would repeat (pairs/loops.c), with
 * a type or an assumption that bounds the trip count? Most sources have neither and are
 * compiled by one clang. The others go through popc-pairs, which costs another start of clang
 * and LLVM (packed.c).
 *
 * Vectors come only from types of the program: LLVM does not vectorize for a processor without
 * vectors. So the text is searched for the names of vector types and for what defines others. A
 * name that is pasted together from two halves goes unnoticed: then each element is computed alone,
 * with the same results.
 */
#include "popc_internal.h"

#include <string.h>

bool popc_mentions_vectors(const void *text, size_t size)
{
  static const char *const words[] = {
      "float2",           "float4",      "half4",       "half8",          "f32v",     "f16v",
      "vector_size",      "vector_type", "matrix_type", "unsigned short", "uint16_t", "rptsize",
      "__builtin_assume", "SHORT_SPAN"};
  bool found = false;
  for (size_t i = 0; i < sizeof words / sizeof *words && !found; ++i)
    found = memmem(text, size, words[i], strlen(words[i])) != NULL;
  return found;
}
