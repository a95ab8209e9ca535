/* Vectors of 64 bits on tiles, and other work of popc-pairs. Such sources are compiled in
 * three steps (pairs/pairs.h):
 *
 *   source --clang, optimizer--> bitcode --popc-pairs--> bitcode --clang, code generator--> product
 *
 * A source whose own text mentions vectors takes these steps at once. Any other source is compiled
 * directly first. If its object shows that an included file mentions vectors (reflect_vectors.c),
 * or that 64-bit integers are divided, it is compiled again in three steps. A source with neither
 * pays only for a search in the text.
 *
 * If the third step fails, the source is compiled again in one: clang knows the line of wrong
 * inline assembly only when it reads the source itself.
 */
#include "compile_internal.h"

#include <populus/data_dir.h>

#include <stdlib.h>
#include <string.h>

static bool has(const void *bytes, size_t size, const char *words)
{
  return memmem(bytes, size, words, strlen(words)) != NULL;
}

/* Text is searched for the types. Bitcode cannot be searched, so it may always have vectors. */
static bool ir_may_have_vectors(const popc_source *source)
{
  bool is_text = !memchr(source->text, 0, source->size);
  return !is_text || has(source->text, source->size, "<2 x float>") ||
         has(source->text, source->size, "<4 x half>");
}

/* False if the user neither gets the code nor hears of its size. */
static bool makes_code(const popc_settings *settings, popc_product product)
{
  return (product == POPC_GP || product == POPC_ASSEMBLY) && settings->product != POPC_NOTHING;
}

bool popc_goes_through_pairs(const popc_settings *settings, const popc_source *source,
                             popc_product product, const popc_variant *variant)
{
  if (settings->vectors == POPC_NEVER || !makes_code(settings, product) ||
      variant->target != POPC_TILE)
    return false;
  if (source->language == POPC_LLVM_IR) return ir_may_have_vectors(source);
  return popc_is_codelet_language(source->language) &&
         (settings->vectors != POPC_AUTO || popc_mentions_vectors(source->text, source->size));
}

/* Does the object call the device library to divide 64-bit integers? The divisor may be a constant
 * (pairs/divide.c). */
static bool divides_long(const popc_result *result)
{
  static const char *const functions[] = {"__udivdi3", "__umoddi3", "__divdi3", "__moddi3"};
  bool found = false;
  for (size_t i = 0; i < sizeof functions / sizeof *functions && !found; ++i)
    found = has(result->bytes, result->size, functions[i]);
  return found;
}

popc_when popc_missed_pairs(const popc_settings *settings, popc_product product,
                            const popc_variant *variant, const popc_result *result)
{
  if (settings->vectors != POPC_AUTO || !makes_code(settings, product) ||
      variant->target != POPC_TILE)
    return POPC_NEVER;
  if (has(result->bytes, result->size, POPC_VECTORS_SECTION)) return POPC_ALWAYS;
  return divides_long(result) ? POPC_DIVISIONS_ONLY : POPC_NEVER;
}

static popc_source bitcode_of(const popc_source *source, const popc_result *bitcode)
{
  return (popc_source){.path = source->path,
                       .language = POPC_LLVM_IR,
                       .text = bitcode->bytes,
                       .size = bitcode->size,
                       .is_stream = true};
}

/* Runs only clang's code generator. What clang has to say about options, it has said before. */
static pop_error *generate(const popc_settings *settings, const popc_source *bitcode,
                           popc_product product, const popc_variant *variant, popc_result *result,
                           pop_bytes *diagnostics)
{
  static const char *const more[] = {"-Xclang", "-disable-llvm-passes",
                                     "-Wno-unknown-warning-option"};
  enum { NUM_MORE = sizeof more / sizeof *more };
  popc_settings own = *settings;
  const char **words = pop_xcalloc(own.num_clang + NUM_MORE, sizeof *words);
  if (own.num_clang) memcpy(words, own.clang, own.num_clang * sizeof *words);
  memcpy(words + own.num_clang, more, sizeof more);
  own.clang = words;
  own.num_clang += NUM_MORE;
  own.vectors = POPC_NEVER;
  own.dependencies = 0;
  pop_error *error = popc_compile_source(&own, bitcode, product, &variant, 1, result, diagnostics);
  free(words);
  return error;
}

pop_error *popc_pack_vectors(const popc_settings *settings, const popc_source *source,
                             popc_product product, const popc_variant *variant, popc_result *result,
                             pop_bytes *diagnostics)
{
  popc_result pairs = {0}, made = {0};
  popc_source bitcode = bitcode_of(source, result);
  POP_TRY(popc_run_pairs(settings, &bitcode, &pairs));
  bitcode = bitcode_of(source, &pairs);
  pop_error *error = generate(settings, &bitcode, product, variant, &made, diagnostics);
  free(pairs.bytes);
  if (error) {
    free(made.bytes);
    return error;
  }
  free(result->bytes);
  result->bytes = made.bytes;
  result->size = made.size;
  return NULL;
}
