/* Inline assembly for another instruction set.
 *
 * Codelets for the chip have its assembly under `#ifdef __IPU__` and beside it a path in plain C++,
 * which its CPU target takes. The tile's assembler cannot read the former. So if the tile's clang
 * finds such assembly, the source is compiled again as the host sees it, without __IPU__ and what
 * comes with it; a note says so. If that does not compile either, the first diagnostics stand.
 *
 * What tells foreign assembly is what clang says of it: the chip's registers, in lists of clobbers,
 * have a dollar that no register of the tile has, and its instructions have names of their own.
 */
#include "popc_internal.h"

#include <string.h>

static const char *const signs_of_foreign_assembly[] = {
    "unknown register name '$",
    "unrecognized instruction mnemonic",
};

static bool mentions_foreign_assembly(const pop_bytes *diagnostics, size_t from)
{
  if (diagnostics->size == from) return false;
  for (size_t i = 0; i < sizeof signs_of_foreign_assembly / sizeof(char *); ++i) {
    const char *sign = signs_of_foreign_assembly[i];
    if (memmem(diagnostics->data + from, diagnostics->size - from, sign, strlen(sign))) return true;
  }
  return false;
}

static bool any_tile(const popc_variant *const *variants, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (variants[i]->target == POPC_TILE) return true;
  return false;
}

static void add_note(const popc_settings *settings, const popc_source *source, pop_bytes *out)
{
  if (popc_no_warnings(settings)) return;
  const char *note = pop_arena_printf(
      settings->arena,
      "popc: note: %s: its inline assembly is for another instruction set; compiled the portable "
      "path (without __IPU__) instead\n",
      source->path);
  pop_bytes_append(out, note, strlen(note));
}

void popc_begin_portably(popc_settings *settings)
{
  settings->portable = settings->portable_choice == POPC_PORTABLE_ALWAYS;
}

pop_error *popc_compile_portably(popc_settings *settings, const popc_source *source,
                                 popc_product product, const popc_variant *const *variants,
                                 size_t count, popc_result *results, pop_bytes *diagnostics)
{
  size_t before = diagnostics->size;
  pop_error *error =
      popc_compile_source(settings, source, product, variants, count, results, diagnostics);
  if (!error || settings->portable || settings->portable_choice == POPC_PORTABLE_NEVER ||
      !popc_is_codelet_language(source->language) || !any_tile(variants, count) ||
      !mentions_foreign_assembly(diagnostics, before))
    return error;
  pop_bytes second = {0};
  settings->portable = true;
  pop_error *again =
      popc_compile_source(settings, source, product, variants, count, results, &second);
  settings->portable = !again;
  if (!again) {
    diagnostics->size = before;
    add_note(settings, source, diagnostics);
    if (second.size) pop_bytes_append(diagnostics, second.data, second.size);
  }
  pop_bytes_free(&second);
  pop_error_free(again ? again : error);
  return again ? error : NULL;
}
