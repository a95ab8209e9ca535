/* Sources that compile only with one thing changed.
 *
 *   portable         Codelets for the chip have its assembly under `#ifdef __IPU__`, and beside it
 *                    a path in plain C++ for the CPU target. The tile's assembler cannot read the
 *                    assembly. So the C++ path is compiled, without __IPU__ and what comes with it.
 *                    A file of the chip's assembly is under `#ifdef __IPU__` as a whole. Nothing is
 *                    left of it, and vertices have the functions that C++ declares beside it.
 *   mutable inputs   The elements of inputs were not const until November 2021 (graphcore/poplibs
 *                    1995ae10 says so). Older codelets take pointers to them that allow writing:
 *                    then the elements are not const here either.
 *
 * clang's errors tell which remedy may help. The source is compiled again with it, and a note says
 * so. If that fails, too, the first diagnostics stand. A note says what was tried if the
 * diagnostics do not explain themselves.
 */
#include "popc_internal.h"

#include <string.h>

static const struct remedy {
  const char *signs[4]; /* in clang's errors */
  const char *note;
  const char *hint; /* if it did not help; NULL: clang has said it all */
} remedies[POPC_NUM_REMEDIES] = {
    /* The chip's registers, in lists of clobbers, have a dollar sign. No register of the
     * tile has. */
    [POPC_PORTABLE] = {{"unknown register name '$", "unrecognized instruction mnemonic",
                        "unknown operand"},
                       "its inline assembly is for another instruction set; compiled the portable "
                       "path (without __IPU__) instead",
                       "its inline assembly is for another instruction set, and without __IPU__ it "
                       "does not compile either"},
    [POPC_MUTABLE_INPUTS] = {{"casts away qualifiers", "would lose const qualifier"},
                             "its pointers to inputs could write these, as old compilers allowed; "
                             "compiled with --mutable-inputs instead",
                             NULL},
};

static bool mentions(const pop_bytes *diagnostics, size_t from, const char *sign)
{
  return diagnostics->size > from &&
         memmem(diagnostics->data + from, diagnostics->size - from, sign, strlen(sign));
}

/* Turns on what may help. False if no remedy is left. */
static bool apply(popc_settings *settings, const pop_bytes *diagnostics, size_t from)
{
  bool any = false;
  for (size_t i = 0; i < POPC_NUM_REMEDIES; ++i) {
    if (settings->remedies[i].on || settings->remedies[i].when == POPC_NEVER) continue;
    const char *const *sign = remedies[i].signs;
    while (*sign && !mentions(diagnostics, from, *sign)) ++sign;
    settings->remedies[i].on = *sign != NULL;
    any |= *sign != NULL;
  }
  return any;
}

/* Notes the remedies since `on_before`, and whether they helped. */
static void add_notes(const popc_settings *settings, const bool *on_before, bool helped,
                      const popc_source *source, pop_bytes *out)
{
  for (size_t i = 0; i < POPC_NUM_REMEDIES && !popc_no_warnings(settings); ++i) {
    const char *text = helped ? remedies[i].note : remedies[i].hint;
    if (!settings->remedies[i].on || on_before[i] || !text) continue;
    const char *note =
        pop_arena_printf(settings->arena, "popc: note: %s: %s\n", source->path, text);
    pop_bytes_append(out, note, strlen(note));
  }
}

/* $m0 … $m15, $a0 … $a15, $mzero, $mvertex_base, …: no register of the tile has such a name. */
static bool names_a_register_of_the_chip(const pop_bytes *diagnostics, size_t from)
{
  for (size_t i = from; i + 2 < diagnostics->size; ++i) {
    const uint8_t *at = diagnostics->data + i;
    bool of_file = at[0] == '$' && (at[1] == 'm' || at[1] == 'a');
    if (of_file && ((at[2] >= '0' && at[2] <= '9') || (at[2] >= 'a' && at[2] <= 'z'))) return true;
  }
  return false;
}

bool popc_is_chip_assembly(const popc_settings *settings, const pop_bytes *diagnostics, size_t from)
{
  return !settings->remedies[POPC_PORTABLE].on &&
         settings->remedies[POPC_PORTABLE].when != POPC_NEVER &&
         names_a_register_of_the_chip(diagnostics, from);
}

void popc_note_left_out_assembly(const popc_settings *settings, const popc_source *source,
                                 pop_bytes *diagnostics)
{
  if (popc_no_warnings(settings)) return;
  const char *note =
      pop_arena_printf(settings->arena,
                       "popc: note: %s: it is assembly of another instruction set; compiled "
                       "without __IPU__, where nothing may be left of it\n",
                       source->path);
  pop_bytes_append(diagnostics, note, strlen(note));
}

/* Explains errors of the assembler, which does not know the chip. */
static void explain_chip_assembly(popc_settings *settings, const popc_source *source,
                                  pop_bytes *diagnostics, size_t from)
{
  if (popc_no_warnings(settings) || !names_a_register_of_the_chip(diagnostics, from)) return;
  const char *note = pop_arena_printf(
      settings->arena,
      "popc: note: %s: this is assembly of Graphcore's chip; tiles here execute RISC-V (man "
      "popc): a function ends with `ret`, and what the chip's instructions do codelets call by "
      "the names of <ipu_builtins.h>\n",
      source->path);
  pop_bytes_append(diagnostics, note, strlen(note));
}

void popc_begin_remedies(popc_settings *settings)
{
  for (size_t i = 0; i < POPC_NUM_REMEDIES; ++i)
    settings->remedies[i].on = settings->remedies[i].when == POPC_ALWAYS;
}

pop_error *popc_compile_with_remedies(popc_settings *settings, const popc_source *source,
                                      popc_product product, const popc_variant *const *variants,
                                      size_t count, popc_result *results, pop_bytes *diagnostics)
{
  bool on_before[POPC_NUM_REMEDIES];
  for (size_t i = 0; i < POPC_NUM_REMEDIES; ++i) on_before[i] = settings->remedies[i].on;
  size_t before = diagnostics->size;
  pop_error *first =
      popc_compile_source(settings, source, product, variants, count, results, diagnostics);
  if (first && !popc_is_codelet_language(source->language))
    explain_chip_assembly(settings, source, diagnostics, before);
  if (!first || !popc_is_codelet_language(source->language)) return first;
  pop_error *error = first;
  pop_bytes said = {0};
  bool more = apply(settings, diagnostics, before);
  while (error && more) {
    if (error != first) pop_error_free(error);
    said.size = 0;
    error = popc_compile_source(settings, source, product, variants, count, results, &said);
    more = apply(settings, &said, 0);
  }
  if (error) {
    if (error != first) pop_error_free(error);
    add_notes(settings, on_before, false, source, diagnostics);
    explain_chip_assembly(settings, source, diagnostics, before);
    for (size_t i = 0; i < POPC_NUM_REMEDIES; ++i) settings->remedies[i].on = on_before[i];
  } else {
    pop_error_free(first);
    first = NULL;
    diagnostics->size = before;
    add_notes(settings, on_before, true, source, diagnostics);
    if (said.size) pop_bytes_append(diagnostics, said.data, said.size);
  }
  pop_bytes_free(&said);
  return first;
}
