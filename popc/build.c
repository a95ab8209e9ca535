/* One source, compiled for all targets, into the `.gp`.
 *
 * Tiles differ by the macro __IPU_ARCH_VERSION__ and by flags that the command line gives to
 * one target. So a source is compiled once for all targets with equal flags. If a file that was
 * read turns out to mention the macro (architecture.c), the source is compiled again for each
 * of the other IPUs. Assembly is compiled for each target, which is cheap, and so is everything
 * if an option mentions the macro. Equal objects become one in the `.gp`.
 */
#include "popc_internal.h"

#include <populus/vertex_table.h>

#include <stdlib.h>
#include <string.h>

/* Targets that share one compilation. The compiler gets the first one's flags. */
typedef struct group {
  const popc_variant *variant;
  const char *targets; /* "ipu1,ipu2" */
} group;

typedef struct build {
  popc_settings *settings;
  const popc_source *source;
  pop_gp_builder *builder;
  popc_file_list *dependencies;
  pop_bytes *diagnostics;
  bool *done;            /* parallel to the variants */
  bool for_tiles, holds; /* the source has an object for tiles; that object is not empty */
} build;

static bool can_share_compilation(const popc_variant *a, const popc_variant *b,
                                  bool by_architecture)
{
  if (a->target != b->target || !popc_same_flags(a, b)) return false;
  return !by_architecture || !strcmp(a->architecture, b->architecture);
}

/* ipu2 if it shares: the diagnostics are then those of the most common target. */
static const popc_variant *choose(const popc_settings *settings, const popc_variant *first)
{
  for (size_t i = 0; i < settings->num_variants; ++i) {
    const popc_variant *variant = &settings->variants[i];
    if (can_share_compilation(first, variant, false) && !strcmp(variant->architecture, "ipu2"))
      return variant;
  }
  return first;
}

/* Groups the variants that are not done, tiles before the host, at most as many as may run
 * at once. */
static size_t make_groups(build *b, bool by_architecture, group groups[POPC_MAX_JOBS])
{
  popc_settings *settings = b->settings;
  size_t count = 0;
  for (int target = POPC_TILE; target <= POPC_HOST; ++target) {
    for (size_t i = 0; i < settings->num_variants && count < POPC_MAX_JOBS; ++i) {
      const popc_variant *first = &settings->variants[i];
      if (b->done[i] || (int)first->target != target) continue;
      group *g = &groups[count++];
      *g = (group){by_architecture ? first : choose(settings, first), ""};
      for (size_t j = i; j < settings->num_variants; ++j) {
        const popc_variant *other = &settings->variants[j];
        if (b->done[j] || !can_share_compilation(g->variant, other, by_architecture)) continue;
        b->done[j] = true;
        g->targets = pop_arena_printf(settings->arena, "%s%s%s", g->targets, *g->targets ? "," : "",
                                      other->name);
      }
    }
  }
  return count;
}

/* The mark that architecture.c leaves in an object. */
static bool depends_on_architecture(const popc_result *result)
{
  return memmem(result->bytes, result->size, POPC_ARCHITECTURE_SECTION,
                strlen(POPC_ARCHITECTURE_SECTION));
}

/* The group's object depends on the architecture: only the variants of the architecture that it was
 * compiled for are done. */
static void keep_same_architecture(build *b, group *g)
{
  const popc_settings *settings = b->settings;
  const char *targets = "";
  for (size_t i = 0; i < settings->num_variants; ++i) {
    const popc_variant *variant = &settings->variants[i];
    if (!can_share_compilation(g->variant, variant, false)) continue;
    b->done[i] = can_share_compilation(g->variant, variant, true);
    if (b->done[i])
      targets =
          pop_arena_printf(settings->arena, "%s%s%s", targets, *targets ? "," : "", variant->name);
  }
  g->targets = targets;
}

/* The vertex table names files without folders, so that a .gp does not depend on these. */
static bool is_tail(const char *name, const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && !strcmp(name, slash + 1);
}

/* The line of the vertex whose entry is `symbol`; the source file if the table has no
 * such vertex. */
static popc_place place_of_vertex(const build *b, const pop_object *object, const char *symbol,
                                  const char **vertex)
{
  pop_arena *arena = b->settings->arena;
  pop_vertex_type *types;
  size_t size, count;
  const char *table = pop_object_section(object, POP_VERTEX_TABLE_SECTION, &size);
  *vertex = NULL;
  if (table) {
    pop_error *error = pop_vertex_table_read(table, size, b->source->path, arena, &types, &count);
    for (size_t i = 0; i < count && !error && !*vertex; ++i) {
      if (strcmp(types[i].symbol, symbol) != 0) continue;
      *vertex = types[i].name;
      popc_place place = popc_vertex_place(&types[i], arena);
      if (is_tail(place.path, b->source->path)) place.path = b->source->path;
      return place;
    }
    pop_error_free(error); /* the .gp's builder says it */
  }
  return (popc_place){.path = b->source->path};
}

static void see_definition(void *context, const char *name, bool defined, bool weak)
{
  (void)name, (void)weak;
  *(bool *)context |= defined;
}

static bool has_code_or_symbols(const pop_object *object)
{
  size_t size = 0;
  bool defines = false;
  pop_object_section(object, ".text", &size);
  pop_object_symbols(object, see_definition, &defines);
  return size || defines;
}

/* Does each vertex have an entry? Checked here, as its line is known only here. */
static pop_error *check_entries(build *b, const popc_result *result)
{
  pop_object *object;
  const char *symbol, *vertex;
  pop_error *error = pop_object_parse(result->bytes, result->size, b->source->path, &object);
  if (error) return error;
  b->for_tiles = true;
  b->holds |= has_code_or_symbols(object);
  error = pop_object_check_entries(object, POP_VERTEX_SYMBOL_PREFIX, &symbol);
  if (error) {
    popc_place place = place_of_vertex(b, object, symbol, &vertex);
    const char *text = pop_error_message(error) + strlen(b->source->path) + strlen(": ");
    if (vertex) text = pop_arena_printf(b->settings->arena, "vertex '%s': %s", vertex, text);
    popc_print_diagnostic(b->diagnostics, b->settings->colour, POPC_ERROR, &place, text);
    pop_error_free(error);
    error = pop_error_new(POP_ERROR_CODELET_COMPILE, "'%s' does not compile", b->source->path);
  }
  pop_object_free(object);
  return error;
}

static pop_error *take_result(build *b, group *g, const popc_result *result)
{
  popc_add_dependencies_of(b->settings, b->source, &result->dependencies, b->dependencies);
  bool tile = g->variant->target == POPC_TILE;
  if (tile) {
    POP_TRY(check_entries(b, result));
    POP_TRY(pop_object_make_steps(result->bytes, result->size, b->source->path));
    POP_TRY(pop_object_join(result->bytes, result->size, b->source->path));
  }
  if (b->settings->save_temps)
    POP_TRY(popc_save_temporaries(b->settings, b->source, g->variant, result));
  if (!tile)
    return pop_gp_builder_add_host(b->builder, result->bytes, result->size, b->source->path);
  return pop_gp_builder_add_tile(b->builder, g->targets, result->bytes, result->size,
                                 b->source->path);
}

/* Assembly with #include and #if takes two processes: the preprocessor, then the assembler. */
static pop_error *assemble_once(const build *b, const popc_variant *variant, popc_result *object,
                                pop_bytes *diagnostics)
{
  popc_result text = {0};
  pop_error *error = popc_compile_source(b->settings, b->source, POPC_PREPROCESSED, &variant, 1,
                                         &text, diagnostics);
  popc_source preprocessed = {.path = b->source->path,
                              .language = POPC_ASSEMBLER,
                              .text = text.bytes,
                              .size = text.size,
                              .is_stream = true};
  if (!error && !b->settings->dry_run)
    error = popc_compile_with_remedies(b->settings, &preprocessed, POPC_GP, &variant, 1, object,
                                       diagnostics);
  pop_bytes_free(&object->dependencies);
  object->dependencies = text.dependencies;
  free(text.bytes);
  return error;
}

/* The chip's assembly is tried without __IPU__, as codelets are (remedies.c). */
static pop_error *assemble(build *b, const popc_variant *variant, popc_result *object)
{
  size_t before = b->diagnostics->size;
  pop_error *first = assemble_once(b, variant, object, b->diagnostics);
  if (!first || !popc_is_chip_assembly(b->settings, b->diagnostics, before)) return first;
  pop_bytes said = {0};
  popc_results_free(object, 1);
  *object = (popc_result){0};
  b->settings->remedies[POPC_PORTABLE].on = true;
  pop_error *second = assemble_once(b, variant, object, &said);
  pop_error_free(second ? second : first);
  if (!second) {
    b->diagnostics->size = before;
    pop_bytes_append(b->diagnostics, said.data, said.size);
    popc_note_left_out_assembly(b->settings, b->source, b->diagnostics);
  }
  pop_bytes_free(&said);
  return second ? first : NULL;
}

/* What was said about one target is not said again about another. */
static void drop_repetition(pop_bytes *diagnostics, size_t before)
{
  size_t size = diagnostics->size - before;
  if (before && size && memmem(diagnostics->data, before, diagnostics->data + before, size))
    diagnostics->size = before;
}

static pop_error *compile_all(build *b, const group *groups, size_t count, popc_result *results)
{
  const popc_variant *variants[POPC_MAX_JOBS];
  size_t before = b->diagnostics->size;
  pop_error *error = NULL;
  for (size_t i = 0; i < count; ++i) variants[i] = groups[i].variant;
  if (b->source->language != POPC_ASSEMBLER_CPP) {
    error = popc_compile_with_remedies(b->settings, b->source, POPC_GP, variants, count, results,
                                       b->diagnostics);
    drop_repetition(b->diagnostics, before);
  }
  for (size_t i = 0; i < count && !error && b->source->language == POPC_ASSEMBLER_CPP; ++i) {
    before = b->diagnostics->size;
    error = assemble(b, variants[i], &results[i]);
    drop_repetition(b->diagnostics, before);
  }
  return error;
}

static pop_error *compile_groups(build *b, group *groups, size_t count, bool by_architecture)
{
  popc_result results[POPC_MAX_JOBS] = {{0}};
  pop_error *error = compile_all(b, groups, count, results);
  for (size_t i = 0; i < count && !error && !b->settings->dry_run; ++i) {
    bool tile = groups[i].variant->target == POPC_TILE;
    if (tile && !by_architecture && depends_on_architecture(&results[i]))
      keep_same_architecture(b, &groups[i]);
    error = take_result(b, &groups[i], &results[i]);
  }
  popc_results_free(results, count);
  return error;
}

static bool is_assembly(const popc_source *source)
{
  return source->language == POPC_ASSEMBLER || source->language == POPC_ASSEMBLER_CPP;
}

/* Assembly is for tiles; IR names its target. */
static bool is_for(const popc_source *source, popc_target target)
{
  if (is_assembly(source)) return target == POPC_TILE;
  if (source->language != POPC_LLVM_IR) return true;
  static const char triple[] = "target triple = \"";
  const char *found = memmem(source->text, source->size, triple, sizeof triple - 1);
  if (!found) return target == POPC_TILE || !memchr(source->text, 0, source->size); /* bitcode? */
  bool host =
      !strncmp(found + sizeof triple - 1, POPC_HOST_ARCHITECTURE, strlen(POPC_HOST_ARCHITECTURE));
  return host == (target == POPC_HOST);
}

static bool mention_architecture(const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; ++i)
    if (popc_mentions_architecture(words[i], strlen(words[i]))) return true;
  return false;
}

/* Do the options, as -DVERSION=__IPU_ARCH_VERSION__ does? No file need mention it then. */
static bool options_mention_architecture(const popc_settings *settings)
{
  bool found = mention_architecture(settings->clang, settings->num_clang) ||
               mention_architecture(settings->clang_tile, settings->num_clang_tile);
  for (size_t i = 0; i < settings->num_variants && !found; ++i)
    found = mention_architecture(settings->variants[i].flags, settings->variants[i].num_flags);
  return found;
}

pop_error *popc_build_source(popc_settings *settings, const popc_source *source,
                             pop_gp_builder *builder, popc_file_list *dependencies,
                             pop_bytes *diagnostics)
{
  build b = {.settings = settings,
             .source = source,
             .builder = builder,
             .dependencies = dependencies,
             .diagnostics = diagnostics};
  b.done = pop_xcalloc(settings->num_variants + 1, sizeof *b.done);
  for (size_t i = 0; i < settings->num_variants; ++i)
    b.done[i] = !is_for(source, settings->variants[i].target);
  bool by_architecture =
      source->language == POPC_ASSEMBLER_CPP || options_mention_architecture(settings);
  popc_begin_remedies(settings);
  pop_error *error = NULL;
  for (;;) {
    group groups[POPC_MAX_JOBS];
    size_t count = make_groups(&b, by_architecture, groups);
    if (!count || error) break;
    error = compile_groups(&b, groups, count, by_architecture);
    by_architecture = true;
  }
  settings->num_empty += is_assembly(source) && b.for_tiles && !b.holds;
  free(b.done);
  return error;
}
