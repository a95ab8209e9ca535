/* When the compiler crashes: a folder in TMPDIR with everything that reproduces the crash.
 *
 *     popc-crash-XXXXXX/codelet.ii   the source, preprocessed if that much of the compiler works
 *     popc-crash-XXXXXX/run.sh       popc's arguments
 *
 * The error's message names the script.
 */
#include "popc_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(pop_bytes *out, const char *text)
{
  pop_bytes_append(out, text, strlen(text));
}

/* As a shell reads it. */
static void put_word(pop_bytes *out, const char *word)
{
  put(out, " '");
  for (; *word; ++word) {
    if (*word == '\'')
      put(out, "'\\''");
    else
      pop_bytes_append(out, word, 1);
  }
  put(out, "'");
}

/* Leaves out flags of the preprocessor if the source is preprocessed. */
static void put_flags(pop_bytes *out, const char *const *flags, size_t count, bool preprocessed)
{
  for (size_t i = 0; i < count; ++i) {
    if (preprocessed && (!strcmp(flags[i], "-include") || !strcmp(flags[i], "-imacros")))
      ++i;
    else
      put_word(out, flags[i]);
  }
}

static void put_script(const popc_settings *settings, const popc_source *source,
                       const popc_variant *variant, const char *file, bool preprocessed,
                       const char *why, pop_bytes *out)
{
  put(out, "#!/bin/sh\n# popc " POPULUS_VERSION ": ");
  for (; *why; ++why) pop_bytes_append(out, *why == '\n' ? " " : why, 1);
  put(out, "\ncd \"$(dirname \"$0\")\" && exec \"${POPC:-popc}\" -w");
  put_word(out, pop_arena_printf(settings->arena, "--target=%s", variant->architecture));
  put_flags(out, settings->clang, settings->num_clang, preprocessed);
  if (variant->target == POPC_TILE)
    put_flags(out, settings->clang_tile, settings->num_clang_tile, preprocessed);
  put_flags(out, variant->flags, variant->num_flags, preprocessed);
  /* popc includes that file itself. */
  if (preprocessed) put(out, " -DPOPULUS_BUILTINS_H");
  put(out, " -x");
  put_word(out, popc_language_name(source->language));
  put_word(out, file);
  put(out, " -o /dev/null\n");
}

/* The preprocessed source, or the source itself. */
static pop_error *write_source(popc_settings *settings, const popc_source *source,
                               const popc_variant *variant, const char *path, bool *preprocessed)
{
  popc_settings quiet = *settings;
  quiet.verbose = quiet.save_temps = false;
  quiet.dependencies = 0;
  popc_result text = {0};
  pop_bytes diagnostics = {0};
  pop_error *error =
      popc_compile_source(&quiet, source, POPC_PREPROCESSED, &variant, 1, &text, &diagnostics);
  *preprocessed = !error && text.size;
  pop_error_free(error);
  error = *preprocessed ? popc_write_file(path, text.bytes, text.size)
                        : popc_write_file(path, source->text, source->size);
  popc_results_free(&text, 1);
  pop_bytes_free(&diagnostics);
  return error;
}

static pop_error *write_all(popc_settings *settings, const popc_source *source,
                            const popc_variant *variant, const char *folder, const char *why)
{
  const char *file = source->language == POPC_C ? "codelet.i" : "codelet.ii";
  bool preprocessed;
  POP_TRY(write_source(settings, source, variant,
                       pop_arena_printf(settings->arena, "%s/%s", folder, file), &preprocessed));
  pop_bytes script = {0};
  put_script(settings, source, variant, file, preprocessed, why, &script);
  pop_error *error = popc_write_file(pop_arena_printf(settings->arena, "%s/run.sh", folder),
                                     script.data, script.size);
  pop_bytes_free(&script);
  return error;
}

pop_error *popc_add_reproducer(popc_settings *settings, const popc_source *source,
                               const popc_variant *variant, pop_error *crash)
{
  const char *tmpdir = secure_getenv("TMPDIR");
  char *folder = pop_arena_printf(settings->arena, "%s/popc-crash-XXXXXX",
                                  tmpdir && *tmpdir ? tmpdir : "/tmp");
  if (!popc_is_codelet_language(source->language) || !mkdtemp(folder)) return crash;
  pop_error *error = write_all(settings, source, variant, folder, pop_error_message(crash));
  if (error) { /* the crash is what counts */
    pop_error_free(error);
    return crash;
  }
  pop_error *full = pop_error_new(POP_ERROR_INTERNAL, "%s; sh %s/run.sh does it again",
                                  pop_error_message(crash), folder);
  pop_error_free(crash);
  return full;
}
