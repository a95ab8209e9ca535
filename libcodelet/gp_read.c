/* Reading `.gp` files, which anyone may have made.
 *
 *   bytes -> ar members -> digest -> objects -> vertex tables -> one list of vertex types
 *
 * The digest finds damage, not malice. So every object and every table is checked as if
 * there were no digest.
 */
#include "gp_internal.h"

#include <populus/archive.h>
#include <populus/arena.h>
#include <populus/file.h>
#include <populus/out_of_memory.h>

#include <stdlib.h>
#include <string.h>

/* A thousand times the largest `.gp` that anybody will compile; refuses endless files
 * such as /dev/zero. */
#define MAX_GP_BYTES ((size_t)1 << 30)

static const struct {
  const char *prefix;
  gp_kind kind;
} prefixes[] = {{"tile-", GP_TILE}, {"lib-", GP_LIBRARY}, {"host-", GP_HOST}};

static bool kind_of_name(const char *name, gp_kind *kind)
{
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
    if (!strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix))) {
      *kind = prefixes[i].kind;
      return true;
    }
  }
  return false;
}

/* Says what the file is, if it is no archive. */
static pop_error *check_is_archive(const uint8_t *bytes, size_t size, const char *name)
{
  static const char magic[] = "!<arch>\n";
  size_t length = sizeof magic - 1;
  if (size >= length && !memcmp(bytes, magic, length)) return NULL;
  if (size && size < length && !memcmp(bytes, magic, size))
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' is truncated: it ends at byte %zu", name, size);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' is %s, not a .gp file: compile codelets with popc first", name,
                       pop_file_kind(bytes, size));
}

static pop_error *take_member(pop_gp *gp, const pop_archive *archive, size_t index)
{
  const pop_archive_member *found = pop_archive_get_member(archive, index);
  gp_member member = {0};
  if (strlen(found->name) >= sizeof member.name || !kind_of_name(found->name, &member.kind))
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' holds a member '%s': a .gp file has only tile-, lib- and host- "
                         "objects",
                         gp->name, found->name);
  if (gp->num_members && member.kind < gp->members[gp->num_members - 1].kind)
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s': member '%s' is not at its place", gp->name,
                         found->name);
  strcpy(member.name, found->name);
  POP_TRY(pop_archive_read_member(archive, index, &member.bytes, &member.size));
  pop_push(gp->members, gp->num_members, gp->capacity, member);
  return NULL;
}

static pop_error *read_members(pop_gp *gp, const pop_archive *archive)
{
  size_t count = pop_archive_num_members(archive);
  const char *first = count ? pop_archive_get_member(archive, 0)->name : "nothing";
  if (strcmp(first, GP_NOTE_MEMBER) != 0)
    return pop_error_new(POP_ERROR_FILE_LOAD,
                         "'%s' is an ar archive that begins with %s, not a .gp file (%s comes "
                         "first there): compile codelets with popc",
                         gp->name, first, GP_NOTE_MEMBER);
  for (size_t i = 1; i < count; ++i) POP_TRY(take_member(gp, archive, i));

  uint8_t *note;
  size_t note_size;
  POP_TRY(pop_archive_read_member(archive, 0, &note, &note_size));
  pop_error *error =
      gp_note_read(note, note_size, gp->name, gp->arena, gp->members, gp->num_members, &gp->digest);
  free(note);
  return error;
}

typedef struct definition {
  const char *key; /* the vertex's name or its symbol */
  const pop_vertex_type *type;
  const gp_member *member;
} definition;

static int compare_keys(const void *a, const void *b)
{
  return strcmp(((const definition *)a)->key, ((const definition *)b)->key);
}

/* Sorted by key, so that equal ones are neighbours. */
static definition *sort_definitions(const pop_gp *gp, bool by_symbol)
{
  definition *sorted = pop_xcalloc(gp->num_types + 1, sizeof *sorted);
  size_t count = 0;
  for (size_t i = 0; i < gp->num_members; ++i) {
    const gp_member *member = &gp->members[i];
    for (size_t j = 0; j < member->num_types; ++j) {
      const pop_vertex_type *type = &member->types[j];
      sorted[count++] = (definition){by_symbol ? type->symbol : type->name, type, member};
    }
  }
  qsort(sorted, count, sizeof *sorted, compare_keys);
  return sorted;
}

static pop_error *check_two(const pop_gp *gp, const definition *a, const definition *b)
{
  if (!gp_targets_overlap(a->member->targets, b->member->targets)) return NULL;
  if (!strcmp(a->type->name, b->type->name))
    return pop_error_new(POP_ERROR_FILE_LOAD, "'%s' holds vertex '%s' twice: from %s and from %s",
                         gp->name, a->type->name, a->type->source, b->type->source);
  return pop_error_new(POP_ERROR_FILE_LOAD,
                       "'%s' holds symbol '%s' twice: of vertex '%s' (%s) and of vertex '%s' (%s)",
                       gp->name, a->type->symbol, a->type->name, a->type->source, b->type->name,
                       b->type->source);
}

/* No two objects for one target may define the same vertex, or the same symbol. */
static pop_error *check_no_two_alike(const pop_gp *gp, bool by_symbol)
{
  definition *sorted = sort_definitions(gp, by_symbol);
  pop_error *error = NULL;
  for (size_t i = 0; i < gp->num_types && !error; ++i)
    for (size_t k = i + 1; k < gp->num_types && !error && !compare_keys(&sorted[i], &sorted[k]);
         ++k)
      error = check_two(gp, &sorted[i], &sorted[k]);
  free(sorted);
  return error;
}

static pop_error *parse_members(pop_gp *gp)
{
  for (size_t i = 0; i < gp->num_members; ++i) {
    gp_member *member = &gp->members[i];
    POP_TRY(gp_member_parse(member, gp->name, gp->arena));
    for (size_t j = 0; j < member->num_types; ++j)
      pop_push(gp->types, gp->num_types, gp->types_capacity, member->types[j]);
  }
  POP_TRY(check_no_two_alike(gp, false));
  return check_no_two_alike(gp, true);
}

typedef struct gp_reading {
  pop_gp *gp;
  const uint8_t *bytes;
  size_t size;
} gp_reading;

static pop_error *read_gp(void *context)
{
  const gp_reading *reading = context;
  pop_gp *gp = reading->gp;
  const uint8_t *bytes = reading->bytes;
  size_t size = reading->size;
  POP_TRY(check_is_archive(bytes, size, gp->name));
  pop_archive *archive;
  POP_TRY(pop_archive_open_memory(bytes, size, gp->name, &archive));
  pop_error *error = read_members(gp, archive);
  pop_archive_close(archive);
  return error ? error : parse_members(gp);
}

pop_gp *gp_new(const char *name)
{
  pop_gp *gp = pop_xcalloc(1, sizeof *gp);
  atomic_init(&gp->references, 1);
  gp->arena = pop_arena_new();
  gp->name = pop_arena_strdup(gp->arena, name);
  return gp;
}

pop_error *pop_gp_read_memory(const void *bytes, size_t size, const char *name, pop_gp **out)
{
  pop_gp *gp = gp_new(name);
  gp_reading reading = {gp, bytes, size};
  pop_error *error = pop_with_memory("reading codelets", read_gp, &reading);
  if (error) {
    pop_gp_free(gp);
    return error;
  }
  *out = gp;
  return NULL;
}

pop_error *pop_gp_read(const char *path, pop_gp **gp)
{
  uint8_t *bytes;
  size_t size;
  POP_TRY(pop_file_read(path, MAX_GP_BYTES, &bytes, &size));
  pop_error *error = pop_gp_read_memory(bytes, size, path, gp);
  free(bytes);
  return error;
}

pop_gp *pop_gp_retain(pop_gp *gp)
{
  atomic_fetch_add(&gp->references, 1);
  return gp;
}

void pop_gp_free(pop_gp *gp)
{
  if (!gp || atomic_fetch_sub(&gp->references, 1) > 1) return;
  for (size_t i = 0; i < gp->num_members && !gp->whole; ++i) gp_member_free(&gp->members[i]);
  pop_gp_free(gp->whole);
  free(gp->members);
  free(gp->types);
  pop_arena_free(gp->arena);
  free(gp);
}

const char *pop_gp_name(const pop_gp *gp)
{
  return gp->name;
}

pop_gp_digest pop_gp_get_digest(const pop_gp *gp)
{
  return gp->digest;
}

size_t pop_gp_num_vertex_types(const pop_gp *gp)
{
  return gp->num_types;
}

const pop_vertex_type *pop_gp_vertex_type(const pop_gp *gp, size_t index)
{
  return &gp->types[index];
}

/* Members are in the order tile, library, host. */
static size_t first_host(const pop_gp *gp)
{
  size_t i = 0;
  while (i < gp->num_members && gp->members[i].kind != GP_HOST) ++i;
  return i;
}

size_t pop_gp_num_tile_objects(const pop_gp *gp)
{
  return first_host(gp);
}

const pop_object *pop_gp_tile_object(const pop_gp *gp, size_t index, bool *library)
{
  if (library) *library = gp->members[index].kind == GP_LIBRARY;
  return gp->members[index].object;
}

size_t pop_gp_num_host_objects(const pop_gp *gp)
{
  return gp->num_members - first_host(gp);
}

size_t pop_gp_find_host_object(const pop_gp *gp, const pop_vertex_type *type)
{
  size_t first = first_host(gp), i = first;
  for (; i + 1 < gp->num_members; ++i) {
    const gp_member *member = &gp->members[i];
    for (size_t j = 0; j < member->num_types; ++j)
      if (!strcmp(member->types[j].name, type->name) &&
          !strcmp(member->types[j].source, type->source))
        return i - first;
  }
  return i - first;
}

const void *pop_gp_host_object(const pop_gp *gp, size_t index, size_t *size)
{
  const gp_member *member = &gp->members[first_host(gp) + index];
  *size = member->inner_size;
  return member->inner;
}
