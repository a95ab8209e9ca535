/* -MJ: entries of compile_commands.json, which tells clangd, clang-tidy and others how a source is
 * compiled: by clang, for the tile, for ipu2 if it is among the targets. An entry has clang's form,
 * an object and a comma: the entries of all sources, concatenated between brackets, are the file.
 *
 * Source: clang's documentation, "JSON Compilation Database Format Specification".
 */
#include "popc_internal.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const popc_variant *shown_variant(const popc_settings *settings)
{
  const popc_variant *shown = settings->variants;
  for (size_t i = 0; i < settings->num_variants; ++i) {
    const popc_variant *variant = &settings->variants[i];
    if (variant->target != POPC_TILE) continue;
    if (!strcmp(variant->architecture, "ipu2")) return variant;
    if (shown->target != POPC_TILE) shown = variant;
  }
  return shown;
}

/* False if the text is not UTF-8. */
static bool add_text(json_t *list, const char *text)
{
  return json_array_append_new(list, json_string(text)) == 0;
}

/* NULL if one of them is not UTF-8. */
static json_t *arguments_of(popc_settings *settings, const popc_source *source, const char *clang)
{
  popc_arguments arguments = {0};
  popc_make_arguments(settings, source->language, shown_variant(settings), settings->arena,
                      &arguments);
  json_t *list = json_array();
  bool good = add_text(list, clang);
  for (size_t i = 0; i < arguments.count && good; ++i) good = add_text(list, arguments.items[i]);
  good = good && add_text(list, "-c") && add_text(list, source->path);
  free(arguments.items);
  if (good) return list;
  json_decref(list);
  return NULL;
}

pop_error *popc_put_database_entry(popc_settings *settings, const popc_source *source,
                                   pop_bytes *out)
{
  const char *clang;
  POP_TRY(popc_find_clang(settings->arena, &clang));
  char *folder = get_current_dir_name();
  if (!folder) return pop_error_errno(errno, "cannot tell the current folder, which -MJ writes");
  json_t *arguments = arguments_of(settings, source, clang), *entry = NULL;
  if (arguments)
    entry = json_pack("{s:s, s:s, s:s, s:o}", "directory", folder, "file", source->path, "output",
                      settings->output, "arguments", arguments);
  char *text = entry ? json_dumps(entry, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
  json_decref(entry);
  free(folder);
  if (!text)
    return pop_error_new(POP_ERROR_USAGE, "-MJ: the name '%s', or an argument, is not UTF-8",
                         source->path);
  pop_bytes_append(out, text, strlen(text));
  pop_bytes_append(out, ",\n", 2);
  free(text);
  return NULL;
}
