/* Which line of a source made an instruction, for warnings about compiled code.
 *
 * The debug information says it. If an object has none, its source is compiled once more with -g,
 * which changes nothing but debug information. Only who gets a warning pays for that compilation.
 * Code from elsewhere (a .gp, the device library, assembly) stays without a line.
 */
#include "popc_internal.h"

#include <populus/file.h>

#include <stdlib.h>
#include <string.h>

#define MAX_TEXT_BYTES ((size_t)16 << 20) /* of a file that a line is shown from */

/* One of the objects that were asked about, or a source that was compiled again. */
typedef struct source_debug_info {
  const pop_object *object; /* of the set */
  pop_object *again;        /* of the source; NULL: it does not compile */
  pop_debug_info *info;     /* NULL: there is none */
} source_debug_info;

typedef struct text {
  const char *path; /* in the settings' arena */
  uint8_t *bytes;   /* NULL: cannot be read */
  size_t size;
} text;

struct popc_source_places {
  const popc_origin *origin;
  source_debug_info *objects;
  size_t num_objects, objects_capacity;
  source_debug_info *again; /* parallel to the sources, as far as they were compiled */
  size_t num_again, again_capacity;
  text *texts;
  size_t num_texts, texts_capacity;
};

popc_source_places *popc_source_places_new(const popc_origin *origin)
{
  popc_source_places *places = pop_xcalloc(1, sizeof *places);
  places->origin = origin;
  return places;
}

void popc_source_places_free(popc_source_places *places)
{
  for (size_t i = 0; i < places->num_objects; ++i) pop_debug_info_free(places->objects[i].info);
  for (size_t i = 0; i < places->num_again; ++i) {
    pop_debug_info_free(places->again[i].info);
    pop_object_free(places->again[i].again);
  }
  for (size_t i = 0; i < places->num_texts; ++i) free(places->texts[i].bytes);
  free(places->objects);
  free(places->again);
  free(places->texts);
  free(places);
}

/* The variant of that name, or the first that is for tiles. */
static const popc_variant *variant_of(const popc_origin *origin)
{
  const popc_settings *settings = origin->settings;
  const popc_variant *found = NULL;
  for (size_t i = 0; i < settings->num_variants; ++i) {
    const popc_variant *variant = &settings->variants[i];
    if (variant->target != POPC_TILE) continue;
    if (!strcmp(variant->name, origin->target)) return variant;
    if (!found) found = variant;
  }
  return found;
}

static pop_error *compile_again(const popc_origin *origin, const popc_source *source,
                                const popc_variant *variant, pop_object **object)
{
  popc_settings settings = *origin->settings;
  const char **clang = pop_xcalloc(settings.num_clang + 2, sizeof *clang);
  if (settings.num_clang) memcpy(clang, settings.clang, settings.num_clang * sizeof *clang);
  clang[settings.num_clang++] = "-g";
  settings.clang = clang;
  settings.verbose = settings.save_temps = false;
  settings.dependencies = 0;
  popc_result result = {0};
  pop_bytes said_already = {0};
  pop_error *error =
      popc_compile_source(&settings, source, POPC_GP, &variant, 1, &result, &said_already);
  if (!error) error = pop_object_make_steps(result.bytes, result.size, source->path);
  if (!error) error = pop_object_parse(result.bytes, result.size, source->path, object);
  popc_results_free(&result, 1);
  pop_bytes_free(&said_already);
  free(clang);
  return error;
}

static source_debug_info compile_for_debug_info(const popc_origin *origin,
                                                const popc_source *source)
{
  source_debug_info k = {0};
  const popc_variant *variant = variant_of(origin);
  if (!variant || !popc_is_codelet_language(source->language)) return k;
  pop_error_free(compile_again(origin, source, variant, &k.again));
  if (k.again) k.info = pop_debug_info_open(k.again);
  return k;
}

static const pop_debug_info *find_in_sources(popc_source_places *places, const pop_object *object,
                                             uint32_t *section)
{
  for (size_t i = 0; i < places->origin->num_sources; ++i) {
    if (i == places->num_again)
      pop_push(places->again, places->num_again, places->again_capacity,
               compile_for_debug_info(places->origin, &places->origin->sources[i]));
    const source_debug_info *k = &places->again[i];
    uint32_t same = k->info ? pop_object_same_section(object, *section, k->again) : 0;
    if (!same) continue;
    *section = same;
    return k->info;
  }
  return NULL;
}

const pop_debug_info *popc_find_debug_info(popc_source_places *places, const pop_object *object,
                                           uint32_t *section)
{
  size_t i = 0;
  while (i < places->num_objects && places->objects[i].object != object) ++i;
  if (i == places->num_objects) {
    source_debug_info k = {.object = object};
    if (pop_object_section(object, ".debug_line", &(size_t){0}))
      k.info = pop_debug_info_open(object);
    pop_push(places->objects, places->num_objects, places->objects_capacity, k);
  }
  const pop_debug_info *info = places->objects[i].info;
  return info ? info : find_in_sources(places, object, section);
}

/* ---- texts ---- */

static const popc_source *find_source(const popc_origin *origin, const char *path)
{
  for (size_t i = 0; i < origin->num_sources; ++i)
    if (!strcmp(origin->sources[i].path, path)) return &origin->sources[i];
  return NULL;
}

static const text *read_text(popc_source_places *places, const char *path)
{
  for (size_t i = 0; i < places->num_texts; ++i)
    if (!strcmp(places->texts[i].path, path)) return &places->texts[i];
  text t = {.path = pop_arena_strdup(places->origin->settings->arena, path)};
  pop_error_free(pop_file_read(path, MAX_TEXT_BYTES, &t.bytes, &t.size));
  pop_push(places->texts, places->num_texts, places->texts_capacity, t);
  return &places->texts[places->num_texts - 1];
}

void popc_find_text(popc_source_places *places, popc_place *place)
{
  const popc_source *source = find_source(places->origin, place->path);
  const text *file = source ? NULL : read_text(places, place->path);
  const char *at = (const char *)(source ? source->text : file->bytes);
  if (!at) return;
  const char *end = at + (source ? source->size : file->size);
  for (unsigned line = 1; line < place->line && at; ++line) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (at) ++at;
  }
  if (!at || at >= end) return;
  place->text = at;
  place->text_size = (size_t)(end - at);
}
