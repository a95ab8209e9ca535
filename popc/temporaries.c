/* --save-temps: the intermediate files of each compilation (codelets-ipu2.ii, codelets-ipu2.s,
 * codelets-ipu2.o), in the current folder or, with --save-temps=obj, in the output's. */
#include "popc_internal.h"

#include <string.h>

static const char *file_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Of the file's name without extension. */
static int stem_length(const char *file)
{
  const char *dot = strrchr(file, '.');
  return dot && dot > file ? (int)(dot - file) : (int)strlen(file);
}

/* How many sources before this one have its stem: files of a.c and a.cpp are "a-ipu2.s" and
 * "a-2-ipu2.s". */
static unsigned count_before(const popc_settings *settings, const popc_source *source)
{
  unsigned count = 0;
  const char *file = file_of(source->path);
  int length = stem_length(file);
  for (size_t i = 0; i < settings->num_inputs; ++i) {
    const char *other = file_of(settings->inputs[i].path);
    popc_language language;
    if (!strcmp(settings->inputs[i].path, source->path)) break;
    if (popc_language_of(other, &language) && language == POPC_GP_FILE) continue;
    count += stem_length(other) == length && !strncmp(other, file, (size_t)length);
  }
  return count;
}

/* "codelets-ipu2_cpp": a variant's name may have characters that file names should not have. */
static const char *stem_of(popc_settings *settings, const popc_source *source,
                           const popc_variant *variant)
{
  const char *file = file_of(source->path), *number = "";
  unsigned before = count_before(settings, source);
  if (before) number = pop_arena_printf(settings->arena, "-%u", before + 1);
  char *name = pop_arena_strdup(settings->arena, variant->name);
  for (char *p = name; *p; ++p)
    if (*p == ':') *p = '_';
  const char *output = settings->output, *end = output ? strrchr(output, '/') : NULL;
  int folder = settings->save_temps_beside && end ? (int)(end + 1 - output) : 0;
  if (source->is_stream)
    return pop_arena_printf(settings->arena, "%.*sstdin-%s", folder, output, name);
  return pop_arena_printf(settings->arena, "%.*s%.*s%s-%s", folder, output, stem_length(file), file,
                          number, name);
}

static pop_error *save_product(popc_settings *settings, const popc_source *source,
                               const popc_variant *variant, popc_product product, const char *path)
{
  popc_result result = {0};
  pop_bytes again = {0}; /* these diagnostics were shown before */
  pop_error *error = popc_compile_source(settings, source, product, &variant, 1, &result, &again);
  if (!error) error = popc_write_file(path, result.bytes, result.size);
  popc_results_free(&result, 1);
  pop_bytes_free(&again);
  return error;
}

pop_error *popc_save_temporaries(popc_settings *settings, const popc_source *source,
                                 const popc_variant *variant, const popc_result *object)
{
  const char *stem = stem_of(settings, source, variant);
  POP_TRY(popc_write_file(pop_arena_printf(settings->arena, "%s.o", stem), object->bytes,
                          object->size));
  if (!popc_is_codelet_language(source->language)) return NULL;
  const char *text = source->language == POPC_C ? "i" : "ii";
  POP_TRY(save_product(settings, source, variant, POPC_PREPROCESSED,
                       pop_arena_printf(settings->arena, "%s.%s", stem, text)));
  return save_product(settings, source, variant, POPC_ASSEMBLY,
                      pop_arena_printf(settings->arena, "%s.s", stem));
}
