/* --save-temps: the intermediate files of each compilation (codelets-ipu2.ii, codelets-ipu2.s,
 * codelets-ipu2.o), in the current folder or, with --save-temps=obj, in the output's. */
#include "popc_internal.h"

#include <populus/same_file.h>

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

/* The name of a source's files, without what is behind it; `length` is its length. */
static const char *own_stem(const popc_input *input, int *length)
{
  bool is_stream = input->text || !strcmp(input->path, "-");
  const char *file = is_stream ? "stdin" : file_of(input->path);
  *length = stem_length(file);
  return file;
}

/* Does an input have this stem? A .gp has no files here. */
static bool has_stem(const popc_input *input, const char *stem, int length)
{
  int own_length;
  const char *own = own_stem(input, &own_length);
  popc_language language;
  bool named = input->language ? popc_language_named(input->language, &language)
                               : popc_language_of(input->path, &language);
  if (!input->text && named && language == POPC_GP_FILE) return false;
  return own_length == length && !strncmp(own, stem, (size_t)length);
}

static size_t count_stems(const popc_settings *settings, size_t end, const char *stem, int length)
{
  size_t count = 0;
  for (size_t i = 0; i < end; ++i) count += has_stem(&settings->inputs[i], stem, length);
  return count;
}

/* For the source that is being compiled. "a" and "a-2" are the stems of the files of a.c and a.cpp,
 * "a" and "a-3" if there is an a-2.c, too. */
static const char *unique_stem(popc_settings *settings)
{
  size_t index = atomic_load(&settings->num_begun) - 1;
  int length;
  const char *file = own_stem(&settings->inputs[index], &length);
  const char *stem = pop_arena_printf(settings->arena, "%.*s", length, file);
  size_t before = count_stems(settings, index, file, length);
  for (unsigned number = 2; before; ++number) {
    stem = pop_arena_printf(settings->arena, "%.*s-%u", length, file, number);
    before -= !count_stems(settings, settings->num_inputs, stem, (int)strlen(stem));
  }
  return stem;
}

/* "codelets-ipu2_cpp": a variant's name may have characters that file names should not have. */
static const char *stem_of(popc_settings *settings, const popc_variant *variant)
{
  char *name = pop_arena_strdup(settings->arena, variant->name);
  for (char *p = name; *p; ++p)
    if (*p == ':') *p = '_';
  const char *output = settings->output, *end = output ? strrchr(output, '/') : NULL;
  int folder = settings->save_temps_beside && end ? (int)(end + 1 - output) : 0;
  return pop_arena_printf(settings->arena, "%.*s%s-%s", folder, output, unique_stem(settings),
                          name);
}

/* An input that has the name of such a file is not read yet, perhaps. */
static pop_error *save(const popc_settings *settings, const char *path, const popc_result *result)
{
  for (size_t i = 0; i < settings->num_inputs; ++i)
    if (!settings->inputs[i].text && pop_is_same_file(path, settings->inputs[i].path))
      return pop_error_new(POP_ERROR_USAGE,
                           "--save-temps would replace the input '%s': --save-temps=obj writes "
                           "beside the output",
                           settings->inputs[i].path);
  return popc_write_file(path, result->bytes, result->size);
}

static pop_error *save_product(popc_settings *settings, const popc_source *source,
                               const popc_variant *variant, popc_product product, const char *path)
{
  popc_result result = {0};
  pop_bytes again = {0}; /* these diagnostics were shown before */
  pop_error *error = popc_compile_source(settings, source, product, &variant, 1, &result, &again);
  if (!error) error = save(settings, path, &result);
  popc_results_free(&result, 1);
  pop_bytes_free(&again);
  return error;
}

pop_error *popc_save_temporaries(popc_settings *settings, const popc_source *source,
                                 const popc_variant *variant, const popc_result *object)
{
  const char *stem = stem_of(settings, variant);
  POP_TRY(save(settings, pop_arena_printf(settings->arena, "%s.o", stem), object));
  if (!popc_is_codelet_language(source->language)) return NULL;
  const char *text = source->language == POPC_C ? "i" : "ii";
  POP_TRY(save_product(settings, source, variant, POPC_PREPROCESSED,
                       pop_arena_printf(settings->arena, "%s.%s", stem, text)));
  return save_product(settings, source, variant, POPC_ASSEMBLY,
                      pop_arena_printf(settings->arena, "%s.s", stem));
}
