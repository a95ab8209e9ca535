/* What the tile objects need of the device library (libdevice.a, libc.a, libgcc.a), transitively.
 *
 * It works like a linker: an undefined symbol pulls in the first member that the archives' symbol
 * indexes name for it, and that member may have undefined symbols of its own. The archives are
 * installed with popc. They are opened when the first symbol is missing, once per process.
 *
 * A symbol that stays undefined and is reached by a vertex is an error if no other codelet file
 * can be expected to define it (the heap, the operating system, …). Otherwise it is a warning,
 * as files that are compiled one by one are merged later. The graph compiler's linker decides
 * in the end (S10).
 */
#include "popc_internal.h"

#include <populus/archive.h>
#include <populus/data_dir.h>
#include <populus/file.h>
#include <populus/out_of_memory.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIBRARY_BYTES ((size_t)256 << 20)

/* In the order in which they are searched. */
static const char *const library_names[] = {"libdevice.a", "libc.a", "libgcc.a"};
#define NUM_LIBRARIES (sizeof library_names / sizeof *library_names)

/* ar's symbol index: a count, that many offsets of member headers (all big-endian), as
 * many names. */
typedef struct library {
  char *path;
  uint8_t *bytes;
  pop_archive *archive; /* over bytes */
  const uint8_t *offsets;
  uint32_t num_symbols;
  const char **symbols;
} library;

static library libraries[NUM_LIBRARIES];
static bool libraries_open;
static pthread_mutex_t libraries_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t big_endian(const uint8_t *p)
{
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static pop_error *damaged(const library *library)
{
  return pop_error_new(POP_ERROR_SYSTEM, "'%s' has no symbol index: install Populus again",
                       library->path);
}

static pop_error *read_index(library *library, size_t size)
{
  enum { HEADER = 8 + 60 };
  const uint8_t *start = library->bytes + HEADER, *end = library->bytes + size;
  if (size < HEADER + 4 || memcmp(library->bytes + 8, "/ ", 2) != 0) return damaged(library);
  uint32_t count = big_endian(start);
  if (count > (size - HEADER - 4) / 5) return damaged(library);
  library->offsets = start + 4;
  library->num_symbols = count;
  library->symbols = pop_xcalloc(count + 1, sizeof *library->symbols);
  const uint8_t *name = start + 4 + 4 * (size_t)count;
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t *nul = memchr(name, 0, (size_t)(end - name));
    if (!nul) return damaged(library);
    library->symbols[i] = (const char *)name;
    name = nul + 1;
  }
  return NULL;
}

static pop_error *open_library(library *library, const char *name)
{
  library->path = pop_xasprintf("%s/device/lib/%s", pop_data_dir(), name);
  size_t size;
  POP_TRY(pop_file_read(library->path, MAX_LIBRARY_BYTES, &library->bytes, &size));
  POP_TRY(pop_archive_open_memory(library->bytes, size, library->path, &library->archive));
  return read_index(library, size);
}

static void close_libraries(void)
{
  for (size_t i = 0; i < NUM_LIBRARIES; ++i) {
    pop_archive_close(libraries[i].archive);
    free(libraries[i].symbols);
    free(libraries[i].bytes);
    free(libraries[i].path);
    libraries[i] = (library){0};
  }
}

static pop_error *open_libraries(void)
{
  pop_memory_hold();
  pthread_mutex_lock(&libraries_lock);
  pop_error *error = NULL;
  for (size_t i = 0; i < NUM_LIBRARIES && !libraries_open && !error; ++i)
    error = open_library(&libraries[i], library_names[i]);
  if (error)
    close_libraries();
  else
    libraries_open = true;
  pthread_mutex_unlock(&libraries_lock);
  pop_memory_release();
  return error ? pop_error_prefix(error, "the device library") : NULL;
}

/* The index of the member whose header is at `offset`, or the number of members. */
static size_t member_at(const pop_archive *archive, uint64_t offset)
{
  size_t low = 0, count = pop_archive_num_members(archive), high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (pop_archive_get_member(archive, middle)->offset < offset + 60)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && pop_archive_get_member(archive, low)->offset == offset + 60 ? low : count;
}

static bool find_symbol(const char *symbol, const library **found, size_t *member)
{
  for (size_t i = 0; i < NUM_LIBRARIES; ++i) {
    const library *library = &libraries[i];
    for (uint32_t j = 0; j < library->num_symbols; ++j) {
      if (strcmp(library->symbols[j], symbol) != 0) continue;
      *found = library;
      *member = member_at(library->archive, big_endian(library->offsets + 4 * (size_t)j));
      return *member < pop_archive_num_members(library->archive);
    }
  }
  return false;
}

/* The search: symbols to find, objects that were pulled in. */

typedef struct search {
  pop_link_set *set;
  pop_gp_builder *builder;
  pop_arena *arena;
  const char **wanted; /* undefined symbols; the first `done` have been looked up */
  size_t num_wanted, wanted_capacity, done;
  pop_object **pulled;
  size_t num_pulled, pulled_capacity;
  const popc_origin *origin;
  pop_bytes *warnings;
} search;

static void want_undefined(void *context, const char *name, bool defined, bool weak)
{
  search *s = context;
  if (defined || weak) return;
  for (size_t i = 0; i < s->num_wanted; ++i)
    if (!strcmp(s->wanted[i], name)) return;
  pop_push(s->wanted, s->num_wanted, s->wanted_capacity, pop_arena_strdup(s->arena, name));
}

static pop_error *pull(search *s, const library *library, size_t member)
{
  const char *name = pop_archive_get_member(library->archive, member)->name;
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_archive_read_member(library->archive, member, &bytes, &size));
  pop_object *object = NULL;
  pop_error *error = pop_object_parse(bytes, size, name, &object);
  if (!error) pop_push(s->pulled, s->num_pulled, s->pulled_capacity, object);
  if (!error) error = pop_gp_builder_add_library(s->builder, name, bytes, size);
  if (!error) error = pop_link_set_add(s->set, object, true);
  if (!error) pop_object_symbols(object, want_undefined, s);
  free(bytes);
  return error;
}

static pop_error *resolve(search *s)
{
  for (; s->done < s->num_wanted; ++s->done) {
    const char *symbol = s->wanted[s->done];
    if (pop_link_set_defines(s->set, symbol)) continue;
    POP_TRY(open_libraries());
    const library *library;
    size_t member;
    if (find_symbol(symbol, &library, &member)) POP_TRY(pull(s, library, member));
  }
  return NULL;
}

typedef struct missing_symbols {
  const char **items;
  size_t count, capacity;
} missing_symbols;

/* A symbol that another file may define gets an address for now, so that the rest can
 * be checked. */
static void define_what_may_come(const search *s, missing_symbols *missing)
{
  for (size_t i = 0; i < s->num_wanted; ++i) {
    const char *symbol = s->wanted[i];
    if (pop_link_set_defines(s->set, symbol) || pop_link_is_foreign_symbol(symbol)) continue;
    pop_link_set_define(s->set, symbol, 0);
    pop_push(missing->items, missing->count, missing->capacity, symbol);
  }
}

static void warn_of_missing(const pop_live_sections *live, const char *const *needed_by,
                            const char *symbol, pop_bytes *warnings)
{
  pop_error *why = pop_live_sections_explain_given(live, needed_by, symbol);
  if (!why) return;
  char *text = pop_xasprintf("popc: warning: %s: another codelet file must define it\n",
                             pop_error_message(why));
  pop_bytes_append(warnings, text, strlen(text));
  free(text);
  pop_error_free(why);
}

/* Every vertex must be linkable: names the missing symbols and who needs them. */
static pop_error *check_links(const search *s, const pop_gp *gp, bool warn)
{
  size_t count = pop_gp_num_vertex_types(gp);
  const char **roots = pop_arena_alloc(s->arena, (count + 1) * sizeof *roots);
  const char **needed_by = pop_arena_alloc(s->arena, (count + 1) * sizeof *needed_by);
  for (size_t i = 0; i < count; ++i) {
    const pop_vertex_type *type = pop_gp_vertex_type(gp, i);
    roots[i] = type->symbol;
    needed_by[i] = pop_arena_printf(s->arena, "vertex %s (%s)", type->name, type->source);
  }
  missing_symbols missing = {0};
  define_what_may_come(s, &missing);
  pop_live_sections *live = NULL;
  pop_error *error = pop_live_sections_create(s->set, roots, needed_by, count, &live);
  for (size_t i = 0; i < missing.count && !error && warn; ++i)
    warn_of_missing(live, needed_by, missing.items[i], s->warnings);
  if (!error) error = popc_check_vertex_sizes(s->set, gp, live, s->origin);
  pop_live_sections_free(live);
  free(missing.items);
  return error;
}

static pop_error *run_search(search *s, const pop_gp *gp)
{
  for (size_t i = 0; i < pop_gp_num_tile_objects(gp); ++i) {
    bool is_library;
    const pop_object *object = pop_gp_tile_object(gp, i, &is_library);
    POP_TRY(pop_link_set_add(s->set, object, is_library));
    pop_object_symbols(object, want_undefined, s);
  }
  POP_TRY(resolve(s));
  bool first = s->warnings->size == 0; /* the other targets would get the same warnings */
  if (first) POP_TRY(popc_warn_of_stacks(s->set, gp, s->origin, s->warnings));
  return check_links(s, gp, first);
}

pop_error *popc_add_runtime_library(const pop_gp *gp, const popc_origin *origin,
                                    pop_gp_builder *builder, pop_bytes *warnings)
{
  search s = {.set = pop_link_set_new(),
              .builder = builder,
              .arena = pop_arena_new(),
              .origin = origin,
              .warnings = warnings};
  pop_link_set_define(s.set, POP_LINK_MEMORY_BASE, 0); /* the graph compiler's linker defines it */
  pop_error *error = run_search(&s, gp);
  pop_link_set_free(s.set);
  for (size_t i = 0; i < s.num_pulled; ++i) pop_object_free(s.pulled[i]);
  free(s.pulled);
  free(s.wanted);
  pop_arena_free(s.arena);
  return error;
}
