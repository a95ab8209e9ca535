/* What codelets are compiled for.
 *
 * --target takes names, "ipu1,ipu2,cpu", or JSON, for build scripts that compile one source in
 * several ways for one kind of tile:
 *
 *   ["ipu2", {"name": "ipu2:cpp", "arch": "ipu2", "compile-flags": ["-DPLAIN"]}]
 *
 * Such a variant is a target of its own in the `.gp`, which loaders select by its name.
 */
#include "popc_internal.h"

#include <populus/json_text.h>
#include <populus/names.h>

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const char popc_target_list[] = "cpu,ipu1,ipu2,ipu21";

/* The target whose messages and products are shown by default. */
#define DEFAULT_TILE "ipu2"

static const struct {
  const char *name;
  popc_target target;
  unsigned version; /* __IPU_ARCH_VERSION__ */
} known[] = {{"cpu", POPC_HOST, 0},
             {"ipu1", POPC_TILE, 1},
             {"ipu2", POPC_TILE, 2},
             {"ipu21", POPC_TILE, 21}};
#define NUM_KNOWN (sizeof known / sizeof *known)

static size_t find_known(const char *name)
{
  size_t i = 0;
  while (i < NUM_KNOWN && strcmp(known[i].name, name) != 0) ++i;
  return i;
}

unsigned popc_architecture_version(const popc_variant *variant)
{
  size_t i = find_known(variant->architecture);
  return i < NUM_KNOWN ? known[i].version : 0;
}

bool popc_same_flags(const popc_variant *a, const popc_variant *b)
{
  if (a->num_flags != b->num_flags) return false;
  if (!a->flags || !b->flags) return a->num_flags == 0;
  for (size_t i = 0; i < a->num_flags; ++i)
    if (strcmp(a->flags[i], b->flags[i]) != 0) return false;
  return true;
}

static pop_error *unknown_target(const char *name)
{
  const char *names[NUM_KNOWN];
  for (size_t i = 0; i < NUM_KNOWN; ++i) names[i] = known[i].name;
  const char *nearest = pop_nearest_name(name, names, NUM_KNOWN);
  if (nearest)
    return pop_error_new(POP_ERROR_USAGE,
                         "unknown target '%s'; did you mean '%s'? popc compiles for %s", name,
                         nearest, popc_target_list);
  return pop_error_new(POP_ERROR_USAGE, "unknown target '%s': popc compiles for %s", name,
                       popc_target_list);
}

/* Names stand in lists in the `.gp`. */
static bool is_target_name(const char *name)
{
  for (const char *p = name; *p; ++p)
    if (!isalnum((unsigned char)*p) && !strchr("_.:+-", *p)) return false;
  return *name;
}

static pop_error *add_variant(popc_settings *settings, const popc_variant *variant)
{
  for (size_t i = 0; i < settings->num_variants; ++i) {
    const popc_variant *other = &settings->variants[i];
    if (strcmp(other->name, variant->name) != 0) continue;
    if (!strcmp(other->architecture, variant->architecture) && popc_same_flags(other, variant))
      return NULL;
    return pop_error_new(POP_ERROR_USAGE, "target '%s' is described twice", variant->name);
  }
  pop_push(settings->variants, settings->num_variants, settings->variants_capacity, *variant);
  return NULL;
}

static pop_error *add_named(popc_settings *settings, const char *name)
{
  size_t i = find_known(name);
  if (i == NUM_KNOWN) return unknown_target(name);
  popc_variant variant = {known[i].name, known[i].name, known[i].target, NULL, 0};
  return add_variant(settings, &variant);
}

static pop_error *take_names(popc_settings *settings, const char *value)
{
  for (;;) {
    size_t length = strcspn(value, ",");
    if (!length) return pop_error_new(POP_ERROR_USAGE, "--target has an empty name in its list");
    POP_TRY(add_named(settings, pop_arena_printf(settings->arena, "%.*s", (int)length, value)));
    if (!value[length]) return NULL;
    value += length + 1;
  }
}

/* JSON */

static pop_error *wrong_json(const char *what)
{
  return pop_error_new(POP_ERROR_USAGE,
                       "--target: %s; a target is a name or "
                       "{\"name\": …, \"arch\": …, \"compile-flags\": […]}",
                       what);
}

/* Is there nothing but what clang gets? The rest of a command line is for all targets. */
static bool has_only_flags(const popc_settings *parsed)
{
  bool remedies = false;
  for (size_t i = 0; i < POPC_NUM_REMEDIES; ++i) remedies |= parsed->remedies[i].when != POPC_AUTO;
  return !parsed->output && !parsed->product && !parsed->targets_chosen && !parsed->answer &&
         !parsed->language && !parsed->json && !parsed->save_temps && !parsed->dependencies &&
         !parsed->dependency_file && !parsed->num_dependency_targets && !parsed->database_file &&
         !parsed->no_cache && !parsed->vectors && !parsed->verbose && !remedies;
}

/* The flags are checked by the same table as those of the command line. */
static pop_error *take_flags(popc_settings *settings, const json_t *flags, popc_variant *variant)
{
  if (!flags) return NULL;
  if (!json_is_array(flags)) return wrong_json("compile-flags is no array");
  size_t count = json_array_size(flags);
  const char **items = pop_arena_alloc(settings->arena, (count + 1) * sizeof *items);
  for (size_t i = 0; i < count; ++i) {
    const char *text = json_string_value(json_array_get(flags, i));
    if (!text) return wrong_json("one of compile-flags is no string");
    items[i] = pop_arena_strdup(settings->arena, text);
  }
  popc_settings *parsed = popc_settings_new();
  pop_error *error = popc_parse_options(parsed, count, items, false);
  if (!error && !has_only_flags(parsed))
    error = pop_error_new(POP_ERROR_USAGE, "only options for the compiler can be there");
  size_t num_flags = parsed->num_clang + parsed->num_clang_tile;
  variant->flags = pop_arena_alloc(settings->arena, (num_flags + 1) * sizeof *variant->flags);
  for (size_t i = 0; i < num_flags; ++i)
    variant->flags[i] =
        i < parsed->num_clang ? parsed->clang[i] : parsed->clang_tile[i - parsed->num_clang];
  variant->num_flags = num_flags;
  popc_settings_free(parsed);
  return error ? pop_error_prefix(error, "compile-flags of target '%s'", variant->name) : NULL;
}

static pop_error *check_keys(json_t *object)
{
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value)
  {
    if (strcmp(key, "name") != 0 && strcmp(key, "arch") != 0 && strcmp(key, "compile-flags") != 0)
      return wrong_json("unknown key");
  }
  return NULL;
}

static pop_error *take_object(popc_settings *settings, json_t *object)
{
  POP_TRY(check_keys(object));
  const char *name = json_string_value(json_object_get(object, "name"));
  const char *architecture = json_string_value(json_object_get(object, "arch"));
  if (!name || !is_target_name(name)) return wrong_json("a target has no name");
  size_t i = find_known(architecture ? architecture : name);
  if (i == NUM_KNOWN) return unknown_target(architecture ? architecture : name);
  size_t named = find_known(name);
  if (named != i && (named < NUM_KNOWN || known[i].target == POPC_HOST))
    return pop_error_new(POP_ERROR_USAGE,
                         "--target: a target of architecture '%s' cannot have the name '%s': %s",
                         known[i].name, name,
                         named < NUM_KNOWN ? "that is another architecture's"
                                           : "the host's code has the name of its architecture");
  popc_variant variant = {pop_arena_strdup(settings->arena, name), known[i].name, known[i].target,
                          NULL, 0};
  POP_TRY(take_flags(settings, json_object_get(object, "compile-flags"), &variant));
  return add_variant(settings, &variant);
}

static pop_error *take_json_value(popc_settings *settings, json_t *value)
{
  if (json_is_object(value)) return take_object(settings, value);
  if (json_is_string(value)) return add_named(settings, json_string_value(value));
  if (!json_is_array(value)) return wrong_json("a target is neither string nor object");
  pop_error *error = NULL;
  for (size_t i = 0; i < json_array_size(value) && !error; ++i) {
    json_t *item = json_array_get(value, i);
    error =
        json_is_array(item) ? wrong_json("an array in an array") : take_json_value(settings, item);
  }
  return error;
}

static pop_error *take_json(popc_settings *settings, const char *text)
{
  json_error_t where;
  json_t *value = pop_json_load(text, strlen(text), &where);
  if (!value)
    return pop_error_new(POP_ERROR_USAGE, "--target: at byte %d of its JSON: %s", where.position,
                         where.text);
  pop_error *error = take_json_value(settings, value);
  if (!error && !settings->num_variants) error = wrong_json("no target");
  json_decref(value);
  return error;
}

pop_error *popc_take_targets(popc_settings *settings, const char *value)
{
  settings->num_variants = 0;
  settings->targets_chosen = true;
  return *value == '[' || *value == '{' ? take_json(settings, value) : take_names(settings, value);
}

pop_error *popc_default_targets(popc_settings *settings)
{
  bool one = settings->product == POPC_PREPROCESSED || settings->product == POPC_ASSEMBLY ||
             settings->product == POPC_IR || settings->product == POPC_BITCODE;
  if (!settings->num_variants) return take_names(settings, one ? DEFAULT_TILE : popc_target_list);
  if (one && settings->num_variants > 1)
    return pop_error_new(POP_ERROR_USAGE,
                         "-E, -S and -emit-llvm are for one target: choose one, e.g. "
                         "--target " DEFAULT_TILE);
  return NULL;
}
